//! The contract between the engine and everything that can be plugged into it.
