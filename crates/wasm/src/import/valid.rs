//! Validation, and what it notes on the way: every instruction is seen once before anything is made.

use std::collections::BTreeSet;

use wasmparser::{
    BinaryReaderError, FrameKind, FrameStack, FuncValidatorAllocations, Operator, Parser, Payload, TypeRef,
    ValidPayload, Validator, VisitOperator, VisitSimdOperator, WasmFeatures,
};

use super::mnemonic::mnemonic;
use super::{ImportError, MOST_OF_A_KIND};

/// What bodies do that is to be known before they are taken in.
#[derive(Debug, Default)]
pub(super) struct Used {
    /// The parameters of each that are written to.
    pub(super) params: Vec<BTreeSet<u32>>,
    /// Element segments that are copied from or dropped.
    pub(super) elements: BTreeSet<u32>,
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

/// Validates a module.
pub(super) fn validate(module: &[u8], features: WasmFeatures) -> Result<Used, ImportError> {
    let error = match noted(module, features) {
        Ok(used) => return Ok(used),
        Err(Unfit::Invalid(error)) => error,
        Err(Unfit::Deep(offset)) => return Err(too_deep(offset)),
        Err(Unfit::Large(error)) => return Err(error),
    };
    match noted(module, WasmFeatures::all()) {
        Ok(_) => Err(beyond(module, &error)),
        Err(Unfit::Invalid(_)) => Err(error.into()),
        Err(Unfit::Deep(offset)) => Err(too_deep(offset)),
        Err(Unfit::Large(error)) => Err(error),
    }
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

fn noted(module: &[u8], features: WasmFeatures) -> Result<Used, Unfit> {
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
