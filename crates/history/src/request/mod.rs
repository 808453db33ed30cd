//! Requests: what a caller asks for, turned into edits.
//!
//! Requests are carried out one after the other on a copy of the program; unknown names and malformed edits are judged at
//! their position. What is recorded is the difference between the two ends ([`crate::diff`]): primitive edits, each of
//! which holds the structure together. Types, scopes and duplicate names are the verifier's question, asked once after.

mod arguments;
mod demote;
mod entities;
mod error;
mod inputs;
mod nodes;
mod patch;
mod places;
mod promote;
mod refactor;
mod removal;
mod resting;
mod session;
mod sources;
#[cfg(test)]
mod tests;
mod texts;

use std::collections::{BTreeMap, BTreeSet};

use imbl::OrdMap;
use lmlang_ir::text::Places;
use lmlang_ir::{FuncRef, NodeRef, Program, Ref, RefAllocator, RefKind};

pub use error::{EditError, Refused, StaleRead, code};
pub use inputs::{
    AddContract, AddControlEdge, AddEdge, AddFunction, AddModule, AddText, AddType, AddVar, ApplyTextPatch,
    At, ConditionKind, DemoteToVar, EditRequest, InsertNode, InsertText, ModifyNode, MoveFunction, MoveNode,
    ParamRequest, PromoteVar, Remove, RemoveNode, Rename, ReplaceText, ReplaceUses, SetDoc, SetSignature,
    SetVisibility,
};
pub use refactor::inputs::{
    AddLoopParam, AddResult, ExtractFunction, ReplacePattern, ReplaceSubgraph, Target, Wrap,
};
pub use texts::{has_text_hash, text_hash};

use crate::diff::{ChangeCounts, Diff, diff};
use crate::edit::{Edit, FunctionEdit};
use crate::rest::Rest;
use error::{Done, Fail};
use resting::resting;
use session::{Session, bare};

/// At most this many mistakes are told; the others count as suppressed. A text has about half of that at most, so that what
/// it says of the rest is told.
const MAX_ERRORS: usize = 200;

/// The most inputs and parameters that the promotions of one request write. Each writes anew what the ones before gave to
/// the same exits and loops, so that a few hundred variables in a thousand loops make hundreds of millions. Each looks at
/// all of its function, too: sixteen nodes count as one input.
pub const MOST_PROMOTED: usize = 20_000_000;

/// A request that was carried out, before anyone has looked at types and scopes.
#[derive(Clone, Debug)]
pub struct Expanded {
    /// The program after it.
    pub program: Program,
    /// The primitive edits that lead there.
    pub edits: Vec<Edit>,
    /// How much they change.
    pub counts: ChangeCounts,
    /// What was made, in the order of the edits, with the names that the request gave.
    pub created: Vec<(Option<String>, Ref)>,
    /// What the request itself changed.
    pub touched: Touched,
    /// What it rests on beyond what its edits say.
    pub rests: Vec<Rest>,
}

/// What a request changed itself, as opposed to what it left behind elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Touched {
    /// Entities that were made, replaced or moved.
    pub entities: BTreeSet<Ref>,
    /// Single inputs that were connected or disconnected, each with the last edit that did.
    pub inputs: BTreeMap<(NodeRef, u16), usize>,
    /// For each entity and node the first edit of the request that changed it.
    edits: BTreeMap<Ref, usize>,
    texts: Vec<Text>,
}

/// A text of an edit.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Text {
    edit: usize,
    /// Where entities stand in it.
    places: Places,
    /// Whether its author means all of it, as that of a function; a longer one also repeats what was there, with its refs.
    is_whole: bool,
}

impl Text {
    fn says(&self, of: Ref) -> bool {
        let place = self.places.get(of.number);
        place.is_some() && (self.is_whole || !self.places.is_tagged(of.number))
    }
}

impl Touched {
    /// Tells whether a finding at an entity, or at one of its ports, is about something that the request changed, or says
    /// itself.
    pub fn covers(&self, entity: Ref, port: Option<u16>) -> bool {
        let input = NodeRef::try_from(entity).ok().zip(port);
        self.entities.contains(&entity)
            || input.is_some_and(|input| self.inputs.contains_key(&input))
            || self.texts.iter().any(|text| text.says(entity))
    }

    /// The edit of the request that connected an input last, else the first one that changed the entity.
    pub fn edit_of(&self, entity: Ref, port: Option<u16>) -> Option<usize> {
        let input = NodeRef::try_from(entity).ok().zip(port);
        let connected = input.and_then(|input| self.inputs.get(&input));
        connected.or_else(|| self.edits.get(&entity)).copied()
    }

    /// Where an entity stands in the text of an edit: line and column, from 1.
    pub fn place_in(&self, edit: usize, entity: Ref) -> Option<(u32, u32)> {
        let texts = self.texts.iter().filter(|text| text.edit == edit);
        texts.filter_map(|text| text.places.get(entity.number)).next()
    }

    /// The functions among the entities.
    pub fn functions(&self) -> impl Iterator<Item = FuncRef> + '_ {
        self.entities.iter().filter_map(|of| FuncRef::try_from(*of).ok())
    }

    fn entity(&mut self, edit: usize, of: Ref) {
        self.entities.insert(of);
        self.edits.entry(of).or_insert(edit);
    }

    fn take(&mut self, index: usize, edits: &[Edit]) {
        for edit in edits {
            match edit {
                Edit::AddFunction { function, content } => {
                    self.entity(index, (*function).into());
                    let body = content.body();
                    body.regions().for_each(|(region, _)| self.entity(index, region.into()));
                    body.variables().for_each(|(variable, _)| self.entity(index, variable.into()));
                    body.contracts().for_each(|(contract, _)| self.entity(index, contract.into()));
                    body.nodes().for_each(|(node, _)| self.entity(index, node.into()));
                }
                Edit::Within { edit: FunctionEdit::SetInput { node, input, .. }, .. } => {
                    self.inputs.insert((*node, *input), index);
                    self.edits.entry((*node).into()).or_insert(index);
                }
                Edit::AddModule { .. }
                | Edit::SetModule { .. }
                | Edit::RemoveModule { .. }
                | Edit::AddType { .. }
                | Edit::SetType { .. }
                | Edit::RemoveType { .. }
                | Edit::AddStorage { .. }
                | Edit::SetStorage { .. }
                | Edit::RemoveStorage { .. }
                | Edit::RemoveFunction { .. }
                | Edit::Within { .. } => self.entity(index, edit.subject()),
            }
        }
    }
}

/// Carries out a list of edits, all or nothing, in order. Refs are taken from the allocator, also when it fails: work on a
/// copy of it.
pub fn expand(
    program: &Program,
    refs: &mut RefAllocator,
    edits: &[EditRequest],
) -> Result<Expanded, Refused> {
    expand_within(program, refs, edits, MOST_PROMOTED)
}

/// The same with as much to promote.
fn expand_within(
    program: &Program,
    refs: &mut RefAllocator,
    edits: &[EditRequest],
    promotable: usize,
) -> Result<Expanded, Refused> {
    let fresh = refs.watermark();
    let mut session = Session {
        program: program.clone(),
        refs,
        names: OrdMap::new(),
        lost: BTreeSet::new(),
        fresh,
        edit: 0,
        places: Vec::new(),
        promotable: Some(promotable),
    };
    let (mut refused, mut touched, mut last) = (Refused::default(), Touched::default(), None);
    let mut rests = Vec::new();
    for (index, edit) in edits.iter().enumerate() {
        let (before, names) = (session.program.clone(), session.names.clone());
        session.edit = index;
        match session.carry_out(edit) {
            Ok(()) => {
                let step = diff(&before, &session.program);
                rests.extend(resting(edit, &before, &step.edits));
                match edit {
                    // Uses that follow a signature are not what was asked for.
                    EditRequest::SetSignature(edit) if !edit.rewrite_calls => {
                        step.edits.iter().filter(|edit| edit.subject().kind == RefKind::Function).for_each(
                            |edit| {
                                touched.entity(index, edit.subject());
                            },
                        );
                    }
                    _ => touched.take(index, &step.edits),
                }
                last = Some(step);
            }
            Err(fail) => {
                session.program = before;
                session.names = names;
                session.lost.extend(edit.name_as().map(|name| bare(name).to_owned()));
                match fail {
                    Fail::Follows => refused.suppressed += 1,
                    Fail::Stale(stale) => refused.conflicts.push(StaleRead { edit: index, ..stale }),
                    Fail::Errors(errors) => {
                        for mut error in errors {
                            error.forget_new(program);
                            error.edit = index;
                            error.path.insert(0, edit.field().to_owned());
                            refused.errors.push(error);
                        }
                    }
                }
            }
        }
    }
    if !refused.errors.is_empty() || !refused.conflicts.is_empty() {
        refused.suppressed += refused.errors.len().saturating_sub(MAX_ERRORS);
        refused.errors.truncate(MAX_ERRORS);
        return Err(refused);
    }
    let difference: Diff = match (edits, last) {
        ([_], Some(only)) => only,
        _ => diff(program, &session.program),
    };
    let named: BTreeMap<Ref, &String> = session.names.iter().map(|(name, of)| (*of, name)).collect();
    let mut made: Vec<Ref> = difference.edits.iter().filter(|edit| edit.adds()).map(Edit::subject).collect();
    // What has a name inside of something new is not an edit of its own.
    let listed: BTreeSet<Ref> = made.iter().copied().collect();
    let new = |of: &Ref| program.place(*of).is_none() && session.program.place(*of).is_some();
    made.extend(named.keys().copied().filter(|of| !listed.contains(of) && new(of)));
    let created = made.into_iter().map(|of| (named.get(&of).map(|name| (*name).clone()), of)).collect();
    let counts = difference.counts();
    let Session { program, places, .. } = session;
    let text = |(edit, places)| {
        let is_whole = matches!(edits.get(edit), Some(EditRequest::ReplaceFunctionText(_)));
        Text { edit, places, is_whole }
    };
    touched.texts = places.into_iter().map(text).collect();
    Ok(Expanded { program, edits: difference.edits, counts, created, touched, rests })
}

impl Session<'_> {
    fn carry_out(&mut self, edit: &EditRequest) -> Done<()> {
        match edit {
            EditRequest::AddText(edit) => self.add_text(edit),
            EditRequest::ReplaceFunctionText(edit) => self.replace_function(edit).map(drop),
            EditRequest::ReplaceModuleText(edit) => self.replace_module(edit),
            EditRequest::InsertText(edit) => self.insert_text(edit),
            EditRequest::ApplyTextPatch(edit) => self.apply_text_patch(edit),
            EditRequest::AddModule(edit) => self.add_module(edit).map(drop),
            EditRequest::RenameModule(edit) => self.rename(edit, RefKind::Module),
            EditRequest::RemoveModule(edit) => self.remove_module(edit),
            EditRequest::AddType(edit) => self.add_type(edit).map(drop),
            EditRequest::ReplaceType(edit) => self.replace_type(edit).map(drop),
            EditRequest::RenameType(edit) => self.rename(edit, RefKind::Type),
            EditRequest::RemoveType(edit) => self.remove_type(edit),
            EditRequest::AddFunction(edit) | EditRequest::AddClosure(edit) => {
                self.add_function(edit).map(drop)
            }
            EditRequest::SetSignature(edit) => self.set_signature(edit).map(drop),
            EditRequest::RenameFunction(edit) => self.rename(edit, RefKind::Function),
            EditRequest::MoveFunction(edit) => self.move_function(edit),
            EditRequest::RemoveFunction(edit) => self.remove_function(edit),
            EditRequest::SetDoc(edit) => self.set_doc(edit),
            EditRequest::SetVisibility(edit) => self.set_visibility(edit),
            EditRequest::InsertNode(edit) => self.insert_node(edit).map(drop),
            EditRequest::RemoveNode(edit) => self.remove_node(edit),
            EditRequest::ModifyNode(edit) => self.modify_node(edit),
            EditRequest::MoveNode(edit) => self.move_node(edit),
            EditRequest::RenameNode(edit) => self.rename_node(edit),
            EditRequest::AddEdge(edit) => self.add_edge(edit),
            EditRequest::AddControlEdge(edit) => self.add_control_edge(edit),
            EditRequest::RemoveEdge(edit) => self.remove_edge(edit),
            EditRequest::ReplaceUses(edit) => self.replace_all_uses(edit),
            EditRequest::AddVar(edit) => self.add_variable(edit).map(drop),
            EditRequest::RenameVar(edit) => self.rename(edit, RefKind::Variable),
            EditRequest::RemoveVar(edit) => self.remove_variable(edit),
            EditRequest::PromoteVar(edit) => self.promote_variable(edit),
            EditRequest::DemoteToVar(edit) => self.demote_to_variable(edit),
            EditRequest::AddContract(edit) => self.add_contract(edit).map(drop),
            EditRequest::ReplaceContract(edit) => self.replace_contract(edit).map(drop),
            EditRequest::ReplaceStorage(edit) => self.replace_storage(edit).map(drop),
            EditRequest::RemoveContract(edit) => self.remove_contract(edit),
            EditRequest::AddLoopParam(edit) => self.add_loop_param(edit),
            EditRequest::AddResult(edit) => self.add_result(edit),
            EditRequest::Wrap(edit) => self.wrap_nodes(edit),
            EditRequest::Unwrap(edit) => self.unwrap_node(edit),
            EditRequest::ReplaceSubgraph(edit) => self.replace_subgraph(edit),
            EditRequest::ExtractFunction(edit) => self.extract_function(edit),
            EditRequest::InlineCall(edit) => self.inline_call(edit),
            EditRequest::ReplacePattern(edit) => self.replace_pattern(edit),
            EditRequest::Unsupported(field) => {
                let message = format!("`{field}` is not carried out yet");
                let argument: Vec<&str> = field.split('.').skip(1).collect();
                Err(EditError::new(code::UNSUPPORTED, &argument, message).found(*field).into())
            }
        }
    }
}

impl EditRequest {
    /// The name that the edit gives to what it makes.
    fn name_as(&self) -> Option<&String> {
        match self {
            EditRequest::AddModule(edit) => edit.name_as.as_ref(),
            EditRequest::AddType(edit) => edit.name_as.as_ref(),
            EditRequest::AddFunction(edit) | EditRequest::AddClosure(edit) => edit.name_as.as_ref(),
            EditRequest::InsertNode(edit) => edit.name_as.as_ref(),
            EditRequest::AddVar(edit) => edit.name_as.as_ref(),
            EditRequest::DemoteToVar(edit) => edit.name_as.as_ref(),
            EditRequest::AddContract(edit) => edit.name_as.as_ref(),
            EditRequest::Wrap(edit) => edit.name_as.as_ref(),
            EditRequest::ExtractFunction(edit) => edit.name_as.as_ref(),
            EditRequest::InlineCall(edit) => edit.name_as.as_ref(),
            EditRequest::AddLoopParam(_)
            | EditRequest::AddResult(_)
            | EditRequest::Unwrap(_)
            | EditRequest::ReplaceSubgraph(_)
            | EditRequest::ReplacePattern(_)
            | EditRequest::AddText(_)
            | EditRequest::ReplaceFunctionText(_)
            | EditRequest::ReplaceModuleText(_)
            | EditRequest::InsertText(_)
            | EditRequest::ApplyTextPatch(_)
            | EditRequest::RenameModule(_)
            | EditRequest::RemoveModule(_)
            | EditRequest::ReplaceType(_)
            | EditRequest::RenameType(_)
            | EditRequest::RemoveType(_)
            | EditRequest::SetSignature(_)
            | EditRequest::RenameFunction(_)
            | EditRequest::MoveFunction(_)
            | EditRequest::RemoveFunction(_)
            | EditRequest::SetDoc(_)
            | EditRequest::SetVisibility(_)
            | EditRequest::RemoveNode(_)
            | EditRequest::ModifyNode(_)
            | EditRequest::MoveNode(_)
            | EditRequest::RenameNode(_)
            | EditRequest::AddEdge(_)
            | EditRequest::AddControlEdge(_)
            | EditRequest::RemoveEdge(_)
            | EditRequest::ReplaceUses(_)
            | EditRequest::RenameVar(_)
            | EditRequest::RemoveVar(_)
            | EditRequest::PromoteVar(_)
            | EditRequest::ReplaceContract(_)
            | EditRequest::ReplaceStorage(_)
            | EditRequest::RemoveContract(_)
            | EditRequest::Unsupported(_) => None,
        }
    }
}
