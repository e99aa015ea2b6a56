use super::*;
use crate::table::Cell;
use statistics::Interval;

fn sample() -> Vec<Table> {
    let mut table = Table::new(
        "11",
        "Utility_stages",
        &["Defence", "N", "Completion", "95 % CI"],
    );
    let interval = Interval {
        low: 0.25,
        high: 0.75,
        level: 0.95,
    };
    table.row([
        Cell::text("taint_only_v1"),
        Cell::count(600),
        Cell::rate(Some(0.5))
            .within(Some(interval))
            .publishes("t11.x"),
        Cell::interval(Some(interval)),
    ]);
    table.row([
        Cell::text("a|b"),
        Cell::count(6),
        Cell::rate(None),
        Cell::interval(None),
    ]);
    table.note("100 % of {these}");
    vec![table]
}

#[test]
fn text_is_aligned_with_numbers_to_the_right() {
    assert_eq!(
        render(&sample(), Format::Text),
        "Table 11. Utility_stages\n\
         Defence          N  Completion           95 % CI\n\
         taint_only_v1  600      0.5000  [0.2500, 0.7500]\n\
         a|b              6         N/A               N/A\n  \
         100 % of {these}\n"
    );
}

#[test]
fn markdown_has_a_rule_and_escapes_bars() {
    let text = render(&sample(), Format::Markdown);
    assert!(text.contains("| --- | ---: | ---: | ---: |"), "{text}");
    assert!(text.contains("| a\\|b | 6 | N/A | N/A |"), "{text}");
}

#[test]
fn latex_escapes_what_would_be_a_command() {
    let text = render(&sample(), Format::Latex);
    assert!(text.contains("\\begin{tabular}{lrrr}"), "{text}");
    assert!(
        text.contains("taint\\_only\\_v1 & 600 & 0.5000 & {[}0.2500, 0.7500] \\\\"),
        "{text}"
    );
    assert!(text.contains("100 \\% of \\{these\\}"), "{text}");
}

#[test]
fn csv_has_a_line_for_each_cell() {
    let text = render(&sample(), Format::Csv);
    let mut reader = ::csv::Reader::from_reader(text.as_bytes());
    let lines: Vec<::csv::StringRecord> = reader.records().collect::<Result<_, _>>().expect("csv");
    assert_eq!(lines.len(), 8);
    let completion: Vec<&str> = lines[2].iter().collect();
    assert_eq!(
        completion,
        [
            "11",
            "1",
            "taint_only_v1",
            "Completion",
            "0.5000",
            "0.5",
            "0.25",
            "0.75",
            "t11.x"
        ]
    );
}

#[test]
fn json_holds_the_same_cells() {
    let json: serde_json::Value =
        serde_json::from_str(&render(&sample(), Format::Json)).expect("json");
    let cell = &json["tables"][0]["rows"][0]["Completion"];
    assert_eq!(cell["printed"], "0.5000");
    assert_eq!(cell["interval"], serde_json::json!([0.25, 0.75]));
    assert!(json["tables"][0]["rows"][1]["Completion"]["value"].is_null());
}

#[test]
fn every_format_prints_the_same_cells() {
    let tables = sample();
    for format in [
        Format::Text,
        Format::Markdown,
        Format::Latex,
        Format::Csv,
        Format::Json,
    ] {
        let text = render(&tables, format);
        for printed in ["0.5000", "600", "N/A"] {
            assert!(text.contains(printed), "{format:?} lacks {printed}");
        }
    }
}
