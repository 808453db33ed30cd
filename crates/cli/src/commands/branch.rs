//! `lmlang branch`: lines of work beside `main`.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::client::{About, Page, named, with_client};
use crate::commands::history::Numbered;
use crate::error::Error;
use crate::exit::Exit;
use crate::output::{Output, columns, moment, say};
use crate::session::Missing;
use crate::settings::Settings;

/// What to do with branches.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

/// What to do with branches.
#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Begin a branch.
    Create {
        /// The program, by name or id.
        program: String,
        /// The branch's name.
        name: String,
        /// The revision that it begins with: a branch, a number (`r7`), a checkpoint, a hash [default: the head of
        /// `main`].
        #[arg(long, value_name = "REVISION")]
        at: Option<String>,
        /// Why.
        #[arg(long, short)]
        message: Option<String>,
    },
    /// List the branches of a program by name.
    List {
        /// The program, by name or id.
        program: String,
    },
    /// Forget a branch; its revisions stay.
    Delete {
        /// The program, by name or id.
        program: String,
        /// The branch's name.
        name: String,
    },
}

const CREATE: &str = "mutation($input: CreateBranchInput!) {
  made: createBranch(input: $input) { branch { name head { number } createdAt } }
}";

const LIST: &str = "query($id: ID, $name: String, $first: Int!, $after: String) {
  program(id: $id, name: $name) {
    branches(first: $first, after: $after) {
      nodes { name head { number } createdAt }
      pageInfo { hasNextPage endCursor }
    }
  }
}";

const DELETE: &str = "mutation($input: DeleteBranchInput!) { deleteBranch(input: $input) { deleted } }";

/// A line of work.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Branch {
    name: String,
    head: Numbered,
    created_at: String,
}

#[derive(Debug, Deserialize)]
struct Made {
    made: Payload,
}

#[derive(Debug, Deserialize)]
struct Payload {
    branch: Branch,
}

#[derive(Debug, Deserialize)]
struct Branches {
    branches: Page<Branch>,
}

pub(crate) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    match &args.action {
        Action::Create { program, name, at, message } => {
            let input = json!({ "programId": program, "name": name, "at": at, "message": message });
            let answer: Made = with_client(settings, Missing::Refuse, async |client| {
                client.change(CREATE, input, &look(program)).await
            })?;
            let made = answer.made.branch;
            output.data(&made.json(), || format!("{} at r{}\n", made.name, made.head.number))?;
        }
        Action::List { program } => {
            let (branches, _) = with_client(settings, Missing::Refuse, async |client| {
                let page = |answer: About<Branches>| answer.program.branches;
                client.list(LIST, named(program), usize::MAX, page).await
            })?;
            let json: Vec<Value> = branches.iter().map(Branch::json).collect();
            output.data(&json, || columns(&branches.iter().map(Branch::row).collect::<Vec<_>>()))?;
        }
        Action::Delete { program, name } => {
            let input = json!({ "programId": program, "name": name });
            with_client(settings, Missing::Refuse, async |client| {
                client.change::<Value>(DELETE, input, &look(program)).await
            })?;
            say(format_args!("forgot branch `{name}` of `{program}`"));
        }
    }
    Ok(Exit::Success)
}

fn look(program: &str) -> String {
    format!("lmlang branch list {program}")
}

impl Branch {
    fn json(&self) -> Value {
        json!({
            "name": self.name,
            "head": format!("r{}", self.head.number),
            "time": moment(&self.created_at),
        })
    }

    fn row(&self) -> [String; 3] {
        [self.name.clone(), format!("r{}", self.head.number), moment(&self.created_at)]
    }
}
