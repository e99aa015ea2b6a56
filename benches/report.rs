//! The main study, its tables and its scorecard, and where the time goes.
//!
//! ```text
//! cargo bench --bench report
//! ```
//!
//! On as many threads as there are processors, bootstrap included (10,000 resamples for each interval),
//! files and the two small studies of the scorecard left out. The table gives medians over turns.
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "a benchmark reads the clock"
)]
#![expect(
    clippy::print_stdout,
    reason = "the table is the result of the program"
)]

mod support;

use std::hint::black_box;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use report::analysis::{Analysis, Options};
use report::evidence::Evidence;
use report::published::MAIN;
use report::scorecard::{Scorecard, reproduced};
use report::tables;
use statistics::Bootstrap;
use study::manifest::Manifest;
use study::plan::Plan;
use study::results::Results;
use study::runner::{Ended, run};
use support::Subject;

/// That of the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Samples of each step.
const TURNS: usize = 7;

/// The steps, in order.
const STEPS: [&str; 4] = ["study", "intervals", "tables", "scorecard"];

fn main() {
    let is_listed = std::env::args().any(|argument| argument == "--list");
    if is_listed {
        return;
    }
    let is_test = std::env::args().any(|argument| argument == "--test");
    let subject = Subject::new();
    let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let turns = if is_test { 1 } else { TURNS };
    let turns: Vec<[Duration; 4]> = (0..turns).map(|_| turn(subject.plan(), threads)).collect();
    println!(
        "main study on {threads} threads, medians of {} turns",
        turns.len()
    );
    let mut total = Duration::ZERO;
    for (step, name) in STEPS.iter().enumerate() {
        let mut times: Vec<Duration> = turns.iter().map(|turn| turn[step]).collect();
        times.sort_unstable();
        let median = times[times.len() / 2];
        total += median;
        println!("{name:<10} {:>8.1} ms", median.as_secs_f64() * 1e3);
    }
    println!("{:<10} {:>8.1} ms", "together", total.as_secs_f64() * 1e3);
}

/// Goes once through everything, and says how long each step took.
fn turn(plan: Plan, threads: NonZeroUsize) -> [Duration; 4] {
    let mut clock = Instant::now();
    let mut lap = || {
        let now = Instant::now();
        let took = now - clock;
        clock = now;
        took
    };
    let results = simulated(&plan, threads);
    let study = lap();
    let options = Options {
        bootstrap: Bootstrap::default(),
        threads: threads.get(),
    };
    let evidence = Evidence::by_model(&results);
    let analyses: Vec<Analysis<'_>> = evidence
        .into_iter()
        .map(|evidence| Analysis::new(evidence, &[], options))
        .collect();
    let intervals = lap();
    let printed: Vec<_> = analyses.iter().flat_map(tables::all).collect();
    let tables = lap();
    let card = Scorecard::new(&reproduced([(MAIN, printed.as_slice())]));
    black_box(card.to_json());
    [study, intervals, tables, lap()]
}

fn simulated(plan: &Plan, threads: NonZeroUsize) -> Results {
    let groups = vec![None; plan.groups().len()];
    let go_on = |_, _: &_| ControlFlow::Continue(());
    match run(plan, threads, groups, &AtomicBool::new(false), go_on).expect("a thread") {
        Ended::Whole(outcomes) => Results {
            manifest: Manifest::freeze(plan),
            rows: outcomes
                .segments
                .into_iter()
                .flat_map(|segment| segment.rows)
                .collect(),
        },
        Ended::Stopped(_) => unreachable!("nobody stops it"),
    }
}
