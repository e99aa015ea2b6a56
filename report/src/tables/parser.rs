//! Table 24: what the parser makes of old completions. It has no rows: the corpus is read anew.

use crate::table::{Cell, Table};

/// What reading a corpus counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParserCounts {
    /// Completions read.
    pub model_actions: u64,
    /// Calls of a known tool.
    pub valid: u64,
    /// What a reader without repairs calls final answers, of action-like completions.
    pub old_final: u64,
    /// Action-like completions that are still no action.
    pub new_final: u64,
    /// Completions that took a repair.
    pub repaired: u64,
    /// Calls of unknown tools.
    pub invalid_tools: u64,
    /// Completions without a readable action.
    pub invalid_schema: u64,
    /// Completions that are strict JSON.
    pub strict: u64,
}

/// The table.
#[must_use]
pub fn table(counts: &ParserCounts) -> Table {
    let mut table = Table::new(
        "24",
        "What the parser makes of 96 old completions",
        &["Quantity", "Count"],
    );
    let lines: [(&str, u64, &[&str]); 9] = [
        (
            "input model actions",
            counts.model_actions,
            &["t24.input_model_actions", "txt.reparse_actions"],
        ),
        (
            "valid tool proposals recovered",
            counts.valid,
            &["t24.valid_tool_proposals_recovered", "txt.reparse_valid"],
        ),
        (
            "old action-like final answers",
            counts.old_final,
            &[
                "t24.old_action_like_final_answers",
                "txt.reparse_final_before",
            ],
        ),
        (
            "action-like final answers now",
            counts.new_final,
            &["txt.reparse_final_after"],
        ),
        ("repaired parses", counts.repaired, &["t24.repaired_parses"]),
        (
            "invalid tool actions",
            counts.invalid_tools,
            &["t24.invalid_tool_actions"],
        ),
        (
            "parse_status=invalid_schema",
            counts.invalid_schema,
            &["t24.parse_status_invalid_schema"],
        ),
        (
            "parse_status=valid_repaired_json",
            counts.repaired,
            &["t24.parse_status_valid_repaired_json"],
        ),
        (
            "parse_status=valid_strict_json",
            counts.strict,
            &["t24.parse_status_valid_strict_json"],
        ),
    ];
    for (quantity, count, published) in lines {
        let cell = published
            .iter()
            .fold(Cell::count(count), |cell, id| cell.publishes(*id));
        table.row([Cell::text(quantity), cell]);
    }
    table.note("The corpus is generated; how the repaired completions divide among the forms of Appendix I is not published and is assumed.");
    table
}
