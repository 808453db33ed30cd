//! The pages about codes: of findings, refused edits, texts, runs and requests.

use async_graphql::SimpleObject;
use lmlang_history::request;
use lmlang_ir::{Trap, text};
use lmlang_verify as verify;

use crate::error::{ApiError, Code};
use crate::schema::view::absent;

/// What a code means, and how to repair what it names.
#[derive(Clone, Debug, SimpleObject)]
pub struct CodePage {
    /// The code.
    code: &'static str,
    /// One line.
    title: String,
    /// What is the matter.
    meaning: String,
    /// A program text, an edit or a request that has it, or the text of a function `f` that traps so; in words where it takes
    /// more than can be shown.
    example: String,
    /// What to do.
    repair: String,
    /// The example with that done; null where it is in words.
    repaired: Option<String>,
}

impl From<lmlang_ir::CodePage> for CodePage {
    fn from(page: lmlang_ir::CodePage) -> CodePage {
        let lmlang_ir::CodePage { code, title, meaning, example, repair, repaired } = page;
        CodePage {
            code,
            title: title.to_owned(),
            meaning: meaning.to_owned(),
            example: example.to_owned(),
            repair: repair.to_owned(),
            repaired: repaired.map(str::to_owned),
        }
    }
}

impl CodePage {
    /// The page of a code, in capitals or not. Of a code that several can give, such as an edit and a text, what is said of each.
    pub(crate) fn of(given: &str) -> Result<CodePage, ApiError> {
        let wanted = given.trim().to_ascii_uppercase();
        let mut pages = all().filter(|page| page.code == wanted);
        let Some(first) = pages.next() else {
            let near = text::nearest(&wanted, all().map(|page| page.code));
            return Err(absent("code", given, &near, false));
        };
        let mut found = CodePage::from(first);
        for page in pages {
            found.append(&page);
        }
        Ok(found)
    }

    /// Adds what is said of the code where something else gives it.
    fn append(&mut self, page: &lmlang_ir::CodePage) {
        let add = |told: &mut String, more: &str, between: &str| {
            if !told.contains(more) {
                told.push_str(between);
                told.push_str(more);
            }
        };
        self.title.truncate(self.title.trim_end_matches('.').len());
        add(&mut self.title, page.title.trim_end_matches('.'), "; ");
        add(&mut self.meaning, page.meaning, " ");
        add(&mut self.example, page.example, "\n\n");
        add(&mut self.repair, page.repair, " ");
        if let (Some(told), Some(more)) = (&mut self.repaired, page.repaired) {
            add(told, more, "\n\n");
        } else {
            self.repaired = self.repaired.take().or_else(|| page.repaired.map(str::to_owned));
        }
    }
}

/// The pages of all codes: of the verifier, of edits, of texts, of traps and of requests.
pub fn all() -> impl Iterator<Item = lmlang_ir::CodePage> {
    let verified = verify::Code::ALL.iter().map(|code| code.page());
    let edits = request::code::PAGES.iter().copied();
    let texts = text::code::PAGES.iter().copied();
    let traps = Trap::ALL.map(Trap::page);
    verified.chain(edits).chain(texts).chain(traps).chain(Code::ALL.map(of_request))
}

/// The page of a code of errors.
pub fn of_request(code: Code) -> lmlang_ir::CodePage {
    let (title, meaning, example, repair, repaired) = match code {
        Code::BadRequest => (
            "The request is malformed.",
            "Its syntax, a field, or an argument that does not fit; `data.path` names the argument in one text, as \
             `input.edits[0].setDoc`.",
            r#"{ program(id: "p", name: "p") { name } }"#,
            "Mend what the message names, and ask again.",
            Some(r#"{ program(name: "p") { name } }"#),
        ),
        Code::Unauthenticated => (
            "The caller did not show who it is.",
            "A token is needed and missing, or the one that was shown is unknown, has expired or was revoked. A subscription ends \
             with this when its token does.",
            "a request without `Authorization: Bearer`, where there are tokens",
            "Send the header `Authorization: Bearer lml_...`, on a WebSocket `authorization` in the payload of \
             `connection_init`; `lmlang token create` makes a token.",
            None,
        ),
        Code::Forbidden => (
            "The caller may not do this.",
            "Its token is good, and not for this: `data.scope` is the scope that it lacks, or `data.limited` says that it is \
             limited to programs and this concerns all. Other fields of the request are answered. A program that a token is not \
             good for is `NOT_FOUND`, as one that is not there. A request that a page of another origin makes, or that is for \
             another host, is refused as a whole: `data.header` is the header that says so.",
            "`undo` with a token whose only scope is `READ`",
            "Use a token with that scope: `lmlang token create NAME --scope SCOPE` makes one. Hosts and origins that may call \
             are in the settings `allowed_hosts` and `allowed_origins`.",
            None,
        ),
        Code::NotFound => (
            "Nothing has this id, ref or name.",
            "`data.candidates` are near names, and `data.retired` tells of something that was there once.",
            r#"{ program(name: "p") { function(name: "m::g") { ref } } }"#,
            "Take one of the candidates, or list what there is.",
            Some(r#"{ program(name: "p") { function(name: "m::f") { ref } } }"#),
        ),
        Code::LimitExceeded => (
            "A limit is exceeded.",
            "`data` has `which`, the `limit` and the `actual` value; `serverInfo` lists all limits.",
            r#"{ program(name: "p") { text(maxBytes: 10) } }"#,
            "Ask for less at a time: pages, one module, fewer edits.",
            Some(r#"{ program(name: "p") { text(module: "other", maxBytes: 1000) } }"#),
        ),
        Code::RateLimited => (
            "The caller has more under way than it may.",
            "`data` has `which` limit of `serverInfo` it is, its value as `limit`, and `retryAfterMs`.",
            "many simulations at once, all with one token",
            "Wait for `retryAfterMs`, or for one of the simulations.",
            None,
        ),
        Code::Overloaded => (
            "The server has more work than it accepts at a time.",
            "Nothing was done; the same request can succeed later. The message says what is waited for: too much of one kind is under way, or another server holds the log of the program.",
            "many heavy requests at once",
            "Send it again after a moment.",
            None,
        ),
        Code::IdempotencyMismatch => (
            "The idempotency key was used before, with another request.",
            "A key stands for one request; a repetition is answered as the first one.",
            r#"mutation {
  a: proposeEdit(input: { programId: "p", idempotencyKey: "k", edits: [{ setDoc: { ref: "f10", doc: "one" } }] }) { outcome { __typename } }
  b: proposeEdit(input: { programId: "p", idempotencyKey: "k", edits: [{ setDoc: { ref: "f10", doc: "two" } }] }) { outcome { __typename } }
}"#,
            "Use a new key for each new request.",
            Some(
                r#"mutation {
  a: proposeEdit(input: { programId: "p", idempotencyKey: "k", edits: [{ setDoc: { ref: "f10", doc: "one" } }] }) { outcome { __typename } }
  b: proposeEdit(input: { programId: "p", idempotencyKey: "l", edits: [{ setDoc: { ref: "f10", doc: "two" } }] }) { outcome { __typename } }
}"#,
            ),
        ),
        Code::CursorInvalid => (
            "The cursor was not issued for this list or source of events.",
            "Cursors go back to the field that gave them; events that are gone cannot be gone on from.",
            r#"{ program(name: "p") { functions(after: "x") { totalCount } } }"#,
            "Begin anew, without a cursor.",
            Some(r#"{ program(name: "p") { functions { totalCount } } }"#),
        ),
        Code::StorageUnavailable => (
            "The database cannot be reached, or does not accept writes.",
            "The message says what is the matter, and whether something may have been stored. Where it stays so, `retriable` is false: what is stored cannot be read, or the database does not let the server in.",
            "an edit while the disk is full",
            "Send it again later; `lmlang doctor` looks into the database.",
            None,
        ),
        Code::Timeout => (
            "The operation took longer than it may.",
            "What only reads was ended. A mutation that had begun is carried out all the same.",
            "a request for more than can be read in time",
            "Ask for less at a time. Send a mutation again under its `idempotencyKey`: it is carried out once.",
            None,
        ),
        Code::Unsupported => (
            "This server cannot carry it out.",
            "The field or value is part of the interface and not of this version.",
            r#"mutation { createProgram(input: { name: "v", wat: "(module (func (param v128)))" }) { program { id } } }"#,
            "Do without what the message names.",
            Some(
                r#"mutation { createProgram(input: { name: "v", wat: "(module (func (param i64)))" }) { program { id } } }"#,
            ),
        ),
        Code::Internal => (
            "A fault of the server.",
            "What happened is in its log, under the request id.",
            "nothing that a caller should meet",
            "Tell whoever runs the server, with the request id.",
            None,
        ),
    };
    lmlang_ir::CodePage { code: code.as_str(), title, meaning, example, repair, repaired }
}
