//! The refs that a text gives to what it makes: collected before any new one is handed out.

use crate::refs::{MAX_GIVEN, NAME_RULE, Ref, RefKind};
use crate::text::error::{Mistake, code};
use crate::text::lower::{Lowering, Policy};
use crate::text::names::unknown_ref;
use crate::text::resolve::given_ref;
use crate::text::syntax::{BodySyntax, Expr, Item, Tag};

impl Lowering<'_> {
    /// Reserves the refs that the text gives, before any new one is handed out.
    pub(super) fn collect_given(&mut self) {
        let tree = self.tree;
        for (header, items) in &tree.modules {
            if let Some(header) = header {
                // A module may be opened again.
                if let Some(tag) = header.path.last().tag
                    && !self.given.contains_key(&tag.of.number)
                {
                    self.give(Some(tag), RefKind::Module);
                }
            }
            for item in items {
                match item {
                    Item::Type(item) => {
                        self.give(item.label.tag, RefKind::Type);
                        item.members.iter().for_each(|member| self.give(member.label.tag, RefKind::Member));
                    }
                    Item::Storage(item) => self.give(item.label.tag, RefKind::Variable),
                    Item::Function(item) => {
                        self.give(item.label.tag, RefKind::Function);
                        if let Some(body) = &item.body {
                            self.collect_body(body);
                        }
                    }
                }
            }
        }
        for region in &tree.regions {
            self.give(region.tag, RefKind::Region);
        }
        for stmt in &tree.stmts {
            if let (Some(_), Some(second)) = (stmt.label.tag, stmt.head.tag) {
                self.note(Mistake::new(code::DUPLICATE, second.at, "a second ref for one node"));
            }
            let before = self.mistakes.len();
            self.give(stmt.label.tag.or(stmt.head.tag), RefKind::Node);
            // `n5 = ..` may be meant as a name.
            if let Some(Tag { of, at }) = stmt.label.tag
                && at == stmt.label.at
                && let Some(mistake) = self.mistakes.get_mut(before)
            {
                mistake.expected.push(NAME_RULE.to_owned());
                mistake.candidates.push(format!("{of}_"));
            }
        }
        for expr in &tree.exprs {
            match expr {
                Expr::Application { head, .. } => self.give(head.tag, RefKind::Node),
                Expr::Literal { tag, .. } => self.give(*tag, RefKind::Node),
                Expr::Hole | Expr::Value { .. } => {}
            }
        }
        self.reserve_gone();
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

    pub(super) fn collect_body(&mut self, body: &BodySyntax) {
        body.vars.iter().for_each(|var| self.give(var.label.tag, RefKind::Variable));
        body.contracts.iter().for_each(|contract| self.give(contract.tag, RefKind::Contract));
    }

    fn give(&mut self, tag: Option<Tag>, kind: RefKind) {
        let Some(Tag { of, at }) = tag else { return };
        if of.kind != kind {
            let message = format!("`{of}` has the wrong letter: expected `{}`", kind.letter());
            return self.note(Mistake::new(code::WRONG_KIND, at, message).found(of.to_string()));
        }
        match &self.policy {
            Policy::Honour if of.number >= MAX_GIVEN => {
                return self.note(Mistake::new(code::REF_TOO_LARGE, at, format!("`{of}` is not below 2^40")));
            }
            Policy::Honour => {
                if let Some(found) = self.program.ref_of(of.number) {
                    let message = format!("`{of}` is taken by `{found}` of the program");
                    return self.note(Mistake::new(code::DUPLICATE_REF, at, message).found(of.to_string()));
                }
                self.refs.reserve(of.number);
            }
            Policy::Match(known) => {
                if known.get(&of.number) != Some(&of.kind) {
                    return self.note(unknown_ref(of, at));
                }
            }
            Policy::Refuse => return self.note(unknown_ref(of, at)),
        }
        if self.given.insert(of.number, kind).is_some() {
            self.doubled.insert(of.number);
            let message = format!("`{of}` is given twice");
            self.note(Mistake::new(code::DUPLICATE_REF, at, message).found(of.to_string()));
        }
    }

    /// Whether the text gives a ref that is not taken yet.
    pub(super) fn is_free(&self, of: Ref) -> bool {
        self.given.get(&of.number) == Some(&of.kind)
            && !(self.doubled.contains(&of.number) && self.program.ref_of(of.number).is_some())
    }
}
