//! Policies from `WebAssembly` modules: [`load`] reads one, [`template`] writes the beginning of one.
//!
//! The sandbox is wasmtime without any import, with fuel for every call (`guest`). What a module reads
//! is written by `briefing`, `event` and `question`, what it answers is checked in `answer`, and
//! `run` keeps the two in step through going back. What follows is the chapter of the book.
//!
#![doc = include_str!("../../../../docs/book/wasm.md")]

mod answer;
mod briefing;
mod codes;
mod event;
mod faults;
mod guest;
mod kit;
mod limits;
mod load;
mod message;
mod policy;
mod question;
mod run;
mod shape;

pub use kit::{Language, TEMPLATES, template};
pub use limits::Limits;
pub use load::load;

#[cfg(test)]
mod tests;
