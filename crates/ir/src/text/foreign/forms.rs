//! Lines of other languages, and the lines that stand for them here: the table.

/// A line of another language.
#[derive(Debug)]
pub(super) struct Form {
    /// Its words and signs, with blanks between: `$name` and `$field` are words, `$var` a variable of the function,
    /// `$type` a type, `$sign` a sign with `=` behind it, `$literal` a literal, `$known` a name that stands for a value, `$rest` and `$case`
    /// anything, every other `$word` a value.
    pub(super) theirs: &'static str,
    /// The lines here. `$node` is `$value` behind a name, `$not` its negation, `$sum` and `$sumNode` what `$sign` makes of
    /// the name and the value; `$T` is the type of the name or the value, `$S` that of the name, `$E` that of its elements,
    /// `$label` that of the loop around.
    pub(super) ours: &'static [&'static str],
    /// What the line does otherwise.
    pub(super) rule: &'static str,
    /// Whether a block begins with it.
    pub(super) opens: bool,
    /// Whether that is a loop.
    pub(super) loops: bool,
}

const fn line(theirs: &'static str, ours: &'static [&'static str], rule: &'static str) -> Form {
    Form { theirs, ours, rule, opens: false, loops: false }
}

const fn block(theirs: &'static str, ours: &'static [&'static str], rule: &'static str) -> Form {
    Form { theirs, ours, rule, opens: true, loops: false }
}

const fn looping(theirs: &'static str, ours: &'static [&'static str], rule: &'static str) -> Form {
    Form { theirs, ours, rule, opens: true, loops: true }
}

const DECLARED: &str = "a variable is declared at the top of its function, and set by an operator";
const WORDLESS: &str = "a value has no word before its name";
const SET: &str = "a variable is set by an operator";
const CHANGED: &str =
    "a value does not change: give another one a name, or declare a variable (`var x: i64`) and set it";
const ALIAS: &str = "a name stands for what an operator computes; what has a name is used by that";
const LOOPS: &str =
    "a loop ends where `break_if` says, and goes on where `continue` says, which is its last line";
const CHAIN: &str = "an `if` in an `else` stands in the braces of that, which has a `}` more";
const YIELDS: &str = "a case is a region that yields its value";
const BRACES: &str = "a case is a region in braces";
const MESSAGE: &str = "a contract says in quotes what it means, and behind `=` what holds";
const LABELLED: &str = "an exit of a loop names the label of it";

/// Statements. Earlier ones go first.
pub(super) const FORMS: &[Form] = &[
    line("var $name : $type = $value", &["var $name: $type", "var.set $name, $value"], DECLARED),
    line("let mut $name : $type = $value", &["var $name: $type", "var.set $name, $value"], DECLARED),
    line("let mut $name = $value", &["var $name: $T", "var.set $name, $value"], DECLARED),
    line("var $name = $value", &["var $name: $T", "var.set $name, $value"], DECLARED),
    line("let $name : $type = $value", &["$name = $node"], WORDLESS),
    line("let $name = $value", &["$name = $node"], WORDLESS),
    line("const $name : $type = $value", &["$name = $node"], WORDLESS),
    line("const $name = $value", &["$name = $node"], WORDLESS),
    line("val $name = $value", &["$name = $node"], WORDLESS),
    line("auto $name = $value", &["$name = $node"], WORDLESS),
    line("$name : $type = $value", &["$name = $node"], "the type of a value follows from its operator"),
    line("$name := $value", &["$name = $node"], "a name is given with `=`"),
    line("$var = $value", &["var.set $var, $value"], SET),
    line("$var $sign $value", &["var.set $var, $sum"], SET),
    line("$var ++", &["var.set $var, (add.$T $var, 1)"], SET),
    line("$var --", &["var.set $var, (sub.$T $var, 1)"], SET),
    line("$name $sign $value", &["$name2 = $sumNode"], CHANGED),
    line("$name ++", &["$name2 = add.$T $name, 1"], CHANGED),
    line("$name --", &["$name2 = sub.$T $name, 1"], CHANGED),
    line(
        "$name . $field = $value",
        &["$name2 = struct.set $S.$field $name, $value"],
        "a struct does not change: `struct.set` makes another one",
    ),
    line(
        "$name [ $index ] = $value",
        &["$name2 = array.set<$E> $name, $index, $value"],
        "an array does not change: `array.set` makes another one",
    ),
    line("$name = $literal", &["$name = $node"], "a name is given to what an operator computes"),
    line("$name = $known", &[], ALIAS),
    line("let $name = $rest", &["$name = $rest"], WORDLESS),
    line("require $value", &["require \"message\" = $value"], MESSAGE),
    line("ensure $value", &["ensure \"message\" = $value"], MESSAGE),
    line("break", &["break $label"], LABELLED),
    line("continue", &["continue $label"], LABELLED),
    looping("while $value", &["loop L {", "break_if L $not", "continue L"], LOOPS),
    looping(
        "for $name in $from .. $to",
        &["loop L ($name: $T = $from) {", "break_if L (ge_s.$T $name, $to)", "continue L (add.$T $name, 1)"],
        LOOPS,
    ),
    looping(
        "for $name in range ( $to )",
        &["loop L ($name: i64 = 0) {", "break_if L (ge_s.i64 $name, $to)", "continue L (add.i64 $name, 1)"],
        LOOPS,
    ),
    looping("while $rest", &["loop L {", "break_if L ..", "continue L"], LOOPS),
    looping(
        "for $rest",
        &["loop L (i: i64 = 0) {", "break_if L (ge_s.i64 i, ..)", "continue L (add.i64 i, 1)"],
        LOOPS,
    ),
    block("else if $value", &["else {", "if $value {"], CHAIN),
    block("elif $value", &["else {", "if $value {"], CHAIN),
    block("else if $rest", &["else {", "if $rest {"], CHAIN),
    block("switch $value", &["match $value {"], "cases are told apart by `match`, with `case` and `default`"),
];

/// Cases of a `match`.
pub(super) const CASES: &[Form] = &[
    line("_ => $value", &["default { yield $value }"], YIELDS),
    line("default => $value", &["default { yield $value }"], YIELDS),
    line("case $case => $value", &["case $case { yield $value }"], YIELDS),
    line("$case => $value", &["case $case { yield $value }"], YIELDS),
    line("case $case : $rest", &["case $case { $rest }"], BRACES),
    line("case $case :", &["case $case {"], BRACES),
    line("default : $rest", &["default { $rest }"], BRACES),
    line("default :", &["default {"], BRACES),
    block("$case =>", &["case $case {"], "a case begins with `case`, and has no arrow"),
];

/// What another language begins an item with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::text) enum Item {
    /// `fn f`.
    Function,
    /// `struct P {`.
    Struct,
    /// `enum E {`.
    Enum,
    /// `const x`.
    Constant,
    /// `let mut x`.
    Mutable,
}

/// The words that items begin with.
const ITEMS: &[(&str, Item)] = &[
    ("fn", Item::Function),
    ("function", Item::Function),
    ("fun", Item::Function),
    ("def", Item::Function),
    ("struct", Item::Struct),
    ("class", Item::Struct),
    ("record", Item::Struct),
    ("enum", Item::Enum),
    ("const", Item::Constant),
    ("let", Item::Constant),
    ("static", Item::Constant),
    ("var", Item::Mutable),
];

/// What a word of another language begins.
pub(in crate::text) fn item(word: &str) -> Option<Item> {
    ITEMS.iter().find(|(known, _)| *known == word).map(|(_, item)| *item)
}

/// Whether a word begins an item of another language, and nothing that stands in a body.
pub(in crate::text) fn is_item(word: &str) -> bool {
    item(word).is_some_and(|item| !matches!(item, Item::Constant | Item::Mutable))
}
