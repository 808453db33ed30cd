//! Edits as clients write them.

use async_graphql::{Enum, InputObject, OneofObject};

use crate::schema::compound_input::{
    AddLoopParam, AddResult, ExtractFunction, ReplacePattern, ReplaceSubgraph, Wrap,
};
use crate::schema::defaults::{Any, Int, No, Or, Private};

/// One edit. What is edited is always `ref`: a ref (`n12`, `f7`), the path or name of a module, type, function or global
/// (`shop::total`), that of a node or variable behind the path of its function (`shop::total::sum`), or `$x`. A node's name
/// alone does where something else in the edit tells the function. New things are named by `as` (`x` or `$x`) and usable
/// later in the same list, in texts too.
#[derive(Clone, Debug, OneofObject)]
pub enum EditInput {
    /// Adds whole functions and types in the text form: the cheapest way to write thirty nodes.
    AddText(AddText),
    /// Replaces a function by its text. What did not change keeps its ref, comment and provenance, whether the text gives
    /// refs or not.
    ReplaceFunctionText(ReplaceText),
    /// Replaces all that stands in a module by its text, as `text(module:)` answers it: what the text does not have is
    /// removed, what has but another name is renamed, the rest stays as for `replaceFunctionText`. Inner modules stay.
    ReplaceModuleText(ReplaceText),
    /// Inserts lines of the text form into a region; a label `x` in them is `$x` afterwards.
    InsertText(InsertText),
    /// Changes the texts of modules and functions as a unified diff says: few lines instead of the whole text.
    ApplyTextPatch(ApplyTextPatch),
    /// Adds a module.
    AddModule(AddModule),
    /// Gives a module another name.
    RenameModule(Rename),
    /// Removes a module.
    RemoveModule(Remove),
    /// Adds a nominal type.
    AddType(AddType),
    /// Replaces a type by its text; members whose refs stand in the text keep them.
    ReplaceType(ReplaceText),
    /// Replaces a global, memory, table, segment or custom section by its text: `global mut seen: i64 = 5`.
    ReplaceStorage(ReplaceText),
    /// Gives a type another name.
    RenameType(Rename),
    /// Removes a type.
    RemoveType(Remove),
    /// Adds a function.
    AddFunction(AddFunction),
    /// Changes what a function takes, returns and may do.
    SetSignature(SetSignature),
    /// Gives a function another name.
    RenameFunction(Rename),
    /// Moves a function to another module.
    MoveFunction(MoveFunction),
    /// Removes a function.
    RemoveFunction(Remove),
    /// Adds a function that captures values, for `closure.new`.
    AddClosure(AddFunction),
    /// Sets or clears what is written about an entity.
    SetDoc(SetDoc),
    /// Says who may use an entity.
    SetVisibility(SetVisibility),
    /// Inserts a node.
    InsertNode(InsertNode),
    /// Removes a node.
    RemoveNode(RemoveNode),
    /// Changes what a node computes; its inputs, name and place stay.
    ModifyNode(ModifyNode),
    /// Moves a node with the regions that it owns.
    MoveNode(MoveNode),
    /// Gives a node another name.
    RenameNode(Rename),
    /// Connects an input to a source.
    AddEdge(AddEdge),
    /// Puts a node after another one, or into one of its regions.
    AddControlEdge(AddControlEdge),
    /// Disconnects an input: leaves a hole, or takes an input away that the operator does not take (any more). A control edge is
    /// derived and cannot be removed.
    RemoveEdge(Remove),
    /// Lets all uses of a value take another one.
    ReplaceUses(ReplaceUses),
    /// Adds a variable to a function.
    AddVar(AddVar),
    /// Gives a variable another name.
    RenameVar(Rename),
    /// Removes a variable.
    RemoveVar(Remove),
    /// Replaces a variable of a function by the values that it holds: each `var.get` by the value that reaches it, and where
    /// control comes from several sides, nodes get results, loops parameters and exits values for it, as far as the variable
    /// is read later. `var.get`, `var.set` and the variable are gone then; runs give what they gave. Takes no `as`.
    PromoteVar(Target),
    /// Lets uses of a value read it from a new variable, the opposite of `promoteVar`: a `var.set` right after the node, or at
    /// the front of the region of a parameter, and a `var.get` right before each node that uses the value. `ref` is a node,
    /// whose outputs become a variable each, or one value, `n12.1` or `g5.0`; `as` is the variable, of several the first. It
    /// is called as the value is.
    DemoteToVar(Target),
    /// Adds a condition that a function demands or promises, or an invariant of a type.
    AddContract(AddContract),
    /// Replaces a contract by its text.
    ReplaceContract(ReplaceText),
    /// Removes a contract.
    RemoveContract(Remove),
    /// Gives a loop one parameter more, with what it starts from and what each `continue` passes on.
    AddLoopParam(AddLoopParam),
    /// Lets a function, or a node that owns regions, give one value more: the last, which each of its exits passes on. Calls of
    /// the function have one output more.
    AddResult(AddResult),
    /// Puts nodes into the first region of a new node, which gives on those of their values that are used outside. In a `block`
    /// or a `loop` they do what they did; an `if` has a hole for its condition, and its other region gives holes.
    Wrap(Wrap),
    /// Puts what is in a node in its place; the opposite of `wrap`. `ref` is the node, or, when it has several regions, the region
    /// whose code stays. Takes no `as`.
    Unwrap(Target),
    /// Puts lines of the text form in place of nodes.
    ReplaceSubgraph(ReplaceSubgraph),
    /// Makes a function of nodes, and a call in their place: what they take from outside becomes parameters, what is used of
    /// them outside results. Runs give what they gave.
    ExtractFunction(ExtractFunction),
    /// Puts a copy of a function's code in the place of a `call`: straight there when the function returns once, at its end, and
    /// else in a `block`. `as` is the block, or the node that makes the first result. Runs give what they gave.
    InlineCall(Target),
    /// Structural search and replace: puts other code in place of all code of a shape. With `dryRun` it is a search.
    ReplacePattern(ReplacePattern),
}

/// Adds what stands in a text: types, globals and functions.
///
/// A line is a node: `name = operator operands`, or the operator alone. Operators name their types (`add.i64`); operands
/// are names, literals of the type that their place takes, `_` for a hole, or operators in parentheses. Each region ends
/// with one terminator: `return` the function, `yield` an `if`, `match`, `block` or contract, `break L` and `continue L`
/// what is labelled `L`. `ops` lists the operators.
///
/// ```text
/// type Shape = enum { dot, box(i64) }
/// global mut seen: i64 = 0
/// pub func area (s: Shape, times: i64) -> (i64) {
///   require "not negative" = ge_s.i64 times, 0
///   var last: i64
///   one = match s -> (i64) {
///     case dot { yield 0 }
///     case box (side: i64) { yield (mul.i64 side, side) }
///   }
///   sum = loop L (i: i64 = 0, acc: i64 = 0) -> (i64) {
///     break_if L (ge_s.i64 i, times), acc
///     continue L (add.i64 i, 1), (add.i64 acc, one)
///   }
///   small = if (lt_s.i64 sum, 10) -> (bool) { yield true } else { yield false }
///   var.set last, (call half(sum))
///   global.set seen, (add.i64 (global.get seen), 1)
///   return (select<i64> small, last, sum)
/// }
/// func half (n: i64) -> (i64) pure { return (div_s.i64 n, 2) }
/// ```
#[derive(Clone, Debug, InputObject)]
pub struct AddText {
    /// The module that it goes into, by ref, path or `$name`; without one, the text names its modules itself.
    pub module: Option<String>,
    /// Types, globals and functions in the text form, as the description of `AddText` shows it. `$x` stands for what an
    /// edit before made.
    pub text: String,
}

/// Replaces an entity by its text.
#[derive(Clone, Debug, InputObject)]
pub struct ReplaceText {
    /// The entity.
    #[graphql(name = "ref")]
    pub of: String,
    /// Its text from now on, as for `addText`: `func f#f7 (n: i64) -> (i64) { .. }`. What keeps its ref or name in the
    /// text stays the same entity, and so does what has neither and computes the same in the same place. A text without
    /// any of the comments that there were leaves them as they are; one with some of them says all of them.
    pub text: String,
    /// The `contentHash` that was read, of the function or the module, or its first 16 digits at least; another one now is a
    /// conflict.
    pub if_hash: Option<String>,
}

/// Inserts lines into a region.
#[derive(Clone, Debug, InputObject)]
pub struct InsertText {
    /// Lines of a body, as for `addText`: `x = add.i64 a, 1`. Names in scope at the place and `$x` can be used.
    pub text: String,
    /// The function; not needed when a region or an anchor is given.
    pub function: Option<String>,
    /// The region; default: that of the anchor, else the function's body.
    pub region: Option<String>,
    /// The node that the lines go before.
    pub before: Option<String>,
    /// The node that the lines go after; without an anchor they go to the end, before the terminator.
    pub after: Option<String>,
}

/// Changes the text form of modules and functions as a patch says; over several of them it is one edit.
#[derive(Clone, Debug, InputObject)]
pub struct ApplyTextPatch {
    /// A unified diff against what `Program.text(module:)` and `Function.text` answer at any detail, or that `diff` prints.
    /// Files are modules, functions, types and globals by path or ref: `--- a/shop::total`, `+++ b/shop::total`;
    /// `--- /dev/null` adds the items of a text to a module, `+++ /dev/null` removes what is named; another path behind `+++`
    /// renames it, or moves a function. Hunks are found by the lines that they keep and remove, nearest to their line numbers,
    /// which may be off or left out (`@@`); counts are not believed, refs in those lines may be left out. What added lines
    /// give refs to that is not there gets refs of its own. The order of files does not matter. A hunk that does not apply is
    /// a `PATCH_MISFIT`; `line` of an error is one of the patch.
    pub patch: String,
}

/// Inserts a node.
#[derive(Clone, Debug, InputObject)]
pub struct InsertNode {
    /// What the node is called later in the list.
    #[graphql(name = "as")]
    pub name_as: Option<String>,
    /// The operator with its attributes: `add.i32`, `call fib`, `if -> (i64)`, `loop L (i: i64) -> (i64)`. Regions of
    /// the new node are `$x.then`, `$x.else`, `$x.body`, `$x.case0`, `$x.default`.
    pub op: String,
    /// The function; not needed when a region or an anchor is given.
    pub function: Option<String>,
    /// The region; default: that of the anchor, else the function's body.
    pub region: Option<String>,
    /// The node that it goes before.
    pub before: Option<String>,
    /// The node that it goes after; without an anchor it goes to the end, before the terminator.
    pub after: Option<String>,
    /// Sources of the inputs: `n12`, `n12.1`, a name in scope, `$x`, a literal; null is a hole.
    pub inputs: Option<Vec<Option<String>>>,
    /// Its label.
    pub name: Option<String>,
}

/// Removes a node.
#[derive(Clone, Debug, InputObject)]
pub struct RemoveNode {
    /// The node.
    #[graphql(name = "ref")]
    pub of: String,
    /// The source that its uses take instead: as for inputs.
    pub replace_uses_with: Option<String>,
    /// Whether its uses become holes and what stands in its regions goes too; otherwise either is an error.
    #[graphql(default)]
    pub cascade: Or<No>,
}

/// Changes what a node computes; its name, its place and its inputs stay. Inputs that the new operator does not take are
/// an error, except for holes at the end: disconnect them first. Inputs that it takes besides are holes.
#[derive(Clone, Debug, InputObject)]
pub struct ModifyNode {
    /// The node.
    #[graphql(name = "ref")]
    pub of: String,
    /// Its operator from now on, as for `insertNode`.
    pub op: String,
}

/// Moves a node.
#[derive(Clone, Debug, InputObject)]
pub struct MoveNode {
    /// The node.
    #[graphql(name = "ref")]
    pub of: String,
    /// The region that it goes to; default: that of the anchor.
    pub region: Option<String>,
    /// The node that it goes before.
    pub before: Option<String>,
    /// The node that it goes after.
    pub after: Option<String>,
}

/// Connects an input.
#[derive(Clone, Debug, InputObject)]
pub struct AddEdge {
    /// The source: `n12`, `n12.1`, a name in scope, `$x`, a literal.
    pub from: String,
    /// The node that consumes the value.
    pub to: String,
    /// Which output of `from`.
    #[graphql(default)]
    pub source_port: Or<Int<0>>,
    /// Which input of `to`.
    pub target_port: i32,
    /// Whether an edge that is there is replaced; otherwise it is an error.
    #[graphql(default)]
    pub replace: Or<No>,
}

/// Moves a node behind another one, or into a region of it: an edge of control from that one to it.
#[derive(Clone, Debug, InputObject)]
pub struct AddControlEdge {
    /// The node that comes first, or that owns the region.
    pub from: String,
    /// The node that moves.
    pub to: String,
    /// The region of `from` that `to` goes into; without one, `to` moves right after `from`.
    pub branch_index: Option<i32>,
}

/// Redirects uses. A port that is not there is an error, unless it is used: uses left behind can be mended so.
#[derive(Clone, Debug, InputObject)]
pub struct ReplaceUses {
    /// The value whose uses change: a node or `n12.1`.
    #[graphql(name = "ref")]
    pub of: String,
    /// The source that they take instead: as for inputs.
    pub with: String,
}

/// Names one entity.
#[derive(Clone, Debug, InputObject)]
pub struct Target {
    /// The entity.
    #[graphql(name = "ref")]
    pub of: String,
    /// What the result is called later in the list.
    #[graphql(name = "as")]
    pub name_as: Option<String>,
}

/// Removes an entity or a data edge.
#[derive(Clone, Debug, InputObject)]
pub struct Remove {
    /// The entity, or an edge such as `n12.in0`.
    #[graphql(name = "ref")]
    pub of: String,
    /// Whether uses become holes and what cannot exist without it goes too; otherwise a use is an error.
    #[graphql(default)]
    pub cascade: Or<No>,
}

/// Renames an entity.
#[derive(Clone, Debug, InputObject)]
pub struct Rename {
    /// The entity.
    #[graphql(name = "ref")]
    pub of: String,
    /// Its name from now on; nothing else is rewritten.
    pub name: String,
}

/// Adds a module.
#[derive(Clone, Debug, InputObject)]
pub struct AddModule {
    /// What the module is called later in the list.
    #[graphql(name = "as")]
    pub name_as: Option<String>,
    /// Its name within the parent.
    pub name: String,
    /// The module around; without one it stands at the top.
    pub parent: Option<String>,
    /// Who may use it.
    #[graphql(default)]
    pub visibility: Or<Private>,
    /// What is written about it.
    pub doc: Option<String>,
}

/// Adds a nominal type.
#[derive(Clone, Debug, InputObject)]
pub struct AddType {
    /// What the type is called later in the list.
    #[graphql(name = "as")]
    pub name_as: Option<String>,
    /// The module that it goes into; needed when there is more than one.
    pub module: Option<String>,
    /// Its text: `type Point = struct { x: f64, y: f64 }`.
    pub text: String,
}

/// Adds a function.
#[derive(Clone, Debug, InputObject)]
pub struct AddFunction {
    /// What the function is called later in the list.
    #[graphql(name = "as")]
    pub name_as: Option<String>,
    /// Its name within the module.
    pub name: String,
    /// The module that it goes into; needed when there is more than one.
    pub module: Option<String>,
    /// What it takes.
    pub params: Vec<ParamInput>,
    /// Types of what it returns, each as for a parameter.
    pub results: Vec<String>,
    /// What a closure made from it captures.
    pub captures: Option<Vec<ParamInput>>,
    /// Who may call it.
    #[graphql(default)]
    pub visibility: Or<Private>,
    /// What it may do at most.
    #[graphql(default)]
    pub effect_bound: Or<Any>,
    /// What is written about it.
    pub doc: Option<String>,
    /// Lines of its body, as for `addText`: `return (mul.i64 n, 2)`; without them it is incomplete.
    pub body: Option<String>,
}

/// A named parameter or capture.
#[derive(Clone, Debug, InputObject)]
pub struct ParamInput {
    /// Its name.
    pub name: String,
    /// Its type: `i64`, `f64`, `bool`, `string`, `bytes`, `unit`, `array<i64>`, `array<i64, 4>`, `option<T>`,
    /// `result<T, E>`, `box<T>`, `ptr<T>`, `closure<(i64) -> (i64)>`, `funcref`, or a type of the program by name, path, ref
    /// or `$x`.
    #[graphql(name = "type")]
    pub ty: String,
}

/// Changes a signature. Calls that do not fit any more count as holes until they are mended. In the function itself uses
/// follow parameters by name; those of parameters that are gone, and of results in an `ensure`, become holes.
#[derive(Clone, Debug, InputObject)]
pub struct SetSignature {
    /// The function.
    #[graphql(name = "ref")]
    pub of: String,
    /// What it takes; without it, as before. A parameter that keeps its name keeps its uses, and so does one that keeps its
    /// position and type under another name.
    pub params: Option<Vec<ParamInput>>,
    /// Types of what it returns, each as for a parameter; without it, as before.
    pub results: Option<Vec<String>>,
    /// What it may do at most; without it, as before.
    pub effect_bound: Option<EffectBound>,
    /// Whether calls follow: arguments go where their parameters went, new parameters take `defaults`, or are holes, and uses
    /// of results that are gone become holes.
    #[graphql(default)]
    pub rewrite_calls: Or<No>,
    /// What calls pass for new parameters, in the order of these: literals, or sources as each call sees them. Giving them
    /// rewrites calls.
    pub defaults: Option<Vec<String>>,
}

/// Moves a function.
#[derive(Clone, Debug, InputObject)]
pub struct MoveFunction {
    /// The function.
    #[graphql(name = "ref")]
    pub of: String,
    /// The module that it goes to.
    pub module: String,
}

/// Documents an entity.
#[derive(Clone, Debug, InputObject)]
pub struct SetDoc {
    /// The entity.
    #[graphql(name = "ref")]
    pub of: String,
    /// What is written about it; null clears it.
    pub doc: Option<String>,
}

/// Shows or hides an entity.
#[derive(Clone, Debug, InputObject)]
pub struct SetVisibility {
    /// The entity: a module, a type, a function or a global.
    #[graphql(name = "ref")]
    pub of: String,
    /// Who may use it.
    pub visibility: Visibility,
}

/// Adds a variable.
#[derive(Clone, Debug, InputObject)]
pub struct AddVar {
    /// What the variable is called later in the list.
    #[graphql(name = "as")]
    pub name_as: Option<String>,
    /// The function.
    pub function: String,
    /// Its name.
    pub name: Option<String>,
    /// Its type, as for a parameter.
    #[graphql(name = "type")]
    pub ty: String,
}

/// Adds a contract.
#[derive(Clone, Debug, InputObject)]
pub struct AddContract {
    /// What the contract is called later in the list.
    #[graphql(name = "as")]
    pub name_as: Option<String>,
    /// The function; of an `INVARIANT` the type, or a function that states some. Those of a type stand in a function beside it
    /// that the first one adds.
    #[graphql(name = "ref")]
    pub of: String,
    /// When it is evaluated.
    pub kind: ContractKind,
    /// What it means, in words.
    pub message: String,
    /// A boolean expression in the text form; results are `result` or `result0`, `result1`, a value of a type `value`.
    pub text: String,
}

/// Who may use an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
pub enum Visibility {
    /// Every module.
    Public,
    /// The module that it stands in, and those below.
    Private,
}

/// What a function may do at most; checked against its body, relied on by its callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
pub enum EffectBound {
    /// It computes, and may trap.
    Pure,
    /// It may also read globals, memory and tables.
    Reads,
    /// Anything.
    Any,
}

/// When a contract is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
pub enum ContractKind {
    /// At entry, by the callee for every caller.
    Require,
    /// At return.
    Ensure,
    /// Where a value of the type enters or leaves a public or exported function, alone or as a part of another one, but
    /// not through a `ptr`.
    Invariant,
}
