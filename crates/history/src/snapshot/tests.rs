use std::collections::{HashMap, HashSet};

use proptest::prelude::*;

use super::*;
use crate::line::Step;
use crate::log::RevisionKind;
use crate::provenance::Touched;
use crate::testing::{Choice, Mutator, cases, choices};

type Kept = HashMap<ObjectKey, Vec<u8>>;

fn state(number: u64, mutator: &Mutator, undos: &[bool]) -> State {
    let mut line = Line::new();
    let mut made = vec![];
    for (index, undo) in undos.iter().enumerate() {
        let number = index as u64 + 1;
        let before = made.len().checked_sub(2).filter(|_| *undo).map(|at| made[at]);
        let kind = if before.is_some() { RevisionKind::Undo } else { RevisionKind::Edit };
        line.push(Step { number, kind, target: before }).unwrap();
        match before {
            Some(_) => drop(made.pop()),
            None => made.push(number),
        }
    }
    let mut touched = lmlang_ir::trie::Trie::new();
    for (node, _) in mutator.program.functions().flat_map(|(_, function)| function.body().nodes()) {
        touched.insert(node.number(), Touched { created: number / 2, modified: number });
    }
    let next_ref = mutator.refs.watermark();
    State {
        number,
        program: mutator.program.clone(),
        next_ref,
        line,
        provenance: Provenance::from_map(touched),
        marks: number.is_multiple_of(2).then(|| (1..=number).step_by(3).collect()),
    }
}

fn keep(kept: &mut Kept, written: &Written) {
    kept.extend(written.objects.iter().map(|object| (object.key, object.bytes.clone())));
}

fn read(kept: &Kept, root: &[u8], number: u64) -> Result<State, SnapshotError> {
    let mut reading = Reading::open(root, number)?;
    loop {
        let wanted = reading.wanted();
        let found: Vec<_> = wanted.iter().filter_map(|key| Some((key, kept.get(key)?))).collect();
        if found.is_empty() {
            return reading.finish();
        }
        found.into_iter().try_for_each(|(key, bytes)| reading.take(key, bytes))?;
    }
}

fn assert_same(read: &State, written: &State) {
    assert!(read.program == written.program);
    assert_eq!(read.program.totals(), written.program.totals());
    assert_eq!(read.next_ref, written.next_ref);
    assert_eq!(read.line, written.line);
    assert_eq!(read.marks, written.marks);
    assert_eq!(read.provenance.map().hash(), written.provenance.map().hash());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    /// Snapshots after one another, each written beside the one before, all come back.
    #[test]
    fn snapshots_come_back(
        grow in choices(100),
        rounds in prop::collection::vec(choices(12), 0..4),
        undos in prop::collection::vec(prop::bool::weighted(0.3), 1..60),
    ) {
        let mut mutator = Mutator::grown(&grow);
        let mut kept = Kept::new();
        let mut all: Vec<(Vec<u8>, State)> = Vec::new();
        for round in std::iter::once(&Vec::<Choice>::new()).chain(&rounds) {
            mutator.mutate(round);
            let state = state(100 + all.len() as u64, &mutator, &undos);
            let written = write(&state, all.last().map(|(_, state)| state));
            keep(&mut kept, &written);
            all.push((written.root, state));
        }
        for (root, state) in &all {
            assert_same(&read(&kept, root, state.number).unwrap(), state);
        }
        // What a root and objects name is there.
        let mut open: Vec<ObjectKey> = all.iter().flat_map(|(root, _)| Reading::references(root).unwrap()).collect();
        let mut seen = HashSet::new();
        while let Some(key) = open.pop() {
            if seen.insert(key) {
                open.extend(references(&kept[&key]).unwrap());
            }
        }
        let lost: Vec<_> = kept.iter().filter(|(key, _)| !seen.contains(*key)).map(|(_, bytes)| bytes).collect();
        prop_assert!(lost.is_empty(), "{lost:?}");
    }

    #[test]
    fn damage_is_found(
        grow in choices(100),
        which in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let written_state = state(100, &Mutator::grown(&grow), &[false, false, true]);
        let written = write(&written_state, None);
        let mut kept = Kept::new();
        keep(&mut kept, &written);
        let mut root = written.root.clone();
        let at_root = at.index(root.len());
        root[at_root] = byte;
        drop(read(&kept, &root, 100));
        drop(read(&kept, &written.root[..at_root], 100));
        if !written.objects.is_empty() {
            let chosen = &written.objects[which.index(written.objects.len())];
            kept.get_mut(&chosen.key).unwrap()[at.index(chosen.bytes.len())] = byte;
            // What is in no hash of the content (the provenance) may come back changed; the rest may not.
            if let Ok(read) = read(&kept, &written.root, 100) {
                prop_assert!(read.program == written_state.program);
            }
            kept.remove(&chosen.key);
            prop_assert!(matches!(read(&kept, &written.root, 100), Err(SnapshotError::Incomplete(_))));
        }
    }
}

#[test]
fn a_foreign_root_is_refused() {
    let refused = |root: &[u8]| Reading::open(root, 1).unwrap_err().to_string();
    assert_eq!(refused(b"lms\x01"), "version 1 of the form of snapshots is not known");
    assert_eq!(refused(b"no"), "damaged at byte 0: the root of a snapshot");
    assert_eq!(refused(b"lms\x02"), "damaged at byte 0: the root of a snapshot");
}
