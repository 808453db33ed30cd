//! Sources of values as callers write them: `n12`, `n12.1`, `f7.0`, `g5.0`, a name in scope, `x#n12`, `f::x`, `$x`,
//! `$x.1`, `$x.body.0`; or a literal, for which a constant is made.

use lmlang_ir::ops::Expected;
use lmlang_ir::text::{LiteralPlace, in_scope, is_literal, output_names, parse_literal};
use lmlang_ir::{
    Body, FuncRef, FunctionHead, NodeContent, NodeRef, Op, Ref, RefKind, RegionRef, Source, Type,
    node::MAX_PORTS,
};

use super::error::{Done, EditError, code};
use super::session::{Session, dollar, shortened, wrong_kind};

/// What a source looks like.
const FORMS: [&str; 6] = ["n12", "n12.1", "f7.0", "a name in scope", "$x", "a literal"];

/// From where a name is looked up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scope {
    pub(super) function: FuncRef,
    /// The innermost region.
    pub(super) region: RegionRef,
    /// The node after which the use stands; `None`: at the front.
    pub(super) after: Option<NodeRef>,
}

/// What a caller gives for an input.
#[derive(Clone, Copy, Debug)]
pub(super) enum Given<'t> {
    Source(Source),
    /// A literal, with the value that is called so.
    Literal {
        text: &'t str,
        named: Option<Source>,
    },
}

impl Session<'_> {
    /// What a text stands for. What is in quotes is a name too, where no text goes.
    pub(super) fn given<'t>(&self, field: &[&str], scope: Scope, text: &'t str) -> Done<Given<'t>> {
        // Refs and `$names` are most of what is given, and no literal looks like one.
        let plain = text.starts_with('$') || text.parse::<Ref>().is_ok();
        if plain || !is_literal(text) {
            return self.source(field, scope, text).map(Given::Source);
        }
        let quoted = text.trim().starts_with('"');
        let named = if quoted { self.source(field, scope, text).ok() } else { None };
        Ok(Given::Literal { text, named })
    }

    /// The source of an input that stands in a place of its own; for a literal a constant is made at a place.
    pub(super) fn input(
        &mut self,
        field: &[&str],
        place: Scope,
        given: Given<'_>,
        wanted: LiteralPlace<'_>,
    ) -> Done<Source> {
        let (text, named) = match given {
            Given::Source(source) => return Ok(source),
            Given::Literal { text, named } => (text, named),
        };
        if let Some(named) = named.filter(|_| wanted != LiteralPlace::Takes(&Expected::Is(Type::String))) {
            return Ok(named);
        }
        let value = match parse_literal(&self.program, text, wanted) {
            Some(Ok(value)) => value,
            None => return self.source(field, place, text),
            Some(Err(error)) => {
                let told = EditError::new(error.code, field, error.message).expected(error.expected);
                return Err(told.found(shortened(text)).into());
            }
        };
        let Scope { function, region, after } = place;
        let node: NodeRef = self.allocate_in(function, NodeRef::new)?;
        let content = NodeContent::new(Op::constant(value), []);
        self.open(function)?.insert_node(node, region, after, content)?;
        Ok(Source::Node(node, 0))
    }

    /// The source that a text names.
    pub(super) fn source(&self, field: &[&str], scope: Scope, text: &str) -> Done<Source> {
        let text = text.trim();
        if let Some((name, rest)) = dollar(text) {
            let of = self.named(field, name)?;
            return match rest {
                None => output(field, of, 0),
                Some(rest) if rest.starts_with(|c: char| c.is_ascii_digit()) => {
                    output(field, of, port(field, text, rest)?)
                }
                Some(rest) => {
                    let (role, index) = rest.split_once('.').unwrap_or((rest, "0"));
                    let region = self.entity(field, &format!("${name}.{role}"))?;
                    output(field, region, port(field, text, index)?)
                }
            };
        }
        let (head, index) = match text.rsplit_once('.') {
            Some((head, index)) if index.starts_with(|c: char| c.is_ascii_digit()) => {
                (head, port(field, text, index)?)
            }
            Some(_) | None => (text, 0),
        };
        let given = head.rsplit_once('#').map_or(head, |(_, of)| of);
        if let Ok(of) = given.parse::<Ref>() {
            return match self.program.place(of) {
                Some(_) => output(field, of, index),
                None => Err(self.unknown(field, of).into()),
            };
        }
        if head.contains("::") && !head.starts_with('"') {
            return output(field, self.entity(field, head)?, index);
        }
        let name = head.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(head);
        if name.is_empty() {
            let message = "a source is a ref, a name in scope, a `$name` or a literal";
            let error = EditError::new(code::BAD_SOURCE, field, message).found(shortened(text));
            return Err(error.expected(FORMS.map(str::to_owned)).into());
        }
        let function = self.function(field, scope.function)?;
        match by_name(function.body(), function.head(), scope, name, index).as_slice() {
            [one] => Ok(*one),
            [] => {
                let known = visible(function.body(), function.head(), scope);
                let candidates = in_scope(name, known.iter().map(String::as_str));
                let message = format!("nothing in scope is called `{}`", shortened(name));
                let error = EditError::new(code::UNKNOWN_NAME, field, message).found(shortened(text));
                Err(error.candidates(candidates).into())
            }
            several => {
                let message = format!("`{name}` stands for more than one value");
                let candidates = several.iter().map(|source| format!("{name}#{source}"));
                let error = EditError::new(code::AMBIGUOUS_NAME, field, message).found(name);
                Err(error.candidates(candidates).into())
            }
        }
    }
}

fn port(field: &[&str], text: &str, digits: &str) -> Done<u16> {
    let port = digits.parse::<u16>().ok().filter(|port| usize::from(*port) < MAX_PORTS);
    port.ok_or_else(|| {
        let message = format!("`{}` has no number of a port at its end", shortened(text));
        let error = EditError::new(code::BAD_SOURCE, field, message).found(shortened(text));
        error.expected([format!("a port below {MAX_PORTS}")]).into()
    })
}

/// An output or a parameter of an entity.
fn output(field: &[&str], of: Ref, port: u16) -> Done<Source> {
    let kinds = [RefKind::Node, RefKind::Region, RefKind::Function];
    let source = match of.kind {
        RefKind::Node => NodeRef::try_from(of).map(|node| Source::Node(node, port)),
        RefKind::Region => RegionRef::try_from(of).map(|region| Source::RegionParam(region, port)),
        RefKind::Function => FuncRef::try_from(of).map(|function| Source::Param(function, port)),
        RefKind::Module | RefKind::Type | RefKind::Member | RefKind::Variable | RefKind::Contract => {
            return Err(wrong_kind(field, of, &kinds).into());
        }
    };
    source.map_err(|_| wrong_kind(field, of, &kinds).into())
}

/// What a name stands for: the innermost region that has it decides. There, as in the text form, the last node before the
/// place hides those before it, a node hides a parameter, and what stands after the place counts when nothing else is.
fn by_name(body: &Body, head: &FunctionHead, scope: Scope, name: &str, port: u16) -> Vec<Source> {
    let mut before = scope.after;
    for region in body.chain(scope.region) {
        let called = |node: NodeRef| {
            let at = output_names(body.node(node)?.name()?).position(|of| of == name)?;
            // As in the text form, only the first name may have a port behind it.
            match (at, port) {
                (0, port) => Some((node, port)),
                (at, 0) => Some((node, at as u16)),
                (_, _) => None,
            }
        };
        let named: Vec<(NodeRef, u16)> = body.nodes_in(region).filter_map(called).collect();
        let stands = |node: NodeRef| Some(node) == before || before.is_some_and(|at| body.precedes(node, at));
        if let Some((node, port)) = named.iter().rfind(|(node, _)| stands(*node)) {
            return vec![Source::Node(*node, *port)];
        }
        let params = body.region(region).into_iter().flat_map(|record| record.params.iter().enumerate());
        let named_params = params.filter(|(_, param)| param.name.as_deref() == Some(name));
        let mut found: Vec<Source> =
            named_params.map(|(index, _)| Source::RegionParam(region, index as u16)).collect();
        if found.is_empty() {
            found.extend(named.into_iter().map(|(node, port)| Source::Node(node, port)));
        }
        if !found.is_empty() {
            return found;
        }
        before = owner(body, region);
    }
    let params = head.params.iter().enumerate().filter(|(_, param)| *param.name == *name);
    params.map(|(index, _)| Source::Param(scope.function, index as u16)).collect()
}

/// The names of all values in scope.
fn visible(body: &Body, head: &FunctionHead, scope: Scope) -> Vec<String> {
    let mut names: Vec<String> = head.params.iter().map(|param| param.name.to_string()).collect();
    for region in body.chain(scope.region) {
        for label in body.nodes_in(region).filter_map(|node| body.node(node)?.name()) {
            names.extend(output_names(label).filter(|name| *name != "_").map(str::to_owned));
        }
        let params = body.region(region).into_iter().flat_map(|region| &region.params);
        names.extend(params.filter_map(|param| param.name.as_ref().map(ToString::to_string)));
    }
    names
}

/// The node that a region belongs to.
fn owner(body: &Body, region: RegionRef) -> Option<NodeRef> {
    match body.region(region)?.owner {
        lmlang_ir::RegionOwner::Node(node) => Some(node),
        lmlang_ir::RegionOwner::Function | lmlang_ir::RegionOwner::Contract(_) => None,
    }
}
