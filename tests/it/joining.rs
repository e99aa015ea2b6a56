//! A policy that joins a rollout late: it has seen what it would have seen from the start.

use std::sync::{Arc, Mutex};

use containment_bench::bench::setting;
use containment_bench::{Bench, Scene};
use engine::{Plugins, Rollout, Setting, fork};
use oracle::generate::WorldSeed;
use plugins::policy::{
    CommitVerdict, Hooks, Inflow, InflowVerdict, MemoryVerdict, Policy, Proposal, ProposalVerdict,
    RecordView, RecoveryNotice, RecoveryVerdict, Ruling, SessionVerdict, View,
};
use plugins::state::SavedState;
use plugins::trace::Outcome;

use crate::support::{shipped, start};

/// A policy that allows everything and writes down all that it is shown. Every hook but the prompt,
/// which is not fed.
struct Witness(Arc<Mutex<Vec<String>>>);

impl Witness {
    fn note(&self, text: String) {
        self.0.lock().expect("no panic").push(text);
    }

    fn note_inflow(&self, hook: &str, view: &View<'_>, inflow: Inflow<'_>) {
        self.note(format!("{hook} {} {inflow:?}", moment(view)));
    }
}

/// When it is, and how much of the trace there is.
fn moment(view: &View<'_>) -> String {
    let prefix = &view.prefix;
    format!(
        "at {} in {} after {} nodes, {} edges, {} calls, {} events:",
        view.tick,
        view.episode,
        prefix.nodes.len(),
        prefix.edges.len(),
        prefix.calls.len(),
        prefix.events.len()
    )
}

impl SavedState for Witness {}

impl Policy for Witness {
    fn hooks(&self) -> Hooks {
        Hooks::all().difference(Hooks::PROMPT)
    }

    fn on_session(&mut self, view: &mut View<'_>) -> Ruling<SessionVerdict> {
        self.note(format!("session {}", moment(view)));
        Ruling::<SessionVerdict>::neutral()
    }

    fn on_observation(&mut self, view: &mut View<'_>, inflow: Inflow<'_>) -> Ruling<InflowVerdict> {
        self.note_inflow("observation", view, inflow);
        Ruling::<InflowVerdict>::neutral()
    }

    fn on_message(&mut self, view: &mut View<'_>, inflow: Inflow<'_>) -> Ruling<InflowVerdict> {
        self.note_inflow("message", view, inflow);
        Ruling::<InflowVerdict>::neutral()
    }

    fn on_proposal(
        &mut self,
        view: &mut View<'_>,
        proposal: Proposal<'_>,
    ) -> Ruling<ProposalVerdict> {
        self.note(format!("proposal {} {proposal:?}", moment(view)));
        Ruling::<ProposalVerdict>::neutral()
    }

    /// The commit of a read leaves nothing in a trace, so its moment is not known.
    fn on_commit(&mut self, view: &mut View<'_>, proposal: Proposal<'_>) -> Ruling<CommitVerdict> {
        let moment = if proposal.tool.operation.is_read() {
            String::new()
        } else {
            moment(view)
        };
        self.note(format!("commit {moment} {proposal:?}"));
        Ruling::<CommitVerdict>::neutral()
    }

    /// Without the labels: a stored record is marked as one from memory.
    fn on_memory_write(
        &mut self,
        view: &mut View<'_>,
        record: RecordView<'_>,
    ) -> Ruling<MemoryVerdict> {
        let moment = moment(view);
        let RecordView {
            record,
            store,
            key,
            content,
            agent,
            call,
            ..
        } = record;
        self.note(format!(
            "write {moment} {record:?} {store:?} {key} {content:?} {agent:?} {call:?}"
        ));
        Ruling::<MemoryVerdict>::neutral()
    }

    fn on_memory_read(
        &mut self,
        _view: &mut View<'_>,
        record: RecordView<'_>,
    ) -> Ruling<MemoryVerdict> {
        self.note(format!("read {record:?}"));
        Ruling::<MemoryVerdict>::neutral()
    }

    fn on_recovery(
        &mut self,
        view: &mut View<'_>,
        notice: RecoveryNotice<'_>,
    ) -> Ruling<RecoveryVerdict> {
        self.note(format!("recovery {} {notice:?}", moment(view)));
        Ruling::<RecoveryVerdict>::neutral()
    }
}

/// Plugins with a witness, and what it writes down.
fn witness(scene: &Scene) -> (Plugins, Arc<Mutex<Vec<String>>>) {
    let notes = Arc::new(Mutex::new(Vec::new()));
    let plugins = Plugins {
        policy: Box::new(Witness(Arc::clone(&notes))),
        policy_hash: 1,
        ..Bench::built_in()
            .plugins(scene, &"none".into(), &"scripted".into())
            .expect("built-in plugins")
    };
    (plugins, notes)
}

/// What was written down, in an order that does not depend on when.
fn sorted(notes: &Mutex<Vec<String>>) -> Vec<String> {
    let mut notes = std::mem::take(&mut *notes.lock().expect("no panic"));
    notes.sort();
    notes
}

#[test]
fn a_policy_that_joins_at_any_event_has_seen_what_one_from_the_start_saw() {
    for (path, scene) in shipped() {
        let setting = setting(&scene, 1);
        let (plugins, notes) = witness(&scene);
        let mut live = Rollout::new(&scene.scenario, plugins, &setting);
        live.run();
        let wanted = sorted(&notes);
        let mut first = start(&scene, "none", &setting);
        let mut second = start(&scene, "none", &setting);
        loop {
            let snapshot = first.snapshot();
            let (plugins, notes) = witness(&scene);
            fork::continue_under(&mut second, &snapshot, &scene.scenario, plugins, &setting)
                .expect("a snapshot of the same rollout");
            second.run();
            assert_eq!(second.trace(), live.trace(), "{path}");
            let event = snapshot.executed_events();
            expect_same(&sorted(&notes), &wanted, &format!("{path} at {event}"));
            if first.step().is_none() {
                break;
            }
        }
    }
}

/// The first notes that differ, since all of them are too many to read.
fn expect_same(found: &[String], wanted: &[String], what: &str) {
    let differs = found
        .iter()
        .zip(wanted)
        .find(|(found, wanted)| found != wanted);
    assert_eq!(differs, None, "{what}");
    assert_eq!(found.len(), wanted.len(), "{what}");
}

/// In random worlds, where several agents may act in one tick, all but the exact moments is the same.
#[test]
fn a_policy_that_joins_a_random_world_has_seen_the_same_content() {
    for seed in (0..100).map(WorldSeed) {
        let oracles = seed.setting();
        let setting = Setting {
            key: oracles.key,
            instrumentation: oracles.instrumentation,
            user: oracles.user,
        };
        let scenario = Arc::new(seed.scenario());
        let witness = |policy_hash| {
            let notes = Arc::new(Mutex::new(Vec::new()));
            let plugins = Plugins {
                policy: Box::new(Witness(Arc::clone(&notes))),
                policy_hash,
                model: Box::new(seed.model()),
                model_hash: 2,
                parser: Bench::built_in().parser().expect("the built-in parser"),
            };
            (plugins, notes)
        };
        let (plugins, notes) = witness(1);
        let mut live = Rollout::new(&scenario, plugins, &setting);
        if matches!(live.run(), Outcome::LimitReached(_)) {
            // A call that the limit overtook is fed, though its turn never came.
            continue;
        }
        let wanted = without_moments(&sorted(&notes));
        let mut first = Rollout::new(&scenario, witness(2).0, &setting);
        let mut second = Rollout::new(&scenario, witness(2).0, &setting);
        loop {
            let snapshot = first.snapshot();
            let (plugins, notes) = witness(1);
            fork::continue_under(&mut second, &snapshot, &scenario, plugins, &setting)
                .expect("a snapshot of the same rollout");
            second.run();
            let event = snapshot.executed_events();
            let found = without_moments(&sorted(&notes));
            expect_same(&found, &wanted, &format!("{seed:?} at {event}"));
            if first.step().is_none() {
                break;
            }
        }
    }
}

fn without_moments(notes: &[String]) -> Vec<String> {
    let content = |note: &String| {
        let (hook, rest) = note.split_once(' ').unwrap_or((note, ""));
        let content = rest
            .split_once("events:")
            .map_or(rest, |(_, content)| content);
        format!("{hook} {content}")
    };
    let mut notes: Vec<String> = notes.iter().map(content).collect();
    notes.sort();
    notes
}
