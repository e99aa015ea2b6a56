//! The scorecard, from results.

use serde_json::Value;

use super::Place;
use super::tables::{json, run_study, with_main};

#[test]
fn the_scorecard_has_every_published_number() {
    let place = with_main("full_main");
    let done = place
        .run(&["scorecard", "full_main", "--format", "json"])
        .expect(0);
    let card = json(&done);
    let cells = card["cells"].as_array().expect("cells");
    assert_eq!(cells.len(), 410);
    let not_simulated = |table: &str| {
        let cells = cells.iter().filter(|cell| cell["table"] == table);
        cells.filter(|cell| cell["simulated"].is_null()).count()
    };
    for table in [
        "3", "9", "10", "11", "12", "13", "14", "15", "17", "22", "24", "25", "26",
    ] {
        assert_eq!(not_simulated(table), 0, "table {table}");
    }
    for class in ["accounting", "by construction"] {
        let tally = &card["totals"]["classes"][class];
        assert_eq!(tally["within"], tally["compared"], "{class}: {card:#}");
    }
    assert_eq!(place.read("full_main/scorecard.json"), done.out);
    assert!(
        place
            .read("full_main/scorecard.md")
            .contains("t9.none.policy_violation")
    );
}

#[test]
fn the_scorecard_is_of_the_main_study() {
    let place = Place::new();
    run_study(&place, "stress", "stress");
    let done = place.run(&["scorecard", "stress"]).expect(3);
    assert!(done.err.contains("full_main"), "{}", done.err);
}

/// Parameters and study seed are frozen in the repository; this is what they give.
#[test]
fn the_frozen_scorecard_holds() {
    let place = with_main("full_main");
    let done = place
        .run(&["scorecard", "full_main", "--format", "json"])
        .expect(0);
    let card = json(&done);
    let share = |tally: &Value| {
        tally["within"].as_f64().expect("a count") / tally["compared"].as_f64().expect("a count")
    };
    let classes = &card["totals"]["classes"];
    for (class, least) in [
        ("target", 0.98),
        ("restated", 0.98),
        ("held out", 0.95),
        ("by construction", 1.0),
        ("accounting", 1.0),
    ] {
        assert!(
            share(&classes[class]) >= least,
            "{class}: {}",
            classes[class]
        );
    }
    assert!(share(&card["totals"]["intervals"]) >= 0.95);
}

/// One seed here; the command takes as many as asked for.
#[test]
fn numbers_hold_under_a_study_seed_that_nothing_was_fitted_on() {
    let place = with_main("full_main");
    let words = ["scorecard", "full_main", "--no-files", "--fresh-seeds", "1"];
    let done = place.run(&words).expect(0);
    let (_, fresh) = done.out.split_once("other study seeds").expect("the table");
    let share = |class: &str| {
        let line = fresh
            .lines()
            .find(|line| line.starts_with(class))
            .expect("a line");
        let share = line
            .trim_start_matches(class)
            .split_whitespace()
            .next()
            .expect("a share");
        share.parse::<f64>().expect("a number")
    };
    assert!(
        share("target") >= 0.96 && share("held out") >= 0.93,
        "{fresh}"
    );
}
