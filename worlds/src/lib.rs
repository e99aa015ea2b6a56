//! World files and their loader: text in, checked scenario out.

pub mod spec;
