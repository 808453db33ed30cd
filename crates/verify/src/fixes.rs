//! What would make a finding go away: changes that are ready to be made.
//!
//! Only what follows from the program is offered: a value in scope of the type that a place takes, the one conversion
//! between two types, the bound that a function needs. A fix takes its finding away; it may bring others about, as a
//! terminator whose values are holes does. Of codes that only refused edits have, the candidates of the error tell.

use lmlang_ir::graph::values_in_scope;
use lmlang_ir::ops::signature::ports;
use lmlang_ir::ops::table::OPS;
use lmlang_ir::ops::{AttrKind, Expected};
use lmlang_ir::text::{self, Detail};
use lmlang_ir::{
    Attr, Body, Control, EffectBound, FuncRef, Function, NodeRef, Op, Opcode, Program, Ref, RegionOwner,
    RegionRef, Scalar, Source, StorageKind, Type, VarRef,
};

use crate::code::Code;
use crate::diagnostic::{Diagnostic, Fact};

/// How many values are offered for one input.
const MOST_VALUES: usize = 3;
/// How many nodes a fix removes.
const MOST_REMOVED: usize = 100;

/// A change that takes a finding away.
#[derive(Clone, Debug, PartialEq)]
pub struct Fix {
    /// What it does, in words.
    pub title: String,
    /// What is to be done, in this order.
    pub steps: Vec<Step>,
}

/// One step of a fix.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Gives an input a source, or another one.
    Connect {
        /// The source: a ref with its port, or a literal.
        from: String,
        /// The node.
        to: NodeRef,
        /// Its input.
        port: u16,
    },
    /// Takes the last input away that a node has too many.
    Disconnect {
        /// The node.
        node: NodeRef,
        /// The input.
        port: u16,
    },
    /// Puts an operator between the source of an input and the node.
    Convert {
        /// The operator.
        op: String,
        /// The source.
        from: Source,
        /// The node.
        to: NodeRef,
        /// Its input.
        port: u16,
    },
    /// Removes a node with all in it.
    Remove(NodeRef),
    /// Removes a variable with the nodes that write it.
    RemoveVariable(VarRef),
    /// Adds lines at the end of a region.
    InsertText {
        /// The region.
        region: RegionRef,
        /// The lines.
        text: String,
    },
    /// Says what a function may do at most.
    SetEffectBound {
        /// The function.
        function: FuncRef,
        /// The bound.
        bound: EffectBound,
    },
    /// Lets every module use an entity.
    Publish(Ref),
    /// Adds items to the module of a function.
    AddText {
        /// The function.
        beside: FuncRef,
        /// The items.
        text: String,
    },
    /// Replaces storage by its text.
    ReplaceStorage {
        /// The storage.
        of: VarRef,
        /// Its text.
        text: String,
    },
}

impl Fix {
    fn one(title: impl Into<String>, step: Step) -> Fix {
        Fix { title: title.into(), steps: vec![step] }
    }
}

/// The fixes of a finding, the likeliest first. Empty where nothing sensible follows from the program.
pub fn fixes(program: &Program, found: &Diagnostic) -> Vec<Fix> {
    let place = found.at.function.and_then(|of| Some((of, &**program.function(of)?)));
    let Some((of, function)) = place else { return Vec::new() };
    let scene = Scene { program, of, function };
    match found.code {
        Code::EmptyInput => scene.values(found, 0),
        Code::PortGone => scene.values(found, 1),
        Code::TypeMismatch => scene.mismatch(found),
        Code::ArityMismatch => scene.arity(found).into_iter().collect(),
        Code::MissingTerminator => scene.terminator(found).into_iter().collect(),
        Code::EffectExceedsBound | Code::EffectBoundWider => scene.bound(found).into_iter().collect(),
        Code::NotVisible => visible(found).into_iter().collect(),
        Code::GlobalImmutable => mutable(program, found).into_iter().collect(),
        Code::MemoryMissing => {
            let step = Step::AddText { beside: of, text: "memory memory 1".to_owned() };
            vec![Fix::one("add a memory of one page", step)]
        }
        Code::UnusedValue => scene.unused(found).into_iter().collect(),
        Code::UnreachableCode => scene.unreachable(found).into_iter().collect(),
        Code::VariableNeverRead => {
            let variable = found.at.variable().map(Step::RemoveVariable);
            variable
                .map(|step| Fix::one("remove the variable, and what writes it", step))
                .into_iter()
                .collect()
        }
        Code::UnknownSource
        | Code::NotInScope
        | Code::CodeAfterTerminator
        | Code::YieldOutsideNode
        | Code::ReturnInContract
        | Code::UnknownLabel
        | Code::ContinueNotLoop
        | Code::SwitchTargetsDiffer
        | Code::InputCount
        | Code::RegionCount
        | Code::RegionRoleWrong
        | Code::RegionParams
        | Code::FixedLength
        | Code::WrongTypeShape
        | Code::UnknownMember
        | Code::UnknownCapture
        | Code::UnknownType
        | Code::UnknownVariable
        | Code::UnknownStorage
        | Code::WrongStorage
        | Code::NoReference
        | Code::GlobalInitial
        | Code::UnknownFunction
        | Code::CallNeedsClosure
        | Code::MatchNotExhaustive
        | Code::DuplicateCase
        | Code::MixedCases
        | Code::AlignmentTooLarge
        | Code::NoPlainLayout
        | Code::LimitsExceeded
        | Code::DuplicateMemory
        | Code::UnknownRegion
        | Code::RegionNotOwned
        | Code::DuplicateRegion
        | Code::StrayRegion
        | Code::ContractRegion
        | Code::BodyMissing
        | Code::ImportWithBody
        | Code::UnknownModule
        | Code::ModuleCycle
        | Code::DuplicateName
        | Code::DuplicateExport
        | Code::ReservedSection
        | Code::StartSignature
        | Code::DuplicateStart
        | Code::ContractNotBoolean
        | Code::InvariantMisplaced
        | Code::VariableInContract
        | Code::VariableUnassigned
        | Code::TypeContainsItself
        | Code::TypeWithoutValues => Vec::new(),
    }
}

/// The function around a finding.
struct Scene<'p> {
    program: &'p Program,
    of: FuncRef,
    function: &'p Function,
}

impl<'p> Scene<'p> {
    fn body(&self) -> &'p Body {
        self.function.body()
    }

    /// What an input takes; `None` when that is not known.
    fn expected(&self, node: NodeRef, port: u16) -> Option<Expected> {
        let found = self.body().node(node)?;
        ports(self.program, self.function, found)?.inputs.into_iter().nth(usize::from(port))
    }

    /// Values in scope that an input could take, and a literal of its type; all but the first few of those that are.
    fn values(&self, found: &Diagnostic, skip: usize) -> Vec<Fix> {
        let (Some(to), Some(port)) = (found.at.node(), found.at.port) else { return Vec::new() };
        let Some(expected) = self.expected(to, port) else { return Vec::new() };
        let now = self.body().node(to).and_then(|node| node.inputs().get(usize::from(port)));
        let near = values_in_scope(self.program, self.of, self.function, to)
            .filter(|(source, ty)| expected.accepts(ty) && (skip == 0 || Some(*source) != now));
        let values = near.take(MOST_VALUES).map(|(source, _)| source.to_string());
        let literal = zero(&expected);
        let offered = values.chain(literal.map(str::to_owned));
        let connect = |from: String| {
            Fix::one(format!("connect input {port} of `{to}` to `{from}`"), Step::Connect { from, to, port })
        };
        offered.map(connect).collect()
    }

    /// A conversion of the value that is there, if one leads to the type, else other values.
    fn mismatch(&self, found: &Diagnostic) -> Vec<Fix> {
        let (Some(to), Some(port)) = (found.at.node(), found.at.port) else { return Vec::new() };
        let from = self.body().node(to).and_then(|node| node.inputs().get(usize::from(port)));
        let mut fixes = Vec::new();
        if let (Some(Fact::Type(Type::Scalar(wanted))), Some(Fact::Type(Type::Scalar(given))), Some(from)) =
            (&found.expected, &found.found, from)
        {
            fixes.extend(conversions(*given, *wanted).map(|op| {
                let op = text::print_op(&op);
                let title = format!("convert `{from}` with `{op}` for input {port} of `{to}`");
                Fix::one(title, Step::Convert { op, from, to, port })
            }));
        }
        fixes.extend(self.values(found, 1));
        fixes
    }

    /// Inputs that are missing get the nearest values that fit, those that are too many go.
    fn arity(&self, found: &Diagnostic) -> Option<Fix> {
        let node = found.at.node()?;
        let have = self.body().node(node)?.inputs().len();
        let inputs = ports(self.program, self.function, self.body().node(node)?)?.inputs;
        if have > inputs.len() {
            let surplus = (inputs.len()..have).rev();
            let steps = surplus.map(|port| Step::Disconnect { node, port: port as u16 }).collect();
            let title = format!("leave out what `{node}` takes no longer");
            return Some(Fix { title, steps });
        }
        let missing = inputs.iter().enumerate().skip(have);
        let steps: Option<Vec<Step>> = missing
            .map(|(port, expected)| {
                let mut near = values_in_scope(self.program, self.of, self.function, node);
                let value = near.find(|(_, ty)| expected.accepts(ty)).map(|(source, _)| source.to_string());
                let from = value.or_else(|| zero(expected).map(str::to_owned))?;
                Some(Step::Connect { from, to: node, port: port as u16 })
            })
            .collect();
        let steps = steps.filter(|steps| !steps.is_empty())?;
        Some(Fix { title: format!("give `{node}` the values that it takes now"), steps })
    }

    /// `return` or `yield` with a hole for each value; at the end of a loop `continue`, which alone makes it one.
    fn terminator(&self, found: &Diagnostic) -> Option<Fix> {
        let region = found.at.region?;
        let (word, count) = match self.body().region(region)?.owner {
            RegionOwner::Function => ("return", self.function.head().results.len()),
            RegionOwner::Contract(_) => ("yield", 1),
            RegionOwner::Node(owner) => {
                let op = self.body().node(owner)?.op();
                match op.attr() {
                    Attr::Control(control) if op.code() == Opcode::Loop => {
                        return self.round(region, owner, control);
                    }
                    Attr::Control(control) => ("yield", control.results.len()),
                    Attr::Match(cases) => ("yield", cases.results.len()),
                    _ => return None,
                }
            }
        };
        let text = format!("{word} {}", vec!["_"; count].join(", ")).trim_end().to_owned();
        let title = match count {
            0 => format!("end the region with `{word}`"),
            _ => format!("end the region with `{word}`, its values left open"),
        };
        Some(Fix::one(title, Step::InsertText { region, text }))
    }

    /// `continue` with a hole for each parameter of a loop.
    fn round(&self, region: RegionRef, owner: NodeRef, of: &Control) -> Option<Fix> {
        let params = &self.body().region(region)?.params;
        let label = of.label.as_ref().filter(|label| text::is_bare(label));
        let exit = format!("continue {}", label.map_or_else(|| owner.to_string(), ToString::to_string));
        let holes = vec!["_"; params.len()].join(", ");
        let names: Vec<String> = params
            .iter()
            .enumerate()
            .map(|(port, param)| {
                param.name.as_ref().map_or_else(|| format!("`{region}.{port}`"), |name| format!("`{name}`"))
            })
            .collect();
        let title = match names.len() {
            0 => format!("go on with the next round: `{exit}`"),
            _ => format!("go on with the next round: `{exit}`, with {} left open", names.join(", ")),
        };
        let text = format!("{exit} {holes}").trim_end().to_owned();
        Some(Fix::one(title, Step::InsertText { region, text }))
    }

    fn bound(&self, found: &Diagnostic) -> Option<Fix> {
        let (bound, word) = match (found.code, &found.expected, &found.found) {
            (Code::EffectBoundWider, Some(Fact::Bound(needed)), _) => (*needed, "narrow"),
            (_, _, Some(Fact::Bound(needed))) => (*needed, "widen"),
            (_, _, _) => return None,
        };
        // What a contract may do is not up to its function.
        if let Some(region) = found.at.region
            && let Some(outermost) = self.body().chain(region).last()
            && let Some(RegionOwner::Contract(_)) = self.body().region(outermost).map(|region| region.owner)
        {
            return None;
        }
        let name = match bound {
            EffectBound::Pure => "pure",
            EffectBound::Reads => "reads",
            EffectBound::Any => "any",
        };
        let title = format!("{word} the effect bound of `{}` to {name}", self.of);
        Some(Fix::one(title, Step::SetEffectBound { function: self.of, bound }))
    }

    /// The node, and what only it used.
    fn unused(&self, found: &Diagnostic) -> Option<Fix> {
        let node = found.at.node()?;
        let (mut removed, mut next) = (vec![node], 0);
        while let Some(user) = removed.get(next).copied() {
            next += 1;
            for source in self.body().node(user)?.inputs().iter().flatten() {
                let Source::Node(operand, _) = source else { continue };
                if removed.len() < MOST_REMOVED
                    && !removed.contains(&operand)
                    && self.is_but_an_operand(operand, user)
                {
                    removed.push(operand);
                }
            }
        }
        let title = match removed.len() {
            1 => format!("remove `{node}`"),
            _ => format!("remove `{node}` and its operands"),
        };
        Some(Fix { title, steps: removed.into_iter().map(Step::Remove).collect() })
    }

    /// Whether a node is there for one other alone, and without effect.
    fn is_but_an_operand(&self, of: NodeRef, user: NodeRef) -> bool {
        let Some(node) = self.body().node(of) else { return false };
        let only = self.body().users_of(of.number()).all(|one| one.node == user);
        let place = self.body().node(user).is_some_and(|user| user.region() == node.region());
        let silent = matches!(node.op().code(), Opcode::Const | Opcode::VarGet)
            || (node.op().spec().effect == lmlang_ir::Effect::Pure && node.regions().is_empty());
        only && place && silent && node.name().is_none()
    }

    /// `unreachable` in the stead of what nothing comes to.
    fn unreachable(&self, found: &Diagnostic) -> Option<Fix> {
        let first = found.at.node()?;
        let region = self.body().node(first)?.region();
        let mut behind: Vec<NodeRef> = std::iter::once(first)
            .chain(self.body().nodes_after(region, first))
            .take(MOST_REMOVED + 1)
            .collect();
        if behind.len() > MOST_REMOVED {
            return None;
        }
        behind.reverse();
        let steps = behind.into_iter().map(Step::Remove);
        let end = Step::InsertText { region, text: "unreachable".to_owned() };
        let title = format!("end `{region}` with `unreachable` before `{first}`");
        Some(Fix { title, steps: steps.chain([end]).collect() })
    }
}

fn visible(found: &Diagnostic) -> Option<Fix> {
    match found.found {
        Some(Fact::Entity(of)) => Some(Fix::one(format!("make `{of}` public"), Step::Publish(of))),
        Some(_) | None => None,
    }
}

/// The global with `mut`; one of the host is as the host says.
fn mutable(program: &Program, found: &Diagnostic) -> Option<Fix> {
    let Some(Fact::Entity(of)) = found.found else { return None };
    let of = VarRef::try_from(of).ok()?;
    let mut storage = program.storage(of)?.clone();
    let StorageKind::Global { mutable, .. } = &mut storage.kind else { return None };
    if storage.import.is_some() {
        return None;
    }
    *mutable = true;
    let mut changed = program.clone();
    changed.set_storage(of, storage).ok()?;
    let text = text::print_storage(&changed, of, Detail::Full).trim_end().to_owned();
    Some(Fix::one(format!("make `{of}` mutable"), Step::ReplaceStorage { of, text }))
}

/// The literal that stands for nothing of a type.
fn zero(expected: &Expected) -> Option<&'static str> {
    match expected {
        Expected::Is(Type::Scalar(Scalar::Bool)) => Some("false"),
        Expected::Is(Type::Scalar(Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64)) => Some("0"),
        Expected::Is(Type::Scalar(Scalar::F32 | Scalar::F64)) => Some("0.0"),
        Expected::Is(Type::String) => Some("\"\""),
        Expected::Is(_) => None,
        Expected::Address | Expected::Integer => Some("0"),
        Expected::Reference => None,
    }
}

/// The operators that make one scalar of another, in the order of the op table; those that trap last.
fn conversions(from: Scalar, to: Scalar) -> impl Iterator<Item = Op> {
    let mut fits: Vec<_> = OPS
        .iter()
        .filter(|spec| matches!(spec.attr, AttrKind::Convert(pairs) if pairs.contains(&(from, to))))
        .collect();
    fits.sort_by_key(|spec| spec.effect != lmlang_ir::Effect::Pure);
    fits.into_iter().filter_map(move |spec| Op::new(spec.code, Attr::Convert(from, to)))
}
