//! The state of a run that handlers work on.

use std::sync::Arc;

use lmlang_ir::{
    Const, ContractRef, FuncRef, Initial, NodeRef, Offset, Program, RegionRef, StorageKind, TableEntry, Trap,
    Type, VarRef,
};

use crate::heap::Obj;
pub(crate) use crate::outcome::LimitKind as Limit;
use crate::value;
use crate::world::World;

/// Where a call returns to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub(crate) func: u32,
    pub(crate) window: u32,
    pub(crate) pc: u32,
    pub(crate) base: u32,
    pub(crate) rbase: u32,
}

/// Why the machine stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    Trap(Trap),
    /// A segment does not fit where it is put when the run begins.
    Segment(VarRef, Trap),
    Hole(NodeRef, Option<u16>),
    Open(RegionRef),
    Violated(ContractRef),
    Limit(Limit),
    NotVerified(FuncRef),
    Unsupported(NodeRef),
    /// A function that only the host has.
    Imported(FuncRef),
    /// The program ended itself, with this status.
    Exit(u32),
    /// A function that does not fit the machine.
    TooLarge(FuncRef),
    /// A bulk operator costs more than is left of the slice.
    Fuel,
    /// The input that is read has not come yet.
    Input,
    Cancelled,
    /// An instruction that lowering never makes.
    Broken,
}

/// A table of references; functions are positions in the run's list plus one, nothing is zero.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) entries: Vec<u64>,
    pub(crate) max: Option<u32>,
}

/// What handlers read and write.
#[derive(Clone, Debug, Default)]
pub(crate) struct Machine {
    pub(crate) frames: Vec<Frame>,
    pub(crate) refs: Vec<Obj>,
    pub(crate) memory: Vec<u8>,
    pub(crate) has_memory: bool,
    pub(crate) max_pages: Option<u32>,
    /// Scalars, by position in [`Machine::storage`].
    pub(crate) globals: Vec<u64>,
    pub(crate) global_refs: Vec<Obj>,
    pub(crate) tables: Vec<Option<Table>>,
    /// Bytes of the entries of all tables.
    pub(crate) table_bytes: u64,
    pub(crate) data: Vec<Arc<[u8]>>,
    /// Element segments, entries as in tables.
    pub(crate) elements: Vec<Arc<[u64]>>,
    pub(crate) world: World,
    pub(crate) memory_limit: u64,
    pub(crate) depth_limit: usize,
    /// What a bulk operator may cost beyond its node while the fuel is counted node by node.
    pub(crate) extra_limit: i64,
    /// Fuel spent by bulk operators beyond their nodes.
    pub(crate) extra: u64,
    pub(crate) memory_peak: u64,
    pub(crate) stop: Option<Stop>,
    /// Frames when the contract that is being evaluated began, plus one; zero outside of contracts.
    pub(crate) contract_depth: usize,
    pub(crate) contract: u16,
    pub(crate) func: u32,
    pub(crate) window: u32,
    pub(crate) base: usize,
    pub(crate) rbase: usize,
    pub(crate) pc: usize,
    pub(crate) fuel: i64,
    /// Whether the segment that starts at `pc` has been paid for.
    pub(crate) charged: bool,
}

impl Machine {
    #[inline(always)]
    pub(crate) fn table(&self, index: u16) -> Option<&Table> {
        self.tables.get(usize::from(index))?.as_ref()
    }

    pub(crate) fn table_mut(&mut self, index: u16) -> Option<&mut Table> {
        self.tables.get_mut(usize::from(index))?.as_mut()
    }

    /// Two tables that are not the same, the first to be written to.
    pub(crate) fn two_tables(&mut self, first: u16, second: u16) -> Option<[&mut Table; 2]> {
        let [first, second] = self.tables.get_disjoint_mut([usize::from(first), usize::from(second)]).ok()?;
        Some([first.as_mut()?, second.as_mut()?])
    }

    /// Keeps the peak in step with linear memory, tables, the value heap and written files.
    pub(crate) fn note_memory(&mut self) {
        let now =
            crate::heap::peak() + self.memory.len() as u64 + self.table_bytes + self.world.tree.bytes.most;
        self.memory_peak = self.memory_peak.max(now);
    }

    /// Says whether there is room for more bytes, before they are allocated.
    pub(crate) fn room(&self, bytes: u64) -> Result<(), Stop> {
        let used =
            crate::heap::live() + self.memory.len() as u64 + self.table_bytes + self.world.tree.bytes.now;
        match used.saturating_add(bytes) <= self.memory_limit {
            true => Ok(()),
            false => Err(Stop::Limit(Limit::Memory)),
        }
    }

    /// Sets up globals, memory, tables and data; `intern` gives a function's position in the run's list.
    ///
    /// Fails as instantiation would: when a segment does not fit its table or the memory, or all of it the limit.
    pub(crate) fn instantiate(
        &mut self,
        program: &Program,
        mut intern: impl FnMut(FuncRef) -> u32,
    ) -> Result<Vec<VarRef>, Stop> {
        let mut names = Vec::new();
        let (mut active, mut put) = (Vec::new(), Vec::new());
        for (of, storage) in program.all_storage() {
            let (mut global, mut reference, mut table) = (0, Obj::default(), None);
            let (mut bytes, mut elements) = (Arc::from([]), Arc::from([]));
            match &storage.kind {
                StorageKind::Global { ty, initial, .. } => {
                    match self.initial(program, ty, initial, &mut intern)? {
                        value::Word::Num(value) => global = value,
                        value::Word::Ref(obj) => reference = obj,
                    }
                }
                StorageKind::Memory { pages, max_pages } => {
                    let size = u64::from(*pages) << 16;
                    if *pages > 1 << 16 {
                        return Err(Stop::Limit(Limit::Memory));
                    }
                    self.room(size)?;
                    self.memory = vec![0; size as usize];
                    self.has_memory = true;
                    self.max_pages = *max_pages;
                }
                StorageKind::Data { offset, bytes: given } => {
                    match offset {
                        // An active segment is dropped once it has been copied.
                        Some(offset) => {
                            active.push((of, address(program, *offset) as usize, Arc::clone(given)));
                        }
                        None => bytes = Arc::clone(given),
                    }
                }
                StorageKind::Table { ty: _, entries, max } => {
                    self.room(8 * entries.len() as u64)?;
                    self.table_bytes += 8 * entries.len() as u64;
                    let entries = entries.iter().map(|entry| held(*entry, &mut intern)).collect();
                    table = Some(Table { entries, max: *max });
                }
                StorageKind::Elements { ty: _, target, entries } => {
                    let entries = entries.iter().map(|entry| held(*entry, &mut intern)).collect();
                    match target {
                        Some((table, offset)) => {
                            put.push((of, *table, address(program, *offset), entries));
                        }
                        None => elements = entries,
                    }
                }
                StorageKind::Custom { .. } => {}
            }
            names.push(of);
            self.globals.push(global);
            self.global_refs.push(reference);
            self.tables.push(table);
            self.data.push(bytes);
            self.elements.push(elements);
        }
        for (of, table, offset, entries) in put {
            let at = names.iter().position(|of| *of == table);
            let table = at.and_then(|at| self.tables[at].as_mut()).map(|table| &mut table.entries[..]);
            let place = table.and_then(|table| table.get_mut(offset as usize..)?.get_mut(..entries.len()));
            place.ok_or(Stop::Segment(of, Trap::TableOutOfBounds))?.copy_from_slice(&entries);
        }
        for (of, offset, bytes) in active {
            let to = self.memory.get_mut(offset..).and_then(|rest| rest.get_mut(..bytes.len()));
            to.ok_or(Stop::Segment(of, Trap::MemoryOutOfBounds))?.copy_from_slice(&bytes);
        }
        self.note_memory();
        Ok(names)
    }

    /// What a global starts with.
    fn initial(
        &self,
        program: &Program,
        ty: &Type,
        initial: &Initial,
        mut intern: impl FnMut(FuncRef) -> u32,
    ) -> Result<value::Word, Stop> {
        let value = match initial {
            Initial::Function(function) => return Ok(value::Word::Num(u64::from(intern(*function)) + 1)),
            Initial::Const(value) => value,
            Initial::Global(global) => given(program, *global).unwrap_or(&Const::Unit),
        };
        if *value != Const::Unit {
            return Ok(value::constant(value));
        }
        // The zero of a type that has no constants.
        self.room(value::zero_bytes(program, ty, self.memory_limit))?;
        Ok(value::zero(program, ty))
    }
}

/// An entry of a table. What a global of the host holds is null in a run.
fn held(entry: Option<TableEntry>, intern: &mut impl FnMut(FuncRef) -> u32) -> u64 {
    match entry {
        Some(TableEntry::Function(function)) => u64::from(intern(function)) + 1,
        Some(TableEntry::Global(_)) | None => 0,
    }
}

/// The constant that a global stands for when others begin with it.
fn given(program: &Program, global: VarRef) -> Option<&Const> {
    match &program.storage(global)?.kind {
        StorageKind::Global { initial: Initial::Const(value), .. } => Some(value),
        StorageKind::Global { .. }
        | StorageKind::Memory { .. }
        | StorageKind::Data { .. }
        | StorageKind::Table { .. }
        | StorageKind::Elements { .. }
        | StorageKind::Custom { .. } => None,
    }
}

/// Where a segment is put when a run begins.
pub(crate) fn address(program: &Program, offset: Offset) -> u32 {
    match offset {
        Offset::At(address) => address,
        Offset::Global(global) => match given(program, global) {
            Some(Const::I32(value)) => value.cast_unsigned(),
            Some(_) | None => 0,
        },
    }
}
