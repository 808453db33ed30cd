//! Expressions, by precedence.

use super::super::ast::{Comparison, Expr, Kind, Match, Operator, TextTest};
use super::super::error::{Fault, Problem};
use super::super::functions::{Called, Distinct, named};
use super::super::span::Span;
use super::super::token::Token;
use super::super::value::Value;
use super::{Parser, is_reserved};
use crate::validation::shown;

/// Words that call what is not understood here when `(` follows.
const LIST_PREDICATES: [&str; 6] = ["all", "any", "none", "single", "reduce", "filter"];

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Result<Expr, Fault> {
        self.nested(|this| {
            let first = this.xor()?;
            this.many("OR", first, Self::xor, Kind::Or)
        })
    }

    fn xor(&mut self) -> Result<Expr, Fault> {
        let mut left = self.and()?;
        while self.eat_word("XOR") {
            let right = self.and()?;
            let span = left.span.to(right.span);
            left = self.made(Kind::Xor(left.into(), right.into()), span)?;
        }
        Ok(left)
    }

    fn and(&mut self) -> Result<Expr, Fault> {
        let first = self.not()?;
        self.many("AND", first, Self::not, Kind::And)
    }

    /// Reads further operands of an operator that takes any number of them.
    fn many(
        &mut self,
        word: &'static str,
        first: Expr,
        read: fn(&mut Self) -> Result<Expr, Fault>,
        kind: fn(Vec<Expr>) -> Kind,
    ) -> Result<Expr, Fault> {
        if !self.eat_word(word) {
            return Ok(first);
        }
        let mut operands = vec![first, read(self)?];
        while self.eat_word(word) {
            operands.push(read(self)?);
        }
        let span = operands[0].span.to(self.last_span());
        self.made(kind(operands), span)
    }

    fn not(&mut self) -> Result<Expr, Fault> {
        let start = self.span();
        match self.eat_word("NOT") {
            true => self.nested(|this| {
                let of = this.not()?;
                let span = start.to(of.span);
                this.made(Kind::Not(of.into()), span)
            }),
            false => self.comparison(),
        }
    }

    fn comparison(&mut self) -> Result<Expr, Fault> {
        let mut left = self.predicate()?;
        let mut links = Vec::new();
        while let Some(comparison) = self.eat_comparison()? {
            let right = self.predicate()?;
            let span = left.span.to(right.span);
            links.push(self.made(Kind::Compare(comparison, left.into(), right.clone().into()), span)?);
            left = right;
        }
        match links.len() {
            0 => Ok(left),
            1 => Ok(links.remove(0)),
            // `1 < a < 3` says both.
            _ => {
                let span = links[0].span.to(self.last_span());
                self.made(Kind::And(links), span)
            }
        }
    }

    fn eat_comparison(&mut self) -> Result<Option<Comparison>, Fault> {
        let comparison = match self.peek() {
            Token::Sign("=") => Comparison::Equal,
            Token::Sign("<>") => Comparison::Unequal,
            Token::Sign("<") => Comparison::Less,
            Token::Sign("<=") => Comparison::AtMost,
            Token::Sign(">") => Comparison::Greater,
            Token::Sign(">=") => Comparison::AtLeast,
            Token::Sign("=~") => return self.unsupported("a match of a regular expression"),
            Token::Sign("!=") => {
                self.tried.clear();
                return Err(self.wrong_for("<>"));
            }
            _ => {
                self.note("an operator");
                return Ok(None);
            }
        };
        self.advance();
        Ok(Some(comparison))
    }

    fn predicate(&mut self) -> Result<Expr, Fault> {
        let mut left = self.sum()?;
        loop {
            let make: fn(Box<Expr>, Box<Expr>) -> Kind = if self.eat_word("IN") {
                Kind::In
            } else if self.is_word(0, "STARTS") {
                self.advance();
                self.expect_word("WITH")?;
                |a, b| Kind::TextTest(TextTest::StartsWith, a, b)
            } else if self.is_word(0, "ENDS") {
                self.advance();
                self.expect_word("WITH")?;
                |a, b| Kind::TextTest(TextTest::EndsWith, a, b)
            } else if self.is_word(0, "CONTAINS") {
                self.advance();
                |a, b| Kind::TextTest(TextTest::Contains, a, b)
            } else if self.eat_word("IS") {
                let negated = self.eat_word("NOT");
                self.expect_word("NULL")?;
                let span = left.span.to(self.last_span());
                left = self.made(Kind::IsNull(left.into()), span)?;
                if negated {
                    left = self.made(Kind::Not(left.into()), span)?;
                }
                continue;
            } else {
                for word in ["STARTS", "ENDS", "CONTAINS"] {
                    self.note(word);
                }
                return Ok(left);
            };
            let right = self.sum()?;
            let span = left.span.to(right.span);
            left = self.made(make(left.into(), right.into()), span)?;
        }
    }

    fn sum(&mut self) -> Result<Expr, Fault> {
        self.binary(Self::product, &[("+", Operator::Add), ("-", Operator::Subtract)])
    }

    fn product(&mut self) -> Result<Expr, Fault> {
        let signs = [("*", Operator::Multiply), ("/", Operator::Divide), ("%", Operator::Remainder)];
        self.binary(Self::power, &signs)
    }

    fn power(&mut self) -> Result<Expr, Fault> {
        self.binary(Self::unary, &[("^", Operator::Power)])
    }

    fn binary(
        &mut self,
        operand: fn(&mut Self) -> Result<Expr, Fault>,
        signs: &[(&str, Operator)],
    ) -> Result<Expr, Fault> {
        let mut left = operand(self)?;
        while let Some((_, operator)) = signs.iter().find(|(sign, _)| self.is_sign(0, sign)) {
            self.advance();
            let right = operand(self)?;
            let span = left.span.to(right.span);
            left = self.made(Kind::Arithmetic(*operator, left.into(), right.into()), span)?;
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Expr, Fault> {
        let start = self.span();
        if self.is_sign(0, "-") {
            self.advance();
            return self.nested(|this| {
                let of = this.unary()?;
                let span = start.to(of.span);
                this.made(Kind::Minus(of.into()), span)
            });
        }
        if self.is_sign(0, "+") {
            self.advance();
            return self.nested(Self::unary);
        }
        self.postfix()
    }

    fn postfix(&mut self) -> Result<Expr, Fault> {
        let mut of = self.atom()?;
        loop {
            let start = of.span;
            let kind = if self.is_sign(0, ".") {
                self.advance();
                Kind::Property(of.into(), self.name("a property")?.text)
            } else if self.is_sign(0, ":") && matches!(of.kind, Kind::Variable(..)) {
                let mut labels = Vec::new();
                while self.eat_sign(":") {
                    labels.push(self.label()?.as_str().to_owned());
                }
                Kind::HasLabels(of.into(), labels)
            } else if self.is_sign(0, "[") {
                self.advance();
                self.index(of)?
            } else if self.is_sign(0, "{") && matches!(of.kind, Kind::Variable(..)) {
                return self.unsupported("a projection of a map");
            } else {
                return Ok(of);
            };
            of = self.made(kind, start.to(self.last_span()))?;
        }
    }

    fn index(&mut self, of: Expr) -> Result<Kind, Fault> {
        let from = if self.is_sign(0, "..") { None } else { Some(self.expression()?) };
        if !self.eat_sign("..") {
            self.expect_sign("]")?;
            let at = from.expect("without it there are dots");
            return Ok(Kind::Index(of.into(), at.into()));
        }
        let to = if self.is_sign(0, "]") { None } else { Some(self.expression()?) };
        self.expect_sign("]")?;
        Ok(Kind::Slice(of.into(), from.map(Box::new), to.map(Box::new)))
    }

    fn atom(&mut self) -> Result<Expr, Fault> {
        let start = self.span();
        let literal = match self.peek() {
            Token::Int(value) => Kind::Literal(Value::Int(*value)),
            Token::Float(value) => Kind::Literal(Value::Float(*value)),
            Token::Text(text) => Kind::Literal(Value::Text(text.as_str().into())),
            Token::Parameter(name) => Kind::Parameter(name.clone()),
            Token::Word(word) if word.eq_ignore_ascii_case("true") => Kind::Literal(Value::Bool(true)),
            Token::Word(word) if word.eq_ignore_ascii_case("false") => Kind::Literal(Value::Bool(false)),
            Token::Word(word) if word.eq_ignore_ascii_case("null") => Kind::Literal(Value::Null),
            Token::Word(word) if word.eq_ignore_ascii_case("case") => {
                self.advance();
                return self.case(start);
            }
            Token::Word(word) if word.eq_ignore_ascii_case("exists") => {
                let braces = self.is_sign(1, "{");
                if braces || self.is_sign(1, "(") {
                    self.advance();
                    return self.exists(start, braces);
                }
                return self.named_atom(start);
            }
            Token::Word(word) if !is_reserved(word) => return self.named_atom(start),
            Token::Quoted(_) => return self.named_atom(start),
            Token::Sign("[") => return self.list(start),
            Token::Sign("{") => return self.map(start),
            Token::Sign("(") if self.is_pattern() => {
                let path = self.chain()?;
                let span = start.to(self.last_span());
                let pattern = Match { optional: false, paths: vec![path], filter: None, span };
                return self.made(Kind::Exists(pattern.into()), span);
            }
            Token::Sign("(") => {
                self.advance();
                let inner = self.expression()?;
                self.expect_sign(")")?;
                return Ok(Expr { span: start.to(self.last_span()), ..inner });
            }
            _ => return Err(self.wrong_for("an expression")),
        };
        self.advance();
        self.made(literal, start)
    }

    /// Says whether what begins with `(` here is a pattern of at least one edge.
    fn is_pattern(&self) -> bool {
        let mut ahead = 1;
        if matches!(self.peek_at(ahead), Token::Word(_) | Token::Quoted(_)) {
            ahead += 1;
        }
        if ![")", ":", "{"].iter().any(|sign| self.is_sign(ahead, sign)) {
            return false;
        }
        let mut open = 1_usize;
        let mut at = 1;
        loop {
            match self.peek_at(at) {
                Token::Sign("(") => open += 1,
                Token::Sign(")") => open -= 1,
                Token::End => return false,
                _ => {}
            }
            at += 1;
            if open == 0 {
                return self.is_edge(at);
            }
        }
    }

    fn named_atom(&mut self, start: Span) -> Result<Expr, Fault> {
        if !self.is_sign(1, "(") && !self.is_sign(1, ".") {
            return self.variable_atom(start);
        }
        // A name with dots is a function's when a parenthesis follows, and nobody has those here.
        let mut ahead = 0;
        while self.is_sign(ahead + 1, ".")
            && matches!(self.peek_at(ahead + 2), Token::Word(_) | Token::Quoted(_))
        {
            ahead += 2;
        }
        if !self.is_sign(ahead + 1, "(") {
            return self.variable_atom(start);
        }
        let end = self.tokens[self.at + ahead].1;
        let name = shown(&self.source(start.to(end)));
        for _ in 0..=ahead {
            self.advance();
        }
        self.call(start, &name)
    }

    fn variable_atom(&mut self, start: Span) -> Result<Expr, Fault> {
        let name = self.variable()?;
        self.made(Kind::Variable(name.text, usize::MAX), start)
    }

    fn call(&mut self, start: Span, name: &str) -> Result<Expr, Fault> {
        if LIST_PREDICATES.iter().any(|word| word.eq_ignore_ascii_case(name)) {
            return Err(Fault::new(start, Problem::Unsupported { what: "a predicate over a list" }));
        }
        let called = named(name, start)?;
        self.expect_sign("(")?;
        let distinct = if self.eat_word("DISTINCT") { Distinct::Once } else { Distinct::All };
        let star = matches!(called, Called::Aggregate(_)) && self.is_sign(0, "*");
        let mut arguments = Vec::new();
        if star {
            self.advance();
        } else if !self.is_sign(0, ")") {
            arguments.push(self.expression()?);
            while self.eat_sign(",") {
                arguments.push(self.expression()?);
            }
        }
        self.expect_sign(")")?;
        let span = start.to(self.last_span());
        let kind = match called {
            Called::Function(function) => {
                if distinct == Distinct::Once {
                    let problem = Problem::Aggregate { problem: "`DISTINCT` stands only in an aggregate" };
                    return Err(Fault::new(span, problem));
                }
                function.check_count(arguments.len()).map_err(|problem| Fault::new(span, problem))?;
                Kind::Call(function, arguments)
            }
            Called::Aggregate(aggregate) => {
                let of = aggregate
                    .check_arguments(star, arguments)
                    .map_err(|problem| Fault::new(span, problem))?;
                Kind::Aggregate(aggregate, distinct, of.map(Box::new))
            }
        };
        self.made(kind, span)
    }

    fn list(&mut self, start: Span) -> Result<Expr, Fault> {
        self.advance();
        if matches!(self.peek(), Token::Word(_) | Token::Quoted(_)) && self.is_word(1, "IN") {
            return self.unsupported("a comprehension of a list");
        }
        let mut items = Vec::new();
        if !self.eat_sign("]") {
            items.push(self.expression()?);
            while self.eat_sign(",") {
                items.push(self.expression()?);
            }
            if self.is_sign(0, "|") {
                return self.unsupported("a comprehension of patterns");
            }
            self.expect_sign("]")?;
        }
        self.made(Kind::List(items), start.to(self.last_span()))
    }

    fn map(&mut self, start: Span) -> Result<Expr, Fault> {
        self.advance();
        let mut fields: Vec<(String, Expr)> = Vec::new();
        if !self.eat_sign("}") {
            loop {
                let name = self.name("a name")?;
                self.expect_sign(":")?;
                fields.push((name.text, self.expression()?));
                if !self.eat_sign(",") {
                    break;
                }
            }
            self.expect_sign("}")?;
        }
        self.made(Kind::Map(fields), start.to(self.last_span()))
    }

    fn case(&mut self, start: Span) -> Result<Expr, Fault> {
        let subject = if self.is_word(0, "WHEN") { None } else { Some(self.expression()?) };
        let mut whens = Vec::new();
        while self.eat_word("WHEN") {
            let when = self.expression()?;
            self.expect_word("THEN")?;
            whens.push((when, self.expression()?));
        }
        if whens.is_empty() {
            return Err(self.wrong());
        }
        let otherwise = if self.eat_word("ELSE") { Some(self.expression()?) } else { None };
        self.expect_word("END")?;
        let span = start.to(self.last_span());
        self.made(Kind::Case(subject.map(Box::new), whens, otherwise.map(Box::new)), span)
    }

    fn exists(&mut self, start: Span, braces: bool) -> Result<Expr, Fault> {
        self.nested(|this| {
            this.advance();
            if !braces && !this.is_sign(0, "(") {
                return this.unsupported("`exists` of a property (that is `IS NOT NULL`)");
            }
            if braces {
                this.eat_word("MATCH");
            }
            let paths = if braces { this.paths()? } else { vec![this.chain()?] };
            let filter = if braces { this.filter()? } else { None };
            if braces
                && ["RETURN", "MATCH", "WITH", "UNWIND", "OPTIONAL"].iter().any(|word| this.is_word(0, word))
            {
                return this.unsupported("more than one pattern with `WHERE` in `EXISTS`");
            }
            this.expect_sign(if braces { "}" } else { ")" })?;
            let span = start.to(this.last_span());
            this.made(Kind::Exists(Match { optional: false, paths, filter, span }.into()), span)
        })
    }

    fn made(&self, kind: Kind, span: Span) -> Result<Expr, Fault> {
        let expr = Expr::new(kind, span);
        self.check_depth(expr.depth)?;
        Ok(expr)
    }
}
