//! The trace for readers outside: JSON Lines and DOT.

pub mod dot;
pub mod jsonl;
pub mod names;
