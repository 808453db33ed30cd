//! What nodes of declared flows do.

use lmlang_engine::flows::code::failure;
use lmlang_engine::{Halt, Work};
use lmlang_flow::declared::template::{self, Budget, Path, TooLarge};
use lmlang_flow::declared::{
    Action, AskModel, AskPerson, Branches, CallTool, DeclaredNode, Each, Finish, MOST_ITEMS, PROGRESS,
    PROVIDER, Parallel, Pause, SetChannels, StartRun,
};
use lmlang_flow::definition::END;
use lmlang_flow::{Arm, Ask, Failure, Goto, Reducer, State, Step, Update};
use serde_json::{Map, Value, json};

use super::Declared;
use crate::act::evaluating::ToolExecutor;
use crate::act::parts::{Executor, ToolUse};
use crate::asking::ask_for;
use crate::model::{Message, Reply};

/// The code of an answer that does not fit its schema.
const MISMATCH: &str = "MODEL_SCHEMA_MISMATCH";
/// The code of an answer without words.
const SAYS_NOTHING: &str = "MODEL_SAYS_NOTHING";

impl Declared {
    pub(super) async fn act(
        &self,
        node: &DeclaredNode,
        state: &State,
        work: &mut Work,
    ) -> Result<Step, Halt> {
        let step = match &node.action {
            Action::Tool(call) => self.call(node, call, state, work).await?,
            Action::Model(question) => self.ask_model(node, question, state, work).await?,
            Action::Agent(agent) => self.run_agent(node, agent, state, work).await?,
            Action::Ask(question) => ask_person(question, state)?,
            Action::Branch(branches) => branch(branches, state),
            Action::Set(SetChannels { values, then }) => go(then, changed(values, state)?),
            Action::Run(run) => start_run(run, state)?,
            Action::Wait(Pause { ms, then }) => {
                let pause = i64::try_from(*ms).unwrap_or(i64::MAX).saturating_mul(1_000);
                let until = work.now().saturating_add(pause);
                Step::to(Goto::Wait { until, then: then.clone() }, Update::none())
            }
            Action::Parallel(parallel) => open_arms(parallel, state)?,
            Action::Each(each) => open_each(each, state)?,
            Action::End(Finish { values }) => Step::end(changed(values, state)?),
        };
        self.saying(node, state, step)
    }

    /// The step, with what its node says of it.
    fn saying(&self, node: &DeclaredNode, state: &State, mut step: Step) -> Result<Step, Halt> {
        let Some(say) = &node.say else { return Ok(step) };
        let mut after = state.clone();
        // What does not fit is refused with the step.
        after.apply(&self.flow, &step.update).ok();
        let line = template::text(say, &after, &mut Budget::default()).map_err(too_large)?;
        add_line(&mut step.update, line);
        Ok(step)
    }

    async fn call(
        &self,
        node: &DeclaredNode,
        call: &CallTool,
        state: &State,
        work: &mut Work,
    ) -> Result<Step, Halt> {
        let CallTool { name, arguments, into, then } = call;
        let arguments = template::fields(arguments, state, &mut Budget::default()).map_err(too_large)?;
        let used = ToolUse { tool: name.clone(), arguments };
        let graph = self.parts.graph.of(work.engine());
        let came = ToolExecutor.execute(&self.parts.tools, &*graph, &used, work).await?;
        let answer = came?;
        let mut update = Update::none();
        if node.say.is_none() {
            add_line(&mut update, answer.said);
        }
        if let Some(into) = into {
            self.take(&mut update, into, answer.value);
        }
        Ok(go(then, update))
    }

    async fn ask_model(
        &self,
        node: &DeclaredNode,
        question: &AskModel,
        state: &State,
        work: &mut Work,
    ) -> Result<Step, Halt> {
        let mut request = self.request(node, question.into(), state)?;
        // Of what is not about its answer, a model can mend nothing.
        let is_of_answer = |failed: &&Failure| [MISMATCH, SAYS_NOTHING].contains(&failed.code.as_str());
        if let Some(last) = work.failures().iter().rfind(is_of_answer) {
            request.messages.push(Message::user(format!("The answer before does not do: {}", last.message)));
        }
        let judge = |reply: &Reply| answer_of(question.schema.as_ref(), reply).map(drop);
        let reply = ask_for(&self.parts.models, &request, work, judge).await?;
        let mut update = Update::none().with(PROVIDER, reply.provider.clone());
        self.take(&mut update, &question.into, answer_of(question.schema.as_ref(), &reply)?);
        Ok(go(&question.then, update))
    }

    /// Has a channel take an answer: in the place of what it holds, or as one more item.
    pub(super) fn take(&self, update: &mut Update, into: &str, answer: Value) {
        let is_list =
            self.flow.channel(into).is_some_and(|channel| matches!(channel.reducer, Reducer::Append { .. }));
        if !is_list {
            update.0.insert(into.to_owned(), answer);
            return;
        }
        match update.0.get_mut(into) {
            Some(Value::Array(items)) => items.push(answer),
            _ => drop(update.0.insert(into.to_owned(), json!([answer]))),
        }
    }
}

/// What a model's answer is: its value where it has to fit a schema, its text otherwise, which says something.
pub(super) fn answer_of(schema: Option<&Value>, reply: &Reply) -> Result<Value, Failure> {
    if schema.is_some() {
        let value = reply.value.clone();
        return value.ok_or_else(|| failure(MISMATCH, "the model did not answer in JSON"));
    }
    match reply.text.trim() {
        "" => Err(failure(SAYS_NOTHING, "the model said nothing")),
        text => Ok(Value::String(text.to_owned())),
    }
}

pub(super) fn too_large(error: TooLarge) -> Failure {
    failure("LIMIT_EXCEEDED", error.to_string())
}

/// Goes on at a node, or ends.
pub(super) fn go(then: &str, update: Update) -> Step {
    if then == END { Step::end(update) } else { Step::next(then, update) }
}

/// One more line of what was done.
pub(super) fn add_line(update: &mut Update, line: String) {
    if line.trim().is_empty() {
        return;
    }
    match update.0.get_mut(PROGRESS) {
        Some(Value::Array(lines)) => lines.push(Value::String(line)),
        _ => drop(update.0.insert(PROGRESS.to_owned(), json!([line]))),
    }
}

fn changed(values: &Map<String, Value>, state: &State) -> Result<Update, Failure> {
    let filled = template::fields(values, state, &mut Budget::default()).map_err(too_large)?;
    Ok(Update(filled.into_iter().collect()))
}

fn ask_person(question: &AskPerson, state: &State) -> Result<Step, Failure> {
    let mut budget = Budget::default();
    let mut fill = |text: &str| template::text(text, state, &mut budget).map_err(too_large);
    let ask = Ask {
        kind: question.kind,
        question: fill(&question.question)?,
        choices: question.choices.iter().map(|choice| fill(choice)).collect::<Result<_, _>>()?,
        expires: None,
        otherwise: None,
        into: Some(question.into.clone()),
        subject: None,
    };
    Ok(Step::ask(ask, &question.then, Update::none()))
}

fn branch(Branches { cases, otherwise }: &Branches, state: &State) -> Step {
    let held = cases.iter().position(|case| case.when.holds(state));
    let then = held.map_or(otherwise, |index| &cases[index].then);
    go(then, Update::none()).noting(json!({ "lmlang.flow.case": held }))
}

fn start_run(StartRun { flow, input, into, then }: &StartRun, state: &State) -> Result<Step, Failure> {
    let input = template::fields(input, state, &mut Budget::default()).map_err(too_large)?;
    let goto =
        Goto::Sub { flow: flow.clone(), input: Value::Object(input), into: into.clone(), then: then.clone() };
    Ok(Step::to(goto, Update::none()))
}

fn open_arms(Parallel { arms, join }: &Parallel, state: &State) -> Result<Step, Failure> {
    let arms = arms.iter().map(|arm| Ok(Arm { node: arm.node.clone(), given: changed(&arm.given, state)? }));
    let arms = arms.collect::<Result<Vec<Arm>, Failure>>()?;
    Ok(Step::to(Goto::Fork { arms, join: join.clone() }, Update::none()))
}

fn open_each(Each { items, item, node, join }: &Each, state: &State) -> Result<Step, Failure> {
    let found = Path::read(items).map_or(&Value::Null, |path| path.get(state));
    let items: &[Value] = match found {
        Value::Array(items) => items,
        Value::Null => &[],
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            return Err(failure("FLOW_NO_LIST", format!("`{items}` is no list")));
        }
    };
    if items.len() > MOST_ITEMS {
        let message = format!("{MOST_ITEMS} branches can be opened at once, found {} items", items.len());
        return Err(failure("LIMIT_EXCEEDED", message));
    }
    let arm = |value: &Value| Arm { node: node.clone(), given: Update::none().with(item, value.clone()) };
    let arms = items.iter().map(arm).collect();
    Ok(Step::to(Goto::Fork { arms, join: join.clone() }, Update::none()))
}
