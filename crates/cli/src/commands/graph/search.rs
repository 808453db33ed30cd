//! `lmlang graph search`: nodes by what they are.

use lmlang_graphql::schema::ops;
use lmlang_ir::text::nearest;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::client::{About, Page, with_client};
use crate::error::Error;
use crate::exit::Exit;
use crate::nodes::Node;
use crate::output::{Output, columns, counted, rest_behind, say};
use crate::session::Missing;
use crate::settings::Settings;
use crate::view::View;

/// Where, and what the nodes are like: all of it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The program, by name or id.
    program: String,
    /// With this operator, such as `add` or `struct.get`; given several times, with one of them.
    #[arg(long, value_name = "OPERATOR")]
    op: Vec<String>,
    /// With an operator of this group, such as `memory` or `control`.
    #[arg(long, value_name = "GROUP")]
    group: Option<String>,
    /// With this text in the operator, in the name of something that it mentions, or in the node's name or doc.
    #[arg(long)]
    text: Option<String>,
    /// With an output of this type.
    #[arg(long = "type", value_name = "TYPE")]
    ty: Option<String>,
    /// A constant of this value: `i64:5` and `f64:-0.0` of that type, `5` of every type that has it.
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    constant: Option<String>,
    /// With an input that has no source.
    #[arg(long)]
    hole: bool,
    /// In this function, by ref or path.
    #[arg(long = "in", value_name = "FUNCTION")]
    function: Option<String>,
    /// In a function of this module, by ref or path.
    #[arg(long)]
    module: Option<String>,
    /// Naming this function, by ref or path.
    #[arg(long, value_name = "FUNCTION")]
    uses: Option<String>,
    /// With a finding of this code.
    #[arg(long, value_name = "CODE")]
    finding: Option<String>,
    /// Made or changed by this author.
    #[arg(long, value_name = "NAME")]
    pub(super) by: Option<String>,
    /// Made or changed after this revision.
    #[arg(long, value_name = "REVISION")]
    since: Option<String>,
    #[command(flatten)]
    view: View,
    /// How many nodes at most.
    #[arg(long, short = 'n', default_value_t = 50, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// Go on behind this cursor, which is told where more follow.
    #[arg(long, value_name = "CURSOR")]
    after: Option<String>,
}

const SEARCH: &str =
    "query($id: ID, $name: String, $at: String, $filter: NodeFilter!, $first: Int!, $after: String) {
  program(id: $id, name: $name, at: $at) {
    search(filter: $filter, first: $first, after: $after) {
      nodes { ref owner { path } text(detail: SUMMARY) } pageInfo { hasNextPage endCursor } totalCount
    }
  }
}";

#[derive(Debug, Deserialize)]
struct Answer {
    search: Page<Node>,
}

pub(crate) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let mut variables = args.view.of(&args.program);
    variables["filter"] = args.filter()?;
    variables["after"] = args.after.clone().into();
    let part = with_client(settings, Missing::Refuse, async |client| {
        let page = |answer: About<Answer>| answer.program.search;
        client.part(SEARCH, variables, args.limit as usize, page).await
    })?;
    output.data(&part.json(Node::json), || columns(&part.items.iter().map(Node::row).collect::<Vec<_>>()))?;
    match &part.next {
        Some(next) => say(rest_behind(next)),
        None => say(format_args!("{}, that is all", counted(part.items.len() as u64, "node", "nodes"))),
    }
    Ok(Exit::Success)
}

impl Args {
    fn filter(&self) -> Result<Value, Error> {
        let opcodes = self.op.iter().map(|given| opcode(given)).collect::<Result<Vec<_>, _>>()?;
        Ok(json!({
            "opcode": (!opcodes.is_empty()).then_some(opcodes),
            "opGroup": self.group,
            "text": self.text,
            "type": self.ty,
            "constant": self.constant,
            "isHole": self.hole.then_some(true),
            "function": self.function,
            "module": self.module,
            "usesFunction": self.uses,
            "hasDiagnostic": self.finding,
            "author": self.by,
            "changedSince": self.since,
        }))
    }
}

/// An operator as filters name it.
fn opcode(given: &str) -> Result<String, Error> {
    let all = ops::search(None);
    if all.iter().any(|spec| spec.mnemonic == given) {
        return Ok(given.to_ascii_uppercase().replace('.', "_"));
    }
    Err(Error::Refused {
        code: "BAD_REQUEST".to_owned(),
        message: format!("there is no operator `{given}`: `lmlang help operators` lists them"),
        candidates: nearest(given, all.iter().map(|spec| spec.mnemonic)),
        data: Value::Null,
    })
}
