//! Every word of the grammar, as the messages say that it is written.

use plugins::policy::Hook;

use super::file;
use crate::words::{Aspects, HOOKS, PREDICATES, Places, TESTS, VERDICTS};

const BOOK: &str = include_str!("../../../../../docs/book/rules.md");

/// A verdict that exists at the hook.
fn verdict(hook: Hook) -> &'static str {
    match hook {
        Hook::Proposal | Hook::Commit | Hook::MemoryRead | Hook::MemoryWrite => "Allow",
        _ => "Pass",
    }
}

fn rule(hook: &str, when: &str, then: &str) -> String {
    file(&format!(
        "(rule: \"r\", at: {hook}, when: [{when}], then: {then}),"
    ))
}

#[test]
fn every_predicate_is_read_exactly_where_it_means_something() {
    for word in PREDICATES {
        for (name, hook) in HOOKS {
            let usage = match word.name {
                "All" | "Any" => format!("{}([Always])", word.name),
                "Not" => "Any([Not(Always), Always])".to_owned(),
                _ => word.usage.to_owned(),
            };
            let text = rule(name, &usage, verdict(hook));
            let loaded = crate::load(&text);
            let fits = word.at.contains(Places::at(hook));
            assert_eq!(loaded.is_ok(), fits, "{} at {name}: {loaded:?}", word.name);
            if let Err(mistakes) = loaded {
                let message = &mistakes[0].message;
                assert!(message.contains("means nothing at"), "{message}");
            }
        }
    }
}

#[test]
fn every_verdict_is_read_exactly_where_it_exists() {
    for word in VERDICTS {
        for (name, hook) in HOOKS {
            let denial = match word.name {
                "Block" | "Confirm" => ", denial: OutsideUserGoal",
                _ => "",
            };
            let text = rule(name, "Always", &format!("{}{denial}", word.usage));
            let loaded = crate::load(&text);
            let exists = word.at.contains(Places::at(hook));
            assert_eq!(
                loaded.is_ok(),
                exists,
                "{} at {name}: {loaded:?}",
                word.name
            );
        }
    }
}

#[test]
fn every_test_is_read_of_what_it_can_be_asked_of() {
    for word in TESTS {
        let owners = [
            (
                "Argument(is: ",
                ")",
                "Proposal",
                word.at
                    .meets(Aspects::VALUE.and(Aspects::LABEL).and(Aspects::CALL)),
            ),
            ("Target(", ")", "Proposal", word.at.meets(Aspects::VALUE)),
            (
                "Recorded(",
                ")",
                "MemoryRead",
                word.at.meets(Aspects::LABEL),
            ),
            (
                "Field(is: ",
                ")",
                "Message",
                word.at.meets(Aspects::VALUE.and(Aspects::LABEL)),
            ),
        ];
        for (before, after, hook, fits) in owners {
            let inner = match word.name {
                // What stands in these is about a label in the example.
                "All" | "Any" | "Not" if before == "Target(" => "Not(Given)",
                "All" | "Any" | "Not" => "Not(Tainted)",
                _ => word.usage,
            };
            let then = if hook == "Message" { "Pass" } else { "Allow" };
            let text = rule(hook, &format!("{before}{inner}{after}"), then);
            let loaded = crate::load(&text);
            assert_eq!(loaded.is_ok(), fits, "{text}: {loaded:?}");
        }
    }
}

/// The book has a row for each word, so that none can be added in silence.
#[test]
fn the_book_knows_every_word() {
    let predicates = PREDICATES.iter().map(|word| word.name);
    let tests = TESTS.iter().map(|word| word.name);
    let verdicts = VERDICTS.iter().map(|word| word.name);
    let others = crate::words::DENIALS.iter().map(|(name, _)| *name);
    for word in predicates.chain(tests).chain(verdicts).chain(others) {
        let is_there = [format!("`{word}`"), format!("`{word}(")];
        assert!(
            is_there
                .iter()
                .any(|written| BOOK.contains(written.as_str())),
            "`{word}` is not in the book"
        );
    }
}

/// The examples in the book can be copied.
#[test]
fn every_example_of_the_book_is_read() {
    let mut examples = BOOK.split("```ron\n").skip(1);
    let mut count = 0;
    for example in examples.by_ref() {
        let text = example.split("```").next().unwrap();
        let root = text.trim_start();
        if root.starts_with("Rules") {
            assert!(
                crate::load(text).is_ok(),
                "{:#?}\n{text}",
                crate::load(text)
            );
            count += 1;
        } else if root.starts_with("Metrics") {
            assert!(crate::load_metrics(text).is_ok(), "{text}");
            count += 1;
        }
    }
    assert!(count >= 3, "{count}");
}
