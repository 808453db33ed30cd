//! Names of entities of a program, seen from a module.

use crate::ops::AttrKind;
use crate::program::{Place, Program};
use crate::refs::{FuncRef, MemberRef, ModuleRef, NodeRef, Ref, RefKind, TypeRef, VarRef};
use crate::storage::StorageKind;
use crate::text::error::{Mistake, code, in_scope};
use crate::text::likely;
use crate::text::literal::put;
use crate::text::resolve::{Names, Resolved, given_ref};
use crate::text::syntax::{Path, Segment};
use crate::text::words::write_name;

/// The most entities that the mistake of an ambiguous name tells apart.
const MAX_SHOWN: usize = 20;

/// What names mean in a module of a program: first there, then in the modules around it, then at the top. Without a
/// module, and when nothing is found, in every module.
#[derive(Clone, Copy)]
pub(super) struct ProgramNames<'p> {
    pub(super) program: &'p Program,
    pub(super) module: Option<ModuleRef>,
}

/// What kind of entity a path should name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    Module,
    Type,
    Function,
    Storage,
}

impl Wanted {
    fn kind(self) -> RefKind {
        match self {
            Wanted::Module => RefKind::Module,
            Wanted::Type => RefKind::Type,
            Wanted::Function => RefKind::Function,
            Wanted::Storage => RefKind::Variable,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Wanted::Module => "module",
            Wanted::Type => "type",
            Wanted::Function => "function",
            Wanted::Storage => "global, memory, table, segment or custom section",
        }
    }
}

/// The module that an entity stands in.
fn home(program: &Program, of: Ref) -> Option<ModuleRef> {
    match program.place(of)? {
        Place::Module(module) => program.module(module)?.parent,
        Place::Type(of) => Some(program.type_def(of)?.module),
        Place::Function(of) => Some(program.function(of)?.head().module),
        Place::Storage(of) => Some(program.storage(of)?.module),
        Place::Member(..)
        | Place::Region(..)
        | Place::Variable(..)
        | Place::Contract(..)
        | Place::Node(..) => None,
    }
}

impl<'p> ProgramNames<'p> {
    fn found_in(&self, scope: Option<ModuleRef>, name: &str, wanted: Wanted) -> Vec<Ref> {
        self.program.lookup(scope, name).filter(|of| of.kind == wanted.kind()).collect()
    }

    /// The entities that a path without refs names: those of the nearest scope that has any.
    fn candidates(&self, names: &[&str], wanted: Wanted) -> Vec<Ref> {
        let (last, modules) = match names.split_last() {
            Some(split) => split,
            None => return Vec::new(),
        };
        let mut scope = self.module;
        loop {
            let mut scopes = vec![scope];
            for module in modules {
                scopes = scopes
                    .into_iter()
                    .flat_map(|scope| self.found_in(scope, module, Wanted::Module))
                    .filter_map(|of| ModuleRef::try_from(of).ok())
                    .map(Some)
                    .collect();
            }
            let found: Vec<Ref> =
                scopes.into_iter().flat_map(|scope| self.found_in(scope, last, wanted)).collect();
            if !found.is_empty() {
                return found;
            }
            match scope {
                Some(module) => scope = self.program.module(module).and_then(|module| module.parent),
                None => break,
            }
        }
        if self.module.is_some() || !modules.is_empty() {
            return Vec::new();
        }
        self.program.modules().flat_map(|(module, _)| self.found_in(Some(module), last, wanted)).collect()
    }

    /// The entity that a path names.
    pub(super) fn resolve(&self, path: &Path, wanted: Wanted) -> Resolved<Ref> {
        let segment = path.last();
        if let Some((of, at)) = given_ref(segment) {
            return self.known(of, at, wanted);
        }
        let names: Vec<&str> = path.segments.iter().map(|segment| &*segment.name).collect();
        let found = match path.segments[..path.segments.len() - 1].iter().rev().find_map(given_ref) {
            // A module given by ref says where to look.
            Some((module, at)) => {
                let module = self.known(module, at, Wanted::Module)?;
                self.found_in(ModuleRef::try_from(module).ok(), &segment.name, wanted)
            }
            None => self.candidates(&names, wanted),
        };
        match found.as_slice() {
            [one] => Ok(*one),
            [] => {
                let message = format!("there is no {} `{}`", wanted.word(), path.display());
                Err(Mistake::new(code::UNKNOWN_NAME, path.at(), message)
                    .found(path.display())
                    .candidates(self.known_instead(&segment.name, wanted)))
            }
            several => {
                let message = format!("`{}` is the name of more than one {}", path.display(), wanted.word());
                let shown =
                    several.iter().take(MAX_SHOWN).map(|of| format!("{}#{of}", segment.name)).collect();
                Err(Mistake::new(code::AMBIGUOUS_NAME, path.at(), message)
                    .found(path.display())
                    .candidates(shown))
            }
        }
    }

    fn known(&self, of: Ref, at: u32, wanted: Wanted) -> Resolved<Ref> {
        if of.kind != wanted.kind() {
            let message = format!("`{of}` is no {}", wanted.word());
            return Err(Mistake::new(code::WRONG_KIND, at, message).found(of.to_string()));
        }
        match self.program.place(of) {
            Some(Place::Module(_) | Place::Type(_) | Place::Function(_) | Place::Storage(_)) => Ok(of),
            Some(
                Place::Member(..)
                | Place::Region(..)
                | Place::Variable(..)
                | Place::Contract(..)
                | Place::Node(..),
            )
            | None => Err(unknown_ref(of, at)),
        }
    }

    /// What a name that means nothing could stand for: for types first what is built in.
    fn known_instead(&self, name: &str, wanted: Wanted) -> Vec<String> {
        let names: Vec<&str> = match wanted {
            Wanted::Module => self.program.modules().map(|(_, module)| &*module.name).collect(),
            Wanted::Type => self.program.types().map(|(_, def)| &*def.name).collect(),
            Wanted::Function => {
                self.program.functions().map(|(_, function)| &*function.head().name).collect()
            }
            Wanted::Storage => self.program.all_storage().map(|(_, storage)| &*storage.name).collect(),
        };
        let mut found = if wanted == Wanted::Type { likely::types(name) } else { Vec::new() };
        found.extend(in_scope(name, names.iter().copied()));
        found
    }

    /// Writes the shortest path that names an entity from here; with its ref where no path does.
    pub(super) fn write_path(&self, out: &mut String, of: Ref, wanted: Wanted) {
        let name = match self.program.place(of) {
            Some(Place::Module(module)) => self.program.module(module).map(|module| &module.name),
            Some(Place::Type(of)) => self.program.type_def(of).map(|def| &def.name),
            Some(Place::Function(of)) => self.program.function(of).map(|function| &function.head().name),
            Some(Place::Storage(of)) => self.program.storage(of).map(|storage| &storage.name),
            Some(
                Place::Member(..)
                | Place::Region(..)
                | Place::Variable(..)
                | Place::Contract(..)
                | Place::Node(..),
            )
            | None => None,
        };
        let Some(name) = name else {
            put(out, format_args!("{of}"));
            return;
        };
        let mut names: Vec<&str> = vec![name];
        if self.candidates(&names, wanted) == [of] {
            return write_name(out, name);
        }
        let mut scope = home(self.program, of);
        while let Some(module) = scope.and_then(|module| self.program.module(module)) {
            names.insert(0, &module.name);
            scope = module.parent;
            if self.candidates(&names, wanted) == [of] {
                for (index, name) in names.iter().enumerate() {
                    out.push_str(if index == 0 { "" } else { "::" });
                    write_name(out, name);
                }
                return;
            }
        }
        write_name(out, name);
        put(out, format_args!("#{of}"));
    }
}

pub(super) fn unknown_ref(of: Ref, at: u32) -> Mistake {
    Mistake::new(code::UNKNOWN_REF, at, format!("there is no `{of}`")).found(of.to_string())
}

/// Writes the path of a type, from the top of the program.
pub(super) fn write_type_path(out: &mut String, program: &Program, of: TypeRef) {
    ProgramNames { program, module: None }.write_path(out, of.into(), Wanted::Type);
}

/// Writes the path of a function, from the top of the program.
pub(super) fn write_function_path(out: &mut String, program: &Program, of: FuncRef) {
    ProgramNames { program, module: None }.write_path(out, of.into(), Wanted::Function);
}

fn convert<R: TryFrom<Ref, Error = crate::refs::ParseRefError>>(of: Ref, at: u32) -> Resolved<R> {
    R::try_from(of).map_err(|error| Mistake::new(code::WRONG_KIND, at, error.to_string()))
}

impl Names for ProgramNames<'_> {
    fn named(&self, path: &Path) -> Resolved<TypeRef> {
        convert(self.resolve(path, Wanted::Type)?, path.at())
    }

    fn function(&self, path: &Path) -> Resolved<FuncRef> {
        convert(self.resolve(path, Wanted::Function)?, path.at())
    }

    fn variable(&self, path: &Path) -> Resolved<VarRef> {
        Err(Mistake::new(code::UNKNOWN_NAME, path.at(), "there is no function around, and so no variable"))
    }

    fn storage(&self, path: &Path, kind: AttrKind) -> Resolved<VarRef> {
        let of: VarRef = convert(self.resolve(path, Wanted::Storage)?, path.at())?;
        let Some(storage) = self.program.storage(of) else { return Err(unknown_ref(of.into(), path.at())) };
        let (fits, wanted) = match kind {
            AttrKind::Global => (matches!(storage.kind, StorageKind::Global { .. }), "global"),
            AttrKind::Data => (matches!(storage.kind, StorageKind::Data { .. }), "data segment"),
            AttrKind::Elements => (matches!(storage.kind, StorageKind::Elements { .. }), "element segment"),
            _ => (matches!(storage.kind, StorageKind::Table { .. }), "table"),
        };
        if fits {
            return Ok(of);
        }
        let message = format!("`{}` is no {wanted}", path.display());
        Err(Mistake::new(code::WRONG_KIND, path.at(), message)
            .expected(format!("a {wanted}"))
            .found(path.display()))
    }

    fn member(&self, owner: TypeRef, segment: &Segment) -> Resolved<MemberRef> {
        let Some(def) = self.program.type_def(owner) else {
            return Err(unknown_ref(owner.into(), segment.at));
        };
        if let Some((of, at)) = given_ref(segment) {
            return match self.program.place(of) {
                Some(Place::Member(ty, member)) if ty == owner => Ok(member),
                Some(_) | None => Err(unknown_ref(of, at)),
            };
        }
        let mut found = self.program.members_named(owner, &segment.name);
        match (found.next(), found.next()) {
            (Some(member), None) => Ok(member),
            (None, _) => {
                let fields = def.fields().iter().map(|field| &*field.name);
                let names = fields.chain(def.variants().iter().map(|variant| &*variant.name));
                let message = format!("`{}` has no member `{}`", def.name, segment.name);
                Err(Mistake::new(code::UNKNOWN_NAME, segment.at, message)
                    .found(&*segment.name)
                    .candidates(in_scope(&segment.name, names)))
            }
            (Some(_), Some(_)) => {
                let message = format!("`{}` has more than one member `{}`", def.name, segment.name);
                Err(Mistake::new(code::AMBIGUOUS_NAME, segment.at, message).found(&*segment.name))
            }
        }
    }

    fn target(&self, segment: &Segment) -> Resolved<NodeRef> {
        Err(Mistake::new(code::UNKNOWN_NAME, segment.at, "there is no function around, and so no label"))
    }

    fn capture(&self, segment: &Segment) -> Resolved<u32> {
        Err(Mistake::new(code::UNKNOWN_NAME, segment.at, "there is no function around, and so no capture"))
    }
}
