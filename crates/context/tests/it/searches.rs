//! Finding by words.

use lmlang_context::search::{Kinds, find, path};
use lmlang_context::words::{is_near, words};
use lmlang_ir::RefKind;

use crate::tools::{examples, read};

const BANK: &str = r#"
module bank

; Money of somebody.
type Account = struct {
  owner: string,
  ; In cents.
  balance: i64
}

; Puts money into an account.
pub func deposit (account: Account, amount: i64) -> (Account) pure {
  require "the amount is positive" = gt_s.i64 amount, 0
  sum = add.i64 (struct.get Account.balance account), amount
  return (struct.set Account.balance account, sum)
}

func checkSumOfHTTPRequests (a: i64) -> (i64) pure { return a }

global interest_rate: i64 = 3
"#;

fn found(question: &str) -> Vec<String> {
    let program = read(BANK);
    find(&program, question, &Kinds::default()).iter().map(|found| path(&program, found.of)).collect()
}

#[test]
fn words_are_found_where_they_stand() {
    assert_eq!(found("deposit")[0], "bank::deposit");
    assert_eq!(found("check sum")[0], "bank::checkSumOfHTTPRequests");
    assert_eq!(found("http")[0], "bank::checkSumOfHTTPRequests");
    assert_eq!(found("interestRate")[0], "bank::interest_rate");
    assert_eq!(found("balance")[0], "bank::Account.balance");
    assert_eq!(found("cents"), ["bank::Account.balance"], "docs count");
    assert!(found("positive")[0].starts_with("bank::deposit::k"), "contracts count");
    assert_eq!(found("depo")[0], "bank::deposit", "beginnings count");
    assert_eq!(found("puts money")[0], "bank::deposit");
}

#[test]
fn nothing_is_invented() {
    assert!(found("zebra").is_empty());
    assert!(found("withdrawal").is_empty(), "what is like it in meaning only");
    assert!(found("?!").is_empty());
}

#[test]
fn slips_are_forgiven_where_nothing_else_is_found() {
    assert_eq!(found("depsoit")[0], "bank::deposit");
    assert_eq!(found("intrest")[0], "bank::interest_rate");
    let program = read(BANK);
    let score = |question: &str| find(&program, question, &Kinds::default())[0].score;
    assert!(score("depsoit") < score("deposit"));
}

#[test]
fn kinds_limit_what_is_looked_at() {
    let program = read(BANK);
    let nodes = find(&program, "sum", &Kinds::new([RefKind::Node]));
    assert!(nodes.iter().all(|found| found.of.kind == RefKind::Node) && !nodes.is_empty());
    assert_eq!(path(&program, nodes[0].of), "bank::deposit::sum");
    let types = find(&program, "account", &Kinds::new([RefKind::Type]));
    assert_eq!(path(&program, types[0].of), "bank::Account");
}

/// Every name finds what has it.
#[test]
fn every_function_is_found_by_its_name() {
    for (name, program) in examples() {
        for (of, function) in program.functions() {
            let found = find(&program, &function.head().name, &Kinds::new([RefKind::Function]));
            let at = found.iter().position(|one| one.of == of.into());
            assert!(at.is_some_and(|at| at < 3), "{name} {} is at {at:?}", function.head().name);
        }
    }
}

#[test]
fn identifiers_are_cut_into_words() {
    for (text, expected) in [
        ("checkSum", vec!["check", "sum"]),
        ("HTTPServer2", vec!["http", "server2"]),
        ("snake_case::and", vec!["snake", "case", "and"]),
        ("", vec![]),
        ("Größe", vec!["größe"]),
    ] {
        assert_eq!(words(text), expected);
    }
}

#[test]
fn slips_are_bounded() {
    for (one, other, near) in [
        ("abc", "abd", false),
        ("abcd", "abce", true),
        ("abcd", "abdc", true),
        ("abcd", "abxy", false),
        ("abcdefgh", "abcdxfgy", true),
        ("abcd", "abcde", true),
    ] {
        assert_eq!(is_near(one, other), near, "{one} {other}");
    }
}
