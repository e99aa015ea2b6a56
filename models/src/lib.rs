//! Model backends and the action parser.

pub mod emit;
pub mod parser;
