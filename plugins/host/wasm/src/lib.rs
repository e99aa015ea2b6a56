//! Policies from WebAssembly modules.

mod answer;
mod briefing;
mod codes;
mod event;
mod faults;
mod guest;
mod limits;
mod load;
mod message;
mod policy;
mod question;
mod run;

pub use limits::Limits;
pub use load::load;

#[cfg(test)]
mod tests;
