//! The integration tests, in one program so that there is one link.

mod case_studies;
mod cli;
mod conformance;
mod corpus;
mod coverage;
mod defences;
mod determinism;
mod differential;
mod ecs;
mod golden;
mod joining;
mod main_study;
mod metamorphic;
mod profiles;
mod recordings;
mod shipped;
mod snapshots;
mod support;
mod tidy;
mod traces;
