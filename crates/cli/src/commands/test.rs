//! `lmlang test`: the test cases of a program at a revision.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::client::{About, Client, Page, with_client};
use crate::commands::case::Path;
use crate::error::Error;
use crate::exit::Exit;
use crate::output::{Form, Output, say};
use crate::session::Missing;
use crate::settings::Settings;
use crate::view::View;

/// Which cases.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The program, by name or id.
    program: String,
    /// Only the cases of this function, by name, path (`module::name`) or ref.
    function: Option<String>,
    #[command(flatten)]
    view: View,
}

const TEST: &str =
    "query($id: ID, $name: String, $at: String, $function: String, $first: Int!, $after: String) {
  program(id: $id, name: $name, at: $at) {
    cases(first: $first, after: $after, function: $function) {
      nodes { id name status message steps lastGreen { number } function { path } }
      pageInfo { hasNextPage endCursor }
    }
  }
}";

/// Cases that are asked for at a time: the server runs more than these for one answer.
const PAGE: usize = 100;

#[derive(Debug, Deserialize)]
struct Cases {
    cases: Page<Case>,
}

/// How a case stands.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Case {
    id: String,
    name: String,
    status: Status,
    message: Option<String>,
    steps: Option<u64>,
    last_green: Option<Revision>,
    function: Path,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum Status {
    Green,
    Red,
    Stale,
}

#[derive(Debug, Deserialize)]
struct Revision {
    number: u64,
}

pub(crate) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let mut variables = args.view.of(&args.program);
    variables["function"] = args.function.clone().into();
    let cases = with_client(settings, Missing::Refuse, async |client| all(client, variables).await)?;
    let count = |status| cases.iter().filter(|case| case.status == status).count();
    let (green, red, stale) = (count(Status::Green), count(Status::Red), count(Status::Stale));
    match output.form {
        Form::Json => {
            let listed: Vec<Value> = cases.iter().map(Case::json).collect();
            output.json(&json!({ "cases": listed, "green": green, "red": red, "stale": stale }))?;
        }
        Form::Text => output.text(&cases.iter().map(Case::line).collect::<String>())?,
    }
    say(format_args!("{green} green, {red} red, {stale} stale"));
    Ok(if red + stale > 0 { Exit::Cases } else { Exit::Success })
}

/// All cases. A page is asked for again as long as more of it is run each time.
async fn all(client: &Client, mut variables: Value) -> Result<Vec<Case>, Error> {
    let mut all = Vec::new();
    variables["first"] = PAGE.into();
    loop {
        let mut unknown = usize::MAX;
        let page = loop {
            let answer: About<Cases> = client.ask(TEST, &variables).await?;
            let page = answer.program.cases;
            let stale = page.nodes.iter().filter(|case| case.status == Status::Stale).count();
            if stale == 0 || stale >= unknown {
                break page;
            }
            unknown = stale;
        };
        all.extend(page.nodes);
        let Some(next) = page.page_info.next() else { return Ok(all) };
        variables["after"] = next.into();
    }
}

impl Case {
    fn json(&self) -> Value {
        json!({
            "id": self.id,
            "name": self.name,
            "function": self.function.path,
            "status": self.status,
            "message": self.message,
            "steps": self.steps,
            "lastGreen": self.last_green.as_ref().map(|revision| format!("r{}", revision.number)),
        })
    }

    fn word(&self) -> &'static str {
        match self.status {
            Status::Green => "green",
            Status::Red => "red",
            Status::Stale => "stale",
        }
    }

    fn line(&self) -> String {
        let color = match self.status {
            Status::Green => anstyle::AnsiColor::Green,
            Status::Red => anstyle::AnsiColor::Red,
            Status::Stale => anstyle::AnsiColor::Yellow,
        };
        let style = color.on_default().bold();
        let word = self.word();
        let why = self.message.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
        let green = match &self.last_green {
            Some(revision) if self.status != Status::Green => format!(" (last green: r{})", revision.number),
            Some(_) | None => String::new(),
        };
        format!("{style}{word:5}{style:#}  {}  {}{why}{green}\n", self.function.path, self.name)
    }
}
