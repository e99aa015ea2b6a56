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
    for (command, shown) in blocks(page, "console").iter().flat_map(|text| commands(text)) {
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

#[test]
fn the_page_about_rules_works() {
    let place = project();
    for block in blocks("rules.md", "ron") {
        if block.contains("Rules(") && !place.path("my_guard.rules.ron").exists() {
            place.write("my_guard.rules.ron", block);
        }
    }
    assert!(run(&place, "rules.md") >= 2);
}

#[test]
fn the_page_about_processes_works() {
    let place = project();
    assert!(run(&place, "process.md") >= 2);
}

#[cfg(feature = "cedar")]
#[test]
fn the_page_about_cedar_works() {
    let place = project();
    assert!(run(&place, "cedar.md") >= 2);
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
