//! Comma-separated values: one line for each cell, so that tables of any shape share one header.

use csv::Writer;

use crate::table::{Cell, Table};

const HEADER: [&str; 9] = [
    "table",
    "row",
    "label",
    "column",
    "printed",
    "value",
    "low",
    "high",
    "published",
];

pub(super) fn tables(tables: &[Table]) -> String {
    let mut writer = Writer::from_writer(Vec::new());
    let mut write = |record: &[String]| {
        writer.write_record(record).expect("memory takes any bytes");
    };
    write(&HEADER.map(str::to_owned));
    for table in tables {
        for (position, row) in (1..).zip(&table.rows) {
            let label = label(row);
            for (heading, cell) in table.columns.iter().zip(row) {
                let number =
                    |number: Option<f64>| number.map_or_else(String::new, |one| one.to_string());
                write(&[
                    table.id.to_owned(),
                    i32::to_string(&position),
                    label.clone(),
                    (*heading).to_owned(),
                    cell.to_string(),
                    number(cell.as_number()),
                    number(cell.interval.map(|interval| interval.low)),
                    number(cell.interval.map(|interval| interval.high)),
                    cell.published.join(" "),
                ]);
            }
        }
    }
    let bytes = writer.into_inner().expect("memory takes any bytes");
    String::from_utf8(bytes).expect("written from text")
}

/// What a line is about: the words at its beginning.
fn label(row: &[Cell]) -> String {
    let words = row.iter().take_while(|cell| !cell.is_numeric());
    let words: Vec<String> = words.map(ToString::to_string).collect();
    words.join(" / ")
}
