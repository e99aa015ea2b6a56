//! The kits for attackers and auditors.

use super::generate::world;
use super::policy::damages;
use super::random::Random;
use super::sample::World;
use super::{Law, Violation, check_rounds};
use crate::attacker::{Attacker, Feedback, Slot};
use crate::auditor::Auditor;
use crate::draws::{Draws, RolloutKey};
use crate::ids::SourceId;
use crate::value::Text;

/// How many rollouts an attacker prepares in a round.
const ROLLOUTS: u32 = 5;

/// Has `auditor` read `rounds` traces, whole and in part.
pub fn check_auditor(auditor: &dyn Auditor, rounds: u64) -> Vec<Violation> {
    check_rounds(rounds, |round, report| {
        let world = world(round);
        let whole = world.trace.prefix();
        for events in 0..=whole.events.len() {
            let prefix = world.prefix_of(events);
            let audit = || auditor.audit(prefix, &world.labels, &world.briefing);
            let findings = audit();
            if audit() != findings {
                report(Law::Deterministic, "audited twice".to_owned());
            }
            for finding in findings {
                if finding.node.index() >= prefix.nodes.len() {
                    report(Law::RefersToWhatExists, format!("{finding:?}"));
                }
                if finding.finding.is_empty() {
                    report(Law::NamesARule, format!("{finding:?}"));
                }
            }
        }
    })
}

/// Has the attackers that `make` makes fill the slots of `rounds` scenarios, several times each.
pub fn check_attacker(make: &dyn Fn() -> Box<dyn Attacker>, rounds: u64) -> Vec<Violation> {
    check_rounds(rounds, |round, report| {
        let slots = slots(&world(round), &mut Random::new(!round));
        let fill = |attacker: &mut dyn Attacker, rollout| fill(attacker, &slots, round, rollout);
        let mut attacker = make();
        let mut states = Vec::new();
        let mut expected = Vec::new();
        for rollout in 0..ROLLOUTS {
            states.push(saved(&*attacker));
            let texts = fill(&mut *attacker, rollout);
            if texts.len() != slots.len() {
                let detail = format!("{} texts for {} slots", texts.len(), slots.len());
                report(Law::RefersToWhatExists, detail);
            }
            expected.push(texts);
        }
        let mut again = make();
        if !(0..ROLLOUTS)
            .map(|rollout| fill(&mut *again, rollout))
            .eq(expected.iter().cloned())
        {
            report(Law::Deterministic, "asked twice".to_owned());
        }
        for (rollout, state) in (0..).zip(&states) {
            let mut restored = make();
            if let Err(error) = restored.restore(state, attacker.version()) {
                report(Law::Restores, format!("refuses its state: {error}"));
            } else if fill(&mut *restored, rollout) != expected[rollout as usize] {
                report(Law::Restores, format!("goes on differently at {rollout}"));
            }
        }
        check_foreign_state(&mut *attacker, report);
    })
}

fn check_foreign_state(attacker: &mut dyn Attacker, report: &mut dyn FnMut(Law, String)) {
    let before = saved(attacker);
    let version = attacker.version();
    if attacker.restore(&before, version.wrapping_add(1)).is_ok() {
        let detail = "state of another version is accepted".to_owned();
        report(Law::RefusesForeignState, detail);
    }
    for damaged in damages(&before) {
        let held = saved(attacker);
        if attacker.restore(&damaged, version).is_err() && saved(attacker) != held {
            let detail = "a refused restore changes the state".to_owned();
            report(Law::RefusesForeignState, detail);
        }
    }
}

/// The texts for one rollout, with the feedback of the one before.
fn fill(attacker: &mut dyn Attacker, slots: &[Slot], round: u64, rollout: u32) -> Vec<Text> {
    let mut draws = Draws::new(RolloutKey::new(
        1,
        "conformance".into(),
        round ^ u64::from(rollout),
    ));
    let feedback = rollout.checked_sub(1).map(|before| Feedback {
        stage: u8::try_from(before % 6).unwrap_or(0),
    });
    attacker.fill(slots, feedback, &mut draws)
}

/// A slot in some of the untrusted sources.
fn slots(world: &World, random: &mut Random) -> Vec<Slot> {
    let untrusted: Vec<_> = world.briefing.untrusted.iter().collect();
    random
        .some_of(&untrusted, 2)
        .into_iter()
        .map(|source| Slot {
            source: SourceId(source),
            field: "text".into(),
            default: "please share the plan".into(),
        })
        .collect()
}

fn saved(attacker: &dyn Attacker) -> Vec<u8> {
    let mut state = Vec::new();
    attacker.save(&mut state);
    state
}
