//! Quarantine of tainted memory at retrieval.

use plugins::parameters::{ParameterKind, ParameterSpec, Parameters};
use plugins::policy::{Hooks, MemoryVerdict, RecordView, Ruling, View};

use crate::rules;
use crate::taint::untrusted_sources;

/// What becomes of a memory record whose recorded label is tainted when it is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum TaintedMemory {
    /// It is quarantined. *Inferred*: see [`rules::QUARANTINE_TAINTED_MEMORY`].
    #[default]
    Quarantine,
    /// It is returned, and proposals alone are decided on, as the equations have it. *Ours*, for
    /// ablation.
    Pass,
}

impl TaintedMemory {
    /// The parameter that says which.
    pub(crate) const fn parameter() -> ParameterSpec {
        ParameterSpec {
            name: "memory",
            doc: "What becomes of a memory record whose recorded label is tainted when it is read: \
                  quarantine (inferred from the logged spread of Table 15), or pass, as if the \
                  equations, which are about proposals only, were all there is.",
            kind: ParameterKind::Choice(&["quarantine", "pass"]),
        }
    }

    /// What the parameter of [`TaintedMemory::parameter`] says.
    pub(crate) fn of_parameters(parameters: &Parameters) -> Self {
        match parameters.text("memory") {
            "pass" => Self::Pass,
            _ => Self::Quarantine,
        }
    }

    /// The hook that it takes. Passing takes none, so it is not asked.
    pub(crate) const fn hooks(self) -> Hooks {
        match self {
            Self::Quarantine => Hooks::MEMORY_READ,
            Self::Pass => Hooks::empty(),
        }
    }

    /// The ruling on a record that is about to be returned.
    pub(crate) fn on_read(self, view: &View<'_>, record: &RecordView<'_>) -> Ruling<MemoryVerdict> {
        if self == Self::Pass || !view.tainted(record.recorded) {
            return Ruling::<MemoryVerdict>::neutral();
        }
        let reason = rules::QUARANTINE_TAINTED_MEMORY
            .reason()
            .with_evidence(untrusted_sources(view, record.recorded));
        Ruling::new(MemoryVerdict::Quarantine, reason)
    }
}
