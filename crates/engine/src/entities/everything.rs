//! Entities and what programs are made of, as one graph.

use std::sync::Arc;

use lmlang_entities::props::PropValue;
use lmlang_entities::{Graph, Hop, Key, Label, Node, Page, RelationType, Way};

use crate::engine::Engine;
use crate::entities::part::{Part, Sort};
use crate::entities::programs::Programs;
use crate::entities::stored::Stored;
use crate::error::Error;

/// All that a handle of the engine may know of, at one moment. A label has either entities or parts of programs.
pub(crate) struct Everything<'a> {
    /// None to whoever is limited to some programs.
    entities: Option<&'a Stored>,
    programs: Programs<'a>,
}

impl<'a> Everything<'a> {
    pub(crate) fn new(engine: &'a Engine, stored: &'a Stored) -> Everything<'a> {
        let entities = engine.is_unlimited().then_some(stored);
        Everything { entities, programs: Programs::new(engine, stored) }
    }

    /// The next entities of all labels after a node.
    fn entities_after(&self, after: Option<&Node>) -> Result<Page<Arc<Node>>, Error> {
        let Some(entities) = self.entities else { return Ok(nothing()) };
        let mut page = entities.page(None, after)?;
        loop {
            let last = page.items.last().cloned();
            // Rows of before these labels were taken are left aside.
            page.items.retain(|node| Sort::of_node(node).is_none());
            if !page.items.is_empty() || !page.more {
                return Ok(page);
            }
            page = entities.page(None, last.as_deref())?;
        }
    }

    /// The next nodes of all labels after a node, in the order of labels: entities between the sorts of parts.
    fn all_after(&self, after: Option<&Node>) -> Result<Page<Arc<Node>>, Error> {
        if let Some(part) = after.and_then(Part::of_node) {
            let page = self.programs.page(part.sort(), Some(part))?;
            if !page.items.is_empty() {
                return Ok(Page { more: true, ..page });
            }
        }
        let label = |node: &Node| node.labels.first().map(|label| label.as_str().to_owned());
        let mut entities = self.entities_after(after)?;
        let after = after.and_then(label).unwrap_or_default();
        for sort in Sort::ALL.into_iter().filter(|sort| sort.name() > after.as_str()) {
            let before =
                entities.items.partition_point(|node| label(node).is_some_and(|of| *of < *sort.name()));
            if before > 0 {
                entities.items.truncate(before);
                return Ok(Page { more: true, ..entities });
            }
            let page = self.programs.page(sort, None)?;
            if !page.items.is_empty() {
                return Ok(Page { more: true, ..page });
            }
        }
        Ok(entities)
    }
}

impl Graph for Everything<'_> {
    type Error = Error;

    fn node(&self, label: &Label, key: &Key) -> Result<Option<Arc<Node>>, Error> {
        match (Sort::of_label(label), self.entities) {
            (Some(sort), _) => match Part::named(sort, key) {
                Some(part) => self.programs.node(part),
                None => Ok(None),
            },
            (None, Some(entities)) => entities.node(label, key),
            (None, None) => Ok(None),
        }
    }

    fn page(&self, label: Option<&Label>, after: Option<&Node>) -> Result<Page<Arc<Node>>, Error> {
        let Some(label) = label else { return self.all_after(after) };
        match (Sort::of_label(label), self.entities) {
            (Some(sort), _) => self.programs.page(sort, after.and_then(Part::of_node)),
            (None, Some(entities)) => entities.page(Some(label), after),
            (None, None) => Ok(nothing()),
        }
    }

    fn hops(
        &self,
        of: &Node,
        way: Way,
        types: &[RelationType],
        after: Option<&Hop>,
    ) -> Result<Page<Hop>, Error> {
        match (Part::of_node(of), self.entities) {
            (Some(part), _) => self.programs.hops(part, way, types, after),
            (None, Some(entities)) => entities.hops(of, way, types, after),
            (None, None) => Ok(nothing()),
        }
    }

    fn is_indexed(&self, label: &Label, prop: &str) -> bool {
        match (Sort::of_label(label), self.entities) {
            (Some(sort), _) => Programs::is_indexed(sort, prop),
            (None, Some(entities)) => entities.is_indexed(label, prop),
            (None, None) => false,
        }
    }

    fn equal(
        &self,
        label: &Label,
        props: &[(&str, PropValue)],
        after: Option<&Node>,
    ) -> Result<Option<Page<Arc<Node>>>, Error> {
        match (Sort::of_label(label), self.entities) {
            // All of them at once.
            (Some(sort), _) => Ok(Some(Page { items: self.programs.equal(sort, props)?, more: false })),
            (None, Some(entities)) => entities.equal(label, props, after),
            (None, None) => Ok(Some(nothing())),
        }
    }

    fn estimate_equal(&self, label: &Label, prop: &str, value: &PropValue) -> Result<Option<u64>, Error> {
        match (Sort::of_label(label), self.entities) {
            (None, Some(entities)) => entities.estimate_equal(label, prop, value),
            (Some(_), _) | (None, None) => Ok(None),
        }
    }

    fn estimate(&self, label: Option<&Label>) -> Result<u64, Error> {
        let stored = |label| self.entities.map_or(Ok(0), |entities| entities.estimate(label));
        match label {
            Some(label) => match Sort::of_label(label) {
                Some(sort) => self.programs.estimate(sort),
                None => stored(Some(label)),
            },
            None => Sort::ALL
                .into_iter()
                .try_fold(stored(None)?, |sum, sort| Ok(self.programs.estimate(sort)?.saturating_add(sum))),
        }
    }
}

fn nothing<T>() -> Page<T> {
    Page { items: Vec::new(), more: false }
}
