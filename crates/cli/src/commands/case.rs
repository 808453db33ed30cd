//! `lmlang case`: test cases of functions.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::callee::unquoted;
use crate::client::{About, Client, Page, named, with_client};
use crate::error::Error;
use crate::exit::Exit;
use crate::output::{Output, columns, say};
use crate::session::Missing;
use crate::settings::Settings;
use crate::view::View;

/// What to do with test cases.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

/// What to do with test cases.
#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Add a case to a function: it is run after every change of what the function reaches, and by `lmlang test`.
    Add {
        /// The program, by name or id.
        program: String,
        /// The function, by name, path (`module::name`) or ref.
        function: String,
        /// The case's name, unique among those of the function.
        name: String,
        /// The arguments, in the text form: `5`, `f64:0.1`, `[i32: 1, 2]`, `Point{x: 1, y: 2}`; for the type `string` the
        /// text itself.
        #[arg(allow_negative_numbers = true)]
        args: Vec<String>,
        /// What the function must return, in the text form; once for each of its results. Without it, that it returns is
        /// enough.
        #[arg(long, value_name = "VALUE", allow_negative_numbers = true)]
        returns: Vec<String>,
        /// What the function reads from its standard input.
        #[arg(long, value_name = "TEXT")]
        stdin: Option<String>,
        /// How many nodes a run may execute [default: that of the server].
        #[arg(long, value_name = "NODES")]
        fuel: Option<u64>,
    },
    /// List the cases of a program by function and name; nothing is run.
    List {
        /// The program, by name or id.
        program: String,
        /// Only those of this function.
        function: Option<String>,
        #[command(flatten)]
        view: View,
    },
    /// Remove a case.
    Remove {
        /// The program, by name or id.
        program: String,
        /// The case, by name or id.
        case: String,
        /// The function that it is of, where several have one of that name.
        #[arg(long, value_name = "FUNCTION")]
        function: Option<String>,
    },
}

const ADD: &str = "mutation($input: AddCaseInput!) {
  added: addCase(input: $input) { case { id name args expected stdin limits { fuel } function { path } } }
}";

const LIST: &str =
    "query($id: ID, $name: String, $at: String, $function: String, $first: Int!, $after: String) {
  program(id: $id, name: $name, at: $at) {
    cases(first: $first, after: $after, function: $function) {
      nodes { id name args expected stdin limits { fuel } function { path } }
      pageInfo { hasNextPage endCursor }
    }
  }
}";

const REMOVE: &str = "mutation($input: RemoveCaseInput!) { removeCase(input: $input) { deleted } }";

/// A test case.
#[derive(Debug, Deserialize)]
pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) name: String,
    args: Vec<String>,
    expected: Option<Vec<String>>,
    stdin: Option<String>,
    limits: Limits,
    pub(crate) function: Path,
}

/// Bounds of the runs of a case, where it has its own.
#[derive(Debug, Deserialize)]
struct Limits {
    fuel: Option<u64>,
}

/// A function, by its path.
#[derive(Debug, Deserialize)]
pub(crate) struct Path {
    pub(crate) path: String,
}

#[derive(Debug, Deserialize)]
struct Added {
    added: Payload,
}

#[derive(Debug, Deserialize)]
struct Payload {
    case: Case,
}

#[derive(Debug, Deserialize)]
struct Cases {
    cases: Page<Case>,
}

pub(crate) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    match &args.action {
        Action::Add { program, function, name, args, returns, stdin, fuel } => {
            let input = json!({
                "programId": program,
                "function": function,
                "name": name,
                "args": values(args),
                "expected": (!returns.is_empty()).then(|| values(returns)),
                "stdin": stdin,
                "limits": fuel.map(|fuel| json!({ "fuel": fuel })),
            });
            let answer: Added = with_client(settings, Missing::Refuse, async |client| {
                client.change(ADD, input, &look(program)).await
            })?;
            let case = answer.added.case;
            output.data(&case.json(), || format!("{}  {}\n", case.name, case.call()))?;
        }
        Action::List { program, function, view } => {
            let mut variables = view.of(program);
            variables["function"] = function.clone().into();
            let cases = with_client(settings, Missing::Refuse, async |client| list(client, variables).await)?;
            let json: Vec<Value> = cases.iter().map(Case::json).collect();
            output.data(&json, || columns(&cases.iter().map(Case::row).collect::<Vec<_>>()))?;
        }
        Action::Remove { program, case, function } => {
            let name = with_client(settings, Missing::Refuse, async |client| {
                let case = find(client, program, case, function.as_deref()).await?;
                client.change::<Value>(REMOVE, json!({ "id": case.id }), &look(program)).await?;
                Ok(case.name)
            })?;
            say(format_args!("removed case `{name}` of `{program}`"));
        }
    }
    Ok(Exit::Success)
}

fn values(given: &[String]) -> Vec<String> {
    given.iter().map(|given| unquoted(given)).collect()
}

fn look(program: &str) -> String {
    format!("lmlang case list {program}")
}

async fn list(client: &Client, variables: Value) -> Result<Vec<Case>, Error> {
    let page = |answer: About<Cases>| answer.program.cases;
    Ok(client.list(LIST, variables, usize::MAX, page).await?.0)
}

/// The case of a program with a name or an id.
pub(crate) async fn find(
    client: &Client,
    program: &str,
    given: &str,
    function: Option<&str>,
) -> Result<Case, Error> {
    let mut variables = named(program);
    variables["function"] = function.into();
    let mut cases = list(client, variables).await?;
    let names: Vec<String> = cases.iter().map(|case| case.name.clone()).collect();
    cases.retain(|case| case.name == given || case.id == given);
    let found = cases.pop();
    match (found, cases.is_empty()) {
        (Some(case), true) => Ok(case),
        (Some(case), false) => {
            let paths = cases.iter().chain([&case]).map(|case| case.function.path.clone());
            Err(Error::Refused {
                code: "BAD_REQUEST".to_owned(),
                message: format!("several functions have a case `{given}`: name one with `--function`"),
                candidates: paths.collect(),
                data: Value::Null,
            })
        }
        (None, _) => Err(Error::not_found(
            format!("there is no case `{given}`"),
            lmlang_ir::text::nearest(given, names.iter().map(String::as_str)),
        )),
    }
}

impl Case {
    fn json(&self) -> Value {
        json!({
            "id": self.id,
            "name": self.name,
            "function": self.function.path,
            "args": self.args,
            "expected": self.expected,
            "stdin": self.stdin,
            "fuel": self.limits.fuel,
        })
    }

    /// What is called and given, and what must be returned.
    fn call(&self) -> String {
        let mut call = format!("{}({})", self.function.path, self.args.join(", "));
        match &self.expected {
            Some(expected) => call.push_str(&format!(" == {}", expected.join(", "))),
            None => call.push_str(" returns"),
        }
        if let Some(stdin) = &self.stdin {
            call.push_str(&format!("  stdin {stdin:?}"));
        }
        if let Some(fuel) = self.limits.fuel {
            call.push_str(&format!("  fuel {fuel}"));
        }
        call
    }

    fn row(&self) -> [String; 2] {
        [self.name.clone(), self.call()]
    }
}
