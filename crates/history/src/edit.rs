//! Edits: the smallest changes of a program that are recorded.
//!
//! An edit holds the structure together and nothing else: whether types, scopes and names are right is the verifier's
//! question, asked once after the last edit of a change set. So any stored state can be replayed, diffed into and undone
//! to. Edits say what the program becomes, never what it was: the way back is computed from the program before
//! ([`Edit::invert`]).

use std::sync::Arc;

use lmlang_ir::{
    Contract, ContractRef, FuncRef, Function, FunctionHead, Hash, Module, ModuleRef, Name, NodeContent,
    NodeRef, Ref, Region, RegionRef, Source, Storage, TypeDef, TypeRef, VarRef, Variable,
};

/// One recorded change of a program.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// Adds a module.
    AddModule {
        /// Its ref, never used before.
        module: ModuleRef,
        /// Its record.
        content: Module,
    },
    /// Replaces the record of a module: its name, place, visibility, doc.
    SetModule {
        /// The module.
        module: ModuleRef,
        /// Its record from now on.
        content: Module,
    },
    /// Removes a module that has nothing in it.
    RemoveModule {
        /// The module.
        module: ModuleRef,
    },
    /// Adds a nominal type with its members.
    AddType {
        /// Its ref, never used before.
        ty: TypeRef,
        /// Its record.
        content: Arc<TypeDef>,
    },
    /// Replaces the record of a nominal type.
    SetType {
        /// The type.
        ty: TypeRef,
        /// Its record from now on.
        content: Arc<TypeDef>,
    },
    /// Removes a nominal type; uses of it stay as they are.
    RemoveType {
        /// The type.
        ty: TypeRef,
    },
    /// Adds storage of the program.
    AddStorage {
        /// Its ref, never used before.
        storage: VarRef,
        /// Its record.
        content: Arc<Storage>,
    },
    /// Replaces the record of storage of the program.
    SetStorage {
        /// The storage.
        storage: VarRef,
        /// Its record from now on.
        content: Arc<Storage>,
    },
    /// Removes storage of the program; uses of it stay as they are.
    RemoveStorage {
        /// The storage.
        storage: VarRef,
    },
    /// Adds a function with all in it.
    AddFunction {
        /// Its ref, never used before.
        function: FuncRef,
        /// Its head and body.
        content: Arc<Function>,
    },
    /// Removes a function with all in it; uses of it stay as they are.
    RemoveFunction {
        /// The function.
        function: FuncRef,
        /// The hash of what is removed, so that it can be found again.
        content: Hash,
    },
    /// Changes something inside a function.
    Within {
        /// The function.
        function: FuncRef,
        /// The change.
        edit: FunctionEdit,
    },
}

/// One recorded change inside a function.
#[derive(Clone, Debug, PartialEq)]
pub enum FunctionEdit {
    /// Replaces the head: name, module, signature, visibility, doc and what else stands there.
    SetHead {
        /// The head from now on.
        head: Arc<FunctionHead>,
    },
    /// Adds a variable.
    AddVariable {
        /// Its ref, never used before.
        variable: VarRef,
        /// Its record.
        content: Variable,
    },
    /// Replaces the record of a variable.
    SetVariable {
        /// The variable.
        variable: VarRef,
        /// Its record from now on.
        content: Variable,
    },
    /// Removes a variable; uses of it stay as they are.
    RemoveVariable {
        /// The variable.
        variable: VarRef,
    },
    /// Adds a contract; its region is added after it.
    AddContract {
        /// Its ref, never used before.
        contract: ContractRef,
        /// Its record.
        content: Contract,
    },
    /// Replaces the record of a contract.
    SetContract {
        /// The contract.
        contract: ContractRef,
        /// Its record from now on.
        content: Contract,
    },
    /// Removes a contract whose region is gone.
    RemoveContract {
        /// The contract.
        contract: ContractRef,
    },
    /// Adds an empty region to an owner that exists.
    AddRegion {
        /// Its ref, never used before.
        region: RegionRef,
        /// Its record.
        content: Region,
    },
    /// Replaces role, parameters and comments of a region.
    SetRegion {
        /// The region.
        region: RegionRef,
        /// Its record from now on; the owner stays.
        content: Region,
    },
    /// Removes a region without nodes.
    RemoveRegion {
        /// The region.
        region: RegionRef,
    },
    /// Inserts a node; the regions that it owns are added after it.
    InsertNode {
        /// Its ref, never used before.
        node: NodeRef,
        /// Where it goes.
        region: RegionRef,
        /// The node that it follows; `None`: the front.
        after: Option<NodeRef>,
        /// Its record.
        content: Box<NodeContent>,
    },
    /// Removes a node whose regions are gone; uses of it stay as they are.
    RemoveNode {
        /// The node.
        node: NodeRef,
    },
    /// Replaces what a node computes, its inputs, regions, name and doc; its place stays.
    SetNode {
        /// The node.
        node: NodeRef,
        /// Its record from now on.
        content: Box<NodeContent>,
    },
    /// Replaces name and doc of a node.
    SetLabel {
        /// The node.
        node: NodeRef,
        /// Its name from now on.
        name: Option<Name>,
        /// Its doc from now on.
        doc: Option<Arc<str>>,
    },
    /// Sets the source of one input, or leaves a hole.
    SetInput {
        /// The node.
        node: NodeRef,
        /// Which input.
        input: u16,
        /// Where it comes from; `None`: a hole.
        source: Option<Source>,
    },
    /// Moves a node with the regions that it owns.
    MoveNode {
        /// The node.
        node: NodeRef,
        /// Where it goes.
        region: RegionRef,
        /// The node that it follows; `None`: the front.
        after: Option<NodeRef>,
    },
}

impl FunctionEdit {
    /// The edit as one of a program.
    pub fn within(self, function: FuncRef) -> Edit {
        Edit::Within { function, edit: self }
    }

    /// The name of the kind, as the API shows it.
    pub fn kind(&self) -> &'static str {
        match self {
            FunctionEdit::SetHead { .. } => "setHead",
            FunctionEdit::AddVariable { .. } => "addVar",
            FunctionEdit::SetVariable { .. } => "setVar",
            FunctionEdit::RemoveVariable { .. } => "removeVar",
            FunctionEdit::AddContract { .. } => "addContract",
            FunctionEdit::SetContract { .. } => "setContract",
            FunctionEdit::RemoveContract { .. } => "removeContract",
            FunctionEdit::AddRegion { .. } => "addRegion",
            FunctionEdit::SetRegion { .. } => "setRegion",
            FunctionEdit::RemoveRegion { .. } => "removeRegion",
            FunctionEdit::InsertNode { .. } => "insertNode",
            FunctionEdit::RemoveNode { .. } => "removeNode",
            FunctionEdit::SetNode { .. } => "setNode",
            FunctionEdit::SetLabel { .. } => "setLabel",
            FunctionEdit::SetInput { .. } => "setInput",
            FunctionEdit::MoveNode { .. } => "moveNode",
        }
    }

    /// Tells whether the edit removes the entity that it is about.
    pub fn removes(&self) -> bool {
        match self {
            FunctionEdit::RemoveVariable { .. }
            | FunctionEdit::RemoveContract { .. }
            | FunctionEdit::RemoveRegion { .. }
            | FunctionEdit::RemoveNode { .. } => true,
            FunctionEdit::SetHead { .. }
            | FunctionEdit::AddVariable { .. }
            | FunctionEdit::SetVariable { .. }
            | FunctionEdit::AddContract { .. }
            | FunctionEdit::SetContract { .. }
            | FunctionEdit::AddRegion { .. }
            | FunctionEdit::SetRegion { .. }
            | FunctionEdit::InsertNode { .. }
            | FunctionEdit::SetNode { .. }
            | FunctionEdit::SetLabel { .. }
            | FunctionEdit::SetInput { .. }
            | FunctionEdit::MoveNode { .. } => false,
        }
    }

    /// The entity that is changed; `None`: the function itself.
    pub fn subject(&self) -> Option<Ref> {
        match self {
            FunctionEdit::SetHead { .. } => None,
            FunctionEdit::AddVariable { variable, .. }
            | FunctionEdit::SetVariable { variable, .. }
            | FunctionEdit::RemoveVariable { variable } => Some((*variable).into()),
            FunctionEdit::AddContract { contract, .. }
            | FunctionEdit::SetContract { contract, .. }
            | FunctionEdit::RemoveContract { contract } => Some((*contract).into()),
            FunctionEdit::AddRegion { region, .. }
            | FunctionEdit::SetRegion { region, .. }
            | FunctionEdit::RemoveRegion { region } => Some((*region).into()),
            FunctionEdit::InsertNode { node, .. }
            | FunctionEdit::RemoveNode { node }
            | FunctionEdit::SetNode { node, .. }
            | FunctionEdit::SetLabel { node, .. }
            | FunctionEdit::SetInput { node, .. }
            | FunctionEdit::MoveNode { node, .. } => Some((*node).into()),
        }
    }
}

impl Edit {
    /// The name of the kind, as the API shows it.
    pub fn kind(&self) -> &'static str {
        match self {
            Edit::AddModule { .. } => "addModule",
            Edit::SetModule { .. } => "setModule",
            Edit::RemoveModule { .. } => "removeModule",
            Edit::AddType { .. } => "addType",
            Edit::SetType { .. } => "setType",
            Edit::RemoveType { .. } => "removeType",
            Edit::AddStorage { .. } => "addStorage",
            Edit::SetStorage { .. } => "setStorage",
            Edit::RemoveStorage { .. } => "removeStorage",
            Edit::AddFunction { .. } => "addFunction",
            Edit::RemoveFunction { .. } => "removeFunction",
            Edit::Within { edit, .. } => edit.kind(),
        }
    }

    /// The entity that is changed.
    pub fn subject(&self) -> Ref {
        match self {
            Edit::AddModule { module, .. }
            | Edit::SetModule { module, .. }
            | Edit::RemoveModule { module } => (*module).into(),
            Edit::AddType { ty, .. } | Edit::SetType { ty, .. } | Edit::RemoveType { ty } => (*ty).into(),
            Edit::AddStorage { storage, .. }
            | Edit::SetStorage { storage, .. }
            | Edit::RemoveStorage { storage } => (*storage).into(),
            Edit::AddFunction { function, .. } | Edit::RemoveFunction { function, .. } => (*function).into(),
            Edit::Within { function, edit } => edit.subject().unwrap_or((*function).into()),
        }
    }

    /// Tells whether the edit makes the entity that it changes.
    pub fn adds(&self) -> bool {
        match self {
            Edit::AddModule { .. }
            | Edit::AddType { .. }
            | Edit::AddStorage { .. }
            | Edit::AddFunction { .. } => true,
            Edit::SetModule { .. }
            | Edit::RemoveModule { .. }
            | Edit::SetType { .. }
            | Edit::RemoveType { .. }
            | Edit::SetStorage { .. }
            | Edit::RemoveStorage { .. }
            | Edit::RemoveFunction { .. } => false,
            Edit::Within { edit, .. } => match edit {
                FunctionEdit::AddVariable { .. }
                | FunctionEdit::AddContract { .. }
                | FunctionEdit::AddRegion { .. }
                | FunctionEdit::InsertNode { .. } => true,
                FunctionEdit::SetHead { .. }
                | FunctionEdit::SetVariable { .. }
                | FunctionEdit::RemoveVariable { .. }
                | FunctionEdit::SetContract { .. }
                | FunctionEdit::RemoveContract { .. }
                | FunctionEdit::SetRegion { .. }
                | FunctionEdit::RemoveRegion { .. }
                | FunctionEdit::RemoveNode { .. }
                | FunctionEdit::SetNode { .. }
                | FunctionEdit::SetLabel { .. }
                | FunctionEdit::SetInput { .. }
                | FunctionEdit::MoveNode { .. } => false,
            },
        }
    }

    /// Tells whether the edit removes the entity that it is about.
    pub fn removes(&self) -> bool {
        match self {
            Edit::RemoveModule { .. }
            | Edit::RemoveType { .. }
            | Edit::RemoveStorage { .. }
            | Edit::RemoveFunction { .. } => true,
            Edit::AddModule { .. }
            | Edit::SetModule { .. }
            | Edit::AddType { .. }
            | Edit::SetType { .. }
            | Edit::AddStorage { .. }
            | Edit::SetStorage { .. }
            | Edit::AddFunction { .. } => false,
            Edit::Within { edit, .. } => edit.removes(),
        }
    }

    /// The function that the edit adds, removes or changes something in.
    pub fn function(&self) -> Option<FuncRef> {
        match self {
            Edit::AddFunction { function, .. }
            | Edit::RemoveFunction { function, .. }
            | Edit::Within { function, .. } => Some(*function),
            Edit::AddModule { .. }
            | Edit::SetModule { .. }
            | Edit::RemoveModule { .. }
            | Edit::AddType { .. }
            | Edit::SetType { .. }
            | Edit::RemoveType { .. }
            | Edit::AddStorage { .. }
            | Edit::SetStorage { .. }
            | Edit::RemoveStorage { .. } => None,
        }
    }

    /// Tells whether the edit changes an entity, or something in a function.
    pub fn touches(&self, of: Ref) -> bool {
        self.subject() == of || self.function().is_some_and(|function| Ref::from(function) == of)
    }
}
