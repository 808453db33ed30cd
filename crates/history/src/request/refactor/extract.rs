//! Making a function of code.

use std::collections::{BTreeSet, HashMap, HashSet};

use lmlang_ir::ops::signature::source_type;
use lmlang_ir::ops::{AttrKind, bound_needed};
use lmlang_ir::refs::looks_like_ref;
use lmlang_ir::text::{is_bare, output_names};
use lmlang_ir::{
    Attr, Body, EffectBound, FuncRef, Function, FunctionHead, ModuleRef, Name, NodeContent, NodeRef, Op,
    Opcode, Param, Ref, Region, RegionOwner, RegionRef, RegionRole, Source, Type, VarRef, Visibility,
};

use super::graft::Seams;
use super::inputs::ExtractFunction;
use super::span::Span;
use crate::request::error::{Done, EditError, Fail, code};
use crate::request::session::{Session, check_new_name};
use crate::request::sources::Scope;

fn refused(at: Ref, why: &str) -> Fail {
    let message = format!("the nodes cannot become a function: `{at}` {why}");
    let error = EditError::new(code::NOT_EXTRACTABLE, &["refs"], message).found(at.to_string());
    error.candidates([at.to_string()]).into()
}

impl Session<'_> {
    /// Makes a function of nodes, and a call in their place.
    pub(in crate::request) fn extract_function(&mut self, edit: &ExtractFunction) -> Done<()> {
        check_new_name("module", &edit.name)?;
        let span = self.span(&edit.refs)?;
        let from = self.function(&["refs"], span.function)?.clone();
        let module = match &edit.module {
            Some(text) => self.entity_of::<ModuleRef>(&["module"], text)?,
            None => from.head().module,
        };
        if from.body().chain(span.region).last() != from.body().root() {
            return Err(refused(span.region.into(), "belongs to a contract"));
        }
        if let Some(node) = span.leaving(from.body()) {
            return Err(refused(node.into(), "leaves them for another place"));
        }
        let variables = own_variables(&span, from.body())?;
        let (taken, given) = (span.taken(from.body()), span.given(from.body()));
        let params = self.params_for(&from, &taken)?;
        let results = self.types_of(&from, &given)?;
        let head = FunctionHead {
            // Its caller stays where it is.
            visibility: if module == from.head().module { Visibility::Private } else { Visibility::Public },
            effect_bound: self.bound_of(&from, &span),
            ..FunctionHead::new(edit.name.as_str(), module, params, results)
        };
        let made = self.make_function(head, &from, &span, (&taken, &given), &variables)?;
        self.call_instead(&span, made, &taken, &given, &from)?;
        let mut open = self.open(span.function)?;
        for variable in variables {
            open.remove_variable(variable)?;
        }
        self.bind(edit.name_as.as_ref(), made)
    }

    /// What is declared of a function made of nodes: all that they need where the function that they come from declares
    /// something, nothing where it does not.
    fn bound_of(&self, from: &Function, span: &Span) -> EffectBound {
        if from.head().effect_bound == EffectBound::Any {
            return EffectBound::Any;
        }
        let inside = span.inside.iter().filter_map(|node| from.body().node(*node));
        let needed = inside.map(|node| bound_needed(&self.program, node.op()));
        needed.max().unwrap_or(EffectBound::Pure)
    }

    fn make_function(
        &mut self,
        head: FunctionHead,
        from: &Function,
        span: &Span,
        (taken, given): (&[Source], &[Source]),
        variables: &BTreeSet<VarRef>,
    ) -> Done<FuncRef> {
        let made: FuncRef = self.allocate(FuncRef::new)?;
        let root: RegionRef = self.allocate_in(made, RegionRef::new)?;
        self.program.add_function(made, head)?;
        self.open(made)?
            .add_region(root, Region::new(RegionOwner::Function, RegionRole::Body, Vec::new()))?;
        let params = (0..).zip(taken).map(|(index, source)| (*source, Some(Source::Param(made, index))));
        let mut seams = Seams { sources: params.collect(), ..Seams::default() };
        for variable in variables {
            let Some(record) = from.body().variable(*variable).cloned() else { continue };
            let copy: VarRef = self.allocate_in(made, VarRef::new)?;
            self.open(made)?.add_variable(copy, record)?;
            seams.variables.insert(*variable, copy);
        }
        let place = Scope { function: made, region: root, after: None };
        let grafted = self.graft(from, &span.nodes, place, &seams)?;
        let values = given.iter().map(|source| grafted.source(*source, &seams)).collect();
        self.end_with(made, root, Opcode::Return, values)?;
        Ok(made)
    }

    fn call_instead(
        &mut self,
        span: &Span,
        made: FuncRef,
        taken: &[Source],
        given: &[Source],
        from: &Function,
    ) -> Done<()> {
        let place = self.front_of(span)?;
        let call: NodeRef = self.allocate_in(span.function, NodeRef::new)?;
        let content = NodeContent {
            name: names_of(from.body(), given),
            ..NodeContent::new(Op::call(made), taken.iter().copied().map(Some))
        };
        self.open(span.function)?.insert_node(call, place.region, place.after, content)?;
        let outer: Vec<(Source, Option<Source>)> =
            (0..).zip(given).map(|(port, value)| (*value, Some(Source::Node(call, port)))).collect();
        self.redirect(span, &outer)?;
        self.cut_span(span)
    }

    /// The types of values.
    pub(super) fn types_of(&self, function: &Function, values: &[Source]) -> Done<Vec<Type>> {
        let one = |value: &Source| {
            source_type(&self.program, function, *value).ok_or_else(|| {
                let message = format!("the value `{value}` is used and does not exist any more");
                EditError::new(code::MISSING_VALUE, &["refs"], message).found(value.to_string()).into()
            })
        };
        values.iter().map(one).collect()
    }

    /// Parameters that are called as the values which they stand for, where these have names that can be told apart.
    fn params_for(&self, function: &Function, values: &[Source]) -> Done<Vec<Param>> {
        let mut known: HashSet<String> = HashSet::new();
        let types = self.types_of(function, values)?;
        let params = values.iter().zip(types).enumerate().map(|(index, (value, ty))| {
            let called = name_of(function, *value).filter(|name| is_bare(name) && !looks_like_ref(name));
            let first = called.map_or_else(|| format!("a{index}"), |name| name.to_string());
            let others = (2..).map(|count| format!("{first}_{count}"));
            let name = std::iter::once(first.clone()).chain(others).find(|name| known.insert(name.clone()));
            Param { name: name.unwrap_or(first).into(), ty }
        });
        Ok(params.collect())
    }
}

fn name_of(function: &Function, value: Source) -> Option<Name> {
    let port = usize::from(value.port());
    match value {
        Source::Node(node, _) => {
            let name = output_names(function.body().node(node)?.name()?).nth(port)?;
            (name != "_").then(|| Name::from(name))
        }
        Source::RegionParam(region, _) => function.body().region(region)?.params.get(port)?.name.clone(),
        Source::Param(..) => function.head().params.get(port).map(|param| param.name.clone()),
    }
}

/// The names of values as one label; nothing when none has one that stands in a list.
pub(super) fn names_of(body: &Body, values: &[Source]) -> Option<Name> {
    let called = |value: &Source| match value {
        Source::Node(node, port) => {
            let name = output_names(body.node(*node)?.name()?).nth(usize::from(*port))?;
            is_bare(name).then(|| name.to_owned())
        }
        Source::RegionParam(..) | Source::Param(..) => None,
    };
    let names: Vec<Option<String>> = values.iter().map(called).collect();
    names.iter().any(Option::is_some).then(|| {
        let names: Vec<String> =
            names.into_iter().map(|name| name.unwrap_or_else(|| "_".to_owned())).collect();
        names.join(", ").into()
    })
}

/// The variables that the nodes alone read and write. What a call begins with is new each time, so the nodes may not run
/// twice in one call of the function that they are in now.
fn own_variables(span: &Span, body: &Body) -> Done<BTreeSet<VarRef>> {
    let mut users: HashMap<VarRef, NodeRef> = HashMap::new();
    for node in &span.inside {
        let Some(found) = body.node(*node) else { continue };
        match (found.op().attr(), found.op().spec().attr) {
            (Attr::Variable(of), AttrKind::Variable) => {
                let first = users.entry(*of).or_insert(*node);
                *first = (*first).min(*node);
            }
            (_, AttrKind::Index) => return Err(refused((*node).into(), "takes what a closure captures")),
            (_, _) => {}
        }
    }
    let own: BTreeSet<VarRef> = users.keys().copied().collect();
    for variable in &own {
        let outside =
            body.users_of(variable.number()).map(|one| one.node).find(|one| !span.inside.contains(one));
        if let Some(other) = outside {
            return Err(refused((*variable).into(), &format!("is used by `{other}`, too")));
        }
    }
    if let Some(first) = own.first()
        && repeats(body, span.region)
    {
        return Err(refused((*first).into(), "keeps its value from one round of a loop to the next"));
    }
    Ok(own)
}

/// Tells whether code of a region may run more than once in one call.
pub(super) fn repeats(body: &Body, region: RegionRef) -> bool {
    body.chain(region).any(|around| match body.region(around).map(|record| record.owner) {
        Some(RegionOwner::Node(node)) => {
            body.node(node).is_some_and(|found| found.op().code() == Opcode::Loop)
        }
        Some(RegionOwner::Function | RegionOwner::Contract(_)) | None => false,
    })
}
