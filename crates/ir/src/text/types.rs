//! Parsing of types and paths.

use crate::text::cursor::{Parsed, Parser, Skip};
use crate::text::error::{Mistake, code};
use crate::text::lexer::Kind;
use crate::text::likely;
use crate::text::syntax::{Path, SignatureSyntax, TypeKind, TypeSyntax};
use crate::types::Scalar;

/// How deep types and values may nest.
pub(super) const MAX_NESTING: usize = 64;

impl Parser<'_> {
    /// `a::b#m2::c`.
    pub(super) fn path(&mut self, expected: &str) -> Parsed<Path> {
        let mut segments = vec![self.segment(expected)?];
        while self.peek().kind == Kind::PathSep {
            self.advance();
            segments.push(self.segment(expected)?);
        }
        Ok(Path { segments })
    }

    /// A type.
    pub(super) fn type_syntax(&mut self) -> Parsed<TypeSyntax> {
        self.nested_type(0)
    }

    fn nested_type(&mut self, depth: usize) -> Parsed<TypeSyntax> {
        let token = self.peek();
        let at = token.start;
        if depth > MAX_NESTING {
            self.note(Mistake::new(
                code::TOO_DEEP,
                at,
                format!("types nest at most {MAX_NESTING} levels deep"),
            ));
            return Err(Skip);
        }
        let word = match token.kind {
            Kind::Ident => self.source(token),
            Kind::Str => "",
            Kind::Int
            | Kind::Float
            | Kind::Bytes
            | Kind::Punct(_)
            | Kind::Arrow
            | Kind::PathSep
            | Kind::Bad
            | Kind::End => return Err(self.no_type()),
        };
        let tagged = self.is_punct(1, b'#') && self.adjacent(1);
        let simple = match word {
            _ if tagged => None,
            "unit" => Some(TypeKind::Unit),
            "never" => Some(TypeKind::Never),
            "string" => Some(TypeKind::String),
            "bytes" => Some(TypeKind::Bytes),
            "funcref" => Some(TypeKind::FuncRef),
            "externref" => Some(TypeKind::ExternRef),
            _ => word.parse::<Scalar>().ok().map(TypeKind::Scalar),
        };
        if let Some(kind) = simple {
            self.advance();
            return Ok(TypeSyntax { kind, at });
        }
        let constructor = matches!(word, "ptr" | "option" | "box" | "result" | "array" | "closure");
        if !(constructor && self.is_punct(1, b'<')) {
            if self.is_punct(1, b'<') && self.adjacent(1) && token.kind == Kind::Ident {
                let message = format!("there is no type `{word}<..>`");
                let mistake = Mistake::new(code::UNKNOWN_NAME, at, message).found(word);
                self.note(mistake.candidates(likely::types(word)));
                return Err(Skip);
            }
            let kind = TypeKind::Named(self.path("a type")?);
            return Ok(TypeSyntax { kind, at });
        }
        self.at += 2;
        let one = |this: &mut Self| this.nested_type(depth + 1).map(Box::new);
        let kind = match word {
            "ptr" => TypeKind::Ptr(one(self)?),
            "option" => TypeKind::Option(one(self)?),
            "box" => TypeKind::Box(one(self)?),
            "result" => {
                let ok = self.nested_type(depth + 1)?;
                self.expect(b',')?;
                TypeKind::Result(Box::new((ok, self.nested_type(depth + 1)?)))
            }
            "array" => {
                let element = one(self)?;
                let length = if self.eat(b',') { Some(self.small_number("a length")?) } else { None };
                TypeKind::Array(element, length)
            }
            _ => TypeKind::Closure(Box::new(self.nested_signature(depth)?)),
        };
        self.expect(b'>')?;
        Ok(TypeSyntax { kind, at })
    }

    /// The dot between a type and its member.
    pub(super) fn member_dot(&mut self, owner: &TypeSyntax) -> Parsed<()> {
        if let TypeKind::Named(path) = &owner.kind
            && !self.is_punct(0, b'.')
            && let [around @ .., member] = path.segments.as_slice()
            && !around.is_empty()
        {
            let around: Vec<&str> = around.iter().map(|segment| &*segment.name).collect();
            let form = format!("{}.{}", around.join("::"), member.name);
            let message = format!("a dot stands before a member: `{form}`");
            let mistake = Mistake::new(code::SYNTAX, owner.at, message).expected(form.as_str());
            self.note(mistake.found(path.display()).candidates(vec![form]));
            return Err(Skip);
        }
        self.expect(b'.').map(drop)
    }

    fn no_type(&mut self) -> Skip {
        let token = self.peek();
        if token.kind != Kind::Bad {
            let found = self.describe(token);
            let message = format!("expected a type, found {found}");
            let mistake = Mistake::new(code::TYPE_EXPECTED, token.start, message);
            self.note(mistake.expected("a type").found(found).candidates(self.bracketed_array()));
        }
        Skip
    }

    /// For `[T]` or `[T, 4]`, how an array is written.
    fn bracketed_array(&self) -> Vec<String> {
        let token = self.peek();
        let inner = (token.kind == Kind::Punct(b'['))
            .then(|| self.tokens.get(token.partner as usize))
            .flatten()
            .map(|close| self.text[token.end as usize..close.start as usize].trim());
        let short =
            inner.filter(|inner| !inner.is_empty() && inner.len() <= 40 && !inner.contains([';', '\n']));
        short.map(|inner| format!("array<{inner}>")).into_iter().collect()
    }

    /// `(i32, i64) -> (f64)`.
    pub(super) fn signature(&mut self) -> Parsed<SignatureSyntax> {
        self.nested_signature(0)
    }

    fn nested_signature(&mut self, depth: usize) -> Parsed<SignatureSyntax> {
        let params = self.nested_list(depth)?;
        if self.peek().kind != Kind::Arrow {
            return Err(self.unexpected("`->`"));
        }
        self.advance();
        Ok(SignatureSyntax { params, results: self.nested_list(depth)? })
    }

    /// `(i32, i64)`.
    pub(super) fn type_list(&mut self) -> Parsed<Vec<TypeSyntax>> {
        self.nested_list(0)
    }

    fn nested_list(&mut self, depth: usize) -> Parsed<Vec<TypeSyntax>> {
        self.expect(b'(')?;
        let mut types = Vec::new();
        while !self.eat(b')') {
            types.push(self.nested_type(depth + 1)?);
            if !self.eat(b',') && !self.is_punct(0, b')') {
                return Err(self.unexpected("`,` or `)`"));
            }
        }
        Ok(types)
    }

    /// `-> (i32, i64)` or `-> i32`; nothing for no results.
    pub(super) fn results(&mut self) -> Parsed<Vec<TypeSyntax>> {
        if self.peek().kind != Kind::Arrow {
            return Ok(Vec::new());
        }
        self.advance();
        if self.is_punct(0, b'(') { self.type_list() } else { Ok(vec![self.type_syntax()?]) }
    }
}
