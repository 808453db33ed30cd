use super::*;

fn check(text: &str, expect: Result<(Base, u32), &str>) {
    let found = text.parse::<RevisionName>();
    match expect {
        Ok((base, back)) => {
            let found = found.unwrap();
            assert_eq!(found, RevisionName { base, back }, "{text}");
            assert_eq!(found.to_string().parse::<RevisionName>().unwrap(), found, "{text}");
        }
        Err(message) => assert_eq!(found.unwrap_err().to_string(), message, "{text}"),
    }
}

#[test]
fn names_of_revisions() {
    let named = |name: &str| Base::Named(name.to_string());
    check("main", Ok((named("main"), 0)));
    check("main~2", Ok((named("main"), 2)));
    check("main~", Ok((named("main"), 1)));
    check("r118", Ok((Base::Number(118), 0)));
    check("r118~3", Ok((Base::Number(118), 3)));
    check("3FA94C01", Ok((Base::Hash("3fa94c01".to_string()), 0)));
    check("3fa94c0", Ok((named("3fa94c0"), 0)));
    check("before the rewrite", Ok((named("before the rewrite"), 0)));
    check("feature/x", Ok((named("feature/x"), 0)));
    check("r", Ok((named("r"), 0)));
    check("", Err("a revision's name is empty"));
    check("~2", Err("a revision's name is empty"));
    check("main~x", Err("expected a number after `~` in `main~x`"));
    check("main~+1", Err("expected a number after `~` in `main~+1`"));
    check("main~99999999999", Err("expected a number after `~` in `main~99999999999`"));
    check("r0", Err("`r0` is no number of a revision: they start at r1"));
    check(
        "r99999999999999999999",
        Err("`r99999999999999999999` is no number of a revision: they start at r1"),
    );
    check("a@b", Err("`a@b` contains '@'"));
    check("feature/f7", Err("`feature/f7` cannot be a name: it reads as a part of an id"));
}

#[test]
fn names_that_are_refused() {
    for name in
        ["", " main", "a~b", "a@b", "a\nb", "r7", "deadbeef", "dry-1", "x/n12", "x/", &"x".repeat(201)]
    {
        assert!(check_name(name).is_err(), "{name:?}");
    }
    for name in ["main", "release 1.0", "v1", "dead", "f7", "größe"] {
        assert_eq!(check_name(name), Ok(()), "{name:?}");
    }
}

/// What was called so before stays reachable.
#[test]
fn new_names_can_stand_in_a_range() {
    for name in ["a..b", "..", ".a", "a.", "main..r1"] {
        assert_eq!(check_new_name(name), Err(NameError::LikeRange(name.to_owned())), "{name:?}");
        check(name, Ok((Base::Named(name.to_owned()), 0)));
    }
    assert!(check_new_name("a~b").is_err());
    for name in ["v1.0", "a.b.c", "release 1.0"] {
        assert_eq!(check_new_name(name), Ok(()), "{name:?}");
    }
}

/// Nobody tells `main` from one that has a character more which is not seen. What was called so before stays reachable.
#[test]
fn new_names_are_seen_as_they_are() {
    for name in ["main\u{200b}", "\u{feff}x", "a\u{202e}b", "a\u{2028}b", "a\u{ad}b", "\u{2066}"] {
        let refused = check_new_name(name);
        assert!(matches!(refused, Err(NameError::Character { .. })), "{name:?}: {refused:?}");
        check(name, Ok((Base::Named(name.to_owned()), 0)));
    }
    for name in ["größe", "ветка", "分支", "e\u{301}", "☕"] {
        assert_eq!(check_new_name(name), Ok(()), "{name:?}");
    }
}

#[test]
fn digits_stand_for_the_hashes_that_begin_with_them() {
    let (first, last) = hashes_from("00000001f");
    assert_eq!(first.to_string(), format!("00000001f{}", "0".repeat(55)));
    assert_eq!(last.to_string(), format!("00000001f{}", "f".repeat(55)));
    let whole = "0123456789abcdef".repeat(4);
    assert_eq!(hashes_from(&whole), (Hash::from_hex(&whole).unwrap(), Hash::from_hex(&whole).unwrap()));
}
