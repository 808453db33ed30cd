use proptest::prelude::*;

use super::*;

/// Plays entries given as a text: `e` edit, `u`/`uN` undo N, `r`/`rN` redo N, `c` checkpoint, `R` restore. Says after each the
/// state of the head, or why nothing was done.
fn play(script: &str) -> String {
    let mut line = Line::new();
    let mut number = 1;
    line.push(Step { number, kind: RevisionKind::Create, target: None }).unwrap();
    let mut said = vec!["1".to_string()];
    for word in script.split(' ') {
        let (letter, steps) = word.split_at(1);
        let distance = match steps.strip_prefix('=') {
            Some(target) => Distance::To(target.parse().unwrap()),
            None => Distance::Steps(if steps.is_empty() { 1 } else { steps.parse().unwrap() }),
        };
        let (kind, target) = match letter {
            "u" => (RevisionKind::Undo, Some(line.undo(distance))),
            "r" => (RevisionKind::Redo, Some(line.redo(distance))),
            "e" => (RevisionKind::Edit, None),
            "R" => (RevisionKind::Restore, None),
            _ => (RevisionKind::Checkpoint, None),
        };
        match target.transpose() {
            Err(reason) => said.push(reason.to_string()),
            Ok(travel) => {
                number += 1;
                line.push(Step { number, kind, target: travel.map(|travel| travel.target) }).unwrap();
                said.push(line.state().unwrap().to_string());
            }
        }
    }
    said.join(", ")
}

#[test]
fn undo_and_redo() {
    assert_eq!(play("e e u u r r"), "1, 2, 3, 2, 1, 2, 3");
    assert_eq!(play("u"), "1, there is nothing to undo");
    assert_eq!(play("e r"), "1, 2, there is nothing to redo");
    assert_eq!(play("e u e r"), "1, 2, 1, 4, there is nothing to redo");
    assert_eq!(play("e e e u3 r2 r"), "1, 2, 3, 4, 1, 3, 4");
    assert_eq!(play("e u5"), "1, 2, 5 steps were asked for, 1 can be taken");
    assert_eq!(play("e c u c r"), "1, 2, 2, 1, 1, 2");
    assert_eq!(play("e R u u r r"), "1, 2, 3, 2, 1, 2, 3");
    assert_eq!(play("e e u=1 r=3 u=3"), "1, 2, 3, 1, 3, the head is at r3 already");
    assert_eq!(
        play("e e u=7 u0"),
        "1, 2, 3, r7 is not on the line; a checkpoint of it can be restored, no step was asked for"
    );
}

#[test]
fn what_is_undone() {
    let edit = |number| Step { number, kind: RevisionKind::Edit, target: None };
    let undo = Step { number: 4, kind: RevisionKind::Undo, target: Some(2) };
    let line = Line::replay([edit(1), edit(2), edit(3), undo]).unwrap();
    assert!(line.holds(2) && !line.holds(3) && !line.holds(4));
    assert_eq!(line.branch_off().redoable(), 0);
    let wrong = Step { number: 5, kind: RevisionKind::Redo, target: Some(2) };
    assert_eq!(line.clone().push(wrong), Err(LineError::OffTheLine { number: 5, target: 2 }));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::testing::cases(), ..ProptestConfig::default() })]

    /// Against two plain stacks.
    #[test]
    fn behaves_like_an_ordinary_stack(actions in prop::collection::vec((0u8..4, 1u64..4), 0..60)) {
        let (mut past, mut future) = (vec![1u64], Vec::new());
        let mut line = Line::replay([Step { number: 1, kind: RevisionKind::Create, target: None }]).unwrap();
        for (number, (action, steps)) in (2..).zip(actions) {
            let (kind, target) = match action {
                0 | 1 => {
                    past.push(number);
                    future.clear();
                    (RevisionKind::Edit, None)
                }
                2 => match line.undo(Distance::Steps(steps)) {
                    Err(_) => {
                        prop_assert!((past.len() as u64) <= steps);
                        continue;
                    }
                    Ok(travel) => {
                        (0..steps).for_each(|_| future.extend(past.pop()));
                        (RevisionKind::Undo, Some(travel.target))
                    }
                },
                _ => match line.redo(Distance::Steps(steps)) {
                    Err(_) => {
                        prop_assert!((future.len() as u64) < steps);
                        continue;
                    }
                    Ok(travel) => {
                        (0..steps).for_each(|_| past.extend(future.pop()));
                        (RevisionKind::Redo, Some(travel.target))
                    }
                },
            };
            line.push(Step { number, kind, target }).unwrap();
            prop_assert_eq!(line.state(), past.last().copied());
            prop_assert_eq!(line.undoable() as usize, past.len() - 1);
            prop_assert_eq!(line.redoable() as usize, future.len());
        }
    }
}
