//! Operators that there are not: what they are given is looked up all the same, so that one reading tells of it, too.
//!
//! What such an operator takes nobody knows. A name of something that is no value is passed over, and so is a first word
//! where an operator that was likely meant names something there: a label, a function, a type.

use crate::ops::Opcode;
use crate::refs::RefKind;
use crate::text::cursor::{Parsed, Parser, Skip};
use crate::text::error::code;
use crate::text::heads::names_something;
use crate::text::lexer::Kind;
use crate::text::likely;
use crate::text::lower_body::{At, Body};
use crate::text::resolve::given_ref;
use crate::text::syntax::{AttrSyntax, Expr, ExprId, Head, Label, RegionId, Segment, Stmt};

/// A statement with an operator that there is not, as far as it was read.
#[derive(Debug)]
pub(super) struct Unknown {
    pub(super) label: Label,
    /// The token that its operator begins with.
    pub(super) begin: usize,
    /// The token that it could not be read behind: the same, or one among its operands.
    pub(super) place: usize,
    /// How many mistakes were noted before it.
    pub(super) before: usize,
}

impl Parser<'_> {
    /// Reads such a statement to its end; false where it is not written as ours are, and nothing is left behind then.
    pub(super) fn unknown_operator(&mut self, region: RegionId, of: &Unknown) -> bool {
        if !self.is_told(of.place) {
            return false;
        }
        let is_own = of.place == of.begin;
        let noted = self.mistakes.len();
        // What is wrong among operands is noted again.
        let told = self.mistakes.split_off(if is_own { noted } else { of.before.min(noted) });
        let (back, mistakes, exprs) = (self.at, self.mistakes.len(), self.tree.exprs.len());
        (self.at, self.parens, self.reads_over) = (of.begin, 0, true);
        let read = if is_own { self.unknown_head() } else { self.head().map(|head| (head, false)) };
        let read = read.and_then(|(head, is_dotted)| {
            // What it names is no operator.
            self.reads_over = !matches!(head.attr, AttrSyntax::Unknown { names: true });
            Ok((head, self.all_operands(is_dotted)?))
        });
        self.reads_over = false;
        match read {
            Ok((head, operands)) => {
                let label = of.label.clone();
                let stmt = Stmt { doc: None, label, head, operands, regions: Vec::new() };
                self.new_stmt(region, stmt);
                true
            }
            Err(Skip) => {
                (self.at, self.parens) = (back, 0);
                self.mistakes.truncate(mistakes);
                self.mistakes.extend(told);
                self.tree.exprs.truncate(exprs);
                false
            }
        }
    }

    /// Whether the last mistake is that there is no such operator as stands at a token.
    fn is_told(&self, token: usize) -> bool {
        let place = self.tokens.get(token).map(|token| token.start);
        self.mistakes.last().is_some_and(|last| last.code == code::UNKNOWN_OP && Some(last.at) == place)
    }

    /// Reads an operator that there is not, and that was told, if such are read over now.
    pub(super) fn told_head(&mut self, begin: usize) -> Parsed<Head> {
        if !self.reads_over || !self.is_told(begin) {
            return Err(Skip);
        }
        self.at = begin;
        self.unknown_head().map(|(head, _)| head)
    }

    /// Reads an operator that there is not, and whether it has a dot.
    fn unknown_head(&mut self) -> Parsed<(Head, bool)> {
        let at = self.peek().start;
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
        let names = likely.iter().any(|form| names_something(form));
        // The opcode stands for none: what is unknown is never resolved.
        Ok((Head { code: Opcode::Unreachable, attr: AttrSyntax::Unknown { names }, tag, at }, is_dotted))
    }

    /// The operands up to the end of the line; where commas may be missing, of all lists there.
    fn all_operands(&mut self, lists: bool) -> Parsed<Vec<ExprId>> {
        let mut operands = self.operands()?;
        while lists && self.operand_ahead() {
            operands.extend(self.operands()?);
        }
        match self.line_ends() || self.is_punct(0, b'}') {
            true => Ok(operands),
            false => Err(Skip),
        }
    }
}

impl<'t> Body<'_, 't> {
    /// Looks up what an unknown operator is given; `names` tells whether its first operand may name something.
    pub(super) fn unknown_operands(&mut self, names: bool, operands: &'t [ExprId], at: &mut At) {
        let tree = self.lowering.tree;
        for (index, id) in operands.iter().enumerate() {
            if !self.says_nothing(&tree.exprs[*id as usize], names && index == 0) {
                self.inputs(None, std::slice::from_ref(id), at);
            }
        }
    }

    /// Whether an operand of an unknown operator is not looked at; `may_name` tells whether it may name something.
    pub(super) fn says_nothing(&self, operand: &Expr, may_name: bool) -> bool {
        match operand {
            Expr::Hole | Expr::Literal { .. } => true,
            Expr::Value { segment, .. } => self.is_no_value(segment, may_name),
            Expr::Application { .. } => false,
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
