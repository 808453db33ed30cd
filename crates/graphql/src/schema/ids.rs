//! Global ids: what `node(id:)` takes and every `id` field gives.
//!
//! ```text
//! P            a program at the head of its main branch; P is its uuid
//! P@r118       the same pinned at revision 118, or P@name at the head of a branch, `/` and `%` in it as `%2F` and `%25`
//! P/f7         the entity with ref f7 at that head; P@r118/f7 pinned
//! P/r118       revision 118 itself
//! P/c-uuid     a test case at that head; P@r118/c-uuid pinned
//! S-uuid       a simulation
//! R-uuid       a run of a flow
//! R-uuid/12    the question that its entry 12 asked
//! T-uuid       a session, which runs belong to
//! E-uuid       an entity that is kept beside programs
//! ```
//!
//! A view's suffix is carried by everything below it, so that a client's cache never paints the past over the present.

use std::fmt;
use std::str::FromStr;

use lmlang_history::revision::MAIN;
use lmlang_ir::Ref;
use uuid::Uuid;

/// A text that is no global id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an id")]
pub struct ParseIdError(String);

/// Which revision of a program is looked at.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub enum View {
    /// The head of the main branch, whatever it is at the moment.
    #[default]
    Head,
    /// The head of another branch.
    Branch(String),
    /// One revision.
    Pinned(u64),
    /// The state that a dry run led to; cannot be looked up again.
    Dry(Uuid),
}

/// A program in a view.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ViewId {
    /// The program.
    pub program: Uuid,
    /// The view of it.
    pub view: View,
}

/// Any global id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum GlobalId {
    /// A program in a view.
    Program(ViewId),
    /// An entity of a program in a view.
    Entity(ViewId, Ref),
    /// A revision.
    Revision(Uuid, u64),
    /// A test case in a view.
    Case(ViewId, Uuid),
    /// A simulation.
    Simulation(Uuid),
    /// A run of a flow.
    Run(Uuid),
    /// A question of a run, by the number of the entry that asked it.
    Interrupt(Uuid, u64),
    /// A session.
    Session(Uuid),
    /// An entity that is kept beside programs.
    Kept(Uuid),
}

impl ViewId {
    /// The branch that the view follows; `None` for a pinned revision and a dry run.
    pub fn branch(&self) -> Option<String> {
        match &self.view {
            View::Head => Some(MAIN.to_owned()),
            View::Branch(name) => Some(name.clone()),
            View::Pinned(_) | View::Dry(_) => None,
        }
    }
}

impl fmt::Display for ViewId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.view {
            View::Head => write!(f, "{}", self.program),
            // In this order, so that it reads back.
            View::Branch(name) => {
                write!(f, "{}@{}", self.program, name.replace('%', "%25").replace('/', "%2F"))
            }
            View::Pinned(number) => write!(f, "{}@r{number}", self.program),
            View::Dry(id) => write!(f, "{}@dry-{}", self.program, id.simple()),
        }
    }
}

impl fmt::Display for GlobalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GlobalId::Program(view) => view.fmt(f),
            GlobalId::Entity(view, of) => write!(f, "{view}/{of}"),
            GlobalId::Revision(program, number) => write!(f, "{program}/r{number}"),
            GlobalId::Case(view, id) => write!(f, "{view}/{CASE}{id}"),
            GlobalId::Simulation(id) => write!(f, "S-{id}"),
            GlobalId::Run(id) => write!(f, "R-{id}"),
            GlobalId::Interrupt(run, asked) => write!(f, "R-{run}/{asked}"),
            GlobalId::Session(id) => write!(f, "T-{id}"),
            GlobalId::Kept(id) => write!(f, "E-{id}"),
        }
    }
}

/// What the id of a case begins with, behind its view.
const CASE: &str = "c-";

fn revision_number(text: &str) -> Option<u64> {
    let digits = text.strip_prefix('r').filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()))?;
    digits.parse().ok()
}

/// The name of a branch that stands in an id; also as people write it, who do not know how an id does.
fn branch_name(text: &str) -> String {
    text.replace("%2F", "/").replace("%25", "%")
}

impl FromStr for ViewId {
    type Err = ParseIdError;

    fn from_str(text: &str) -> Result<ViewId, ParseIdError> {
        let error = || ParseIdError(text.chars().take(80).collect());
        let (program, view) = match text.split_once('@') {
            None => (text, View::Head),
            Some((program, view)) => {
                let dry = view.strip_prefix("dry-").and_then(|id| Uuid::try_parse(id).ok());
                let view = match (revision_number(view), dry) {
                    (Some(number), _) => View::Pinned(number),
                    (None, Some(id)) => View::Dry(id),
                    (None, None) if !view.is_empty() => View::Branch(branch_name(view)),
                    (None, None) => return Err(error()),
                };
                (program, view)
            }
        };
        // Only the hyphenated form that we print, so that one object has one id.
        let id = Uuid::try_parse(program).map_err(|_| error())?;
        if id.to_string() != program {
            return Err(error());
        }
        Ok(ViewId { program: id, view })
    }
}

impl FromStr for GlobalId {
    type Err = ParseIdError;

    fn from_str(text: &str) -> Result<GlobalId, ParseIdError> {
        // Only the form that we print, so that one object has one id.
        let id = read(text).filter(|id| id.to_string() == text);
        id.ok_or_else(|| ParseIdError(text.chars().take(80).collect()))
    }
}

/// What a text may be the id of, however it writes numbers and names.
fn read(text: &str) -> Option<GlobalId> {
    let uuid = |id: &str| Uuid::try_parse(id).ok();
    if let Some(id) = text.strip_prefix("S-") {
        return uuid(id).map(GlobalId::Simulation);
    }
    if let Some(id) = text.strip_prefix("T-") {
        return uuid(id).map(GlobalId::Session);
    }
    if let Some(id) = text.strip_prefix("E-") {
        return uuid(id).map(GlobalId::Kept);
    }
    if let Some(id) = text.strip_prefix("R-") {
        let Some((run, asked)) = id.split_once('/') else { return uuid(id).map(GlobalId::Run) };
        return Some(GlobalId::Interrupt(uuid(run)?, asked.parse().ok()?));
    }
    let Some((view, entity)) = text.split_once('/') else { return text.parse().ok().map(GlobalId::Program) };
    let view: ViewId = view.parse().ok()?;
    if let Some(id) = entity.strip_prefix(CASE) {
        return uuid(id).map(|id| GlobalId::Case(view, id));
    }
    match (revision_number(entity), &view.view) {
        (Some(number), View::Head) => Some(GlobalId::Revision(view.program, number)),
        (Some(_), View::Branch(_) | View::Pinned(_) | View::Dry(_)) => None,
        (None, _) => entity.parse().ok().map(|of| GlobalId::Entity(view, of)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_read_back_as_they_print() {
        let p = "67e55044-10b1-426f-9247-bb680e5fe0c8";
        let texts = ["", "@r118", "@feature", "@feature%2Fx", "@100%25", "@%252F", "@dry-run"];
        let texts = texts.map(|view| format!("{p}{view}"));
        let texts = texts.iter().flat_map(|view| [view.clone(), format!("{view}/f7"), format!("{view}/n12")]);
        for text in texts.chain([
            format!("{p}/r118"),
            format!("{p}/c-{p}"),
            format!("{p}@r1/c-{p}"),
            format!("S-{p}"),
            format!("R-{p}"),
            format!("R-{p}/12"),
            format!("T-{p}"),
            format!("E-{p}"),
        ]) {
            assert_eq!(text.parse::<GlobalId>().expect("an id").to_string(), text);
        }
    }

    #[test]
    fn a_branch_may_be_called_as_a_folder_is() {
        let p = "67e55044-10b1-426f-9247-bb680e5fe0c8";
        for name in ["feature/x", "feature%2Fx", "%2F", "100%", "dry-run", "f7", "a/f7"] {
            let program = p.parse().expect("a uuid");
            let view = ViewId { program, view: View::Branch(name.to_owned()) };
            for id in [
                GlobalId::Program(view.clone()),
                GlobalId::Entity(view.clone(), "f7".parse().expect("a ref")),
            ] {
                assert_eq!(id.to_string().parse::<GlobalId>(), Ok(id), "{name}");
            }
        }
        // Who names one by hand does not know that.
        let view: ViewId = format!("{p}@feature/x").parse().expect("a view");
        assert_eq!(view.branch().as_deref(), Some("feature/x"));
    }

    #[test]
    fn other_texts_are_refused() {
        let p = "67e55044-10b1-426f-9247-bb680e5fe0c8";
        let upper = p.to_uppercase();
        let texts = [
            "",
            "x",
            "/",
            "@",
            "S-",
            "R-",
            "T-",
            "E-",
            &format!("R-{p}/x"),
            &format!("{p}@"),
            &format!("{p}/"),
            &format!("{p}/q1"),
            &format!("{p}@r01"),
            &format!("{p}@feature/x"),
            &format!("R-{p}/012"),
            &format!("S-{upper}"),
            &upper,
        ];
        for text in texts {
            assert!(text.parse::<GlobalId>().is_err(), "{text}");
        }
        assert!(format!("{p}@r1/r2").parse::<GlobalId>().is_err());
    }
}
