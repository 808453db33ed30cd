//! Who refers to what inside of a function: the derived reverse index of its nodes.
//!
//! Kept by the number of the entity in a trie of the same shape as that of the nodes, so that a change of a node and of
//! its uses touch few places. Most entities have one or two users; a constant may have fifty thousand, which is where
//! a flat list would be copied as a whole with each change.

use std::ops::Range;

use imbl::OrdSet;
use smallvec::{SmallVec, smallvec};

use crate::node::Use;
use crate::trie::Trie;

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

/// For each entity that nodes of a function refer to, which do and how.
#[derive(Clone, Debug, Default)]
pub(crate) struct Users(Trie<List>);

impl Users {
    /// Enters a use; nothing when it is there.
    pub(crate) fn insert(&mut self, of: u64, one: Use) {
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

    /// Takes a use out; nothing when it is not there.
    pub(crate) fn remove(&mut self, of: u64, one: Use) {
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

/// All uses of a function, to be made an index in one go.
///
/// They come by node and input, so that each list has only to be gathered. Most are of something that has its number
/// among those of the nodes: these are counted and laid out list by list, without being compared.
#[derive(Clone, Debug, Default)]
pub(crate) struct Uses {
    all: Vec<(u64, u64)>,
    /// For each number among those of the nodes where its list ends.
    ends: Vec<u32>,
    lists: Vec<u64>,
    made: Vec<(u64, List)>,
}

impl Uses {
    /// Enters a use, which comes after all others.
    pub(crate) fn push(&mut self, of: u64, one: Use) {
        self.all.push((of, one.pack()));
    }

    /// Makes the index, and is empty again. `near` are the numbers of the nodes, about.
    pub(crate) fn take(&mut self, near: Range<u64>) -> Users {
        // Numbers far apart, as edits leave them, would count in vain.
        let dense = near.end.saturating_sub(near.start) <= 8 * self.all.len() as u64;
        let near = if dense { near } else { 0..0 };
        self.ends.resize((near.end - near.start) as usize + 1, 0);
        let slot = |of: u64| near.contains(&of).then(|| (of - near.start) as usize);
        for at in self.all.iter().filter_map(|(of, _)| slot(*of)) {
            self.ends[at + 1] += 1;
        }
        let mut total = 0;
        for end in &mut self.ends {
            total += *end;
            *end = total;
        }
        // Each begins where the one before ends, and has its own end when it is full.
        self.lists.resize(total as usize, 0);
        let (ends, lists) = (&mut self.ends, &mut self.lists);
        self.all.retain(|(of, one)| {
            let Some(at) = slot(*of) else { return true };
            lists[ends[at] as usize] = *one;
            ends[at] += 1;
            false
        });
        self.all.sort_unstable();
        let mut far = self.all.chunk_by(|(one, _), (next, _)| one == next).peekable();
        let list = |far: &[(u64, u64)]| {
            let users: SmallVec<[u64; 8]> = far.iter().map(|(_, one)| *one).collect();
            (far[0].0, List::of_sorted(&users))
        };
        self.made.extend(std::iter::from_fn(|| far.next_if(|list| list[0].0 < near.start)).map(list));
        let mut start = 0;
        for (of, end) in near.zip(&self.ends) {
            let users = &self.lists[start..*end as usize];
            if !users.is_empty() {
                self.made.push((of, List::of_sorted(users)));
            }
            start = *end as usize;
        }
        self.made.extend(far.map(list));
        self.all.clear();
        self.ends.clear();
        self.lists.clear();
        Users(Trie::of_ascending(&mut self.made))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::{Users, Uses};
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
            let (mut users, mut model) = (Users::default(), BTreeSet::new());
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
            let mut fresh = Users::default();
            model.iter().for_each(|(of, packed)| fresh.insert(*of, Use::unpack(*packed)));
            prop_assert_eq!(format!("{users:?}"), format!("{fresh:?}"), "the form depends on the history");
            let mut uses = Uses::default();
            for near in [0..4, 1..3, 2..9, 0..60_000, 50..60] {
                let mut sorted: Vec<(u64, u64)> = model.iter().chain(&model).copied().collect();
                sorted.sort_by_key(|(_, packed)| *packed);
                sorted.into_iter().for_each(|(of, packed)| uses.push(of, Use::unpack(packed)));
                let whole = uses.take(near);
                prop_assert_eq!(format!("{users:?}"), format!("{whole:?}"), "made in one go, the form is another");
            }
        }
    }
}
