//! The capability tree and the list of functions say what is so.

use std::collections::BTreeSet;

use lmlang_streams::{Code, ConstructType, Status, check, functions, plain_text, references, syntax};

/// NL-10: what is called supported plans, and what is called unsupported is refused with its id.
#[test]
fn constructs_are_what_they_are_called() {
    let catalog = super::catalog();
    let mut ids = BTreeSet::new();
    for construct in syntax().all() {
        assert!(ids.insert(&construct.id), "there are two `{}`", construct.id);
        if construct.kind == ConstructType::Group {
            assert!(!construct.children.is_empty() && construct.examples.is_empty(), "{}", construct.id);
            continue;
        }
        assert!(!construct.examples.is_empty(), "`{}` has no example", construct.id);
        for sql in &construct.examples {
            let planned = check(sql, &catalog);
            match construct.status {
                Status::Supported | Status::Partial => {
                    let planned = planned.unwrap_or_else(|errors| panic!("{sql}: {}", plain_text(&errors)));
                    let used = &planned.references().constructs;
                    assert!(
                        used.contains(construct.id.as_str()),
                        "{sql}: `{}` is not in {used:?}",
                        construct.id
                    );
                }
                Status::Unsupported => {
                    let errors = planned.expect_err(sql);
                    let refused: Vec<_> = errors.iter().filter_map(|error| error.construct).collect();
                    assert_eq!(refused, [construct.id.as_str()], "{sql}: {}", plain_text(&errors));
                    let others = errors.iter().filter(|error| error.construct.is_none()).count();
                    assert_eq!(others, 0, "{sql}: {}", plain_text(&errors));
                }
            }
        }
    }
}

/// NL-10: a query uses constructs that the tree has, and supported ones where it plans.
#[test]
fn used_constructs_are_in_the_tree() {
    let catalog = super::catalog();
    let examples =
        syntax().all().into_iter().flat_map(|construct| construct.examples.iter().map(String::as_str));
    let examples = examples.chain(functions().iter().flat_map(|def| def.examples.iter().copied()));
    for sql in examples {
        let Ok(found) = references(sql) else { continue };
        let plans = check(sql, &catalog).is_ok();
        for id in found.constructs {
            let construct = syntax().get(id).unwrap_or_else(|| panic!("`{id}` is not in the tree"));
            assert!(!plans || construct.status != Status::Unsupported, "{sql} plans with `{id}`");
        }
    }
}

/// NL-10: statuses of groups follow from what is inside.
#[test]
fn groups_are_as_their_children() {
    for group in syntax().all().into_iter().filter(|construct| construct.kind == ConstructType::Group) {
        let all = group.children.iter().all(|child| child.status == Status::Supported);
        assert_eq!(group.status, if all { Status::Supported } else { Status::Partial }, "{}", group.id);
    }
}

/// NL-09: every function plans as its examples show, alone and by each of its names.
#[test]
fn functions_are_what_the_planner_has() {
    let catalog = super::catalog();
    let names: Vec<&str> = functions().iter().map(|def| def.name).collect();
    assert!(names.is_sorted(), "{names:?}");
    for def in functions() {
        assert!(!def.examples.is_empty());
        for sql in def.examples {
            for name in std::iter::once(&def.name).chain(def.aliases) {
                let sql = sql.replace(&format!("{}(", def.name), &format!("{name}("));
                let planned =
                    check(&sql, &catalog).unwrap_or_else(|errors| panic!("{sql}: {}", plain_text(&errors)));
                let used = &planned.references().functions;
                assert!(used.iter().any(|found| found.name == *name), "{sql}: {used:?}");
            }
        }
    }
}

/// Every code has an example that gets it, and no other.
#[test]
fn codes_have_examples() {
    let catalog = super::catalog();
    for &code in Code::ALL {
        if code.example().is_empty() {
            assert_eq!(code, Code::Lowering);
            continue;
        }
        let errors = check(code.example(), &catalog).unwrap_err();
        assert!(errors.iter().all(|error| error.code == code), "{code}: {}", plain_text(&errors));
    }
}

/// NL-07: what a query speaks of is found whether it is known or not.
#[test]
fn references_are_all_that_a_query_names() {
    let sql =
        "SELECT nosuch(a.b), max(c) FROM nowhere WHERE d[1] LIKE 'x' GROUP BY e, tumblingwindow('ss', 1)";
    let found = references(sql).unwrap();
    let names = |list: &[lmlang_streams::Reference]| -> Vec<String> {
        list.iter().map(|reference| reference.name.clone()).collect()
    };
    assert_eq!(names(&found.streams), ["nowhere"]);
    assert_eq!(names(&found.columns), ["a.b", "c", "e"]);
    assert_eq!(names(&found.functions), ["nosuch", "max"]);
    assert!(found.constructs.contains("expr.like") && found.constructs.contains("window.tumbling"));
    assert_eq!(found.columns[0].place.column, 15);
}
