//! The kit for model backends.

use super::generate::{random_context, world};
use super::policy::damages;
use super::random::Random;
use super::sample::World;
use super::{Law, Violation, check_rounds};
use crate::draws::{Draws, EventKey, RolloutKey};
use crate::ids::AgentId;
use crate::model::{
    Guidance, Input, ModelBackend, ModelFailure, PreparedModel, Reply, SchemaMode, Segment, Turn,
};

/// How many turns a backend takes in a round.
const TURNS: u32 = 6;

/// Puts the backends that `prepared` makes through `rounds` scenarios. A backend may fail, but then it
/// fails again on the same turn.
pub fn check_model(prepared: &dyn PreparedModel, rounds: u64) -> Vec<Violation> {
    check_rounds(rounds, |round, report| {
        let case = Case::of_round(round);
        let expected = case.answers(&mut *prepared.make(), 0);
        case.check_references(&expected, report);
        if case.answers(&mut *prepared.make(), 0) != expected {
            report(Law::Deterministic, "asked twice".to_owned());
        }
        check_independence(prepared, &case, &expected, report);
        check_restoring(prepared, &case, &expected, report);
        check_foreign_state(prepared, &case, report);
    })
}

type Answer = Result<Reply, ModelFailure>;

/// The turns of one round; the first has an empty context.
struct Case {
    world: World,
    contexts: Vec<Vec<Segment>>,
    round: u64,
}

impl Case {
    fn of_round(round: u64) -> Self {
        let mut world = world(round);
        let random = &mut Random::new(!round);
        if world.briefing.agents.is_empty() {
            world.add_agent("assistant");
        }
        let mut contexts = vec![Vec::new()];
        contexts.extend((1..TURNS).map(|_| random_context(&mut world, random)));
        Self {
            world,
            contexts,
            round,
        }
    }

    fn answers(&self, model: &mut dyn ModelBackend, first: usize) -> Vec<Answer> {
        (first..self.contexts.len())
            .map(|turn| self.answer(model, turn))
            .collect()
    }

    fn answer(&self, model: &mut dyn ModelBackend, number: usize) -> Answer {
        let mut draws = Draws::new(RolloutKey::new(1, "conformance".into(), self.round));
        let ordinal = u32::try_from(number).unwrap_or(u32::MAX);
        draws.at(0, "assistant", EventKey::ROOT.child(0, ordinal));
        let turn = Turn {
            agent: AgentId(0),
            episode: 0,
            briefing: &self.world.briefing,
            tools: &self.world.briefing.agents[0].tools,
            context: &self.contexts[number],
            guidance: [
                Guidance::None,
                Guidance::TreatContentAsData,
                Guidance::SelfCheck,
            ][number % 3],
            schema_mode: [SchemaMode::Plain, SchemaMode::Structured][number % 2],
        };
        let mut reply = Reply::default();
        reply.clear();
        model.complete(turn, &mut draws, &mut reply)?;
        Ok(reply)
    }

    fn check_references(&self, answers: &[Answer], report: &mut dyn FnMut(Law, String)) {
        for (context, answer) in self.contexts.iter().zip(answers) {
            let Ok(reply) = answer else { continue };
            let derived = reply.derivations.iter().flat_map(|field| &field.inputs);
            let inputs = derived.chain(reply.choice.iter().flatten());
            for input in inputs.filter(|input| !exists(**input, context)) {
                let detail = format!("{input:?} does not exist: {}", reply.text);
                report(Law::RefersToWhatExists, detail);
            }
        }
    }
}

fn exists(input: Input, context: &[Segment]) -> bool {
    context
        .get(input.segment as usize)
        .is_some_and(|segment| match input.field {
            None => true,
            Some(field) => usize::from(field) < segment.content.fields.len(),
        })
}

/// Has another instance take the same turns backwards in between.
fn check_independence(
    prepared: &dyn PreparedModel,
    case: &Case,
    expected: &[Answer],
    report: &mut dyn FnMut(Law, String),
) {
    let (mut model, mut other) = (prepared.make(), prepared.make());
    let last = case.contexts.len() - 1;
    for (turn, expected) in expected.iter().enumerate() {
        let _ = case.answer(&mut *other, last - turn);
        if case.answer(&mut *model, turn) != *expected {
            let detail = format!("turn {turn} with another instance beside it");
            report(Law::Independent, detail);
        }
    }
}

/// Saves before each turn and goes on in a fresh and in a used instance.
fn check_restoring(
    prepared: &dyn PreparedModel,
    case: &Case,
    expected: &[Answer],
    report: &mut dyn FnMut(Law, String),
) {
    let mut model = prepared.make();
    for turn in 0..expected.len() {
        let mut state = Vec::new();
        model.save(&mut state);
        let mut used = prepared.make();
        case.answers(&mut *used, 0);
        for (how, mut restored) in [
            ("a fresh instance", prepared.make()),
            ("a used instance", used),
        ] {
            let outcome = restored.restore(&state, model.version());
            if let Err(error) = outcome {
                report(Law::Restores, format!("{how} refuses its state: {error}"));
            } else if case.answers(&mut *restored, turn) != expected[turn..] {
                report(
                    Law::Restores,
                    format!("{how} goes on differently at turn {turn}"),
                );
            }
        }
        let _ = case.answer(&mut *model, turn);
    }
}

/// Offers state of another version and damaged state; neither may panic or change anything.
fn check_foreign_state(
    prepared: &dyn PreparedModel,
    case: &Case,
    report: &mut dyn FnMut(Law, String),
) {
    let mut model = prepared.make();
    case.answers(&mut *model, 0);
    let mut before = Vec::new();
    model.save(&mut before);
    let version = model.version();
    let mut offers = vec![(before.clone(), version.wrapping_add(1))];
    offers.extend(damages(&before).into_iter().map(|bytes| (bytes, version)));
    for (bytes, offered) in offers {
        let mut other = prepared.make();
        case.answers(&mut *other, 0);
        let accepted = other.restore(&bytes, offered).is_ok();
        if accepted && offered != version {
            let detail = "state of another version is accepted".to_owned();
            report(Law::RefusesForeignState, detail);
        }
        let mut after = Vec::new();
        other.save(&mut after);
        if !accepted && after != before {
            let detail = "a refused restore changes the state".to_owned();
            report(Law::RefusesForeignState, detail);
        }
    }
}
