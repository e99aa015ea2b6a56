//! Tests of the loader as a whole.

mod shipped;
