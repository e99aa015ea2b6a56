//! The tick as a bevy schedule. The engine itself calls the system of each due event directly
//! (`engine/src/scene.rs`). A schedule of the same systems with their declared dependencies, and with
//! ambiguity as an error, must give the same trace: a test compares the two, in every order that the
//! dependencies admit.

use bevy_ecs::prelude::{IntoScheduleConfigs, Query, Res, ResMut, Schedule};
use bevy_ecs::schedule::{LogLevel, ScheduleBuildSettings, ScheduleLabel, SingleThreadedExecutor};

use crate::components::place::{HeldCalls, Landed};
use crate::state::State;
use crate::systems;
use crate::systems::entities::{Agents, Decisions, Messages, Proposals, Reach, Records, Sources};

/// What the whole schedule of a tick is called.
#[derive(ScheduleLabel, Clone, Debug, PartialEq, Eq, Hash)]
struct Tick;

/// Which of the two systems that settle goes first in [`bevy_schedule`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettleOrder {
    /// Not said: the declared dependencies admit both.
    Undeclared,
    /// Proposals first.
    ProposalsFirst,
    /// Sinks first.
    SinksFirst,
}

/// The tick as a bevy schedule built from declared dependencies. Two systems that conflict and have
/// no declared order make its initialisation fail.
#[must_use]
pub fn bevy_schedule(order: SettleOrder) -> Schedule {
    let mut schedule = Schedule::new(Tick);
    schedule.set_executor(SingleThreadedExecutor::new());
    schedule.set_build_settings(ScheduleBuildSettings {
        ambiguity_detection: LogLevel::Error,
        ..ScheduleBuildSettings::default()
    });
    let settle = (settle_proposals, settle_sinks);
    let settle = match order {
        SettleOrder::Undeclared => settle.into_configs(),
        SettleOrder::ProposalsFirst => settle.chain(),
        SettleOrder::SinksFirst => (settle_sinks, settle_proposals).chain(),
    };
    let until_commit = (deliver, observe, decide, parse, authorize, commit).chain();
    let after_commit = (remember, record).chain();
    schedule.add_systems((until_commit, settle, after_commit).chain());
    schedule
}

fn deliver(
    mut state: ResMut<State>,
    agents: Agents,
    sources: Sources,
    messages: Messages,
    decisions: Decisions,
) {
    systems::deliver::deliver(&mut state, agents, sources, messages, decisions);
}

fn observe(
    mut state: ResMut<State>,
    agents: Agents,
    sources: Sources,
    records: Records,
    proposals: Proposals,
    decisions: Decisions,
) {
    systems::observe::observe(&mut state, agents, sources, records, proposals, decisions);
}

fn decide(mut state: ResMut<State>, agents: Agents, decisions: Decisions) {
    systems::decide::decide(&mut state, agents, decisions);
}

fn parse(
    mut state: ResMut<State>,
    agents: Agents,
    messages: Messages,
    records: Records,
    proposals: Proposals,
) {
    systems::parse::parse(&mut state, agents, messages, records, proposals);
}

fn authorize(
    mut state: ResMut<State>,
    proposals: Proposals,
    records: Records,
    decisions: Decisions,
    held: Query<&mut HeldCalls>,
) {
    systems::authorize::authorize(&mut state, proposals, records, decisions, held);
}

fn commit(mut state: ResMut<State>, reach: Reach, held: Query<&mut HeldCalls>) {
    systems::commit::commit(&mut state, reach, held);
}

fn remember(mut state: ResMut<State>, reach: Reach) {
    systems::remember::remember(&mut state, reach);
}

fn record(mut state: ResMut<State>, agents: Agents, records: Records) {
    systems::record::record(&mut state, agents, records);
}

fn settle_proposals(state: Res<State>, proposals: Proposals) {
    systems::settle::settle_proposals(&state, proposals);
}

fn settle_sinks(state: Res<State>, landed: Query<&mut Landed>) {
    systems::settle::settle_sinks(&state, landed);
}
