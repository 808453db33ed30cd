//! Merges of two sides that came from one program, and what they come to.

use lmlang_history::merge::{Conflict, Error, Resolution, Side};
use lmlang_ir::Program;
use lmlang_verify::{Checked, disagreements};

use crate::merging::{merge, resolved};

/// The sides of a merge, and what it came to.
#[derive(Default)]
pub(super) struct Merging {
    /// What both sides come from.
    pub(super) base: Option<Checked>,
    /// Ours and theirs, where they have changed something.
    pub(super) sides: [Option<Checked>; 2],
    /// The line of the merge, and what nobody has expected yet.
    pub(super) open: Option<(u32, Vec<String>)>,
    conflicts: Vec<Conflict>,
}

/// What a merge came to.
pub(super) struct Outcome {
    /// Our side.
    pub(super) ours: Program,
    /// The merged program.
    pub(super) merged: Checked,
    /// What is wrong with the merge itself, whatever was expected.
    pub(super) faults: Vec<String>,
}

impl Merging {
    /// Merges the sides; each line of the text is a resolution, `n4 ours`.
    pub(super) fn run(&mut self, line: u32, text: &str) -> Result<Outcome, String> {
        let base = self.base.as_ref().ok_or("no program")?;
        let [ours, theirs] = self.sides.each_ref().map(|side| side.as_ref().unwrap_or(base));
        let resolutions: Vec<Resolution> = text
            .lines()
            .filter(|line| !line.trim().is_empty())
            .map(|line| resolution(line.trim()))
            .collect::<Result<_, String>>()?;
        let base = base.program();
        let told = |error: Error| error.to_string();
        let (found, merged) = merge(base, ours, theirs, &resolutions).map_err(told)?;
        if let Some(of) = found.idle.first() {
            return Err(format!("`{of}` is not in conflict"));
        }
        let mut faults = Vec::new();
        let turned: Vec<Resolution> =
            resolutions.iter().map(|one| Resolution { take: one.take.other(), ..*one }).collect();
        let (other, _) = merge(base, theirs, ours, &turned).map_err(told)?;
        if other.program.root_hash() != found.program.root_hash() {
            faults.push("another program with the sides exchanged".to_owned());
        }
        for take in [Side::Ours, Side::Theirs] {
            let done = resolved(base, ours, theirs, &resolutions, |_| take);
            faults.extend(done.err().map(|still| format!("with {} everywhere: {still}", take.name())));
        }
        let mut open: Vec<String> = found
            .conflicts
            .iter()
            .map(|one| format!("conflict {} {}: {}", one.kind, one.of, one.message))
            .collect();
        open.extend(disagreements(&merged, ours, theirs).iter().map(|one| {
            format!("finding {} {}: {}", one.code.name(), one.at.entity, one.message(merged.program()))
        }));
        let outcome = Outcome { ours: ours.program().clone(), merged, faults };
        (self.open, self.conflicts) = (Some((line, open)), found.conflicts);
        Ok(outcome)
    }

    /// Tells whether a line about the last merge holds; `None`: it is not about a merge.
    pub(super) fn holds(&mut self, line: &str) -> Option<Result<(), (String, String)>> {
        let open = self.open.as_mut().map_or_else(Vec::new, |(_, open)| std::mem::take(open));
        let (done, rest) = match line.split_whitespace().next() {
            Some("clean") if open.is_empty() => (Ok(()), open),
            Some("clean") => (Err((line.to_owned(), open.join("; "))), Vec::new()),
            Some("conflict" | "finding") => match open.iter().position(|one| one == line) {
                Some(at) => {
                    let mut rest = open;
                    rest.remove(at);
                    (Ok(()), rest)
                }
                None => (Err((line.to_owned(), open.join("; "))), open),
            },
            Some("base" | "ours" | "theirs") => (self.stands(line), open),
            Some(_) | None => {
                self.put_back(open);
                return None;
            }
        };
        self.put_back(rest);
        Some(done)
    }

    fn put_back(&mut self, open: Vec<String>) {
        if let Some((_, slot)) = &mut self.open {
            *slot = open;
        }
    }

    /// `ours n4: two = const.i64 3`: what a side has where there is a conflict.
    fn stands(&self, line: &str) -> Result<(), (String, String)> {
        let (head, text) = line.split_once(": ").unwrap_or((line, ""));
        let (side, of) = head.split_once(' ').unwrap_or((head, ""));
        let conflict = self.conflicts.iter().find(|one| one.of.to_string() == of);
        let found = conflict.and_then(|one| match side {
            "base" => one.base.as_deref(),
            "ours" => one.ours.as_deref(),
            _ => one.theirs.as_deref(),
        });
        let lines: Vec<&str> = found.unwrap_or("nothing").lines().map(str::trim).collect();
        match lines.join(" / ") {
            found if found == text => Ok(()),
            found => Err((text.to_owned(), found)),
        }
    }
}

fn resolution(line: &str) -> Result<Resolution, String> {
    let wrong = || format!("`{line}` is no resolution: `n4 ours`");
    let (of, take) = line.split_once(' ').ok_or_else(wrong)?;
    let take = match take.trim() {
        "ours" => Side::Ours,
        "theirs" => Side::Theirs,
        _ => return Err(wrong()),
    };
    Ok(Resolution { of: of.parse().map_err(|_| wrong())?, take })
}
