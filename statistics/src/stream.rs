//! Draws by name.

use rand_core::Rng as _;
use rand_pcg::Pcg64;
use xxhash_rust::xxh3::{xxh3_128, xxh3_128_with_seed};

/// A sequence of draws that depends on a seed and a name only, so that every cell of a report draws
/// the same whatever else is computed, and in which order.
#[derive(Clone, Debug)]
pub struct Stream(Pcg64);

impl Stream {
    /// The stream called `name` of a study's seed. State and stream of the generator are hashed
    /// from both.
    #[must_use]
    pub fn named(seed: u64, name: &str) -> Self {
        let mut key = seed.to_le_bytes().to_vec();
        key.extend_from_slice(name.as_bytes());
        Self(Pcg64::new(xxh3_128(&key), xxh3_128_with_seed(&key, 1)))
    }

    /// 64 random bits.
    pub fn word(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number from 0 up to but without `bound`, every one as likely as every other; 0 if `bound`
    /// is 0. (Lemire, "Fast random integer generation in an interval", 2019.)
    pub fn below(&mut self, bound: u32) -> u32 {
        loop {
            if let Some(number) = scaled(high_half(self.word()), bound) {
                return number;
            }
        }
    }

    /// Two numbers like those of [`Stream::below`], from one word as a rule.
    pub(crate) fn two_below(&mut self, bound: u32) -> [u32; 2] {
        let word = self.word();
        let first = scaled(high_half(word), bound);
        let second = scaled(low_half(word), bound);
        [
            first.unwrap_or_else(|| self.below(bound)),
            second.unwrap_or_else(|| self.below(bound)),
        ]
    }

    /// A number from 0 up to but without 1, in steps of 2^-53.
    pub fn unit(&mut self) -> f64 {
        crate::number::real(self.word() >> 11) / crate::number::real(1 << 53)
    }
}

/// `bits` scaled down to below `bound`; none for the few `bits` that would make some numbers more
/// likely than others.
fn scaled(bits: u32, bound: u32) -> Option<u32> {
    let product = u64::from(bits) * u64::from(bound);
    let rest = low_half(product);
    // `bound` is above the remainder, which takes a division: most draws do without.
    if rest < bound && rest < bound.wrapping_neg() % bound {
        return None;
    }
    Some(high_half(product))
}

fn high_half(word: u64) -> u32 {
    (word >> 32) as u32
}

#[expect(clippy::cast_possible_truncation, reason = "the low half is asked for")]
fn low_half(word: u64) -> u32 {
    word as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_its_seed_and_its_name() {
        let words = |seed, name| {
            let mut stream = Stream::named(seed, name);
            [stream.word(), stream.word()]
        };
        assert_eq!(words(1, "a"), words(1, "a"));
        assert_ne!(words(1, "a"), words(2, "a"));
        assert_ne!(words(1, "a"), words(1, "b"));
    }

    #[test]
    fn the_first_words_are_those_of_ever() {
        let mut stream = Stream::named(7, "cell");
        assert_eq!(
            [stream.word(), stream.word()],
            [5_586_871_496_290_437_333, 17_273_677_639_803_671_744]
        );
    }

    #[test]
    fn every_number_below_a_bound_is_as_likely() {
        let mut stream = Stream::named(1, "below");
        for bound in [1_u32, 2, 3, 7, 10] {
            let mut seen = vec![0_u32; bound as usize];
            for _ in 0..5_000 {
                for number in stream.two_below(bound) {
                    seen[number as usize] += 1;
                }
                seen[stream.below(bound) as usize] += 1;
            }
            let expected = 15_000.0 / f64::from(bound);
            // Five standard deviations of a count.
            let slack = 5.0 * expected.sqrt();
            assert!(
                seen.iter()
                    .all(|count| (f64::from(*count) - expected).abs() < slack),
                "{bound}: {seen:?}"
            );
        }
        assert_eq!(stream.below(0), 0);
    }

    #[test]
    fn bits_that_favour_a_number_are_refused() {
        // 2^32 = 3 * 1431655765 + 1: of all bits exactly one is refused.
        assert_eq!(scaled(0, 3), None);
        assert_eq!(scaled(1, 3), Some(0));
        assert_eq!(scaled(u32::MAX, 3), Some(2));
        assert_eq!(scaled(0, 4), Some(0));
        // With this bound a quarter of all bits is refused: 2^32 mod bound = 2^30.
        let bound = 3 << 30;
        let refused = (0..3_000_u32)
            .filter(|step| scaled(step * 1_431_655, bound).is_none())
            .count();
        assert!((650..850).contains(&refused), "{refused}");
    }

    #[test]
    fn units_fill_the_range_from_zero_to_one() {
        let mut stream = Stream::named(1, "unit");
        let units: Vec<f64> = (0..10_000).map(|_| stream.unit()).collect();
        assert!(units.iter().all(|unit| (0.0..1.0).contains(unit)));
        let mean = units.iter().sum::<f64>() / 10_000.0;
        assert!((mean - 0.5).abs() < 0.015, "{mean}");
    }
}
