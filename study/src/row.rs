//! The flat record of one rollout, and its two forms: a line of CSV and an object of JSON.
//!
//! `COLUMNS.md` in this crate lists every column; it is made from the declarations here and in
//! [`crate::metrics`], as are the header and the keys.

mod lines;
mod shadowed;

use std::fmt::Write as _;
use std::sync::{Arc, LazyLock};

use plugins::value::Text;
use serde::{Serialize, Serializer};
use worlds::spec::{Domain, Stage};

use crate::columns::{
    BadCell, Cell, CellWriter, Column, Columns, Hash, Part, Reader, Word, columns,
};
use crate::metrics::Metrics;
pub use lines::{csv_header, read_csv, read_csv_records, write_csv, write_csv_records};
pub use shadowed::Shadowed;

/// The version of the columns. A column added, removed or changed in meaning bumps it; a reader
/// refuses any other version, and results are made anew rather than migrated.
pub const ROW_SCHEMA: u32 = 6;

columns! {
    /// Which rollout a row is about, and how it ended.
    pub struct Identity {
        /// Version of the columns.
        schema: u32 {
            over: "version",
            stages: All,
            null: "never",
            origin: O("format"),
        }
        /// Hash of everything that decides what happens in the rollout.
        rollout_id: Hash {
            over: "hash",
            stages: All,
            null: "never",
            origin: O("format"),
        }
        /// Family and variant of the scenario, or its file name.
        scenario_id: Text {
            over: "name",
            stages: All,
            null: "never",
            origin: P("4.3"),
        }
        /// Hash of what the scenario says.
        scenario_hash: Hash {
            over: "hash",
            stages: All,
            null: "never",
            origin: P("4.3"),
        }
        /// The family of the scenario; the scenario itself if it has none.
        family: Text {
            over: "name",
            stages: All,
            null: "never",
            origin: O("tables by family"),
        }
        /// The evidence stage.
        stage: Stage {
            over: "name",
            stages: All,
            null: "never",
            origin: P("4.2"),
        }
        /// The domain.
        domain: Domain {
            over: "name",
            stages: All,
            null: "never",
            origin: P("3.1"),
        }
        /// The topology of the agents.
        topology: Text {
            over: "name",
            stages: All,
            null: "never",
            origin: P("3.1"),
        }
        /// The longest memory of the scenario: `persistent`, `session` or `none`.
        memory: Word {
            over: "name",
            stages: All,
            null: "never",
            origin: P("3.1"),
        }
        /// The defence.
        policy: Text {
            over: "name",
            stages: All,
            null: "never",
            origin: P("4.3"),
        }
        /// Hash of the version and parameters of the defence, and of what it is made of.
        policy_hash: Hash {
            over: "hash",
            stages: All,
            null: "never",
            origin: P("4.3"),
        }
        /// Where the defence comes from: `built_in`, `composed`, or the host that runs it: `process`,
        /// `rules`, `cedar` or `wasm`.
        policy_kind: Word {
            over: "name",
            stages: All,
            null: "never",
            origin: O("policies from outside"),
        }
        /// Its version; for a policy from a file, of the protocol or grammar that it speaks.
        policy_version: u32 {
            over: "version",
            stages: All,
            null: "never",
            origin: O("policies from outside"),
        }
        /// Hash of what it is made of besides code of this program.
        policy_content: Option<Hash> {
            over: "hash",
            stages: All,
            null: "the defence is built in and has its default parameters",
            origin: O("policies from outside"),
        }
        /// The model backend.
        model: Text {
            over: "name",
            stages: All,
            null: "never",
            origin: P("4.3"),
        }
        /// Hash of the version, parameters and configuration of the model backend.
        profile_hash: Hash {
            over: "hash",
            stages: All,
            null: "never",
            origin: O("format"),
        }
        /// What recorded labels are: `paper`, `full` or custom switches.
        instrumentation: Word {
            over: "name",
            stages: All,
            null: "never",
            origin: O("recorded layer of 3.5"),
        }
        /// The simulated user who is asked for confirmations.
        user: Word {
            over: "name",
            stages: All,
            null: "never",
            origin: O("the paper has nobody to ask"),
        }
        /// The seed of the study.
        study_seed: u64 {
            over: "seed",
            stages: All,
            null: "never",
            origin: O("format"),
        }
        /// The seed of the rollout.
        seed: u64 {
            over: "seed",
            stages: All,
            null: "never",
            origin: P("4.3"),
        }
        /// Where the rollout stands among those over which latent variables are stratified, as
        /// `GROUP:PLACE/PLACES:SLICE/SLICES`: the place of its scenario in the group, and of its seed.
        stratum: Option<Text> {
            over: "name",
            stages: All,
            null: "the study draws latent variables independently",
            origin: O("stratified latents"),
        }
        /// What the provider did with the seed: `keyed` for simulated backends, `unsupported` for a
        /// provider without seed.
        provider_seed_status: Word {
            over: "name",
            stages: All,
            null: "never",
            origin: P("Appendix I"),
        }
        /// Hash of the state before the policy is told of the rollout; equal for the policies of a
        /// pair.
        prestate_hash: Hash {
            over: "hash",
            stages: All,
            null: "never",
            origin: O("what makes a pair"),
        }
        /// How many events the rollout shares with other policies before its own hooks could fire.
        fork_event: Option<u64> {
            over: "events",
            stages: All,
            null: "run from the start, or no hook of the policy could fire",
            origin: O("fork"),
        }
        /// Hash of the policy-free state at that event.
        fork_hash: Option<Hash> {
            over: "hash",
            stages: All,
            null: "run from the start, or no hook of the policy could fire",
            origin: O("fork"),
        }
        /// Hash of the trace.
        trace_digest: Hash {
            over: "hash",
            stages: All,
            null: "never",
            origin: O("replay"),
        }
        /// How the rollout ended: `completed`, `limit_reached:` and the limit, or `errored`.
        outcome: Word {
            over: "name",
            stages: All,
            null: "never",
            origin: O("status"),
        }
        /// What the backend said when it failed.
        failure: Option<Text> {
            over: "text",
            stages: All,
            null: "the backend did not fail",
            origin: O("status"),
        }
        /// Agenda events executed.
        events: u64 {
            over: "count",
            stages: All,
            null: "never",
            origin: O("size"),
        }
        /// Nodes of the trace.
        nodes: u32 {
            over: "count",
            stages: All,
            null: "never",
            origin: P("V of Eq. 1"),
        }
        /// Edges of the trace.
        edges: u32 {
            over: "count",
            stages: All,
            null: "never",
            origin: P("E of Eq. 1"),
        }
    }
}

impl Identity {
    /// Whether the backend failed: every metric of the row is null.
    #[must_use]
    pub fn has_errored(&self) -> bool {
        self.outcome == ERRORED
    }
}

/// The outcome of a rollout that ran to its end, as nearly all do.
pub(crate) const COMPLETED: &str = "completed";

/// The outcome of a rollout whose backend failed.
pub const ERRORED: &str = "errored";

/// One rollout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Which.
    pub identity: Identity,
    /// Its numbers, shared by the rows of policies that behaved the same.
    pub metrics: Arc<Metrics>,
    /// What the policy in the shadow would have ruled.
    pub shadow: Shadowed,
}

/// Every column of a row, in order.
#[must_use]
pub fn row_columns() -> &'static [Column] {
    static COLUMNS: LazyLock<Vec<Column>> = LazyLock::new(|| {
        let mut columns = Vec::new();
        Identity::columns(&mut columns);
        Metrics::columns(&mut columns);
        Shadowed::columns(&mut columns);
        columns
    });
    &COLUMNS
}

/// Rows that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RowsError {
    /// The text is no CSV or JSON, or cannot be read at all.
    #[error("the rows cannot be read: {0}")]
    Damaged(String),
    /// Another version of the columns.
    #[error("rows have schema {found}, this build reads schema {expected}")]
    Version {
        /// In the file.
        found: String,
        /// Understood here.
        expected: u32,
    },
    /// The columns are not those of the version.
    #[error("column {position} is `{found}`, expected `{expected}`")]
    Header {
        /// Counted from 1.
        position: usize,
        /// In the file; empty if there is none.
        found: String,
        /// What should be there; empty if nothing should.
        expected: String,
    },
    /// A cell does not hold what its column says.
    #[error("row {row}: {cell}")]
    Cell {
        /// Counted from 1, without the header.
        row: u64,
        /// Which cell.
        cell: BadCell,
    },
}

impl Row {
    /// Its cells, one for each of [`row_columns`].
    #[must_use]
    pub fn cells(&self) -> Vec<Cell> {
        let mut cells = Vec::with_capacity(row_columns().len());
        self.write(&mut cells);
        cells
    }

    /// The number in each of its cells, none where there is no number; far quicker than
    /// [`Row::cells`], as no text is made.
    #[must_use]
    pub fn numbers(&self) -> Vec<Option<f64>> {
        let mut numbers = Vec::with_capacity(row_columns().len());
        self.write(&mut numbers);
        numbers
    }

    fn write(&self, out: &mut impl CellWriter) {
        self.identity.write(out);
        self.metrics.write(out);
        self.shadow.write(out);
    }

    /// One line of JSON, its keys in column order.
    ///
    /// # Panics
    /// Never: cells are numbers and texts.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("cells are numbers and texts")
    }

    /// Reads [`Row::to_json`] back. The order of the keys does not matter.
    ///
    /// # Errors
    /// When the text is no row of this version.
    pub fn from_json(text: &str) -> Result<Self, RowsError> {
        let mut object: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(text).map_err(|error| RowsError::Damaged(error.to_string()))?;
        check_version(&object.get("schema").map(json_text).unwrap_or_default())?;
        let mut texts = Vec::new();
        for (index, column) in row_columns().iter().enumerate() {
            let name = column.name();
            let value = object.remove(&*name).ok_or_else(|| RowsError::Header {
                position: index + 1,
                found: String::new(),
                expected: name.into_owned(),
            })?;
            texts.push(json_text(&value));
        }
        if let Some(name) = object.keys().next() {
            return Err(RowsError::Header {
                position: row_columns().len() + 1,
                found: name.clone(),
                expected: String::new(),
            });
        }
        Self::from_texts(&texts, 1)
    }

    fn from_texts(texts: &[String], row: u64) -> Result<Self, RowsError> {
        let mut cells = Reader::new(row_columns(), texts);
        let read = Identity::read(&mut cells).and_then(|identity| {
            let metrics = Arc::new(Metrics::read(&mut cells)?);
            let shadow = Shadowed::read(&mut cells)?;
            Ok(Self {
                identity,
                metrics,
                shadow,
            })
        });
        read.map_err(|cell| RowsError::Cell { row, cell })
    }
}

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(row_columns().iter().map(Column::name).zip(self.cells()))
    }
}

fn json_text(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::Null => String::new(),
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn check_version(found: &str) -> Result<(), RowsError> {
    if found == ROW_SCHEMA.to_string() {
        Ok(())
    } else {
        Err(RowsError::Version {
            found: if found.is_empty() {
                "none".to_owned()
            } else {
                found.to_owned()
            },
            expected: ROW_SCHEMA,
        })
    }
}

/// The text of `COLUMNS.md`.
#[must_use]
pub fn documentation() -> String {
    let mut text = format!(
        "# Columns of a row\n\n\
         Made from the declarations in `study/src/row.rs` and `study/src/metrics/`; a test compares.\n\
         Schema {ROW_SCHEMA}. A ratio fills three columns: its quotient, and with the suffixes \
         `_numerator` and\n`_denominator` the two integers, never reduced. Null is an empty cell: the \
         question does not apply to\nthat stage or rollout. Every metric of an errored rollout is null. \
         Origin: P stated in the paper, N\nforced or suggested by its numbers, O ours.\n\n\
         | column | what it is | denominator or unit | stages | null | origin |\n\
         | --- | --- | --- | --- | --- | --- |\n"
    );
    let is_ratio = |column: &Column| {
        row_columns()
            .iter()
            .any(|other| other.spec == column.spec && other.part == Part::Numerator)
    };
    for column in row_columns()
        .iter()
        .filter(|column| column.part == Part::Value)
    {
        let spec = column.spec;
        let kind = if is_ratio(column) { " (ratio)" } else { "" };
        writeln!(
            text,
            "| `{}`{kind} | {} | {} | {} | {} | {}: {} |",
            spec.name,
            spec.doc.trim(),
            spec.over,
            spec.stages.words(),
            spec.null,
            spec.origin.mark(),
            spec.reference,
        )
        .expect("a string takes any text");
    }
    text
}

#[cfg(test)]
mod tests;
