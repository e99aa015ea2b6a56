//! Authorize: the policy rules on proposals.

use std::sync::Arc;

use bevy_ecs::prelude::Query;
use plugins::action::Argument;
use plugins::ids::{AgentId, CallId};
use plugins::policy::{DenialReason, Hook, Proposal as Proposed, ProposalVerdict, Ruling, Verdict};
use plugins::predicate::{CallView, matches};
use plugins::trace::{Happening, NodeDetail, Subject};
use plugins::value::{Content, Value};

use super::entities::{Decisions, Proposals, Records};
use super::hooks::{Ruled, ask, ask_user, rule};
use super::referent;
use super::stage::Stage;
use crate::agenda::{AgendaEvent, Phase};
use crate::clock::Halt;
use crate::components::call::Returned;
use crate::components::place::HeldCalls;
use crate::identity::Identity;
use crate::setup::Guard;
use crate::state::{Parts, State};

/// Runs the due event if it is an authorisation.
pub(crate) fn authorize(
    state: &mut State,
    mut proposals: Proposals,
    records: Records,
    mut decisions: Decisions,
    mut held: Query<&mut HeldCalls>,
) {
    let Parts {
        mut stage,
        guard,
        identity,
        ..
    } = state.parts();
    let Some(AgendaEvent::Authorize(call)) = stage.take(Phase::Authorize) else {
        return;
    };
    let ruling = ask_proposal(&mut stage, guard, identity, &proposals, call);
    let (proposal, ..) = proposals.read(identity, call);
    let (agent, tool) = (proposal.agent, proposal.tool);
    let spec_reads = stage.scenario().briefing.tools[tool.index()]
        .operation
        .is_read();
    if spec_reads && ruling.verdict == ProposalVerdict::Allow {
        stage.schedule(agent, 0, AgendaEvent::Commit(call));
        return;
    }
    let proposal_node = proposals.node(&mut stage, identity, call);
    let subject = Subject::Call(call);
    let node = stage.decision(subject, Some(agent), NodeDetail::Plain, &[proposal_node]);
    let (verdict, denial) = (ruling.verdict.kind(), ruling.reason.denial);
    let ruled = Ruled {
        hook: Hook::Proposal,
        subject,
        verdict,
        reason: ruling.reason,
        node: Some(node),
    };
    rule(&mut stage, identity, &mut decisions, Some(agent), ruled);
    match ruling.verdict {
        ProposalVerdict::Allow => stage.schedule(agent, 0, AgendaEvent::Commit(call)),
        ProposalVerdict::Block => deny(&mut stage, agent, call, denial),
        ProposalVerdict::Confirm => {
            let authorized = is_authorized(&stage, identity, &proposals, call);
            if ask_user(&mut stage, guard, Some(agent), subject, authorized) {
                stage.schedule(agent, 0, AgendaEvent::Commit(call));
            } else {
                deny(&mut stage, agent, call, denial);
            }
        }
        ProposalVerdict::Hold => {
            if hold(&mut stage, identity, &proposals, &mut held, call) {
                deny(&mut stage, agent, call, denial);
            } else {
                stage.schedule(agent, 0, AgendaEvent::Commit(call));
            }
        }
        ProposalVerdict::Rewrite(values) => {
            rewrite(&mut stage, identity, &mut proposals, &records, call, values);
            stage.schedule(agent, 0, AgendaEvent::Commit(call));
        }
        ProposalVerdict::Simulate(content) => {
            simulate(&mut stage, identity, &mut proposals, call, content);
        }
        ProposalVerdict::Abort => stage.halt(Halt::Aborted),
    }
}

fn ask_proposal(
    stage: &mut Stage,
    guard: &mut Guard,
    identity: &Identity,
    proposals: &Proposals,
    call: CallId,
) -> Ruling<ProposalVerdict> {
    let (proposal, taint, _) = proposals.read(identity, call);
    ask(
        stage,
        guard,
        Hook::Proposal,
        Some(proposal.agent),
        |policy, view, stage| {
            let under_decision = Proposed {
                call: &view.prefix.calls[call.index()],
                tool: &stage.setup.prepared.scenario.briefing.tools[proposal.tool.index()],
                arguments: &proposal.arguments,
                node: taint.node,
            };
            policy.on_proposal(view, under_decision)
        },
    )
}

/// Whether the true ledger authorises the call as it would commit.
pub(crate) fn is_authorized(
    stage: &Stage,
    identity: &Identity,
    proposals: &Proposals,
    call: CallId,
) -> bool {
    let (proposal, ..) = proposals.read(identity, call);
    let briefing = &stage.scenario().briefing;
    let view = CallView {
        tool: &briefing.tools[proposal.tool.index()],
        arguments: &proposal.arguments,
    };
    matches(view, &briefing.ledger).is_some()
}

/// A call is denied; the agent learns it one tick later.
pub(crate) fn deny(stage: &mut Stage, agent: AgentId, call: CallId, reason: DenialReason) {
    stage.happen(Some(agent), Happening::Denied { call, reason });
    stage.schedule(agent, 1, AgendaEvent::Denial(call, reason));
}

/// Holds a call unless the same tool was held with the same argument values before; whether it is
/// held now.
pub(crate) fn hold(
    stage: &mut Stage,
    identity: &Identity,
    proposals: &Proposals,
    held: &mut Query<&mut HeldCalls>,
    call: CallId,
) -> bool {
    let (proposal, ..) = proposals.read(identity, call);
    let values: Vec<(u16, Value)> = proposal
        .arguments
        .iter()
        .map(|argument| (argument.position, argument.value.clone()))
        .collect();
    let entity = identity.tools.entity(proposal.tool.index());
    let mut held = held
        .get_mut(entity)
        .expect("every tool of the scenario has its entity");
    if held.0.contains(&values) {
        stage.happen(Some(proposal.agent), Happening::HoldReleased { call });
        return false;
    }
    held.0.push(values);
    true
}

/// Replaces argument values. New arguments are labelled with the join of all of them.
fn rewrite(
    stage: &mut Stage,
    identity: &Identity,
    proposals: &mut Proposals,
    records: &Records,
    call: CallId,
    values: Vec<(u16, Value)>,
) {
    let prepared = Arc::clone(&stage.setup.prepared);
    let (mut proposal, _) = proposals.get(identity, call);
    let spec = &prepared.scenario.briefing.tools[proposal.tool.index()];
    let joined = stage
        .recorder
        .join_all(proposal.arguments.iter().map(|argument| argument.label));
    let mut arguments = proposal.arguments.to_vec();
    for (position, value) in values {
        if usize::from(position) >= spec.arguments.len() {
            continue;
        }
        match arguments
            .iter_mut()
            .find(|argument| argument.position == position)
        {
            Some(argument) => argument.value = value,
            None => arguments.push(Argument {
                position,
                value,
                label: joined,
                referent: None,
            }),
        }
    }
    arguments.sort_by_key(|argument| argument.position);
    for argument in &mut arguments {
        let passing = spec.arguments[usize::from(argument.position)].passing;
        argument.referent =
            referent::resolve(&argument.value, passing, &prepared, records, identity);
    }
    proposal.arguments = arguments.into();
    let rewritten = Happening::Rewritten {
        call,
        arguments: Arc::clone(&proposal.arguments),
    };
    stage.happen(Some(proposal.agent), rewritten);
}

/// Nothing is executed; the simulated result is on its way.
fn simulate(
    stage: &mut Stage,
    identity: &Identity,
    proposals: &mut Proposals,
    call: CallId,
    content: Content,
) {
    let (mut proposal, _) = proposals.get(identity, call);
    proposal.returned = Some(Returned::Simulated(Arc::new(content)));
    let latency = stage.scenario().briefing.tools[proposal.tool.index()]
        .latency_ticks
        .max(1);
    stage.schedule(proposal.agent, latency, AgendaEvent::Result(call));
}
