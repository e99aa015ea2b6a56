use super::*;

const TEXT: &str = r#"// A study.
Study(
    schema: 1,
    name: "demos",
    study_seed: 7,
    worlds: ["a.ron", "../b.ron"],
    policies: ["none", "tool_boundary"],
    seeds: [1, 2, 3],
    denominator_policies: ["none", "tool_boundary"],
)"#;

fn study(text: &str) -> Study {
    load(text, "demos.ron").unwrap_or_else(|report| panic!("{:?}", report.problems()))
}

/// The problems as `code line:column message`, then `: help`.
fn problems(text: &str) -> Vec<String> {
    let report = load(text, "demos.ron").expect_err("the text has a mistake");
    told(&report)
}

fn told(report: &StudyReport) -> Vec<String> {
    report
        .problems()
        .iter()
        .map(|problem| {
            let help = problem
                .help
                .as_ref()
                .map_or(String::new(), |help| format!(": {help}"));
            let (code, line, column) = (problem.code.id(), problem.line, problem.column);
            format!("{code} {line}:{column} {}{help}", problem.message)
        })
        .collect()
}

fn with(old: &str, new: &str) -> String {
    assert!(TEXT.contains(old), "{old}");
    TEXT.replacen(old, new, 1)
}

#[test]
fn a_study_is_read_with_its_defaults() {
    let study = study(TEXT);
    assert_eq!(study.name, "demos");
    assert_eq!(study.study_seed, 7);
    assert_eq!(study.worlds, ["a.ron", "../b.ron"]);
    assert_eq!(study.seeds, [1, 2, 3]);
    assert_eq!(study.instrumentation, Instrumentation::PAPER);
    assert_eq!(study.user, User::Absent);
    assert_eq!(study.models, ["scripted"]);
    assert_eq!(study.denominator_policies, ["none", "tool_boundary"]);
}

#[test]
fn everything_can_be_said() {
    let more = "seeds: [1], instrumentation: Custom(authority_only: true, choice: true, \
                low_risk: false), user: RubberStamp, models: [\"a\", \"b\"],";
    let study = study(&with("seeds: [1, 2, 3],", more));
    let expected = Instrumentation {
        authority_only: true,
        choice: true,
        low_risk: false,
    };
    assert_eq!(study.instrumentation, expected);
    assert_eq!(study.user, User::RubberStamp);
    assert_eq!(study.models, ["a", "b"]);
}

#[test]
fn the_denominator_is_taken_over_all_policies_unless_declared() {
    let declared = "denominator_policies: [\"none\", \"tool_boundary\"],";
    let fewer = study(&with(declared, "denominator_policies: [\"none\"],"));
    assert_eq!(fewer.denominator_policies, ["none"]);
    let undeclared = study(&with(declared, ""));
    assert_eq!(undeclared.denominator_policies, ["none", "tool_boundary"]);
}

#[test]
fn mistakes_of_form_are_told_at_their_place() {
    let seedz = with("seeds: ", "seedz: ");
    assert_eq!(
        problems(&seedz),
        ["S005 8:5 there is no field `seedz`: did you mean `seeds`?"]
    );
    let missing = with("    seeds: [1, 2, 3],\n", "");
    assert_eq!(problems(&missing), ["S007 9:1 `seeds` is missing"]);
    let twice = with("    seeds: [1, 2, 3],", "    seeds: [1],\n    seeds: [2],");
    assert_eq!(problems(&twice), ["S008 9:5 `seeds` is given twice"]);
    let kind = with("\"demos\"", "5");
    assert_eq!(problems(&kind), ["S009 4:11 expected string"]);
    let negative = with("[1, 2, 3]", "[1, -2, 3]");
    assert_eq!(problems(&negative)[0].split(' ').next(), Some("S009"));
    let comma = with("\"demos\",", "\"demos\"");
    assert_eq!(problems(&comma), ["S001 5:5 expected comma"]);
    let word = with("seeds: [1, 2, 3],", "seeds: [1, 2, 3], user: Absnt,");
    assert_eq!(
        problems(&word),
        [
            "S006 8:29 `Absnt` is not known here: did you mean `Absent`? there is: `Absent`, `RubberStamp`, \
             `Oracle`, `Careful`"
        ]
    );
    let custom = "seeds: [1], instrumentation: Custom(authority_only: true, choice: true, \
                  low_risk: false, more: true),";
    let unknown = problems(&with("seeds: [1, 2, 3],", custom));
    assert!(unknown[0].starts_with("S005 8:"), "{unknown:?}");
    assert_eq!(
        problems("World(schema: 1)"),
        ["S001 1:1 the file is a `World` and no study: a study file holds one `Study(...)`"]
    );
    assert_eq!(problems("")[0].split(' ').next(), Some("S001"));
}

#[test]
fn a_word_in_quotes_is_told_with_what_there_is() {
    for (field, written, told) in [
        (
            "instrumentation",
            "\"ful\"",
            "did you mean `Full`? there is: `Paper`, `Full`, `Custom`; without quotes",
        ),
        (
            "latents",
            "\"x\"",
            "there is: `Independent`, `Stratified`; without quotes",
        ),
        (
            "user",
            "\"Oracle\"",
            "did you mean `Oracle`? there is: `Absent`, `RubberStamp`, `Oracle`, `Careful`; without quotes",
        ),
    ] {
        let text = with("seeds: [1, 2, 3],", &format!("{field}: {written},"));
        let column = 5 + field.len() + 2;
        let expected =
            format!("S006 8:{column} `{written}` is a text, and a word is expected here: {told}");
        assert_eq!(problems(&text), [expected]);
    }
}

#[test]
fn mistakes_of_meaning_are_told_together() {
    let text = TEXT
        .replace("\"demos\"", "\"De mos\"")
        .replace("[\"a.ron\", \"../b.ron\"]", "[]")
        .replace("[1, 2, 3]", "[1, 2, 1]")
        .replace(
            "denominator_policies: [\"none\"",
            "denominator_policies: [\"nne\"",
        );
    assert_eq!(
        problems(&text),
        [
            "S010 4:11 the name of a study is lower-case letters, digits and `_`: at most 64, and a \
             letter first, for example `my_study`",
            "S011 6:13 `worlds` is empty, so the study has no rollouts",
            "S008 8:19 `1` is given twice in `seeds`",
            "S013 9:28 `nne` is no policy of this study: did you mean `none`?",
        ]
    );
}

#[test]
fn a_name_that_is_no_folder_is_refused() {
    for name in [
        "",
        "../x",
        "a/b",
        "a b",
        "A",
        "1a",
        "con.",
        "é",
        &"a".repeat(65),
    ] {
        let found = problems(&with("demos", name));
        assert!(found[0].starts_with("S010"), "{name}");
    }
}

#[test]
fn another_version_is_told_alone() {
    let text = with("schema: 1", "schema: 2").replace("[1, 2, 3]", "[]");
    let report = load(&text, "demos.ron").unwrap_err();
    assert!(report.is_unsupported_version());
    let expected =
        ["S004 3:13 version 2 of the grammar is not supported: this program reads version 1"];
    assert_eq!(told(&report), expected);
}

#[test]
fn absurd_sizes_are_refused() {
    let many: Vec<String> = (0..=MAX_ENTRIES).map(|seed| seed.to_string()).collect();
    let found = problems(&with("1, 2, 3", &many.join(", ")));
    assert_eq!(found[0].split(' ').next(), Some("S012"));
    let worlds: Vec<String> = (0..5_000).map(|world| format!("\"{world}.ron\"")).collect();
    let text = with("\"a.ron\", \"../b.ron\"", &worlds.join(", "));
    let seeds: Vec<String> = (0..5_000).map(|seed| seed.to_string()).collect();
    let found = problems(&text.replace("1, 2, 3", &seeds.join(", ")));
    assert!(found[0].contains("more than 250000 rollouts"), "{found:?}");
    let long = format!("{TEXT}//{}", " ".repeat(MAX_BYTES));
    assert!(problems(&long)[0].starts_with("S002 1:1"));
}

#[test]
fn the_largest_study_is_read_and_no_larger_one() {
    let seeds = |number: usize| {
        let seeds: Vec<String> = (0..number).map(|seed| seed.to_string()).collect();
        let worlds: Vec<String> = (0..25).map(|world| format!("\"{world}.ron\"")).collect();
        with("1, 2, 3", &seeds.join(", ")).replace("\"a.ron\", \"../b.ron\"", &worlds.join(", "))
    };
    let largest = study(&seeds(5_000));
    let rollouts = largest.worlds.len() * largest.policies.len() * largest.seeds.len();
    assert_eq!(rollouts, MAX_ROLLOUTS);
    assert_eq!(
        problems(&seeds(5_001)),
        [
            "S012 8:13 the study has more than 250000 rollouts: rollouts = worlds x policies x seeds x \
          models"
        ]
    );
}

#[test]
fn problems_beyond_the_limit_are_counted() {
    let twice = "1, ".repeat(200);
    let report = load(&with("1, 2, 3", &twice), "demos.ron").unwrap_err();
    assert_eq!(report.problems().len(), 50);
    assert_eq!(report.unlisted(), 149);
    assert_eq!(report.to_string(), "`demos.ron` has 199 errors");
}

#[test]
fn bytes_that_are_no_text_are_told_at_their_place() {
    let mut bytes = TEXT.as_bytes().to_vec();
    bytes[15] = 0xFF;
    let report = load_bytes(&bytes, "demos.ron").unwrap_err();
    let expected = ["S003 2:4 the byte at 15 is not UTF-8 text: save the file as UTF-8"];
    assert_eq!(told(&report), expected);
    assert!(load_bytes(TEXT.as_bytes(), "demos.ron").is_ok());
}

#[test]
fn nesting_ends_in_an_error() {
    for bracket in ["(", "[", "{"] {
        let deep = format!("Study(schema: 1, name: {}", bracket.repeat(100_000));
        assert!(load(&deep, "deep.ron").is_err());
    }
}

#[test]
fn every_code_is_in_order_and_explained() {
    for (number, entry) in (1..).zip(super::super::problem::STUDY_CODES) {
        assert_eq!(entry.id, format!("S{number:03}"));
        assert_eq!(entry.code.id(), entry.id);
        assert!(!entry.explanation.is_empty());
    }
}

/// Even if each row is about a scenario and a family of the longest name that a file can have.
#[test]
fn the_rows_of_the_largest_study_can_be_read() {
    const LONG_ROW_BYTES: u64 = 4 << 10;
    assert!(MAX_ROLLOUTS as u64 * LONG_ROW_BYTES <= crate::folder::MAX_ROWS_BYTES);
}
