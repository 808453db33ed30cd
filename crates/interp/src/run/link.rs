//! Linking: functions get a place in the run when they are entered for the first time.

use std::sync::Arc;

use lmlang_ir::{FuncRef, FunctionHead, Signature};

use super::{LINK, Run, STACK};
use crate::code::{Code, NO_START, Opcode, Target, WINDOW};
use crate::exec::Linked;
use crate::machine::{Limit, Stop};
use crate::marks::Marks;
use crate::wasi::HostFunction;

impl Run {
    /// The position of a function in the list.
    pub(super) fn intern(&mut self, of: FuncRef) -> u32 {
        if let Some(found) = self.index.get(&of) {
            return *found;
        }
        let head = self.checked.program().function(of).map(|function| function.head());
        let signature = match head {
            // What captures values is called by closures, never through a table: it fits no signature there.
            Some(head) if !head.captures.is_empty() => u32::MAX,
            Some(head) => {
                let params = head.params.iter().map(|param| param.ty.clone()).collect();
                let results = head.results.clone();
                self.signature(Signature { params, results })
            }
            None => self.signature(Signature::default()),
        };
        let index = self.funcs.len() as u32;
        self.funcs.push(Linked { of, code: None, window: LINK as u32, frame: 0, refs: 0, signature });
        self.index.insert(of, index);
        index
    }

    fn signature(&mut self, of: Signature) -> u32 {
        let next = self.signatures.len() as u32;
        *self.signatures.entry(of).or_insert(next)
    }

    pub(super) fn grow(&mut self) {
        let most = (self.options.limits.memory_bytes / 8).max(STACK as u64) as usize;
        if self.stack.len() >= most.saturating_add(WINDOW) {
            self.discharge();
            return self.finish(Stop::Limit(Limit::Memory));
        }
        self.stack.resize(self.stack.len() * 2, 0);
    }

    /// Pauses before some nodes from now on; only where nodes are told apart. Costs the code that was entered.
    pub(crate) fn mark(&mut self, marks: Marks) {
        if self.marks == marks {
            return;
        }
        self.marks = marks;
        for func in 0..self.funcs.len() {
            self.mark_function(func);
        }
    }

    fn mark_function(&mut self, func: usize) {
        let linked = &self.funcs[func];
        let Some(code) = &linked.code else { return };
        let (start, all) = (linked.window as usize, self.marks.has_function(linked.of));
        let mut entry = self.marks.has_entry(linked.of);
        for (at, slots) in code.starts.iter().enumerate().filter(|(_, slots)| **slots != NO_START) {
            let marked = all | std::mem::take(&mut entry) || self.marks.has(&code.slots[*slots as usize]);
            let op = if marked { Opcode::Mark as u16 } else { code.words[at][0] & 0xff };
            let word = &mut self.arena[start + at];
            word[0] = word[0] & 0xff00 | op;
        }
    }

    /// Decodes the function that was entered.
    pub(super) fn link(&mut self) {
        let func = self.machine.func;
        let of = self.funcs[func as usize].of;
        if let Err(why) = self.link_function(func, of) {
            return self.finish(why);
        }
        self.machine.window = self.funcs[func as usize].window;
        self.machine.pc = 0;
        self.machine.charged = false;
        while self.outcome.is_none()
            && self.machine.base + self.funcs[func as usize].frame as usize + WINDOW > self.stack.len()
        {
            self.grow();
        }
    }

    fn link_function(&mut self, func: u32, of: FuncRef) -> Result<(), Stop> {
        let checked = self.checked.clone();
        let verified = checked.function(of).ok_or(Stop::NotVerified(of))?;
        let code = if verified.function().body().root().is_none() {
            let head = verified.function().head();
            let host = host_function(head).ok_or(Stop::Imported(of))?;
            Arc::new(Code::of_host(host.index(), head.params.len().max(1) as u32))
        } else {
            self.cache.code(&checked, verified, self.lowering).ok_or(Stop::TooLarge(of))?
        };
        let start = self.arena_used;
        let end = start + code.words.len();
        if self.arena.len() < end + WINDOW {
            let length = (end + WINDOW).max(self.arena.len() * 2);
            self.arena.resize(length, [0; 4]);
        }
        self.arena[start..end].copy_from_slice(&code.words);
        self.arena_used = end;
        self.starts.push((start as u32, func));
        for patch in &code.patches {
            let value = match &patch.what {
                Target::Function(of) => self.intern(*of),
                Target::FunctionValue(of) => self.intern(*of) + 1,
                Target::Signature(of) => self.signature(of.clone()),
                Target::Storage(of) => {
                    let index = self.storage.iter().position(|storage| storage == of);
                    index.ok_or(Stop::Broken)? as u32
                }
            };
            let word = &mut self.arena[start + patch.at as usize];
            word[usize::from(patch.field)] = value as u16;
            if !matches!(patch.what, Target::Storage(_)) {
                word[usize::from(patch.field) + 1] = (value >> 16) as u16;
            }
        }
        let linked = &mut self.funcs[func as usize];
        linked.window = start as u32;
        linked.frame = code.frame;
        linked.refs = code.refs;
        linked.code = Some(code);
        if !self.marks.is_empty() {
            self.mark_function(func as usize);
        }
        self.cover_function(func as usize);
        Ok(())
    }
}

fn host_function(head: &FunctionHead) -> Option<HostFunction> {
    let import = head.import.as_ref().filter(|_| head.captures.is_empty())?;
    let params = head.params.iter().map(|param| &param.ty);
    HostFunction::find(&import.module, &import.name, params, &head.results)
}
