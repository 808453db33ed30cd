//! Printing of programs, modules, types and functions.

use std::collections::HashMap;

use crate::entities::{Contract, EffectBound, Import, Name, Param, Shape, TypeDef, Visibility};
use crate::function::Function;
use crate::program::{Place, Program};
use crate::refs::{ContractRef, FuncRef, ModuleRef, NodeRef, Ref, TypeRef, VarRef};
use crate::section::SectionPlace;
use crate::storage::{Initial, Offset, Storage, StorageKind, TableEntry};
use crate::text::literal::{FloatStyle, put, write_bytes, write_const, write_text};
use crate::text::lower_regions::default_contract_params;
use crate::text::names::{ProgramNames, Wanted};
use crate::text::naming::ModuleNaming;
use crate::text::op::{write_named_type, write_type_list};
use crate::text::plain::Plain;
use crate::text::print_body::BodyPrinter;
use crate::text::surroundings::Surroundings;
use crate::text::words::write_name;
use crate::types::Type;

/// How much is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Detail {
    /// Names alone where one thing has them, and refs where there is no name to go by; no comments and runs. Of a single
    /// node: its ref, not those of what is folded into it.
    Summary,
    /// Every ref; no comments and runs.
    Standard,
    /// Everything: parsing gives the same program.
    #[default]
    Full,
}

/// Prints a whole program; [`crate::text::parse_program`] reads it back exactly at [`Detail::Full`].
pub fn print_program(program: &Program, detail: Detail) -> String {
    let mut out = String::new();
    let mut contents: HashMap<ModuleRef, Contents> = HashMap::new();
    for (of, def) in program.types() {
        contents.entry(def.module).or_default().types.push(of);
    }
    for (of, storage) in program.all_storage() {
        contents.entry(storage.module).or_default().storage.push(of);
    }
    for (of, function) in program.functions() {
        contents.entry(function.head().module).or_default().functions.push(of);
    }
    // Comments at the end of a module would belong to the header of the next one.
    let mut before_has_trailer = false;
    for (module, record) in program.modules() {
        if !out.is_empty() {
            if before_has_trailer {
                out.push_str("end\n");
            }
            out.push('\n');
        }
        before_has_trailer = detail == Detail::Full && record.trailer.is_some();
        let contents = contents.remove(&module).unwrap_or_default();
        Printer::new(program, module, detail, &mut out).module(&contents);
    }
    out
}

/// Prints a module with what stands in it, those below not included.
pub fn print_module(program: &Program, module: ModuleRef, detail: Detail) -> String {
    let mut contents = Contents::default();
    for (_, of) in program.members(Some(module)) {
        match of.kind {
            crate::refs::RefKind::Type => contents.types.push(TypeRef::of_key(of.number)),
            crate::refs::RefKind::Variable => contents.storage.push(VarRef::of_key(of.number)),
            crate::refs::RefKind::Function => contents.functions.push(FuncRef::of_key(of.number)),
            crate::refs::RefKind::Module
            | crate::refs::RefKind::Member
            | crate::refs::RefKind::Region
            | crate::refs::RefKind::Contract
            | crate::refs::RefKind::Node => {}
        }
    }
    contents.types.sort_unstable();
    contents.storage.sort_unstable();
    contents.functions.sort_unstable();
    let mut out = String::new();
    Printer::new(program, module, detail, &mut out).module(&contents);
    out
}

/// Prints the line of a module with what is written about it, and nothing that stands in it; empty when there is none.
pub fn print_module_head(program: &Program, module: ModuleRef, detail: Detail) -> String {
    let mut out = String::new();
    Printer::new(program, module, detail, &mut out).module(&Contents::default());
    out
}

/// Prints a function; empty when there is none.
pub fn print_function(program: &Program, function: FuncRef, detail: Detail) -> String {
    let mut out = String::new();
    if let Some(found) = program.function(function) {
        Printer::new(program, found.head().module, detail, &mut out).function(function, found);
    }
    out
}

/// Prints a nominal type; empty when there is none.
pub fn print_type(program: &Program, of: TypeRef, detail: Detail) -> String {
    let mut out = String::new();
    if let Some(def) = program.type_def(of) {
        Printer::new(program, def.module, detail, &mut out).type_def(of, def);
    }
    out
}

/// Prints a global, memory, table, segment or custom section; empty when there is none.
pub fn print_storage(program: &Program, of: VarRef, detail: Detail) -> String {
    let mut out = String::new();
    if let Some(storage) = program.storage(of) {
        Printer::new(program, storage.module, detail, &mut out).storage(of, storage);
    }
    out
}

/// Prints a module, type, storage or function as it stands alone; nothing for what has no text of its own.
pub fn print_entity(program: &Program, of: Ref, detail: Detail) -> Option<String> {
    match program.place(of)? {
        Place::Module(of) => Some(print_module(program, of, detail)),
        Place::Type(of) => Some(print_type(program, of, detail)),
        Place::Storage(of) => Some(print_storage(program, of, detail)),
        Place::Function(of) => Some(print_function(program, of, detail)),
        Place::Member(..)
        | Place::Region(..)
        | Place::Variable(..)
        | Place::Node(..)
        | Place::Contract(..) => None,
    }
}

/// Prints a contract of a function; empty when there is none.
pub fn print_contract(program: &Program, function: FuncRef, contract: ContractRef, detail: Detail) -> String {
    let mut out = String::new();
    if let Some(found) = program.function(function)
        && let Some(record) = found.body().contract(contract)
    {
        let mut printer = BodyPrinter::new(program, function, found, detail, &mut out);
        print_contract_in(&mut printer, found, contract, record);
    }
    out
}

/// Prints a node as it stands in its function, with its regions and what is folded into it; empty when there is none.
pub fn print_node(program: &Program, node: NodeRef, detail: Detail) -> String {
    print_node_among(program, node, detail, &mut Surroundings::default())
}

/// Prints a node as [`print_node`] does, with what stands around others of its function: several nodes in order cost less then.
///
/// The surroundings are of one function of one program, or new.
pub fn print_node_among(
    program: &Program,
    node: NodeRef,
    detail: Detail,
    around: &mut Surroundings,
) -> String {
    let mut out = String::new();
    if let Some(function) = program.function_of(node.into())
        && let Some(found) = program.function(function)
    {
        BodyPrinter::new(program, function, found, detail, &mut out).node_alone(node, around);
    }
    out
}

/// Prints the parameters and results of a function: `(n: i64) -> (i64)`.
pub fn print_signature(program: &Program, function: FuncRef) -> String {
    let mut out = String::new();
    if let Some(found) = program.function(function) {
        Printer::new(program, found.head().module, Detail::Full, &mut out).signature(found);
    }
    out
}

/// Prints a type with the names that mean it in a module; without one, from the top.
pub fn print_type_name(program: &Program, module: Option<ModuleRef>, ty: &Type) -> String {
    let mut out = String::new();
    write_named_type(&mut out, ty, &ModuleNaming::new(program, module));
    out
}

#[derive(Default)]
struct Contents {
    types: Vec<TypeRef>,
    storage: Vec<VarRef>,
    functions: Vec<FuncRef>,
}

struct Printer<'p, 'o> {
    program: &'p Program,
    module: ModuleRef,
    detail: Detail,
    names: ModuleNaming<'p>,
    out: &'o mut String,
}

/// Writes comment lines. A line that begins as a run does gets a `\`, which the parser takes away.
pub(super) fn write_doc(out: &mut String, doc: &str, indent: &str) {
    for line in doc.split('\n') {
        out.push_str(indent);
        out.push(';');
        if !line.is_empty() {
            out.push(' ');
        }
        if line.starts_with("run:") || line.starts_with('\\') {
            out.push('\\');
        }
        out.push_str(line);
        out.push('\n');
    }
}

impl<'p, 'o> Printer<'p, 'o> {
    fn new(program: &'p Program, module: ModuleRef, detail: Detail, out: &'o mut String) -> Printer<'p, 'o> {
        Printer { program, module, detail, names: ModuleNaming::new(program, Some(module)), out }
    }

    fn doc(&mut self, doc: Option<&str>) {
        if let (Detail::Full, Some(doc)) = (self.detail, doc) {
            write_doc(self.out, doc, "");
        }
    }

    fn visibility(&mut self, visibility: Visibility) {
        if visibility == Visibility::Public {
            self.out.push_str("pub ");
        }
    }

    fn host(&mut self, import: Option<&Import>, exports: &[Name]) {
        if let Some(import) = import {
            self.out.push_str("import ");
            write_text(self.out, &import.module);
            self.out.push(' ');
            write_text(self.out, &import.name);
            self.out.push(' ');
        }
        for export in exports {
            self.out.push_str("export ");
            write_text(self.out, export);
            self.out.push(' ');
        }
    }

    /// A name with its ref, which a summary does without where it is the only one of the name.
    fn named(&mut self, name: &str, of: impl Into<Ref>, of_name: usize) {
        write_name(self.out, name);
        if self.detail > Detail::Summary || of_name != 1 {
            put(self.out, format_args!("#{}", of.into()));
        }
    }

    /// Something that a module has, with its ref as of [`Printer::named`].
    fn member_of(&mut self, module: Option<ModuleRef>, name: &str, of: impl Into<Ref>) {
        let of_name = self.program.lookup(module, name).count();
        self.named(name, of, of_name);
    }

    fn module(&mut self, contents: &Contents) {
        let Some(module) = self.program.module(self.module) else { return };
        self.doc(module.doc.as_deref());
        self.visibility(module.visibility);
        self.out.push_str("module ");
        self.parents(module.parent);
        self.member_of(module.parent, &module.name, self.module);
        self.out.push('\n');
        if !contents.types.is_empty() {
            self.out.push('\n');
        }
        for of in &contents.types {
            if let Some(def) = self.program.type_def(*of) {
                self.type_def(*of, def);
            }
        }
        if !contents.storage.is_empty() {
            self.out.push('\n');
        }
        for of in &contents.storage {
            if let Some(storage) = self.program.storage(*of) {
                self.storage(*of, storage);
            }
        }
        for of in &contents.functions {
            if let Some(function) = self.program.function(*of) {
                self.out.push('\n');
                self.function(*of, function);
            }
        }
        if let (Detail::Full, Some(trailer)) = (self.detail, &module.trailer) {
            self.out.push('\n');
            write_doc(self.out, trailer, "");
        }
    }

    /// The path of the module around; with refs where names clash.
    fn parents(&mut self, parent: Option<ModuleRef>) {
        let mut path = Vec::new();
        let mut scope = parent;
        while let Some(of) = scope
            && let Some(module) = self.program.module(of)
            // Modules around each other would go on for ever.
            && path.len() < 1_000
        {
            path.push((of, &module.name));
            scope = module.parent;
        }
        let mut scope = None;
        for (of, name) in path.into_iter().rev() {
            let clashes =
                self.program.lookup(scope, name).filter(|of| of.kind == ModuleRef::KIND).count() > 1;
            write_name(self.out, name);
            if clashes {
                put(self.out, format_args!("#{of}"));
            }
            self.out.push_str("::");
            scope = Some(of);
        }
    }

    fn type_def(&mut self, of: TypeRef, def: &TypeDef) {
        self.doc(def.doc.as_deref());
        self.visibility(def.visibility);
        self.out.push_str("type ");
        self.member_of(Some(def.module), &def.name, of);
        let members: Vec<_> = match &def.shape {
            Shape::Struct(fields) => {
                self.out.push_str(" = struct {");
                fields.iter().map(|field| (&field.name, field.member, Some(&field.ty), &field.doc)).collect()
            }
            Shape::Enum(variants) => {
                self.out.push_str(" = enum {");
                let parts = variants.iter();
                parts
                    .map(|variant| (&variant.name, variant.member, variant.payload.as_ref(), &variant.doc))
                    .collect()
            }
        };
        let documented = self.detail == Detail::Full && members.iter().any(|(_, _, _, doc)| doc.is_some());
        for (index, (name, member, ty, doc)) in members.iter().enumerate() {
            if documented {
                self.out.push('\n');
                if let Some(doc) = doc {
                    write_doc(self.out, doc, "  ");
                }
                self.out.push_str("  ");
            } else {
                self.out.push_str(if index == 0 { " " } else { ", " });
            }
            let of_name = members.iter().filter(|(other, ..)| other == name).count();
            self.named(name, *member, of_name);
            if let Some(ty) = ty {
                let is_struct = matches!(def.shape, Shape::Struct(_));
                self.out.push_str(if is_struct { ": " } else { "(" });
                write_named_type(self.out, ty, &self.names);
                self.out.push_str(if is_struct { "" } else { ")" });
            }
            if documented {
                self.out.push(',');
            }
        }
        self.out.push_str(match (documented, members.is_empty()) {
            (true, _) => "\n}\n",
            (false, true) => "}\n",
            (false, false) => " }\n",
        });
    }

    fn storage(&mut self, of: VarRef, storage: &Storage) {
        self.doc(storage.doc.as_deref());
        self.visibility(storage.visibility);
        self.host(storage.import.as_ref(), &storage.exports);
        match &storage.kind {
            StorageKind::Global { ty, mutable, initial } => {
                self.out.push_str(if *mutable { "global mut " } else { "global " });
                self.member_of(Some(storage.module), &storage.name, of);
                self.out.push_str(": ");
                write_named_type(self.out, ty, &self.names);
                self.out.push_str(" = ");
                match initial {
                    Initial::Const(value) => write_const(self.out, value, FloatStyle::WithPoint),
                    Initial::Global(global) => self.global_get(*global),
                    Initial::Function(function) => {
                        self.out.push_str("func.ref ");
                        self.path((*function).into(), Wanted::Function);
                    }
                }
            }
            StorageKind::Memory { pages, max_pages } => {
                self.out.push_str("memory ");
                self.member_of(Some(storage.module), &storage.name, of);
                put(self.out, format_args!(" {pages}"));
                if let Some(max) = max_pages {
                    put(self.out, format_args!(" {max}"));
                }
            }
            StorageKind::Data { offset, bytes } => {
                self.out.push_str("data ");
                self.member_of(Some(storage.module), &storage.name, of);
                if let Some(offset) = offset {
                    self.offset(*offset);
                }
                self.out.push(' ');
                write_bytes(self.out, bytes);
            }
            StorageKind::Table { ty, entries, max } => {
                self.out.push_str("table ");
                self.member_of(Some(storage.module), &storage.name, of);
                self.entries(ty, None, entries);
                if let Some(max) = max {
                    put(self.out, format_args!(" max {max}"));
                }
            }
            StorageKind::Elements { ty, target, entries } => {
                self.out.push_str("elem ");
                self.member_of(Some(storage.module), &storage.name, of);
                self.entries(ty, *target, entries);
            }
            StorageKind::Custom { section, place, bytes } => {
                self.out.push_str("custom ");
                self.member_of(Some(storage.module), &storage.name, of);
                if *section != storage.name {
                    self.out.push(' ');
                    write_text(self.out, section);
                }
                if *place != SectionPlace::Last {
                    put(self.out, format_args!(" {place}"));
                }
                self.out.push(' ');
                write_bytes(self.out, bytes);
            }
        }
        self.out.push('\n');
    }

    fn entries(&mut self, ty: &Type, target: Option<(VarRef, Offset)>, entries: &[Option<TableEntry>]) {
        if *ty != Type::FuncRef {
            self.out.push_str(": ");
            write_named_type(self.out, ty, &self.names);
        }
        if let Some((table, offset)) = target {
            self.out.push_str(" in ");
            self.path(table.into(), Wanted::Storage);
            self.offset(offset);
        }
        self.out.push_str(" [");
        for (index, entry) in entries.iter().enumerate() {
            self.out.push_str(if index == 0 { "" } else { ", " });
            match entry {
                Some(TableEntry::Function(function)) => self.path((*function).into(), Wanted::Function),
                Some(TableEntry::Global(global)) => self.global_get(*global),
                None => self.out.push_str("null"),
            }
        }
        self.out.push(']');
    }

    fn offset(&mut self, offset: Offset) {
        self.out.push_str(" at ");
        match offset {
            Offset::At(at) => put(self.out, format_args!("{at}")),
            Offset::Global(global) => self.global_get(global),
        }
    }

    fn global_get(&mut self, global: VarRef) {
        self.out.push_str("global.get ");
        self.path(global.into(), Wanted::Storage);
    }

    fn path(&mut self, of: Ref, wanted: Wanted) {
        ProgramNames { program: self.program, module: Some(self.module) }.write_path(self.out, of, wanted);
    }

    fn params(&mut self, params: &[Param]) {
        for (index, param) in params.iter().enumerate() {
            self.out.push_str(if index == 0 { "" } else { ", " });
            write_name(self.out, &param.name);
            self.out.push_str(": ");
            write_named_type(self.out, &param.ty, &self.names);
        }
    }

    fn signature(&mut self, function: &Function) {
        self.out.push('(');
        self.params(&function.head().params);
        self.out.push_str(") -> ");
        write_type_list(self.out, &function.head().results, &self.names);
    }

    fn function(&mut self, of: FuncRef, function: &Function) {
        let head = function.head();
        self.doc(head.doc.as_deref());
        self.visibility(head.visibility);
        self.host(head.import.as_ref(), &head.exports);
        if head.start {
            self.out.push_str("start ");
        }
        self.out.push_str("func ");
        let plain = (self.detail == Detail::Summary).then(|| Plain::of(function));
        if plain.as_ref().is_some_and(|plain| !plain.head(head)) {
            self.named(&head.name, of, 0);
        } else {
            self.member_of(Some(head.module), &head.name, of);
        }
        if !head.captures.is_empty() {
            self.out.push_str(" [");
            self.params(&head.captures);
            self.out.push(']');
        }
        self.out.push(' ');
        self.signature(function);
        match head.effect_bound {
            EffectBound::Pure => self.out.push_str(" pure"),
            EffectBound::Reads => self.out.push_str(" reads"),
            EffectBound::Any => {}
        }
        if let Some(root) = function.body().root() {
            let mut printer = BodyPrinter::new(self.program, of, function, self.detail, self.out);
            printer.open(root, plain);
            for (of, variable) in function.body().variables() {
                printer.variable(of, variable);
            }
            for (contract, record) in function.body().contracts() {
                print_contract_in(&mut printer, function, contract, record);
            }
            printer.body(root);
        }
        self.out.push('\n');
        if self.detail == Detail::Full {
            for run in &head.runs {
                put(self.out, format_args!("; run: {run}\n"));
            }
        }
    }
}

fn print_contract_in(
    printer: &mut BodyPrinter<'_, '_>,
    function: &Function,
    of: ContractRef,
    contract: &Contract,
) {
    let params = default_contract_params(contract.kind, &function.head().results);
    printer.contract(of, contract, &params);
}
