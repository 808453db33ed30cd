//! Expressions over what is in scope, evaluated on the values of a run that stands still: conditions of breakpoints, and
//! what somebody asks.
//!
//! The nodes of an expression are copied into a function of their own, whose parameters are what they take from outside. It
//! is called on the words of the run, and on its globals and linear memory, which it may read.

use lmlang_ir::ops::signature::source_type;
use lmlang_ir::text::{InsertPlace, TextError, insert_test, print_type_name};
use lmlang_ir::{
    Attr, Const, EffectBound, FunctionHead, NodeRef, Opcode, Param, Program, RefAllocator, Scalar, Shape,
    Source, Type, TypeRef, Value,
};
use lmlang_verify::{Diagnostic, Severity};
use thiserror::Error;

use crate::code::Lowering;
use crate::nodes::{NodesError, OpenPort, Writer, everything};
use crate::outcome::Outcome;
use crate::run::{Held, Limits, Options, Progress, Run};
use crate::value::{Budget, Shown, Word};

/// Nodes that one evaluation executes at most.
const FUEL: u64 = 1_000_000;

/// Why an expression cannot be evaluated.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ExpressionError {
    /// It is not the text of an expression.
    #[error("{}", first(.0))]
    Text(Vec<TextError>),
    /// It is a condition of another type.
    #[error("expected `bool`, found `{0}`")]
    NotBool(String),
    /// Something else is wrong with what it says: it does more than read, or an operator does not fit its inputs.
    #[error("{0}")]
    Wrong(String),
    /// It takes or gives a value that only means something inside of the run: one with a function in it.
    #[error("an expression cannot take `{0}`, which only means something inside of the run")]
    Taken(String),
    /// It could not be copied.
    #[error(transparent)]
    Nodes(#[from] NodesError),
    /// Where the run stands, it has no value: it takes one that is used up, or it traps.
    #[error("{0}")]
    NoValue(String),
}

fn first(errors: &[TextError]) -> String {
    errors.first().map_or_else(String::new, |error| error.message.clone())
}

/// An expression, ready to be evaluated again and again.
#[derive(Debug)]
pub(super) struct Expression {
    /// What computes it; `None` where it is the one value that it takes.
    run: Option<Run>,
    takes: Vec<Held>,
    ty: Type,
}

impl Expression {
    /// An expression of what is in scope at a place of a function.
    pub(super) fn new(run: &Run, place: InsertPlace, text: &str) -> Result<Expression, ExpressionError> {
        let checked = run.checked();
        let mut program = checked.program().clone();
        let first = program.largest_number() + 1;
        let mut refs = RefAllocator::starting_at(first);
        let mut scratch = program.clone();
        insert_test(&mut scratch, &mut refs, place, text).map_err(ExpressionError::Text)?;
        let missing = || ExpressionError::Taken(place.function.to_string());
        let found = scratch.function(place.function).ok_or_else(missing)?;
        let body = found.body();
        let mut top: Vec<NodeRef> =
            body.nodes_in(place.region).filter(|node| node.number() >= first).collect();
        let answer = top.pop().and_then(|node| body.node(node)?.inputs().iter().next().flatten());
        let answer = answer.ok_or_else(missing)?;
        // What a closure captured is taken from the call, as its parameters are.
        let captured: Vec<(NodeRef, Source)> = top
            .iter()
            .filter_map(|node| match (body.node(*node)?.op().code(), body.node(*node)?.op().attr()) {
                (Opcode::CaptureGet, Attr::Index(index)) => {
                    let port = found.head().params.len() as u16 + u16::try_from(*index).ok()?;
                    Some((*node, Source::Param(place.function, port)))
                }
                _ => None,
            })
            .collect();
        top.retain(|node| captured.iter().all(|(of, _)| of != node));
        let (inside, nodes, regions) = everything(body, &top);
        let mut takes: Vec<Held> = Vec::new();
        let mut take = |taken| {
            if !takes.contains(&taken) {
                takes.push(taken);
            }
        };
        for node in inside.iter().filter_map(|node| body.node(*node)) {
            if let (Opcode::VarGet, Attr::Variable(variable)) = (node.op().code(), node.op().attr()) {
                take(Held::Variable(*variable));
            }
            for source in node.inputs().iter().flatten().chain([answer]) {
                let is_inside = match source {
                    Source::Node(node, _) => nodes.contains(&node),
                    Source::RegionParam(region, _) => regions.contains(&region),
                    Source::Param(..) => false,
                };
                if !is_inside {
                    take(Held::Value(source));
                }
            }
        }
        let typed = |source| source_type(&scratch, found, source);
        let ty = typed(answer).ok_or_else(missing)?;
        if inside.is_empty() {
            let source = of_call(&captured, answer);
            return Ok(Expression { run: None, takes: vec![Held::Value(source)], ty });
        }
        let plain = |ty: Option<Type>, name: &str| {
            ty.filter(|ty| is_plain(&scratch, ty)).ok_or_else(|| ExpressionError::Taken(name.to_owned()))
        };
        let ty = plain(Some(ty), text.trim())?;
        let mut params = Vec::with_capacity(takes.len());
        let mut words = Vec::with_capacity(takes.len());
        for (index, taken) in takes.iter().enumerate() {
            let (found, of) = match taken {
                Held::Value(source) => (typed(*source), Held::Value(of_call(&captured, *source))),
                Held::Variable(of) => (body.variable(*of).map(|found| found.ty.clone()), *taken),
            };
            let ty = plain(found, &of.to_string())?;
            params.push(Param { name: format!("p_{index}").into(), ty });
            words.push(of);
        }
        let head = FunctionHead {
            effect_bound: EffectBound::Reads,
            ..FunctionHead::new("(expression)", found.head().module, params, vec![ty.clone()])
        };
        let mut writer = Writer::new(&mut program, &mut refs, head, body).map_err(NodesError::from)?;
        for (index, taken) in (0..).zip(&takes) {
            match taken {
                Held::Value(source) => drop(writer.index.insert(OpenPort::Source(*source), index)),
                Held::Variable(variable) => writer.begin_with(*variable, index)?,
            }
        }
        let root = writer.root;
        writer.regions.insert(place.region, root);
        writer.write(&top, root)?;
        let value = writer.source(answer).ok_or_else(missing)?;
        writer.end(vec![value])?;
        let of = writer.of;
        let checked = checked.update(program);
        let mut findings = checked.findings().of_function(of);
        let wrong = |found: &&Diagnostic| found.severity() == Severity::Error || found.is_incomplete();
        if let Some(found) = findings.find(wrong) {
            return Err(ExpressionError::Wrong(found.message(checked.program())));
        }
        let limits = Limits { fuel: FUEL, ..run.options().limits };
        let options = Options { limits, inspect: false, ..Options::default() };
        Ok(Expression { run: Some(run.beside(&checked, of, options, Lowering::Fast)), takes: words, ty })
    }

    /// An expression that is a condition.
    pub(super) fn condition(
        run: &Run,
        place: InsertPlace,
        text: &str,
    ) -> Result<Expression, ExpressionError> {
        let condition = Expression::new(run, place, text)?;
        if condition.ty == Type::Scalar(Scalar::Bool) {
            return Ok(condition);
        }
        let program = run.checked().program();
        let module = program.function(place.function).map(|found| found.head().module);
        Err(ExpressionError::NotBool(print_type_name(program, module, &condition.ty)))
    }

    /// Whether a condition holds in the innermost call.
    ///
    /// # Errors
    ///
    /// Why that cannot be told, in words.
    pub(super) fn holds(&mut self, of: &mut Run) -> Result<bool, String> {
        let innermost = of.machine.frames.len().saturating_sub(1) as u32;
        match self.evaluate(of, innermost)?.value {
            Value::Const(Const::Bool(holds)) => Ok(holds),
            _ => Err("it gave no `bool`".to_owned()),
        }
    }

    /// What it comes to in a call, by its position.
    ///
    /// # Errors
    ///
    /// Why that cannot be told, in words.
    pub(super) fn evaluate(&mut self, of: &mut Run, frame: u32) -> Result<Shown, String> {
        let word = |taken: &Held| match of.word_at(frame, *taken) {
            Some(Word::Ref(obj)) if obj.is_empty() => Err(format!("`{taken}` is not held any more")),
            Some(word) => Ok(word),
            None => Err(format!("`{taken}` is not held")),
        };
        let words: Vec<Word> = self.takes.iter().map(word).collect::<Result<_, _>>()?;
        let nothing = || "it gave nothing".to_owned();
        let Some(run) = &mut self.run else {
            let shown = words.first().and_then(|word| of.shown(&self.ty, word, Budget::ASKED));
            return shown.ok_or_else(nothing);
        };
        run.lend(of);
        run.call(words, FUEL);
        while run.resume(u64::MAX) == Progress::Paused {}
        run.lend(of);
        match run.outcome() {
            Some(Outcome::Returned { .. }) => {
                run.shown(&self.ty, &run.first_result(&self.ty), Budget::ASKED).ok_or_else(nothing)
            }
            Some(Outcome::Trapped { fault, .. }) => Err(fault.message(run.checked().program())),
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

/// What a source among the nodes is in the call: a captured value, or itself.
fn of_call(captured: &[(NodeRef, Source)], source: Source) -> Source {
    let found = captured.iter().find(|(node, _)| Source::Node(*node, 0) == source);
    found.map_or(source, |(_, of)| *of)
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
