//! How an entity stands in two states, for whoever took it for what it was in one and finds it as it is in the other.

use std::collections::{BTreeMap, BTreeSet};

use lmlang_ir::{FuncRef, Hash, ModuleRef, Program, Ref, RefKind};

use super::conflict::{MOST_PARTS, differing, doc, documented, standing, text, with_parts};
use crate::request::text_hash;

/// An entity as it stands in two states, with what in it they have differently; in one alone, with what it begins with. Nothing
/// where it does not exist.
pub fn versions(programs: [Option<&Program>; 2], of: Ref) -> [Option<String>; 2] {
    let both = match programs {
        [Some(one), Some(other)] => [one, other],
        _ => return programs.map(|program| program.and_then(|program| alone(program, of))),
    };
    let told = match ModuleRef::try_from(of) {
        Ok(module) => of_modules(both, module),
        Err(_) => {
            let parts: Vec<Ref> = differing(both, of).into_iter().collect();
            with_differing(both, of, &parts)
        }
    };
    // They may differ in the order of what they have.
    match told[0] == told[1] || told.iter().any(Option::is_none) {
        true => both.map(|program| alone(program, of)),
        false => told,
    }
}

/// An entity with some parts, below its doc if that is another one.
fn with_differing(programs: [&Program; 2], of: Ref, parts: &[Ref]) -> [Option<String>; 2] {
    let [one, other] = programs.map(|program| doc(program, of));
    let is_told = one != other;
    programs.map(|program| {
        let head = if is_told { documented(program, of) } else { text(program, of) };
        Some(with_parts(program, of, head?, parts))
    })
}

/// An entity with the first of what is in it.
fn alone(program: &Program, of: Ref) -> Option<String> {
    let head = documented(program, of)?;
    let parts = match (FuncRef::try_from(of), ModuleRef::try_from(of)) {
        (Ok(function), _) => {
            let root = program.function(function).and_then(|function| function.body().root());
            root.map_or_else(Vec::new, |root| standing(program, root.into()))
        }
        (_, Ok(module)) => items(program, module).into_keys().collect(),
        (Err(_), Err(_)) => Vec::new(),
    };
    Some(with_parts(program, of, head, &parts))
}

/// A module with the first of the items that are others, and what in them is.
fn of_modules(programs: [&Program; 2], of: ModuleRef) -> [Option<String>; 2] {
    let [one, other] = programs.map(|program| items(program, of));
    let all: BTreeSet<Ref> = one.keys().chain(other.keys()).copied().collect();
    let mut differing = all.into_iter().filter(|item| one.get(item) != other.get(item));
    let first: Vec<Ref> = differing.by_ref().take(MOST_PARTS).collect();
    let mut told = with_differing(programs, of.into(), &[]);
    for item in first {
        for (side, item) in told.iter_mut().zip(versions(programs.map(Some), item)) {
            let (Some(side), Some(item)) = (side, item) else { continue };
            for line in item.lines() {
                side.push_str("\n  ");
                side.push_str(line);
            }
        }
    }
    if differing.next().is_some() {
        for side in told.iter_mut().flatten() {
            side.push_str("\n  ...");
        }
    }
    told
}

/// The types, storage and functions of a module with their hashes.
fn items(program: &Program, of: ModuleRef) -> BTreeMap<Ref, Hash> {
    let members = program.members(Some(of)).map(|(_, member)| member);
    let items = members.filter(|member| member.kind != RefKind::Module);
    items.filter_map(|item| Some((item, text_hash(program, item)?))).collect()
}

#[cfg(test)]
mod tests {
    use lmlang_ir::RefAllocator;
    use lmlang_ir::text::parse_program;

    use super::*;

    const TEXT: &str = "module shop#m1

; What it costs.
pub func price#f2 (net: i64) -> (i64) pure {
  rate#n3 = const.i64 19
  tax#n4 = mul.i64 net, rate
  return#n5 tax
}

pub func half#f6 (n: i64) -> (i64) pure {
  return#n7 (div_s.i64#n8 n, 2#n9)
}
";

    fn program(text: &str) -> Program {
        parse_program(text, &mut RefAllocator::starting_at(1)).unwrap()
    }

    fn told(one: &str, other: Option<&str>, of: &str) -> [String; 2] {
        let (one, other) = (program(one), other.map(program));
        versions([Some(&one), other.as_ref()], of.parse().unwrap()).map(Option::unwrap_or_default)
    }

    #[test]
    fn what_differs_is_shown_on_both_sides() {
        let other = TEXT.replace("19", "7");
        for of in ["f2", "m1"] {
            let [before, after] = told(TEXT, Some(&other), of);
            assert!(before.contains("price#f2") && before.contains("const.i64 19"), "{before}");
            assert!(after.contains("price#f2") && after.contains("const.i64 7"), "{after}");
            for side in [&before, &after] {
                assert!(!side.contains("mul.i64") && !side.contains("half"), "{side}");
                assert!(!side.contains("What it costs"), "{side}");
            }
        }
        let other = TEXT.replace("What it costs", "With tax");
        let [before, after] = told(TEXT, Some(&other), "f2");
        assert!(before.starts_with("; What it costs.\n"), "{before}");
        assert!(after.starts_with("; With tax.\n"), "{after}");
    }

    #[test]
    fn what_is_on_one_side_only_is_shown_with_what_is_in_it() {
        let [there, gone] = told(TEXT, None, "f2");
        assert!(there.contains("const.i64 19") && there.contains("return#n5"), "{there}");
        assert_eq!(gone, "");
        let [module, _] = told(TEXT, None, "m1");
        assert!(module.contains("price#f2") && module.contains("half#f6"), "{module}");
        let without = TEXT.split("\npub func half").next().unwrap();
        let [there, gone] = told(TEXT, Some(without), "f6");
        assert!(there.contains("div_s.i64"), "{there}");
        assert_eq!(gone, "");
    }
}
