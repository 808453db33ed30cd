//! What is wrong with a declaration, and where.

use std::fmt;

/// What is wrong with a declaration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", at(.path))]
pub struct Mistake {
    /// What kind it is.
    pub code: MistakeCode,
    /// Where: `nodes[2].action.tool.name`; empty for the whole.
    pub path: String,
    /// What is wrong, in words.
    pub message: String,
}

fn at(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!("{path}: ") }
}

/// What can be wrong with a declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MistakeCode {
    /// A field is missing, is not known, or has a value of another type.
    BadField,
    /// A name that could not be written where names are written.
    BadName,
    /// Two things have one name, or the flow that of one of the server.
    NameTaken,
    /// Something leads to what is not there.
    MissingTarget,
    /// No run comes to a node.
    Unreachable,
    /// A run could go round for ever.
    UnboundedCycle,
    /// A number is outside of its bounds.
    BadBound,
    /// A text is no template, or no path.
    BadTemplate,
    /// There is no such channel.
    UnknownChannel,
    /// A channel cannot take what goes into it.
    BadChannel,
    /// A schema is none, or not one of an object.
    BadSchema,
    /// There is no such tool.
    UnknownTool,
    /// Arguments do not fit their tool.
    BadArguments,
    /// There is no such flow.
    UnknownFlow,
    /// Runs would start runs of their own flow, by way of others or not.
    Recursion,
    /// A flow about a program names what is for flows about everything.
    OutOfReach,
}

impl MistakeCode {
    /// All of them, in the order of their declaration.
    pub const ALL: [MistakeCode; 16] = [
        MistakeCode::BadField,
        MistakeCode::BadName,
        MistakeCode::NameTaken,
        MistakeCode::MissingTarget,
        MistakeCode::Unreachable,
        MistakeCode::UnboundedCycle,
        MistakeCode::BadBound,
        MistakeCode::BadTemplate,
        MistakeCode::UnknownChannel,
        MistakeCode::BadChannel,
        MistakeCode::BadSchema,
        MistakeCode::UnknownTool,
        MistakeCode::BadArguments,
        MistakeCode::UnknownFlow,
        MistakeCode::Recursion,
        MistakeCode::OutOfReach,
    ];

    /// Its name, as it is shown.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            MistakeCode::BadField => "BAD_FIELD",
            MistakeCode::BadName => "BAD_NAME",
            MistakeCode::NameTaken => "NAME_TAKEN",
            MistakeCode::MissingTarget => "MISSING_TARGET",
            MistakeCode::Unreachable => "UNREACHABLE",
            MistakeCode::UnboundedCycle => "UNBOUNDED_CYCLE",
            MistakeCode::BadBound => "BAD_BOUND",
            MistakeCode::BadTemplate => "BAD_TEMPLATE",
            MistakeCode::UnknownChannel => "UNKNOWN_CHANNEL",
            MistakeCode::BadChannel => "BAD_CHANNEL",
            MistakeCode::BadSchema => "BAD_SCHEMA",
            MistakeCode::UnknownTool => "UNKNOWN_TOOL",
            MistakeCode::BadArguments => "BAD_ARGUMENTS",
            MistakeCode::UnknownFlow => "UNKNOWN_FLOW",
            MistakeCode::Recursion => "RECURSION",
            MistakeCode::OutOfReach => "OUT_OF_REACH",
        }
    }
}

impl fmt::Display for MistakeCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Mistake {
    /// A mistake at a place.
    #[must_use]
    pub fn new(code: MistakeCode, path: impl Into<String>, message: impl Into<String>) -> Mistake {
        Mistake { code, path: path.into(), message: message.into() }
    }
}
