//! `lmlang merge`: the changes of one branch are brought into another.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::str::FromStr;

use lmlang_ir::Ref;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::client::{About, Client, named, with_client};
use crate::error::Error;
use crate::exit::Exit;
use crate::findings::{FOUND, Found};
use crate::outcome::{Conflict, OUTCOME, Outcome};
use crate::output::{Counts, Form, Output, say};
use crate::session::Missing;
use crate::settings::Settings;
use crate::source::input;

/// Which branches, and what to do where they collide.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The program, by name or id.
    program: String,
    /// The branch whose changes are brought in; any revision.
    from: String,
    /// The branch that they are brought into.
    #[arg(long, default_value = "main", value_name = "BRANCH")]
    into: String,
    /// Take the changes of the branch that is merged into where the two collide: `--ours` everywhere, `--ours=n3,f2` in
    /// these conflicts.
    #[arg(long, value_name = "REF", num_args = 0..=1, require_equals = true, default_missing_value = "all", value_delimiter = ',')]
    ours: Vec<Where>,
    /// Take the changes of the branch that is brought in where the two collide: `--theirs` everywhere, `--theirs=n3,f2`
    /// in these conflicts.
    #[arg(long, value_name = "REF", num_args = 0..=1, require_equals = true, default_missing_value = "all", value_delimiter = ',')]
    theirs: Vec<Where>,
    /// What to do about conflicts, from a file, `-` for standard input: `[{"ref": "f2", "edits": [{"renameFunction": {..}}]}]`,
    /// as `merge` takes it; edits keep both sides of a name, or say what an entity is to be.
    #[arg(long, value_name = "FILE")]
    resolve: Option<PathBuf>,
    /// Why, for the history.
    #[arg(long, short)]
    message: Option<String>,
    /// The head of the branch that is merged into that you saw; another one is a conflict.
    #[arg(long, value_name = "REVISION")]
    expected_head: Option<String>,
    /// Only say what would come of it.
    #[arg(long)]
    dry_run: bool,
}

/// Where a side is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Where {
    /// Wherever the other one is not.
    Everywhere,
    /// In the conflict of an entity.
    At(Ref),
}

const PREVIEW: &str = "query($id: ID, $name: String, $from: String!, $into: String!) {
  program(id: $id, name: $name) {
    mergePreview(from: $from, into: $into) {
      clean conflicts { ref kind message base ours theirs }
      diff { changed { added removed modified } text(maxBytes: 2147483647) }
      newDiagnostics { ...Found }
    }
  }
}";

const MERGE: &str = "mutation($input: MergeInput!) { merge(input: $input) { outcome { ...Became } } }";

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Previewed {
    merge_preview: Preview,
}

/// What a merge would come to.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Preview {
    clean: bool,
    conflicts: Vec<Conflict>,
    diff: Difference,
    new_diagnostics: Vec<Found>,
}

#[derive(Debug, Deserialize)]
struct Difference {
    changed: Counts,
    text: String,
}

#[derive(Debug, Deserialize)]
struct Merged {
    merge: Payload,
}

#[derive(Debug, Deserialize)]
struct Payload {
    outcome: Outcome,
}

pub(crate) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    if args.ours.contains(&Where::Everywhere) && args.theirs.contains(&Where::Everywhere) {
        return Err(Error::BothSides);
    }
    let resolves = !(args.ours.is_empty() && args.theirs.is_empty()) || args.resolve.is_some();
    // What a preview shows is of the head as it is.
    if args.dry_run && !resolves && args.expected_head.is_none() {
        return preview(args, settings, output);
    }
    let chosen = args.chosen()?;
    let outcome = with_client(settings, Missing::Refuse, async |client| merge(args, chosen, client).await)?;
    let conflicts = match &outcome {
        Outcome::EditConflict { conflicts, .. } if !conflicts.iter().any(Conflict::is_stale) => conflicts,
        Outcome::EditConflict { .. } | Outcome::RevisionMade { .. } | Outcome::NothingToDo { .. } => {
            return outcome.tell(output);
        }
    };
    output.data(&outcome.json(), String::new)?;
    if output.form == Form::Text {
        say(args.explained(conflicts).trim_end());
    }
    Ok(Exit::Conflict)
}

/// Merges. Where a side is to be taken everywhere, what is in conflict is asked first: nothing is stored until nothing is.
async fn merge(args: &Args, mut resolutions: Vec<Value>, client: &Client) -> Result<Outcome, Error> {
    let document = format!("{MERGE}\n{OUTCOME}");
    let look = format!("lmlang history {} --branch {}", args.program, args.into);
    loop {
        let input = json!({
            "programId": args.program,
            "from": args.from,
            "into": args.into,
            "resolutions": resolutions,
            "message": args.message,
            "expectedHead": args.expected_head,
            "dryRun": args.dry_run,
        });
        let answer: Merged = client.change(&document, input, &look).await?;
        let outcome = answer.merge.outcome;
        let (Outcome::EditConflict { conflicts, .. }, Some(side)) = (&outcome, args.everywhere()) else {
            return Ok(outcome);
        };
        let known: BTreeSet<&str> = resolutions.iter().filter_map(|one| one["ref"].as_str()).collect();
        let open =
            conflicts.iter().filter(|conflict| !conflict.is_stale()).map(|conflict| conflict.of.as_str());
        let open: BTreeSet<&str> = open.filter(|of| !known.contains(of)).collect();
        if open.is_empty() {
            return Ok(outcome);
        }
        let more: Vec<Value> = open.into_iter().map(|of| json!({ "ref": of, "take": side })).collect();
        resolutions.extend(more);
    }
}

fn preview(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let mut variables = named(&args.program);
    variables["from"] = args.from.clone().into();
    variables["into"] = args.into.clone().into();
    let document = format!("{PREVIEW}\n{FOUND}");
    let answer: About<Previewed> =
        with_client(settings, Missing::Refuse, async |client| client.ask(&document, &variables).await)?;
    let preview = answer.program.merge_preview;
    let collides = || args.explained(&preview.conflicts);
    output.data(&preview.json(), || if preview.clean { preview.text() } else { collides() })?;
    Ok(if preview.clean { Exit::Success } else { Exit::Conflict })
}

impl Args {
    /// The side that is taken wherever nothing else is said.
    fn everywhere(&self) -> Option<&'static str> {
        let sides = [(&self.ours, "OURS"), (&self.theirs, "THEIRS")];
        sides.into_iter().find(|(places, _)| places.contains(&Where::Everywhere)).map(|(_, side)| side)
    }

    /// The resolutions that name their conflicts.
    fn chosen(&self) -> Result<Vec<Value>, Error> {
        let mut chosen = match &self.resolve {
            None => Vec::new(),
            Some(file) => serde_json::from_str::<Vec<Value>>(&input(file)?).map_err(|error| {
                Error::Input(format!("`{}` is no list of resolutions: {error}", file.display()))
            })?,
        };
        let sides = [(&self.ours, "OURS"), (&self.theirs, "THEIRS")];
        let of_side = |(places, side): (&Vec<Where>, &str)| {
            let named = places.iter().filter_map(|place| match place {
                Where::Everywhere => None,
                Where::At(of) => Some(json!({ "ref": of.to_string(), "take": side })),
            });
            named.collect::<Vec<_>>()
        };
        chosen.extend(sides.into_iter().flat_map(of_side));
        Ok(chosen)
    }

    /// What collides, each with what resolves it, and which side is which.
    fn explained(&self, conflicts: &[Conflict]) -> String {
        let one = |conflict: &Conflict| {
            let (of, shown) = (&conflict.of, conflict.text(["ours", "theirs"]));
            format!("{shown}    take: `--ours={of}` or `--theirs={of}`\n")
        };
        let text: String = conflicts.iter().map(one).collect();
        let Args { into, from, .. } = self;
        format!(
            "{text}nothing is merged: ours is `{into}`, theirs is `{from}`; `--ours` or `--theirs` takes one side everywhere\n"
        )
    }
}

impl FromStr for Where {
    type Err = <Ref as FromStr>::Err;

    fn from_str(given: &str) -> Result<Where, Self::Err> {
        match given {
            "all" => Ok(Where::Everywhere),
            given => given.parse().map(Where::At),
        }
    }
}

impl Preview {
    fn json(&self) -> Value {
        let Counts { added, removed, modified } = self.diff.changed;
        json!({
            "clean": self.clean,
            "added": added,
            "removed": removed,
            "modified": modified,
            "conflicts": self.conflicts.iter().map(Conflict::json).collect::<Vec<_>>(),
            "newDiagnostics": self.new_diagnostics.iter().map(Found::json).collect::<Vec<_>>(),
            "text": self.diff.text,
        })
    }

    fn text(&self) -> String {
        let mut text = format!("{}\n", self.diff.changed);
        self.new_diagnostics.iter().for_each(|found| text.push_str(&found.text()));
        if !self.diff.text.is_empty() {
            text.push('\n');
            text.push_str(&self.diff.text);
        }
        text
    }
}
