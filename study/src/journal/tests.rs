use std::fs;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tempfile::TempDir;
use worlds::spec::Stage;

use super::*;
use crate::fixture::{registry, scenario};
use crate::manifest::Manifest;
use crate::plan::{PlannedScenario, file};
use crate::runner::run;

/// Another study.
const OTHER: Subject = Subject {
    manifest: Hash(7),
    shard: None,
};

/// A study of three groups of two rollouts, its folder, and what it gives.
struct Study {
    plan: Plan,
    subject: Subject,
    segments: Vec<Segment>,
    place: TempDir,
}

impl Study {
    fn new() -> Self {
        let text = "Study(schema: 1, name: \"tests\", study_seed: 7, worlds: [\"a.ron\"], \
                    policies: [\"none\", \"block\"], seeds: [1, 2, 3])";
        let planned = PlannedScenario {
            scenario: Arc::new(scenario(Stage::Clean)),
            configuration: "write_summary notes\nfinal".into(),
            group: "all".into(),
        };
        let study = file::load(text, "tests.ron").unwrap();
        let plan = Plan::new(study, vec![planned], &registry()).unwrap();
        let (stop, mut segments) = (AtomicBool::new(false), Vec::new());
        let nothing = vec![None; plan.groups().len()];
        run(&plan, NonZeroUsize::MIN, nothing, &stop, |_, segment| {
            segments.push(segment.clone());
            ControlFlow::Continue(())
        })
        .unwrap();
        Self {
            subject: (&Manifest::freeze(&plan)).into(),
            plan,
            segments,
            place: tempfile::tempdir().unwrap(),
        }
    }

    fn folder(&self) -> Folder {
        Folder::open(self.place.path()).unwrap()
    }

    fn begin(&self) -> Result<Journal, JournalError> {
        Journal::begin(&self.folder(), self.subject)
    }

    fn resume(&self) -> Result<Resumed, JournalError> {
        Journal::resume(&self.folder(), &self.plan, self.subject)
    }

    fn path(&self) -> PathBuf {
        self.place.path().join(JOURNAL)
    }

    /// The bytes of a journal with these groups.
    fn written(&self, groups: &[usize]) -> Vec<u8> {
        drop(fs::remove_file(self.path()));
        let mut journal = self.begin().unwrap();
        for &group in groups {
            journal.append(&self.segments[group]).unwrap();
        }
        fs::read(self.path()).unwrap()
    }

    /// Which groups are read back.
    fn resumed(&self) -> Vec<usize> {
        let segments = self.resume().unwrap().segments;
        let mut found = Vec::new();
        for (index, segment) in segments.iter().enumerate() {
            if let Some(segment) = segment {
                assert_eq!(*segment, self.segments[index]);
                found.push(index);
            }
        }
        found
    }
}

#[test]
fn finished_groups_are_read_back_in_whatever_order_they_finished() {
    let study = Study::new();
    for groups in [vec![], vec![1], vec![2, 0], vec![1, 2, 0]] {
        study.written(&groups);
        let mut expected = groups;
        expected.sort_unstable();
        assert_eq!(study.resumed(), expected);
    }
}

/// Wherever a program was killed, the whole groups are kept and the next one is written after them.
#[test]
fn a_journal_that_is_cut_off_anywhere_keeps_its_whole_groups() {
    let study = Study::new();
    let one = study.written(&[1]).len();
    let none = study.written(&[]).len();
    let bytes = study.written(&[1, 0]);
    for length in 0..=bytes.len() {
        fs::write(study.path(), &bytes[..length]).unwrap();
        let Resumed {
            mut journal,
            segments,
            damaged_bytes,
        } = study.resume().unwrap();
        let kept = segments.iter().flatten().count();
        let expected = [one, bytes.len()]
            .iter()
            .filter(|&&end| end <= length)
            .count();
        assert_eq!(kept, expected, "{length} of {} bytes", bytes.len());
        let whole = [none, one, bytes.len()][kept];
        assert_eq!(damaged_bytes, length.saturating_sub(whole) as u64);
        assert_eq!(fs::metadata(study.path()).unwrap().len(), whole as u64);
        journal.append(&study.segments[2]).unwrap();
        let mut expected = vec![1, 0, 2];
        expected.drain(kept..2);
        expected.sort_unstable();
        assert_eq!(study.resumed(), expected);
    }
}

/// It was taken for a journal that was cut off within its first line, and emptied.
#[test]
fn a_journal_whose_first_line_lost_its_break_is_refused_and_left_alone() {
    let study = Study::new();
    let none = study.written(&[]).len();
    let mut bytes = study.written(&[1, 0]);
    bytes.splice(none - 1..none, [b' '; 200]);
    fs::write(study.path(), &bytes).unwrap();
    let resumed = study.resume();
    assert!(matches!(resumed, Err(JournalError::NoJournal { .. })));
    assert!(matches!(study.begin(), Err(JournalError::NoJournal { .. })));
    assert_eq!(fs::read(study.path()).unwrap(), bytes);
}

/// A damaged segment costs no other.
#[test]
fn a_changed_byte_loses_its_segment_only() {
    let study = Study::new();
    let first = study.written(&[]).len();
    let second = study.written(&[0]).len();
    let bytes = study.written(&[0, 1]);
    for position in (first..bytes.len()).step_by(7) {
        if position == second - 1 {
            // The break between two segments is part of both.
            continue;
        }
        let mut changed = bytes.clone();
        changed[position] ^= 1;
        fs::write(study.path(), changed).unwrap();
        let kept = usize::from(position < second);
        assert!(study.resume().unwrap().damaged_bytes > 0);
        // What was damaged is gone from the file.
        let resumed = study.resume().unwrap();
        assert_eq!(resumed.damaged_bytes, 0);
        drop(resumed);
        assert_eq!(study.resumed(), [kept], "byte {position}");
    }
    let stray = [&bytes[..second], b"\nsegment\n\xff\n", &bytes[second..]].concat();
    fs::write(study.path(), stray).unwrap();
    assert_eq!(study.resumed(), [0, 1]);
}

/// The digest fits, but the rows are not those of a group that is still to run.
#[test]
fn segments_of_other_rows_are_not_taken() {
    let study = Study::new();
    let whole = &study.segments[1];
    let half = Segment::new(whole.rows[..1].to_vec());
    let mixed = Segment::new(vec![
        whole.rows[0].clone(),
        study.segments[2].rows[1].clone(),
    ]);
    let empty = Segment::new(Vec::new());
    let garbage = Segment {
        rows: Vec::new(),
        csv: b"1,2,3\n".to_vec(),
    };
    for wrong in [half, mixed, empty, garbage, study.segments[0].clone()] {
        study.written(&[0]);
        let mut journal = study.resume().unwrap().journal;
        journal.append(&wrong).unwrap();
        journal.append(&study.segments[2]).unwrap();
        assert_eq!(study.resumed(), [0, 2]);
    }
}

#[test]
fn rows_of_an_interrupted_study_are_not_overwritten() {
    let study = Study::new();
    study.written(&[2, 1]);
    let error = study.begin().unwrap_err();
    assert!(
        matches!(error, JournalError::Unfinished { groups: 2, .. }),
        "{error}"
    );
    assert_eq!(study.resumed(), [1, 2]);
    // Without rows there is nothing to lose.
    study.written(&[]);
    study.begin().unwrap();
}

#[test]
fn a_journal_of_another_study_is_neither_resumed_nor_overwritten() {
    let study = Study::new();
    study.written(&[2]);
    let error = Journal::resume(&study.folder(), &study.plan, OTHER).unwrap_err();
    assert!(matches!(error, JournalError::OtherStudy { .. }), "{error}");
    let error = Journal::begin(&study.folder(), OTHER).unwrap_err();
    assert!(
        matches!(error, JournalError::Unfinished { groups: 1, .. }),
        "{error}"
    );
    assert_eq!(study.resumed(), [2]);
}

#[test]
fn a_file_that_is_no_journal_stays_as_it_was() {
    let study = Study::new();
    for text in [
        "mine\n",
        "mine",
        "containment",
        "\n",
        "containment-journal 2 abc\n",
    ] {
        fs::write(study.path(), text).unwrap();
        // The beginning of a title may be that of a program killed at once.
        let is_begun = text == "containment";
        assert_eq!(study.resume().is_ok(), is_begun, "{text:?}");
        if !is_begun {
            assert!(matches!(study.begin(), Err(JournalError::NoJournal { .. })));
            assert_eq!(fs::read_to_string(study.path()).unwrap(), text);
        }
    }
}

#[test]
fn a_journal_goes_when_it_is_no_longer_needed() {
    let study = Study::new();
    let folder = study.folder();
    let journal = Journal::begin(&folder, study.subject).unwrap();
    journal.remove(&folder).unwrap();
    assert!(!study.path().exists());
    let journal = Journal::begin(&folder, study.subject).unwrap();
    fs::remove_file(study.path()).unwrap();
    journal.remove(&folder).unwrap();
}

/// What is now in the place of the folder belongs to somebody else.
#[test]
fn nothing_is_removed_from_a_folder_that_took_the_place_of_ours() {
    let study = Study::new();
    let place = study.place.path().join("result");
    let folder = Folder::open(&place).unwrap();
    let journal = Journal::begin(&folder, study.subject).unwrap();
    fs::rename(&place, study.place.path().join("moved")).unwrap();
    let theirs = Folder::open(&place).unwrap();
    Journal::begin(&theirs, study.subject).unwrap();
    let error = journal.remove(&folder).unwrap_err();
    assert!(error.to_string().contains("moved or replaced"), "{error}");
    assert!(place.join(JOURNAL).exists());
    let manifest = Manifest::freeze(&study.plan);
    let error = results::write(&folder, &manifest, &[], &[]).unwrap_err();
    assert!(error.to_string().contains("moved or replaced"), "{error}");
}

#[test]
fn a_finished_study_has_nothing_left_to_run() {
    let study = Study::new();
    let mut csv = vec![crate::row::csv_header()];
    for segment in &study.segments {
        csv.push(&segment.csv);
    }
    let manifest = Manifest::freeze(&study.plan);
    results::write(&study.folder(), &manifest, &[], &csv).unwrap();
    assert_eq!(study.resumed(), [0, 1, 2]);
}

fn shard(text: &str) -> Shard {
    text.parse().unwrap()
}

/// The journal of one shard holds nothing of another, which would be run in vain.
#[test]
fn the_journal_of_a_shard_is_of_that_shard() {
    let mut study = Study::new();
    study.plan.shard = Some(shard("1/2"));
    study.subject.shard = Some(shard("1/2"));
    study.written(&[2, 0]);
    assert_eq!(study.resumed(), [0, 2]);
    for other in [Some(shard("2/2")), Some(shard("1/3")), None] {
        let subject = Subject {
            shard: other,
            ..study.subject
        };
        let error = Journal::resume(&study.folder(), &study.plan, subject).unwrap_err();
        assert!(matches!(error, JournalError::OtherShard { .. }), "{error}");
        assert!(error.to_string().contains("of shard 1/2"), "{error}");
    }
    // A group of another shard is not taken, whoever put it there.
    let bytes = study.written(&[1, 0]).len() - study.written(&[0]).len();
    study.written(&[1, 0]);
    let damaged = study.resume().unwrap().damaged_bytes;
    assert!(
        (1..=bytes as u64).contains(&damaged),
        "{damaged} of {bytes}"
    );
    assert_eq!(study.resumed(), [0]);
}

#[test]
fn a_finished_shard_has_nothing_left_to_run() {
    let mut study = Study::new();
    study.plan.shard = Some(shard("1/2"));
    study.subject.shard = Some(shard("1/2"));
    let mut csv = vec![crate::row::csv_header()];
    for group in [0, 2] {
        csv.push(&study.segments[group].csv);
    }
    let manifest = Manifest::freeze(&study.plan);
    results::write(&study.folder(), &manifest, &[], &csv).unwrap();
    assert_eq!(study.resumed(), [0, 2]);
}
