//! A kit that any plugin can be run through by its author.
//!
//! [`check_policy`], [`check_parser`], [`check_model`], [`check_attacker`] and [`check_auditor`] put
//! a plugin before scenarios from a seed, every fourth of them hostile, and return what it violates.
//! They need no test framework: assert that the list is empty.
//!
//! ```
//! use plugins::conformance::check_policy;
//! use plugins::policy::{Hooks, Policy};
//! use plugins::state::SavedState;
//!
//! struct Idle;
//! impl SavedState for Idle {}
//! impl Policy for Idle {
//!     fn hooks(&self) -> Hooks {
//!         Hooks::empty()
//!     }
//! }
//!
//! assert_eq!(check_policy(&|| Box::new(Idle), 20), []);
//! ```

use std::panic::{AssertUnwindSafe, catch_unwind};

pub mod generate;
pub mod random;
pub mod sample;

mod hostile;
mod model;
mod others;
mod parser;
mod policy;
mod question;
mod reference;

pub use model::check_model;
pub use others::{check_attacker, check_auditor};
pub use parser::check_parser;
pub use policy::{check_policy, hooks_exercised};

/// What a plugin must keep to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Law {
    /// No input makes it panic.
    NeverPanics,
    /// The same input twice gives the same answer.
    Deterministic,
    /// One instance does not notice another: nothing is shared outside the saved state.
    Independent,
    /// Saved and restored in mid-run, into a fresh or a used instance, it goes on identically.
    Restores,
    /// State of another version is refused, and a refused restore changes nothing.
    RefusesForeignState,
    /// The hooks that a policy declares do not change.
    ConstantHooks,
    /// A hook that is not declared does nothing.
    UndeclaredHookIsNeutral,
    /// Every verdict but the neutral one names a rule of its own.
    NamesARule,
    /// What an answer refers to exists.
    RefersToWhatExists,
    /// What a parser says of its reading agrees with itself.
    Coherent,
}

/// One violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The law.
    pub law: Law,
    /// In which round; the same round shows it again.
    pub round: u64,
    /// What happened.
    pub detail: String,
}

/// How many violations are reported at most.
const MOST_VIOLATIONS: usize = 20;

/// Runs `check` on each round and collects what it reports, and a panic as a violation.
fn check_rounds(rounds: u64, check: impl Fn(u64, &mut dyn FnMut(Law, String))) -> Vec<Violation> {
    let mut violations = Vec::new();
    for round in 0..rounds {
        let mut report = |law, detail| violations.push(Violation { law, round, detail });
        let outcome = catch_unwind(AssertUnwindSafe(|| check(round, &mut report)));
        if let Err(panic) = outcome {
            report(Law::NeverPanics, panic_message(&*panic));
        }
        if violations.len() >= MOST_VIOLATIONS {
            violations.truncate(MOST_VIOLATIONS);
            break;
        }
    }
    violations
}

fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("a panic without a message").to_owned()
}

#[cfg(test)]
mod tests;
