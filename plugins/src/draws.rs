//! Keyed draws: randomness that depends on *what* is drawn and never on *when*.
//!
//! There is no sequential generator. A draw is the first output of a PCG stream whose state and
//! stream are hashed from the study seed, the scenario's identity, the rollout seed, the episode,
//! the entity, the semantic event key (`docs/SEMANTICS.md`, section 1) and the name of the draw.
//! The content hash, the policy, the model and the attacker are not part of it, so changing a
//! ledger or a slot changes no draw, and policies share random numbers where they share history.

use rand_core::Rng as _;
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed, xxh3_128, xxh3_128_with_seed};

use crate::value::Text;

/// A probability as an exact ratio of integers; written as a decimal of at most six digits.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Chance {
    millionths: u32,
}

/// A decimal that is no probability.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a probability: write a decimal between 0 and 1 with at most six digits, for example 0.25"
)]
pub struct ChanceError(pub String);

impl Chance {
    /// The denominator of every chance.
    pub const DENOMINATOR: u32 = 1_000_000;
    /// Never.
    pub const NEVER: Self = Self { millionths: 0 };
    /// Always.
    pub const ALWAYS: Self = Self {
        millionths: Self::DENOMINATOR,
    };

    /// A chance of `millionths` in a million; more than a million is always.
    #[must_use]
    pub const fn from_millionths(millionths: u32) -> Self {
        if millionths > Self::DENOMINATOR {
            Self::ALWAYS
        } else {
            Self { millionths }
        }
    }

    /// That it does not happen.
    #[must_use]
    pub const fn complement(self) -> Self {
        Self {
            millionths: Self::DENOMINATOR - self.millionths,
        }
    }

    /// That it happens so many times in a row, rounded down to millionths each time.
    #[must_use]
    pub fn to_the(self, times: u32) -> Self {
        let mut product = u64::from(Self::DENOMINATOR);
        for _ in 0..times {
            if product == 0 || self == Self::ALWAYS {
                break;
            }
            product = product * u64::from(self.millionths) / u64::from(Self::DENOMINATOR);
        }
        Self::from_millionths(u32::try_from(product).unwrap_or(Self::DENOMINATOR))
    }

    /// The numerator over [`Chance::DENOMINATOR`].
    #[must_use]
    pub const fn millionths(self) -> u32 {
        self.millionths
    }
}

impl std::str::FromStr for Chance {
    type Err = ChanceError;

    fn from_str(decimal: &str) -> Result<Self, ChanceError> {
        let wrong = || ChanceError(decimal.to_owned());
        let (whole, digits) = decimal.split_once('.').unwrap_or((decimal, ""));
        let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty()
            || whole.len() > 1
            || digits.len() > 6
            || !all_digits(whole)
            || !all_digits(digits)
        {
            return Err(wrong());
        }
        let whole: u32 = whole.parse().map_err(|_| wrong())?;
        let fraction: u32 = format!("{digits:0<6}").parse().map_err(|_| wrong())?;
        let millionths = whole * Self::DENOMINATOR + fraction;
        if millionths > Self::DENOMINATOR {
            Err(wrong())
        } else {
            Ok(Self { millionths })
        }
    }
}

/// The semantic key of an event: a hash of its role, its parent's key and its ordinal among its
/// siblings of the same role. Irrelevant events therefore change no other key.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct EventKey(u128);

impl EventKey {
    /// The key above all others.
    pub const ROOT: Self = Self(0);

    /// The key of the `ordinal`-th child of `self` with this role.
    #[must_use]
    pub fn child(self, role: u8, ordinal: u32) -> Self {
        let mut bytes = [0_u8; 21];
        bytes[..16].copy_from_slice(&self.0.to_le_bytes());
        bytes[16] = role;
        bytes[17..].copy_from_slice(&ordinal.to_le_bytes());
        Self(xxh3_128(&bytes))
    }
}

/// What all draws of one rollout have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RolloutKey {
    /// The seed of the study.
    pub study_seed: u64,
    /// Family and variant, or file name: never the content hash.
    pub scenario_identity: Text,
    /// The seed of the rollout.
    pub rollout_seed: u64,
    /// Where the rollout stands in its group, if the study stratifies latent variables.
    pub stratum: Option<Stratum>,
}

impl RolloutKey {
    /// The key of a rollout whose latent variables are independent of those of others.
    #[must_use]
    pub const fn new(study_seed: u64, scenario_identity: Text, rollout_seed: u64) -> Self {
        Self {
            study_seed,
            scenario_identity,
            rollout_seed,
            stratum: None,
        }
    }
}

/// Where a rollout stands in a group of `places` scenarios that are each run with `slices` seeds. A
/// latent variable has a position of its own for every place and slice, and within a slice the
/// positions are spread evenly (`docs/SEMANTICS.md`, section 1): a sliced Latin hypercube. Every
/// variable permutes both anew, by its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stratum {
    /// The group within which counts are balanced.
    pub group: Text,
    /// Which scenario of the group, from 0.
    pub place: u32,
    /// How many scenarios the group has.
    pub places: u32,
    /// Which seed, from 0.
    pub slice: u32,
    /// How many seeds there are.
    pub slices: u32,
}

/// A text that is no stratum.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no place in a group: write GROUP:PLACE/PLACES:SLICE/SLICES with each number below the \
         one after it, for example active_write:3/16:0/5"
)]
pub struct StratumError(pub String);

impl std::fmt::Display for Stratum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            group,
            place,
            places,
            slice,
            slices,
        } = self;
        write!(f, "{group}:{place}/{places}:{slice}/{slices}")
    }
}

impl std::str::FromStr for Stratum {
    type Err = StratumError;

    fn from_str(text: &str) -> Result<Self, StratumError> {
        let pair = |text: &str| -> Option<(u32, u32)> {
            let (index, count) = text.split_once('/')?;
            let (index, count) = (index.parse().ok()?, count.parse().ok()?);
            (index < count).then_some((index, count))
        };
        let parsed = || {
            let (rest, slice) = text.rsplit_once(':')?;
            let (group, place) = rest.rsplit_once(':')?;
            let (place, places) = pair(place)?;
            let (slice, slices) = pair(slice)?;
            let stratum = Self {
                group: group.into(),
                place,
                places,
                slice,
                slices,
            };
            let is_named = !group.is_empty() && !group.contains(char::is_control);
            (is_named && stratum.to_string() == text).then_some(stratum)
        };
        parsed().ok_or_else(|| StratumError(text.to_owned()))
    }
}

impl Stratum {
    /// Whether the latent variable `name` falls below `chance`: `(position + 1/2) / size < chance` in
    /// integers. So the count over the group meets `size x chance` to within one half, and the count
    /// within a slice meets `places x chance` to within one. An empty group falls below nothing.
    #[must_use]
    pub fn falls_below(&self, study_seed: u64, name: &str, chance: Chance) -> bool {
        self.is_below(self.position(study_seed, xxh3_64(name.as_bytes())), chance)
    }

    /// How many rollouts the group has.
    fn size(&self) -> u64 {
        u64::from(self.places) * u64::from(self.slices)
    }

    /// The position of a latent variable with this hash of its name, below the size of the group: its
    /// interval of one in `places`, and where it is within the interval. Over the slices every
    /// interval has each of its positions once.
    fn position(&self, study_seed: u64, name: u64) -> u64 {
        let group = xxh3_64(self.group.as_bytes());
        let key = permutation_key(OF_PLACES, study_seed, group, self.slice, name);
        let interval = permuted(self.place, self.places, key);
        let key = permutation_key(OF_SLICES, study_seed, group, interval, name);
        let within = permuted(self.slice, self.slices, key);
        u64::from(interval) * u64::from(self.slices) + u64::from(within)
    }

    /// Where a seed latent with this hash of its name stands among the slices, whatever the group.
    fn seed_fraction(&self, study_seed: u64, name: u64) -> u64 {
        let key = permutation_key(OF_SEEDS, study_seed, 0, 0, name);
        let position = permuted(self.slice, self.slices, key);
        fraction(u64::from(position), u64::from(self.slices))
    }

    fn is_below(&self, position: u64, chance: Chance) -> bool {
        (2 * u128::from(position) + 1) * u128::from(Chance::DENOMINATOR)
            < 2 * u128::from(self.size()) * u128::from(chance.millionths)
    }
}

/// `(position + 1/2) / size` as a 64-bit fraction: what the trace records of a stratified draw.
fn fraction(position: u64, size: u64) -> u64 {
    let wide = ((u128::from(position) << 64) + (1 << 63)) / u128::from(size.max(1));
    u64::try_from(wide).expect("a position is below the size of its group")
}

/// What is permuted: the first part of the key of a permutation.
const OF_PLACES: u32 = 0;
/// See [`OF_PLACES`].
const OF_SLICES: u32 = 1;
/// See [`OF_PLACES`].
const OF_SEEDS: u32 = 2;

/// The key of a permutation. Every part has a fixed width, so that nothing is allocated.
fn permutation_key(of: u32, study_seed: u64, group: u64, within: u32, name: u64) -> u64 {
    let mut key = [0_u8; 32];
    key[..4].copy_from_slice(&of.to_le_bytes());
    key[4..8].copy_from_slice(&within.to_le_bytes());
    key[8..16].copy_from_slice(&study_seed.to_le_bytes());
    key[16..24].copy_from_slice(&group.to_le_bytes());
    key[24..].copy_from_slice(&name.to_le_bytes());
    xxh3_64(&key)
}

/// The image of `index` under a keyed permutation of the numbers below `size`: a balanced Feistel
/// network over the next power of four, walked until it lands inside. One image can be computed alone.
/// An index outside, which only a mistaken caller has, is first brought inside: the walk would never
/// end.
fn permuted(index: u32, size: u32, key: u64) -> u32 {
    let half_bits = (32 - size.saturating_sub(1).leading_zeros()).div_ceil(2);
    let mask = (1_u64 << half_bits) - 1;
    let size = u64::from(size.max(1));
    let mut image = u64::from(index) % size;
    loop {
        let (mut left, mut right) = (image >> half_bits, image & mask);
        for round in 0..6_u64 {
            let mixed = xxh3_64_with_seed(&right.to_le_bytes(), key ^ round);
            (left, right) = (right, left ^ (mixed & mask));
        }
        image = left << half_bits | right;
        if image < size {
            return u32::try_from(image).expect("below a u32 size");
        }
    }
}

/// One draw as the trace records it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DrawRecord {
    /// Its name.
    pub name: Text,
    /// Its value.
    pub value: u64,
}

/// The draws of one entity at one event.
#[derive(Clone, Debug, Default)]
pub struct Draws {
    key: RolloutKey,
    /// A hash of what all draws of the rollout share.
    rollout: u128,
    episode: u32,
    event: EventKey,
    entity: u64,
    /// The positions of latent variables in the group that were asked for so far, with the hashes of
    /// the names: a model asks for the same few at every turn.
    positions: Vec<(u64, u64)>,
    recording: bool,
    taken: Vec<DrawRecord>,
}

/// Stands for the episode of a latent variable, which belongs to the whole rollout. No real episode
/// has this number, so a latent variable never shares a stream with a draw at an event.
const WHOLE_ROLLOUT: u32 = u32::MAX;

impl Draws {
    /// The draws of one rollout; point them at an event with [`Draws::at`].
    #[must_use]
    pub fn new(key: RolloutKey) -> Self {
        let rollout = xxh3_128(&key_bytes(&[
            &key.study_seed.to_le_bytes(),
            &length(&key.scenario_identity),
            key.scenario_identity.as_bytes(),
            &key.rollout_seed.to_le_bytes(),
        ]));
        Self {
            key,
            rollout,
            ..Self::default()
        }
    }

    /// Points the draws at `entity` in `episode` at `event`.
    pub fn at(&mut self, episode: u32, entity: &str, event: EventKey) -> &mut Self {
        self.episode = episode;
        self.entity = xxh3_64(entity.as_bytes());
        self.event = event;
        self
    }

    /// Turns the record of [`Draws::take_record`] on or off. It is off at first: the trace records
    /// the draws of policies, and models draw far more often.
    pub fn recording(&mut self, on: bool) -> &mut Self {
        self.recording = on;
        self
    }

    /// A uniform 64-bit number named `name` at the current event.
    pub fn bits(&mut self, name: &str) -> u64 {
        let value = self.value(name, self.episode, self.event);
        self.note(name, value);
        value
    }

    /// A uniform number below `bound` (0 if `bound` is 0), named `name`, at the current event.
    #[expect(
        clippy::missing_panics_doc,
        reason = "the high half of a 128-bit product is a u64"
    )]
    pub fn below(&mut self, name: &str, bound: u64) -> u64 {
        let wide = u128::from(self.bits(name)) * u128::from(bound);
        u64::try_from(wide >> 64).expect("the high half of a 128-bit product")
    }

    /// Whether an event of probability `chance` happens, named `name`, at the current event.
    pub fn happens(&mut self, name: &str, chance: Chance) -> bool {
        decide(self.bits(name), chance)
    }

    /// A latent variable of the rollout: drawn once per entity and name whatever the event and the
    /// episode. If the [`RolloutKey`] has a stratum, it is the same for every entity and balanced
    /// over the rollouts of the group.
    pub fn latent(&mut self, name: &str, chance: Chance) -> bool {
        let Some(stratum) = &self.key.stratum else {
            let value = self.value(name, WHOLE_ROLLOUT, EventKey::ROOT);
            self.note(name, value);
            return decide(value, chance);
        };
        let position = position_of(name, stratum, self.key.study_seed, &mut self.positions);
        let is_below = stratum.is_below(position, chance);
        // A fraction is a division of 128 bits, and models draw without a record.
        if self.recording {
            let value = fraction(position, stratum.size());
            self.note(name, value);
        }
        is_below
    }

    /// A seed latent: a uniform 64-bit number that all rollouts with the same rollout seed share, whatever
    /// their scenario, entity, event and episode. If the [`RolloutKey`] has a stratum, it is balanced
    /// over the seeds of the study.
    pub fn of_seed(&mut self, name: &str) -> u64 {
        let hash = xxh3_64(name.as_bytes());
        let value = match &self.key.stratum {
            Some(stratum) => stratum.seed_fraction(self.key.study_seed, hash),
            None => {
                let mut key = [0_u8; 24];
                key[..8].copy_from_slice(&self.key.study_seed.to_le_bytes());
                key[8..16].copy_from_slice(&self.key.rollout_seed.to_le_bytes());
                key[16..].copy_from_slice(&hash.to_le_bytes());
                first_output(&key)
            }
        };
        self.note(name, value);
        value
    }

    /// Hands over the draws recorded since the last call, in order.
    pub fn take_record(&mut self) -> std::vec::Drain<'_, DrawRecord> {
        self.taken.drain(..)
    }

    /// What all draws of the rollout have in common.
    #[must_use]
    pub const fn rollout(&self) -> &RolloutKey {
        &self.key
    }

    /// The value of one draw. Every part of the key has a fixed width, so that no two keys can run
    /// into each other and nothing is allocated.
    fn value(&self, name: &str, episode: u32, event: EventKey) -> u64 {
        let mut key = [0_u8; 52];
        key[..16].copy_from_slice(&self.rollout.to_le_bytes());
        key[16..20].copy_from_slice(&episode.to_le_bytes());
        key[20..28].copy_from_slice(&self.entity.to_le_bytes());
        key[28..44].copy_from_slice(&event.0.to_le_bytes());
        key[44..].copy_from_slice(&xxh3_64(name.as_bytes()).to_le_bytes());
        first_output(&key)
    }

    fn note(&mut self, name: &str, value: u64) {
        if self.recording {
            self.taken.push(DrawRecord {
                name: name.into(),
                value,
            });
        }
    }
}

/// The position of the latent variable `name`, which is kept in `positions`.
fn position_of(
    name: &str,
    stratum: &Stratum,
    study_seed: u64,
    positions: &mut Vec<(u64, u64)>,
) -> u64 {
    let hash = xxh3_64(name.as_bytes());
    if let Some((_, position)) = positions.iter().find(|(known, _)| *known == hash) {
        return *position;
    }
    let position = stratum.position(study_seed, hash);
    positions.push((hash, position));
    position
}

/// The first output of the stream that is hashed from `key`.
fn first_output(key: &[u8]) -> u64 {
    Pcg64::new(xxh3_128(key), xxh3_128_with_seed(key, 1)).next_u64()
}

/// Whether a uniform 64-bit number falls below `chance`, in integers.
fn decide(bits: u64, chance: Chance) -> bool {
    u128::from(bits) * u128::from(Chance::DENOMINATOR) < u128::from(chance.millionths()) << 64
}

/// All that a key is hashed of. Short keys are hashed in one piece far faster than piece by piece.
fn key_bytes(parts: &[&[u8]]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(parts.iter().map(|part| part.len()).sum());
    for part in parts {
        bytes.extend_from_slice(part);
    }
    bytes
}

/// What stands before a text in a key, so that neighbouring texts cannot run into each other.
fn length(text: &str) -> [u8; 8] {
    (text.len() as u64).to_le_bytes()
}

#[cfg(test)]
mod tests;
