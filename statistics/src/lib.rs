//! Estimates with intervals, tests and bounds, for rollouts that are grouped by scenario.
//!
//! Rollouts of one scenario are alike, so what an interval means depends on what is asked: about
//! exactly these scenarios, where only seeds are a sample, or about scenarios like these, where the
//! scenarios are one too. Every [`Estimate`] says which [`Question`] it answers, by which
//! [`Method`], and of how many values in how many clusters. `docs/statistics.md` says which method is
//! for what, and how often each holds.
//!
//! Sums run in the order given, and draws come from a [`Stream`] by name: the same values give the
//! same bytes. Nothing here panics on what it is given; what cannot be estimated is `None`.
//!
//! ```
//! use statistics::{Bootstrap, Clustered, Stream};
//!
//! // A difference for each scenario and seed.
//! let rows = [("crm", 1.0), ("crm", 0.0), ("mail", 1.0), ("mail", 1.0), ("desk", 0.0)];
//! let sample = Clustered::of_rows(rows);
//! let mut stream = Stream::named(7, "none/tool_boundary/committed_harm");
//! let estimate = Bootstrap::default().clusters(&sample, &mut stream).unwrap();
//! assert_eq!((estimate.n, estimate.clusters), (5, 3));
//! assert!(estimate.interval.unwrap().contains(estimate.value));
//! assert!(estimate.has_few_clusters());
//! ```

mod binomial;
mod bootstrap;
mod clustered;
mod clustered_mean;
mod design;
mod estimate;
mod mcnemar;
mod mean;
mod multiple;
mod number;
mod pairs;
mod proportion;
mod quantile;
mod seeds;
mod sign_flip;
mod special;
mod stream;
mod zero;

#[cfg(test)]
mod tests;

pub use binomial::{clopper_pearson, newcombe, wilson};
pub use bootstrap::Bootstrap;
pub use clustered::Clustered;
pub use clustered_mean::{cluster_t, stratified};
pub use design::{DesignEffect, design_effect, intraclass_correlation};
pub use estimate::{Estimate, FEW_CLUSTERS, Interval, Method, Question};
pub use mcnemar::{McNemar, mcnemar_exact, mcnemar_of_pairs};
pub use mean::{ApplicableMean, applicable_mean, mean};
pub use multiple::{benjamini_hochberg, holm};
pub use pairs::{Better, WinRate, paired_differences, win_rate};
pub use proportion::proportion;
pub use quantile::quantile;
pub use seeds::{SeedVariance, seed_variance};
pub use sign_flip::{SignFlip, sign_flip};
pub use stream::Stream;
pub use zero::{ZeroBounds, exact_zero_bound, rule_of_three, zero_events};
