//! Validation, and what it notes on the way: every instruction is seen once before anything is made.

use std::collections::BTreeSet;

use wasmparser::{
    BinaryReaderError, FrameKind, FrameStack, FuncValidatorAllocations, Parser, ValidPayload, Validator,
    VisitOperator, WasmFeatures,
};

/// What bodies do that is to be known before they are taken in.
#[derive(Debug, Default)]
pub(super) struct Used {
    /// The locals of each that are written to.
    pub(super) locals: Vec<BTreeSet<u32>>,
    /// Element segments that are copied from or dropped.
    pub(super) elements: BTreeSet<u32>,
}

/// Validates a module.
pub(super) fn validate(module: &[u8], features: WasmFeatures) -> Result<Used, BinaryReaderError> {
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
            let inner = validator.visitor(reader.original_position());
            reader.visit_operator(&mut Noting { inner, used: &mut used })??;
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

    wasmparser::for_each_visit_operator!(pass_on);
}

impl<V: FrameStack> FrameStack for Noting<'_, V> {
    fn current_frame(&self) -> Option<FrameKind> {
        self.inner.current_frame()
    }
}
