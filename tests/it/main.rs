//! The integration tests, in one program so that there is one link.

mod tidy;
