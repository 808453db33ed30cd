//! Which runs one waits for: what these ask is asked for it, too.

/// Of the runs of a session, the newest first as a session lists them, those that a run waits for, and those that these wait for,
/// the oldest first.
pub fn waited_for<R>(
    run: &str,
    mut runs: Vec<R>,
    id: impl Fn(&R) -> &str,
    parent: impl Fn(&R) -> Option<&str>,
) -> Vec<R> {
    let mut known = vec![run.to_owned()];
    // Whoever waits is older than what it waits for.
    runs.reverse();
    runs.retain(|of| {
        let is_waited_for = parent(of).is_some_and(|parent| known.iter().any(|known| known == parent));
        if is_waited_for {
            known.push(id(of).to_owned());
        }
        is_waited_for
    });
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_waited_for_is_waited_for_by_whoever_waits_for_that() {
        // Pairs of a run and the one that waits for it, the newest first.
        let runs = vec![
            ("f", None),
            ("e", Some("d")),
            ("d", Some("b")),
            ("c", Some("gone")),
            ("b", Some("a")),
            ("a", None),
        ];
        let found = |run| {
            let found = waited_for(run, runs.clone(), |of| of.0, |of| of.1);
            found.into_iter().map(|of| of.0).collect::<String>()
        };
        assert_eq!(found("a"), "bde");
        assert_eq!(found("d"), "e");
        assert_eq!(found("f"), "");
    }
}
