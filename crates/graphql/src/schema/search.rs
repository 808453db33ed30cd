//! Finding nodes.

use std::collections::HashSet;

use async_graphql::InputObject;
use lmlang_engine::ChangedNodes;
use lmlang_ir::ops::{Attr, Expected, Group, signature};
use lmlang_ir::text::LiteralPlace;
use lmlang_ir::{
    Const, FuncRef, ModuleRef, Node, NodeRef, Opcode as Op, Program, Scalar, Type, VarRef, Variant, text,
};
use lmlang_verify as verify;

use crate::error::{ApiError, Code, cut};
use crate::schema::connection::{Connection, PageRequest};
use crate::schema::failure::fail;
use crate::schema::function::Function;
use crate::schema::node::ComputeNode;
use crate::schema::ops::Opcode;
use crate::schema::scalars::ValueText;
use crate::schema::view::View;

/// Nodes that pass all the parts that are given.
#[derive(Clone, Debug, Default, InputObject)]
pub struct NodeFilter {
    /// With one of these operators.
    opcode: Option<Vec<Opcode>>,
    /// With an operator of this group: `memory`, `control`.
    op_group: Option<String>,
    /// With this text in the operator, in the name of something that it mentions, or in the node's name or doc, ignoring case.
    text: Option<String>,
    /// In this function, by ref or path.
    function: Option<String>,
    /// In a function of this module, by ref or path.
    module: Option<String>,
    /// With an output of this type.
    #[graphql(name = "type")]
    ty: Option<String>,
    /// A constant of this value: `i64:5` and `f64:-0.0` of that type, `5` of every type that has it. Floats are compared by
    /// their bits.
    constant: Option<ValueText>,
    /// Naming this function, by ref or path.
    uses_function: Option<String>,
    /// With a finding of this code.
    has_diagnostic: Option<String>,
    /// With an input without a source (or without one such).
    is_hole: Option<bool>,
    /// Made or changed by this author. What one side of a merge had changed is theirs who did it there; what both had
    /// changed is theirs who merged, too.
    author: Option<String>,
    /// Made or changed after this revision.
    changed_since: Option<String>,
}

struct Filter {
    opcodes: Option<HashSet<Op>>,
    group: Option<Group>,
    text: Option<String>,
    function: Option<FuncRef>,
    module: Option<ModuleRef>,
    ty: Option<Type>,
    constants: Option<Vec<Const>>,
    uses_function: Option<FuncRef>,
    has_diagnostic: Option<verify::Code>,
    is_hole: Option<bool>,
    changed: Option<HashSet<NodeRef>>,
}

/// The nodes that pass a filter, by function and ref; places are `f7.n12`.
pub(crate) async fn search(
    view: &View,
    filter: NodeFilter,
    page: PageRequest,
) -> Result<Connection<ComputeNode>, ApiError> {
    let filter = Filter::new(view, filter).await?;
    let view = view.clone();
    // A filter can visit the whole program: not on the runtime's threads.
    let found = tokio::task::spawn_blocking(move || filter.page(&view, &page));
    found.await.map_err(|_| fail(lmlang_engine::Error::Closed))?
}

impl Filter {
    async fn new(view: &View, given: NodeFilter) -> Result<Filter, ApiError> {
        let changed = match (&given.changed_since, &given.author) {
            (None, None) => None,
            (since, author) => Some(changed(view, since.as_deref(), author.as_deref()).await?),
        };
        Ok(Filter {
            opcodes: given.opcode.map(|opcodes| opcodes.into_iter().map(Op::from).collect()),
            group: given.op_group.map(group).transpose()?,
            text: given.text.map(|text| text.to_lowercase()),
            function: given.function.map(|function| view.function_named(&function)).transpose()?,
            module: given.module.map(|module| view.module_named(&module)).transpose()?,
            ty: given.ty.map(|given| named_type(view, &given)).transpose()?,
            constants: given.constant.map(|wanted| constants(view.program(), wanted)).transpose()?,
            uses_function: given.uses_function.map(|function| view.function_named(&function)).transpose()?,
            has_diagnostic: given.has_diagnostic.map(|given| code(&given)).transpose()?,
            is_hole: given.is_hole,
            changed,
        })
    }

    fn page(&self, view: &View, page: &PageRequest) -> Result<Connection<ComputeNode>, ApiError> {
        let after = page.after(place)?;
        let (mut items, mut total) = (Vec::new(), 0);
        for (of, function) in view.program().functions() {
            let skipped = self.function.is_some_and(|only| only != of)
                || self.module.is_some_and(|module| function.head().module != module);
            if skipped {
                continue;
            }
            let owner = Function::of(view, of, function.clone());
            for (node, _) in function.body().nodes().filter(|(node, record)| self.fits(&owner, *node, record))
            {
                total += 1;
                if Some((of, node)) > after && items.len() <= page.first {
                    items.push((format!("{of}.{node}"), ComputeNode::new(&owner, node)));
                }
            }
        }
        Ok(Connection::collect(page, total, items))
    }

    fn fits(&self, owner: &Function, of: NodeRef, node: &Node) -> bool {
        let op = node.op();
        let holds = |text: &str, part: &str| text.to_lowercase().contains(part);
        self.changed.as_ref().is_none_or(|changed| changed.contains(&of))
            && self.opcodes.as_ref().is_none_or(|opcodes| opcodes.contains(&op.code()))
            && self.group.as_ref().is_none_or(|group| op.spec().group == *group)
            && self.is_hole.is_none_or(|hole| node.inputs().iter().any(|source| source.is_none()) == hole)
            && self.uses_function.is_none_or(|function| *op.attr() == Attr::Function(function))
            && self.constants.as_ref().is_none_or(|wanted| match op.attr() {
                Attr::Const(value) => wanted.contains(value),
                _ => false,
            })
            && self.text.as_ref().is_none_or(|part| {
                holds(&text::print_op(op), part)
                    || names(owner, op).iter().any(|name| holds(name, part))
                    || node.name().is_some_and(|name| holds(name, part))
                    || node.doc().is_some_and(|doc| holds(doc, part))
            })
            && self.ty.as_ref().is_none_or(|ty| {
                let outputs =
                    signature::outputs(owner.view.program(), &owner.function, node).unwrap_or_default();
                outputs.contains(ty)
            })
            && self.has_diagnostic.as_ref().is_none_or(|code| {
                let found = owner.view.findings().of_entity(Some(owner.of), of.number());
                found.iter().any(|one| one.code == *code)
            })
    }
}

/// The names of what an operator mentions, which prints refs of it.
fn names(owner: &Function, op: &lmlang_ir::Op) -> Vec<String> {
    let (program, body) = (owner.view.program(), owner.function.body());
    let mut names = Vec::new();
    op.each_mention(&mut |of| match VarRef::try_from(of).ok().and_then(|of| body.variable(of)) {
        Some(variable) => names.extend(variable.name.as_ref().map(ToString::to_string)),
        None => names.push(program.path(of)),
    });
    let member = match op.attr() {
        Attr::Field(owner, member) => Some((*owner, *member)),
        Attr::Variant(variant) => match **variant {
            Variant::Member(owner, member) => Some((owner, member)),
            Variant::None(_) | Variant::Some(_) | Variant::Ok(_) | Variant::Err(_) => None,
        },
        _ => None,
    };
    let member = member.and_then(|(owner, member)| program.type_def(owner)?.member_name(member));
    names.extend(member.map(ToString::to_string));
    names
}

fn place(text: &str) -> Option<(FuncRef, NodeRef)> {
    let (function, node) = text.split_once('.')?;
    Some((function.parse().ok()?, node.parse().ok()?))
}

fn group(given: String) -> Result<Group, ApiError> {
    let found = Group::ALL.into_iter().find(|group| group.name() == given);
    found.ok_or_else(|| {
        let known = Group::ALL.map(Group::name);
        let message = format!("`{}` is no group: expected `{}`", cut(&given), known.join("`, `"));
        unknown("filter.opGroup", message, text::nearest(&given, known.into_iter()))
    })
}

fn named_type(view: &View, given: &str) -> Result<Type, ApiError> {
    text::parse_type(view.program(), None, given)
        .map_err(|error| unknown("filter.type", format!("`type`: {}", error.message), error.candidates))
}

fn code(given: &str) -> Result<verify::Code, ApiError> {
    given.parse().map_err(|error: verify::UnknownCode| {
        let known = verify::Code::ALL.iter().map(|code| code.name());
        let near = text::nearest(&given.to_ascii_uppercase(), known);
        unknown("filter.hasDiagnostic", error.to_string(), near)
    })
}

/// The error for a word that means nothing where it stands, with those that come near.
fn unknown(argument: &str, message: String, candidates: Vec<String>) -> ApiError {
    let error = ApiError::new(Code::BadRequest, message);
    match candidates.is_empty() {
        true => error.at(argument),
        false => error.data(serde_json::json!({ "candidates": candidates })).at(argument),
    }
}

/// The constants that a text, number or boolean stands for: one of each type that has such a literal.
fn constants(program: &Program, given: ValueText) -> Result<Vec<Const>, ApiError> {
    let wrong = |message: String| Err(ApiError::new(Code::BadRequest, message).at("filter.constant"));
    let literal = match given.0 {
        async_graphql::Value::String(literal) => literal,
        async_graphql::Value::Number(number) => number.to_string(),
        async_graphql::Value::Boolean(value) => value.to_string(),
        _ => {
            return wrong("`constant` must be a value in the text form, a number or a boolean".to_owned());
        }
    };
    let types = Scalar::ALL.map(Type::from).into_iter().chain([Type::Unit, Type::String, Type::Bytes]);
    let read =
        |ty: Type| text::parse_literal(program, &literal, LiteralPlace::Takes(&Expected::Is(ty)))?.ok();
    let found: Vec<Const> = types.filter_map(read).collect();
    if found.is_empty() {
        let examples = "`5`, `i64:5`, `f64:-0.0`, `true`, `\"text\"`";
        return wrong(format!(
            "`constant`: `{}` is no literal of any type: expected {examples}",
            cut(&literal)
        ));
    }
    Ok(found)
}

/// The nodes that revisions after `since`, or by an author, made or changed.
async fn changed(
    view: &View,
    since: Option<&str>,
    author: Option<&str>,
) -> Result<HashSet<NodeRef>, ApiError> {
    let since = match since {
        Some(since) => view.engine().revision(view.open(), Some(since)).await.map_err(fail)?.entry.number,
        None => 0,
    };
    let what = ChangedNodes {
        place: view.stored_place(),
        newest: view.newest_entry(),
        since,
        author: author.map(str::to_owned),
    };
    let mut found = view.engine().changed_nodes(view.open(), &what).await.map_err(fail)?;
    if what.author.is_none() && !view.is_stored() {
        found.extend(tried(view).await?);
    }
    Ok(found)
}

/// The nodes that a dry run has made or changed.
async fn tried(view: &View) -> Result<Vec<NodeRef>, ApiError> {
    let Some(&parent) = view.revision().entry.parents.first() else { return Ok(Vec::new()) };
    let Some(base) = view.engine().state(view.open(), parent).await.map_err(fail)? else {
        return Ok(Vec::new());
    };
    let diff = lmlang_history::diff(base.checked.program(), view.program());
    let changed = diff.functions.iter().flat_map(|function| function.added.iter().chain(&function.modified));
    Ok(changed.filter_map(|of| NodeRef::try_from(*of).ok()).collect())
}
