//! Findings of the verifier in programs of a database, as the API tells them.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

macro_rules! found {
    ($more:literal) => {
        concat!(
            "fragment Found on Diagnostic {
  code severity incomplete message
  details { function node region port expectedType actualType text }
",
            $more,
            "}"
        )
    };
}

/// What is asked about a finding.
pub(crate) const FOUND: &str = found!("");

/// The same, with repairs that could be applied.
pub(crate) const FOUND_AND_FIXES: &str = found!("  fixes { title edits }\n");

/// How much a finding weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum Severity {
    /// No stored state has one.
    Error,
    /// It can be stored; one that is incomplete stops a run.
    Warning,
}

/// A finding, and where it is.
#[derive(Debug, Deserialize)]
pub(crate) struct Found {
    pub(crate) code: String,
    pub(crate) severity: Severity,
    pub(crate) incomplete: bool,
    message: String,
    details: Option<Place>,
    /// Where they were asked for, the likeliest first.
    fixes: Option<Vec<Fix>>,
}

/// A repair: edits after which the finding is gone.
#[derive(Debug, Deserialize)]
struct Fix {
    title: String,
    edits: Value,
}

/// Where something is, by refs, and what was expected there.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Place {
    function: Option<String>,
    node: Option<String>,
    region: Option<String>,
    port: Option<i64>,
    expected_type: Option<String>,
    actual_type: Option<String>,
    /// The text of the node.
    text: Option<String>,
}

impl Found {
    pub(crate) fn json(&self) -> Value {
        let mut json = json!({
            "code": self.code,
            "severity": self.severity,
            "incomplete": self.incomplete,
            "message": self.message,
            "place": self.details.as_ref().map(Place::json),
        });
        if let Some(fixes) = &self.fixes {
            let fix = |Fix { title, edits }: &Fix| json!({ "title": title, "edits": edits });
            json["fixes"] = fixes.iter().map(fix).collect();
        }
        json
    }

    /// What is the matter and where, in a line.
    pub(crate) fn head(&self) -> String {
        let color = match self.severity {
            Severity::Error => anstyle::AnsiColor::Red,
            Severity::Warning => anstyle::AnsiColor::Yellow,
        };
        let style = color.on_default().bold();
        let word = if self.incomplete { "incomplete" } else { self.severity.word() };
        let at = self.details.as_ref().map(Place::words).unwrap_or_default();
        format!("{style}{word}[{}]{style:#}{at}: {}", self.code, self.message)
    }

    /// The same, the line that it is about, and repairs.
    pub(crate) fn text(&self) -> String {
        let line = self.details.as_ref().and_then(Place::line);
        let line = line.map(|line| format!("    {line}\n")).unwrap_or_default();
        let fix = |Fix { title, edits }: &Fix| format!("    fix: {title}: {edits}\n");
        let fixes: String = self.fixes.iter().flatten().map(fix).collect();
        format!("{}\n{line}{fixes}", self.head())
    }
}

impl Severity {
    /// Its name.
    fn word(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

impl Place {
    pub(crate) fn json(&self) -> Value {
        json!({
            "function": self.function,
            "ref": self.node,
            "region": self.region,
            "port": self.port,
            "expectedType": self.expected_type,
            "actualType": self.actual_type,
            "text": self.text,
        })
    }

    /// The entity, and the function around it: ` n12 in f4`.
    pub(crate) fn words(&self) -> String {
        match (&self.node, &self.function) {
            (Some(node), Some(function)) if node != function => format!(" {node} in {function}"),
            (Some(of), _) | (None, Some(of)) => format!(" {of}"),
            (None, None) => String::new(),
        }
    }

    /// The first line of the node's text.
    pub(crate) fn line(&self) -> Option<&str> {
        self.text
            .as_deref()
            .and_then(|text| text.lines().next())
            .map(str::trim)
            .filter(|line| !line.is_empty())
    }
}
