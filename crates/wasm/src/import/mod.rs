//! A WebAssembly module becomes a program.

mod assembly;
mod body;
mod heads;
mod indices;
mod locals;
mod mnemonic;
mod names;
mod operand;
mod place;
mod read;
mod room;
mod threads;
mod valid;

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::thread;

use lmlang_ir::builder::{Builder, FunctionBuilder};
use lmlang_ir::draft::Draft;
use lmlang_ir::{
    Const, Import, Initial, MOST_ENTRIES, ModuleRef, Name, Offset, Program, RefAllocator, Storage,
    StorageKind, TableEntry, Type, Visibility,
};
use thiserror::Error;
use wasmparser::{
    BinaryReaderError, ConstExpr, DataKind, ElementItems, ElementKind, FunctionBody, Operator, ValType,
};
use wast::Wat;
use wast::parser::{self, ParseBuffer};

use self::assembly::Assembly;
use self::body::{Body, Lists, Step};
use self::heads::Heads;
use self::indices::Indices;
use self::locals::Cell;
use self::mnemonic::mnemonic;
use self::names::{Labels, Unique, is_short};
use self::operand::{OperandType, Operands};
pub use self::place::Place;
use self::read::{Custom, Declared, Read};
pub use self::room::MOST_NODES;
use self::room::Room;
use self::valid::Used;
use crate::accepted::features;
use crate::raw;

/// Why a module is not taken in.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ImportError {
    /// It is no valid module.
    #[error("not a WebAssembly module: {message} ({at})")]
    Invalid {
        /// What is wrong with it.
        message: String,
        /// Where.
        at: Place,
    },
    /// The text is no module.
    #[error("not the text of a WebAssembly module: {message} (line {line}, column {column})")]
    Text {
        /// What is wrong with it.
        message: String,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
    },
    /// It is valid and has something that programs do not have.
    #[error("{what} is not supported ({at})")]
    Unsupported {
        /// What it has.
        what: String,
        /// Where.
        at: Place,
    },
    /// It has more of one kind than is taken in.
    #[error("a module has at most {MOST_OF_A_KIND} {kind}, found {count} (byte {offset})")]
    TooMany {
        /// What it has so many of.
        kind: &'static str,
        /// How many.
        count: u64,
        /// The byte where they begin.
        offset: u64,
    },
    /// Its instructions are more nodes than are taken in.
    #[error("a module has at most {MOST_NODES} nodes, found {count} by function {function} ({at})")]
    TooManyNodes {
        /// How many had been made.
        count: u64,
        /// The index of the function that has one too many.
        function: u32,
        /// The instruction.
        at: Place,
    },
}

/// Functions of a module at most, as well as types, imports, globals, exports, segments and custom sections: each of them
/// takes some kilobytes as part of a program, and a few bytes in a module.
pub const MOST_OF_A_KIND: u32 = 100_000;

impl ImportError {
    fn unsupported(what: impl Into<String>, offset: u64) -> ImportError {
        ImportError::Unsupported { what: what.into(), at: Place::Byte(offset) }
    }
}

impl From<BinaryReaderError> for ImportError {
    fn from(error: BinaryReaderError) -> ImportError {
        // Some messages come on several lines.
        let words: Vec<&str> = error.message().split_whitespace().collect();
        ImportError::Invalid { message: words.join(" "), at: Place::Byte(error.offset()) }
    }
}

/// The binary form of a module that is given as text.
///
/// # Errors
///
/// A text that is none, with line and column.
pub fn binary(text: &str) -> Result<Vec<u8>, ImportError> {
    let encode = || parser::parse::<Wat<'_>>(&ParseBuffer::new(text)?)?.encode();
    encode().map_err(|error| {
        let (line, column) = error.span().linecol_in(text);
        ImportError::Text { message: error.message(), line: line + 1, column: column + 1 }
    })
}

/// Says whether a module is valid and has nothing that shows before it is taken in. What it has beyond programs may show
/// only then.
///
/// # Errors
///
/// What is no valid module, or one by proposals that programs do not follow, or too large.
pub fn check(module: &[u8]) -> Result<(), ImportError> {
    valid::validate(module, features(), || ()).map(drop)
}

/// How far an import is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The module is valid, and has so many functions, imported ones among them.
    Validated {
        /// Their number.
        functions: usize,
    },
    /// So many functions have been taken in.
    Built {
        /// Those that have been taken in.
        functions: usize,
        /// All that there are.
        of: usize,
    },
}

/// The program that a binary module is.
///
/// # Errors
///
/// What is no valid module, or has something that programs do not have.
pub fn import(module: &[u8], refs: &mut RefAllocator) -> Result<Program, ImportError> {
    let program = import_watched(module, refs, &mut |_| true)?;
    Ok(program.expect("nobody stops it"))
}

/// The same, for somebody who is told how far it is, and whether to go on: nothing when not.
///
/// # Errors
///
/// What is no valid module, or has something that programs do not have.
pub fn import_watched(
    module: &[u8],
    refs: &mut RefAllocator,
    go_on: &mut dyn FnMut(Progress) -> bool,
) -> Result<Option<Program>, ImportError> {
    import_within(Room::of(module), module, refs, go_on)
}

/// The same, of a module that may become so much.
fn import_within(
    mut room: Room,
    module: &[u8],
    refs: &mut RefAllocator,
    go_on: &mut dyn FnMut(Progress) -> bool,
) -> Result<Option<Program>, ImportError> {
    let (used, read) = valid::validate(module, features(), || Read::of(module))?;
    let mut read = read?;
    let mut labels = std::mem::take(&mut read.names.labels);
    let of = read.functions.len();
    if !go_on(Progress::Validated { functions: of }) {
        return Ok(None);
    }
    let mut program = Program::new();
    let mut build = Builder::new(&mut program, refs);
    let home = build.module(None, read.names.module.clone().unwrap_or_else(|| "main".into()));
    let (indices, names) = declare(&mut build, home, &read, &used, &mut room)?;
    let heads = Heads { read: &read, indices: &indices, home, names };
    let head = |index: u32| heads.head(index);
    let (mut known, mut lists) = (raw::Known::default(), Lists::default());
    let mut bodies = read.bodies.iter().zip(&used.params);
    let program = Mutex::new(program);
    let whole = thread::scope(|scope| -> Result<bool, ImportError> {
        let mut assembly = Assembly::new(scope, threads::helpers(module.len()), &program, &head);
        for (index, (of_function, _)) in (0u32..).zip(&indices.functions) {
            let (mut body, mut bytes) = (None, 0);
            if read.functions[index as usize].import.is_none() {
                let (code, written) = bodies.next().expect("what is not imported has a body");
                bytes = code.as_bytes().len();
                let draft = body.insert(assembly.draft());
                let build = FunctionBuilder::draft(draft, refs, *of_function);
                let labels = Labels::new(labels.take(index));
                let given = Given { index, code, written, labels };
                let kept = (&mut known, &mut room, &mut lists);
                translate(build, &indices, &read, given, kept)?;
            }
            assembly.take(assembly::Given { of: *of_function, index, body }, bytes);
            if !go_on(Progress::Built { functions: index as usize + 1, of }) {
                return Ok(false);
            }
        }
        assembly.finish();
        Ok(true)
    })?;
    let program = program.into_inner().expect("whoever panicked with it has been heard");
    Ok(whole.then_some(program))
}

/// A function's body.
struct Given<'g, 'a> {
    index: u32,
    code: &'g FunctionBody<'a>,
    /// The parameters that are written to.
    written: &'g BTreeSet<u32>,
    labels: Labels,
}

fn operand_type(of: ValType, offset: u64) -> Result<OperandType, ImportError> {
    let unsupported = || ImportError::unsupported(format!("the type `{of}`"), offset);
    OperandType::of_value(of).ok_or_else(unsupported)
}

fn typed(of: ValType, offset: u64) -> Result<Type, ImportError> {
    operand_type(of, offset).map(Type::from)
}

/// Makes everything but the functions, whose names it returns.
fn declare(
    build: &mut Builder<'_>,
    home: ModuleRef,
    read: &Read<'_>,
    used: &Used,
    room: &mut Room,
) -> Result<(Indices, Vec<Name>), ImportError> {
    let mut indices = Indices::of(&read.types);
    let mut names = Vec::with_capacity(read.functions.len());
    let mut unique = Unique::with_room(read.functions.len());
    for (index, function) in (0u32..).zip(&read.functions) {
        let signature = indices.signature(function.of);
        room.take(signature.params.len() + signature.results.len(), function.offset)?;
        let name = read.names.functions.get(index).cloned();
        let name = name.or_else(|| name_outside(&function.exports, function.import.as_ref()));
        names.push(unique.name(name.unwrap_or_else(|| format!("func{index}").into())));
        indices.functions.push((build.promise(), function.of));
    }
    let mut storage = |build: &mut Builder<'_>, name: Option<&Name>, other: String, of: Made| {
        let name = name.cloned().or_else(|| name_outside(&of.exports, of.import.as_ref()));
        let name = unique.name(name.unwrap_or_else(|| other.into()));
        build.add_storage(Storage {
            name,
            module: home,
            visibility: Visibility::Public,
            exports: of.exports,
            import: of.import,
            kind: of.kind,
            doc: None,
        })
    };
    for (index, memory) in (0u32..).zip(&read.memories) {
        let offset = memory.offset;
        if memory.of.shared {
            return Err(ImportError::unsupported("a shared memory", offset));
        }
        let pages = |of: u64| {
            u32::try_from(of).map_err(|_| ImportError::unsupported("a memory of this size", offset))
        };
        let kind = StorageKind::Memory {
            pages: pages(memory.of.initial)?,
            max_pages: memory.of.maximum.map(pages).transpose()?,
        };
        let made = Made { kind, import: memory.import.clone(), exports: memory.exports.clone() };
        storage(build, read.names.memories.get(index), format!("memory{index}"), made);
    }
    for (index, global) in (0u32..).zip(&read.globals) {
        let (of, initial) = &global.of;
        let operand = operand_type(of.content_type, global.offset)?;
        let ty = Type::from(operand);
        let initial = match initial {
            Some(initial) => first(initial, &indices, global.offset)?,
            None => Const::zero(&ty).into(),
        };
        let kind = StorageKind::Global { ty, mutable: of.mutable, initial };
        let made = Made { kind, import: global.import.clone(), exports: global.exports.clone() };
        let made = storage(build, read.names.globals.get(index), format!("global{index}"), made);
        indices.globals.push((made, operand));
    }
    let mut tables = Filling::of(read)?;
    let mut segments = Vec::with_capacity(read.elements.len());
    for (index, element) in (0u32..).zip(&read.elements) {
        let (ty, entries) = items(element, &indices)?;
        if entries.len() > MOST_ENTRIES {
            let what = format!("a segment of more than {MOST_ENTRIES} entries");
            return Err(ImportError::unsupported(what, element.range.start));
        }
        let segment = match tables.take(element, &entries)? {
            false => Some((ty, entries, &element.kind)),
            // What has been put into its table is dropped.
            true => used.elements.contains(&index).then_some((ty, Vec::new(), &ElementKind::Passive)),
        };
        segments.push(segment);
    }
    for ((index, table), entries) in (0u32..).zip(&read.tables).zip(tables.entries) {
        let offset = table.offset;
        let operand = operand_type(ValType::Ref(table.of.element_type), offset)?;
        let max = table.of.maximum.map(u32::try_from).transpose();
        let max = max.map_err(|_| ImportError::unsupported("a table of this size", offset))?;
        let made = Made {
            kind: StorageKind::Table { ty: operand.into(), entries, max },
            import: table.import.clone(),
            exports: table.exports.clone(),
        };
        let made = storage(build, read.names.tables.get(index), format!("table{index}"), made);
        indices.tables.push((made, operand));
    }
    for ((index, element), segment) in (0u32..).zip(&read.elements).zip(segments) {
        let segment = match segment {
            None => None,
            Some((ty, entries, kind)) => {
                let target = match kind {
                    ElementKind::Active { table_index, offset_expr } => {
                        let (table, _) = indices.table(table_index.unwrap_or(0));
                        Some((table, offset_of(offset_expr, &indices, element.range.start)?))
                    }
                    ElementKind::Passive | ElementKind::Declared => None,
                };
                let kind = StorageKind::Elements { ty, target, entries };
                let made = Made { kind, import: None, exports: Vec::new() };
                Some(storage(build, read.names.elements.get(index), format!("elem{index}"), made))
            }
        };
        indices.elements.push(segment);
    }
    for (index, data) in (0u32..).zip(&read.data) {
        let at = data.range.start;
        let offset = match &data.kind {
            DataKind::Passive => None,
            DataKind::Active { offset_expr, .. } => Some(offset_of(offset_expr, &indices, at)?),
        };
        let made = Made {
            kind: StorageKind::Data { offset, bytes: data.data.into() },
            import: None,
            exports: Vec::new(),
        };
        indices.data.push(storage(build, read.names.data.get(index), format!("data{index}"), made));
    }
    // Last, so that they take no name from what others name.
    for (index, custom) in read.customs.iter().enumerate() {
        let Custom { section, place, bytes } = custom;
        let named = !section.is_empty() && is_short(section);
        let label = if named { Name::clone(section) } else { format!("custom{index}").into() };
        build.add_storage(Storage {
            name: unique.name(label),
            module: home,
            visibility: Visibility::Private,
            exports: Vec::new(),
            import: None,
            kind: StorageKind::Custom { section: section.clone(), place: *place, bytes: (*bytes).into() },
            doc: None,
        });
    }
    Ok((indices, names))
}

/// The label of something that the name section has none for: its first export, else its import.
fn name_outside(exports: &[Name], import: Option<&Import>) -> Option<Name> {
    let export = exports.first().filter(|name| is_short(name));
    export.or_else(|| import.map(|import| &import.name).filter(|name| is_short(name))).cloned()
}

struct Made {
    kind: StorageKind,
    import: Option<Import>,
    exports: Vec<Name>,
}

/// What tables begin with: the segments whose place is known.
struct Filling<'r> {
    tables: &'r [Declared<wasmparser::TableType>],
    entries: Vec<Vec<Option<TableEntry>>>,
    /// Tables that a segment is put into at another time: what comes after it cannot come before.
    closed: BTreeSet<usize>,
}

impl<'r> Filling<'r> {
    fn of(read: &'r Read<'_>) -> Result<Filling<'r>, ImportError> {
        let mut entries = Vec::with_capacity(read.tables.len());
        let mut most = MOST_ENTRIES as u64;
        for table in &read.tables {
            let Some(left) = most.checked_sub(table.of.initial) else {
                let what = format!("tables of more than {MOST_ENTRIES} entries");
                return Err(ImportError::unsupported(what, table.offset));
            };
            most = left;
            entries.push(vec![None; table.of.initial as usize]);
        }
        Ok(Filling { tables: &read.tables, entries, closed: BTreeSet::new() })
    }

    /// Puts a segment into its table; tells whether all of it is there, so that nothing is left of it. A declared one
    /// says nothing that the nodes do not say.
    fn take(
        &mut self,
        element: &wasmparser::Element<'_>,
        items: &[Option<TableEntry>],
    ) -> Result<bool, ImportError> {
        let (table, offset) = match &element.kind {
            ElementKind::Declared => return Ok(true),
            ElementKind::Passive => return Ok(false),
            ElementKind::Active { table_index, offset_expr } => {
                (table_index.unwrap_or(0) as usize, single(offset_expr, element.range.start)?)
            }
        };
        if let Operator::I32Const { value } = offset
            // What is put into tables of somebody else is seen there, and in which order.
            && self.tables[table].import.is_none()
            && !self.closed.contains(&table)
            && let Some(rest) = self.entries[table].get_mut(value.cast_unsigned() as usize..)
            && let Some(place) = rest.get_mut(..items.len())
        {
            place.copy_from_slice(items);
            return Ok(true);
        }
        self.closed.insert(table);
        Ok(false)
    }
}

/// The references of a segment, with their type.
fn items(
    element: &wasmparser::Element<'_>,
    indices: &Indices,
) -> Result<(Type, Vec<Option<TableEntry>>), ImportError> {
    let at = element.range.start;
    match &element.items {
        ElementItems::Functions(functions) => {
            let functions = functions.clone().into_iter();
            let found = functions.map(|index| Ok(Some(indices.function(index?).0.into())));
            Ok((Type::FuncRef, found.collect::<Result<Vec<_>, BinaryReaderError>>()?))
        }
        ElementItems::Expressions(ty, expressions) => {
            let ty = typed(ValType::Ref(*ty), at)?;
            let items = expressions.clone().into_iter().map(|of| item(&of?, indices, at));
            Ok((ty, items.collect::<Result<Vec<_>, ImportError>>()?))
        }
    }
}

/// The only instruction of a constant expression, but for the one that ends it.
fn single<'a>(of: &ConstExpr<'a>, at: u64) -> Result<Operator<'a>, ImportError> {
    let mut operators = of.get_operators_reader();
    let first = operators.read()?;
    match operators.read()? {
        Operator::End => Ok(first),
        _ => Err(ImportError::unsupported("a constant expression of several instructions", at)),
    }
}

fn item(of: &ConstExpr<'_>, indices: &Indices, at: u64) -> Result<Option<TableEntry>, ImportError> {
    match single(of, at)? {
        Operator::RefFunc { function_index } => Ok(Some(indices.function(function_index).0.into())),
        Operator::GlobalGet { global_index } => Ok(Some(TableEntry::Global(indices.global(global_index).0))),
        Operator::RefNull { .. } => Ok(None),
        other => Err(ImportError::unsupported(format!("`{}` as an element", mnemonic(&other)), at)),
    }
}

fn first(of: &ConstExpr<'_>, indices: &Indices, at: u64) -> Result<Initial, ImportError> {
    Ok(match single(of, at)? {
        Operator::I32Const { value } => Const::I32(value).into(),
        Operator::I64Const { value } => Const::I64(value).into(),
        Operator::F32Const { value } => Const::F32(value.bits()).into(),
        Operator::F64Const { value } => Const::F64(value.bits()).into(),
        Operator::RefNull { .. } => Const::Unit.into(),
        Operator::GlobalGet { global_index } => Initial::Global(indices.global(global_index).0),
        Operator::RefFunc { function_index } => Initial::Function(indices.function(function_index).0),
        other => {
            return Err(ImportError::unsupported(format!("`{}` as a first value", mnemonic(&other)), at));
        }
    })
}

fn offset_of(of: &ConstExpr<'_>, indices: &Indices, at: u64) -> Result<Offset, ImportError> {
    match single(of, at)? {
        Operator::I32Const { value } => Ok(Offset::At(value.cast_unsigned())),
        Operator::GlobalGet { global_index } => Ok(Offset::Global(indices.global(global_index).0)),
        other => Err(ImportError::unsupported(format!("`{}` as an offset", mnemonic(&other)), at)),
    }
}

/// Makes the body of a function.
fn translate<'m, 'b>(
    mut build: FunctionBuilder<'b, &'b mut Draft>,
    indices: &'m Indices,
    read: &'m Read<'_>,
    Given { index, code, written, labels }: Given<'_, '_>,
    (known, room, lists): (&mut raw::Known, &mut Room, &mut Lists<'m>),
) -> Result<(), ImportError> {
    let (_, Operands { params, results }) = indices.function(index);
    let names = read.names.locals.get(index);
    let mut own = std::mem::take(lists);
    let locals = &mut own.locals;
    locals.begin(names);
    for (at, ty) in (0u16..).zip(params.iter().copied()) {
        let cell = match written.contains(&at.into()) {
            false => Cell::Param(at),
            true => {
                let name = names.and_then(|of| of.get(u32::from(at)));
                let of = build.variable(name.map(|name| format!("{name}_var").into()), ty.into());
                build.var_set(of, build.param(at));
                Cell::Variable(of)
            }
        };
        locals.keep(at.into(), cell, ty);
        locals.ends.push((u32::from(at) + 1, ty));
    }
    let mut reader = code.get_locals_reader()?;
    let mut end = params.len() as u32;
    for _ in 0..reader.get_count() {
        let offset = reader.original_position();
        let (count, ty) = reader.read()?;
        end += count;
        locals.ends.push((end, operand_type(ty, offset)?));
    }
    let mut translated = Body::new(indices, build, own, labels, results);
    let mut operators = code.get_operators_reader()?;
    while !operators.eof() {
        let offset = operators.original_position();
        translated.begins_at(offset);
        match operators.visit_operator(&mut translated)? {
            Step::Taken => {}
            Step::Carried => {
                let at = |position: u64| (position - code.range().start) as usize;
                let bytes = &code.as_bytes()[at(offset)..at(operators.original_position())];
                translated.carry(bytes, known, offset)?;
            }
            Step::Refused => translated.refusal().map_or(Ok(()), Err)?,
        }
        room.take(translated.values(), offset)?;
        room.hold(translated.nodes(), index, offset)?;
    }
    room.keep(translated.nodes());
    *lists = translated.close();
    Ok(())
}
