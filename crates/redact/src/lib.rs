//! Hides secrets in texts and in JSON, before they are stored, logged or sent.
//!
//! A [`Policy`] knows the names of fields whose values are secret, what keys of well-known providers look like, and the
//! exact secrets that it was given. What it hides reads [`MARK`]. It is a function of its arguments: this crate reads no
//! file, clock or environment, and does not know who stores or sends what it has seen.
//!
//! Three laws hold for every text and every JSON value. What is hidden once stays as it is when it is hidden again. A text
//! without secrets comes back as it was, borrowed. An exact secret that the policy was given is in no text that it returns,
//! neither as it is nor percent-encoded, escaped as in JSON, or in base64.
//!
//! ```
//! use lmlang_redact::{Config, Policy};
//! use serde_json::json;
//!
//! let policy = Policy::new(&Config { fields: vec!["salary".to_owned()], ..Config::default() })?;
//! assert_eq!(policy.text("postgres://app:hunter2@db/shop"), "postgres://[redacted]@db/shop");
//!
//! let mut value = json!({"apiKey": "k", "max_tokens": 512, "salary": 1, "note": "Authorization: Bearer a1b2c3d4"});
//! assert_eq!(policy.value(&mut value), 3);
//! let hidden = "[redacted]";
//! let note = "Authorization: [redacted]";
//! assert_eq!(value, json!({"apiKey": hidden, "max_tokens": 512, "salary": hidden, "note": note}));
//! # Ok::<(), lmlang_redact::PolicyError>(())
//! ```
//!
//! Read [`config`] (what a policy is made from), [`policy`] (how a text is hidden), `value` (JSON), `fields` and `names` (which
//! names say that a value is secret), `scan` (what secrets look like in a text), `views` (a text as it reads when it is
//! decoded), then `exact` (secrets that are known).

#![forbid(unsafe_code)]

pub mod config;
mod exact;
mod fields;
mod mark;
mod names;
pub mod policy;
mod scan;
mod value;
mod views;

pub use config::{Config, PolicyError, SHORTEST_SECRET};
pub use mark::MARK;
pub use policy::Policy;
