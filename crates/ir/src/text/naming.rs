//! What entities are called where they are printed.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::function::Function;
use crate::program::Program;
use crate::refs::{FuncRef, MemberRef, ModuleRef, NodeRef, TypeRef, VarRef};
use crate::text::literal::put;
use crate::text::names::{ProgramNames, Wanted};
use crate::text::op::Naming;
use crate::text::scope::Scope;
use crate::text::words::write_name;

/// Names of entities of the program, seen from a module. Remembers what it found.
pub(super) struct ModuleNaming<'p> {
    program: &'p Program,
    module: Option<ModuleRef>,
    paths: RefCell<HashMap<u64, String>>,
}

impl<'p> ModuleNaming<'p> {
    pub(super) fn new(program: &'p Program, module: Option<ModuleRef>) -> ModuleNaming<'p> {
        ModuleNaming { program, module, paths: RefCell::default() }
    }

    fn write(&self, out: &mut String, of: crate::refs::Ref, wanted: Wanted) {
        let mut paths = self.paths.borrow_mut();
        let path = paths.entry(of.number).or_insert_with(|| {
            let mut path = String::new();
            ProgramNames { program: self.program, module: self.module }.write_path(&mut path, of, wanted);
            path
        });
        out.push_str(path);
    }
}

impl Naming for ModuleNaming<'_> {
    fn named(&self, out: &mut String, of: TypeRef) {
        self.write(out, of.into(), Wanted::Type);
    }

    fn function(&self, out: &mut String, of: FuncRef) {
        self.write(out, of.into(), Wanted::Function);
    }

    fn variable(&self, out: &mut String, of: VarRef) {
        put(out, format_args!("{of}"));
    }

    fn storage(&self, out: &mut String, of: VarRef) {
        self.write(out, of.into(), Wanted::Storage);
    }

    fn member(&self, out: &mut String, owner: TypeRef, of: MemberRef) {
        let Some(def) = self.program.type_def(owner) else { return put(out, format_args!("{of}")) };
        let Some(name) = def.member_name(of) else { return put(out, format_args!("{of}")) };
        write_name(out, name);
        if self.program.members_named(owner, name).nth(1).is_some() {
            put(out, format_args!("#{of}"));
        }
    }

    fn target(&self, out: &mut String, of: NodeRef) {
        put(out, format_args!("{of}"));
    }

    fn capture(&self, out: &mut String, index: u32) {
        put(out, format_args!("{index}"));
    }
}

/// Names inside of a function.
pub(super) struct BodyNaming<'a, 'p> {
    pub(super) module: &'a ModuleNaming<'p>,
    pub(super) function: &'p Function,
    pub(super) scope: &'a Scope,
}

impl Naming for BodyNaming<'_, '_> {
    fn named(&self, out: &mut String, of: TypeRef) {
        self.module.named(out, of);
    }

    fn function(&self, out: &mut String, of: FuncRef) {
        self.module.function(out, of);
    }

    fn variable(&self, out: &mut String, of: VarRef) {
        let variable = self.function.body().variable(of);
        match variable.and_then(|variable| variable.name.as_ref()) {
            Some(name) => {
                write_name(out, name);
                if self.scope.variables(name).len() != 1 {
                    put(out, format_args!("#{of}"));
                }
            }
            None => put(out, format_args!("{of}")),
        }
    }

    fn storage(&self, out: &mut String, of: VarRef) {
        self.module.storage(out, of);
    }

    fn member(&self, out: &mut String, owner: TypeRef, of: MemberRef) {
        self.module.member(out, owner, of);
    }

    fn target(&self, out: &mut String, of: NodeRef) {
        let label = self.function.body().node(of).and_then(|node| node.op().label());
        match label {
            Some(label) => {
                write_name(out, label);
                if self.scope.label(label) != Some(of) {
                    put(out, format_args!("#{of}"));
                }
            }
            None => put(out, format_args!("{of}")),
        }
    }

    fn capture(&self, out: &mut String, index: u32) {
        let captures = &self.function.head().captures;
        let name = captures.get(index as usize).map(|capture| &capture.name);
        match name
            .filter(|name| captures.iter().position(|capture| capture.name == **name) == Some(index as usize))
        {
            Some(name) => write_name(out, name),
            None => put(out, format_args!("{index}")),
        }
    }
}
