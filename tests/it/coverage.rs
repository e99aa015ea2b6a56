//! Everything that can occur does occur somewhere in the random worlds: every verdict of every
//! hook, node kind, edge kind, channel, memory mode, parser status, repair and limit.

use containment_bench::Bench;
use oracle::coverage::{Coverage, Watched};
use oracle::generate::WorldSeed;
use oracle::interpreter;

#[test]
fn everything_that_can_occur_occurs() {
    let parser = Bench::built_in().parser().expect("the built-in parser");
    let mut coverage = Coverage::default();
    for seed in (0..3_000).map(WorldSeed) {
        let scenario = seed.scenario();
        let mut model = seed.model();
        let history = {
            let mut watched = Watched::new(&mut model, &mut coverage);
            interpreter::run(
                &scenario,
                &mut seed.policy(),
                &mut watched,
                &*parser,
                &seed.setting(),
            )
        };
        coverage.add(&history.trace, &scenario);
    }
    assert_eq!(coverage.missing(), Vec::<String>::new(), "never occurred");
    assert_eq!(
        coverage.unexpected(),
        Vec::<String>::new(),
        "was not thought possible"
    );
}
