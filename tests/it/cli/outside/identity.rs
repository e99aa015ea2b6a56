//! A policy is what its bytes are: in rows, manifests and traces, when resumed and when replayed.

use study::folder::Folder;
use study::journal::Journal;
use study::manifest::Manifest;

use super::{EVERYWHERE, project, rows, study};

const FILE: &str = "mine.rules.ron";
const NAMED: &str = "rules:mine.rules.ron";

fn rules() -> String {
    let path = crate::support::root().join("policies/recipient_guard/recipient_guard.rules.ron");
    std::fs::read_to_string(path).expect("a shipped policy")
}

#[test]
fn kind_version_and_content_stand_in_the_manifest_and_in_each_row() {
    let place = project();
    study(&place, "smoke", EVERYWHERE, "all", &[]).expect(0);
    let manifest: serde_json::Value =
        serde_json::from_str(&place.read("all/manifest.json")).expect("a manifest");
    let frozen = manifest["frozen"]["policies"].as_array().expect("a list");
    for (row, policy) in rows(&place, "all").iter().zip(frozen.iter().cycle()) {
        let identity = &row.identity;
        assert_eq!(policy["name"], *identity.policy);
        assert_eq!(policy["kind"], *identity.policy_kind);
        assert_eq!(policy["version"], identity.policy_version);
        let content = identity.policy_content.map(|hash| hash.to_string());
        assert_eq!(policy["content_hash"].as_str(), content.as_deref());
        assert_eq!(content.is_none(), &*identity.policy_kind == "built_in");
    }
    let kinds: Vec<&str> = frozen.iter().filter_map(|it| it["kind"].as_str()).collect();
    assert_eq!(kinds[..3], ["built_in", "rules", "process"]);
    let files = manifest["circumstances"]["policy_files"]
        .as_array()
        .expect("a list");
    assert_eq!(files.len(), EVERYWHERE.len() - 1);
    place.run(&["replay", "all"]).fails(3, &["--processes"]);
    place.run(&["replay", "all", "--processes"]).expect(0);
    place.run(&["verify", "all", "--processes"]).expect(0);
    // Without leave to run processes a result is audited all the same, but for their rows.
    place.run(&["verify", "all"]).expect(0);
}

#[test]
fn a_changed_file_is_another_policy_and_no_resume_takes_it_for_the_old_one() {
    let place = project();
    place.write(FILE, rules());
    study(
        &place,
        "smoke",
        &["none", NAMED],
        "out",
        &["--shard", "1/2"],
    )
    .expect(0);
    let before = rows(&place, "out");
    place.write(FILE, rules().replace("AtLeast(2)", "AtLeast(3)"));
    // An interrupted study under the policy as it was does not go on with the policy as it is.
    let manifest = place.read("out/manifest.json");
    let manifest = Manifest::from_json(&manifest).expect("a manifest");
    let folder = Folder::open(&place.path("half")).expect("a folder");
    drop(Journal::begin(&folder, (&manifest).into()).expect("a journal"));
    drop(folder);
    let resumed = ["--shard", "1/2", "--resume"];
    let policies = ["none", NAMED];
    study(&place, "smoke", &policies, "half", &resumed).fails(5, &["changed since"]);
    // The earlier result is of another policy, whatever it is called.
    let replayed = place.run(&["replay", "out"]).expect(6);
    assert!(
        replayed.out.contains("its file has changed since"),
        "{}",
        replayed.out
    );
    study(
        &place,
        "smoke",
        &["none", NAMED],
        "again",
        &["--shard", "1/2"],
    )
    .expect(0);
    let after = rows(&place, "again");
    let (a, b) = (&before[1].identity, &after[1].identity);
    assert_eq!(a.policy, b.policy);
    assert_ne!(a.policy_content, b.policy_content);
    assert_ne!(a.policy_hash, b.policy_hash);
    assert_ne!(a.rollout_id, b.rollout_id);
    assert_eq!(
        before[0].identity, after[0].identity,
        "no row of another policy changes"
    );
}

#[test]
fn two_files_that_would_be_called_the_same_are_refused() {
    let place = project();
    std::fs::create_dir(place.path("other")).expect("a folder");
    place.write(FILE, rules());
    place.write(
        "other/mine.rules.ron",
        rules().replace("AtLeast(2)", "AtLeast(3)"),
    );
    let policies = [NAMED, "rules:other/mine.rules.ron"];
    study(&place, "smoke", &policies, "out", &[]).fails(3, &["would be called `rules:mine`"]);
}

#[test]
fn a_trace_under_a_file_is_replayed_as_long_as_the_file_is_the_same() {
    let place = project();
    place.write(FILE, rules());
    let run = [
        "run",
        "case1_violation_commits",
        "--policy",
        NAMED,
        "--trace",
        "t.jsonl",
    ];
    place.run(&run).expect(0);
    let done = place
        .run(&["replay", "t.jsonl", "--world", "case1_violation_commits"])
        .expect(0);
    assert!(done.out.contains("all the same"), "{}", done.out);
    place.write(FILE, rules().replace("AtLeast(2)", "AtLeast(3)"));
    let replay = ["replay", "t.jsonl", "--world", "case1_violation_commits"];
    place.run(&replay).fails(3, &["policy_hash"]);
    std::fs::remove_file(place.path(FILE)).expect("the file");
    place.run(&replay).fails(3, &["`rules:mine` is not found"]);
}

#[test]
fn what_is_wrong_in_a_policy_is_told_at_its_place() {
    let place = project();
    place.write(FILE, rules().replace("Not(LedgerMatch)", "Not(LedgrMatch)"));
    let done = place.run(&["--error-format", "plain", "plugin", "check", NAMED]);
    done.fails(3, &["mine.rules.ron:7:", "LedgerMatch"]);
    for (named, code, says) in [
        ("rules:absent.rules.ron", 3, "cannot be read"),
        ("rules:.", 2, "file name"),
        ("sandbox:x", 2, "no host"),
        ("strictest(none", 2, "close the bracket"),
        ("process:worlds", 3, "not a regular file"),
        ("rules:/proc/kmsg", 3, "not a regular file"),
        ("nonne", 2, "did you mean `none`?"),
    ] {
        let run = ["run", "case1_violation_commits", "--policy", named];
        place.run(&run).fails(code, &[says]);
    }
    place.write(
        "wrong.ron",
        r#"Study(schema: 1, name: "wrong", study_seed: 1, worlds: ["case1_violation_commits"],
            policies: ["none", "strictest(none"], seeds: [1])"#,
    );
    let done = place.run(&["--error-format", "plain", "check", "wrong.ron"]);
    done.fails(3, &["wrong.ron:2:", "close the bracket"]);
}

/// A misspelt tool makes a rule silent: what no world of a study has is told before it runs.
#[test]
fn a_name_that_no_world_of_a_study_has_is_told() {
    let place = project();
    place.write(
        "typo.rules.ron",
        r#"Rules(schema: 1, rules: [
            (rule: "no_mail", at: Proposal, when: [Tool("send_emial")], then: Block, denial: OutsideUserGoal),
            (rule: "no_share", at: Proposal, when: [Tool("share_document")], then: Block, denial: OutsideUserGoal),
        ])"#,
    );
    let policies = ["none", "rules:typo.rules.ron"];
    let done = study(&place, "smoke", &policies, "out", &[]).expect(0);
    assert!(done.err.contains("send_emial"), "{}", done.err);
    let known = "no tool `share_document`";
    assert!(!done.err.contains(known), "{}", done.err);
}
