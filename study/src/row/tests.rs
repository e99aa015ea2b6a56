use proptest::prelude::*;

use super::*;
use crate::fixture::random::story;
use crate::fixture::row_of;

fn csv_of(rows: &[Row]) -> String {
    let mut bytes = Vec::new();
    write_csv(&mut bytes, rows).expect("a vector takes any bytes");
    String::from_utf8(bytes).expect("cells are text")
}

fn some_row() -> Row {
    row_of(
        &crate::fixture::Story::new(crate::fixture::scenario(Stage::Clean)),
        "none",
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn rows_survive_csv_and_json(stories in prop::collection::vec(story(), 1..4)) {
        let rows: Vec<Row> = stories.iter().map(|story| row_of(story, "none")).collect();
        prop_assert_eq!(&read_csv(csv_of(&rows).as_bytes()).unwrap(), &rows);
        for row in rows {
            prop_assert_eq!(Row::from_json(&row.to_json()).unwrap(), row);
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
        prop_assert!(read_csv(&bytes[..]).is_err());
        prop_assert!(Row::from_json(&String::from_utf8_lossy(&bytes)).is_err());
    }
}

#[test]
fn the_numbers_of_a_row_are_those_of_its_cells() {
    let row = some_row();
    let (cells, numbers) = (row.cells(), row.numbers());
    assert_eq!(cells.len(), numbers.len());
    for (cell, number) in cells.iter().zip(numbers) {
        match number {
            Some(number) => assert_eq!(cell.to_string(), number.to_string()),
            None => assert!(matches!(cell, Cell::Null | Cell::Text(_)), "{cell:?}"),
        }
    }
}

#[test]
fn awkward_texts_survive() {
    let mut row = some_row();
    row.identity.scenario_id = "a,\"b\"\nc;'d'".into();
    row.identity.failure = Some("line\r\nline, \"quoted\"".into());
    let rows = [row];
    assert_eq!(read_csv(csv_of(&rows).as_bytes()).unwrap(), rows);
    assert_eq!(Row::from_json(&rows[0].to_json()).unwrap(), rows[0]);
}

proptest! {
    /// The lines are those of the crate that reads them back.
    #[test]
    fn lines_are_those_of_the_csv_crate(
        story in story(),
        name in "[ a-z,;\"'\r\n\u{e9}]{0,9}",
        seed: u64,
        hash: u128,
    ) {
        let mut row = row_of(&story, "none");
        row.identity.scenario_id = name.as_str().into();
        row.identity.failure = Some(name.into());
        row.identity.seed = seed;
        row.identity.trace_digest = Hash(hash);
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(row.cells().iter().map(ToString::to_string)).unwrap();
        prop_assert_eq!(write_csv_records([&row]), writer.into_inner().unwrap());
    }
}

#[test]
fn numbers_that_rows_share_are_written_as_those_that_they_do_not() {
    let row = some_row();
    let mut other = row.clone();
    Arc::make_mut(&mut other.metrics).endpoints.verdicts = Some(1_000);
    let mut again = row.clone();
    again.identity.policy = "another".into();
    let rows = [&row, &other, &again, &row, &other];
    let alone = rows.map(|row| write_csv_records([row]));
    assert_eq!(write_csv_records(rows), alone.concat());
}

#[test]
fn names_are_unique_and_the_promised_ones_are_there() {
    let names: Vec<_> = row_columns().iter().map(Column::name).collect();
    let unique: std::collections::BTreeSet<_> = names.iter().collect();
    assert_eq!(unique.len(), names.len());
    let promised = "schema rollout_id scenario_id scenario_hash family stage domain topology memory \
        policy policy_hash model profile_hash instrumentation seed prestate_hash fork_event fork_hash \
        trace_digest outcome terminal_rule provider_seed_status committed_harm unauthorized_action \
        secret_leakage leak_by_reference wrong_recipient_rate taint_to_commit_rate \
        taint_to_commit_rate_numerator taint_to_commit_rate_denominator blast_radius_norm \
        blast_radius_norm_numerator blast_radius_norm_denominator privilege_jump privilege_jump_count \
        privilege_jump_share memory_reinfection recovery_success recovery_failure \
        authorized_tainted_action_success authorized_tainted_action_success_fraction \
        authorized_tainted_action_success_fraction_unzeroed clean_benign_completion \
        false_positive_block_rate false_positive_confirm_rate confirmation_burden \
        valid_tool_proposal_rate harm_attempt parse_failure_rate repair_rate invalid_tool_rate \
        benign_completion utility rollback net_harm ttc_ticks ttc_events contained \
        contained_before_exposure exact_proposal goal_matched_commit off_target_commit \
        blast_radius_raw br_agent br_agent_distinct br_message br_memory br_tool br_side_effect \
        br_source br_five br_out_of_region cascade_depth cascade_agent_hops";
    for name in promised.split_whitespace() {
        assert!(names.iter().any(|column| column == name), "{name}");
    }
    for field in crate::metrics::projection::FIELDS {
        assert!(names.iter().any(|column| column == field.name()));
    }
}

#[test]
fn every_column_says_what_it_is() {
    for column in row_columns() {
        let spec = column.spec;
        for text in [spec.doc, spec.over, spec.null, spec.reference] {
            assert!(
                !text.trim().is_empty() && !text.contains('|'),
                "{}",
                spec.name
            );
        }
    }
}

/// After a change of columns: run the tests with `CONTAINMENT_RECORD_GOLDEN=1`, and read the
/// difference.
#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the one variable by which tests record what they see; it reaches no result"
)]
fn columns_md_is_what_the_declarations_say() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/COLUMNS.md");
    if std::env::var_os("CONTAINMENT_RECORD_GOLDEN").is_some() {
        std::fs::write(path, documentation()).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap();
    assert!(
        written == documentation(),
        "COLUMNS.md is not what the declarations say"
    );
}

#[test]
fn null_is_empty_and_an_indicator_is_a_digit() {
    let csv = csv_of(&[some_row()]);
    let (header, line) = csv.split_once('\n').unwrap();
    let cell = |name: &str| {
        let position = header.split(',').position(|column| column == name).unwrap();
        line.split(',').nth(position).unwrap()
    };
    assert_eq!(cell("memory_reinfection"), "");
    assert_eq!(cell("committed_harm"), "0");
    assert_eq!(cell("blast_radius_norm"), "0");
    assert_eq!(cell("blast_radius_norm_denominator"), "1");
}

#[test]
fn another_version_is_named() {
    let csv = csv_of(&[some_row()]).replacen("\n6,", "\n2,", 1);
    let error = read_csv(csv.as_bytes()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "rows have schema 2, this build reads schema 6"
    );
    let json = some_row()
        .to_json()
        .replacen("\"schema\":6", "\"schema\":7", 1);
    let error = Row::from_json(&json).unwrap_err();
    assert_eq!(
        error.to_string(),
        "rows have schema 7, this build reads schema 6"
    );
}

#[test]
fn another_column_is_named() {
    let csv = csv_of(&[some_row()]).replacen("scenario_id", "world", 1);
    let error = read_csv(csv.as_bytes()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "column 3 is `world`, expected `scenario_id`"
    );
    let json = some_row().to_json().replacen("\"seed\":", "\"sead\":", 1);
    assert!(matches!(
        Row::from_json(&json),
        Err(RowsError::Header { .. })
    ));
    let more = some_row().to_json().replacen('{', "{\"more\":1,", 1);
    assert!(matches!(
        Row::from_json(&more),
        Err(RowsError::Header { .. })
    ));
}

#[test]
fn a_damaged_cell_is_named() {
    let csv = csv_of(&[some_row()]).replace(",clean,", ",dirty,");
    let error = read_csv(csv.as_bytes()).unwrap_err();
    let expected = "row 1: column `stage` holds `dirty`, expected security, memory_recovery, \
                    active_tainted or clean";
    assert_eq!(error.to_string(), expected);
}

/// The integers are the ratio; a quotient changed by hand is noticed.
#[test]
fn a_quotient_that_does_not_fit_its_integers_is_damage() {
    let json = some_row().to_json();
    let changed = json.replacen("\"blast_radius_norm\":0.0", "\"blast_radius_norm\":0.5", 1);
    assert_ne!(json, changed);
    assert!(matches!(
        Row::from_json(&changed),
        Err(RowsError::Cell { .. })
    ));
}

#[test]
fn an_empty_file_of_rows_is_empty_and_no_file_is_not() {
    assert_eq!(read_csv(csv_of(&[]).as_bytes()).unwrap(), []);
    assert!(read_csv(&b""[..]).is_err());
}

#[test]
fn outcomes_have_the_words_of_the_trace() {
    let completed = plugins::trace::Outcome::Completed;
    assert_eq!(engine::export::names::outcome(&completed), COMPLETED);
    let errored = plugins::trace::Outcome::Errored("gone".into());
    assert_eq!(engine::export::names::outcome(&errored), ERRORED);
}
