//! Reading texts into places of a program: instead of an entity, or between its nodes.
//!
//! Entities of the old text keep their refs when the new text gives them, and else by what they are called: variables,
//! nodes with a name and the same mnemonic, contracts by kind and message, members by name; and regions by the node that
//! owns them. Of the nodes and regions that are left, those that stayed are found by what they compute and where they
//! stand (the module `matching`). Everything else is new.
//!
//! Texts of less than full detail have no comments. So a text in which none of a function's comments stands leaves those
//! of what stayed as they are; one in which one of them stands says all of them.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::change::{FunctionMut, StructureError};
use crate::entities::RegionParam;
use crate::function::Function;
use crate::ops::{Expected, Op};
use crate::program::Program;
use crate::refs::{ContractRef, FuncRef, NodeRef, Ref, RefAllocator, RefKind, RegionRef, TypeRef, VarRef};
use crate::text::api::{lower, parse_items};
use crate::text::body_names::BodyNames;
use crate::text::cursor::Parser;
use crate::text::dollar::Written;
use crate::text::error::{Mistake, TextError, code, locate};
use crate::text::lexer::Kind;
use crate::text::literal::Literal;
use crate::text::lower::{Lowering, Policy};
use crate::text::lower_body::{Body, Reuse};
use crate::text::names::{ProgramNames, unknown_ref};
use crate::text::op::{first_of, parse_alone};
use crate::text::places::Places;
use crate::text::print::{Detail, print_type_name};
use crate::text::resolve::{Resolved, resolve_op, resolve_type};
use crate::text::scope::Scope;
use crate::text::settle::comments_of;
use crate::text::syntax::{
    AttrSyntax, BodySyntax, CaseSyntax, FunctionItem, Head, Item, ParamSyntax, Segment, Tree, TypeItem,
};
use crate::types::{Const, Scalar, Type};

/// Where lines are inserted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InsertPlace {
    /// The function.
    pub function: FuncRef,
    /// The region.
    pub region: RegionRef,
    /// The node that they follow; `None`: at the front.
    pub after: Option<NodeRef>,
}

/// From where the names in an operator are seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperatorScope {
    /// The function.
    pub function: FuncRef,
    /// The region.
    pub region: RegionRef,
    /// The node that it follows; `None`: at the front.
    pub after: Option<NodeRef>,
}

/// An operator as one writes it for a new node.
#[derive(Clone, Debug, PartialEq)]
pub struct OperatorForm {
    /// The operator.
    pub op: Op,
    /// The parameters of a loop's body.
    pub region_params: Vec<RegionParam>,
}

pub(super) fn missing(of: Ref) -> Vec<TextError> {
    locate("", vec![unknown_ref(of, 0)])
}

/// The one item of a text; none when there are others.
fn only_item<'t>(tree: &'t Tree, what: &str, mistakes: &mut Vec<Mistake>) -> Option<&'t Item> {
    let headers = tree.modules.iter().filter_map(|(header, _)| header.as_ref());
    let items: Vec<&Item> = tree.modules.iter().flat_map(|(_, items)| items).collect();
    let mut at = None;
    for header in headers {
        at = Some(header.path.at());
    }
    match (items.as_slice(), at) {
        ([only], None) => Some(only),
        (_, _) if !mistakes.is_empty() => None,
        (_, _) => {
            let message = format!("expected one {what} and nothing else");
            mistakes
                .push(Mistake::new(code::SYNTAX, at.unwrap_or(0), message).expected(format!("one {what}")));
            None
        }
    }
}

/// Tells that the text is of another entity.
pub(super) fn check_ref(label: &Segment, of: Ref) -> Result<(), Mistake> {
    match label.tag {
        Some(tag) if tag.of != of => {
            let message = format!("the text is one of `{}`, not of `{of}`", tag.of);
            Err(Mistake::new(code::UNKNOWN_REF, tag.at, message)
                .expected(of.to_string())
                .found(tag.of.to_string()))
        }
        Some(_) | None => Ok(()),
    }
}

/// Replaces a function by its text. The ref of the function stays; those of its parts as the module says.
///
/// `printed` is the detail that the text had before it was changed, if that is known: it decides whether a comment that the
/// text does not have is gone.
pub fn replace_function<'t>(
    program: &mut Program,
    refs: &mut RefAllocator,
    of: FuncRef,
    text: impl Into<Written<'t>>,
    printed: Option<Detail>,
) -> Result<Places, Vec<TextError>> {
    let text = text.into();
    let Some(old) = program.function(of).cloned() else { return Err(missing(of.into())) };
    let (tree, mut mistakes) = parse_items(text);
    let item = match only_item(&tree, "function", &mut mistakes) {
        Some(Item::Function(item)) => item,
        Some(Item::Type(TypeItem { label, .. })) => return Err(not_one(text, label, "function")),
        Some(Item::Storage(item)) => return Err(not_one(text, &item.label, "function")),
        None => return Err(locate(text.text, mistakes)),
    };
    let mut known: HashMap<u64, RefKind> = parts(&old).map(|part| (part.number, part.kind)).collect();
    known.insert(of.number(), RefKind::Function);
    let mut lowering = Lowering::new(program, refs, &tree, text.policy(known)).with_places();
    lowering.reuse = reuse(&old);
    let ((), places) = lower(text, mistakes, program, refs, lowering, |lowering| {
        replace(lowering, of, &old, item, printed);
    })?;
    Ok(places)
}

fn not_one(text: Written<'_>, label: &Segment, what: &str) -> Vec<TextError> {
    locate(text.text, vec![Mistake::new(code::SYNTAX, label.at, format!("expected a {what}")).expected(what)])
}

fn replace<'t>(
    lowering: &mut Lowering<'t>,
    of: FuncRef,
    old: &Function,
    item: &'t FunctionItem,
    printed: Option<Detail>,
) {
    let fits = check_ref(&item.label, of.into());
    lowering.noted(fits);
    let before = lowering.refs.clone();
    let head = lowering.head(old.head().module, item);
    let replaced = lowering.program.remove_function(of).and_then(|_| lowering.program.add_function(of, head));
    if let Err(error) = replaced {
        lowering.note(Mistake::new(code::DUPLICATE_REF, item.label.at, error.to_string()));
    }
    lowering.function_body(of, item);
    let comments = comments_of(lowering.tree, old, printed);
    lowering.settle(of, old, before, comments);
}

/// The refs of everything in a function.
pub(super) fn parts(function: &Function) -> impl Iterator<Item = Ref> + '_ {
    let body = function.body();
    let regions = body.regions().map(|(region, _)| region.into());
    let variables = body.variables().map(|(variable, _)| variable.into());
    let contracts = body.contracts().map(|(contract, _)| contract.into());
    regions.chain(variables).chain(contracts).chain(body.nodes().map(|(node, _)| node.into()))
}

/// What the parts of a function are known by; names that stand for more than one are left out.
pub(super) fn reuse(function: &Function) -> Reuse {
    let body = function.body();
    let mut reuse = Reuse { root: body.root(), ..Reuse::default() };
    let mut twice: HashSet<Arc<str>> = HashSet::new();
    for (of, variable) in body.variables() {
        if let Some(name) = &variable.name
            && reuse.variables.insert(Arc::clone(name), of).is_some()
        {
            twice.insert(Arc::clone(name));
        }
    }
    reuse.variables.retain(|name, _| !twice.contains(name));
    for (of, contract) in body.contracts() {
        let key = (contract.kind, Arc::clone(&contract.message));
        reuse.contracts.entry(key).or_insert((of, contract.region));
    }
    twice.clear();
    for (of, node) in body.nodes() {
        if let Some(name) = node.name()
            && reuse.nodes.insert(Arc::clone(name), (of, node.op().code())).is_some()
        {
            twice.insert(Arc::clone(name));
        }
        if !node.regions().is_empty() {
            reuse.regions.insert(of, node.regions().to_vec());
        }
    }
    reuse.nodes.retain(|name, _| !twice.contains(name));
    reuse
}

/// Replaces a nominal type by its text. Its ref stays, and those of members that are given or keep their names.
pub fn replace_type<'t>(
    program: &mut Program,
    refs: &mut RefAllocator,
    of: TypeRef,
    text: impl Into<Written<'t>>,
) -> Result<Places, Vec<TextError>> {
    let text = text.into();
    let Some(old) = program.type_def(of).cloned() else { return Err(missing(of.into())) };
    let (tree, mut mistakes) = parse_items(text);
    let item = match only_item(&tree, "type", &mut mistakes) {
        Some(Item::Type(item)) => item,
        Some(Item::Function(FunctionItem { label, .. })) => return Err(not_one(text, label, "type")),
        Some(Item::Storage(item)) => return Err(not_one(text, &item.label, "type")),
        None => return Err(locate(text.text, mistakes)),
    };
    let fields = old.fields().iter().map(|field| field.member.number());
    let members = fields.chain(old.variants().iter().map(|variant| variant.member.number()));
    let mut known: HashMap<u64, RefKind> = members.map(|number| (number, RefKind::Member)).collect();
    known.insert(of.number(), RefKind::Type);
    let lowering = Lowering::new(program, refs, &tree, text.policy(known)).with_places();
    let ((), places) = lower(text, mistakes, program, refs, lowering, |lowering| {
        let fits = check_ref(&item.label, of.into());
        lowering.noted(fits);
        lowering.define_type(of, old.module, item, Some(&old));
    })?;
    Ok(places)
}

/// Replaces a global, memory, table, segment or custom section by its text. Its ref stays.
pub fn replace_storage<'t>(
    program: &mut Program,
    refs: &mut RefAllocator,
    of: VarRef,
    text: impl Into<Written<'t>>,
) -> Result<Places, Vec<TextError>> {
    let text = text.into();
    let Some(old) = program.storage(of).cloned() else { return Err(missing(of.into())) };
    let (tree, mut mistakes) = parse_items(text);
    let what = "global, memory, table, segment or custom section";
    let item = match only_item(&tree, what, &mut mistakes) {
        Some(Item::Storage(item)) => item,
        Some(Item::Function(FunctionItem { label, .. }) | Item::Type(TypeItem { label, .. })) => {
            return Err(not_one(text, label, what));
        }
        None => return Err(locate(text.text, mistakes)),
    };
    let known = HashMap::from([(of.number(), RefKind::Variable)]);
    let lowering = Lowering::new(program, refs, &tree, text.policy(known)).with_places();
    let ((), places) = lower(text, mistakes, program, refs, lowering, |lowering| {
        let fits = check_ref(&item.label, of.into());
        lowering.noted(fits);
        lowering.replace_storage(of, old.module, item);
    })?;
    Ok(places)
}

/// Replaces a contract by its text: `require "message" = condition`.
pub fn replace_contract<'t>(
    program: &mut Program,
    refs: &mut RefAllocator,
    of: ContractRef,
    text: impl Into<Written<'t>>,
) -> Result<Places, Vec<TextError>> {
    let text = text.into();
    let found = program.function_of(of.into()).and_then(|function| {
        let found = program.function(function)?;
        Some((function, Arc::clone(found), found.body().contract(of)?.clone()))
    });
    let Some((function, old, contract)) = found else { return Err(missing(of.into())) };
    let mut parser = Parser::new(text);
    let parsed = parser.lone_contract();
    let (tree, mut mistakes) = (parser.tree, parser.mistakes);
    let body = match parsed {
        Ok(body) => body,
        Err(_) => return Err(locate(text.text, mistakes)),
    };
    let [syntax] = body.contracts.as_slice() else {
        if mistakes.is_empty() {
            mistakes.push(Mistake::new(code::SYNTAX, 0, "expected one contract and nothing else"));
        }
        return Err(locate(text.text, mistakes));
    };
    let (regions, nodes) = inside(&old, contract.region);
    let regions_known = regions.iter().map(|region| (region.number(), RefKind::Region));
    let mut known: HashMap<u64, RefKind> =
        regions_known.chain(nodes.iter().map(|node| (node.number(), RefKind::Node))).collect();
    known.insert(of.number(), RefKind::Contract);
    let mut lowering = Lowering::new(program, refs, &tree, Policy::Match(known.clone())).with_places();
    lowering.collect_body(&body);
    lowering.reuse = reuse(&old);
    lowering.reuse.nodes.retain(|_, (node, _)| known.contains_key(&node.number()));
    lowering.reuse.contracts.insert((syntax.kind, Arc::clone(&syntax.message)), (of, contract.region));
    let ((), places) = lower(text, mistakes, program, refs, lowering, |lowering| {
        let mut body = Body::new(lowering, function, old.head().module);
        body.change(syntax.at, |function| {
            remove_region(function, &regions, &nodes)?;
            function.remove_contract(of)
        });
        body.bind_head();
        body.contract(syntax);
    })?;
    Ok(places)
}

/// A region with all regions and nodes in it, the outer ones first.
fn inside(function: &Function, region: RegionRef) -> (Vec<RegionRef>, Vec<NodeRef>) {
    let body = function.body();
    let (mut regions, mut nodes) = (vec![region], Vec::new());
    let mut next = 0;
    while let Some(region) = regions.get(next).copied() {
        next += 1;
        for node in body.nodes_in(region) {
            nodes.push(node);
            regions.extend(body.node(node).into_iter().flat_map(|node| node.regions()).copied());
        }
    }
    (regions, nodes)
}

/// Removes what [`inside`] found: nodes of inner regions, then these regions, then the nodes that own them.
fn remove_region(
    function: &mut FunctionMut<'_>,
    regions: &[RegionRef],
    nodes: &[NodeRef],
) -> Result<(), StructureError> {
    let mut nodes: HashSet<NodeRef> = nodes.iter().copied().collect();
    for region in regions.iter().rev() {
        let inner: Vec<NodeRef> = function.body().nodes_in(*region).collect();
        for node in inner.into_iter().rev().filter(|node| nodes.remove(node)) {
            function.remove_node(node)?;
        }
        function.remove_region(*region)?;
    }
    Ok(())
}

/// What lines added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inserted {
    /// The nodes that have a label, in the order of the text, each by its first label.
    pub labels: Vec<(String, NodeRef)>,
    /// Where the nodes stand.
    pub places: Places,
}

/// Inserts lines into a region.
pub fn insert_text<'t>(
    program: &mut Program,
    refs: &mut RefAllocator,
    at: InsertPlace,
    text: impl Into<Written<'t>>,
) -> Result<Inserted, Vec<TextError>> {
    insert(program, refs, at, text.into(), |parser| parser.lines())
}

/// Inserts a condition into a region, which yields it: `ge_s.i64 n, 0`.
pub fn insert_condition<'t>(
    program: &mut Program,
    refs: &mut RefAllocator,
    at: InsertPlace,
    text: impl Into<Written<'t>>,
) -> Result<Inserted, Vec<TextError>> {
    insert(program, refs, at, text.into(), |parser| parser.lone_condition())
}

/// Inserts a condition into a region, for an `if` that does nothing: `ge_s.i64 n, 0`.
pub fn insert_test<'t>(
    program: &mut Program,
    refs: &mut RefAllocator,
    at: InsertPlace,
    text: impl Into<Written<'t>>,
) -> Result<Inserted, Vec<TextError>> {
    insert(program, refs, at, text.into(), |parser| parser.lone_test())
}

fn insert(
    program: &mut Program,
    refs: &mut RefAllocator,
    at: InsertPlace,
    text: Written<'_>,
    parse: impl FnOnce(&mut Parser<'_>) -> BodySyntax,
) -> Result<Inserted, Vec<TextError>> {
    let InsertPlace { function, region, after } = at;
    let Some(found) = program.function(function).cloned() else { return Err(missing(function.into())) };
    if found.body().region(region).is_none() {
        return Err(missing(region.into()));
    }
    if let Some(after) = after
        && found.body().node(after).is_none_or(|node| node.region() != region)
    {
        return Err(missing(after.into()));
    }
    let mut parser = Parser::new(text);
    let syntax = parse(&mut parser);
    let (tree, mistakes) = (parser.tree, parser.mistakes);
    let mut lowering = Lowering::new(program, refs, &tree, Policy::Refuse).with_places();
    lowering.collect_body(&syntax);
    let (labels, places) = lower(text, mistakes, program, refs, lowering, |lowering| {
        let mut body = Body::new(lowering, function, found.head().module);
        body.scope = Scope::at(function, &found, region, after);
        drop(found);
        for var in &syntax.vars {
            body.variable(var);
            body.bind_variable(var);
        }
        body.insert(syntax.region, region, after);
        std::mem::take(&mut body.labelled)
    })?;
    Ok(Inserted { labels, places })
}

/// What a literal is given for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LiteralPlace<'e> {
    /// An input that takes a certain type.
    Takes(&'e Expected),
    /// One that the operator does not have: any type will do, it is the number of inputs that is wrong.
    Surplus,
    /// One of which nothing is known.
    Unknown,
}

/// Tells whether a text is written as a literal.
pub fn is_literal(text: &str) -> bool {
    parse_literal(&Program::new(), text, LiteralPlace::Unknown).is_some()
}

/// The constant that a text stands for as an input: `5`, `i64:5`, `true`, `"x"`; `None` if it is no literal.
///
/// Without a type of its own a literal takes the one that its place expects. The program has the names of types.
pub fn parse_literal(
    program: &Program,
    text: &str,
    place: LiteralPlace<'_>,
) -> Option<Result<Const, TextError>> {
    let mut parser = Parser::new(text);
    let typed = parser.is_punct(1, b':');
    let ty = if typed { Some(parser.source(parser.peek()).parse::<Scalar>().ok()?) } else { None };
    parser.at += if typed { 2 } else { 0 };
    let first = parser.peek();
    let malformed = first.kind == Kind::Bad
        && parser.source(first).starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '"'));
    let literal = parser.literal_ahead() && parser.ahead(1).kind == Kind::End;
    if !literal && !malformed {
        return None;
    }
    let literal = parser.literal();
    Some(match literal {
        Err(_) => Err(parser.mistakes),
        Ok(literal) => {
            typed_literal(program, &literal, ty.map(Type::from), place).map_err(|mistake| vec![mistake])
        }
    })
    .map(|read| read.map_err(|mistakes| first_of(text, mistakes)))
}

fn typed_literal(
    program: &Program,
    literal: &Literal,
    given: Option<Type>,
    place: LiteralPlace<'_>,
) -> Result<Const, Mistake> {
    let ty = match (given, place) {
        (Some(given), LiteralPlace::Surplus | LiteralPlace::Unknown) => given,
        (Some(given), LiteralPlace::Takes(expected)) if expected.accepts(&given) => given,
        (Some(given), LiteralPlace::Takes(expected)) => {
            let expected = match expected {
                Expected::Is(ty) => format!("`{}`", print_type_name(program, None, ty)),
                Expected::Address | Expected::Integer | Expected::Reference => expected.to_string(),
            };
            let message = format!("a literal of `{given}`: expected {expected}");
            return Err(Mistake::new(code::BAD_LITERAL, 0, message)
                .expected(format!("a value of {expected}"))
                .found(format!("`{given}`")));
        }
        (None, LiteralPlace::Takes(Expected::Is(ty))) => ty.clone(),
        (None, LiteralPlace::Takes(Expected::Address | Expected::Integer | Expected::Reference)) => Type::I32,
        (None, LiteralPlace::Surplus) => literal.natural_type(),
        (None, LiteralPlace::Unknown) => {
            let message = "no type is known for this literal";
            return Err(Mistake::new(code::LITERAL_WITHOUT_TYPE, 0, message)
                .expected("a literal with its type, like `i64:5`")
                .found(literal.describe()));
        }
    };
    literal.typed(&ty).map_err(|unfit| unfit.mistake(literal, &print_type_name(program, None, &ty), 0))
}

/// Reads an operator as one writes it for a new node: entities by name or ref, labels of the nodes around, for a loop
/// the parameters of its body, for a `match` the cases.
///
/// Variants without their enum are those of the only enum of the program that has all of them.
pub fn parse_operator<'t>(
    program: &Program,
    scope: OperatorScope,
    text: impl Into<Written<'t>>,
) -> Result<OperatorForm, TextError> {
    let OperatorScope { function, region, after } = scope;
    parse_alone(
        text,
        |parser| {
            let mut head = parser.head()?;
            let params = parser.bare_control(&mut head)?;
            Ok((head, params))
        },
        |(head, params)| {
            let Some(found) = program.function(function) else { return Err(unknown_ref(function.into(), 0)) };
            let seen = Scope::at(function, found, region, after);
            let module = Some(found.head().module);
            let given = HashMap::new();
            let names = BodyNames {
                program: ProgramNames { program, module },
                function,
                scope: &seen,
                given: &given,
                retired_below: 0,
            };
            let op = resolve_op(&head, cases_owner(program, &head).as_ref(), &names)?;
            let param = |param: &ParamSyntax| -> Resolved<RegionParam> {
                let at = param.name.as_ref().map_or(head.at, |name| name.at);
                let ty = param.ty.as_ref().ok_or_else(|| {
                    Mistake::new(code::TYPE_EXPECTED, at, "a parameter needs a type")
                        .expected("`:` and a type")
                })?;
                let name = param.name.as_ref().map(|segment| Arc::clone(&segment.name));
                Ok(RegionParam { name, ty: resolve_type(ty, &names)? })
            };
            Ok(OperatorForm { op, region_params: params.iter().map(param).collect::<Resolved<_>>()? })
        },
    )
}

/// The enum of the bare variants of a `match`, if just one has all of them.
fn cases_owner(program: &Program, head: &Head) -> Option<Type> {
    let AttrSyntax::Match(of) = &head.attr else { return None };
    let bare = |case: &CaseSyntax| match case {
        CaseSyntax::Variant(None, segment) => Some(Arc::clone(&segment.name)),
        CaseSyntax::Variant(Some(_), _) | CaseSyntax::Int(_) => None,
    };
    let names: Vec<Arc<str>> = of.cases.iter().filter_map(bare).collect();
    if names.is_empty() {
        return None;
    }
    let has = |def: &crate::entities::TypeDef, name: &str| {
        def.variants().iter().any(|variant| *variant.name == *name || variant.member.to_string() == name)
    };
    let mut found =
        program.types().filter(|(_, def)| names.iter().all(|name| has(def, name))).map(|(of, _)| of);
    match (found.next(), found.next()) {
        (Some(only), None) => Some(Type::Named(only)),
        (_, _) => None,
    }
}

#[cfg(test)]
#[path = "edit_tests.rs"]
mod tests;
