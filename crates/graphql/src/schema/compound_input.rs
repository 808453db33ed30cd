//! Compound edits as clients write them: one entry of a list that stands for many primitive ones.

use async_graphql::InputObject;

use crate::schema::defaults::{Int, Or};

/// Gives a loop one parameter more.
#[derive(Clone, Debug, InputObject)]
pub struct AddLoopParam {
    /// The loop.
    #[graphql(name = "ref")]
    pub of: String,
    /// Name of the parameter.
    pub name: String,
    /// Its type, as for a parameter.
    #[graphql(name = "type")]
    pub ty: String,
    /// Source of its first value, as for inputs, seen from in front of the loop.
    pub initial: String,
    /// Source of its value in the next round, as each `continue` sees it: a name in scope there, the parameter's own name, or a
    /// literal.
    pub next: String,
}

/// Lets something give one value more.
#[derive(Clone, Debug, InputObject)]
pub struct AddResult {
    /// The function or node.
    #[graphql(name = "ref")]
    pub of: String,
    /// Type of the result, as for a parameter.
    #[graphql(name = "type")]
    pub ty: String,
    /// Source of what each exit gives, as it sees it: a name in scope there, a literal.
    pub default: String,
}

/// Puts nodes into a new node.
#[derive(Clone, Debug, InputObject)]
pub struct Wrap {
    /// The nodes: of one region, each given by its ref or name. Operands without a name that only they take count as listed;
    /// what stands between them and only computes moves out of the way.
    pub refs: Vec<String>,
    /// The operator around them, as for `insertNode`: `block`, `loop L`, `if`. What it gives follows from what is used outside.
    pub op: String,
    /// What the new node is called later in the list.
    #[graphql(name = "as")]
    pub name_as: Option<String>,
}

/// Puts lines in place of nodes.
#[derive(Clone, Debug, InputObject)]
pub struct ReplaceSubgraph {
    /// The nodes: of one region, each given by its ref or name. Operands without a name that only they take count as listed;
    /// what stands between them and only computes moves out of the way.
    pub refs: Vec<String>,
    /// Lines of a body, as for `insertText`, which see what is in scope in front of the nodes. What takes the place of values
    /// that are used elsewhere is what a `yield` at their end gives, in the order of these values; without one, what is
    /// called as they are.
    pub text: String,
}

/// Makes a function of nodes.
#[derive(Clone, Debug, InputObject)]
pub struct ExtractFunction {
    /// The nodes: of one region, each given by its ref or name. Operands without a name that only they take count as listed;
    /// what stands between them and only computes moves out of the way.
    pub refs: Vec<String>,
    /// Name of the new function. It is private, and may do what the function may that the nodes come from.
    pub name: String,
    /// The module that it goes into; default: that of the function that the nodes come from.
    pub module: Option<String>,
    /// What the function is called later in the list.
    #[graphql(name = "as")]
    pub name_as: Option<String>,
}

/// Puts code in place of all code of a shape.
#[derive(Clone, Debug, InputObject)]
pub struct ReplacePattern {
    /// What is looked for: `add.i64 $v, 0`. `$v` stands for any value, the same wherever it stands, and `_` for anything.
    /// Operands may be operators in parentheses, or lines before: `s = mul.i64 $a, $a` and `add.i64 s, $b`; the last line is what
    /// is replaced. Names are seen from the module of the first function that is looked through.
    pub pattern: String,
    /// What stands there instead: an operand, an operator with operands, or lines with a `yield` at their end; `$v` is what it
    /// stood for. Operands of the old code go when nothing else takes them.
    pub replacement: String,
    /// Functions and modules to look through; everywhere by default.
    pub within: Option<Vec<String>>,
    /// How many places may change; more are an error that counts them, and nothing is changed.
    #[graphql(default)]
    pub limit: Or<Int<100>>,
}
