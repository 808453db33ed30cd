//! Breakpoints as they are told and stored, by refs.

use lmlang_interp::{Breakpoint, Spot};
use lmlang_ir::{FuncRef, NodeRef, Program};
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// A breakpoint: a place, by refs, and when to stop there. One of `node`, `function` and `watch`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BreakpointText {
    /// A node to stop before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// A function to stop in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// When to stop at the node or in the function.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// What to watch: a variable or a global, by ref or path, or bytes of linear memory `memory[16..24]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watch: Option<String>,
    /// How often it is met on the way forward without stopping, from when it is set.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub ignore: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The places that some breakpoints name.
pub(super) fn all(program: &Program, texts: &[BreakpointText]) -> Result<Vec<Breakpoint>, Error> {
    texts.iter().enumerate().map(|(index, text)| breakpoint(program, index, text)).collect()
}

fn breakpoint(program: &Program, index: usize, text: &BreakpointText) -> Result<Breakpoint, Error> {
    let BreakpointText { node, function, condition, watch, ignore } = text;
    let bad = |field: &str, message: String| Error::Argument {
        place: format!("breakpoints[{index}].{field}"),
        message,
    };
    let spot = match (node, function, watch) {
        (Some(node), None, None) => {
            let named: Option<NodeRef> = node.parse().ok();
            let home = named.and_then(|named| Some((program.function_of(named.into())?, named)));
            home.map(|(of, node)| Spot::Node(of, node))
                .ok_or_else(|| bad("node", format!("there is no node `{node}`")))?
        }
        (None, Some(function), None) => {
            let named: Option<FuncRef> = function.parse().ok();
            named
                .map(Spot::Function)
                .ok_or_else(|| bad("function", format!("there is no function `{function}`")))?
        }
        (None, None, Some(watch)) => Spot::watched(program, watch).ok_or_else(|| {
            let message = format!(
                "`{watch}` cannot be watched: expected a variable or a global, by ref or path, or `memory[16..24]`"
            );
            bad("watch", message)
        })?,
        (..) => return Err(bad("node", "give one of `node`, `function` and `watch`".to_owned())),
    };
    Ok(Breakpoint { spot, condition: condition.clone(), ignore: *ignore })
}
