//! Finding entities by words: of their names, their paths, their docs, and what they are made of.
//!
//! Ranked by BM25F (Robertson and Zaragoza, 2009) over four fields of each entity. A word of the question counts where it
//! occurs, or begins a word; one that occurs nowhere counts for words that are written nearly so, with less weight. Nothing
//! is found where no word occurs: there is no likeness of meaning here. Nodes are looked at only when they are asked for.

use std::collections::{BTreeMap, HashMap, HashSet};

use lmlang_ir::{FuncRef, Function, ModuleRef, Place, Program, Ref, RefKind, StorageKind, text};

use crate::words::{is_near, words};

/// Words of a question at most.
pub const MOST_WORDS: usize = 32;

/// How much of a question a word that only begins alike is.
const PREFIX: f64 = 0.6;
/// How much of a question a word with slips is.
const NEAR: f64 = 0.3;
/// How much a word counts in names, paths, docs, and structure.
const WEIGHTS: [f64; 4] = [6.0, 2.0, 2.0, 1.0];
/// How much the length of a field matters, as in BM25.
const LENGTH: f64 = 0.5;
/// How soon more of the same word stops to matter, as in BM25.
const SATURATION: f64 = 1.2;

/// Something that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// What.
    pub of: Ref,
    /// How well it fits: greater is better; to be compared within one answer only.
    pub score: f64,
}

/// What is searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kinds(HashSet<RefKind>);

impl Kinds {
    /// Those that are asked for.
    pub fn new(kinds: impl IntoIterator<Item = RefKind>) -> Kinds {
        let mut kinds: HashSet<RefKind> = kinds.into_iter().collect();
        if kinds.contains(&RefKind::Type) {
            kinds.insert(RefKind::Member);
        }
        Kinds(kinds)
    }
}

/// Everything but nodes and regions.
impl Default for Kinds {
    fn default() -> Kinds {
        Kinds::new([RefKind::Module, RefKind::Type, RefKind::Function, RefKind::Variable, RefKind::Contract])
    }
}

/// One entity with its words: name, path, docs, structure.
struct Entry {
    of: Ref,
    fields: [Vec<String>; 4],
}

/// How well one word of a question fits one entry: how often in each field, with its weight as a match.
type Hits = HashMap<usize, [f64; 4]>;

/// Finds the entities in which words of a question occur, the best first.
pub fn find(program: &Program, question: &str, kinds: &Kinds) -> Vec<Found> {
    let mut asked = words(question);
    asked.truncate(MOST_WORDS);
    let mut seen = HashSet::new();
    asked.retain(|word| seen.insert(word.clone()));
    if asked.is_empty() {
        return Vec::new();
    }
    let entries = entries(program, kinds);
    let lengths: [f64; 4] = std::array::from_fn(|field| {
        let total: usize = entries.iter().map(|entry| entry.fields[field].len()).sum();
        (total as f64 / entries.len().max(1) as f64).max(1.0)
    });
    let mut scores: BTreeMap<usize, f64> = BTreeMap::new();
    let exact = |word: &str, asked: &str| match word.strip_prefix(asked) {
        Some("") => 1.0,
        Some(_) if asked.chars().count() >= 3 => PREFIX,
        Some(_) | None => 0.0,
    };
    let near = |word: &str, asked: &str| if is_near(asked, word) { NEAR } else { 0.0 };
    for word in &asked {
        let mut found = hits(&entries, |other| exact(other, word));
        if found.is_empty() {
            found = hits(&entries, |other| near(other, word));
        }
        // As in BM25, never negative.
        let (all, some) = (entries.len() as f64, found.len() as f64);
        let rarity = (1.0 + (all - some + 0.5) / (some + 0.5)).ln();
        for (at, often) in found {
            let weighted: f64 = (0..WEIGHTS.len())
                .map(|field| {
                    let length = entries[at].fields[field].len() as f64 / lengths[field];
                    WEIGHTS[field] * often[field] / (1.0 - LENGTH + LENGTH * length)
                })
                .sum();
            *scores.entry(at).or_default() += rarity * weighted / (SATURATION + weighted);
        }
    }
    let found = scores.into_iter().map(|(at, score)| Found { of: entries[at].of, score });
    let mut found: Vec<Found> = found.collect();
    found.sort_by(|one, other| other.score.total_cmp(&one.score).then(one.of.number.cmp(&other.of.number)));
    found
}

fn hits(entries: &[Entry], fits: impl Fn(&str) -> f64) -> Hits {
    let mut known: HashMap<&str, f64> = HashMap::new();
    let mut found = Hits::new();
    for (at, entry) in entries.iter().enumerate() {
        for (field, all) in entry.fields.iter().enumerate() {
            for word in all {
                let weight = *known.entry(word).or_insert_with(|| fits(word));
                if weight > 0.0 {
                    found.entry(at).or_default()[field] += weight;
                }
            }
        }
    }
    found
}

/// The path of an entity: behind that of its function or type, where it has none of its own.
pub fn path(program: &Program, of: Ref) -> String {
    let name = || program.name(of).map_or_else(|| of.to_string(), |name| name.to_string());
    match program.place(of) {
        Some(Place::Member(owner, _)) => format!("{}.{}", program.path(owner.into()), name()),
        Some(
            Place::Region(function, _)
            | Place::Variable(function, _)
            | Place::Contract(function, _)
            | Place::Node(function, _),
        ) => format!("{}::{}", program.path(function.into()), name()),
        Some(Place::Module(_) | Place::Type(_) | Place::Function(_) | Place::Storage(_)) => program.path(of),
        None => of.to_string(),
    }
}

fn entries(program: &Program, kinds: &Kinds) -> Vec<Entry> {
    let mut found = Vec::new();
    let wants = |kind| kinds.0.contains(&kind);
    let doc = |doc: &Option<std::sync::Arc<str>>| doc.as_deref().map_or(Vec::new(), words);
    // A module's words stand for many entities.
    let mut paths: HashMap<ModuleRef, Vec<String>> = HashMap::new();
    let mut around = |module: ModuleRef| {
        paths.entry(module).or_insert_with(|| words(&program.path(module.into()))).clone()
    };
    if wants(RefKind::Module) {
        for (of, module) in program.modules() {
            let path = module.parent.map_or(Vec::new(), &mut around);
            let fields = [words(&module.name), path, doc(&module.doc), words("module")];
            found.push(Entry { of: of.into(), fields });
        }
    }
    for (of, def) in program.types() {
        let path = around(def.module);
        let mut structure = words(if def.variants().is_empty() { "type struct" } else { "type enum" });
        let fields =
            def.fields().iter().map(|field| (field.member, &field.name, Some(&field.ty), &field.doc));
        let variants = def.variants().iter().map(|of| (of.member, &of.name, of.payload.as_ref(), &of.doc));
        let members: Vec<_> = fields.chain(variants).collect();
        structure.extend(members.iter().flat_map(|(_, name, ..)| words(name)));
        if wants(RefKind::Type) {
            let fields = [words(&def.name), path.clone(), doc(&def.doc), structure];
            found.push(Entry { of: of.into(), fields });
        }
        if wants(RefKind::Member) {
            for (member, name, ty, docs) in members {
                let ty = ty.map(|ty| words(&text::print_type_name(program, Some(def.module), ty)));
                let path = path.iter().cloned().chain(words(&def.name)).collect();
                let fields = [words(name), path, doc(docs), ty.unwrap_or_default()];
                found.push(Entry { of: member.into(), fields });
            }
        }
    }
    for (of, function) in program.functions() {
        let head = function.head();
        let path = around(head.module);
        if wants(RefKind::Function) {
            let fields = [words(&head.name), path.clone(), doc(&head.doc), structure(program, of, function)];
            found.push(Entry { of: of.into(), fields });
        }
        parts(program, function, &path, kinds, &mut found);
    }
    if wants(RefKind::Variable) {
        for (of, storage) in program.all_storage() {
            let kind = match &storage.kind {
                StorageKind::Global { .. } => "global",
                StorageKind::Memory { .. } => "memory",
                StorageKind::Data { .. } => "data",
                StorageKind::Table { .. } => "table",
                StorageKind::Elements { .. } => "elements",
                StorageKind::Custom { .. } => "custom",
            };
            let mut structure = words(kind);
            structure.extend(storage.exports.iter().flat_map(|name| words(name)));
            let fields = [words(&storage.name), around(storage.module), doc(&storage.doc), structure];
            found.push(Entry { of: of.into(), fields });
        }
    }
    found
}

/// What a function is made of, as far as that is known without its body: signature, exports, what it mentions.
fn structure(program: &Program, of: FuncRef, function: &Function) -> Vec<String> {
    let head = function.head();
    let mut found = words("function");
    found.extend(words(&text::print_signature(program, of)));
    found.extend(head.exports.iter().flat_map(|name| words(name)));
    if let Some(import) = &head.import {
        found.extend(words("import").into_iter().chain(words(&import.module)).chain(words(&import.name)));
    }
    for used in program.uses_of(of.into()) {
        found.extend(words(program.path(used).rsplit("::").next().unwrap_or_default()));
    }
    found
}

/// Contracts, variables and nodes of a function, where they are asked for.
fn parts(program: &Program, function: &Function, path: &[String], kinds: &Kinds, found: &mut Vec<Entry>) {
    let (head, body) = (function.head(), function.body());
    let wants = |kind| kinds.0.contains(&kind);
    let doc = |doc: Option<&str>| doc.map_or(Vec::new(), words);
    let within = || -> Vec<String> { path.iter().cloned().chain(words(&head.name)).collect() };
    if wants(RefKind::Contract) {
        for (contract, record) in body.contracts() {
            let fields = [words(&record.message), within(), doc(record.doc.as_deref()), words("contract")];
            found.push(Entry { of: contract.into(), fields });
        }
    }
    if wants(RefKind::Variable) {
        for (variable, record) in body.variables() {
            let name = record.name.as_deref().map_or(Vec::new(), words);
            let ty = words(&text::print_type_name(program, Some(head.module), &record.ty));
            found.push(Entry {
                of: variable.into(),
                fields: [name, within(), doc(record.doc.as_deref()), ty],
            });
        }
    }
    if wants(RefKind::Node) {
        for (node, record) in body.nodes() {
            let name = record.name().map_or(Vec::new(), |name| words(name));
            let mut made_of = words(&text::print_op(record.op()));
            record.op().each_mention(&mut |used| {
                if program.place(used).is_some() {
                    made_of.extend(words(program.path(used).rsplit("::").next().unwrap_or_default()));
                }
            });
            let fields = [name, within(), doc(record.doc().map(|doc| &**doc)), made_of];
            found.push(Entry { of: node.into(), fields });
        }
    }
    if wants(RefKind::Region) {
        for (region, record) in body.regions() {
            let names = record.params.iter().filter_map(|param| param.name.as_deref()).flat_map(words);
            let fields = [names.collect(), within(), Vec::new(), words(&record.role.to_string())];
            found.push(Entry { of: region.into(), fields });
        }
    }
}
