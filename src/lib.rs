//! ContainmentBench as a library.
