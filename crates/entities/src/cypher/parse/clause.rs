//! Clauses.

use super::super::ast::{Clause, Expr, Item, Match, Projection, Sorting};
use super::super::error::{Fault, Problem};
use super::super::span::Span;
use super::super::token::Token;
use super::{MAX_CLAUSES, Parser};

/// Words that begin a clause which does more than read, or that could.
const WRITING: [&str; 10] =
    ["CREATE", "MERGE", "SET", "DELETE", "DETACH", "REMOVE", "CALL", "LOAD", "FOREACH", "DROP"];

/// Words that begin what is not understood here, with what that is.
const OTHER: [(&str, &str); 6] = [
    ("UNION", "`UNION`"),
    ("USE", "`USE`"),
    ("SHOW", "`SHOW`"),
    ("EXPLAIN", "`EXPLAIN`"),
    ("PROFILE", "`PROFILE`"),
    ("FINISH", "`FINISH`"),
];

impl Parser<'_> {
    pub(super) fn query(&mut self) -> Result<Vec<Clause>, Fault> {
        let mut clauses = Vec::new();
        loop {
            self.refuse_others()?;
            if clauses.len() == MAX_CLAUSES {
                let problem = Problem::TooLong { limit: MAX_CLAUSES, unit: "clauses" };
                return Err(Fault::new(self.span(), problem));
            }
            let start = self.span();
            if self.eat_word("MATCH") {
                clauses.push(Clause::Match(self.match_clause(false, start)?));
            } else if self.eat_word("OPTIONAL") {
                self.expect_word("MATCH")?;
                clauses.push(Clause::Match(self.match_clause(true, start)?));
            } else if self.eat_word("UNWIND") {
                let list = self.expression()?;
                self.expect_word("AS")?;
                clauses.push(Clause::Unwind(list, self.variable()?));
            } else if self.eat_word("WITH") {
                clauses.push(Clause::Project(self.projection(false, start)?));
            } else if self.eat_word("RETURN") {
                clauses.push(Clause::Project(self.projection(true, start)?));
                self.eat_sign(";");
                self.refuse_others()?;
                return match self.peek() {
                    Token::End => Ok(clauses),
                    _ => Err(self.wrong_for("the end of the query")),
                };
            } else {
                return Err(self.wrong());
            }
        }
    }

    fn refuse_others(&self) -> Result<(), Fault> {
        if let Some(clause) = WRITING.iter().find(|word| self.is_word(0, word)) {
            return Err(Fault::new(self.span(), Problem::ReadOnly { clause }));
        }
        match OTHER.iter().find(|(word, _)| self.is_word(0, word)) {
            Some((_, what)) => self.unsupported(what),
            None => Ok(()),
        }
    }

    fn match_clause(&mut self, optional: bool, start: Span) -> Result<Match, Fault> {
        let paths = self.paths()?;
        let filter = self.filter()?;
        Ok(Match { optional, paths, filter, span: start.to(self.last_span()) })
    }

    pub(super) fn filter(&mut self) -> Result<Option<Expr>, Fault> {
        match self.eat_word("WHERE") {
            true => self.expression().map(Some),
            false => Ok(None),
        }
    }

    fn projection(&mut self, last: bool, start: Span) -> Result<Projection, Fault> {
        let distinct = self.eat_word("DISTINCT");
        let star = self.eat_sign("*");
        let mut items = Vec::new();
        if !star || self.eat_sign(",") {
            items.push(self.item()?);
            while self.eat_sign(",") {
                items.push(self.item()?);
            }
        }
        let mut order = Vec::new();
        if self.eat_word("ORDER") {
            self.expect_word("BY")?;
            order.push(self.sort_item()?);
            while self.eat_sign(",") {
                order.push(self.sort_item()?);
            }
        }
        let skip = if self.eat_word("SKIP") { Some(self.expression()?) } else { None };
        let limit = if self.eat_word("LIMIT") { Some(self.expression()?) } else { None };
        let filter = if last { None } else { self.filter()? };
        Ok(Projection {
            last,
            distinct,
            star,
            items,
            order,
            skip,
            limit,
            filter,
            span: start.to(self.last_span()),
        })
    }

    fn item(&mut self) -> Result<Item, Fault> {
        let expr = self.expression()?;
        match self.eat_word("AS") {
            true => Ok(Item { expr, name: self.variable()?.text, named: true }),
            false => {
                let name = self.source(expr.span);
                Ok(Item { expr, name, named: false })
            }
        }
    }

    fn sort_item(&mut self) -> Result<(Expr, Sorting), Fault> {
        let expr = self.expression()?;
        let descending = self.eat_word("DESC") || self.eat_word("DESCENDING");
        if descending {
            return Ok((expr, Sorting::Descending));
        }
        if !self.eat_word("ASC") {
            self.eat_word("ASCENDING");
        }
        Ok((expr, Sorting::Ascending))
    }
}
