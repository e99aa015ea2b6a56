//! Percentile bootstrap: of pairs, and of clusters (6.5).

use crate::clustered::Clustered;
use crate::estimate::{Estimate, Interval, Method, Question};
use crate::mean::mean;
use crate::number::{all_zero, count, is_level, real};
use crate::proportion::{at_an_end, is_indicator};
use crate::quantile::{at_rank, quantile_of_sorted};
use crate::stream::Stream;

/// Intervals of a mean from means of samples drawn with replacement (Efron, "Bootstrap methods",
/// 1979).
///
/// An interval goes between two percentiles of the resampled means, which are quantiles of type 7.
/// Where every value is exactly 0 it is [0, 0], marked [`Method::IdenticalPairs`]; where the units
/// do not differ otherwise, or there is one only, there is none. For a proportion use
/// [`Bootstrap::proportion`]: where it is 0 or 1 no resample can differ, which is no certainty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bootstrap {
    /// How many samples are drawn.
    pub resamples: u32,
    /// The level of the interval, between 0 and 1.
    pub level: f64,
}

impl Default for Bootstrap {
    fn default() -> Self {
        Self {
            resamples: 10_000,
            level: 0.95,
        }
    }
}

impl Bootstrap {
    /// The mean of all values, for scenarios like these: clusters are drawn with replacement, and
    /// all values of a drawn cluster are kept. Of clusters of unequal size the mean of a resample is
    /// the sum of its sums over the sum of its sizes. None if there is no value, one is no finite
    /// number, no resamples are asked for, or the level is none.
    #[must_use]
    pub fn clusters(&self, sample: &Clustered, stream: &mut Stream) -> Option<Estimate> {
        let value = Estimate::value_only(
            sample.mean()?,
            Question::ScenariosLikeThese,
            sample.n(),
            sample.cluster_count(),
        );
        if all_zero(sample.values()) {
            return is_level(self.level).then(|| value.identical(self.level));
        }
        let units = Units::of(sample);
        self.percentiles(value, &units, Method::ClusterBootstrap, stream)
    }

    /// The mean of `values`, for exactly these scenarios: every value is drawn by itself. None as
    /// for [`Bootstrap::clusters`].
    ///
    /// Drawing across scenarios adds their differences to the spread, so the interval is wider
    /// than these scenarios need; [`stratified`](crate::stratified) leaves the differences out.
    #[must_use]
    pub fn pairs(&self, values: &[f64], stream: &mut Stream) -> Option<Estimate> {
        let n = count(values);
        let value = Estimate::value_only(mean(values)?, Question::TheseScenarios, n, n);
        if all_zero(values) {
            return is_level(self.level).then(|| value.identical(self.level));
        }
        let units = Units::Even {
            values: values.to_vec(),
            draws: real(n),
        };
        self.percentiles(value, &units, Method::PairBootstrap, stream)
    }

    /// A proportion of rows, each 0 or 1, by [`Bootstrap::clusters`] or [`Bootstrap::pairs`]
    /// according to `question`; where it is 0 or 1, by Clopper-Pearson over clusters or over rows.
    /// None as for these, and if a value is neither 0 nor 1.
    #[must_use]
    pub fn proportion(
        &self,
        sample: &Clustered,
        question: Question,
        stream: &mut Stream,
    ) -> Option<Estimate> {
        if !sample.values().iter().all(|value| is_indicator(*value)) {
            return None;
        }
        if let Some(exact) = at_an_end(sample, question, self.level) {
            return Some(exact);
        }
        match question {
            Question::ScenariosLikeThese => self.clusters(sample, stream),
            Question::TheseScenarios => {
                let estimate = self.pairs(sample.values(), stream)?;
                Some(Estimate {
                    clusters: sample.cluster_count(),
                    ..estimate
                })
            }
        }
    }

    /// `value` with the interval of means of resamples of `units`.
    fn percentiles(
        &self,
        value: Estimate,
        units: &Units,
        method: Method,
        stream: &mut Stream,
    ) -> Option<Estimate> {
        if !is_level(self.level) || self.resamples == 0 {
            return None;
        }
        if units.len() < 2 {
            return Some(value);
        }
        let mut means = units.resampled_means(self.resamples, stream)?;
        means.sort_unstable_by(f64::total_cmp);
        let tail = (1.0 - self.level) / 2.0;
        let interval = Interval {
            low: quantile_of_sorted(&means, tail)?,
            high: quantile_of_sorted(&means, 1.0 - tail)?,
            level: self.level,
        };
        let found = value.with(interval, method);
        let error = end_error(&means, tail)?.max(end_error(&means, 1.0 - tail)?);
        Some(Estimate {
            monte_carlo_error: found.interval.map(|_| error),
            ..found
        })
    }
}

/// The standard error of the quantile of `sorted` at `probability`, from its finitely many draws.
///
/// Of m draws the number below the true quantile p is binomial with standard deviation
/// sqrt(m p (1 - p)). So the order statistics that many ranks below and above are one standard error
/// to each side, and half their distance is the answer (Woodruff, "Confidence intervals for medians
/// and other position measures", 1952).
fn end_error(sorted: &[f64], probability: f64) -> Option<f64> {
    let m = real(count(sorted));
    let centre = probability * (m - 1.0);
    let deviation = (m * probability * (1.0 - probability)).sqrt();
    let low = at_rank(sorted, centre - deviation)?;
    let high = at_rank(sorted, centre + deviation)?;
    Some((high - low) / 2.0)
}

/// What is drawn.
enum Units {
    /// Units of equal size, so that a mean is a sum over a constant.
    Even {
        /// The sum of each unit.
        values: Vec<f64>,
        /// The number of values in a resample.
        draws: f64,
    },
    /// The sum and the size of each unit.
    Uneven(Vec<(f64, f64)>),
}

impl Units {
    fn of(sample: &Clustered) -> Self {
        let mut lengths = sample.clusters().map(<[f64]>::len);
        let first = lengths.next();
        if lengths.all(|length| Some(length) == first) {
            return Self::Even {
                values: sample.totals().into_iter().map(|(sum, _)| sum).collect(),
                draws: real(sample.n()),
            };
        }
        Self::Uneven(sample.totals())
    }

    fn len(&self) -> usize {
        match self {
            Self::Even { values, .. } => values.len(),
            Self::Uneven(totals) => totals.len(),
        }
    }

    /// The means of resamples, in the order drawn. None if there are more than 2^32 units.
    fn resampled_means(&self, resamples: u32, stream: &mut Stream) -> Option<Vec<f64>> {
        let units = u32::try_from(self.len()).ok()?;
        let means = (0..resamples).map(|_| match self {
            Self::Even { values, draws } => {
                let mut sum = 0.0;
                draw_each(units, stream, |place| sum += values[place]);
                sum / draws
            }
            Self::Uneven(totals) => {
                let (mut sum, mut size) = (0.0, 0.0);
                draw_each(units, stream, |place| {
                    sum += totals[place].0;
                    size += totals[place].1;
                });
                sum / size
            }
        });
        Some(means.collect())
    }
}

/// Draws as many places below `units` as there are units.
fn draw_each(units: u32, stream: &mut Stream, mut take: impl FnMut(usize)) {
    for _ in 0..units / 2 {
        let [first, second] = stream.two_below(units);
        take(first as usize);
        take(second as usize);
    }
    if units % 2 == 1 {
        take(stream.below(units) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{assert_close, sample};

    fn stream() -> Stream {
        Stream::named(3, "test")
    }

    /// Clusters of `size` values whose means differ, and which have spread within.
    fn varied(clusters: u32, size: u32) -> Clustered {
        Clustered::of_rows((0..clusters * size).map(|row| {
            let cluster = row % clusters;
            (
                cluster,
                f64::from(cluster % 7) + f64::from(row / clusters % 2),
            )
        }))
    }

    #[test]
    fn the_same_stream_gives_the_same_bytes() {
        let rows = varied(13, 4);
        let bits = |stream: &mut Stream| {
            let found = Bootstrap::default().clusters(&rows, stream).unwrap();
            let interval = found.interval.unwrap();
            [
                interval.low,
                interval.high,
                found.monte_carlo_error.unwrap(),
            ]
            .map(f64::to_bits)
        };
        assert_eq!(bits(&mut stream()), bits(&mut stream()));
        assert_ne!(bits(&mut stream()), bits(&mut Stream::named(3, "other")));
    }

    #[test]
    fn an_interval_of_many_pairs_is_the_normal_one() {
        let rows = varied(400, 2);
        let found = Bootstrap::default()
            .pairs(rows.values(), &mut stream())
            .unwrap();
        assert_eq!(found.method, Method::PairBootstrap);
        let centre = rows.mean().unwrap();
        let squares: f64 = rows.values().iter().map(|v| (v - centre).powi(2)).sum();
        let half = 1.96 * squares.sqrt() / 800.0;
        let interval = found.interval.unwrap();
        let slack = 4.0 * found.monte_carlo_error.unwrap();
        assert!((interval.low - (centre - half)).abs() < slack + 0.002);
        assert!((interval.high - (centre + half)).abs() < slack + 0.002);
    }

    #[test]
    fn whole_clusters_are_drawn() {
        // Within a cluster all values are the same, so the rows tell no more than the means.
        let rows = Clustered::of_rows((0..40).map(|row| (row / 4, f64::from(row / 4 % 5))));
        let means: Vec<f64> = rows.clusters().map(|cluster| cluster[0]).collect();
        let of_rows = Bootstrap::default().clusters(&rows, &mut stream()).unwrap();
        let of_means = Bootstrap::default().pairs(&means, &mut stream()).unwrap();
        assert_close(
            of_rows.interval.unwrap().low,
            of_means.interval.unwrap().low,
            1e-12,
        );
        assert_close(
            of_rows.interval.unwrap().high,
            of_means.interval.unwrap().high,
            1e-12,
        );
        assert_eq!(of_rows.question, Question::ScenariosLikeThese);
        assert_eq!(of_means.question, Question::TheseScenarios);
    }

    #[test]
    fn intervals_of_the_paper_are_found_again() {
        // Table 25, authorized completion of Tool-boundary against Intent-ledger v2: of 120 scenarios
        // with 5 seeds, 8 lose all five. [-0.1167, -0.0250].
        let lost = |row: u32| if row / 5 < 8 { -1.0 } else { 0.0 };
        let rows = Clustered::of_rows((0..600).map(|row| (row / 5, lost(row))));
        let found = Bootstrap::default().clusters(&rows, &mut stream()).unwrap();
        assert_close(found.interval.unwrap().low, -14.0 / 120.0, 1e-12);
        assert_close(found.interval.unwrap().high, -3.0 / 120.0, 1e-12);
        // None against Tool-boundary: 367 of 2520 pairs. [-0.1599, -0.1321].
        let harmed: Vec<f64> = (0..2520)
            .map(|row| if row < 367 { -1.0 } else { 0.0 })
            .collect();
        let found = Bootstrap::default().pairs(&harmed, &mut stream()).unwrap();
        assert_close(found.value, -0.1456, 0.00005);
        assert_close(found.interval.unwrap().low, -0.1599, 0.001);
        assert_close(found.interval.unwrap().high, -0.1321, 0.001);
    }

    #[test]
    fn of_unequal_clusters_the_sums_are_divided() {
        // The large cluster is drawn twice, once or not at all; a resample of both has the mean of
        // all rows.
        let rows = sample(&[&[1.0; 9], &[0.0]]);
        let found = Bootstrap::default().clusters(&rows, &mut stream()).unwrap();
        assert_close(found.value, 0.9, 1e-15);
        let units = Units::of(&rows);
        let means = units.resampled_means(1_000, &mut stream()).unwrap();
        for allowed in means.iter().map(|mean| mean * 10.0) {
            let near = [0.0, 9.0, 10.0].map(|wanted| (allowed - wanted).abs() < 1e-12);
            assert!(near.contains(&true), "{allowed}");
        }
    }

    #[test]
    fn pairs_without_a_difference_are_identical() {
        let rows = sample(&[&[0.0, 0.0], &[0.0]]);
        let bootstrap = Bootstrap::default();
        let by_cluster = bootstrap.clusters(&rows, &mut stream()).unwrap();
        let by_pair = bootstrap.pairs(rows.values(), &mut stream()).unwrap();
        for found in [by_cluster, by_pair] {
            assert_eq!(found.method, Method::IdenticalPairs);
            assert_eq!(found.monte_carlo_error, None);
            let interval = found.interval.unwrap();
            assert!(interval.crosses_zero() && interval.width() <= 0.0);
        }
    }

    #[test]
    fn without_spread_there_is_no_interval() {
        let bootstrap = Bootstrap::default();
        for rows in [
            sample(&[&[1.0, 0.0]]),
            sample(&[&[0.1; 3], &[0.1; 2], &[0.1; 7]]),
        ] {
            let found = bootstrap.clusters(&rows, &mut stream()).unwrap();
            assert_eq!((found.interval, found.method), (None, Method::None));
            assert_eq!(found.monte_carlo_error, None);
        }
    }

    #[test]
    fn what_cannot_be_drawn_is_not() {
        let rows = varied(5, 2);
        let of = |resamples, level| {
            let bootstrap = Bootstrap { resamples, level };
            bootstrap.clusters(&rows, &mut stream())
        };
        assert_eq!(of(0, 0.95), None);
        assert_eq!(of(100, 1.0), None);
        assert_eq!(of(100, f64::NAN), None);
        assert!(of(1, 0.95).is_some());
        let bad = [1.0, f64::INFINITY];
        assert_eq!(Bootstrap::default().pairs(&bad, &mut stream()), None);
        assert_eq!(Bootstrap::default().pairs(&[], &mut stream()), None);
    }

    #[test]
    fn the_monte_carlo_error_is_the_spread_between_streams() {
        let rows = varied(60, 3);
        let bootstrap = Bootstrap {
            resamples: 2_000,
            level: 0.95,
        };
        let (mut lows, mut highs, mut told) = (Vec::new(), Vec::new(), Vec::new());
        for run in 0..200 {
            let mut stream = Stream::named(run, "spread");
            let found = bootstrap.clusters(&rows, &mut stream).unwrap();
            lows.push(found.interval.unwrap().low);
            highs.push(found.interval.unwrap().high);
            told.push(found.monte_carlo_error.unwrap());
        }
        let spread = |ends: &[f64]| {
            let centre = mean(ends).unwrap();
            let squares: f64 = ends.iter().map(|end| (end - centre).powi(2)).sum();
            (squares / 200.0).sqrt()
        };
        let (told, seen) = (mean(&told).unwrap(), spread(&lows).max(spread(&highs)));
        // The larger of two noisy errors is a little above either.
        assert!(
            (0.9..1.4).contains(&(told / seen)),
            "told {told}, seen {seen}"
        );
    }
}
