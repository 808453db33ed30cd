//! Edits of programs by texts, as models and callers write them: what they look like, how they are tried, and what is wrong with
//! them in words.

use lmlang_engine::{OpenProgram, Outcome, Proposal, Selector};
use lmlang_history::request::{AddModule, AddText, ApplyTextPatch, EditRequest, ReplaceText};
use lmlang_ir::Visibility;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Edits of one change.
pub(crate) const MOST: usize = 20;

/// Examples of edits, for whoever writes some.
pub(crate) const EXAMPLES: &str = "In order, all or nothing; each with one key: \
    {\"addText\":{\"module\":\"m\",\"text\":\"pub func twice (x: i64) -> (i64) pure { return (mul.i64 x, 2) }\"}}, \
    {\"replaceFunctionText\":{\"ref\":\"m::twice\",\"text\":\"..\"}}, \
    {\"applyTextPatch\":{\"patch\":\"--- a/m::twice\\n+++ b/m::twice\\n@@\\n-  ..\\n+  ..\\n\"}}";

/// An edit: an object with one key, which names it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) enum TextEdit {
    AddText {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        module: Option<String>,
        text: String,
    },
    ReplaceFunctionText {
        r#ref: String,
        text: String,
    },
    ReplaceModuleText {
        r#ref: String,
        text: String,
    },
    ApplyTextPatch {
        patch: String,
    },
    AddModule {
        name: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent: Option<String>,
    },
}

impl From<TextEdit> for EditRequest {
    fn from(edit: TextEdit) -> EditRequest {
        let replaced = |of, text| ReplaceText { of, text, if_hash: None };
        match edit {
            TextEdit::AddText { module, text } => EditRequest::AddText(AddText { module, text }),
            TextEdit::ReplaceFunctionText { r#ref, text } => {
                EditRequest::ReplaceFunctionText(replaced(r#ref, text))
            }
            TextEdit::ReplaceModuleText { r#ref, text } => {
                EditRequest::ReplaceModuleText(replaced(r#ref, text))
            }
            TextEdit::ApplyTextPatch { patch } => EditRequest::ApplyTextPatch(ApplyTextPatch { patch }),
            TextEdit::AddModule { name, parent } => EditRequest::AddModule(AddModule {
                name_as: None,
                name,
                parent,
                visibility: Visibility::Private,
                doc: None,
            }),
        }
    }
}

/// The schema of some edits.
pub(crate) fn schema() -> Value {
    let text = json!({ "type": "string", "minLength": 1 });
    let object = |required: &[&str], properties: Value| {
        json!({
            "type": "object", "required": required, "additionalProperties": false, "properties": properties,
        })
    };
    let replaced = object(&["ref", "text"], json!({ "ref": text, "text": text }));
    let edit = json!({
        "type": "object", "minProperties": 1, "maxProperties": 1, "additionalProperties": false,
        "properties": {
            "addText": object(&["text"], json!({ "module": text, "text": text })),
            "replaceFunctionText": replaced,
            "replaceModuleText": replaced,
            "applyTextPatch": object(&["patch"], json!({ "patch": text })),
            "addModule": object(&["name"], json!({ "name": text, "parent": text })),
        },
    });
    json!({ "type": "array", "minItems": 1, "maxItems": MOST, "items": edit, "description": EXAMPLES })
}

/// A change of a branch by edits.
pub(crate) fn proposal(open: &OpenProgram, branch: &str, edits: Vec<TextEdit>, dry_run: bool) -> Proposal {
    Proposal {
        program: Selector::Id(open.info().id),
        branch: branch.to_owned(),
        base: None,
        edits: edits.into_iter().map(EditRequest::from).collect(),
        dry_run,
        require_complete: false,
        verify_all: false,
    }
}

/// What is wrong with a change, in words.
pub(crate) fn words(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Applied(_) => "it was applied".to_owned(),
        Outcome::Rejected(rejected) => {
            let errors = rejected.errors.iter().map(|error| {
                let place = error.line.zip(error.column).map(|(line, column)| format!("{line}:{column}: "));
                format!("{}{} ({})", place.unwrap_or_default(), error.message, error.code)
            });
            let found = rejected.findings.iter().zip(rejected.after.iter().cycle()).map(|(found, after)| {
                let place = found.place.map(|(line, column)| format!("{line}:{column}: "));
                let diagnostic = &found.diagnostic;
                let message = diagnostic.message(after.program());
                format!("{}{message} ({})", place.unwrap_or_default(), diagnostic.code)
            });
            errors.chain(found).take(10).collect::<Vec<_>>().join("; ")
        }
        Outcome::Conflict(conflict) => {
            let messages: Vec<&str> = conflict.conflicts.iter().map(|of| of.message.as_str()).collect();
            messages.join("; ")
        }
    }
}
