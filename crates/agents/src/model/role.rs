//! What a model is asked for.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// What a model is asked for: `planner`, `drafter`, `router`, `reasoner` and whatever else a flow has.
///
/// One to 40 lowercase letters, digits and `_`, a letter first. `default` is the role whose settings those have that
/// are given none of their own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Role(String);

/// A text that names no role.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "`{0}` is not the name of a role: expected up to 40 lowercase letters, digits and `_`, a letter first"
)]
pub struct RoleError(pub String);

/// The roles that the built-in flows ask for, and the one whose settings others go by. Declared flows have others.
pub const BUILT_IN: [&str; 5] = ["default", "drafter", "planner", "reasoner", "router"];

/// Longest name of a role.
const LONGEST: usize = 40;

impl Role {
    /// The role whose settings others go by.
    pub fn default_role() -> Role {
        Role("default".to_owned())
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Role {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl FromStr for Role {
    type Err = RoleError;

    fn from_str(text: &str) -> Result<Role, RoleError> {
        let letters = text.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'));
        if letters && text.len() <= LONGEST && text.starts_with(|first: char| first.is_ascii_lowercase()) {
            return Ok(Role(text.to_owned()));
        }
        Err(RoleError(text.chars().take(LONGEST).collect()))
    }
}

impl TryFrom<String> for Role {
    type Error = RoleError;

    fn try_from(text: String) -> Result<Role, RoleError> {
        text.parse()
    }
}

impl From<Role> for String {
    fn from(role: Role) -> String {
        role.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_roles_are_short_words() {
        for name in ["planner", "default", "a_1"] {
            assert_eq!(name.parse::<Role>().unwrap().name(), name);
        }
        for name in ["", "Planner", "1a", "a-b", "ä", &"a".repeat(41)] {
            assert!(name.parse::<Role>().is_err(), "{name}");
        }
    }
}
