//! The schema over a real engine, without a network.

mod absent;
mod access;
mod cases;
mod codes;
mod contexts;
mod cursors;
mod damaged;
mod defaults;
mod deletion;
mod described;
mod failing;
mod history;
mod hub;
mod introspection;
mod lists;
mod nullable;
mod pages;
mod retries;
mod sdl;
mod shapes;
mod subscriptions;
mod texts;
mod turns;
mod views;
mod volume;
mod world;
