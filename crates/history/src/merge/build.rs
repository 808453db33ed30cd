//! The merged state: the changes that were taken, applied to the base.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use lmlang_ir::{
    Body, FuncRef, MemberRef, ModuleRef, NodeRef, Program, Ref, RegionOwner, RegionRef, RegionRole, Shape,
    StructureError, TypeRef,
};

use super::change::Change;
use super::fields::{onto, with_arms};
use super::weave;
use crate::apply::apply;
use crate::edit::{Edit, FunctionEdit};
use crate::footprint::{Gap, arms};

/// What was taken of two sides.
pub(super) struct Taken<'a> {
    /// The changes taken of each side, those that both made alike with both.
    pub(super) of: [Vec<&'a Change>; 2],
    /// All of them, each once.
    pub(super) all: Vec<&'a Change>,
}

/// Applies what was taken of two sides to their base.
pub(super) fn build(
    base: &Program,
    sides: [&Program; 2],
    taken: &Taken<'_>,
) -> Result<Program, StructureError> {
    let mut state = base.clone();
    let added: HashSet<Ref> =
        taken.all.iter().filter(|one| one.edit.adds()).map(|one| one.edit.subject()).collect();
    let mut inside: BTreeMap<FuncRef, Vec<&Change>> = BTreeMap::new();
    let (mut adds, mut sets, mut last) = (Vec::new(), Vec::new(), Vec::new());
    for change in &taken.all {
        let edit = &change.edit;
        match edit {
            Edit::Within { function, .. } => inside.entry(*function).or_default().push(change),
            // Goes first what comes again as something else.
            Edit::RemoveType { .. } | Edit::RemoveStorage { .. } | Edit::RemoveFunction { .. }
                if added.contains(&edit.subject()) =>
            {
                apply(&mut state, edit)?;
            }
            Edit::RemoveModule { .. }
            | Edit::RemoveType { .. }
            | Edit::RemoveStorage { .. }
            | Edit::RemoveFunction { .. } => last.push(edit),
            Edit::AddModule { .. }
            | Edit::AddType { .. }
            | Edit::AddStorage { .. }
            | Edit::AddFunction { .. } => adds.push(edit),
            Edit::SetModule { .. } | Edit::SetType { .. } | Edit::SetStorage { .. } => sets.push(edit),
        }
    }
    adds.into_iter().try_for_each(|edit| apply(&mut state, edit))?;
    for edit in &sets {
        lay(edit, base, &mut state)?;
    }
    let types: BTreeSet<TypeRef> =
        sets.iter().filter_map(|edit| TypeRef::try_from(edit.subject()).ok()).collect();
    types.into_iter().try_for_each(|ty| arrange(base, sides, ty, &mut state))?;
    for (function, changes) in inside {
        let before = base.function(function).ok_or(StructureError::Missing(function.into()))?;
        let runs = [0, 1].map(|side| Runs::of(function, &taken.of[side]));
        let tree = Tree::of(before.body(), &changes, runs);
        tree.build(function, base, sides, &changes, &mut state)?;
    }
    // What is in a module goes before it does, and a module before the one around.
    last.sort_by_key(|edit| {
        let Edit::RemoveModule { module } = edit else { return 0 };
        usize::MAX - depth(base, *module)
    });
    last.into_iter().try_for_each(|edit| apply(&mut state, edit))?;
    Ok(state)
}

/// Changes the state as an edit changes the base.
fn lay(edit: &Edit, base: &Program, state: &mut Program) -> Result<(), StructureError> {
    let edit = onto(edit, base, state);
    apply(state, &edit)
}

/// How many modules stand around a module; a chain that does not end counts as deep as it was followed.
fn depth(program: &Program, module: ModuleRef) -> usize {
    let parent = |of: &ModuleRef| program.module(*of).and_then(|module| module.parent);
    std::iter::successors(Some(module), parent).take(1 << 10).count()
}

/// Puts fields or variants that came from both sides in an order that does not depend on the order of sides.
fn arrange(
    base: &Program,
    sides: [&Program; 2],
    ty: TypeRef,
    state: &mut Program,
) -> Result<(), StructureError> {
    let members = |program: &Program| -> Option<Vec<MemberRef>> {
        let def = program.type_def(ty)?;
        let fields = def.fields().iter().map(|one| one.member);
        Some(fields.chain(def.variants().iter().map(|one| one.member)).collect())
    };
    let (Some(old), Some(ours), Some(theirs)) = (members(base), members(sides[0]), members(sides[1])) else {
        return Ok(());
    };
    let (Some(order), Some(def)) = (weave::lists(&old, &ours, &theirs), state.type_def(ty)) else {
        return Ok(());
    };
    let ranks: HashMap<MemberRef, usize> = order.into_iter().zip(0..).collect();
    let rank = |member: MemberRef| ranks.get(&member).copied();
    let mut arranged = def.as_ref().clone();
    match &mut arranged.shape {
        Shape::Struct(fields) => fields.sort_by_key(|one| rank(one.member)),
        Shape::Enum(variants) => variants.sort_by_key(|one| rank(one.member)),
    }
    apply(state, &Edit::SetType { ty, content: Arc::new(arranged) })
}

/// What one side put into the gaps of one function, in order.
struct Runs(BTreeMap<Gap, Vec<NodeRef>>);

impl Runs {
    fn of(function: FuncRef, changes: &[&Change]) -> Runs {
        let mut runs: BTreeMap<Gap, Vec<NodeRef>> = BTreeMap::new();
        for change in changes.iter().filter(|change| change.edit.function() == Some(function)) {
            if let Some((node, gap)) = change.placed() {
                runs.entry(gap).or_default().push(node);
            }
        }
        Runs(runs)
    }
}

/// The tree of regions of a function, as it is to be.
struct Tree<'a> {
    before: &'a Body,
    /// Edits that put nodes somewhere.
    placed: HashMap<NodeRef, &'a FunctionEdit>,
    /// Regions that are new, with what they belong to.
    added: BTreeMap<RegionRef, &'a FunctionEdit>,
    gone: HashSet<NodeRef>,
    gaps: BTreeMap<Gap, Vec<NodeRef>>,
}

impl<'a> Tree<'a> {
    fn of(before: &'a Body, changes: &[&'a Change], [mut ours, mut theirs]: [Runs; 2]) -> Tree<'a> {
        let (mut placed, mut added, mut gone) = (HashMap::new(), BTreeMap::new(), HashSet::new());
        for change in changes {
            let Edit::Within { edit, .. } = &change.edit else { continue };
            if let Some((node, _)) = change.placed() {
                placed.insert(node, edit);
            }
            if let FunctionEdit::AddRegion { region, .. } = edit {
                added.insert(*region, edit);
            }
            if let FunctionEdit::RemoveNode { node } = edit {
                gone.insert(*node);
            }
        }
        let ends = |node: NodeRef| match placed.get(&node) {
            Some(FunctionEdit::InsertNode { content, .. }) => content.op.is_terminator(),
            Some(_) | None => before.node(node).is_some_and(|node| node.op().is_terminator()),
        };
        let all: BTreeSet<Gap> = ours.0.keys().chain(theirs.0.keys()).copied().collect();
        let mut gaps = BTreeMap::new();
        for gap in all {
            let (x, y) = (ours.0.remove(&gap).unwrap_or_default(), theirs.0.remove(&gap).unwrap_or_default());
            gaps.insert(gap, weave::runs(&x, &y, &ends));
        }
        Tree { before, placed, added, gone, gaps }
    }

    fn owner(&self, region: RegionRef) -> Option<RegionOwner> {
        match self.added.get(&region) {
            Some(FunctionEdit::AddRegion { content, .. }) => Some(content.owner),
            Some(_) | None => self.before.region(region).map(|region| region.owner),
        }
    }

    fn region_of(&self, node: NodeRef) -> Option<RegionRef> {
        match self.placed.get(&node) {
            Some(FunctionEdit::InsertNode { region, .. } | FunctionEdit::MoveNode { region, .. }) => {
                Some(*region)
            }
            Some(_) | None => self.before.node(node).map(|node| node.region()),
        }
    }

    /// How deep a region stands, known ones looked up.
    fn depth(&self, region: RegionRef, known: &mut HashMap<RegionRef, usize>) -> usize {
        let (mut chain, mut at) = (Vec::new(), Some(region));
        let limit = self.added.len() + self.before.counts().regions as usize;
        let mut depth = 0;
        while let Some(region) = at.filter(|_| chain.len() <= limit) {
            if let Some(below) = known.get(&region) {
                depth = *below + 1;
                break;
            }
            chain.push(region);
            at = match self.owner(region) {
                Some(RegionOwner::Node(node)) => self.region_of(node),
                Some(RegionOwner::Function | RegionOwner::Contract(_)) | None => None,
            };
        }
        for region in chain.into_iter().rev() {
            known.insert(region, depth);
            depth += 1;
        }
        known.get(&region).copied().unwrap_or_default()
    }

    /// What stands right before a gap when all is done.
    fn before_gap(&self, gap: Gap) -> Option<NodeRef> {
        let mut at = gap.after?;
        loop {
            if !self.gone.contains(&at) && !self.placed.contains_key(&at) {
                return Some(at);
            }
            let previous = self.before.previous(at);
            if let Some(run) = self.gaps.get(&Gap { region: gap.region, after: previous }) {
                return run.last().copied();
            }
            at = previous?;
        }
    }

    /// Carries out what was taken in one function: records, then what comes and moves, then contents, then what goes.
    fn build(
        &self,
        function: FuncRef,
        base: &Program,
        sides: [&Program; 2],
        changes: &[&Change],
        state: &mut Program,
    ) -> Result<(), StructureError> {
        let edits = || {
            changes.iter().filter_map(|change| {
                let Edit::Within { edit, .. } = &change.edit else { return None };
                Some((&change.edit, edit))
            })
        };
        for (edit, inner) in edits() {
            if matches!(
                inner,
                FunctionEdit::SetHead { .. }
                    | FunctionEdit::AddVariable { .. }
                    | FunctionEdit::SetVariable { .. }
                    | FunctionEdit::AddContract { .. }
                    | FunctionEdit::SetContract { .. }
            ) {
                lay(edit, base, state)?;
            }
        }
        self.place(function, state)?;
        let mut recased = BTreeSet::new();
        for (edit, inner) in edits() {
            if matches!(
                inner,
                FunctionEdit::SetRegion { .. }
                    | FunctionEdit::SetNode { .. }
                    | FunctionEdit::SetLabel { .. }
                    | FunctionEdit::SetInput { .. }
            ) {
                lay(edit, base, state)?;
            }
            if let FunctionEdit::SetNode { node, .. } = inner {
                recased.insert(*node);
            }
        }
        recased.into_iter().try_for_each(|node| self.recase(function, node, sides, state))?;
        self.remove(changes, state)?;
        for (edit, inner) in edits() {
            if matches!(inner, FunctionEdit::RemoveVariable { .. } | FunctionEdit::RemoveContract { .. }) {
                apply(state, edit)?;
            }
        }
        Ok(())
    }

    /// Adds regions and puts nodes into place, outer regions first, so that whatever a node is put into stands where it
    /// will stand.
    fn place(&self, function: FuncRef, state: &mut Program) -> Result<(), StructureError> {
        let mut known = HashMap::new();
        let regions: BTreeSet<RegionRef> =
            self.added.keys().copied().chain(self.gaps.keys().map(|gap| gap.region)).collect();
        let mut regions: Vec<(usize, RegionRef)> =
            regions.into_iter().map(|region| (self.depth(region, &mut known), region)).collect();
        regions.sort_unstable();
        for (_, region) in regions {
            if let Some(edit) = self.added.get(&region) {
                apply(state, &(*edit).clone().within(function))?;
            }
            let all = Gap { region, after: None }..;
            let mut gaps: Vec<(&Gap, &Vec<NodeRef>)> =
                self.gaps.range(all).take_while(|(gap, _)| gap.region == region).collect();
            gaps.sort_by_cached_key(|(gap, _)| gap.after.map(|after| self.before.standing(after)));
            for (gap, run) in gaps {
                let mut after = self.before_gap(*gap);
                for node in run {
                    let Some(edit) = self.placed.get(node) else { continue };
                    let edit = if let FunctionEdit::InsertNode { content, .. } = edit {
                        let content = content.clone();
                        FunctionEdit::InsertNode { node: *node, region, after, content }
                    } else {
                        FunctionEdit::MoveNode { node: *node, region, after }
                    };
                    apply(state, &edit.within(function))?;
                    after = Some(*node);
                }
            }
        }
        Ok(())
    }

    /// Puts cases that came from both sides in an order that does not depend on the order of sides, and gives regions the
    /// positions of their cases.
    fn recase(
        &self,
        function: FuncRef,
        node: NodeRef,
        sides: [&Program; 2],
        state: &mut Program,
    ) -> Result<(), StructureError> {
        let regions = |body: &Body| -> Option<Vec<RegionRef>> {
            let arms = arms(&body.node(node)?.content())?;
            Some(arms.into_iter().map(|(_, region)| region).collect())
        };
        // Where a side has no such node, nothing of it was taken.
        let of = |side: &Program| match side.function(function).filter(|one| one.body().node(node).is_some())
        {
            Some(found) => regions(found.body()),
            None => regions(self.before),
        };
        let there = state.function(function).and_then(|found| Some(found.body().node(node)?.content()));
        let order = regions(self.before)
            .zip(of(sides[0]).zip(of(sides[1])))
            .and_then(|(old, (ours, theirs))| weave::lists(&old, &ours, &theirs));
        let (Some(content), Some(order)) = (there, order) else { return Ok(()) };
        let Some(mut now) = arms(&content) else { return Ok(()) };
        let ranks: HashMap<RegionRef, usize> = order.into_iter().zip(0..).collect();
        now.sort_by_key(|(_, region)| ranks.get(region).copied());
        let content = with_arms(&content, now);
        let owned = content.regions.clone();
        let edit = FunctionEdit::SetNode { node, content: Box::new(content) };
        apply(state, &edit.within(function))?;
        for (index, region) in (0u16..).zip(owned) {
            let record = state.function(function).and_then(|found| found.body().region(region));
            let Some(mut content) = record.cloned() else { continue };
            if let RegionRole::Case(at) = content.role
                && at != index
            {
                content.role = RegionRole::Case(index);
                apply(state, &FunctionEdit::SetRegion { region, content }.within(function))?;
            }
        }
        Ok(())
    }

    /// Removes nodes and regions from the inside out.
    fn remove(&self, changes: &[&Change], state: &mut Program) -> Result<(), StructureError> {
        let (mut removals, mut known) = (Vec::new(), HashMap::new());
        for change in changes {
            let Edit::Within { edit, .. } = &change.edit else { continue };
            // The nodes of a region go before it does.
            if let FunctionEdit::RemoveRegion { region } = edit {
                removals.push((2 * self.depth(*region, &mut known), &change.edit));
            }
            if let FunctionEdit::RemoveNode { node } = edit {
                let around = self.region_of(*node).map_or(0, |region| self.depth(region, &mut known));
                removals.push((2 * around + 1, &change.edit));
            }
        }
        removals.sort_by_key(|(level, _)| std::cmp::Reverse(*level));
        removals.into_iter().try_for_each(|(_, edit)| apply(state, edit))
    }
}
