//! How the systems ask the policy, and what a ruling on an inflow means.

use std::sync::Arc;

use plugins::draws::{DrawRecord, Draws};
use plugins::ids::{AgentId, NodeId};
use plugins::label::LabelId;
use plugins::policy::{
    DenialReason, Hook, Hooks, Inflow, InflowVerdict, Policy, Reason, Relabel, Ruling, Verdict,
    VerdictKind, View, relabelled,
};
use plugins::setting::User;
use plugins::trace::{Answer, Happening, NodeDetail, Subject};
use plugins::value::Content;

use super::entities::Decisions;
use super::stage::Stage;
use crate::components::FieldLabels;
use crate::components::call::Decision;
use crate::identity::Identity;
use crate::setup::{Guard, Member};

/// Asks the policy at `hook`; a hook that it does not declare rules `neutral`. Its draws are
/// recorded. Of several policies, those that rule or draw otherwise than the first part from it.
pub(crate) fn ask<V: Verdict>(
    stage: &mut Stage,
    guard: &mut Guard,
    hook: Hook,
    agent: Option<AgentId>,
    call: impl Fn(&mut dyn Policy, &mut View<'_>, &Stage) -> Ruling<V>,
) -> Ruling<V> {
    let Guard {
        members,
        parted,
        draws,
    } = guard;
    let is_asked = |member: &Member| member.hooks.contains(Hooks::from(hook));
    let mut ask_one = |member: &mut Member| ask_member(stage, member, draws, &call);
    let answer = if is_asked(&members[0]) {
        ask_one(&mut members[0])
    } else {
        neutral()
    };
    if members.len() > 1 && members.iter().any(is_asked) {
        let is_neutral = answer == neutral();
        let parts = |member: &mut Member| {
            if is_asked(member) {
                ask_one(member) != answer
            } else {
                !is_neutral
            }
        };
        parted.extend(members.extract_if(1.., parts));
    }
    let (ruling, drawn) = answer;
    for draw in drawn {
        let what = Happening::Drawn {
            name: draw.name,
            value: draw.value,
        };
        stage
            .recorder
            .event(stage.clock.tick, stage.clock.episode, agent, what);
    }
    ruling
}

/// What a policy says to a hook, and what it drew.
type Said<V> = (Ruling<V>, Vec<DrawRecord>);

fn neutral<V: Verdict>() -> Said<V> {
    let ruling = Ruling::new(V::neutral(), Reason::default_allow());
    (ruling, Vec::new())
}

fn ask_member<V: Verdict>(
    stage: &Stage,
    member: &mut Member,
    draws: &mut Draws,
    call: impl Fn(&mut dyn Policy, &mut View<'_>, &Stage) -> Ruling<V>,
) -> Said<V> {
    draws.at(stage.clock.episode, "policy", stage.clock.key);
    let mut view = View {
        briefing: &stage.setup.prepared.scenario.briefing,
        prefix: stage.recorder.trace.prefix(),
        labels: &stage.recorder.labels,
        tick: stage.clock.tick,
        episode: stage.clock.episode,
        draws: &mut *draws,
    };
    let ruling = call(member.policy.get().as_mut(), &mut view, stage);
    (ruling, draws.take_record().collect())
}

/// Records a ruling, and the decision entity if it has a node.
pub(crate) fn rule(
    stage: &mut Stage,
    identity: &mut Identity,
    decisions: &mut Decisions,
    agent: Option<AgentId>,
    ruled: Ruled,
) {
    let Ruled {
        hook,
        subject,
        verdict,
        reason,
        node,
    } = ruled;
    stage.happen(
        agent,
        Happening::Ruled {
            hook,
            subject,
            verdict,
            reason,
            node,
        },
    );
    if let Some(node) = node {
        decisions.add(
            identity,
            Decision {
                hook: Some(hook),
                subject,
                verdict,
                node,
            },
        );
    }
}

/// A ruling to be recorded.
pub(crate) struct Ruled {
    pub(crate) hook: Hook,
    pub(crate) subject: Subject,
    pub(crate) verdict: VerdictKind,
    pub(crate) reason: Reason,
    pub(crate) node: Option<NodeId>,
}

/// Asks the user about `subject`.
pub(crate) fn ask_user(
    stage: &mut Stage,
    guard: &mut Guard,
    agent: Option<AgentId>,
    subject: Subject,
    authorized: bool,
) -> bool {
    let user: User = stage.setup.user;
    let draws = guard.draws.at(stage.clock.episode, "user", stage.clock.key);
    let answer = match user.approves(authorized, draws) {
        None => Answer::Absent,
        Some(true) => Answer::Approved,
        Some(false) => Answer::Denied,
    };
    // The answer itself is recorded; the draw behind it is the user's, not the policy's.
    guard.draws.take_record().for_each(drop);
    stage.happen(agent, Happening::Asked { subject, answer });
    answer == Answer::Approved
}

/// Content on its way into a context or a store.
#[derive(Clone, Debug)]
pub(crate) struct Flow {
    pub(crate) content: Arc<Content>,
    pub(crate) labels: FieldLabels,
    /// The recorded label that flows on.
    pub(crate) recorded: LabelId,
    /// Whether the edge onward propagates taint: not after an endorsement that cleared it.
    pub(crate) taint: bool,
}

/// What became of an inflow.
pub(crate) enum Admission {
    /// It goes in.
    In(Flow),
    /// It was dropped.
    Dropped,
    /// It was quarantined; the agent is told so.
    Quarantined(DenialReason),
}

/// Where an inflow comes from and goes to.
pub(crate) struct Passage {
    pub(crate) hook: Hook,
    pub(crate) subject: Subject,
    pub(crate) agent: AgentId,
    pub(crate) from: Option<AgentId>,
    pub(crate) origin: NodeId,
}

/// Asks the policy whether `flow` may enter.
pub(crate) fn admit(
    stage: &mut Stage,
    guard: &mut Guard,
    identity: &mut Identity,
    decisions: &mut Decisions,
    passage: &Passage,
    flow: Flow,
) -> Admission {
    let Passage {
        hook,
        subject,
        agent,
        from,
        origin,
    } = *passage;
    let ruling = ask(stage, guard, hook, Some(agent), |policy, view, _| {
        let inflow = Inflow {
            agent,
            from,
            content: &flow.content,
            labels: &flow.labels,
            recorded: flow.recorded,
            node: Some(origin),
        };
        if hook == Hook::Message {
            policy.on_message(view, inflow)
        } else {
            policy.on_observation(view, inflow)
        }
    });
    if ruling.verdict == InflowVerdict::Pass {
        return Admission::In(flow);
    }
    let verdict = ruling.verdict.kind();
    let denial = ruling.reason.denial;
    let node = stage.decision(subject, Some(agent), quarantine_detail(verdict), &[origin]);
    rule(
        stage,
        identity,
        decisions,
        Some(agent),
        Ruled {
            hook,
            subject,
            verdict,
            reason: ruling.reason,
            node: Some(node),
        },
    );
    match ruling.verdict {
        InflowVerdict::Pass => Admission::In(flow),
        InflowVerdict::Relabel(change) => {
            Admission::In(relabel(stage, Some(agent), subject, flow, &change))
        }
        InflowVerdict::Transform(content) => {
            let joined = stage.recorder.join_all(flow.labels.iter().copied());
            let labels = content.fields.iter().map(|_| joined).collect();
            Admission::In(Flow {
                content: Arc::new(content),
                labels,
                ..flow
            })
        }
        InflowVerdict::Quarantine => Admission::Quarantined(denial),
        InflowVerdict::Drop => Admission::Dropped,
    }
}

/// The detail of a decision node with this verdict.
pub(crate) const fn quarantine_detail(verdict: VerdictKind) -> NodeDetail {
    if matches!(verdict, VerdictKind::Quarantine) {
        NodeDetail::Quarantine
    } else {
        NodeDetail::Plain
    }
}

/// Applies a policy's change of labels and records it.
pub(crate) fn relabel(
    stage: &mut Stage,
    agent: Option<AgentId>,
    subject: Subject,
    mut flow: Flow,
    change: &Relabel,
) -> Flow {
    let before = flow.recorded;
    for label in &mut flow.labels {
        *label = relabelled_id(stage, *label, change);
    }
    let was_tainted = stage.tainted(before);
    flow.recorded = relabelled_id(stage, before, change);
    if was_tainted && !stage.tainted(flow.recorded) {
        flow.taint = false;
    }
    stage.happen(
        agent,
        Happening::Relabelled {
            subject,
            before,
            after: flow.recorded,
        },
    );
    flow
}

/// The label after a change; the same label where the change is refused.
fn relabelled_id(stage: &mut Stage, label: LabelId, change: &Relabel) -> LabelId {
    let untrusted = &stage.setup.prepared.scenario.briefing.untrusted;
    match relabelled(stage.recorder.labels.get(label), change, untrusted) {
        Some(changed) => stage.recorder.labels.intern(changed),
        None => label,
    }
}
