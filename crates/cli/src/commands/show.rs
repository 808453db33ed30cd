//! `lmlang show`: the text of a program, or of parts of it.

use clap::ValueEnum;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::client::{About, Page, with_client};
use crate::error::Error;
use crate::exit::Exit;
use crate::output::{Output, columns};
use crate::pinned::Pinned;
use crate::session::Missing;
use crate::settings::Settings;
use crate::view::View;

/// Which program, and what of it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The program, by name or id.
    program: String,
    /// Functions, types, modules, globals and other storage by path (`module::name`), name or ref; contracts by ref, nodes by
    /// ref or path (`module::function::name`) [default: all of the program].
    of: Vec<String>,
    #[command(flatten)]
    view: View,
    /// How much the text says.
    #[arg(long, value_enum, default_value_t)]
    detail: Detail,
    /// Only what functions take and return: of the whole program, of modules, or of functions.
    #[arg(long, conflicts_with = "detail")]
    signatures: bool,
    /// Only functions with this text in their paths.
    #[arg(long, value_name = "TEXT", requires = "signatures")]
    search: Option<String>,
}

/// How much the text says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Detail {
    /// Names alone, and refs where there is no name to go by.
    Summary,
    /// The ref of everything.
    Standard,
    /// Comments and runs as well, as `lmlang export` writes it.
    #[default]
    Full,
}

impl Detail {
    /// The name in the API.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Detail::Summary => "SUMMARY",
            Detail::Standard => "STANDARD",
            Detail::Full => "FULL",
        }
    }
}

const TEXT: &str = "query($id: ID, $at: String, $module: String, $detail: Detail) {
  program(id: $id, at: $at) { text(module: $module, detail: $detail, maxBytes: 2147483647) }
}";

const PART: &str = "query($id: ID, $at: String, $of: String!, $detail: Detail) {
  program(id: $id, at: $at) {
    entity(of: $of) {
      kind: __typename
      ... on Module { ref path }
      ... on Function { ref path visibility signature doc detailed: text(detail: $detail) }
      ... on TypeDef { ref path text }
      ... on Storage { ref path text }
      ... on Contract { ref text }
      ... on ComputeNode { ref detailed: text(detail: $detail) }
    }
  }
}";

const FUNCTIONS: &str =
    "query($id: ID, $at: String, $module: String, $search: String, $first: Int!, $after: String) {
  program(id: $id, at: $at) {
    list: functions(module: $module, search: $search, first: $first, after: $after) {
      nodes { kind: __typename ref path visibility signature doc } pageInfo { hasNextPage endCursor }
    }
  }
}";

#[derive(Debug, Deserialize)]
struct OfText {
    text: String,
}

#[derive(Debug, Deserialize)]
struct OfEntity {
    entity: Part,
}

#[derive(Debug, Deserialize)]
struct Functions {
    list: Page<Part>,
}

/// A part of a program.
#[derive(Debug, Deserialize)]
struct Part {
    kind: String,
    #[serde(rename = "ref")]
    of: Option<String>,
    path: Option<String>,
    visibility: Option<String>,
    signature: Option<String>,
    doc: Option<String>,
    /// Its text, where there is only one form of it.
    text: Option<String>,
    /// Its text, in the form that was asked for.
    detailed: Option<String>,
}

/// A program at a revision, and how much is said of it.
struct Shown<'a> {
    pinned: Pinned<'a>,
    detail: &'static str,
    search: Option<&'a str>,
}

pub(crate) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let detail = args.detail.name();
    with_client(settings, Missing::Refuse, async |client| {
        let pinned = Pinned::find(client, &args.program, &args.view).await?;
        let shown = Shown { pinned, detail, search: args.search.as_deref() };
        match (args.of.is_empty(), args.signatures) {
            (true, false) => shown.whole(output).await,
            (false, false) => shown.parts(&args.of, output).await,
            (_, true) => shown.signatures(&args.of, output).await,
        }
    })?;
    Ok(Exit::Success)
}

impl Shown<'_> {
    async fn whole(&self, output: Output) -> Result<(), Error> {
        let text = self.text(None).await?;
        output.data(&json!({ "revision": self.pinned.revision, "text": text }), || text.clone())
    }

    async fn parts(&self, given: &[String], output: Output) -> Result<(), Error> {
        let mut parts = self.found(given).await?;
        for part in &mut parts {
            if part.kind == "Module" {
                part.text = Some(self.text(part.of.as_deref()).await?);
            }
        }
        let shown: Vec<Value> = parts.iter().map(Part::json).collect();
        output.data(&json!({ "revision": self.pinned.revision, "parts": shown }), || {
            parts.iter().map(Part::told).collect::<Vec<_>>().join("\n")
        })
    }

    async fn signatures(&self, given: &[String], output: Output) -> Result<(), Error> {
        let mut functions = Vec::new();
        if given.is_empty() {
            functions = self.functions(None).await?;
        }
        for part in self.found(given).await? {
            match part.kind.as_str() {
                "Module" => functions.extend(self.functions(part.of.as_deref()).await?),
                "Function" => functions.push(part),
                _ => {
                    let of = part.of.unwrap_or_default();
                    return Err(Error::Input(format!(
                        "`{of}` is no function and no module: it has no signature"
                    )));
                }
            }
        }
        let listed: Vec<Value> = functions.iter().map(Part::head_json).collect();
        output.data(&json!({ "revision": self.pinned.revision, "functions": listed }), || {
            columns(&functions.iter().map(Part::head).collect::<Vec<_>>())
        })
    }

    /// The text of the program, or of a module.
    async fn text(&self, module: Option<&str>) -> Result<String, Error> {
        let mut variables = self.pinned.variables();
        variables["module"] = module.into();
        variables["detail"] = self.detail.into();
        let answer: About<OfText> = self.pinned.client.ask(TEXT, &variables).await?;
        Ok(answer.program.text)
    }

    /// The functions of the program, or of a module.
    async fn functions(&self, module: Option<&str>) -> Result<Vec<Part>, Error> {
        let mut variables = self.pinned.variables();
        variables["module"] = module.into();
        variables["search"] = self.search.into();
        let page = |answer: About<Functions>| answer.program.list;
        Ok(self.pinned.client.list(FUNCTIONS, variables, usize::MAX, page).await?.0)
    }

    /// The parts that were named, in that order.
    async fn found(&self, given: &[String]) -> Result<Vec<Part>, Error> {
        let mut parts = Vec::with_capacity(given.len());
        for given in given {
            let mut variables = self.pinned.variables();
            variables["of"] = given.clone().into();
            variables["detail"] = self.detail.into();
            let answer: About<OfEntity> = self.pinned.client.ask(PART, &variables).await?;
            let part = answer.program.entity;
            if part.text.is_none() && part.detailed.is_none() && part.kind != "Module" {
                return Err(Error::Input(format!("`{given}` has no text of its own: show its function")));
            }
            parts.push(part);
        }
        Ok(parts)
    }
}

/// The kind of what is a type of the API, as that calls it.
pub(crate) fn kind(of: &str) -> &'static str {
    match of {
        "Module" => "MODULE",
        "Function" => "FUNCTION",
        "TypeDef" => "TYPE",
        "Storage" => "VARIABLE",
        "Contract" => "CONTRACT",
        _ => "NODE",
    }
}

impl Part {
    fn json(&self) -> Value {
        json!({ "ref": self.of, "kind": kind(&self.kind), "path": self.path, "text": self.told() })
    }

    /// Its text, with the end of a line.
    fn told(&self) -> String {
        let text = self.detailed.as_ref().or(self.text.as_ref()).map(String::as_str).unwrap_or_default();
        format!("{}\n", text.trim_end())
    }

    fn head_json(&self) -> Value {
        json!({
            "ref": self.of,
            "path": self.path,
            "public": self.is_public(),
            "signature": self.signature,
            "doc": self.doc,
        })
    }

    /// The function in a line: ref, `pub`, path and signature.
    fn head(&self) -> [String; 3] {
        let public = if self.is_public() { "pub " } else { "" };
        let path = self.path.as_deref().unwrap_or_default();
        let of = self.of.clone().unwrap_or_default();
        [of, format!("{public}{path}"), self.signature.clone().unwrap_or_default()]
    }

    fn is_public(&self) -> bool {
        self.visibility.as_deref() == Some("PUBLIC")
    }
}
