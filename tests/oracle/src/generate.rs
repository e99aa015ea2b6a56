//! Random worlds, models and policies, each a function of one number.
//!
//! Nothing here is likely or sensible; it is all that the contract allows. What the model says and
//! what the policy rules depends on a digest of all that it is shown, so that a difference in a
//! context, a label or a prefix of the trace becomes a difference in what happens.

mod digest;
mod model;
mod policy;
mod scenario;
mod tools;

use plugins::draws::RolloutKey;
use plugins::setting::{Instrumentation, User};
use plugins::value::{Content, Field, Text, Value};
use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng as _;
use worlds::spec::Scenario;

use crate::interpreter::Setting;

pub use model::RandomModel;
pub use policy::RandomPolicy;

/// The number of a random world; everything else follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WorldSeed(pub u64);

impl WorldSeed {
    /// The world.
    #[must_use]
    pub fn scenario(self) -> Scenario {
        scenario::generate(self, &mut self.random(1))
    }

    /// A model that says anything.
    #[must_use]
    pub const fn model(self) -> RandomModel {
        RandomModel
    }

    /// A policy with some of the hooks, that rules anything.
    #[must_use]
    pub fn policy(self) -> RandomPolicy {
        RandomPolicy::with_some_hooks(&mut self.random(2))
    }

    /// What a study would fix.
    #[must_use]
    pub fn setting(self) -> Setting {
        let random = &mut self.random(3);
        let instrumentation = match random.below(4) {
            0 | 1 => Instrumentation::PAPER,
            2 => Instrumentation::FULL,
            _ => Instrumentation {
                authority_only: random.chance(50),
                choice: random.chance(50),
                low_risk: random.chance(50),
            },
        };
        Setting {
            key: RolloutKey::new(random.below(3), self.identity(), random.below(5)),
            instrumentation,
            user: *random.pick(&[User::Absent, User::RubberStamp, User::Oracle, User::Careful]),
        }
    }

    fn identity(self) -> Text {
        format!("random_{}", self.0).into()
    }

    fn random(self, purpose: u64) -> Random {
        Random::new(self.0, purpose)
    }
}

/// A sequence of random choices.
struct Random(Pcg64);

impl Random {
    fn new(seed: u64, stream: u64) -> Self {
        Self(Pcg64::new(u128::from(seed), u128::from(stream)))
    }

    fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `bound`, which is not 0.
    fn below(&mut self, bound: u64) -> u64 {
        self.bits() % bound
    }

    fn small(&mut self, bound: u32) -> u32 {
        u32::try_from(self.below(u64::from(bound))).expect("below a bound of 32 bits")
    }

    fn size(&mut self, bound: usize) -> usize {
        usize::try_from(self.below(bound as u64)).expect("below a size")
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.size(items.len())]
    }

    /// Each item with this chance, in order.
    fn some<T: Copy>(&mut self, items: impl IntoIterator<Item = T>, percent: u64) -> Vec<T> {
        let items = items.into_iter();
        items.filter(|_| self.chance(percent)).collect()
    }

    fn text(&mut self, pool: &[&str]) -> Text {
        (*self.pick(pool)).into()
    }

    /// One of all the words that mean something somewhere.
    fn word(&mut self) -> Text {
        let pool = *self.pick(&[ADDRESSES, KEYS, SOURCES, RECORDS, WORDS]);
        self.text(pool)
    }

    fn value(&mut self, kind: plugins::tool::ValueKind) -> Value {
        use plugins::tool::ValueKind;
        match kind {
            ValueKind::Text => Value::Text(self.word()),
            ValueKind::List => {
                let length = self.size(4);
                Value::List((0..length).map(|_| self.word()).collect())
            }
            ValueKind::Integer => Value::Integer(i64::from(self.small(4)) - 1),
            ValueKind::Boolean => Value::Boolean(self.chance(50)),
        }
    }

    fn content(&mut self, fields: usize) -> Content {
        let names = FIELDS[..fields.min(FIELDS.len())].iter();
        let fields = names.map(|name| Field {
            name: (*name).into(),
            value: self.word(),
        });
        Content {
            fields: fields.collect(),
        }
    }
}

/// Principals and recipients.
const ADDRESSES: &[&str] = &[
    "user@home.local",
    "partner@trusted.local",
    "outsider@external.local",
    "team@home.local",
    "nobody@unknown.local",
];
/// Keys of memory records.
const KEYS: &[&str] = &["k0", "k1", "k2", "blocked/k3"];
/// Names of sources, most of which exist in a world.
const SOURCES: &[&str] = &[
    "doc:0",
    "doc:1",
    "tool:0",
    "message:0",
    "goal:0",
    "record:0:0",
];
/// References to memory records.
const RECORDS: &[&str] = &[
    "store_0/k0",
    "store_0/k1",
    "store_1/k0",
    "store_0/agent_0/1",
    "store_1/agent_1/2",
    "nowhere/k0",
];
/// Words without a meaning, with letters that need an escape.
const WORDS: &[&str] = &[
    "public",
    "internal",
    "SECRET-7",
    "",
    "line\nbreak",
    "a \"quoted\" \\ word",
    "Zoë, 10 €",
    "tab\tand \u{1}",
];
/// Names of content fields, two of which the model uses too.
const FIELDS: &[&str] = &["text", "body", "who", "when"];
