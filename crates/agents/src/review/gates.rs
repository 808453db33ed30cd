//! What must hold before a person is asked: that the branch merges, that what comes of it type-checks, that no test case breaks.

use lmlang_engine::flows::code::failed;
use lmlang_engine::{
    CasePlace, CaseStatus, Effort, Error, Halt, MOST_RUNS, MergeRequest, OpenProgram, Preview, Stored, Work,
};
use lmlang_flow::{Failure, State, Step, Update};
use serde_json::{Value, json};

use super::branch_of;

/// Something that a gate holds against a merge.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Violation {
    pub(super) gate: &'static str,
    pub(super) rule: String,
    pub(super) severity: &'static str,
    pub(super) message: String,
    pub(super) location: Option<String>,
}

/// What a merge of the branch as it is now would come to.
async fn preview(open: &OpenProgram, from: &str, into: &str, work: &Work) -> Result<Preview, Failure> {
    let request = MergeRequest {
        from: from.to_owned(),
        into: into.to_owned(),
        resolutions: Vec::new(),
        expected_head: None,
        dry_run: true,
    };
    let call = work.call("", None, &Value::Null);
    work.engine().merge_preview(open, &request, &call).await.map_err(|error| failed("merge_preview", &error))
}

pub(super) async fn tip(open: &OpenProgram, name: &str, work: &Work) -> Result<u64, Failure> {
    let head = open.timeline.head();
    let tip = work.engine().tip(open, &head, name).await.map_err(|error| failed("branch", &error))?;
    Ok(tip.revision.entry.number)
}

pub(super) async fn gate_merge(open: &OpenProgram, state: &State, work: &mut Work) -> Result<Step, Halt> {
    let (branch, into) = (branch_of(state, work), state.text("into").to_owned());
    let proposed = tip(open, &branch, work).await?;
    let base = tip(open, &into, work).await?;
    let preview = preview(open, &format!("r{proposed}"), &into, work).await?;
    let mut violations: Vec<Violation> = preview
        .conflicts
        .iter()
        .map(|conflict| Violation {
            gate: "merge",
            rule: conflict.kind.to_owned(),
            severity: "error",
            message: conflict.message.clone(),
            location: Some(conflict.of.clone()),
        })
        .collect();
    let counts =
        lmlang_history::diff(preview.before.checked.program(), preview.after.checked.program()).counts();
    if violations.is_empty() && counts == lmlang_history::ChangeCounts::default() {
        violations.push(Violation {
            gate: "merge",
            rule: "NOTHING_TO_MERGE".to_owned(),
            severity: "error",
            message: format!("`{into}` has all that `{branch}` has"),
            location: None,
        });
    }
    let warnings: Vec<Value> = preview
        .findings
        .iter()
        .take(50)
        .map(|found| {
            json!({
                "code": found.code.to_string(),
                "message": found.message(preview.after.checked.program()),
                "location": found.at.entity.to_string(),
            })
        })
        .collect();
    let evidence = json!({
        "branch": format!("r{proposed}"),
        "into": format!("r{base}"),
        "changes": {
            "added": counts.added, "removed": counts.removed, "modified": counts.modified,
            "functions": counts.functions,
        },
        "newFindings": warnings,
    });
    let update = Update::none()
        .with("proposed", proposed)
        .with("base", base)
        .with("evidence", evidence)
        .with("violations", json!(violations));
    Ok(match violations.is_empty() {
        true => Step::next(
            "gate_cases",
            update.with(
                "progress",
                json!([format!("r{proposed} of `{branch}` merges into `{into}` and type-checks")]),
            ),
        ),
        false => Step::next("ask_again", update),
    })
}

/// The test cases that held before and would not hold any more, and how many hold of how many.
pub(super) async fn broken_cases(
    open: &OpenProgram,
    state: &State,
    work: &Work,
) -> Result<(Vec<Violation>, (u64, usize)), Failure> {
    let proposed = state.get("proposed").as_u64().unwrap_or(0);
    let preview = preview(open, &format!("r{proposed}"), state.text("into"), work).await?;
    let engine = work.engine();
    let error = |error: Error| failed("cases", &error);
    let (mut violations, mut green, mut all) = (Vec::new(), 0_u64, 0);
    let mut after: Option<CasePlace> = None;
    loop {
        let page = engine.cases(open, None, after.as_ref(), MOST_RUNS).await.map_err(error)?;
        let now = (Effort::Runs(MOST_RUNS), Stored::No);
        let now = engine.standings(open, &preview.after, &page.cases, now).await.map_err(error)?;
        let then = (Effort::Runs(MOST_RUNS), Stored::Yes);
        let then = engine.standings(open, &preview.before, &page.cases, then).await.map_err(error)?;
        for ((case, now), then) in page.cases.iter().zip(&now).zip(&then) {
            green += u64::from(now.status == CaseStatus::Green);
            all += 1;
            let broke = match now.status {
                CaseStatus::Green => false,
                CaseStatus::Red => then.status != CaseStatus::Red,
                // It does not fit its function any more, or there was no time to run it.
                CaseStatus::Stale => then.status == CaseStatus::Green,
            };
            if broke {
                let why = now.why.clone().unwrap_or_else(|| "it does not hold any more".to_owned());
                violations.push(Violation {
                    gate: "cases",
                    rule: "CASE_BROKEN".to_owned(),
                    severity: "error",
                    message: format!("the test case `{}` broke: {why}", case.name),
                    location: Some(case.function.to_string()),
                });
            }
        }
        match page.cases.last().filter(|_| page.more) {
            Some(last) => after = Some(last.place()),
            None => return Ok((violations, (green, all))),
        }
    }
}

pub(super) async fn gate_cases(open: &OpenProgram, state: &State, work: &mut Work) -> Result<Step, Halt> {
    let (violations, (green, all)) = broken_cases(open, state, work).await?;
    let mut evidence = state.get("evidence").clone();
    evidence["cases"] = json!({ "green": green, "of": all });
    let update = Update::none().with("evidence", evidence).with("violations", json!(violations));
    Ok(match violations.is_empty() {
        true => {
            let said = match all {
                0 => "there are no test cases".to_owned(),
                1 => format!("{green} of 1 test case holds"),
                all => format!("{green} of {all} test cases hold"),
            };
            Step::next("ask_confirm", update.with("progress", json!([said])))
        }
        false => Step::next("ask_again", update),
    })
}
