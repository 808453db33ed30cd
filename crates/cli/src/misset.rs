//! Settings that cannot be used, told with where they stand.

use figment::Source;
use figment::error::Kind;
use lmlang_agents::model::settings::Settings as Models;
use lmlang_agents::model::{BUILT_IN_ROLES, Role};
use lmlang_ir::text::nearest;

use crate::error::Error;

/// What is perhaps not meant as it stands: a role that is called almost as one that built-in flows ask for. It is no
/// mistake, as flows that are declared have roles of their own.
pub(crate) fn doubtful(models: &Models) -> Vec<String> {
    let roles = models.keys().map(Role::name).filter(|role| !BUILT_IN_ROLES.contains(role));
    let near =
        roles.filter_map(|role| Some((role, nearest(role, BUILT_IN_ROLES.into_iter()).into_iter().next()?)));
    near.map(|(role, meant)| {
        format!(
            "`llm.{role}` is the model of a role that no built-in flow has: perhaps `llm.{meant}` is meant"
        )
    })
    .collect()
}

/// What is wrong with a setting, by the name that it has in its file or in the environment, and what was meant perhaps.
pub(crate) fn told(error: &figment::Error) -> Error {
    let metadata = error.metadata.as_ref();
    let file = metadata.and_then(|metadata| match &metadata.source {
        Some(Source::File(path)) => Some(path.display()),
        _ => None,
    });
    let name = match &file {
        None if metadata.is_some_and(|metadata| metadata.name.contains("environment")) => {
            format!("LMLANG_{}", error.path.join("__").to_ascii_uppercase())
        }
        None | Some(_) => error.path.join("."),
    };
    let place = match (&file, name.as_str()) {
        (None, name) => format!("`{name}`"),
        (Some(file), "") => format!("`{file}`"),
        (Some(file), name) => format!("`{name}` in `{file}`"),
    };
    let (message, candidates) = match &error.kind {
        Kind::UnknownField(given, known) => {
            (format!("{place} is no setting"), nearest(given, known.iter().copied()))
        }
        kind => (format!("{place}: {}", kind.to_string().trim_end()), Vec::new()),
    };
    Error::Settings { message, candidates }
}
