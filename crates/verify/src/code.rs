//! The codes of diagnostics: stable names, classes, and a page of documentation for each.

use std::fmt;
use std::str::FromStr;

use lmlang_ir::CodePage;

/// What a finding means for a program that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// Only a direct edit of the place can cause it: an edit that leaves one is refused, no stored state has one.
    Error,
    /// A change elsewhere can leave it behind, or it was stored before there was the rule: stored as a warning, counts as a
    /// hole, refused where an edit makes it.
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

macro_rules! codes {
    ($($code:ident $name:literal $class:ident $rule:literal $title:literal
        $meaning:literal $example:literal $repair:literal $repaired:expr;)*) => {
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

            /// The rule that it belongs to: `V1` to `V13`, or `W` for warnings.
            pub const fn rule(self) -> &'static str {
                match self { $(Code::$code => $rule),* }
            }

            /// What is written about it.
            pub const fn page(self) -> CodePage {
                match self {
                    $(Code::$code => CodePage {
                        code: $name,
                        title: $title,
                        meaning: $meaning,
                        example: $example,
                        repair: $repair,
                        repaired: $repaired,
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

// code, name, class, rule, title, meaning, example, repair, the example repaired
codes! {
    EmptyInput "EMPTY_INPUT" Incomplete "V1" "an input without a source"
        "An input port takes its value from nowhere. The program may be stored and run up to here."
        "func f (a: i32) -> (i32) { return (add.i32 a, _) }"
        "Connect the input to a value of the expected type with `addEdge`."
        Some("func f (a: i32) -> (i32) { return (add.i32 a, 1) }");
    UnknownSource "UNKNOWN_SOURCE" Error "V1" "the source of an input does not exist"
        "An input names a node, a region or a function that is not part of this function."
        "x = add.i32 n999, a"
        "Name a node, a region parameter or a parameter of the same function."
        None;
    PortGone "PORT_GONE" Stale "V1" "the source has no such output"
        "The source of an input exists, but has fewer outputs or parameters than the input asks for; the usual cause is a signature that lost one."
        "func two (a: i32) -> (i32) { return a }\nfunc f (a: i32) -> (i32) {\n  x = call two(a)\n  return x.1\n}"
        "Connect the input to another value, or give the source its output back."
        Some("func two (a: i32) -> (i32) { return a }\nfunc f (a: i32) -> (i32) {\n  x = call two(a)\n  return x\n}");
    TypeMismatch "TYPE_MISMATCH" Stale "V1" "an edge joins different types"
        "The type that an input takes is not the type that its source gives. There are no implicit conversions."
        "func f (a: i32, b: i64) -> (i64) { return (add.i64 a, b) }"
        "Convert the value (`wrap`, `extend_s`, `convert_s` and so on), use the operator of the other type, or connect another value."
        Some("func f (a: i32, b: i64) -> (i64) { return (add.i64 (extend_s.i32.i64 a), b) }");
    NotInScope "NOT_IN_SCOPE" Error "V2" "a value is used where it is not in scope"
        "A value is in scope after its node, in the same region and in all regions inside of it; a parameter is in scope in its region and inside of it."
        "func f (a: i32) -> (i32) {\n  y = add.i32 n9, a\n  x#n9 = const.i32 1\n  return y\n}"
        "Move the producer before the user, or pass the value out as a result of the node that owns the region."
        Some("func f (a: i32) -> (i32) {\n  x#n9 = const.i32 1\n  y = add.i32 n9, a\n  return y\n}");
    MissingTerminator "MISSING_TERMINATOR" Incomplete "V3" "a region has no terminator"
        "Each region ends in exactly one of `yield`, `break`, `continue`, `return`, `unreachable` and `br_switch`. The program may be stored and run up to here."
        "func f (a: i32) -> (i32) {\n  x = add.i32 a, 1\n}"
        "Add a terminator at the end of the region."
        Some("func f (a: i32) -> (i32) {\n  x = add.i32 a, 1\n  return x\n}");
    CodeAfterTerminator "CODE_AFTER_TERMINATOR" Error "V3" "a node stands after a terminator"
        "A terminator is the last node of its region; nothing may follow it."
        "func f () -> (i32) {\n  return 1\n  print \"never\"\n}"
        "Move the node before the terminator, or remove it."
        Some("func f () -> (i32) {\n  print \"once\"\n  return 1\n}");
    YieldOutsideNode "YIELD_OUTSIDE_NODE" Error "V3" "`yield` at the end of a function"
        "`yield` ends a region of a node, or of a contract. The region of a function ends in `return`."
        "func f (a: i32) -> (i32) { yield a }"
        "Use `return`."
        Some("func f (a: i32) -> (i32) { return a }");
    ReturnInContract "RETURN_IN_CONTRACT" Error "V3" "`return` inside of a contract"
        "A contract answers with `yield`; it cannot leave the function."
        "func f (a: i32) -> () {\n  require \"small\" { return }\n  return\n}"
        "Use `yield` with a `bool`."
        Some("func f (a: i32) -> () {\n  require \"small\" { yield (lt_s.i32 a, 9) }\n  return\n}");
    UnknownLabel "UNKNOWN_LABEL" Error "V4" "an exit aims at nothing around it"
        "`break` and `continue` name a node that owns a region around them."
        "func f (a: i32, c: bool) -> (i32) {\n  x#n9 = add.i32 a, 1\n  break_if n9 c\n  return x\n}"
        "Name the label or the ref of an enclosing `block`, `loop`, `if` or `match`."
        Some("func f (a: i32, c: bool) -> (i32) {\n  block L {\n    break_if L c\n    yield\n  }\n  return a\n}");
    ContinueNotLoop "CONTINUE_NOT_LOOP" Error "V4" "`continue` aims at something other than a loop"
        "Only a `loop` has a next round."
        "func f () -> () {\n  block B { continue B }\n  return\n}"
        "Name an enclosing loop, or use `break`."
        Some("func f () -> () {\n  block B { break B }\n  return\n}");
    SwitchTargetsDiffer "SWITCH_TARGETS_DIFFER" Stale "V4" "targets of a switch take different values"
        "All targets of a `br_switch` are given the same values, so they must take the same types."
        "func f (i: i32, x: i64) -> () {\n  z = block A -> (i64) { br_switch (break A, return) i (x) }\n  return\n}"
        "Give the targets the same types, or use `match`."
        Some("func f (i: i32, x: i64) -> (i64) {\n  z = block A -> (i64) { br_switch (break A, return) i (x) }\n  return z\n}");
    InputCount "INPUT_COUNT" Error "V5" "an operator with too few or too many inputs"
        "The op table fixes the number of inputs of this operator."
        "func f (a: i32) -> (i32) { return (add.i32 a, a, a) }"
        "Give the node as many inputs as the operator has ports; `_` leaves one empty."
        Some("func f (a: i32) -> (i32) { return (add.i32 a, a) }");
    ArityMismatch "ARITY_MISMATCH" Stale "V5" "the number of values is not what is taken"
        "The number of inputs follows from something that the operator names: a function, a struct, a target, the region's owner. It has another number of parts than values are given, usually since it changed."
        "func sum (a: i32, b: i32) -> (i32) { return (add.i32 a, b) }\nfunc f (a: i32) -> (i32) { return (call sum(a)) }"
        "Add the missing inputs or remove the surplus ones."
        Some("func sum (a: i32, b: i32) -> (i32) { return (add.i32 a, b) }\nfunc f (a: i32) -> (i32) { return (call sum(a, 1)) }");
    RegionCount "REGION_COUNT" Error "V5" "too few or too many regions"
        "`block` and `loop` own one region, `if` two, `match` one for each case and one for the default, other operators none."
        "an `if` with one region"
        "Replace the node by one with all its regions."
        None;
    RegionRoleWrong "REGION_ROLE" Error "V5" "a region with the role of another"
        "The role of a region follows from its position among the regions of its owner."
        "a `then` in the place of an `else`"
        "Replace the node by one with its regions in order."
        None;
    RegionParams "REGION_PARAMS" Stale "V5" "the parameters of a region do not fit its role"
        "A case over a variant with a payload has one parameter of the payload's type; the region of an `ensure` has the results of its function; a loop's body has any; other regions have none."
        "func f (o: option<i32>) -> () {\n  match o {\n    case some (x: i64) { yield }\n    case none { yield }\n  }\n  return\n}"
        "Change the parameters of the region."
        Some("func f (o: option<i32>) -> () {\n  match o {\n    case some (x: i32) { yield }\n    case none { yield }\n  }\n  return\n}");
    FixedLength "FIXED_LENGTH" Error "V5" "an array of fixed length cannot change its length"
        "`array.push` and `array.slice` make arrays of another length, which `array<T, N>` does not allow."
        "func f (a: array<i32, 2>) -> (array<i32, 2>) { return (array.push<i32, 2> a, 3) }"
        "Use `array<T>`."
        Some("func f (a: array<i32>) -> (array<i32>) { return (array.push<i32> a, 3) }");
    WrongTypeShape "WRONG_TYPE_SHAPE" Stale "V5" "a struct where an enum is needed, or the reverse"
        "The operator works on a struct or on an enum, and the type that it names is the other."
        "type Shape = enum { dot }\nfunc f (s: Shape) -> () {\n  x = struct.new Shape s\n  return\n}"
        "Name a type of the right shape."
        Some("type Shape = enum { dot }\nfunc f () -> (Shape) { return (enum.new Shape.dot) }");
    UnknownMember "UNKNOWN_MEMBER" Stale "V5" "a field or variant that the type does not have"
        "The operator names a field or a variant that its type does not have, usually since it was removed."
        "type Point = struct { x: i64 }\nfunc f (p: Point) -> (i64) {\n  y = struct.get Point.d99 p\n  return y\n}"
        "Name a field or variant of the type, or add it to the type."
        Some("type Point = struct { x: i64 }\nfunc f (p: Point) -> (i64) {\n  y = struct.get Point.x p\n  return y\n}");
    UnknownCapture "UNKNOWN_CAPTURE" Stale "V5" "a capture that the function does not have"
        "`capture.get` counts the captures of the function around it from 0, and there are fewer."
        "func adder [n: i64] (a: i64) -> (i64) { return (add.i64 a, (capture.get 3)) }"
        "Use the index of a capture, or add one to the function."
        Some("func adder [n: i64] (a: i64) -> (i64) { return (add.i64 a, (capture.get n)) }");
    UnknownType "UNKNOWN_TYPE" Error "V5" "a type that does not exist"
        "A nominal type is named that is not part of the program."
        "func f (p: t999)"
        "Name a type of the program."
        None;
    UnknownVariable "UNKNOWN_VARIABLE" Error "V6" "a variable that the function does not have"
        "`var.get` and `var.set` name a variable of the function around them."
        "var.get v999"
        "Name a variable of the function, or add one."
        None;
    UnknownStorage "UNKNOWN_STORAGE" Error "V6" "storage that does not exist"
        "The operator names a global, data segment or table that is not part of the program."
        "global.get v999"
        "Name storage of the program."
        None;
    WrongStorage "WRONG_STORAGE" Error "V6" "storage of another kind"
        "The operator works on a global, a data segment or a table, and the storage that it names is of another kind."
        "global.get words   ; words is a data segment"
        "Name storage of the right kind."
        None;
    NoReference "NO_REFERENCE" Stale "V6" "references of another kind"
        "A table or an element segment holds `funcref` or `externref`. Segments are copied into tables of the same, tables into such tables; a table that functions are called through holds `funcref`, and functions are entries of no other."
        "table hosts: externref [f]"
        "Use a table of the other kind."
        None;
    GlobalImmutable "GLOBAL_IMMUTABLE" Stale "V6" "an immutable global is written"
        "`global.set` needs a global that is declared mutable."
        "global limit: i32 = 5\nfunc f () -> () {\n  global.set limit, 1\n  return\n}"
        "Declare the global mutable, or do not write it."
        Some("global mut limit: i32 = 5\nfunc f () -> () {\n  global.set limit, 1\n  return\n}");
    GlobalInitial "GLOBAL_INITIAL" Error "V6" "a first value does not fit"
        "What a global starts with must be of the global's type: a constant, `func.ref` of a function, or `global.get` of another global, which must be imported and immutable. So must a global that says where data is put, which is an `i32`, or that is an entry of a table, which is a reference of the table's type."
        "global g: i64 = f32:1.0"
        "Give a value of the type."
        None;
    UnknownFunction "UNKNOWN_FUNCTION" Error "V7" "a function that does not exist"
        "A function is named that is not part of the program."
        "call f999()"
        "Name a function of the program."
        None;
    NotVisible "NOT_VISIBLE" Stale "V7" "something private is used from outside"
        "What is private may be used in its own module and in those below."
        "module a\nfunc secret () -> () { return }\nmodule b\nfunc f () -> () {\n  call a::secret()\n  return\n}"
        "Make it public, move it, or use something else."
        Some("module a\npub func secret () -> () { return }\nmodule b\nfunc f () -> () {\n  call a::secret()\n  return\n}");
    CallNeedsClosure "CALL_NEEDS_CLOSURE" Stale "V7" "a function with captures is named without them"
        "A function that captures values has a meaning only in a closure made by `closure.new`; it cannot be called, referenced, exported or put into a table by itself."
        "func adder [n: i64] (a: i64) -> (i64) { return (add.i64 a, (capture.get n)) }\nfunc f () -> (i64) { return (call adder(1)) }"
        "Use `closure.new` and `closure.call`, or turn the captures into parameters."
        Some("func adder [n: i64] (a: i64) -> (i64) { return (add.i64 a, (capture.get n)) }\nfunc f () -> (i64) {\n  c = closure.new adder 5\n  x = closure.call<(i64) -> (i64)> c, 1\n  return x\n}");
    MatchNotExhaustive "MATCH_NOT_EXHAUSTIVE" Stale "V8" "a `match` leaves values out"
        "A `match` has a case for each variant of its enum, or a default; over integers it always needs a default."
        "func f (o: option<i32>) -> () {\n  match o {\n    case none { yield }\n  }\n  return\n}"
        "Add the missing cases or a default."
        Some("func f (o: option<i32>) -> () {\n  match o {\n    case none { yield }\n    default { yield }\n  }\n  return\n}");
    DuplicateCase "DUPLICATE_CASE" Error "V8" "a `match` has a case twice"
        "The cases of a `match` are disjoint."
        "func f (d: i32) -> () {\n  match d (0, 0, default) {\n    case 0 { yield }\n    case 0 { yield }\n    default { yield }\n  }\n  return\n}"
        "Remove one of the two cases."
        Some("func f (d: i32) -> () {\n  match d (0, 1, default) {\n    case 0 { yield }\n    case 1 { yield }\n    default { yield }\n  }\n  return\n}");
    MixedCases "MIXED_CASES" Error "V8" "cases of different types in one `match`"
        "All cases of a `match` are integers, or all are variants of one enum."
        "type Shape = enum { dot }\nfunc f (d: i32) -> () {\n  match d (0, Shape.dot, default) {\n    case 0 { yield }\n    case Shape.dot { yield }\n    default { yield }\n  }\n  return\n}"
        "Use cases of one type."
        Some("type Shape = enum { dot }\nfunc f (d: i32) -> () {\n  match d (0, 1, default) {\n    case 0 { yield }\n    case 1 { yield }\n    default { yield }\n  }\n  return\n}");
    MemoryMissing "MEMORY_MISSING" Stale "V9" "linear memory is used, and there is none"
        "Loads, stores, memory operators and data segments with an offset need a declared memory."
        "func f (p: i32) -> (i32) { return (load.i32 p) }"
        "Declare a memory."
        Some("memory main 1\nfunc f (p: i32) -> (i32) { return (load.i32 p) }");
    AlignmentTooLarge "ALIGNMENT_TOO_LARGE" Error "V9" "an alignment beyond the width of the access"
        "The alignment is a power of two up to the number of bytes that are accessed."
        "memory main 1\nfunc f (p: i32) -> (i32) { return (load.i32 align=8 p) }"
        "Use a smaller alignment, or leave it out."
        Some("memory main 1\nfunc f (p: i32) -> (i32) { return (load.i32 align=4 p) }");
    NoPlainLayout "NO_PLAIN_LAYOUT" Stale "V9" "a pointer to something that cannot lie in memory"
        "`ptr<T>` needs a T of plain layout: scalars, pointers, and structs and arrays of fixed length made of these."
        "func f (p: ptr<string>) -> () { return }"
        "Point to a plain type."
        Some("func f (p: ptr<i64>) -> () { return }");
    LimitsExceeded "LIMITS_EXCEEDED" Error "V9" "a memory or table larger than allowed"
        "A memory has at most 65,536 pages; neither a memory nor a table starts larger than its own maximum, nor a table or segment of elements with more than 262,144 entries."
        "memory main 4 max 2"
        "Lower the initial size or raise the maximum."
        Some("memory main 2 max 4");
    DuplicateMemory "DUPLICATE_MEMORY" Error "V9" "a second memory"
        "A program has at most one linear memory."
        "memory one 1\nmemory two 1"
        "Remove one of them."
        Some("memory one 2");
    UnknownRegion "UNKNOWN_REGION" Error "V10" "a node lists a region that does not exist"
        "A node that owns regions lists each of them, and each exists."
        "an `if` whose region is gone"
        "Replace the node."
        None;
    RegionNotOwned "REGION_NOT_OWNED" Error "V10" "a node lists a region of another owner"
        "Regions form a tree: each is listed by its owner and by nobody else."
        "two `block` nodes with one region"
        "Replace the node by one with a region of its own."
        None;
    DuplicateRegion "DUPLICATE_REGION" Error "V10" "a node lists a region twice"
        "Each region stands in one place of its owner."
        "an `if` with one region for both sides"
        "Replace the node by one with two regions."
        None;
    StrayRegion "STRAY_REGION" Error "V10" "a region that is not part of the tree"
        "The owner of a region does not exist, does not list it, or stands inside of it."
        "a region that its `block` no longer lists"
        "Remove the region with everything in it."
        None;
    ContractRegion "CONTRACT_REGION" Error "V10" "a contract without its region"
        "A contract names a region, which exists and belongs to it."
        "a contract whose region is gone"
        "Replace the contract."
        None;
    BodyMissing "BODY_MISSING" Error "V10" "a function without a body"
        "A function has a body, unless it is imported."
        "func f () -> ()"
        "Give the function a body or an import."
        None;
    ImportWithBody "IMPORT_WITH_BODY" Error "V10" "an imported function with a body"
        "The host provides the body of an imported function."
        "import \"env\" \"f\" func f () { return }"
        "Remove the body or the import."
        None;
    UnknownModule "UNKNOWN_MODULE" Error "V10" "a module that does not exist"
        "Each module, type, function and storage stands in a module of the program, or at the top."
        "a function in m999"
        "Move it into a module of the program."
        None;
    ModuleCycle "MODULE_CYCLE" Error "V10" "a module inside of itself"
        "Modules form a tree."
        "module a in b, module b in a"
        "Move one of the modules to the top."
        None;
    DuplicateName "DUPLICATE_NAME" Error "V11" "a name is taken"
        "Modules, types, functions and storage of one module have different names; so have the fields of a struct and the variants of an enum."
        "func f () -> () { return }\nfunc f () -> () { return }"
        "Rename one of them."
        Some("func f () -> () { return }\nfunc g () -> () { return }");
    DuplicateExport "DUPLICATE_EXPORT" Error "V11" "an export name is taken"
        "The exports of a program have different names."
        "export \"main\" func f () -> () { return }\nexport \"main\" func g () -> () { return }"
        "Export one of them under another name, or not at all."
        Some("export \"main\" func f () -> () { return }\nfunc g () -> () { return }");
    ReservedSection "RESERVED_SECTION" Error "V11" "a custom section called `name`"
        "The section `name` of a module holds the labels of the program, and is written from them."
        "custom name b\"\\00\""
        "Give the section another name, or remove it."
        Some("custom notes b\"\\00\"");
    StartSignature "START_SIGNATURE" Error "V11" "the start function takes or returns something"
        "The function that runs at the start takes nothing and returns nothing."
        "start func f (n: i32) -> () { return }"
        "Start with a function `() -> ()`."
        Some("start func f () -> () { return }");
    DuplicateStart "DUPLICATE_START" Error "V11" "a second start function"
        "At most one function of a program runs at the start."
        "start func f () -> () { return }\nstart func g () -> () { return }"
        "Start with one function that calls the other."
        Some("start func f () -> () {\n  call g()\n  return\n}\nfunc g () -> () { return }");
    ContractNotBoolean "CONTRACT_NOT_BOOLEAN" Stale "V12" "a contract answers with something other than a `bool`"
        "The region of a contract yields exactly one `bool`."
        "func f (n: i64) -> () {\n  require \"positive\" = add.i64 n, 1\n  return\n}"
        "Yield a comparison."
        Some("func f (n: i64) -> () {\n  require \"positive\" = gt_s.i64 n, 0\n  return\n}");
    InvariantMisplaced "INVARIANT_MISPLACED" Error "V12" "an invariant in a function that does not state those of a type"
        "A function states the invariants of the type of its parameter: it has that one alone, of a struct or an enum, no results, the effect bound `reads` or `pure`, and nothing in its body but `return`."
        "type Small = struct { n: i64 }\nfunc f (a: Small, b: i64) -> () {\n  invariant \"small\" = lt_s.i64 (struct.get Small.n a), 9\n  return\n}"
        "State it in a function of the value alone."
        Some("type Small = struct { n: i64 }\nfunc f (a: Small) -> () reads {\n  invariant \"small\" = lt_s.i64 (struct.get Small.n a), 9\n  return\n}");
    VariableInContract "VARIABLE_IN_CONTRACT" Error "V12" "a contract uses a variable"
        "A contract sees parameters, results, globals and memory; the variables of the function do not exist where it is evaluated."
        "func f (n: i32) -> (i32) {\n  var x: i32\n  require \"small\" = eq.i32 (var.get x), 0\n  var.set x, n\n  return (var.get x)\n}"
        "Use parameters, results or globals."
        Some("func f (n: i32) -> (i32) {\n  var x: i32\n  require \"small\" = eq.i32 n, 0\n  var.set x, n\n  return (var.get x)\n}");
    EffectExceedsBound "EFFECT_EXCEEDS_BOUND" Stale "V12" "an effect beyond what is declared"
        "A function does no more than its effect bound says, and a contract no more than `reads`; a call counts with the bound of the called function, a call of something unknown as `any`."
        "func f () -> () pure {\n  print \"x\"\n  return\n}"
        "Widen the bound, or remove the effect."
        Some("func f () -> () {\n  print \"x\"\n  return\n}");
    TypeContainsItself "TYPE_CONTAINS_ITSELF" Error "V13" "a type that contains itself"
        "A value of a type cannot contain another of the same type, unless below `box`, `array<T>`, `ptr` or a closure."
        "type Tree = struct { left: Tree }"
        "Put the inner one into a `box` or an `option<box<..>>`."
        Some("type Tree = struct { left: option<box<Tree>> }");
    TypeWithoutValues "TYPE_WITHOUT_VALUES" Stale "V13" "a place for a value of a type that has none"
        "Variables, globals, fields and what variants carry begin with the zero of their type, and `never` has no values."
        "type Nothing = struct { none: never }"
        "Take `unit`, which has one value, or an `option`, which may begin as `none`."
        Some("type Nothing = struct { none: unit }");
    UnusedValue "UNUSED_VALUE" Warning "W" "a value that nobody uses"
        "The node has no effect and nobody uses its value."
        "func f (a: i32) -> (i32) {\n  x = add.i32 a, 1\n  return a\n}"
        "Use the value or remove the node."
        Some("func f (a: i32) -> (i32) {\n  x = add.i32 a, 1\n  return x\n}");
    UnreachableCode "UNREACHABLE_CODE" Warning "W" "nothing comes here"
        "The node before never passes control on: none of its regions yields, and no exit aims at it."
        "func f (c: bool) -> (i32) {\n  if c { return 1 } else { return 2 }\n  print \"never\"\n  return 3\n}"
        "Remove what follows, or end the region with `unreachable`."
        Some("func f (c: bool) -> (i32) {\n  if c { return 1 } else { return 2 }\n  unreachable\n}");
    VariableNeverRead "VARIABLE_NEVER_READ" Warning "W" "a variable that nobody reads"
        "No `var.get` reads the variable."
        "func f () -> () {\n  var x: i32\n  var.set x, 1\n  return\n}"
        "Remove the variable, or read it."
        Some("func f () -> (i32) {\n  var x: i32\n  var.set x, 1\n  return (var.get x)\n}");
    VariableUnassigned "VARIABLE_UNASSIGNED" Warning "V6" "a variable that may be read before it is assigned"
        "On some way to the `var.get`, no `var.set` comes before it: it reads zero there. Told where it is asked for: by `verify(unassigned: true)`, `lmlang verify --unassigned` and `lmlang check --unassigned`."
        "func f (c: bool) -> (i32) {\n  var x: i32\n  if c {\n    var.set x, 1\n    yield\n  } else {\n    yield\n  }\n  return (var.get x)\n}"
        "Assign the variable on every way, or as soon as the function begins."
        None;
    EffectBoundWider "EFFECT_BOUND_WIDER" Warning "W" "an effect bound wider than needed"
        "The function is declared to read, and computes only. The default `any` is never reported."
        "func f (a: i32) -> (i32) reads { return a }"
        "Declare it `pure`, so that pure functions may call it."
        Some("func f (a: i32) -> (i32) pure { return a }");
}
