//! Policies from WebAssembly modules.

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

pub use kit::{Language, TEMPLATES, template};
pub use limits::Limits;
pub use load::load;

#[cfg(test)]
mod tests;
