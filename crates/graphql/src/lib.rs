//! The GraphQL surface: translates between the public schema and the engine, and decides nothing.
//!
//! It must not know how requests arrive; that is the server's. Read [`error`] for what can go wrong, then
//! [`transport`] for how one operation is checked, run and answered, and [`direct`] for how long lists are.

pub mod direct;
pub mod error;
pub mod schema;
pub mod transport;
