//! Tests of the loader as a whole.

mod codes;
mod hostile;
mod several;
mod shipped;
mod spans;
