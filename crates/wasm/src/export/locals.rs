//! The locals of a function whose instructions are all there: those that only pass a value on go, and the others stand in
//! the order that takes the fewest bytes.
//!
//! Values that an operator gives several of, and those that are wanted in another block than they come up in, lie in locals
//! of their own. Where whoever wants them keeps them in a variable, or where they come out of one, that one does as well.

use std::cmp::Reverse;

use wasm_encoder::{Function, Instruction, ValType};

/// What stands in a body.
#[derive(Debug)]
pub(super) enum Item {
    Instruction(Instruction<'static>),
    /// An operator that is carried as its bytes; it knows no locals.
    Carried(Vec<u8>),
}

/// A body whose locals are settled.
#[derive(Debug)]
pub(super) struct Settled {
    items: Vec<Item>,
    /// Types of the locals behind the parameters.
    types: Vec<ValType>,
    /// What each local is called now, by what it was called; nothing for those that are gone.
    numbers: Vec<Option<u32>>,
}

/// Locals whose number takes one byte.
const NEAR: usize = 128;

/// Settles the locals of a body. The parameters come first, `types` are those of the others. Of these some stay, such as the
/// variables of the program.
pub(super) fn settle(items: Vec<Item>, params: u32, types: &[ValType], stay: &[u32]) -> Settled {
    let count = params as usize + types.len();
    let mut stays = vec![false; count];
    (0..params).chain(stay.iter().copied()).for_each(|local| stays[local as usize] = true);
    let mut items = pass_on(take_from_first(items, &stays), &stays);
    let order = order(&items, params as usize, types);
    let mut numbers = vec![None; count];
    (0..params).for_each(|param| numbers[param as usize] = Some(param));
    for (number, local) in (params..).zip(&order) {
        numbers[*local] = Some(number);
    }
    for item in &mut items {
        if let Item::Instruction(
            Instruction::LocalGet(local) | Instruction::LocalSet(local) | Instruction::LocalTee(local),
        ) = item
            && let Some(number) = numbers[*local as usize]
        {
            *local = number;
        }
    }
    let types = order.into_iter().map(|local| types[local - params as usize]).collect();
    Settled { items, types, numbers }
}

impl Settled {
    /// What a local is called now, if it is still there.
    pub(super) fn number(&self, local: u32) -> Option<u32> {
        self.numbers.get(local as usize).copied().flatten()
    }

    /// Writes the body.
    pub(super) fn write(self) -> Function {
        let mut into = Function::new_with_locals_types(self.types);
        for item in self.items {
            match item {
                Item::Instruction(instruction) => into.instruction(&instruction),
                Item::Carried(bytes) => into.raw(bytes),
            };
        }
        into
    }
}

/// What an instruction does with a local.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    Get(u32),
    Set(u32),
    Tee(u32),
}

fn access(item: &Item) -> Option<Access> {
    match item {
        Item::Instruction(Instruction::LocalGet(local)) => Some(Access::Get(*local)),
        Item::Instruction(Instruction::LocalSet(local)) => Some(Access::Set(*local)),
        Item::Instruction(Instruction::LocalTee(local)) => Some(Access::Tee(*local)),
        Item::Instruction(_) | Item::Carried(_) => None,
    }
}

/// How often something is put into a local, and got out of it.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    sets: u32,
    gets: u32,
}

fn counts(items: &[Item], locals: usize) -> Vec<Count> {
    let mut counts = vec![Count::default(); locals];
    for access in items.iter().filter_map(access) {
        match access {
            Access::Get(local) => counts[local as usize].gets += 1,
            Access::Set(local) | Access::Tee(local) => counts[local as usize].sets += 1,
        }
    }
    counts
}

/// What is got out of a local, set once to what another has, is got out of that one, as long as nothing else is put there.
fn take_from_first(items: Vec<Item>, stays: &[bool]) -> Vec<Item> {
    let counts = counts(&items, stays.len());
    let mut copies = Copies::of(stays.len());
    // Where something is got, and out of which other local it could be.
    let mut found: Vec<(usize, u32)> = Vec::new();
    let mut times = vec![0; stays.len()];
    for (at, item) in items.iter().enumerate() {
        match access(item) {
            Some(Access::Get(local)) => {
                if let Some(first) = copies.first(local) {
                    times[local as usize] += 1;
                    found.push((at, first));
                }
            }
            Some(Access::Set(local)) => {
                copies.changed(local);
                let before = at.checked_sub(1).and_then(|before| access(&items[before]));
                if let Some(Access::Get(of)) = before
                    && !stays[local as usize]
                    && counts[local as usize].sets == 1
                {
                    copies.begin(local, copies.first(of).unwrap_or(of), at);
                }
            }
            Some(Access::Tee(local)) => copies.changed(local),
            None => copies.pass(item, at),
        }
    }
    let gone = |local: u32| {
        let times = times[local as usize];
        times > 0 && times == counts[local as usize].gets
    };
    let mut found = found.into_iter().peekable();
    let mut written = Vec::with_capacity(items.len());
    for (at, item) in items.into_iter().enumerate() {
        let first = found.next_if(|(other, _)| *other == at);
        match (access(&item), first) {
            (Some(Access::Get(local)), Some((_, first))) if gone(local) => {
                written.push(Item::Instruction(Instruction::LocalGet(first)));
            }
            // What was got for it goes with it.
            (Some(Access::Set(local)), _) if gone(local) => drop(written.pop()),
            (_, _) => written.push(item),
        }
    }
    written
}

/// Locals that have what another has.
#[derive(Debug)]
struct Copies {
    /// For each local the other one, and from where on.
    first: Vec<Option<(u32, usize)>>,
    /// For each local those that have what it has, or had once.
    of: Vec<Vec<u32>>,
    /// Those that began in the blocks that are open, the innermost last.
    begun: Vec<u32>,
    /// How many of them there were before each block.
    outside: Vec<usize>,
    /// Where the last loop began.
    looped: usize,
}

impl Copies {
    fn of(locals: usize) -> Copies {
        Copies {
            first: vec![None; locals],
            of: vec![Vec::new(); locals],
            begun: Vec::new(),
            outside: Vec::new(),
            looped: 0,
        }
    }

    /// The local that has what this one has.
    fn first(&self, local: u32) -> Option<u32> {
        // What stands further on in a loop also comes before its beginning.
        let (first, since) = self.first[local as usize]?;
        (since >= self.looped).then_some(first)
    }

    /// A local has what another has from here on.
    fn begin(&mut self, local: u32, first: u32, at: usize) {
        if local != first {
            self.first[local as usize] = Some((first, at));
            self.of[first as usize].push(local);
            self.begun.push(local);
        }
    }

    /// Something else is put into a local.
    fn changed(&mut self, local: u32) {
        for copy in std::mem::take(&mut self.of[local as usize]) {
            self.first[copy as usize] = None;
        }
    }

    fn pass(&mut self, item: &Item, at: usize) {
        match item {
            Item::Instruction(Instruction::Block(_) | Instruction::If(_)) => self.open(),
            Item::Instruction(Instruction::Loop(_)) => {
                self.looped = at;
                self.open();
            }
            Item::Instruction(Instruction::Else) => {
                self.close();
                self.open();
            }
            Item::Instruction(Instruction::End) => self.close(),
            Item::Instruction(_) | Item::Carried(_) => {}
        }
    }

    fn open(&mut self) {
        self.outside.push(self.begun.len());
    }

    /// Whoever comes to the end of a block from elsewhere does not have what began in it.
    fn close(&mut self) {
        let outside = self.outside.pop().unwrap_or_default();
        for copy in self.begun.drain(outside..) {
            self.first[copy as usize] = None;
        }
    }
}

/// What goes through a local on its way to another goes there at once, and what is got right after it was set stays on the
/// stack.
fn pass_on(items: Vec<Item>, stays: &[bool]) -> Vec<Item> {
    let counts = counts(&items, stays.len());
    let passes = |local: u32| {
        let Count { sets, gets } = counts[local as usize];
        !stays[local as usize] && sets == 1 && gets == 1
    };
    let mut written: Vec<Item> = Vec::with_capacity(items.len());
    // Where in what is written a local was got or set last, and where it was set.
    let mut used: Vec<Option<usize>> = vec![None; stays.len()];
    let mut set: Vec<Option<usize>> = vec![None; stays.len()];
    // Where the code begins that is executed as a whole, if it is.
    let mut straight = 0;
    let mut items = items.into_iter().peekable();
    while let Some(item) = items.next() {
        let at = written.len();
        match access(&item) {
            Some(Access::Get(local)) => {
                if written.last().and_then(access) == Some(Access::Set(local)) {
                    drop(written.pop());
                    if !passes(local) {
                        written.push(Item::Instruction(Instruction::LocalTee(local)));
                    }
                    continue;
                }
                if let Some(Access::Set(to)) = items.peek().and_then(access)
                    && passes(local)
                    && let Some(since) = set[local as usize].filter(|since| *since >= straight)
                    && used[to as usize].is_none_or(|last| last < since)
                {
                    written[since] = Item::Instruction(match access(&written[since]) {
                        Some(Access::Tee(_)) => Instruction::LocalTee(to),
                        _ => Instruction::LocalSet(to),
                    });
                    (used[to as usize], set[to as usize]) = (Some(since), Some(since));
                    items.next();
                    continue;
                }
                used[local as usize] = Some(at);
            }
            Some(Access::Set(local) | Access::Tee(local)) => {
                (used[local as usize], set[local as usize]) = (Some(at), Some(at));
            }
            None if turns(&item) => straight = at + 1,
            None => {}
        }
        written.push(item);
    }
    written
}

/// Whether control may come to an instruction, or go on from it, by another way than from one to the next.
fn turns(item: &Item) -> bool {
    matches!(
        item,
        Item::Instruction(
            Instruction::Block(_)
                | Instruction::Loop(_)
                | Instruction::If(_)
                | Instruction::Else
                | Instruction::End
                | Instruction::Br(_)
                | Instruction::BrIf(_)
                | Instruction::BrTable(..)
                | Instruction::Return
                | Instruction::Unreachable
        )
    )
}

/// The locals behind the parameters that are used, as they are to stand: those that are used most where a number takes one
/// byte, and those of a type together.
fn order(items: &[Item], params: usize, types: &[ValType]) -> Vec<usize> {
    let counts = counts(items, params + types.len());
    let uses = |local: usize| counts[local].sets + counts[local].gets;
    let ty = |local: usize| types[local - params];
    let mut used: Vec<usize> = (params..counts.len()).filter(|local| uses(*local) > 0).collect();
    let near = NEAR.saturating_sub(params).min(used.len());
    if near < used.len() {
        used.sort_by_key(|local| Reverse(uses(*local)));
    }
    let (first, others) = used.split_at_mut(near);
    first.sort_by_key(|local| (ty(*local), *local));
    // The last type of the first ones goes on.
    others.sort_by_key(|local| (Reverse(ty(*local)), *local));
    used
}
