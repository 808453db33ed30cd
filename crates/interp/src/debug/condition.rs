//! Conditions of breakpoints: expressions over what is in scope, evaluated on the values of a run that stands still.
//!
//! The nodes of a condition are copied into a function of their own, whose parameters are what they take from outside. It
//! is called on the words of the run, and on its globals and linear memory, which it may read.

use lmlang_ir::ops::signature::source_type;
use lmlang_ir::text::{InsertPlace, TextError, insert_test, print_type_name};
use lmlang_ir::{
    Attr, Const, EffectBound, FuncRef, FunctionHead, NodeRef, Opcode, Param, Program, RefAllocator,
    RegionRef, Scalar, Shape, Source, Type, TypeRef, Value, VarRef,
};
use lmlang_verify::{Diagnostic, Severity};
use thiserror::Error;

use crate::code::Lowering;
use crate::nodes::{NodesError, OpenPort, Writer, everything};
use crate::outcome::Outcome;
use crate::run::{Limits, Options, Progress, Run};
use crate::value::Word;

/// Nodes that one look at a condition executes at most.
const FUEL: u64 = 1_000_000;

/// Why a condition cannot be told.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ConditionError {
    /// It is not the text of an expression.
    #[error("{}", first(.0))]
    Text(Vec<TextError>),
    /// It is of another type.
    #[error("expected `bool`, found `{0}`")]
    NotBool(String),
    /// Something else is wrong with what it says: it does more than read, or an operator does not fit its inputs.
    #[error("{0}")]
    Wrong(String),
    /// It takes a value that only means something inside of the run: a function, or what a closure captured.
    #[error("a condition cannot take `{0}`")]
    Taken(String),
    /// It could not be copied.
    #[error(transparent)]
    Nodes(#[from] NodesError),
}

fn first(errors: &[TextError]) -> String {
    errors.first().map_or_else(String::new, |error| error.message.clone())
}

/// What a condition takes from the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Taken {
    Value(Source),
    Variable(VarRef),
}

/// A condition, ready to be told again and again.
#[derive(Debug)]
pub(super) struct Condition {
    run: Run,
    takes: Vec<(Taken, String)>,
}

impl Condition {
    /// A condition of what is in scope in a region behind a node, or at its front.
    pub(super) fn new(
        run: &Run,
        function: FuncRef,
        region: RegionRef,
        after: Option<NodeRef>,
        text: &str,
    ) -> Result<Condition, ConditionError> {
        let checked = run.checked();
        let mut program = checked.program().clone();
        let first = program.largest_number() + 1;
        let mut refs = RefAllocator::starting_at(first);
        let mut scratch = program.clone();
        let place = InsertPlace { function, region, after };
        insert_test(&mut scratch, &mut refs, place, text).map_err(ConditionError::Text)?;
        let missing = || ConditionError::Taken(function.to_string());
        let found = scratch.function(function).ok_or_else(missing)?;
        let body = found.body();
        let mut top: Vec<NodeRef> = body.nodes_in(region).filter(|node| node.number() >= first).collect();
        let answer = top.pop().and_then(|node| body.node(node)?.inputs().iter().next().flatten());
        let answer = answer.ok_or_else(missing)?;
        match source_type(&scratch, found, answer) {
            None | Some(Type::Scalar(Scalar::Bool)) => {}
            Some(ty) => {
                let module = Some(found.head().module);
                return Err(ConditionError::NotBool(print_type_name(&scratch, module, &ty)));
            }
        }
        let (inside, nodes, regions) = everything(body, &top);
        let mut takes: Vec<Taken> = Vec::new();
        let mut take = |taken| {
            if !takes.contains(&taken) {
                takes.push(taken);
            }
        };
        for node in inside.iter().filter_map(|node| body.node(*node)) {
            match (node.op().code(), node.op().attr()) {
                (Opcode::VarGet, Attr::Variable(variable)) => take(Taken::Variable(*variable)),
                (Opcode::CaptureGet, _) => return Err(ConditionError::Taken("capture.get".to_owned())),
                _ => {}
            }
            for source in node.inputs().iter().flatten().chain([answer]) {
                let is_inside = match source {
                    Source::Node(node, _) => nodes.contains(&node),
                    Source::RegionParam(region, _) => regions.contains(&region),
                    Source::Param(..) => false,
                };
                if !is_inside {
                    take(Taken::Value(source));
                }
            }
        }
        if inside.is_empty() {
            take(Taken::Value(answer));
        }
        let mut params = Vec::with_capacity(takes.len());
        let mut named = Vec::with_capacity(takes.len());
        for (index, taken) in takes.iter().enumerate() {
            let (ty, name) = match taken {
                Taken::Value(source) => (source_type(&scratch, found, *source), source.to_string()),
                Taken::Variable(of) => (body.variable(*of).map(|found| found.ty.clone()), of.to_string()),
            };
            let ty =
                ty.filter(|ty| is_plain(&scratch, ty)).ok_or_else(|| ConditionError::Taken(name.clone()))?;
            params.push(Param { name: format!("p_{index}").into(), ty });
            named.push((*taken, name));
        }
        let result = vec![Type::Scalar(Scalar::Bool)];
        let head = FunctionHead {
            effect_bound: EffectBound::Reads,
            ..FunctionHead::new("(condition)", found.head().module, params, result)
        };
        let mut writer = Writer::new(&mut program, &mut refs, head, body).map_err(NodesError::from)?;
        for (index, taken) in (0..).zip(&takes) {
            match taken {
                Taken::Value(source) => drop(writer.index.insert(OpenPort::Source(*source), index)),
                Taken::Variable(variable) => writer.begin_with(*variable, index)?,
            }
        }
        let root = writer.root;
        writer.regions.insert(region, root);
        writer.write(&top, root)?;
        let value = writer.source(answer).ok_or_else(missing)?;
        writer.end(vec![value])?;
        let of = writer.of;
        let checked = checked.update(program);
        let mut findings = checked.findings().of_function(of);
        let wrong = |found: &&Diagnostic| found.severity() == Severity::Error || found.is_incomplete();
        if let Some(found) = findings.find(wrong) {
            return Err(ConditionError::Wrong(found.message(checked.program())));
        }
        let limits = Limits { fuel: FUEL, ..run.options().limits };
        let options = Options { limits, inspect: false, ..Options::default() };
        Ok(Condition { run: run.beside(&checked, of, options, Lowering::Fast), takes: named })
    }

    /// Whether it holds where a run stands.
    ///
    /// # Errors
    ///
    /// Why that cannot be told, in words.
    pub(super) fn holds(&mut self, of: &mut Run) -> Result<bool, String> {
        let Some((code, _)) = of.code() else { return Err("the run is nowhere".to_owned()) };
        let word = |(taken, name): &(Taken, String)| {
            let loc = match taken {
                Taken::Value(source) => code.locs.get(source).map(|(loc, _)| *loc),
                Taken::Variable(variable) => {
                    code.vars.iter().find(|(of, ..)| of == variable).map(|(_, loc, _)| *loc)
                }
            };
            match loc.map(|loc| of.read(loc)) {
                Some(Word::Ref(obj)) if obj.is_empty() => Err(format!("`{name}` is not held any more")),
                Some(word) => Ok(word),
                None => Err(format!("`{name}` is not held")),
            }
        };
        let words: Vec<Word> = self.takes.iter().map(word).collect::<Result<_, _>>()?;
        self.run.lend(of);
        self.run.call(words, FUEL);
        while self.run.resume(u64::MAX) == Progress::Paused {}
        self.run.lend(of);
        match self.run.outcome() {
            Some(Outcome::Returned { values }) => match values[..] {
                [Value::Const(Const::Bool(holds))] => Ok(holds),
                _ => Err("it gave no `bool`".to_owned()),
            },
            Some(Outcome::Trapped { fault, .. }) => Err(fault.to_string()),
            Some(Outcome::ContractViolated { message, .. }) => {
                Err(format!("a contract does not hold: {message}"))
            }
            Some(Outcome::LimitReached { limit, bound, .. }) => {
                Err(crate::outcome::limit_message(*limit, *bound))
            }
            Some(Outcome::ReachedHole { .. } | Outcome::NotVerified { .. } | Outcome::Cancelled { .. })
            | None => Err("it calls something that is not complete".to_owned()),
        }
    }
}

/// Whether values of a type mean the same in another run: they hold no functions.
fn is_plain(program: &Program, ty: &Type) -> bool {
    let (mut seen, mut types): (Vec<TypeRef>, Vec<Type>) = (Vec::new(), vec![ty.clone()]);
    while let Some(ty) = types.pop() {
        match ty {
            Type::Scalar(_) | Type::Unit | Type::Never | Type::String | Type::Bytes | Type::Ptr(_) => {}
            Type::Option(of) | Type::Array(of) | Type::FixedArray(of, _) | Type::Box(of) => {
                types.push((*of).clone())
            }
            Type::Result(of) => types.extend([of.0.clone(), of.1.clone()]),
            Type::Closure(_) | Type::FuncRef | Type::ExternRef => return false,
            Type::Named(of) if seen.contains(&of) => {}
            Type::Named(of) => {
                seen.push(of);
                match program.type_def(of).map(|def| &def.shape) {
                    Some(Shape::Struct(fields)) => types.extend(fields.iter().map(|field| field.ty.clone())),
                    Some(Shape::Enum(variants)) => {
                        types.extend(variants.iter().filter_map(|variant| variant.payload.clone()));
                    }
                    None => return false,
                }
            }
        }
    }
    true
}
