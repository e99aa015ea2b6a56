//! Rules about the text of the project that no compiler checks.
//!
//! Each rule is a function from text to violations, so that a test beside it can show it firing.

mod crates;
mod map;
mod source;
mod test_table;
mod tree;
mod world_text;
