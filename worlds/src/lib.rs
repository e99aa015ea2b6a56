//! World files and their loader: text in, checked scenario out.
//!
//! [`mod@file`] is the grammar of a world, [`family`] that of many in one file, [`spec`] what the engine trusts, [`diagnostic`] what can be wrong.
//! Nothing here reads a disk: the caller gives the text.
//!
//! ```
//! let text = r#"World(
//!     schema: 1,
//!     stage: Clean,
//!     domain: Documents,
//!     agents: [(name: "assistant")],
//!     episodes: [(goal: "Say hello.")],
//! )"#;
//! let scenario = worlds::load(text, "hello.ron", "hello").expect("a minimal world");
//! assert_eq!(&*scenario.identity, "hello");
//!
//! let report = worlds::load(&text.replace("Clean", "Cleen"), "hello.ron", "hello").unwrap_err();
//! let problem = &report.problems()[0];
//! assert_eq!((problem.code.id(), problem.line, problem.column), ("W009", 3, 12));
//! assert_eq!(problem.help.as_deref(), Some("did you mean `Clean`?"));
//! ```

mod check;
mod codes;
pub mod diagnostic;
mod draft;
pub mod family;
pub mod file;
pub mod flow;
mod load;
mod nearest;
mod outline;
pub mod places;
mod shape;
pub mod spec;

pub use load::{Checked, MAX_BYTES, check, load, load_bytes};

#[cfg(test)]
mod tests;
