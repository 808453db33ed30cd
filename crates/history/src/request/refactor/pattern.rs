//! Structural search and replace: code of a shape, and what comes instead.
//!
//! A pattern is lines of the text form, in which `$x` stands for any value and `_` for anything; its last line is what is
//! replaced, the others, and operators in parentheses, are operands of it. Both texts are read into a function of their
//! own, in a copy of the program, where each `$x` is a node: so a pattern is a graph, and it fits where a node has the
//! same operator and its inputs fit, one after the other.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use imbl::OrdMap;
use lmlang_ir::ops::signature::outputs;
use lmlang_ir::text::{self, InsertPlace, Written};
use lmlang_ir::{
    Attr, Body, Const, Control, FuncRef, Function, FunctionHead, ModuleRef, NodeContent, NodeRef, Op, Opcode,
    Program, RefAllocator, Region, RegionOwner, RegionRef, RegionRole, Source, Type, counted,
};

use super::graft::Seams;
use super::inputs::ReplacePattern;
use crate::request::error::{Done, EditError, code};
use crate::request::session::{Session, shortened};
use crate::request::sources::Scope;

/// A text as a graph: nodes of a function that nobody else knows.
struct Shape {
    function: Arc<Function>,
    /// In order; the last one is what a pattern is about.
    nodes: Vec<NodeRef>,
    /// What a replacement yields.
    yields: Vec<Option<Source>>,
    /// The nodes that stand for any value.
    wild: BTreeMap<NodeRef, String>,
}

/// How a pattern fits a place.
#[derive(Default)]
struct Fit {
    /// What each `$x` stands for there; constants are compared by what they are.
    values: HashMap<NodeRef, Source>,
    /// The nodes there, with those of the pattern.
    nodes: HashMap<NodeRef, NodeRef>,
}

fn bad(field: &str, message: String) -> EditError {
    EditError::new(code::BAD_PATTERN, &[field], message)
}

impl Session<'_> {
    /// Puts other code in place of all code of a shape.
    pub(in crate::request) fn replace_pattern(&mut self, edit: &ReplacePattern) -> Done<()> {
        let functions = self.looked_through(edit)?;
        let Some(module) = functions.first().and_then(|of| Some(self.program.function(*of)?.head().module))
        else {
            return Err(no_match(edit).into());
        };
        let (pattern, replacement) = self.shapes(edit, module)?;
        let root = checked_root(&pattern)?;
        let op = pattern.function.body().node(root).map(|node| node.op().clone());
        let Some(op) = op else { return Ok(()) };
        let mut places = Vec::new();
        for function in functions {
            let body = self.body(function)?;
            let same = body.nodes().filter(|(_, node)| *node.op() == op).map(|(node, _)| node);
            places.extend(
                same.filter(|node| fit(&pattern, root, body, *node).is_some()).map(|node| (function, node)),
            );
        }
        if places.is_empty() {
            return Err(no_match(edit).into());
        }
        if places.len() > edit.limit {
            let message =
                format!("the pattern fits more places than may change: {} of {}", places.len(), edit.limit);
            let error = EditError::new(code::TOO_MANY_MATCHES, &["limit"], message);
            let named = places.iter().take(20).map(|(_, node)| node.to_string());
            return Err(error.found(places.len().to_string()).candidates(named).into());
        }
        for (function, node) in places {
            // Another place may have had it among its operands.
            let Some(fit) = fit(&pattern, root, self.body(function)?, node) else { continue };
            self.put_instead(function, node, &fit, &pattern, &replacement)?;
        }
        Ok(())
    }

    /// The functions that a caller wants to be looked through, in the order of their refs.
    fn looked_through(&self, edit: &ReplacePattern) -> Done<Vec<FuncRef>> {
        let Some(within) = &edit.within else {
            return Ok(self.program.functions().map(|(of, _)| of).collect());
        };
        let mut found = Vec::new();
        for (index, text) in within.iter().enumerate() {
            let index = index.to_string();
            let field = ["within", &*index];
            let of = self.entity(&field, text)?;
            match (ModuleRef::try_from(of), FuncRef::try_from(of)) {
                (Ok(module), _) => {
                    let functions = self.program.functions();
                    found.extend(functions.filter(|(_, of)| of.head().module == module).map(|(of, _)| of));
                }
                (_, Ok(function)) => found.push(function),
                (Err(_), Err(_)) => {
                    let kinds = [lmlang_ir::RefKind::Module, lmlang_ir::RefKind::Function];
                    return Err(crate::request::session::wrong_kind(&field, of, &kinds).into());
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// Both texts as graphs; names in them are those that a function of the module sees.
    fn shapes(&self, edit: &ReplacePattern, module: ModuleRef) -> Done<(Shape, Shape)> {
        let words = edit.pattern.split_whitespace().collect::<Vec<_>>();
        if words.is_empty() || matches!(words.as_slice(), [only] if only.starts_with(['$', '_'])) {
            let error = bad("pattern", "a pattern begins with an operator".to_owned());
            return Err(error.found(shortened(&edit.pattern)).into());
        }
        let pattern = Draft::new(self, module)?.read(self, "pattern", &edit.pattern, None)?;
        let root = pattern.nodes.last().and_then(|root| pattern.function.body().node(*root));
        let types = root.and_then(|root| outputs(&self.program, &pattern.function, root));
        let types: Vec<Type> = types.into_iter().flatten().collect();
        let replacement =
            Draft::new(self, module)?.read(self, "replacement", &edit.replacement, Some(&types))?;
        let known: BTreeSet<&String> = pattern.wild.values().collect();
        if let Some(unknown) = replacement.wild.values().find(|name| !known.contains(name)) {
            let error = bad("replacement", format!("`${unknown}` is not in the pattern"))
                .found(format!("${unknown}"));
            return Err(error.candidates(known.into_iter().map(|name| format!("${name}"))).into());
        }
        Ok((pattern, replacement))
    }

    fn put_instead(
        &mut self,
        function: FuncRef,
        node: NodeRef,
        fit: &Fit,
        pattern: &Shape,
        replacement: &Shape,
    ) -> Done<()> {
        let body = self.body(function)?;
        let Some(found) = body.node(node) else { return Ok(()) };
        let place = Scope { function, region: found.region(), after: body.previous(node) };
        let by_name: HashMap<&String, Source> =
            pattern.wild.iter().filter_map(|(wild, name)| Some((name, *fit.values.get(wild)?))).collect();
        let sources =
            replacement.wild.iter().map(|(wild, name)| (Source::Node(*wild, 0), by_name.get(name).copied()));
        let seams = Seams { sources: sources.collect(), ..Seams::default() };
        let grafted = self.graft(&replacement.function, &replacement.nodes, place, &seams)?;
        let values: Vec<Option<Source>> =
            replacement.yields.iter().map(|source| grafted.source((*source)?, &seams)).collect();
        if !self.become_last(function, node, &values)? {
            self.replace_outputs(function, node, &values)?;
            self.cut(function, node)?;
        }
        // Operands that only the old code took. They stand before what takes them, so the last goes first.
        let mut rest: Vec<NodeRef> = fit.nodes.values().copied().filter(|other| *other != node).collect();
        rest.sort_unstable();
        loop {
            let body = self.body(function)?;
            let unused =
                |of: &NodeRef| body.node(*of).is_some() && body.users_of(of.number()).next().is_none();
            let Some(at) = rest.iter().position(unused) else { return Ok(()) };
            let gone = rest.swap_remove(at);
            self.cut(function, gone)?;
        }
    }

    /// Lets a node become the copy that makes its only value, which goes: what is known of the node stays true of it. Says
    /// whether it could.
    fn become_last(&mut self, function: FuncRef, node: NodeRef, values: &[Option<Source>]) -> Done<bool> {
        let [Some(Source::Node(copy, 0))] = values else { return Ok(false) };
        let body = self.body(function)?;
        let (Some(old), Some(new)) = (body.node(node), body.node(*copy)) else { return Ok(false) };
        let one = |found: &lmlang_ir::Node| {
            let around = self.program.function(function)?;
            Some(outputs(&self.program, around, found)?.len() == 1 && found.regions().is_empty())
        };
        let own = body.next(*copy) == Some(node) && body.users_of(copy.number()).next().is_none();
        if !own || one(old) != Some(true) || one(new) != Some(true) {
            return Ok(false);
        }
        let (name, doc) = (old.name().cloned(), old.doc().cloned());
        let new = new.content();
        let content = NodeContent { name: name.or(new.name), doc, ..new };
        let mut open = self.open(function)?;
        open.remove_node(*copy)?;
        open.set_node(node, content)?;
        Ok(true)
    }
}

/// A copy of the program with a function to read a text into.
struct Draft {
    program: Program,
    refs: RefAllocator,
    function: FuncRef,
    region: RegionRef,
}

impl Draft {
    fn new(session: &Session<'_>, module: ModuleRef) -> Done<Draft> {
        let mut draft = Session {
            program: session.program.clone(),
            refs: &mut session.refs.clone(),
            names: OrdMap::new(),
            lost: session.lost.clone(),
            fresh: session.fresh,
            edit: session.edit,
            places: Vec::new(),
            promotable: None,
        };
        let function: FuncRef = draft.allocate(FuncRef::new)?;
        let region: RegionRef = draft.allocate_in(function, RegionRef::new)?;
        // No name can be this one.
        let head = FunctionHead::new("", module, Vec::new(), Vec::new());
        draft.program.add_function(function, head)?;
        draft
            .open(function)?
            .add_region(region, Region::new(RegionOwner::Function, RegionRole::Body, Vec::new()))?;
        Ok(Draft { program: draft.program, refs: draft.refs.clone(), function, region })
    }

    /// Reads a text; `yields`: the types that its last line gives on.
    fn read(
        mut self,
        session: &Session<'_>,
        field: &str,
        text: &str,
        yields: Option<&[Type]>,
    ) -> Done<Shape> {
        let mut names = session.names.clone();
        let mut wild = BTreeMap::new();
        for name in dollars(text) {
            if names.contains_key(name) {
                continue;
            }
            let node = self.insert(Op::constant(Const::Unit), self.region)?;
            names.insert(name.to_owned(), node.into());
            wild.insert(node, name.to_owned());
        }
        let region = match yields {
            Some(types) => self.block(types)?,
            None => self.region,
        };
        let (given, shift) = match yields {
            Some(types) => yielding(text, types.len()),
            None => (text.to_owned(), 0),
        };
        let after = self.program.function(self.function).and_then(|of| of.body().last_in(region));
        let at = InsertPlace { function: self.function, region, after };
        text::insert_text(&mut self.program, &mut self.refs, at, Written::with_names(&given, &names))
            .map_err(|mut errors| {
                for error in &mut errors {
                    if error.line == 1 {
                        error.column = error.column.saturating_sub(shift).max(1);
                    }
                }
                session.told(&[field], errors)
            })?;
        let Some(function) = self.program.function(self.function).cloned() else {
            return Err(bad(field, "there is no code".to_owned()).into());
        };
        let body = function.body();
        let mut nodes: Vec<NodeRef> = body.nodes_in(region).filter(|node| !wild.contains_key(node)).collect();
        let mut given = Vec::new();
        if let Some(end) = body.terminator(region) {
            let found = body.node(end);
            if yields.is_none() || found.is_none_or(|end| end.op().code() != Opcode::Yield) {
                let message = "a pattern is about values, not about where control goes".to_owned();
                return Err(bad(field, message).into());
            }
            given = found.map_or_else(Vec::new, |end| end.inputs().iter().collect());
            nodes.retain(|node| *node != end);
        }
        if body.variables().next().is_some() {
            return Err(bad(field, "a pattern has no variables of its own".to_owned()).into());
        }
        if let Some(types) = yields
            && given.len() != types.len()
        {
            let message = format!(
                "it gives {}, and the pattern {}",
                counted(given.len() as u64, "value", "values"),
                types.len()
            );
            return Err(bad(field, message).found(shortened(text)).into());
        }
        Ok(Shape { function, nodes, yields: given, wild })
    }

    fn insert(&mut self, op: Op, region: RegionRef) -> Done<NodeRef> {
        let node = self.refs.allocate_in(self.function).and_then(NodeRef::new);
        let Some(node) = node else {
            return Err(
                EditError::new(code::REFS_EXHAUSTED, &[], "all refs of the program are used up").into()
            );
        };
        let last = self.program.function(self.function).and_then(|of| of.body().last_in(region));
        let content = NodeContent::new(op, []);
        self.program.function_mut(self.function)?.insert_node(node, region, last, content)?;
        Ok(node)
    }

    /// A region that yields values of these types.
    fn block(&mut self, types: &[Type]) -> Done<RegionRef> {
        let control = Attr::Control(Arc::new(Control { label: None, results: types.to_vec() }));
        let region = self.refs.allocate_in(self.function).and_then(RegionRef::new);
        let (Some(op), Some(region)) = (Op::new(Opcode::Block, control), region) else {
            return Err(
                EditError::new(code::REFS_EXHAUSTED, &[], "all refs of the program are used up").into()
            );
        };
        let block = self.insert(op, self.region)?;
        let mut open = self.program.function_mut(self.function)?;
        let Some(mut content) = open.body().node(block).map(|found| found.content()) else {
            return Ok(region);
        };
        content.regions = vec![region];
        open.set_node(block, content)?;
        open.add_region(region, Region::new(RegionOwner::Node(block), RegionRole::Body, Vec::new()))?;
        Ok(region)
    }
}

/// The names behind a `$` in a text, strings and comments aside.
fn dollars(text: &str) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::new();
    for line in text.lines() {
        let (mut quoted, mut escaped) = (false, false);
        for (at, letter) in line.char_indices() {
            match letter {
                _ if escaped => escaped = false,
                '\\' if quoted => escaped = true,
                '"' => quoted = !quoted,
                ';' if !quoted => break,
                '$' if !quoted => {
                    let rest = &line[at + 1..];
                    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
                    let name = &rest[..end];
                    if !name.is_empty() && !found.contains(&name) {
                        found.push(name);
                    }
                }
                _ => {}
            }
        }
    }
    found
}

/// The text with a `yield`, and how far that moved its first line. One operand, or one operator with its operands, is what
/// is yielded; of an operator that gives nothing, nothing is.
fn yielding(text: &str, results: usize) -> (String, u32) {
    let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    if last.split_whitespace().next() == Some("yield") {
        return (text.to_owned(), 0);
    }
    let trimmed = text.trim();
    if results == 0 {
        return (format!("{text}\nyield"), 0);
    }
    let indent = text.chars().take_while(|c| c.is_whitespace()).count() as u32;
    // A sign may stand before digits.
    let operand = !trimmed.contains(char::is_whitespace) || trimmed.starts_with(['(', '"', '[']);
    match operand {
        true => (format!("yield {trimmed}"), 6_u32.saturating_sub(indent)),
        false => (format!("yield ({trimmed})"), 7_u32.saturating_sub(indent)),
    }
}

/// The node that a pattern is about: its last one, of which all others are operands.
fn checked_root(pattern: &Shape) -> Done<NodeRef> {
    let body = pattern.function.body();
    let Some(root) = pattern.nodes.last().copied() else {
        return Err(bad("pattern", "a pattern has an operator at least".to_owned()).into());
    };
    let (mut known, mut pending) = (HashSet::from([root]), vec![root]);
    while let Some(node) = pending.pop() {
        let inputs = body.node(node).into_iter().flat_map(|node| node.inputs().iter().flatten());
        for source in inputs {
            if let Source::Node(of, _) = source
                && known.insert(of)
            {
                pending.push(of);
            }
        }
    }
    for node in &pattern.nodes {
        let Some(found) = body.node(*node) else { continue };
        if !found.regions().is_empty() {
            let message =
                format!("`{}` has regions, which a pattern cannot have", found.op().code().mnemonic());
            return Err(bad("pattern", message).into());
        }
        if !known.contains(node) {
            let called =
                found.name().map_or_else(|| found.op().code().mnemonic().to_owned(), ToString::to_string);
            return Err(bad("pattern", format!("`{called}` is no operand of the last line"))
                .found(called)
                .into());
        }
    }
    Ok(root)
}

/// How a pattern fits a node, if it does.
fn fit(pattern: &Shape, root: NodeRef, body: &Body, node: NodeRef) -> Option<Fit> {
    let shape = pattern.function.body();
    let mut found = Fit::default();
    let mut pending = vec![(root, node)];
    while let Some((like, node)) = pending.pop() {
        match found.nodes.get(&like) {
            Some(same) if *same == node => continue,
            Some(_) => return None,
            None => {}
        }
        let (wanted, given) = (shape.node(like)?, body.node(node)?);
        if wanted.op() != given.op() || wanted.inputs().len() != given.inputs().len() {
            return None;
        }
        found.nodes.insert(like, node);
        for (wanted, given) in wanted.inputs().iter().zip(given.inputs().iter()) {
            match (wanted, given) {
                (None, _) => {}
                (Some(_), None) => return None,
                (Some(Source::Node(wild, _)), Some(given)) if pattern.wild.contains_key(&wild) => {
                    let known = *found.values.entry(wild).or_insert(given);
                    if known != given && !same_constant(body, known, given) {
                        return None;
                    }
                }
                (Some(Source::Node(like, port)), Some(Source::Node(of, given))) if port == given => {
                    pending.push((like, of));
                }
                (Some(_), Some(_)) => return None,
            }
        }
    }
    Some(found)
}

fn same_constant(body: &Body, a: Source, b: Source) -> bool {
    let value = |source: Source| match source {
        Source::Node(node, 0) => match body.node(node)?.op().attr() {
            Attr::Const(value) => Some(value),
            _ => None,
        },
        Source::Node(..) | Source::RegionParam(..) | Source::Param(..) => None,
    };
    matches!((value(a), value(b)), (Some(a), Some(b)) if a == b)
}

fn no_match(edit: &ReplacePattern) -> EditError {
    let message = "the pattern fits nothing there";
    EditError::new(code::NO_MATCH, &["pattern"], message).found(shortened(&edit.pattern))
}
