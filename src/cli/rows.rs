//! The row of a rollout that has ended.

use containment_bench::Choice;
use engine::Rollout;
use engine::fork::ForkPoint;
use plugins::trace::Outcome;
use study::columns::{Cell, Hash};
use study::rollout_id::RolloutFields;
use study::row::{Row, row_columns};
use study::runner;

use super::exit::Exit;
use super::failure::Failure;
use super::options::{Case, Hashes};
use super::problem::Problem;
use super::table::Table;

/// The row of `rollout`, which has ended.
pub(crate) fn row(
    case: &Case,
    policy: &Choice,
    hashes: Hashes,
    rollout: &mut Rollout,
    fork: Option<ForkPoint>,
) -> Row {
    let scenario = &case.scene.scenario;
    let setting = &case.setting;
    let fields = RolloutFields {
        study_seed: setting.key.study_seed,
        scenario: scenario.identity.clone(),
        scenario_hash: Hash(scenario.content_hash),
        policy: policy.name.as_str().into(),
        policy_hash: Hash(hashes.policy),
        model: case.model.name.as_str().into(),
        profile_hash: Hash(hashes.model),
        instrumentation: setting.instrumentation,
        user: setting.user,
        seed: setting.key.rollout_seed,
        stratum: setting
            .key
            .stratum
            .as_ref()
            .map(|stratum| stratum.to_string().into()),
    };
    let shadow = case.shadow_policy();
    runner::row(rollout, &fields, case.origin(policy), shadow.as_ref(), fork)
}

/// The row as aligned lines, one for each column.
pub(crate) fn text(row: &Row) -> String {
    let mut table = Table::default();
    for (column, cell) in row_columns().iter().zip(row.cells()) {
        table.row([column.name().into_owned(), cell_text(&cell)]);
    }
    table.to_string()
}

/// What a cell says, in words.
pub(crate) fn cell_text(cell: &Cell) -> String {
    match cell.to_string() {
        text if text.is_empty() => "null".to_owned(),
        text => text,
    }
}

/// Fails if the backend failed: such a trace ends where it failed.
pub(crate) fn require_backend(
    case: &Case,
    policy: &Choice,
    rollout: &Rollout,
) -> Result<(), Failure> {
    let Some(Outcome::Errored(message)) = rollout.outcome() else {
        return Ok(());
    };
    let problem = Problem::new(format!("the model backend failed: {message}"))
        .help("the trace ends where it failed and says neither that it is safe nor that it is not");
    Err(Failure::new(Exit::Incomplete, problem).reproduced_by(case.command(policy)))
}

/// Fails if the backend failed: such a row has no numbers.
pub(crate) fn require_numbers(case: &Case, policy: &Choice, row: &Row) -> Result<(), Failure> {
    let Some(message) = &row.identity.failure else {
        return Ok(());
    };
    let problem = Problem::new(format!("the model backend failed: {message}"))
        .help("the row is neither safe nor unsafe: all its numbers are null");
    Err(Failure::new(Exit::Incomplete, problem).reproduced_by(case.command(policy)))
}
