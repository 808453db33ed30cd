//! What models are asked about an edit, and what follows without one.

use serde_json::{Value, json};

use crate::edits::{self, TextEdit};
use crate::model::{Format, Message, Repair, Request, Role, RoleError};

/// Which version of the prompts this is: on every span of a model.
const PROMPT_VERSION: &str = "edit-1";

const EDIT: &str = "You change a program that is kept as a typed graph, by texts of its functions. Answer in JSON: `edits`, as few as \
                    it takes; `message`, one line on why, for the log; `assumptions`, what you took for granted; `question`, if you \
                    cannot go on without knowing something, with no edits. Use only the modules, types and functions that are \
                    given, and operators of the text form.\n\
                    The text form: a line is one node, `name = operator operands`; operators name their type, there are no infix \
                    operators and no implicit conversions; operands are names, literals, or operators in parentheses.\n\
                    pub func fact (n: i64) -> (i64) pure {\n  result = loop L (i: i64 = 1, acc: i64 = 1) -> (i64) {\n    \
                    break_if L (gt_s.i64 i, n), acc\n    continue L (add.i64 i, 1), (mul.i64 acc, i)\n  }\n  return result\n}\n\
                    pub func sign (n: i64) -> (i32) pure {\n  s = if (lt_s.i64 n, 0) -> (i32) { yield -1 } else { yield 1 }\n  \
                    return s\n}\n\
                    Types: i8 i16 i32 i64 f32 f64 bool string bytes unit, array<T>, option<T>, result<T, E>, struct and enum. \
                    Calls: `x = call name(a, b)`.";

/// What a model is told of the state.
pub(super) struct Told<'a> {
    pub(super) wish: &'a str,
    /// Wishes of earlier turns.
    pub(super) before: Vec<&'a str>,
    pub(super) ground: &'a str,
}

impl Told<'_> {
    /// The question for a first draft.
    pub(super) fn draft(&self) -> Result<Request, RoleError> {
        request("drafter", format!("{}\nThe user says: {}", self.ground(), self.wish))
    }

    /// The question for a better one.
    pub(super) fn revise(&self, draft: &Value, wrong: &str) -> Result<Request, RoleError> {
        let text = format!(
            "{}\nThe user says: {}\nThe edits so far:\n{}\nWhat is to be different: {wrong}",
            self.ground(),
            self.wish,
            draft["edits"],
        );
        request("reasoner", text)
    }

    fn ground(&self) -> String {
        match self.before.is_empty() {
            true => self.ground.to_owned(),
            false => format!("{}\nWhat the user wanted before:\n{}", self.ground, self.before.join("\n")),
        }
    }
}

fn request(role: &str, text: String) -> Result<Request, RoleError> {
    let role: Role = role.parse()?;
    let mut edits = edits::schema();
    // With a question, there are none.
    edits["minItems"] = json!(0);
    let schema = json!({
        "type": "object", "required": ["edits"], "additionalProperties": false,
        "properties": {
            "edits": edits,
            "message": { "type": ["string", "null"] },
            "assumptions": { "type": "array", "items": { "type": "string" } },
            "question": { "type": ["string", "null"] },
        },
    });
    Ok(Request {
        prompt_version: PROMPT_VERSION.to_owned(),
        repair: Repair::Once,
        temperature: Some(0.0),
        format: Format::JsonSchema { name: "edits".to_owned(), schema },
        ..Request::new(role, vec![Message::system(EDIT), Message::user(text)])
    })
}

/// What a text of a program begins with, but for comments.
pub const BEGINNINGS: [&str; 5] = ["pub", "func", "type", "module", "global"];

/// The draft that words are by themselves: functions, types and modules in the text form, or a patch of texts.
pub(super) fn draft_by_rules(words: &str) -> Option<Value> {
    let text = words.trim();
    let first = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with(';'))?;
    let edit = match first.split_whitespace().next()? {
        "---" => TextEdit::ApplyTextPatch { patch: format!("{text}\n") },
        first if BEGINNINGS.contains(&first) => TextEdit::AddText { module: None, text: text.to_owned() },
        _ => return None,
    };
    Some(json!({ "edits": [edit] }))
}
