//! What can be told: an entity as text, and its shorter forms.

use lmlang_ir::text::{self, Detail};
use lmlang_ir::{
    Contract, ContractKind, ContractRef, FuncRef, Function, Program, Ref, TypeRef, VarRef, counted,
};

/// Longer lines are cut in summaries.
const LINE: usize = 160;
/// Lines shown at the beginning and at the end of what is summarised.
const SHOWN: usize = 3;
/// Contracts named in a head at most.
const CONTRACTS: usize = 8;

/// Why something belongs to a context. The order is that of usefulness, and of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// An input without a source, with what fits.
    Hole,
    /// What was asked for.
    Focus,
    /// A type that the focus uses.
    Type,
    /// Storage that the focus uses.
    Storage,
    /// A function that the focus calls.
    Callee,
    /// Where the focus is called or used.
    Caller,
    /// A function that callees call.
    Distant,
}

impl Role {
    /// Whether it is what was asked for itself, which is shortened last.
    pub fn is_core(self) -> bool {
        match self {
            Role::Hole | Role::Focus => true,
            Role::Type | Role::Storage | Role::Callee | Role::Caller | Role::Distant => false,
        }
    }
}

/// One entity in one role, with what is told of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Why it is told.
    pub role: Role,
    /// What is told.
    pub of: Ref,
    /// A line of our own above it, with its end.
    pub heading: String,
    /// The whole text, in lines. Neither begins with blanks nor lacks its last end of line.
    pub text: String,
    /// What stays of it when the rest is referenced: docs, signature, contracts. Empty: it has no shorter form.
    pub head: String,
    /// Counts, in words.
    pub counts: String,
    /// The first digits of the hash of what is told, by which a copy is known to be current.
    pub hash: String,
    /// Whether comments stand only behind the first line that is none; otherwise every comment is a doc.
    pub has_comments: bool,
}

impl Section {
    /// A section that is told as a whole or not at all.
    pub(crate) fn lines(role: Role, of: Ref, heading: String, text: String) -> Section {
        let (head, counts, hash) = Default::default();
        Section { role, of, heading, text, head, counts, hash, has_comments: false }
    }

    /// A function.
    pub(crate) fn function(
        program: &Program,
        role: Role,
        of: FuncRef,
        detail: Detail,
        heading: String,
    ) -> Section {
        let Some(function) = program.function(of) else {
            return Section::lines(role, of.into(), heading, String::new());
        };
        let docs = docs(function.head().doc.as_deref());
        let text = match detail {
            Detail::Summary => docs.clone() + &text::print_function(program, of, Detail::Summary),
            Detail::Standard | Detail::Full => text::print_function(program, of, Detail::Full),
        };
        // The runs that follow a function are tests; only a full text has them.
        let text = match detail {
            Detail::Full => text,
            Detail::Standard | Detail::Summary => without_runs(&text),
        };
        let size = function.body().counts();
        let mut counts =
            counted(size.nodes, "node", "nodes") + " in " + &counted(size.regions, "region", "regions");
        if size.holes > 0 {
            counts = counts + ", " + &counted(size.holes, "hole", "holes");
        }
        let head = docs + &function_head(program, of, function);
        let hash = digits(&function.content_hash().to_string());
        Section { role, of: of.into(), heading, text, head, counts, hash, has_comments: true }
    }

    /// A nominal type.
    pub(crate) fn type_def(program: &Program, role: Role, of: TypeRef, heading: String) -> Section {
        let heading = heading + &invariants(program, of);
        let text = text::print_type(program, of, Detail::Full);
        let Some(def) = program.type_def(of) else {
            return Section::lines(role, of.into(), heading, text);
        };
        let (kind, count) = match def.fields().len() {
            0 => ("enum", counted(def.variants().len() as u64, "variant", "variants")),
            fields => ("struct", counted(fields as u64, "field", "fields")),
        };
        let head =
            docs(def.doc.as_deref()) + &format!("type {} = {kind} {{ .. }}\n", program.path(of.into()));
        let hash = digits(&hash_of(&text));
        Section { role, of: of.into(), heading, text, head, counts: count, hash, has_comments: false }
    }

    /// A global, memory, table or segment.
    pub(crate) fn storage(program: &Program, role: Role, of: VarRef, heading: String) -> Section {
        let text = text::print_storage(program, of, Detail::Full);
        let doc = program.storage(of).and_then(|storage| storage.doc.as_deref());
        let declared = text.lines().find(|line| !line.starts_with(';')).unwrap_or_default();
        let head = docs(doc) + &cut(declared) + "\n";
        let hash = digits(&hash_of(&text));
        let counts = counted(text.len() as u64, "byte", "bytes") + " of text";
        Section { role, of: of.into(), heading, text, head, counts, hash, has_comments: false }
    }

    /// The lines of the whole text.
    pub fn line_count(&self) -> usize {
        self.text.lines().count()
    }

    /// The head, counts, and the first and last lines of what follows the head. `None` where that is no shorter form.
    pub fn summary(&self) -> Option<String> {
        if self.head.is_empty() {
            return None;
        }
        let inner: Vec<&str> = self.text.lines().skip_while(|line| line.starts_with(';')).skip(1).collect();
        let hidden = inner.len().checked_sub(2 * SHOWN).filter(|hidden| *hidden > 0)?;
        let mut out = self.head.clone();
        inner[..SHOWN].iter().for_each(|line| out.extend([&cut(line), "\n"]));
        out.push_str(&format!("; .. {hidden} lines left out of {}, hash {}\n", self.counts, self.hash));
        inner[inner.len() - SHOWN..].iter().for_each(|line| out.extend([&cut(line), "\n"]));
        Some(out)
    }

    /// The head and the hash of the rest. `None` where there is no shorter form.
    pub fn reference(&self) -> Option<String> {
        if self.head.is_empty() {
            return None;
        }
        Some(format!("{}; rest: {}, hash {}\n", self.head, self.counts, self.hash))
    }
}

fn docs(doc: Option<&str>) -> String {
    let lines = doc.into_iter().flat_map(|doc| doc.split('\n'));
    lines.map(|line| format!("; {}", cut(line)).trim_end().to_owned() + "\n").collect()
}

/// What holds of each value of a type, and where that is stated.
fn invariants(program: &Program, of: TypeRef) -> String {
    let line = |(stating, _, contract): (FuncRef, ContractRef, &Contract)| {
        let (message, path) = (cut(&format!("{:?}", contract.message)), program.path(stating.into()));
        format!("; invariant {message}, stated in {path} #{stating}\n")
    };
    program.invariants(of).take(CONTRACTS).map(line).collect()
}

fn function_head(program: &Program, of: FuncRef, function: &Function) -> String {
    let head = function.head();
    let bound = match head.effect_bound {
        lmlang_ir::EffectBound::Pure => " pure",
        lmlang_ir::EffectBound::Reads => " reads",
        lmlang_ir::EffectBound::Any => "",
    };
    let signature = cut(&text::print_signature(program, of));
    let mut out = format!("func {} #{of} {signature}{bound}\n", program.path(of.into()));
    for (_, contract) in function.body().contracts().take(CONTRACTS) {
        let word = match contract.kind {
            ContractKind::Require => "require",
            ContractKind::Ensure => "ensure",
            ContractKind::Invariant => "invariant",
        };
        out.push_str(&format!("  {word} {}\n", cut(&format!("{:?}", contract.message))));
    }
    match function.body().contracts().count().saturating_sub(CONTRACTS) {
        0 => {}
        more => out.push_str(&format!("  ; {more} more contracts\n")),
    }
    out
}

fn without_runs(text: &str) -> String {
    let kept = text.lines().filter(|line| !line.starts_with("; run:"));
    kept.flat_map(|line| [line, "\n"]).collect()
}

/// The first digits of a hash: enough to tell copies apart.
fn digits(hash: &str) -> String {
    hash.chars().take(16).collect()
}

fn hash_of(text: &str) -> String {
    let mut hasher = lmlang_ir::hash::Hasher::new(b"section");
    hasher.text(text);
    hasher.finish().to_string()
}

/// A line as far as it is shown.
pub(crate) fn cut(line: &str) -> String {
    match line.char_indices().nth(LINE) {
        None => line.to_owned(),
        Some((at, _)) => format!("{}..", &line[..at]),
    }
}
