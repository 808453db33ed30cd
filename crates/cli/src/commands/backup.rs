//! `lmlang backup`: programs with all of their history in a file, with what belongs to no program, and from it into another
//! database.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use indicatif::ProgressBar;
use lmlang_engine::backup::{self, LoadError, LoadRequest, Loading};
use lmlang_store::backup::{
    BackupFile, Contents, Fate, LoadError as StoreLoadError, Part as Beside, PartsInFile, Plan, Planned,
    PlannedPart,
};
use lmlang_store::{folder_of, sync_folder};
use serde_json::{Value, json};

use crate::client::{selector, with_client};
use crate::error::Error;
use crate::exit::Exit;
use crate::output::{Output, bar, columns, counted, say};
use crate::session::{Missing, block_on, open_alone};
use crate::settings::Settings;

/// What to do.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

/// What to do.
#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Write programs with all of their history to a file, as they are at one moment; changes go on meanwhile.
    Create {
        /// The file, `-` for standard output; a file that is there is replaced when the backup is whole.
        file: PathBuf,
        /// A program, by name or id, and no other; may be given several times [default: all].
        #[arg(long, value_name = "PROGRAM")]
        program: Vec<String>,
        /// Leave programs out that were deleted.
        #[arg(long)]
        without_deleted: bool,
    },
    /// Store what is missing of a backup: new programs, and what is new of those that are there. All of it is checked
    /// first. Nobody else may have a database file open.
    Load {
        /// The file.
        file: PathBuf,
        /// A program, by name or id, and no other; may be given several times [default: all].
        #[arg(long, value_name = "PROGRAM")]
        program: Vec<String>,
        /// Give a program another name than in the backup; may be given several times.
        #[arg(long, value_name = "PROGRAM=NAME", value_parser = renaming)]
        rename: Vec<(String, String)>,
    },
}

pub(crate) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    match &args.action {
        Action::Create { file, program, without_deleted } => {
            let contents = create(file, program, *without_deleted, settings)?;
            let Contents { programs, entries, parts, bytes, .. } = &contents;
            let deleted = programs.iter().filter(|program| program.deleted.is_some()).count();
            let json = json!({
                "file": file,
                "programs": programs.len(),
                "deleted": deleted,
                "entries": entries,
                "entities": parts.map(|parts| parts.entities),
                "relations": parts.map(|parts| parts.relations),
                "managerRecords": parts.map(|parts| parts.manager_records),
                "flowChanges": parts.map(|parts| parts.flow_changes),
                "bytes": bytes,
            });
            let told = || {
                let programs = counted(programs.len() as u64, "program", "programs");
                let entries = counted(*entries, "entry", "entries");
                let beside = parts.filter(|parts| *parts != PartsInFile::default()).map(counted_parts);
                let beside = beside.unwrap_or_default();
                format!("{programs}, {deleted} of them deleted, {entries}, {beside}{bytes} bytes\n")
            };
            match file == Path::new("-") {
                true => say(told().trim_end()),
                false => output.data(&json, told)?,
            }
            say(format_args!("not in it: {}", contents.left_out().join(", ")));
        }
        Action::Load { file, program, rename } => {
            let request = LoadRequest {
                programs: program.iter().map(|given| selector(given)).collect(),
                names: rename.iter().map(|(given, name)| (selector(given), name.clone())).collect(),
            };
            let loaded = load(file, &request, settings)?;
            let (programs, parts) = (loaded.programs(), loaded.parts());
            let json: Vec<Value> = programs.iter().map(told).chain(parts.iter().map(part_told)).collect();
            let rows = || programs.iter().map(row).chain(parts.iter().map(part_row)).collect::<Vec<_>>();
            output.data(&json, || columns(&rows()))?;
            let stored = programs.iter().filter(|planned| planned.fate != Fate::Kept).count();
            say(format_args!("{stored} of {} stored", counted(programs.len() as u64, "program", "programs")));
        }
    }
    Ok(Exit::Success)
}

fn renaming(given: &str) -> Result<(String, String), String> {
    match given.split_once('=') {
        Some((program, name)) => Ok((program.to_owned(), name.to_owned())),
        None => Err("expected a program and its name, with `=` between them".to_owned()),
    }
}

fn create(
    file: &Path,
    programs: &[String],
    without_deleted: bool,
    settings: &Settings,
) -> Result<Contents, Error> {
    let mut part = Part::beside(file)?;
    let bar = bar("writing entries", 0);
    let written = with_client(settings, Missing::Refuse, async |client| {
        let mut pieces = client.backup(programs, without_deleted).await?;
        let mut bytes = 0;
        while let Some(piece) = pieces.next().await? {
            part.write(&piece)?;
            bytes += piece.len() as u64;
            match pieces.progress() {
                Some(progress) => show(&bar, progress),
                None => bar.set_message(format!("{bytes} bytes received")),
            }
        }
        Ok(())
    });
    bar.finish_and_clear();
    written?;
    part.finish()
}

fn load(file: &Path, request: &LoadRequest, settings: &Settings) -> Result<Plan, Error> {
    if let Some(url) = &settings.server {
        let what = "a backup is loaded into a database that is not served";
        return Err(Error::NotByServer(what, url.clone()));
    }
    // Before a database is made.
    let backup = read(file)?;
    let (checking, storing) = (bar("checking entries", 0), bar("storing entries", 0));
    let bars = (checking.clone(), storing.clone());
    let progress = move |at| match at {
        Loading::Checked(done, of) => show(&bars.0, (done, of)),
        Loading::Stored(done, of) => {
            bars.0.finish_and_clear();
            show(&bars.1, (done, of));
        }
    };
    let loaded = block_on(async {
        let store = open_alone(settings).await?;
        Ok(backup::load(store, Arc::new(backup), request, progress).await)
    });
    checking.finish_and_clear();
    storing.finish_and_clear();
    loaded?.map_err(|error| refused(file.to_owned(), error))
}

fn refused(path: PathBuf, error: LoadError) -> Error {
    match error {
        LoadError::Request(error) => error.into(),
        LoadError::Unsound(source) => Error::Unsound { path, source },
        LoadError::Store(StoreLoadError::File(source)) => Error::Backup { path, source },
        LoadError::Store(StoreLoadError::Refused(source)) => Error::NotLoaded { path, source },
        LoadError::Store(StoreLoadError::Moved { program }) => {
            Error::Moved { path, what: format!("program `{program}`") }
        }
        LoadError::Store(StoreLoadError::PartMoved { part }) => Error::Moved { path, what: part.to_string() },
        LoadError::Store(StoreLoadError::Storage(fault)) => fault.into(),
    }
}

fn show(bar: &ProgressBar, (done, of): (u64, u64)) {
    bar.set_length(of);
    bar.set_position(done);
}

fn read(file: &Path) -> Result<BackupFile, Error> {
    BackupFile::open(file).map_err(|source| Error::Backup { path: file.to_owned(), source })
}

fn fate(fate: Fate) -> &'static str {
    match fate {
        Fate::Made => "made",
        Fate::Continued => "continued",
        Fate::Kept => "kept",
    }
}

fn told(planned: &Planned) -> Value {
    json!({
        "id": planned.id,
        "name": planned.name,
        "deleted": planned.deleted,
        "done": fate(planned.fate),
        "entries": planned.entries,
    })
}

fn row(planned: &Planned) -> [String; 4] {
    let deleted = if planned.deleted { "deleted" } else { "" };
    let entries = counted(planned.entries, "entry", "entries");
    [planned.name.clone(), fate(planned.fate).to_owned(), entries, deleted.to_owned()]
}

fn counted_parts(parts: PartsInFile) -> String {
    let entities = counted(parts.entities, "entity", "entities");
    let relations = counted(parts.relations, "relation", "relations");
    let records = counted(parts.manager_records, "record", "records");
    let flows = match parts.flow_changes {
        0 => String::new(),
        changes => format!("{} of flows, ", counted(changes, "change", "changes")),
    };
    format!("{entities}, {relations}, {records} of the Manager, {flows}")
}

fn part_told(planned: &PlannedPart) -> Value {
    let (done, changes) = (fate(planned.fate), planned.changes);
    match planned.part {
        Beside::Entities => json!({ "part": "entities", "done": done, "changes": changes }),
        Beside::Manager => json!({ "part": "manager", "done": done, "changes": changes }),
        Beside::Flows => json!({ "part": "flows", "done": done, "changes": changes }),
    }
}

fn part_row(planned: &PlannedPart) -> [String; 4] {
    let changes = counted(planned.changes, "change", "changes");
    [planned.part.to_string(), fate(planned.fate).to_owned(), changes, String::new()]
}

/// A file that gets its name when it is whole; until then it stands beside, and is removed unless it gets there. What goes
/// into something that is no file, as a pipe is none, is written there when it is whole.
struct Part {
    file: File,
    path: PathBuf,
    target: Target,
    whole: bool,
}

/// Where a backup goes.
enum Target {
    /// A file of this name.
    Name(PathBuf),
    /// Something that is there and no file.
    Into(PathBuf),
    Stdout,
}

impl Target {
    fn of(given: &Path) -> Result<Target, Error> {
        if given == Path::new("-") {
            return Ok(Target::Stdout);
        }
        match fs::metadata(given) {
            Ok(found) if found.is_dir() => {
                Err(Error::Write { path: given.to_owned(), source: io::ErrorKind::IsADirectory.into() })
            }
            // A link stays one.
            Ok(found) if found.is_file() => {
                let target = fs::canonicalize(given);
                target.map(Target::Name).map_err(|source| Error::Write { path: given.to_owned(), source })
            }
            Ok(_) => Ok(Target::Into(given.to_owned())),
            Err(_) => Ok(Target::Name(given.to_owned())),
        }
    }

    /// The path that messages tell.
    fn path(&self) -> &Path {
        match self {
            Target::Name(path) | Target::Into(path) => path,
            Target::Stdout => Path::new("-"),
        }
    }
}

impl Part {
    fn beside(target: &Path) -> Result<Part, Error> {
        let target = Target::of(target)?;
        let failed = |source| Error::Write { path: target.path().to_owned(), source };
        let path = match &target {
            Target::Name(path) => path.clone(),
            Target::Into(_) | Target::Stdout => std::env::temp_dir().join("lmlang-backup"),
        };
        let Some(name) = path.file_name() else {
            return Err(failed(io::ErrorKind::IsADirectory.into()));
        };
        let mut name = name.to_owned();
        name.push(format!(".{}.part", std::process::id()));
        let path = path.with_file_name(name);
        let file = File::create(&path).map_err(failed)?;
        Ok(Part { file, path, target, whole: false })
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.file.write_all(bytes).map_err(|source| self.failed(source))
    }

    /// Reads what was written, and gives it its name.
    fn finish(mut self) -> Result<Contents, Error> {
        self.file.sync_all().map_err(|source| self.failed(source))?;
        let contents = read(&self.path)?.contents().clone();
        self.deliver().map_err(|source| self.failed(source))?;
        Ok(contents)
    }

    fn deliver(&mut self) -> io::Result<()> {
        let mut out: Box<dyn Write> = match &self.target {
            Target::Name(target) => {
                fs::rename(&self.path, target)?;
                self.whole = true;
                return sync_folder(folder_of(target));
            }
            Target::Into(target) => Box::new(File::options().write(true).open(target)?),
            Target::Stdout => Box::new(io::stdout().lock()),
        };
        io::copy(&mut File::open(&self.path)?, &mut out)?;
        out.flush()
    }

    fn failed(&self, source: io::Error) -> Error {
        Error::Write { path: self.target.path().to_owned(), source }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if !self.whole {
            // What is left then is told apart by its name.
            fs::remove_file(&self.path).ok();
        }
    }
}
