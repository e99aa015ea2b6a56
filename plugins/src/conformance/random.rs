//! Inputs from a seed, the same on every machine.

use rand_core::Rng as _;
use rand_pcg::Pcg64;

/// A stream of choices.
#[derive(Clone, Debug)]
pub struct Random(Pcg64);

impl Random {
    /// The stream of `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(Pcg64::new(u128::from(seed), 0))
    }

    /// A number below `bound`; 0 if `bound` is 0.
    #[expect(
        clippy::missing_panics_doc,
        reason = "the high half of a 64-bit product is a u32"
    )]
    pub fn below(&mut self, bound: u32) -> u32 {
        let wide = (self.0.next_u64() >> 32) * u64::from(bound);
        u32::try_from(wide >> 32).expect("the high half of a 64-bit product")
    }

    /// A position in a column of `len` rows; 0 if there is none.
    pub fn index(&mut self, len: usize) -> usize {
        self.below(u32::try_from(len).unwrap_or(u32::MAX)) as usize
    }

    /// Whether an event of one chance in `odds` happens.
    pub fn one_in(&mut self, odds: u32) -> bool {
        self.below(odds) == 0
    }

    /// One of `items`; none if there is none.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.index(items.len()))
    }

    /// Every item with a chance of one in `odds`.
    pub fn some_of<T: Clone>(&mut self, items: &[T], odds: u32) -> Vec<T> {
        items
            .iter()
            .filter(|_| self.one_in(odds))
            .cloned()
            .collect()
    }
}
