//! Questions about the graph, answered exactly: of all that the graph says, nothing is missing and nothing is guessed.
//!
//! What a run cannot be known to do is counted as what it may do: an operator that can trap by the op table may trap, a
//! closure may be any of its signature that is made somewhere, and the host may do anything.

mod access;
mod dead;
mod effects;

use std::collections::HashSet;

use lmlang_ir::{FuncRef, MemberRef, ModuleRef, NodeRef, Place, Program, Ref, Trap, TypeRef};
use thiserror::Error;

use crate::hole::line_of;
use crate::section::cut;

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Question {
    /// Who writes fields, variants, variables or storage.
    Writers,
    /// Who reads them.
    Readers,
    /// Functions that nothing reaches, and nodes whose values nobody uses.
    DeadCode,
    /// Types that nothing uses.
    UnusedTypes,
    /// Functions in which, or below which, something may trap.
    MayTrap,
    /// Functions that do more than compute: themselves, or in what they call.
    HasEffect,
}

/// One answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// What it is about: a node, a function, a type, storage.
    pub of: Ref,
    /// Why.
    pub reason: Reason,
}

/// Why something is an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It writes or reads this.
    Access(Access, Ref),
    /// Nothing that can be entered from outside reaches it.
    Unreached,
    /// Its value is not used, and it does nothing else.
    Unused,
    /// Its value is used by this dead node, and by dead nodes alone.
    UsedByDead(NodeRef),
    /// Nothing mentions it.
    Unmentioned,
    /// This unused type mentions it, and unused types alone do.
    MentionedByUnused(TypeRef),
    /// This node of it may trap.
    Traps(NodeRef),
    /// This node of it has an effect.
    Acts(NodeRef),
    /// The host provides it.
    Imported,
    /// This node calls, or may call, a function for which it holds.
    Through {
        /// The node that calls; none where invariants are checked.
        call: Option<NodeRef>,
        /// What it calls.
        callee: FuncRef,
        /// The function at the end of the calls, whose own reason it is.
        origin: FuncRef,
        /// The node there; none when the host provides the function.
        node: Option<NodeRef>,
    },
}

/// How something is written or read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// `struct.new`: with all its fields.
    MakesStruct,
    /// `struct.set`.
    SetsField,
    /// `struct.get`.
    GetsField,
    /// A store at the address of a field.
    StoresField,
    /// A load from the address of a field.
    LoadsField,
    /// The address goes on to where nobody follows it.
    PassesAddress,
    /// `enum.new`.
    MakesVariant,
    /// `enum.payload`.
    TakesPayload,
    /// A case of `match`.
    Matches,
    /// `enum.tag`.
    ReadsTag,
    /// A node that writes a variable, a global, memory, a table.
    Writes,
    /// A node that reads one of these.
    Reads,
    /// Bytes, references or a value that are there at the start.
    AtTheStart,
    /// The host has it.
    Host,
}

/// A question that cannot be asked so.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Unanswerable {
    /// Nothing is named of which writers or readers are asked for.
    #[error("name fields, variants, types, variables or storage whose writers or readers are asked for")]
    NothingNamed,
    /// What is named is nothing that the question is about.
    #[error("`{of}` is {found}: expected {expected}")]
    OtherKind {
        /// What was named.
        of: Ref,
        /// What it is.
        found: &'static str,
        /// What may be named.
        expected: &'static str,
    },
}

/// Answers a question: about some entities, or about the whole program when none are named. `cases` are functions that
/// test cases enter. Answers are in order of their functions and refs.
///
/// # Errors
///
/// The question is not about what is named.
pub fn answers(
    program: &Program,
    question: Question,
    of: &[Ref],
    cases: &[FuncRef],
) -> Result<Vec<Answer>, Unanswerable> {
    match question {
        Question::Writers => access::find(program, of, access::Way::Write),
        Question::Readers => access::find(program, of, access::Way::Read),
        Question::DeadCode => Ok(dead::code(program, cases, &Scope::of(program, of, FUNCTIONS)?)),
        Question::UnusedTypes => Ok(dead::types(program, &Scope::of(program, of, TYPES)?)),
        Question::MayTrap => {
            Ok(effects::find(program, effects::Wanted::Traps, &Scope::of(program, of, FUNCTIONS)?))
        }
        Question::HasEffect => {
            Ok(effects::find(program, effects::Wanted::Effects, &Scope::of(program, of, FUNCTIONS)?))
        }
    }
}

const FUNCTIONS: (&[lmlang_ir::RefKind], &str) =
    (&[lmlang_ir::RefKind::Function, lmlang_ir::RefKind::Module], "a function or a module");
const TYPES: (&[lmlang_ir::RefKind], &str) =
    (&[lmlang_ir::RefKind::Type, lmlang_ir::RefKind::Module], "a type or a module");

/// What a question is limited to; everything when nothing is named.
struct Scope {
    named: Option<HashSet<Ref>>,
}

impl Scope {
    fn of(
        program: &Program,
        of: &[Ref],
        (kinds, expected): (&[lmlang_ir::RefKind], &'static str),
    ) -> Result<Scope, Unanswerable> {
        if of.is_empty() {
            return Ok(Scope { named: None });
        }
        match of.iter().find(|of| !kinds.contains(&of.kind)) {
            None => Ok(Scope { named: Some(of.iter().copied().collect()) }),
            Some(of) => Err(Unanswerable::OtherKind { of: *of, found: kind_of(program, *of), expected }),
        }
    }

    fn holds(&self, of: Ref, module: ModuleRef) -> bool {
        self.named.as_ref().is_none_or(|named| named.contains(&of) || named.contains(&module.into()))
    }
}

fn kind_of(program: &Program, of: Ref) -> &'static str {
    match program.place(of) {
        Some(Place::Module(_)) => "a module",
        Some(Place::Type(_)) => "a type",
        Some(Place::Member(..)) => "a field or variant",
        Some(Place::Function(_)) => "a function",
        Some(Place::Region(..)) => "a region",
        Some(Place::Variable(..)) => "a variable",
        Some(Place::Storage(_)) => "storage",
        Some(Place::Contract(..)) => "a contract",
        Some(Place::Node(..)) => "a node",
        None => "nothing",
    }
}

impl Answer {
    /// The entity in one line.
    pub fn text(&self, program: &Program) -> String {
        one_line(program, self.of)
    }
}

/// An entity in one line: a node with its function, a function with its signature, a field with its type, everything else by
/// its path.
pub fn one_line(program: &Program, of: Ref) -> String {
    match program.place(of) {
        Some(Place::Node(function, node)) => {
            format!("{}: {}", program.path(function.into()), line_of(program, node))
        }
        Some(Place::Function(function)) => {
            let signature = lmlang_ir::text::print_signature(program, function);
            cut(&format!("{} {signature}", program.path(of)))
        }
        Some(Place::Contract(function, contract)) => {
            let body = program.function(function).map(|function| function.body());
            let message = body.and_then(|body| body.contract(contract)).map(|found| found.message.clone());
            cut(&format!("{}: {:?}", program.path(function.into()), message.unwrap_or_default()))
        }
        Some(
            Place::Module(_)
            | Place::Type(_)
            | Place::Member(..)
            | Place::Region(..)
            | Place::Variable(..)
            | Place::Storage(_),
        )
        | None => cut(&name_of(program, of)),
    }
}

impl Reason {
    /// The reason in words.
    pub fn words(&self, program: &Program) -> String {
        match self {
            Reason::Access(how, of) => {
                let what = name_of(program, *of);
                match how {
                    Access::MakesStruct => format!("makes a struct with `{what}`"),
                    Access::SetsField => format!("sets `{what}` in a copy"),
                    Access::GetsField => format!("reads `{what}`"),
                    Access::StoresField => format!("stores at the address of `{what}`"),
                    Access::LoadsField => format!("loads from the address of `{what}`"),
                    Access::PassesAddress => {
                        format!(
                            "takes the address of `{what}` and passes it on: what happens there is not followed"
                        )
                    }
                    Access::MakesVariant => format!("makes the variant `{what}`"),
                    Access::TakesPayload => format!("takes the payload of `{what}`"),
                    Access::Matches => format!("matches `{what}`"),
                    Access::ReadsTag => format!("reads which variant of `{what}` it is"),
                    Access::Writes => format!("writes `{what}`"),
                    Access::Reads => format!("reads `{what}`"),
                    Access::AtTheStart => format!("concerns `{what}` at the start of a run"),
                    Access::Host => format!("`{what}` is imported or exported: the host has it, too"),
                }
            }
            Reason::Unreached => {
                "nothing public, exported, started, in a table, or with cases or runs reaches it".to_owned()
            }
            Reason::Unused => "its value is not used, and it does nothing else".to_owned(),
            Reason::UsedByDead(node) => format!("its value is used by dead nodes only, as {node}"),
            Reason::Unmentioned => "no function, storage or type mentions it".to_owned(),
            Reason::MentionedByUnused(of) => {
                format!("only unused types mention it, as {of} `{}`", program.path((*of).into()))
            }
            Reason::Traps(node) => format!("{node} {}", traps(program, *node)),
            Reason::Acts(node) => format!("{node} {}", acts(program, *node)),
            Reason::Imported => "the host provides it".to_owned(),
            Reason::Through { call, callee, origin, node } => {
                let callee_path = program.path((*callee).into());
                let end = match (callee == origin, node) {
                    (true, Some(node)) => format!(", where {node} does: {}", op_of(program, *node)),
                    (true, None) => ", which the host provides".to_owned(),
                    (false, Some(node)) => format!(
                        ", which comes to {origin} `{}`, where {node} does: {}",
                        program.path((*origin).into()),
                        op_of(program, *node)
                    ),
                    (false, None) => format!(
                        ", which comes to {origin} `{}`, which the host provides",
                        program.path((*origin).into())
                    ),
                };
                match call {
                    Some(call) => format!("{call} calls {callee} `{callee_path}`{end}"),
                    None => format!("{callee} `{callee_path}` checks what enters and leaves it{end}"),
                }
            }
        }
    }
}

fn op_of(program: &Program, node: NodeRef) -> String {
    let function = program.function_of(node.into()).and_then(|of| program.function(of));
    let op = function.and_then(|function| function.body().node(node)).map(|node| node.op());
    op.map_or_else(String::new, |op| format!("`{}`", op.code().mnemonic()))
}

fn traps(program: &Program, node: NodeRef) -> String {
    let function = program.function_of(node.into()).and_then(|of| program.function(of));
    let traps = function.and_then(|function| function.body().node(node)).map(|node| node.op().spec().traps);
    let codes: Vec<&str> = traps.unwrap_or_default().iter().map(|trap: &Trap| trap.code()).collect();
    match codes.is_empty() {
        true => format!("{} is opaque and may trap", op_of(program, node)),
        false => format!("{} may trap: {}", op_of(program, node), codes.join(", ")),
    }
}

fn acts(program: &Program, node: NodeRef) -> String {
    let function = program.function_of(node.into()).and_then(|of| program.function(of));
    let effect = function.and_then(|function| function.body().node(node)).map(|node| node.op().spec().effect);
    let does = match effect {
        Some(lmlang_ir::Effect::Reads) => "reads what is outside of the function",
        Some(lmlang_ir::Effect::Writes) => "writes what is outside of the function",
        Some(lmlang_ir::Effect::Io) => "talks to the world",
        Some(lmlang_ir::Effect::Calls) => "calls what the host may have put there",
        Some(lmlang_ir::Effect::Pure | lmlang_ir::Effect::Traps | lmlang_ir::Effect::Control) | None => {
            "has an effect"
        }
    };
    format!("{} {does}", op_of(program, node))
}

/// What an entity is called: a field behind its type.
fn name_of(program: &Program, of: Ref) -> String {
    let member = |owner: TypeRef, member: MemberRef| {
        let name = program.type_def(owner)?.member_name(member)?;
        Some(format!("{}.{name}", program.path(owner.into())))
    };
    let name = match program.place(of) {
        Some(Place::Member(owner, of)) => member(owner, of),
        Some(Place::Variable(function, variable)) => program
            .function(function)
            .and_then(|function| Some(function.body().variable(variable)?.name.as_deref()?.to_owned())),
        Some(
            Place::Module(_)
            | Place::Type(_)
            | Place::Function(_)
            | Place::Region(..)
            | Place::Storage(_)
            | Place::Contract(..)
            | Place::Node(..),
        )
        | None => None,
    };
    name.unwrap_or_else(|| program.path(of))
}
