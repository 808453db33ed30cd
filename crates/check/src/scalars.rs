//! Numbers and texts: those at boundaries, those that stand in the program, and any.

use std::sync::Arc;

use lmlang_ir::{Const, Scalar};

use crate::pool::Pool;
use crate::random::Random;
use crate::shapes::bits_of;

/// Numbers at which integers of some width change what they do, the plainest first.
pub(crate) fn int_bounds(bits: u32) -> Vec<i64> {
    let most = i64::MAX >> (64 - bits);
    vec![0, 1, -1, most, -most - 1, 2, -2, most - 1, -most, 10, 100, 3, 7, 8, 255, 256]
        .into_iter()
        .filter(|value| (-most - 1..=most).contains(value))
        .collect()
}

/// Numbers at which floats change what they do, the plainest first.
pub(crate) fn float_bounds(single: bool) -> Vec<f64> {
    let (least, tiny, most, exact) = match single {
        true => {
            (f64::from(f32::MIN_POSITIVE), f64::from(f32::from_bits(1)), f64::from(f32::MAX), 16_777_216.0)
        }
        false => (f64::MIN_POSITIVE, f64::from_bits(1), f64::MAX, 9_007_199_254_740_992.0),
    };
    let whole = [0.0, 1.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 0.5, 2.0, most, -most];
    let mut all = whole.to_vec();
    all.extend([least, tiny, -tiny, exact, exact + 2.0, 0.1, 2_147_483_648.0, 9_223_372_036_854_775_808.0]);
    all
}

/// Texts that are easily forgotten.
pub(crate) const TEXTS: [&str; 12] =
    ["", "a", "0", "-1", " ", "\n", "é", "aa", "ab", "😀", "a b", "9223372036854775808"];

/// A number of a float type.
pub(crate) fn float_of(scalar: Scalar, value: f64) -> Const {
    match scalar {
        Scalar::F32 => Const::F32((value as f32).to_bits()),
        Scalar::Bool | Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64 | Scalar::F64 => {
            Const::F64(value.to_bits())
        }
    }
}

/// A number of an integer type, cut to its width.
pub(crate) fn int_const(scalar: Scalar, value: i64) -> Const {
    match scalar {
        Scalar::I8 => Const::I8(value as i8),
        Scalar::I16 => Const::I16(value as i16),
        Scalar::I32 => Const::I32(value as i32),
        Scalar::Bool | Scalar::I64 | Scalar::F32 | Scalar::F64 => Const::I64(value),
    }
}

/// A value of a scalar type; small ones are at most as far from zero as `size`.
pub(crate) fn scalar(random: &mut Random, pool: &Pool, of: Scalar, size: usize) -> Const {
    match (of, bits_of(of)) {
        (Scalar::Bool, _) => Const::Bool(random.chance(50)),
        (_, Some(bits)) => int_const(of, int(random, pool, bits, size)),
        (_, None) => float_of(of, float(random, pool, of == Scalar::F32, size)),
    }
}

/// An integer of some width; it may be wider, and is cut then.
pub(crate) fn int(random: &mut Random, pool: &Pool, bits: u32, size: usize) -> i64 {
    let small = |random: &mut Random| random.below(2 * size + 3) as i64 - size as i64 - 1;
    match random.below(100) {
        0..20 => small(random),
        20..40 => random.pick(&int_bounds(bits)).copied().unwrap_or(0),
        40..55 => {
            // Next to a power of two.
            let power = 1i64.wrapping_shl(random.below(bits as usize) as u32);
            let near = power.wrapping_add(random.below(3) as i64 - 1);
            if random.chance(30) { near.wrapping_neg() } else { near }
        }
        55..85 => match random.pick(&pool.ints) {
            Some(value) if random.chance(15) => value.wrapping_neg(),
            Some(value) if random.chance(15) => value.wrapping_add(small(random)),
            Some(value) => *value,
            None => small(random),
        },
        // As likely of each width.
        _ => (random.bits() as i64) >> random.below(64),
    }
}

fn float(random: &mut Random, pool: &Pool, single: bool, size: usize) -> f64 {
    match random.below(100) {
        0..25 => random.pick(&float_bounds(single)).copied().unwrap_or(0.0),
        25..45 => (random.below(8 * size + 9) as f64 - 4.0 * size as f64 - 4.0) / 4.0,
        45..70 => random.pick(&pool.floats).copied().unwrap_or(1.0),
        70..85 => int(random, pool, 64, size) as f64,
        85..95 => f64::from_bits(random.bits() & !(0x7ff << 52) | (960 + random.below(128) as u64) << 52),
        _ => f64::from_bits(random.bits()),
    }
}

/// A character.
pub(crate) fn character(random: &mut Random, pool: &Pool) -> char {
    match random.below(100) {
        0..30 => *random.pick(&['a', 'b', 'c', 'A', 'z']).unwrap_or(&'a'),
        30..40 => *random.pick(&['0', '1', '9', '-', '+', '.']).unwrap_or(&'0'),
        40..50 => *random.pick(&[' ', '\n', '\t', '\r', '\0', '"', '\\', '/']).unwrap_or(&' '),
        50..75 => random.pick(&pool.chars).copied().unwrap_or('a'),
        75..85 => char::from(random.below(95) as u8 + 32),
        85..95 => *random
            .pick(&['é', 'ß', 'İ', '中', '\u{301}', '\u{feff}', '😀', '\u{7f}', '\u{80}'])
            .unwrap_or(&'é'),
        _ => char::from_u32(random.below(0x11_0000) as u32).unwrap_or('\u{10ffff}'),
    }
}

/// A text of about as many characters at most.
pub(crate) fn text(random: &mut Random, pool: &Pool, size: usize) -> Arc<str> {
    match random.below(100) {
        0..20 => Arc::from(*random.pick(&TEXTS).unwrap_or(&"")),
        20..40 => {
            let mut text = random.pick(&pool.texts).map(|text| text.to_string()).unwrap_or_default();
            match random.below(6) {
                0 => text.push(character(random, pool)),
                1 => text.insert(0, character(random, pool)),
                2 => drop(text.pop()),
                3 => text.push_str(random.pick(&pool.texts).map_or("", |text| text)),
                _ => {}
            }
            text.into()
        }
        40..55 => int(random, pool, 64, size).to_string().into(),
        55..65 => {
            // The same character again and again.
            let character = character(random, pool);
            std::iter::repeat_n(character, random.low(size + 2)).collect::<String>().into()
        }
        _ => {
            let length = random.low(size + 3);
            (0..length).map(|_| character(random, pool)).collect::<String>().into()
        }
    }
}

/// Bytes, about as many at most.
pub(crate) fn bytes(random: &mut Random, pool: &Pool, size: usize) -> Arc<[u8]> {
    match random.below(100) {
        0..10 => Arc::from([]),
        10..30 => Arc::from(text(random, pool, size).as_bytes()),
        30..45 => random.pick(&pool.bytes).map_or_else(|| Arc::from([0u8]), Arc::clone),
        _ => {
            let length = random.low(size + 3);
            let byte = |random: &mut Random| match random.below(4) {
                0 => *random.pick(&[0, 1, 0x7f, 0x80, 0xff]).unwrap_or(&0),
                1 => random.pick(&pool.ints).map_or(0, |value| *value as u8),
                _ => random.bits() as u8,
            };
            (0..length).map(|_| byte(random)).collect()
        }
    }
}
