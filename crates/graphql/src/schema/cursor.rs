//! Where pages go on: each list has cursors of its own, which no other list takes.

use std::fmt::Display;

use lmlang_engine as engine;
use serde_json::json;

use crate::error::{ApiError, Code, cut};

/// What stands between the mark of a list and the place in it.
const BETWEEN: char = ':';

macro_rules! lists {
    ($($list:ident $mark:literal $field:literal)*) => {
        /// A list of the schema, by the field that has it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum List {
            $(#[doc = concat!("`", $field, "`.")] $list,)*
        }

        impl List {
            /// Every list.
            pub const ALL: &[List] = &[$(List::$list),*];

            /// The field: `Program.history`.
            #[must_use]
            pub const fn field(self) -> &'static str {
                match self {
                    $(List::$list => $field,)*
                }
            }

            /// What its cursors begin with; no two lists have the same.
            const fn mark(self) -> &'static str {
                match self {
                    $(List::$list => $mark,)*
                }
            }
        }
    };
}

lists! {
    Entities "en" "Query.entities"
    Found "ft" "Query.findText"
    Interrupts "in" "Query.interrupts"
    Programs "pr" "Query.programs"
    Runs "ru" "Query.runs"
    Sessions "ss" "Query.sessions"
    Tokens "to" "Query.tokens"
    Answers "an" "Program.analysis"
    Branches "br" "Program.branches"
    Calls "cg" "Program.callGraph"
    Cases "ca" "Program.cases"
    Checkpoints "cp" "Program.checkpoints"
    Diagnostics "di" "Program.diagnostics"
    Functions "fu" "Program.functions"
    History "hi" "Program.history"
    Modules "mo" "Program.modules"
    Search "se" "Program.search"
    Storage "st" "Program.storage"
    Types "ty" "Program.types"
    Uncovered "un" "Program.uncovered"
    Callees "ce" "Function.callees"
    Callers "cr" "Function.callers"
    FunctionDiagnostics "fd" "Function.diagnostics"
    FunctionEdges "fe" "Function.edges"
    FunctionNodes "fn" "Function.nodes"
    FunctionRegions "fr" "Function.regions"
    NodeDiagnostics "nd" "ComputeNode.diagnostics"
    Incoming "ni" "ComputeNode.incoming"
    Outgoing "no" "ComputeNode.outgoing"
    NodeRegions "nr" "ComputeNode.regions"
    RegionNodes "rn" "Region.nodes"
    OutputUses "ou" "OutputPort.uses"
    ParamUses "pu" "Param.uses"
    ModuleFunctions "mf" "Module.functions"
    StorageUsers "su" "Storage.usedBy"
    TypeUsers "tu" "TypeDef.usedBy"
    Affected "if" "Impact.functions"
    DirtyNodes "vn" "VerifyReport.dirtyNodes"
    DiffEdits "de" "ProgramDiff.edits"
    DiffFunctions "df" "ProgramDiff.functions"
    RevisionEdits "re" "Revision.edits"
    Touched "rt" "Revision.touched"
    Steps "rs" "Run.steps"
    RunTrace "rc" "Run.trace"
    SessionRuns "sr" "Session.runs"
    SessionTrace "sc" "Session.trace"
}

impl List {
    /// The cursor of a place.
    #[must_use]
    pub fn cursor(self, place: impl Display) -> String {
        format!("{}{BETWEEN}{place}", self.mark())
    }

    /// The place that a cursor names; never empty, and without zero bytes, which no database takes.
    pub(crate) fn place(self, cursor: &str) -> Result<&str, ApiError> {
        let place = cursor.strip_prefix(self.mark()).and_then(|rest| rest.strip_prefix(BETWEEN));
        place.filter(|place| !place.is_empty() && !place.contains('\0')).ok_or_else(|| self.invalid(cursor))
    }

    /// The error for a cursor that this list did not give.
    pub(crate) fn invalid(self, given: &str) -> ApiError {
        let (shown, expected) = (cut(given), self.field());
        let message = format!("`{shown}` is not a cursor of `{expected}`");
        match owner(given).filter(|found| *found != expected) {
            Some(found) => ApiError::new(Code::CursorInvalid, format!("{message}: it is one of `{found}`"))
                .data(json!({ "given": shown, "expected": expected, "found": found })),
            None => ApiError::new(Code::CursorInvalid, message)
                .data(json!({ "given": shown, "expected": expected })),
        }
    }

    /// The list that a text looks like a cursor of.
    pub(crate) fn of(cursor: &str) -> Option<List> {
        let (mark, _) = cursor.split_once(BETWEEN)?;
        List::ALL.iter().copied().find(|list| list.mark() == mark)
    }
}

/// The field that a text looks like a cursor of.
fn owner(cursor: &str) -> Option<&'static str> {
    let list = List::of(cursor).map(List::field);
    let events = || cursor.parse::<engine::Cursor>().ok().map(|_| "Subscription.programEvents");
    let runs = || cursor.parse::<engine::RunCursor>().ok().map(|_| "Subscription.runEvents");
    list.or_else(events).or_else(runs)
}

/// A number in a cursor, as it is written there: nothing but digits, and no more than a database counts.
pub(crate) fn number(text: &str) -> Option<u64> {
    let number = u64::try_from(text.parse::<i64>().ok()?).ok()?;
    (number.to_string() == text).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_lists_have_the_same_mark() {
        for list in List::ALL {
            let same: Vec<_> = List::ALL.iter().filter(|other| other.mark() == list.mark()).collect();
            assert_eq!(same, [list]);
            assert!(list.mark().len() == 2 && list.mark().bytes().all(|byte| byte.is_ascii_lowercase()));
        }
    }

    #[test]
    fn a_list_takes_its_own_cursors_only() {
        for list in List::ALL {
            for place in ["7", "main", "a:b", "="] {
                let cursor = list.cursor(place);
                assert_eq!((list.place(&cursor), List::of(&cursor)), (Ok(place), Some(*list)));
                for other in List::ALL.iter().filter(|other| *other != list) {
                    let expected = format!(
                        "`{cursor}` is not a cursor of `{}`: it is one of `{}`",
                        other.field(),
                        list.field()
                    );
                    assert_eq!(other.place(&cursor).map_err(|error| error.message), Err(expected));
                }
            }
        }
    }

    #[track_caller]
    fn refused(given: &str, expect: &str) {
        let error = List::History.place(given).expect_err("it is no cursor");
        assert_eq!((error.code, error.message.as_str()), (Code::CursorInvalid, expect));
    }

    #[test]
    fn what_is_no_cursor_is_refused() {
        refused("", "`` is not a cursor of `Program.history`");
        refused("7", "`7` is not a cursor of `Program.history`");
        refused("hi", "`hi` is not a cursor of `Program.history`");
        refused("hi:", "`hi:` is not a cursor of `Program.history`");
        refused("HI:7", "`HI:7` is not a cursor of `Program.history`");
        refused("hi:\0", "`hi:\0` is not a cursor of `Program.history`");
        refused("r7", "`r7` is not a cursor of `Program.history`: it is one of `Subscription.programEvents`");
        refused("j7.0", "`j7.0` is not a cursor of `Program.history`: it is one of `Subscription.runEvents`");
    }

    #[test]
    fn a_number_is_read_as_it_is_written() {
        for good in ["0", "7", "9223372036854775807"] {
            assert_eq!(number(good).map(|number| number.to_string()).as_deref(), Some(good));
        }
        for bad in
            ["", "-1", "-0", "+1", "01", " 1", "1.", "1e3", "9223372036854775808", "99999999999999999999"]
        {
            assert_eq!(number(bad), None, "{bad}");
        }
    }
}
