//! The pages of the book about policies: what they tell a reader to type works.

use super::project;
use crate::cli::Place;
use crate::cli::readme::{commands, missing, words_of};

/// The blocks of a page in this language.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let path = crate::support::root().join("docs/book").join(page);
    let text = std::fs::read_to_string(path).expect("a page of the book");
    let fence = format!("```{language}\n");
    let blocks = text.split(&fence).skip(1);
    blocks
        .map(|rest| rest.split_once("```").expect("a fence is closed").0.into())
        .collect()
}

/// Runs every command of the program on the page; those of other programs are passed over. Where one
/// shows output, that is compared. How many ran.
fn run(place: &Place, page: &str) -> usize {
    let mut ran = 0;
    for (command, shown) in blocks(page, "console")
        .iter()
        .flat_map(|text| commands(text))
    {
        let Some(words) = command.strip_prefix("containment ") else {
            continue;
        };
        let done = place.run(&words_of(words));
        assert_eq!(done.code, Some(0), "`{command}` of {page}: {done:#?}");
        let wrong = missing(&shown, &done.out).filter(|_| !shown.is_empty());
        assert_eq!(wrong, None, "`{command}` of {page} shows:\n{}", done.out);
        ran += 1;
    }
    ran
}

/// A project with the first block of a page in the file that its commands name.
fn with_first(page: &str, language: &str, file: &str) -> Place {
    let place = project();
    place.write(file, &blocks(page, language)[0]);
    place
}

#[test]
fn the_page_about_all_of_them_works() {
    let place = project();
    assert!(run(&place, "policies.md") >= 9);
}

#[test]
fn the_page_about_the_policies_of_the_field_works() {
    let place = project();
    assert!(run(&place, "field.md") >= 4);
}

#[test]
fn the_page_about_rules_works() {
    let place = with_first("rules.md", "ron", "my.rules.ron");
    assert!(run(&place, "rules.md") >= 2);
}

#[test]
fn the_page_about_processes_works() {
    let place = with_first("process.md", "python", "guard.py");
    assert!(run(&place, "process.md") >= 4);
}

#[cfg(feature = "cedar")]
#[test]
fn the_page_about_cedar_works() {
    let place = with_first("cedar.md", "cedar", "guard.cedar");
    assert!(run(&place, "cedar.md") >= 2);
    // What the page does to the file next: the call is blocked.
    let [_, second, ..] = &blocks("cedar.md", "cedar")[..] else {
        panic!("the page goes on");
    };
    place.write("guard.cedar", second);
    let words = [
        "run",
        "case1_violation_commits",
        "--policy",
        "cedar:guard.cedar",
    ];
    let row = place.run(&words).expect(0).json();
    assert_eq!(row["terminal_rule"], "tainted_recipient");
}

#[cfg(feature = "wasm")]
#[test]
fn the_page_about_modules_works() {
    let place = project();
    // What the compilers of the page would make.
    let built = place.path("policies/recipient_guard/recipient_guard.wasm");
    std::fs::copy(built, place.path("my_guard.wasm")).expect("a shipped module");
    assert!(run(&place, "wasm.md") >= 2);
}

#[test]
fn the_page_about_native_policies_works() {
    let place = project();
    assert!(run(&place, "native.md") >= 1);
}
