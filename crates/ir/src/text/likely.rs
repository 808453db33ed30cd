//! What someone is likely to mean who writes a word of another language, or the parts of a word in another order.
//!
//! For candidates of mistakes only: nothing here is ever accepted.

use crate::ops::{AttrKind, OPS, OpSpec, Opcode};
use crate::text::error::nearest;
use crate::types::Scalar;

/// The most operators that one mistake offers.
const MOST: usize = 8;

/// Operators by words of other languages.
const OPERATORS: &[(&str, &[&str])] = &[
    ("plus", &["add"]),
    ("minus", &["sub", "neg"]),
    ("subtract", &["sub"]),
    ("times", &["mul"]),
    ("multiply", &["mul"]),
    ("divide", &["div_s", "div_u", "div"]),
    ("mod", &["rem_s", "rem_u"]),
    ("modulo", &["rem_s", "rem_u"]),
    ("less", &["lt_s", "lt_u", "lt"]),
    ("greater", &["gt_s", "gt_u", "gt"]),
    ("equal", &["eq"]),
    ("equals", &["eq"]),
    ("neq", &["ne"]),
    ("sar", &["shr_s"]),
    ("ashr", &["shr_s"]),
    ("lshr", &["shr_u"]),
    ("ret", &["return"]),
    ("br", &["break"]),
    ("br_if", &["break_if"]),
    ("br_table", &["br_switch"]),
    ("goto", &["break", "continue"]),
    ("jump", &["break", "continue"]),
    ("while", &["loop"]),
    ("for", &["loop"]),
    ("switch", &["match"]),
    ("let", &["var.set"]),
    ("local.get", &["var.get"]),
    ("local.set", &["var.set"]),
    ("invoke", &["call"]),
    ("println", &["print"]),
    ("trap", &["unreachable"]),
    ("concat", &["string.concat", "bytes.concat"]),
    ("len", &["string.len", "bytes.len", "array.len"]),
];

/// Values of `option` and `result` by the words for them.
const CONSTRUCTORS: &[(&str, &str)] = &[
    ("none", "enum.new option<T>.none"),
    ("null", "enum.new option<T>.none"),
    ("nil", "enum.new option<T>.none"),
    ("some", "enum.new option<T>.some"),
    ("ok", "enum.new result<T, E>.ok"),
    ("err", "enum.new result<T, E>.err"),
];

/// Types by words of other languages.
const TYPES: &[(&str, &[&str])] = &[
    ("int", &["i32", "i64"]),
    ("int32", &["i32"]),
    ("int64", &["i64"]),
    ("integer", &["i32", "i64"]),
    ("long", &["i64"]),
    ("short", &["i16"]),
    ("byte", &["i8"]),
    ("char", &["i32"]),
    ("u8", &["i8"]),
    ("u16", &["i16"]),
    ("u32", &["i32"]),
    ("u64", &["i64"]),
    ("uint", &["i32", "i64"]),
    ("usize", &["i32", "i64"]),
    ("float", &["f64", "f32"]),
    ("double", &["f64"]),
    ("number", &["f64", "i64"]),
    ("boolean", &["bool"]),
    ("str", &["string"]),
    ("text", &["string"]),
    ("void", &["unit"]),
    ("null", &["unit"]),
    ("list", &["array<T>"]),
    ("vec", &["array<T>"]),
    ("vector", &["array<T>"]),
    ("maybe", &["option<T>"]),
    ("optional", &["option<T>"]),
    ("pointer", &["ptr<T>"]),
    ("fn", &["closure<() -> ()>"]),
    ("function", &["closure<() -> ()>"]),
];

/// Types that have a word of their own.
const BUILT_IN: [&str; 12] = [
    "unit",
    "never",
    "string",
    "bytes",
    "funcref",
    "externref",
    "option",
    "result",
    "array",
    "box",
    "ptr",
    "closure",
];

fn translated(words: &[(&str, &'static [&'static str])], given: &str) -> &'static [&'static str] {
    words.iter().find(|(word, _)| *word == given).map_or(&[], |(_, meant)| meant)
}

/// Types that a word could stand for.
pub(super) fn types(given: &str) -> Vec<String> {
    let lower = given.to_ascii_lowercase();
    let meant = translated(TYPES, &lower);
    if !meant.is_empty() {
        return meant.iter().map(|ty| (*ty).to_owned()).collect();
    }
    let words = Scalar::ALL.iter().map(|scalar| scalar.name()).chain(BUILT_IN);
    nearest(&lower, words)
}

/// The operator that makes what a word like `some` or `option.some` stands for.
pub(super) fn constructor(word: &str) -> Option<&'static str> {
    let word = word.to_ascii_lowercase();
    let word = word.strip_prefix("option.").or_else(|| word.strip_prefix("result.")).unwrap_or(&word);
    CONSTRUCTORS.iter().find(|(known, _)| *known == word).map(|(_, operator)| *operator)
}

/// Operators that a word like `plus.i32`, `i32.add` or `ADD` could stand for, with the types that it has in it.
pub(super) fn operators(given: &str) -> Vec<String> {
    if let Some(operator) = constructor(given) {
        return vec![operator.to_owned()];
    }
    let lower = given.to_ascii_lowercase();
    let mut scalars = Vec::new();
    let mut words = Vec::new();
    for part in lower.split('.') {
        match part.parse::<Scalar>() {
            Ok(scalar) => scalars.push(scalar),
            Err(()) => words.push(part),
        }
    }
    let stem = words.join(".");
    let specs = called(&stem);
    let specs = match specs.is_empty() {
        true => nearest(&stem, OPS.iter().map(|spec| spec.mnemonic))
            .iter()
            .filter_map(|near| Opcode::of_mnemonic(near))
            .map(Opcode::spec)
            .collect(),
        false => specs,
    };
    // Without a near name, those that do something with the same.
    let specs = match stem.split_once('.') {
        Some((of, _)) if specs.is_empty() => {
            let same = |spec: &&OpSpec| spec.mnemonic.split_once('.').is_some_and(|(first, _)| first == of);
            OPS.iter().filter(same).collect()
        }
        Some(_) | None => specs,
    };
    let mut forms: Vec<String> = Vec::new();
    for spec in specs {
        let ty = scalars.first().map_or("T", |scalar| scalar.name());
        forms.extend(self::forms(spec, &scalars, ty).into_iter().filter(|form| form != given));
    }
    forms.truncate(MOST);
    forms
}

/// The operators that a word without types is the name of, in the text form or elsewhere.
fn called(stem: &str) -> Vec<&'static OpSpec> {
    let meant = translated(OPERATORS, stem);
    let translations: Vec<&OpSpec> = OPS.iter().filter(|spec| meant.contains(&spec.mnemonic)).collect();
    if !translations.is_empty() || stem.is_empty() {
        return translations;
    }
    let family = |spec: &&OpSpec| {
        let rest = spec.mnemonic.strip_prefix(stem);
        rest.is_some_and(|rest| ["", "_s", "_u"].contains(&rest))
    };
    OPS.iter().filter(family).collect()
}

/// Operators that a word stands for which stands where a value is expected: only what it is the name of.
pub(super) fn operators_called(word: &str) -> Vec<String> {
    let means = constructor(word).is_some() || !called(&word.to_ascii_lowercase()).is_empty();
    if means { operators(word) } else { Vec::new() }
}

/// Whether operators have a word before their dot: `array.get`.
pub(super) fn is_namespace(word: &str) -> bool {
    let with_dot = |spec: &OpSpec| spec.mnemonic.split_once('.').is_some_and(|(first, _)| first == word);
    word.parse::<Scalar>().is_ok() || OPS.iter().any(with_dot)
}

/// Operators by the character that stands for them between two values elsewhere.
pub(super) fn infix(character: char) -> Vec<String> {
    const NAMES: [(char, &str); 7] =
        [('+', "add"), ('-', "sub"), ('*', "mul"), ('/', "div"), ('%', "rem"), ('&', "and"), ('|', "or")];
    let name = NAMES.iter().find(|(known, _)| *known == character);
    name.map_or_else(Vec::new, |(_, name)| operators(name))
}

/// How an operator is written with its types: behind a dot those of some scalars that fit, all that it takes if there are
/// none; in brackets the type `ty`.
pub(super) fn forms(spec: &OpSpec, scalars: &[Scalar], ty: &str) -> Vec<String> {
    let name = spec.mnemonic;
    let dotted = |allowed: &[Scalar]| -> Vec<String> {
        let fits = |scalar: &&Scalar| scalars.is_empty() || scalars.contains(scalar);
        allowed.iter().filter(fits).map(|scalar| format!("{name}.{scalar}")).collect()
    };
    match spec.attr {
        AttrKind::Scalar(allowed) | AttrKind::Memory(allowed) => dotted(allowed),
        AttrKind::Const => {
            let others = ["unit", "string", "bytes"].into_iter().filter(|_| scalars.is_empty());
            dotted(&Scalar::ALL).into_iter().chain(others.map(|ty| format!("{name}.{ty}"))).collect()
        }
        AttrKind::Convert(allowed) => {
            let fits =
                |(from, to): &&(Scalar, Scalar)| scalars.iter().all(|scalar| scalar == from || scalar == to);
            allowed.iter().filter(fits).map(|(from, to)| format!("{name}.{from}.{to}")).collect()
        }
        AttrKind::Type | AttrKind::Array | AttrKind::Enum | AttrKind::Signature => {
            vec![format!("{name}<{ty}>")]
        }
        AttrKind::None
        | AttrKind::Struct
        | AttrKind::Field
        | AttrKind::Variant
        | AttrKind::Function
        | AttrKind::Variable
        | AttrKind::Global
        | AttrKind::Data
        | AttrKind::Table
        | AttrKind::Elements
        | AttrKind::TableInit
        | AttrKind::TableCopy
        | AttrKind::Index
        | AttrKind::Indirect
        | AttrKind::Control
        | AttrKind::Match
        | AttrKind::Exit
        | AttrKind::Switch
        | AttrKind::Raw => vec![name.to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(given: &str, expect: &[&str]) {
        assert_eq!(operators(given), expect, "{given}");
    }

    #[test]
    fn operators_of_other_languages_are_known() {
        check("i32.add", &["add.i32"]);
        check("plus.i32", &["add.i32"]);
        check("ADD.I32", &["add.i32"]);
        check("ad.i64", &["add.i64", "and.i64"]);
        check("ret", &["return"]);
        check("local.get", &["var.get"]);
        check("i64.extend_i32_s", &["extend_s.i32.i64", "extend_s.i16.i64", "extend_s.i8.i64"]);
        check("lt.i64", &["lt_s.i64", "lt_u.i64"]);
        check("less", &["lt_s.i32", "lt_s.i64", "lt_u.i32", "lt_u.i64", "lt.f32", "lt.f64"]);
        check("div.i32", &["div_s.i32", "div_u.i32"]);
        check("i32.wrap.i64", &["wrap.i64.i32"]);
        check("arrayget", &["array.get<T>", "array.set<T>"]);
        check("nothing_like_it", &[]);
        check("none", &["enum.new option<T>.none"]);
        check("option.some", &["enum.new option<T>.some"]);
        check("box.wrapped", &["box.new<T>", "box.get<T>"]);
        check("", &[]);
    }

    #[test]
    fn types_of_other_languages_are_known() {
        for (given, expect) in [
            ("int", &["i32", "i64"][..]),
            ("String", &["string"]),
            ("Vec", &["array<T>"]),
            ("boole", &["bool"]),
            ("i31", &["i32"]),
            ("Point", &[]),
        ] {
            assert_eq!(types(given), expect, "{given}");
        }
    }

    #[test]
    fn what_is_offered_exists() {
        let all = |words: &'static [(&'static str, &'static [&'static str])]| {
            words.iter().flat_map(|(_, meant)| meant.iter())
        };
        assert!(all(OPERATORS).all(|name| Opcode::of_mnemonic(name).is_some()));
        assert!(OPERATORS.iter().all(|(word, _)| Opcode::of_mnemonic(word).is_none()));
        for (_, operator) in CONSTRUCTORS {
            let op = operator.replace('T', "i32").replace('E', "i64");
            assert!(crate::text::parse_op(&op).is_ok(), "{op}");
        }
        for ty in all(TYPES) {
            let ty = ty.replace('T', "i32");
            assert!(crate::text::parse_type_refs(&ty).is_ok(), "{ty}");
        }
    }
}
