//! Parsing of operators: mnemonics with their attributes.

use std::sync::Arc;

use crate::ops::{AttrKind, Opcode};
use crate::text::cursor::{Parsed, Parser, Skip};
use crate::text::error::{Mistake, code};
use crate::text::lexer::Kind;
use crate::text::likely;
use crate::text::literal::{Literal, WORDS, from_hex};
use crate::text::syntax::{
    AttrSyntax, CaseSyntax, ExitSyntax, Head, MatchSyntax, Path, Segment, TypeKind, TypeSyntax,
};
use crate::types::{Scalar, Type};

/// Words that begin an operator by themselves, and so cannot be the bare name of a value.
pub(super) fn is_reserved(word: &str) -> bool {
    word == "_"
        || WORDS.contains(&word)
        || Opcode::of_mnemonic(word).is_some_and(|code| !needs_suffix(code) && !needs_bracket(code))
}

/// Whether a mnemonic is followed by `.T`.
fn needs_suffix(code: Opcode) -> bool {
    matches!(
        code.spec().attr,
        AttrKind::Scalar(_) | AttrKind::Convert(_) | AttrKind::Memory(_) | AttrKind::Const
    )
}

/// Whether an operator never has an operand, so that a comma behind it belongs to a list around it.
fn spec_inputs_empty(code: Opcode) -> bool {
    code.spec().inputs.is_empty()
}

/// Whether a mnemonic is followed by `<`.
fn needs_bracket(code: Opcode) -> bool {
    matches!(code.spec().attr, AttrKind::Type | AttrKind::Array | AttrKind::Enum | AttrKind::Signature)
}

/// The operator whose mnemonic a text is, or begins with up to a dot, and where that ends.
fn begun(given: &str) -> Option<(Opcode, usize)> {
    let dots = given.rmatch_indices('.').map(|(at, _)| at);
    let known = |end: usize| Some((Opcode::of_mnemonic(&given[..end])?, end));
    std::iter::once(given.len()).chain(dots).find_map(known)
}

/// Whether an operator, as it is offered, names something right behind its mnemonic: a label, a function, a type.
pub(super) fn names_something(form: &str) -> bool {
    let name = &form[..form.find(['<', ' ']).unwrap_or(form.len())];
    begun(name).is_some_and(|(code, _)| {
        !needs_suffix(code) && !needs_bracket(code) && !matches!(code.spec().attr, AttrKind::None)
    })
}

/// For an operator whose type is missing, or written in another way: what is wrong, and how it is written.
fn incomplete(given: &str) -> Option<(String, Vec<String>)> {
    let (code, end) = begun(given)?;
    let (name, suffix) = given.split_at(end);
    let wrong = match (needs_suffix(code), needs_bracket(code)) {
        (true, _) => format!("the type of `{name}` is missing"),
        (_, true) => format!("the type of `{name}` stands in angle brackets"),
        (false, false) => return None,
    };
    Some((wrong, likely::forms(code.spec(), &[], suffix.strip_prefix('.').unwrap_or("T"))))
}

impl<'t> Parser<'t> {
    /// Whether an operator begins at the next token, and how many tokens its mnemonic has.
    pub(super) fn operator_ahead(&self) -> Option<(Opcode, usize)> {
        let first = self.peek();
        if first.kind != Kind::Ident {
            return None;
        }
        let word = self.source(first);
        let dotted = self.is_punct(1, b'.') && self.adjacent(1) && self.adjacent(2);
        let second = self.ahead(2);
        if dotted && second.kind == Kind::Ident {
            let whole = &self.text[first.start as usize..second.end as usize];
            if let Some(code) = Opcode::of_mnemonic(whole) {
                return Some((code, 3));
            }
        }
        let code = Opcode::of_mnemonic(word)?;
        let fits = if needs_suffix(code) {
            dotted && second.kind == Kind::Ident
        } else {
            !needs_bracket(code) || self.is_punct(1, b'<')
        };
        fits.then_some((code, 1))
    }

    /// Notes that no operator stands here.
    pub(super) fn no_operator(&mut self) -> Skip {
        let first = self.peek();
        if first.kind != Kind::Ident {
            return self.unexpected("an operator");
        }
        let mut end = first.end;
        let mut count = 1;
        while self.is_punct(count, b'.') && self.adjacent(count) && self.ahead(count + 1).kind == Kind::Ident
        {
            end = self.ahead(count + 1).end;
            count += 2;
        }
        let given = &self.text[first.start as usize..end as usize];
        let called = self.is_punct(1, b'(').then(|| format!("call {given}"));
        if !self.has_room() {
            return Skip;
        }
        let likely = likely::operators(given);
        if let Some((message, mut forms)) = incomplete(given) {
            let others: Vec<String> = likely.into_iter().filter(|form| !forms.contains(form)).collect();
            if let Some(ty) = self.bracketed_type(given, count) {
                forms.iter_mut().for_each(|form| *form = form.replace("<T>", &format!("<{ty}>")));
            }
            let candidates = forms.iter().cloned().chain(others).chain(called).collect();
            let mistake = Mistake::new(code::UNKNOWN_OP, first.start, message).found(given);
            self.note(Mistake { expected: forms, candidates, ..mistake });
            return Skip;
        }
        let candidates = called.into_iter().chain(likely).collect();
        let message = format!("there is no operator `{given}`");
        self.note(Mistake::new(code::UNKNOWN_OP, first.start, message).found(given).candidates(candidates));
        Skip
    }

    /// What stands in the brackets of an operator, by the first of its operands.
    fn bracketed_type(&mut self, given: &str, tokens: usize) -> Option<String> {
        let at = tokens + usize::from(self.is_punct(tokens, b'('));
        let operand = self.ahead(at);
        let name = (operand.kind == Kind::Ident).then(|| self.source(operand))?;
        let ty = self.name_type(name)?;
        match Opcode::of_mnemonic(given)?.spec().attr {
            AttrKind::Array => Some(ty.strip_prefix("array<")?.strip_suffix('>')?.to_owned()),
            AttrKind::Enum => Some(ty),
            _ => None,
        }
    }

    /// An operator with its attribute. Those that own regions are left at what follows their mnemonic and ref.
    pub(super) fn head(&mut self) -> Parsed<Head> {
        let at = self.peek().start;
        let Some((code, tokens)) = self.operator_ahead() else { return Err(self.no_operator()) };
        if needs_bracket(code) && !self.is_punct(tokens, b'<') {
            return Err(self.no_operator());
        }
        self.at += tokens;
        let attr = match code.spec().attr {
            AttrKind::None => AttrSyntax::None,
            AttrKind::Scalar(allowed) => {
                AttrSyntax::Scalar(self.scalar_suffix(code, at, |scalar| allowed.contains(&scalar))?)
            }
            AttrKind::Convert(allowed) => {
                let from =
                    self.scalar_suffix(code, at, |scalar| allowed.iter().any(|(from, _)| *from == scalar))?;
                AttrSyntax::Convert(from, self.scalar_suffix(code, at, |to| allowed.contains(&(from, to)))?)
            }
            AttrKind::Memory(allowed) => {
                let scalar = self.scalar_suffix(code, at, |scalar| allowed.contains(&scalar))?;
                AttrSyntax::Memory(scalar, 0, code.access_bytes(scalar).trailing_zeros() as u8)
            }
            AttrKind::Const => {
                self.at += 1;
                let ty = self.constant_type()?;
                let tag = self.adjacent_tag()?;
                let attr = AttrSyntax::Const(self.constant(&ty)?);
                return Ok(Head { code, attr, tag, at });
            }
            AttrKind::Type | AttrKind::Enum => {
                self.expect(b'<')?;
                let ty = self.type_syntax()?;
                self.expect(b'>')?;
                AttrSyntax::Type(ty)
            }
            AttrKind::Array => {
                self.expect(b'<')?;
                let element = Box::new(self.type_syntax()?);
                let length = if self.eat(b',') { Some(self.small_number("a length")?) } else { None };
                self.expect(b'>')?;
                AttrSyntax::Type(TypeSyntax { kind: TypeKind::Array(element, length), at })
            }
            AttrKind::Signature => {
                self.expect(b'<')?;
                let signature = self.signature()?;
                self.expect(b'>')?;
                AttrSyntax::Signature(signature)
            }
            AttrKind::Struct
            | AttrKind::Field
            | AttrKind::Variant
            | AttrKind::Function
            | AttrKind::Variable
            | AttrKind::Global
            | AttrKind::Data
            | AttrKind::Table
            | AttrKind::Elements
            | AttrKind::TableInit
            | AttrKind::TableCopy
            | AttrKind::Index
            | AttrKind::Indirect
            | AttrKind::Control
            | AttrKind::Match
            | AttrKind::Exit
            | AttrKind::Switch
            | AttrKind::Raw => AttrSyntax::None,
        };
        let tag = self.adjacent_tag()?;
        let mut head = Head { code, attr, tag, at };
        self.spaced_attribute(&mut head)?;
        // `var.set x, 1`: what an operator names may stand like a first operand.
        if matches!(head.attr, AttrSyntax::Path(_) | AttrSyntax::Member(..) | AttrSyntax::Entries(..))
            && !spec_inputs_empty(code)
        {
            self.eat(b',');
        }
        Ok(head)
    }

    /// The attributes that stand after a blank.
    fn spaced_attribute(&mut self, head: &mut Head) -> Parsed<()> {
        match head.code.spec().attr {
            AttrKind::Memory(_) => self.memory_argument(head)?,
            AttrKind::Struct => head.attr = AttrSyntax::Path(self.path("a struct")?),
            AttrKind::Function => head.attr = AttrSyntax::Path(self.path("a function")?),
            AttrKind::Variable => head.attr = AttrSyntax::Path(self.path("a variable")?),
            AttrKind::Global => head.attr = AttrSyntax::Path(self.path("a global")?),
            AttrKind::Data => head.attr = AttrSyntax::Path(self.path("a data segment")?),
            AttrKind::Table => head.attr = AttrSyntax::Path(self.path("a table")?),
            AttrKind::Elements => head.attr = AttrSyntax::Path(self.path("an element segment")?),
            AttrKind::TableInit => head.attr = self.table_and("an element segment")?,
            AttrKind::TableCopy => head.attr = self.table_and("the table to copy from")?,
            AttrKind::Field | AttrKind::Variant => {
                let owner = self.type_syntax()?;
                self.member_dot(&owner)?;
                head.attr = AttrSyntax::Member(owner, self.segment("a member")?);
            }
            AttrKind::Index => {
                head.attr = if self.peek().kind == Kind::Int {
                    AttrSyntax::Index(self.small_number("a position")?)
                } else {
                    AttrSyntax::Capture(self.segment("a capture")?)
                };
            }
            AttrKind::Indirect => {
                let table = self.path("a table")?;
                self.expect(b'<')?;
                let signature = self.signature()?;
                self.expect(b'>')?;
                head.attr = AttrSyntax::Indirect(table, signature);
            }
            // What begins the next line is no label.
            AttrKind::Exit if self.line_ends() => return Err(self.unexpected("a label")),
            AttrKind::Exit => head.attr = AttrSyntax::Exit(self.segment("a label")?),
            AttrKind::Switch => head.attr = AttrSyntax::Switch(self.switch_targets()?),
            AttrKind::Raw => {
                let token = self.peek();
                let digits = self.quoted("the bytes of the operator, in hexadecimal digits")?;
                let bytes = from_hex(&digits).map_err(|reason| {
                    self.note(Mistake::new(code::BAD_LITERAL, token.start, reason));
                    Skip
                })?;
                head.attr = AttrSyntax::Raw(bytes, self.signature()?);
            }
            AttrKind::None
            | AttrKind::Scalar(_)
            | AttrKind::Convert(_)
            | AttrKind::Const
            | AttrKind::Type
            | AttrKind::Array
            | AttrKind::Enum
            | AttrKind::Signature
            | AttrKind::Control
            | AttrKind::Match => {}
        }
        Ok(())
    }

    /// A table and where its new entries come from.
    fn table_and(&mut self, from: &str) -> Parsed<AttrSyntax> {
        let table = self.path("a table")?;
        self.eat(b',');
        Ok(AttrSyntax::Entries(table, self.path(from)?))
    }

    fn scalar_suffix(
        &mut self,
        code: Opcode,
        start: u32,
        allowed: impl Fn(Scalar) -> bool,
    ) -> Parsed<Scalar> {
        let token = self.ahead(1);
        if !self.is_punct(0, b'.') || token.kind != Kind::Ident {
            self.at += usize::from(self.is_punct(0, b'.'));
            return Err(self.unexpected(&format!("a type after `{}`", code.mnemonic())));
        }
        self.at += 2;
        let word = self.source(token);
        match word.parse::<Scalar>() {
            Ok(scalar) if allowed(scalar) => Ok(scalar),
            Ok(_) | Err(()) => {
                let given = &self.text[start as usize..token.end as usize];
                let known = Scalar::ALL.into_iter().filter(|scalar| allowed(*scalar));
                let stem = given.strip_suffix(word).unwrap_or(given);
                let forms: Vec<String> = known.map(|scalar| format!("{stem}{scalar}")).collect();
                let others = likely::operators(given).into_iter().filter(|form| !forms.contains(form));
                let candidates = others.chain(forms.iter().cloned()).collect();
                let message = format!("there is no operator `{given}`");
                let mistake = Mistake::new(code::UNKNOWN_OP, start, message).found(given);
                self.note(Mistake { expected: forms, candidates, ..mistake });
                Err(Skip)
            }
        }
    }

    fn constant_type(&mut self) -> Parsed<Type> {
        let token = self.peek();
        let word = if token.kind == Kind::Ident { self.source(token) } else { "" };
        let ty = match word {
            "unit" => Type::Unit,
            "string" => Type::String,
            "bytes" => Type::Bytes,
            _ => match word.parse::<Scalar>() {
                Ok(scalar) => scalar.into(),
                Err(()) => {
                    return Err(self.unexpected("the type of a constant: a scalar, unit, string or bytes"));
                }
            },
        };
        self.advance();
        Ok(ty)
    }

    /// A literal of a known type.
    pub(super) fn constant(&mut self, ty: &Type) -> Parsed<crate::types::Const> {
        let token = self.peek();
        if self.line_ends() {
            return Err(self.unexpected("a literal"));
        }
        let literal = self.literal()?;
        literal.typed(ty).map_err(|unfit| {
            self.note(unfit.mistake(&literal, &ty.to_string(), token.start));
            Skip
        })
    }

    fn memory_argument(&mut self, head: &mut Head) -> Parsed<()> {
        let AttrSyntax::Memory(_, offset, align) = &mut head.attr else { return Ok(()) };
        loop {
            let word = self.peek();
            let assigned = word.kind == Kind::Ident && self.is_punct(1, b'=');
            match if assigned { self.source(word) } else { "" } {
                "offset" => {
                    self.at += 2;
                    *offset = self.small_number("an offset")?;
                }
                "align" => {
                    self.at += 2;
                    let token = self.peek();
                    let given = self.small_number("an alignment")?;
                    let power = if given == 2 && self.eat(b'^') {
                        self.small_number("a power of two")?.try_into().ok()
                    } else {
                        given.is_power_of_two().then_some(given.trailing_zeros() as u8)
                    };
                    *align = power.ok_or_else(|| {
                        self.note(Mistake::new(
                            code::BAD_LITERAL,
                            token.start,
                            "an alignment is a power of two",
                        ));
                        Skip
                    })?;
                }
                _ => return Ok(()),
            }
        }
    }

    /// `(break A, continue L, return)`.
    fn switch_targets(&mut self) -> Parsed<Vec<ExitSyntax>> {
        self.expect(b'(')?;
        let mut targets = Vec::new();
        loop {
            targets.push(if self.eat_word("return") {
                ExitSyntax::Return
            } else if self.eat_word("break") {
                ExitSyntax::Break(self.segment("a label")?)
            } else if self.eat_word("continue") {
                ExitSyntax::Continue(self.segment("a label")?)
            } else {
                return Err(self.unexpected("`break`, `continue` or `return`"));
            });
            if self.eat(b')') {
                return Ok(targets);
            }
            self.expect(b',')?;
            if self.eat(b')') {
                return Ok(targets);
            }
        }
    }

    /// A label: a name without a ref.
    pub(super) fn label(&mut self) -> Parsed<Arc<str>> {
        let segment = self.given_name("a label")?;
        if let Some(tag) = segment.tag {
            self.note(Mistake::new(
                code::SYNTAX,
                tag.at,
                "the ref stands after the operator, not after its label",
            ));
        }
        Ok(segment.name)
    }

    /// `(0, 1, default)` or `(circle, Shape.square)`.
    pub(super) fn cases(&mut self, of: &mut MatchSyntax) -> Parsed<()> {
        self.expect(b'(')?;
        self.parens += 1;
        let cases = self.case_list(of);
        self.parens -= 1;
        cases
    }

    fn case_list(&mut self, of: &mut MatchSyntax) -> Parsed<()> {
        while !self.eat(b')') {
            let token = self.peek();
            if self.eat_word("default") {
                if of.default {
                    self.note(Mistake::new(code::DUPLICATE, token.start, "`default` stands here twice"));
                }
                of.default = true;
            } else if of.default {
                return Err(self.unexpected("`)`: `default` is the last"));
            } else {
                let case = self.case()?;
                of.cases.push(case);
            }
            if !self.eat(b',') && !self.is_punct(0, b')') {
                return Err(self.unexpected("`,` or `)`"));
            }
        }
        Ok(())
    }

    /// `5`, `circle`, `Shape.circle` or `option<i32>.some`.
    pub(super) fn case(&mut self) -> Parsed<CaseSyntax> {
        let token = self.peek();
        if token.kind == Kind::Int {
            let literal = self.literal()?;
            return match literal.integer(64) {
                Some(value) => Ok(CaseSyntax::Int(value)),
                None => {
                    let message = format!("{} is out of range for a case", self.describe(token));
                    self.note(Mistake::new(code::BAD_LITERAL, token.start, message));
                    Err(Skip)
                }
            };
        }
        let boolean = if self.is_word(0, "true") { Some(1) } else { None };
        if boolean.is_some() || self.is_word(0, "false") {
            self.note(Mistake::new(
                code::SYNTAX,
                token.start,
                "a `match` looks at integers and enums; use `if`",
            ));
            return Err(Skip);
        }
        let ty = self.type_syntax()?;
        match ty.kind {
            TypeKind::Named(Path { mut segments }) if segments.len() == 1 && !self.is_punct(0, b'.') => {
                Ok(CaseSyntax::Variant(None, segments.remove(0)))
            }
            _ => {
                self.member_dot(&ty)?;
                Ok(CaseSyntax::Variant(Some(ty), self.segment("a variant")?))
            }
        }
    }

    /// What a value's name must not be: told with the place that it stands in.
    pub(super) fn literal_ahead(&self) -> bool {
        let token = self.peek();
        match token.kind {
            Kind::Int | Kind::Float | Kind::Str | Kind::Bytes => true,
            Kind::Ident => WORDS.contains(&self.source(token)),
            Kind::Punct(_) | Kind::Arrow | Kind::PathSep | Kind::Bad | Kind::End => false,
        }
    }

    /// A literal with the ref that may follow it.
    pub(super) fn tagged_literal(&mut self) -> Parsed<(Literal, Option<crate::text::syntax::Tag>)> {
        let literal = self.literal()?;
        let tag = self.adjacent_tag()?;
        Ok((literal, tag))
    }

    /// The operator of a node alone, as in `print_op`: regions' owners with label and results, and for loops their
    /// parameters in the input form.
    pub(super) fn bare_control(&mut self, head: &mut Head) -> Parsed<Vec<crate::text::syntax::ParamSyntax>> {
        let mut params = Vec::new();
        match head.code.spec().attr {
            AttrKind::Control => {
                let label = self.bare_label()?;
                if self.is_punct(0, b'(') {
                    if head.code != Opcode::Loop {
                        return Err(self.unexpected("`->`"));
                    }
                    params = self.params()?;
                }
                head.attr = AttrSyntax::Control(label, self.results()?);
            }
            AttrKind::Match => {
                let mut of = MatchSyntax { label: self.bare_label()?, ..MatchSyntax::default() };
                self.cases(&mut of)?;
                of.results = self.results()?;
                head.attr = AttrSyntax::Match(of);
            }
            _ => {}
        }
        Ok(params)
    }

    fn bare_label(&mut self) -> Parsed<Option<Arc<str>>> {
        match self.peek().kind {
            Kind::Ident | Kind::Str => Ok(Some(self.label()?)),
            _ => Ok(None),
        }
    }

    /// `(x: i32, y: f64)`.
    pub(super) fn params(&mut self) -> Parsed<Vec<crate::text::syntax::ParamSyntax>> {
        self.expect(b'(')?;
        self.param_list(b')')
    }

    /// Parameters up to a closing bracket.
    pub(super) fn param_list(&mut self, close: u8) -> Parsed<Vec<crate::text::syntax::ParamSyntax>> {
        self.parens += 1;
        let params = self.param_items(close);
        self.parens -= 1;
        params
    }

    fn param_items(&mut self, close: u8) -> Parsed<Vec<crate::text::syntax::ParamSyntax>> {
        let mut params = Vec::new();
        while !self.eat(close) {
            let name = self.param_name()?;
            let ty =
                if self.eat(b':') { Some(self.type_syntax()?) } else { self.foreign_param(name.as_ref())? };
            params.push(crate::text::syntax::ParamSyntax { name, ty });
            if !self.eat(b',') && !self.is_punct(0, close) {
                return Err(self.unexpected(&format!("`,` or `{}`", close as char)));
            }
        }
        Ok(params)
    }

    /// The type of a parameter that stands behind its name without a colon, or before it.
    fn foreign_param(&mut self, name: Option<&Segment>) -> Parsed<Option<TypeSyntax>> {
        let token = self.peek();
        let Some(name) = name.filter(|_| token.kind == Kind::Ident && !token.line_start) else {
            return Ok(None);
        };
        let ty = self.type_syntax()?;
        let written = &self.text[token.start as usize..self.tokens[self.at - 1].end as usize];
        let form = match name.name.parse::<Scalar>() {
            Ok(scalar) => format!("{written}: {scalar}"),
            Err(()) => format!("{}: {written}", name.name),
        };
        let message = format!("a colon stands between a parameter and its type: `{form}`");
        self.note(Mistake::new(code::SYNTAX, token.start, message).expected(form).found(written));
        Ok(Some(ty))
    }

    /// The name of a parameter; `None` for `_`.
    pub(super) fn param_name(&mut self) -> Parsed<Option<Segment>> {
        let segment = self.given_name("a parameter")?;
        Ok((segment.quoted || &*segment.name != "_").then_some(segment))
    }
}
