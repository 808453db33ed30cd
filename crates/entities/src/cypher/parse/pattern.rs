//! Patterns of nodes and edges.

use super::super::ast::{Direction, EdgePattern, Expr, Name, NodePattern, PathPattern};
use super::super::error::{Fault, Problem};
use super::super::span::Span;
use super::super::token::Token;
use super::Parser;
use crate::name::{Label, RelationType};

impl Parser<'_> {
    pub(super) fn paths(&mut self) -> Result<Vec<PathPattern>, Fault> {
        let mut paths = vec![self.path()?];
        while self.eat_sign(",") {
            paths.push(self.path()?);
        }
        Ok(paths)
    }

    fn path(&mut self) -> Result<PathPattern, Fault> {
        let named = self.is_sign(1, "=");
        let name = if named { Some(self.variable()?) } else { None };
        if named {
            self.expect_sign("=")?;
        }
        if self.is_word(0, "shortestPath") || self.is_word(0, "allShortestPaths") {
            return self.unsupported("a search for shortest paths");
        }
        let path = self.chain()?;
        Ok(PathPattern { name, ..path })
    }

    /// Reads nodes and edges in turns.
    pub(super) fn chain(&mut self) -> Result<PathPattern, Fault> {
        let mut path = PathPattern { name: None, nodes: vec![self.node()?], edges: Vec::new() };
        while self.is_edge(0) {
            path.edges.push(self.edge()?);
            path.nodes.push(self.node()?);
        }
        self.note("an edge as `-[:TYPE]->`");
        Ok(path)
    }

    /// Says whether an edge begins some tokens ahead.
    pub(super) fn is_edge(&self, ahead: usize) -> bool {
        let ahead = ahead + usize::from(self.is_sign(ahead, "<"));
        self.is_sign(ahead, "-") && (self.is_sign(ahead + 1, "[") || self.is_sign(ahead + 1, "-"))
    }

    fn node(&mut self) -> Result<NodePattern, Fault> {
        self.count_element()?;
        let start = self.span();
        if !self.is_sign(0, "(") {
            return Err(self.wrong_for("a node as `(name:Label)`"));
        }
        self.advance();
        let name = self.eat_variable();
        let mut labels = Vec::new();
        while self.eat_sign(":") {
            labels.push(self.label()?);
            if self.is_sign(0, "|") || self.is_sign(0, "&") || self.is_sign(0, "!") {
                return self.unsupported("a choice of labels");
            }
        }
        let props = self.prop_patterns()?;
        if self.is_word(0, "WHERE") {
            return self.unsupported("`WHERE` within a pattern");
        }
        self.expect_sign(")")?;
        Ok(NodePattern { name, labels, props, span: start.to(self.last_span()) })
    }

    pub(super) fn label(&mut self) -> Result<Label, Fault> {
        let name = self.name("a label")?;
        Label::new(&name.text).map_err(|_| self.not_a_name(&name, "a label of ASCII letters, digits and `_`"))
    }

    fn relation_type(&mut self) -> Result<RelationType, Fault> {
        let name = self.name("a type")?;
        RelationType::new(&name.text)
            .map_err(|_| self.not_a_name(&name, "a type of ASCII letters, digits and `_`"))
    }

    fn not_a_name(&self, name: &Name, expected: &'static str) -> Fault {
        let found = Token::Word(name.text.clone()).describe();
        Fault::new(name.span, Problem::Syntax { expected: vec![expected], found })
    }

    fn prop_patterns(&mut self) -> Result<Vec<(Name, Expr)>, Fault> {
        let mut props = Vec::new();
        if matches!(self.peek(), Token::Parameter(_)) {
            return self.unsupported("a parameter in the place of a pattern's properties");
        }
        if !self.eat_sign("{") || self.eat_sign("}") {
            return Ok(props);
        }
        loop {
            let name = self.name("a property")?;
            self.expect_sign(":")?;
            props.push((name, self.expression()?));
            if !self.eat_sign(",") {
                self.expect_sign("}")?;
                return Ok(props);
            }
        }
    }

    fn edge(&mut self) -> Result<EdgePattern, Fault> {
        self.count_element()?;
        let start = self.span();
        let left = self.eat_sign("<");
        self.expect_sign("-")?;
        let mut edge = EdgePattern {
            name: None,
            types: Vec::new(),
            direction: Direction::Either,
            length: None,
            props: Vec::new(),
            span: start,
        };
        if self.eat_sign("[") {
            edge.name = self.eat_variable();
            if self.eat_sign(":") {
                edge.types.push(self.relation_type()?);
                while self.eat_sign("|") {
                    self.eat_sign(":");
                    edge.types.push(self.relation_type()?);
                }
                if self.is_sign(0, "&") || self.is_sign(0, "!") {
                    return self.unsupported("an expression of types");
                }
            }
            let star = self.span();
            if self.eat_sign("*") {
                edge.length = Some(self.length(star)?);
            }
            edge.props = self.prop_patterns()?;
            if self.is_word(0, "WHERE") {
                return self.unsupported("`WHERE` within a pattern");
            }
            self.expect_sign("]")?;
        }
        self.expect_sign("-")?;
        edge.direction = match (left, self.eat_sign(">")) {
            (true, false) => Direction::Left,
            (false, true) => Direction::Right,
            (true, true) | (false, false) => Direction::Either,
        };
        edge.span = start.to(self.last_span());
        Ok(edge)
    }

    /// Reads the bounds after a star: `2`, `1..3`, `..3`.
    fn length(&mut self, star: Span) -> Result<(u32, u32), Fault> {
        let limit = self.limits.path_length;
        let fewest = self.bound();
        let most = match self.eat_sign("..") {
            true => self.bound(),
            false => fewest,
        };
        let span = star.to(self.last_span());
        let wrong = |this: &Self| {
            Fault::new(span, Problem::PathLength { limit, found: format!("`{}`", this.source(span)) })
        };
        let fewest = fewest.unwrap_or(1);
        match most.filter(|most| *most <= i64::from(limit) && fewest <= *most) {
            Some(most) => Ok((fewest as u32, most as u32)),
            None => Err(wrong(self)),
        }
    }

    fn bound(&mut self) -> Option<i64> {
        let Token::Int(value) = *self.peek() else {
            self.note("a number");
            return None;
        };
        self.advance();
        Some(value)
    }
}
