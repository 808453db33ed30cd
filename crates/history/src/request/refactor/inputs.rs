//! The compound edits of the API, as plain data.

/// Names one entity.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// What is made of it is called so in the same list.
    pub name_as: Option<String>,
    /// The entity.
    pub of: String,
}

/// Puts nodes into a region of a new node.
#[derive(Clone, Debug, PartialEq)]
pub struct Wrap {
    /// What the new node is called in the same list.
    pub name_as: Option<String>,
    /// The nodes.
    pub refs: Vec<String>,
    /// The operator of the new node, in the input form.
    pub op: String,
}

/// Puts lines in place of nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplaceSubgraph {
    /// The nodes.
    pub refs: Vec<String>,
    /// Lines of the text form.
    pub text: String,
}

/// Makes a function of nodes, and a call in their place.
#[derive(Clone, Debug, PartialEq)]
pub struct ExtractFunction {
    /// What the function is called in the same list.
    pub name_as: Option<String>,
    /// The nodes.
    pub refs: Vec<String>,
    /// Name of the function.
    pub name: String,
    /// The module that it goes into; default: that of the function that the nodes come from.
    pub module: Option<String>,
}

/// Puts code in place of all code of a shape.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplacePattern {
    /// The shape: lines of the text form in which `$x` stands for any value.
    pub pattern: String,
    /// What comes instead: an operand, or lines that end in a `yield`.
    pub replacement: String,
    /// Functions and modules to look through; `None`: the program.
    pub within: Option<Vec<String>>,
    /// How many places may be changed.
    pub limit: usize,
}

/// Gives a loop one parameter more.
#[derive(Clone, Debug, PartialEq)]
pub struct AddLoopParam {
    /// The loop.
    pub of: String,
    /// Name of the parameter.
    pub name: String,
    /// Its type, in the text form.
    pub ty: String,
    /// The source of its first value.
    pub initial: String,
    /// The source of its value in the next round, as each `continue` sees it.
    pub next: String,
}

/// Lets a function, or a node that owns regions, give one value more.
#[derive(Clone, Debug, PartialEq)]
pub struct AddResult {
    /// The function or node.
    pub of: String,
    /// Type of the result, in the text form.
    pub ty: String,
    /// The source of what each exit gives, as it sees it.
    pub default: String,
}
