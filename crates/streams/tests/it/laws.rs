//! What holds for any text and any query.

use lmlang_streams::{Bounds, Catalog, Code, Sample, SimulateCode, check, explain, references, simulate};
use proptest::prelude::*;
use serde_json::{Map, Value as Json, json};

const CASES: u32 = 1_000;

/// Words of queries, in an order that makes sense now and then.
fn rubbish() -> impl Strategy<Value = String> {
    let words = vec![
        "SELECT",
        "FROM",
        "WHERE",
        "GROUP BY",
        "HAVING",
        "ORDER BY",
        "AS",
        "AND",
        "OR",
        "NOT",
        "IS",
        "NULL",
        "CASE",
        "WHEN",
        "THEN",
        "ELSE",
        "END",
        "BETWEEN",
        "IN",
        "LIKE",
        "CAST",
        "readings",
        "temp",
        "device",
        "level",
        "ok",
        "pos",
        "tags",
        "nope",
        "*",
        ",",
        "(",
        ")",
        "[",
        "]",
        ".",
        "->",
        "+",
        "-",
        "/",
        "%",
        "=",
        "<",
        "||",
        "1",
        "0",
        "1.5",
        "9223372036854775808",
        "'a'",
        "'",
        "\"",
        "`",
        "count",
        "sum",
        "lag",
        "tumblingwindow",
        "countwindow",
        "'ss'",
        "OVER",
        "PARTITION BY",
        "UNION",
        "WITH",
        ";",
        "--",
        "/*",
        "\u{e9}",
        "INTERVAL",
        "DISTINCT",
        "JOIN",
        "ON",
        "EXISTS",
        "@",
        "#",
        "$1",
        "{",
        "}",
        ":",
        "::",
        "?",
        "\\",
        "\n",
    ];
    prop::collection::vec(prop::sample::select(words), 0..40).prop_map(|words| words.join(" "))
}

fn number() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "temp",
        "level",
        "small",
        "pos.x",
        "readings.level",
        "0",
        "1",
        "-1",
        "2.5",
        "NULL",
        "9223372036854775807",
        "CAST(device AS bigint)",
        "CAST(at AS bigint)",
        "CAST(tags[0] AS double)",
    ])
    .prop_map(str::to_owned);
    leaf.prop_recursive(4, 24, 3, |inner| {
        let op = prop::sample::select(vec!["+", "-", "*", "/"]);
        let one = prop::sample::select(vec!["abs", "ceil", "floor", "round", "sqrt"]);
        prop_oneof![
            (inner.clone(), op, inner.clone()).prop_map(|(a, op, b)| format!("({a} {op} {b})")),
            (one, inner.clone()).prop_map(|(f, a)| format!("{f}({a})")),
            inner.clone().prop_map(|a| format!("(- {a})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("coalesce({a}, {b})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("nullif({a}, {b})")),
            (inner.clone(), inner.clone())
                .prop_map(|(a, b)| format!("mod(CAST({a} AS bigint), CAST({b} AS bigint))")),
            (inner.clone(), 0..4).prop_map(|(a, n)| format!("power({a}, {n})")),
            (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(a, b, c)| format!("CASE WHEN {a} < {b} THEN {c} ELSE {a} END")),
            (inner.clone(), inner).prop_map(|(a, b)| format!("CASE {a} WHEN 1 THEN {b} WHEN {b} THEN 2 END")),
        ]
    })
}

fn condition() -> impl Strategy<Value = String> {
    let compare = prop::sample::select(vec!["=", "<>", "<", "<=", ">", ">="]);
    let leaf = prop_oneof![
        (number(), compare, number()).prop_map(|(a, op, b)| format!("({a} {op} {b})")),
        Just("ok".to_owned()),
        Just("device = 'a'".to_owned()),
        Just("tags[0] || device > 'b'".to_owned()),
        number().prop_map(|a| format!("{a} IS NULL")),
        (number(), number(), number()).prop_map(|(a, b, c)| format!("({a} NOT BETWEEN {b} AND {c})")),
        (number(), number()).prop_map(|(a, b)| format!("({a} IN ({b}, 1, NULL))")),
    ];
    leaf.prop_recursive(3, 8, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} AND {b})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} OR {b})")),
            inner.clone().prop_map(|a| format!("(NOT {a})")),
            inner.prop_map(|a| format!("({a} IS NOT TRUE)")),
        ]
    })
}

/// Queries that plan, whatever they mean.
fn query() -> impl Strategy<Value = String> {
    let filter = prop::option::of(condition())
        .prop_map(|filter| filter.map_or(String::new(), |filter| format!(" WHERE {filter}")))
        .boxed();
    let plain = (prop::collection::vec(number(), 1..4), filter.clone()).prop_map(|(items, filter)| {
        format!(
            "SELECT {}, *, lag(level) AS before, changed(device) AS other FROM readings{filter}",
            named(&items)
        )
    });
    let aggregate =
        (prop::sample::select(vec!["sum", "avg", "min", "max", "count", "first", "last"]), number())
            .prop_map(|(name, of)| format!("{name}({of})"));
    let window = prop::sample::select(vec![
        "tumblingwindow('ss', 1)",
        "slidingwindow('ms', 1500)",
        "countwindow(2)",
        "countwindow(1)",
    ]);
    let windowed = (prop::collection::vec(aggregate, 1..4), filter, number(), window, any::<bool>()).prop_map(
        |(items, filter, key, window, having)| {
            let having = if having { format!(" HAVING {} IS NOT NULL OR count(*) > 1", items[0]) } else { String::new() };
            format!(
                "SELECT {}, device, last(pos) AS place FROM readings{filter} GROUP BY device, abs({key}), {window}{having}",
                named(&items)
            )
        },
    );
    prop_oneof![plain, windowed]
}

fn named(items: &[String]) -> String {
    let items: Vec<String> =
        items.iter().enumerate().map(|(index, item)| format!("{item} AS i{index}")).collect();
    items.join(", ")
}

fn row() -> impl Strategy<Value = Map<String, Json>> {
    let value = |name: &'static str| {
        let values = match name {
            "device" => vec![json!("a"), json!("b"), json!("12"), json!("é\"\\"), json!(null)],
            "temp" => vec![json!(0), json!(-0.0), json!(1e308), json!(-2.5), json!(null)],
            "level" => vec![json!(0), json!(-1), json!(i64::MIN), json!(i64::MAX), json!(null)],
            "small" => vec![json!(7), json!(null)],
            "ok" => vec![json!(true), json!(false), json!(null)],
            "at" => vec![json!(0), json!(1_000), json!(2_500)],
            "pos" => vec![json!({"x": 1.5}), json!({"x": 1, "y": null}), json!(null)],
            _ => vec![json!(["1.5", null]), json!([]), json!(null)],
        };
        prop::sample::select(values).prop_map(move |value| (name.to_owned(), value))
    };
    (
        value("device"),
        value("temp"),
        value("level"),
        value("small"),
        value("ok"),
        value("at"),
        value("pos"),
        value("tags"),
    )
        .prop_map(|(a, b, c, d, e, f, g, h)| Map::from_iter([a, b, c, d, e, f, g, h]))
}

fn sample() -> impl Strategy<Value = Sample> {
    (prop::collection::vec((0..2_000_i64, row()), 0..6), any::<bool>(), 0..2_000_u64).prop_map(
        |(rows, enabled, late_tolerance_ms)| {
            let mut at = 0;
            let rows: Vec<Json> = rows
                .into_iter()
                .map(|(gap, row)| {
                    at += gap;
                    json!({ "at_ms": at, "row": row })
                })
                .collect();
            let eventtime = json!({ "enabled": enabled, "late_tolerance_ms": late_tolerance_ms });
            serde_json::from_value(json!({ "rows": rows, "eventtime": eventtime })).unwrap()
        },
    )
}

/// Whatever plans explains and simulates, each time alike, and never meets a mistake of the planner.
fn holds(sql: &str, catalog: &Catalog, sample: &Sample) -> Result<bool, TestCaseError> {
    let planned = match check(sql, catalog) {
        Ok(planned) => planned,
        Err(errors) => {
            prop_assert!(!errors.is_empty());
            for error in &errors {
                prop_assert!(error.code != Code::Lowering, "{sql}: {error}");
                prop_assert!(error.place.line > 0 && error.place.column > 0, "{sql}: {error:?}");
            }
            return Ok(false);
        }
    };
    let again = check(sql, catalog).unwrap();
    prop_assert_eq!(planned.program_text(), again.program_text());
    prop_assert_eq!(explain::pretty(&planned), explain::pretty(&again));
    for (_, function) in planned.functions() {
        prop_assert!(planned.program().complete(function).is_some());
    }
    let bounds = Bounds { fuel: 2_000_000, ..Bounds::default() };
    match simulate(&planned, sample, &bounds) {
        Ok(done) => {
            let columns = planned.output();
            for output in &done.rows {
                prop_assert_eq!(output.row.len(), columns.len());
            }
            prop_assert_eq!(Ok(done), simulate(&again, sample, &bounds));
        }
        Err(errors) => {
            for error in &errors {
                let fits = matches!(error.code, SimulateCode::NotFinite | SimulateCode::Limit);
                prop_assert!(fits, "{sql}: {error}");
            }
        }
    }
    Ok(true)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, ..ProptestConfig::default() })]

    /// NL-07, NL-33: no text makes the planner panic.
    #[test]
    fn rubbish_is_refused(sql in rubbish(), sample in sample()) {
        drop(references(&sql));
        holds(&sql, &super::catalog(), &sample)?;
    }

    /// Nor do characters.
    #[test]
    fn characters_are_refused(sql in ".{0,60}") {
        drop(check(&sql, &super::catalog()));
    }

    /// NL-33: what is right plans, verifies and simulates.
    #[test]
    fn queries_run(sql in query(), sample in sample()) {
        prop_assert!(holds(&sql, &super::catalog(), &sample)?, "{sql}: {:?}", check(&sql, &super::catalog()).err());
    }
}

/// Long and deep texts are refused in good time, and without filling the stack.
#[test]
fn large_texts_are_refused() {
    let catalog = super::catalog();
    let around = |expr: String| format!("SELECT {expr} FROM readings");
    let texts = [
        around("(".repeat(900) + "1" + &")".repeat(900)),
        around("-".repeat(900) + "1"),
        around("NOT ".repeat(900) + "ok"),
        around("1".to_owned() + &" + 1".repeat(900)),
        around("abs(".repeat(400) + "1" + &")".repeat(400)),
        around("CASE WHEN ok THEN ".repeat(200) + "1" + &" END".repeat(200)),
        around("tags".to_owned() + &"[0]".repeat(400)),
        around("pos".to_owned() + &".x".repeat(400)),
        around("a".repeat(40_000)),
        "(".repeat(1_900) + "SELECT 1",
        "SELECT (SELECT ".repeat(300),
    ];
    for sql in texts {
        let errors = check(&sql, &catalog).expect_err(&sql[..60]);
        assert!(!errors.is_empty());
    }
}
