//! Decide: models are called.

use plugins::ids::{AgentId, ToolId};
use plugins::label::LabelId;
use plugins::model::{Guidance, Input, Reply, SchemaMode, Segment, Turn};
use plugins::policy::{Hook, PromptEdit, PromptVerdict, VerdictKind};
use plugins::trace::{LimitKind, Outcome, Subject};

use super::entities::{Agents, Decisions};
use super::hooks::{Ruled, ask, rule};
use super::stage::Stage;
use crate::agenda::{AgendaEvent, Phase};
use crate::components::FieldLabels;
use crate::components::agent::{Context, Mask, Utterance};
use crate::identity::Identity;
use crate::setup::{Guard, Mind};
use crate::state::{Parts, State};

/// Runs the due event if it is a decision.
pub(crate) fn decide(state: &mut State, mut agents: Agents, mut decisions: Decisions) {
    let Parts {
        mut stage,
        guard,
        mind,
        wholes,
        identity,
    } = state.parts();
    let Some(AgendaEvent::Decide(agent)) = stage.take(Phase::Decide) else {
        return;
    };
    let (mut activity, context, mut utterance, mask, taint) = agents.get(identity, agent);
    activity.pending = false;
    if activity.turns >= stage.scenario().limits.turns {
        stage.limit(LimitKind::Turns);
        return;
    }
    activity.turns += 1;
    let edit = ask_prompt(
        &mut stage,
        guard,
        identity,
        &mut decisions,
        agent,
        &context.segments,
    );
    utterance.origin = taint.node;
    match complete(&stage, mind, agent, &context, &mask, edit.as_ref()) {
        Err(failure) => {
            let outcome = Outcome::Errored(failure.0.into());
            stage.end(outcome);
            return;
        }
        Ok(visible) => {
            let seen = Seen {
                context: &context,
                visible: visible.as_deref(),
            };
            let everything = match seen.visible {
                None => wholes.of(&mut stage, agent, &context),
                Some(visible) => seen.everything(&mut stage, visible),
            };
            label_reply(&mut stage, &mind.reply, &seen, everything, &mut utterance);
        }
    }
    utterance.masked = edit.map(|edit| edit.mask).unwrap_or_default();
    utterance.tag = mind.reply.tag;
    std::mem::swap(&mut utterance.text, &mut mind.reply.text);
    if utterance.text.len() > stage.scenario().limits.text_bytes as usize {
        stage.limit(LimitKind::Text);
        return;
    }
    stage.count_text(utterance.text.len());
    stage.schedule(
        agent,
        mind.reply.latency_ticks.max(1),
        AgendaEvent::Parse(agent),
    );
}

/// Asks `on_prompt`; the edit, if there is one.
fn ask_prompt(
    stage: &mut Stage,
    guard: &mut Guard,
    identity: &mut Identity,
    decisions: &mut Decisions,
    agent: AgentId,
    context: &[Segment],
) -> Option<PromptEdit> {
    let ruling = ask(
        stage,
        guard,
        Hook::Prompt,
        Some(agent),
        |policy, view, _| policy.on_prompt(view, agent, context),
    );
    let PromptVerdict::Edit(edit) = ruling.verdict else {
        return None;
    };
    let ruled = Ruled {
        hook: Hook::Prompt,
        subject: Subject::Agent(agent),
        verdict: VerdictKind::Edit,
        reason: ruling.reason,
        node: None,
    };
    rule(stage, identity, decisions, Some(agent), ruled);
    Some(edit)
}

/// Calls the model into `mind.reply`. Returns the positions of the visible segments if segments were
/// dropped or marked, none if all are there as they were.
fn complete(
    stage: &Stage,
    mind: &mut Mind,
    agent: AgentId,
    context: &Context,
    mask: &Mask,
    edit: Option<&PromptEdit>,
) -> Result<Option<Vec<usize>>, plugins::model::ModelFailure> {
    let scenario = stage.scenario();
    let briefing = &scenario.briefing;
    let known = &briefing.agents[agent.index()].tools;
    let mut shown_tools = Vec::new();
    let tools: &[ToolId] = if mask.0.is_empty() && edit.is_none_or(|edit| edit.mask.is_empty()) {
        known
    } else {
        let hidden = |tool: &ToolId| {
            mask.0.contains(tool) || edit.is_some_and(|edit| edit.mask.contains(tool))
        };
        shown_tools.extend(known.iter().copied().filter(|tool| !hidden(tool)));
        &shown_tools
    };
    let cut = edit.filter(|edit| !edit.drop.is_empty() || !edit.mark.is_empty());
    let visible = cut.map(|edit| visible_segments(context.segments.len(), edit));
    let edited: Option<Vec<Segment>> = cut.zip(visible.as_ref()).map(|(edit, visible)| {
        let marked = |index: usize| edit.mark.iter().any(|&mark| mark as usize == index);
        let shown = |&index: &usize| Segment {
            marked: marked(index),
            ..context.segments[index].clone()
        };
        visible.iter().map(shown).collect()
    });
    let turn = Turn {
        agent,
        episode: stage.clock.episode,
        briefing,
        tools,
        context: edited.as_deref().unwrap_or(&context.segments),
        guidance: edit
            .and_then(|edit| edit.guidance)
            .unwrap_or(Guidance::None),
        schema_mode: edit
            .and_then(|edit| edit.schema_mode)
            .unwrap_or(SchemaMode::Plain),
    };
    mind.reply.clear();
    mind.draws.at(
        stage.clock.episode,
        &briefing.agents[agent.index()].name,
        stage.clock.key,
    );
    let model = mind.model.get();
    let result = model.complete(turn, &mut mind.draws, &mut mind.reply);
    mind.draws.take_record().for_each(drop);
    result.map(|()| visible)
}

/// The positions of the segments that an edit leaves in.
fn visible_segments(count: usize, edit: &PromptEdit) -> Vec<usize> {
    let mut is_shown = vec![true; count];
    for &dropped in &edit.drop {
        if let Some(shown) = is_shown.get_mut(dropped as usize) {
            *shown = false;
        }
    }
    (0..count).filter(|&index| is_shown[index]).collect()
}

/// Turns what the backend says of its reply into labels, with the context of this moment.
fn label_reply(
    stage: &mut Stage,
    reply: &Reply,
    seen: &Seen,
    everything: LabelId,
    utterance: &mut Utterance,
) {
    let choice = match &reply.choice {
        None => everything,
        Some(inputs) => seen.join(stage, inputs, everything),
    };
    let control = stage.recorder.labels.chosen_by(choice);
    utterance.fields.clear();
    for derivation in &reply.derivations {
        let joined = seen.join(stage, &derivation.inputs, everything);
        let label = stage.recorder.labels.written_by_model(joined, control);
        utterance.fields.push((derivation.field.clone(), label));
    }
    utterance.other_fields = stage.recorder.labels.written_by_model(everything, control);
    utterance.choice = choice;
}

/// The labels of the segments that the model saw.
struct Seen<'a> {
    context: &'a Context,
    visible: Option<&'a [usize]>,
}

impl Seen<'_> {
    fn segment(&self, position: u32) -> Option<&FieldLabels> {
        let position = position as usize;
        let index = match self.visible {
            None => position,
            Some(visible) => *visible.get(position)?,
        };
        self.context.labels.get(index)
    }

    /// The join of the segments that an edited prompt shows.
    fn everything(&self, stage: &mut Stage, visible: &[usize]) -> LabelId {
        let shown = visible.iter().map(|&index| &self.context.labels[index]);
        stage.recorder.join_all(shown.flatten().copied())
    }

    /// The join of `inputs`; one that points nowhere stands for everything.
    fn join(&self, stage: &mut Stage, inputs: &[Input], everything: LabelId) -> LabelId {
        let mut joined = LabelId::BOTTOM;
        for input in inputs {
            let label = match (self.segment(input.segment), input.field) {
                (None, _) => everything,
                (Some(labels), None) => stage.recorder.join_all(labels.iter().copied()),
                (Some(labels), Some(field)) => labels
                    .get(usize::from(field))
                    .copied()
                    .unwrap_or(everything),
            };
            joined = stage.recorder.labels.join(joined, label);
        }
        joined
    }
}
