//! `cross_agent_taint_firewall`: named in Tables 18 and 22 and in 6.3, and defined nowhere in the
//! paper. Ours: taint on what a call may do needs an authorisation, and an authorisation is enough.

use plugins::action::Call;
use plugins::ids::NodeId;
use plugins::label::SourceSet;
use plugins::parameters::{ParameterKind, ParameterSpec, Parameters};
use plugins::policy::{
    DecidingField, Evidence, Hooks, Policy, Proposal, ProposalVerdict, Reason, Ruling, View,
};
use plugins::state::SavedState;
use plugins::trace::NodeKind;

use crate::authorize::{Authorization, authorize, ledger_entry};
use crate::rules;
use crate::taint::{carried_sources, tainted_authority_fields};

/// Which taint the firewall looks at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum TaintScope {
    /// All of it.
    #[default]
    AnyTaint,
    /// That of sources which another agent's message brought to the caller in this episode. What
    /// comes through shared memory, or over an untrusted channel from no agent, does not count.
    CrossedAgents,
}

impl TaintScope {
    fn named(word: &str) -> Self {
        match word {
            "crossed_agents" => Self::CrossedAgents,
            _ => Self::AnyTaint,
        }
    }
}

/// *Ours*, after what the tables say of it. It has no unauthorised commit where no defence has some
/// (Tables 18 and 22), so a tainted call that nobody authorised is blocked, and by default all taint
/// counts: attacks are on single agents too. It completes what `tool_boundary` completes (Table 22:
/// 0.9861 both; Table 18: 0.3130 against 0.3134), so a tainted call that the ledger authorises is
/// allowed and not confirmed. It says nothing of calls without taint in an argument of authority,
/// and nothing of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CrossAgentTaintFirewall {
    scope: TaintScope,
}

impl CrossAgentTaintFirewall {
    /// The policy with these parameters, as declared by [`CrossAgentTaintFirewall::parameters`].
    #[must_use]
    pub fn new(parameters: &Parameters) -> Self {
        Self {
            scope: TaintScope::named(parameters.text("scope")),
        }
    }

    /// The parameters that it takes.
    #[must_use]
    pub fn parameters() -> Vec<ParameterSpec> {
        vec![ParameterSpec {
            name: "scope",
            doc: "Which taint it looks at: any, or only that of sources which a message of another \
                  agent brought to the caller in this episode. The name of the policy suggests the \
                  second, its zeros in Tables 18 and 22 the first.",
            kind: ParameterKind::Choice(&["any_taint", "crossed_agents"]),
        }]
    }

    fn watched(self, view: &View<'_>, call: &Call) -> Watched {
        let untrusted = &view.briefing.untrusted;
        match self.scope {
            TaintScope::AnyTaint => Watched {
                sources: untrusted.clone(),
                messages: Vec::new(),
            },
            TaintScope::CrossedAgents => Watched::handed_over(view, call),
        }
    }
}

/// The taint that a ruling looks at.
struct Watched {
    sources: SourceSet,
    /// The nodes of the messages that brought it; empty where it does not matter.
    messages: Vec<NodeId>,
}

impl Watched {
    /// The untrusted sources that messages of other agents brought to the caller in this episode.
    /// A delivered message is the origin of a state of its receiver (`docs/SEMANTICS.md`, section 2);
    /// the node of a message that no agent sent belongs to its receiver.
    fn handed_over(view: &View<'_>, call: &Call) -> Self {
        let mut watched = Self {
            sources: SourceSet::default(),
            messages: Vec::new(),
        };
        for edge in view.prefix.edges {
            let message = &view.prefix.nodes[edge.from.index()];
            let state = &view.prefix.nodes[edge.to.index()];
            let is_handed_over = message.kind == NodeKind::Message
                && message.agent != Some(call.agent)
                && state.kind == NodeKind::AgentState
                && state.agent == Some(call.agent)
                && state.episode == call.episode;
            if !is_handed_over || !view.tainted(message.exact) {
                continue;
            }
            let carried = &view.labels.get(message.exact).sources;
            let carried = carried.intersection(&view.briefing.untrusted);
            watched.sources = watched.sources.union(&carried);
            watched.messages.push(edge.from);
        }
        watched
    }
}

impl SavedState for CrossAgentTaintFirewall {}

impl Policy for CrossAgentTaintFirewall {
    fn hooks(&self) -> Hooks {
        Hooks::PROPOSAL
    }

    fn on_proposal(
        &mut self,
        view: &mut View<'_>,
        proposal: Proposal<'_>,
    ) -> Ruling<ProposalVerdict> {
        let authorization = authorize(view, &proposal);
        if matches!(authorization, Authorization::LowRisk) {
            return Ruling::<ProposalVerdict>::neutral();
        }
        let watched = self.watched(view, proposal.call);
        let tainted = tainted_authority_fields(view, &proposal, &watched.sources);
        if tainted.is_empty() {
            let reason = rules::ALLOW_UNTAINTED_AUTHORITY.reason();
            return Ruling::new(ProposalVerdict::Allow, reason);
        }
        match authorization {
            Authorization::Matched(entry) => {
                let reason = rules::ALLOW_TAINTED_MATCH.reason();
                let evidence = [ledger_entry(entry)];
                Ruling::new(ProposalVerdict::Allow, reason.with_evidence(evidence))
            }
            Authorization::Leaking(fields) => {
                let fields = fields.into_iter().map(DecidingField::Argument);
                let reason = rules::SECRET_LEAK.reason().with_fields(fields);
                Ruling::new(ProposalVerdict::Block, reason)
            }
            Authorization::LowRisk | Authorization::Unmatched => {
                let reason = unauthorized(view, &proposal, &watched, &tainted);
                Ruling::new(ProposalVerdict::Block, reason)
            }
        }
    }
}

/// The reason of a block: the tainted fields, the sources in them, what brought them, the proposal.
fn unauthorized(
    view: &View<'_>,
    proposal: &Proposal<'_>,
    watched: &Watched,
    tainted: &[u16],
) -> Reason {
    let fields = tainted.iter().copied().map(DecidingField::Argument);
    rules::TAINTED_UNAUTHORIZED
        .reason()
        .with_fields(fields)
        .with_evidence(carried_sources(view, proposal, tainted, &watched.sources))
        .with_evidence(watched.messages.iter().copied().map(Evidence::Node))
        .with_evidence(proposal.node.map(Evidence::Node))
}

#[cfg(test)]
mod tests;
