use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::LazyLock;

use proptest::collection::vec;
use proptest::prelude::*;

use crate::order::{Homes, Order, Sequences, level_of};
use crate::tests::config;

/// The record of each element, as the nodes of a function keep it.
#[derive(Clone, Debug, Default, PartialEq)]
struct Records(HashMap<u64, u64>);

impl Homes for Records {
    fn chunk_of(&self, element: u64) -> u64 {
        self.0.get(&element).copied().unwrap_or(0)
    }

    fn set_chunk(&mut self, element: u64, head: u64) {
        self.0.insert(element, head);
    }
}

/// Numbers in use: regions are 1 to 3, elements come from these, many of which reach high levels.
static ELEMENTS: LazyLock<Vec<u64>> = LazyLock::new(|| {
    let of_level = |level| (40u64..).filter(move |number| level_of(*number) == level).take(8);
    (10..40).chain((1..=3).flat_map(of_level)).chain(of_level(4).take(2)).collect()
});

/// Region, element, position: all chosen among what is there.
type Step = (u64, prop::sample::Index, prop::sample::Index, u8);

fn steps() -> impl Strategy<Value = Vec<Step>> {
    vec((1u64..=3, any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0u8..8), 0..150)
}

/// The orders of regions with their elements, which come in turns.
fn of_lists(lists: &[(u64, &[u64])], records: &mut Records) -> Result<Order, u64> {
    let mut sequences = Sequences::default();
    // It has been in use before.
    sequences.begin(&[7]);
    sequences.add(0, 8);
    let regions: Vec<u64> = lists.iter().map(|(region, _)| *region).collect();
    sequences.begin(&regions);
    let mut elements = Vec::new();
    for turn in 0..lists.iter().map(|(_, list)| list.len()).max().unwrap_or(0) {
        for (at, (_, list)) in lists.iter().enumerate() {
            if let Some(element) = list.get(turn) {
                records.set_chunk(*element, sequences.add(at, *element));
                elements.push(*element);
            }
        }
    }
    sequences.order(&elements)
}

#[derive(Clone, Default)]
struct State {
    order: Order,
    records: Records,
    model: BTreeMap<u64, Vec<u64>>,
}

impl State {
    fn new() -> State {
        let mut state = State::default();
        for region in 1..=3 {
            state.order.add_region(region);
            state.model.insert(region, Vec::new());
        }
        state
    }

    fn remove(&mut self, element: u64) {
        for (region, list) in &mut self.model {
            if let Some(at) = list.iter().position(|e| *e == element) {
                list.remove(at);
                self.order.remove(*region, element, &mut self.records);
                self.records.0.remove(&element);
            }
        }
    }

    fn insert(&mut self, region: u64, at: prop::sample::Index, element: u64) {
        let list = self.model.entry(region).or_default();
        let at = at.index(list.len() + 1);
        let after = if at == 0 { region } else { list[at - 1] };
        list.insert(at, element);
        self.order.insert(region, after, element, &mut self.records);
    }

    /// Inserts a new element, moves one that is there, or removes one.
    fn step(&mut self, (region, element, at, kind): Step) {
        let element = *element.get(&ELEMENTS);
        self.remove(element);
        if kind > 1 {
            self.insert(region, at, element);
        }
    }

    /// The same sequences, appended one after another.
    fn rebuilt(&self) -> State {
        let mut fresh = State::new();
        for (region, list) in &self.model {
            let mut after = *region;
            for element in list {
                fresh.order.insert(*region, after, *element, &mut fresh.records);
                after = *element;
            }
        }
        fresh.model = self.model.clone();
        fresh
    }

    fn made_in_one_go(&self) -> State {
        let lists: Vec<(u64, &[u64])> = self.model.iter().map(|(of, list)| (*of, &list[..])).collect();
        let mut records = Records::default();
        let order = of_lists(&lists, &mut records).unwrap();
        State { order, records, model: self.model.clone() }
    }

    /// What each element follows: another one, or the region.
    fn followed(&self) -> BTreeMap<u64, u64> {
        let pairs = |(region, list): (&u64, &Vec<u64>)| {
            let before = std::iter::once(*region).chain(list.iter().copied());
            list.iter().copied().zip(before).collect::<Vec<_>>()
        };
        self.model.iter().flat_map(pairs).collect()
    }

    /// Moves an element with all that follows it in its region to the end of a region.
    fn move_tail(&mut self, region: u64, element: u64) {
        let from = |list: &Vec<u64>| list.iter().position(|one| *one == element);
        let tail = self.model.values().find_map(|list| Some(list[from(list)?..].to_vec()));
        for element in tail.into_iter().flatten() {
            self.remove(element);
            let after = self.model[&region].last().copied().unwrap_or(region);
            self.order.insert(region, after, element, &mut self.records);
            self.model.entry(region).or_default().push(element);
        }
    }

    fn check(&self) -> Result<(), TestCaseError> {
        let State { order, records, model } = self;
        for (region, list) in model {
            let found: Vec<u64> = order.iter(*region).collect();
            prop_assert_eq!(&found, list, "region {}", region);
            prop_assert_eq!(order.last(*region), list.last().copied());
            let chunk = |of: &u64| records.chunk_of(*of);
            for (at, element) in list.iter().enumerate() {
                prop_assert_eq!(order.after(*element, chunk(element)), list.get(at + 1).copied());
                let before = at.checked_sub(1).map(|at| list[at]);
                prop_assert_eq!(order.before(*region, *element, chunk(element)), before);
                let rest: Vec<u64> = order.iter_after(*element, chunk(element)).collect();
                prop_assert_eq!(&rest[..], &list[at + 1..]);
                for (other_at, other) in list.iter().enumerate() {
                    let chunks = [element, other].map(chunk);
                    prop_assert_eq!(order.precedes(*element, *other, chunks), at < other_at);
                    let standing = |of| order.standing(of, records.chunk_of(of));
                    prop_assert_eq!(standing(*element).cmp(&standing(*other)), at.cmp(&other_at));
                }
            }
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn behaves_like_a_list_per_region(steps in steps()) {
        let mut state = State::new();
        for step in steps {
            state.step(step);
        }
        state.check()?;
        let fresh = state.rebuilt();
        prop_assert_eq!(state.order.hash(), fresh.order.hash(), "the hash depends on the history");
        prop_assert_eq!(&state.order, &fresh.order, "the chunks depend on the history");
        prop_assert_eq!(&state.records, &fresh.records, "the heads depend on the history");
        let whole = state.made_in_one_go();
        prop_assert_eq!(fresh.order.hash(), whole.order.hash());
        prop_assert_eq!(format!("{:?}", fresh.order), format!("{:?}", whole.order), "links upwards included");
        prop_assert_eq!(&fresh.records, &whole.records);
    }

    #[test]
    fn different_sequences_have_different_hashes(steps in steps(), more in steps()) {
        let mut state = State::new();
        for step in steps {
            state.step(step);
        }
        let before = state.clone();
        for step in more.into_iter().take(3) {
            state.step(step);
        }
        prop_assert_eq!(before.order.hash() == state.order.hash(), before.model == state.model);
        before.check()?;
    }

    #[test]
    fn displaced_is_what_follows_another_element(
        steps in steps(), more in vec((steps(), 1u64..=3, any::<prop::sample::Index>()), 1..4)
    ) {
        let mut state = State::new();
        for step in steps {
            state.step(step);
        }
        let before = state.clone();
        for (steps, region, from) in more {
            steps.into_iter().take(2).for_each(|step| state.step(step));
            state.move_tail(region, *from.get(&ELEMENTS));
        }
        let (old, new) = (before.followed(), state.followed());
        let all: BTreeSet<u64> = old.keys().chain(new.keys()).copied().collect();
        let expected: Vec<u64> = all.into_iter().filter(|one| old.get(one) != new.get(one)).collect();
        prop_assert_eq!(&before.order.displaced(&state.order), &expected);
        prop_assert_eq!(&state.order.displaced(&before.order), &expected);
    }

    #[test]
    fn emptied_regions_leave_nothing(steps in steps()) {
        let mut state = State::new();
        for step in steps {
            state.step(step);
        }
        for element in ELEMENTS.iter() {
            state.remove(*element);
        }
        prop_assert_eq!(state.order.hash(), State::new().order.hash());
        for region in 1..=3 {
            state.order.remove_region(region);
        }
        prop_assert_eq!(state.order, Order::default());
    }
}

#[test]
fn a_long_list_built_backwards_equals_one_built_forwards() {
    let (mut forwards, mut backwards) = (State::new(), State::new());
    let count = 20_000u64;
    let mut after = 1;
    for element in 10..10 + count {
        forwards.order.insert(1, after, element, &mut forwards.records);
        after = element;
    }
    for element in (10..10 + count).rev() {
        backwards.order.insert(1, 1, element, &mut backwards.records);
    }
    assert_eq!(forwards.order.hash(), backwards.order.hash());
    assert_eq!(forwards.records, backwards.records);
    let (list, mut records): (Vec<u64>, _) = ((10..10 + count).collect(), Records::default());
    let whole = of_lists(&[(1, &list), (2, &[]), (3, &[])], &mut records).unwrap();
    assert_eq!(records, forwards.records);
    assert_eq!(whole.hash(), forwards.order.hash());
    assert_eq!(format!("{whole:?}"), format!("{:?}", forwards.order));
    let (first, last) = (10, 9 + count);
    let precedes = |a, b| forwards.order.precedes(a, b, [a, b].map(|of| forwards.records.chunk_of(of)));
    assert!(precedes(first, last));
    assert!(!precedes(last, first));
}

#[test]
fn what_begins_twice_is_refused() {
    let heads: Vec<u64> = (10..).filter(|of| level_of(*of) > 0).take(2).collect();
    let [a, b] = heads[..] else { panic!("chunks begin often") };
    let twice = |lists: &[(u64, &[u64])]| of_lists(lists, &mut Records::default()).unwrap_err();
    assert_eq!(twice(&[(1, &[a, b]), (2, &[a])]), a);
    assert_eq!(twice(&[(1, &[b]), (b, &[])]), b);
}
