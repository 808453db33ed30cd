//! Parsing of bodies: variables, contracts, statements and regions. Nesting costs no stack.

use std::sync::Arc;

use crate::entities::ContractKind;
use crate::ops::Opcode;
use crate::refs::{Ref, RefKind};
use crate::text::cursor::{Parsed, Parser, Skip};
use crate::text::error::{Mistake, code};
use crate::text::lexer::Kind;
use crate::text::syntax::{
    AttrSyntax, BodySyntax, ContractSyntax, Expr, ExprId, Head, Label, MatchSyntax, ParamSyntax, RegionId,
    RegionSyntax, RoleSyntax, Segment, Stmt, StmtId, Tag, VarSyntax,
};
use crate::text::unknown::Unknown;
use crate::text::words::is_word;

/// Adds a comment to another one.
pub(super) fn join_docs(first: Option<Arc<str>>, second: Option<Arc<str>>) -> Option<Arc<str>> {
    match (first, second) {
        (Some(first), Some(second)) => Some(format!("{first}\n{second}").into()),
        (first, second) => first.or(second),
    }
}

/// What an open brace belongs to.
#[derive(Clone, Copy)]
pub(super) enum Owner {
    /// The function: variables and contracts may stand here.
    Function,
    /// Text without braces around it.
    Text,
    Contract,
    /// A node.
    Stmt(StmtId),
    /// An `else` that is not looked into: behind the one that an `else if` stands for.
    Chained,
}

#[derive(Clone, Copy)]
pub(super) enum Open {
    /// The lines of a region.
    Region(RegionId, Owner),
    /// The cases of a `match`.
    Cases(StmtId),
}

impl Parser<'_> {
    pub(super) fn new_region(
        &mut self,
        role: RoleSyntax,
        tag: Option<Tag>,
        params: Option<Vec<ParamSyntax>>,
    ) -> RegionId {
        let at = self.peek().start;
        self.tree.regions.push(RegionSyntax { role, tag, params, stmts: Vec::new(), trailer: None, at });
        (self.tree.regions.len() - 1) as RegionId
    }

    /// The body of a function, from its `{`.
    pub(super) fn body(&mut self, tag: Option<Tag>) -> Parsed<BodySyntax> {
        let region = self.new_region(RoleSyntax::Body, tag, None);
        self.expect(b'{')?;
        Ok(self.blocks(region, Owner::Function))
    }

    /// Lines of a body that are the whole text.
    pub(super) fn lines(&mut self) -> BodySyntax {
        let region = self.new_region(RoleSyntax::Body, None, None);
        self.blocks(region, Owner::Text)
    }

    /// A condition that is the whole text, as what a region yields.
    pub(super) fn lone_condition(&mut self) -> BodySyntax {
        self.lone(|parser, region, operands, at| parser.yield_of(region, operands, at))
    }

    /// A condition that is the whole text, as what an `if` looks at that does nothing.
    pub(super) fn lone_test(&mut self) -> BodySyntax {
        self.lone(|parser, region, operands, at| {
            let then = parser.new_region(RoleSyntax::Then, None, None);
            parser.yield_of(then, Vec::new(), at);
            let head = Head { code: Opcode::If, attr: AttrSyntax::Control(None, Vec::new()), tag: None, at };
            let label = Label { name: None, tag: None, at };
            parser.new_stmt(region, Stmt { doc: None, label, head, operands, regions: vec![then] });
        })
    }

    fn lone(&mut self, end: impl FnOnce(&mut Self, RegionId, Vec<ExprId>, u32)) -> BodySyntax {
        let region = self.new_region(RoleSyntax::Body, None, None);
        let body = BodySyntax { region, vars: Vec::new(), contracts: Vec::new() };
        let at = self.peek().start;
        // There is one thing to read: line ends mean nothing.
        self.parens = 1;
        let whole = match self.condition() {
            Ok(operands) if self.peek().kind == Kind::End => {
                end(self, region, operands, at);
                true
            }
            // Noted; the statement would only say it again.
            Ok(_) => {
                self.unexpected("the end of the text");
                false
            }
            Err(Skip) => false,
        };
        if !whole {
            self.foreign_line(0, None);
        }
        body
    }

    /// A contract that is the whole text.
    pub(super) fn lone_contract(&mut self) -> Parsed<BodySyntax> {
        let region = self.new_region(RoleSyntax::Body, None, None);
        let mut body = BodySyntax { region, vars: Vec::new(), contracts: Vec::new() };
        let doc = self.take_comments();
        if self.contract_ahead().is_none() {
            return Err(self.unexpected("`require` or `ensure`"));
        }
        let mut stack = Vec::new();
        self.contract(doc, &mut body, &mut stack)?;
        self.run_blocks(&mut stack, &mut body);
        Ok(body)
    }

    fn blocks(&mut self, region: RegionId, owner: Owner) -> BodySyntax {
        let mut body = BodySyntax { region, vars: Vec::new(), contracts: Vec::new() };
        let mut stack = vec![Open::Region(region, owner)];
        self.run_blocks(&mut stack, &mut body);
        body
    }

    fn run_blocks(&mut self, stack: &mut Vec<Open>, body: &mut BodySyntax) {
        while let Some(open) = stack.last().copied() {
            let doc = self.take_comments();
            let from = self.at;
            self.begin = from;
            let step = match open {
                Open::Region(region, owner) => self.region_step(region, owner, doc, stack, body),
                Open::Cases(stmt) => self.cases_step(stmt, doc, stack),
            };
            if step.is_err() {
                if let Open::Cases(stmt) = open
                    && let AttrSyntax::Match(of) = &mut self.tree.stmts[stmt as usize].head.attr
                {
                    of.broken = true;
                }
                self.go_on(open, from, stack);
            }
        }
    }

    fn region_step(
        &mut self,
        region: RegionId,
        owner: Owner,
        doc: Option<Arc<str>>,
        stack: &mut Vec<Open>,
        body: &mut BodySyntax,
    ) -> Parsed<()> {
        let whole = matches!(owner, Owner::Text);
        let token = self.peek();
        if token.kind == Kind::End || (token.kind == Kind::Punct(b'}') && !whole) {
            self.tree.regions[region as usize].trailer = doc;
            if token.kind == Kind::End && !whole {
                stack.clear();
                // The one mistake for all that is open.
                return Err(self.unexpected("`}`"));
            }
            stack.pop();
            if whole {
                return Ok(());
            }
            self.advance();
            return self.region_closed(owner, stack);
        }
        if self.item_ahead() {
            return self.item_in_body(whole, stack);
        }
        let declares = matches!(owner, Owner::Function | Owner::Text);
        if self.variable_ahead() {
            let var = self.var(doc)?;
            if declares {
                body.vars.push(var);
            } else {
                let message = "variables stand at the top of a function";
                self.note(Mistake::new(code::SYNTAX, token.start, message));
            }
            return self.end_line();
        }
        if self.contract_ahead().is_some() {
            if !matches!(owner, Owner::Function) {
                let message = "contracts stand at the top of a function";
                self.note(Mistake::new(code::SYNTAX, token.start, message));
            }
            return self.contract(doc, body, stack);
        }
        self.statement(region, doc, stack)
    }

    /// Goes on after the `}` of a region.
    fn region_closed(&mut self, owner: Owner, stack: &mut Vec<Open>) -> Parsed<()> {
        let stmt = match owner {
            // What follows belongs to the item.
            Owner::Function | Owner::Text => return Ok(()),
            Owner::Contract => return self.end_line(),
            Owner::Stmt(stmt) => stmt,
            Owner::Chained if self.is_word(0, "else") => {
                let region = self.new_region(RoleSyntax::Else, None, None);
                return self.chained(region, stack);
            }
            Owner::Chained => return self.end_line(),
        };
        if matches!(stack.last(), Some(Open::Cases(open)) if *open == stmt) {
            return Ok(());
        }
        let statement = &self.tree.stmts[stmt as usize];
        if statement.head.code == Opcode::If && statement.regions.len() == 1 && self.is_word(0, "else") {
            let doc = self.take_comments();
            let statement = &mut self.tree.stmts[stmt as usize];
            statement.doc = join_docs(statement.doc.take(), doc);
            if self.is_word(1, "if") {
                let region = self.new_region(RoleSyntax::Else, None, None);
                self.tree.stmts[stmt as usize].regions.push(region);
                return self.chained(region, stack);
            }
            self.advance();
            return self.open_region(stmt, RoleSyntax::Else, None, stack);
        }
        self.end_statement(stmt)
    }

    fn end_statement(&mut self, stmt: StmtId) -> Parsed<()> {
        let comment = self.take_line_comment();
        let statement = &mut self.tree.stmts[stmt as usize];
        statement.doc = join_docs(statement.doc.take(), comment);
        self.end_line()
    }

    fn end_line(&mut self) -> Parsed<()> {
        if self.line_ends() || self.is_punct(0, b'}') {
            Ok(())
        } else {
            // Whoever leaves a comma out goes on with an operand.
            let more = self.operand_ahead();
            Err(self.unexpected(if more { "`,` or the end of the line" } else { "the end of the line" }))
        }
    }

    fn open_region(
        &mut self,
        stmt: StmtId,
        role: RoleSyntax,
        params: Option<Vec<ParamSyntax>>,
        stack: &mut Vec<Open>,
    ) -> Parsed<()> {
        let tag = self.tag()?;
        let region = self.new_region(role, tag, params);
        self.expect(b'{')?;
        self.tree.stmts[stmt as usize].regions.push(region);
        stack.push(Open::Region(region, Owner::Stmt(stmt)));
        Ok(())
    }

    fn var(&mut self, doc: Option<Arc<str>>) -> Parsed<VarSyntax> {
        self.advance();
        let at = self.peek().start;
        let label = if self.is_punct(0, b'#') {
            Label { name: None, tag: self.tag()?, at }
        } else {
            let segment = self.segment("a variable")?;
            self.label_of(vec![segment], RefKind::Variable)
        };
        self.expect(b':')?;
        let ty = self.type_syntax()?;
        let doc = join_docs(doc, self.take_line_comment());
        Ok(VarSyntax { label, ty, doc })
    }

    /// Whether a variable is declared here: `var#n4 = ..` is a value of that name.
    fn variable_ahead(&self) -> bool {
        let next = self.ahead(1).kind;
        let named = matches!(next, Kind::Ident | Kind::Str);
        let tagged = next == Kind::Punct(b'#') && self.ahead(3).kind != Kind::Punct(b'=');
        self.is_word(0, "var") && (named || tagged)
    }

    fn contract_ahead(&self) -> Option<()> {
        let word = self.is_word(0, "require") || self.is_word(0, "ensure") || self.is_word(0, "invariant");
        let next = self.ahead(1);
        (word
            && (next.kind == Kind::Str
                || (next.kind == Kind::Punct(b'#') && self.ahead(3).kind == Kind::Str)))
            .then_some(())
    }

    fn contract(
        &mut self,
        doc: Option<Arc<str>>,
        body: &mut BodySyntax,
        stack: &mut Vec<Open>,
    ) -> Parsed<()> {
        let word = self.advance();
        let at = word.start;
        let kind = match self.source(word) {
            "require" => ContractKind::Require,
            "ensure" => ContractKind::Ensure,
            _ => ContractKind::Invariant,
        };
        let tag = self.tag()?;
        let message = self.quoted("what the contract means, in quotes")?;
        let params = if self.is_punct(0, b'(') { Some(self.params()?) } else { None };
        let region_tag = self.tag()?;
        let region = self.new_region(RoleSyntax::Body, region_tag, params);
        let contract = |doc| ContractSyntax { kind, tag, message, region, doc, at };
        if self.eat(b'=') {
            let operands = self.condition()?;
            self.yield_of(region, operands, at);
            let doc = join_docs(doc, self.take_line_comment());
            body.contracts.push(contract(doc));
            return self.end_line();
        }
        if !self.is_punct(0, b'{') {
            return Err(self.unexpected("`=` and a condition, or `{`"));
        }
        self.advance();
        body.contracts.push(contract(doc));
        stack.push(Open::Region(region, Owner::Contract));
        Ok(())
    }

    /// An operator with its operands, or one operand.
    fn condition(&mut self) -> Parsed<Vec<ExprId>> {
        if self.operator_ahead().is_some() {
            let head = self.head()?;
            let operands = self.operands()?;
            return Ok(vec![self.new_expr(Expr::Application { head, operands })]);
        }
        let from = self.at;
        let operand = self.operand("a condition")?;
        if self.tokens[from].kind == Kind::Ident && self.operand_ahead() {
            // A word with operands is meant as an operator.
            self.at = from;
            return Err(self.no_operator());
        }
        Ok(operand)
    }

    fn yield_of(&mut self, region: RegionId, operands: Vec<ExprId>, at: u32) {
        let head = Head { code: Opcode::Yield, attr: AttrSyntax::None, tag: None, at };
        let label = Label { name: None, tag: None, at };
        self.new_stmt(region, Stmt { doc: None, label, head, operands, regions: Vec::new() });
    }

    pub(super) fn new_stmt(&mut self, region: RegionId, stmt: Stmt) -> StmtId {
        self.tree.stmts.push(stmt);
        let id = (self.tree.stmts.len() - 1) as StmtId;
        self.tree.regions[region as usize].stmts.push(id);
        id
    }

    fn statement(&mut self, region: RegionId, doc: Option<Arc<str>>, stack: &mut Vec<Open>) -> Parsed<()> {
        let label = self.statement_label()?;
        if self.line_ends() && label.name.is_some() {
            return Err(self.unexpected("an operator"));
        }
        let (begin, before) = (self.at, self.mistakes.len());
        let mut head = match self.head() {
            Ok(head) => head,
            Err(Skip) => {
                self.unknown = Some(Unknown { label, begin, place: begin, before });
                return Err(Skip);
            }
        };
        let (mut operands, mut params, mut cases) = (Vec::new(), None, false);
        match head.code {
            Opcode::Block => {
                let control = if self.label_ahead() { Some(self.label()?) } else { None };
                head.attr = AttrSyntax::Control(control, self.results()?);
            }
            Opcode::Loop => {
                let control = if self.label_ahead() { Some(self.label()?) } else { None };
                let (names, initial) = self.loop_params()?;
                (params, operands) = (Some(names), initial);
                head.attr = AttrSyntax::Control(control, self.results()?);
            }
            Opcode::If => {
                let control = if self.label_before_operand(Opcode::If) { Some(self.label()?) } else { None };
                operands = self.looked_at("a condition")?;
                head.attr = AttrSyntax::Control(control, self.results()?);
            }
            Opcode::Match => {
                let mut of = MatchSyntax::default();
                if self.label_before_operand(Opcode::Match) {
                    of.label = Some(self.label()?);
                }
                operands = self.looked_at("what `match` looks at")?;
                cases = self.is_punct(0, b'(');
                if cases {
                    self.cases(&mut of)?;
                }
                of.results = self.results()?;
                head.attr = AttrSyntax::Match(of);
            }
            _ => {
                let Ok(read) = self.operands() else {
                    self.unknown = Some(Unknown { label, begin, place: self.at, before });
                    return Err(Skip);
                };
                operands = read;
            }
        }
        let owns = !head.code.spec().regions.is_empty();
        let is_match = head.code == Opcode::Match;
        let role = if head.code == Opcode::If { RoleSyntax::Then } else { RoleSyntax::Body };
        if operands.len() >= crate::node::MAX_PORTS {
            self.note(Mistake::new(code::TOO_LARGE, head.at, "an operator has too many operands"));
            return Err(Skip);
        }
        // Comments among the operands are not lost.
        let at = self.at;
        let doc = if owns {
            doc
        } else {
            join_docs(doc, self.take_while(|comment| (comment.before as usize) < at))
        };
        if !owns {
            let stmt = self.new_stmt(region, Stmt { doc, label, head, operands, regions: Vec::new() });
            return self.end_statement(stmt);
        }
        if is_match {
            self.expect(b'{')?;
            let stmt = self.new_stmt(region, Stmt { doc, label, head, operands, regions: Vec::new() });
            stack.push(Open::Cases(stmt));
            if !cases {
                // Derived from the regions as they come.
                if let AttrSyntax::Match(of) = &mut self.tree.stmts[stmt as usize].head.attr {
                    of.derived = true;
                }
            }
            return Ok(());
        }
        let tag = self.tag()?;
        let inner = self.new_region(role, tag, params);
        self.expect(b'{')?;
        let stmt = self.new_stmt(region, Stmt { doc, label, head, operands, regions: vec![inner] });
        stack.push(Open::Region(inner, Owner::Stmt(stmt)));
        Ok(())
    }

    fn cases_step(&mut self, stmt: StmtId, doc: Option<Arc<str>>, stack: &mut Vec<Open>) -> Parsed<()> {
        let statement = &mut self.tree.stmts[stmt as usize];
        statement.doc = join_docs(statement.doc.take(), doc);
        if self.peek().kind == Kind::End {
            stack.clear();
            return Err(self.unexpected("`}`"));
        }
        if self.eat(b'}') {
            stack.pop();
            return self.end_statement(stmt);
        }
        let token = self.peek();
        let role = if self.eat_word("case") {
            RoleSyntax::Case(self.case()?)
        } else if self.eat_word("default") {
            RoleSyntax::Default
        } else {
            return Err(self.unexpected("`case`, `default` or `}`"));
        };
        let mut twice = false;
        if let AttrSyntax::Match(of) = &mut self.tree.stmts[stmt as usize].head.attr
            && of.derived
        {
            match &role {
                RoleSyntax::Case(case) => of.cases.push(case.clone()),
                RoleSyntax::Default => twice = std::mem::replace(&mut of.default, true),
                RoleSyntax::Body | RoleSyntax::Then | RoleSyntax::Else => {}
            }
        }
        if twice {
            self.note(Mistake::new(code::DUPLICATE, token.start, "`default` stands here twice"));
        }
        if self.is_punct(0, b',') && matches!(role, RoleSyntax::Case(_)) {
            let (at, message) = (self.peek().start, "a region is that of one case: each case has its own");
            self.note(Mistake::new(code::SYNTAX, at, message).expected("`{`").found("`,`"));
            return Err(Skip);
        }
        let params = if self.is_punct(0, b'(') { Some(self.params()?) } else { None };
        self.open_region(stmt, role, params, stack)
    }

    /// `(i: i64 = 0, acc: i64 = (add.i64 a, b))`.
    fn loop_params(&mut self) -> Parsed<(Vec<ParamSyntax>, Vec<ExprId>)> {
        let (mut params, mut initial) = (Vec::new(), Vec::new());
        if !self.is_punct(0, b'(') {
            return Ok((params, initial));
        }
        self.advance();
        self.parens += 1;
        while !self.eat(b')') {
            let name = self.param_name()?;
            self.expect(b':')?;
            let ty = Some(self.type_syntax()?);
            params.push(ParamSyntax { name, ty });
            if self.eat(b'=') {
                let operand = self.operand("an initial value")?;
                if operand.len() != 1 {
                    return Err(self.unexpected("one initial value"));
                }
                initial.extend(operand);
            } else {
                initial.push(self.new_expr(Expr::Hole));
            }
            if !self.eat(b',') && !self.is_punct(0, b')') {
                return Err(self.unexpected("`,` or `)`"));
            }
        }
        self.parens -= 1;
        Ok((params, initial))
    }

    fn label_ahead(&self) -> bool {
        matches!(self.peek().kind, Kind::Ident | Kind::Str) && !self.line_ends()
    }

    /// Whether a label stands before an operand: `if L c`, `match L d (0)`, `match L (f x) (0)`.
    fn label_before_operand(&self, owner: Opcode) -> bool {
        if !self.label_ahead() || self.operator_ahead().is_some() {
            return false;
        }
        let next = self.ahead(1);
        match next.kind {
            Kind::Ident | Kind::Int | Kind::Float | Kind::Str | Kind::Bytes => true,
            Kind::Punct(b'(') => {
                // The list of a `match` stands in parentheses too.
                let after = self.tokens.get(next.partner as usize + 1).map(|token| token.kind);
                owner != Opcode::Match || after == Some(Kind::Punct(b'('))
            }
            Kind::Punct(_) | Kind::Arrow | Kind::PathSep | Kind::Bad | Kind::End => false,
        }
    }

    /// `x =`, `x#n5 =`, `a, b =`, `n5 =`, `#n5 =`, `_ =`; nothing where a line begins with an operator.
    fn statement_label(&mut self) -> Parsed<Label> {
        let at = self.peek().start;
        if self.is_punct(0, b'#') {
            let tag = self.tag()?;
            self.expect(b'=')?;
            return Ok(Label { name: None, tag, at });
        }
        let named = matches!(self.peek().kind, Kind::Ident | Kind::Str)
            && matches!(self.ahead(1).kind, Kind::Punct(b'=' | b',' | b'#'))
            && (self.operator_ahead().is_none() || self.is_punct(1, b'='));
        if !named {
            return Ok(Label { name: None, tag: None, at });
        }
        let mut segments = vec![self.segment("a name")?];
        while self.eat(b',') {
            segments.push(self.segment("a name")?);
        }
        self.expect(b'=')?;
        Ok(self.label_of(segments, RefKind::Node))
    }

    /// Joins the names of a statement; a bare ref stands for itself.
    fn label_of(&mut self, segments: Vec<Segment>, kind: RefKind) -> Label {
        let at = segments.first().map_or(0, |segment| segment.at);
        let mut tag: Option<Tag> = None;
        let mut names: Vec<Arc<str>> = Vec::new();
        let several = segments.len() > 1;
        for segment in segments {
            if let Some(given) = segment.tag {
                if tag.is_some() {
                    self.note(Mistake::new(code::DUPLICATE, given.at, "a second ref for one node"));
                }
                tag = Some(given);
            }
            if !segment.quoted && !several && segment.tag.is_none() {
                if let Ok(of) = segment.name.parse::<Ref>()
                    && of.kind == kind
                {
                    return Label { name: None, tag: Some(Tag { of, at }), at };
                }
                if &*segment.name == "_" {
                    return Label { name: None, tag, at };
                }
            }
            if several && (segment.quoted || segment.name.contains(", ")) {
                self.note(Mistake::new(code::SYNTAX, segment.at, "names in a list are identifiers"));
            } else if several && &*segment.name != "_" && is_word(&segment.name) {
                let what = format!("the word `{}` cannot stand among several names", segment.name);
                self.note(Mistake::new(code::SYNTAX, segment.at, what));
            }
            self.refuse_ref_name(&segment.name, segment.at);
            names.push(segment.name);
        }
        Label { name: Some(names.join(", ").into()), tag, at }
    }
}
