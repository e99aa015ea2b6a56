//! Figures, from results and from worlds.

use serde_json::Value;

use super::Place;

/// A result of a small study of two policies.
fn with_study(name: &str) -> Place {
    let place = Place::new();
    let words = ["study", name, "--progress", "none", "--out", name];
    place.run(&words).expect(0);
    place
}

/// A cell of a table, as it is printed.
fn cell(place: &Place, table: &str, policy: &str, column: &str) -> String {
    let words = ["tables", "full_main", "--table", table, "--format", "json"];
    let tables = place.run(&words).expect(0).json();
    let rows = tables["tables"][0]["rows"].as_array().expect("rows");
    let row = rows.iter().find(|row| row["Defence"]["printed"] == policy);
    let row: &Value = row.unwrap_or_else(|| panic!("no {policy} in {tables}"));
    row[column]["printed"].as_str().expect("a cell").to_owned()
}

#[test]
fn the_main_study_has_seven_figures_with_the_numbers_of_its_tables() {
    let place = with_study("full_main");
    let done = place.run(&["figures", "full_main"]).expect(0);
    assert_eq!(done.out.lines().count(), 7, "{}", done.out);
    let figure = |number: u8| place.read(&format!("full_main/figures/figure{number}.svg"));
    for number in 1..=7 {
        let svg = figure(number);
        for part in [
            "<title id=\"title\">Figure ",
            "<desc id=\"desc\">",
            "</svg>\n",
        ] {
            assert!(svg.contains(part), "figure {number} has no {part}");
        }
    }
    for policy in ["none", "taint_only_v1", "intent_ledger_v2"] {
        for (number, table, column) in [(3, "11", "Authorized completion"), (6, "15", "Recovery")] {
            let printed = cell(&place, table, policy, column);
            let svg = figure(number);
            assert!(
                svg.contains(&format!(">{printed}</text>")),
                "no {printed}: {svg}"
            );
            let told = format!("{policy} {printed} ");
            assert!(svg.contains(&told), "no {told}: {svg}");
        }
    }
    let repaired = cell(&place, "11", "intent_ledger_v2", "Authorized completion");
    assert!(figure(2).contains(&format!("authorized completion {repaired} [")));
    let manifest: Value =
        serde_json::from_str(&place.read("full_main/manifest.json")).expect("a manifest");
    let digest = &manifest["digest"].as_str().expect("a digest")[..12];
    assert!(
        figure(7).contains(&format!(">digest {digest}</text>")),
        "{}",
        figure(7)
    );
    assert!(figure(7).contains(">17640 rollouts</text>"));
}

#[test]
fn figures_are_the_same_bytes_wherever_they_are_drawn() {
    let place = with_study("smoke");
    place.run(&["figures", "smoke", "--out", "here"]).expect(0);
    place.run(&["figures", "smoke", "--out", "there"]).expect(0);
    for number in [1, 2, 4, 7] {
        let name = format!("figure{number}.svg");
        assert_eq!(
            place.read(&format!("here/{name}")),
            place.read(&format!("there/{name}"))
        );
    }
}

#[test]
fn any_world_can_be_drawn_without_a_result() {
    let place = Place::new();
    place.copy_world("demos", "case5_contact_memory");
    let words = [
        "figures",
        "--world",
        "case5_contact_memory.ron",
        "--figure",
        "1",
        "--out",
        "drawn",
    ];
    place.run(&words).expect(0);
    let svg = place.read("drawn/figure1.svg");
    for label in [
        "notebook",
        "untrusted memory record",
        "memory_read",
        "intent ledger",
        "task_record",
    ] {
        assert!(
            svg.contains(&format!(">{label}</text>")),
            "no {label}: {svg}"
        );
    }
    assert!(
        !svg.contains("desk@external.local"),
        "what a source says is not drawn"
    );
    place.run(&["figures"]).expect(0);
    let svg = place.read("figures/figure2.svg");
    for label in [
        "block send_invite (call 2): block_tainted_privilege_jump",
        "send_invite (call 2) commits",
    ] {
        assert!(
            svg.contains(&format!(">{label}</text>")),
            "no {label}: {svg}"
        );
    }
    assert!(svg.contains("No study is shown with it."));
    let words = [
        "figures",
        "--world",
        "case1_violation_commits",
        "--figure",
        "2",
    ];
    place.run(&words).expect(0);
}

#[test]
fn what_is_alike_in_a_large_world_shares_a_box() {
    let place = Place::new();
    let words = [
        "figures",
        "--world",
        "hub_and_eight_workers",
        "--figure",
        "1",
    ];
    place.run(&words).expect(0);
    let svg = place.read("figures/figure1.svg");
    // The one source that is untrusted, and the agent in the middle, stand alone.
    for label in ["8 agents", "7 sources", "doc:report_5", "hub"] {
        assert!(
            svg.contains(&format!(">{label}</text>")),
            "no {label}: {svg}"
        );
    }
    for name in ["worker_8", "doc:report_8"] {
        assert!(svg.contains(name), "no {name}: {svg}");
    }
    assert!(svg.matches("<polyline").count() < 15, "{svg}");
}

#[test]
fn a_figure_that_is_none_is_refused_with_help() {
    let place = Place::new();
    let done = place.run(&["figures", "--figure", "8"]);
    done.fails(2, &["there is no figure `8`", "figures 1 to 7"]);
    let done = place.run(&["figures", "--figure", "3"]);
    done.fails(2, &["figure 3 is drawn from a result", "containment study"]);
    place.run(&["figures", "nowhere"]).expect(3);
}

/// The study `stress` has security rollouts only.
#[test]
fn what_a_study_has_no_rows_for_is_left_out_and_said() {
    let place = with_study("stress");
    let done = place.run(&["figures", "stress"]).expect(0);
    assert!(done.err.contains("figure 3 is left out"), "{}", done.err);
    assert!(done.err.contains("figure 6 is left out"), "{}", done.err);
    assert!(!place.path("stress/figures/figure3.svg").exists());
    assert!(place.path("stress/figures/figure4.svg").exists());
    let done = place.run(&["figures", "stress", "--figure", "3"]);
    done.fails(2, &["figure 3 cannot be drawn", "active-tainted stage"]);
}

/// A result can come from anybody, and hold links to anywhere.
#[cfg(unix)]
#[test]
fn figures_are_not_written_through_links() {
    use std::os::unix::fs::symlink;
    let place = with_study("smoke");
    std::fs::create_dir(place.path("elsewhere")).expect("a folder");
    symlink(place.path("elsewhere"), place.path("smoke/figures")).expect("a link");
    let says = ["`smoke/figures` is a link", "--out"];
    place.run(&["figures", "smoke"]).fails(5, &says);
    for out in ["smoke/figures", "smoke/figures/"] {
        let done = place.run(&["figures", "smoke", "--out", out]);
        done.fails(5, &["is a link"]);
    }
    let mut there = std::fs::read_dir(place.path("elsewhere")).expect("a folder");
    assert!(there.next().is_none());
    std::fs::remove_file(place.path("smoke/figures")).expect("a link");
    std::fs::create_dir(place.path("smoke/figures")).expect("a folder");
    place.write("victim", "mine");
    for name in ["figure1.svg", "figure2.svg.unfinished"] {
        let link = place.path(&format!("smoke/figures/{name}"));
        symlink(place.path("victim"), link).expect("a link");
    }
    place.run(&["figures", "smoke"]).expect(0);
    assert_eq!(place.read("victim"), "mine");
    let figure = place.path("smoke/figures/figure1.svg");
    assert!(!figure.symlink_metadata().expect("a file").is_symlink());
    std::fs::remove_file(place.path("smoke/figures/figure2.svg")).expect("a figure");
    std::fs::create_dir(place.path("smoke/figures/figure2.svg")).expect("a folder");
    let says = ["figure2.svg", "1 of ", "written before it: `figure1.svg`"];
    place.run(&["figures", "smoke"]).fails(5, &says);
}
