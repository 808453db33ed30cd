//! Which changes are taken: what both sides made alike, what collides, and what goes with what is left.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use lmlang_ir::{FuncRef, NodeRef, Program, Ref, RegionRef};

use super::change::Change;
use super::deeds::Deeds;
use super::{Error, Resolution, Side, rests};
use crate::edit::{Edit, FunctionEdit};
use crate::footprint::{Collision, Gap, Touch};
use crate::rest::Rest;

/// One change of each side that cannot both be taken, by position.
#[derive(Clone, Debug)]
pub(super) struct Clash {
    pub(super) changes: [usize; 2],
    pub(super) over: Collision,
}

/// The changes of both sides, looked up by what they touch.
pub(super) struct Sides<'a> {
    base: &'a Program,
    programs: [&'a Program; 2],
    changes: [&'a [Change]; 2],
    rests: [&'a [Rest]; 2],
    writers: [HashMap<&'a Touch, Vec<usize>>; 2],
    /// Who reads or leans on what, within a side.
    leaners: [HashMap<&'a Touch, Vec<usize>>; 2],
    groups: [HashMap<Ref, Vec<usize>>; 2],
    /// For each change the one of the other side that is the same.
    twins: [Vec<Option<usize>>; 2],
}

impl<'a> Sides<'a> {
    pub(super) fn of(
        base: &'a Program,
        programs: [&'a Program; 2],
        changes: [&'a [Change]; 2],
        rests: [&'a [Rest]; 2],
    ) -> Sides<'a> {
        let by_touch = |list: &'a [Change], touches: &dyn Fn(&'a Change) -> Vec<&'a Touch>| {
            let mut map: HashMap<&'a Touch, Vec<usize>> = HashMap::new();
            for (at, change) in list.iter().enumerate() {
                touches(change).into_iter().for_each(|touch| map.entry(touch).or_default().push(at));
            }
            map
        };
        let groups = |list: &[Change]| {
            let mut map: HashMap<Ref, Vec<usize>> = HashMap::new();
            for (at, change) in list.iter().enumerate() {
                change.groups.iter().for_each(|of| map.entry(*of).or_default().push(at));
            }
            map
        };
        let writers = changes.map(|list| by_touch(list, &|change| change.print.writes.iter().collect()));
        Sides {
            base,
            programs,
            changes,
            rests,
            twins: twins(changes, &writers),
            writers,
            leaners: changes.map(|list| by_touch(list, &|change| change.depends_on().collect())),
            groups: changes.map(groups),
        }
    }

    /// The change of the other side that is the same.
    pub(super) fn twin(&self, side: Side, at: usize) -> Option<usize> {
        self.twins[side.index()][at]
    }

    /// The state of a side.
    pub(super) fn program(&self, side: Side) -> &'a Program {
        self.programs[side.index()]
    }

    /// The changes that are taken of one side alone, by position.
    pub(super) fn alone(&self, side: Side, left: &Left) -> impl Iterator<Item = (usize, &'a Change)> {
        let alike = move |at| self.twin(side, at).is_some_and(|twin| left.is_taken(side.other(), twin));
        let list = self.changes[side.index()].iter().enumerate();
        list.filter(move |(at, _)| left.is_taken(side, *at) && !alike(*at))
    }

    /// Where changes of the two sides collide, in order.
    pub(super) fn clashes(&self) -> Vec<Clash> {
        let mut found: BTreeSet<(Collision, [usize; 2])> = BTreeSet::new();
        let mut meet = |ours: usize, theirs: usize, over: Collision| {
            if self.twins[0][ours].is_some() || self.twins[1][theirs].is_some() {
                return;
            }
            let [x, y] = [&self.changes[0][ours].edit, &self.changes[1][theirs].edit];
            // What both bring back as a whole collides as a whole: its name and its parts go with it.
            let whole = x.adds() && y.adds() && x.subject() == y.subject();
            let over = if whole { Collision::Touch(Touch::Existence(x.subject())) } else { over };
            found.insert((over, [ours, theirs]));
        };
        for (ours, change) in self.changes[0].iter().enumerate() {
            for touch in &change.print.writes {
                for theirs in self.writers[1].get(touch).into_iter().flatten() {
                    if !touch.is_shared() {
                        meet(ours, *theirs, Collision::Touch(touch.clone()));
                    }
                }
            }
            for touch in &change.print.reads {
                for theirs in self.writers[1].get(touch).into_iter().flatten() {
                    meet(ours, *theirs, Collision::Touch(touch.clone()));
                }
            }
        }
        for (theirs, change) in self.changes[1].iter().enumerate() {
            for touch in &change.print.reads {
                for ours in self.writers[0].get(touch).into_iter().flatten() {
                    meet(*ours, theirs, Collision::Touch(touch.clone()));
                }
            }
        }
        // Two that collide anyway cannot both be there.
        let known: HashSet<[usize; 2]> = found.iter().map(|(_, changes)| *changes).collect();
        let shared = self.shared_gaps().into_iter().map(|(gap, lists)| {
            let [ours, theirs] = &lists;
            let ends = self.ends(gap, [ours, theirs]);
            (gap, lists, ends)
        });
        let amid = self.amid().into_iter().map(|(gap, lists)| (gap, lists, None));
        for (gap, [ours, theirs], ends) in shared.chain(amid) {
            let deeds = |side: usize, list: Vec<usize>| -> Vec<(usize, Deeds)> {
                let alone = list.into_iter().filter(|at| self.twins[side][*at].is_none());
                alone.map(|at| (at, self.deeds(side, at))).collect()
            };
            let (ours, theirs) = (deeds(0, ours), deeds(1, theirs));
            for ((x, x_deeds), (y, y_deeds)) in ours.iter().flat_map(|x| theirs.iter().map(move |y| (x, y))) {
                let whole = ends.is_some_and(|[ours, theirs]| *x == ours || *y == theirs);
                if !known.contains(&[*x, *y]) && (whole || x_deeds.disturb(y_deeds)) {
                    found.insert((Collision::Gap(gap), [*x, *y]));
                }
            }
        }
        let is_alike = |side, at| self.twin(side, at).is_some();
        for (of, pair) in rests::met(self.base, self.changes, self.rests, is_alike) {
            if !known.contains(&pair) {
                found.insert((Collision::Rest(of), pair));
            }
        }
        found.into_iter().map(|(over, changes)| Clash { changes, over }).collect()
    }

    /// The gaps that both sides put something into or take something from.
    fn shared_gaps(&self) -> Vec<(Gap, [Vec<usize>; 2])> {
        let mut gaps: BTreeMap<Gap, [Vec<usize>; 2]> = BTreeMap::new();
        for side in [0, 1] {
            for (at, change) in self.changes[side].iter().enumerate() {
                for gap in &change.gaps {
                    let known = &mut gaps.entry(*gap).or_default()[side];
                    if known.last() != Some(&at) {
                        known.push(at);
                    }
                }
            }
        }
        gaps.into_iter().filter(|(_, [ours, theirs])| !ours.is_empty() && !theirs.is_empty()).collect()
    }

    /// What one side puts between two nodes that the other one took away, with what that put in the place of these: nobody
    /// said where among this it stands.
    fn amid(&self) -> Vec<(Gap, [Vec<usize>; 2])> {
        let mut found = Vec::new();
        for side in [Side::Ours, Side::Theirs] {
            let (own, other) = (side.index(), side.other().index());
            let gone: HashSet<NodeRef> = self.changes[own].iter().filter_map(Change::gone).collect();
            if gone.is_empty() {
                continue;
            }
            let mut put: HashMap<Gap, Vec<usize>> = HashMap::new();
            for (at, change) in self.changes[own].iter().enumerate() {
                if let Some((_, gap)) = change.placed().filter(|_| self.twins[own][at].is_none()) {
                    put.entry(gap).or_default().push(at);
                }
            }
            let mut between: BTreeMap<Gap, Vec<usize>> = BTreeMap::new();
            let mut starts: HashMap<NodeRef, Option<NodeRef>> = HashMap::new();
            for (at, change) in self.changes[other].iter().enumerate() {
                let Some((_, Gap { region, after: Some(before) })) = change.placed() else { continue };
                let function = change.edit.function().and_then(|function| self.base.function(function));
                let Some(body) = function.map(|function| function.body()) else { continue };
                let is_between =
                    gone.contains(&before) && body.next(before).is_some_and(|next| gone.contains(&next));
                if !is_between || self.twins[other][at].is_some() {
                    continue;
                }
                // What is put in the place of nodes that went stands where the first of them stood.
                let (mut passed, mut node) = (Vec::new(), Some(before));
                let after = loop {
                    match node.filter(|node| gone.contains(node)) {
                        None => break node,
                        Some(one) => match starts.get(&one) {
                            Some(known) => break *known,
                            None => {
                                passed.push(one);
                                node = body.previous(one);
                            }
                        },
                    }
                };
                starts.extend(passed.into_iter().map(|one| (one, after)));
                between.entry(Gap { region, after }).or_default().push(at);
            }
            for (gap, others) in between {
                if let Some(own) = put.remove(&gap) {
                    found.push((gap, if side == Side::Ours { [own, others] } else { [others, own] }));
                }
            }
        }
        found
    }

    /// The last that each side has put into a gap, if all that stands there is of one side: one is taken as a whole, so that
    /// all of each collides with the end of the other.
    fn ends(&self, gap: Gap, lists: [&[usize]; 2]) -> Option<[usize; 2]> {
        let function = self.changes[0][*lists[0].first()?].edit.function()?;
        let fills = |program: &&Program| fills(self.base, program, function, gap.region);
        if gap.after.is_some() || !self.programs.iter().all(fills) {
            return None;
        }
        let is_put = |side: usize, at: usize| {
            self.twins[side][at].is_none() && self.changes[side][at].placed().is_some_and(|(_, of)| of == gap)
        };
        let last = |side: usize| lists[side].iter().copied().rfind(|at| is_put(side, *at));
        Some([last(0)?, last(1)?])
    }

    /// Whether a change makes something that only others can make anything of.
    fn serves(&self, side: Side, at: usize) -> bool {
        let Edit::Within { edit, .. } = &self.changes[side.index()][at].edit else { return false };
        matches!(edit, FunctionEdit::AddVariable { .. })
            || matches!(edit, FunctionEdit::InsertNode { .. }) && self.deeds(side.index(), at).is_silent()
    }

    /// What others can observe of a node that a change puts somewhere.
    fn deeds(&self, side: usize, at: usize) -> Deeds {
        let change = &self.changes[side][at];
        let function = change.edit.function().and_then(|function| self.programs[side].function(function));
        let placed = change.placed().zip(function);
        placed.map_or_else(Deeds::default, |((node, _), function)| Deeds::of(function.body(), node))
    }
}

/// Whether all that stands in a region is a side's, in the place of what stood there or up to an end where nothing stood.
pub(super) fn fills(base: &Program, side: &Program, function: FuncRef, region: RegionRef) -> bool {
    let body = |program| Program::function(program, function).map(|function| function.body());
    let (Some(before), Some(now)) = (body(base), body(side)) else { return false };
    now.nodes_in(region).all(|node| before.node(node).is_none())
        && (before.nodes_in(region).next().is_some() || now.terminator(region).is_some())
}

/// Pairs changes of the two sides that are the same, and mean the same: a parameter is told by its position, and so are a
/// capture and the field that a value is given to, which is another one where one side alone has moved it.
fn twins(changes: [&[Change]; 2], writers: &[HashMap<&Touch, Vec<usize>>; 2]) -> [Vec<Option<usize>>; 2] {
    let moved = |change: &Change, touch: &Touch| {
        let [ours, theirs] = writers.each_ref().map(|writers| writers.contains_key(touch));
        let by_position =
            matches!(touch, Touch::Param(..) | Touch::Capture(..)) || change.gives_fields(touch);
        by_position && ours != theirs
    };
    let mut theirs: HashMap<Ref, Vec<usize>> = HashMap::new();
    for (at, change) in changes[1].iter().enumerate() {
        theirs.entry(change.edit.subject()).or_default().push(at);
    }
    let mut twins = changes.map(|list| vec![None; list.len()]);
    for (at, change) in changes[0].iter().enumerate() {
        let candidates = theirs.get(&change.edit.subject()).into_iter().flatten();
        let same = candidates.copied().find(|other| changes[1][*other].edit == change.edit);
        let is_another = || change.print.reads.iter().any(|touch| moved(change, touch));
        if let Some(other) = same.filter(|_| !is_another()) {
            twins[0][at] = Some(other);
            twins[1][other] = Some(at);
        }
    }
    twins
}

/// Which changes are left so far; all others are taken.
#[derive(Clone, Debug)]
pub(super) struct Left {
    left: [Vec<bool>; 2],
    /// What a resolution has taken where it collides.
    kept: [BTreeSet<usize>; 2],
}

impl Left {
    pub(super) fn nothing(changes: [&[Change]; 2]) -> Left {
        Left { left: changes.map(|list| vec![false; list.len()]), kept: [BTreeSet::new(), BTreeSet::new()] }
    }

    pub(super) fn is_taken(&self, side: Side, at: usize) -> bool {
        !self.left[side.index()][at]
    }

    /// Tells whether a resolution has taken a change where it collides.
    pub(super) fn is_kept(&self, side: Side, at: usize) -> bool {
        self.kept[side.index()].contains(&at)
    }

    /// Takes all of one side and nothing of the other. Gives whether it was otherwise.
    pub(super) fn take_all(&mut self, side: Side) -> bool {
        let fill = |list: &mut Vec<bool>, with: bool| {
            let other = list.contains(&!with);
            list.fill(with);
            other
        };
        let (own, other) = (side.index(), side.other().index());
        fill(&mut self.left[own], false) | fill(&mut self.left[other], true)
    }

    /// Leaves changes, all that cannot be without them, and what was made for these alone.
    pub(super) fn leave(&mut self, sides: &Sides<'_>, changes: impl IntoIterator<Item = (Side, usize)>) {
        let mut open: Vec<(Side, usize)> = Vec::new();
        for (side, at) in changes {
            self.drop(side, at, &mut open);
        }
        while !open.is_empty() {
            for (side, touch) in self.leave_open(sides, &mut open) {
                self.drop_idle(sides, side, touch, &mut open);
            }
        }
    }

    /// Leaves what cannot be without changes that are left. Gives what all of these had used.
    fn leave_open<'s>(
        &mut self,
        sides: &Sides<'s>,
        open: &mut Vec<(Side, usize)>,
    ) -> BTreeSet<(Side, &'s Touch)> {
        let mut used = BTreeSet::new();
        while let Some((side, at)) = open.pop() {
            let (own, other) = (side.index(), side.other());
            let change = &sides.changes[own][at];
            let together = change.groups.iter().filter_map(|group| sides.groups[own].get(group));
            let leaners = change.print.writes.iter().filter_map(|touch| sides.leaners[own].get(touch));
            together.chain(leaners).flatten().for_each(|one| self.drop(side, *one, open));
            used.extend(change.depends_on().map(|touch| (side, touch)));
            self.restore(sides, side, at, open);
            // What the other side had left here stays left: then the base comes back.
            for touch in &change.print.writes {
                let lists = [&sides.writers, &sides.leaners].map(|map| map[other.index()].get(touch));
                for one in lists.into_iter().flatten().flatten() {
                    if !self.is_taken(other, *one) {
                        self.restore(sides, other, *one, open);
                    }
                }
            }
        }
        used
    }

    /// Leaves what makes an entity that nobody is left to use.
    fn drop_idle(&mut self, sides: &Sides<'_>, side: Side, touch: &Touch, open: &mut Vec<(Side, usize)>) {
        let Touch::Existence(_) = touch else { return };
        let (own, changes) = (side.index(), sides.changes[side.index()]);
        for maker in sides.writers[own].get(touch).into_iter().flatten() {
            let is_open = self.is_taken(side, *maker) && !self.is_kept(side, *maker);
            if !is_open || sides.twin(side, *maker).is_some() || !sides.serves(side, *maker) {
                continue;
            }
            // Its own regions are no users.
            let is_part = |at: usize| !changes[at].groups.is_disjoint(&changes[*maker].groups);
            let mut users = sides.leaners[own].get(touch).into_iter().flatten();
            if !users.any(|at| self.is_taken(side, *at) && !is_part(*at)) {
                self.drop(side, *maker, open);
            }
        }
    }

    /// What stands in the base comes back where a change is left, unless the other side has put something else there:
    /// then what takes away what it needs is left too.
    fn restore(&mut self, sides: &Sides<'_>, side: Side, at: usize, open: &mut Vec<(Side, usize)>) {
        let own = side.index();
        if self.is_overwritten(sides, side, at) {
            return;
        }
        for touch in &sides.changes[own][at].needs {
            for other in sides.writers[own].get(touch).into_iter().flatten() {
                self.drop(side, *other, open);
            }
        }
    }

    fn drop(&mut self, side: Side, at: usize, open: &mut Vec<(Side, usize)>) {
        let slot = &mut self.left[side.index()][at];
        if !std::mem::replace(slot, true) {
            open.push((side, at));
        }
    }

    /// Tells whether the other side has put something else where a change of this side is left.
    fn is_overwritten(&self, sides: &Sides<'_>, side: Side, at: usize) -> bool {
        let (own, other) = (side.index(), side.other());
        let change = &sides.changes[own][at];
        let gone = Touch::Existence(change.edit.subject());
        let writers = &sides.writers[other.index()];
        // A name that another entity takes leaves this one with the one that it had.
        let own_touches = |touch: &&Touch| !touch.is_shared() && !matches!(touch, Touch::Name(..));
        let touches = change.print.writes.iter().filter(own_touches).chain([&gone]);
        touches.filter_map(|touch| writers.get(touch)).flatten().any(|one| self.is_taken(other, *one))
    }
}

/// The entity that a collision is about: what a resolution names.
pub(super) fn entity(clash: &Clash, changes: [&[Change]; 2]) -> Ref {
    let [ours, theirs] = [0, 1].map(|side| changes[side][clash.changes[side]].edit.subject());
    match &clash.over {
        Collision::Touch(touch) => touch.of().unwrap_or_else(|| ours.min(theirs)),
        Collision::Gap(gap) => gap.after.map_or(gap.region.into(), Ref::from),
        Collision::Rest(of) => *of,
    }
}

/// Leaves what resolutions say where changes collide. Gives the entities of those that name nothing of the kind.
pub(super) fn resolve(
    sides: &Sides<'_>,
    clashes: &[Clash],
    resolutions: &[Resolution],
    left: &mut Left,
) -> Result<Vec<Ref>, Error> {
    let mut open: BTreeMap<Ref, Vec<&Clash>> = BTreeMap::new();
    for clash in clashes {
        open.entry(entity(clash, sides.changes)).or_default().push(clash);
    }
    let (mut leave, mut idle) = (Vec::new(), Vec::new());
    let mut known = BTreeSet::new();
    for Resolution { of, take } in resolutions {
        if !known.insert(*of) {
            return Err(Error::ResolvedTwice(*of));
        }
        let Some(clashes) = open.get(of) else {
            idle.push(*of);
            continue;
        };
        let lost = take.other();
        leave.extend(clashes.iter().map(|clash| (lost, clash.changes[lost.index()])));
        left.kept[take.index()].extend(clashes.iter().map(|clash| clash.changes[take.index()]));
    }
    left.leave(sides, leave);
    Ok(idle)
}
