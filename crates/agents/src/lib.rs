//! What durable agent flows are made of; so far how they ask language models.
//!
//! It takes plain requests to whatever answers them: a server with an OpenAI-compatible interface, a script, a
//! recording. It must not know what a program is, where settings were written or what a prompt says; nothing here reads
//! the environment of the process, logs, or decides what becomes of an answer.
//!
//! Read [`model`] first: the trait, and which module has what around it.

pub mod model;
