//! Parsing of operands: values, literals, holes and nested operators.
//!
//! `a, b` · `(a) (b)` · `(add.i64 a, b)` · `sub.i64(n, 1)` · `(a, b)`. A group in parentheses that begins with an
//! operator is that operator with everything up to the closing parenthesis; any other group is a list and stands for its
//! elements. An operator with `(` right after it takes what is in these parentheses. Nesting costs no stack.

use crate::text::cursor::{Parsed, Parser, Skip};
use crate::text::error::{Mistake, code};
use crate::text::lexer::{Kind, NO_PARTNER};
use crate::text::syntax::{Expr, ExprId, Head, Segment};
use crate::types::Scalar;

/// Something that is open while operands are read.
enum Open {
    /// The list that was asked for.
    Base,
    /// `(` and a list.
    List,
    /// `(` and an operator.
    Group(Head),
    /// An operator and `(`.
    Call(Head),
    /// An operator that ends where the list around it does.
    Rest(Head),
}

struct Frame {
    open: Open,
    operands: Vec<ExprId>,
}

impl Parser<'_> {
    pub(super) fn new_expr(&mut self, expr: Expr) -> ExprId {
        self.tree.exprs.push(expr);
        (self.tree.exprs.len() - 1) as ExprId
    }

    /// The operands of an operator that was just read, up to the end of the line, a brace or an arrow.
    pub(super) fn operands(&mut self) -> Parsed<Vec<ExprId>> {
        self.operand_list(usize::MAX)
    }

    /// One operand.
    pub(super) fn operand(&mut self, expected: &str) -> Parsed<Vec<ExprId>> {
        if !self.operand_ahead() {
            return Err(self.unexpected(expected));
        }
        self.operand_list(1)
    }

    /// Whether something that is an operand begins here.
    pub(super) fn operand_ahead(&self) -> bool {
        !self.line_ends() && self.begins_operand()
    }

    fn begins_operand(&self) -> bool {
        match self.peek().kind {
            Kind::Ident | Kind::Int | Kind::Float | Kind::Str | Kind::Bytes => true,
            Kind::Punct(b'(') => true,
            Kind::Punct(b'#') => self.is_node_tag(),
            Kind::Punct(_) | Kind::Arrow | Kind::PathSep | Kind::Bad | Kind::End => false,
        }
    }

    /// Whether a list goes on here, on the line after a comma: with an operand, not with a statement.
    fn continues(&self) -> bool {
        let statement =
            self.operator_ahead().is_some() || matches!(self.ahead(1).kind, Kind::Punct(b'=' | b'#'));
        self.begins_operand() && !(self.peek().kind == Kind::Ident && statement)
    }

    /// Whether `#n12` stands here, and not the `#g5` of a region.
    fn is_node_tag(&self) -> bool {
        let token = self.ahead(1);
        token.kind == Kind::Ident && !self.word(token).starts_with('g') || self.is_punct(2, b'.')
    }

    fn operand_list(&mut self, limit: usize) -> Parsed<Vec<ExprId>> {
        let outer = self.parens;
        let mut stack = vec![Frame { open: Open::Base, operands: Vec::new() }];
        let read = self.read_operands(&mut stack, limit);
        self.parens = outer;
        read?;
        Ok(stack.pop().map_or_else(Vec::new, |frame| frame.operands))
    }

    fn read_operands(&mut self, stack: &mut Vec<Frame>, limit: usize) -> Parsed<()> {
        // A comma promises an operand.
        let mut promised = false;
        loop {
            let token = self.peek();
            if token.kind == Kind::Punct(b')') && stack.len() > 1 {
                if !self.close(stack) {
                    return Ok(());
                }
            } else if !(self.operand_ahead() || promised && self.continues()) {
                if stack.len() == 1 && !promised {
                    return Ok(());
                }
                if stack.len() == 2 && matches!(stack[1].open, Open::Rest(_)) && !promised {
                    // The end of the line ends the operator that had no parentheses.
                    if !self.close(stack) {
                        return Ok(());
                    }
                    continue;
                }
                return Err(self.unexpected(if promised { "an operand" } else { "`)`" }));
            } else if self.open(stack)? {
                promised = false;
                continue;
            }
            // One operand is complete.
            promised = self.after_operand(stack, limit);
            if !promised && stack.len() == 1 && (stack[0].operands.len() >= limit || !self.group_follows()) {
                return Ok(());
            }
        }
    }

    /// Whether `(` follows, which needs no comma before it.
    fn group_follows(&self) -> bool {
        self.is_punct(0, b'(') && !self.line_ends()
    }

    /// Eats the comma after an operand; whether there was one.
    fn after_operand(&mut self, stack: &[Frame], limit: usize) -> bool {
        let full = stack.len() == 1 && stack[0].operands.len() >= limit;
        !full && !self.line_ends() && self.eat(b',') && !self.is_punct(0, b')')
    }

    /// Reads the begin of a nested list or operator (true) or one simple operand (false).
    fn open(&mut self, stack: &mut Vec<Frame>) -> Parsed<bool> {
        let frame = |open| Frame { open, operands: Vec::new() };
        if self.is_punct(0, b'(') {
            let token = self.peek();
            if token.partner == NO_PARTNER {
                self.note(Mistake::new(code::SYNTAX, token.start, "this `(` is not closed").expected("`)`"));
                return Err(Skip);
            }
            self.at += 1;
            self.parens += 1;
            let open = match self.operator_ahead() {
                Some(_) => self.group_open(stack)?,
                None => Open::List,
            };
            stack.push(frame(open));
            return Ok(true);
        }
        if self.operator_ahead().is_some() {
            let at = self.peek().start;
            let head = self.nested_head()?;
            if self.is_punct(0, b'(') && self.adjacent(0) {
                self.at += 1;
                self.parens += 1;
                stack.push(frame(Open::Call(head)));
                return Ok(true);
            }
            if head.code.spec().inputs.is_empty() {
                let operand = self.new_expr(Expr::Application { head, operands: Vec::new() });
                self.push_operand(stack, operand);
                return Ok(false);
            }
            let first = stack.last().is_some_and(|frame| {
                frame.operands.is_empty() && matches!(frame.open, Open::Call(_) | Open::List)
            });
            if !first {
                let message =
                    format!("the operator `{}` among operands stands in parentheses", head.code.mnemonic());
                self.note(Mistake::new(code::SYNTAX, at, message).expected("`(`"));
            }
            stack.push(frame(Open::Rest(head)));
            return Ok(true);
        }
        let begin = self.at;
        match self.simple_operand() {
            Ok(operand) => {
                self.push_operand(stack, operand);
                Ok(false)
            }
            Err(Skip) => self.read_over(begin, stack).map(|()| true),
        }
    }

    /// Reads the begin of an operator that there is not, and that was told, where that is to be read over: with what is in
    /// parentheses with it, or right behind it.
    fn read_over(&mut self, begin: usize, stack: &mut Vec<Frame>) -> Parsed<()> {
        let head = self.told_head(begin)?;
        if self.is_punct(0, b'(') && self.adjacent(0) {
            self.at += 1;
            self.parens += 1;
            stack.push(Frame { open: Open::Call(head), operands: Vec::new() });
            return Ok(());
        }
        match stack.last_mut() {
            Some(Frame { open, operands }) if matches!(open, Open::List) && operands.is_empty() => {
                *open = Open::Group(head);
                Ok(())
            }
            Some(_) | None => Err(Skip),
        }
    }

    /// The operator after `(`: alone in the group, or the first of a list when `(` is right behind it.
    fn group_open(&mut self, stack: &mut Vec<Frame>) -> Parsed<Open> {
        let head = self.nested_head()?;
        if self.is_punct(0, b'(') && self.adjacent(0) {
            stack.push(Frame { open: Open::List, operands: Vec::new() });
            self.at += 1;
            self.parens += 1;
            return Ok(Open::Call(head));
        }
        Ok(Open::Group(head))
    }

    fn push_operand(&mut self, stack: &mut [Frame], operand: ExprId) {
        if let Some(frame) = stack.last_mut() {
            frame.operands.push(operand);
        }
    }

    /// Ends what is open, at a `)` or the end of the line; false when nothing but the list asked for is left, ended too.
    fn close(&mut self, stack: &mut Vec<Frame>) -> bool {
        let Some(Frame { open, operands }) = stack.pop() else { return false };
        let (head, paren) = match open {
            Open::Base => {
                stack.push(Frame { open, operands });
                return false;
            }
            Open::List => (None, true),
            Open::Group(head) | Open::Call(head) => (Some(head), true),
            Open::Rest(head) => (Some(head), false),
        };
        if paren {
            self.at += 1;
            self.parens = self.parens.saturating_sub(1);
        }
        match head {
            None => {
                if let Some(frame) = stack.last_mut() {
                    frame.operands.extend(operands);
                }
            }
            Some(head) => {
                let operand = self.new_expr(Expr::Application { head, operands });
                self.push_operand(stack, operand);
            }
        }
        true
    }

    fn nested_head(&mut self) -> Parsed<Head> {
        let head = self.head()?;
        let spec = head.code.spec();
        if !spec.regions.is_empty() {
            let message = format!("`{}` owns regions and stands on a line of its own", spec.mnemonic);
            self.note(Mistake::new(code::SYNTAX, head.at, message));
            return Err(Skip);
        }
        Ok(head)
    }

    fn simple_operand(&mut self) -> Parsed<ExprId> {
        let token = self.peek();
        let at = token.start;
        if self.is_word(0, "_") {
            self.advance();
            return Ok(self.new_expr(Expr::Hole));
        }
        if self.literal_ahead() {
            let (value, tag) = self.tagged_literal()?;
            return Ok(self.new_expr(Expr::Literal { value, tag, at }));
        }
        if self.is_punct(0, b'#') {
            let tag = self.tag()?;
            let segment = Segment { name: "".into(), quoted: true, tag, at };
            let port = self.port()?;
            return Ok(self.new_expr(Expr::Value { segment, port, at }));
        }
        if token.kind != Kind::Ident {
            return Err(self.unexpected("an operand"));
        }
        let dotted = self.is_punct(1, b'.') && self.ahead(2).kind == Kind::Ident;
        if dotted || self.is_punct(1, b'<') {
            return Err(self.no_operator());
        }
        let literal_follows = matches!(self.ahead(2).kind, Kind::Int | Kind::Float | Kind::Ident);
        if self.is_punct(1, b':') && literal_follows && self.source(token).parse::<Scalar>().is_ok() {
            let (ty, value) = (self.source(token), self.source(self.ahead(2)));
            let form = format!("(const.{ty} {value})");
            let message = format!("a literal takes its type from its place, or is written `{form}`");
            let mistake = Mistake::new(code::BAD_LITERAL, at, message).expected(form.as_str());
            self.note(mistake.found(format!("{ty}:{value}")).candidates(vec![form]));
            return Err(Skip);
        }
        if self.is_punct(1, b'(') && self.adjacent(1) {
            let name = self.source(token);
            let message = format!("`{name}` is no operator; a function is called with `call {name}(..)`");
            let candidates = vec![format!("call {name}")];
            self.note(Mistake::new(code::UNKNOWN_OP, at, message).found(name).candidates(candidates));
            return Err(Skip);
        }
        let segment = self.segment("an operand")?;
        let port = self.port()?;
        Ok(self.new_expr(Expr::Value { segment, port, at }))
    }

    /// `.1` right after a value.
    fn port(&mut self) -> Parsed<Option<u16>> {
        if !(self.is_punct(0, b'.') && self.adjacent(0) && self.ahead(1).kind == Kind::Int) {
            return Ok(None);
        }
        self.advance();
        let at = self.peek().start;
        let port = self.small_number("a port")?;
        match u16::try_from(port) {
            Ok(port) if usize::from(port) < crate::node::MAX_PORTS => Ok(Some(port)),
            Ok(_) | Err(_) => {
                self.note(Mistake::new(code::BAD_LITERAL, at, format!("there is no port {port}")));
                Err(Skip)
            }
        }
    }
}
