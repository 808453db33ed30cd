//! A flow as a picture, in the languages of Graphviz and Mermaid.

use std::fmt::Write as _;

use crate::check::Flow;
use crate::definition::{END, NodeKind, NodeSpec};

impl Flow {
    /// The flow in the language of Graphviz.
    #[must_use]
    pub fn dot(&self) -> String {
        let mut out = format!("digraph \"{}\" {{\n", self.name());
        for node in &self.definition().nodes {
            let shape = match node.kind {
                NodeKind::Task => "box",
                NodeKind::Ask => "parallelogram",
                NodeKind::Gate => "diamond",
            };
            line(&mut out, format_args!("  \"{}\" [shape={shape}];", node.name));
        }
        if self.ends() {
            line(&mut out, format_args!("  \"{END}\" [shape=doublecircle];"));
        }
        for node in &self.definition().nodes {
            for target in &node.targets {
                let label = label(node, target).map(|label| format!(" [label={label}]")).unwrap_or_default();
                line(&mut out, format_args!("  \"{}\" -> \"{target}\"{label};", node.name));
            }
        }
        out.push_str("}\n");
        out
    }

    /// The flow in the language of Mermaid.
    #[must_use]
    pub fn mermaid(&self) -> String {
        let mut out = "flowchart TD\n".to_owned();
        // `end` is a word of the language: nodes have ids of their own.
        let id = |name: &str| format!("n_{}", name.replace('-', "_"));
        for node in &self.definition().nodes {
            let (open, close) = match node.kind {
                NodeKind::Task => ("[", "]"),
                NodeKind::Ask => ("[/", "/]"),
                NodeKind::Gate => ("{", "}"),
            };
            line(&mut out, format_args!("  {}{open}\"{}\"{close}", id(&node.name), node.name));
        }
        if self.ends() {
            line(&mut out, format_args!("  n_{END}((\"{END}\"))"));
        }
        for node in &self.definition().nodes {
            for target in &node.targets {
                let label = label(node, target).map(|label| format!("|{label}|")).unwrap_or_default();
                line(&mut out, format_args!("  {} -->{label} {}", id(&node.name), id(target)));
            }
        }
        out
    }

    fn ends(&self) -> bool {
        self.definition().nodes.iter().any(|node| node.targets.iter().any(|target| target == END))
    }
}

/// When a node leads somewhere that it does not lead to otherwise: nobody answers, or it has failed.
fn label(node: &NodeSpec, target: &str) -> Option<&'static str> {
    let late = node.timeout.as_ref().and_then(|timeout| timeout.then.as_deref());
    let failed = node.fallback.as_ref().map(|fallback| fallback.then.as_str());
    if late == Some(target) {
        Some("timeout")
    } else if failed == Some(target) {
        Some("failure")
    } else {
        None
    }
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    writeln!(out, "{text}").ok();
}
