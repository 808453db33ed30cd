//! Commands that are understood without a model.
//!
//! A task is commands, one on each line or between `;`. An entity is written `Label:key`, or `Label` alone, whose key is then
//! the label; a key with spaces stands in quotes. Properties are an object in JSON, behind the rest.
//!
//! ```text
//! AddNode Ticket:T-1 {"title": "It rains in"}
//! AddEdge Ticket:T-1 DEPENDS_ON Milestone:M-1
//! UpdateProps Ticket:T-1 {"state": "open"}
//! DeleteEdge Ticket:T-1 DEPENDS_ON Milestone:M-1
//! DeleteNode Ticket:T-1
//! Show Ticket:T-1
//! MATCH (t:Ticket) RETURN t.key
//! Programs
//! Find sum of prices in shop
//! Read shop::total in shop
//! Check shop
//! Run total "Item{name: \"tea\", price: 250}" 2 in shop
//! ```
//!
//! `AddEdge` makes the ends that are missing. `Read shop` reads all of a program.

use lmlang_flow::State;
use serde_json::{Map, Value, json};

use crate::act::parts::{Goal, Planned, ToolUse};

/// Steps of a task: fewer than a run may take, since it also ends.
pub(crate) const MOST_STEPS: usize = 90;

/// What is understood, for whoever wrote something else.
pub(crate) const FORMS: &str = "AddNode Label:key {..}, AddEdge A:a TYPE B:b {..}, UpdateProps Label:key {..}, \
                                DeleteNode Label:key, DeleteEdge A:a TYPE B:b, Show Label:key, Programs, Find WORDS in PROGRAM, \
                                Read NAMES in PROGRAM, Check PROGRAM, Run FUNCTION ARGUMENTS in PROGRAM, or a query that begins \
                                with MATCH";

/// Reads a task; one that is not understood has no steps.
pub(crate) fn read(task: &str) -> (Goal, Vec<ToolUse>) {
    let goal = task.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut queue = Vec::new();
    for command in commands(task) {
        match understood(command) {
            Ok(steps) => queue.extend(steps),
            Err(_) => {
                queue.clear();
                break;
            }
        }
    }
    let words = |step: &ToolUse| format!("{} {}", step.tool, shown(&step.arguments)).trim_end().to_owned();
    let plan = queue.iter().map(words).collect();
    (Goal { goal, plan, ..Goal::default() }, queue)
}

/// The next step of a task that was read.
pub(crate) fn step(state: &State) -> Planned {
    let queue: Vec<ToolUse> = serde_json::from_value(state.get("queue").clone()).unwrap_or_default();
    if queue.is_empty() {
        let why = commands(state.text("task")).into_iter().find_map(|command| understood(command).err());
        let why = why.unwrap_or_else(|| "there is nothing to do".to_owned());
        let question = format!(
            "No model is configured, so only commands are understood, and {why}. What is to be done? ({FORMS})"
        );
        return Planned::Ask { question, choices: Vec::new(), new_task: true };
    }
    if state.get("reply")["text"].is_string() {
        // What was said to a question about this task is no command of it.
        let question = format!("What is to be done instead? ({FORMS})");
        return Planned::Ask { question, choices: Vec::new(), new_task: true };
    }
    let done = state.get("done").as_u64().and_then(|done| usize::try_from(done).ok()).unwrap_or(0);
    match queue.into_iter().nth(done) {
        Some(step) => Planned::Call(step),
        None => Planned::Answer { text: String::new() },
    }
}

fn shown(arguments: &Map<String, Value>) -> String {
    let name = |of: &Value| {
        format!("{}:{}", of["label"].as_str().unwrap_or_default(), of["key"].as_str().unwrap_or_default())
    };
    if let Some(program) = arguments.get("program") {
        let of = ["query", "function", "of", "args"].into_iter().filter_map(|name| arguments.get(name));
        let words: Vec<String> = of.flat_map(texts).chain(texts(program)).collect();
        return words.join(" ");
    }
    match (arguments.get("from"), arguments.get("to"), arguments.get("query")) {
        (Some(from), Some(to), _) => {
            let kind = arguments.get("type").and_then(Value::as_str).unwrap_or_default();
            format!("{} {kind} {}", name(from), name(to))
        }
        (_, _, Some(query)) => query.as_str().unwrap_or_default().to_owned(),
        _ if arguments.contains_key("label") => name(&Value::Object(arguments.clone())),
        _ => String::new(),
    }
}

/// The texts that an argument is or consists of.
fn texts(of: &Value) -> Vec<String> {
    match of {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Vec::new(),
    }
}

/// The commands of a task: what stands between line ends and `;`, unless these are in quotes or braces.
fn commands(task: &str) -> Vec<&str> {
    // A query may be of several lines.
    if task.split_whitespace().next().is_some_and(|first| first.eq_ignore_ascii_case("match")) {
        return vec![task.trim()];
    }
    let (mut found, mut start, mut depth, mut quoted, mut escaped) = (Vec::new(), 0, 0_usize, false, false);
    for (at, letter) in task.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '{' if !quoted => depth += 1,
            '}' if !quoted => depth = depth.saturating_sub(1),
            ';' | '\n' if !quoted && depth == 0 => {
                found.push(task[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(task[start..].trim());
    found.retain(|command| !command.is_empty());
    found
}

/// What a command comes to, or why it is none.
fn understood(command: &str) -> Result<Vec<ToolUse>, String> {
    let unknown = || format!("`{}` is none", crate::model::shortened(command, 80));
    let first = command.split_whitespace().next().unwrap_or_default();
    if first.eq_ignore_ascii_case("match") {
        return Ok(vec![call("query_graph", json!({ "query": command }))]);
    }
    let mut words = words(command)?.into_iter();
    let verb: String = words.next().unwrap_or_default().to_ascii_lowercase().replace(['_', '-'], "");
    let verb = match (verb.as_str(), words.as_slice().first().map(|word| word.to_ascii_lowercase())) {
        ("add" | "update" | "delete", Some(what)) if ["node", "edge", "props"].contains(&what.as_str()) => {
            words.next();
            format!("{verb}{what}")
        }
        _ => verb,
    };
    let words: Vec<String> = words.collect();
    let (words, props) = match words.split_last() {
        Some((props, before)) if props.starts_with('{') => {
            let props: Value = serde_json::from_str(props)
                .map_err(|error| format!("the properties of `{first}` are no JSON: {error}"))?;
            (before.to_vec(), Some(props))
        }
        Some(_) | None => (words, None),
    };
    let with = |mut arguments: Value| {
        if let (Some(fields), Some(props)) = (arguments.as_object_mut(), &props) {
            fields.insert("props".to_owned(), props.clone());
        }
        arguments
    };
    match (verb.as_str(), words.as_slice()) {
        ("addnode", [of]) => Ok(vec![call("add_node", with(entity(of)))]),
        ("updateprops" | "set", [of]) if props.is_some() => Ok(vec![call("update_props", with(entity(of)))]),
        ("deletenode", [of]) => {
            let mut arguments = entity(of);
            arguments["detach"] = json!(true);
            Ok(vec![call("delete_node", arguments)])
        }
        ("show", [of]) => Ok(vec![call("read_subgraph", entity(of))]),
        ("addedge" | "link", [from, kind, to]) => Ok(vec![
            call("add_node", entity(from)),
            call("add_node", entity(to)),
            call("add_edge", with(json!({ "from": entity(from), "type": kind, "to": entity(to) }))),
        ]),
        ("deleteedge" | "unlink", [from, kind, to]) => {
            Ok(vec![call("delete_edge", json!({ "from": entity(from), "type": kind, "to": entity(to) }))])
        }
        (verb, words) if props.is_none() => about_program(verb, words).ok_or_else(unknown),
        _ => Err(unknown()),
    }
}

/// What a command about a program comes to: those that change nothing.
fn about_program(verb: &str, words: &[String]) -> Option<Vec<ToolUse>> {
    let (of, program) = match words {
        [of @ .., word, program] if word.eq_ignore_ascii_case("in") => (of, Some(program)),
        [program] => (&[][..], Some(program)),
        [] => (&[][..], None),
        _ => return None,
    };
    let step = match (verb, of, program) {
        ("programs", [], None) => call("program", json!({ "action": "list" })),
        ("find", [_, ..], Some(program)) => {
            call("search", json!({ "program": program, "query": of.join(" ") }))
        }
        ("read", [], Some(program)) => call("retrieve_subgraph", json!({ "program": program })),
        ("read", of, Some(program)) => call("retrieve_subgraph", json!({ "program": program, "of": of })),
        ("check", [], Some(program)) => call("verify_and_propagate", json!({ "program": program })),
        ("run", [function, args @ ..], Some(program)) => {
            call("simulate", json!({ "program": program, "function": function, "args": args }))
        }
        _ => return None,
    };
    Some(vec![step])
}

fn call(tool: &str, arguments: Value) -> ToolUse {
    let arguments = match arguments {
        Value::Object(arguments) => arguments,
        _ => Map::new(),
    };
    ToolUse { tool: tool.to_owned(), arguments }
}

/// An entity as it is written.
fn entity(text: &str) -> Value {
    let (label, key) = text.split_once(':').unwrap_or((text, text));
    json!({ "label": label, "key": key })
}

/// The words of a command. Quotes hold a word together, and braces the properties.
fn words(command: &str) -> Result<Vec<String>, String> {
    let (mut found, mut word, mut quoted, mut any) = (Vec::new(), String::new(), false, false);
    for (at, letter) in command.char_indices() {
        match letter {
            '{' if !quoted && !any => {
                found.push(command[at..].trim().to_owned());
                return Ok(found);
            }
            '"' => (quoted, any) = (!quoted, true),
            letter if letter.is_whitespace() && !quoted => {
                if std::mem::take(&mut any) {
                    found.push(std::mem::take(&mut word));
                }
            }
            letter => {
                any = true;
                word.push(letter);
            }
        }
    }
    if quoted {
        return Err("a quote is not closed".to_owned());
    }
    if any {
        found.push(word);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(task: &str, expect: &str) {
        let (goal, queue) = read(task);
        let plan = goal.plan.join("; ");
        assert_eq!(plan, expect, "{task}");
        assert_eq!(goal.plan.len(), queue.len());
    }

    #[test]
    fn commands_are_understood() {
        check("AddNode Ticket:T-1", "add_node Ticket:T-1");
        check("add node \"Ticket:T 1\" {\"a\": \"; }\"}", "add_node Ticket:T 1");
        check(
            "AddEdge Ticket DEPENDS_ON Milestone",
            "add_node Ticket:Ticket; add_node Milestone:Milestone; add_edge Ticket:Ticket DEPENDS_ON Milestone:Milestone",
        );
        check("update_props T:1 {\"a\": 1}; delete node T:1", "update_props T:1; delete_node T:1");
        check(
            "unlink T:1 IS T:2\nmatch (t) return t",
            "delete_edge T:1 IS T:2; query_graph match (t) return t",
        );
        check("Show T:1", "read_subgraph T:1");
        check("MATCH (t)\nRETURN t", "query_graph MATCH (t)\nRETURN t");
        check("Programs", "program");
        check("Find the sum in calc; read calc", "search the sum calc; retrieve_subgraph calc");
        check(
            "Read add m::two in calc\ncheck calc",
            "retrieve_subgraph add m::two calc; verify_and_propagate calc",
        );
        check("Run add 1 \"2 3\" in calc", "simulate add 1 2 3 calc");
    }

    #[test]
    fn what_is_no_command_has_no_steps() {
        for task in [
            "",
            "   ;\n",
            "make it nice",
            "AddNode",
            "AddNode a b",
            "AddNode T:1 {a}",
            "AddNode \"T:1",
            "Run calc",
            "Find calc",
            "Check a in calc",
            "Programs x",
            "Read a b",
        ] {
            check(task, "");
        }
        check("AddNode T:1; and then some", "");
    }

    proptest::proptest! {
        #[test]
        fn no_text_breaks_the_reader(task in "\\PC*") {
            read(&task);
        }
    }
}
