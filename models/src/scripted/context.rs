//! What a script can find in a context.

use std::cell::{Cell, OnceCell};

use plugins::draws::Draws;
use plugins::ids::{SourceId, ToolId};
use plugins::model::{Input, ModelFailure, Segment, SegmentKind, Turn};
use plugins::policy::DenialReason;
use plugins::tool::{Operation, RiskClass, ToolSpec};
use plugins::value::Text;
use smallvec::SmallVec;

use super::file::{Argument, Condition, Origin, OriginKind, Part, Say, Step};
use super::open::{Character, Dice, Seen};
use crate::emit::Words;

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
    pub(super) words: Words<'t>,
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

    /// Where the latest segment is that `fits`, if the turn may look at that many.
    fn latest_that(&self, fits: impl Fn(&Segment) -> bool) -> Option<usize> {
        self.latest_before(self.turn.context.len(), fits)
    }

    /// The same among those before `end`.
    fn latest_before(&self, end: usize, fits: impl Fn(&Segment) -> bool) -> Option<usize> {
        let left = self.looks_left.get();
        let oldest = end.saturating_sub(left);
        let reachable = &self.turn.context[oldest..end];
        let found = reachable.iter().rposition(fits);
        // What was not reached was not looked at.
        self.looks_left
            .set(left - (reachable.len() - found.unwrap_or(0)));
        found.map(|offset| oldest + offset)
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
                let seen = self.seen(self.tool_of(&step.say), None);
                self.character.is_inclined(*to, seen, &mut Dice::new(draws))
            }
            Condition::Not(inner) => !self.holds(inner, step, draws),
        }
    }

    /// The tool that is called, if it is a call of a known tool.
    pub(super) fn tool_of(&self, say: &Say) -> Option<&'t ToolSpec> {
        match say {
            Say::Call(name, _) => self.tool(self.turn.briefing.tool_named(name)?),
            Say::Delegate(..) | Say::Final(_) => None,
        }
    }

    /// What a character learns of the turn, asked about something to say by the tool that it calls
    /// and by why it was denied.
    pub(super) fn seen(&self, tool: Option<&ToolSpec>, reason: Option<DenialReason>) -> Seen {
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

    /// How many completions of the agent are in its context.
    pub(super) fn completions(&self) -> usize {
        let is_own = |segment: &&Segment| matches!(segment.kind, SegmentKind::Own { .. });
        self.turn.context.iter().filter(is_own).count()
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
        let position = self.latest_that(|segment| self.is_from(segment, origin))?;
        Some(input(position, None))
    }

    /// The goal of the episode, if this agent was given it.
    pub(super) fn goal(&self) -> Option<Input> {
        *self.goal.get_or_init(|| {
            let position = self.latest_that(|segment| segment.kind == SegmentKind::Goal)?;
            Some(input(position, None))
        })
    }

    /// Puts all parts of what a step says into `found`, in the place of what is there. Nothing if one
    /// copies what the agent has not seen; `found` is then worth nothing.
    pub(super) fn find_all(&self, say: &'t Say, found: &mut FoundParts<'t>) -> Option<()> {
        found.clear();
        match say {
            Say::Call(_, arguments) => {
                for (_, argument) in &arguments.0 {
                    match argument {
                        Argument::Text(parts) => self.find_parts(parts, found)?,
                        Argument::List(items) => {
                            for parts in items {
                                self.find_parts(parts, found)?;
                            }
                        }
                        Argument::Integer(_) | Argument::Boolean(_) => {}
                    }
                }
            }
            Say::Delegate(_, fields) => {
                for (_, parts) in &fields.0 {
                    self.find_parts(parts, found)?;
                }
            }
            Say::Final(parts) => self.find_parts(parts, found)?,
        }
        Some(())
    }

    fn find_parts(&self, parts: &'t [Part], found: &mut FoundParts<'t>) -> Option<()> {
        for part in parts {
            found.push(self.find(part)?);
        }
        Some(())
    }

    /// One part; nothing if it copies what the agent has not seen.
    fn find(&self, part: &'t Part) -> Option<Found<'t>> {
        let (words, input) = match part {
            Part::Goal(literal) => (literal.words(), self.goal()),
            Part::Own(literal) => (literal.words(), None),
            Part::Copy(origin, field) => {
                let (text, input) = self.copy(origin, field)?;
                (text.into(), Some(input))
            }
        };
        Some(Found { words, input })
    }

    /// The field of the latest segment of this origin that has it.
    fn copy(&self, origin: &Origin, field: &str) -> Option<(&'t Text, Input)> {
        let context = self.turn.context;
        let copy_at = |position: usize| {
            let (field, value) = context[position].content.field(field)?;
            let field = u16::try_from(field).ok()?;
            Some((value, input(position, Some(field))))
        };
        let mut end = context.len();
        loop {
            end = self.latest_before(end, |segment| self.is_from(segment, origin))?;
            let copy = copy_at(end);
            if copy.is_some() {
                return copy;
            }
        }
    }

    /// The agent's last turn, if it has had one.
    pub(super) fn last_turn(&self) -> Option<LastTurn> {
        let mut latest_first = self.turn.context.iter().rev().map(|segment| segment.kind);
        let mut denied = None;
        let step = latest_first.find_map(|kind| match kind {
            SegmentKind::Own { tag, .. } => Some(tag),
            SegmentKind::Denied { reason, .. } => {
                // The first denial after the turn counts, which comes last here.
                denied = Some(reason);
                None
            }
            _ => None,
        })?;
        let earlier = latest_first.filter_map(|kind| match kind {
            SegmentKind::Own { tag, .. } => Some(tag),
            _ => None,
        });
        let said = 1 + earlier.take_while(|tag| *tag == step).count();
        Some(LastTurn {
            step: step as usize,
            said: u32::try_from(said).unwrap_or(u32::MAX),
            denied,
        })
    }

    fn any(&self, fits: impl Fn(SegmentKind) -> bool) -> bool {
        self.latest_that(|segment| fits(segment.kind)).is_some()
    }

    #[inline]
    fn is_from(&self, segment: &Segment, origin: &Origin) -> bool {
        // Most of what is looked at is the agent's own turns and what became of them.
        let may_be = matches!(
            segment.kind,
            SegmentKind::Observation { .. } | SegmentKind::Message { .. } | SegmentKind::Goal
        );
        may_be && self.is_kind_from(segment.kind, origin)
    }

    fn is_kind_from(&self, kind: SegmentKind, origin: &Origin) -> bool {
        match kind {
            SegmentKind::Observation { tool, source } => {
                source.is_some_and(|source| self.is_source(source, &origin.name))
                    || matches!(&origin.kind, OriginKind::Tool(name) if self.is_tool(tool, name))
            }
            SegmentKind::Message { .. } => match &origin.kind {
                OriginKind::Message => true,
                OriginKind::MessageFrom(name) => self.is_message_from(kind, name),
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
