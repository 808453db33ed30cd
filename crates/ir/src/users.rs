//! Who refers to what inside of a function: the derived reverse index of its nodes.
//!
//! Kept by the number of the entity in a trie of the same shape as that of the nodes, so that a change of a node and of
//! its uses touch few places. Most entities have one or two users; a constant may have fifty thousand, which is where
//! a flat list would be copied as a whole with each change.
//!
//! It is made when somebody asks first, or changes a function that others have too, and kept in step from then on. Whoever
//! takes a function in, opens a program or verifies all of it does not ask; whoever runs or shows a function does.

use std::ops::Range;
use std::sync::OnceLock;

use imbl::OrdSet;
use smallvec::{SmallVec, smallvec};

use crate::node::{Node, Use};
use crate::refs::NodeRef;
use crate::trie::{Entries, Trie};

/// Longer lists are kept as a tree. One that is not longer is copied sooner than a tree is descended, and made in one go.
const FEW: usize = 64;

/// The users of one entity as packed [`Use`]s, sorted.
///
/// Never empty, and a tree exactly when there are more than [`FEW`]: one form for one content.
#[derive(Clone, Debug, PartialEq)]
enum List {
    Few(SmallVec<[u64; 2]>),
    Many(OrdSet<u64>),
}

impl List {
    /// The list of some users, ascending; a node that names something several times is one of them.
    fn of_sorted(users: &[u64]) -> List {
        if !users.is_sorted_by(|one, next| one < next) {
            let mut users = users.to_vec();
            users.dedup();
            return List::of_sorted(&users);
        }
        match users.len() > FEW {
            true => List::Many(users.iter().copied().collect()),
            false => List::Few(SmallVec::from_slice(users)),
        }
    }

    fn insert(&mut self, one: u64) {
        match self {
            List::Few(list) => {
                let Err(at) = list.binary_search(&one) else { return };
                if list.len() < FEW {
                    list.insert(at, one);
                } else {
                    let mut tree: OrdSet<u64> = list.iter().copied().collect();
                    tree.insert(one);
                    *self = List::Many(tree);
                }
            }
            List::Many(tree) => {
                tree.insert(one);
            }
        }
    }

    fn remove(&mut self, one: u64) {
        match self {
            List::Few(list) => list.retain(|other| *other != one),
            List::Many(tree) => {
                tree.remove(&one);
                if tree.len() <= FEW {
                    *self = List::Few(tree.iter().copied().collect());
                }
            }
        }
    }

    fn contains(&self, one: u64) -> bool {
        match self {
            List::Few(list) => list.binary_search(&one).is_ok(),
            List::Many(tree) => tree.contains(&one),
        }
    }

    fn is_only(&self, one: u64) -> bool {
        match self {
            List::Few(list) => list[..] == [one],
            List::Many(_) => false,
        }
    }

    /// The users in order.
    fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        let (few, many) = match self {
            List::Few(list) => (&list[..], None),
            List::Many(tree) => (&[][..], Some(tree.iter())),
        };
        few.iter().chain(many.into_iter().flatten()).copied()
    }
}

/// Who refers to what; nothing until somebody asks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Users(OnceLock<Lists>);

impl Users {
    /// The lists, which are made of the nodes when they are asked for first. Costs the size of the function then.
    pub(crate) fn among(&self, nodes: &Trie<Node>) -> &Lists {
        self.0.get_or_init(|| Lists::of_nodes(nodes))
    }

    /// Enters a use where there are lists; nothing when it is in them.
    pub(crate) fn insert(&mut self, of: u64, one: Use) {
        if let Some(lists) = self.0.get_mut() {
            lists.insert(of, one);
        }
    }

    /// Takes a use out where there are lists; nothing when it is not in them.
    pub(crate) fn remove(&mut self, of: u64, one: Use) {
        if let Some(lists) = self.0.get_mut() {
            lists.remove(of, one);
        }
    }
}

/// For each entity that nodes of a function refer to, which do and how.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lists(Trie<List>);

impl Lists {
    /// Those of all nodes of a function.
    fn of_nodes(nodes: &Trie<Node>) -> Lists {
        let (mut uses, mut numbers) = (Uses::default(), 0..0);
        nodes.iter().for_each(|(number, node)| {
            if numbers.is_empty() {
                numbers.start = number;
            }
            numbers.end = number + 1;
            uses.enter(NodeRef::of_key(number), node);
        });
        uses.lists(numbers)
    }

    fn insert(&mut self, of: u64, one: Use) {
        let one = one.pack();
        match self.0.get(of) {
            Some(list) if list.contains(one) => {}
            Some(_) => {
                if let Some(list) = self.0.get_mut(of) {
                    list.insert(one);
                }
            }
            None => drop(self.0.insert(of, List::Few(smallvec![one]))),
        }
    }

    fn remove(&mut self, of: u64, one: Use) {
        let one = one.pack();
        match self.0.get(of) {
            Some(list) if list.is_only(one) => drop(self.0.remove(of)),
            Some(list) if list.contains(one) => {
                if let Some(list) = self.0.get_mut(of) {
                    list.remove(one);
                }
            }
            Some(_) | None => {}
        }
    }

    /// The uses of an entity, by node and input.
    pub(crate) fn of(&self, number: u64) -> impl Iterator<Item = Use> + '_ {
        self.0.get(number).into_iter().flat_map(List::iter).map(Use::unpack)
    }

    /// All uses, by the number of the entity.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, Use)> + '_ {
        self.0.iter().flat_map(|(number, list)| list.iter().map(move |one| (number, Use::unpack(one))))
    }
}

/// All uses of a function, to be made lists in one go: each is of an entity, by a packed [`Use`].
///
/// They come by node and input, so that each list has only to be gathered. Most are of something that has its number
/// among those of the nodes: these are counted and laid out list by list, without being compared.
#[derive(Debug, Default)]
struct Uses(Vec<(u64, u64)>);

impl Uses {
    /// Enters what a node refers to. It comes after all others.
    fn enter(&mut self, of: NodeRef, node: &Node) {
        for (input, source) in (0u16..).zip(node.inputs().iter()) {
            if let Some(source) = source {
                self.push(source.number(), Use { node: of, input: Some(input) });
            }
        }
        let named = Use { node: of, input: None };
        node.op().each_mention(&mut |mentioned| self.push(mentioned.number, named));
    }

    fn push(&mut self, of: u64, one: Use) {
        self.0.push((of, one.pack()));
    }

    /// Makes the lists. `near` are the numbers of the nodes, about.
    fn lists(self, near: Range<u64>) -> Lists {
        let Uses(mut far) = self;
        // Numbers far apart, as edits leave them, would count in vain.
        let dense = near.end.saturating_sub(near.start) <= 8 * far.len() as u64;
        let near = if dense { near } else { 0..0 };
        // For each number among those of the nodes where its list ends.
        let mut ends = vec![0u32; (near.end - near.start) as usize + 1];
        let slot = |of: u64| near.contains(&of).then(|| (of - near.start) as usize);
        for at in far.iter().filter_map(|(of, _)| slot(*of)) {
            ends[at + 1] += 1;
        }
        let mut total = 0;
        for end in &mut ends {
            total += *end;
            *end = total;
        }
        // Each begins where the one before ends, and has its own end when it is full.
        let mut all = vec![0; total as usize];
        far.retain(|(of, one)| {
            let Some(at) = slot(*of) else { return true };
            all[ends[at] as usize] = *one;
            ends[at] += 1;
            false
        });
        far.sort_unstable();
        let mut far = far.chunk_by(|(one, _), (next, _)| one == next).peekable();
        let gathered = |uses: &[(u64, u64)]| {
            let users: SmallVec<[u64; 8]> = uses.iter().map(|(_, one)| *one).collect();
            List::of_sorted(&users)
        };
        let mut made = Entries::default();
        while let Some(uses) = far.next_if(|uses| uses[0].0 < near.start) {
            made.push(uses[0].0, gathered(uses));
        }
        let mut start = 0;
        for (of, end) in near.zip(&ends) {
            let users = &all[start..*end as usize];
            if !users.is_empty() {
                made.push(of, List::of_sorted(users));
            }
            start = *end as usize;
        }
        far.for_each(|uses| made.push(uses[0].0, gathered(uses)));
        Lists(made.take())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::{Lists, Uses};
    use crate::node::Use;
    use crate::refs::NodeRef;
    use crate::tests::config;

    fn one(packed: u64) -> Use {
        let node = NodeRef::new(1 + packed / 3).unwrap();
        Use { node, input: [None, Some(0), Some(7)][packed as usize % 3] }
    }

    proptest! {
        #![proptest_config(config())]

        #[test]
        fn behaves_like_a_set_of_pairs(
            steps in vec((0u64..3, 0u64..150, prop::bool::weighted(0.8)), 0..500),
        ) {
            let (mut users, mut model) = (Lists::default(), BTreeSet::new());
            for (of, packed, insert) in steps {
                if insert {
                    users.insert(of, one(packed));
                    model.insert((of, one(packed).pack()));
                } else {
                    users.remove(of, one(packed));
                    model.remove(&(of, one(packed).pack()));
                }
            }
            let expected = |of: u64| model.range((of, 0)..=(of, u64::MAX)).map(|(_, one)| Use::unpack(*one));
            for of in 0..4 {
                let all: Vec<Use> = expected(of).collect();
                prop_assert_eq!(users.of(of).collect::<Vec<_>>(), &all[..]);
            }
            prop_assert_eq!(users.iter().map(|(of, one)| (of, one.pack())).collect::<BTreeSet<_>>(), model.clone());
            let mut fresh = Lists::default();
            model.iter().for_each(|(of, packed)| fresh.insert(*of, Use::unpack(*packed)));
            prop_assert_eq!(format!("{users:?}"), format!("{fresh:?}"), "the form depends on the history");
            for near in [0..4, 1..3, 2..9, 0..60_000, 50..60] {
                let mut uses = Uses::default();
                let mut sorted: Vec<(u64, u64)> = model.iter().chain(&model).copied().collect();
                sorted.sort_by_key(|(_, packed)| *packed);
                sorted.into_iter().for_each(|(of, packed)| uses.push(of, Use::unpack(packed)));
                let whole = uses.lists(near);
                prop_assert_eq!(format!("{users:?}"), format!("{whole:?}"), "made in one go, the form is another");
            }
        }
    }
}
