//! What happens in which order, on hand-built worlds.

use plugins::briefing::{Channel, Trust};
use plugins::ids::{AgentId, SourceId};
use plugins::label::{IndexSet, Label, Readers};
use plugins::policy::{
    DenialReason, Hooks, Inflow, InflowVerdict, Policy, Proposal, ProposalVerdict, Reason, Relabel,
    Ruling, View,
};
use plugins::state::SavedState;
use plugins::tool::{Operation, Passing, RiskClass, Role};
use plugins::trace::{Happening, LimitKind, NodeKind, Outcome};
use plugins::value::{Content, Value};
use worlds::spec::{AfterSending, Arrival, ChannelSpec};

use crate::hand_built::{From, Nothing, Say, Script, World};
use crate::interpreter::History;
use crate::json::snake;

/// The names of what happened, with the tick and the agent's number.
fn sequence(history: &History) -> Vec<String> {
    let events = history.trace.events.iter();
    events
        .map(|event| {
            let agent = event
                .agent
                .map_or(String::new(), |agent| format!(" {}", agent.0));
            format!("{}{agent} {}", event.tick, snake(&event.what))
        })
        .collect()
}

fn reading_world(agents: usize) -> World {
    let mut world = World::new(agents - 1);
    world.source("note", Channel::RetrievedDocument, Trust::Untrusted);
    let name = &[("name", Role::Document, Passing::Value)];
    world.tool("read", Operation::ReadSource, RiskClass::Low, name);
    let to = &[("to", Role::Recipient, Passing::Value)];
    world.tool("invite", Operation::Act, RiskClass::Outbound, to);
    world
}

fn read() -> Say {
    Say::Call("read", vec![("name", "note", From::Goal)])
}

fn invite() -> Say {
    Say::Call("invite", vec![("to", "who@there.local", From::Read)])
}

#[test]
fn a_supervisor_waits_for_the_final_answer_of_its_worker() {
    let mut world = reading_world(2);
    world.0.channels[0] = ChannelSpec {
        from: AgentId(0),
        to: AgentId(1),
        latency_ticks: 3,
        after: AfterSending::AwaitReply,
    };
    let script = vec![
        vec![Say::Delegate("agent_1", From::Goal), Say::Final(From::Read)],
        vec![Say::Final(From::Goal)],
    ];
    let (history, _) = world.play(&mut Nothing, script);
    let expected = [
        "0 0 episode_began",
        "0 0 delivered",
        "1 0 completed",
        "1 0 sent",
        "4 1 delivered",
        "5 1 completed",
        "5 1 finished",
        "8 0 delivered",
        "9 0 completed",
        "9 0 finished",
        "9 ended",
    ];
    assert_eq!(sequence(&history), expected);
}

#[test]
fn a_message_to_an_ended_agent_leaves_no_trace() {
    let mut world = reading_world(1);
    let late = world.source("late", Channel::InterAgentMessage, Trust::Untrusted);
    world.0.sources[late.index()].arrival = Some(Arrival {
        to: AgentId(0),
        episode: 0,
        after_ticks: 5,
    });
    let (history, numbers) = world.play(&mut Nothing, vec![vec![Say::Final(From::Goal)]]);
    let expected = [
        "0 0 episode_began",
        "0 0 delivered",
        "1 0 completed",
        "1 0 finished",
        "5 ended",
    ];
    assert_eq!(sequence(&history), expected);
    assert_eq!(numbers.shape(), (0, 0));
}

#[test]
fn a_message_to_a_busy_agent_waits_in_its_context() {
    let mut world = reading_world(1);
    let early = world.source("early", Channel::InterAgentMessage, Trust::Untrusted);
    world.0.sources[early.index()].arrival = Some(Arrival {
        to: AgentId(0),
        episode: 0,
        after_ticks: 0,
    });
    let (history, numbers) = world.play(&mut Nothing, vec![vec![Say::Final(From::Goal)]]);
    let expected = [
        "0 0 episode_began",
        "0 0 delivered",
        "1 0 delivered",
        "1 0 completed",
        "1 0 finished",
        "1 ended",
    ];
    assert_eq!(sequence(&history), expected);
    // Source, message, state.
    assert_eq!(numbers.shape(), (3, 3));
}

#[test]
fn a_hold_denies_once_and_is_then_released() {
    let script = vec![vec![invite(), invite(), Say::Final(From::Goal)]];
    let policy = &mut On(ProposalVerdict::Hold);
    let (history, _) = reading_world(1).play(policy, script);
    let expected = [
        "0 0 episode_began",
        "0 0 delivered",
        "1 0 completed",
        "1 0 proposed",
        "1 0 ruled",
        "1 0 denied",
        "3 0 completed",
        "3 0 proposed",
        "3 0 ruled",
        "3 0 hold_released",
        "3 0 committed",
        "4 0 acknowledged",
        "5 0 completed",
        "5 0 finished",
        "5 ended",
    ];
    assert_eq!(sequence(&history), expected);
}

#[test]
fn a_rewritten_argument_keeps_its_label_and_the_call_its_first_value() {
    let script = vec![vec![read(), invite(), Say::Final(From::Goal)]];
    let value = Value::text("other@there.local");
    let policy = &mut On(ProposalVerdict::Rewrite(vec![
        (0, value.clone()),
        (7, value.clone()),
    ]));
    let (history, _) = reading_world(1).play(policy, script);
    let rewritten = history
        .trace
        .events
        .iter()
        .find_map(|event| match &event.what {
            Happening::Rewritten { call, arguments } => Some((*call, arguments)),
            _ => None,
        });
    let (call, arguments) = rewritten.expect("the policy rewrites outbound calls");
    let parsed = &history.trace.calls[call.index()].arguments;
    assert_eq!((arguments.len(), &arguments[0].value), (1, &value));
    assert_ne!(parsed[0].value, value);
    assert_eq!(parsed[0].label, arguments[0].label);
}

#[test]
fn a_simulated_result_is_no_commit_and_carries_the_label_of_the_call() {
    let script = vec![vec![read(), invite(), Say::Final(From::Goal)]];
    let policy = &mut On(ProposalVerdict::Simulate(Content::single("text", "sent")));
    let (history, numbers) = reading_world(1).play(policy, script);
    assert_eq!(history.trace.prefix().commits().count(), 0);
    // Source, result, state, proposal, simulated result, state; beside them the decision.
    assert_eq!(numbers.shape(), (6, 7));
}

#[test]
fn a_limit_halts_all_but_recovery() {
    let mut world = reading_world(1);
    world.store(&[("alias", Trust::Untrusted)], &[]);
    world.scrub(40);
    world.0.limits.turns = 1;
    let script = vec![vec![read(), Say::Final(From::Goal)]];
    let (history, _) = world.play(&mut Nothing, script);
    assert_eq!(history.outcome, Outcome::LimitReached(LimitKind::Turns));
    let happened = sequence(&history);
    assert_eq!(
        happened[happened.len() - 3..],
        ["40 recovered", "40 removed", "40 ended"]
    );
}

#[test]
fn an_endorsed_message_enters_without_taint() {
    let script: Script = vec![
        vec![read(), Say::Delegate("agent_1", From::Read)],
        vec![invite(), Say::Final(From::Read)],
    ];
    let world = reading_world(2);
    let (history, numbers) = world.play(&mut Endorses, script);
    // Source, result, state, message; from there the state of the receiver, no longer tainted.
    assert_eq!(numbers.tainted.len(), 4);
    let receiver = history
        .trace
        .nodes
        .iter()
        .rfind(|node| node.kind == NodeKind::AgentState)
        .expect("the receiver has a state");
    let label: &Label = history.labels.get(receiver.exact);
    assert!(!label.sources.contains(SourceId(1).0));
    assert_eq!(label.readers, Readers::Everyone);
}

/// Rules this on every outbound call.
struct On(ProposalVerdict);

impl SavedState for On {}

impl Policy for On {
    fn hooks(&self) -> Hooks {
        Hooks::PROPOSAL
    }

    fn on_proposal(
        &mut self,
        _view: &mut View<'_>,
        proposal: Proposal<'_>,
    ) -> Ruling<ProposalVerdict> {
        let verdict = if proposal.tool.high_risk() {
            self.0.clone()
        } else {
            ProposalVerdict::Allow
        };
        Ruling::new(verdict, Reason::new("any", DenialReason::CheckpointHold))
    }
}

/// Endorses every message.
struct Endorses;

impl SavedState for Endorses {}

impl Policy for Endorses {
    fn hooks(&self) -> Hooks {
        Hooks::MESSAGE
    }

    fn on_message(&mut self, view: &mut View<'_>, _inflow: Inflow<'_>) -> Ruling<InflowVerdict> {
        let all: IndexSet = view.briefing.untrusted.clone();
        let reason = Reason::new("endorsed", DenialReason::OutsideUserGoal);
        Ruling::new(InflowVerdict::Relabel(Relabel::Endorse(all)), reason)
    }
}
