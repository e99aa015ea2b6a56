//! The twelve fields of 6.5 on which two policies are compared. Policy hashes, rules, ledger matches
//! and versions never enter.

use super::Metrics;
use crate::ratio::Ratio;

/// One field of the projection, in the order of 6.5.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Field {
    /// Ratio of labelled nodes to the region.
    BlastRadiusNorm,
    /// Labelled nodes.
    BlastRadiusRaw,
    /// Labelled agent states.
    BrAgent,
    /// Labelled messages.
    BrMessage,
    /// Labelled memory records.
    BrMemory,
    /// Labelled tool results and proposals.
    BrTool,
    /// Labelled side effects.
    BrSideEffect,
    /// The indicator.
    PrivilegeJump,
    /// Depth of the taint cascade.
    CascadeDepth,
    /// Ratio of labelled proposals that commit.
    TaintToCommitRate,
    /// Null outside its stage.
    MemoryReinfection,
    /// Null outside its stage.
    RecoverySuccess,
}

/// The fields in the order of 6.5.
pub const FIELDS: [Field; 12] = [
    Field::BlastRadiusNorm,
    Field::BlastRadiusRaw,
    Field::BrAgent,
    Field::BrMessage,
    Field::BrMemory,
    Field::BrTool,
    Field::BrSideEffect,
    Field::PrivilegeJump,
    Field::CascadeDepth,
    Field::TaintToCommitRate,
    Field::MemoryReinfection,
    Field::RecoverySuccess,
];

/// The value of a field. Equality is exact: ratios as integer pairs, null equals null and differs
/// from any value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldValue {
    /// The field does not apply.
    Null,
    /// A count or an indicator.
    Count(u32),
    /// A ratio.
    Ratio(Ratio),
}

impl std::fmt::Display for FieldValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Count(count) => count.fmt(f),
            Self::Ratio(ratio) => ratio.fmt(f),
        }
    }
}

impl Field {
    /// Its name, which is also that of its column.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::BlastRadiusNorm => "blast_radius_norm",
            Self::BlastRadiusRaw => "blast_radius_raw",
            Self::BrAgent => "br_agent",
            Self::BrMessage => "br_message",
            Self::BrMemory => "br_memory",
            Self::BrTool => "br_tool",
            Self::BrSideEffect => "br_side_effect",
            Self::PrivilegeJump => "privilege_jump",
            Self::CascadeDepth => "cascade_depth",
            Self::TaintToCommitRate => "taint_to_commit_rate",
            Self::MemoryReinfection => "memory_reinfection",
            Self::RecoverySuccess => "recovery_success",
        }
    }

    /// Its value in these metrics.
    #[must_use]
    pub fn of(self, metrics: &Metrics) -> FieldValue {
        let Metrics {
            propagation,
            memory,
            ..
        } = metrics;
        let count = |count: Option<u32>| count.map_or(FieldValue::Null, FieldValue::Count);
        let indicator = |truth: Option<bool>| count(truth.map(u32::from));
        let ratio = |ratio: Option<Ratio>| ratio.map_or(FieldValue::Null, FieldValue::Ratio);
        match self {
            Self::BlastRadiusNorm => ratio(propagation.blast_radius_norm),
            Self::BlastRadiusRaw => count(propagation.blast_radius_raw),
            Self::BrAgent => count(propagation.br_agent),
            Self::BrMessage => count(propagation.br_message),
            Self::BrMemory => count(propagation.br_memory),
            Self::BrTool => count(propagation.br_tool),
            Self::BrSideEffect => count(propagation.br_side_effect),
            Self::PrivilegeJump => indicator(propagation.privilege_jump),
            Self::CascadeDepth => count(propagation.cascade_depth),
            Self::TaintToCommitRate => ratio(propagation.taint_to_commit_rate),
            Self::MemoryReinfection => indicator(memory.memory_reinfection),
            Self::RecoverySuccess => indicator(memory.recovery_success),
        }
    }
}
