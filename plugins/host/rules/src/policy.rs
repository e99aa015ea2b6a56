//! The policy that a file of rules is.

use std::borrow::Cow;
use std::sync::Arc;

use plugins::fault;
use plugins::ids::{AgentId, ToolId};
use plugins::model::Segment;
use plugins::policy::{
    CommitVerdict, DEFAULT_ALLOW, DenialReason, FACTS_MISSING, Hook, Hooks, Inflow, InflowVerdict,
    MemoryVerdict, Policy, PromptEdit, PromptVerdict, Proposal, ProposalVerdict, Reason,
    RecordView, RecoveryNotice, RecoveryVerdict, Ruling, SessionVerdict, Verdict, View,
};
use plugins::state::SavedState;
use plugins::tool::ToolSpec;
use plugins::value::{Text, Value};

use crate::answer::{Answer, Edit};
use crate::evaluate::all;
use crate::file::{Missing, Rule, Rules};
use crate::logic::Truth;
use crate::predicate::{Predicate, is_named};
use crate::scene::{Scene, is_untrusted};
use crate::{recover, relabel};

/// A policy of rules. It keeps nothing from one question to the next, so its saved state is empty:
/// what it knows of the past it reads off the trace.
pub(crate) struct RulesPolicy {
    rules: Arc<Rules>,
    hooks: Hooks,
}

/// What the rules of a hook say.
enum Decision<'r> {
    /// This answer, under the rule, if the hook can give it.
    Answer(&'r Answer, Reason),
    /// Nothing, so the neutral answer under this reason.
    Neutral(Reason),
    /// A fact is missing, and the refusal of the hook stands.
    Missing,
}

impl RulesPolicy {
    pub(crate) fn new(rules: Arc<Rules>) -> Self {
        let hooks = rules.hooks();
        Self { rules, hooks }
    }

    /// The first rule of the hook that does not fail to hit decides.
    fn decide(&self, hook: Hook, scene: &Scene<'_>) -> Decision<'_> {
        let mut missing = false;
        for rule in self.rules.at(hook) {
            match (all(&rule.when, scene), self.rules.missing) {
                (Truth::False, _) => {}
                (Truth::True, _) => {
                    return Decision::Answer(&rule.then, reason_of(rule, missing));
                }
                (Truth::Unknown, Missing::Block) => return Decision::Missing,
                (Truth::Unknown, Missing::Ignore) => missing = true,
            }
        }
        match &self.rules.otherwise {
            Some(otherwise) if hook == Hook::Proposal => {
                let reason = reason(&otherwise.rule, otherwise.denial, missing);
                Decision::Answer(&otherwise.answer, reason)
            }
            _ if missing => {
                Decision::Neutral(reason(DEFAULT_ALLOW, DenialReason::PluginFault, missing))
            }
            _ => Decision::Neutral(Reason::default_allow()),
        }
    }
}

fn reason_of(rule: &Rule, missing: bool) -> Reason {
    reason(&rule.name, rule.denial, missing)
}

/// A reason; a missing fact joins its rule.
fn reason(rule: &str, denial: DenialReason, missing: bool) -> Reason {
    let rule = if missing {
        format!("{rule}+{FACTS_MISSING}")
    } else {
        rule.to_owned()
    };
    Reason {
        rule: Cow::Owned(rule),
        ..Reason::new(FACTS_MISSING, denial)
    }
}

/// The refusal of a hook because a fact is missing.
fn refused<V: Verdict>(fault: Ruling<V>) -> Ruling<V> {
    let reason = Reason::new(FACTS_MISSING, DenialReason::PluginFault);
    Ruling::new(fault.verdict, reason)
}

/// The ruling of a decision. `refusal` is what the hook has for failures, and `verdict` says the
/// answer in its words; none is an answer that it cannot give, and is refused too.
fn ruling<V: Verdict>(
    decision: Decision<'_>,
    refusal: impl FnOnce() -> Ruling<V>,
    verdict: impl FnOnce(&Answer) -> Option<V>,
) -> Ruling<V> {
    match decision {
        Decision::Neutral(reason) => Ruling::new(V::neutral(), reason),
        Decision::Missing => refused(refusal()),
        Decision::Answer(answer, reason) => match verdict(answer) {
            Some(verdict) => Ruling::new(verdict, reason),
            None => refused(refusal()),
        },
    }
}

impl SavedState for RulesPolicy {}

impl Policy for RulesPolicy {
    fn hooks(&self) -> Hooks {
        self.hooks
    }

    fn on_session(&mut self, view: &mut View<'_>) -> Ruling<SessionVerdict> {
        let scene = Scene::of(view);
        let decision = self.decide(Hook::Session, &scene);
        ruling(
            decision,
            || fault::on_session(view),
            |answer| match answer {
                Answer::Allow => Some(SessionVerdict::Pass),
                Answer::Abort => Some(SessionVerdict::Abort),
                Answer::MaskTools { tools, agents } => {
                    let masked = masked(tools, agents.as_deref(), &scene);
                    Some(if masked.is_empty() {
                        SessionVerdict::Pass
                    } else {
                        SessionVerdict::MaskTools(masked)
                    })
                }
                _ => None,
            },
        )
    }

    fn on_prompt(
        &mut self,
        view: &mut View<'_>,
        agent: AgentId,
        segments: &[Segment],
    ) -> Ruling<PromptVerdict> {
        let scene = Scene::of(view).with_prompt(agent, segments);
        let decision = self.decide(Hook::Prompt, &scene);
        ruling(
            decision,
            || fault::on_prompt(view, segments),
            |answer| match answer {
                Answer::Allow => Some(PromptVerdict::Pass),
                Answer::Edit(edit) => Some(PromptVerdict::Edit(edited(edit, &scene))),
                _ => None,
            },
        )
    }

    fn on_observation(&mut self, view: &mut View<'_>, inflow: Inflow<'_>) -> Ruling<InflowVerdict> {
        self.on_inflow(Hook::Observation, view, &inflow)
    }

    fn on_message(&mut self, view: &mut View<'_>, inflow: Inflow<'_>) -> Ruling<InflowVerdict> {
        self.on_inflow(Hook::Message, view, &inflow)
    }

    fn on_proposal(
        &mut self,
        view: &mut View<'_>,
        proposal: Proposal<'_>,
    ) -> Ruling<ProposalVerdict> {
        let scene = Scene::of(view).with_proposal(&proposal);
        let decision = self.decide(Hook::Proposal, &scene);
        ruling(decision, fault::on_proposal, |answer| {
            Some(match answer {
                Answer::Allow => ProposalVerdict::Allow,
                Answer::Block => ProposalVerdict::Block,
                Answer::Confirm => ProposalVerdict::Confirm,
                Answer::Hold => ProposalVerdict::Hold,
                Answer::Abort => ProposalVerdict::Abort,
                Answer::Simulate(content) => ProposalVerdict::Simulate(content.clone()),
                Answer::Rewrite(changes) => {
                    ProposalVerdict::Rewrite(rewritten(changes, proposal.tool)?)
                }
                _ => return None,
            })
        })
    }

    fn on_memory_write(
        &mut self,
        view: &mut View<'_>,
        record: RecordView<'_>,
    ) -> Ruling<MemoryVerdict> {
        self.on_memory(Hook::MemoryWrite, view, &record)
    }

    fn on_memory_read(
        &mut self,
        view: &mut View<'_>,
        record: RecordView<'_>,
    ) -> Ruling<MemoryVerdict> {
        self.on_memory(Hook::MemoryRead, view, &record)
    }

    fn on_commit(&mut self, view: &mut View<'_>, proposal: Proposal<'_>) -> Ruling<CommitVerdict> {
        let scene = Scene::of(view).with_proposal(&proposal);
        let decision = self.decide(Hook::Commit, &scene);
        ruling(decision, fault::on_commit, |answer| match answer {
            Answer::Allow => Some(CommitVerdict::Allow),
            Answer::Block => Some(CommitVerdict::Block),
            Answer::Hold => Some(CommitVerdict::Hold),
            _ => None,
        })
    }

    fn on_recovery(
        &mut self,
        view: &mut View<'_>,
        notice: RecoveryNotice<'_>,
    ) -> Ruling<RecoveryVerdict> {
        let scene = Scene::of(view).with_notice(notice);
        let decision = self.decide(Hook::Recovery, &scene);
        ruling(
            decision,
            || fault::on_recovery(view, notice),
            |answer| match answer {
                Answer::Allow => Some(RecoveryVerdict::Pass),
                Answer::Act(actions) => Some(recover::verdict(actions, &notice, &scene)),
                _ => None,
            },
        )
    }
}

impl RulesPolicy {
    fn on_inflow(&self, hook: Hook, view: &View<'_>, inflow: &Inflow<'_>) -> Ruling<InflowVerdict> {
        let scene = Scene::of(view).with_inflow(inflow);
        let decision = self.decide(hook, &scene);
        ruling(decision, fault::on_inflow, |answer| {
            Some(match answer {
                Answer::Allow => InflowVerdict::Pass,
                Answer::Drop => InflowVerdict::Drop,
                Answer::Quarantine => InflowVerdict::Quarantine,
                Answer::Transform(content) => InflowVerdict::Transform(content.clone()),
                Answer::Relabel(label) => {
                    InflowVerdict::Relabel(relabel::change(label, scene.briefing))
                }
                _ => return None,
            })
        })
    }

    fn on_memory(
        &self,
        hook: Hook,
        view: &View<'_>,
        record: &RecordView<'_>,
    ) -> Ruling<MemoryVerdict> {
        let is_new = hook == Hook::MemoryWrite;
        let scene = Scene::of(view).with_record(record, is_new);
        let decision = self.decide(hook, &scene);
        ruling(decision, fault::on_memory, |answer| {
            Some(match answer {
                Answer::Allow => MemoryVerdict::Allow,
                Answer::Block => MemoryVerdict::Block,
                Answer::Confirm => MemoryVerdict::Confirm,
                Answer::Quarantine => MemoryVerdict::Quarantine,
                Answer::Relabel(label) => {
                    MemoryVerdict::Relabel(relabel::change(label, scene.briefing))
                }
                _ => return None,
            })
        })
    }
}

/// The tools of which all of `tools` holds, for the agents called so.
fn masked(
    tools: &[Predicate],
    agents: Option<&[Text]>,
    scene: &Scene<'_>,
) -> Vec<(AgentId, ToolId)> {
    let infos = scene.briefing.agents.iter().enumerate();
    infos
        .filter(|(_, info)| agents.is_none_or(|names| is_named(names, &info.name)))
        .flat_map(|(agent, info)| {
            let known = info.tools.iter();
            known.map(move |&tool| (AgentId::at(agent), tool))
        })
        .filter(|(_, tool)| is_masked(tools, *tool, scene))
        .collect()
}

fn is_masked(tools: &[Predicate], tool: ToolId, scene: &Scene<'_>) -> bool {
    let Some(tool) = scene.briefing.tools.get(tool.index()) else {
        return false;
    };
    let alone = Scene::new(
        scene.briefing,
        scene.prefix,
        scene.labels,
        scene.tick,
        scene.episode,
    );
    all(tools, &alone.with_tool(tool)) == Truth::True
}

fn edited(edit: &Edit, scene: &Scene<'_>) -> PromptEdit {
    let untrusted = |wanted: bool| -> Vec<u32> {
        (0..)
            .zip(scene.segments)
            .filter(|(_, segment)| wanted && is_untrusted(segment, scene.briefing))
            .map(|(position, _)| position)
            .collect()
    };
    let tools = (0..scene.briefing.tools.len()).map(ToolId::at);
    PromptEdit {
        drop: untrusted(edit.drop_untrusted),
        mark: untrusted(edit.mark_untrusted),
        guidance: edit.guidance,
        schema_mode: edit.schema,
        mask: tools
            .filter(|&tool| !edit.mask.is_empty() && is_masked(&edit.mask, tool, scene))
            .collect(),
    }
}

/// The changes by position; none if the tool lacks an argument, or if it is of another kind.
fn rewritten(changes: &[(Text, Value)], tool: &ToolSpec) -> Option<Vec<(u16, Value)>> {
    use plugins::tool::ValueKind;
    let change = |(name, value): &(Text, Value)| {
        let position = tool.argument(name)?;
        let kind = tool.arguments[usize::from(position)].kind;
        let value = match (kind, value) {
            (ValueKind::List, Value::Text(text)) => Value::List(vec![text.clone()]),
            (ValueKind::Text, Value::Text(_))
            | (ValueKind::List, Value::List(_))
            | (ValueKind::Integer, Value::Integer(_))
            | (ValueKind::Boolean, Value::Boolean(_)) => value.clone(),
            _ => return None,
        };
        Some((position, value))
    };
    changes.iter().map(change).collect()
}
