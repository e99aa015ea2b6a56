use proptest::prelude::*;

use super::*;

fn specs() -> Vec<ParameterSpec> {
    let spec = |name, kind| ParameterSpec {
        name,
        doc: "A parameter.",
        kind,
    };
    vec![
        spec("flag", ParameterKind::Boolean(true)),
        spec(
            "count",
            ParameterKind::Integer {
                default: 3,
                min: -2,
                max: 9,
            },
        ),
        spec(
            "chance",
            ParameterKind::Probability(Chance::from_millionths(250_000)),
        ),
        spec("word", ParameterKind::Choice(&["one", "two"])),
        spec("text", ParameterKind::Text("hello")),
    ]
}

fn resolve(given: &[(&str, &str)]) -> Result<Parameters, ParameterError> {
    let given = given
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    Parameters::resolve("plugin", &specs(), &given)
}

#[test]
fn what_is_not_given_has_its_default() {
    let parameters = resolve(&[]).unwrap();
    assert!(parameters.boolean("flag"));
    assert_eq!(parameters.integer("count"), 3);
    assert_eq!(parameters.chance("chance").millionths(), 250_000);
    assert_eq!(parameters.text("word"), "one");
    assert_eq!(parameters.text("text"), "hello");
    assert_eq!(parameters.iter().count(), 5);
}

#[test]
fn what_is_given_replaces_the_default() {
    let given = [
        ("flag", "false"),
        ("count", "-2"),
        ("chance", "1"),
        ("word", "two"),
        ("text", "a\nb"),
    ];
    let parameters = resolve(&given).unwrap();
    assert!(!parameters.boolean("flag"));
    assert_eq!(parameters.integer("count"), -2);
    assert_eq!(parameters.chance("chance"), Chance::ALWAYS);
    assert_eq!(parameters.text("word"), "two");
    assert_eq!(parameters.text("text"), "a\nb");
}

#[test]
fn a_value_that_does_not_fit_is_refused_with_what_would() {
    for (name, value, expected) in [
        ("flag", "yes", "true or false"),
        ("flag", "TRUE", "true or false"),
        ("count", "10", "a whole number from -2 to 9"),
        ("count", "-3", "a whole number from -2 to 9"),
        ("count", "1.0", "a whole number from -2 to 9"),
        (
            "count",
            "99999999999999999999",
            "a whole number from -2 to 9",
        ),
        ("count", "", "a whole number from -2 to 9"),
        (
            "chance",
            "1.1",
            "a decimal from 0 to 1 with at most six digits",
        ),
        (
            "chance",
            "NaN",
            "a decimal from 0 to 1 with at most six digits",
        ),
        ("word", "three", "one of one, two"),
        ("word", "", "one of one, two"),
        ("word", "One", "one of one, two"),
    ] {
        let error = resolve(&[(name, value)]).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("parameter `{name}` of `plugin` must be {expected}, got `{value}`")
        );
    }
}

#[test]
fn an_unknown_name_is_refused_with_those_there_are() {
    let error = resolve(&[("cuont", "1")]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`plugin` has no parameter `cuont`; it has: flag, count, chance, word, text"
    );
    let given = BTreeMap::from([("x".to_owned(), String::new())]);
    let error = Parameters::resolve("none", &[], &given).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`none` has no parameter `x`; it takes none"
    );
}

#[test]
fn a_value_asked_for_as_another_type_is_the_zero_of_that_type() {
    let parameters = resolve(&[]).unwrap();
    assert!(!parameters.boolean("text"));
    assert_eq!(parameters.integer("text"), 0);
    assert_eq!(parameters.chance("text"), Chance::NEVER);
    assert_eq!(parameters.text("count"), "");
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(name in "flag|count|chance|word|text|other", value in ".*") {
        if let Ok(parameters) = resolve(&[(&name, &value)]) {
            prop_assert!((-2..=9).contains(&parameters.integer("count")));
        }
    }

    #[test]
    fn every_value_survives_printing(
        flag: bool,
        count in -2_i64..=9,
        millionths in 0..=Chance::DENOMINATOR,
        text in ".*",
    ) {
        let chance = ParameterValue::Probability(Chance::from_millionths(millionths));
        let given = [
            ("flag", flag.to_string()),
            ("count", count.to_string()),
            ("chance", chance.to_string()),
            ("text", text),
        ];
        let given: Vec<_> = given.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let once = resolve(&given).unwrap();
        let printed: Vec<_> = once.iter().map(|(name, value)| (name, value.to_string())).collect();
        let printed: Vec<_> = printed.iter().map(|(name, text)| (*name, text.as_str())).collect();
        prop_assert_eq!(resolve(&printed).unwrap(), once);
    }
}
