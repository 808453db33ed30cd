//! The codes of diagnostics: stable names, classes, and a page of documentation for each.

use std::fmt;
use std::str::FromStr;

/// What a finding means for a program that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// Only a direct edit of the place can cause it: an edit that leaves one is refused, no stored state has one.
    Error,
    /// A change elsewhere can leave it behind: stored as a warning, counts as a hole, refused where an edit makes it.
    Stale,
    /// Something is not there yet: a hole, a missing terminator.
    Incomplete,
    /// Legal, and probably not what was meant.
    Warning,
}

/// How much a finding weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// Refuses the edit.
    Error,
    /// Is accepted and reported.
    Warning,
}

impl Class {
    /// The severity of findings of this class in a stored state.
    pub const fn severity(self) -> Severity {
        match self {
            Class::Error => Severity::Error,
            Class::Stale | Class::Incomplete | Class::Warning => Severity::Warning,
        }
    }

    /// Tells whether a run cannot pass the place and an export cannot hold it.
    pub const fn is_incomplete(self) -> bool {
        match self {
            Class::Stale | Class::Incomplete => true,
            Class::Error | Class::Warning => false,
        }
    }
}

/// What is written about a code.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// The rule that it belongs to: `V1` to `V13`, or `W` for warnings.
    pub rule: &'static str,
    /// A short name.
    pub title: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// Text that has it.
    pub example: &'static str,
    /// What mends it.
    pub repair: &'static str,
}

macro_rules! codes {
    ($($code:ident $name:literal $class:ident $rule:literal $title:literal
        $meaning:literal $example:literal $repair:literal;)*) => {
        /// The kind of a finding.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Code { $(#[doc = $meaning] $code),* }

        impl Code {
            /// All codes, rule by rule.
            pub const ALL: &'static [Code] = &[$(Code::$code),*];

            /// The stable name.
            pub const fn name(self) -> &'static str {
                match self { $(Code::$code => $name),* }
            }

            /// What a finding of this kind means for its program.
            pub const fn class(self) -> Class {
                match self { $(Code::$code => Class::$class),* }
            }

            /// What is written about it.
            pub const fn page(self) -> Page {
                match self {
                    $(Code::$code => Page {
                        rule: $rule, title: $title, meaning: $meaning, example: $example, repair: $repair,
                    }),*
                }
            }
        }
    };
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A text that names no code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownCode(pub String);

impl fmt::Display for UnknownCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not a diagnostic code", self.0)
    }
}

impl std::error::Error for UnknownCode {}

impl FromStr for Code {
    type Err = UnknownCode;

    fn from_str(text: &str) -> Result<Code, UnknownCode> {
        let found = Code::ALL.iter().find(|code| code.name() == text);
        found.copied().ok_or_else(|| UnknownCode(text.chars().take(80).collect()))
    }
}

// code, name, class, rule, title, meaning, example, repair
codes! {
    EmptyInput "EMPTY_INPUT" Incomplete "V1" "an input without a source"
        "An input port takes its value from nowhere. The program may be stored and run up to here."
        "x = add.i32 a, _"
        "Connect the input to a value of the expected type with `addEdge` or `setInput`.";
    UnknownSource "UNKNOWN_SOURCE" Error "V1" "the source of an input does not exist"
        "An input names a node, a region or a function that is not part of this function."
        "x = add.i32 n999, a"
        "Name a node, a region parameter or a parameter of the same function.";
    PortGone "PORT_GONE" Stale "V1" "the source has no such output"
        "The source of an input exists, but has fewer outputs or parameters than the input asks for; the usual cause is a signature that lost one."
        "x = add.i32 n12.1, a   ; n12 calls a function with one result"
        "Connect the input to another value, or give the source its output back.";
    TypeMismatch "TYPE_MISMATCH" Stale "V1" "an edge joins different types"
        "The type that an input takes is not the type that its source gives. There are no implicit conversions."
        "x = add.i32 a, b   ; b is an i64"
        "Convert the value (`wrap`, `extend_s`, `convert_s` and so on), use the operator of the other type, or connect another value.";
    NotInScope "NOT_IN_SCOPE" Error "V2" "a value is used where it is not in scope"
        "A value is in scope after its node, in the same region and in all regions inside of it; a parameter is in scope in its region and inside of it."
        "y = add.i32 x, a\nx = const.i32 1"
        "Move the producer before the user, or pass the value out as a result of the node that owns the region.";
    MissingTerminator "MISSING_TERMINATOR" Incomplete "V3" "a region has no terminator"
        "Each region ends in exactly one of `yield`, `break`, `continue`, `return`, `unreachable` and `br_switch`. The program may be stored and run up to here."
        "func f () -> (i32) {\n  a = const.i32 1\n}"
        "Add a terminator at the end of the region.";
    CodeAfterTerminator "CODE_AFTER_TERMINATOR" Error "V3" "a node stands after a terminator"
        "A terminator is the last node of its region; nothing may follow it."
        "return a\nb = const.i32 1"
        "Move the node before the terminator, or remove it.";
    YieldOutsideNode "YIELD_OUTSIDE_NODE" Error "V3" "`yield` at the end of a function"
        "`yield` ends a region of a node, or of a contract. The region of a function ends in `return`."
        "func f () -> (i32) {\n  yield 1\n}"
        "Use `return`.";
    ReturnInContract "RETURN_IN_CONTRACT" Error "V3" "`return` inside of a contract"
        "A contract answers with `yield`; it cannot leave the function."
        "require \"small\" {\n  return\n}"
        "Use `yield` with a `bool`.";
    UnknownLabel "UNKNOWN_LABEL" Error "V4" "an exit aims at nothing around it"
        "`break` and `continue` name a node that owns a region around them."
        "break L (a)   ; no L around it"
        "Name the label or the ref of an enclosing `block`, `loop`, `if` or `match`.";
    ContinueNotLoop "CONTINUE_NOT_LOOP" Error "V4" "`continue` aims at something other than a loop"
        "Only a `loop` has a next round."
        "block B { continue B }"
        "Name an enclosing loop, or use `break`.";
    SwitchTargetsDiffer "SWITCH_TARGETS_DIFFER" Stale "V4" "targets of a switch take different values"
        "All targets of a `br_switch` are given the same values, so they must take the same types."
        "br_switch (break A, return) i (x)   ; A takes i32, the function returns i64"
        "Give the targets the same types, or use `match`.";
    InputCount "INPUT_COUNT" Error "V5" "an operator with too few or too many inputs"
        "The op table fixes the number of inputs of this operator."
        "x = add.i32 a, b, c"
        "Give the node as many inputs as the operator has ports; `_` leaves one empty.";
    ArityMismatch "ARITY_MISMATCH" Stale "V5" "the number of values is not what is taken"
        "The number of inputs follows from something that the operator names: a function, a struct, a target, the region's owner. It has another number of parts than values are given, usually since it changed."
        "x = call f(a)   ; f takes two parameters"
        "Add the missing inputs or remove the surplus ones.";
    RegionCount "REGION_COUNT" Error "V5" "too few or too many regions"
        "`block` and `loop` own one region, `if` two, `match` one for each case and one for the default, other operators none."
        "an `if` with one region"
        "Replace the node by one with all its regions.";
    RegionRoleWrong "REGION_ROLE" Error "V5" "a region with the role of another"
        "The role of a region follows from its position among the regions of its owner."
        "a `then` in the place of an `else`"
        "Replace the node by one with its regions in order.";
    RegionParams "REGION_PARAMS" Stale "V5" "the parameters of a region do not fit its role"
        "A case over a variant with a payload has one parameter of the payload's type; the region of an `ensure` has the results of its function; a loop's body has any; other regions have none."
        "case some (x: i64) { .. }   ; the option holds an i32"
        "Change the parameters of the region.";
    FixedLength "FIXED_LENGTH" Error "V5" "an array of fixed length cannot change its length"
        "`array.push` and `array.slice` make arrays of another length, which `array<T, N>` does not allow."
        "array.push<i32, 4> a, 5"
        "Use `array<T>`.";
    WrongTypeShape "WRONG_TYPE_SHAPE" Stale "V5" "a struct where an enum is needed, or the reverse"
        "The operator works on a struct or on an enum, and the type that it names is the other."
        "struct.new Shape a   ; Shape is an enum"
        "Name a type of the right shape.";
    UnknownMember "UNKNOWN_MEMBER" Stale "V5" "a field or variant that the type does not have"
        "The operator names a field or a variant that its type does not have, usually since it was removed."
        "struct.get Point.z p"
        "Name a field or variant of the type, or add it to the type.";
    UnknownCapture "UNKNOWN_CAPTURE" Stale "V5" "a capture that the function does not have"
        "`capture.get` counts the captures of the function around it from 0, and there are fewer."
        "capture.get 3"
        "Use the index of a capture, or add one to the function.";
    UnknownType "UNKNOWN_TYPE" Error "V5" "a type that does not exist"
        "A nominal type is named that is not part of the program."
        "func f (p: t999)"
        "Name a type of the program.";
    UnknownVariable "UNKNOWN_VARIABLE" Error "V6" "a variable that the function does not have"
        "`var.get` and `var.set` name a variable of the function around them."
        "var.get v999"
        "Name a variable of the function, or add one.";
    UnknownStorage "UNKNOWN_STORAGE" Error "V6" "storage that does not exist"
        "The operator names a global, data segment or table that is not part of the program."
        "global.get v999"
        "Name storage of the program.";
    WrongStorage "WRONG_STORAGE" Error "V6" "storage of another kind"
        "The operator works on a global, a data segment or a table, and the storage that it names is of another kind."
        "global.get words   ; words is a data segment"
        "Name storage of the right kind.";
    GlobalImmutable "GLOBAL_IMMUTABLE" Stale "V6" "an immutable global is written"
        "`global.set` needs a global that is declared mutable."
        "global.set limit, 1   ; global limit: i32 = 5"
        "Declare the global mutable, or do not write it.";
    GlobalInitial "GLOBAL_INITIAL" Error "V6" "the first value of a global has another type"
        "The constant that a global starts with must be of the global's type."
        "global g: i64 = f32:1.0"
        "Give a constant of the type.";
    UnknownFunction "UNKNOWN_FUNCTION" Error "V7" "a function that does not exist"
        "A function is named that is not part of the program."
        "call f999()"
        "Name a function of the program.";
    NotVisible "NOT_VISIBLE" Stale "V7" "something private is used from outside"
        "What is private may be used in its own module and in those below."
        "call secret()   ; private in another module"
        "Make it public, move it, or use something else.";
    CallNeedsClosure "CALL_NEEDS_CLOSURE" Stale "V7" "a function with captures is named without them"
        "A function that captures values has a meaning only in a closure made by `closure.new`; it cannot be called, referenced, exported or put into a table by itself."
        "call adder(1)   ; adder captures n"
        "Use `closure.new` and `closure.call`, or turn the captures into parameters.";
    MatchNotExhaustive "MATCH_NOT_EXHAUSTIVE" Stale "V8" "a `match` leaves values out"
        "A `match` has a case for each variant of its enum, or a default; over integers it always needs a default."
        "match d (0, 1) { .. }"
        "Add the missing cases or a default.";
    DuplicateCase "DUPLICATE_CASE" Error "V8" "a `match` has a case twice"
        "The cases of a `match` are disjoint."
        "match d (0, 0, default) { .. }"
        "Remove one of the two cases.";
    MixedCases "MIXED_CASES" Error "V8" "cases of different types in one `match`"
        "All cases of a `match` are integers, or all are variants of one enum."
        "match d (0, Shape.circle) { .. }"
        "Use cases of one type.";
    MemoryMissing "MEMORY_MISSING" Stale "V9" "linear memory is used, and there is none"
        "Loads, stores, memory operators and data segments with an offset need a declared memory."
        "load.i32 p   ; no memory in the program"
        "Declare a memory.";
    AlignmentTooLarge "ALIGNMENT_TOO_LARGE" Error "V9" "an alignment beyond the width of the access"
        "The alignment is a power of two up to the number of bytes that are accessed."
        "load.i32 align=8 p"
        "Use a smaller alignment, or leave it out.";
    NoPlainLayout "NO_PLAIN_LAYOUT" Stale "V9" "a pointer to something that cannot lie in memory"
        "`ptr<T>` needs a T of plain layout: scalars, pointers, and structs and arrays of fixed length made of these."
        "p: ptr<string>"
        "Point to a plain type.";
    LimitsExceeded "LIMITS_EXCEEDED" Error "V9" "a memory or table larger than allowed"
        "A memory has at most 65,536 pages; neither a memory nor a table starts larger than its own maximum."
        "memory mem 4 max 2"
        "Lower the initial size or raise the maximum.";
    DuplicateMemory "DUPLICATE_MEMORY" Error "V9" "a second memory"
        "A program has at most one linear memory."
        "memory a 1\nmemory b 1"
        "Remove one of them.";
    UnknownRegion "UNKNOWN_REGION" Error "V10" "a node lists a region that does not exist"
        "A node that owns regions lists each of them, and each exists."
        "an `if` whose region is gone"
        "Replace the node.";
    RegionNotOwned "REGION_NOT_OWNED" Error "V10" "a node lists a region of another owner"
        "Regions form a tree: each is listed by its owner and by nobody else."
        "two `block` nodes with one region"
        "Replace the node by one with a region of its own.";
    DuplicateRegion "DUPLICATE_REGION" Error "V10" "a node lists a region twice"
        "Each region stands in one place of its owner."
        "an `if` with one region for both sides"
        "Replace the node by one with two regions.";
    StrayRegion "STRAY_REGION" Error "V10" "a region that is not part of the tree"
        "The owner of a region does not exist, does not list it, or stands inside of it."
        "a region that its `block` no longer lists"
        "Remove the region with everything in it.";
    ContractRegion "CONTRACT_REGION" Error "V10" "a contract without its region"
        "A contract names a region, which exists and belongs to it."
        "a contract whose region is gone"
        "Replace the contract.";
    BodyMissing "BODY_MISSING" Error "V10" "a function without a body"
        "A function has a body, unless it is imported."
        "func f () -> ()"
        "Give the function a body or an import.";
    ImportWithBody "IMPORT_WITH_BODY" Error "V10" "an imported function with a body"
        "The host provides the body of an imported function."
        "import \"env\" \"f\" func f () { return }"
        "Remove the body or the import.";
    UnknownModule "UNKNOWN_MODULE" Error "V10" "a module that does not exist"
        "Each module, type, function and storage stands in a module of the program, or at the top."
        "a function in m999"
        "Move it into a module of the program.";
    ModuleCycle "MODULE_CYCLE" Error "V10" "a module inside of itself"
        "Modules form a tree."
        "module a in b, module b in a"
        "Move one of the modules to the top.";
    DuplicateName "DUPLICATE_NAME" Error "V11" "a name is taken"
        "Modules, types, functions and storage of one module have different names; so have the fields of a struct and the variants of an enum."
        "func f () -> () { return }\nfunc f () -> () { return }"
        "Rename one of them.";
    DuplicateExport "DUPLICATE_EXPORT" Error "V11" "an export name is taken"
        "The exports of a program have different names."
        "two functions exported as \"main\""
        "Export one of them under another name, or not at all.";
    StartSignature "START_SIGNATURE" Error "V11" "the start function takes or returns something"
        "The function that runs at the start takes nothing and returns nothing."
        "start func f (n: i32) -> () { return }"
        "Start with a function `() -> ()`.";
    DuplicateStart "DUPLICATE_START" Error "V11" "a second start function"
        "At most one function of a program runs at the start."
        "start func f () { return }\nstart func g () { return }"
        "Start with one function that calls the other.";
    ContractNotBoolean "CONTRACT_NOT_BOOLEAN" Stale "V12" "a contract answers with something other than a `bool`"
        "The region of a contract yields exactly one `bool`."
        "require \"positive\" = add.i64 n, 1"
        "Yield a comparison.";
    VariableInContract "VARIABLE_IN_CONTRACT" Error "V12" "a contract uses a variable"
        "A contract sees parameters, results, globals and memory; the variables of the function do not exist where it is evaluated."
        "require \"small\" = eq.i32 (var.get x), 0"
        "Use parameters, results or globals.";
    EffectExceedsBound "EFFECT_EXCEEDS_BOUND" Stale "V12" "an effect beyond what is declared"
        "A function does no more than its effect bound says, and a contract no more than `reads`; a call counts with the bound of the called function, a call of something unknown as `any`."
        "func f () -> () effect pure { print \"x\" }"
        "Widen the bound, or remove the effect.";
    TypeContainsItself "TYPE_CONTAINS_ITSELF" Error "V13" "a type that contains itself"
        "A value of a type cannot contain another of the same type, unless below `box`, `array<T>`, `ptr` or a closure."
        "type Tree = struct { left: Tree }"
        "Put the inner one into a `box` or an `option<box<..>>`.";
    UnusedValue "UNUSED_VALUE" Warning "W" "a value that nobody uses"
        "The node has no effect and nobody uses its value."
        "x = add.i32 a, b   ; never used"
        "Use the value or remove the node.";
    UnreachableCode "UNREACHABLE_CODE" Warning "W" "nothing comes here"
        "The node before never passes control on: none of its regions yields, and no exit aims at it."
        "if c { return 1 } else { return 2 }\nprint \"never\""
        "Remove what follows, or end the region with `unreachable`.";
    VariableNeverRead "VARIABLE_NEVER_READ" Warning "W" "a variable that nobody reads"
        "No `var.get` reads the variable."
        "var x: i32\nvar.set x, 1"
        "Remove the variable, or read it.";
    EffectBoundWider "EFFECT_BOUND_WIDER" Warning "W" "an effect bound wider than needed"
        "The function is declared to read, and computes only. The default `any` is never reported."
        "func f (a: i32) -> (i32) effect reads { return a }"
        "Declare it `pure`, so that pure functions may call it.";
}
