//! A rule that verdicts name, as `explain` and `list` show it. Each crate of policies has a table of them.

use crate::reason::{DenialReason, Reason, VerdictKind};

/// Where a rule comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The publication states it, in the place named in the documentation: the paper for a built-in
    /// policy, the system's own paper or repository for a policy of the field.
    Paper,
    /// Inferred from the published numbers, or ours where the publication is silent.
    Inferred,
}

/// One rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its stable identifier.
    pub id: &'static str,
    /// The verdict that it gives.
    pub verdict: VerdictKind,
    /// What the agent is told; none if the rule never denies.
    pub denial: Option<DenialReason>,
    /// Where it comes from.
    pub origin: Origin,
    /// The policies that use it, by name; none if it belongs to all of them or to a composition.
    pub policies: &'static [&'static str],
    /// What it says, with its source.
    pub doc: &'static str,
}

impl Rule {
    /// A reason that names this rule. The denial of a rule that never denies is never read.
    #[must_use]
    pub const fn reason(&self) -> Reason {
        let denial = match self.denial {
            Some(denial) => denial,
            None => DenialReason::PluginFault,
        };
        Reason::new(self.id, denial)
    }
}
