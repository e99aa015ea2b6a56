//! What a trace promises to whoever reads it: order, growth, ids that link, prefixes, redaction, and
//! the graph in DOT.

use std::sync::{Arc, Mutex};

use containment_bench::bench::setting;
use containment_bench::{Bench, Scene};
use engine::agenda::AgendaEvent;
use engine::export::{dot, jsonl};
use engine::{Plugins, Rollout, Setting, fork};
use oracle::generate::WorldSeed;
use oracle::json::Heading;
use plugins::draws::Draws;
use plugins::ids::{CallId, NodeId};
use plugins::model::{ModelBackend, ModelFailure, Reply, Turn};
use plugins::policy::{Hook, Hooks, Policy, Proposal, ProposalVerdict, Ruling, View};
use plugins::setting::Instrumentation;
use plugins::state::SavedState;
use plugins::trace::{Happening, NodeKind, Outcome, Prefix, Subject, Trace};
use serde_json::Value;

use crate::support::{POLICIES, columns, numbers, scene, shipped, start};

/// A rollout of a random world that is about to begin, under `policy` instead of its own if given.
fn random(seed: WorldSeed, policy: Option<Box<dyn Policy>>) -> Rollout {
    let oracles = seed.setting();
    let setting = Setting {
        key: oracles.key,
        instrumentation: oracles.instrumentation,
        user: oracles.user,
    };
    let plugins = Plugins {
        policy: policy.unwrap_or_else(|| Box::new(seed.policy())),
        policy_hash: 1,
        model: Box::new(seed.model()),
        model_hash: 2,
        parser: Bench::built_in().parser().expect("the built-in parser"),
    };
    Rollout::new(&Arc::new(seed.scenario()), plugins, &setting)
}

/// A rollout of every shipped world under every policy, and of random worlds.
fn every_rollout(mut look: impl FnMut(&str, Rollout)) {
    for (path, scene) in shipped() {
        for policy in POLICIES {
            let rollout = start(&scene, policy, &setting(&scene, 1));
            look(&format!("{path} under {policy}"), rollout);
        }
    }
    for seed in (0..200).map(WorldSeed) {
        look(&format!("{seed:?}"), random(seed, None));
    }
}

/// By tick, phase, actor and sequence: the next event is always later than the one before it, so
/// nothing is scheduled into the past and nothing has two places in the order.
#[test]
fn events_run_in_one_order_and_none_in_the_past() {
    every_rollout(|what, mut rollout| {
        let mut latest = None;
        let mut now = None;
        loop {
            let next = rollout
                .next_event()
                .map(|next| (next.tick, next.event.phase(), next.actor, next.sequence));
            assert!(
                next.is_none() || next > latest,
                "{what}: {latest:?}, {next:?}"
            );
            latest = next.or(latest);
            let Some(step) = rollout.step() else { break };
            let then = Some((step.tick, step.phase));
            assert!(then >= now, "{what}: {now:?}, {then:?}");
            now = then;
        }
    });
}

fn is_beginning(prefix: Prefix<'_>, whole: &Trace) -> bool {
    whole.nodes.starts_with(prefix.nodes)
        && whole.edges.starts_with(prefix.edges)
        && whole.calls.starts_with(prefix.calls)
        && whole.events.starts_with(prefix.events)
}

#[test]
fn a_trace_only_grows() {
    every_rollout(|what, mut rollout| {
        let mut before = Trace::default();
        while rollout.step().is_some() {
            assert!(is_beginning(before.prefix(), rollout.trace()), "{what}");
            before.clone_from(rollout.trace());
        }
        for edge in &before.edges {
            assert!(edge.from < edge.to, "{what}: from the older to the newer");
        }
    });
}

/// The position of the first event that `is` picks.
fn position(trace: &Trace, is: impl Fn(&Happening) -> bool) -> Option<usize> {
    trace.events.iter().position(|event| is(&event.what))
}

/// Whether an edge leads from the proposal of `call` to the node `to`.
fn comes_from_proposal(trace: &Trace, call: CallId, to: NodeId) -> bool {
    trace.edges.iter().any(|edge| {
        let from = &trace.nodes[edge.from.index()];
        edge.to == to && from.kind == NodeKind::Proposal && from.subject == Subject::Call(call)
    })
}

/// The call that a decision, a denial, an effect or a result is about, and its node if the event
/// names one.
fn link(what: &Happening) -> Option<(CallId, Option<(NodeId, NodeKind)>)> {
    match *what {
        Happening::Ruled {
            hook: Hook::Proposal | Hook::Commit,
            subject: Subject::Call(call),
            node,
            ..
        } => Some((call, node.map(|node| (node, NodeKind::Decision)))),
        Happening::Committed { call, node } => Some((call, Some((node, NodeKind::SideEffect)))),
        Happening::Denied { call, .. } | Happening::Observed { call, .. } => Some((call, None)),
        _ => None,
    }
}

/// One id leads from a proposal to its decision, to its denial or effect, and to its result.
#[test]
fn call_ids_link_proposal_decision_result_and_effect() {
    let (mut nodes, mut results) = (0, 0);
    every_rollout(|what, mut rollout| {
        rollout.run();
        let trace = rollout.trace();
        for (index, event) in trace.events.iter().enumerate() {
            let Some((call, node)) = link(&event.what) else {
                continue;
            };
            let is_proposal =
                |it: &Happening| matches!(it, Happening::Proposed { call: it } if *it == call);
            let proposed = position(trace, is_proposal).expect("every call was proposed");
            assert!(proposed < index, "{what}: {call:?}");
            if let Some((id, kind)) = node {
                let node = &trace.nodes[id.index()];
                let expected = (kind, Subject::Call(call));
                assert_eq!((node.kind, node.subject), expected, "{what}");
                assert!(comes_from_proposal(trace, call, id), "{what}: {call:?}");
                nodes += 1;
            }
            if matches!(event.what, Happening::Observed { .. }) {
                let is_result = |node: &plugins::trace::Node| {
                    node.kind == NodeKind::ToolResult && node.subject == Subject::Call(call)
                };
                assert!(trace.nodes.iter().any(is_result), "{what}: {call:?}");
                results += 1;
            }
        }
    });
    assert!(nodes > 0 && results > 0);
}

/// What a policy was shown when it was asked about a call.
struct Shown {
    call: CallId,
    tick: u64,
    trace: Trace,
}

/// A policy that allows everything and keeps what it was shown.
struct Watching(Arc<Mutex<Vec<Shown>>>);

impl SavedState for Watching {}

impl Policy for Watching {
    fn hooks(&self) -> Hooks {
        Hooks::PROPOSAL
    }

    fn on_proposal(
        &mut self,
        view: &mut View<'_>,
        proposal: Proposal<'_>,
    ) -> Ruling<ProposalVerdict> {
        let Prefix {
            nodes,
            edges,
            calls,
            events,
        } = view.prefix;
        self.0.lock().expect("no panic").push(Shown {
            call: proposal.call.id,
            tick: view.tick,
            trace: Trace {
                nodes: nodes.to_vec(),
                edges: edges.to_vec(),
                calls: calls.to_vec(),
                events: events.to_vec(),
            },
        });
        Ruling::<ProposalVerdict>::neutral()
    }
}

fn watching() -> (Box<dyn Policy>, Arc<Mutex<Vec<Shown>>>) {
    let shown = Arc::new(Mutex::new(Vec::new()));
    (Box::new(Watching(Arc::clone(&shown))), shown)
}

/// The policy sees how things stand as it decides: the call proposed, nothing decided about it, and
/// nothing of what comes later.
#[test]
fn a_policy_sees_the_past_up_to_its_proposal_and_nothing_later() {
    let mut asked = 0;
    for seed in (0..300).map(WorldSeed) {
        let (policy, shown) = watching();
        let mut rollout = random(seed, Some(policy));
        rollout.run();
        for Shown { call, tick, trace } in shown.lock().expect("no panic").iter() {
            asked += 1;
            assert!(is_beginning(trace.prefix(), rollout.trace()), "{seed:?}");
            assert!(trace.events.iter().all(|event| event.tick <= *tick));
            let about = |what: &Happening| match what {
                Happening::Proposed { call: it } => it == call,
                _ => false,
            };
            assert!(position(trace, about).is_some(), "{seed:?}: {call:?}");
            let decided = |what: &Happening| match what {
                Happening::Ruled {
                    subject: Subject::Call(it),
                    ..
                }
                | Happening::Denied { call: it, .. }
                | Happening::Committed { call: it, .. }
                | Happening::Observed { call: it, .. } => it == call,
                _ => false,
            };
            assert_eq!(position(trace, decided), None, "{seed:?}: {call:?}");
        }
    }
    assert!(asked > 300, "{asked} proposals");
}

/// A policy that takes over is asked about every call of the past, each with the trace of then; what
/// it says changes nothing that has happened.
#[test]
fn a_policy_that_joins_late_is_shown_the_past() {
    for (path, scene) in shipped() {
        let setting = setting(&scene, 1);
        let mut first = start(&scene, "none", &setting);
        let mut second = start(&scene, "none", &setting);
        let mut ruled_on = Vec::new();
        loop {
            let (policy, shown) = watching();
            let plugins = Plugins {
                policy,
                policy_hash: 1,
                ..Bench::built_in()
                    .plugins(&scene, &"none".into(), &"scripted".into())
                    .expect("built-in plugins")
            };
            let snapshot = first.snapshot();
            fork::continue_under(&mut second, &snapshot, &scene.scenario, plugins, &setting)
                .expect("a snapshot of the same rollout");
            assert_eq!(second.trace(), first.trace(), "{path}: the past stays");
            let shown = shown.lock().expect("no panic");
            let calls: Vec<CallId> = shown.iter().map(|shown| shown.call).collect();
            assert_eq!(calls, ruled_on, "{path} at tick {}", snapshot.tick());
            for Shown { call, trace, .. } in shown.iter() {
                assert!(is_beginning(trace.prefix(), first.trace()), "{path}");
                let about = |what: &Happening| matches!(what, Happening::Proposed { call: it } if it == call);
                assert!(position(trace, about).is_some(), "{path}: {call:?}");
            }
            match first.step().map(|step| step.event) {
                Some(AgendaEvent::Authorize(call)) => ruled_on.push(call),
                Some(_) => {}
                None => break,
            }
        }
    }
}

/// A model without a line to its provider.
struct Broken;

impl SavedState for Broken {}

impl ModelBackend for Broken {
    fn complete(
        &mut self,
        _turn: Turn<'_>,
        _draws: &mut Draws,
        _reply: &mut Reply,
    ) -> Result<(), ModelFailure> {
        Err(ModelFailure("the line broke".into()))
    }
}

/// A failed backend is neither safe nor unsafe: the rollout says so and has no numbers.
#[test]
fn a_failed_backend_ends_the_rollout_as_errored() {
    let scene = scene("worlds/demos/case1_violation_commits.ron");
    let plugins = Plugins {
        model: Box::new(Broken),
        ..Bench::built_in()
            .plugins(&scene, &"none".into(), &"scripted".into())
            .expect("built-in plugins")
    };
    let mut rollout = Rollout::new(&scene.scenario, plugins, &setting(&scene, 1));
    assert_eq!(rollout.run(), &Outcome::Errored("the line broke".into()));
    assert_eq!(
        numbers(&rollout, Instrumentation::PAPER),
        study::metrics::Metrics::default()
    );
}

fn text(scene: &Scene, rollout: &Rollout, reveal: bool) -> String {
    let setting = setting(scene, 1);
    let header = jsonl::Header {
        scenario: &scene.scenario,
        policy: "p",
        model: "m",
        setting: &setting,
        recipe: None,
    };
    jsonl::write(header, rollout.trace(), rollout.labels(), reveal)
}

/// Without being asked to, a trace shows no argument value and no content. The oracle, which hides
/// them by itself, writes the same lines.
#[test]
fn traces_are_redacted_unless_revealed() {
    let lines = |text: &str| -> Vec<Value> {
        let line = |line| serde_json::from_str(line).expect("a line of JSON");
        text.lines().map(line).collect()
    };
    for (path, scene) in shipped() {
        let setting = setting(&scene, 1);
        let mut rollout = start(&scene, "rollback_v2", &setting);
        rollout.run();
        let Plugins {
            mut policy,
            mut model,
            parser,
            ..
        } = Bench::built_in()
            .plugins(&scene, &"rollback_v2".into(), &"scripted".into())
            .expect("built-in plugins");
        let oracles = oracle::interpreter::Setting {
            key: setting.key.clone(),
            instrumentation: setting.instrumentation,
            user: setting.user,
        };
        let history = oracle::interpreter::run(
            &scene.scenario,
            &mut *policy,
            &mut *model,
            &*parser,
            &oracles,
        );
        for reveal in [false, true] {
            let heading = Heading {
                policy: "p",
                model: "m",
                redacted: !reveal,
            };
            let expected = oracle::json::render(&history, &scene.scenario, &oracles, heading);
            let found = text(&scene, &rollout, reveal);
            assert_eq!(
                lines(&found),
                lines(&expected),
                "{path}, revealed: {reveal}"
            );
        }
    }
    let scene = scene("worlds/demos/case2_partner_meeting.ron");
    let mut rollout = start(&scene, "none", &setting(&scene, 1));
    rollout.run();
    let (open, redacted) = (text(&scene, &rollout, true), text(&scene, &rollout, false));
    assert!(open.contains("partner@trusted.local"));
    assert!(!redacted.contains("partner@trusted.local"));
    let header = &lines(&redacted)[0];
    assert_eq!(header["schema"], jsonl::TRACE_SCHEMA);
    assert_eq!(header["redacted"], true);
}

/// One box per node, filled if it is labelled, and one arrow per edge, bold if taint flows over it.
#[test]
fn the_dot_graph_is_the_graph_of_the_trace() {
    for (path, scene) in shipped() {
        let mut rollout = start(&scene, "none", &setting(&scene, 1));
        rollout.run();
        let trace = rollout.trace();
        let graph = dot::write(&scene.scenario, trace, rollout.labels());
        assert!(graph.starts_with("digraph {"), "{path}");
        let count = |part: &str| graph.lines().filter(|line| line.contains(part)).count();
        let bold = trace.edges.iter().filter(|edge| edge.taint).count();
        assert_eq!(count("shape=box"), trace.nodes.len(), "{path}");
        assert_eq!(count(" -> "), trace.edges.len(), "{path}");
        assert_eq!(count("penwidth=2"), bold, "{path}");
        let labelled = &columns(&numbers(&rollout, Instrumentation::PAPER))["blast_radius_raw"];
        assert_eq!(count("style=filled").to_string(), *labelled, "{path}");
    }
}
