//! Sections 6 and 7: asking the policy and the user.

use plugins::action::Argument;
use plugins::draws::DrawRecord;
use plugins::ids::{CallId, NodeId};
use plugins::policy::{DenialReason, Hook, InflowVerdict, Reason, Ruling, Verdict, VerdictKind};
use plugins::predicate::{CallView, matches};
use plugins::tool::ToolSpec;
use plugins::trace::{Answer, Event, Happening, Subject};

use super::Run;
use super::state::Flow;

/// Calls a hook if the policy declares it, and records the draws that the policy took.
macro_rules! ask {
    ($run:ident, $flag:ident, $hook:ident($($argument:expr),*)) => {
        if $run.hooks.contains(plugins::policy::Hooks::$flag) {
            $run.draws
                .at($run.episode, "policy", $run.key)
                .recording(true);
            let mut view = plugins::policy::View {
                briefing: &$run.scenario.briefing,
                prefix: $run.trace.prefix(),
                labels: $run.labels,
                tick: $run.tick,
                episode: $run.episode,
                draws: &mut $run.draws,
            };
            let ruling = $run.policy.$hook(&mut view, $($argument),*);
            $run.draws.recording(false);
            $run.record_draws();
            ruling
        } else {
            plugins::policy::Ruling::new(
                plugins::policy::Verdict::neutral(),
                plugins::policy::Reason::default_allow(),
            )
        }
    };
}
pub(super) use ask;

/// What an inflow hook leaves of what comes in.
pub(super) enum Admission {
    Admitted,
    Dropped,
    Quarantined(DenialReason),
}

impl<'a> Run<'a> {
    pub(super) fn record_draws(&mut self) {
        let (tick, episode, agent) = (self.tick, self.episode, self.agent);
        let nodes_after = super::count(self.trace.nodes.len());
        let edges_after = super::count(self.trace.edges.len());
        let draws = self.draws.take_record();
        let events = draws.map(|DrawRecord { name, value }| Event {
            tick,
            episode,
            agent,
            what: Happening::Drawn { name, value },
            nodes_after,
            edges_after,
        });
        self.trace.events.extend(events);
    }

    pub(super) fn ruled(
        &mut self,
        hook: Hook,
        subject: Subject,
        verdict: VerdictKind,
        reason: Reason,
        node: Option<NodeId>,
    ) {
        self.emit(Happening::Ruled {
            hook,
            subject,
            verdict,
            reason,
            node,
        });
    }

    /// What follows from the verdict of `on_message` or `on_observation` on `flow` from `origin`.
    pub(super) fn admit(
        &mut self,
        hook: Hook,
        subject: Subject,
        origin: NodeId,
        flow: &mut Flow,
        ruling: Ruling<InflowVerdict>,
    ) -> Admission {
        let Ruling { verdict, reason } = ruling;
        let kind = verdict.kind();
        let denial = reason.denial;
        if kind == VerdictKind::Allow {
            return Admission::Admitted;
        }
        let decision = self.decision(origin, subject, kind == VerdictKind::Quarantine);
        self.ruled(hook, subject, kind, reason, Some(decision));
        match verdict {
            InflowVerdict::Pass => Admission::Admitted,
            InflowVerdict::Relabel(change) => {
                let (before, after) = self.relabel(flow, &change);
                self.emit(Happening::Relabelled {
                    subject,
                    before,
                    after,
                });
                Admission::Admitted
            }
            InflowVerdict::Transform(content) => {
                let label = self.join_fields(flow.fields);
                let start = self.fields.len();
                self.fields.resize(start + content.fields.len(), label);
                flow.fields = self.span_since(start);
                flow.content = content.into();
                Admission::Admitted
            }
            InflowVerdict::Quarantine => Admission::Quarantined(denial),
            InflowVerdict::Drop => Admission::Dropped,
        }
    }

    /// The tool of a call.
    pub(super) fn tool(&self, call: CallId) -> &'a ToolSpec {
        &self.scenario.briefing.tools[self.trace.calls[call.index()].tool.index()]
    }

    /// The arguments of a call as they would commit.
    pub(super) fn arguments(&self, call: CallId) -> &[Argument] {
        match &self.calls[call.index()].rewritten {
            Some(arguments) => arguments,
            None => &self.trace.calls[call.index()].arguments,
        }
    }

    pub(super) fn call_view(&self, call: CallId) -> CallView<'_> {
        CallView {
            tool: self.tool(call),
            arguments: self.arguments(call),
        }
    }

    /// Asks the user about a call, or about a record without one. Whether it is approved.
    pub(super) fn approved(&mut self, subject: Subject, call: Option<CallId>) -> bool {
        let ledger = &self.scenario.briefing.ledger;
        let authorized = call.is_some_and(|call| matches(self.call_view(call), ledger).is_some());
        self.draws.at(self.episode, "user", self.key);
        let answer = match self.user.approves(authorized, &mut self.draws) {
            None => Answer::Absent,
            Some(true) => Answer::Approved,
            Some(false) => Answer::Denied,
        };
        self.emit(Happening::Asked { subject, answer });
        answer == Answer::Approved
    }

    /// Holds a call. Whether it is released, because the same was held before.
    pub(super) fn released(&mut self, call: CallId) -> bool {
        let tool = self.trace.calls[call.index()].tool;
        let same = |held: &super::Held| {
            let values = held.1.iter().map(|(position, value)| (*position, value));
            held.0 == tool
                && values.eq(self
                    .arguments(call)
                    .iter()
                    .map(|argument| (argument.position, &argument.value)))
        };
        if self.held.iter().any(same) {
            self.emit(Happening::HoldReleased { call });
            return true;
        }
        let values = self
            .arguments(call)
            .iter()
            .map(|argument| (argument.position, argument.value.clone()))
            .collect();
        self.held.push((tool, values));
        false
    }
}
