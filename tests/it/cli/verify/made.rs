//! What other commands make beside a result: it passes as they made it, and what was edited does not.

use super::{DEMOS, MANIFEST, ROWS, SCENARIOS, all_but, caught, place, study, verify};
use crate::cli::Place;

const FIGURE: &str = "result/figures/figure4.svg";

/// The result of the case studies with its figures.
fn drawn() -> Place {
    let place = place();
    place.run(&["figures", "result"]).expect(0);
    place
}

/// A place with one file beside the result changed.
fn edited(place: Place, file: &str, from: &str, to: &str) -> Place {
    let text = place.read(file);
    let new = text.replacen(from, to, 1);
    assert_ne!(new, text, "the change changes nothing");
    place.write(file, new);
    place
}

#[test]
fn a_result_with_all_that_is_made_of_it_passes() {
    let place = Place::new();
    study(&place, "full_main", "result");
    for words in [
        &["tables", "result"][..],
        &["scorecard", "result"],
        &["cases", "--out", "result/cases"],
        &["figures", "result"],
    ] {
        place.run(words).expect(0);
    }
    let done = verify(&place, &[]).expect(0);
    for told in [
        "claims.json, scorecard.json, scorecard.md, tables.md",
        "7 of 7 figures the same",
        "27 of 27 files of case studies the same",
        "all 17640 rows the same",
        "18 of case studies, made again",
    ] {
        // The order in which derived files are told is theirs.
        let parts = told.split(", ").all(|part| done.out.contains(part));
        assert!(parts, "{told}: {}", done.out);
    }
    verify(&place, &["--fast"]).expect(0);
    let place = edited(place, "result/scorecard.json", "true", "false");
    let says = ["scorecard.json", "containment scorecard result"];
    caught(&place, "derived files", &says);
}

#[test]
fn figures_and_case_studies_may_lie_anywhere_in_the_folder() {
    let place = drawn();
    place.run(&["cases", "--out", "result"]).expect(0);
    let words = ["figures", "result", "--out", "result/deep/drawn"];
    place.run(&words).expect(0);
    let words = [
        "figures",
        "result",
        "--world",
        "case5_contact_memory",
        "--figure",
        "1",
    ];
    place.run(&words).expect(0);
    verify(&place, &[]).expect(0);
}

#[test]
fn a_figure_that_was_edited_is_told_and_searched() {
    let moved = edited(drawn(), FIGURE, " x1=\"", " x1=\"1");
    caught(
        &moved,
        "derived files",
        &["figure4.svg", "\"line\":", "containment figures result"],
    );
    caught(&moved, "local addresses", &["figure4.svg"]);
    let script = "<script>alert(1)</script></svg>";
    let script = edited(drawn(), FIGURE, "</svg>", script);
    caught(&script, "derived files", &["figure4.svg"]);
    caught(&script, "forbidden markers", &["figure4.svg", "<script"]);
    let address = "<a href=\"https://example.com/x\"/></svg>";
    let address = edited(drawn(), FIGURE, "</svg>", address);
    caught(&address, "derived files", &["figure4.svg"]);
    caught(&address, "local addresses", &["figure4.svg", "example.com"]);
    for place in [moved, script, address] {
        all_but(
            &place,
            &["derived files", "local addresses", "forbidden markers"],
        );
        let done = verify(&place, &["--fast"]).expect(4);
        assert!(done.out.contains("6 of 7 figures the same"), "{}", done.out);
    }
}

#[test]
fn a_figure_that_the_program_does_not_draw_is_told() {
    let place = drawn();
    place.write("result/figures/figure9.svg", place.read(FIGURE));
    caught(&place, "derived files", &["figure9.svg", "no such figure"]);
    caught(&place, "forbidden markers", &["figure9.svg"]);
}

/// A figure of other rows is not that of these, and without rows to draw it from none is believed.
#[test]
fn a_figure_of_other_rows_is_not_believed() {
    let other = Place::new();
    study(&other, "controls", "other");
    other.run(&["figures", "other"]).expect(0);
    let place = drawn();
    place.write(FIGURE, other.read("other/figures/figure4.svg"));
    caught(&place, "derived files", &["figure4.svg"]);
    let place = drawn();
    place.write(ROWS, DEMOS.read(ROWS).replacen(",none,", ",nobody,", 1));
    caught(&place, "forbidden markers", &["figure4.svg"]);
    for file in [MANIFEST, SCENARIOS] {
        assert_eq!(place.read(file), DEMOS.read(file));
    }
}

#[test]
fn a_case_study_that_was_edited_is_told() {
    let written = || {
        let place = place();
        place.run(&["cases", "--out", "result/told"]).expect(0);
        place
    };
    verify(&written(), &[]).expect(0);
    let page = "result/told/case1/case.md";
    let page = edited(
        written(),
        page,
        "| committed_harm | 1 |",
        "| committed_harm | 0 |",
    );
    caught(
        &page,
        "derived files",
        &["told/case1/case.md", "containment cases"],
    );
    let index = edited(written(), "result/told/index.md", "no harm", "little harm");
    caught(&index, "derived files", &["told/index.md"]);
    let trace = "result/told/case1/case1_violation_commits.none.jsonl";
    let trace = edited(written(), trace, "\"redacted\":true", "\"redacted\":false");
    caught(
        &trace,
        "derived files",
        &["case1_violation_commits.none.jsonl"],
    );
    caught(
        &trace,
        "traces",
        &["case1_violation_commits.none.jsonl", "redacted"],
    );
}
