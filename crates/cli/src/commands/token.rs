//! `lmlang token`: who may call a server, and what each may do.

use chrono::{SecondsFormat, TimeDelta, Utc};
use clap::ValueEnum;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::client::{Page, with_client};
use crate::duration::duration;
use crate::error::Error;
use crate::exit::Exit;
use crate::output::{Output, columns, moment, say};
use crate::session::Missing;
use crate::settings::Settings;

/// What to do with tokens.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

/// What to do with tokens.
#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Make a token and print it: this once, for only a hash of it is kept. From the first one on, every request to a
    /// server of the database needs one: let that be one of your own, with `--scope admin`.
    Create {
        /// The author of what is done with it.
        name: String,
        /// What it is good for; several with commas between them. Each includes `read`, and `admin` all.
        #[arg(long, required = true, value_enum, value_delimiter = ',', value_name = "SCOPE")]
        scope: Vec<Scope>,
        /// A program that it is good for, by name or id, and no other; may be given several times [default: all].
        #[arg(long, value_name = "PROGRAM")]
        program: Vec<String>,
        /// What its holder is.
        #[arg(long, value_enum, default_value_t)]
        kind: Kind,
        /// For how long it is good, such as `12h` or `90d` [default: until it is revoked].
        #[arg(long, value_name = "DURATION", value_parser = duration)]
        expires_in: Option<TimeDelta>,
    },
    /// Show who you are to whoever answers requests here, and what you may do.
    Show,
    /// List the tokens, the oldest first.
    List {
        /// Those that were revoked as well.
        #[arg(long)]
        all: bool,
    },
    /// Revoke a token: it is good for nothing any more, and what is subscribed to with it ends.
    Revoke {
        /// Its id, or its name.
        #[arg(value_name = "TOKEN")]
        which: String,
    },
}

/// What a token is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Scope {
    /// Look at programs and their history, and hear what happens to them.
    Read,
    /// Change programs, in ways that can be undone.
    Edit,
    /// Run functions.
    Simulate,
    /// Everything: delete programs and manage tokens too.
    Admin,
}

/// What the holder of a token is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// A person.
    Human,
    /// A model.
    #[default]
    Agent,
    /// A program.
    Tool,
}

/// Shows which tokens there are.
const LOOK: &str = "lmlang token list --all";

const CREATE: &str = "mutation($input: CreateTokenInput!) {
  made: createToken(input: $input) {
    secret token { id name kind scopes programs createdAt expiresAt lastUsedAt revokedAt }
  }
}";

const LIST: &str = "query($first: Int!, $after: String, $revoked: Boolean!) {
  tokens(first: $first, after: $after, revoked: $revoked) {
    nodes { id name kind scopes programs createdAt expiresAt lastUsedAt revokedAt }
    pageInfo { hasNextPage endCursor }
  }
}";

const CALLER: &str = "{
  caller {
    actor { name kind client } scopes
    token { id name kind scopes programs createdAt expiresAt lastUsedAt revokedAt }
  }
}";

const REVOKE: &str = "mutation($input: RevokeTokenInput!) { revoked: revokeToken(input: $input) {
  token { id name kind scopes programs createdAt expiresAt lastUsedAt revokedAt } } }";

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Token {
    id: String,
    name: String,
    kind: String,
    scopes: Vec<String>,
    programs: Option<Vec<String>>,
    created_at: String,
    expires_at: Option<String>,
    last_used_at: Option<String>,
    revoked_at: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Asked {
    caller: Caller,
}

/// Who asks, and what they may do.
#[derive(Debug, Deserialize)]
struct Caller {
    actor: Actor,
    scopes: Vec<String>,
    token: Option<Token>,
}

#[derive(Debug, Deserialize)]
struct Actor {
    name: String,
    kind: String,
    client: Option<String>,
}

#[derive(Deserialize)]
struct Made {
    made: Created,
}

#[derive(Deserialize)]
struct Created {
    secret: String,
    token: Token,
}

#[derive(Debug, Deserialize)]
struct Tokens {
    tokens: Page<Token>,
}

#[derive(Debug, Deserialize)]
struct Revoked {
    revoked: One,
}

#[derive(Debug, Deserialize)]
struct One {
    token: Token,
}

pub(crate) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    match &args.action {
        Action::Create { name, scope, program, kind, expires_in } => {
            let programs = (!program.is_empty()).then_some(program);
            let expires = expires_in.and_then(|left| Utc::now().checked_add_signed(left));
            let input = json!({
                "name": name,
                "kind": upper(*kind),
                "scopes": scope.iter().map(|scope| upper(*scope)).collect::<Vec<_>>(),
                "programs": programs,
                "expiresAt": expires.map(|at| at.to_rfc3339_opts(SecondsFormat::Micros, true)),
            });
            let answer: Made = with_client(settings, Missing::Make, async |client| {
                client.change_once(CREATE, &input, LOOK).await
            })?;
            let Created { secret, token } = answer.made;
            let mut json = token.json();
            json["secret"] = secret.as_str().into();
            output.data(&json, || format!("{secret}\n"))?;
            say(format_args!(
                "token `{}` of `{}`: shown this once; every request needs one now",
                token.id, token.name
            ));
        }
        Action::Show => {
            let answer: Asked =
                with_client(settings, Missing::Refuse, async |client| client.ask(CALLER, &json!({})).await)?;
            let caller = answer.caller;
            output.data(&caller.json(), || caller.text())?;
        }
        Action::List { all } => {
            let (tokens, _) = with_client(settings, Missing::Refuse, async |client| {
                let page = |answer: Tokens| answer.tokens;
                client.list(LIST, json!({ "revoked": all }), usize::MAX, page).await
            })?;
            let json: Vec<Value> = tokens.iter().map(Token::json).collect();
            output.data(&json, || columns(&tokens.iter().map(Token::row).collect::<Vec<_>>()))?;
        }
        Action::Revoke { which } => {
            let answer: Revoked = with_client(settings, Missing::Refuse, async |client| {
                client.change_once(REVOKE, &json!({ "token": which }), LOOK).await
            })?;
            let token = answer.revoked.token;
            say(format_args!("revoked token `{}` of `{}`", token.id, token.name));
        }
    }
    Ok(Exit::Success)
}

/// A value as the API writes it.
fn upper(value: impl ValueEnum) -> String {
    value.to_possible_value().map_or_else(String::new, |value| value.get_name().to_ascii_uppercase())
}

impl Caller {
    fn json(&self) -> Value {
        json!({
            "author": self.actor.name,
            "kind": self.actor.kind,
            "client": self.actor.client,
            "scopes": self.scopes,
            "token": self.token.as_ref().map(Token::json),
        })
    }

    fn text(&self) -> String {
        let Caller { actor, scopes, token } = self;
        let client = actor.client.as_ref().map(|client| format!(", {client}")).unwrap_or_default();
        let token = token.as_ref().map(|token| {
            let [id, _, _, programs, _, ends] = token.row();
            format!("{id}, {programs}, {ends}")
        });
        let rows = [
            ("author", format!("{} ({}{client})", actor.name, actor.kind.to_ascii_lowercase())),
            ("scopes", scopes.join(",").to_ascii_lowercase()),
            ("token", token.unwrap_or_else(|| "none is needed".to_owned())),
        ];
        columns(&rows.map(|(word, value)| [word.to_owned(), value]))
    }
}

impl Token {
    fn json(&self) -> Value {
        let time = |given: &Option<String>| given.as_deref().map(moment);
        json!({
            "id": self.id,
            "name": self.name,
            "kind": self.kind,
            "scopes": self.scopes,
            "programs": self.programs,
            "created": moment(&self.created_at),
            "expires": time(&self.expires_at),
            "lastUsed": time(&self.last_used_at),
            "revoked": time(&self.revoked_at),
        })
    }

    fn row(&self) -> [String; 6] {
        let told = |what: &str, time: &Option<String>, otherwise: &str| match time {
            Some(time) => format!("{what} {}", moment(time)),
            None => otherwise.to_owned(),
        };
        let ends = match &self.revoked_at {
            Some(_) => told("revoked", &self.revoked_at, ""),
            None => told("expires", &self.expires_at, "does not expire"),
        };
        [
            self.id.clone(),
            self.name.clone(),
            self.scopes.join(",").to_ascii_lowercase(),
            self.programs.as_ref().map_or_else(|| "all programs".to_owned(), |programs| programs.join(",")),
            told("used", &self.last_used_at, "never used"),
            ends,
        ]
    }
}
