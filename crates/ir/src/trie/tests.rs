use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;

use crate::hash::{Content, Hash, Hasher};
use crate::tests::config;
use crate::trie::{Child, Entries, Part, Trie};

impl Content for u16 {
    fn hash_into(&self, hasher: &mut Hasher) {
        hasher.number(u64::from(*self));
    }
}

#[derive(Clone, Debug)]
enum Step {
    Insert(u64, u16),
    Remove(u64),
    Replace(u64, u16),
    /// Keeps the state of this moment, so that later writes meet shared parts.
    Keep,
    /// Asks for the hash, so that later writes have something to forget.
    Hash,
}

/// Keys that meet: dense, in distant clusters, and at the ends of the range.
fn key() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => 0u64..80,
        2 => (0u32..12, 0u64..20).prop_map(|(cluster, low)| (1 << (cluster * 5 + 4)) + low),
        1 => (0u64..20).prop_map(|low| u64::MAX - low),
        1 => any::<u64>(),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (key(), 0u16..4).prop_map(|(key, item)| Step::Insert(key, item)),
        4 => key().prop_map(Step::Remove),
        2 => (key(), 0u16..4).prop_map(|(key, item)| Step::Replace(key, item)),
        1 => Just(Step::Keep),
        1 => Just(Step::Hash),
    ]
}

type Model = BTreeMap<u64, u16>;

fn built(model: &Model) -> Trie<u16> {
    let mut trie = Trie::new();
    for (key, item) in model {
        trie.insert(*key, *item);
    }
    trie
}

/// Where every node stands: equal content must have an equal shape.
fn shape<T>(child: &Child<T>, out: &mut Vec<(u64, u32, u32)>) {
    match child {
        Child::Empty => {}
        Child::Leaf(leaf) => {
            assert_eq!(leaf.items.len(), leaf.mask.count_ones() as usize);
            assert_ne!(leaf.mask, 0, "an empty leaf");
            out.push((leaf.prefix, 0, u32::from(leaf.mask)));
        }
        Child::Inner(inner) => {
            let taken = inner.kids.iter().filter(|kid| !matches!(kid, Child::Empty)).count() as u32;
            assert!(taken >= 2, "an inner node with {taken} children");
            out.push((inner.prefix, inner.shift, taken));
            inner.kids.iter().for_each(|kid| shape(kid, out));
        }
    }
}

fn shape_of(trie: &Trie<u16>) -> Vec<(u64, u32, u32)> {
    let mut out = Vec::new();
    shape(&trie.root, &mut out);
    out
}

fn expected_changes(a: &Model, b: &Model) -> Vec<(u64, Option<u16>, Option<u16>)> {
    let keys: std::collections::BTreeSet<u64> = a.keys().chain(b.keys()).copied().collect();
    keys.into_iter()
        .map(|key| (key, a.get(&key).copied(), b.get(&key).copied()))
        .filter(|(_, before, after)| before != after)
        .collect()
}

fn changes(a: &Trie<u16>, b: &Trie<u16>) -> Vec<(u64, Option<u16>, Option<u16>)> {
    a.changes(b).into_iter().map(|(key, before, after)| (key, before.copied(), after.copied())).collect()
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn behaves_like_an_ordered_map(steps in vec(step(), 0..120), from in vec(key(), 0..8)) {
        let (mut trie, mut model) = (Trie::new(), Model::new());
        let mut kept = vec![(trie.clone(), model.clone())];
        for step in steps {
            match step {
                Step::Insert(key, item) => {
                    prop_assert_eq!(trie.insert(key, item), model.insert(key, item));
                }
                Step::Remove(key) => prop_assert_eq!(trie.remove(key), model.remove(&key)),
                Step::Replace(key, item) => {
                    prop_assert_eq!(trie.get_mut(key).is_some(), model.contains_key(&key));
                    if let (Some(slot), Some(expected)) = (trie.get_mut(key), model.get_mut(&key)) {
                        (*slot, *expected) = (item, item);
                    }
                }
                Step::Keep => kept.push((trie.clone(), model.clone())),
                Step::Hash => prop_assert_eq!(trie.hash() == Hash::ZERO, model.is_empty()),
            }
        }
        kept.push((trie, model));
        for (trie, model) in &kept {
            let entries = |trie: &Trie<u16>, from| trie.iter_from(from).map(|(k, v)| (k, *v)).collect::<Vec<_>>();
            prop_assert_eq!(entries(trie, 0), model.iter().map(|(k, v)| (*k, *v)).collect::<Vec<_>>());
            let mut one_by_one = Vec::new();
            for (key, item) in trie.iter() {
                one_by_one.push((key, *item));
            }
            prop_assert_eq!(entries(trie, 0), one_by_one);
            prop_assert_eq!(trie.count(), model.len());
            prop_assert_eq!(trie.is_empty(), model.is_empty());
            prop_assert_eq!(trie.last_key(), model.last_key_value().map(|(key, _)| *key));
            for from in &from {
                let expected: Vec<_> = model.range(from..).map(|(k, v)| (*k, *v)).collect();
                prop_assert_eq!(entries(trie, *from), expected);
                prop_assert_eq!(trie.get(*from), model.get(from));
            }
            let fresh = built(model);
            prop_assert_eq!(trie.hash(), fresh.hash(), "the hash depends on the history");
            prop_assert_eq!(shape_of(trie), shape_of(&fresh), "the shape depends on the history");
            prop_assert_eq!(trie, &fresh);
        }
        for (a, model_a) in &kept {
            for (b, model_b) in &kept {
                prop_assert_eq!(a.hash() == b.hash(), model_a == model_b);
                prop_assert_eq!(changes(a, b), expected_changes(model_a, model_b));
            }
        }
    }

    #[test]
    fn a_trie_made_in_one_go_is_the_one_that_inserts_make(
        a in proptest::collection::btree_map(key(), 0u16..4, 0..80),
        b in proptest::collection::btree_map(key(), 0u16..4, 0..80),
        hashed in any::<[bool; 2]>(),
    ) {
        let whole = |model: &Model| {
            let mut entries: Entries<u16> = model.iter().map(|(key, item)| (*key, *item)).collect();
            let trie = entries.take();
            assert!(entries.keys().is_empty() && entries.items().is_empty());
            trie
        };
        let (trie, other) = (whole(&a), whole(&b));
        prop_assert_eq!(shape_of(&trie), shape_of(&built(&a)));
        prop_assert_eq!(trie.hash(), built(&a).hash());
        prop_assert_eq!(trie.shared_key(&other), a.keys().find(|key| b.contains_key(key)).copied());
        let (mut trie, other) = if hashed[0] { (trie, other) } else { (whole(&a), whole(&b)) };
        if hashed[1] {
            other.hash();
        }
        let kept = [trie.clone(), other.clone()];
        trie.absorb(other);
        let both: Model = a.iter().chain(&b).map(|(key, item)| (*key, *item)).collect();
        prop_assert_eq!(shape_of(&trie), shape_of(&built(&both)));
        prop_assert_eq!(trie.hash(), built(&both).hash());
        prop_assert_eq!(&kept[0], &built(&a), "what was absorbed reached an older revision");
        prop_assert_eq!(&kept[1], &built(&b), "what was absorbed was written to");
    }

    #[test]
    fn entries_are_sorted_by_their_keys_and_none_comes_twice(came in vec((0u64..500, 0u16..4), 0..40)) {
        let mut entries: Entries<u16> = came.iter().copied().collect();
        let model: Model = came.iter().copied().collect();
        match entries.sort() {
            Ok(()) => {
                prop_assert_eq!(model.len(), came.len());
                prop_assert_eq!(entries.keys(), model.keys().copied().collect::<Vec<_>>());
                prop_assert_eq!(entries.items(), model.values().copied().collect::<Vec<_>>());
            }
            Err(at) => {
                prop_assert!(model.len() < came.len());
                prop_assert_eq!(entries.keys()[at], entries.keys()[at - 1]);
            }
        }
    }

    #[test]
    fn changes_need_no_hashes_and_no_shared_history(
        a in proptest::collection::btree_map(key(), 0u16..4, 0..60),
        b in proptest::collection::btree_map(key(), 0u16..4, 0..60),
    ) {
        prop_assert_eq!(changes(&built(&a), &built(&b)), expected_changes(&a, &b));
    }
}

/// What parts were visited, by hash.
type Parts = std::collections::HashMap<Hash, Result<Vec<(u64, u16)>, Vec<Hash>>>;

fn store(parts: &mut Parts, trie: &Trie<u16>, earlier: &Trie<u16>) {
    trie.parts_since(earlier, &mut |hash, part| {
        assert_ne!(hash, Hash::ZERO, "nothing is no part");
        let part = match part {
            Part::Entries(entries) => Ok(entries.map(|(key, item)| (key, *item)).collect()),
            Part::Inner(below) => Err(below),
        };
        parts.insert(hash, part);
    });
}

fn read_back(parts: &Parts, hash: Hash) -> Vec<(u64, u16)> {
    match parts.get(&hash).expect("the part was visited") {
        Ok(entries) => entries.clone(),
        Err(below) => below.iter().flat_map(|hash| read_back(parts, *hash)).collect(),
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn parts_hold_what_the_tries_hold(rounds in vec(vec(step(), 0..30), 1..6)) {
        let (mut trie, mut earlier, mut parts) = (Trie::new(), Trie::new(), Parts::new());
        for steps in rounds {
            for step in steps {
                match step {
                    Step::Insert(key, item) | Step::Replace(key, item) => drop(trie.insert(key, item)),
                    Step::Remove(key) => drop(trie.remove(key)),
                    Step::Keep | Step::Hash => drop(trie.hash()),
                }
            }
            store(&mut parts, &trie, &earlier);
            earlier = trie.clone();
            let held: Vec<(u64, u16)> = trie.iter().map(|(key, item)| (key, *item)).collect();
            let read = if trie.is_empty() { Vec::new() } else { read_back(&parts, trie.hash()) };
            prop_assert_eq!(read, held);
        }
    }
}

#[test]
fn a_write_makes_few_parts() {
    let mut trie = Trie::new();
    for key in 0..100_000 {
        trie.insert(key, 0);
    }
    let (earlier, mut parts) = (trie.clone(), Parts::new());
    trie.insert(70_000, 1);
    store(&mut parts, &trie, &earlier);
    // 256 keys, and the nodes above at 8, 12 and 16 bits.
    assert_eq!(parts.len(), 4);
}

/// An item that tells how often it was compared.
#[derive(Clone, Debug)]
struct Counted<'a>(u64, &'a std::cell::Cell<u32>);

impl PartialEq for Counted<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.1.set(self.1.get() + 1);
        self.0 == other.0
    }
}

#[test]
fn changes_skip_what_is_shared() {
    let compared = std::cell::Cell::new(0);
    let mut before = Trie::new();
    for key in 0..100_000 {
        before.insert(key, Counted(key, &compared));
    }
    let mut after = before.clone();
    after.insert(500, Counted(1, &compared));
    after.remove(70_000);
    let found: Vec<u64> = before.changes(&after).into_iter().map(|(key, _, _)| key).collect();
    assert_eq!(found, [500, 70_000]);
    assert!(compared.get() <= 2 * 16, "{} comparisons", compared.get());
}

#[test]
fn what_is_shared_stays_shared_when_it_is_absorbed() {
    let before = built(&(0..4_096).map(|key| (key, 0)).collect());
    let (mut one, mut other) = (before.clone(), before.clone());
    one.insert(5, 1);
    other.insert(9_000, 2);
    // What is there is that of the other one, also where that is older.
    one.absorb(other);
    let both: Model = (0..4_096).map(|key| (key, 0)).chain([(9_000, 2)]).collect();
    assert_eq!(one, built(&both));
    for key in 16..4_096 {
        let [was, is] = [&before, &one].map(|trie| trie.get(key).expect("it is there"));
        assert!(std::ptr::eq(was, is), "{key} was copied");
    }
}
