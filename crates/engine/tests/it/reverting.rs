//! Taking back what a flow's run has made.

use lmlang_engine::{
    Arrival, Call, MergeRequest, OpenProgram, Outcome, Proposal, RevertRequest, Reverted, Selector, Which,
};
use lmlang_history::log::{Header, Origin, RevisionKind};
use lmlang_history::request::{AddText, EditRequest, ReplaceText};
use lmlang_ir::text::{Detail, print_program};
use uuid::Uuid;

use crate::fixture::{Fixture, OFTEN, call};

const TEXT: &str = "module app

func price() -> (i64) {
  return 19
}

func rate() -> (i64) {
  return 5
}
";

const RUN: Uuid = Uuid::from_u128(17);
const OTHER: Uuid = Uuid::from_u128(18);

fn by(run: Uuid, step: u64) -> Call {
    Call { origin: Some(Origin { run: run.into_bytes(), step }), ..call() }
}

async fn edit(fixture: &Fixture, edit: EditRequest, call: &Call) {
    edit_on("main", fixture, edit, call).await;
}

async fn edit_on(branch: &str, fixture: &Fixture, edit: EditRequest, call: &Call) {
    let proposal = Proposal {
        program: Selector::Name("shop".to_owned()),
        branch: branch.to_owned(),
        base: None,
        edits: vec![edit],
        dry_run: false,
        require_complete: false,
        verify_all: false,
    };
    match fixture.engine.propose(proposal, call).await.unwrap() {
        Outcome::Applied(applied) => assert!(applied.committed),
        other => panic!("{other:?}"),
    }
}

fn body(of: &str, value: &str) -> EditRequest {
    let text = format!("func {of}() -> (i64) {{\n  return {value}\n}}\n");
    EditRequest::ReplaceFunctionText(ReplaceText { of: format!("app::{of}"), text, if_hash: None })
}

fn new(of: &str, value: &str) -> EditRequest {
    let text = format!("func {of}() -> (i64) {{\n  return {value}\n}}\n");
    EditRequest::AddText(AddText { module: Some("app".to_owned()), text })
}

async fn revert(fixture: &Fixture, open: &OpenProgram, run: Uuid, dry_run: bool, call: &Call) -> Reverted {
    let which = Which::Run(run);
    let request = RevertRequest { branch: "main".to_owned(), which, expected_head: None, dry_run };
    fixture.engine.revert(open, &request, call).await.unwrap()
}

fn plan(reverted: &Reverted) -> [Vec<u64>; 3] {
    [&reverted.removed, &reverted.also_removed, &reverted.kept]
        .map(|headers| headers.iter().map(|header| header.number).collect())
}

fn text(reverted: &Reverted) -> String {
    let Arrival::Made { after, .. } = &reverted.arrival else { panic!("{reverted:?}") };
    print_program(after.checked.program(), Detail::Summary)
}

#[tokio::test]
async fn what_a_run_has_made_is_taken_back_with_what_rests_on_it() {
    let fixture = Fixture::new(OFTEN).await;
    fixture.create("shop", TEXT).await;
    edit(&fixture, body("price", "7"), &by(RUN, 1)).await; // r2
    edit(&fixture, new("net", "(call price)"), &by(OTHER, 1)).await; // r3
    edit(&fixture, new("tax", "3"), &by(RUN, 2)).await; // r4
    edit(&fixture, body("rate", "(call tax)"), &call()).await; // r5
    edit(&fixture, new("fee", "1"), &call()).await; // r6

    // The runs come from the database, where there is no memory of who asked.
    let fixture = fixture.reopened(&[]).await;
    let open = fixture.find("shop").await;
    let header = fixture.engine.header(&open, 4).await.unwrap().unwrap();
    assert_eq!(header.origin, Some(Origin { run: RUN.into_bytes(), step: 2 }));

    let planned = revert(&fixture, &open, RUN, true, &call()).await;
    assert_eq!(plan(&planned), [vec![2, 4], vec![5], vec![3, 6]]);
    assert_eq!(open.timeline.head().last, 6, "a dry run stores nothing");

    // A step of another run takes it back: that is the other run's work.
    let taker = by(OTHER, 2).keyed(Some("once"), b"once");
    let done = revert(&fixture, &open, RUN, false, &taker).await;
    assert_eq!(plan(&done), plan(&planned));
    assert_eq!(done.findings, planned.findings);
    assert_eq!(text(&done), text(&planned));
    assert!(text(&done).contains(" 19\n") && text(&done).contains(" 5\n"), "{}", text(&done));
    assert!(!text(&done).contains("tax") && text(&done).contains("fee"), "{}", text(&done));
    let revert_of: &Header = &open.timeline.head().main.revision.entry;
    assert_eq!((revert_of.number, revert_of.kind), (7, RevisionKind::Revert));
    assert_eq!((&revert_of.reverts, &revert_of.also_reverts), (&vec![2, 4], &vec![5]));
    assert_eq!(revert_of.origin, Some(Origin { run: OTHER.into_bytes(), step: 2 }));

    let repeated = revert(&fixture, &open, RUN, false, &taker).await;
    assert_eq!(plan(&repeated), plan(&done));
    assert_eq!(open.timeline.head().last, 7, "a repeated request is answered as the first one");

    let again = revert(&fixture, &open, RUN, false, &call()).await;
    let Arrival::Nothing(reason) = &again.arrival else { panic!("{again:?}") };
    assert_eq!(reason, &format!("the content of `main` has nothing by the run R-{RUN}"));

    // A revert is taken back by reverting it, not with the run that made it.
    let other = revert(&fixture, &open, OTHER, true, &call()).await;
    assert_eq!(plan(&other), [vec![3], vec![], vec![6, 7]]);
}

#[tokio::test]
async fn the_merge_is_told_that_brought_in_what_a_run_has_made() {
    let fixture = Fixture::new(OFTEN).await;
    let open = fixture.create("shop", TEXT).await;
    fixture.engine.create_branch(&open, "feature", None, &by(RUN, 1)).await.unwrap(); // r2
    edit_on("feature", &fixture, body("price", "7"), &by(RUN, 2)).await; // r3
    edit(&fixture, new("fee", "1"), &call()).await; // r4
    let merge = MergeRequest {
        from: "feature".to_owned(),
        into: "main".to_owned(),
        resolutions: Vec::new(),
        expected_head: None,
        dry_run: false,
    };
    let merged = fixture.engine.merge(&open, &merge, &call()).await.unwrap(); // r5
    assert!(matches!(merged, Arrival::Made { committed: true, .. }), "{merged:?}");

    let reason = async |run: Uuid| match revert(&fixture, &open, run, true, &call()).await.arrival {
        Arrival::Nothing(reason) => reason,
        other => panic!("{other:?}"),
    };
    let nothing = |run: Uuid| format!("the content of `main` has nothing by the run R-{run}");
    let came = ": its work came with the merge r5, which can be taken back";
    assert_eq!(reason(RUN).await, nothing(RUN) + came);
    assert_eq!(reason(OTHER).await, nothing(OTHER));

    // One that was taken back is none.
    let which = Which::Revisions(vec!["r5".to_owned()]);
    let back = RevertRequest { branch: "main".to_owned(), which, expected_head: None, dry_run: false };
    let taken = fixture.engine.revert(&open, &back, &call()).await.unwrap(); // r6
    assert!(matches!(taken.arrival, Arrival::Made { committed: true, .. }), "{taken:?}");
    assert_eq!(reason(RUN).await, nothing(RUN));
}
