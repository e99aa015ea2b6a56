//! Policies that fail or mean harm: no study hangs, crashes, or says that all went well.

use super::{project, rows, study};
use crate::cli::Place;

/// A Python policy that answers each question by what `body` does with `message`; `say` answers.
fn python(body: &str) -> String {
    format!(
        r#"import json, os, sys, time, random
def say(**answer):
    print(json.dumps(answer), flush=True)
count = 0
for line in sys.stdin:
    message = json.loads(line)
    if "hello" in message:
        say(protocol=1, name="odd", summary="", version=1, hooks=["proposal"], state=False)
    elif "id" in message:
        count += 1
        {body}
"#
    )
}

const ALLOW: &str = r#"say(id=message["id"], verdict="allow")"#;

/// The description of a process that has little time.
const HURRIED: &str =
    r#"Process(command: ["python3", "odd.py"], files: ["odd.py"], answer_ms: 300)"#;

fn with(body: &str) -> Place {
    let place = project();
    place.write("odd.py", python(body));
    place.write("odd.process.ron", HURRIED);
    place
}

/// Runs one world under a hurried policy and gives its row and what was told.
fn run(place: &Place) -> (serde_json::Value, String) {
    let words = [
        "run",
        "case1_violation_commits",
        "--policy",
        "process:odd.process.ron",
    ];
    let done = place.run(&words).expect(0);
    (done.json(), done.err)
}

#[test]
fn each_fault_of_a_process_is_a_refusal_that_is_counted_and_told() {
    for (body, told) in [
        ("sys.exit(3)", "3"),
        ("raise ValueError('no such rule')", "no such rule"),
        ("time.sleep(60)", "300"),
        ("print('not json', flush=True)", "not json"),
        (
            r#"say(id=message["id"] + 7, verdict="allow")"#,
            "answers question",
        ),
        (r#"say(id=message["id"], verdict="maybe")"#, "maybe"),
        (
            r#"say(id=message["id"], verdict="quarantine", rule="a")"#,
            "quarantine",
        ),
        (
            r#"say(id=message["id"], verdict="block", rule="Not A Rule")"#,
            "rule",
        ),
        (
            r#"say(id=message["id"], verdict="allow"); say(id=message["id"], verdict="allow")"#,
            "",
        ),
        (
            "sys.stdout.write('x' * 30_000_000); sys.stdout.flush()",
            "bytes",
        ),
        (
            "sys.stderr.write('why' * 1000000); sys.stderr.flush(); sys.exit(1)",
            "whywhy",
        ),
        (
            "hoard = [bytearray(1 << 24) for _ in range(1 << 12)]",
            "MemoryError",
        ),
    ] {
        let place = with(body);
        let (row, err) = run(&place);
        let faults = row["plugin_faults"].as_u64().expect("a count");
        assert!(faults > 0, "{body}: {row}");
        assert_eq!(row["committed_harm"], 0, "{body}");
        assert_eq!(row["high_risk_commits"], 0, "{body}");
        assert!(
            err.contains("failed") && err.contains(told),
            "{body}: {err}"
        );
    }
}

#[test]
fn a_study_under_a_policy_that_fails_here_and_there_counts_every_failure() {
    let place = with(&format!(
        r#"if message["tool"] == "share_document": raise ValueError("not this")
        {ALLOW}"#
    ));
    let policies = ["none", "process:odd.process.ron"];
    study(&place, "demos", &policies, "out", &[]).expect(0);
    let (mut failed, mut whole) = (0, 0);
    for pair in rows(&place, "out").chunks(2) {
        let (without, odd) = (&pair[0], &pair[1]);
        assert_eq!(&*odd.identity.policy, "process:odd");
        let faults = odd.metrics.endpoints.plugin_faults.expect("a count");
        if faults == 0 {
            whole += 1;
            assert_eq!(odd.metrics, without.metrics, "it allows everything else");
        } else {
            failed += 1;
            assert!(odd.metrics.endpoints.verdicts >= Some(faults));
        }
    }
    assert!(failed > 0 && whole > 0, "{failed} and {whole}");
}

#[test]
fn a_policy_that_never_answers_begins_no_study() {
    let place = with("sys.exit(1)");
    let policies = ["none", "process:odd.process.ron"];
    let done = study(&place, "full_main", &policies, "out", &[]);
    done.fails(3, &["answered none of", "plugin check"]);
    assert!(!place.path("out").exists());
}

#[test]
fn a_policy_that_answers_as_it_pleases_marks_its_study() {
    let place = with(&format!(
        r#"say(id=message["id"], verdict=random.choice(["allow", "block"]), rule="a_coin", denial="outside_user_goal")
        continue
        {ALLOW}"#
    ));
    let done = place
        .run(&["plugin", "check", "odd.process.ron", "--rounds", "2"])
        .expect(4);
    assert!(done.out.contains("two answers"), "{}", done.out);
    let policies = ["none", "process:odd.process.ron"];
    let done = study(&place, "smoke", &policies, "out", &[]).expect(0);
    assert!(done.err.contains("cannot be expected"), "{}", done.err);
    let manifest: serde_json::Value =
        serde_json::from_str(&place.read("out/manifest.json")).expect("a manifest");
    assert_eq!(
        manifest["circumstances"]["not_replayable"][0],
        "process:odd"
    );
    let replayed = place.run(&["replay", "out", "--processes"]).expect(0);
    assert!(
        replayed.out.contains("504 not replayable"),
        "{}",
        replayed.out
    );
    place.run(&["verify", "out"]).expect(0);
}

#[test]
fn a_policy_that_answers_as_it_pleases_is_replayed_from_what_was_recorded() {
    let place = with(
        r#"say(id=message["id"], verdict=random.choice(["allow", "block"]), rule="a_coin", denial="outside_user_goal")"#,
    );
    let policies = ["none", "process:odd.process.ron"];
    let record = ["--record-decisions"];
    study(&place, "smoke", &policies, "out", &record).expect(0);
    // No process is started: that of the record would not even begin.
    place.write("odd.py", place.read("odd.py"));
    let done = place.run(&["replay", "out"]).expect(0);
    assert!(
        done.out.contains("1008 rows replayed: 1008 the same"),
        "{}",
        done.out
    );
    place.run(&["verify", "out"]).expect(0);
    let recording = place.read("out/process_odd.decisions.jsonl");
    place.write(
        "out/process_odd.decisions.jsonl",
        recording.replacen("a_coin", "b_coin", 1),
    );
    place.run(&["replay", "out"]).fails(3, &["decisions.jsonl"]);
}

/// What was hashed is what runs: a file that changes itself changes nothing, and what it writes stays
/// in a folder of its own.
#[test]
fn a_policy_that_changes_its_file_or_writes_elsewhere_changes_no_study() {
    let place = project();
    let lie = r##"os.remove(sys.argv[0]); open(sys.argv[0], "w").write("#"); open("rows.csv", "w").write("harm")
        say(id=message["id"], verdict="allow")"##;
    place.write("odd.py", python(lie));
    let before = place.read("odd.py");
    let policies = ["none", "process:odd.py"];
    study(&place, "smoke", &policies, "out", &[]).expect(0);
    assert_eq!(place.read("odd.py"), before, "it wrote to a copy");
    assert!(!place.path("rows.csv").exists());
    place.run(&["verify", "out", "--processes"]).expect(0);
    place.run(&["replay", "out", "--processes"]).expect(0);
}

#[cfg(feature = "wasm")]
#[test]
fn a_module_that_loops_or_hoards_is_stopped() {
    let module = |body: &str| {
        format!(
            r#"(module (memory (export "memory") 2)
            (func (export "cb_abi") (result i32) (i32.const 1))
            (func (export "cb_hooks") (result i32) (i32.const 16))
            (func (export "cb_rule") (param i32) (result i64) (i64.const 0))
            (func (export "cb_alloc") (param i32) (result i32) (i32.const 65536))
            (func (export "cb_reset") (param i32 i32))
            (func (export "cb_append") (param i32 i32))
            (func (export "cb_decide") (param i32 i32 i32) (result i64) {body}))"#
        )
    };
    for body in [
        "(loop (br 0)) (i64.const 0)",
        "(unreachable)",
        "(loop (drop (memory.grow (i32.const 100))) (br 0)) (i64.const 0)",
    ] {
        let place = project();
        place.write("odd.wat", module(body));
        let words = ["run", "case1_violation_commits", "--policy", "wasm:odd.wat"];
        let row = place.run(&words).expect(0).json();
        assert!(
            row["plugin_faults"].as_u64().is_some_and(|count| count > 0),
            "{body}"
        );
        assert_eq!(row["high_risk_commits"], 0, "{body}");
    }
}
