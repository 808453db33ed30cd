//! Which sections belong to a focus, the most useful first.

use std::collections::{BTreeMap, HashSet};

use lmlang_ir::text::{self, Detail};
use lmlang_ir::{FuncRef, ModuleRef, NodeRef, Place, Program, Ref, RefKind};

use crate::hole;
use crate::section::{Role, Section};

/// Sections of one context at most.
const SECTIONS: usize = 1_000;
/// Call lines of one caller at most.
const CALL_LINES: usize = 8;
/// Callers told at most.
const CALLERS: usize = 100;
/// Calls from the focus that are followed at most.
const DISTANCE: usize = 8;

/// What belongs to a focus.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gathered {
    /// By usefulness.
    pub(crate) sections: Vec<Section>,
    /// What was not even printed, by role: how many, and the first of them.
    pub(crate) beyond: BTreeMap<Role, (usize, Vec<Ref>)>,
}

/// What a section says of an entity is looked up before its text is made: texts are dear.
struct Candidate {
    role: Role,
    of: Ref,
    heading: String,
}

/// Refs named of what was left out, at most.
pub(crate) const NAMED: usize = 20;

struct Gathering<'p> {
    program: &'p Program,
    candidates: Vec<Candidate>,
    seen: HashSet<Ref>,
    focus: Vec<Ref>,
    holes: Vec<NodeRef>,
}

/// Gathers sections for a focus, until they have that many bytes; what comes then is counted only.
pub(crate) fn gather(program: &Program, focus: &[Ref], detail: Detail, most_bytes: usize) -> Gathered {
    let mut work = Gathering {
        program,
        candidates: Vec::new(),
        seen: HashSet::new(),
        focus: Vec::new(),
        holes: Vec::new(),
    };
    focus.iter().for_each(|of| work.enter(*of));
    work.types();
    work.storage();
    let nearest = work.callees();
    work.callers();
    work.distant(nearest);
    work.candidates.sort_by_key(|candidate| candidate.role);
    work.print(detail, most_bytes)
}

impl Gathering<'_> {
    fn add(&mut self, role: Role, of: Ref, heading: String) {
        self.candidates.push(Candidate { role, of, heading });
    }

    fn labelled(&self, of: Ref) -> String {
        format!("{} {of}", self.program.path(of))
    }

    /// Takes in what was asked for: a part of a function stands for the whole of it, beside what it is itself.
    fn enter(&mut self, of: Ref) {
        match self.program.place(of) {
            Some(Place::Node(function, node)) => {
                if self.seen.insert(of) {
                    self.holes.push(node);
                }
                self.whole(function.into());
            }
            Some(
                Place::Region(function, _) | Place::Variable(function, _) | Place::Contract(function, _),
            ) => self.whole(function.into()),
            Some(Place::Function(_) | Place::Type(_) | Place::Storage(_)) => self.whole(of),
            Some(Place::Member(owner, _)) => self.whole(owner.into()),
            Some(Place::Module(module)) => self.module(module),
            None => {}
        }
    }

    fn module(&mut self, module: ModuleRef) {
        if !self.seen.insert(module.into()) {
            return;
        }
        self.add(Role::Focus, module.into(), String::new());
        let members: Vec<Ref> = self.program.members(Some(module)).map(|(_, of)| of).collect();
        for kind in [RefKind::Type, RefKind::Variable, RefKind::Function] {
            members.iter().filter(|of| of.kind == kind).for_each(|of| self.whole(*of));
        }
    }

    fn whole(&mut self, of: Ref) {
        if !self.seen.insert(of) {
            return;
        }
        self.focus.push(of);
        let function = FuncRef::try_from(of).ok().and_then(|of| self.program.function(of));
        if let Some(function) = function {
            let known: HashSet<NodeRef> = self.holes.iter().copied().collect();
            let more = hole::holes_of(function).filter(|node| !known.contains(node)).take(hole::HOLES);
            self.holes.extend(more);
        }
        let heading = format!("; focus {}\n", self.labelled(of));
        self.add(Role::Focus, of, heading);
    }

    /// The types that the focus mentions, and those that they consist of.
    fn types(&mut self) {
        let mut open = self.focus.clone();
        let mut at = 0;
        while let Some(of) = open.get(at).copied().filter(|_| self.candidates.len() < 2 * SECTIONS) {
            at += 1;
            let used: Vec<Ref> =
                self.program.uses_of(of).filter(|other| other.kind == RefKind::Type).collect();
            for other in used {
                if self.seen.insert(other) {
                    let heading = format!("; type of {}\n", self.labelled(of));
                    self.add(Role::Type, other, heading);
                    open.push(other);
                }
            }
        }
    }

    fn storage(&mut self) {
        for of in self.focus.clone() {
            let used: Vec<Ref> =
                self.program.uses_of(of).filter(|other| other.kind == RefKind::Variable).collect();
            for other in used.into_iter().filter(|other| self.program.place(*other).is_some()) {
                if self.seen.insert(other) {
                    let heading = format!("; storage of {}\n", self.labelled(of));
                    self.add(Role::Storage, other, heading);
                }
            }
        }
    }

    /// The functions that the focus calls, refers to or makes closures of.
    fn callees(&mut self) -> Vec<Ref> {
        let mut found = Vec::new();
        for of in self.focus.clone() {
            let used: Vec<Ref> =
                self.program.uses_of(of).filter(|other| other.kind == RefKind::Function).collect();
            for other in used {
                if self.seen.insert(other) {
                    let used = if of.kind == RefKind::Type { "states invariants of" } else { "called by" };
                    let heading = format!("; {used} {}\n", self.labelled(of));
                    self.add(Role::Callee, other, heading);
                    found.push(other);
                }
            }
        }
        found
    }

    fn callers(&mut self) {
        let mut callers: BTreeMap<Ref, Vec<Ref>> = BTreeMap::new();
        for of in &self.focus {
            for (user, _) in self.program.users_of(*of).filter(|(user, _)| user.kind == RefKind::Function) {
                if !self.focus.contains(&user) {
                    callers.entry(user).or_default().push(*of);
                }
            }
        }
        for (caller, used) in callers {
            let of: Vec<String> = used.iter().take(4).map(|of| self.program.path(*of)).collect();
            let heading = format!("; {} uses {}\n", self.labelled(caller), of.join(", "));
            self.add(Role::Caller, caller, heading);
        }
    }

    fn distant(&mut self, mut nearest: Vec<Ref>) {
        for distance in 2..=DISTANCE {
            let mut next = Vec::new();
            for of in nearest {
                let used: Vec<Ref> =
                    self.program.uses_of(of).filter(|other| other.kind == RefKind::Function).collect();
                for other in used {
                    if self.candidates.len() < 2 * SECTIONS && self.seen.insert(other) {
                        let heading = format!("; {distance} calls away, called by {}\n", self.labelled(of));
                        self.add(Role::Distant, other, heading);
                        next.push(other);
                    }
                }
            }
            nearest = next;
        }
    }

    fn print(self, detail: Detail, most_bytes: usize) -> Gathered {
        let mut gathered = Gathered::default();
        let mut bytes = 0;
        let mut callers = 0;
        let holes = self
            .holes
            .iter()
            .filter_map(|node| hole::section(self.program, self.program.function_of((*node).into())?, *node));
        gathered.sections.extend(holes.take(SECTIONS / 4));
        for candidate in &self.candidates {
            callers += usize::from(candidate.role == Role::Caller);
            let beyond = bytes > most_bytes
                || gathered.sections.len() >= SECTIONS
                || (candidate.role == Role::Caller && callers > CALLERS);
            if beyond {
                let (count, named) = gathered.beyond.entry(candidate.role).or_default();
                *count += 1;
                if named.len() < NAMED {
                    named.push(candidate.of);
                }
                continue;
            }
            let section = self.section(candidate, detail);
            bytes += section.text.len();
            gathered.sections.push(section);
        }
        gathered
    }

    fn section(&self, candidate: &Candidate, detail: Detail) -> Section {
        let Candidate { role, of, heading } = candidate;
        let (role, heading) = (*role, heading.clone());
        match (role, self.program.place(*of)) {
            (Role::Caller, Some(Place::Function(caller))) => {
                Section::lines(role, *of, heading, self.call_lines(caller))
            }
            (_, Some(Place::Function(of))) => Section::function(self.program, role, of, detail, heading),
            (_, Some(Place::Type(of))) => Section::type_def(self.program, role, of, heading),
            (_, Some(Place::Storage(of))) => Section::storage(self.program, role, of, heading),
            (_, Some(Place::Module(module))) => {
                Section::lines(role, *of, String::new(), self.module_lines(module))
            }
            (
                _,
                Some(
                    Place::Member(..)
                    | Place::Region(..)
                    | Place::Variable(..)
                    | Place::Contract(..)
                    | Place::Node(..),
                )
                | None,
            ) => Section::lines(role, *of, heading, String::new()),
        }
    }

    fn module_lines(&self, of: ModuleRef) -> String {
        let doc = self.program.module(of).and_then(|module| module.doc.clone());
        let docs =
            doc.iter().flat_map(|doc| doc.split('\n')).map(|line| format!("; {line}").trim_end().to_owned());
        let lines = docs.chain([format!("module {} #{of}", self.program.path(of.into()))]);
        lines.map(|line| line + "\n").collect()
    }

    /// The nodes of a function that mention the focus.
    fn call_lines(&self, caller: FuncRef) -> String {
        let Some(found) = self.program.function(caller) else { return String::new() };
        let body = found.body();
        let mut nodes: Vec<NodeRef> = Vec::new();
        for of in &self.focus {
            nodes.extend(body.users_of(of.number).map(|one| one.node).take(CALL_LINES + 1));
        }
        nodes.sort_unstable();
        nodes.dedup();
        let mut out = String::new();
        for node in nodes.iter().take(CALL_LINES) {
            out.push_str(&hole::line_of(self.program, *node));
            out.push('\n');
        }
        if nodes.len() > CALL_LINES {
            out.push_str("; and more\n");
        }
        if nodes.is_empty() {
            // It is in the signature, or in the type of a variable.
            out.push_str(&format!(
                "; {} {}\n",
                found.head().name,
                text::print_signature(self.program, caller)
            ));
        }
        out
    }
}
