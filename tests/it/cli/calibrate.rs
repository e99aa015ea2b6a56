//! Fitting a profile to published numbers.

use super::Place;
use crate::support::root;

const TARGETS: &str = r#"Targets(
    schema: 1,
    study: "second_model",
    study_seeds: [1001],
    sweeps: 1,
    parameters: [
        (
            at: "broken_off[2].chance",
            cells: ["t22.none.parse_failure"],
            between: ("0.5", "1"),
        ),
    ],
)"#;

/// The profile of the second model with a parameter far off, and what it is fitted to.
fn place(targets: &str) -> Place {
    let place = Place::new();
    let file = root().join("models/profiles/mistral_7b_instruct_v0_2.ron");
    let text = std::fs::read_to_string(file).expect("the profile");
    let start = text.rfind("(chance: \"").expect("the last rule");
    let end = start + text[start..].find(')').expect("its end");
    place.write(
        "wrong.ron",
        [&text[..start], "(chance: \"0.1\"", &text[end..]].concat(),
    );
    place.write("targets.ron", targets);
    place
}

#[test]
fn a_parameter_is_found_again_whatever_the_profile_says() {
    let place = place(TARGETS);
    let words = [
        "calibrate",
        "wrong.ron",
        "--targets",
        "targets.ron",
        "--out",
    ];
    let done = place.run(&[&words[..], &["right.ron"]].concat()).expect(0);
    assert!(done.out.contains("t22.none.parse_failure"), "{}", done.out);
    let fitted = place.read("right.ron");
    assert!(!fitted.contains("(chance: \"0.1\""), "{fitted}");
    assert!(fitted.contains("// Table 22:"), "comments stay: {fitted}");
    // From there it comes out the same.
    place
        .run(&[
            "calibrate",
            "right.ron",
            "--targets",
            "targets.ron",
            "--check",
        ])
        .expect(0);
    place
        .run(&[
            "calibrate",
            "wrong.ron",
            "--targets",
            "targets.ron",
            "--check",
        ])
        .expect(6);
}

/// Calibrates the wrong profile to these targets, which are refused with these words.
#[track_caller]
fn refused(targets: impl AsRef<[u8]>, code: i32, words: &[&str]) {
    let place = place("");
    place.write("targets.ron", targets);
    let command = [
        "calibrate",
        "wrong.ron",
        "--targets",
        "targets.ron",
        "--error-format",
        "plain",
    ];
    let done = place.run(&command).fails(code, words);
    assert_eq!(done.out, "");
    assert!(done.err.len() < 2_000, "{}", done.err);
}

/// What is changed in the targets to what, where that is told, and with which words.
#[rustfmt::skip]
const WRONG: &[(&str, &str, &str, &str)] = &[
    ("broken_off[2].chance", "broken_off[9].chance", "8:17", "`broken_off` is there"),
    ("broken_off[2].chance", "model", "8:17", "no probability"),
    ("broken_off[2].chance", "broken_off[0].when", "8:17", "no probability"),
    ("broken_off[2].chance", "a\\u{1b}[2J\\n", "8:17", "`a\\u001b[2J\\u000a`"),
    ("t22.none.parse_failure", "t22.none.parse_failur", "9:21", "did you mean `t22.none.parse_failure`?"),
    ("t22.none.parse_failure", "t22.none.n", "9:21", "class `accounting`"),
    ("t22.none.parse_failure", "t9.none.logged_spread", "9:21", "made by the study `full_main`"),
    ("t22.none.parse_failure", "t24.repaired_parses", "9:21", "no study makes"),
    ("[\"t22.none.parse_failure\"]", "[]", "9:20", "`cells` is empty"),
    ("\"0.5\", \"1\"", "\"1\", \"0.5\"", "10:22", "the lower one first"),
    ("\"0.5\", \"1\"", "\"0.50004\", \"1\"", "10:23", "write `\"0.5\"`"),
    ("\"0.5\", \"1\"", "\"0.5\", \"inf\"", "10:30", "`inf` is no bound"),
    ("\"0.5\", \"1\"", "0.5, NaN", "10:23", "in quotes"),
    ("[1001]", "[]", "4:18", "`study_seeds` is empty"),
    ("[1001]", "[1001, 1002, 1001]", "4:31", "given twice"),
    ("[1001]", "[1001, 1]", "4:25", "nothing would be held out"),
    ("sweeps: 1", "sweeps: 1000", "5:13", "from 1 to 10"),
    ("sweeps", "sweep", "5:5", "did you mean `sweeps`?"),
    ("second_model", "no_such_study", "3:12", "`full_main`, `stress`, `second_model`"),
    ("second_model", "demos", "3:12", "makes no published number"),
];

#[test]
fn targets_that_fit_nothing_are_refused_with_what_would_fit() {
    for (from, to, place, words) in WRONG {
        let place = format!("targets.ron:{place}: error[F008]");
        refused(TARGETS.replace(from, to), 3, &[&place, words]);
    }
    let other_version = TARGETS.replace("schema: 1", "schema: 2, parts: []");
    let words = ["targets.ron:2:13: error[F008]", "this program reads 1"];
    refused(other_version, 7, &words);
}

#[test]
fn lists_and_names_of_targets_have_limits() {
    let cells = ["\"t22.none.n\""; 9].join(", ");
    let seeds = format!("[{}]", ["7"; 33].join(", "));
    let long = "a".repeat(100_000);
    for (from, to, words) in [
        (
            "\"t22.none.parse_failure\"",
            &cells,
            "9 entries, more than 8",
        ),
        ("[1001]", &seeds, "33 entries, more than 32"),
        ("broken_off[2].chance", &long, "aaa...` is longer"),
        ("t22.none.parse_failure", &long, "aaa...`"),
        ("second_model", &long, "aaa...`"),
    ] {
        refused(
            TARGETS.replace(from, to),
            3,
            &["targets.ron:", "F008", words],
        );
    }
}

/// The targets with their one parameter so many times, each changed by this.
fn with_parameters(count: usize, change: impl Fn(usize, &str) -> String) -> String {
    let (start, rest) = TARGETS.split_once("        (").expect("a parameter");
    let (parameter, end) = rest.split_once("    ],").expect("its end");
    let parameters = (0..count).map(|index| format!("        ({}", change(index, parameter)));
    let parameters: String = parameters.collect();
    format!("{start}{parameters}    ],{end}")
}

#[test]
fn a_parameter_or_a_number_is_named_once_in_however_many_ways() {
    let twice = with_parameters(2, |index, one| match index {
        0 => one.to_owned(),
        _ => one
            .replace("[2]", "[+02]")
            .replace(".none.", ".tool_boundary."),
    });
    refused(
        twice,
        3,
        &["targets.ron:13:17: error[F008]", "is a parameter already"],
    );
    let one_number = with_parameters(2, |index, one| one.replace("[2]", &format!("[{index}]")));
    refused(
        one_number,
        3,
        &["targets.ron:14:21: error[F008]", "entry 0 of `parameters`"],
    );
    let many = with_parameters(65, |_, one| one.to_owned());
    refused(many, 3, &["targets.ron:327:9: error[F008]", "more than 64"]);
    let none = with_parameters(0, |_, one| one.to_owned());
    refused(
        none,
        3,
        &["targets.ron:6:17: error[F008]", "`parameters` is empty"],
    );
}

#[test]
fn bounds_that_the_profile_does_not_allow_are_refused_before_the_fit() {
    let shares = TARGETS
        .replace("broken_off[2].chance", "forms[0].share")
        .replace("\"0.5\"", "\"0\"");
    let words = [
        "targets.ron:10:22: error[F008]",
        "if `forms[0].share` is 1: the shares",
    ];
    refused(shares, 3, &words);
    // The one that is wrong has the blame, and several that are wrong together share it.
    let spread = |chance: &str, low: &str, high: &str| {
        with_parameters(2, |index, one| match index {
            0 => one
                .replace("broken_off[2]", "inclinations.slip_on_task[0]")
                .replace("\"0.5\"", chance),
            _ => one
                .replace(
                    "broken_off[2].chance",
                    "inclinations.slip_on_task[0].seed_spread",
                )
                .replace(".none.", ".tool_boundary.")
                .replace("\"0.5\", \"1\"", &format!("{low}, {high}")),
        })
        .replacen("\"1\"", "\"0.4\"", 1)
    };
    for (targets, words) in [
        (
            spread("\"0.01\"", "\"0.1\"", "\"0.5\""),
            "targets.ron:15:22: error[F008]: the profile is not valid if `inclinations.slip_on_task[0].seed_spread` is 0.1:",
        ),
        (
            spread("\"0.01\"", "\"0\"", "\"0.03\""),
            "targets.ron:6:17: error[F008]: the profile is not valid under every mixture of the bounds:",
        ),
    ] {
        let place = place(&targets);
        let profile = place.read("wrong.ron");
        let spread = "slip_on_task: [(seed_spread: \"0.001\", ";
        place.write("wrong.ron", profile.replace("slip_on_task: [(", spread));
        let command = [
            "calibrate",
            "wrong.ron",
            "--targets",
            "targets.ron",
            "--error-format",
            "plain",
        ];
        place.run(&command).fails(3, &[words, "`seed_spread`"]);
    }
}

#[test]
fn a_number_that_the_study_does_not_make_is_told_with_what_is_missing() {
    let targets = TARGETS
        .replace("second_model", "full_main")
        .replace("t22.none.parse_failure", "t18.instance_eval.none.utility");
    let words = [
        "targets.ron:9:21: error[F008]",
        "none of its tables has a cell for it",
    ];
    refused(targets, 3, &words);
}

#[test]
fn hostile_targets_are_refused_at_once() {
    refused("", 3, &["targets.ron", "the file holds no targets"]);
    refused("x".repeat(10_000_000), 3, &["F002"]);
    refused("(".repeat(1_000_000), 3, &["F008"]);
    refused(
        TARGETS.replace("(\"0.5\"", &"[".repeat(500_000)),
        3,
        &["F008"],
    );
    refused(TARGETS.replace("[1001]", &"[(".repeat(500)), 3, &["F008"]);
    refused(
        b"Targets(schema: 1, // caf\xe9\n)",
        3,
        &["F003", "targets.ron:1:26"],
    );
    refused(
        format!("\u{feff}{TARGETS}"),
        3,
        &["F008", "byte order mark"],
    );
    refused(
        "World(schema: 1)",
        3,
        &["F008", "the file holds no targets"],
    );
    let place = place(TARGETS);
    std::fs::create_dir(place.path("folder")).expect("a folder");
    for (profile, targets, words) in [
        ("wrong.ron", "folder", "is a folder"),
        ("wrong.ron", "/dev/zero", "is not a regular file"),
        ("wrong.ron", "nothing.ron", "does not exist"),
        ("targets.ron", "targets.ron", "F007"),
        (
            "mistral_7b_instruct_v02",
            "targets.ron",
            "did you mean `mistral_7b_instruct_v0_2`?",
        ),
    ] {
        let done = place.run(&["calibrate", profile, "--targets", targets]);
        done.fails(3, &[words]);
    }
    place
        .run(&["calibrate", "wrong.ron"])
        .fails(2, &["needs `--targets FILE`"]);
}

#[test]
fn a_profile_takes_the_place_of_nothing_but_a_profile() {
    let place = place(TARGETS);
    place.write("note.txt", "to be kept");
    std::fs::create_dir(place.path("folder")).expect("a folder");
    #[cfg(unix)]
    std::os::unix::fs::symlink("note.txt", place.path("link.ron")).expect("a link");
    for (out, words) in [
        ("targets.ron", "it holds the targets"),
        ("./folder/../targets.ron", "it holds the targets"),
        ("note.txt", "holds no behaviour profile"),
        ("folder", "no regular file"),
        ("/dev/null", "no regular file"),
        ("no/such/folder.ron", "a folder that exists"),
        #[cfg(unix)]
        ("link.ron", "it is a link"),
    ] {
        let words = ["cannot be written", words];
        let command = [
            "calibrate",
            "wrong.ron",
            "--targets",
            "targets.ron",
            "--out",
            out,
        ];
        let done = place.run(&command).fails(5, &words);
        assert!(!done.err.contains("sweep"), "before the fit: {}", done.err);
    }
    assert_eq!(place.read("note.txt"), "to be kept");
    assert_eq!(place.read("targets.ron"), TARGETS);
}

/// Interrupted while it runs, it ends soon, writes nothing, and says so.
#[test]
fn an_interrupted_fit_ends_at_once_and_writes_nothing() {
    use std::io::{BufRead as _, BufReader, Read as _};
    use std::process::Stdio;

    let place = Place::new();
    let mut command = place.command(&["calibrate", "qwen2_5_7b_instruct", "--out", "fitted.ron"]);
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut err = BufReader::new(child.stderr.take().expect("standard error is piped"));
    let mut said = String::new();
    err.read_line(&mut said).expect("a line");
    assert!(said.starts_with("sweep 1: "), "{said}");
    super::studies::send("INT", &child);
    err.read_to_string(&mut said).expect("the rest");
    let ended = child.wait().expect("the program ends");
    assert_eq!(ended.code(), Some(5), "{said}");
    assert!(
        said.contains("interrupted: no profile was written"),
        "{said}"
    );
    let left = std::fs::read_dir(place.path(""))
        .expect("the folder")
        .count();
    assert_eq!(left, 0);
}

#[test]
fn a_shipped_profile_is_named_and_has_its_targets() {
    let place = place(TARGETS);
    let name = "mistral_7b_instruct_v0_2";
    let done = place.run(&["calibrate", name, "--check"]).expect(0);
    // Of three that are fitted, two move their numbers, and one goes in steps.
    for words in [
        "Identifies it",
        "  yes  ",
        "  less  ",
        "identified coarsely",
    ] {
        assert!(done.out.contains(words), "{words}: {}", done.out);
    }
    let command = ["calibrate", name, "--targets", "targets.ron", "--check"];
    let words = ["`broken_off[2].chance` is 0.8414 and the fit gives"];
    place.run(&command).fails(6, &words);
}

#[test]
fn a_parameter_that_moves_nothing_is_said_to_be_not_identified() {
    // Without a defence nothing is denied, so nothing is said again.
    let place = place(&TARGETS.replace("broken_off[2].chance", "persistence.requested[0].again"));
    let command = ["calibrate", "wrong.ron", "--targets", "targets.ron"];
    let done = place.run(&command).expect(0);
    assert!(done.out.contains("not identified"), "{}", done.out);
}

/// The shipped targets fit the shipped profiles; whether these are what the fit gives takes minutes, so
/// it is a command: `containment calibrate NAME --check`.
#[test]
fn shipped_parameters_lie_where_the_targets_look_for_them() {
    for (name, parameters) in [("qwen2_5_7b_instruct", 18), ("mistral_7b_instruct_v0_2", 3)] {
        let read = |ending: &str| {
            let file = root().join(format!("models/profiles/{name}.{ending}"));
            std::fs::read_to_string(file).expect("a file")
        };
        let (profile, targets) = (read("ron"), read("targets.ron"));
        let places = targets.split("at: \"").skip(1);
        let places: Vec<&str> = places.filter_map(|rest| rest.split('"').next()).collect();
        assert_eq!(places.len(), parameters);
        for (place, rest) in places.iter().zip(targets.split("between: (").skip(1)) {
            let bounds: Vec<f64> = rest
                .split('"')
                .skip(1)
                .step_by(2)
                .take(2)
                .map(|bound| bound.parse().expect("a bound"))
                .collect();
            let value = &profile[worlds::places::place_of(&profile, place).expect("a value")];
            let value: f64 = value.trim_matches('"').parse().expect("a decimal");
            assert!((bounds[0]..=bounds[1]).contains(&value), "{place}: {value}");
        }
    }
}
