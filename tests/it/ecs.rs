//! The ECS is real: state lives in components, and the schedule built from declared dependencies
//! gives the same trace as the direct calls, in every order that they admit.

use bevy_ecs::prelude::{Component, With};
use bevy_ecs::schedule::Schedule;
use containment_bench::Bench;
use containment_bench::bench::setting;
use engine::Rollout;
use engine::components::Taint;
use engine::components::agent::{Activity, Agent, Context, Doing};
use engine::components::call::{Authorisation, Decision, Message, Proposal};
use engine::components::memory::{Record, Store};
use engine::components::place::{Landed, Sink, Source, Tool};
use engine::fork::{self, End};
use engine::identity::InUse;
use engine::schedule::{SettleOrder, bevy_schedule};
use plugins::trace::{Happening, NodeKind};

use crate::support::{POLICIES, shipped, start};

/// After every event of every shipped world, the components say what the trace says.
#[test]
fn components_say_what_the_trace_says() {
    for (path, scene) in shipped() {
        for policy in POLICIES {
            let mut rollout = start(&scene, policy, &setting(&scene, 1));
            while rollout.step().is_some() {
                agents_agree(&mut rollout, &path);
                calls_agree(&mut rollout, &path);
                memory_agrees(&mut rollout, &path);
                places_agree(&mut rollout, &path);
            }
        }
    }
}

fn agents_agree(rollout: &mut Rollout, path: &str) {
    let trace = rollout.trace().clone();
    let world = rollout.world();
    let mut agents = world.query::<(&InUse, &Agent, &Activity, &Context, &Taint)>();
    for (_, agent, activity, context, taint) in agents.iter(world).filter(|(in_use, ..)| in_use.0) {
        let Some(node) = taint.node else { continue };
        let node = &trace.nodes[node.index()];
        assert_eq!(node.kind, NodeKind::AgentState, "{path}");
        assert_eq!(
            (node.agent, node.recorded, node.exact),
            (Some(agent.0), taint.recorded, taint.exact),
            "{path}"
        );
        let latest = trace
            .nodes
            .iter()
            .rev()
            .find(|node| node.kind == NodeKind::AgentState && node.agent == Some(agent.0));
        assert_eq!(
            latest,
            Some(node),
            "{path}: the taint component is that of the latest state"
        );
        assert_eq!(context.segments.len(), context.labels.len(), "{path}");
        if activity.doing == Doing::Ended {
            let finished = |what: &Happening| matches!(what, Happening::Finished { .. });
            assert!(
                trace
                    .events
                    .iter()
                    .any(|event| event.agent == Some(agent.0) && finished(&event.what)),
                "{path}"
            );
        }
    }
}

fn calls_agree(rollout: &mut Rollout, path: &str) {
    let trace = rollout.trace().clone();
    let world = rollout.world();
    let mut proposals = world.query::<(&InUse, &Proposal, &Authorisation, &Taint)>();
    let mut seen = 0;
    for (_, proposal, authorisation, taint) in proposals.iter(world).filter(|(in_use, ..)| in_use.0)
    {
        seen += 1;
        let call = &trace.calls[proposal.call.index()];
        assert_eq!(
            (call.tool, call.agent),
            (proposal.tool, proposal.agent),
            "{path}"
        );
        if let Some(node) = taint.node {
            assert_eq!(trace.nodes[node.index()].kind, NodeKind::Proposal, "{path}");
        }
        let effect = trace.events.iter().find_map(|event| match event.what {
            Happening::Committed { call, node } if call == proposal.call => Some(node),
            _ => None,
        });
        assert_eq!(authorisation.effect, effect, "{path}");
    }
    assert_eq!(
        seen,
        trace.calls.len(),
        "{path}: one proposal entity per valid call"
    );
    let decisions = world
        .query::<(&InUse, &Decision)>()
        .iter(world)
        .filter(|(in_use, _)| in_use.0)
        .count();
    let nodes = trace.nodes.iter().filter(|node| {
        node.kind == NodeKind::Decision && node.detail != plugins::trace::NodeDetail::Audit
    });
    assert_eq!(
        decisions,
        nodes.count(),
        "{path}: one decision entity per decision node"
    );
    let messages = world
        .query::<(&InUse, &Message)>()
        .iter(world)
        .filter(|(in_use, _)| in_use.0)
        .count();
    assert_eq!(
        messages,
        trace
            .nodes
            .iter()
            .filter(|node| node.kind == NodeKind::Message)
            .count(),
        "{path}"
    );
}

fn memory_agrees(rollout: &mut Rollout, path: &str) {
    let trace = rollout.trace().clone();
    let world = rollout.world();
    let mut records = world.query::<(&InUse, &Record, &Taint)>();
    for (_, record, taint) in records.iter(world).filter(|(in_use, ..)| in_use.0) {
        let removed = trace.events.iter().any(|event| matches!(event.what, Happening::Removed { record: gone, .. } if gone == record.record));
        assert_eq!(record.live, !removed, "{path}: record {:?}", record.record);
        if let Some(node) = taint.node {
            assert_eq!(trace.nodes[node.index()].kind, NodeKind::Memory, "{path}");
        }
    }
}

fn places_agree(rollout: &mut Rollout, path: &str) {
    let scenario = rollout.scenario().clone();
    let trace = rollout.trace().clone();
    let world = rollout.world();
    let mut sinks = world.query::<(&InUse, &Sink, &Landed)>();
    for (_, sink, landed) in sinks.iter(world).filter(|(in_use, ..)| in_use.0) {
        let here = trace.events.iter().filter_map(|event| match event.what {
            Happening::Committed { call, .. } => Some(call),
            _ => None,
        });
        let here = here.filter(|call| {
            scenario.briefing.tools[trace.calls[call.index()].tool.index()].sink == Some(sink.0)
        });
        assert_eq!(
            landed.0,
            here.collect::<Vec<_>>(),
            "{path}: what landed in a sink"
        );
    }
    let tools = world
        .query::<(&InUse, &Tool)>()
        .iter(world)
        .filter(|(in_use, _)| in_use.0)
        .count();
    assert_eq!(tools, scenario.briefing.tools.len(), "{path}");
    let mut sources = world.query::<(&InUse, &Source, &Taint)>();
    for (_, source, taint) in sources.iter(world).filter(|(in_use, ..)| in_use.0) {
        let touched = trace.nodes.iter().any(|node| {
            node.subject == plugins::trace::Subject::Source(source.0)
                && node.kind == NodeKind::Source
        });
        assert_eq!(taint.node.is_some(), touched, "{path}");
    }
}

/// How many entities of each kind belong to the rollout.
fn in_use(rollout: &mut Rollout) -> [(&'static str, usize); 9] {
    [
        ("agents", in_use_of::<Agent>(rollout)),
        ("sources", in_use_of::<Source>(rollout)),
        ("tools", in_use_of::<Tool>(rollout)),
        ("sinks", in_use_of::<Sink>(rollout)),
        ("stores", in_use_of::<Store>(rollout)),
        ("records", in_use_of::<Record>(rollout)),
        ("proposals", in_use_of::<Proposal>(rollout)),
        ("decisions", in_use_of::<Decision>(rollout)),
        ("messages", in_use_of::<Message>(rollout)),
    ]
}

fn in_use_of<Kind: Component>(rollout: &mut Rollout) -> usize {
    let world = rollout.world();
    let mut entities = world.query_filtered::<&InUse, With<Kind>>();
    entities.iter(world).filter(|in_use| in_use.0).count()
}

/// What came into being since then is out of use again.
#[test]
fn a_rollout_that_was_restored_uses_as_many_entities_as_a_fresh_one() {
    for (path, scene) in shipped() {
        for policy in POLICIES {
            let setting = setting(&scene, 1);
            let mut fresh = start(&scene, policy, &setting);
            let mut ended = start(&scene, policy, &setting);
            loop {
                ended.run();
                let snapshot = fresh.snapshot();
                ended.restore(&snapshot).expect("of the same rollout");
                assert_eq!(
                    in_use(&mut ended),
                    in_use(&mut fresh),
                    "{path} under {policy}, event {}",
                    fresh.executed_events()
                );
                if fresh.step().is_none() {
                    break;
                }
            }
        }
    }
}

/// Neither the branches before, nor the worlds before, leave anything in use.
#[test]
fn every_branch_of_a_group_uses_as_many_entities_as_a_fresh_rollout() {
    let bench = Bench::built_in();
    let worlds = shipped();
    let mut group = start(&worlds[0].1, "none", &setting(&worlds[0].1, 1));
    let mut most_branches = 0;
    for (path, scene) in worlds.iter().chain(worlds.iter().rev()) {
        let setting = setting(scene, 1);
        let make = |position: usize| {
            bench
                .plugins(scene, &POLICIES[position].into(), &"scripted".into())
                .expect("built-in plugins")
        };
        let mut branches = 0;
        let finished = |ends: &[End], rollout: &mut Rollout| {
            let policy = POLICIES[ends[0].position];
            let mut fresh = start(scene, policy, &setting);
            fresh.run();
            assert_eq!(in_use(rollout), in_use(&mut fresh), "{path} under {policy}");
            branches += 1;
        };
        fork::run_sharing(
            &mut group,
            &scene.scenario,
            &setting,
            POLICIES.len(),
            make,
            finished,
        );
        most_branches = most_branches.max(branches);
    }
    assert!(most_branches > 2, "some policies part");
}

#[test]
fn the_declared_schedule_equals_the_direct_calls_in_every_order_it_admits() {
    for order in [
        SettleOrder::Undeclared,
        SettleOrder::ProposalsFirst,
        SettleOrder::SinksFirst,
    ] {
        let mut schedule = bevy_schedule(order);
        for (path, scene) in shipped() {
            for policy in POLICIES {
                let setting = setting(&scene, 1);
                let mut direct = start(&scene, policy, &setting);
                direct.run();
                let mut scheduled = start(&scene, policy, &setting);
                run_scheduled(&mut scheduled, &mut schedule);
                assert_eq!(
                    scheduled.trace_digest(),
                    direct.trace_digest(),
                    "{path} under {policy}, {order:?}"
                );
                assert_eq!(
                    scheduled.snapshot().to_bytes(),
                    direct.snapshot().to_bytes(),
                    "{path} under {policy}, {order:?}"
                );
                // A schedule is bound to one world, so the next rollout gets a new one.
                schedule = bevy_schedule(order);
            }
        }
    }
}

fn run_scheduled(rollout: &mut Rollout, schedule: &mut Schedule) {
    while rollout.step_with(schedule).is_some() {}
}

/// Ambiguity detection is on and is an error: a schedule with an undeclared conflict is refused.
#[test]
fn an_ambiguous_schedule_is_refused() {
    use bevy_ecs::prelude::{ResMut, Resource, World};
    #[derive(Resource, Default)]
    struct Shared(u32);
    fn one(mut shared: ResMut<Shared>) {
        shared.0 += 1;
    }
    fn two(mut shared: ResMut<Shared>) {
        shared.0 *= 2;
    }
    let mut world = World::new();
    world.init_resource::<Shared>();
    let mut schedule = bevy_schedule(SettleOrder::Undeclared);
    schedule.add_systems((one, two));
    assert!(schedule.initialize(&mut world).is_err());
}
