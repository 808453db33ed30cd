//! Operators as the text form of WebAssembly calls them.

use wasmparser::Operator;

macro_rules! visits {
    ($(@$proposal:ident $op:ident $({ $($argument:ident: $ty:ty),* })? => $visit:ident ($($annotation:tt)*))*) => {
        /// The name of the method that a visitor has for an operator.
        fn visit(operator: &Operator<'_>) -> &'static str {
            match operator {
                $(Operator::$op { .. } => stringify!($visit),)*
                _ => "",
            }
        }
    };
}
wasmparser::for_each_operator!(visits);

/// What stands before a dot in the text form.
const GROUPS: [&str; 23] = [
    "i32", "i64", "f32", "f64", "v128", "i8x16", "i16x8", "i32x4", "i64x2", "f32x4", "f64x2", "local",
    "global", "table", "memory", "elem", "data", "ref", "struct", "array", "any", "extern", "i31",
];

/// The mnemonic of an operator: its visitor's name, with the dot.
pub(super) fn mnemonic(operator: &Operator<'_>) -> String {
    let name = visit(operator).trim_start_matches("visit_");
    match name.split_once('_') {
        Some((group, rest)) if GROUPS.contains(&group) => format!("{group}.{rest}"),
        _ if name == "typed_select" => "select".to_owned(),
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(operator: &Operator<'_>, expect: &str) {
        assert_eq!(mnemonic(operator), expect);
    }

    #[test]
    fn operators_are_called_as_in_the_text_form() {
        check(&Operator::ReturnCall { function_index: 0 }, "return_call");
        check(&Operator::I32TruncSatF64U, "i32.trunc_sat_f64_u");
        check(&Operator::LocalGet { local_index: 1 }, "local.get");
        check(&Operator::MemoryGrow { mem: 0 }, "memory.grow");
        check(&Operator::I8x16Add, "i8x16.add");
        check(&Operator::RefI31, "ref.i31");
        check(&Operator::I31GetS, "i31.get_s");
        check(&Operator::Unreachable, "unreachable");
    }
}
