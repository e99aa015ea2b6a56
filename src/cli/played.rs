//! Rollouts of a world with everything as it is by default, as their rows and redacted traces.

use std::path::Path;

use containment_bench::Choice;
use engine::export::jsonl;
use plugins::label::LabelTable;
use plugins::trace::Trace;
use serde_json::Value;
use study::divergence::Labelled;
use study::row::Row;

use super::failure::Failure;
use super::narrate::Narrator;
use super::options::{Case, SettingArgs};
use super::terminal::Terminal;
use super::{rows, traces};

/// A rollout that has ended.
pub(crate) struct Played {
    /// Its policy.
    pub(crate) policy: String,
    /// Its numbers.
    pub(crate) row: Row,
    /// Its trace as `containment trace` prints it, redacted.
    pub(crate) jsonl: String,
    /// The events of the trace, redacted.
    pub(crate) events: Vec<Value>,
    trace: Trace,
    labels: LabelTable,
}

/// A world with its script, as it runs if nothing is said of seed, model, instrumentation or user.
pub(crate) fn case(world: &Path, terminal: &Terminal) -> Result<Case, Failure> {
    Case::load(world, &SettingArgs::default(), terminal)
}

impl Played {
    /// Runs a case under a policy.
    pub(crate) fn under(case: &Case, policy: &str) -> Result<Self, Failure> {
        let choice = Choice::from(policy);
        let (mut rollout, hashes) = case.start(&choice)?;
        rollout.run();
        let row = rows::row(case, &choice, hashes, &mut rollout, None);
        rows::require_numbers(case, &choice, &row)?;
        let (trace, labels) = (rollout.trace(), rollout.labels());
        let event = |index| jsonl::event(&case.scene.scenario, trace, labels, index, false);
        Ok(Self {
            policy: policy.to_owned(),
            row,
            jsonl: traces::jsonl(case, &choice, hashes, &rollout, false),
            events: (0..trace.events.len()).map(event).collect(),
            trace: trace.clone(),
            labels: labels.clone(),
        })
    }

    /// Its trace, with the labels behind the ids.
    pub(crate) fn labelled(&self) -> Labelled<'_> {
        Labelled {
            trace: &self.trace,
            labels: &self.labels,
        }
    }

    /// Every event in words.
    pub(crate) fn told(&self, case: &Case) -> Vec<String> {
        let mut narrator = Narrator::of(&case.scene.scenario);
        let events = self.events.iter();
        events.map(|event| narrator.tell(event)).collect()
    }
}
