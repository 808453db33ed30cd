//! The tool `graphql`: everything that no other tool does, and the schema piece by piece.

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::arguments::{schema, typed};
use crate::cursor::{Lines, Paged};
use crate::failure::{Failure, Refused, RpcError, nearest};
use crate::json;
use crate::reply::{Item, Reply};
use crate::sdl;
use crate::tool::{Call, Effect, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// run: a document. type: one type with its fields. find: fields and types by name.
    action: Option<Action>,
    /// run: a query or mutation.
    document: Option<String>,
    /// run: its variables.
    variables: Option<Map<String, Value>>,
    /// type: its name; begin with Query, Mutation or Program.
    name: Option<String>,
    /// find: a part of a name, or words of what it does.
    search: Option<String>,
    /// next_cursor of the answer before; of a query it is run again.
    cursor: Option<String>,
    /// Tokens of the answer; default 4000, at most 20000.
    #[expect(dead_code, reason = "the desk reads it")]
    max_tokens: Option<u64>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    Run,
    Type,
    Find,
}

impl Args {
    /// What is asked for; what is given says so as well.
    fn action(&self) -> Result<Action, RpcError> {
        let given = [
            (self.document.is_some(), Action::Run),
            (self.name.is_some(), Action::Type),
            (self.search.is_some(), Action::Find),
        ];
        let given = given.into_iter().find_map(|(is_given, action)| is_given.then_some(action));
        self.action.or(given).ok_or_else(|| RpcError::invalid("action", "one of run, type, find", "nothing"))
    }
}

pub(super) static TOOL: Tool = Tool {
    name: "graphql",
    title: "GraphQL",
    description: "For what no other tool does: branches, merges, reverts, test cases, debugging step by step, bisecting. \
                  Look a type up before you write a document.",
    effect: Effect::Anything,
    rate: None,
    begins: Some(("graphql", "running the operation")),
    schema: LazyLock::new(schema::<Args>),
    run: |call, arguments| Box::pin(async move { run(call, typed(arguments)?).await }),
};

async fn run(call: &Call, args: Args) -> Result<Reply, Failure> {
    let action = args.action()?;
    let paged = match action {
        Action::Run => Paged::Data,
        Action::Type => Paged::Type,
        Action::Find => Paged::Names,
    };
    let (_, lines) = paged.lines(args.cursor.as_deref())?;
    match action {
        Action::Run => {
            let document = args.document.ok_or_else(|| RpcError::invalid("document", "string", "nothing"))?;
            execute(call, &document, args.variables.unwrap_or_default(), lines).await
        }
        Action::Type => {
            let name = args.name.ok_or_else(|| RpcError::invalid("name", "string", "nothing"))?;
            let definition = sdl::definition(&name).ok_or_else(|| no_type(&name))?;
            let mut reply = Reply::default();
            reply.lines(definition, lines);
            Ok(reply)
        }
        Action::Find => {
            let search = args.search.ok_or_else(|| RpcError::invalid("search", "string", "nothing"))?;
            let found = sdl::find(&search);
            let mut reply = Reply::default();
            reply.say(lmlang_ir::counted(found.len() as u64, "name", "names"));
            reply.lines(&found.join("\n"), lines);
            Ok(reply)
        }
    }
}

fn no_type(name: &str) -> Failure {
    let candidates: Vec<String> = nearest(name, sdl::names()).into_iter().collect();
    let data = json!({ "given": name, "candidates": candidates });
    Refused { code: "NOT_FOUND".to_owned(), message: format!("there is no type `{name}`"), data }.into()
}

async fn execute(
    call: &Call,
    document: &str,
    variables: Map<String, Value>,
    lines: Lines,
) -> Result<Reply, Failure> {
    let changes = changes(document);
    if lines.from > 0 && changes {
        let expected = "no cursor: a mutation is not run again";
        return Err(RpcError::invalid("cursor", expected, "a cursor").into());
    }
    let answer = call.ask.ask(document, variables.into()).await?;
    let mut reply = Reply::default();
    let nothing = answer.data.is_null()
        || answer.data.as_object().is_some_and(|data| data.values().all(Value::is_null));
    reply.is_error = nothing && !answer.errors.is_empty();
    if reply.is_error {
        reply.outcome = Some("refused");
    }
    for error in answer.errors {
        let path: Vec<String> = error
            .path
            .iter()
            .map(|part| part.as_str().map_or_else(|| part.to_string(), str::to_owned))
            .collect();
        let place = error.locations.first().map(|at| format!(" {}:{}", at["line"], at["column"]));
        let refused = Refused::from(error);
        let mut told = format!("error {}{}", refused.code, place.unwrap_or_default());
        if !path.is_empty() {
            told.push_str(&format!(" at {}", path.join(".")));
        }
        told.push_str(&format!(": {}", refused.told()));
        let mut data = json!({ "code": refused.code, "message": refused.message });
        if !refused.data.is_null() {
            data["data"] = refused.data.clone();
        }
        reply.items.push(Item { text: told, cursor: None, data: Some(data) });
    }
    if !answer.data.is_null() {
        reply.lines(&json::written(&answer.data), lines);
    }
    reply.carried_out = changes && !reply.is_error;
    if changes {
        reply.items.iter_mut().for_each(|item| item.cursor = None);
        reply.otherwise =
            Some("it was carried out; ask for fewer fields next time, or query what was left out".to_owned());
    }
    Ok(reply)
}

/// Whether a document may change something: whether an operation of it is a mutation.
fn changes(document: &str) -> bool {
    let words = document.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    words.into_iter().any(|word| word == "mutation")
}
