//! Every metric, count and projection field of one rollout, computed from its trace.
//!
//! One file for each group; each declares its columns with their meaning beside the code that
//! fills them. Everything is computed from the finished trace, the labels behind it and the
//! scenario. Scoring uses the true ledger of the scenario and the *recorded* labels; exact labels
//! enter through `Leak` alone.

pub mod calls;
pub mod containment;
pub mod endpoints;
pub mod events;
pub mod memory;
pub mod parsing;
pub mod projection;
pub mod propagation;
pub mod reach;
pub mod search;
pub mod utility;

use plugins::label::LabelTable;
use plugins::setting::Instrumentation;
use plugins::trace::{Outcome, Trace};
use worlds::spec::Scenario;

use crate::columns::{BadCell, CellWriter, Column, Columns, Reader};
use containment::Containment;
use endpoints::Endpoints;
use events::Events;
use memory::Memory;
use parsing::Parsing;
use propagation::Propagation;
use reach::Reach;
use search::{AttackGoal, Search};
use utility::Utility;

/// A rollout that has ended, with all that its numbers are computed from.
#[derive(Clone, Copy, Debug)]
pub struct Finished<'a> {
    /// The scenario, with the true ledger.
    pub scenario: &'a Scenario,
    /// The trace.
    pub trace: &'a Trace,
    /// The labels behind the ids of the trace.
    pub labels: &'a LabelTable,
    /// What the recorded labels are.
    pub instrumentation: Instrumentation,
    /// How it ended.
    pub outcome: &'a Outcome,
}

/// The numbers of one rollout. Every field is null if the rollout errored: a failed backend is
/// neither safe nor unsafe.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metrics {
    /// What committed.
    pub endpoints: Endpoints,
    /// How far labels travelled.
    pub propagation: Propagation,
    /// What memory kept.
    pub memory: Memory,
    /// What work was done.
    pub utility: Utility,
    /// What the parser read.
    pub parsing: Parsing,
    /// How long exposure lasted.
    pub containment: Containment,
    /// What an attack reached.
    pub search: Search,
}

impl Columns for Metrics {
    fn columns(out: &mut Vec<Column>) {
        Endpoints::columns(out);
        Propagation::columns(out);
        Memory::columns(out);
        Utility::columns(out);
        Parsing::columns(out);
        Containment::columns(out);
        Search::columns(out);
    }

    fn write(&self, out: &mut impl CellWriter) {
        self.endpoints.write(out);
        self.propagation.write(out);
        self.memory.write(out);
        self.utility.write(out);
        self.parsing.write(out);
        self.containment.write(out);
        self.search.write(out);
    }

    fn read(cells: &mut Reader<'_>) -> Result<Self, BadCell> {
        Ok(Self {
            endpoints: Endpoints::read(cells)?,
            propagation: Propagation::read(cells)?,
            memory: Memory::read(cells)?,
            utility: Utility::read(cells)?,
            parsing: Parsing::read(cells)?,
            containment: Containment::read(cells)?,
            search: Search::read(cells)?,
        })
    }
}

/// Measures a finished rollout.
#[must_use]
pub fn measure(finished: &Finished<'_>) -> Metrics {
    measure_search(finished, None)
}

/// Measures a finished rollout of a search study, whose attack is fixed on `goal`.
#[must_use]
pub fn measure_search(finished: &Finished<'_>, goal: Option<&AttackGoal>) -> Metrics {
    if matches!(finished.outcome, Outcome::Errored(_)) {
        return Metrics::default();
    }
    let reach = Reach::of(finished);
    let events = Events::of(finished);
    let calls = &events.calls;
    let endpoints = endpoints::measure(finished, &events);
    Metrics {
        propagation: propagation::measure(finished, &reach, calls),
        memory: memory::measure(finished, calls),
        utility: utility::measure(finished, &reach, &events, &endpoints),
        parsing: events.completions.columns(),
        containment: containment::measure(finished, &reach, &endpoints),
        search: goal.map_or_else(Search::default, |goal| search::measure(calls, goal)),
        endpoints,
    }
}

/// How many items there are.
fn count(items: impl Iterator) -> u32 {
    u32::try_from(items.count()).expect("limits keep traces far below u32::MAX")
}

#[cfg(test)]
mod tests;
