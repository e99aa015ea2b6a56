//! One JSON object.

use serde_json::{Value as Json, json};

use crate::table::{Cell, Table, Value};

/// The version of the object.
const SCHEMA: u32 = 1;

pub(super) fn tables(tables: &[Table]) -> String {
    let tables: Vec<Json> = tables.iter().map(table).collect();
    let mut text = serde_json::to_string_pretty(&json!({"schema": SCHEMA, "tables": tables}))
        .expect("plain data with text keys");
    text.push('\n');
    text
}

fn table(table: &Table) -> Json {
    let row = |row: &Vec<Cell>| -> Json {
        let cells = table.columns.iter().zip(row);
        cells
            .map(|(heading, one)| ((*heading).to_owned(), cell(one)))
            .collect()
    };
    json!({
        "id": table.id,
        "title": table.title,
        "columns": table.columns,
        "rows": table.rows.iter().map(row).collect::<Vec<_>>(),
        "notes": table.notes,
    })
}

fn cell(cell: &Cell) -> Json {
    let mut object = json!({"printed": cell.to_string(), "value": cell.as_number()});
    if let Value::Part { whole, .. } = cell.value {
        object["of"] = json!(whole);
    }
    if let Some(interval) = cell.interval {
        object["interval"] = json!([interval.low, interval.high]);
        object["level"] = json!(interval.level);
    }
    if !cell.published.is_empty() {
        object["published"] = json!(cell.published);
    }
    object
}
