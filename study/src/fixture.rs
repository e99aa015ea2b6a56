//! Scenarios and traces built by hand, for tests.
//!
//! [`Story`] tells a rollout step by step and keeps what every trace keeps: edges from older to newer
//! nodes, and recorded labels that are the join over taint edges. Everything else is up to the test,
//! so that a test can also tell what no engine would.

mod cast;
pub(crate) mod random;
mod rows;
mod scenario;
mod story;

pub(crate) use cast::registry;
pub(crate) use rows::row_of;
pub(crate) use scenario::{
    ALIAS, CONTACT, NOTE, OUTSIDER, PARTNER, PLAN, SCRATCH, STORE, scenario, tool,
};
pub(crate) use story::{Arg, Story, free, tainted};
