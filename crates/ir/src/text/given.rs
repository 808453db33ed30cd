//! The refs that a text gives to what it makes: collected before any new one is handed out.

use crate::refs::{MAX_GIVEN, NAME_RULE, Ref, RefKind};
use crate::text::error::{Mistake, code};
use crate::text::lower::{Lowering, Policy};
use crate::text::names::unknown_ref;
use crate::text::resolve::given_ref;
use crate::text::syntax::{BodySyntax, Expr, Item, Tag, Tree};

/// How many refs a mistake names that stands for all of them.
const MOST_SHOWN: usize = 5;

/// A ref that a text gives to an entity.
#[derive(Clone, Copy, Debug)]
pub(super) struct Given {
    pub(super) tag: Tag,
    /// What the entity is.
    pub(super) kind: RefKind,
    /// Whether it stands in the place of a name: `n5 = ..`.
    is_bare: bool,
}

/// The refs that a text gives to what it makes, where they stand. Those of a body that is no function's stand in [`given_in`].
pub(super) fn given(tree: &Tree) -> Vec<Given> {
    let mut all = Vec::new();
    let mut give = |tag: Option<Tag>, kind| {
        all.extend(tag.map(|tag| Given { tag, kind, is_bare: false }));
    };
    for (header, items) in &tree.modules {
        if let Some(header) = header {
            give(header.path.last().tag, RefKind::Module);
        }
        for item in items {
            match item {
                Item::Type(item) => {
                    give(item.label.tag, RefKind::Type);
                    item.members.iter().for_each(|member| give(member.label.tag, RefKind::Member));
                }
                Item::Storage(item) => give(item.label.tag, RefKind::Variable),
                Item::Function(item) => {
                    give(item.label.tag, RefKind::Function);
                    for (tag, kind) in item.body.iter().flat_map(given_in) {
                        give(Some(tag), kind);
                    }
                }
            }
        }
    }
    tree.regions.iter().for_each(|region| give(region.tag, RefKind::Region));
    for stmt in &tree.stmts {
        let is_bare = stmt.label.tag.is_some_and(|tag| tag.at == stmt.label.at);
        let tag = stmt.label.tag.or(stmt.head.tag);
        all.extend(tag.map(|tag| Given { tag, kind: RefKind::Node, is_bare }));
    }
    for expr in &tree.exprs {
        let tag = match expr {
            Expr::Application { head, .. } => head.tag,
            Expr::Literal { tag, .. } => *tag,
            Expr::Hole | Expr::Value { .. } => None,
        };
        all.extend(tag.map(|tag| Given { tag, kind: RefKind::Node, is_bare: false }));
    }
    all
}

/// The refs that a body gives to its variables and contracts.
fn given_in(body: &BodySyntax) -> impl Iterator<Item = (Tag, RefKind)> {
    let vars = body.vars.iter().filter_map(|var| Some((var.label.tag?, RefKind::Variable)));
    vars.chain(body.contracts.iter().filter_map(|contract| Some((contract.tag?, RefKind::Contract))))
}

impl Lowering<'_> {
    /// Reserves the refs that the text gives, before any new one is handed out.
    pub(super) fn collect_given(&mut self) {
        let tree = self.tree;
        for stmt in &tree.stmts {
            if let (Some(_), Some(second)) = (stmt.label.tag, stmt.head.tag)
                && !matches!(self.policy, Policy::Refuse)
            {
                self.note(Mistake::new(code::DUPLICATE, second.at, "a second ref for one node"));
            }
        }
        let mut unknown = Vec::new();
        for Given { tag, kind, is_bare } in given(tree) {
            // A module may be opened again.
            if kind == RefKind::Module && self.given.contains_key(&tag.of.number) {
                continue;
            }
            if self.give(tag, kind) {
                continue;
            }
            if is_bare {
                // `n5 = ..` may be meant as a name.
                let mistake = unknown_ref(tag.of, tag.at).expected(NAME_RULE);
                self.note(mistake.candidates(vec![format!("{}_", tag.of)]));
                self.unknown.insert(tag.of.to_string());
            } else {
                unknown.push(tag);
            }
        }
        self.tell_unknown(unknown);
        self.reserve_gone();
    }

    /// Tells once of all refs that the text gives and nothing has, at the first.
    fn tell_unknown(&mut self, mut unknown: Vec<Tag>) {
        unknown.sort_by_key(|tag| tag.at);
        let Some(first) = unknown.first().copied() else { return };
        let mut mistake = unknown_ref(first.of, first.at);
        if self.program.place(first.of).is_some() {
            mistake.message = match (first.of.to_string(), self.program.path(first.of)) {
                (of, path) if of == path => format!("`{of}` is a part of something else"),
                (of, path) => format!("`{of}` is something else: `{path}`"),
            };
        }
        if unknown.len() > 1 {
            let shown: Vec<String> =
                unknown.iter().take(MOST_SHOWN).map(|tag| format!("`{}`", tag.of)).collect();
            let more = match unknown.len().saturating_sub(MOST_SHOWN) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let count = unknown.len();
            mistake.message = format!(
                "{count} refs are given to what is new: {}{more}; leave them out, the program hands them out",
                shown.join(", ")
            );
        }
        self.note(mistake.expected("no ref where something is new"));
        self.unknown.extend(unknown.iter().map(|tag| tag.of.to_string()));
    }

    /// Sees to it that no new entity gets the ref of a member that operators name and no type has.
    fn reserve_gone(&mut self) {
        let Policy::Honour = self.policy else { return };
        let tree = self.tree;
        let nested = tree.exprs.iter().filter_map(|expr| match expr {
            Expr::Application { head, .. } => Some(head),
            Expr::Hole | Expr::Value { .. } | Expr::Literal { .. } => None,
        });
        for head in tree.stmts.iter().map(|stmt| &stmt.head).chain(nested) {
            for segment in head.members() {
                let of = given_ref(segment).map(|(of, _)| of).filter(|of| of.kind == RefKind::Member);
                if let Some(of) = of.filter(|of| of.number < MAX_GIVEN) {
                    self.refs.reserve(of.number);
                }
            }
        }
    }

    /// Below this a ref that nothing has can be that of something that was removed.
    pub(super) fn retired_below(&self) -> u64 {
        match self.policy {
            Policy::Honour => MAX_GIVEN,
            Policy::Match(_) | Policy::Refuse => self.fresh,
        }
    }

    /// Reserves those of a body that is no function's.
    pub(super) fn collect_body(&mut self, body: &BodySyntax) {
        let unknown =
            given_in(body).filter(|(tag, kind)| !self.give(*tag, *kind)).map(|(tag, _)| tag).collect();
        self.tell_unknown(unknown);
    }

    /// Takes down a ref that the text gives; false where it has to be that of something and is not.
    fn give(&mut self, Tag { of, at }: Tag, kind: RefKind) -> bool {
        if of.kind != kind {
            let message = format!("`{of}` has the wrong letter: expected `{}`", kind.letter());
            self.note(Mistake::new(code::WRONG_KIND, at, message).found(of.to_string()));
            return true;
        }
        match &self.policy {
            Policy::Honour if of.number >= MAX_GIVEN => {
                self.note(Mistake::new(code::REF_TOO_LARGE, at, format!("`{of}` is not below 2^40")));
                return true;
            }
            Policy::Honour => {
                if let Some(found) = self.program.ref_of(of.number) {
                    let message = format!("`{of}` is taken by `{found}` of the program");
                    self.note(Mistake::new(code::DUPLICATE_REF, at, message).found(of.to_string()));
                    return true;
                }
                self.refs.reserve(of.number);
            }
            Policy::Match(known) => {
                if known.get(&of.number) != Some(&of.kind) {
                    return false;
                }
            }
            Policy::Refuse => return false,
        }
        if self.given.insert(of.number, kind).is_some() {
            self.doubled.insert(of.number);
            let message = format!("`{of}` is given twice");
            self.note(Mistake::new(code::DUPLICATE_REF, at, message).found(of.to_string()));
        }
        true
    }

    /// Whether the text gives a ref that is not taken yet.
    pub(super) fn is_free(&self, of: Ref) -> bool {
        self.given.get(&of.number) == Some(&of.kind)
            && !(self.doubled.contains(&of.number) && self.program.ref_of(of.number).is_some())
    }
}
