//! Tools that append revisions to programs. A repetition under the key of the call is answered as the first time: nothing
//! is edited twice.

use std::collections::BTreeSet;

use lmlang_engine::{
    Applied, Arrival, BoxFuture, Distance, OpenProgram, Outcome, Proposal, Selector, Travel, Way,
};
use lmlang_history::request::EditRequest;
use lmlang_history::revision::MAIN;
use lmlang_ir::told::{EDITED, UNCHANGED, WENT, carried_over};
use lmlang_ir::{Program, Ref, counted};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::told::{self, Page};
use super::{View, branch, find, max_tokens, object, program, refused, typed};
use crate::edits::{self, TextEdit};
use crate::graph_store::GraphError;
use crate::tools::{Changes, MadeRevision, Reach, Tool, ToolAnswer, ToolSpec};

/// Names that one call may remove.
const REMOVED: usize = 100;
/// Revisions that one call goes back or forward.
const STEPS: u64 = 20;
/// How a revision is written: a name of one may mean another by the time that it is looked at.
const REVISION: &str = "^r[0-9]+$";

fn is_dry(arguments: &Map<String, Value>) -> bool {
    arguments.get("dry_run") == Some(&Value::Bool(true))
}

/// Changes a program by texts.
pub(super) struct Edit(ToolSpec);

impl Default for Edit {
    fn default() -> Edit {
        let text = json!({ "type": "string", "minLength": 1 });
        let parameters = object(
            &["program", "base_revision", "edits"],
            json!({
                "program": program(),
                "base_revision": { "type": "string", "pattern": REVISION, "description": "The revision that you read, `r7`." },
                "edits": edits::schema(),
                "remove": {
                    "type": "array", "items": text, "maxItems": REMOVED,
                    "description": "Functions, types, globals and modules that may be removed: `m::f`.",
                },
                "dry_run": { "type": "boolean", "description": "Check and show everything, store nothing." },
                "message": { "type": "string", "description": "Why, for the log." },
                "branch": branch(),
                "require_complete": { "type": "boolean", "description": "Refuse when a touched function stays incomplete." },
                "max_tokens": max_tokens(),
            }),
        );
        Edit(ToolSpec {
            name: "propose_structured_edit",
            description: "Changes a program by texts of functions, or by a patch of texts. Answers the new revision, or every \
                          mistake with line, column, expected and near names. undo takes it back. A hole is `_`.",
            parameters,
            changes: Changes::Appends,
        })
    }
}

#[derive(Deserialize)]
struct EditArgs {
    program: String,
    base_revision: String,
    edits: Vec<TextEdit>,
    #[serde(default)]
    remove: Vec<String>,
    #[serde(default)]
    dry_run: bool,
    message: Option<String>,
    branch: Option<String>,
    #[serde(default)]
    require_complete: bool,
    max_tokens: Option<u64>,
}

impl Tool for Edit {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn changes(&self, arguments: &Map<String, Value>) -> Changes {
        let removes = arguments.get("remove").and_then(Value::as_array).is_some_and(|of| !of.is_empty());
        match (is_dry(arguments), removes) {
            (true, _) => Changes::Nothing,
            (false, true) => Changes::Deletes,
            (false, false) => Changes::Appends,
        }
    }

    fn is_shown(&self) -> bool {
        true
    }

    fn call<'a>(
        &'a self,
        reach: &'a Reach<'a>,
        arguments: &'a Map<String, Value>,
    ) -> BoxFuture<'a, Result<ToolAnswer, GraphError>> {
        Box::pin(async move {
            let args: EditArgs = typed(arguments)?;
            let open = find(reach.engine, &args.program).await?;
            let page = Page::only(args.max_tokens);
            let on = args.branch.unwrap_or_else(|| MAIN.to_owned());
            let proposal = Proposal {
                program: Selector::Id(open.info().id),
                branch: on.clone(),
                base: Some(args.base_revision),
                edits: args.edits.into_iter().map(EditRequest::from).collect(),
                dry_run: args.dry_run,
                require_complete: args.require_complete,
                verify_all: false,
            };
            if !args.dry_run {
                let tried = Proposal { dry_run: true, ..proposal.clone() };
                match reach.engine.propose(tried, reach.call).await.map_err(|error| super::absent(&error))? {
                    Outcome::Applied(applied) => {
                        let gone = removed(applied.before.checked.program(), applied.after.checked.program());
                        let gone: Vec<String> =
                            gone.into_iter().filter(|of| !args.remove.contains(of)).collect();
                        if !gone.is_empty() {
                            let head = "what it would remove is named in `remove` first:";
                            return Err(refused("REMOVES", told::within(head, &gone)));
                        }
                    }
                    // That is not decided here: a request that is repeated meets what it has made itself.
                    Outcome::Rejected(_) | Outcome::Conflict(_) => {}
                }
            }
            let mut call = reach.call.clone();
            call.message = args.message.or(call.message);
            match reach.engine.propose(proposal, &call).await.map_err(|error| super::absent(&error))? {
                Outcome::Applied(applied) => {
                    let made = applied.made().map(|number| made(&open, on, number));
                    Ok(ToolAnswer { made, ..applied_in_words(&open, &applied, page) })
                }
                Outcome::Rejected(rejected) => Err(told::rejected(&rejected)),
                Outcome::Conflict(conflict) => Err(told::conflict(&conflict, EDITED)),
            }
        })
    }
}

/// What of a program has a path and is not there any more.
fn removed(before: &Program, after: &Program) -> Vec<String> {
    let all = |program: &Program| -> BTreeSet<Ref> {
        let modules = program.modules().map(|(of, _)| Ref::from(of));
        let types = program.types().map(|(of, _)| Ref::from(of));
        let functions = program.functions().map(|(of, _)| Ref::from(of));
        let storage = program.all_storage().map(|(of, _)| Ref::from(of));
        modules.chain(types).chain(functions).chain(storage).collect()
    };
    let after = all(after);
    all(before).difference(&after).map(|of| before.path(*of)).collect()
}

fn made(open: &OpenProgram, branch: String, number: u64) -> MadeRevision {
    MadeRevision { program: open.info().id, branch, number }
}

fn applied_in_words(open: &OpenProgram, applied: &Applied, page: Page) -> ToolAnswer {
    let (before, after) = (&applied.before, &applied.after);
    let (program, counts) = (after.checked.program(), applied.counts());
    let functions = counted(counts.functions, "function", "functions");
    let changed = format!("+{} -{} ~{} in {functions}", counts.added, counts.removed, counts.modified);
    let delta = after.checked.findings().since(before.checked.findings());
    let mut lines = vec![match (applied.committed, applied.unchanged) {
        (true, true) => UNCHANGED.to_owned(),
        (true, false) => format!("applied: {changed}"),
        (false, _) => format!("would be applied, nothing is stored: {changed}"),
    }];
    if applied.unchanged && !applied.committed {
        lines.push(UNCHANGED.to_owned());
    }
    if applied.rebased_over.total > 0 {
        lines.push(carried_over(applied.rebased_over.total));
    }
    lines.extend(delta.added.iter().map(|found| told::finding(program, found)));
    let named = applied.created.iter().filter(|(_, of)| {
        matches!(
            of.kind,
            lmlang_ir::RefKind::Module | lmlang_ir::RefKind::Type | lmlang_ir::RefKind::Function
        )
    });
    lines.extend(named.map(|(_, of)| format!("created {}", program.path(*of))));
    let name = open.info().name.clone();
    // A dry run has no revision of its own.
    let revision = if applied.committed { after } else { before };
    let view = View { open: open.clone(), revision: std::sync::Arc::clone(revision) };
    let (outcome, said) = match applied.committed {
        true if applied.unchanged => ("unchanged", format!("`{name}` r{}: unchanged", after.entry.number)),
        true => ("applied", format!("`{name}` r{}: {changed}", after.entry.number)),
        false => ("dry_run", format!("`{name}` would have {changed}")),
    };
    let mut answer = told::answer(&view, outcome, &lines, page, &said);
    answer.value["counts"] = json!({
        "added": counts.added, "removed": counts.removed,
        "modified": counts.modified, "functions": counts.functions,
    });
    answer
}

/// Goes back and forward along the revisions of a branch.
pub(super) struct Undo(ToolSpec);

impl Default for Undo {
    fn default() -> Undo {
        let parameters = object(
            &["program", "expected_head"],
            json!({
                "program": program(),
                "action": { "type": "string", "enum": ["undo", "redo"], "description": "Default undo." },
                "steps": { "type": "integer", "minimum": 1, "maximum": STEPS, "description": "Default 1." },
                "expected_head": { "type": "string", "pattern": REVISION, "description": "The head that you read, `r7`: another one now is a conflict." },
                "dry_run": { "type": "boolean", "description": "Show what would be, store nothing." },
                "message": { "type": "string", "description": "Why, for the log." },
                "branch": branch(),
            }),
        );
        Undo(ToolSpec {
            name: "undo",
            description: "Takes the last changes of a program back, or makes them again, by appending a revision.",
            parameters,
            // What was added since goes, whoever added it.
            changes: Changes::Deletes,
        })
    }
}

#[derive(Deserialize)]
struct UndoArgs {
    program: String,
    #[serde(default)]
    action: Direction,
    steps: Option<u64>,
    expected_head: String,
    #[serde(default)]
    dry_run: bool,
    message: Option<String>,
    branch: Option<String>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Direction {
    #[default]
    Undo,
    Redo,
}

impl Tool for Undo {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn changes(&self, arguments: &Map<String, Value>) -> Changes {
        if is_dry(arguments) { Changes::Nothing } else { Changes::Deletes }
    }

    fn is_shown(&self) -> bool {
        true
    }

    fn call<'a>(
        &'a self,
        reach: &'a Reach<'a>,
        arguments: &'a Map<String, Value>,
    ) -> BoxFuture<'a, Result<ToolAnswer, GraphError>> {
        Box::pin(async move {
            let args: UndoArgs = typed(arguments)?;
            let open = find(reach.engine, &args.program).await?;
            let steps = Distance::Steps(args.steps.unwrap_or(1));
            let (way, word) = match args.action {
                Direction::Undo => (Way::Undo(steps), "undo"),
                Direction::Redo => (Way::Redo(steps), "redo"),
            };
            let on = args.branch.unwrap_or_else(|| MAIN.to_owned());
            let travel = Travel {
                branch: on.clone(),
                way,
                expected_head: Some(args.expected_head),
                dry_run: args.dry_run,
            };
            let mut call = reach.call.clone();
            call.message = args.message.or(call.message);
            match reach.engine.travel(&open, &travel, &call).await.map_err(|error| super::absent(&error))? {
                Arrival::Made { committed, before, after } => {
                    let counts = after.entry.counts;
                    let changed = format!("+{} -{} ~{}", counts.added, counts.removed, counts.modified);
                    let (outcome, revision) = if committed { ("made", after) } else { ("dry_run", before) };
                    let made = committed.then(|| made(&open, on, revision.entry.number));
                    let name = open.info().name.clone();
                    let view = View { open, revision };
                    let said = match committed {
                        true => format!("`{name}` r{}: {word}, {changed}", view.number()),
                        false => format!("`{name}` would have {changed}"),
                    };
                    let page = Page::only(None);
                    let lines = [format!("{word}: {changed}")];
                    Ok(ToolAnswer { made, ..told::answer(&view, outcome, &lines, page, &said) })
                }
                Arrival::Nothing(reason) => Err(refused("NOTHING_TO_DO", format!("nothing to do: {reason}"))),
                Arrival::Conflict(conflict) => Err(told::conflict(&conflict, WENT)),
            }
        })
    }
}
