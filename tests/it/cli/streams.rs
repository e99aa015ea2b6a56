//! Standard output that goes away or is full.

use std::process::Stdio;

use super::Place;

const CASE_2: &str = "case2_partner_meeting";

#[test]
fn a_reader_that_goes_away_ends_every_command_quietly() {
    let place = Place::new();
    let commands: [&[&str]; 9] = [
        &["--help"],
        &["run", CASE_2, "--policy", "none"],
        &["trace", "hub_and_eight_workers", "--reveal"],
        &[
            "step",
            "hub_and_eight_workers",
            "--policy",
            "none",
            "--script",
            "r;l;w",
        ],
        &["pair", CASE_2, "--policies", "none,tool_boundary"],
        &["list", "metrics"],
        &["explain", "W001"],
        &["check", CASE_2],
        &["study", "demos", "--progress", "none"],
    ];
    for words in commands {
        let mut command = place.command(words);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("the program ends");
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{words:?}: {err}");
        assert_eq!(err, "", "{words:?}");
    }
    assert!(
        place.path("results/demos/rows.csv").exists(),
        "the result is written all the same"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told() {
    let place = Place::new();
    let commands: [&[&str]; 5] = [
        &["trace", CASE_2],
        &["--help"],
        &["run", "--help"],
        &["help", "step"],
        &["--version"],
    ];
    for words in commands {
        let mut command = place.command(words);
        let full = std::fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .expect("a full device");
        command.stdout(full).stderr(Stdio::piped());
        let output = command.output().expect("the program ends");
        assert_eq!(output.status.code(), Some(5), "{words:?}");
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(err.contains("standard output cannot be written"), "{err}");
    }
}

#[test]
fn results_and_everything_else_go_to_their_streams() {
    let place = Place::new();
    let done = place.run(&["check", CASE_2, "missing.ron"]).expect(3);
    assert!(done.out.contains("case2_partner_meeting: ok") && done.out.contains("missing.ron: 1"));
    assert!(done.err.contains("does not exist") && !done.err.contains("case2"));
}
