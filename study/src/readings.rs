//! What the parser made of completions, shared by the workers.
//!
//! The rollouts of a scenario say much the same, under every seed and policy, and so do those of
//! scenarios that differ in what is attacked. A completion is read once, and what was read is looked up
//! from then on. Reading is a pure function of the text and the tools of the agent, so that no result
//! can depend on who read first.

use std::collections::BTreeMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dashmap::DashMap;
use plugins::action::{ActionParser, Parsed, ToolCatalogue};
use plugins::tool::ToolSpec;
use xxhash_rust::xxh3::{Xxh3, xxh3_64_with_seed, xxh3_128_with_seed};

/// Completions that are kept for the scenarios with the same tools; more are read each time.
const MOST_KEPT: usize = 4_096;
/// Bytes of the longest completion that is kept.
const MAX_KEPT_BYTES: usize = 4_096;

/// What is read in the scenarios of a study, by the hash of their tools.
#[derive(Default)]
pub struct SharedReadings(BTreeMap<u128, Arc<Readings>>);

impl SharedReadings {
    /// The parser for a scenario with these tools.
    pub fn of(&mut self, tools: &[ToolSpec], parser: &Arc<dyn ActionParser>) -> Arc<Readings> {
        let mut hasher = Xxh3::new();
        tools.hash(&mut hasher);
        let readings = self.0.entry(hasher.digest128());
        Arc::clone(readings.or_insert_with(|| Arc::new(Readings::new(Arc::clone(parser)))))
    }

    /// How many completions were looked up, and how many were read. For benchmarks: with several
    /// workers two may read the same at once, so that the numbers are no result.
    #[must_use]
    pub fn hits_and_misses(&self) -> (u64, u64) {
        let counts = self.0.values().map(|readings| readings.hits_and_misses());
        counts.fold((0, 0), |(hits, misses), (hit, missed)| {
            (hits + hit, misses + missed)
        })
    }
}

impl std::fmt::Debug for SharedReadings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("SharedReadings")
            .field(&self.hits_and_misses())
            .finish()
    }
}

/// A parser that keeps what it read. For scenarios with the same tools: those of its catalogue are
/// not compared.
pub struct Readings {
    parser: Arc<dyn ActionParser>,
    read: DashMap<u128, Parsed, BuildHasherDefault<Hashed>>,
    hits: AtomicU64,
    misses: AtomicU64,
}

impl Readings {
    /// Nothing read yet.
    #[must_use]
    pub fn new(parser: Arc<dyn ActionParser>) -> Self {
        Self {
            parser,
            read: DashMap::default(),
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
        }
    }

    fn hits_and_misses(&self) -> (u64, u64) {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        (count(&self.hits), count(&self.misses))
    }
}

impl ActionParser for Readings {
    fn parse(&self, completion: &str, catalogue: ToolCatalogue<'_>) -> Parsed {
        let key = key(completion, catalogue);
        if let Some(parsed) = self.read.get(&key) {
            self.hits.fetch_add(1, Ordering::Relaxed);
            return parsed.clone();
        }
        self.misses.fetch_add(1, Ordering::Relaxed);
        let parsed = self.parser.parse(completion, catalogue);
        if completion.len() <= MAX_KEPT_BYTES && self.read.len() < MOST_KEPT {
            self.read.insert(key, parsed.clone());
        }
        parsed
    }
}

/// A hash of the completion and of the tools that its agent knows.
fn key(completion: &str, catalogue: ToolCatalogue<'_>) -> u128 {
    let known = catalogue.known.iter();
    let tools = known.fold(0, |hash, tool| {
        xxh3_64_with_seed(&tool.0.to_le_bytes(), hash)
    });
    xxh3_128_with_seed(completion.as_bytes(), tools)
}

/// Takes a key that is a hash for its own hash.
#[derive(Default)]
struct Hashed(u64);

impl Hasher for Hashed {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = xxh3_64_with_seed(bytes, self.0);
    }

    #[expect(clippy::cast_possible_truncation, reason = "half of a hash is a hash")]
    fn write_u128(&mut self, key: u128) {
        self.0 = key as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use plugins::action::{Action, ParseStatus, Repairs};
    use plugins::ids::ToolId;

    use super::*;

    /// Says how many tools the agent knows, and so shows for whom a text was read.
    struct CountsTools;

    impl ActionParser for CountsTools {
        fn parse(&self, completion: &str, catalogue: ToolCatalogue<'_>) -> Parsed {
            Parsed {
                status: ParseStatus::ValidStrictJson,
                repairs: Repairs::empty(),
                action: Action::Final {
                    text: format!("{completion} {}", catalogue.known.len())
                        .as_str()
                        .into(),
                },
                strict_reading_is_final: false,
            }
        }
    }

    fn readings() -> Readings {
        Readings::new(Arc::new(CountsTools))
    }

    fn read(readings: &Readings, completion: &str, known: &[ToolId]) -> Parsed {
        let catalogue = ToolCatalogue { tools: &[], known };
        let parsed = readings.parse(completion, catalogue);
        assert_eq!(parsed, CountsTools.parse(completion, catalogue));
        parsed
    }

    #[test]
    fn what_was_read_once_is_looked_up_and_is_the_same() {
        let readings = readings();
        let first = read(&readings, "done", &[ToolId(1)]);
        assert_eq!(read(&readings, "done", &[ToolId(1)]), first);
        assert_eq!(readings.hits_and_misses(), (1, 1));
    }

    #[test]
    fn the_same_text_of_another_agent_is_another_reading() {
        let readings = readings();
        let first = read(&readings, "done", &[ToolId(1)]);
        assert_ne!(read(&readings, "done", &[]), first);
        assert_ne!(read(&readings, "done", &[ToolId(1), ToolId(2)]), first);
        assert_eq!(readings.hits_and_misses(), (0, 3));
    }

    #[test]
    fn scenarios_share_what_was_read_if_their_tools_are_the_same() {
        let scenario = crate::fixture::scenario(worlds::spec::Stage::Clean);
        let tools = scenario.briefing.tools;
        let mut others = tools.clone();
        others[0].latency_ticks += 1;
        let parser: Arc<dyn ActionParser> = Arc::new(CountsTools);
        let mut shared = SharedReadings::default();
        let readings = shared.of(&tools, &parser);
        assert!(Arc::ptr_eq(&readings, &shared.of(&tools, &parser)));
        assert!(!Arc::ptr_eq(&readings, &shared.of(&others, &parser)));
        read(&readings, "done", &[]);
        read(&shared.of(&tools, &parser), "done", &[]);
        read(&shared.of(&others, &parser), "done", &[]);
        assert_eq!(shared.hits_and_misses(), (1, 2));
    }

    #[test]
    fn long_texts_and_too_many_are_read_each_time() {
        let readings = readings();
        let long = "x".repeat(MAX_KEPT_BYTES + 1);
        for _ in 0..2 {
            read(&readings, &long, &[]);
        }
        assert_eq!(readings.hits_and_misses(), (0, 2));
        for number in 0..=MOST_KEPT {
            read(&readings, &number.to_string(), &[]);
        }
        read(&readings, "0", &[]);
        read(&readings, &MOST_KEPT.to_string(), &[]);
        let (hits, _) = readings.hits_and_misses();
        assert_eq!(hits, 1);
    }
}
