use lmlang_ir::{Const, NodeContent, NodeRef, Op, Ref, RefKind, RegionRef, Source};
use proptest::prelude::*;

use super::*;
use crate::apply::{apply_all, invert_all};
use crate::edit::{Edit, FunctionEdit};
use crate::testing::{Mutator, cases, choices};

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn edits_come_back(grow in choices(40), then in choices(20)) {
        let mut mutator = Mutator::grown(&grow);
        let before = mutator.program.clone();
        let made = mutator.mutate(&then);
        // What was stored is done and taken back after a restart as it would have been before.
        let stored = |edits: &[Edit]| decode_edits(&encode_edits(edits)).unwrap();
        let (mut program, made) = (before.clone(), stored(&made));
        apply_all(&mut program, &made).unwrap();
        prop_assert_eq!(program.root_hash(), mutator.program.root_hash());
        prop_assert!(program == mutator.program);
        let back = stored(&invert_all(&made, &before).unwrap());
        apply_all(&mut program, &back).unwrap();
        prop_assert_eq!(program.root_hash(), before.root_hash());
        prop_assert!(program == before);
        let edits = [
            crate::diff(&before, &mutator.program).edits,
            crate::diff(&lmlang_ir::Program::new(), &mutator.program).edits,
        ]
        .concat();
        let bytes = encode_edits(&edits);
        let read = decode_edits(&bytes).unwrap();
        prop_assert_eq!(&read, &edits);
        prop_assert_eq!(&encode_edits(&read), &bytes);
        for edit in &edits {
            prop_assert_eq!(&parse_edit(&edit_json(edit)).unwrap(), edit);
        }
        // What a glance tells is what the edits say, and who is not mentioned is not touched.
        for edit in edits.iter().step_by(edits.len() / 8 + 1) {
            let refs = [Some(edit.subject()), edit.function().map(Ref::from)];
            for of in refs.into_iter().flatten() {
                for of in RefKind::ALL.map(|kind| Ref { kind, ..of }) {
                    let is_touched = edits.iter().any(|edit| edit.touches(of));
                    prop_assert_eq!(glance(&bytes, of, None).unwrap() == Glance::Touched, is_touched, "{}", of);
                    let is_mentioned = String::from_utf8_lossy(&bytes).contains(&mention(of));
                    prop_assert!(is_mentioned || !is_touched, "{} is not mentioned", of);
                }
            }
        }
        // Nor does what comes and goes with a function go unseen.
        for edit in edits.iter().step_by(edits.len() / 8 + 1) {
            let (bytes, text) = (encode_edits(std::slice::from_ref(edit)), edit_json(edit));
            let whole = |function| text.contains(&mention_whole(function));
            let touched = crate::touched(std::slice::from_ref(edit), &before);
            match edit {
                Edit::AddFunction { function, .. } => {
                    prop_assert!(whole(*function));
                    for of in touched.iter().map(|one| one.of).filter(|of| *of != Ref::from(*function)) {
                        prop_assert_eq!(glance(&bytes, of, Some(*function)).unwrap(), Glance::Touched);
                        prop_assert_eq!(glance(&bytes, of, None).unwrap(), Glance::Nothing);
                        prop_assert_eq!(function_of(&bytes, of).unwrap(), Some(*function));
                        prop_assert!(text.contains(&mention(of)));
                    }
                    let other = Ref { number: 1 << 40, kind: RefKind::Node };
                    prop_assert_eq!(glance(&bytes, other, Some(*function)).unwrap(), Glance::Nothing);
                }
                Edit::RemoveFunction { function, .. } => {
                    prop_assert!(whole(*function));
                    let of = Ref { number: 1 << 40, kind: RefKind::Node };
                    prop_assert_eq!(glance(&bytes, of, Some(*function)).unwrap(), Glance::OwnerRemoved);
                }
                other => prop_assert!(other.function().is_none_or(|function| !whole(function))),
            }
        }
    }
}

#[test]
fn an_inserted_node_is_short() {
    let node = |number| NodeRef::new(number).unwrap();
    let inputs = [Some(Source::Node(node(281), 0)), None];
    let content = Box::new(NodeContent::new(Op::constant(Const::I64(5)), inputs));
    let edit = FunctionEdit::InsertNode {
        node: node(283),
        region: RegionRef::new(260).unwrap(),
        after: Some(node(281)),
        content,
    };
    let edit: Edit = edit.within(lmlang_ir::FuncRef::new(7).unwrap());
    let json = edit_json(&edit);
    assert_eq!(
        json,
        r#"{"insertNode":{"f":"f7","n":"n283","g":"g260","after":"n281","is":{"op":"const.i64 5","in":["n281",null]}}}"#
    );
    assert_eq!(parse_edit(&json).unwrap(), edit);
}

#[test]
fn what_cannot_be_read_is_said() {
    let list = |text: &str| decode_edits(text.as_bytes()).unwrap_err().to_string();
    assert_eq!(list(r#"{"v":2,"edits":[{"future":{}}]}"#), "version 2 of the record is not known");
    let glance = |text: &str| {
        super::glance(text.as_bytes(), "f7".parse().unwrap(), None).map_err(|error| error.to_string())
    };
    assert_eq!(glance(r#"{"v":2,"edits":[]}"#), Err("version 2 of the record is not known".to_owned()));
    assert_eq!(glance(r#"{"v":1,"edits":[{"a":{"f":"f7"},"b":{}}]}"#).unwrap_err()[..13], *"not an edit: ");
    assert!(list(r#"{"v":1,"edits":[{"future":{}}]}"#).starts_with("not an edit: unknown variant `future`"));
    assert!(
        list(r#"{"v":1,"edits":[{"removeVar":{"f":"f7","v":"n1"}}]}"#)
            .contains("expected a ref with the letter `v`")
    );
}
