//! Windows and aggregates against a plain computation of the same.

use lmlang_streams::{Bounds, Sample, check, simulate};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

#[derive(Clone, Debug)]
struct Row {
    time: i64,
    device: &'static str,
    level: Option<i64>,
}

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let row = (0..700_i64, prop::sample::select(vec!["a", "b"]), prop::option::of(-5..6_i64));
    prop::collection::vec(row, 0..20).prop_map(|rows| {
        let mut time = 0;
        rows.into_iter()
            .map(|(gap, device, level)| {
                time += gap;
                Row { time, device, level }
            })
            .collect()
    })
}

/// The rows of each group of a window, in the order of their first rows.
fn grouped(rows: &[Row]) -> Vec<Vec<Row>> {
    let mut groups: Vec<Vec<Row>> = Vec::new();
    for row in rows {
        match groups.iter_mut().find(|group| group[0].device == row.device) {
            Some(group) => group.push(row.clone()),
            None => groups.push(vec![row.clone()]),
        }
    }
    groups
}

fn expected(windows: &[Vec<Row>]) -> Vec<Json> {
    let mut found = Vec::new();
    for group in windows.iter().flat_map(|window| grouped(window)) {
        let levels: Vec<i64> = group.iter().filter_map(|row| row.level).collect();
        let sum = (!levels.is_empty()).then(|| levels.iter().sum::<i64>());
        let mean = sum.map(|sum| sum as f64 / levels.len() as f64);
        found.push(json!({
            "device": group[0].device, "rows": group.len(), "n": levels.len(), "sum": sum, "mean": mean,
            "least": levels.iter().min(), "most": levels.iter().max(),
            "first": group[0].level, "last": group[group.len() - 1].level,
        }));
    }
    found
}

fn simulated(rows: &[Row], window: &str) -> Vec<Json> {
    let sql = format!(
        "SELECT device, count(*) AS rows, count(level) AS n, sum(level) AS sum, avg(level) AS mean, min(level) AS least, \
         max(level) AS most, first(level) AS first, last(level) AS last FROM readings GROUP BY device, {window}"
    );
    let planned = check(&sql, &super::catalog()).unwrap();
    let rows: Vec<Json> = rows
        .iter()
        .map(|row| json!({ "at_ms": row.time, "row": { "device": row.device, "level": row.level } }))
        .collect();
    let sample: Sample = serde_json::from_value(json!({ "rows": rows })).unwrap();
    let done = simulate(&planned, &sample, &Bounds::default()).unwrap();
    done.rows.into_iter().map(|output| Json::Object(output.row)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn tumbling_windows(rows in rows()) {
        let mut windows: Vec<Vec<Row>> = Vec::new();
        for row in &rows {
            match windows.last_mut() {
                Some(window) if window[0].time / 1_000 == row.time / 1_000 => window.push(row.clone()),
                _ => windows.push(vec![row.clone()]),
            }
        }
        prop_assert_eq!(simulated(&rows, "tumblingwindow('ss', 1)"), expected(&windows));
    }

    #[test]
    fn sliding_windows(rows in rows()) {
        let windows: Vec<Vec<Row>> = (0..rows.len())
            .map(|last| rows[..=last].iter().filter(|row| row.time > rows[last].time - 1_000).cloned().collect())
            .collect();
        prop_assert_eq!(simulated(&rows, "slidingwindow('ss', 1)"), expected(&windows));
    }

    #[test]
    fn count_windows(rows in rows()) {
        let windows: Vec<Vec<Row>> = rows.chunks_exact(3).map(<[Row]>::to_vec).collect();
        prop_assert_eq!(simulated(&rows, "countwindow(3)"), expected(&windows));
    }
}
