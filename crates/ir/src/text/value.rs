//! Values in the text form: `i64:9007199254740993`, `f64:nan`, `[i32: 1, 2]`, `Point{x: 1, y: 2}`.
//!
//! Where the type of a part follows from what stands around it, the part is written without its type; on input both
//! are taken everywhere.

use std::sync::Arc;

use crate::ops::signature::payload_type;
use crate::program::Program;
use crate::refs::{FuncRef, Ref, TypeRef};
use crate::text::cursor::{Parsed, Parser, Skip};
use crate::text::error::{Mistake, TextError, code, in_scope};
use crate::text::lexer::Kind;
use crate::text::literal::{FloatStyle, put, write_const};
use crate::text::names::{ProgramNames, write_function_path, write_type_path};
use crate::text::op::{Naming, parse_alone, write_named_type};
use crate::text::resolve::{Names, given_ref, resolve_type, resolve_variant};
use crate::text::syntax::{Path, TypeKind, TypeSyntax};
use crate::text::words::write_name;
use crate::types::{Const, Scalar, Type, Variant};
use crate::value::Value;

/// How deep a value on input may nest.
const MAX_DEPTH: usize = 200;

/// Prints a value with its type.
///
/// Refs name what the program does not have. Nesting costs no stack.
pub fn print_value(program: &Program, value: &Value) -> String {
    print(program, program, value)
}

/// Prints a value with its type and with refs in place of names: it reads back whatever is renamed.
pub fn print_value_by_refs(program: &Program, value: &Value) -> String {
    print(program, &Program::new(), value)
}

/// Prints a value of a program, with the names that `named` knows.
fn print(program: &Program, named: &Program, value: &Value) -> String {
    enum Work<'v> {
        Value(&'v Value, Typed),
        Word(&'static str),
        Text(String),
    }

    // Most values are no longer than a number of 64 bits with its type, and have nothing inside.
    let mut out = String::with_capacity(24);
    if let Value::Const(of) = value {
        write_plain(&mut out, of, Typed::Yes);
        return out;
    }
    let mut work = vec![Work::Value(value, Typed::Yes)];
    let names = ValueNames { program: named };
    while let Some(next) = work.pop() {
        let (value, typed) = match next {
            Work::Word(word) => {
                out.push_str(word);
                continue;
            }
            Work::Text(text) => {
                out.push_str(&text);
                continue;
            }
            Work::Value(value, typed) => (value, typed),
        };
        let from = work.len();
        match value {
            Value::Const(of) => write_plain(&mut out, of, typed),
            Value::Struct(of, fields) => {
                write_type_path(&mut out, named, *of);
                out.push('{');
                let def = program.type_def(*of);
                for (index, field) in fields.iter().enumerate() {
                    let mut name = String::from(if index == 0 { "" } else { ", " });
                    match def.and_then(|def| def.fields().get(index)) {
                        Some(known) if named.type_def(*of).is_some() => write_name(&mut name, &known.name),
                        Some(known) => put(&mut name, format_args!("{}", known.member)),
                        None => put(&mut name, format_args!("\"{index}\"")),
                    }
                    name.push_str(": ");
                    work.push(Work::Text(name));
                    work.push(Work::Value(field, Typed::No));
                }
                work.push(Work::Word("}"));
            }
            Value::Enum(variant, payload) => {
                if typed == Typed::Yes {
                    write_named_type(&mut out, &variant.owner(), &names);
                    out.push('.');
                }
                write_variant_label(&mut out, named, variant);
                if let Some(payload) = payload {
                    out.push('(');
                    work.push(Work::Value(payload, Typed::No));
                    work.push(Work::Word(")"));
                }
            }
            Value::Array(of, elements) | Value::FixedArray(of, elements) => {
                out.push('[');
                if typed == Typed::Yes {
                    write_named_type(&mut out, of, &names);
                    if matches!(value, Value::FixedArray(..)) {
                        put(&mut out, format_args!(", {}", elements.len()));
                    }
                    out.push_str(if elements.is_empty() { ":" } else { ": " });
                }
                for (index, element) in elements.iter().enumerate() {
                    work.push(Work::Word(if index == 0 { "" } else { ", " }));
                    work.push(Work::Value(element, Typed::No));
                }
                work.push(Work::Word("]"));
            }
            Value::Box(of, inner) => {
                out.push_str("box");
                if typed == Typed::Yes {
                    out.push('<');
                    write_named_type(&mut out, of, &names);
                    out.push('>');
                }
                out.push('(');
                work.push(Work::Value(inner, Typed::No));
                work.push(Work::Word(")"));
            }
            Value::Ptr(of, address) => {
                if typed == Typed::Yes {
                    out.push_str("ptr<");
                    write_named_type(&mut out, of, &names);
                    out.push_str(">:");
                }
                put(&mut out, format_args!("{address}"));
            }
            Value::FuncRef(of) => {
                if typed == Typed::Yes {
                    out.push_str("funcref:");
                }
                match of {
                    Some(function) => write_function_path(&mut out, named, *function),
                    None => out.push_str("null"),
                }
            }
            Value::ExternRef => out.push_str(if typed == Typed::Yes { "externref:null" } else { "null" }),
            Value::Closure(_, function, captures) => {
                out.push_str("closure:");
                write_function_path(&mut out, named, *function);
                out.push('(');
                for (index, capture) in captures.iter().enumerate() {
                    work.push(Work::Word(if index == 0 { "" } else { ", " }));
                    work.push(Work::Value(capture, Typed::No));
                }
                work.push(Work::Word(")"));
            }
        }
        // What was pushed in reading order is popped in reading order.
        work[from..].reverse();
    }
    out
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Typed {
    Yes,
    No,
}

fn write_plain(out: &mut String, of: &Const, typed: Typed) {
    if let (Typed::Yes, Type::Scalar(scalar)) = (typed, of.ty()) {
        out.push_str(scalar.name());
        out.push(':');
    }
    write_const(out, of, FloatStyle::Short);
}

fn write_variant_label(out: &mut String, program: &Program, variant: &Variant) {
    match variant {
        Variant::Member(of, member) => {
            let def = program.type_def(*of);
            match def.and_then(|def| def.variant(*member)) {
                Some((_, known)) => write_name(out, &known.name),
                None => put(out, format_args!("{member}")),
            }
        }
        Variant::None(_) | Variant::Some(_) | Variant::Ok(_) | Variant::Err(_) => {
            out.push_str(variant.built_in_name().unwrap_or_default());
        }
    }
}

/// Types in values by their path, from the top of the program.
struct ValueNames<'p> {
    program: &'p Program,
}

impl Naming for ValueNames<'_> {
    fn named(&self, out: &mut String, of: TypeRef) {
        write_type_path(out, self.program, of);
    }

    fn function(&self, out: &mut String, of: FuncRef) {
        write_function_path(out, self.program, of);
    }

    fn variable(&self, out: &mut String, of: crate::refs::VarRef) {
        put(out, format_args!("{of}"));
    }

    fn storage(&self, out: &mut String, of: crate::refs::VarRef) {
        put(out, format_args!("{of}"));
    }

    fn member(&self, out: &mut String, _: TypeRef, of: crate::refs::MemberRef) {
        put(out, format_args!("{of}"));
    }

    fn target(&self, out: &mut String, of: crate::refs::NodeRef) {
        put(out, format_args!("{of}"));
    }

    fn capture(&self, out: &mut String, index: u32) {
        put(out, format_args!("{index}"));
    }
}

/// Reads a value of a type. The type may be written in the value or be left out.
pub fn parse_value(program: &Program, ty: &Type, text: &str) -> Result<Value, TextError> {
    let read = parse_alone(text, |parser| parser.value(program, ty, 0), Ok);
    // No operator stands in a value: those that are likely in code are not meant.
    read.map_err(|error| match error.code == code::SYNTAX && !error.candidates.is_empty() {
        true => TextError { expected: Vec::new(), candidates: Vec::new(), ..error },
        false => error,
    })
}

impl Parser<'_> {
    fn refuse(&mut self, mistake: Mistake) -> Skip {
        self.note(mistake);
        Skip
    }

    fn wanted(&mut self, program: &Program, ty: &Type) -> Skip {
        let mut name = String::new();
        write_named_type(&mut name, ty, &ValueNames { program });
        let token = self.peek();
        // `i64:5`: a type that is not the one wanted.
        let scalar = self.source(token).parse::<Scalar>().ok().filter(|_| self.is_punct(1, b':'));
        match scalar {
            Some(found) => {
                let message = format!("expected a value of `{name}`, found one of `{found}`");
                let mistake = Mistake::new(code::BAD_LITERAL, token.start, message);
                self.refuse(mistake.expected(format!("a value of `{name}`")).found(format!("`{found}`")))
            }
            None => self.unexpected(&format!("a value of `{name}`")),
        }
    }

    /// `word:` before a value, when it says what is known.
    fn type_prefix(&mut self, word: &str) {
        if self.is_word(0, word) && self.is_punct(1, b':') {
            self.at += 2;
        }
    }

    fn value(&mut self, program: &Program, ty: &Type, depth: usize) -> Parsed<Value> {
        let at = self.peek().start;
        if depth > MAX_DEPTH {
            return Err(self.refuse(Mistake::new(code::TOO_DEEP, at, "values nest too deeply")));
        }
        match ty {
            Type::Scalar(_) | Type::Unit | Type::String | Type::Bytes => {
                self.type_prefix(&ty.to_string());
                if !self.literal_ahead() && self.peek().kind != Kind::Bad {
                    return Err(self.wanted(program, ty));
                }
                self.constant(ty).map(Value::Const)
            }
            Type::Named(of) => match program.type_def(*of).map(|def| &def.shape) {
                Some(crate::entities::Shape::Struct(_)) => self.struct_value(program, *of, depth),
                Some(crate::entities::Shape::Enum(_)) => self.enum_value(program, ty, depth),
                None => Err(self.refuse(Mistake::new(code::UNKNOWN_REF, at, format!("there is no `{of}`")))),
            },
            Type::Option(_) | Type::Result(_) => self.enum_value(program, ty, depth),
            Type::Array(_) | Type::FixedArray(..) if !self.is_punct(0, b'[') => Err(self.wanted(program, ty)),
            Type::Array(element) => {
                let elements = self.array_value(program, element, depth)?;
                Ok(Value::Array(Arc::clone(element), elements))
            }
            Type::FixedArray(element, length) => {
                let elements = self.array_value(program, element, depth)?;
                if elements.len() != *length as usize {
                    let message = format!("expected {length} elements, found {}", elements.len());
                    return Err(self.refuse(Mistake::new(code::ARITY, at, message)));
                }
                Ok(Value::FixedArray(Arc::clone(element), elements))
            }
            Type::Box(inner) => {
                if !self.eat_word("box") {
                    return Err(self.wanted(program, ty));
                }
                if self.eat(b'<') {
                    self.type_like(program, inner)?;
                    self.expect(b'>')?;
                }
                self.expect(b'(')?;
                let value = self.value(program, inner, depth + 1)?;
                self.expect(b')')?;
                Ok(Value::Box(Arc::clone(inner), Box::new(value)))
            }
            Type::Ptr(inner) => {
                if self.is_word(0, "ptr") {
                    self.type_like(program, ty)?;
                    self.expect(b':')?;
                }
                Ok(Value::Ptr(Arc::clone(inner), self.small_number("an address")?))
            }
            Type::FuncRef => {
                self.type_prefix("funcref");
                if self.eat_word("null") {
                    return Ok(Value::FuncRef(None));
                }
                self.function_value(program).map(|function| Value::FuncRef(Some(function)))
            }
            Type::ExternRef => {
                self.type_prefix("externref");
                match self.eat_word("null") {
                    true => Ok(Value::ExternRef),
                    false => Err(self.unexpected("`null`")),
                }
            }
            Type::Closure(_) => {
                self.type_prefix("closure");
                let function = self.function_value(program)?;
                let known = program.function(function).map(|known| known.head().captures.clone());
                self.expect(b'(')?;
                let mut captures = Vec::new();
                for (index, capture) in known.into_iter().flatten().enumerate() {
                    if index > 0 {
                        self.expect(b',')?;
                    }
                    captures.push(self.value(program, &capture.ty, depth + 1)?);
                }
                self.expect(b')')?;
                Ok(Value::Closure(ty.clone(), function, captures))
            }
            Type::Never => {
                let message = format!("a value of `{ty}` cannot be written");
                Err(self.refuse(Mistake::new(code::UNSUPPORTED, at, message)))
            }
        }
    }

    fn function_value(&mut self, program: &Program) -> Parsed<FuncRef> {
        let path = self.path("a function")?;
        let found = ProgramNames { program, module: None }.function(&path);
        found.map_err(|mistake| self.refuse(mistake))
    }

    /// A type that must be the known one.
    fn type_like(&mut self, program: &Program, ty: &Type) -> Parsed<()> {
        let syntax = self.type_syntax()?;
        let at = syntax.at;
        let found = match (&syntax.kind, ty) {
            // The known type is a hint enough for a name that would need a path.
            (TypeKind::Named(path), Type::Named(of)) if names_type(program, path, *of) => return Ok(()),
            (_, _) => resolve_type(&syntax, &ProgramNames { program, module: None }),
        };
        match found {
            Ok(found) if found == *ty => Ok(()),
            Ok(found) => {
                let message = format!("expected a value of `{ty}`, found one of `{found}`");
                Err(self.refuse(Mistake::new(code::BAD_LITERAL, at, message)))
            }
            Err(mistake) => Err(self.refuse(mistake)),
        }
    }

    fn struct_value(&mut self, program: &Program, of: TypeRef, depth: usize) -> Parsed<Value> {
        let Some(def) = program.type_def(of).cloned() else { return Err(Skip) };
        if !self.is_punct(0, b'{') {
            let syntax = match self.peek().kind {
                Kind::Ident | Kind::Str => {
                    TypeSyntax { at: self.peek().start, kind: TypeKind::Named(self.path("a struct")?) }
                }
                _ => return Err(self.wanted(program, &Type::Named(of))),
            };
            let TypeKind::Named(path) = &syntax.kind else { return Err(Skip) };
            if !names_type(program, path, of) {
                let message =
                    format!("expected a value of `{}`, found one of `{}`", def.name, path.display());
                return Err(self.refuse(Mistake::new(code::BAD_LITERAL, syntax.at, message)));
            }
        }
        self.expect(b'{')?;
        let mut values: Vec<Option<Value>> = vec![None; def.fields().len()];
        while !self.eat(b'}') {
            let segment = self.segment("a field")?;
            let by_ref = given_ref(&segment).map(|(of, _)| of);
            let found = def
                .fields()
                .iter()
                .position(|field| Some(Ref::from(field.member)) == by_ref || *field.name == *segment.name);
            let Some(index) = found else {
                let message = format!("`{}` has no field `{}`", def.name, segment.name);
                let known = in_scope(&segment.name, def.fields().iter().map(|field| &*field.name));
                return Err(
                    self.refuse(Mistake::new(code::UNKNOWN_NAME, segment.at, message).candidates(known))
                );
            };
            self.expect(b':')?;
            let value = self.value(program, &def.fields()[index].ty, depth + 1)?;
            if values[index].replace(value).is_some() {
                let message = format!("the field `{}` stands here twice", segment.name);
                return Err(self.refuse(Mistake::new(code::DUPLICATE, segment.at, message)));
            }
            if !self.eat(b',') && !self.is_punct(0, b'}') {
                return Err(self.unexpected("`,` or `}`"));
            }
        }
        match values.iter().position(Option::is_none) {
            None => Ok(Value::Struct(of, values.into_iter().flatten().collect())),
            Some(index) => {
                let at = self.tokens[self.at - 1].start;
                let message = format!("the field `{}` is missing", def.fields()[index].name);
                Err(self.refuse(Mistake::new(code::ARITY, at, message)))
            }
        }
    }

    fn enum_value(&mut self, program: &Program, ty: &Type, depth: usize) -> Parsed<Value> {
        // `Enum.variant` or `variant`: a dot before the variant tells.
        let typed = self.is_punct(1, b'<') || {
            let mut count = 1;
            while matches!(self.ahead(count).kind, Kind::PathSep | Kind::Punct(b'#')) {
                count += 2;
            }
            self.is_punct(count, b'.')
        };
        if typed {
            self.type_like(program, ty)?;
            self.expect(b'.')?;
        }
        if !matches!(self.peek().kind, Kind::Ident | Kind::Str) {
            return Err(self.wanted(program, ty));
        }
        let segment = self.segment("a variant")?;
        let variant = resolve_variant(ty, &segment, &ProgramNames { program, module: None });
        let variant = variant.map_err(|mistake| self.refuse(mistake))?;
        let payload = match payload_type(program, &variant).flatten() {
            None => None,
            Some(payload) => {
                self.expect(b'(')?;
                let value = self.value(program, &payload, depth + 1)?;
                self.expect(b')')?;
                Some(Box::new(value))
            }
        };
        Ok(Value::Enum(variant, payload))
    }

    fn array_value(&mut self, program: &Program, element: &Type, depth: usize) -> Parsed<Vec<Value>> {
        self.expect(b'[')?;
        if self.array_prefix() {
            self.type_like(program, element)?;
            if self.eat(b',') {
                // The number of elements is told by the elements.
                self.small_number("a length")?;
            }
            self.expect(b':')?;
        }
        let mut elements = Vec::new();
        while !self.eat(b']') {
            elements.push(self.value(program, element, depth + 1)?);
            if !self.eat(b',') && !self.is_punct(0, b']') {
                return Err(self.unexpected("`,` or `]`"));
            }
        }
        Ok(elements)
    }

    /// Whether a type and a `:` stand here, before the elements of an array.
    fn array_prefix(&mut self) -> bool {
        if !matches!(self.peek().kind, Kind::Ident | Kind::Str) {
            return false;
        }
        let (at, noted) = (self.at, self.mistakes.len());
        let found = self.type_syntax().is_ok()
            && (self.is_punct(0, b':')
                || (self.is_punct(0, b',') && self.ahead(1).kind == Kind::Int && self.is_punct(2, b':')));
        self.at = at;
        self.mistakes.truncate(noted);
        found
    }
}

/// Tells whether a path is one of a type: its ref, its name, or its name behind modules.
fn names_type(program: &Program, path: &Path, of: TypeRef) -> bool {
    match given_ref(path.last()) {
        Some((given, _)) => given == Ref::from(of),
        None => {
            let full = program.path(of.into());
            let given = path.display();
            full == given || full.ends_with(&format!("::{given}"))
        }
    }
}

#[cfg(test)]
#[path = "value_tests.rs"]
mod tests;
