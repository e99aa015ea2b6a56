//! The distribution functions that intervals are read from, and their inverses.
//!
//! The regularised incomplete beta function is written out here because the usual ways to compute
//! it lose digits as counts grow: logarithms of factorials of 100,000 leave ten digits, and
//! continued fractions that stop after a fixed number of steps leave none near the middle. Inverses
//! are found by bisection, which needs nothing but a function that never falls.

use statrs::function::erf::erfc_inv;
use statrs::function::gamma::ln_gamma;

/// How many halvings an inverse takes at most. Between 0 and 1 some 60 reach neighbouring numbers
/// near the middle and 110 reach 1e-16 of a number as small as 1e-16.
const HALVINGS: u32 = 200;

/// From here on the series of Stirling's error is exact to 16 digits.
const SERIES_FROM: f64 = 15.0;

/// How many steps the continued fraction takes at most. It needs some multiple of the root of the
/// larger parameter, which is 30,000 for a thousand million rollouts.
const FRACTION_STEPS: u32 = 500_000;

/// The z with `probability` of the standard normal distribution above it. `probability` is between
/// 0 and 1.
pub(crate) fn normal_upper_quantile(probability: f64) -> f64 {
    std::f64::consts::SQRT_2 * erfc_inv(2.0 * probability)
}

/// The t with `probability` of Student's distribution above it; `probability` is above 0 and at most
/// 1/2, `degrees` of freedom are above 0 and need not be whole.
pub(crate) fn student_upper_quantile(probability: f64, degrees: f64) -> f64 {
    let mut above = 1.0;
    while student_upper_tail(above, degrees) > probability && above < f64::MAX / 4.0 {
        above *= 2.0;
    }
    first_where(0.0, above, |t| {
        student_upper_tail(t, degrees) <= probability
    })
}

/// The probability of Student's distribution above `t`, which is not negative.
fn student_upper_tail(t: f64, degrees: f64) -> f64 {
    let square = t * t;
    let inside = degrees / (degrees + square);
    let outside = square / (degrees + square);
    beta_lower(degrees / 2.0, 0.5, inside, outside) / 2.0
}

/// The x in [0, 1] with `probability` of the beta distribution of `a` and `b` below it, to the
/// nearest numbers that there are.
pub(crate) fn beta_quantile(a: f64, b: f64, probability: f64) -> f64 {
    first_where(0.0, 1.0, |x| beta_lower(a, b, x, 1.0 - x) >= probability)
}

/// The probability of at most `successes` in `trials` that succeed with `chance` each.
pub(crate) fn binomial_lower(successes: f64, trials: f64, chance: f64) -> f64 {
    if successes >= trials {
        return 1.0;
    }
    beta_lower(trials - successes, successes + 1.0, 1.0 - chance, chance)
}

/// The smallest number between `low` and `high` where `holds`, which stays true once it is.
fn first_where(low: f64, high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (low, high);
    for _ in 0..HALVINGS {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            break;
        }
        if holds(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    low + (high - low) / 2.0
}

/// The regularised incomplete beta function of `a` and `b` up to `x`, for `a` and `b` above 0. `rest` is 1 - x,
/// which the caller may know better than the difference would tell.
fn beta_lower(a: f64, b: f64, x: f64, rest: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if rest <= 0.0 {
        return 1.0;
    }
    // The fraction converges fast on this side of the mean, and on the other one for 1 - x.
    if x < (a + 1.0) / (a + b + 2.0) {
        beta_by_fraction(a, b, x, rest)
    } else {
        1.0 - beta_by_fraction(b, a, rest, x)
    }
}

/// [`beta_lower`] by its continued fraction (DLMF 8.17.22), evaluated by the method of Lentz.
fn beta_by_fraction(a: f64, b: f64, x: f64, rest: f64) -> f64 {
    const TINY: f64 = 1e-290;
    let away_from_zero = |number: f64| if number.abs() < TINY { TINY } else { number };
    let mut numerator = 1.0;
    let mut denominator = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = denominator;
    for step in 1..=FRACTION_STEPS {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for coefficient in [even, odd] {
            denominator = 1.0 / away_from_zero(1.0 + coefficient * denominator);
            numerator = away_from_zero(1.0 + coefficient / numerator);
            change = numerator * denominator;
            fraction *= change;
        }
        if (change - 1.0).abs() <= f64::EPSILON {
            break;
        }
    }
    // x^a (1-x)^b / (a B(a, b)), as a binomial density.
    fraction * binomial_density(a, b, x, rest) * b / (a + b)
}

/// The density of `a` successes and `b` failures at chance `x`, with factorials as gamma functions,
/// by Loader's saddle-point expansion ("Fast and accurate computation of binomial probabilities",
/// 2000): nothing large is subtracted from anything large.
fn binomial_density(a: f64, b: f64, x: f64, rest: f64) -> f64 {
    let n = a + b;
    let exponent = stirling_error(n)
        - stirling_error(a)
        - stirling_error(b)
        - deviance(a, n * x)
        - deviance(b, n * rest);
    (n / (std::f64::consts::TAU * a * b)).sqrt() * exponent.exp()
}

/// What Stirling's formula leaves of the logarithm of `z`!.
fn stirling_error(z: f64) -> f64 {
    if z < SERIES_FROM {
        return stirling_error_of_small(z);
    }
    let square = z * z;
    let fifth = (1.0 / 1680.0 - 1.0 / (1188.0 * square)) / square;
    (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0 - fifth) / square) / square) / z
}

fn stirling_error_of_small(z: f64) -> f64 {
    ln_gamma(z + 1.0) - (z + 0.5) * z.ln() + z - std::f64::consts::TAU.ln() / 2.0
}

/// x ln(x / m) + m - x, also where x and m are nearly equal.
fn deviance(x: f64, m: f64) -> f64 {
    if (x - m).abs() >= 0.1 * (x + m) {
        return x * (x / m).ln() + m - x;
    }
    let ratio = (x - m) / (x + m);
    let mut total = (x - m) * ratio;
    let mut power = 2.0 * x * ratio;
    for step in 1..1_000 {
        power *= ratio * ratio;
        let term = power / f64::from(2 * step + 1);
        total += term;
        if term.abs() <= f64::EPSILON * total.abs() {
            break;
        }
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::assert_close;

    #[test]
    fn the_beta_function_has_its_closed_forms() {
        for x in [1e-9, 0.01, 0.3, 0.5, 0.77, 0.999] {
            assert_close(beta_lower(1.0, 1.0, x, 1.0 - x), x, 1e-14);
            assert_close(beta_lower(3.0, 1.0, x, 1.0 - x), x * x * x, 1e-14);
            assert_close(beta_lower(1.0, 2.0, x, 1.0 - x), x * (2.0 - x), 1e-14);
        }
        for half in [0.5, 7.0, 1e3, 1e6, 1e9] {
            assert_close(beta_lower(half, half, 0.5, 0.5), 0.5, 1e-11);
        }
    }

    #[test]
    fn the_ends_of_the_beta_function_are_its_ends() {
        assert!(beta_lower(2.0, 3.0, 0.0, 1.0) <= 0.0);
        assert!(beta_lower(2.0, 3.0, 1.0, 0.0) >= 1.0);
    }

    #[test]
    fn the_two_forms_of_an_error_agree_where_they_meet() {
        for z in [SERIES_FROM, 17.5, 21.0] {
            assert_close(stirling_error(z), stirling_error_of_small(z), 1e-13);
        }
        // Below a gap of a tenth the series is used; just below, the logarithm is good too.
        for (x, m) in [(50.0_f64, 60.9), (60.9, 50.0), (1e3, 1.1e3)] {
            assert_close(deviance(x, m), x * (x / m).ln() + m - x, 1e-12);
        }
    }

    #[test]
    fn student_with_one_degree_is_cauchy() {
        for probability in [0.4, 0.1, 0.025, 1e-6] {
            let t = student_upper_quantile(probability, 1.0);
            let cauchy = 1.0 / (std::f64::consts::PI * probability).tan();
            assert_close(t, cauchy, 1e-12);
        }
    }

    #[test]
    fn student_with_many_degrees_is_normal() {
        let t = student_upper_quantile(0.025, 1e9);
        assert_close(t, normal_upper_quantile(0.025), 1e-8);
    }

    #[test]
    fn binomial_sums_are_those_of_their_terms() {
        assert_close(binomial_lower(2.0, 4.0, 0.5), 11.0 / 16.0, 1e-14);
        assert_close(binomial_lower(0.0, 10.0, 0.1), 0.9_f64.powi(10), 1e-14);
        assert_close(binomial_lower(4.0, 4.0, 0.5), 1.0, 1e-15);
    }
}
