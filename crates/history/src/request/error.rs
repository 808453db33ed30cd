//! Why a request is not carried out.

use lmlang_ir::text::TextError;
use lmlang_ir::{Hash, Program, Ref};
use thiserror::Error;

/// What is wrong with one edit of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditError {
    /// Position of the edit in the list.
    pub edit: usize,
    /// The field that it is about: `["insertNode", "inputs", "0"]`.
    pub path: Vec<String>,
    /// A stable code: one of [`code::ALL`] or of the text form's.
    pub code: &'static str,
    /// What is wrong, in words.
    pub message: String,
    /// Line in the text that was given, from 1.
    pub line: Option<u32>,
    /// Column in the text that was given, in characters from 1.
    pub column: Option<u32>,
    /// What could stand there.
    pub expected: Vec<String>,
    /// What stands there.
    pub found: Option<String>,
    /// Known names or refs that come nearest, or the entities in the way.
    pub candidates: Vec<String>,
    /// Tells whether the number of an unknown ref was handed out or passed over: what it named, if anything, is gone.
    pub retired: bool,
}

/// Why a request as a whole is not carried out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refused {
    /// What is wrong with the edits.
    pub errors: Vec<EditError>,
    /// Entities that are not as the caller read them; a conflict, if there is nothing else.
    pub conflicts: Vec<StaleRead>,
    /// Errors left out because they only follow from another.
    pub suppressed: usize,
}

/// An entity whose hash is not the one that the caller read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{of}` has the hash {actual}, not {given}")]
pub struct StaleRead {
    /// Position of the edit in the list.
    pub edit: usize,
    /// The entity.
    pub of: Ref,
    /// What the caller read, as it was given.
    pub given: String,
    /// What it is.
    pub actual: Hash,
}

/// The stable codes of [`EditError`], those of the text form apart.
pub mod code {
    lmlang_ir::code_pages! {
        UNKNOWN_REF "Nothing has this ref."
            "The ref, path or name was never given to anything, or what it named is gone; then `retired` is set."
            "{ removeNode: { ref: \"n999\" } }"
            "Take one of the candidates, or read the function again."
            Some("{ removeNode: { ref: \"n14\", cascade: true } }");
        WRONG_KIND "The entity is of another kind."
            "The edit changes entities of a certain kind, and the ref is that of another."
            "{ renameFunction: { ref: \"n13\", name: \"sum\" } }   # n13 is a node"
            "Use the edit for that kind, or the ref of an entity that the edit is for."
            Some("{ renameNode: { ref: \"n13\", name: \"sum\" } }");
        UNKNOWN_NAME "No edit before made this name."
            "A `$name` stands for something that an earlier edit of the same list made under `as`."
            "{ addEdge: { from: \"$k\", to: \"n14\", targetPort: 0, replace: true } }"
            "Give `as` to the edit that makes it, and put that edit first."
            Some("{ insertNode: { as: \"k\", op: \"const.i64 1\", before: \"n14\" } }, { addEdge: { from: \"$k\", to: \"n14\", targetPort: 0, replace: true } }");
        DUPLICATE_NAME "Two edits of the list use one name."
            "`as` names something for the rest of the list, so each name stands for one thing."
            "{ insertNode: { as: \"k\", op: \"const.i64 1\", before: \"n14\" } }, { insertNode: { as: \"k\", op: \"const.i64 2\", before: \"n14\" } }"
            "Choose another name."
            Some("{ insertNode: { as: \"k\", op: \"const.i64 1\", before: \"n14\" } }, { insertNode: { as: \"l\", op: \"const.i64 2\", before: \"n14\" } }");
        AMBIGUOUS_NAME "The name stands for more than one thing."
            "More than one value or entity in scope has this name."
            "{ renameNode: { ref: \"n14\", name: \"x\" } }, { modifyNode: { ref: \"m::f::x\", op: \"sub.i64\" } }"
            "Give the ref, alone or as `x#n12`."
            Some("{ renameNode: { ref: \"n14\", name: \"x\" } }, { modifyNode: { ref: \"x#n14\", op: \"sub.i64\" } }");
        BAD_NAME "This cannot be a name."
            "Names are not empty and do not look like refs. That of a module has no `::` in it. That of something new is no path: another argument says where it stands."
            "{ renameFunction: { ref: \"f10\", name: \"n12\" } }"
            "Choose another name."
            Some("{ renameFunction: { ref: \"f10\", name: \"n12_\" } }");
        BAD_SOURCE "This is no source of a value."
            "A source is an output `n12` or `n12.1`, a parameter `f7.0` or `g5.0`, a name in scope, `$x` or `$x.1`, or a literal."
            "{ addEdge: { from: \"n13.70000\", to: \"n14\", targetPort: 0, replace: true } }"
            "Write the source in one of these forms."
            Some("{ addEdge: { from: \"n13.0\", to: \"n14\", targetPort: 0, replace: true } }");
        BAD_HASH "This is no hash."
            "`ifHash` is the contentHash that was read: 64 hexadecimal digits, or the first 16 of them at least."
            "{ replaceFunctionText: { ref: \"f24\", ifHash: \"abc\", text: \"import \\\"env\\\" \\\"outer\\\" func outer#f24 () -> ()\" } }"
            "Pass the hash as it was answered, or leave it out."
            Some("{ replaceFunctionText: { ref: \"f24\", text: \"import \\\"env\\\" \\\"outer\\\" func outer#f24 () -> ()\" } }");
        NO_SUCH_PORT "There is no such port."
            "The port is above those that the operator of the node takes or makes, or above the parameters."
            "{ addEdge: { from: \"a\", to: \"n14\", targetPort: 9 } }   # n14 has two inputs"
            "Take one of the ports that `expected` names."
            Some("{ addEdge: { from: \"a\", to: \"n14\", targetPort: 1, replace: true } }");
        INPUT_TAKEN "The input has a source."
            "An input has one source at most."
            "{ addEdge: { from: \"a\", to: \"n14\", targetPort: 0 } }   # n14 has a source there"
            "Set `replace: true`, or remove the edge first."
            Some("{ addEdge: { from: \"a\", to: \"n14\", targetPort: 0, replace: true } }");
        NO_SUCH_EDGE "There is no such edge."
            "The input is a hole already, or the ref names no edge."
            "{ removeEdge: { ref: \"n14.in0\" } }, { removeEdge: { ref: \"n14.in0\" } }"
            "Read the node's inputs again."
            Some("{ removeEdge: { ref: \"n14.in0\" } }, { removeEdge: { ref: \"n14.in1\" } }");
        EDGE_DERIVED "Control edges follow from regions and order."
            "They are listed as edges and cannot be removed as such."
            "{ removeEdge: { ref: \"n13.next\" } }"
            "Move or remove the node that the edge leads to."
            Some("{ insertNode: { as: \"k\", op: \"const.i64 1\", before: \"n13\" } }, { moveNode: { ref: \"$k\", after: \"n13\" } }");
        BAD_ANCHOR "A node cannot go there."
            "The anchors contradict each other or the region, or the node would stand inside itself."
            "{ moveNode: { ref: \"n13\", after: \"n13\" } }"
            "Give one anchor, in the region that is meant."
            Some("{ moveNode: { ref: \"n13\", before: \"n14\" } }");
        AFTER_TERMINATOR "Nothing stands after a terminator."
            "A terminator is the last node of its region."
            "{ insertNode: { op: \"const.i64 1\", after: \"n15\" } }   # n15 returns"
            "Insert before the terminator."
            Some("{ insertNode: { op: \"const.i64 1\", before: \"n15\" } }");
        TERMINATOR_EXISTS "The region has a terminator."
            "A region ends in exactly one terminator."
            "{ insertNode: { op: \"unreachable\", function: \"f10\" } }   # f10 returns"
            "Change or remove the terminator that `found` names."
            Some("{ removeNode: { ref: \"n15\" } }, { insertNode: { op: \"unreachable\", function: \"f10\" } }");
        HAS_USES "The entity is used."
            "Without `cascade` an entity can only be removed when nothing uses it; `candidates` names the uses."
            "{ removeNode: { ref: \"n13\" } }   # n14 takes its value"
            "Set `cascade: true` to leave holes, give `replaceUsesWith`, or change the uses first."
            Some("{ removeNode: { ref: \"n13\", replaceUsesWith: \"a\" } }");
        NOT_EMPTY "The module or node has something in it."
            "Without `cascade` only an empty module, or a node without code in its regions, can be removed."
            "{ removeModule: { ref: \"m25\" } }   # m25 has a function"
            "Set `cascade: true`, or move or remove what is in it."
            Some("{ removeModule: { ref: \"m25\", cascade: true } }");
        IN_SIGNATURE "A type stands in a signature."
            "A signature, another type, or storage cannot be without the type; no cascade takes it out of there."
            "{ removeType: { ref: \"t5\", cascade: true } }   # f17 takes a value of t5"
            "Change these first."
            Some("{ setSignature: { ref: \"f17\", params: [{ name: \"c\", type: \"bool\" }] } }, { removeType: { ref: \"t5\", cascade: true } }");
        REGIONS_LOST "The regions of the node would be lost."
            "The new operator has other regions than the node."
            "{ modifyNode: { ref: \"n19\", op: \"add.i64\" } }   # n19 is an `if`"
            "Remove the node and insert another one."
            Some("{ removeNode: { ref: \"n19\", replaceUsesWith: \"1\", cascade: true } }");
        MODULE_REQUIRED "Which module is meant is not known."
            "Without `module` the program's only module is meant, and it has none or several."
            "{ addFunction: { name: \"h\", params: [], results: [] } }   # the program has two modules"
            "Give `module`, or add one first."
            Some("{ addFunction: { name: \"h\", module: \"m\", params: [], results: [] } }");
        MODULE_CYCLE "A module would stand inside itself."
            "Modules form a tree."
            "addModule with its own descendant as parent"
            "Choose another parent."
            None;
        REFS_EXHAUSTED "All refs of the program are used up."
            "A program hands out 2^48 refs at most."
            "any edit that adds something"
            "Export the program and make a new one from its text."
            None;
        TOO_MANY_PORTS "More ports than there can be."
            "A node has at most 16,384 inputs."
            "insertNode with 20,000 inputs"
            "Split the node."
            None;
        NOT_PROMOTABLE "The variable cannot become values."
            "Something in the function is not finished, or broken: a `var.set` without a value, an exit that gives another number of values than its target takes. `candidates` names the place."
            "{ addVar: { as: \"v\", function: \"f10\", type: \"i64\" } }, { insertNode: { op: \"var.set $v\", function: \"f10\" } }, { promoteVar: { ref: \"$v\" } }"
            "Finish that place first."
            Some("{ addVar: { as: \"v\", function: \"f10\", type: \"i64\" } }, { insertNode: { op: \"var.set $v\", inputs: [\"a\"], function: \"f10\" } }, { promoteVar: { ref: \"$v\" } }");
        PROMOTES_TOO_MUCH "So many variables cannot become values in one request."
            "Each variable that becomes a value is one more for every loop and exit that it passes, and those are written as a whole each time; `promotedInputs` of `serverInfo.limits` says how much one request writes so, and sixteen nodes of the function, which is looked at for each, count as one that is written. The edits after it that make values of variables count as suppressed."
            "promoteVar of 300 variables that 1,000 loops write"
            "Make values of fewer variables in one request, and of the others in those after it."
            None;
        NO_ZERO "Nothing makes what the variable begins with."
            "A variable may be read before it is written, and there is no constant or operator for the zero of its type. `candidates` names the node that would take it."
            "{ addVar: { as: \"v\", function: \"f10\", type: \"box<i64>\" } }, { insertNode: { as: \"b\", op: \"var.get $v\", function: \"f10\" } }, { insertNode: { op: \"box.get<i64>\", inputs: [\"$b\"], function: \"f10\" } }, { promoteVar: { ref: \"$v\" } }"
            "Write the variable before all that reads it, where the function begins."
            Some("{ addVar: { as: \"v\", function: \"f10\", type: \"box<i64>\" } }, { insertText: { text: \"var.set $v, (box.new<i64> a)\", function: \"f10\" } }, { insertNode: { as: \"b\", op: \"var.get $v\", function: \"f10\" } }, { insertNode: { op: \"box.get<i64>\", inputs: [\"$b\"], function: \"f10\" } }, { promoteVar: { ref: \"$v\" } }");
        IN_CONTRACT "A contract has no variables."
            "What a contract looks at does not change while it does, so no value in it can become a variable."
            "{ addContract: { ref: \"f10\", kind: REQUIRE, message: \"it is 0\", text: \"z = eqz.i64 a\\nyield z\" } }, { demoteToVar: { ref: \"m::f::z\" } }"
            "Leave the value as it is; a value of the function can become one."
            Some("{ addContract: { ref: \"f10\", kind: REQUIRE, message: \"it is 0\", text: \"z = eqz.i64 a\\nyield z\" } }, { demoteToVar: { ref: \"m::f::x\" } }");
        NOT_TOGETHER "The nodes do not stand together."
            "The edit is about nodes of one region that follow each other. What stands between them and only computes moves out of the way; anything else, a node of another region, and a terminator, does not."
            "{ wrap: { refs: [\"n14\", \"n15\"], op: \"block\" } }   # n15 returns"
            "List nodes of one region, those between them too."
            Some("{ wrap: { refs: [\"n13\", \"n14\"], op: \"block\" } }");
        NOT_EXTRACTABLE "The nodes cannot become a function."
            "They leave for a place outside of them, use a variable that others use, too, or one that keeps its value between rounds of a loop, take what a closure captures, or belong to a contract. `candidates` names the place."
            "{ insertText: { text: \"var.set cell, x\\nz = var.get cell\", before: \"n14\", function: \"f10\" } }, { extractFunction: { refs: [\"$z\"], name: \"part\" } }"
            "List that place, too, or leave it out; `promoteVar` makes values of a variable."
            Some("{ extractFunction: { refs: [\"n13\", \"n14\"], name: \"part\" } }");
        NOT_INLINABLE "The call cannot be replaced by code."
            "The function is imported or not finished, captures values, or has contracts, which calls check."
            "{ insertNode: { as: \"c\", op: \"call f24\", before: \"n15\" } }, { inlineCall: { ref: \"$c\" } }   # f24 is imported"
            "Leave the call, or take the reason that the message tells out of the way."
            Some("{ insertNode: { as: \"c\", op: \"call f10\", inputs: [\"a\", \"b\"], before: \"n15\" } }, { inlineCall: { ref: \"$c\" } }");
        NOT_UNWRAPPABLE "The code cannot stand without its node."
            "It leaves the node on several ways, takes a value that only the node takes out, or it is not clear which region is meant. `candidates` names the places."
            "{ unwrap: { ref: \"n19\" } }   # n19 is an `if`"
            "Name the region whose code stays, or rewrite the places first."
            Some("{ unwrap: { ref: \"g20\" } }");
        MISSING_VALUE "Nothing takes the place of a value."
            "The lines replace nodes whose values are used elsewhere. They say what takes their place by a `yield` at their end, or by labels that are called as the old values."
            "{ replaceSubgraph: { refs: [\"n14\"], text: \"z = mul.i64 x, 2\" } }   # n15 returns y"
            "End the lines with a `yield` of as many values as `expected` names."
            Some("{ replaceSubgraph: { refs: [\"n14\"], text: \"z = mul.i64 x, 2\\nyield z\" } }");
        SHARED_EXIT "An exit goes elsewhere, too."
            "A switch gives the same values to all its targets, so one of them cannot take a value more."
            "{ insertText: { text: \"z = block A -> (i64) { br_switch (break A, return) 0 (x) }\", before: \"n14\", function: \"f10\" } }, { addResult: { ref: \"$z\", type: \"i64\", default: \"1\" } }"
            "Let the switch go to one of the targets by a block of its own."
            Some("{ insertText: { text: \"z = block A -> (i64) { break A x }\", before: \"n14\", function: \"f10\" } }, { addResult: { ref: \"$z\", type: \"i64\", default: \"1\" } }");
        BAD_PATTERN "This is no pattern, or no replacement."
            "A pattern is operators without regions, of which all but the last line are operands; `$x` stands for any value. A replacement uses the same `$names` and gives as many values."
            "{ replacePattern: { pattern: \"add.i64 $p, $q\", replacement: \"$r\" } }"
            "Take the operators that one value is made with, and what is made of the same values."
            Some("{ replacePattern: { pattern: \"add.i64 $p, $q\", replacement: \"add.i64 $q, $p\" } }");
        NO_MATCH "The pattern fits nothing."
            "No node in the functions that are looked through has these operators and operands."
            "{ replacePattern: { pattern: \"sub.i64 $p, $q\", replacement: \"$p\" } }"
            "Look at the text of a place that is meant; `search` finds nodes by operator."
            Some("{ replacePattern: { pattern: \"mul.i64 $p, $p\", replacement: \"$p\" } }");
        TOO_MANY_MATCHES "The pattern fits more places than may change."
            "`limit` says how many, and nothing is changed when there are more."
            "{ replacePattern: { pattern: \"mul.i64 $p, $p\", replacement: \"$p\", limit: 0 } }"
            "Raise `limit`, or name functions under `within`."
            Some("{ replacePattern: { pattern: \"mul.i64 $p, $p\", replacement: \"$p\", limit: 1 } }");
        PATCH_MALFORMED "This is no unified diff."
            "A patch names each text in lines `--- a/NAME` and `+++ b/NAME`; hunks begin with `@@`, and their lines with a blank, `-` or `+`."
            "{ applyTextPatch: { patch: \"y = mul.i64 x, 3\" } }"
            "Write the change as a unified diff, or send the whole text with replaceFunctionText."
            Some("{ applyTextPatch: { patch: \"--- a/m::f\\n+++ b/m::f\\n@@\\n-  return y\\n+  return x\" } }");
        PATCH_MISFIT "A hunk does not apply."
            "The lines that a hunk keeps and removes stand nowhere in the text, or at several places of which it names none. `expected` is the first line that is not there, `found` the one in its stead."
            "{ applyTextPatch: { patch: \"--- a/m::f\\n+++ b/m::f\\n@@\\n-  return z\\n+  return x\" } }"
            "Read the text again, and make the patch against that."
            Some("{ applyTextPatch: { patch: \"--- a/m::f\\n+++ b/m::f\\n@@\\n-  return y\\n+  return x\" } }");
        UNSUPPORTED "Not carried out yet."
            "The edit, or one of its arguments, is part of the interface and not of this version."
            "{ promoteVar: { ref: \"v5\", as: \"$x\" } }"
            "Leave it out, or use the other edits."
            None;
        STRUCTURE "The change would break the structure."
            "Something that the other checks do not name stands in the way."
            "an edit on an entity that the same list removed"
            "Read the program again."
            None;
    }
}

/// Why an edit cannot be carried out, before its position is known.
#[derive(Clone, Debug)]
pub(super) enum Fail {
    /// Mistakes of its own.
    Errors(Vec<EditError>),
    /// It uses something that an edit before it failed to make.
    Follows,
    /// What it changes is not as it was read.
    Stale(StaleRead),
}

pub(super) type Done<T> = Result<T, Fail>;

impl From<EditError> for Fail {
    fn from(error: EditError) -> Fail {
        Fail::Errors(vec![error])
    }
}

impl Fail {
    /// The same of an edit that calls an argument otherwise.
    pub(super) fn renamed(mut self, argument: &str, own: &str) -> Fail {
        if let Fail::Errors(errors) = &mut self {
            let first = errors.iter_mut().filter_map(|error| error.path.first_mut());
            first.filter(|first| first.as_str() == argument).for_each(|first| own.clone_into(first));
        }
        self
    }

    /// The same of a text that is an operator alone: what that takes stands in other arguments.
    pub(super) fn without_operands(mut self) -> Fail {
        if let Fail::Errors(errors) = &mut self {
            for error in errors.iter_mut().filter(|error| error.code == lmlang_ir::text::code::SYNTAX) {
                error.expected.push("an operator alone: what it takes stands in `inputs`".to_owned());
            }
        }
        self
    }
}

impl EditError {
    pub(super) fn new(code: &'static str, field: &[&str], message: impl Into<String>) -> EditError {
        EditError {
            edit: 0,
            path: field.iter().map(|part| (*part).to_owned()).collect(),
            code,
            message: message.into(),
            line: None,
            column: None,
            expected: Vec::new(),
            found: None,
            candidates: Vec::new(),
            retired: false,
        }
    }

    pub(super) fn expected(mut self, expected: impl IntoIterator<Item = String>) -> EditError {
        self.expected.extend(expected);
        self
    }

    pub(super) fn found(mut self, found: impl Into<String>) -> EditError {
        self.found = Some(found.into());
        self
    }

    pub(super) fn candidates(mut self, candidates: impl IntoIterator<Item = String>) -> EditError {
        self.candidates.extend(candidates);
        self
    }

    /// Leaves out candidates that nobody can look up: refs that the list itself handed out, as none of it is carried out.
    /// Of a name that is ambiguous for their sake it says so.
    pub(super) fn forget_new(&mut self, base: &Program) {
        let count = self.candidates.len();
        self.candidates.retain(|candidate| {
            let of = candidate.rsplit_once('#').map_or(candidate.as_str(), |(_, of)| of);
            of.parse::<Ref>().map_or(true, |of| base.place(of).is_some())
        });
        let new = count - self.candidates.len();
        if new > 0 && self.code == code::AMBIGUOUS_NAME {
            self.message.push_str(&format!(", and {new} of them would be new"));
        }
    }

    /// A mistake in a text that stands in a field.
    pub(super) fn text(field: &[&str], error: TextError) -> EditError {
        EditError {
            line: Some(error.line),
            column: Some(error.column),
            expected: error.expected,
            found: error.found,
            candidates: error.candidates,
            ..EditError::new(error.code, field, error.message)
        }
    }
}
