//! The engine once more, with mistakes in it: what the oracle is worth.
//!
//! `build.rs` copies `engine/src` and puts the faults of `faults.txt` into the copy, each behind a
//! switch. With every switch off this is the engine. With one on, the oracle must notice, which
//! `tests/caught.rs` asks of each.

#![allow(
    clippy::all,
    clippy::pedantic,
    unfulfilled_lint_expectations,
    reason = "the sources are linted where they are written; what stands around a fault is generated"
)]

pub mod fault;
pub mod table;

include!(concat!(env!("OUT_DIR"), "/engine/lib.rs"));
