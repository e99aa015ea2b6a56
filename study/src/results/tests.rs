use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use worlds::spec::Stage;

use super::*;
use crate::fixture::{registry, scenario};
use crate::folder::FolderError;
use crate::manifest::scenario_lines;
use crate::plan::{Plan, PlannedScenario, file};
use crate::runner::{Ended, run};

fn plan(seeds: &str) -> Plan {
    let text = format!(
        "Study(schema: 1, name: \"tests\", study_seed: 7, worlds: [\"a.ron\"], \
         policies: [\"none\", \"block\"], seeds: [{seeds}], denominator_policies: [\"none\"])"
    );
    let planned = PlannedScenario {
        scenario: Arc::new(scenario(Stage::Clean)),
        configuration: "write_summary notes\nfinal".into(),
        group: "all".into(),
    };
    Plan::new(
        file::load(&text, "tests.ron").unwrap(),
        vec![planned],
        &registry(),
    )
    .unwrap()
}

struct Ran {
    manifest: Manifest,
    scenarios: Vec<ScenarioLine>,
    rows: Vec<Row>,
    csv: Vec<u8>,
}

fn ran(seeds: &str) -> Ran {
    let plan = plan(seeds);
    let nothing = vec![None; plan.groups().len()];
    let stop = AtomicBool::new(false);
    let go_on = |_, _: &_| ControlFlow::Continue(());
    let ended = run(&plan, NonZeroUsize::MIN, nothing, &stop, go_on);
    let Ended::Whole(outcomes) = ended.unwrap() else {
        panic!("nobody stopped it");
    };
    Ran {
        manifest: Manifest::freeze(&plan),
        scenarios: scenario_lines(&plan),
        rows: outcomes.rows().into_iter().cloned().collect(),
        csv: outcomes.csv().concat(),
    }
}

impl Ran {
    fn write(&self, folder: &Path) -> Result<Hash, FolderError> {
        let folder = Folder::open(folder)?;
        // The pieces do not end where rows do.
        let pieces: Vec<&[u8]> = self.csv.chunks(1000).collect();
        Ok(write(&folder, &self.manifest, &self.scenarios, &pieces)?)
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn a_result_is_read_as_it_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("deep/er");
    let ran = ran("1, 2");
    let digest = ran.write(&folder).unwrap();
    assert_eq!(names(&folder), [".lock", MANIFEST, ROWS, SCENARIOS]);
    let results = read(&folder).unwrap();
    assert_eq!(results.rows, ran.rows);
    assert_eq!(results.manifest.digest, ran.manifest.digest);
    assert_eq!(results.manifest.circumstances.rows_digest, Some(digest));
    assert_eq!(digest, Hash(xxh3_128(&ran.csv)));
    let lines = fs::read_to_string(folder.join(SCENARIOS)).unwrap();
    assert_eq!(lines.lines().count(), 1);
}

#[test]
fn a_result_is_replaced_and_other_files_stay() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("notes.txt"), "mine").unwrap();
    ran("1").write(folder.path()).unwrap();
    let second = ran("1, 2, 3");
    second.write(folder.path()).unwrap();
    assert_eq!(read(folder.path()).unwrap().rows, second.rows);
    assert_eq!(
        names(folder.path()),
        [".lock", MANIFEST, "notes.txt", ROWS, SCENARIOS]
    );
}

/// Noticed before a study runs, and before any file of the earlier result is touched.
#[test]
fn what_is_in_the_way_of_a_file_leaves_the_earlier_result() {
    for name in ["manifest.json.unfinished", "scenarios.jsonl.unfinished"] {
        let folder = tempfile::tempdir().unwrap();
        let first = ran("1");
        first.write(folder.path()).unwrap();
        fs::create_dir(folder.path().join(name)).unwrap();
        let error = ran("1, 2").write(folder.path()).unwrap_err();
        assert!(matches!(error, FolderError::InTheWay(_)), "{error}");
        assert_eq!(read(folder.path()).unwrap().rows, first.rows);
    }
}

#[test]
fn rows_of_another_run_are_noticed() {
    let folder = tempfile::tempdir().unwrap();
    ran("1").write(folder.path()).unwrap();
    fs::write(folder.path().join(ROWS), ran("1, 2").csv).unwrap();
    assert!(matches!(
        read(folder.path()),
        Err(ResultsError::OtherFile { file: ROWS, .. })
    ));
}

#[test]
fn changed_scenarios_are_noticed() {
    let folder = tempfile::tempdir().unwrap();
    ran("1").write(folder.path()).unwrap();
    fs::write(folder.path().join(SCENARIOS), "garbage").unwrap();
    assert!(matches!(
        read(folder.path()),
        Err(ResultsError::OtherFile {
            file: SCENARIOS,
            ..
        })
    ));
}

/// Without the digest, rows that were cut off would pass for a whole result.
#[test]
fn a_result_without_the_digest_of_its_rows_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    ran("1").write(folder.path()).unwrap();
    let path = folder.path().join(MANIFEST);
    let mut manifest = Manifest::from_json(&fs::read_to_string(&path).unwrap()).unwrap();
    manifest.circumstances.rows_digest = None;
    fs::write(&path, manifest.to_json()).unwrap();
    assert!(matches!(
        read(folder.path()),
        Err(ResultsError::NoDigest(ROWS))
    ));
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let error = ran("1").write(&file.join("inside")).unwrap_err();
    assert!(
        error.to_string().starts_with("cannot create the folder `"),
        "{error}"
    );
    let error = read(folder.path()).unwrap_err();
    assert!(error.to_string().starts_with("cannot read `"), "{error}");
}

#[test]
fn a_summary_counts_by_stage() {
    let mut ran = ran("1, 2");
    ran.rows[0].identity.outcome = "errored".into();
    ran.rows[1].identity.outcome = "limit_reached:ticks".into();
    let rows: Vec<&Row> = ran.rows.iter().collect();
    let summary = summary(&ran.manifest, &rows, Hash(7));
    assert_eq!(summary.rollouts, 4);
    assert_eq!(summary.n_errored, 1);
    assert_eq!(summary.n_limit_reached, 1);
    assert_eq!(summary.rows_digest, Hash(7));
    let text = serde_json::to_string(&summary).unwrap();
    let stages =
        "\"rows_by_stage\":{\"active_tainted\":0,\"clean\":4,\"memory_recovery\":0,\"security\":0}";
    assert!(text.contains(stages), "{text}");
}

/// Who takes rows away can write the digest of the rest.
#[test]
fn rows_that_were_taken_away_are_missed_though_the_digest_fits() {
    let folder = tempfile::tempdir().unwrap();
    let mut ran = ran("1, 2");
    let end = ran.csv.len() - 1;
    let last = ran.csv[..end].iter().rposition(|&byte| byte == b'\n');
    ran.csv.truncate(last.unwrap() + 1);
    ran.write(folder.path()).unwrap();
    let results = read(folder.path()).unwrap();
    assert!(matches!(
        results.require_every_rollout(),
        Err(ResultsError::OtherRollouts {
            stated: 4,
            found: 3
        })
    ));
}
