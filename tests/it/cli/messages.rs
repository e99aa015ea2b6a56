//! What messages look like, whatever is in them.

use serde_json::Value;

use super::Place;

const CASE_2: &str = "case2_partner_meeting";

/// No message may be longer, in bytes.
const LONGEST_MESSAGE: usize = 3_000;

/// Clears the screen, returns to the start of the line, turns the direction of writing.
const HOSTILE: &str = "a\u{1b}[2Jb\rc\u{202e}d";

#[test]
fn long_values_are_told_shortened() {
    let place = Place::new();
    let long = "x".repeat(50_000);
    let script = format!("Script(agents: {{\"{long}\": []}})");
    place.copy_world("demos", CASE_2);
    place.write("case2_partner_meeting.script.ron", script);
    place.write("unknown.ron", format!("World({long}: 1)"));
    place.write("study.ron", format!("Study({long}: 1)"));
    place.write("trace.jsonl", format!("{{\"{long}\": 1}}\n"));
    let set = format!("{long}=1");
    let commands: [&[&str]; 9] = [
        &["run", &long, "--policy", "none"],
        &["run", CASE_2, "--policy", &long],
        &["run", CASE_2, "--policy", "none", "--set", &set],
        &["run", CASE_2, "--policy", "none", "--set", &long],
        &["run", "case2_partner_meeting.ron", "--policy", "none"],
        &["run", "unknown.ron", "--policy", "none"],
        &["study", "study.ron"],
        &["replay", "trace.jsonl"],
        &[&long],
    ];
    for words in commands {
        for format in ["human", "plain", "json"] {
            let done = place.run(&[words, &["--error-format", format]].concat());
            assert!(matches!(done.code, Some(2 | 3)), "{done:#?}");
            let (length, name) = (done.err.len(), words[0]);
            assert!(
                (1..LONGEST_MESSAGE).contains(&length),
                "{length} bytes: {}, {format}",
                &name[..name.len().min(20)]
            );
        }
    }
}

#[test]
fn nothing_that_a_terminal_would_obey_is_printed() {
    let place = Place::new();
    place.write(HOSTILE, "Wrold()");
    place.write("hostile.ron", format!("World({HOSTILE}: 1)"));
    let set = format!("{HOSTILE}=1");
    let commands: [&[&str]; 8] = [
        &["check", HOSTILE],
        &["check", HOSTILE, "--format", "json"],
        &["check", "hostile.ron"],
        &["check", "missing/\u{9b}2J\u{2066}"],
        &["run", CASE_2, "--policy", HOSTILE],
        &["run", CASE_2, "--policy", "none", "--set", &set],
        &["step", CASE_2, "--policy", "none", "--script", HOSTILE],
        &[HOSTILE],
    ];
    let is_obeyed = |letter: char| {
        let turns = ('\u{202a}'..='\u{202e}').contains(&letter)
            || ('\u{2066}'..='\u{2069}').contains(&letter);
        turns || (letter.is_control() && letter != '\n')
    };
    for words in commands {
        for format in ["human", "plain", "json"] {
            let output = ["--color", "always", "--error-format", format];
            let done = place.run(&[words, &output].concat());
            assert!(matches!(done.code, Some(2 | 3)), "{done:#?}");
            for text in [&done.out, &done.err] {
                assert!(!text.contains(is_obeyed), "{words:?}, {format}: {text:?}");
            }
            if format == "json" {
                for line in done.err.lines() {
                    let told: Value = serde_json::from_str(line).expect("JSON");
                    assert!(told["message"].is_string(), "{line}");
                }
            }
        }
    }
    let words = ["check", HOSTILE, "--format", "json"];
    let file = &place.run(&words).json()["files"][0]["file"];
    assert_eq!(file, HOSTILE, "escaped, it says the same");
    let words = ["check", "missing.ron", "--color", "always"];
    let done = place.run(&words);
    assert!(done.err.contains("\u{1b}["), "colours stay: {:?}", done.err);
}

#[test]
fn a_wrong_command_line_is_told_as_it_asks() {
    let place = Place::new();
    let wrong: [(&[&str], &str); 5] = [
        (&["run", CASE_2], "--policy <POLICY>"),
        (&["rnu"], "unrecognized subcommand 'rnu'"),
        (&["run", CASE_2, "--polcy", "none"], "unexpected argument"),
        (&["list", "nonsense"], "invalid value 'nonsense'"),
        (&["run", CASE_2, "--policy", "none", "--seed", "x"], "'x'"),
    ];
    for (words, says) in wrong {
        for format in [
            &["--error-format", "json"][..],
            &["--error-format=json"][..],
        ] {
            let done = place.run(&[format, words].concat()).expect(2);
            assert_eq!(done.err.lines().count(), 1, "{}", done.err);
            let told: Value = serde_json::from_str(&done.err).expect("JSON");
            assert_eq!(told["severity"], "error");
            let message = told["message"].as_str().expect("words");
            assert!(message.contains(says), "{message}");
            assert!(told["help"].as_str().is_some_and(|help| !help.is_empty()));
        }
        let plain = [words, &["--error-format", "plain"]].concat();
        let done = place.run(&plain).fails(2, &["error: ", says]);
        assert_eq!(done.err.lines().count(), 1, "{}", done.err);
        let done = place.run(words).fails(2, &["error: ", says]);
        assert!(done.err.lines().count() > 1, "{}", done.err);
    }
}

#[test]
fn so_many_warnings_about_a_script_are_told_and_then_where_they_end() {
    let place = Place::new();
    place.copy_world("demos", CASE_2);
    let steps = "(say: Call(\"nosuch\", {})),\n".repeat(80);
    let script = format!("Script(agents: {{\"assistant\": [\n{steps}]}})");
    place.write("case2_partner_meeting.script.ron", &script);
    let check = ["check", "case2_partner_meeting.ron"];
    let plain = [&check[..], &["--error-format", "plain"]].concat();
    let done = place.run(&plain).expect(0);
    assert!(done.out.contains("ok, 51 warnings"), "{}", done.out);
    let lines: Vec<&str> = done.err.lines().collect();
    assert_eq!(lines.len(), 51);
    assert!(lines[50].contains("case2_partner_meeting.script.ron"));
    assert!(
        lines[50].contains("from here on nothing was compared"),
        "{}",
        lines[50]
    );
    let json = place
        .run(&[&check[..], &["--format", "json"]].concat())
        .json();
    assert_eq!(json["files"][0]["warnings"], 51);
    let listed = json["files"][0]["diagnostics"].as_array();
    assert_eq!(listed.map(Vec::len), Some(51));
    let run = ["run", "case2_partner_meeting.ron", "--policy", "none"];
    let plain = [&run[..], &["--error-format", "plain"]].concat();
    assert_eq!(place.run(&plain).expect(0).err.lines().count(), 51);
    let wrong = script.replace("\"assistant\": [", "\"assistent\": [], \"assistant\": [");
    place.write("case2_partner_meeting.script.ron", wrong);
    let done = place.run(&check).expect(3);
    assert!(done.out.contains("1 error, 51 warnings"), "{}", done.out);
}

/// A forged line would pass for a message of the program.
#[test]
fn a_line_break_in_a_name_makes_no_second_message() {
    let place = Place::new();
    let name = "no\nerror: forged";
    for words in [
        &["run", name, "--policy", "none"][..],
        &["run", CASE_2, "--policy", name],
        &["explain", name],
        &["check", name],
        &["replay", name],
    ] {
        let done = place.run(&[words, &["--error-format", "plain"]].concat());
        assert!(!done.err.is_empty(), "{words:?}");
        let forged = |text: &str| text.lines().any(|line| line.starts_with("error: forged"));
        assert!(!forged(&done.err) && !forged(&done.out), "{done:?}");
    }
}
