//! The lines of a test: expectations taken out, everything else left where it was.

/// What stands in the comments of a text.
#[derive(Clone, Debug, Default)]
pub(super) struct Lines {
    /// The text without `;!` marks; its lines have their numbers.
    pub(super) text: String,
    /// Codes that are expected, with their lines from 1.
    pub(super) marks: Vec<(u32, String)>,
    /// The `; run:` lines: number from 1, what follows the prefix.
    pub(super) runs: Vec<(u32, String)>,
}

pub(super) fn read(text: &str) -> Lines {
    let mut lines = Lines::default();
    for (number, line) in (1..).zip(text.lines()) {
        let (kept, marks) = match mark(line) {
            Some(at) => (line[..at].trim_end(), &line[at + 2..]),
            None => (line, ""),
        };
        let codes = marks.split([' ', ',']).filter(|code| !code.is_empty());
        lines.marks.extend(codes.map(|code| (number, code.to_owned())));
        let run = kept.trim_start().strip_prefix(';').map(str::trim_start);
        if let Some(run) = run.and_then(|rest| rest.strip_prefix("run:")) {
            lines.runs.push((number, run.trim().to_owned()));
        }
        lines.text.push_str(kept);
        lines.text.push('\n');
    }
    lines
}

/// Where a `;!` stands that is not inside of a text literal.
fn mark(line: &str) -> Option<usize> {
    let (mut quoted, mut escaped) = (false, false);
    for (at, found) in line.char_indices() {
        match found {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            ';' if !quoted && line[at..].starts_with(";!") => return Some(at),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn marks_and_runs_are_found() {
        let text =
            "func f () {\n  print \";! no\" ;! TYPE_MISMATCH, UNKNOWN_NAME\n}\n; run: f() prints \"a\"\n";
        let lines = read(text);
        assert_eq!(lines.text.lines().nth(1), Some("  print \";! no\""));
        assert_eq!(lines.marks, [(2, "TYPE_MISMATCH".to_owned()), (2, "UNKNOWN_NAME".to_owned())]);
        assert_eq!(lines.runs, [(4, "f() prints \"a\"".to_owned())]);
    }
}
