//! Operators that there are not: what they are given is looked up all the same, so that one reading tells of it, too.
//!
//! What such an operator takes nobody knows. A name of something that is no value is passed over, and so is a first word
//! where an operator that was likely meant names something there: a label, a function, a type.

use crate::ops::Opcode;
use crate::refs::RefKind;
use crate::text::cursor::{Parsed, Parser, Skip};
use crate::text::error::code;
use crate::text::lexer::Kind;
use crate::text::likely;
use crate::text::lower_body::{At, Body};
use crate::text::resolve::given_ref;
use crate::text::syntax::{AttrSyntax, Expr, ExprId, Head, Label, RegionId, Segment, Stmt};

/// A statement with an operator that there is not, as far as it was read.
#[derive(Debug)]
pub(super) struct Unknown {
    pub(super) label: Label,
    /// The token that the operator begins with.
    pub(super) begin: usize,
}

impl Parser<'_> {
    /// Reads such a statement to its end; false where it is not written as ours are, and nothing is left behind then.
    pub(super) fn unknown_operator(&mut self, region: RegionId, of: &Unknown) -> bool {
        let at = self.tokens[of.begin].start;
        let told = self.mistakes.last();
        if !told.is_some_and(|last| last.code == code::UNKNOWN_OP && last.at == at) {
            return false;
        }
        let (back, mistakes, exprs) = (self.at, self.mistakes.len(), self.tree.exprs.len());
        (self.at, self.parens) = (of.begin, 0);
        match self.unknown_head_and_operands(at) {
            Ok((head, operands)) => {
                let label = of.label.clone();
                let stmt = Stmt { doc: None, label, head, operands, regions: Vec::new() };
                self.new_stmt(region, stmt);
                true
            }
            Err(Skip) => {
                (self.at, self.parens) = (back, 0);
                self.mistakes.truncate(mistakes);
                self.tree.exprs.truncate(exprs);
                false
            }
        }
    }

    fn unknown_head_and_operands(&mut self, at: u32) -> Parsed<(Head, Vec<ExprId>)> {
        let mut last = self.advance();
        while self.is_punct(0, b'.') && self.adjacent(0) && self.ahead(1).kind == Kind::Ident {
            self.at += 1;
            last = self.advance();
        }
        let given = &self.text[at as usize..last.end as usize];
        let likely = likely::operators(given);
        let is_dotted = given.contains('.');
        if self.is_punct(0, b'<') {
            self.at += 1;
            self.type_syntax()?;
            self.expect(b'>')?;
        }
        let is_called = self.is_punct(0, b'(') && self.adjacent(0);
        // Any other word begins a line of prose, or of another language.
        if !is_dotted && !is_called && likely.is_empty() {
            return Err(Skip);
        }
        let tag = self.adjacent_tag()?;
        let mut operands = self.operands()?;
        while is_dotted && self.operand_ahead() {
            operands.extend(self.operands()?);
        }
        if !self.line_ends() && !self.is_punct(0, b'}') {
            return Err(Skip);
        }
        let names = likely.iter().any(|form| likely::names_something(form));
        // The opcode stands for none: what is unknown is never resolved.
        Ok((Head { code: Opcode::Unreachable, attr: AttrSyntax::Unknown { names }, tag, at }, operands))
    }
}

impl<'t> Body<'_, 't> {
    /// Looks up what an unknown operator is given; `names` tells whether its first operand may name something.
    pub(super) fn unknown_operands(&mut self, names: bool, operands: &'t [ExprId], at: &mut At) {
        let tree = self.lowering.tree;
        for (index, id) in operands.iter().enumerate() {
            let passed_over = match &tree.exprs[*id as usize] {
                Expr::Hole | Expr::Literal { .. } => true,
                Expr::Value { segment, .. } => self.is_no_value(segment, names && index == 0),
                Expr::Application { .. } => false,
            };
            if !passed_over {
                self.inputs(None, std::slice::from_ref(id), at);
            }
        }
    }

    /// Whether something that is no value is meant, or may be.
    fn is_no_value(&self, segment: &Segment, may_be: bool) -> bool {
        if let Some((of, _)) = given_ref(segment) {
            return !matches!(of.kind, RefKind::Node | RefKind::Region | RefKind::Function);
        }
        let name = &*segment.name;
        self.scope.lookup(name).is_none()
            && (may_be
                || self.scope.label(name).is_some()
                || !self.scope.variables(name).is_empty()
                || !self.program().resolve(name).is_empty())
    }
}
