//! Pages of long traces.

use std::fs;
use std::path::Path;
use std::time::Instant;

use lmlang_bench::process::settle;
use lmlang_bench::rounds::{ROUNDS, orders};
use rusqlite::Connection;
use uuid::Uuid;

use crate::Failure;
use crate::code::Runner;

/// Spans of a short trace beside that of the run itself.
const STEPS: u64 = 1_000;
/// How many times as long the long one is.
const TIMES: u64 = 100;
/// Spans of a page.
const PAGE: usize = 200;

/// Milliseconds of pages, round by round.
#[derive(Debug, Default)]
pub(crate) struct Pages {
    /// The first one after the database was opened.
    pub(crate) first: Vec<f64>,
    /// One from the middle, after that.
    pub(crate) middle: Vec<f64>,
}

/// Reads pages of a short trace and of one of 100,000 spans.
///
/// A run of so many steps would take minutes. So the journal of a short run stands there many times over, as the entries of one
/// run: what a page reads, counts and decodes is the same.
pub(crate) async fn pages(folder: &Path) -> Result<[Pages; 2], Failure> {
    let [short, long] = ["short.db", "long.db"].map(|name| folder.join(name));
    let mut runner = Runner::open(&short).await?;
    let run = runner.run(1, STEPS).await?.first().ok_or("a run has ended")?.id;
    runner.engine.close().await;
    fs::copy(&short, &long)?;
    lengthen(&long)?;
    let subjects = [(short, STEPS), (long, STEPS * TIMES)];
    let mut found: [Pages; 2] = Default::default();
    for (round, order) in orders(subjects.len(), ROUNDS + 1, 3).into_iter().enumerate() {
        for at in order {
            let (database, steps) = &subjects[at];
            let [first, middle] = turn(database, run, *steps).await?;
            // The first round warms up.
            if round > 0 {
                found[at].first.push(first);
                found[at].middle.push(middle);
            }
        }
    }
    Ok(found)
}

/// Reads both pages of a trace.
async fn turn(database: &Path, run: Uuid, steps: u64) -> Result<[f64; 2], Failure> {
    let engine = Runner::open(database).await?.engine;
    let run = engine.run_info(run).await?;
    settle().await;
    let mut took = [0.0; 2];
    for (after, took) in [0, steps / 2].into_iter().zip(&mut took) {
        let start = Instant::now();
        let page = engine.span_page(&run, after, PAGE).await?;
        *took = start.elapsed().as_secs_f64() * 1e3;
        assert_eq!((page.items.len(), page.more, page.total), (PAGE, true, steps + 1));
        assert_eq!(page.items[0].number, after + 1);
        assert_eq!(page.items[PAGE - 1].kind, "node");
    }
    engine.close().await;
    Ok(took)
}

/// Puts copies of the steps of the only run behind them.
fn lengthen(database: &Path) -> rusqlite::Result<()> {
    let mut connection = Connection::open(database)?;
    let transaction = connection.transaction()?;
    for time in 1..TIMES {
        transaction
            .prepare_cached(
                "INSERT INTO journal (run, number, time, kind, payload) \
                 SELECT run, number + ?1, time, kind, payload FROM journal \
                 WHERE run = (SELECT id FROM runs) AND number BETWEEN 2 AND ?2",
            )?
            .execute([(time * STEPS).cast_signed(), (STEPS + 1).cast_signed()])?;
    }
    transaction.execute("UPDATE runs SET last = (SELECT MAX(number) FROM journal)", [])?;
    transaction.commit()
}
