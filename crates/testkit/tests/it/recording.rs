//! What is stored of generated programs and of their changes is what it was after a restart.

use std::collections::HashMap;

use lmlang_history::line::{Line, Step};
use lmlang_history::log::RevisionKind;
use lmlang_history::record::{decode_edits, encode_edits};
use lmlang_history::snapshot::{ObjectKey, Reading, State, write};
use lmlang_history::{Edit, apply_all, diff, invert_all};
use lmlang_ir::{Program, RefAllocator};
use lmlang_testkit::{Choices, Options, config, edits, generate};
use proptest::prelude::*;

/// The edits as they are read again.
fn stored(edits: &[Edit]) -> Vec<Edit> {
    decode_edits(&encode_edits(edits)).expect("what was written is read")
}

/// Some changes: right ones, and such as leave something behind elsewhere.
fn changed(program: &Program, refs: &mut RefAllocator, choices: &mut Choices) -> Program {
    let (mut after, options) = (program.clone(), Options::small());
    while !choices.exhausted() {
        // What does not fit changes nothing.
        if choices.chance(30) {
            edits::declared(&mut after, refs, choices);
        } else {
            edits::typed(&mut after, refs, choices, &options);
        }
    }
    after
}

fn check_same(found: &Program, expected: &Program) -> Result<(), TestCaseError> {
    prop_assert!(found == expected);
    prop_assert_eq!(found.root_hash(), expected.root_hash());
    prop_assert_eq!(found.totals(), expected.totals());
    Ok(())
}

fn state(number: u64, program: &Program, refs: &RefAllocator) -> State {
    let mut line = Line::new();
    line.push(Step { number: 1, kind: RevisionKind::Create, target: None }).expect("it is the first");
    State { number, program: program.clone(), next_ref: refs.watermark(), line, ..State::before_all() }
}

fn read(kept: &HashMap<ObjectKey, Vec<u8>>, root: &[u8], number: u64) -> State {
    let mut reading = Reading::open(root, number).expect("the root is read");
    loop {
        let wanted = reading.wanted();
        if wanted.is_empty() {
            return reading.finish().expect("all of it is there");
        }
        for key in wanted {
            reading.take(&key, &kept[&key]).expect("the object is read");
        }
    }
}

proptest! {
    #![proptest_config(config())]

    /// What differs is applied, and taken back, by edits that were written and read; and snapshots of both sides, the later
    /// one beside the earlier, hold them.
    #[test]
    fn changes_and_snapshots_come_back(
        generated in generate::programs(Options::default()),
        mut choices in generate::choices(120),
    ) {
        let (before, mut refs) = (generated.program, generated.refs);
        let after = changed(&before, &mut refs, &mut choices);
        let there = stored(&diff(&before, &after).edits);
        let back = stored(&invert_all(&there, &before).expect("they apply"));
        let mut program = before.clone();
        apply_all(&mut program, &there).expect("they apply");
        check_same(&program, &after)?;
        apply_all(&mut program, &back).expect("they apply");
        check_same(&program, &before)?;
        let mut made = Program::new();
        let all = stored(&diff(&made, &after).edits);
        apply_all(&mut made, &all).expect("they apply");
        check_same(&made, &after)?;

        let (first, second) = (state(1, &before, &refs), state(2, &after, &refs));
        let mut kept = HashMap::new();
        let written = [write(&first, None), write(&second, Some(&first))];
        kept.extend(written.iter().flat_map(|one| &one.objects).map(|one| (one.key, one.bytes.clone())));
        for (of, written) in [first, second].iter().zip(&written) {
            let again = read(&kept, &written.root, of.number);
            check_same(&again.program, &of.program)?;
            prop_assert_eq!(again.next_ref, of.next_ref);
        }
    }
}
