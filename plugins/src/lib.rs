//! The contract between the engine and everything that can be plugged into it.
//!
//! This crate is all that an author of a policy, a model backend, an attacker or an auditor
//! compiles: no ECS, no input or output, no clock. A policy cannot name an engine type, so it
//! cannot keep state outside a snapshot.
//!
//! Where to read: [`policy`] for defences, [`model`] for backends, [`label`] for taint,
//! [`ledger`] and [`predicate`] for authorisation, [`trace`] for what a policy may see.

pub mod action;
pub mod attacker;
pub mod auditor;
pub mod briefing;
pub mod compose;
pub mod conformance;
pub mod draws;
pub mod facts;
pub mod fault;
pub mod ids;
pub mod label;
pub mod ledger;
pub mod loaded;
pub mod model;
pub mod parameters;
pub mod policy;
pub mod predicate;
pub mod reason;
pub mod registry;
pub mod rule;
pub mod setting;
pub mod state;
pub mod tool;
pub mod trace;
pub mod value;
pub mod verdict;
