//! The oracle: what one rollout does, read straight from `docs/SEMANTICS.md`.
//!
//! It shares the contract (`plugins`) and the checked scenario (`worlds`) with the engine and nothing
//! else: no entity, no system, no trace building, no metric. The engine must agree with it event by
//! event.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`interpreter`] | one rollout, a `match` per event |
//! | [`json`] | the trace as JSON Lines |
//! | [`numbers`] | `T`, `R` and the counts from the JSON Lines alone |
//! | [`generate`] | random scenarios, models and policies |
//! | [`coverage`] | what occurred in a set of rollouts |

pub mod coverage;
pub mod generate;
pub mod interpreter;
pub mod json;
pub mod numbers;

#[cfg(test)]
mod hand_built;
#[cfg(test)]
mod plain_parser;
#[cfg(test)]
mod sequences;
#[cfg(test)]
mod shapes;
