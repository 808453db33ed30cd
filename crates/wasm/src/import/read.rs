//! The sections of a module, as they stand in it.

use lmlang_ir::{Import, Name, Section, SectionPlace, Signature, Type};
use wasmparser::{
    CompositeInnerType, ConstExpr, ExternalKind, FunctionBody, Parser, Payload, TypeRef, ValType,
};

use super::names::Names;
use super::{ImportError, typed};

/// The sections of a module.
#[derive(Default)]
pub(super) struct Read<'a> {
    pub(super) types: Vec<Signature>,
    pub(super) functions: Vec<Declared<u32>>,
    pub(super) imported_functions: usize,
    pub(super) tables: Vec<Declared<wasmparser::TableType>>,
    pub(super) memories: Vec<Declared<wasmparser::MemoryType>>,
    pub(super) globals: Vec<Declared<(wasmparser::GlobalType, Option<ConstExpr<'a>>)>>,
    pub(super) start: Option<u32>,
    pub(super) elements: Vec<wasmparser::Element<'a>>,
    pub(super) data: Vec<wasmparser::Data<'a>>,
    pub(super) bodies: Vec<FunctionBody<'a>>,
    pub(super) names: Names,
    /// All but the names.
    pub(super) customs: Vec<Custom<'a>>,
    /// How many of them have something behind them, and so a place.
    placed: usize,
    /// The standard section before what comes next.
    before: Option<Section>,
}

/// A custom section.
pub(super) struct Custom<'a> {
    pub(super) section: Name,
    pub(super) place: SectionPlace,
    pub(super) bytes: &'a [u8],
}

/// Something that is imported or defined, and perhaps exported.
pub(super) struct Declared<T> {
    pub(super) of: T,
    pub(super) import: Option<Import>,
    pub(super) exports: Vec<Name>,
    pub(super) offset: u64,
}

impl<T> Declared<T> {
    fn new(of: T, import: Option<Import>, offset: u64) -> Declared<T> {
        Declared { of, import, exports: Vec::new(), offset }
    }
}

impl<'a> Read<'a> {
    pub(super) fn of(module: &'a [u8]) -> Result<Read<'a>, ImportError> {
        let mut read = Read::default();
        for payload in Parser::new(0).parse_all(module) {
            read.take(payload?)?;
        }
        Ok(read)
    }

    /// A standard section begins, or that of the names: what came before does not stand last.
    fn begin(&mut self, section: Option<Section>) {
        let place = self.before.map_or(SectionPlace::First, SectionPlace::After);
        self.customs[self.placed..].iter_mut().for_each(|custom| custom.place = place);
        self.placed = self.customs.len();
        self.before = section.or(self.before);
    }

    fn take(&mut self, payload: Payload<'a>) -> Result<(), ImportError> {
        if let Some(section) = standard(&payload) {
            self.begin(Some(section));
        }
        match payload {
            Payload::TypeSection(section) => {
                for group in section.into_iter_with_offsets() {
                    let (offset, group) = group?;
                    for ty in group.into_types() {
                        let CompositeInnerType::Func(of) = &ty.composite_type.inner else {
                            return Err(ImportError::unsupported("a type that is no function type", offset));
                        };
                        let types = |of: &[ValType]| -> Result<Vec<Type>, ImportError> {
                            of.iter().map(|ty| typed(*ty, offset)).collect()
                        };
                        self.types
                            .push(Signature { params: types(of.params())?, results: types(of.results())? });
                    }
                }
            }
            Payload::ImportSection(section) => {
                for import in section.into_imports_with_offsets() {
                    let (offset, import) = import?;
                    let from = Some(Import { module: import.module.into(), name: import.name.into() });
                    match import.ty {
                        TypeRef::Func(ty) => {
                            self.functions.push(Declared::new(ty, from, offset));
                            self.imported_functions += 1;
                        }
                        TypeRef::Table(ty) => self.tables.push(Declared::new(ty, from, offset)),
                        TypeRef::Memory(ty) => self.memories.push(Declared::new(ty, from, offset)),
                        TypeRef::Global(ty) => self.globals.push(Declared::new((ty, None), from, offset)),
                        _ => return Err(ImportError::unsupported("an import of this kind", offset)),
                    }
                }
            }
            Payload::FunctionSection(section) => {
                for ty in section.into_iter_with_offsets() {
                    let (offset, ty) = ty?;
                    self.functions.push(Declared::new(ty, None, offset));
                }
            }
            Payload::TableSection(section) => {
                for table in section.into_iter_with_offsets() {
                    let (offset, table) = table?;
                    self.tables.push(Declared::new(table.ty, None, offset));
                }
            }
            Payload::MemorySection(section) => {
                for memory in section.into_iter_with_offsets() {
                    let (offset, memory) = memory?;
                    self.memories.push(Declared::new(memory, None, offset));
                }
            }
            Payload::GlobalSection(section) => {
                for global in section.into_iter_with_offsets() {
                    let (offset, global) = global?;
                    self.globals.push(Declared::new((global.ty, Some(global.init_expr)), None, offset));
                }
            }
            Payload::ExportSection(section) => {
                for export in section.into_iter_with_offsets() {
                    let (offset, export) = export?;
                    let (name, index) = (Name::from(export.name), export.index as usize);
                    match export.kind {
                        ExternalKind::Func => self.functions[index].exports.push(name),
                        ExternalKind::Table => self.tables[index].exports.push(name),
                        ExternalKind::Memory => self.memories[index].exports.push(name),
                        ExternalKind::Global => self.globals[index].exports.push(name),
                        _ => return Err(ImportError::unsupported("an export of this kind", offset)),
                    }
                }
            }
            Payload::StartSection { func, .. } => self.start = Some(func),
            Payload::ElementSection(section) => {
                for element in section {
                    self.elements.push(element?);
                }
            }
            Payload::DataSection(section) => {
                for data in section {
                    self.data.push(data?);
                }
            }
            Payload::CodeSectionEntry(body) => self.bodies.push(body),
            Payload::CustomSection(section) => {
                if let wasmparser::KnownCustom::Name(names) = section.as_known() {
                    self.begin(None);
                    self.names = Names::read(names);
                } else if section.name() != "name" {
                    self.customs.push(Custom {
                        section: section.name().into(),
                        place: SectionPlace::Last,
                        bytes: section.data(),
                    });
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// The standard section that begins with a payload.
fn standard(payload: &Payload<'_>) -> Option<Section> {
    Some(match payload {
        Payload::TypeSection(_) => Section::Type,
        Payload::ImportSection(_) => Section::Import,
        Payload::FunctionSection(_) => Section::Func,
        Payload::TableSection(_) => Section::Table,
        Payload::MemorySection(_) => Section::Memory,
        Payload::GlobalSection(_) => Section::Global,
        Payload::ExportSection(_) => Section::Export,
        Payload::StartSection { .. } => Section::Start,
        Payload::ElementSection(_) => Section::Elem,
        Payload::DataCountSection { .. } => Section::DataCount,
        Payload::CodeSectionStart { .. } => Section::Code,
        Payload::DataSection(_) => Section::Data,
        _ => return None,
    })
}
