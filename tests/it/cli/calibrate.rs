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

#[test]
fn targets_that_fit_nothing_are_refused_with_what_would_fit() {
    for (from, to, words) in [
        (
            "broken_off[2].chance",
            "broken_off[9].chance",
            "no such value",
        ),
        (
            "t22.none.parse_failure",
            "t22.none.parse_failur",
            "t22.none.parse_failure",
        ),
        ("t22.none.parse_failure", "t22.none.n", "class"),
        ("\"0.5\", \"1\"", "\"1\", \"0.5\"", "bounds"),
        ("[1001]", "[]", "study seed"),
        ("sweeps: 1", "sweeps: 1000", "sweeps"),
        ("schema: 1", "schema: 2", "schema"),
        ("second_model", "no_such_study", "no_such_study"),
        ("sweeps", "sweep", "sweep"),
    ] {
        let place = place(&TARGETS.replace(from, to));
        let done = place
            .run(&["calibrate", "wrong.ron", "--targets", "targets.ron"])
            .expect(3);
        assert!(done.err.contains(words), "{words}: {}", done.err);
    }
}

/// The shipped targets fit the shipped profiles; whether these are what the fit gives takes minutes, so
/// it is a command: `containment calibrate PROFILE --targets FILE --check`.
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
