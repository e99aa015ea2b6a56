//! Source instances: declared sources, initial records, goals. What they say and who may read it.

use std::sync::Arc;

use plugins::briefing::{Channel, SourceInfo, Trust};
use plugins::ids::{AgentId, SourceId};
use plugins::label::Label;
use plugins::value::{Content, Field, Text};

use super::Context;
use super::limits::require_within_episode;
use super::names::require_valid_name;
use crate::diagnostic::{Code, Problem, shortened};
use crate::file::{Pairs, Record, Source, SourceChannel, World};
use crate::nearest::advice;
use crate::outline::At;
use crate::spec::{Arrival, EpisodeSpec, Limits, SourceSpec, Stage};

/// The name of the field that a goal says.
pub(crate) const GOAL_FIELD: &str = "text";

/// The name of the goal of an episode, as a source instance.
pub(crate) fn goal_name(episode: usize) -> String {
    if episode == 0 {
        "goal".to_owned()
    } else {
        format!("goal:{}", episode + 1)
    }
}

/// What every source instance is and says, by [`SourceId`].
#[derive(Default)]
pub(super) struct Sources {
    pub(super) infos: Vec<SourceInfo>,
    pub(super) specs: Vec<SourceSpec>,
}

impl Sources {
    fn add(&mut self, name: &str, channel: Channel, trust: Trust, spec: SourceSpec) {
        let own = Label::of_source(SourceId::at(self.infos.len()));
        let label = spec
            .labels
            .iter()
            .fold(own, |label, field| label.join(field));
        self.infos.push(SourceInfo {
            name: Text::from(name),
            channel,
            trust,
            label,
        });
        self.specs.push(spec);
    }

    fn next(&self) -> SourceId {
        SourceId::at(self.infos.len())
    }
}

/// Every source instance, in the order in which [`super::directories`] named them.
pub(super) fn sources(world: &World, limits: &Limits, context: &mut Context<'_>) -> Sources {
    let mut sources = Sources::default();
    for (index, source) in world.sources.iter().enumerate() {
        let at = context.root.field("sources").item(index);
        require_source_name(&source.name, at.field("name"), context);
        let mut spec = Words::of_source(source).spec(sources.next(), at, world, context);
        let (channel, arrival) =
            channel(&source.channel, at.field("channel"), world, limits, context);
        spec.arrival = arrival;
        sources.add(&source.name, channel, source.trust, spec);
    }
    for (index, store) in world.memory.iter().enumerate() {
        let records = context.root.field("memory").item(index).field("records");
        for (position, record) in store.records.iter().enumerate() {
            let at = records.item(position);
            let spec = Words::of_record(record).spec(sources.next(), at, world, context);
            let name = format!("{}/{}", store.name, record.key);
            sources.add(&name, Channel::PersistentMemory, record.trust, spec);
        }
    }
    for (index, episode) in world.episodes.iter().enumerate() {
        let spec = SourceSpec {
            content: Arc::new(Content::single(GOAL_FIELD, &episode.goal)),
            labels: vec![Label::of_source(sources.next())],
            slots: Vec::new(),
            arrival: None,
        };
        sources.add(&goal_name(index), Channel::Goal, Trust::Trusted, spec);
    }
    sources
}

/// The episodes. Goals are the last source instances.
pub(super) fn episodes(
    world: &World,
    sources: &Sources,
    context: &mut Context<'_>,
) -> Vec<EpisodeSpec> {
    let first = sources.infos.len() - world.episodes.len();
    let mut specs = Vec::new();
    for (index, episode) in world.episodes.iter().enumerate() {
        let at = context.root.field("episodes").item(index).field("agent");
        let agent = match &episode.agent {
            Some(name) => context.names.agents.find(name, at, context.problems),
            None => Some(0),
        };
        specs.push(EpisodeSpec {
            goal: SourceId::at(first + index),
            agent: AgentId(agent.unwrap_or_default()),
        });
    }
    specs
}

/// Names of sources must not be read as something else where a script copies from them.
fn require_source_name(name: &str, at: At<'_>, context: &mut Context<'_>) {
    let is_reserved = matches!(name, "goal" | "message")
        || ["goal:", "message:", "tool:"]
            .iter()
            .any(|prefix| name.starts_with(prefix));
    if is_reserved {
        let message = format!("the name `{}` stands for something else", shortened(name));
        context.problems.push(
            Problem::new(Code::InvalidName, at.span(), message)
                .label("reserved")
                .help("choose a name like `doc:plan` or `note:partner`"),
        );
    }
}

fn channel(
    channel: &SourceChannel,
    at: At<'_>,
    world: &World,
    limits: &Limits,
    context: &mut Context<'_>,
) -> (Channel, Option<Arrival>) {
    match channel {
        SourceChannel::RetrievedDocument => (Channel::RetrievedDocument, None),
        SourceChannel::ToolResult => (Channel::ToolResult, None),
        SourceChannel::InterAgentMessage {
            to,
            episode,
            after_ticks,
        } => {
            let agents = &context.names.agents;
            let to = agents.find(to, at.field("to"), context.problems);
            require_episode(*episode, at.field("episode"), world, context);
            let delay = at.field("after_ticks");
            super::limits::require_ticks(*after_ticks, delay, context);
            require_within_episode(*after_ticks, limits, delay, context);
            let arrival = Arrival {
                to: AgentId(to.unwrap_or_default()),
                episode: *episode,
                after_ticks: *after_ticks,
            };
            (Channel::InterAgentMessage, Some(arrival))
        }
    }
}

/// Complains about an episode that the world does not have.
pub(super) fn require_episode(episode: u32, at: At<'_>, world: &World, context: &mut Context<'_>) {
    let count = world.episodes.len();
    if (episode as usize) < count {
        return;
    }
    let message = format!("there is no episode {episode}");
    let help = match count {
        0 | 1 => "the only episode is 0".to_owned(),
        _ => format!("episodes are counted from 0 to {}", count - 1),
    };
    context
        .problems
        .push(Problem::new(Code::UnknownEpisode, at.span(), message).help(help));
}

/// What sources and initial records have in common.
struct Words<'w> {
    trust: Trust,
    fields: &'w Pairs<String>,
    slots: &'w [String],
    readers: Option<&'w [String]>,
    private: &'w Pairs<Vec<String>>,
}

impl<'w> Words<'w> {
    fn of_source(source: &'w Source) -> Self {
        Self {
            trust: source.trust,
            fields: &source.fields,
            slots: &source.slots,
            readers: source.readers.as_deref(),
            private: &source.private,
        }
    }

    fn of_record(record: &'w Record) -> Self {
        Self {
            trust: record.trust,
            fields: &record.fields,
            slots: &record.slots,
            readers: record.readers.as_deref(),
            private: &record.private,
        }
    }

    fn spec(
        &self,
        source: SourceId,
        at: At<'_>,
        world: &World,
        context: &mut Context<'_>,
    ) -> SourceSpec {
        self.refuse_untrusted_clean(at, world, context);
        SourceSpec {
            content: Arc::new(self.content(at.field("fields"), context)),
            labels: self.labels(source, at, context),
            slots: self.slots(at.field("slots"), context),
            arrival: None,
        }
    }

    fn refuse_untrusted_clean(&self, at: At<'_>, world: &World, context: &mut Context<'_>) {
        if world.stage == Stage::Clean && self.trust == Trust::Untrusted {
            let message = "the clean stage has no untrusted content";
            context.problems.push(
                Problem::new(Code::CleanStage, at.field("trust").span(), message)
                    .label("untrusted")
                    .also(context.root.field("stage").span(), "the stage"),
            );
        }
    }

    fn content(&self, at: At<'_>, context: &mut Context<'_>) -> Content {
        let mut fields = Vec::with_capacity(self.fields.0.len());
        for (index, (name, value)) in self.fields.0.iter().enumerate() {
            require_valid_name(name, at.item(index).label_span(), context.problems);
            fields.push(Field {
                name: Text::from(name.as_str()),
                value: Text::from(value.as_str()),
            });
        }
        Content { fields }
    }

    /// The label of each field: the source itself, narrowed to whom the source and the field permit.
    fn labels(&self, source: SourceId, at: At<'_>, context: &mut Context<'_>) -> Vec<Label> {
        let readers = at.field("readers");
        let readers = context
            .principals
            .readers(self.readers, readers, context.problems);
        let whole = Label {
            readers,
            ..Label::of_source(source)
        };
        let mut labels = vec![whole; self.fields.0.len()];
        for (index, (field, permitted)) in self.private.0.iter().enumerate() {
            let entry = at.field("private").item(index);
            let permitted = context
                .principals
                .readers(Some(permitted), entry, context.problems);
            if let Some(position) = self.position(field, entry, true, context) {
                let label = &mut labels[position];
                label.readers = label.readers.intersection(&permitted);
            }
        }
        labels
    }

    fn slots(&self, at: At<'_>, context: &mut Context<'_>) -> Vec<u16> {
        if self.trust == Trust::Trusted && !self.slots.is_empty() {
            let message = "an attacker cannot fill a trusted source";
            context.problems.push(
                Problem::new(Code::TrustedSlot, at.span(), message)
                    .label("slots here")
                    .help("make the source untrusted, or remove its slots"),
            );
        }
        let mut slots = Vec::new();
        for (index, name) in self.slots.iter().enumerate() {
            let Some(position) = self.position(name, at.item(index), false, context) else {
                continue;
            };
            let position = u16::try_from(position).expect("an outline has fewer entries");
            if slots.contains(&position) {
                let message = format!("the slot `{}` is given twice", shortened(name));
                let place = at.item(index).span();
                context
                    .problems
                    .push(Problem::new(Code::DuplicateName, place, message).label("again here"));
            } else {
                slots.push(position);
            }
        }
        slots
    }

    /// The position of the field called `name`, which must exist.
    fn position(
        &self,
        name: &str,
        at: At<'_>,
        is_key: bool,
        context: &mut Context<'_>,
    ) -> Option<usize> {
        let fields = &self.fields.0;
        let found = fields.iter().position(|(field, _)| field == name);
        if found.is_none() {
            let span = if is_key { at.label_span() } else { at.span() };
            let message = format!("the source has no field `{}`", shortened(name));
            let help = advice(name, fields.iter().map(|(field, _)| field.as_str()));
            context.problems.push(
                Problem::new(Code::UnknownContentField, span, message)
                    .label("not known")
                    .maybe_help(help),
            );
        }
        found
    }
}
