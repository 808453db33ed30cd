//! Validation, and what it notes on the way: every instruction is seen once before anything is made.

use std::collections::BTreeSet;
use std::iter::Enumerate;
use std::panic::resume_unwind;
use std::sync::Mutex;
use std::thread;
use std::vec::IntoIter;

use wasmparser::{
    BinaryReaderError, FrameKind, FrameStack, FuncToValidate, FuncValidatorAllocations, FunctionBody,
    Operator, Parser, Payload, TypeRef, ValidPayload, Validator, ValidatorResources, VisitOperator,
    VisitSimdOperator, WasmFeatures,
};

use super::mnemonic::mnemonic;
use super::threads::helpers;
use super::{ImportError, MOST_OF_A_KIND};

/// What bodies do that is to be known before they are taken in.
#[derive(Debug, Default)]
pub(super) struct Used {
    /// The parameters of each that are written to.
    pub(super) params: Vec<BTreeSet<u32>>,
    /// Element segments that are copied from or dropped.
    pub(super) elements: BTreeSet<u32>,
}

impl Used {
    /// Adds what the bodies behind these do.
    fn append(&mut self, mut behind: Used) {
        self.params.append(&mut behind.params);
        self.elements.append(&mut behind.elements);
    }
}

/// Most values on the operand stack of a function: a call of two bytes can put a thousand there.
const MOST_OPERANDS: u32 = 100_000;

/// Why a module does not fit.
enum Unfit {
    /// It is not valid.
    Invalid(BinaryReaderError),
    /// At this byte too much lies on an operand stack.
    Deep(u64),
    /// It is too large, whether it is valid or not.
    Large(ImportError),
}

impl From<BinaryReaderError> for Unfit {
    fn from(error: BinaryReaderError) -> Unfit {
        Unfit::Invalid(error)
    }
}

/// Validates a module, and does something else meanwhile, once all but the bodies is known to be valid.
pub(super) fn validate<T>(
    module: &[u8],
    features: WasmFeatures,
    meanwhile: impl FnOnce() -> T,
) -> Result<(Used, T), ImportError> {
    if is_component(module) {
        return Err(ImportError::unsupported("a component in place of one of the core modules in it", LAYER));
    }
    let threads = helpers(module.len()) + 1;
    let error = match noted(module, features, threads, meanwhile) {
        Ok(found) => return Ok(found),
        Err(Unfit::Invalid(error)) => error,
        Err(Unfit::Deep(offset)) => return Err(too_deep(offset)),
        Err(Unfit::Large(error)) => return Err(error),
    };
    match noted(module, WasmFeatures::all(), threads, || ()) {
        Ok(_) => Err(beyond(module, &error)),
        Err(Unfit::Invalid(_)) => Err(error.into()),
        Err(Unfit::Deep(offset)) => Err(too_deep(offset)),
        Err(Unfit::Large(error)) => Err(error),
    }
}

/// The byte that tells components from modules, which begin alike.
const LAYER: u64 = 6;

fn is_component(module: &[u8]) -> bool {
    matches!(module, [0, b'a', b's', b'm', _, _, 1, 0, ..])
}

fn too_deep(offset: u64) -> ImportError {
    ImportError::unsupported(format!("an operand stack of more than {MOST_OPERANDS} values"), offset)
}

/// What a module is refused for that is valid by proposals that programs do not follow.
fn beyond(module: &[u8], error: &BinaryReaderError) -> ImportError {
    let offset = error.offset();
    let what = match operator_at(module, offset) {
        Some((function, operator)) => {
            format!("the instruction `{}` in function {function}", mnemonic(&operator))
        }
        None => "WebAssembly beyond core 2.0 or with vectors".to_owned(),
    };
    ImportError::unsupported(format!("{what} ({})", error.message()), offset)
}

/// The operator at a byte, if one begins there, and the index of its function.
fn operator_at(module: &[u8], offset: u64) -> Option<(u32, Operator<'_>)> {
    let mut function = 0;
    for payload in Parser::new(0).parse_all(module) {
        match payload.ok()? {
            Payload::ImportSection(section) => {
                let imports = section.into_imports().map_while(Result::ok);
                function += imports.filter(|import| matches!(import.ty, TypeRef::Func(_))).count() as u32;
            }
            Payload::CodeSectionEntry(body) if body.range().contains(&offset) => {
                let mut operators = body.get_operators_reader().ok()?;
                while operators.original_position() < offset {
                    operators.read().ok()?;
                }
                let begins = operators.original_position() == offset;
                return if begins { Some((function, operators.read().ok()?)) } else { None };
            }
            Payload::CodeSectionEntry(_) => function += 1,
            _ => {}
        }
    }
    None
}

/// Refuses a section of too many entries before any of them is looked at. What is declared need not be there: then the
/// module is not valid either.
fn bound(payload: &Payload<'_>, customs: &mut u32) -> Result<(), ImportError> {
    let (kind, count, range) = match payload {
        Payload::TypeSection(of) => ("types", of.count(), of.range()),
        Payload::ImportSection(of) => ("imports", of.count(), of.range()),
        Payload::FunctionSection(of) => ("functions", of.count(), of.range()),
        Payload::GlobalSection(of) => ("globals", of.count(), of.range()),
        Payload::ExportSection(of) => ("exports", of.count(), of.range()),
        Payload::ElementSection(of) => ("element segments", of.count(), of.range()),
        Payload::DataSection(of) => ("data segments", of.count(), of.range()),
        Payload::CustomSection(of) => {
            *customs += 1;
            ("custom sections", *customs, of.range())
        }
        _ => return Ok(()),
    };
    match count > MOST_OF_A_KIND {
        true => Err(ImportError::TooMany { kind, count: count.into(), offset: range.start }),
        false => Ok(()),
    }
}

/// Bodies, with what their validation knows of the module.
type Bodies<'a> = Vec<(FuncToValidate<ValidatorResources>, FunctionBody<'a>)>;

/// Runs of bodies that nobody has looked at yet, with their places.
type Parts<'a> = Mutex<Enumerate<IntoIter<Bodies<'a>>>>;

/// Runs of bodies for each thread: more than one, so that all come to an end together.
const PARTS: usize = 8;

/// Validates a module: what it declares here, then its bodies on so many threads, since none depends on another.
fn noted<T>(
    module: &[u8],
    features: WasmFeatures,
    threads: usize,
    meanwhile: impl FnOnce() -> T,
) -> Result<(Used, T), Unfit> {
    let mut validator = Validator::new_with_features(features);
    let mut parser = Parser::new(0);
    parser.set_features(features);
    let mut bodies = Vec::new();
    let mut customs = 0;
    for payload in parser.parse_all(module) {
        let payload = payload?;
        bound(&payload, &mut customs).map_err(Unfit::Large)?;
        if let ValidPayload::Func(function, body) = validator.payload(&payload)? {
            bodies.push((function, body));
        }
    }
    let number = if threads > 1 { PARTS * threads } else { 1 };
    let parts: &Parts<'_> = &Mutex::new(parts(bodies, number).into_iter().enumerate());
    let (mut noted, other) = thread::scope(|scope| {
        let helper = |_| scope.spawn(move || work_off(parts, features));
        let helpers: Vec<_> = (1..threads).map(helper).collect();
        let other = meanwhile();
        let mut noted = work_off(parts, features);
        for helper in helpers {
            noted.extend(helper.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        (noted, other)
    });
    // The first body that does not fit is told, whoever came to another one before.
    noted.sort_unstable_by_key(|(at, _)| *at);
    let mut used = Used::default();
    for (_, part) in noted {
        used.append(part?);
    }
    Ok((used, other))
}

/// Validates runs of bodies until there are no more.
fn work_off(parts: &Parts<'_>, features: WasmFeatures) -> Vec<(usize, Result<Used, Unfit>)> {
    let next = || parts.lock().expect("who takes a part does not panic").next();
    std::iter::from_fn(next).map(|(at, part)| (at, noted_in(part, features))).collect()
}

/// Cuts bodies into so many runs of about as many bytes.
fn parts(bodies: Bodies<'_>, number: usize) -> Vec<Bodies<'_>> {
    let bytes: usize = bodies.iter().map(|(_, body)| body.as_bytes().len()).sum();
    let mut parts: Vec<Bodies<'_>> = (0..number).map(|_| Vec::new()).collect();
    let mut before = 0;
    for (function, body) in bodies {
        let part = before * number / bytes.max(1);
        before += body.as_bytes().len();
        parts[part.min(number - 1)].push((function, body));
    }
    parts
}

/// Validates bodies one after another.
fn noted_in(bodies: Bodies<'_>, features: WasmFeatures) -> Result<Used, Unfit> {
    let mut used = Used::default();
    let mut allocations = FuncValidatorAllocations::default();
    for (function, body) in bodies {
        let mut validator = function.into_validator(allocations);
        let mut reader = body.get_binary_reader();
        // The other locals are not read yet.
        let params = validator.len_locals();
        validator.read_locals(&mut reader)?;
        reader.set_features(features);
        used.params.push(BTreeSet::new());
        while !reader.eof() {
            let offset = reader.original_position();
            let inner = validator.visitor(offset);
            reader.visit_operator(&mut Noting { inner, params, used: &mut used })??;
            if validator.operand_stack_height() > MOST_OPERANDS {
                return Err(Unfit::Deep(offset));
            }
        }
        reader.finish_expression(&validator.visitor(reader.original_position()))?;
        allocations = validator.into_allocations();
    }
    Ok(used)
}

/// Passes every instruction on to a visitor, and notes it.
struct Noting<'u, V> {
    inner: V,
    /// How many of the locals are parameters.
    params: u32,
    used: &'u mut Used,
}

impl<V> Noting<'_, V> {
    fn written(&mut self, local: u32) {
        if local < self.params
            && let Some(params) = self.used.params.last_mut()
        {
            params.insert(local);
        }
    }
}

macro_rules! note {
    (visit_local_set, $noting:expr, $local:ident) => {
        $noting.written($local)
    };
    (visit_local_tee, $noting:expr, $local:ident) => {
        $noting.written($local)
    };
    (visit_table_init, $noting:expr, $elements:ident, $table:ident) => {
        $noting.used.elements.insert($elements)
    };
    (visit_elem_drop, $noting:expr, $elements:ident) => {
        $noting.used.elements.insert($elements)
    };
    ($visit:ident, $noting:expr $(, $argument:ident)*) => {};
}

macro_rules! pass_on {
    ($(@$proposal:ident $op:ident $({ $($argument:ident: $ty:ty),* })? => $visit:ident ($($annotation:tt)*))*) => {$(
        fn $visit(&mut self $($(, $argument: $ty)*)?) -> Self::Output {
            note!($visit, self $($(, $argument)*)?);
            self.inner.$visit($($($argument),*)?)
        }
    )*};
}

impl<'a, V: VisitOperator<'a>> VisitOperator<'a> for Noting<'_, V> {
    type Output = V::Output;

    /// Vectors have a visitor of their own; there is nothing to note.
    fn simd_visitor(&mut self) -> Option<&mut dyn VisitSimdOperator<'a, Output = V::Output>> {
        self.inner.simd_visitor()
    }

    wasmparser::for_each_visit_operator!(pass_on);
}

impl<V: FrameStack> FrameStack for Noting<'_, V> {
    fn current_frame(&self) -> Option<FrameKind> {
        self.inner.current_frame()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::{binary, features};

    #[test]
    fn any_number_of_threads_notes_the_same_and_tells_the_first_error() {
        let check = |wrong: &[usize]| {
            let function = |at: usize| match at % 3 {
                _ if wrong.contains(&at) => "(func (result i64) nop nop)",
                0 => "(func (param i32 i32) (local.set 1 (i32.const 5)))",
                1 => "(func (param i64) (elem.drop 1))",
                _ => "(func)",
            };
            let functions: String = (0..40).map(function).collect();
            let module = format!("(module (elem funcref) (elem funcref) {functions})");
            let module = binary(&module).unwrap();
            let noted = |threads| {
                let told = noted(&module, features(), threads, || ()).map_err(|unfit| match unfit {
                    Unfit::Invalid(error) => error.to_string(),
                    Unfit::Deep(_) | Unfit::Large(_) => "large".to_owned(),
                });
                format!("{told:?}")
            };
            let alone = noted(1);
            assert_eq!(alone.starts_with("Err"), !wrong.is_empty(), "{alone}");
            (2..=12).for_each(|threads| assert_eq!(noted(threads), alone, "{threads}"));
        };
        check(&[]);
        check(&[3, 17, 39]);
        check(&[38, 39]);
    }
}
