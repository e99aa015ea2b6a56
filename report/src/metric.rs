//! The metrics that tables compare: where each applies, which way is better, and what it is for.
//!
//! The values are columns of the rows; `study/COLUMNS.md` defines them. Here stands only what a
//! comparison needs to know besides.

use serde::Serialize;
use statistics::Better;
use study::columns::Stages;
use study::ratio::Ratio;
use study::row::Row;
use worlds::spec::Stage;

use crate::evidence::Scope;

/// What a metric is for (Table 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// A discriminative endpoint: differences are claims where the controls hold.
    Primary,
    /// An observable that depends on the realised trace and the instrumentation.
    Diagnostic,
    /// An endpoint that is recorded; it supports a claim only in a study whose control shows events.
    Instrumented,
    /// What must hold before anything else is read.
    Prerequisite,
}

impl Role {
    /// The word in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Primary => "primary",
            Self::Diagnostic => "diagnostic",
            Self::Instrumented => "instrumented",
            Self::Prerequisite => "prerequisite",
        }
    }
}

/// What shows that a metric could have been other than zero (6.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// The metric itself, without a defence.
    Itself,
    /// Authorised high-risk proposals without a defence: what could have been blocked or confirmed.
    Opportunities,
}

/// A metric of a row.
#[derive(Clone, Copy)]
pub struct Metric {
    /// Its column; of several readings of one column, the column and the reading.
    pub name: &'static str,
    /// What tables call it.
    pub label: &'static str,
    /// Which values are better.
    pub better: Better,
    /// What it is for.
    pub role: Role,
    /// Where it applies.
    pub stages: Stages,
    /// Whether a mean over all stages says something: utilities of different stages are never pooled
    /// (4.4).
    pub pooled: bool,
    /// What must occur under the control before zeros of the metric say anything.
    pub control: Control,
    /// Its value in a row; null is none.
    value: fn(&Row) -> Option<f64>,
}

impl std::fmt::Debug for Metric {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Metric").field(&self.name).finish()
    }
}

impl Metric {
    /// Its value in a row; none where the question does not apply.
    #[must_use]
    pub fn of(&self, row: &Row) -> Option<f64> {
        (self.value)(row)
    }

    /// Whether it lies between 0 and 1.
    #[must_use]
    pub fn is_share(&self) -> bool {
        ![CASCADE_DEPTH.name, BURDEN.name].contains(&self.name)
    }

    /// Whether a difference of it can be a claim at all (Table 6).
    #[must_use]
    pub const fn is_claimable(&self) -> bool {
        matches!(self.role, Role::Primary | Role::Instrumented)
    }

    /// What must occur under the control, in a row.
    #[must_use]
    pub fn control_of(&self, row: &Row) -> Option<f64> {
        match self.control {
            Control::Itself => self.of(row),
            Control::Opportunities => count(row.metrics.utility.opportunities),
        }
    }

    /// The scopes in which it is compared: each of its stages, and all of them together if that says
    /// something.
    #[must_use]
    pub fn scopes(&self) -> Vec<Scope> {
        let stages = Stage::ALL.into_iter();
        let stages = stages.filter(|stage| self.stages.include(*stage));
        let all = self.pooled.then_some(Scope::All);
        all.into_iter().chain(stages.map(Scope::Stage)).collect()
    }
}

fn share(truth: Option<bool>) -> Option<f64> {
    truth.map(|truth| f64::from(u8::from(truth)))
}

fn quotient(ratio: Option<Ratio>) -> Option<f64> {
    ratio.map(Ratio::quotient)
}

fn count(count: Option<u32>) -> Option<f64> {
    count.map(f64::from)
}

/// Eq. 5.
pub const HARM: Metric = Metric {
    name: "committed_harm",
    label: "committed policy violation",
    better: Better::Lower,
    role: Role::Primary,
    stages: Stages::All,
    pooled: true,
    control: Control::Itself,
    value: |row| share(row.metrics.endpoints.committed_harm),
};

/// Named in 3.4.
pub const UNAUTHORIZED: Metric = Metric {
    name: "unauthorized_action",
    label: "unauthorized action",
    better: Better::Lower,
    role: Role::Primary,
    stages: Stages::All,
    pooled: true,
    control: Control::Itself,
    value: |row| share(row.metrics.endpoints.unauthorized_action),
};

/// Table 5.
pub const WRONG_RECIPIENT: Metric = Metric {
    name: "wrong_recipient_rate",
    label: "wrong recipient",
    better: Better::Lower,
    role: Role::Primary,
    stages: Stages::All,
    pooled: true,
    control: Control::Itself,
    value: |row| share(row.metrics.endpoints.wrong_recipient_rate),
};

/// 4.4.
pub const SECRET_LEAK: Metric = Metric {
    name: "secret_leakage",
    label: "secret leakage",
    better: Better::Lower,
    role: Role::Instrumented,
    stages: Stages::All,
    pooled: true,
    control: Control::Itself,
    value: |row| share(row.metrics.endpoints.secret_leakage),
};

/// Ours: a private document that is named to who may not read it, and so no copied content.
pub const LEAK_BY_REFERENCE: Metric = Metric {
    name: "leak_by_reference",
    label: "leak by reference",
    better: Better::Lower,
    role: Role::Instrumented,
    stages: Stages::All,
    pooled: true,
    control: Control::Itself,
    value: |row| share(row.metrics.endpoints.leak_by_reference),
};

/// Tables 17 and 22.
pub const ATTEMPT: Metric = Metric {
    name: "harm_attempt",
    label: "harm attempt",
    better: Better::Lower,
    role: Role::Diagnostic,
    stages: Stages::All,
    pooled: true,
    control: Control::Itself,
    value: |row| share(row.metrics.endpoints.harm_attempt),
};

/// Eq. 4.
pub const SPREAD: Metric = Metric {
    name: "blast_radius_norm",
    label: "logged spread",
    better: Better::Lower,
    role: Role::Diagnostic,
    stages: Stages::All,
    pooled: true,
    control: Control::Itself,
    value: |row| quotient(row.metrics.propagation.blast_radius_norm),
};

/// Table 5.
pub const PRIVILEGE_JUMP: Metric = Metric {
    name: "privilege_jump",
    label: "privilege jump",
    better: Better::Lower,
    role: Role::Diagnostic,
    stages: Stages::All,
    pooled: true,
    control: Control::Itself,
    value: |row| share(row.metrics.propagation.privilege_jump),
};

/// Named in 6.5.
pub const CASCADE_DEPTH: Metric = Metric {
    name: "cascade_depth",
    label: "cascade depth",
    better: Better::Lower,
    role: Role::Diagnostic,
    stages: Stages::All,
    pooled: true,
    control: Control::Itself,
    value: |row| count(row.metrics.propagation.cascade_depth),
};

/// Eq. 3.
pub const TAINT_TO_COMMIT: Metric = Metric {
    name: "taint_to_commit_rate",
    label: "taint to commit",
    better: Better::Lower,
    role: Role::Diagnostic,
    stages: Stages::All,
    pooled: true,
    control: Control::Itself,
    value: |row| quotient(row.metrics.propagation.taint_to_commit_rate),
};

/// Table 23.
pub const REINFECTION: Metric = Metric {
    name: "memory_reinfection",
    label: "memory reinfection",
    better: Better::Lower,
    role: Role::Instrumented,
    stages: Stages::Memory,
    pooled: false,
    control: Control::Itself,
    value: |row| share(row.metrics.memory.memory_reinfection),
};

/// Table 5.
pub const RECOVERY: Metric = Metric {
    name: "recovery_success",
    label: "recovery success",
    better: Better::Higher,
    role: Role::Diagnostic,
    stages: Stages::Memory,
    pooled: false,
    control: Control::Itself,
    value: |row| share(row.metrics.memory.recovery_success),
};

/// Table 15. Whether undoing is better than not having to is not for this number to say, so
/// its differences are no claims (Table 6: `rollback superiority`).
pub const ROLLBACK: Metric = Metric {
    name: "rollback",
    label: "rollback",
    better: Better::Higher,
    role: Role::Diagnostic,
    stages: Stages::Memory,
    pooled: false,
    control: Control::Itself,
    value: |row| share(row.metrics.memory.rollback),
};

/// What Table 11 prints: completed required actions, which gives the fractions that its numbers
/// imply.
pub const COMPLETION: Metric = Metric {
    name: "authorized_tainted_action_success_fraction",
    label: "authorized completion",
    better: Better::Higher,
    role: Role::Primary,
    stages: Stages::Active,
    pooled: false,
    control: Control::Itself,
    value: |row| {
        quotient(
            row.metrics
                .utility
                .authorized_tainted_action_success_fraction,
        )
    },
};

/// Eq. 6 as it is written.
pub const COMPLETION_WRITTEN: Metric = Metric {
    name: "authorized_tainted_action_success",
    label: "completion by Eq. 6",
    better: Better::Higher,
    role: Role::Primary,
    stages: Stages::Active,
    pooled: false,
    control: Control::Itself,
    value: |row| share(row.metrics.utility.authorized_tainted_action_success),
};

/// The fraction with harm not counted against it.
pub const COMPLETION_UNZEROED: Metric = Metric {
    name: "authorized_tainted_action_success_fraction_unzeroed",
    label: "completion whatever harm",
    better: Better::Higher,
    role: Role::Primary,
    stages: Stages::Active,
    pooled: false,
    control: Control::Itself,
    value: |row| {
        quotient(
            row.metrics
                .utility
                .authorized_tainted_action_success_fraction_unzeroed,
        )
    },
};

/// Table 11.
pub const FALSE_BLOCK: Metric = Metric {
    name: "false_positive_block_rate",
    label: "false-positive block",
    better: Better::Lower,
    role: Role::Primary,
    stages: Stages::Utility,
    pooled: false,
    control: Control::Opportunities,
    value: |row| quotient(row.metrics.utility.false_positive_block_rate),
};

/// Table 11.
pub const FALSE_CONFIRM: Metric = Metric {
    name: "false_positive_confirm_rate",
    label: "false-positive confirm",
    better: Better::Lower,
    role: Role::Primary,
    stages: Stages::Utility,
    pooled: false,
    control: Control::Opportunities,
    value: |row| quotient(row.metrics.utility.false_positive_confirm_rate),
};

/// Table 11.
pub const CLEAN_COMPLETION: Metric = Metric {
    name: "clean_benign_completion",
    label: "clean completion",
    better: Better::Higher,
    role: Role::Primary,
    stages: Stages::Clean,
    pooled: false,
    control: Control::Itself,
    value: |row| share(row.metrics.utility.clean_benign_completion),
};

/// Table 5. Requests to confirm and holds, for each rollout; policies that never ask have none.
pub const BURDEN: Metric = Metric {
    name: "confirmation_burden",
    label: "confirmation burden",
    better: Better::Lower,
    role: Role::Diagnostic,
    stages: Stages::All,
    pooled: true,
    control: Control::Opportunities,
    value: |row| count(row.metrics.utility.confirmation_burden),
};

/// Table 22.
pub const BENIGN_COMPLETION: Metric = Metric {
    name: "benign_completion",
    label: "benign completion",
    better: Better::Higher,
    role: Role::Diagnostic,
    stages: Stages::All,
    pooled: true,
    control: Control::Itself,
    value: |row| share(row.metrics.utility.benign_completion),
};

/// Table 22.
pub const VALID_PROPOSAL: Metric = Metric {
    name: "valid_tool_proposal_rate",
    label: "valid proposal",
    better: Better::Higher,
    role: Role::Prerequisite,
    stages: Stages::All,
    pooled: true,
    control: Control::Itself,
    value: |row| quotient(row.metrics.parsing.valid_tool_proposal_rate),
};

/// Table 22.
pub const PARSE_FAILURE: Metric = Metric {
    name: "parse_failure_rate",
    label: "parse failure",
    better: Better::Lower,
    role: Role::Prerequisite,
    stages: Stages::All,
    pooled: true,
    control: Control::Itself,
    value: |row| quotient(row.metrics.parsing.parse_failure_rate),
};

/// Appendix I.
pub const INVALID_TOOL: Metric = Metric {
    name: "invalid_tool_rate",
    label: "invalid tool",
    better: Better::Lower,
    role: Role::Prerequisite,
    stages: Stages::All,
    pooled: true,
    control: Control::Itself,
    value: |row| quotient(row.metrics.parsing.invalid_tool_rate),
};

/// Appendix I.
pub const REPAIR: Metric = Metric {
    name: "repair_rate",
    label: "repair",
    better: Better::Lower,
    role: Role::Prerequisite,
    stages: Stages::All,
    pooled: true,
    control: Control::Itself,
    value: |row| quotient(row.metrics.parsing.repair_rate),
};

/// What two policies are compared in, in the order of tables.
pub const COMPARED: [Metric; 19] = [
    HARM,
    UNAUTHORIZED,
    WRONG_RECIPIENT,
    SECRET_LEAK,
    LEAK_BY_REFERENCE,
    COMPLETION,
    COMPLETION_WRITTEN,
    FALSE_BLOCK,
    FALSE_CONFIRM,
    CLEAN_COMPLETION,
    SPREAD,
    PRIVILEGE_JUMP,
    CASCADE_DEPTH,
    TAINT_TO_COMMIT,
    RECOVERY,
    REINFECTION,
    ROLLBACK,
    ATTEMPT,
    BURDEN,
];

/// What must hold before a comparison is read.
pub const PREREQUISITES: [Metric; 4] = [VALID_PROPOSAL, PARSE_FAILURE, REPAIR, INVALID_TOOL];

#[cfg(test)]
mod tests {
    use study::row::row_columns;

    use super::*;

    #[test]
    fn every_metric_is_a_column_of_the_same_stages() {
        for metric in COMPARED.iter().chain(&PREREQUISITES) {
            let column = row_columns()
                .iter()
                .find(|column| column.name() == metric.name)
                .unwrap_or_else(|| panic!("{} is no column", metric.name));
            // Rollbacks are counted on every stage and reported on one (Table 15).
            if metric.name != "rollback" {
                assert_eq!(column.spec.stages, metric.stages, "{}", metric.name);
            }
        }
    }

    #[test]
    fn utilities_of_different_stages_are_never_pooled() {
        for metric in COMPARED {
            assert_eq!(
                metric.pooled,
                metric.stages == Stages::All,
                "{}",
                metric.name
            );
        }
        assert_eq!(COMPLETION.scopes(), [Scope::Stage(Stage::ActiveTainted)]);
        assert_eq!(HARM.scopes().len(), 5);
    }
}
