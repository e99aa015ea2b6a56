//! A study that is interrupted, goes on, and shares its folder with nobody.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::{Done, Place};

/// Seeds of a study that takes long enough to be interrupted.
pub(super) const SEEDS: u32 = 8_000;
/// Bytes of a journal that has some finished groups and is far from whole.
const SOME_BYTES: u64 = 200_000;
/// How long a test waits before it looks again.
const SHORT: Duration = Duration::from_millis(1);

/// A place with a study of this many seeds of one world under two policies.
pub(super) fn place(seeds: u32) -> Place {
    let place = Place::new();
    place.copy_world("demos", "case2_partner_meeting");
    let mut text = "Study(schema: 1, name: \"long\", study_seed: 1, \
                    worlds: [\"case2_partner_meeting.ron\"], \
                    policies: [\"none\", \"tool_boundary\"], seeds: ["
        .to_owned();
    for seed in 0..seeds {
        write!(text, "{seed},").expect("a string takes any text");
    }
    place.write("long.ron", text + "])");
    place
}

/// What is shipped is named without a path from wherever a study lies.
#[test]
fn a_shipped_world_is_named_from_a_study_in_another_folder() {
    let place = Place::new();
    let text = "Study(schema: 1, name: \"mine\", study_seed: 1, worlds: [\"stress_share\"], \
                policies: [\"none\"], models: [\"qwen2_5_7b_instruct\"], seeds: [1])";
    std::fs::create_dir(place.path("deep")).expect("a folder");
    place.write("deep/mine.ron", text);
    place
        .run(&["study", "deep/mine.ron", "--out", "mine"])
        .expect(0);
    place.run(&["check", "deep/mine.ron"]).expect(0);
    // A file of that name comes first.
    place.write("deep/stress_share", "no world");
    let done = place.run(&["check", "deep/mine.ron"]).expect(3);
    assert!(done.err.contains("stress_share"), "{}", done.err);
}

/// The name of a world stands in rows, tables and figures, so no name may hide what it says.
#[test]
fn a_file_whose_name_hides_something_is_no_world() {
    let place = Place::new();
    place.copy_world("demos", "case2_partner_meeting");
    let world = place.read("case2_partner_meeting.ron");
    for name in ["a\u{1b}[31mb", "a\u{202e}b", "a\u{200b}b", "a\nb"] {
        place.write(&format!("{name}.ron"), &world);
        let done = place.run(&["check", &format!("{name}.ron")]).expect(3);
        assert!(done.err.contains("rename it"), "{}", done.err);
    }
}

const WORDS: [&str; 5] = ["study", "long.ron", "--progress", "none", "--threads"];

pub(super) fn words<'w>(threads: &'w str, more: &[&'w str]) -> Vec<&'w str> {
    [&WORDS[..], &[threads], more].concat()
}

fn size(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |file| file.len())
}

/// Starts the study and waits until some of it is finished.
fn begun(place: &Place, more: &[&str]) -> Child {
    begun_in("results/long", place, more)
}

/// Starts the study, whose result is to be in this folder, and waits until some of it is finished.
pub(super) fn begun_in(folder: &str, place: &Place, more: &[&str]) -> Child {
    let journal = place.path(folder).join("rows.journal");
    let mut command = place.command(&words("1", more));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    while size(&journal) < SOME_BYTES {
        let ended = child.try_wait().expect("a child can be asked");
        assert!(ended.is_none(), "it ended before it could be interrupted");
        std::thread::sleep(SHORT);
    }
    child
}

pub(super) fn send(signal: &str, child: &Child) {
    let kill = format!("kill -{signal} {}", child.id());
    let sent = Command::new("sh").args(["-c", &kill]).status();
    assert!(sent.expect("a shell").success());
}

pub(super) fn ended(child: Child) -> Done {
    child.wait_with_output().expect("the program ends").into()
}

/// The rows that the study has when nothing interrupts it.
pub(super) fn undisturbed(place: &Place) -> String {
    place.run(&words("2", &["--out", "whole"])).expect(0);
    place.read("whole/rows.csv")
}

pub(super) fn files(place: &Place, folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(place.path(folder)).expect("a folder");
    let name = |entry: std::io::Result<std::fs::DirEntry>| {
        entry
            .expect("an entry")
            .file_name()
            .to_string_lossy()
            .into_owned()
    };
    let mut names: Vec<String> = entries.map(name).collect();
    names.sort();
    names
}

/// The kind of loss: what was finished when the user, or the system, ended the program.
#[test]
fn an_interrupted_study_goes_on_where_it_was() {
    for signal in ["INT", "TERM"] {
        let place = place(SEEDS);
        let child = begun(&place, &["--resume"]);
        send(signal, &child);
        let interrupted = ended(child).expect(5);
        assert!(interrupted.err.contains("interrupted: "), "{interrupted:?}");
        assert!(interrupted.err.contains("--resume"), "{interrupted:?}");
        assert_eq!(interrupted.out, "");
        let kept = place.read("results/long/rows.journal");
        // Begun anew, it would lose them.
        place.run(&words("1", &[])).fails(5, &["--resume"]);
        assert_eq!(place.read("results/long/rows.journal"), kept);
        let resumed = place.run(&words("2", &["--resume"])).expect(0);
        assert!(resumed.err.contains("were finished before"), "{resumed:?}");
        assert_eq!(place.read("results/long/rows.csv"), undisturbed(&place));
    }
}

#[test]
fn a_killed_study_goes_on_where_it_was() {
    let place = place(SEEDS);
    let mut child = begun(&place, &[]);
    child.kill().expect("it is killed");
    ended(child);
    // And once more while it goes on.
    let before = size(&place.path("results/long/rows.journal"));
    let mut child = begun(&place, &["--resume"]);
    child.kill().expect("it is killed");
    ended(child);
    assert!(size(&place.path("results/long/rows.journal")) + 10_000 > before);
    let resumed = place.run(&words("2", &["--resume"])).expect(0);
    assert!(resumed.err.contains("were finished before"), "{resumed:?}");
    assert_eq!(place.read("results/long/rows.csv"), undisturbed(&place));
    let expected = [".lock", "manifest.json", "rows.csv", "scenarios.jsonl"];
    assert_eq!(files(&place, "results/long"), expected);
}

#[test]
fn a_changed_study_does_not_go_on() {
    let place = place(SEEDS);
    let mut child = begun(&place, &[]);
    child.kill().expect("it is killed");
    ended(child);
    let other = place.run(&words("1", &["--resume", "--seed", "2"]));
    other.fails(5, &["is of a study with manifest", "--out"]);
    place.run(&words("1", &["--resume"])).expect(0);
}

#[test]
fn a_second_study_in_the_same_folder_is_refused() {
    let place = place(SEEDS);
    let mut first = begun(&place, &[]);
    place
        .run(&words("1", &[]))
        .fails(5, &["another study is being written"]);
    place
        .run(&words("1", &["--resume"]))
        .fails(5, &["another study is being written"]);
    first.kill().expect("it is killed");
    ended(first);
    place.run(&words("1", &["--resume"])).expect(0);
}

#[test]
fn what_is_in_the_way_of_a_result_is_told_before_it_runs() {
    let place = place(1);
    std::fs::create_dir_all(place.path("results/long/scenarios.jsonl")).expect("a folder");
    place
        .run(&words("1", &[]))
        .fails(5, &["scenarios.jsonl` is in the way"]);
    assert_eq!(files(&place, "results/long"), ["scenarios.jsonl"]);
}

/// A second run of a study replaces the first, but another study does not.
#[test]
fn the_result_of_another_study_is_not_replaced() {
    let place = place(1);
    place.run(&words("1", &[])).expect(0);
    let rows = place.read("results/long/rows.csv");
    let other = place.read("long.ron").replace("\"long\"", "\"other\"");
    place.write("other.ron", other);
    let over = ["study", "other.ron", "--out", "results/long"];
    place
        .run(&over)
        .fails(5, &["the result of another study, `long`", "--out"]);
    assert_eq!(place.read("results/long/rows.csv"), rows);
}

/// Whoever copies a study file and keeps its `name` does not lose the result of the first.
#[test]
fn a_result_of_a_study_of_that_name_from_another_file_is_not_replaced() {
    let place = place(1);
    place.run(&words("1", &[])).expect(0);
    let rows = place.read("results/long/rows.csv");
    let edited = place.read("long.ron").replace("seeds: [", "seeds: [99, ");
    place.write("copy.ron", edited);
    place
        .run(&["study", "copy.ron", "--out", "results/mine"])
        .expect(0);
    place.run(&["study", "copy.ron"]).fails(
        5,
        &[
            "the result of a study of that name, `",
            "a name of its own",
            "--out",
        ],
    );
    assert_eq!(place.read("results/long/rows.csv"), rows);
}

#[test]
fn what_is_no_result_is_not_replaced_by_one() {
    let place = place(1);
    std::fs::create_dir_all(place.path("results/long")).expect("a folder");
    place.write("results/long/rows.csv", "precious");
    place
        .run(&words("1", &[]))
        .fails(5, &["holds a `rows.csv` that is no result", "--out"]);
    place.write("results/long/manifest.json", "{}");
    place.run(&words("1", &[])).fails(
        5,
        &["holds a result that this program cannot read", "--out"],
    );
    assert_eq!(place.read("results/long/rows.csv"), "precious");
}

/// The result is there already: nothing is run again, and no journal is left behind.
#[test]
fn a_finished_study_that_goes_on_has_nothing_to_run() {
    let place = place(2);
    let first = place.run(&words("1", &[])).expect(0);
    let again = place.run(&words("1", &["--resume"])).expect(0);
    assert!(
        again.err.contains("4 of 4 rollouts were finished before"),
        "{again:?}"
    );
    let digests = |out: &str| -> Vec<String> {
        let named = |line: &&str| line.starts_with("manifest") || line.starts_with("rows");
        out.lines().filter(named).map(str::to_owned).collect()
    };
    assert_eq!(digests(&again.out), digests(&first.out));
    assert_eq!(digests(&again.out).len(), 2);
    let expected = [".lock", "manifest.json", "rows.csv", "scenarios.jsonl"];
    assert_eq!(files(&place, "results/long"), expected);
}

/// What is now in the place of the folder is not overwritten.
#[test]
fn a_folder_that_is_moved_while_a_study_runs_keeps_its_rows() {
    let place = place(SEEDS);
    let child = begun(&place, &[]);
    std::fs::rename(place.path("results/long"), place.path("moved")).expect("a move");
    place.run(&words("1", &["--seed", "9"])).expect(0);
    let theirs = place.read("results/long/rows.csv");
    ended(child).fails(5, &["moved or replaced", "--resume"]);
    assert_eq!(place.read("results/long/rows.csv"), theirs);
    let resumed = place
        .run(&words("1", &["--resume", "--out", "moved"]))
        .expect(0);
    let all = format!("{} of {} rollouts", 2 * SEEDS, 2 * SEEDS);
    assert!(resumed.err.contains(&all), "{resumed:?}");
    assert_eq!(place.read("moved/rows.csv"), undisturbed(&place));
}

/// The study file was named relative to the folder where the study ran.
#[test]
fn a_result_is_replayed_from_any_folder() {
    let place = place(2);
    place.run(&words("1", &[])).expect(0);
    let inner = place.path("results/long");
    for (folder, result) in [(place.path(""), "results/long"), (inner, ".")] {
        let replay = place
            .command(&["replay", result])
            .current_dir(folder)
            .output();
        let replay = Done::from(replay.expect("the program runs")).expect(0);
        assert!(replay.out.contains("4 the same, 0 different"), "{replay:?}");
    }
}

/// Thousands of ways to name one world are told at the second, not after the last.
#[test]
fn a_world_named_in_two_ways_is_told_at_once() {
    let place = place(1);
    let same: String = (0..1_000)
        .map(|count| format!("\"{}case2_partner_meeting.ron\",", "./".repeat(count)))
        .collect();
    let text = place
        .read("long.ron")
        .replace("\"case2_partner_meeting.ron\"", &same);
    place.write("long.ron", text);
    place
        .run(&words("1", &[]))
        .fails(3, &["two worlds of the study are called"]);
}
