//! What is wrong with a query, and where.

use std::fmt;

use serde::{Serialize, Serializer};

/// A place in the text of a query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Place {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

macro_rules! codes {
    ($($variant:ident $name:literal $meaning:literal $example:literal $repair:literal;)*) => {
        /// The stable code of a [`PlanError`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code { $(#[doc = $meaning] $variant),* }

        impl Code {
            /// All codes.
            pub const ALL: &[Code] = &[$(Code::$variant),*];

            /// The code as it is written.
            pub const fn name(self) -> &'static str {
                match self { $(Code::$variant => $name),* }
            }

            /// What it means.
            pub const fn meaning(self) -> &'static str {
                match self { $(Code::$variant => $meaning),* }
            }

            /// A query that gets it, over the stream `readings` of the tests; empty where no query should.
            pub const fn example(self) -> &'static str {
                match self { $(Code::$variant => $example),* }
            }

            /// What to do about it.
            pub const fn repair(self) -> &'static str {
                match self { $(Code::$variant => $repair),* }
            }
        }
    };
}

codes! {
    Parse "PARSE" "The text is not SQL."
        "SELECT FROM WHERE" "Mend the text at the place; `expected` says what could stand there, where that is known.";
    TooLarge "TOO_LARGE" "The query is longer, or nested deeper, than queries may be."
        "SELECT ((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((1))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))) FROM readings"
        "Split it, or take parentheses away.";
    UnsupportedConstruct "UNSUPPORTED_CONSTRUCT" "The query uses a construct of SQL that the planner does not have; `construct` is its id."
        "SELECT device FROM readings ORDER BY device"
        "Look the construct up in the capabilities: its `workarounds` say what to write instead.";
    UnknownStream "UNKNOWN_STREAM" "No stream has that name."
        "SELECT temp FROM reading" "Take one of `nearest`, or create the stream.";
    UnknownColumn "UNKNOWN_COLUMN" "The stream has no column, or the struct no field, of that name."
        "SELECT tmp FROM readings" "Take one of `nearest`, or look at the schema of the stream.";
    UnknownFunction "UNKNOWN_FUNCTION" "No function has that name."
        "SELECT absolute(temp) FROM readings" "Take one of `nearest`, or look at the list of functions.";
    WrongArguments "WRONG_ARGUMENTS" "A function has other arguments: another number of them, or a constant where one is wanted."
        "SELECT abs(temp, 1) FROM readings" "Give the arguments that `expected` shows.";
    TypeMismatch "TYPE_MISMATCH" "A value has another type than the place takes."
        "SELECT temp + device FROM readings" "Use a value of an `expected` type, or `CAST` it.";
    AggregateMisplaced "AGGREGATE_MISPLACED" "An aggregate stands where there is no group of rows: in `WHERE`, in `GROUP BY`, or inside of another one."
        "SELECT count(*) FROM readings WHERE sum(level) > 3 GROUP BY countwindow(4)"
        "Move the condition to `HAVING`, or take the inner aggregate away.";
    NotGrouped "NOT_GROUPED" "A column of a windowed query is neither grouped by nor inside of an aggregate."
        "SELECT temp, count(*) FROM readings GROUP BY countwindow(4)"
        "Add it to `GROUP BY`, or take its `last`, `min` or another aggregate of it.";
    DuplicateName "DUPLICATE_NAME" "Two columns of the result have one name."
        "SELECT temp, level AS temp FROM readings" "Give one of them another name with `AS`.";
    WindowRequired "WINDOW_REQUIRED" "Aggregates, `GROUP BY` and `HAVING` need a window: a stream has no end."
        "SELECT count(*) FROM readings" "Add a window to `GROUP BY`, such as `tumblingwindow('ss', 10)`.";
    WindowMisplaced "WINDOW_MISPLACED" "A window, or a function of its bounds, stands where it means nothing."
        "SELECT tumblingwindow('ss', 10) FROM readings"
        "Give one window, in `GROUP BY`; a count window has no bounds.";
    WindowArguments "WINDOW_ARGUMENTS" "A window has other arguments: a unit out of dd, hh, mi, ss, ms and a length above 0, or a count above 0."
        "SELECT count(*) FROM readings GROUP BY tumblingwindow('xx', 10)" "Give the arguments that `expected` shows.";
    Lowering "LOWERING" "The planner made a program that is not complete: a mistake of the planner, not of the query."
        "" "Report the query.";
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// A mistake in a query. All that can be seen at once are found at once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlanError {
    /// What kind it is of.
    pub code: Code,
    /// The problem in words.
    pub message: String,
    /// Where it is.
    #[serde(flatten)]
    pub place: Place,
    /// The id of the construct, of [`Code::UnsupportedConstruct`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub construct: Option<&'static str>,
    /// What could stand there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub expected: Vec<String>,
    /// What stands there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
    /// The nearest names that are known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nearest: Vec<String>,
}

impl PlanError {
    /// A mistake of a kind.
    pub(crate) fn new(code: Code, place: Place, message: impl Into<String>) -> PlanError {
        PlanError {
            code,
            message: message.into(),
            place,
            construct: None,
            expected: Vec::new(),
            found: None,
            nearest: Vec::new(),
        }
    }

    /// Says what could stand there.
    pub(crate) fn expecting(self, expected: impl IntoIterator<Item = impl Into<String>>) -> PlanError {
        PlanError { expected: expected.into_iter().map(Into::into).collect(), ..self }
    }

    /// Says what stands there.
    pub(crate) fn finding(self, found: impl Into<String>) -> PlanError {
        PlanError { found: Some(found.into()), ..self }
    }

    /// Adds the known names that come nearest to the given one.
    pub(crate) fn near<'n>(self, given: &str, names: impl Iterator<Item = &'n str>) -> PlanError {
        PlanError { nearest: lmlang_ir::text::nearest(given, names), ..self }
    }
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.place, self.code, self.message)?;
        if let Some(construct) = self.construct {
            write!(f, " [{construct}]")?;
        }
        if !self.expected.is_empty() {
            write!(f, "; expected {}", self.expected.join(" or "))?;
        }
        if let Some(found) = &self.found {
            write!(f, "; found {found}")?;
        }
        if !self.nearest.is_empty() {
            let nearest: Vec<String> = self.nearest.iter().map(|name| format!("`{name}`")).collect();
            write!(f, "; nearest {}", nearest.join(", "))?;
        }
        Ok(())
    }
}

impl std::error::Error for PlanError {}

/// The mistakes as plain text, one a line: what a Manager answers with status 400.
pub fn plain_text(errors: &[PlanError]) -> String {
    let lines: Vec<String> = errors.iter().map(PlanError::to_string).collect();
    lines.join("\n")
}
