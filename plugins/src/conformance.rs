//! A kit that any plugin can be run through.

pub mod random;
pub mod sample;
