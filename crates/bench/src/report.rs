//! What a block found, as lines of JSON for machines and a table for people.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::rounds::Spread;

/// Where a figure must be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// At most so much.
    AtMost(f64),
    /// At least so much.
    AtLeast(f64),
}

impl Target {
    /// Whether a whole spread is where it must be.
    #[must_use]
    pub fn met_by(self, spread: Spread) -> bool {
        match self {
            Target::AtMost(most) => spread.high <= most,
            Target::AtLeast(least) => spread.low >= least,
        }
    }

    /// Whether the middle of a spread is where all of it must be.
    #[must_use]
    pub fn met_by_median(self, spread: Spread) -> bool {
        self.met_by(Spread { low: spread.median, high: spread.median, ..spread })
    }
}

/// One thing that was measured.
#[derive(Clone, Debug)]
pub struct Measured {
    /// What.
    pub name: String,
    /// How much, over the rounds.
    pub value: Spread,
    /// Of what.
    pub unit: &'static str,
    /// What it is set beside, and how many times that it is, round by round.
    pub ratio: Option<(String, Spread)>,
    /// Where the ratio must be, or the value where there is no ratio.
    pub target: Option<Target>,
}

impl Measured {
    /// Something without target.
    #[must_use]
    pub fn new(name: impl Into<String>, unit: &'static str, value: Spread) -> Measured {
        Measured { name: name.into(), value, unit, ratio: None, target: None }
    }

    /// Sets it beside something.
    #[must_use]
    pub fn beside(self, what: impl Into<String>, ratio: Spread) -> Measured {
        Measured { ratio: Some((what.into(), ratio)), ..self }
    }

    /// Says where the ratio must be, or the value where there is no ratio.
    #[must_use]
    pub fn target(self, target: Target) -> Measured {
        Measured { target: Some(target), ..self }
    }

    /// What the target is about.
    fn judged(&self) -> Spread {
        self.ratio.as_ref().map_or(self.value, |(_, ratio)| *ratio)
    }
}

/// The line of a measurement.
#[derive(Serialize)]
struct Line<'a> {
    block: &'a str,
    name: &'a str,
    value: f64,
    low: f64,
    high: f64,
    unit: &'a str,
    beside: Option<&'a str>,
    ratio: Option<f64>,
    ratio_low: Option<f64>,
    ratio_high: Option<f64>,
    target: Option<String>,
    /// Whether all rounds meet the target.
    pass: Option<bool>,
}

/// What one block found.
#[derive(Clone, Debug)]
pub struct Report {
    block: &'static str,
    measured: Vec<Measured>,
}

impl Report {
    /// The empty report of a block.
    #[must_use]
    pub fn of(block: &'static str) -> Report {
        Report { block, measured: Vec::new() }
    }

    /// Adds a measurement.
    pub fn add(&mut self, measured: Measured) {
        self.measured.push(measured);
    }

    /// A line of JSON for each measurement.
    #[must_use]
    pub fn lines(&self) -> String {
        let line = |measured: &Measured| {
            let ratio = measured.ratio.as_ref().map(|(_, ratio)| *ratio);
            let line = Line {
                block: self.block,
                name: &measured.name,
                value: measured.value.median,
                low: measured.value.low,
                high: measured.value.high,
                unit: measured.unit,
                beside: measured.ratio.as_ref().map(|(beside, _)| beside.as_str()),
                ratio: ratio.map(|ratio| ratio.median),
                ratio_low: ratio.map(|ratio| ratio.low),
                ratio_high: ratio.map(|ratio| ratio.high),
                target: measured.target.map(words),
                pass: measured.target.map(|target| target.met_by(measured.judged())),
            };
            // Numbers and texts have a JSON form.
            serde_json::to_string(&line).expect("a line has a JSON form") + "\n"
        };
        self.measured.iter().map(line).collect()
    }

    /// A Markdown table.
    #[must_use]
    pub fn table(&self) -> String {
        let mut table = format!(
            "| {} | median | range | unit | beside | ratio | its range | target | met |\n\
             |---|--:|---|---|---|--:|---|---|---|\n",
            self.block
        );
        for measured in &self.measured {
            let range = |spread: Spread| format!("{} to {}", short(spread.low), short(spread.high));
            let (beside, ratio, ratio_range) = match &measured.ratio {
                None => (String::new(), String::new(), String::new()),
                Some((beside, ratio)) => (beside.clone(), short(ratio.median), range(*ratio)),
            };
            let (target, met) = match measured.target {
                None => (String::new(), ""),
                Some(target) if target.met_by(measured.judged()) => (words(target), "yes"),
                Some(target) if target.met_by_median(measured.judged()) => (words(target), "in the median"),
                Some(target) => (words(target), "no"),
            };
            let cells = [
                measured.name.clone(),
                short(measured.value.median),
                range(measured.value),
                measured.unit.to_owned(),
                beside,
                ratio,
                ratio_range,
                target,
                met.to_owned(),
            ];
            table.push_str(&format!("| {} |\n", cells.join(" | ")));
        }
        table
    }

    /// Prints the table, and leaves it and the lines in the folder `bench` of the build.
    ///
    /// # Errors
    ///
    /// When the files cannot be written.
    pub fn publish(&self) -> io::Result<()> {
        let folder = target_folder()?.join("bench");
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(format!("{}.jsonl", self.block)), self.lines())?;
        fs::write(folder.join(format!("{}.md", self.block)), self.table())?;
        println!("\n{}", self.table());
        Ok(())
    }
}

/// The build folder that this program lies in: a benchmark is `PROFILE/deps/NAME` in it.
///
/// # Errors
///
/// When the program lies elsewhere.
pub fn target_folder() -> io::Result<PathBuf> {
    let own = std::env::current_exe()?;
    own.ancestors()
        .nth(3)
        .map(Path::to_owned)
        .ok_or_else(|| io::Error::other("a benchmark is started by cargo"))
}

fn words(target: Target) -> String {
    match target {
        Target::AtMost(most) => format!("<= {most}"),
        Target::AtLeast(least) => format!(">= {least}"),
    }
}

/// Three digits that count.
fn short(value: f64) -> String {
    match value.abs() {
        less if less < 10.0 => format!("{value:.2}"),
        less if less < 100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(low: f64, median: f64, high: f64) -> Spread {
        Spread { median, low, high }
    }

    #[test]
    fn a_target_is_met_by_all_rounds_or_not() {
        assert!(Target::AtMost(1.5).met_by(spread(1.0, 1.2, 1.5)));
        assert!(!Target::AtMost(1.5).met_by(spread(1.0, 1.2, 1.6)));
        assert!(Target::AtMost(1.5).met_by_median(spread(1.0, 1.2, 1.6)));
        assert!(Target::AtLeast(0.8).met_by(spread(0.8, 0.9, 1.0)));
        assert!(!Target::AtLeast(0.8).met_by(spread(0.7, 0.9, 1.0)));
    }

    #[test]
    fn a_line_and_a_row_say_the_same() {
        let mut report = Report::of("block");
        let measured = Measured::new("edits", "edits/s", spread(90.0, 100.0, 1234.0));
        let measured = measured.beside("peer", spread(0.7, 0.9, 1.0)).target(Target::AtLeast(0.8));
        report.add(measured);
        let line: serde_json::Value = serde_json::from_str(&report.lines()).unwrap();
        assert_eq!(line["ratio_low"], 0.7);
        assert_eq!(line["target"], ">= 0.8");
        assert_eq!(line["pass"], false);
        let table = report.table();
        let row = table.lines().last().unwrap();
        assert_eq!(
            row,
            "| edits | 100 | 90.0 to 1234 | edits/s | peer | 0.90 | 0.70 to 1.00 | >= 0.8 | in the median |"
        );
    }
}
