//! Sessions of `step`: those that begin at a snapshot, and how they end.

use super::Place;

const CASE_2: &str = "case2_partner_meeting";

#[test]
fn a_session_can_begin_at_a_snapshot() {
    let place = Place::new();
    for world in [CASE_2, "several_episodes", "hub_and_eight_workers"] {
        let step = ["step", world, "--policy", "rollback_v2", "--script"];
        let whole = place.run(&[&step[..], &["r"]].concat()).expect(0).out;
        let header = whole.lines().next().expect("a header");
        for steps in [0, 1, 20, 9] {
            let script = format!("n {steps};s state.snap");
            place.run(&[&step[..], &[&script]].concat()).expect(0);
            let rest = ["r", "--from", "state.snap"];
            let rest = place.run(&[&step[..], &rest].concat()).expect(0).out;
            let expected: Vec<&str> = whole.lines().skip(1 + steps).collect();
            let found: Vec<&str> = rest.lines().collect();
            assert_eq!(found[0], header, "{world}");
            assert_eq!(found[1..], expected, "{world} from step {steps}");
        }
        let words = ["b 5;n 5", "--from", "state.snap"];
        let back = place.run(&[&step[..], &words].concat()).expect(0).out;
        let expected: Vec<&str> = whole.lines().skip(5).take(5).collect();
        let found: Vec<&str> = back.lines().skip(2).collect();
        assert_eq!(found, expected, "{world}");
    }
}

#[test]
fn a_snapshot_of_another_rollout_is_refused() {
    let place = Place::new();
    let step = ["step", CASE_2, "--policy", "none"];
    let take = ["--script", "n 9;s state.snap"];
    place.run(&[&step[..], &take].concat()).expect(0);
    let others: [&[&str]; 4] = [
        &["step", "case5_contact_memory", "--policy", "none"],
        &["step", CASE_2, "--policy", "taint_only_v1"],
        &["step", CASE_2, "--policy", "none", "--seed", "2"],
        &["step", CASE_2, "--policy", "none", "--user", "oracle"],
    ];
    let from = ["--from", "state.snap", "--script", "n"];
    for other in others {
        let done = place.run(&[other, &from].concat());
        let done = done.fails(3, &["another rollout", "state.snap", "seeds and settings"]);
        assert_eq!(done.out, "", "{other:?}");
    }
}

#[test]
fn a_file_that_is_no_snapshot_is_refused() {
    let place = Place::new();
    let step = ["step", CASE_2, "--policy", "none", "--script"];
    let take = [&step[..], &["n 9;s state.snap"]].concat();
    place.run(&take).expect(0);
    let good = std::fs::read(place.path("state.snap")).expect("a snapshot");
    let mut newer = good.clone();
    newer[8] += 1;
    let mut changed = good.clone();
    changed[100] ^= 1;
    let wrong: [(&[u8], i32, &str); 5] = [
        (b"", 3, "no snapshot of a rollout"),
        (b"World(schema: 1)", 3, "no snapshot of a rollout"),
        (&good[..good.len() - 1], 3, "is damaged"),
        (&changed, 3, "is damaged"),
        (&newer, 7, "format version 3"),
    ];
    let from = [&step[..], &["n", "--from", "wrong.snap"]].concat();
    for (bytes, code, says) in wrong {
        place.write("wrong.snap", bytes);
        let done = place.run(&from).fails(code, &[says, "wrong.snap"]);
        assert_eq!(done.out, "", "{says}");
    }
    let missing = [&step[..], &["n", "--from", "missing.snap"]].concat();
    place.run(&missing).fails(3, &["does not exist"]);
}

#[test]
fn the_first_command_that_fails_decides_how_a_session_ends() {
    let place = Place::new();
    let step = ["step", CASE_2, "--policy", "none"];
    for (input, code) in [
        ("n\nnonsense\ns no/such/folder/x\nn\n", 2),
        ("n\ns no/such/folder/x\nnonsense\nn\nq\n", 5),
        ("n\n\nl\nn\n", 0),
    ] {
        let done = place.run_with_input(&step, input).expect(code);
        let steps = done.out.lines().filter(|line| line.starts_with("    "));
        assert_eq!(steps.count(), 2, "it goes on: {}", done.out);
    }
    let script = [&step[..], &["--script", "n;s no/such/folder/x;n"]].concat();
    let done = place.run(&script).fails(5, &["cannot be written"]);
    assert_eq!(done.out.lines().count(), 2, "it stops: {}", done.out);
    let script = [&step[..], &["--script", "n;nonsense"]].concat();
    let done = place.run(&script).fails(2, &["`nonsense` is no command"]);
    assert_eq!(done.out, "", "nothing is done");
}
