use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use worlds::spec::Stage;

use super::*;
use crate::fixture::{registry, scenario};
use crate::plan::{Plan, PlannedScenario, file};
use crate::runner::{Ended, Outcomes, run};

const TEXT: &str = r#"Study(
    schema: 1, name: "tests", study_seed: 7,
    worlds: ["a.ron"], policies: ["none", "block"], seeds: [1, 2, 3, 4, 5],
)"#;

fn plan_of(text: &str, shard: Option<Shard>) -> Plan {
    let planned = PlannedScenario {
        scenario: Arc::new(scenario(Stage::Clean)),
        configuration: "write_summary notes\nfinal".into(),
        group: "all".into(),
    };
    let study = file::load(text, "tests.ron").unwrap();
    let mut plan = Plan::new(study, vec![planned], &registry()).unwrap();
    plan.shard = shard;
    plan
}

fn ran(plan: &Plan) -> Outcomes {
    let nothing = vec![None; plan.groups().len()];
    let stop = AtomicBool::new(false);
    let go_on = |_, _: &_| ControlFlow::Continue(());
    match run(plan, NonZeroUsize::MIN, nothing, &stop, go_on).unwrap() {
        Ended::Whole(outcomes) => outcomes,
        Ended::Stopped(progress) => panic!("stopped at {progress:?}"),
    }
}

/// A shard as it is read back.
type Piece = (String, Results);

fn piece_of(text: &str, index: u32, of: u32) -> Piece {
    let plan = plan_of(text, Some(Shard::new(index, of).unwrap()));
    let mut manifest = Manifest::freeze(&plan);
    manifest.circumstances.workers = Some(2);
    manifest.circumstances.rows_digest = Some(Hash(index.into()));
    manifest.circumstances.scenarios_digest = Some(Hash(99));
    let rows = ran(&plan).rows().into_iter().cloned().collect();
    (format!("s{index}"), Results { manifest, rows })
}

fn merge(pieces: Vec<Piece>) -> Result<Merged, MergeError> {
    let mut merger = Merger::default();
    for (name, results) in pieces {
        merger.add(name, results)?;
    }
    merger.finish()
}

fn pieces(of: u32) -> Vec<Piece> {
    (1..=of).map(|index| piece_of(TEXT, index, of)).collect()
}

fn refused(pieces: Vec<Piece>) -> MergeError {
    merge(pieces).unwrap_err()
}

/// Also where there are more shards than groups.
#[test]
fn shards_give_the_result_of_the_whole_in_whatever_order_they_come() {
    let whole = plan_of(TEXT, None);
    let outcomes = ran(&whole);
    let mut manifest = Manifest::freeze(&whole);
    manifest.circumstances.workers = Some(2);
    manifest.circumstances.scenarios_digest = Some(Hash(99));
    for of in [1, 2, 3, 5, 9] {
        let mut pieces = pieces(of);
        for _ in 0..2 {
            pieces.rotate_left(1);
            let merged = merge(pieces.clone()).unwrap();
            assert_eq!(merged.manifest, manifest, "{of}");
            assert!(merged.rows.iter().eq(outcomes.rows()));
            assert!(merged.csv == outcomes.csv().concat(), "{of}");
        }
    }
}

#[test]
fn shards_run_on_different_numbers_of_workers_say_none() {
    let mut pieces = pieces(3);
    pieces[1].1.manifest.circumstances.workers = Some(4);
    let merged = merge(pieces).unwrap();
    assert_eq!(merged.manifest.circumstances.workers, None);
}

#[test]
fn missing_shards_are_named() {
    let mut some = pieces(3);
    some.remove(1);
    assert_eq!(refused(some).to_string(), "shard 2/3 is missing");
    let some = pieces(12).split_off(2);
    assert_eq!(refused(some).to_string(), "shards 1/12, 2/12 are missing");
    let some = pieces(12).split_off(11);
    let said = refused(some).to_string();
    assert!(said.ends_with("8/12 and 3 more are missing"), "{said}");
    assert_eq!(refused(Vec::new()), MergeError::Nothing);
}

#[test]
fn a_shard_that_is_there_twice_is_refused() {
    let mut twice = pieces(3);
    twice.push(piece_of(TEXT, 2, 3));
    assert!(matches!(refused(twice), MergeError::Twice { .. }));
}

#[test]
fn what_is_no_shard_of_the_study_is_refused() {
    let with = |change: &dyn Fn(&mut Piece)| {
        let mut pieces = pieces(3);
        change(&mut pieces[1]);
        refused(pieces)
    };
    let whole = with(&|piece| piece.1.manifest.circumstances.shard = None);
    assert_eq!(whole, MergeError::NoShard("s2".into()));
    let divided = with(&|piece| *piece = piece_of(TEXT, 2, 4));
    assert!(matches!(divided, MergeError::OtherCount { .. }));
    let renamed = TEXT.replace("tests", "others");
    let other = with(&|piece| *piece = piece_of(&renamed, 2, 3));
    assert!(matches!(other, MergeError::OtherStudy { .. }));
    let reseeded = TEXT.replace("study_seed: 7", "study_seed: 8");
    let changed = with(&|piece| *piece = piece_of(&reseeded, 2, 3));
    assert!(matches!(changed, MergeError::Changed { .. }));
    let newer = with(&|piece| {
        let manifest = &mut piece.1.manifest;
        manifest.frozen.versions.program = "9.9.9".into();
        manifest.digest = manifest.frozen.digest();
    });
    assert!(matches!(newer, MergeError::OtherVersion { .. }), "{newer}");
    assert!(newer.to_string().contains("9.9.9"), "{newer}");
}

/// A manifest does not vouch for which shard it is of, so the rows are counted and their ids hashed.
#[test]
fn rows_of_another_shard_are_noticed() {
    let mut fewer = pieces(3);
    fewer[0].1.rows.pop();
    assert!(matches!(
        refused(fewer),
        MergeError::RowCount {
            found: 3,
            expected: 4,
            ..
        }
    ));
    let mut exchanged = pieces(3);
    let rows = exchanged[0].1.rows.clone();
    exchanged[1].1.rows = rows;
    assert!(matches!(refused(exchanged), MergeError::OtherRows { .. }));
    let mut described = pieces(3);
    described[2].1.manifest.circumstances.scenarios_digest = Some(Hash(98));
    let names = ["s1".to_owned(), "s3".to_owned()];
    assert_eq!(refused(described), MergeError::OtherScenarios(names));
}

/// Whatever number somebody wrote there.
#[test]
fn no_number_of_rollouts_is_too_large_to_be_refused() {
    for rollouts in [0, u64::MAX] {
        let mut pieces = pieces(1);
        let manifest = &mut pieces[0].1.manifest;
        manifest.frozen.rollouts = rollouts;
        manifest.digest = manifest.frozen.digest();
        assert!(matches!(refused(pieces), MergeError::RowCount { .. }));
        let mut pieces = self::pieces(1);
        pieces[0].1.manifest.frozen.policies.clear();
        assert!(matches!(refused(pieces), MergeError::RowCount { .. }));
    }
}
