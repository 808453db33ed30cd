//! The functions of queries: exactly those that the planner lowers.

use serde::Serialize;

/// A function that makes one value of the values of one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Scalar {
    Abs,
    Ceil,
    Coalesce,
    Concat,
    Floor,
    Length,
    Mod,
    NullIf,
    Power,
    Round,
    Sqrt,
    WindowEnd,
    WindowStart,
}

/// A function that makes one value of the rows of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Aggregate {
    Avg,
    Count,
    First,
    Last,
    Max,
    Min,
    Sum,
}

/// A function that makes one value of a row and of the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Stateful {
    Changed,
    Lag,
}

/// What a name of a function means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Function {
    Scalar(Scalar),
    Aggregate(Aggregate),
    Stateful(Stateful),
}

/// How a function is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FunctionSignature {
    /// The arguments in order.
    pub args: &'static [FunctionArgument],
    /// The type of the result.
    #[serde(rename = "return")]
    pub returns: &'static str,
}

/// An argument of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FunctionArgument {
    /// What it is.
    pub name: &'static str,
    /// The types that it takes.
    #[serde(rename = "type")]
    pub of: &'static str,
    /// Whether it may be left out.
    #[serde(skip_serializing_if = "is_false")]
    pub optional: bool,
    /// Whether there may be more like it.
    #[serde(skip_serializing_if = "is_false")]
    pub variadic: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
fn is_false(value: &bool) -> bool {
    !value
}

/// A function, as `GET /functions` shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FunctionDef {
    /// `scalar`, `aggregate` or `stateful`.
    pub kind: &'static str,
    /// Its name; case does not matter.
    pub name: &'static str,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// How it is called.
    pub signature: FunctionSignature,
    /// What it does.
    pub description: &'static str,
    /// The clauses in which it may stand.
    pub allowed_contexts: &'static [&'static str],
    /// What a query needs besides.
    pub requirements: &'static [&'static str],
    /// What it is bound to.
    pub constraints: &'static [&'static str],
    /// Queries over `readings (device string, temp double, level bigint, ok boolean, at timestamp)`.
    pub examples: &'static [&'static str],
    #[serde(skip)]
    pub(crate) function: Function,
}

impl FunctionDef {
    /// The call in words, such as `nullif(value, other)`.
    pub fn usage(&self) -> String {
        let arg = |arg: &FunctionArgument| {
            let more = if arg.variadic { ", .." } else { "" };
            if arg.optional { format!("[{}]{more}", arg.name) } else { format!("{}{more}", arg.name) }
        };
        let args: Vec<String> = self.signature.args.iter().map(arg).collect();
        format!("{}({})", self.name, args.join(", "))
    }

    /// The fewest and the most arguments.
    pub(crate) fn arity(&self) -> (usize, usize) {
        let args = self.signature.args;
        let least = args.iter().filter(|arg| !arg.optional).count();
        let most = if args.iter().any(|arg| arg.variadic) { usize::MAX } else { args.len() };
        (least, most)
    }
}

/// The functions in the order of their names.
pub fn functions() -> &'static [FunctionDef] {
    FUNCTIONS
}

/// The function of a name or alias; case does not matter.
pub fn function(name: &str) -> Option<&'static FunctionDef> {
    let is = |one: &str| one.eq_ignore_ascii_case(name);
    FUNCTIONS.iter().find(|def| is(def.name) || def.aliases.iter().any(|alias| is(alias)))
}

/// All names and aliases.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.iter().flat_map(|def| std::iter::once(def.name).chain(def.aliases.iter().copied()))
}

const ROW: &[&str] = &["select", "where", "group_by", "having"];
const GROUP: &[&str] = &["select", "having"];
const SELECT: &[&str] = &["select"];
const WINDOW: &[&str] = &["a window in GROUP BY"];
const TIMES: &[&str] = &["a tumbling or sliding window in GROUP BY"];
const NULLS: &str = "NULL where an argument is NULL";
const PASSES: &str = "rows in which the argument is NULL are passed over; NULL if there is no other";
const ONE_BEFORE: &str = "looks at the row before, of those that WHERE keeps; not in a windowed query";

const fn arg(name: &'static str, of: &'static str) -> FunctionArgument {
    FunctionArgument { name, of, optional: false, variadic: false }
}

const fn rest(name: &'static str, of: &'static str) -> FunctionArgument {
    FunctionArgument { name, of, optional: false, variadic: true }
}

const fn optional(name: &'static str, of: &'static str) -> FunctionArgument {
    FunctionArgument { name, of, optional: true, variadic: false }
}

macro_rules! functions {
    ($($kind:ident::$variant:ident $name:literal $aliases:expr, ($($arg:expr),*) -> $returns:literal, $description:literal,
        in $contexts:ident, needs $requirements:expr, bound $constraints:expr, eg $examples:expr;)*) => {
        static FUNCTIONS: &[FunctionDef] = &[$(FunctionDef {
            kind: kind!($kind),
            name: $name,
            aliases: &$aliases,
            signature: FunctionSignature { args: &[$($arg),*], returns: $returns },
            description: $description,
            allowed_contexts: $contexts,
            requirements: $requirements,
            constraints: &$constraints,
            examples: &$examples,
            function: Function::$kind($kind::$variant),
        }),*];
    };
}

macro_rules! kind {
    (Scalar) => {
        "scalar"
    };
    (Aggregate) => {
        "aggregate"
    };
    (Stateful) => {
        "stateful"
    };
}

functions! {
    Scalar::Abs "abs" [], (arg("x", "bigint or double")) -> "the type of x",
        "The number without its sign.",
        in ROW, needs &[], bound [NULLS, "the least bigint stays as it is"],
        eg ["SELECT abs(level) FROM readings"];
    Aggregate::Avg "avg" [], (arg("x", "bigint or double")) -> "double",
        "The arithmetic mean.",
        in GROUP, needs WINDOW, bound [PASSES],
        eg ["SELECT avg(temp) FROM readings GROUP BY tumblingwindow('ss', 10)"];
    Scalar::Ceil "ceil" ["ceiling"], (arg("x", "bigint or double")) -> "the type of x",
        "The least integral number that is not below.",
        in ROW, needs &[], bound [NULLS],
        eg ["SELECT ceil(temp) FROM readings"];
    Stateful::Changed "changed" [], (arg("x", "bigint, double, boolean, string or timestamp")) -> "boolean",
        "Whether the value differs from that of the row before; NULL is a value like others. True for the first row.",
        in SELECT, needs &[], bound [ONE_BEFORE],
        eg ["SELECT device, changed(level) FROM readings"];
    Scalar::Coalesce "coalesce" [], (rest("x", "any, all of one type")) -> "the type of x",
        "The first argument that is not NULL; NULL if all are.",
        in ROW, needs &[], bound [],
        eg ["SELECT coalesce(temp, 0.0) FROM readings"];
    Scalar::Concat "concat" [], (rest("x", "string")) -> "string",
        "The texts one after the other.",
        in ROW, needs &[], bound [NULLS],
        eg ["SELECT concat(device, '!') FROM readings"];
    Aggregate::Count "count" [], (optional("x", "any")) -> "bigint",
        "How many rows there are, of count(*); of count(x), in how many x is not NULL.",
        in GROUP, needs WINDOW, bound ["never NULL"],
        eg ["SELECT count(*), count(temp) FROM readings GROUP BY countwindow(4)"];
    Aggregate::First "first" ["first_value"], (arg("x", "any")) -> "the type of x",
        "The value in the first row of the group, NULL if it is NULL there.",
        in GROUP, needs WINDOW, bound ["the order is that of time, where the window has one, else that of arrival"],
        eg ["SELECT first(temp) FROM readings GROUP BY countwindow(4)"];
    Scalar::Floor "floor" [], (arg("x", "bigint or double")) -> "the type of x",
        "The greatest integral number that is not above.",
        in ROW, needs &[], bound [NULLS],
        eg ["SELECT floor(temp) FROM readings"];
    Stateful::Lag "lag" [], (arg("x", "any")) -> "the type of x",
        "The value in the row before; NULL for the first row.",
        in SELECT, needs &[], bound [ONE_BEFORE],
        eg ["SELECT temp - lag(temp) AS step FROM readings"];
    Aggregate::Last "last" ["last_value"], (arg("x", "any")) -> "the type of x",
        "The value in the last row of the group, NULL if it is NULL there.",
        in GROUP, needs WINDOW, bound ["the order is that of time, where the window has one, else that of arrival"],
        eg ["SELECT last(temp) FROM readings GROUP BY countwindow(4)"];
    Scalar::Length "length" ["char_length"], (arg("text", "string")) -> "bigint",
        "The number of characters (code points).",
        in ROW, needs &[], bound [NULLS],
        eg ["SELECT length(device) FROM readings"];
    Aggregate::Max "max" [], (arg("x", "bigint, double, string or timestamp")) -> "the type of x",
        "The greatest value.",
        in GROUP, needs WINDOW, bound [PASSES],
        eg ["SELECT max(temp) FROM readings GROUP BY countwindow(4)"];
    Aggregate::Min "min" [], (arg("x", "bigint, double, string or timestamp")) -> "the type of x",
        "The least value.",
        in GROUP, needs WINDOW, bound [PASSES],
        eg ["SELECT min(temp) FROM readings GROUP BY countwindow(4)"];
    Scalar::Mod "mod" [], (arg("a", "bigint"), arg("b", "bigint")) -> "bigint",
        "The remainder of a division towards zero: a % b.",
        in ROW, needs &[], bound [NULLS, "NULL where b is 0"],
        eg ["SELECT mod(level, 10) FROM readings"];
    Scalar::NullIf "nullif" [], (arg("value", "bigint, double, boolean, string or timestamp"), arg("other", "the same")) -> "the type of value",
        "NULL if the two are equal, else the value.",
        in ROW, needs &[], bound [],
        eg ["SELECT nullif(level, 0) FROM readings"];
    Scalar::Power "power" ["pow"], (arg("x", "bigint or double"), arg("n", "bigint")) -> "double",
        "The number to an integral power.",
        in ROW, needs &[], bound [NULLS, "n is a bigint: there are no roots but sqrt"],
        eg ["SELECT power(temp, 2) FROM readings"];
    Scalar::Round "round" [], (arg("x", "bigint or double")) -> "the type of x",
        "The nearest integral number; halves go away from zero.",
        in ROW, needs &[], bound [NULLS],
        eg ["SELECT round(temp) FROM readings"];
    Scalar::Sqrt "sqrt" [], (arg("x", "bigint or double")) -> "double",
        "The square root.",
        in ROW, needs &[], bound [NULLS, "NULL of a negative number"],
        eg ["SELECT sqrt(temp) FROM readings"];
    Aggregate::Sum "sum" [], (arg("x", "bigint or double")) -> "the type of x",
        "The sum.",
        in GROUP, needs WINDOW, bound [PASSES, "a bigint wraps around at 64 bits"],
        eg ["SELECT sum(level) FROM readings GROUP BY tumblingwindow('mi', 1)"];
    Scalar::WindowEnd "window_end" [], () -> "timestamp",
        "Where the window ends. A tumbling window is before it, a sliding one up to it.",
        in GROUP, needs TIMES, bound [],
        eg ["SELECT window_end() AS until, count(*) FROM readings GROUP BY tumblingwindow('ss', 10)"];
    Scalar::WindowStart "window_start" [], () -> "timestamp",
        "Where the window begins. A tumbling window is from it on, a sliding one behind it.",
        in GROUP, needs TIMES, bound [],
        eg ["SELECT window_start() AS since, count(*) FROM readings GROUP BY tumblingwindow('ss', 10)"];
}
