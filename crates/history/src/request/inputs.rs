//! What a caller can ask for: the edits of the API, as plain data.

use lmlang_ir::{EffectBound, Visibility};

use super::refactor::inputs::{
    AddLoopParam, AddResult, ExtractFunction, ReplacePattern, ReplaceSubgraph, Target, Wrap,
};

/// One edit as a caller asks for it. What is edited is always `of`: a ref, the path of a module, type or function, or a
/// `$name` of the same list.
#[derive(Clone, Debug, PartialEq)]
pub enum EditRequest {
    /// Adds whole functions and types in the text form.
    AddText(AddText),
    /// Replaces a function by its text; what stayed keeps its ref.
    ReplaceFunctionText(ReplaceText),
    /// Replaces all that stands in a module by its text; what stayed keeps its ref.
    ReplaceModuleText(ReplaceText),
    /// Inserts lines of the text form into a region.
    InsertText(InsertText),
    /// Changes texts of modules and functions as a unified diff says.
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
    /// Adds a function that captures values.
    AddClosure(AddFunction),
    /// Sets or clears what is written about an entity.
    SetDoc(SetDoc),
    /// Says who may use an entity.
    SetVisibility(SetVisibility),
    /// Inserts a node.
    InsertNode(InsertNode),
    /// Removes a node with all that is in it.
    RemoveNode(RemoveNode),
    /// Changes what a node computes; its inputs, name and place stay.
    ModifyNode(ModifyNode),
    /// Moves a node with the regions that it owns.
    MoveNode(MoveNode),
    /// Gives a node another name; an empty one takes the name away.
    RenameNode(Rename),
    /// Connects an input to a source.
    AddEdge(AddEdge),
    /// Puts a node right after another one, or into one of its regions.
    AddControlEdge(AddControlEdge),
    /// Disconnects an input.
    RemoveEdge(Remove),
    /// Lets all uses of a value take another one.
    ReplaceUses(ReplaceUses),
    /// Adds a variable to a function.
    AddVar(AddVar),
    /// Gives a variable another name.
    RenameVar(Rename),
    /// Removes a variable.
    RemoveVar(Remove),
    /// Replaces a variable of a function by the values that it holds.
    PromoteVar(PromoteVar),
    /// Lets uses of a value read it from a new variable.
    DemoteToVar(DemoteToVar),
    /// Adds a condition that a function demands or promises.
    AddContract(AddContract),
    /// Replaces a contract by its text.
    ReplaceContract(ReplaceText),
    /// Replaces a global, memory, table, segment or custom section by its text.
    ReplaceStorage(ReplaceText),
    /// Removes a contract.
    RemoveContract(Remove),
    /// Gives a loop one parameter more.
    AddLoopParam(AddLoopParam),
    /// Lets a function or a node give one value more.
    AddResult(AddResult),
    /// Puts nodes into a region of a new node.
    Wrap(Wrap),
    /// Puts what is in a node in its place.
    Unwrap(Target),
    /// Puts lines in place of nodes.
    ReplaceSubgraph(ReplaceSubgraph),
    /// Makes a function of nodes.
    ExtractFunction(ExtractFunction),
    /// Puts a function's code in place of a call.
    InlineCall(Target),
    /// Puts other code in place of all code of a shape.
    ReplacePattern(ReplacePattern),
    /// Anything that is known by name and not carried out yet: an edit, or one of its arguments,
    /// `promoteVar.as`.
    Unsupported(&'static str),
}

impl EditRequest {
    /// The name of the field of the API that the edit stands in.
    pub fn field(&self) -> &'static str {
        match self {
            EditRequest::AddText(_) => "addText",
            EditRequest::ReplaceFunctionText(_) => "replaceFunctionText",
            EditRequest::ReplaceModuleText(_) => "replaceModuleText",
            EditRequest::InsertText(_) => "insertText",
            EditRequest::ApplyTextPatch(_) => "applyTextPatch",
            EditRequest::AddModule(_) => "addModule",
            EditRequest::RenameModule(_) => "renameModule",
            EditRequest::RemoveModule(_) => "removeModule",
            EditRequest::AddType(_) => "addType",
            EditRequest::ReplaceType(_) => "replaceType",
            EditRequest::RenameType(_) => "renameType",
            EditRequest::RemoveType(_) => "removeType",
            EditRequest::AddFunction(_) => "addFunction",
            EditRequest::SetSignature(_) => "setSignature",
            EditRequest::RenameFunction(_) => "renameFunction",
            EditRequest::MoveFunction(_) => "moveFunction",
            EditRequest::RemoveFunction(_) => "removeFunction",
            EditRequest::AddClosure(_) => "addClosure",
            EditRequest::SetDoc(_) => "setDoc",
            EditRequest::SetVisibility(_) => "setVisibility",
            EditRequest::InsertNode(_) => "insertNode",
            EditRequest::RemoveNode(_) => "removeNode",
            EditRequest::ModifyNode(_) => "modifyNode",
            EditRequest::MoveNode(_) => "moveNode",
            EditRequest::RenameNode(_) => "renameNode",
            EditRequest::AddEdge(_) => "addEdge",
            EditRequest::AddControlEdge(_) => "addControlEdge",
            EditRequest::RemoveEdge(_) => "removeEdge",
            EditRequest::ReplaceUses(_) => "replaceUses",
            EditRequest::AddVar(_) => "addVar",
            EditRequest::RenameVar(_) => "renameVar",
            EditRequest::RemoveVar(_) => "removeVar",
            EditRequest::PromoteVar(_) => "promoteVar",
            EditRequest::DemoteToVar(_) => "demoteToVar",
            EditRequest::AddContract(_) => "addContract",
            EditRequest::ReplaceContract(_) => "replaceContract",
            EditRequest::ReplaceStorage(_) => "replaceStorage",
            EditRequest::RemoveContract(_) => "removeContract",
            EditRequest::AddLoopParam(_) => "addLoopParam",
            EditRequest::AddResult(_) => "addResult",
            EditRequest::Wrap(_) => "wrap",
            EditRequest::Unwrap(_) => "unwrap",
            EditRequest::ReplaceSubgraph(_) => "replaceSubgraph",
            EditRequest::ExtractFunction(_) => "extractFunction",
            EditRequest::InlineCall(_) => "inlineCall",
            EditRequest::ReplacePattern(_) => "replacePattern",
            EditRequest::Unsupported(field) => field.split(['.', ' ']).next().unwrap_or(field),
        }
    }

    /// The name that the edit gives to an entity of the program.
    pub fn named(&self) -> Option<&str> {
        let (EditRequest::AddModule(AddModule { name, .. })
        | EditRequest::AddFunction(AddFunction { name, .. })
        | EditRequest::AddClosure(AddFunction { name, .. })
        | EditRequest::RenameModule(Rename { name, .. })
        | EditRequest::RenameType(Rename { name, .. })
        | EditRequest::RenameFunction(Rename { name, .. })
        | EditRequest::RenameVar(Rename { name, .. })
        | EditRequest::ExtractFunction(ExtractFunction { name, .. })) = self
        else {
            return None;
        };
        Some(name)
    }
}

/// Adds what stands in a text.
#[derive(Clone, Debug, PartialEq)]
pub struct AddText {
    /// The module that it goes into; without one, the text names its modules itself.
    pub module: Option<String>,
    /// Functions, types and globals in the text form.
    pub text: String,
}

/// Replaces an entity by its text.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplaceText {
    /// The entity.
    pub of: String,
    /// Its text from now on.
    pub text: String,
    /// The hash that was read: of the function, of the function around a contract, of the type, of the module. Another
    /// one now is a conflict.
    pub if_hash: Option<String>,
}

/// Inserts lines into a region; a label `x` in them is `$x` afterwards.
#[derive(Clone, Debug, PartialEq)]
pub struct InsertText {
    /// Lines of the text form.
    pub text: String,
    /// Where they go.
    pub at: At,
}

/// Changes the text form of modules and functions, as a unified diff against it says.
#[derive(Clone, Debug, PartialEq)]
pub struct ApplyTextPatch {
    /// The diff.
    pub patch: String,
}

/// Where a node goes: a region, or a place beside an anchor in it. Without an anchor: the end, before the terminator.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct At {
    /// The function; not needed when a region or an anchor is given.
    pub function: Option<String>,
    /// The region; default: that of the anchor, else the function's body.
    pub region: Option<String>,
    /// The node to go before.
    pub before: Option<String>,
    /// The node to go after.
    pub after: Option<String>,
}

/// Adds a module.
#[derive(Clone, Debug, PartialEq)]
pub struct AddModule {
    /// What it is called in the same list.
    pub name_as: Option<String>,
    /// Its name.
    pub name: String,
    /// The module around.
    pub parent: Option<String>,
    /// Who may use it.
    pub visibility: Visibility,
    /// What to write about it.
    pub doc: Option<String>,
}

/// Adds a nominal type.
#[derive(Clone, Debug, PartialEq)]
pub struct AddType {
    /// What it is called in the same list.
    pub name_as: Option<String>,
    /// The module that it goes into; default: the program's only one.
    pub module: Option<String>,
    /// The type in the text form.
    pub text: String,
}

/// Adds a function.
#[derive(Clone, Debug, PartialEq)]
pub struct AddFunction {
    /// What it is called in the same list.
    pub name_as: Option<String>,
    /// Its name.
    pub name: String,
    /// The module that it goes into; default: the program's only one.
    pub module: Option<String>,
    /// What it takes.
    pub params: Vec<ParamRequest>,
    /// Types of what it returns.
    pub results: Vec<String>,
    /// What a closure made from it captures.
    pub captures: Vec<ParamRequest>,
    /// Who may call it.
    pub visibility: Visibility,
    /// What it may do at most.
    pub effect_bound: EffectBound,
    /// What to write about it.
    pub doc: Option<String>,
    /// Its body: lines of the text form.
    pub body: Option<String>,
}

/// A named parameter or capture.
#[derive(Clone, Debug, PartialEq)]
pub struct ParamRequest {
    /// Its name.
    pub name: String,
    /// Its type, in the text form.
    pub ty: String,
}

/// Changes what a function takes, returns and may do; what is absent stays.
#[derive(Clone, Debug, PartialEq)]
pub struct SetSignature {
    /// The function.
    pub of: String,
    /// What it takes; a parameter that keeps its name keeps its uses, or its position and type under another name.
    pub params: Option<Vec<ParamRequest>>,
    /// Types of what it returns.
    pub results: Option<Vec<String>>,
    /// What it may do at most.
    pub effect_bound: Option<EffectBound>,
    /// Whether calls are rewritten.
    pub rewrite_calls: bool,
    /// What rewritten calls pass for new parameters, in the order of these: sources as a call sees them, or literals.
    pub defaults: Vec<String>,
}

/// Moves a function to another module.
#[derive(Clone, Debug, PartialEq)]
pub struct MoveFunction {
    /// The function.
    pub of: String,
    /// The module.
    pub module: String,
}

/// Sets or clears what is written about an entity.
#[derive(Clone, Debug, PartialEq)]
pub struct SetDoc {
    /// The entity.
    pub of: String,
    /// What to write; `None` clears it.
    pub doc: Option<String>,
}

/// Says who may use an entity.
#[derive(Clone, Debug, PartialEq)]
pub struct SetVisibility {
    /// The entity.
    pub of: String,
    /// Who may use it.
    pub visibility: Visibility,
}

/// Inserts a node.
#[derive(Clone, Debug, PartialEq)]
pub struct InsertNode {
    /// What it is called in the same list.
    pub name_as: Option<String>,
    /// Its operator, in the input form.
    pub op: String,
    /// Where it goes.
    pub at: At,
    /// Its sources; `None`, and what is missing at the end: holes.
    pub inputs: Vec<Option<String>>,
    /// Its name.
    pub name: Option<String>,
}

/// Removes a node with all that is in it.
#[derive(Clone, Debug, PartialEq)]
pub struct RemoveNode {
    /// The node.
    pub of: String,
    /// The source that its uses take instead.
    pub replace_uses_with: Option<String>,
    /// Whether to leave holes at its uses.
    pub cascade: bool,
}

/// Changes what a node computes.
#[derive(Clone, Debug, PartialEq)]
pub struct ModifyNode {
    /// The node.
    pub of: String,
    /// Its operator from now on, in the input form.
    pub op: String,
}

/// Moves a node.
#[derive(Clone, Debug, PartialEq)]
pub struct MoveNode {
    /// The node.
    pub of: String,
    /// Where it goes; its function is that of the node.
    pub at: At,
}

/// Connects an input to a source.
#[derive(Clone, Debug, PartialEq)]
pub struct AddEdge {
    /// The source, or the node whose output is.
    pub from: String,
    /// The node whose input it is.
    pub to: String,
    /// Which output, for a source without a port.
    pub source_port: u16,
    /// Which input.
    pub target_port: u16,
    /// Whether to replace a source that is there.
    pub replace: bool,
}

/// Puts a node right after another one, or into one of its regions.
#[derive(Clone, Debug, PartialEq)]
pub struct AddControlEdge {
    /// The node that it goes after, or into.
    pub from: String,
    /// The node that is moved.
    pub to: String,
    /// Which region of `from`; `None`: right after it.
    pub branch_index: Option<u32>,
}

/// Lets all uses of a value take another one.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplaceUses {
    /// The value.
    pub of: String,
    /// The source that its uses take instead.
    pub with: String,
}

/// Removes an entity.
#[derive(Clone, Debug, PartialEq)]
pub struct Remove {
    /// The entity, or for an edge its ref: `n12.in0`.
    pub of: String,
    /// Whether to leave holes at uses and remove nodes that cannot be without it.
    pub cascade: bool,
}

/// Gives an entity another name.
#[derive(Clone, Debug, PartialEq)]
pub struct Rename {
    /// The entity.
    pub of: String,
    /// Its name from now on.
    pub name: String,
}

/// Adds a variable to a function.
#[derive(Clone, Debug, PartialEq)]
pub struct AddVar {
    /// What it is called in the same list.
    pub name_as: Option<String>,
    /// The function.
    pub function: String,
    /// Its name.
    pub name: Option<String>,
    /// Its type, in the text form.
    pub ty: String,
}

/// Replaces a variable of a function by the values that it holds.
#[derive(Clone, Debug, PartialEq)]
pub struct PromoteVar {
    /// The variable.
    pub of: String,
}

/// Lets uses of a value read it from a new variable.
#[derive(Clone, Debug, PartialEq)]
pub struct DemoteToVar {
    /// What the variable, of several outputs the first, is called in the same list.
    pub name_as: Option<String>,
    /// A node, or one value: `n12.1`, `g5.0`.
    pub of: String,
}

/// Adds a condition.
#[derive(Clone, Debug, PartialEq)]
pub struct AddContract {
    /// What it is called in the same list.
    pub name_as: Option<String>,
    /// The function.
    pub of: String,
    /// When it is evaluated.
    pub kind: ConditionKind,
    /// What it means, in words.
    pub message: String,
    /// The condition: an expression, or lines that end with `yield`.
    pub text: String,
}

/// When a condition is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConditionKind {
    /// At entry.
    Require,
    /// At return.
    Ensure,
    /// On the values of a type that enter and leave public and exported functions.
    Invariant,
}
