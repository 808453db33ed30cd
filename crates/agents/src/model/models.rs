//! The models of all roles.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry as Slot;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::cassette::{Recording, Replaying, Tape};
use super::checked::Checked;
use super::error::ModelError;
use super::estimate::Count;
use super::openai::{OpenAi, Options};
use super::patience::{Gate, Paced, Retrying, Timed};
use super::probe::{self, Probe};
use super::reply::Reply;
use super::request::Request;
use super::role::Role;
use super::rules::Rules;
use super::script::{Script, Unused};
use super::settings::{
    CassetteMode, CassetteSettings, Provider, Resolved, Settings, SettingsError, Variable, resolve,
};
use super::{Model, Tell};

/// The models of all roles, each with its layers.
pub struct Models {
    /// Those with settings of their own, and `default`.
    entries: BTreeMap<Role, Entry>,
    default: Role,
    scripts: Vec<Arc<Script>>,
}

struct Entry {
    model: Arc<dyn Model>,
    /// Without those layers that ask again, wait for a turn or record.
    bare: Arc<dyn Model>,
    described: Described,
    /// Whether secrets are hidden in what it is told.
    is_masked: bool,
}

/// What a role's requests go to, to be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described {
    /// The role.
    pub role: Role,
    /// Who answers: `openai`, `openrouter`, `ollama`, `script`, `cassette`, `rules`.
    pub provider: String,
    /// The model that is asked for, if the provider has any.
    pub model: Option<String>,
    /// The server, without path, query and user.
    pub server: Option<String>,
    /// The file of the script or cassette.
    pub file: Option<PathBuf>,
}

/// Makes the models that settings ask for.
///
/// `variable` reads the environment, `count` counts tokens where a provider does not. Files that settings name are read, a
/// cassette that is recorded is made; nothing is sent. Where neither settings nor variables name anything, every role is
/// decided by [`Rules`].
pub fn build(
    settings: &Settings,
    variable: &dyn Fn(&str) -> Option<String>,
    count: Count,
) -> Result<Models, SettingsError> {
    let default = Role::default_role();
    let mut builder = Builder { variable, count, shared: Shared::default() };
    let base = settings.get(&default).cloned().unwrap_or_default();
    let mut entries = BTreeMap::new();
    for (role, own) in settings.iter().filter(|(role, _)| **role != default) {
        entries.insert(role.clone(), builder.entry(role, own.clone().over(&base))?);
    }
    entries.insert(default.clone(), builder.entry(&default, base)?);
    let scripts = builder.shared.scripts.into_values().collect();
    Ok(Models { entries, default, scripts })
}

impl Models {
    /// No model at all: every role is decided by rules.
    pub fn none() -> Models {
        let nothing = build(&Settings::new(), &|_| None, super::tokens);
        nothing.expect("without settings, nothing can be wrong with them")
    }

    /// The model of a role.
    pub fn of(&self, role: &Role) -> &Arc<dyn Model> {
        &self.entry(role).model
    }

    /// Says whether a role has a model at all; if not, a flow decides by rules and says so.
    pub fn is_configured(&self, role: &Role) -> bool {
        self.entry(role).described.provider != super::rules::PROVIDER
    }

    /// Says whether what is secret is to be hidden in requests of a role, before they are made.
    pub fn is_masked(&self, role: &Role) -> bool {
        self.entry(role).is_masked
    }

    /// Asks the model of the request's role.
    pub async fn complete(&self, request: &Request, tell: Tell<'_>) -> Result<Reply, ModelError> {
        self.of(&request.role).complete(request, tell).await
    }

    /// What the requests of a role go to.
    pub fn described(&self, role: &Role) -> Described {
        Described { role: role.clone(), ..self.entry(role).described.clone() }
    }

    /// What the requests of every role with settings of its own, and of `default`, go to.
    pub fn describe(&self) -> impl Iterator<Item = &Described> {
        self.entries.values().map(|entry| &entry.described)
    }

    /// Asks the model of a role for one token, once, to see whether it answers.
    pub async fn probe(&self, role: &Role) -> Result<Probe, ModelError> {
        probe::probe(&*self.entry(role).bare, role).await
    }

    /// The entries of all scripts that were not used as often as they are written for.
    pub fn unused(&self) -> Vec<Unused> {
        self.scripts.iter().flat_map(|script| script.unused()).collect()
    }

    fn entry(&self, role: &Role) -> &Entry {
        let entry = self.entries.get(role).or_else(|| self.entries.get(&self.default));
        entry.expect("there is always one for `default`")
    }
}

struct Builder<'a> {
    variable: Variable<'a>,
    count: Count,
    shared: Shared,
}

/// What several roles have together: a script goes on where another role left it, a tape is written by one, and a server's
/// rate is for all that it is asked.
#[derive(Default)]
struct Shared {
    scripts: BTreeMap<PathBuf, Arc<Script>>,
    tapes: BTreeMap<PathBuf, Arc<Tape>>,
    replays: BTreeMap<PathBuf, Arc<Replaying>>,
    gates: BTreeMap<(String, Option<u32>, Option<u32>), Arc<Gate>>,
}

impl Builder<'_> {
    fn entry(
        &mut self,
        role: &Role,
        settings: super::settings::ModelSettings,
    ) -> Result<Entry, SettingsError> {
        let is_masked = settings.mask.unwrap_or(false);
        let cassette = settings.cassette.as_ref();
        if let Some(CassetteSettings { file, mode: CassetteMode::Replay }) = cassette {
            // Whoever else is named is not called, so neither a key nor a server has to be there.
            let replaying = self.replaying(role, &file.clone())?;
            return Ok(Entry { is_masked, ..replaying });
        }
        let resolved = resolve(role, settings, self.variable)?;
        let (provider, described) = self.provider(role, &resolved)?;
        if let Provider::Rules = resolved.provider {
            return Ok(Entry { model: provider.clone(), bare: provider, described, is_masked });
        }
        let timed: Arc<dyn Model> = Arc::new(Timed::new(provider, resolved.timeout));
        let server = described.server.clone().unwrap_or_default();
        let gate = self.shared.gates.entry((server, resolved.per_minute, resolved.at_once));
        let gate = gate.or_insert_with(|| Arc::new(Gate::new(resolved.per_minute, resolved.at_once)));
        let paced: Arc<dyn Model> = Arc::new(Paced::new(timed.clone(), gate.clone()));
        let mut model: Arc<dyn Model> = Arc::new(Retrying::new(paced, resolved.retry));
        if let Some(cassette) = &resolved.cassette {
            model = Arc::new(Recording::new(model, self.tape(role, &cassette.file)?));
        }
        Ok(Entry { model: Arc::new(Checked::new(model)), bare: timed, described, is_masked })
    }

    fn provider(
        &mut self,
        role: &Role,
        resolved: &Resolved,
    ) -> Result<(Arc<dyn Model>, Described), SettingsError> {
        let described = |provider: &str| Described {
            role: role.clone(),
            provider: provider.to_owned(),
            model: None,
            server: None,
            file: None,
        };
        match &resolved.provider {
            Provider::Rules => Ok((Arc::new(Rules), described(super::rules::PROVIDER))),
            Provider::Script(path) => {
                let described = Described { file: Some(path.clone()), ..described(super::script::PROVIDER) };
                Ok((self.script(role, path)?, described))
            }
            Provider::Server(server) => {
                let model = OpenAi::new(Options {
                    provider: server.name.to_owned(),
                    base_url: server.base_url.clone(),
                    model: server.model.clone(),
                    key: server.key.clone(),
                    prices: server.prices.clone(),
                    structured: server.structured,
                    limit: server.limit,
                    stream_usage: server.stream_usage,
                    reports_cost: server.reports_cost,
                    idle: server.idle,
                    count: self.count,
                });
                let model = model.map_err(|error| SettingsError::Server { role: role.clone(), error })?;
                let described = Described {
                    model: Some(server.model.clone()),
                    server: Some(model.server().to_owned()),
                    ..described(server.name)
                };
                Ok((Arc::new(model), described))
            }
        }
    }

    fn replaying(&mut self, role: &Role, path: &Path) -> Result<Entry, SettingsError> {
        let replaying = match self.shared.replays.entry(path.to_owned()) {
            Slot::Occupied(known) => known.get().clone(),
            Slot::Vacant(slot) => {
                let opened = Replaying::open(path);
                let opened = opened.map_err(|error| SettingsError::Cassette { role: role.clone(), error })?;
                slot.insert(Arc::new(opened)).clone()
            }
        };
        let described = Described {
            role: role.clone(),
            provider: super::cassette::PROVIDER.to_owned(),
            model: None,
            server: None,
            file: Some(path.to_owned()),
        };
        let model = Arc::new(Checked::new(replaying.clone()));
        Ok(Entry { model, bare: replaying, described, is_masked: false })
    }

    fn script(&mut self, role: &Role, path: &Path) -> Result<Arc<Script>, SettingsError> {
        match self.shared.scripts.entry(path.to_owned()) {
            Slot::Occupied(known) => Ok(known.get().clone()),
            Slot::Vacant(slot) => {
                let script = Script::read(path, self.count);
                let script = script.map_err(|error| SettingsError::Script { role: role.clone(), error })?;
                Ok(slot.insert(Arc::new(script)).clone())
            }
        }
    }

    fn tape(&mut self, role: &Role, path: &Path) -> Result<Arc<Tape>, SettingsError> {
        match self.shared.tapes.entry(path.to_owned()) {
            Slot::Occupied(known) => Ok(known.get().clone()),
            Slot::Vacant(slot) => {
                let tape =
                    Tape::open(path).map_err(|error| SettingsError::Cassette { role: role.clone(), error });
                Ok(slot.insert(Arc::new(tape?)).clone())
            }
        }
    }
}

#[cfg(test)]
mod tests;
