//! Where nodes go: regions and anchors.

use lmlang_ir::{Body, FuncRef, NodeRef, RegionRef};

use super::error::{Done, EditError, code};
use super::inputs::At;
use super::session::Session;
use super::sources::Scope;

/// What is put into a place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    /// Something that others may follow.
    Inner,
    /// A terminator.
    Terminator,
}

impl Session<'_> {
    /// The place that a caller means. `home` is the function when nothing in `at` tells.
    pub(super) fn spot(
        &self,
        at: &At,
        home: Option<FuncRef>,
        what: What,
        moved: Option<NodeRef>,
    ) -> Done<Scope> {
        let region = at.region.as_ref().map(|text| self.region(&["region"], text)).transpose()?;
        let given =
            at.function.as_ref().map(|text| self.entity_of::<FuncRef>(&["function"], text)).transpose()?;
        // In which anchors that are names alone are looked for.
        let told = [at.before.as_deref(), at.after.as_deref()].into_iter().flatten();
        let told =
            region.map(|r| r.0).or(given).or(home).or_else(|| told.filter_map(|of| self.home_of(of)).next());
        let before = at.before.as_ref().map(|text| self.node(&["before"], text, told)).transpose()?;
        let after = at.after.as_ref().map(|text| self.node(&["after"], text, told)).transpose()?;
        let functions = [region.map(|r| r.0), before.map(|b| b.0), after.map(|a| a.0), given, home];
        let Some(function) = functions.into_iter().flatten().next() else {
            let message = "a function, a region or an anchor says where it goes";
            return Err(EditError::new(code::BAD_ANCHOR, &["region"], message)
                .expected(["function", "region", "before", "after"].map(str::to_owned))
                .into());
        };
        if functions.into_iter().flatten().any(|other| other != function) {
            let message = "region, anchors and function are not of one function";
            return Err(EditError::new(code::BAD_ANCHOR, &["region"], message).into());
        }
        let body = self.body(function)?;
        let standing = |node: NodeRef| body.node(node).map(|node| node.region());
        let anchored = before.or(after).and_then(|(_, anchor)| standing(anchor));
        let region = match region.map(|(_, region)| region).or(anchored).or(body.root()) {
            Some(region) => region,
            None => {
                let message = format!("`{function}` is imported and has no body");
                return Err(EditError::new(code::BAD_ANCHOR, &["function"], message).into());
            }
        };
        for (field, anchor) in [("before", before), ("after", after)] {
            if let Some((_, anchor)) = anchor
                && standing(anchor) != Some(region)
            {
                let message = format!("the anchor `{anchor}` does not stand in `{region}`");
                let error = EditError::new(code::BAD_ANCHOR, &[field], message).found(anchor.to_string());
                return Err(error.expected(standing(anchor).map(|region| region.to_string())).into());
            }
            if let (Some((_, anchor)), Some(moved)) = (anchor, moved)
                && anchor == moved
            {
                let message = format!("`{moved}` cannot stand beside itself");
                return Err(EditError::new(code::BAD_ANCHOR, &[field], message)
                    .found(moved.to_string())
                    .into());
            }
        }
        let terminator = body.terminator(region).filter(|node| Some(*node) != moved);
        if let (What::Terminator, Some(terminator)) = (what, terminator) {
            return Err(terminator_exists(region, terminator).into());
        }
        let (before, after) = (before.map(|b| b.1), after.map(|a| a.1));
        let after = match (before, after) {
            (Some(before), Some(after)) => {
                if skipping(body, after, moved) != Some(before) {
                    let message = format!("`{before}` does not follow `{after}`");
                    let error = EditError::new(code::BAD_ANCHOR, &["before"], message);
                    return Err(error.found(before.to_string()).into());
                }
                Some(after)
            }
            (Some(before), None) => body.previous(before),
            (None, Some(after)) => Some(after),
            (None, None) => match terminator {
                Some(terminator) => body.previous(terminator),
                None => body.last_in(region),
            },
        };
        let after = if after.is_some() && after == moved {
            moved.and_then(|node| body.previous(node))
        } else {
            after
        };
        if let (Some(anchor), Some(terminator)) = (after, terminator)
            && anchor == terminator
        {
            return Err(after_terminator(terminator).into());
        }
        Ok(Scope { function, region, after })
    }
}

/// The node after another one, a node that is about to move not counted.
fn skipping(body: &Body, after: NodeRef, moved: Option<NodeRef>) -> Option<NodeRef> {
    match body.next(after) {
        Some(next) if Some(next) == moved => body.next(next),
        other => other,
    }
}

fn terminator_exists(region: RegionRef, terminator: NodeRef) -> EditError {
    let message = format!("`{region}` has the terminator `{terminator}`");
    EditError::new(code::TERMINATOR_EXISTS, &["op"], message).found(terminator.to_string())
}

/// The mistake of putting something after a terminator.
pub(super) fn after_terminator(terminator: NodeRef) -> EditError {
    let message = format!("nothing can stand after the terminator `{terminator}`");
    EditError::new(code::AFTER_TERMINATOR, &["after"], message).found(terminator.to_string())
}
