//! Parsing of what stands in a program: modules, types, storage and functions.

use std::sync::Arc;

use crate::entities::{EffectBound, Visibility};
use crate::ops::Opcode;
use crate::section::{Section, SectionPlace};
use crate::text::cursor::{Parsed, Parser, Skip};
use crate::text::error::{Mistake, code};
use crate::text::foreign;
use crate::text::lexer::Kind;
use crate::text::literal::Literal;
use crate::text::statements::{Open, join_docs};
use crate::text::syntax::{
    EntrySyntax, FunctionItem, InitialSyntax, Item, MemberSyntax, Modifiers, ModuleSyntax, OffsetSyntax,
    ParamSyntax, Segment, StorageItem, StorageSyntax, TypeItem, TypeSyntax,
};
use crate::types::Type;

/// The words that begin an item.
const ITEM_WORDS: [&str; 13] = [
    "module", "type", "func", "global", "memory", "data", "table", "elem", "custom", "pub", "import",
    "export", "start",
];

impl Parser<'_> {
    /// A whole text of modules and items, into the tree.
    pub(super) fn items(&mut self) {
        self.tree.modules.push((None, Vec::new()));
        let mut ended = false;
        loop {
            let doc = self.item_comments();
            let token = self.peek();
            if token.kind == Kind::End {
                self.end_module(doc);
                return;
            }
            if self.is_word(0, "end") {
                self.end_module(doc);
                self.advance();
                ended = true;
                continue;
            }
            let from = self.at;
            self.begin = from;
            if self.item(doc, &mut ended).is_err() {
                self.skip_item(from);
            }
        }
    }

    /// Comments before an item; the `; run:` lines among them go to the function before.
    fn item_comments(&mut self) -> Option<Arc<str>> {
        let mut doc: Option<String> = None;
        while let Some(comment) = self.next_comment() {
            if let Some(run) = self.run_text(comment) {
                let items = self.tree.modules.last_mut().map(|(_, items)| items);
                match items.and_then(|items| items.last_mut()) {
                    Some(Item::Function(function)) => function.runs.push(run.into()),
                    Some(Item::Type(_) | Item::Storage(_)) | None => self.note(Mistake::new(
                        code::MISPLACED_RUN,
                        comment.start - 1,
                        "a `; run:` line stands after the function that it runs",
                    )),
                }
                continue;
            }
            let line = self.comment_text(comment);
            match &mut doc {
                None => doc = Some(line.to_owned()),
                Some(doc) => {
                    doc.push('\n');
                    doc.push_str(line);
                }
            }
        }
        doc.map(Into::into)
    }

    fn end_module(&mut self, trailer: Option<Arc<str>>) {
        if let Some((Some(module), _)) = self.tree.modules.last_mut() {
            module.trailer = join_docs(module.trailer.take(), trailer);
        }
    }

    /// Whether an item begins here, as no line of a body does.
    pub(super) fn item_ahead(&self) -> bool {
        let word = usize::from(self.is_word(0, "pub"));
        let named = matches!(self.ahead(word + 1).kind, Kind::Ident | Kind::Str);
        let begins = || ["func", "type", "module", "global"].iter().any(|item| self.is_word(word, item));
        self.peek().line_start && named && begins()
    }

    /// Where a line of a body is awaited and an item begins: the braces of the body are not closed, and it ends here.
    pub(super) fn item_in_body(&mut self, only_lines: bool, stack: &mut Vec<Open>) -> Parsed<()> {
        if only_lines {
            return Err(self.unexpected("a line of a function"));
        }
        stack.clear();
        // The one mistake for all that is open; what follows is read as it stands.
        let Skip = self.unexpected("`}`");
        Ok(())
    }

    /// Goes to the next line that begins an item.
    fn skip_item(&mut self, from: usize) {
        self.skip_line(from);
        loop {
            let token = self.peek();
            let begins = token.kind == Kind::Ident
                && token.line_start
                && (ITEM_WORDS.contains(&self.source(token))
                    || foreign::is_item(self.source(token))
                    || self.is_word(0, "end"));
            if token.kind == Kind::End || begins {
                return;
            }
            let at = self.at;
            self.skip_line(at);
        }
    }

    fn item(&mut self, doc: Option<Arc<str>>, ended: &mut bool) -> Parsed<()> {
        let modifiers = self.modifiers(doc)?;
        let token = self.peek();
        let word = if token.kind == Kind::Ident { self.source(token) } else { "" };
        if *ended && word != "module" {
            return Err(self.unexpected("`module`, after the `end` of another one"));
        }
        let item = match word {
            "module" => {
                self.advance();
                let path = self.path("the name of the module")?;
                for segment in &path.segments {
                    self.refuse_ref_name(&segment.name, segment.at);
                    self.refuse_path_name(&segment.name, segment.at);
                }
                self.refuse_modifiers(&modifiers, token.start);
                *ended = false;
                let module = ModuleSyntax { modifiers, path, trailer: None };
                self.tree.modules.push((Some(module), Vec::new()));
                return self.item_end();
            }
            "type" => Item::Type(self.type_item(modifiers)?),
            "func" => Item::Function(self.function_item(modifiers)?),
            "global" | "memory" | "data" | "table" | "elem" | "custom" => {
                if modifiers.start {
                    self.note(Mistake::new(code::SYNTAX, token.start, "only a function may be `start`"));
                }
                Item::Storage(self.storage_item(modifiers, word == "global")?)
            }
            _ => match foreign::item(word) {
                Some(of) => self.foreign_item(of, modifiers)?,
                None => {
                    return Err(self.unexpected(
                        "`module`, `type`, `func`, `global`, `memory`, `data`, `table`, `elem` or `custom`",
                    ));
                }
            },
        };
        let documented = !matches!(item, Item::Function(_));
        if let Some((_, items)) = self.tree.modules.last_mut() {
            items.push(item);
        }
        if documented {
            let comment = self.take_line_comment();
            let items = self.tree.modules.last_mut().map(|(_, items)| items);
            match items.and_then(|items| items.last_mut()) {
                Some(
                    Item::Type(TypeItem { modifiers, .. }) | Item::Storage(StorageItem { modifiers, .. }),
                ) => {
                    modifiers.doc = join_docs(modifiers.doc.take(), comment);
                }
                Some(Item::Function(_)) | None => {}
            }
        }
        self.item_end()
    }

    fn item_end(&mut self) -> Parsed<()> {
        if self.line_ends() { Ok(()) } else { Err(self.unexpected("the end of the line")) }
    }

    fn modifiers(&mut self, doc: Option<Arc<str>>) -> Parsed<Modifiers> {
        let mut modifiers = Modifiers { doc, ..Modifiers::default() };
        loop {
            let token = self.peek();
            let word = if token.kind == Kind::Ident { self.source(token) } else { "" };
            let again = match word {
                "pub" => modifiers.visibility == Visibility::Public,
                "start" => modifiers.start,
                "import" => modifiers.import.is_some(),
                "export" => false,
                _ => return Ok(modifiers),
            };
            if again {
                self.note(Mistake::new(code::DUPLICATE, token.start, format!("`{word}` stands here twice")));
            }
            self.advance();
            match word {
                "pub" => modifiers.visibility = Visibility::Public,
                "start" => modifiers.start = true,
                "import" => {
                    let module = self.quoted("the module of the host, in quotes")?;
                    modifiers.import =
                        Some((module, self.quoted("the name in the host's module, in quotes")?));
                }
                _ => modifiers.exports.push(self.quoted("the name of the export, in quotes")?),
            }
        }
    }

    fn refuse_modifiers(&mut self, modifiers: &Modifiers, at: u32) {
        if modifiers.import.is_some() || !modifiers.exports.is_empty() || modifiers.start {
            self.note(Mistake::new(code::SYNTAX, at, "only `pub` may stand here"));
        }
    }

    /// `type Point = struct { x: f64 }`, from its first word.
    pub(super) fn type_item(&mut self, modifiers: Modifiers) -> Parsed<TypeItem> {
        self.refuse_modifiers(&modifiers, self.peek().start);
        self.advance();
        let label = self.given_name("the name of the type")?;
        self.expect(b'=')?;
        let is_enum = self.is_word(0, "enum");
        if !is_enum && !self.is_word(0, "struct") {
            return Err(self.unexpected("`struct` or `enum`"));
        }
        self.advance();
        self.members(modifiers, label, is_enum)
    }

    /// The fields or variants of a type, from their brace.
    fn members(&mut self, modifiers: Modifiers, label: Segment, is_enum: bool) -> Parsed<TypeItem> {
        self.expect(b'{')?;
        let mut members = Vec::new();
        loop {
            let doc = self.take_comments();
            if self.eat(b'}') {
                return Ok(TypeItem { modifiers, label, is_enum, members });
            }
            let label = self.given_name(if is_enum { "a variant or `}`" } else { "a field or `}`" })?;
            let ty = if !is_enum {
                self.expect(b':')?;
                Some(self.type_syntax()?)
            } else if self.eat(b'(') {
                let ty = self.type_syntax()?;
                self.expect(b')')?;
                Some(ty)
            } else {
                None
            };
            let comma = self.eat(b',');
            let doc = join_docs(doc, self.take_line_comment());
            members.push(MemberSyntax { label, ty, doc });
            if !comma && !self.is_punct(0, b'}') && !self.peek().line_start {
                return Err(self.unexpected("`,` or `}`"));
            }
        }
    }

    /// Tells how an item of another language begins here, and reads it where that is clear.
    fn foreign_item(&mut self, of: foreign::Item, modifiers: Modifiers) -> Parsed<Item> {
        let token = self.peek();
        let found = self.source(token);
        let (rule, form) = self.foreign_head(of);
        let mistake = Mistake::new(code::SYNTAX, token.start, rule).expected(form).found(found);
        self.note(mistake);
        match of {
            foreign::Item::Function => Ok(Item::Function(self.function_item(modifiers)?)),
            foreign::Item::Struct | foreign::Item::Enum => {
                self.advance();
                let label = self.given_name("the name of the type")?;
                let item = self.members(modifiers, label, of == foreign::Item::Enum)?;
                Ok(Item::Type(item))
            }
            foreign::Item::Constant | foreign::Item::Mutable => Err(Skip),
        }
    }

    /// `func name [captures] (params) -> (results) bound { .. }`, from its first word.
    pub(super) fn function_item(&mut self, modifiers: Modifiers) -> Parsed<FunctionItem> {
        self.function = self.at;
        self.advance();
        let label = self.given_name("the name of the function")?;
        let captures = if self.eat(b'[') { self.param_list(b']')? } else { Vec::new() };
        let params = self.params()?;
        for param in captures.iter().chain(&params) {
            if param.ty.is_none() {
                let at = param.name.as_ref().map_or(label.at, |name| name.at);
                self.note(
                    Mistake::new(code::TYPE_EXPECTED, at, "a parameter needs a type")
                        .expected("`:` and a type"),
                );
            }
        }
        let results = self.function_results()?;
        let bound = if self.eat_word("pure") {
            EffectBound::Pure
        } else if self.eat_word("reads") {
            EffectBound::Reads
        } else {
            self.eat_word("any");
            EffectBound::Any
        };
        let tag = self.tag()?;
        let imported = modifiers.import.is_some();
        let body = if self.is_punct(0, b'{') {
            let at = self.peek().start;
            let body = self.body(tag)?;
            if imported {
                self.note(Mistake::new(code::SYNTAX, at, "an imported function has no body"));
            }
            Some(body)
        } else if imported {
            None
        } else {
            return Err(self.unexpected("`{`"));
        };
        Ok(FunctionItem { modifiers, label, captures, params, results, bound, body, runs: Vec::new() })
    }

    /// `-> (T)`; what others write there is told.
    fn function_results(&mut self) -> Parsed<Vec<TypeSyntax>> {
        let token = self.peek();
        let word = if token.kind == Kind::Ident { self.source(token) } else { "" };
        let is_bare = !word.is_empty() && !["pure", "reads", "any"].contains(&word) && !token.line_start;
        if token.kind != Kind::Punct(b':') && !is_bare {
            return self.results();
        }
        self.eat(b':');
        let from = self.peek().start as usize;
        let results = if self.is_punct(0, b'(') { self.type_list()? } else { vec![self.type_syntax()?] };
        let form = format!("-> {}", &self.text[from..self.tokens[self.at - 1].end as usize]);
        let message = format!("results stand behind an arrow: `{form}`");
        let found = self.describe(token);
        self.note(Mistake::new(code::SYNTAX, token.start, message).expected(form).found(found));
        Ok(results)
    }

    fn storage_item(&mut self, modifiers: Modifiers, global: bool) -> Parsed<StorageItem> {
        let word = self.advance();
        let mutable = global
            && self.is_word(0, "mut")
            && matches!(self.ahead(1).kind, Kind::Ident | Kind::Str)
            && self.eat_word("mut");
        let label = self.given_name("a name")?;
        let kind = match self.source(word) {
            "global" => self.global(mutable)?,
            "memory" => {
                let pages = self.small_number("a number of pages")?;
                self.eat_word("max");
                let bounded = self.peek().kind == Kind::Int && !self.line_ends();
                let max_pages = if bounded { Some(self.small_number("a number of pages")?) } else { None };
                StorageSyntax::Memory { pages, max_pages }
            }
            "data" => {
                let offset = if self.eat_word("at") { Some(self.offset("an address")?) } else { None };
                self.eat(b'=');
                StorageSyntax::Data { offset, bytes: self.data_bytes()? }
            }
            "elem" => self.elements()?,
            "custom" => self.custom()?,
            _ => self.table()?,
        };
        Ok(StorageItem { modifiers, label, kind })
    }

    fn global(&mut self, mut mutable: bool) -> Parsed<StorageSyntax> {
        self.expect(b':')?;
        if self.is_word(0, "mut") && self.ahead(1).kind == Kind::Ident {
            self.advance();
            mutable = true;
        }
        let ty = self.type_syntax()?;
        let initial = if self.eat(b'=') {
            let at = self.peek().start;
            Some(match self.operator_ahead() {
                Some((Opcode::GlobalGet, tokens)) => {
                    self.at += tokens;
                    InitialSyntax::Global(self.path("a global")?)
                }
                Some((Opcode::FuncRef, tokens)) => {
                    self.at += tokens;
                    InitialSyntax::Function(self.path("a function")?)
                }
                Some(_) | None => InitialSyntax::Const(self.literal()?, at),
            })
        } else {
            None
        };
        Ok(StorageSyntax::Global { ty, mutable, initial })
    }

    /// An address or an index, or `global.get base`.
    fn offset(&mut self, what: &str) -> Parsed<OffsetSyntax> {
        match self.operator_ahead() {
            Some((Opcode::GlobalGet, tokens)) => {
                self.at += tokens;
                Ok(OffsetSyntax::Global(self.path("a global")?))
            }
            Some(_) | None => Ok(OffsetSyntax::At(self.small_number(what)?)),
        }
    }

    /// `b"..."`, or a text for its bytes.
    fn data_bytes(&mut self) -> Parsed<Arc<[u8]>> {
        let at = self.peek().start;
        match self.peek().kind {
            Kind::Str | Kind::Bytes => {}
            _ => return Err(self.unexpected("bytes: `b\"..\"` or `hex\"..\"`")),
        }
        match self.literal()? {
            Literal::Bytes(bytes) => Ok(bytes),
            Literal::Text(text) => Ok(text.as_bytes().into()),
            Literal::Bool(_) | Literal::Unit | Literal::Int(_) | Literal::Hex(..) | Literal::Float(_) => {
                self.note(Mistake::new(
                    code::BAD_LITERAL,
                    at,
                    format!("expected a literal of `{}`", Type::Bytes),
                ));
                Err(Skip)
            }
        }
    }

    /// `[f, g, null] max 10`, or `: externref [null, global.get host] max 10`.
    fn table(&mut self) -> Parsed<StorageSyntax> {
        let ty = if self.eat(b':') { Some(self.type_syntax()?) } else { None };
        let entries = self.entries()?;
        let max = if self.eat_word("max") { Some(self.small_number("a number of entries")?) } else { None };
        Ok(StorageSyntax::Table { ty, entries, max })
    }

    /// `[f, g, null]`, or `in handlers at 4 [f, g, null]`.
    fn elements(&mut self) -> Parsed<StorageSyntax> {
        let ty = if self.eat(b':') { Some(self.type_syntax()?) } else { None };
        let target = if self.eat_word("in") {
            let table = self.path("a table")?;
            if !self.eat_word("at") {
                return Err(self.unexpected("`at` and the index of the first entry"));
            }
            Some((table, self.offset("an index")?))
        } else {
            None
        };
        Ok(StorageSyntax::Elements { ty, target, entries: self.entries()? })
    }

    /// `b"..."`, or `"the section's name" after code b"..."`.
    fn custom(&mut self) -> Parsed<StorageSyntax> {
        let section = match self.peek().kind {
            Kind::Str => Some(self.quoted("the name of the section, in quotes")?),
            _ => None,
        };
        let place = if self.eat_word("first") {
            SectionPlace::First
        } else if self.eat_word("after") {
            let token = self.peek();
            let name = if token.kind == Kind::Ident { self.source(token) } else { "" };
            let Some(section) = Section::ALL.iter().find(|section| section.name() == name) else {
                return Err(self.unexpected("a section of a module"));
            };
            self.advance();
            SectionPlace::After(*section)
        } else {
            self.eat_word("last");
            SectionPlace::Last
        };
        self.eat(b'=');
        match self.peek().kind {
            Kind::Bytes => Ok(StorageSyntax::Custom { section, place, bytes: self.data_bytes()? }),
            _ => Err(self.unexpected("bytes: `b\"..\"` or `hex\"..\"`")),
        }
    }

    fn entries(&mut self) -> Parsed<Vec<Option<EntrySyntax>>> {
        self.eat(b'=');
        self.expect(b'[')?;
        let mut entries = Vec::new();
        while !self.eat(b']') {
            entries.push(self.entry()?);
            if !self.eat(b',') && !self.is_punct(0, b']') {
                return Err(self.unexpected("`,` or `]`"));
            }
        }
        Ok(entries)
    }

    fn entry(&mut self) -> Parsed<Option<EntrySyntax>> {
        if let Some((Opcode::GlobalGet, tokens)) = self.operator_ahead() {
            self.at += tokens;
            return Ok(Some(EntrySyntax::Global(self.path("a global")?)));
        }
        if self.eat_word("null") {
            return Ok(None);
        }
        Ok(Some(EntrySyntax::Function(self.path("a function, `global.get` or `null`")?)))
    }

    /// The name of a parameter, or `_`.
    pub(super) fn name_or_blank(param: &ParamSyntax) -> Arc<str> {
        param.name.as_ref().map_or_else(|| "_".into(), |segment: &Segment| Arc::clone(&segment.name))
    }
}
