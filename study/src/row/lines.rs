//! Rows as lines of CSV.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use super::{Row, RowsError, check_version, row_columns};
use crate::columns::{Column, Columns, CsvLine};

/// Writes rows as CSV, header first.
///
/// # Errors
/// When the writer fails.
pub fn write_csv<'r>(
    mut out: impl io::Write,
    rows: impl IntoIterator<Item = &'r Row>,
) -> io::Result<()> {
    out.write_all(csv_header())?;
    out.write_all(&write_csv_records(rows))
}

/// The header of the CSV, with its line break.
///
/// # Panics
/// Never: memory takes any bytes.
#[must_use]
pub fn csv_header() -> &'static [u8] {
    static HEADER: LazyLock<Vec<u8>> = LazyLock::new(|| {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let names = row_columns()
            .iter()
            .map(|column| column.name().into_owned());
        writer.write_record(names).expect("memory takes any bytes");
        writer.into_inner().expect("memory takes any bytes")
    });
    &HEADER
}

/// Rows as CSV, without the header. The numbers that rows share are written once and copied.
#[must_use]
pub fn write_csv_records<'r>(rows: impl IntoIterator<Item = &'r Row>) -> Vec<u8> {
    let rows = rows.into_iter();
    let mut csv = Vec::with_capacity(rows.size_hint().0 * USUAL_ROW_BYTES);
    let mut written = BTreeMap::new();
    for row in rows {
        let mut line = CsvLine::new(&mut csv);
        row.identity.write(&mut line);
        match written.get(&Arc::as_ptr(&row.metrics)) {
            Some(place) => line.copy(Range::clone(place)),
            None => {
                let place = line.place(|line| row.metrics.write(line));
                written.insert(Arc::as_ptr(&row.metrics), place);
            }
        }
        row.shadow.write(&mut line);
        line.finish();
    }
    csv.shrink_to_fit();
    csv
}

/// Somewhat more than most rows take.
const USUAL_ROW_BYTES: usize = 1024;

/// Reads what [`write_csv`] wrote.
///
/// # Errors
/// When the text is damaged, of another version, or a cell does not hold what its column says.
pub fn read_csv(text: impl io::Read) -> Result<Vec<Row>, RowsError> {
    let damaged = |error: csv::Error| RowsError::Damaged(error.to_string());
    let mut reader = csv::Reader::from_reader(text);
    let header: Vec<String> = texts(reader.headers().map_err(damaged)?);
    let mut rows = Vec::new();
    for (number, record) in (1..).zip(reader.records()) {
        let texts = texts(&record.map_err(damaged)?);
        if number == 1 {
            check_version(&version(&header, &texts))?;
            check_header(&header)?;
        }
        rows.push(Row::from_texts(&texts, number)?);
    }
    check_header(&header)?;
    Ok(rows)
}

/// Reads what [`write_csv_records`] wrote.
///
/// # Errors
/// When the text is damaged, or a cell does not hold what its column says.
pub fn read_csv_records(text: impl io::Read) -> Result<Vec<Row>, RowsError> {
    let damaged = |error: csv::Error| RowsError::Damaged(error.to_string());
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(text);
    let records = (1..).zip(reader.records());
    records
        .map(|(number, record)| {
            let texts = texts(&record.map_err(damaged)?);
            if texts.len() != row_columns().len() {
                let message = format!("row {number} has {} cells", texts.len());
                return Err(RowsError::Damaged(message));
            }
            Row::from_texts(&texts, number)
        })
        .collect()
}

fn texts(record: &csv::StringRecord) -> Vec<String> {
    record.iter().map(str::to_owned).collect()
}

/// What stands in the column `schema`, wherever it is.
fn version(header: &[String], texts: &[String]) -> String {
    let position = header.iter().position(|name| name == "schema");
    let text = position.and_then(|position| texts.get(position));
    text.cloned().unwrap_or_default()
}

fn check_header(header: &[String]) -> Result<(), RowsError> {
    let expected: Vec<_> = row_columns().iter().map(Column::name).collect();
    for index in 0..expected.len().max(header.len()) {
        let wanted = expected.get(index).map(AsRef::as_ref).unwrap_or_default();
        let found = header.get(index).map(String::as_str).unwrap_or_default();
        if wanted != found {
            return Err(RowsError::Header {
                position: index + 1,
                found: found.to_owned(),
                expected: wanted.to_owned(),
            });
        }
    }
    Ok(())
}
