//! How often each interval holds the truth, from simulated studies whose truth is known.
//!
//! `cargo run --release -p statistics --example coverage` prints the tables of `docs/statistics.md`,
//! the same every time.
//!
//! A scenario has a chance of its own, from a beta distribution with the mean `rate` and the variance
//! `rate (1 - rate) icc`; a rollout happens with the chance of its scenario. For scenarios like
//! these every repetition draws new scenarios, and the truth is `rate`. For exactly these scenarios
//! the chances are the same in every repetition, spread evenly over that distribution, and the
//! truth is their mean. The differences in the last table are normal, with `icc` of their variance
//! between scenarios.

#![expect(clippy::print_stdout, reason = "a table is what this program is for")]

use statistics::{
    Bootstrap, Clustered, Estimate, Interval, Question, Stream, clopper_pearson, cluster_t,
    proportion, stratified,
};
use statrs::distribution::{Beta, ContinuousCDF as _};

/// Simulated studies for each design: a share of 95 % is told to half a percentage point.
const REPETITIONS: u32 = 2_000;
const LEVEL: f64 = 0.95;
/// Fewer than a report draws; the ends move by less than a coverage of 2,000 repetitions can show.
const RESAMPLES: Bootstrap = Bootstrap {
    resamples: 1_000,
    level: LEVEL,
};

/// The shape of a study.
struct Design {
    scenarios: u32,
    seeds: u32,
    rate: f64,
    icc: f64,
}

const fn design(scenarios: u32, seeds: u32, rate: f64, icc: f64) -> Design {
    Design {
        scenarios,
        seeds,
        rate,
        icc,
    }
}

const PROPORTIONS: &[Design] = &[
    design(5, 200, 0.3, 0.37),
    design(10, 100, 0.3, 0.37),
    design(20, 50, 0.3, 0.37),
    design(40, 25, 0.3, 0.37),
    design(192, 5, 0.3, 0.37),
    design(504, 5, 0.3, 0.37),
    design(192, 5, 0.5, 0.9),
    design(40, 5, 0.02, 0.13),
    design(192, 5, 0.02, 0.13),
    design(504, 5, 0.02, 0.13),
];

const DIFFERENCES: &[Design] = &[
    design(5, 200, 0.1, 0.37),
    design(10, 100, 0.1, 0.37),
    design(40, 25, 0.1, 0.37),
    design(504, 5, 0.1, 0.37),
];

impl Design {
    /// The two parameters of the distribution of chances.
    fn beta(&self) -> (f64, f64) {
        let both = 1.0 / self.icc - 1.0;
        (self.rate * both, (1.0 - self.rate) * both)
    }

    /// One chance for each scenario, at even steps of the distribution.
    fn chances(&self) -> Vec<f64> {
        let (a, b) = self.beta();
        let beta = Beta::new(a, b).expect("a rate and a correlation between 0 and 1");
        (0..self.scenarios)
            .map(|place| (f64::from(place) + 0.5) / f64::from(self.scenarios))
            .map(|share| beta.inverse_cdf(share))
            .collect()
    }

    /// Rollouts of scenarios with these chances.
    fn rollouts(&self, chances: &[f64], stream: &mut Stream) -> Clustered {
        let mut rows = Vec::new();
        for (scenario, chance) in chances.iter().enumerate() {
            for _ in 0..self.seeds {
                rows.push((scenario, indicator(stream.unit() < *chance)));
            }
        }
        Clustered::of_rows(rows)
    }

    /// Rollouts of scenarios that are drawn anew. An urn that gains a ball of each colour drawn
    /// gives the rollouts of a scenario without its chance.
    fn new_rollouts(&self, stream: &mut Stream) -> Clustered {
        let mut rows = Vec::new();
        for scenario in 0..self.scenarios {
            let (mut yes, mut no) = self.beta();
            for _ in 0..self.seeds {
                let happened = stream.unit() * (yes + no) < yes;
                *(if happened { &mut yes } else { &mut no }) += 1.0;
                rows.push((scenario, indicator(happened)));
            }
        }
        Clustered::of_rows(rows)
    }

    /// Differences around `effects`, one for each scenario.
    fn differences(&self, effects: &[f64], stream: &mut Stream) -> Clustered {
        let mut rows = Vec::new();
        for (scenario, effect) in effects.iter().enumerate() {
            for _ in 0..self.seeds {
                rows.push((scenario, effect + (1.0 - self.icc).sqrt() * normal(stream)));
            }
        }
        Clustered::of_rows(rows)
    }

    /// Effects of scenarios that are drawn anew.
    fn effects(&self, stream: &mut Stream) -> Vec<f64> {
        (0..self.scenarios)
            .map(|_| self.rate + self.icc.sqrt() * normal(stream))
            .collect()
    }

    fn start_of_row(&self) -> String {
        let Self {
            scenarios,
            seeds,
            rate,
            icc,
        } = self;
        format!("| {scenarios} x {seeds} | {rate} | {icc} |")
    }
}

fn indicator(happened: bool) -> f64 {
    f64::from(u8::from(happened))
}

/// A standard normal number (Box and Muller, 1958).
fn normal(stream: &mut Stream) -> f64 {
    let radius = (-2.0 * (1.0 - stream.unit()).ln()).sqrt();
    radius * (std::f64::consts::TAU * stream.unit()).cos()
}

/// What one method did over all repetitions.
#[derive(Default)]
struct Tally {
    held: u32,
    widths: f64,
}

impl Tally {
    /// An interval that there is not, holds nothing.
    fn add(&mut self, interval: Option<Interval>, truth: f64) {
        if let Some(interval) = interval {
            self.held += u32::from(interval.contains(truth));
            self.widths += interval.width();
        }
    }

    fn cell(&self) -> String {
        let repetitions = f64::from(REPETITIONS);
        let held = 100.0 * f64::from(self.held) / repetitions;
        format!(" {held:.1} %, {:.3} |", self.widths / repetitions)
    }
}

/// A row of a table: `intervals` of what `study` draws, against the truth.
fn row<const METHODS: usize>(
    design: &Design,
    truth: f64,
    mut study: impl FnMut(&mut Stream) -> Clustered,
    intervals: impl Fn(&Clustered, &mut Stream) -> [Option<Interval>; METHODS],
) {
    let start = design.start_of_row();
    let mut stream = Stream::named(1, &start);
    let mut tallies: [Tally; METHODS] = std::array::from_fn(|_| Tally::default());
    for _ in 0..REPETITIONS {
        let sample = study(&mut stream);
        let found = intervals(&sample, &mut stream);
        for (tally, interval) in tallies.iter_mut().zip(found) {
            tally.add(interval, truth);
        }
    }
    let cells: String = tallies.iter().map(Tally::cell).collect();
    println!("{start}{cells}");
}

fn head(title: &str, methods: &[&str]) {
    let columns: String = methods
        .iter()
        .map(|method| format!(" {method} |"))
        .collect();
    let ruler = " --- |".repeat(methods.len());
    println!("\n{title}\n\n| scenarios x seeds | rate | icc |{columns}");
    println!("| --- | --- | --- |{ruler}");
}

fn pooled(sample: &Clustered) -> Option<Interval> {
    let mut happened = 0;
    for value in sample.values() {
        happened += u64::from(*value > 0.5);
    }
    clopper_pearson(happened, sample.n(), LEVEL)
}

fn ends(estimate: Option<Estimate>) -> Option<Interval> {
    estimate.and_then(|estimate| estimate.interval)
}

/// The methods of the two tables of proportions.
fn of_proportion(sample: &Clustered, stream: &mut Stream) -> [Option<Interval>; 5] {
    let (these, like) = (Question::TheseScenarios, Question::ScenariosLikeThese);
    [
        pooled(sample),
        ends(proportion(sample, these, LEVEL)),
        ends(RESAMPLES.proportion(sample, these, stream)),
        ends(proportion(sample, like, LEVEL)),
        ends(RESAMPLES.proportion(sample, like, stream)),
    ]
}

/// The methods of the two tables of differences.
fn of_difference(sample: &Clustered, stream: &mut Stream) -> [Option<Interval>; 4] {
    [
        ends(stratified(sample, LEVEL)),
        ends(RESAMPLES.pairs(sample.values(), stream)),
        ends(cluster_t(sample, LEVEL)),
        ends(RESAMPLES.clusters(sample, stream)),
    ]
}

const OF_PROPORTION: &[&str] = &[
    "Clopper-Pearson over rollouts",
    "stratified",
    "row bootstrap",
    "cluster-robust t",
    "cluster bootstrap",
];
const OF_DIFFERENCE: &[&str] = &[
    "stratified",
    "pair bootstrap",
    "cluster-robust t",
    "cluster bootstrap",
];

fn main() {
    head("Proportions, scenarios like these:", OF_PROPORTION);
    for design in PROPORTIONS {
        let study = |stream: &mut Stream| design.new_rollouts(stream);
        row(design, design.rate, study, of_proportion);
    }
    head("Proportions, exactly these scenarios:", OF_PROPORTION);
    for design in PROPORTIONS {
        let chances = design.chances();
        let truth = statistics::mean(&chances).expect("there are scenarios");
        let study = |stream: &mut Stream| design.rollouts(&chances, stream);
        row(design, truth, study, of_proportion);
    }
    head("Paired differences, scenarios like these:", OF_DIFFERENCE);
    for design in DIFFERENCES {
        let study = |stream: &mut Stream| {
            let effects = design.effects(stream);
            design.differences(&effects, stream)
        };
        row(design, design.rate, study, of_difference);
    }
    head(
        "Paired differences, exactly these scenarios:",
        OF_DIFFERENCE,
    );
    for design in DIFFERENCES {
        let effects = design.effects(&mut Stream::named(2, "fixed effects"));
        let truth = statistics::mean(&effects).expect("there are scenarios");
        let study = |stream: &mut Stream| design.differences(&effects, stream);
        row(design, truth, study, of_difference);
    }
}
