//! Reading on in the blocks of other languages, so that what is wrong inside of them is told as well.

use std::sync::Arc;

use crate::ops::Opcode;
use crate::text::cursor::{Parsed, Parser};
use crate::text::foreign::Told;
use crate::text::lexer::{Kind, Token};
use crate::text::statements::{Open, Owner};
use crate::text::syntax::{AttrSyntax, Expr, ExprId, Head, Label, RegionId, RoleSyntax, Stmt};
use crate::text::unknown::Unknown;

impl Parser<'_> {
    /// Goes on after a line that could not be read: behind it, or in the block that it begins. If all that is wrong is an
    /// operator that there is not, what it is given is read.
    pub(in crate::text) fn go_on(&mut self, open: Open, from: usize, stack: &mut Vec<Open>) {
        let unknown = self.unknown.take();
        let Open::Region(region, _) = open else {
            self.foreign_case(from);
            return self.skip_line(from);
        };
        if let Some(of) = &unknown
            && self.is_given_operands(of)
            && self.unknown_operator(region, of)
        {
            return;
        }
        let label = self.label_around(stack);
        match self.foreign_line(from, label.as_deref()) {
            Some(Told { brace: Some(brace), loops: true }) => self.foreign_loop(region, from, brace, stack),
            told => {
                if let Some(brace) = self.loop_ahead(from) {
                    return self.read_on(from, brace, stack);
                }
                if told.is_some() || !unknown.is_some_and(|of| self.unknown_operator(region, &of)) {
                    self.skip_line(from);
                }
            }
        }
    }

    /// Whether a word with a dot is no field of a value, but an operator: something that it is given follows.
    fn is_given_operands(&self, of: &Unknown) -> bool {
        let [name, dot, member, next] = [0, 1, 2, 3].map(|count| self.tokens.get(of.place + count));
        let kind = |token: Option<&Token>| token.map(|token| token.kind);
        let is_dotted = kind(dot) == Some(Kind::Punct(b'.')) && kind(member) == Some(Kind::Ident);
        let follows = member.zip(next).is_some_and(|(member, next)| {
            let begins = matches!(next.kind, Kind::Ident | Kind::Int | Kind::Float | Kind::Str | Kind::Bytes);
            !next.line_start && next.start > member.end && (begins || next.kind == Kind::Punct(b'('))
        });
        is_dotted && follows && name.is_some_and(|name| self.known(self.source(*name)).is_none())
    }

    /// The label of the loop around that is nearest.
    fn label_around(&self, stack: &[Open]) -> Option<Arc<str>> {
        stack.iter().rev().find_map(|open| {
            let Open::Region(_, Owner::Stmt(stmt)) = open else { return None };
            let head = &self.tree.stmts[*stmt as usize].head;
            match &head.attr {
                AttrSyntax::Control(label, _) if head.code == Opcode::Loop => label.clone(),
                _ => None,
            }
        })
    }

    /// Reads on in what another language repeats, after the brace that begins it.
    fn foreign_loop(&mut self, region: RegionId, from: usize, brace: usize, stack: &mut Vec<Open>) {
        let at = self.enter(from, brace);
        let inner = self.new_region(RoleSyntax::Body, None, Some(Vec::new()));
        let head = Head { code: Opcode::Loop, attr: AttrSyntax::Control(None, Vec::new()), tag: None, at };
        let label = Label { name: None, tag: None, at };
        let stmt = Stmt { doc: None, label, head, operands: Vec::new(), regions: vec![inner] };
        let stmt = self.new_stmt(region, stmt);
        stack.push(Open::Region(inner, Owner::Stmt(stmt)));
    }

    /// The brace of a loop or block that begins in a line.
    fn loop_ahead(&self, from: usize) -> Option<usize> {
        let brace = self.line_of(from)?.brace?;
        let begins = |at: &usize| *at == from || self.tokens[*at - 1].kind == Kind::Punct(b'=');
        let is_loop = |at: &usize| ["loop", "block"].contains(&self.source(self.tokens[*at]));
        (from..brace).filter(begins).any(|at| is_loop(&at)).then_some(brace)
    }

    /// Reads on in a block whose first line could not be read; what its names mean is not looked at.
    fn read_on(&mut self, from: usize, brace: usize, stack: &mut Vec<Open>) {
        self.enter(from, brace);
        let region = self.new_region(RoleSyntax::Body, None, None);
        stack.push(Open::Region(region, Owner::Chained));
    }

    /// Goes behind a brace, and gives its place; the words before it are not told to be unknown.
    fn enter(&mut self, from: usize, brace: usize) -> u32 {
        for at in from..brace {
            if self.tokens[at].kind == Kind::Ident {
                let word = self.source(self.tokens[at]);
                self.tree.broken.insert(word.into());
            }
        }
        self.parens = 0;
        self.at = brace;
        self.advance().start
    }

    /// Reads on in an `else if` of another language, and in what follows one.
    pub(in crate::text) fn chained(&mut self, region: RegionId, stack: &mut Vec<Open>) -> Parsed<()> {
        let from = self.at;
        let brace = match self.is_word(1, "if") {
            true => self.foreign_line(from, None).and_then(|told| told.brace),
            false => Some(from + 1).filter(|_| self.is_punct(1, b'{')),
        };
        let Some(brace) = brace else { return Err(self.unexpected("`{`")) };
        self.at = brace + 1;
        stack.push(Open::Region(region, Owner::Chained));
        Ok(())
    }

    /// What an `if` or a `match` looks at; a hole where that is told to be written as in another language.
    pub(in crate::text) fn looked_at(&mut self, what: &str) -> Parsed<Vec<ExprId>> {
        let from = self.at;
        let read = self.operand(what);
        let ends = matches!(self.peek().kind, Kind::Arrow | Kind::Punct(b'{' | b'(' | b'#'));
        if read.is_ok() && ends {
            return read;
        }
        let Some(brace) = self.foreign_line(self.begin, None).and_then(|told| told.brace) else {
            return read;
        };
        self.parens = 0;
        let arrow = (from..brace).find(|at| self.tokens[*at].kind == Kind::Arrow);
        self.at = arrow.unwrap_or(brace);
        Ok(vec![self.new_expr(Expr::Hole)])
    }
}
