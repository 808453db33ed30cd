//! Whether a declaration makes sense, and the flow that it is.

use serde_json::{Map, Value};

use crate::check::{Flow, Problem};
use crate::declared::condition::Part;
use crate::declared::template::{self, Path, Piece};
use crate::declared::{
    Action, AskModel, AskPerson, Branches, CallTool, Declaration, DeclaredNode, Each, Finish, MOST_ARMS,
    MOST_ATTEMPTS, MOST_HELD, MOST_MS, MOST_NODES, MOST_STEPS, MOST_VISITS, Mistake, MistakeCode, OnFailure,
    PROGRESS, PROVIDER, Parallel, Pause, RunAgent, SetChannels, StartRun,
};
use crate::definition::{ATTEMPTS, Channel, Definition, END, Fallback, NodeKind, NodeSpec, Reducer, Timeout};
use crate::step::AskKind;

/// Lines of progress that are kept.
const LINES: usize = 100;

/// The flow of a declaration, as a version of it.
///
/// # Errors
///
/// All that is wrong with it.
pub fn check(declaration: &Declaration, version: u32) -> Result<Flow, Vec<Mistake>> {
    let mut looking = Looking { declaration, channels: channels(declaration), mistakes: Vec::new() };
    looking.whole();
    for (index, node) in declaration.nodes.iter().enumerate() {
        looking.node(&format!("nodes[{index}]"), node);
    }
    let Looking { channels, mut mistakes, .. } = looking;
    match Flow::new(definition(declaration, version, channels)) {
        Ok(flow) if mistakes.is_empty() => return Ok(flow),
        Ok(_) => {}
        Err(problems) => mistakes.extend(problems.iter().map(|problem| placed(declaration, problem))),
    }
    Err(mistakes)
}

/// What a run of it carries.
fn channels(declaration: &Declaration) -> Vec<Channel> {
    let own =
        |name: &str, reducer, initial| Channel { name: name.to_owned(), reducer, initial, private: false };
    let mut channels = vec![
        own(PROGRESS, Reducer::Append { most: LINES }, Value::Array(Vec::new())),
        own(PROVIDER, Reducer::Replace, Value::Null),
    ];
    channels.extend(declaration.properties().map(|(name, initial)| own(name, Reducer::Replace, initial)));
    channels.extend(declaration.channels.iter().map(|(name, channel)| Channel {
        name: name.clone(),
        reducer: channel.reducer(),
        initial: channel.initial(),
        private: channel.private,
    }));
    channels
}

fn definition(declaration: &Declaration, version: u32, channels: Vec<Channel>) -> Definition {
    let first = declaration.nodes.first().map(|node| node.name.clone());
    Definition {
        name: declaration.name.clone(),
        version,
        doc: declaration.doc.clone(),
        entry: declaration.entry.clone().or(first).unwrap_or_default(),
        nodes: declaration.nodes.iter().map(spec).collect(),
        channels,
        declared: Some(declaration.clone()),
    }
}

fn spec(node: &DeclaredNode) -> NodeSpec {
    let mut targets: Vec<String> = Vec::new();
    for (_, target) in node.targets() {
        if !targets.iter().any(|known| known == target) {
            targets.push(target.to_owned());
        }
    }
    let micros = |ms: u64| i64::try_from(ms).unwrap_or(i64::MAX).saturating_mul(1_000);
    let (kind, timeout) = match &node.action {
        Action::Ask(AskPerson { timeout_ms, on_timeout, .. }) => {
            let timeout = timeout_ms.map(|ms| Timeout { after: micros(ms), then: on_timeout.clone() });
            (NodeKind::Ask, timeout)
        }
        Action::Branch(_) => (NodeKind::Gate, None),
        Action::Tool(_)
        | Action::Model(_)
        | Action::Agent(_)
        | Action::Set(_)
        | Action::Run(_)
        | Action::Wait(_)
        | Action::Parallel(_)
        | Action::Each(_)
        | Action::End(_) => (NodeKind::Task, None),
    };
    NodeSpec {
        name: node.name.clone(),
        kind,
        targets,
        attempts: node.attempts.unwrap_or(ATTEMPTS),
        visits: node.visits,
        timeout,
        within: node.attempt_timeout_ms.map(micros),
        fallback: node.on_failure.clone().map(|OnFailure { then, into }| Fallback { then, into }),
        doc: node.doc.clone(),
    }
}

/// Where a definition's problem stands in its declaration.
fn placed(declaration: &Declaration, problem: &Problem) -> Mistake {
    let last = |name: &str| declaration.nodes.iter().rposition(|node| node.name == name);
    let node = |name: &str| last(name).map_or_else(|| "nodes".to_owned(), |index| format!("nodes[{index}]"));
    let channel = |name: &str| match declaration.channels.contains_key(name) {
        true => format!("channels.{name}"),
        false => format!("input.properties.{name}"),
    };
    let named = |what: &str, name: &str| match what {
        "node" => format!("{}.name", node(name)),
        "channel" => channel(name),
        _ => "name".to_owned(),
    };
    let (code, path) = match problem {
        Problem::BadName { what, name } => (MistakeCode::BadName, named(what, name)),
        Problem::NameTaken { what, name } => (MistakeCode::NameTaken, named(what, name)),
        Problem::MissingTarget { .. } if declaration.nodes.is_empty() => {
            return Mistake::new(MistakeCode::BadBound, "nodes", "a flow has a node at least");
        }
        Problem::MissingTarget { from, to } => {
            let of = last(from).map(|index| (index, declaration.nodes[index].targets()));
            let found = of.and_then(|(index, targets)| {
                let (place, _) = targets.into_iter().find(|(_, target)| target == to)?;
                Some(format!("nodes[{index}].{place}"))
            });
            (MistakeCode::MissingTarget, found.unwrap_or_else(|| "entry".to_owned()))
        }
        Problem::Unreachable { node: name } => (MistakeCode::Unreachable, node(name)),
        Problem::UnboundedCycle { nodes } => {
            let first = declaration.nodes.iter().position(|node| nodes.contains(&node.name));
            let path = first.map_or_else(|| "nodes".to_owned(), |index| format!("nodes[{index}].visits"));
            (MistakeCode::UnboundedCycle, path)
        }
        Problem::NoTarget { node: name } => (MistakeCode::MissingTarget, format!("{}.action", node(name))),
        Problem::NoAttempt { node: name } => (MistakeCode::BadBound, format!("{}.attempts", node(name))),
        Problem::NoTime { node: name } => {
            (MistakeCode::BadBound, format!("{}.action.ask.timeoutMs", node(name)))
        }
        Problem::NoWork { node: name } => (MistakeCode::BadBound, format!("{}.attemptTimeoutMs", node(name))),
        Problem::StrayTimeout { node: name, .. } => {
            (MistakeCode::MissingTarget, format!("{}.action.ask.onTimeout", node(name)))
        }
        Problem::StrayFallback { node: name, .. } => {
            (MistakeCode::MissingTarget, format!("{}.onFailure.then", node(name)))
        }
        Problem::BadFallback { node: name, .. } => {
            (MistakeCode::BadChannel, format!("{}.onFailure.into", node(name)))
        }
        Problem::BadInitial { channel: name, .. } => {
            (MistakeCode::BadChannel, format!("{}.initial", channel(name)))
        }
    };
    Mistake::new(code, path, problem.to_string())
}

/// What is looked at, and what was found.
struct Looking<'a> {
    declaration: &'a Declaration,
    channels: Vec<Channel>,
    mistakes: Vec<Mistake>,
}

/// Whether a property of a schema may be a text.
fn takes_text(property: &Value) -> bool {
    match &property["type"] {
        Value::Null => true,
        Value::Array(types) => types.iter().any(|one| one == "string"),
        one => one == "string",
    }
}

impl Looking<'_> {
    fn found(&mut self, code: MistakeCode, path: impl Into<String>, message: impl Into<String>) {
        self.mistakes.push(Mistake::new(code, path, message));
    }

    fn whole(&mut self) {
        let of = self.declaration;
        if of.nodes.len() > MOST_NODES {
            let message = format!("there may be {MOST_NODES} nodes, found {}", of.nodes.len());
            self.found(MistakeCode::BadBound, "nodes", message);
        }
        if of.input["type"] != "object" {
            self.found(
                MistakeCode::BadSchema,
                "input.type",
                "the input is an object: `type` has to be `object`",
            );
        }
        for (field, named) in [("turn", &of.turn), ("program", &of.program)] {
            let Some(named) = named else { continue };
            if !of.properties().any(|(name, _)| name == named) {
                let message = format!("`{named}` is no property of the input");
                self.found(MistakeCode::UnknownChannel, field, message);
            } else if !takes_text(&of.input["properties"][named]) {
                let message = format!("`{field}` is a text: `type` has to be `string`");
                self.found(MistakeCode::BadSchema, format!("input.properties.{named}.type"), message);
            }
        }
        for (index, name) in of.carry.iter().enumerate() {
            self.channel(&format!("carry[{index}]"), name);
        }
        for (name, channel) in &of.channels {
            if channel.most.is_some_and(|most| !(1..=MOST_HELD).contains(&most)) {
                let message = format!("a channel holds 1 to {MOST_HELD}");
                self.found(MistakeCode::BadBound, format!("channels.{name}.most"), message);
            }
        }
    }

    fn node(&mut self, place: &str, node: &DeclaredNode) {
        if node.attempts.is_some_and(|attempts| attempts > MOST_ATTEMPTS) {
            let message = format!("a node may have {MOST_ATTEMPTS} attempts");
            self.found(MistakeCode::BadBound, format!("{place}.attempts"), message);
        }
        if node.visits.is_some_and(|visits| !(1..=MOST_VISITS).contains(&visits)) {
            let message = format!("a node may have 1 to {MOST_VISITS} visits");
            self.found(MistakeCode::BadBound, format!("{place}.visits"), message);
        }
        self.time(&format!("{place}.attemptTimeoutMs"), node.attempt_timeout_ms);
        if let Some(say) = &node.say {
            self.text(&format!("{place}.say"), say);
        }
        let place = format!("{place}.action.{}", node.action.name());
        self.action(&place, &node.action);
        for (field, target) in node.action.targets() {
            if target == END && !node.action.may_end() {
                let message = format!("`{}` leads to a node, not to `{END}`", node.action.name());
                self.found(MistakeCode::MissingTarget, format!("{place}.{field}"), message);
            }
        }
    }

    fn action(&mut self, place: &str, action: &Action) {
        match action {
            Action::Tool(CallTool { arguments, into, .. }) => {
                self.fields(&format!("{place}.arguments"), arguments);
                if let Some(into) = into {
                    self.takes_any(&format!("{place}.into"), into);
                }
            }
            Action::Model(AskModel { system, prompt, into, temperature, max_tokens, .. }) => {
                self.asked(place, (system.as_deref(), prompt.as_str()), (*temperature, *max_tokens));
                self.takes_any(&format!("{place}.into"), into);
            }
            Action::Agent(agent) => {
                let RunAgent { system, prompt, tools, most_steps, into, temperature, max_tokens, .. } = agent;
                self.asked(place, (system.as_deref(), prompt.as_str()), (*temperature, *max_tokens));
                if tools.is_empty() {
                    let message = "it calls no tool: `model` asks one question";
                    self.found(MistakeCode::BadField, format!("{place}.tools"), message);
                }
                if most_steps.is_some_and(|most| !(1..=MOST_STEPS).contains(&most)) {
                    let message = format!("it is 1 to {MOST_STEPS}");
                    self.found(MistakeCode::BadBound, format!("{place}.mostSteps"), message);
                }
                self.takes_any(&format!("{place}.into"), into);
            }
            Action::Ask(ask) => self.ask(place, ask),
            Action::Branch(Branches { cases, .. }) => {
                for (index, case) in cases.iter().enumerate() {
                    case.when.each(&format!("{place}.cases[{index}].when"), &mut |place, part| match part {
                        Part::Path(path) => self.path(&place, path),
                        Part::Value(value) => self.value(&place, value),
                    });
                }
            }
            Action::Set(SetChannels { values, .. }) | Action::End(Finish { values }) => {
                self.values(&format!("{place}.values"), values);
            }
            Action::Run(StartRun { flow, input, into, .. }) => {
                if *flow == self.declaration.name {
                    let message = format!("runs of `{flow}` would start runs of `{flow}`");
                    self.found(MistakeCode::Recursion, format!("{place}.flow"), message);
                }
                self.fields(&format!("{place}.input"), input);
                self.takes_one(&format!("{place}.into"), into);
            }
            Action::Wait(Pause { ms, .. }) => self.time(&format!("{place}.ms"), Some(*ms)),
            Action::Parallel(Parallel { arms, .. }) => {
                if !(1..=MOST_ARMS).contains(&arms.len()) {
                    let message = format!("1 to {MOST_ARMS} branches are opened, found {}", arms.len());
                    self.found(MistakeCode::BadBound, format!("{place}.arms"), message);
                }
                for (index, arm) in arms.iter().enumerate() {
                    self.values(&format!("{place}.arms[{index}].given"), &arm.given);
                }
            }
            Action::Each(Each { items, item, .. }) => {
                self.path(&format!("{place}.items"), items);
                self.takes_one(&format!("{place}.item"), item);
            }
        }
    }

    /// What a model is told and asked, and how it answers.
    fn asked(
        &mut self,
        place: &str,
        (system, prompt): (Option<&str>, &str),
        (temperature, tokens): (Option<f64>, Option<u32>),
    ) {
        if let Some(system) = system {
            self.text(&format!("{place}.system"), system);
        }
        self.text(&format!("{place}.prompt"), prompt);
        if temperature.is_some_and(|temperature| !(0.0..=2.0).contains(&temperature)) {
            self.found(MistakeCode::BadBound, format!("{place}.temperature"), "it is 0 to 2");
        }
        if tokens == Some(0) {
            self.found(MistakeCode::BadBound, format!("{place}.maxTokens"), "it is 1 at least");
        }
    }

    fn ask(&mut self, place: &str, ask: &AskPerson) {
        let AskPerson { kind, question, choices, into, timeout_ms, on_timeout, .. } = ask;
        self.text(&format!("{place}.question"), question);
        for (index, choice) in choices.iter().enumerate() {
            self.text(&format!("{place}.choices[{index}]"), choice);
        }
        let message = match (kind, choices.is_empty()) {
            (AskKind::Escalation, _) => Some("`escalation` is what a node asks that has failed for good"),
            (AskKind::NeedChoice, true) => Some("a choice needs `choices`"),
            (AskKind::NeedConfirm | AskKind::NeedClarification, false) => {
                Some("`choices` are for `need_choice` alone")
            }
            (AskKind::NeedChoice, false) | (AskKind::NeedConfirm | AskKind::NeedClarification, true) => None,
        };
        if let Some(message) = message {
            self.found(MistakeCode::BadField, format!("{place}.kind"), message);
        }
        if on_timeout.is_some() && timeout_ms.is_none() {
            let message = "answers are awaited for ever: `timeoutMs` is missing";
            self.found(MistakeCode::BadField, format!("{place}.onTimeout"), message);
        }
        self.time(&format!("{place}.timeoutMs"), *timeout_ms);
        self.takes_one(&format!("{place}.into"), into);
    }

    /// No time at all is told of by the definition, where that has the bound.
    fn time(&mut self, place: &str, ms: Option<u64>) {
        if ms.is_some_and(|ms| ms > MOST_MS) {
            self.found(MistakeCode::BadBound, place, format!("it is {MOST_MS} at most"));
        }
    }

    fn text(&mut self, place: &str, text: &str) {
        match template::pieces(text) {
            Err(error) => self.found(MistakeCode::BadTemplate, place, error.to_string()),
            Ok(pieces) => {
                for piece in pieces {
                    if let Piece::Place(path) = piece {
                        self.channel(place, path.channel);
                    }
                }
            }
        }
    }

    fn value(&mut self, place: &str, value: &Value) {
        match value {
            Value::String(text) => self.text(place, text),
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.value(&format!("{place}[{index}]"), item);
                }
            }
            Value::Object(fields) => self.fields(place, fields),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn fields(&mut self, place: &str, fields: &Map<String, Value>) {
        for (name, value) in fields {
            self.value(&format!("{place}.{name}"), value);
        }
    }

    /// Values of channels, by name.
    fn values(&mut self, place: &str, values: &Map<String, Value>) {
        for name in values.keys() {
            self.channel(&format!("{place}.{name}"), name);
        }
        self.fields(place, values);
    }

    fn path(&mut self, place: &str, path: &str) {
        match Path::read(path) {
            Err(error) => self.found(MistakeCode::BadTemplate, place, error.to_string()),
            Ok(path) => self.channel(place, path.channel),
        }
    }

    /// The reducer of a channel, which has to be there.
    fn reducer(&mut self, place: &str, name: &str) -> Option<Reducer> {
        let found = self.channels.iter().find(|channel| channel.name == name).map(|of| of.reducer);
        if found.is_none() {
            let names: Vec<String> = self.channels.iter().map(|of| format!("`{}`", of.name)).collect();
            let message = format!("there is no channel `{name}`: there are {}", names.join(", "));
            self.found(MistakeCode::UnknownChannel, place, message);
        }
        found
    }

    fn channel(&mut self, place: &str, name: &str) {
        self.reducer(place, name);
    }

    /// A channel that takes whatever an action answers: as it is, or as one more item.
    fn takes_any(&mut self, place: &str, name: &str) {
        if let Some(Reducer::Sum | Reducer::Merge { .. }) = self.reducer(place, name) {
            let message = format!("`{name}` takes no answers: its reducer has to be `replace` or `append`");
            self.found(MistakeCode::BadChannel, place, message);
        }
    }

    /// A channel in which an answer stands for the one before.
    fn takes_one(&mut self, place: &str, name: &str) {
        if let Some(Reducer::Append { .. } | Reducer::Sum | Reducer::Merge { .. }) = self.reducer(place, name)
        {
            let message = format!("`{name}` is added to: its reducer has to be `replace`");
            self.found(MistakeCode::BadChannel, place, message);
        }
    }
}
