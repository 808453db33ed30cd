//! The dependency policy of deny.toml: licences, bans, sources.
//!
//! A check of our own, because `cargo-deny` takes longer to build than the workspace. It covers what of the policy can
//! be told without the network.

use std::fs;

use anyhow::{Context, Result};
use toml::{Table, Value};

use crate::report::Findings;
use crate::workspace::{Workspace, items};

/// Checks every package that any target of the workspace depends on.
pub(crate) fn check(workspace: &Workspace) -> Result<Findings> {
    let policy: Table = fs::read_to_string(workspace.path("deny.toml"))?.parse().context("deny.toml")?;
    let allowed = list(&policy, "licenses", "allow").filter_map(Value::as_str).collect::<Vec<_>>();
    let banned = list(&policy, "bans", "deny").filter_map(Value::as_table).collect::<Vec<_>>();
    let metadata = workspace.metadata(true)?;
    let mut wrong = Vec::new();
    for package in items(&metadata["packages"]) {
        let name = package["name"].as_str().context("a package has a name")?;
        match package["license"].as_str() {
            Some(licence) if allows(licence, &allowed) => {}
            Some(licence) => wrong.push(format!("`{name}` is licensed as `{licence}`")),
            None => wrong.push(format!("`{name}` names no licence")),
        }
        if let Some(ban) = banned.iter().find(|ban| ban.get("crate").and_then(Value::as_str) == Some(name)) {
            let reason = ban.get("reason").and_then(Value::as_str).unwrap_or_default();
            wrong.push(format!("`{name}` is banned: {reason}"));
        }
        if let Some(source) = package["source"].as_str()
            && !source.starts_with("registry+")
            && !source.starts_with("sparse+")
        {
            wrong.push(format!("`{name}` does not come from the registry"));
        }
    }
    Ok(Findings::of(wrong))
}

fn list<'a>(policy: &'a Table, section: &str, key: &str) -> impl Iterator<Item = &'a Value> {
    let list = policy.get(section).and_then(|section| section.get(key)).and_then(Value::as_array);
    list.into_iter().flatten()
}

/// Says whether an SPDX expression can be met with the allowed licences; `/` is the old way to write `OR`.
fn allows(expression: &str, allowed: &[&str]) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<_> = spaced.split_whitespace().collect();
    let mut rest = &words[..];
    let met = any_of(&mut rest, allowed);
    met && rest.is_empty()
}

fn any_of(rest: &mut &[&str], allowed: &[&str]) -> bool {
    let mut met = all_of(rest, allowed);
    while let ["OR", after @ ..] = rest {
        *rest = after;
        met |= all_of(rest, allowed);
    }
    met
}

fn all_of(rest: &mut &[&str], allowed: &[&str]) -> bool {
    let mut met = one(rest, allowed);
    while let ["AND", after @ ..] = rest {
        *rest = after;
        met &= one(rest, allowed);
    }
    met
}

fn one(rest: &mut &[&str], allowed: &[&str]) -> bool {
    match *rest {
        ["(", after @ ..] => {
            *rest = after;
            let met = any_of(rest, allowed);
            let closed = rest.first() == Some(&")");
            *rest = rest.get(1..).unwrap_or_default();
            met && closed
        }
        [licence, "WITH", exception, after @ ..] => {
            *rest = after;
            allowed.contains(&&*format!("{licence} WITH {exception}"))
        }
        [licence, after @ ..] => {
            *rest = after;
            // A plus means this version or any later one.
            allowed.contains(&licence.trim_end_matches('+'))
        }
        [] => false,
    }
}

#[cfg(test)]
mod tests {
    use super::allows;

    fn check(expression: &str, expect: bool) {
        let allowed = ["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "Unicode-3.0"];
        assert_eq!(allows(expression, &allowed), expect, "{expression}");
    }

    #[test]
    fn licence_expressions_are_evaluated() {
        check("MIT", true);
        check("Apache-2.0+", true);
        check("GPL-3.0", false);
        check("MIT OR GPL-3.0", true);
        check("MIT AND GPL-3.0", false);
        check("MIT/Apache-2.0", true);
        check("(MIT OR GPL-3.0) AND Unicode-3.0", true);
        check("GPL-3.0 OR MIT AND Unicode-3.0", true);
        check("Apache-2.0 WITH LLVM-exception OR GPL-3.0", true);
        check("MIT WITH LLVM-exception", false);
        check("(MIT", false);
        check("", false);
    }
}
