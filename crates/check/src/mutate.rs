//! Small changes of an input that was of use: what reaches something new is often next to what did.

use std::sync::Arc;

use lmlang_ir::{Const, Type, Value};

use crate::generate::{MOST_DEPTH, Maker, Source, sort};
use crate::parts::{self, Path};
use crate::random::Random;
use crate::scalars;
use crate::shapes::{bits_of, int_like, int_of};

/// Changes a few parts of an input.
///
/// `steps` are numbers by which an integer may be off, `donors` another input of the same types.
pub(crate) fn mutate(
    source: &Source,
    random: &mut Random,
    args: &[Value],
    steps: &[i64],
    donors: &[Value],
    size: usize,
) -> Vec<Value> {
    let mut args = args.to_vec();
    let times = 1 + if random.chance(40) { random.low(4) } else { 0 };
    for _ in 0..times {
        let paths = parts::paths(&args);
        let Some(path) = random.pick(&paths).cloned() else { break };
        if path.len() == 1 && random.chance(10) {
            // The whole argument of the other input.
            if let (Some(slot), Some(donor)) =
                (args.get_mut(path[0] as usize), donors.get(path[0] as usize).cloned())
            {
                *slot = donor;
            }
            continue;
        }
        change(source, random, &mut args, &path, &paths, steps, size);
    }
    args
}

fn change(
    source: &Source,
    random: &mut Random,
    args: &mut Vec<Value>,
    path: &Path,
    paths: &[Path],
    steps: &[i64],
    size: usize,
) {
    let Some(old) = parts::part(args, path).cloned() else { return };
    let ty = old.ty();
    let new = match random.below(20) {
        0 => Maker::new(source, random, size).value(&ty),
        // Another part of the same type, or one that it contains.
        1..4 => {
            let same: Vec<&Value> = paths
                .iter()
                .filter(|other| *other != path)
                .filter_map(|other| parts::part(args, other).filter(|part| part.ty() == ty))
                .collect();
            match random.pick(&same) {
                Some(other) => (*other).clone(),
                None => Maker::new(source, random, size).value(&ty),
            }
        }
        _ => changed(source, random, &old, &ty, steps, size),
    };
    let grown = parts::with(args, path, new);
    // Values that contain copies of themselves could grow without an end.
    if grown.iter().map(parts::depth).max().unwrap_or(0) <= MOST_DEPTH as usize
        && weight(&grown) <= weight(args).max(MOST_WEIGHT)
    {
        *args = grown;
    }
}

/// How much an input may grow to: about so many parts.
const MOST_WEIGHT: usize = 1 << 12;

fn weight(args: &[Value]) -> usize {
    args.iter().map(|arg| 1 + arg.heap_bytes() / 16).sum()
}

fn changed(
    source: &Source,
    random: &mut Random,
    old: &Value,
    ty: &Type,
    steps: &[i64],
    size: usize,
) -> Value {
    match old {
        Value::Const(value) => Value::Const(constant(source, random, value, ty, steps, size)),
        Value::Ptr(of, address) => {
            let address = int(source, random, i64::from(*address), steps, 32);
            Value::Ptr(Arc::clone(of), address as u32)
        }
        // There is none of which one would be too large.
        Value::Array(of, _) if !source.shapes.fits(of) => old.clone(),
        Value::Array(of, elements) => {
            let mut elements = elements.clone();
            list(random, &mut elements, |random| Maker::new(source, random, size).value(of));
            Value::Array(Arc::clone(of), elements)
        }
        Value::FixedArray(of, elements) => {
            let (mut elements, length) = (elements.clone(), elements.len());
            list(random, &mut elements, |random| Maker::new(source, random, size).value(of));
            elements.resize_with(length, || source.shapes.smallest(of));
            Value::FixedArray(Arc::clone(of), elements)
        }
        Value::Enum(variant, payload) => {
            let variants = source.shapes.variants(ty);
            let others: Vec<_> = variants.iter().filter(|(other, _)| other != variant).collect();
            match random.pick(&others) {
                Some((other, wanted)) => {
                    // The payload stays if it fits.
                    let kept = payload.as_ref().filter(|payload| wanted.as_ref() == Some(&payload.ty()));
                    let made = wanted.as_ref().map(|wanted| match kept {
                        Some(payload) => payload.clone(),
                        None => Box::new(Maker::new(source, random, size).value(wanted)),
                    });
                    Value::Enum(other.clone(), made)
                }
                None => Maker::new(source, random, size).value(ty),
            }
        }
        Value::Struct(..) | Value::Box(..) | Value::FuncRef(_) | Value::ExternRef | Value::Closure(..) => {
            Maker::new(source, random, size).value(ty)
        }
    }
}

fn constant(
    source: &Source,
    random: &mut Random,
    value: &Const,
    ty: &Type,
    steps: &[i64],
    size: usize,
) -> Const {
    match value {
        Const::Bool(value) => Const::Bool(!value),
        Const::I8(_) | Const::I16(_) | Const::I32(_) | Const::I64(_) => {
            let bits = match ty {
                Type::Scalar(scalar) => bits_of(*scalar).unwrap_or(64),
                _ => 64,
            };
            int_like(value, int(source, random, int_of(value).unwrap_or(0), steps, bits))
        }
        Const::F32(bits) => {
            let near = float(source, random, f64::from(f32::from_bits(*bits)), steps);
            let next = f32::from_bits(*bits);
            match random.below(8) {
                0 => Const::F32(next.next_up().to_bits()),
                1 => Const::F32(next.next_down().to_bits()),
                _ => Const::F32((near as f32).to_bits()),
            }
        }
        Const::F64(bits) => {
            let value = f64::from_bits(*bits);
            match random.below(8) {
                0 => Const::F64(value.next_up().to_bits()),
                1 => Const::F64(value.next_down().to_bits()),
                _ => Const::F64(float(source, random, value, steps).to_bits()),
            }
        }
        Const::Unit => Const::Unit,
        Const::String(text) => {
            let mut chars: Vec<char> = text.chars().collect();
            match random.below(10) {
                0 => {
                    let at = random.below(chars.len() + 1);
                    let piece: Vec<char> = scalars::text(random, &source.pool, size).chars().collect();
                    chars.splice(at..at, piece);
                }
                1 => {
                    if let Value::Const(Const::String(text)) = Maker::new(source, random, size).value(ty) {
                        chars = text.chars().collect();
                    }
                }
                // A character that the program knows.
                2 | 3 if !chars.is_empty() => {
                    let at = random.below(chars.len());
                    chars[at] = random.pick(&source.pool.chars).copied().unwrap_or(chars[at]);
                }
                // One of the next characters.
                4 if !chars.is_empty() => {
                    let at = random.below(chars.len());
                    let code = (u32::from(chars[at])).wrapping_add(random.below(3) as u32).wrapping_sub(1);
                    chars[at] = char::from_u32(code).unwrap_or('a');
                }
                _ => list(random, &mut chars, |random| scalars::character(random, &source.pool)),
            }
            Const::String(chars.into_iter().collect::<String>().into())
        }
        Const::Bytes(bytes) => {
            let mut bytes = bytes.to_vec();
            match random.below(4) {
                0 if !bytes.is_empty() => {
                    let at = random.below(bytes.len());
                    bytes[at] = int(source, random, i64::from(bytes[at]), steps, 8) as u8;
                }
                _ => list(random, &mut bytes, |random| random.bits() as u8),
            }
            Const::Bytes(bytes.into())
        }
    }
}

fn int(source: &Source, random: &mut Random, value: i64, steps: &[i64], bits: u32) -> i64 {
    // A number that the program knows.
    if random.chance(20)
        && let Some(known) = random.pick(&source.pool.ints)
    {
        return if random.chance(25) { value.wrapping_add(*known) } else { *known };
    }
    let power = 1i64.wrapping_shl(random.below(bits as usize) as u32);
    match random.below(16) {
        0 | 1 => value.wrapping_add(1),
        2 | 3 => value.wrapping_sub(1),
        4 | 5 => value.wrapping_add(power),
        6 | 7 => value.wrapping_sub(power),
        8 => value ^ power,
        9 => value.wrapping_neg(),
        10 => value.wrapping_mul(2),
        11 => value / 2,
        12 => value.wrapping_mul(value),
        kind => match random.pick(steps) {
            Some(step) if kind == 13 => value.wrapping_sub(*step),
            Some(step) => value.wrapping_add(*step),
            None => value.wrapping_add(random.below(21) as i64 - 10),
        },
    }
}

fn float(source: &Source, random: &mut Random, value: f64, steps: &[i64]) -> f64 {
    if random.chance(20)
        && let Some(known) = random.pick(&source.pool.floats)
    {
        return if random.chance(25) { value + *known } else { *known };
    }
    match random.below(10) {
        0 => value + 1.0,
        1 => value - 1.0,
        2 => value * 2.0,
        3 => value / 2.0,
        4 => -value,
        5 => value.round(),
        6 => value + f64::from(random.below(100) as u32) / 100.0,
        7 => value * value,
        8 => random.pick(steps).map_or(value, |step| value + *step as f64),
        _ => random.pick(steps).map_or(value, |step| value - *step as f64),
    }
}

/// Changes a list: elements come, go, come again, change places.
fn list<T: Clone + 'static>(random: &mut Random, items: &mut Vec<T>, make: impl FnOnce(&mut Random) -> T)
where
    [T]: Sorted,
{
    if items.is_empty() {
        return items.push(make(random));
    }
    let (at, other) = (random.below(items.len()), random.below(items.len()));
    match random.below(11) {
        0 | 1 => {
            let at = random.below(items.len() + 1);
            items.insert(at, make(random));
        }
        2 => drop(items.remove(at)),
        3 => items.truncate(at),
        4 => items.swap(at, other),
        5 => items.insert(at, items[other].clone()),
        6 => items[at] = items[other].clone(),
        7 => items[at] = make(random),
        8 => items.reverse(),
        9 => items.as_mut_slice().sort_up(),
        _ => items.extend_from_within(at..),
    }
}

/// What can be sorted.
trait Sorted {
    fn sort_up(&mut self);
}

impl Sorted for [Value] {
    fn sort_up(&mut self) {
        sort(self);
    }
}

impl Sorted for [char] {
    fn sort_up(&mut self) {
        self.sort_unstable();
    }
}

impl Sorted for [u8] {
    fn sort_up(&mut self) {
        self.sort_unstable();
    }
}
