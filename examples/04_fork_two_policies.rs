//! Two policies from one state: the run is shared until the first hook of a policy would fire.
//!
//! ```text
//!                         ┌──> tool_boundary ─────> end
//!   begin ─> shared run ──┤
//!                         └──> intent_ledger_v2 ──> end
//! ```
//!
//! Neither policy lets anything harmful commit, so by that number they are the same. How far the
//! note travelled tells them apart: told that its target is not authorised, the agent tries again.
//!
//! ```text
//! cargo run --example 04_fork_two_policies
//! ```
#![expect(clippy::print_stdout, reason = "an example talks to its reader")]

use containment_bench::bench::setting;
use containment_bench::engine::Rollout;
use containment_bench::engine::fork::run_group;
use containment_bench::study::metrics::{Finished, measure};
use containment_bench::{Bench, Error, Scene};

const WORLD: &str = include_str!("../worlds/demos/case4_followup_note.ron");
const SCRIPT: &str = include_str!("../worlds/demos/case4_followup_note.script.ron");
const POLICIES: [&str; 2] = ["tool_boundary", "intent_ledger_v2"];

fn main() -> Result<(), Error> {
    let scene = Scene::parse(WORLD, SCRIPT, "case4_followup_note")?;
    let setting = setting(&scene, 1);
    let bench = Bench::built_in();
    let plugins = |index: usize| {
        bench
            .plugins(&scene, &POLICIES[index].into(), &"scripted".into())
            .expect("built-in plugins")
    };
    let mut rollout = Rollout::new(&scene.scenario, plugins(0), &setting);
    let mut ends = Vec::new();
    let work = run_group(
        &mut rollout,
        &scene.scenario,
        &setting,
        POLICIES.len(),
        plugins,
        |index, rollout, point| {
            let metrics = measure(&Finished {
                scenario: rollout.scenario(),
                trace: rollout.trace(),
                labels: rollout.labels(),
                instrumentation: setting.instrumentation,
                outcome: rollout.outcome().expect("a finished rollout"),
            });
            let point = point.expect("both rule on calls, and there is one");
            let harm = metrics.endpoints.committed_harm;
            let spread = metrics.propagation.blast_radius_norm.expect("never null");
            println!(
                "{:<16} forked after {} events from state {:016x}: harm {harm:?}, spread {spread}",
                POLICIES[index], point.event, point.hash
            );
            ends.push((point, rollout.prestate_hash(), harm, spread));
        },
    );
    println!(
        "{} events executed instead of {}",
        work.executed, work.from_scratch
    );

    let [left, right] = ends[..] else {
        panic!("two policies, two ends");
    };
    assert_eq!(
        left.0, right.0,
        "both left the shared run at the same event, in the same state"
    );
    assert_eq!(left.1, right.1, "both began in the same state");
    assert_eq!(
        (left.2, right.2),
        (Some(false), Some(false)),
        "the endpoint is the same"
    );
    assert_ne!(left.3, right.3, "the spread is not");
    assert!(work.executed < work.from_scratch);
    Ok(())
}
