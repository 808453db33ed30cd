//! Proofs: a program together with what was found about it, and the functions that may be run or exported.

use std::num::NonZeroUsize;

use lmlang_ir::{FuncRef, Function, NodeRef, Program, Ref, RegionRef};

use crate::diagnostic::Diagnostic;
use crate::findings::{Findings, Group};
use crate::full::full_on;
use crate::local::local;

/// A program with all findings about it. A clone copies a few pointers.
///
/// Invariant: the findings are those of the program. Only this crate makes one.
#[derive(Clone, Debug)]
pub struct Checked {
    program: Program,
    findings: Findings,
}

impl Checked {
    /// Checks all of a program, on so many threads at most.
    pub fn full(program: Program, threads: NonZeroUsize) -> Checked {
        let findings = full_on(&program, threads);
        Checked { program, findings }
    }

    /// Checks what differs in a later revision. Costs what differs and what depends on it.
    pub fn update(&self, program: Program) -> Checked {
        let findings = local(&self.program, &self.findings, &program);
        Checked { program, findings }
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// What was found about it.
    pub fn findings(&self) -> &Findings {
        &self.findings
    }

    /// The functions that somebody outside can mean by a name, the same for all who run one: what is exported under it, as
    /// hosts know modules by their exports, and inside of one another function may be labelled so; else what has the path,
    /// or the name alone, in whichever module unless the top has it.
    pub fn functions_named(&self, given: &str) -> Vec<FuncRef> {
        let functions = |found: &mut dyn Iterator<Item = Ref>| -> Vec<FuncRef> {
            found.filter_map(|of| FuncRef::try_from(of).ok()).collect()
        };
        let exported = self.findings.index.exported(given);
        let exported = functions(&mut exported.filter_map(|number| self.program.ref_of(number)));
        if !exported.is_empty() {
            return exported;
        }
        let found = functions(&mut self.program.resolve_path(given).into_iter());
        if !found.is_empty() {
            return found;
        }
        let modules = self.program.modules();
        functions(&mut modules.flat_map(|(module, _)| self.program.lookup(Some(module), given)))
    }

    /// A function that may be simulated: it exists, and no finding inside of it is an error.
    pub fn function(&self, of: FuncRef) -> Option<Verified<'_>> {
        let function = self.program.function(of)?;
        let group = self.findings.group(of.number());
        let sound = group.is_none_or(|group| group.tally().errors == 0);
        sound.then_some(Verified { checked: self, of, function, group })
    }

    /// A function that may be compiled and exported: it exists, and findings inside of it are warnings at most.
    pub fn complete(&self, of: FuncRef) -> Option<Complete<'_>> {
        let verified = self.function(of)?;
        let complete = verified.group.is_none_or(|group| group.tally().is_complete());
        complete.then_some(Complete { verified })
    }
}

/// A function without errors. A run may enter it, and stops at what is incomplete in it.
///
/// Says nothing about the functions that it calls.
#[derive(Clone, Copy, Debug)]
pub struct Verified<'a> {
    checked: &'a Checked,
    of: FuncRef,
    function: &'a Function,
    group: Option<&'a Group>,
}

impl<'a> Verified<'a> {
    /// The function's ref.
    pub fn of(&self) -> FuncRef {
        self.of
    }

    /// The function.
    pub fn function(&self) -> &'a Function {
        self.function
    }

    /// The program that it is part of.
    pub fn checked(&self) -> &'a Checked {
        self.checked
    }

    /// Tells whether a run has to stop before a node: an input is empty, or a change elsewhere left it, or one of the
    /// regions that it owns, behind. Regions without a terminator do not count: a run stops at their end.
    pub fn stops_at(&self, node: NodeRef) -> bool {
        self.obstacle(node).is_some()
    }

    /// The first finding because of which a run has to stop before a node.
    pub fn obstacle(&self, node: NodeRef) -> Option<&'a Diagnostic> {
        let group = self.group?;
        let stale = |region: &RegionRef| {
            let mut found = group.of(region.number()).iter();
            found.find(|one| one.is_incomplete() && one.code != crate::code::Code::MissingTerminator)
        };
        let own = group.of(node.number()).iter().find(|one| one.is_incomplete());
        let regions = self.function.body().node(node).map_or(&[][..], |node| node.regions());
        own.or_else(|| regions.iter().find_map(stale))
    }

    /// The finding because of which a contract cannot be evaluated: its region does not fit any more.
    pub fn contract_obstacle(&self, region: RegionRef) -> Option<&'a Diagnostic> {
        let mut found = self.group?.of(region.number()).iter();
        found.find(|one| one.is_incomplete() && one.code != crate::code::Code::MissingTerminator)
    }
}

/// A function in which nothing is missing or wrong.
///
/// Says nothing about the functions that it calls: an exporter asks for each of them.
#[derive(Clone, Copy, Debug)]
pub struct Complete<'a> {
    verified: Verified<'a>,
}

impl<'a> Complete<'a> {
    /// The weaker proof.
    pub fn verified(&self) -> Verified<'a> {
        self.verified
    }

    /// The function's ref.
    pub fn of(&self) -> FuncRef {
        self.verified.of
    }

    /// The function.
    pub fn function(&self) -> &'a Function {
        self.verified.function
    }
}
