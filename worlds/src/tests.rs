//! Tests of the loader as a whole.

mod codes;
mod hostile;
mod loaded;
mod several;
mod shipped;
mod spans;
