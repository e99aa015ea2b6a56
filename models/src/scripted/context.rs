//! What a script can find in a context.

use std::cell::{Cell, OnceCell};

use plugins::draws::Draws;
use plugins::ids::{SourceId, ToolId};
use plugins::model::{Input, ModelFailure, Segment, SegmentKind, Turn};
use plugins::policy::DenialReason;
use plugins::tool::{Operation, RiskClass, ToolSpec};
use smallvec::SmallVec;

use super::file::{Argument, Condition, Origin, OriginKind, Part, Say, Step};
use super::open::{Character, Dice, Seen};

/// How many segments a turn may look at in search of what its conditions and copies name. A step with a few copies looks at a
/// few hundred; without a bound, thousands of copies would search a context of thousands of segments.
const MOST_LOOKS: usize = 100_000;

/// A turn as a script sees it.
pub(super) struct View<'t> {
    pub(super) turn: Turn<'t>,
    /// Who decides what the script leaves open.
    pub(super) character: &'t dyn Character,
    /// How many segments may still be looked at.
    looks_left: Cell<usize>,
    /// What was found out of the context and is asked again: it is searched once.
    goal: OnceCell<Option<Input>>,
    history: OnceCell<History>,
}

/// A part of a text as it can be said.
#[derive(Clone, Copy)]
pub(super) struct Found<'t> {
    /// What it says.
    pub(super) words: &'t str,
    /// What of the context flowed into it.
    pub(super) input: Option<Input>,
}

/// All parts of a step, in its order. Few steps have more than fit in here.
pub(super) type FoundParts<'t> = SmallVec<[Found<'t>; 6]>;

/// What a character learns of what came before the turn.
#[derive(Clone, Copy, Default)]
struct History {
    has_memory: bool,
    has_committed: bool,
}

/// What became of the agent's last turn.
pub(super) struct LastTurn {
    /// The step that it was.
    pub(super) step: usize,
    /// How often that step was said in a row.
    pub(super) said: u32,
    /// Why it was denied, if it was.
    pub(super) denied: Option<DenialReason>,
}

impl<'t> View<'t> {
    pub(super) const fn new(turn: Turn<'t>, character: &'t dyn Character) -> Self {
        Self {
            turn,
            character,
            looks_left: Cell::new(MOST_LOOKS),
            goal: OnceCell::new(),
            history: OnceCell::new(),
        }
    }

    /// A turn that looked at more segments than it may has failed: what it found is worth nothing.
    pub(super) fn check_looks(&self) -> Result<(), ModelFailure> {
        if self.looks_left.get() > 0 {
            return Ok(());
        }
        let message = format!(
            "a step of the script looks at more than {MOST_LOOKS} segments of its context; copy \
             less in one step, or lower `limits.turns`"
        );
        Err(ModelFailure(message))
    }

    /// What `find` makes of the latest segment of which it makes something, if the turn may look at
    /// that many.
    fn search<T>(&self, find: impl Fn(usize, &'t Segment) -> Option<T>) -> Option<T> {
        let context = self.turn.context;
        let left = self.looks_left.get();
        let oldest = context.len().saturating_sub(left);
        let mut latest_first = (oldest..context.len()).rev();
        let found = latest_first.find_map(|position| find(position, &context[position]));
        // What was not reached was not looked at.
        self.looks_left
            .set(left - (context.len() - oldest - latest_first.len()));
        found
    }

    /// Whether `condition` of `step` holds.
    pub(super) fn holds(&self, condition: &Condition, step: &Step, draws: &mut Draws) -> bool {
        match condition {
            Condition::Seen(origin) => self.latest(origin).is_some(),
            Condition::NotSeen(origin) => self.latest(origin).is_none(),
            Condition::Denied(name) => self.any(|kind| match kind {
                SegmentKind::Denied { tool, .. } => self.is_tool(tool, name),
                _ => false,
            }),
            Condition::Committed(name) => self.any(|kind| match kind {
                SegmentKind::Acknowledged { tool } => self.is_tool(tool, name),
                _ => false,
            }),
            Condition::MessageFrom(name) => self.any(|kind| self.is_message_from(kind, name)),
            Condition::Episode(episode) => self.turn.episode == *episode,
            Condition::Chance(chance) => draws.latent(&step.name, chance.0),
            Condition::Guidance(guidance) => self.turn.guidance == *guidance,
            Condition::Inclined(to) => {
                let seen = self.seen(&step.say, None);
                self.character.is_inclined(*to, seen, &mut Dice::new(draws))
            }
            Condition::Not(inner) => !self.holds(inner, step, draws),
        }
    }

    /// What a character learns of the turn, asked about something to say and why it was denied.
    pub(super) fn seen(&self, say: &Say, reason: Option<DenialReason>) -> Seen {
        let tool = match say {
            Say::Call(name, _) => self.turn.briefing.tool_named(name),
            Say::Delegate(..) | Say::Final(_) => None,
        };
        let tool = tool.and_then(|id| self.tool(id));
        let History {
            has_memory,
            has_committed,
        } = *self.history.get_or_init(|| self.look_back());
        Seen {
            guidance: self.turn.guidance,
            schema_mode: self.turn.schema_mode,
            arguments: tool
                .into_iter()
                .flat_map(|tool| tool.arguments.iter().map(|argument| argument.role))
                .collect(),
            risk: tool.map(|tool| tool.risk),
            reason,
            has_memory,
            has_committed,
        }
    }

    fn look_back(&self) -> History {
        let mut history = History::default();
        for segment in self.turn.context {
            match segment.kind {
                SegmentKind::Observation { tool, .. } => {
                    let is_memory =
                        |tool: &ToolSpec| matches!(tool.operation, Operation::MemoryRead(_));
                    history.has_memory |= self.tool(tool).is_some_and(is_memory);
                }
                SegmentKind::Acknowledged { tool } => {
                    let has_effect = |tool: &ToolSpec| tool.risk != RiskClass::Low;
                    history.has_committed |= self.tool(tool).is_some_and(has_effect);
                }
                _ => {}
            }
        }
        history
    }

    /// The latest segment of this origin.
    pub(super) fn latest(&self, origin: &Origin) -> Option<Input> {
        self.search(|position, segment| {
            let is_from = self.is_from(segment, origin);
            is_from.then(|| input(position, None))
        })
    }

    /// The goal of the episode, if this agent was given it.
    pub(super) fn goal(&self) -> Option<Input> {
        *self.goal.get_or_init(|| {
            self.search(|position, segment| {
                let is_goal = segment.kind == SegmentKind::Goal;
                is_goal.then(|| input(position, None))
            })
        })
    }

    /// All parts of what a step says; nothing if one copies what the agent has not seen.
    pub(super) fn find_all(&self, say: &'t Say) -> Option<FoundParts<'t>> {
        let mut found = FoundParts::new();
        let mut find = |parts: &'t [Part]| {
            parts.iter().try_for_each(|part| {
                found.push(self.find(part)?);
                Some(())
            })
        };
        match say {
            Say::Call(_, arguments) => {
                arguments
                    .0
                    .iter()
                    .try_for_each(|(_, argument)| match argument {
                        Argument::Text(parts) => find(parts),
                        Argument::List(items) => items.iter().try_for_each(|parts| find(parts)),
                        Argument::Integer(_) | Argument::Boolean(_) => Some(()),
                    })?;
            }
            Say::Delegate(_, fields) => {
                fields.0.iter().try_for_each(|(_, parts)| find(parts))?;
            }
            Say::Final(parts) => find(parts)?,
        }
        Some(found)
    }

    /// One part; nothing if it copies what the agent has not seen.
    fn find(&self, part: &'t Part) -> Option<Found<'t>> {
        let (words, input) = match part {
            Part::Goal(words) => (&**words, self.goal()),
            Part::Own(words) => (&**words, None),
            Part::Copy(origin, field) => {
                let (words, input) = self.copy(origin, field)?;
                (words, Some(input))
            }
        };
        Some(Found { words, input })
    }

    /// The field of the latest segment of this origin that has it.
    fn copy(&self, origin: &Origin, field: &str) -> Option<(&'t str, Input)> {
        self.search(|position, segment| {
            if !self.is_from(segment, origin) {
                return None;
            }
            let (field, value) = segment.content.field(field)?;
            let field = u16::try_from(field).ok()?;
            Some((&**value, input(position, Some(field))))
        })
    }

    /// The agent's last turn, if it has had one.
    pub(super) fn last_turn(&self) -> Option<LastTurn> {
        let context = self.turn.context;
        let own_tag = |segment: &Segment| match segment.kind {
            SegmentKind::Own { tag, .. } => Some(tag),
            _ => None,
        };
        let (position, tag) = context
            .iter()
            .enumerate()
            .rev()
            .find_map(|(position, segment)| Some((position, own_tag(segment)?)))?;
        let said = context
            .iter()
            .rev()
            .filter_map(own_tag)
            .take_while(|other| *other == tag)
            .count();
        let denied = context[position..]
            .iter()
            .find_map(|segment| match segment.kind {
                SegmentKind::Denied { reason, .. } => Some(reason),
                _ => None,
            });
        Some(LastTurn {
            step: tag as usize,
            said: u32::try_from(said).unwrap_or(u32::MAX),
            denied,
        })
    }

    fn any(&self, fits: impl Fn(SegmentKind) -> bool) -> bool {
        let fits = |_, segment: &Segment| fits(segment.kind).then_some(());
        self.search(fits).is_some()
    }

    #[inline]
    fn is_from(&self, segment: &Segment, origin: &Origin) -> bool {
        match segment.kind {
            SegmentKind::Observation { tool, source } => {
                source.is_some_and(|source| self.is_source(source, &origin.name))
                    || matches!(&origin.kind, OriginKind::Tool(name) if self.is_tool(tool, name))
            }
            SegmentKind::Message { .. } => match &origin.kind {
                OriginKind::Message => true,
                OriginKind::MessageFrom(name) => self.is_message_from(segment.kind, name),
                _ => false,
            },
            SegmentKind::Goal => origin.kind == OriginKind::Goal,
            _ => false,
        }
    }

    fn is_source(&self, source: SourceId, name: &str) -> bool {
        let sources = &self.turn.briefing.sources;
        sources
            .get(source.index())
            .is_some_and(|source| *source.name == *name)
    }

    fn is_message_from(&self, kind: SegmentKind, name: &str) -> bool {
        let SegmentKind::Message { from: Some(from) } = kind else {
            return false;
        };
        let agents = &self.turn.briefing.agents;
        agents
            .get(from.index())
            .is_some_and(|agent| *agent.name == *name)
    }

    fn is_tool(&self, tool: ToolId, name: &str) -> bool {
        self.tool(tool).is_some_and(|tool| *tool.name == *name)
    }

    /// What the briefing says of a tool.
    pub(super) fn tool(&self, tool: ToolId) -> Option<&'t ToolSpec> {
        self.turn.briefing.tools.get(tool.index())
    }
}

fn input(segment: usize, field: Option<u16>) -> Input {
    Input {
        segment: u32::try_from(segment).expect("a context has far fewer segments than u32::MAX"),
        field,
    }
}
