//! `check` and `parse`: files that anybody may have written.

use std::fs::File;

use super::Place;

const CASE_2: &str = "case2_partner_meeting";

/// A world with three mistakes, at known places.
fn place_with_mistakes() -> Place {
    let place = Place::new();
    place.copy_world("demos", CASE_2);
    let text = place.read("case2_partner_meeting.ron");
    let wrong = text
        .replace("trust: Untrusted", "trust: Untrustd")
        .replace("target: Fixed(\"primary\")", "targt: Fixed(\"primary\")")
        .replace("tools: [\"read_note\"", "tools: [\"read_notes\"");
    place.write("wrong.ron", &wrong);
    place
}

#[test]
fn shipped_worlds_and_the_study_pass() {
    let place = Place::new();
    let worlds = crate::support::root().join("worlds");
    let mut paths = Vec::new();
    for folder in ["demos", "topologies", "families", "studies"] {
        for entry in std::fs::read_dir(worlds.join(folder)).expect("shipped files") {
            paths.push(entry.expect("an entry").path());
        }
    }
    let words = ["check"]
        .into_iter()
        .chain(paths.iter().map(|path| super::word(path)));
    let done = place.run(&words.collect::<Vec<_>>()).expect(0);
    // Case 8 calls a tool that its agent does not hold, its control gives an argument that a tool
    // does not have: both are what these worlds are about. Each is told with its world, with its script
    // and with its study. Nothing else is suspicious.
    let suspicious = done.out.matches(".ron: ok, ").count();
    assert_eq!(suspicious, 6, "{}", done.out);
    let others = done.out.lines().filter(|line| line.contains(".ron: ok, "));
    let mut others =
        others.filter(|line| !["case8", "studies/"].iter().any(|name| line.contains(name)));
    assert_eq!(others.next(), None);
    assert!(!done.err.contains("W096"), "{}", done.err);
    let passed = done.out.matches(".ron: ok\n").count();
    assert_eq!(passed + suspicious, paths.len(), "{}", done.out);
    let told = done
        .err
        .matches("does not hold the tool `delete_note`")
        .count();
    assert_eq!(told, 3, "{}", done.err);
}

#[test]
fn check_bounds_the_flow_of_untrusted_content() {
    let place = Place::new();
    let text = place.run(&["check", CASE_2]).expect(0).out;
    let bound = "untrusted content can reach at most: agents assistant; sinks calendar, mail";
    assert!(text.contains(bound), "{text}");
    let clean = place.run(&["check", "clean_status_note"]).expect(0).out;
    assert!(clean.contains("can reach at most: nothing"), "{clean}");
}

#[test]
fn mistakes_are_told_together_with_line_and_column() {
    let place = place_with_mistakes();
    let drawn = place
        .run(&["check", "wrong.ron"])
        .fails(3, &["wrong.ron:", "did you mean"]);
    assert!(
        drawn.out.starts_with("wrong.ron: 3 errors"),
        "{}",
        drawn.out
    );
    let plain = place
        .run(&["check", "wrong.ron", "--error-format", "plain"])
        .expect(3)
        .err;
    let lines: Vec<&str> = plain.lines().collect();
    assert_eq!(lines.len(), 3, "{plain}");
    for (line, code) in lines.iter().zip(["W022", "W009", "W008"]) {
        let (place, rest) = line.split_once(": ").expect("a place");
        let numbers = place.strip_prefix("wrong.ron:").expect("the file");
        let (line_number, column) = numbers.split_once(':').expect("line and column");
        assert!(
            line_number.parse::<u32>().is_ok_and(|number| number > 7),
            "{line}"
        );
        assert!(
            column.parse::<u32>().is_ok_and(|number| number > 1),
            "{line}"
        );
        assert!(rest.starts_with(&format!("error[{code}]: ")), "{line}");
    }
    assert!(
        !drawn.err.contains('\u{1b}'),
        "no colour without a terminal"
    );
    let colour = place
        .run(&["check", "wrong.ron", "--color", "always"])
        .expect(3);
    assert!(colour.err.contains('\u{1b}'));
}

#[test]
fn problems_are_json_on_request() {
    let place = place_with_mistakes();
    let err = place
        .run(&["check", "wrong.ron", "--error-format", "json"])
        .expect(3)
        .err;
    let document = place
        .run(&["check", "wrong.ron", "--format", "json"])
        .expect(3);
    assert_eq!(document.err, "");
    let document = document.json();
    let listed = document["files"][0]["diagnostics"]
        .as_array()
        .expect("diagnostics");
    assert_eq!(document["files"][0]["errors"], 3);
    let lines: Vec<serde_json::Value> = err
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(&lines, listed);
    for problem in listed {
        for key in [
            "severity", "code", "file", "line", "column", "message", "help",
        ] {
            assert!(!problem[key].is_null(), "{key}: {problem}");
        }
    }
    let good = place
        .run(&["check", CASE_2, "--format", "json"])
        .expect(0)
        .json();
    assert_eq!(good["files"][0]["ok"], true);
    assert_eq!(good["files"][0]["exposure"]["sinks"][1], "mail");
}

#[test]
fn a_command_that_needs_a_wrong_world_says_what_is_wrong() {
    let place = place_with_mistakes();
    for words in [
        &["run", "wrong.ron", "--policy", "none"][..],
        &["step", "wrong.ron", "--policy", "none", "--script", "n"][..],
        &["pair", "wrong.ron", "--policies", "none,tool_boundary"][..],
        &["trace", "wrong.ron"][..],
    ] {
        let done = place
            .run(words)
            .fails(3, &["W009", "did you mean `Untrusted`?"]);
        assert_eq!(done.out, "");
    }
}

#[test]
fn scripts_are_checked_with_their_worlds() {
    let place = Place::new();
    place.copy_world("demos", CASE_2);
    let script = "case2_partner_meeting.script.ron";
    let good = place.read(script);
    place.write(script, good.replace("\"send_invite\"", "\"send_invte\""));
    let warned = place.run(&[
        "check",
        "case2_partner_meeting.ron",
        "--error-format",
        "plain",
    ]);
    let told = [
        "case2_partner_meeting.script.ron:12:27: warning[F006]",
        "did you mean `send_invite`?",
    ];
    let warned = warned.fails(0, &told);
    assert!(warned.out.contains("ok, 1 warning"), "{}", warned.out);
    place.write(script, good.replace("\"assistant\": [", "\"asistant\": ["));
    place
        .run(&["check", script])
        .fails(3, &["F006", "did you mean `assistant`?"]);
    let run = ["run", "case2_partner_meeting.ron", "--policy", "none"];
    place.run(&run).fails(3, &["did you mean `assistant`?"]);
    place.write(script, good.replace("say: Final", "say: Finale"));
    let broken = place.run(&[
        "check",
        "case2_partner_meeting.ron",
        "--error-format",
        "plain",
    ]);
    broken.fails(
        3,
        &[
            "case2_partner_meeting.script.ron:",
            "error[F005]",
            "did you mean `Final`?",
        ],
    );
    std::fs::remove_file(place.path(script)).expect("the script");
    let alone = place.run(&["check", "case2_partner_meeting.ron"]).expect(0);
    let hint = "script: none; `run` needs `case2_partner_meeting.script.ron`";
    assert!(alone.out.contains(hint), "{}", alone.out);
    place.run(&run).fails(
        3,
        &["case2_partner_meeting.script.ron", "Script(agents: {})"],
    );
}

#[test]
fn every_command_that_runs_a_script_tells_its_warnings() {
    let place = Place::new();
    place.copy_world("demos", CASE_2);
    let world = "case2_partner_meeting.ron";
    let study = "Study(schema: 1, name: \"mine\", study_seed: 1, worlds: [\"case2_partner_meeting.ron\"], \
                 policies: [\"none\"], seeds: [1], denominator_policies: [\"none\"])";
    place.write("mine.ron", study);
    let commands = [
        &["run", world, "--policy", "none"][..],
        &["trace", world],
        &["step", world, "--policy", "none", "--script", "n"],
        &["pair", world, "--policies", "none,tool_boundary"],
        &["study", "mine.ron", "--progress", "none"],
        &["check", "mine.ron"],
    ];
    let script = "case2_partner_meeting.script.ron";
    let suspicious = "when: [NotSeen(\"note:nobody\")], say: Final";
    place.write(script, place.read(script).replace("say: Final", suspicious));
    for words in commands {
        let done = place.run(words).expect(0);
        let told = |text: &str| text.matches("no source `note:nobody`").count();
        assert_eq!((told(&done.err), told(&done.out)), (1, 0), "{words:?}");
    }
    let inside = place.run(&["run", "case8_parser_validity", "--policy", "none"]);
    assert_eq!(inside.expect(0).err, "", "what is shipped is meant so");
}

#[test]
fn another_version_has_its_own_exit_code() {
    let place = Place::new();
    place.copy_world("demos", CASE_2);
    let text = place
        .read("case2_partner_meeting.ron")
        .replace("schema: 1", "schema: 2");
    place.write("newer.ron", text);
    place.write("newer.script.ron", "Script(agents: {})");
    place
        .run(&["check", "newer.ron"])
        .fails(7, &["W006", "this program reads version 1"]);
    place
        .run(&["run", "newer.ron", "--policy", "none"])
        .fails(7, &["W006"]);
    place.run(&["check", "newer.ron", "missing.ron"]).expect(3);
    place.write("study.ron", "Study(schema: 9, name: \"x\")");
    place.run(&["check", "study.ron"]).fails(7, &["S004"]);
    place.run(&["study", "study.ron"]).fails(7, &["S004"]);
}

#[test]
fn study_files_are_told_at_their_place() {
    let place = Place::new();
    place.copy_world("demos", CASE_2);
    let study = |policies: &str| {
        format!(
            "Study(\n    schema: 1,\n    name: \"mine\",\n    study_seed: 1,\n    \
             worlds: [\"case2_partner_meeting.ron\"],\n    policies: [{policies}],\n    \
             seeds: [1, 2],\n)\n"
        )
    };
    place.write("mine.ron", study("\"none\", \"tool_boundry\""));
    let plain = place.run(&["study", "mine.ron", "--error-format", "plain"]);
    plain.fails(
        3,
        &[
            "mine.ron:6:",
            "error[S014]",
            "did you mean `tool_boundary`?",
        ],
    );
    assert!(!place.path("results").exists());
    place.write("mine.ron", study("\"none\", \"tool_boundary\""));
    let checked = place.run(&["check", "mine.ron"]).expect(0);
    assert!(
        checked.out.contains("study mine: 4 rollouts, 1 world"),
        "{}",
        checked.out
    );
    place.write("mine.ron", study("\"none\"").replace("case2", "case9"));
    place
        .run(&["study", "mine.ron"])
        .fails(3, &["case9_partner_meeting.ron` does not exist"]);
}

#[test]
fn hostile_files_are_refused_at_once() {
    let place = Place::new();
    std::fs::create_dir(place.path("folder.ron")).expect("a folder");
    place.write("latin1.ron", b"World(schema: 1, // caf\xe9\n)");
    place.write("nul.ron", [0_u8; 64]);
    place.write("empty.ron", "");
    place.write("deep.ron", "(".repeat(100_000));
    place.write("brackets.ron", format!("World({}", "[".repeat(1_000_000)));
    place.write("nan.ron", "World(schema: NaN)");
    let huge = File::create(place.path("huge.ron")).expect("a file");
    huge.set_len(64 << 30).expect("a sparse file");
    let cases = [
        ("missing.ron", "F001"),
        ("folder.ron", "F001"),
        ("huge.ron", "F002"),
        ("latin1.ron", "F003"),
        ("nul.ron", "W0"),
        ("empty.ron", "W0"),
        ("deep.ron", "W0"),
        ("brackets.ron", "W0"),
        ("nan.ron", "W0"),
    ];
    for (file, code) in cases {
        let done = place.run(&["check", file, "--error-format", "plain"]);
        let done = done.fails(3, &[file, &format!("error[{code}")]);
        assert!(done.err.len() < 20_000, "{file}: {}", done.err.len());
        place
            .run(&["run", file, "--policy", "none"])
            .fails(3, &[file]);
        place
            .run(&["parse", "-", "--world", file])
            .fails(3, &[file]);
    }
    for command in [
        &["replay", "huge.ron"][..],
        &["diff", "huge.ron", "huge.ron"][..],
    ] {
        place.run(command).fails(3, &["F002"]);
    }
    let nearly = place.run(&["run", "case2", "--policy", "none"]);
    nearly.fails(3, &["did you mean `case2_partner_meeting`?"]);
}

#[cfg(unix)]
#[test]
fn devices_are_refused_at_once() {
    let place = Place::new();
    for device in ["/dev/zero", "/dev/stdin"] {
        place.run(&["check", device]).fails(3, &["F001", device]);
        place
            .run(&["run", device, "--policy", "none"])
            .fails(3, &["F001"]);
        place.run(&["study", device]).fails(3, &["F001"]);
        place.run(&["parse", device]).fails(3, &["F001"]);
        place.run(&["replay", device]).fails(3, &["F001"]);
    }
}

#[test]
fn a_world_can_come_over_standard_input() {
    let place = Place::new();
    place.copy_world("demos", CASE_2);
    let text = place.read("case2_partner_meeting.ron");
    let done = place.run_with_input(&["check", "-"], &text).expect(0);
    assert!(done.out.starts_with("-: ok"), "{}", done.out);
    let wrong = text.replace("Untrusted", "Untrustd");
    place
        .run_with_input(&["check", "-"], &wrong)
        .fails(3, &["standard input", "W009"]);
    let large = "x".repeat((1 << 20) + 1);
    place
        .run_with_input(&["check", "-"], &large)
        .fails(3, &["F002"]);
}

/// The completions of case 8.
const COMPLETIONS: &str = r#"```json
{"action": "tool", "name": "read_note", "parameters": {"note": "note:partner"}}
```

{"action":"tool","tool":"delete_note","arguments":{"note":"x"}}

{"action":"tool","tool":"crea

I will create it. {"action":"tool","tool":"create_event","arguments":{"event":"evt-1","title":"t","time":"x","attendee":"a@b.local"}}

{"action":"tool","tool":"send_invite","arguments":{"event":"evt-1","recipient":"a@b.local"}}

{"action":"final","text":"done"}
"#;

#[test]
fn parse_counts_as_table_24_does() {
    let place = Place::new();
    place.write("said.txt", COMPLETIONS);
    let words = [
        "parse",
        "said.txt",
        "--world",
        "case8_parser_validity",
        "--agent",
        "assistant",
    ];
    let json = place
        .run(&[&words[..], &["--format", "json"]].concat())
        .expect(0)
        .json();
    assert_eq!(json["separated"], "separated by blank lines");
    for (name, count) in [
        ("model_actions", 6),
        ("valid_actions", 3),
        ("final_actions", 1),
        ("invalid_tool_actions", 1),
        ("invalid_schema_actions", 1),
        ("valid_strict_json", 3),
        ("valid_repaired_json", 2),
        ("invalid_schema", 1),
        ("old_action_like_final_answers", 4),
    ] {
        assert_eq!(json["counts"][name], count, "{name}");
    }
    let first = &json["completions"][0];
    assert_eq!(first["repairs"][0], "fence");
    assert_eq!(first["action"]["arguments"]["note"], "note:partner");
    let text = place.run(&words).expect(0).out;
    assert!(
        text.contains("6 completions, separated by blank lines"),
        "{text}"
    );
    let unknown = place.run(&["parse", "said.txt"]).expect(0).out;
    assert!(
        unknown.contains("no tool is known, name a world with --world"),
        "{unknown}"
    );
}

#[test]
fn parse_takes_any_bytes_as_lines() {
    let place = Place::new();
    let text = "{\"action\":\"final\",\"text\":\"a\"}\nplain words\n{{{{\n";
    let done = place
        .run_with_input(&["parse", "-", "--format", "json"], text)
        .expect(0);
    assert_eq!(done.json()["separated"], "one a line");
    assert_eq!(done.json()["counts"]["model_actions"], 3);
    let empty = place
        .run_with_input(&["parse", "-", "--format", "json"], "")
        .expect(0);
    assert_eq!(empty.json()["counts"]["model_actions"], 0);
}

/// The drawing of problems gives up on columns beyond a few ten thousands.
#[test]
fn a_problem_far_along_a_line_is_told_in_words() {
    let place = Place::new();
    place.copy_world("demos", CASE_2);
    let blanks = " ".repeat(70_000);
    place.write("far.ron", format!("Study({blanks}x: 1)"));
    place.run(&["check", "far.ron"]).fails(3, &["S00"]);
    place.run(&["study", "far.ron"]).fails(3, &["S00"]);
    let world = place.read("case2_partner_meeting.ron");
    place.write("w.ron", world);
    place.write("w.script.ron", format!("Script({blanks}agentz: {{}})"));
    place
        .run(&["run", "w.ron", "--policy", "none"])
        .fails(3, &["w.script.ron:1:7"]);
    std::fs::write(
        place.path("bytes.txt"),
        [vec![b'a'; 66_000], vec![0xff]].concat(),
    )
    .expect("written");
    place
        .run(&["parse", "bytes.txt"])
        .fails(3, &["bytes.txt:1:66001"]);
}

#[test]
fn a_profile_is_checked_and_its_mistakes_are_told() {
    let place = Place::new();
    place.write("wary.ron", "Profile(schema: 1, model: \"A wary model\")");
    let done = place.run(&["check", "wary.ron"]).expect(0);
    assert_eq!(done.out, "wary.ron: ok\n  profile of A wary model\n");
    let broken = "Profile(\n    schema: 1,\n    model: \"x\",\n    persistance: (),\n)";
    place.write("broken.ron", broken);
    let told = ["F007", "broken.ron:4:5", "persistance", "persistence"];
    place.run(&["check", "broken.ron"]).fails(3, &told);
    let world = "by_reference";
    let run = ["run", world, "--policy", "none", "--model", "broken.ron"];
    place.run(&run).fails(3, &told);
    // A profile plays what a script leaves open or not, and its file stands in what is to be typed.
    let run = ["run", world, "--policy", "none", "--model", "wary.ron"];
    assert_eq!(place.run(&run).expect(0).json()["model"], "wary");
    place.write("scripted.ron", place.read("wary.ron"));
    let taken = ["run", world, "--policy", "none", "--model", "scripted.ron"];
    place
        .run(&taken)
        .fails(3, &["F004", "there is a model `scripted` already"]);
    place.write("study.ron", "Study(schema: 1, name: \"s\", study_seed: 1, worlds: [\"w.ron\"], policies: [\"none\"], models: [\"gone.ron\"], seeds: [1])");
    place
        .run(&["check", "study.ron"])
        .fails(3, &["F001", "gone.ron"]);
}
