//! Which state of a program a command looks at.

use serde_json::Value;

use crate::client::named;

/// Which state of a program is looked at.
#[derive(Debug, clap::Args)]
pub(crate) struct View {
    /// The revision: a branch, a number (`r7`), a checkpoint, a hash, each also with `~2` for two before [default: the
    /// head of `main`].
    #[arg(long, visible_alias = "branch", value_name = "REVISION")]
    pub(crate) at: Option<String>,
}

impl View {
    /// How a query names a program and its revision.
    pub(crate) fn of(&self, program: &str) -> Value {
        let mut variables = named(program);
        variables["at"] = self.at.clone().into();
        variables
    }
}
