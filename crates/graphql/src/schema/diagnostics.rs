//! Findings of the verifier, and the pages about their codes.

use async_graphql::{Context, Enum, Object, SimpleObject};
use lmlang_ir::{FuncRef, Program, Ref};
use lmlang_verify as verify;

use crate::direct::Direct;
use crate::error::ApiError;
use crate::schema::connection::{Connection, Listed, PageRequest};
use crate::schema::cursor::number;
use crate::schema::fixes::Fix;
use crate::schema::view::{View, nullable};
use crate::transport::budget;

/// How much a finding weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
pub enum Severity {
    /// No stored state has one: what brings it is refused.
    Error,
    /// Accepted; `incomplete` ones stop a run and an export.
    Warning,
}

/// A finding about a program.
#[derive(Clone)]
pub struct Diagnostic {
    view: View,
    found: verify::Diagnostic,
}

impl Direct for Diagnostic {}

impl Listed for Diagnostic {
    const CONNECTION: &'static str = "DiagnosticConnection";
    const EDGE: &'static str = "DiagnosticEdge";
}

/// The place and the facts of a finding.
#[derive(Clone, Debug, Default, SimpleObject)]
pub struct DiagnosticDetails {
    /// The function.
    pub function: Option<String>,
    /// The region.
    pub region: Option<String>,
    /// The node, or the entity that it hangs on.
    pub node: Option<String>,
    /// The producer of an edge.
    pub source_node: Option<String>,
    /// The consumer of an edge.
    pub target_node: Option<String>,
    /// The input port, or the position of a parameter or field.
    pub port: Option<i32>,
    /// The edge, from its producer to its sink.
    pub edge_path: Option<Vec<String>>,
    /// What the place takes.
    pub expected_type: Option<String>,
    /// What was found there.
    pub actual_type: Option<String>,
    /// The line of the text form.
    pub text: Option<String>,
}

impl Diagnostic {
    /// A finding in a stored state.
    pub fn new(view: &View, found: verify::Diagnostic) -> Diagnostic {
        Diagnostic { view: view.clone(), found }
    }

    pub(crate) fn facts(program: &Program, found: &verify::Diagnostic) -> DiagnosticDetails {
        let node = found.at.node();
        let input = |index: u16| {
            let function = program.function(found.at.function?)?;
            function.body().node(node?)?.inputs().get(usize::from(index))
        };
        let source = found.at.port.and_then(input);
        let sink = node.zip(found.at.port).map(|(node, port)| format!("{node}.in{port}"));
        let entity: Ref = found.at.entity;
        DiagnosticDetails {
            function: found.at.function.map(|of| of.to_string()),
            region: found.at.region.map(|of| of.to_string()),
            node: Some(entity.to_string()),
            source_node: source.map(|source| source.to_string()),
            target_node: source.and(node).map(|node| node.to_string()),
            port: found.at.port.map(i32::from),
            edge_path: source.zip(sink).map(|(source, sink)| vec![source.to_string(), sink]),
            expected_type: found.expected_text(program),
            actual_type: found.found_text(program),
            text: node.map(|of| lmlang_ir::text::print_node(program, of, lmlang_ir::text::Detail::Summary)),
        }
    }
}

/// A finding about a program: what is the matter, and where.
#[Object]
impl Diagnostic {
    /// The stable code; `diagnosticCode` tells about it.
    async fn code(&self) -> &str {
        self.found.code.name()
    }

    /// How much it weighs.
    async fn severity(&self) -> Severity {
        match self.found.severity() {
            verify::Severity::Error => Severity::Error,
            verify::Severity::Warning => Severity::Warning,
        }
    }

    /// Whether a run stops there and an export is refused.
    async fn incomplete(&self) -> bool {
        self.found.is_incomplete()
    }

    /// The problem, in words.
    async fn message(&self, context: &Context<'_>) -> String {
        budget::whole(context, self.found.message(self.view.program()))
    }

    /// The place and the facts.
    async fn details(&self, context: &Context<'_>) -> Option<async_graphql::Result<DiagnosticDetails>> {
        let facts = Diagnostic::facts(self.view.program(), &self.found);
        let bytes = facts.text.as_ref().map_or(0, String::len) as u64;
        nullable(budget::count(context, bytes).map(|()| facts))
    }

    /// Repairs that could be applied, the likeliest first; each takes this finding away. Empty where nothing follows from
    /// the program. Worked out when selected.
    async fn fixes(&self, context: &Context<'_>) -> Option<async_graphql::Result<Vec<Fix>>> {
        nullable(budget::open(context).map(|()| {
            let program = self.view.program();
            verify::fixes(program, &self.found).into_iter().map(|fix| Fix::new(program, fix)).collect()
        }))
    }
}

/// Of which findings a list consists.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Within {
    /// Of all.
    Program,
    /// Of those in a function.
    Function(FuncRef),
    /// Of those at an entity of a function.
    Entity(FuncRef, u64),
}

impl Within {
    fn holds(self, key: verify::Key) -> bool {
        match self {
            Within::Program => true,
            Within::Function(of) => key.owner == of.number(),
            Within::Entity(of, entity) => key.owner == of.number() && key.entity == entity,
        }
    }

    /// The findings in their order, those after a place only.
    fn from(
        self,
        findings: &verify::Findings,
        after: Option<verify::Key>,
    ) -> impl Iterator<Item = (verify::Key, &verify::Diagnostic)> {
        // Refs are numbers from 1 on, so that this is before everything in there.
        let before = |of: FuncRef, entity: u64| verify::Key {
            owner: of.number(),
            entity: entity.saturating_sub(1),
            position: u32::MAX,
        };
        let last = after.or(match self {
            Within::Program => None,
            Within::Function(of) => Some(before(of, 1)),
            Within::Entity(of, entity) => Some(before(of, entity)),
        });
        let rest: Box<dyn Iterator<Item = (verify::Key, &verify::Diagnostic)>> = match last {
            Some(last) => Box::new(findings.iter_after(last)),
            None => Box::new(findings.iter()),
        };
        rest.take_while(move |(key, _)| self.holds(*key))
    }
}

/// A page of findings; places are those in their order: `7.12.0`.
pub(crate) fn page(
    view: &View,
    request: &PageRequest,
    within: Within,
    severity: Option<Severity>,
) -> Result<Connection<Diagnostic>, ApiError> {
    let after = request.after(|place| key(place).filter(|key| within.holds(*key)))?;
    let fits = move |one: &verify::Diagnostic| match (severity, one.severity()) {
        (None, _)
        | (Some(Severity::Error), verify::Severity::Error)
        | (Some(Severity::Warning), verify::Severity::Warning) => true,
        (Some(Severity::Error | Severity::Warning), _) => false,
    };
    let counted = view.clone();
    let total = move || within.from(counted.findings(), None).filter(|(_, one)| fits(one)).count();
    let items = within.from(view.findings(), after).filter(|(_, one)| fits(one)).map(|(key, one)| {
        let place = format!("{}.{}.{}", key.owner, key.entity, key.position);
        (place, Diagnostic::new(view, one.clone()))
    });
    Ok(Connection::counted_by(request, total, items))
}

fn key(place: &str) -> Option<verify::Key> {
    let mut parts = place.split('.');
    let key = verify::Key {
        owner: number(parts.next()?)?,
        entity: number(parts.next()?)?,
        position: number(parts.next()?)?.try_into().ok()?,
    };
    parts.next().is_none().then_some(key)
}
