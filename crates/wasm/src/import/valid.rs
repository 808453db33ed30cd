//! Validation, and what it notes on the way: every instruction is seen once before anything is made.

use std::collections::BTreeSet;

use wasmparser::{
    BinaryReaderError, FrameKind, FrameStack, FuncValidatorAllocations, Operator, Parser, Payload,
    ValidPayload, Validator, VisitOperator, VisitSimdOperator, WasmFeatures,
};

use super::ImportError;

/// What bodies do that is to be known before they are taken in.
#[derive(Debug, Default)]
pub(super) struct Used {
    /// The locals of each that are written to.
    pub(super) locals: Vec<BTreeSet<u32>>,
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
    };
    match noted(module, WasmFeatures::all()) {
        Ok(_) => Err(beyond(module, &error)),
        Err(Unfit::Invalid(_)) => Err(error.into()),
        Err(Unfit::Deep(offset)) => Err(too_deep(offset)),
    }
}

fn too_deep(offset: u64) -> ImportError {
    ImportError::unsupported(format!("an operand stack of more than {MOST_OPERANDS} values"), offset)
}

/// What a module is refused for that is valid by proposals that programs do not follow.
fn beyond(module: &[u8], error: &BinaryReaderError) -> ImportError {
    let offset = error.offset();
    let what = match operator_at(module, offset) {
        Some(operator) => format!("the instruction {operator:?}"),
        None => "WebAssembly beyond core 2.0 or with vectors".to_owned(),
    };
    ImportError::unsupported(format!("{what} ({})", error.message()), offset)
}

/// The operator at a byte, if one begins there.
fn operator_at(module: &[u8], offset: u64) -> Option<Operator<'_>> {
    let bodies = Parser::new(0).parse_all(module).map_while(Result::ok);
    let body = bodies.filter_map(|payload| match payload {
        Payload::CodeSectionEntry(body) => Some(body),
        _ => None,
    });
    let mut operators =
        body.into_iter().find(|body| body.range().contains(&offset))?.get_operators_reader().ok()?;
    while operators.original_position() < offset {
        operators.read().ok()?;
    }
    if operators.original_position() == offset { operators.read().ok() } else { None }
}

fn noted(module: &[u8], features: WasmFeatures) -> Result<Used, Unfit> {
    let mut validator = Validator::new_with_features(features);
    let mut parser = Parser::new(0);
    parser.set_features(features);
    let mut bodies = Vec::new();
    for payload in parser.parse_all(module) {
        if let ValidPayload::Func(function, body) = validator.payload(&payload?)? {
            bodies.push((function, body));
        }
    }
    let mut used = Used::default();
    let mut allocations = FuncValidatorAllocations::default();
    for (function, body) in bodies {
        let mut validator = function.into_validator(allocations);
        let mut reader = body.get_binary_reader();
        validator.read_locals(&mut reader)?;
        reader.set_features(features);
        used.locals.push(BTreeSet::new());
        while !reader.eof() {
            let offset = reader.original_position();
            let inner = validator.visitor(offset);
            reader.visit_operator(&mut Noting { inner, used: &mut used })??;
            if validator.operand_stack_height() > MOST_OPERANDS {
                return Err(Unfit::Deep(offset));
            }
        }
        reader.finish_expression(&validator.visitor(reader.original_position()))?;
        allocations = validator.into_allocations();
    }
    Ok(used)
}

impl Used {
    fn written(&mut self, local: u32) {
        if let Some(locals) = self.locals.last_mut() {
            locals.insert(local);
        }
    }
}

/// Passes every instruction on to a visitor, and notes it.
struct Noting<'u, V> {
    inner: V,
    used: &'u mut Used,
}

macro_rules! note {
    (visit_local_set, $used:expr, $local:ident) => {
        $used.written($local)
    };
    (visit_local_tee, $used:expr, $local:ident) => {
        $used.written($local)
    };
    (visit_table_init, $used:expr, $elements:ident, $table:ident) => {
        $used.elements.insert($elements)
    };
    (visit_elem_drop, $used:expr, $elements:ident) => {
        $used.elements.insert($elements)
    };
    ($visit:ident, $used:expr $(, $argument:ident)*) => {};
}

macro_rules! pass_on {
    ($(@$proposal:ident $op:ident $({ $($argument:ident: $ty:ty),* })? => $visit:ident ($($annotation:tt)*))*) => {$(
        fn $visit(&mut self $($(, $argument: $ty)*)?) -> Self::Output {
            note!($visit, self.used $($(, $argument)*)?);
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
