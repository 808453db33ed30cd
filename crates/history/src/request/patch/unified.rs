//! Unified diffs: what they say, and how they are applied to a text.
//!
//! Written for those who write them by hand: the counts in a `@@` line are not believed, its line numbers are where the
//! search begins, blanks at the ends of a line do not matter. What must be there is the text of the lines that a hunk keeps
//! and removes.

/// What a patch says of one text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FilePatch<'p> {
    /// What the `---` line names; `None` for `/dev/null`.
    pub(super) old: Option<&'p str>,
    /// What the `+++` line names; `None` for `/dev/null`.
    pub(super) new: Option<&'p str>,
    /// The line of the patch that names it, from 1.
    pub(super) line: u32,
    pub(super) hunks: Vec<Hunk<'p>>,
}

/// One hunk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Hunk<'p> {
    /// The line of the patch with its `@@`, from 1.
    pub(super) line: u32,
    /// The line of the old text that its first one is, from 1, as it says.
    pub(super) start: Option<usize>,
    lines: Vec<Line<'p>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Line<'p> {
    side: Side,
    text: &'p str,
    /// Its line in the patch, from 1.
    at: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Both,
    Old,
    New,
}

/// A line of a patch that does not follow its form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Malformed {
    pub(super) line: u32,
    pub(super) expected: &'static str,
    pub(super) found: String,
}

/// The name in a `---` or `+++` line, without the date that may follow.
fn file_name(text: &str) -> Option<&str> {
    let name = text.split('\t').next().unwrap_or(text).trim();
    (name != "/dev/null").then_some(name)
}

/// Reads a patch: all texts that it changes, and all lines that say nothing.
pub(super) fn parse(patch: &str) -> (Vec<FilePatch<'_>>, Vec<Malformed>) {
    let (mut files, mut malformed): (Vec<FilePatch<'_>>, Vec<Malformed>) = (Vec::new(), Vec::new());
    let mut lines = (1u32..).zip(patch.lines()).peekable();
    while let Some((at, line)) = lines.next() {
        let wrong = |expected| Malformed { line: at, expected, found: line.chars().take(80).collect() };
        let names_both = lines.peek().is_some_and(|(_, next)| next.starts_with("+++ "));
        if let (Some(old), true) = (line.strip_prefix("--- "), names_both) {
            let new = lines.next().and_then(|(_, next)| next.strip_prefix("+++ ")).and_then(file_name);
            files.push(FilePatch { old: file_name(old), new, line: at, hunks: Vec::new() });
            continue;
        }
        let Some(file) = files.last_mut() else {
            // What stands before the first text is the message of a commit, or a heading.
            continue;
        };
        if line.starts_with("@@") {
            file.hunks.push(Hunk { line: at, start: old_start(line), lines: Vec::new() });
            continue;
        }
        let headings = ["diff ", "index ", "new file mode", "deleted file mode", "similarity ", "rename "];
        if headings.iter().any(|heading| line.starts_with(heading)) {
            continue;
        }
        let mut push = |side, text| match file.hunks.last_mut() {
            Some(hunk) => hunk.lines.push(Line { side, text, at }),
            None => malformed.push(wrong("`@@ -1,3 +1,4 @@`, before the lines of a hunk")),
        };
        match line.chars().next() {
            Some(' ') => push(Side::Both, &line[1..]),
            Some('-') => push(Side::Old, &line[1..]),
            Some('+') => push(Side::New, &line[1..]),
            None => push(Side::Both, ""),
            Some('\\') => {}
            Some(_) => malformed.push(wrong("a line that begins with a blank, `-` or `+`")),
        }
    }
    for file in &mut files {
        for hunk in &mut file.hunks {
            // Empty lines at the end are what stands between hunks, or behind the patch.
            while hunk.lines.pop_if(|line| line.side == Side::Both && line.text.is_empty()).is_some() {}
        }
    }
    if files.is_empty() {
        let found = patch.lines().next().unwrap_or_default().chars().take(80).collect();
        malformed.insert(0, Malformed { line: 1, expected: "`--- a/NAME` and `+++ b/NAME`", found });
    }
    (files, malformed)
}

/// The first number of `@@ -12,3 +12,4 @@`.
fn old_start(line: &str) -> Option<usize> {
    let numbers = line.split_once('-')?.1;
    numbers.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// A text that a patch was applied to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Patched {
    pub(super) text: String,
    /// For each line of it the one of the patch that it comes from.
    pub(super) origins: Vec<Option<u32>>,
    /// How far the hunks were from where they say they are, all together.
    pub(super) distance: usize,
}

/// A hunk that does not apply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Misfit {
    /// Its position in the text's hunks, from 1.
    pub(super) hunk: usize,
    /// The line of the patch that is not there.
    pub(super) line: u32,
    pub(super) expected: String,
    /// The line of the text in its stead, and its number from 1.
    pub(super) found: Option<(usize, String)>,
    /// Where the hunk would fit, if it fits at more than one place and does not say at which.
    pub(super) fits: Vec<usize>,
}

/// Applies the hunks of one text, in order.
pub(super) fn apply(text: &str, hunks: &[Hunk<'_>]) -> Result<Patched, Vec<Misfit>> {
    let lines: Vec<&str> = text.lines().collect();
    let (mut out, mut origins): (Vec<&str>, Vec<Option<u32>>) = (Vec::new(), Vec::new());
    let (mut next, mut shift, mut distance) = (0usize, 0isize, 0usize);
    let mut misfits = Vec::new();
    for (index, hunk) in hunks.iter().enumerate() {
        let wanted = hunk.start.map(|start| (start.saturating_sub(1) as isize + shift).max(0) as usize);
        let at = match find(&lines, hunk, next, wanted) {
            Ok(at) => at,
            Err(misfit) => {
                misfits.push(Misfit { hunk: index + 1, ..misfit });
                continue;
            }
        };
        if let Some(start) = hunk.start {
            // Where this one was found, the next ones are likely to be as far off.
            shift = at as isize - start.saturating_sub(1) as isize;
            distance += shift.unsigned_abs();
        }
        out.extend(&lines[next..at]);
        origins.resize(out.len(), None);
        next = at;
        for line in &hunk.lines {
            match line.side {
                Side::Both => {
                    out.push(lines[next]);
                    origins.push(Some(line.at));
                    next += 1;
                }
                Side::Old => next += 1,
                Side::New => {
                    out.push(line.text);
                    origins.push(Some(line.at));
                }
            }
        }
    }
    if !misfits.is_empty() {
        return Err(misfits);
    }
    out.extend(&lines[next..]);
    origins.resize(out.len(), None);
    let mut text = out.join("\n");
    text.push('\n');
    Ok(Patched { text, origins, distance })
}

/// Whether a line of a patch is one of the text: blanks around it do not matter, nor refs that only one of them gives.
fn same(patch: &str, text: &str) -> bool {
    let (patch, text) = (patch.trim(), text.trim());
    patch == text || without_refs(text) == patch || without_refs(patch) == text
}

/// A line without the refs behind its names: `t = add.i64 p, 1` of `t#n14 = add.i64 p, 1#n13`, `func f () {` of
/// `func f#f2 () #g3 {`.
fn without_refs(line: &str) -> String {
    let mut parts = line.split('#');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.get(1..).unwrap_or_default();
        let rest = digits.trim_start_matches(|c: char| c.is_ascii_digit());
        match part.starts_with(|c: char| "mtdfgvkn".contains(c)) && rest.len() < digits.len() {
            // The ref of a region stands alone before its brace.
            true if out.ends_with(' ') => out.push_str(rest.trim_start()),
            true => out.push_str(rest),
            false => {
                out.push('#');
                out.push_str(part);
            }
        }
    }
    out
}

/// Where a hunk fits, nearest to where it says it is.
fn find(lines: &[&str], hunk: &Hunk<'_>, from: usize, wanted: Option<usize>) -> Result<usize, Misfit> {
    let old: Vec<&Line<'_>> = hunk.lines.iter().filter(|line| line.side != Side::New).collect();
    let count_at = |at: usize| {
        let text = lines.get(at..).unwrap_or_default();
        old.iter().zip(text).take_while(|(line, text)| same(line.text, text)).count()
    };
    if old.is_empty() {
        // Lines alone go behind the line that the hunk names: `@@ -3,0 +4,2 @@`.
        let at = hunk.start.map_or(lines.len(), |start| start.min(lines.len()));
        return Ok(at.max(from));
    }
    let mut fits: Vec<usize> = (from..lines.len()).filter(|at| count_at(*at) == old.len()).collect();
    let misfit = |line: &Line<'_>, found: Option<(usize, String)>, fits: Vec<usize>| Misfit {
        hunk: 0,
        line: line.at,
        expected: line.text.to_owned(),
        found,
        fits: fits.into_iter().map(|at| at + 1).collect(),
    };
    match (fits.as_slice(), wanted) {
        ([only], _) => Ok(*only),
        ([_, ..], Some(wanted)) => {
            fits.sort_by_key(|at| at.abs_diff(wanted));
            Ok(fits[0])
        }
        ([_, ..], None) => Err(misfit(old[0], None, fits)),
        ([], _) => {
            // The place where most of its first lines are; of several the nearest.
            let near = |at: &usize| wanted.map_or(*at, |wanted| at.abs_diff(wanted));
            let best = (from..lines.len()).max_by_key(|at| (count_at(*at), std::cmp::Reverse(near(at))));
            let at = match best {
                Some(best) if count_at(best) > 0 => best,
                Some(_) | None => wanted.unwrap_or(from),
            };
            let met = count_at(at).min(old.len() - 1);
            let found = lines.get(at + met).map(|text| (at + met + 1, (*text).to_owned()));
            Err(misfit(old[met], found, Vec::new()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "a\n  b\nc\nd\nb\nc\ne\n";

    fn patched(patch: &str) -> String {
        let (files, malformed) = parse(patch);
        assert_eq!(malformed, []);
        match apply(TEXT, &files[0].hunks) {
            Ok(patched) => patched.text.replace('\n', " "),
            Err(misfits) => format!("{:?}", misfits[0]),
        }
    }

    #[test]
    fn hunks_are_found_by_their_lines() {
        let check = |patch: &str, expected: &str| {
            assert_eq!(patched(&format!("--- a/x\n+++ b/x\n{patch}")), expected, "{patch}");
        };
        check("@@ -1,2 +1,2 @@\n a\n-b\n+B\n", "a B c d b c e ");
        check("@@ -5,2 +5,2 @@\n-b\n+B\n c\n", "a   b c d B c e ");
        check("@@ -2,2 +2,2 @@\n-b\n+B\n c\n", "a B c d b c e ");
        check("@@ -9,9 +1,1 @@\n-d\n+D\n", "a   b c D b c e ");
        check("@@\n-d\n\n", "a   b c b c e ");
        check("@@ -1,1 +1,1 @@\n-a\n@@ -7,1 +6,1 @@\n-e\n+E\n", "  b c d b c E ");
        check("@@ -3,0 +4,1 @@\n+new\n", "a   b c new d b c e ");
        check(
            "@@ -1,3 +1,3 @@\n a\n b\n-x\n+y\n",
            "Misfit { hunk: 1, line: 6, expected: \"x\", found: Some((3, \"c\")), fits: [] }",
        );
        check("@@\n-b\n", "Misfit { hunk: 1, line: 4, expected: \"b\", found: None, fits: [2, 5] }");
    }

    #[test]
    fn refs_may_be_left_out() {
        assert!(same("t = add.i64 p, 1", "  t#n14 = add.i64 p, 1#n13"));
        assert!(same("func f () -> (i64) {", "func f#f2 () -> (i64) #g3 {"));
        assert!(same("  case circle #g14 { yield#n15 d }", "case circle { yield d }"));
        assert!(!same("t#n15 = add.i64 p, 1", "t#n14 = add.i64 p, 1"));
        assert!(!same("print \"#x\"", "print \"\""));
    }

    #[test]
    fn what_is_no_patch_is_told() {
        let (files, malformed) = parse("func f () -> ()");
        assert_eq!((files.len(), malformed.len(), malformed[0].line), (0, 1, 1));
        let (_, malformed) = parse("--- a/x\n+++ b/x\n-a\n@@ -1 +1 @@\n*b\n");
        assert_eq!(malformed.iter().map(|line| line.line).collect::<Vec<_>>(), [3, 5]);
        let (files, malformed) = parse(
            "A message.\n\ndiff --git a/x b/x\nindex 1..2\n--- a/x\n+++ b/x\t2026\n@@ -1 +1 @@\n-a\n\\ No newline\n--- /dev/null\n+++ b/y\n@@ -0,0 +1 @@\n+z\n",
        );
        assert_eq!(malformed, []);
        let names: Vec<_> = files.iter().map(|file| (file.old, file.new)).collect();
        assert_eq!(names, [(Some("a/x"), Some("b/x")), (None, Some("b/y"))]);
    }
}
