//! What a decision can rest on, by name instead of by id: the vocabulary that all policies from
//! outside the program share, whatever language they are written in.

use crate::action::Argument;
use crate::ids::{CallId, PrincipalId};
use crate::label::{IndexSet, LabelId, Readers};
use crate::policy::{Proposal, View};
use crate::predicate::{expanding_fields, leaking_fields, matches, wrong_recipient};
use crate::tool::{Role, ToolSpec};
use crate::trace::{Answer, Happening, Prefix, Subject};
use crate::value::Value;
use crate::{action::Call, briefing::Briefing};

/// What is known of where a value came from and who may read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelFacts<'a> {
    /// Content of an untrusted source flowed in.
    pub tainted: bool,
    /// An untrusted source flowed in or influenced the choice.
    pub influenced: bool,
    /// The sources that flowed in, by name.
    pub sources: Vec<&'a str>,
    /// The sources that influenced the choice, by name.
    pub control: Vec<&'a str>,
    /// Who may read it, by name; none means everyone.
    pub readers: Option<Vec<&'a str>>,
}

impl<'a> LabelFacts<'a> {
    /// The facts of the label with this id.
    #[must_use]
    pub fn of(view: &'a View<'_>, label: LabelId) -> Self {
        let briefing: &'a Briefing = view.briefing;
        let label = view.labels.get(label);
        let sources = |set: &IndexSet| -> Vec<&'a str> {
            set.iter()
                .map(|source| &*briefing.sources[source as usize].name)
                .collect()
        };
        Self {
            tainted: label.carries(&briefing.untrusted),
            influenced: label.influenced_by(&briefing.untrusted),
            sources: sources(&label.sources),
            control: sources(&label.control),
            readers: reader_names(&label.readers, briefing),
        }
    }
}

/// The names of those who may read; none means everyone.
fn reader_names<'a>(readers: &Readers, briefing: &'a Briefing) -> Option<Vec<&'a str>> {
    let Readers::Only(set) = readers else {
        return None;
    };
    let names = set.iter().map(PrincipalId);
    Some(
        names
            .map(|principal| &*briefing.principals[principal.index()])
            .collect(),
    )
}

/// One argument of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentFacts<'a> {
    /// Its position in the tool.
    pub position: u16,
    /// Its canonical name.
    pub name: &'a str,
    /// What it means to the authorisation.
    pub role: Role,
    /// Its value.
    pub value: &'a Value,
    /// The exact label of the value.
    pub label: LabelFacts<'a>,
}

/// A call under decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallFacts<'a> {
    /// Who calls.
    pub agent: &'a str,
    /// The tool.
    pub tool: &'a ToolSpec,
    /// `HighRisk(q)`.
    pub high_risk: bool,
    /// The target `t(q)`; none if it is absent or several.
    pub target: Option<&'a str>,
    /// The arguments as they would commit, ascending by position.
    pub arguments: Vec<ArgumentFacts<'a>>,
    /// The recorded label of the call: what node-level taint sees.
    pub recorded: LabelFacts<'a>,
    /// The exact label of the choice of tool.
    pub choice: LabelFacts<'a>,
    /// `Match(q, I)` of Eq. 9: the first ledger entry that authorises the call, by position.
    pub ledger_entry: Option<usize>,
    /// `Expand(q, I, G)` of Eq. 10 under that entry: the argument positions; empty without an entry.
    pub expanding: Vec<u16>,
    /// `Leak(q)`: the argument positions.
    pub leaking: Vec<u16>,
    /// `WrongRecipient(q)` of Table 5.
    pub wrong_recipient: bool,
}

impl<'a> CallFacts<'a> {
    /// The facts of a call at `on_proposal` or `on_commit`.
    #[must_use]
    pub fn of(view: &'a View<'_>, proposal: &'a Proposal<'_>) -> Self {
        let briefing: &'a Briefing = view.briefing;
        let call = proposal.view();
        let entry = matches(call, &briefing.ledger);
        let argument = |argument: &'a Argument| {
            let spec = &proposal.tool.arguments[usize::from(argument.position)];
            ArgumentFacts {
                position: argument.position,
                name: &spec.name,
                role: spec.role,
                value: &argument.value,
                label: LabelFacts::of(view, argument.label),
            }
        };
        Self {
            agent: &briefing.agents[proposal.call.agent.index()].name,
            tool: proposal.tool,
            high_risk: proposal.tool.high_risk(),
            target: call.target(),
            arguments: proposal.arguments.iter().map(argument).collect(),
            recorded: LabelFacts::of(view, proposal.call.recorded),
            choice: LabelFacts::of(view, proposal.call.choice),
            ledger_entry: entry,
            expanding: entry.map_or_else(Vec::new, |entry| {
                let entry = &briefing.ledger.entries[entry];
                expanding_fields(call, entry, view.labels, &briefing.untrusted)
            }),
            leaking: leaking_fields(call, briefing, view.labels),
            wrong_recipient: wrong_recipient(call, briefing),
        }
    }
}

/// How often something happened to calls so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Became proposals; the one under decision is one of them.
    pub proposed: u64,
    /// Took effect.
    pub committed: u64,
    /// Were denied.
    pub denied: u64,
    /// Were put to the user.
    pub asked: u64,
    /// Were approved by the user.
    pub approved: u64,
}

impl Counts {
    /// Counts the calls of the prefix that `is_counted` holds of, over the whole rollout.
    #[must_use]
    pub fn of(prefix: Prefix<'_>, is_counted: impl Fn(&Call) -> bool) -> Self {
        let mut counts = Self::default();
        let counted = |call: CallId| u64::from(prefix.call(call).is_some_and(&is_counted));
        for event in prefix.events {
            match event.what {
                Happening::Proposed { call } => counts.proposed += counted(call),
                Happening::Committed { call, .. } => counts.committed += counted(call),
                Happening::Denied { call, .. } => counts.denied += counted(call),
                Happening::Asked {
                    subject: Subject::Call(call),
                    answer,
                } => {
                    let asked = counted(call);
                    counts.asked += asked;
                    counts.approved += asked * u64::from(answer == Answer::Approved);
                }
                _ => {}
            }
        }
        counts
    }

    /// Counts the calls of tools that are `HighRisk`.
    #[must_use]
    pub fn of_high_risk(prefix: Prefix<'_>, briefing: &Briefing) -> Self {
        Self::of(prefix, |call| briefing.tools[call.tool.index()].high_risk())
    }
}
