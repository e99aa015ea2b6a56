//! One check: what was looked at, and what is wrong.

use serde_json::{Value, json};

use crate::cli::shown::{on_one_line, shortened};

/// Problems of a check that are told; more are counted.
const MOST_TOLD: usize = 10;

/// Characters of the longest name of a check.
const NAME_WIDTH: usize = 18;

/// What would mend a file that was changed.
pub(super) const RESTORE: &str =
    "put the file back as `containment study` wrote it, or run the study again";

/// Where something is wrong, and what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Trouble {
    /// The file, as it is called in the folder; empty if it is none of them.
    pub(super) file: String,
    /// The line of the file, from 1.
    pub(super) line: Option<usize>,
    /// The row of `rows.csv`, from 1, the header not counted.
    pub(super) row: Option<usize>,
    /// The column or key.
    pub(super) field: Option<String>,
    /// What is wrong.
    pub(super) message: String,
    /// What would mend it.
    pub(super) help: String,
}

impl Trouble {
    /// Something wrong with a file as a whole.
    pub(super) fn of(file: &str, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            file: file.to_owned(),
            message: message.into(),
            help: help.into(),
            ..Self::default()
        }
    }

    /// In this line.
    pub(super) fn line(mut self, line: usize) -> Self {
        self.line = Some(line);
        self
    }

    /// In this row.
    pub(super) fn row(mut self, row: usize) -> Self {
        self.row = Some(row);
        self
    }

    /// In this column or under this key.
    pub(super) fn field(mut self, field: impl Into<String>) -> Self {
        self.field = Some(field.into());
        self
    }

    fn text(&self) -> String {
        let mut place = vec![self.file.clone()];
        place.extend(self.line.map(|line| format!("line {line}")));
        place.extend(self.row.map(|row| format!("row {row}")));
        place.extend(self.field.as_ref().map(|field| format!("`{field}`")));
        let text = format!("{}: {}; {}", place.join(", "), self.message, self.help);
        on_one_line(&shortened(&text)).into_owned()
    }

    fn json(&self) -> Value {
        json!({
            "file": shortened(&self.file),
            "line": self.line,
            "row": self.row,
            "field": self.field.as_deref().map(shortened),
            "message": shortened(&self.message),
            "help": shortened(&self.help),
        })
    }
}

/// A check and how it ended.
#[derive(Clone, Debug)]
pub(super) struct Check {
    name: &'static str,
    /// Whether anything could be looked at.
    is_made: bool,
    looked_at: String,
    troubles: Vec<Trouble>,
    more: usize,
    /// Whether a file is written for another version.
    pub(super) is_other_version: bool,
}

impl Check {
    /// A check that has found nothing yet.
    pub(super) fn new(name: &'static str) -> Self {
        Self {
            name,
            is_made: true,
            looked_at: String::new(),
            troubles: Vec::new(),
            more: 0,
            is_other_version: false,
        }
    }

    /// A check that was not made, and why.
    pub(super) fn skipped(name: &'static str, why: impl Into<String>) -> Self {
        Self {
            is_made: false,
            looked_at: why.into(),
            ..Self::new(name)
        }
    }

    /// What was looked at.
    pub(super) fn looked_at(mut self, what: impl Into<String>) -> Self {
        self.looked_at = what.into();
        self
    }

    /// What was looked at, and more to say of it.
    pub(super) fn looked_at_also(mut self, more: &str) -> Self {
        self.looked_at.push_str(more);
        self
    }

    /// Something is wrong.
    pub(super) fn add(&mut self, trouble: Trouble) {
        if self.troubles.len() < MOST_TOLD {
            self.troubles.push(trouble);
        } else {
            self.more += 1;
        }
    }

    /// Something is wrong unless `holds`.
    pub(super) fn require(&mut self, holds: bool, trouble: impl FnOnce() -> Trouble) {
        if !holds {
            self.add(trouble());
        }
    }

    /// Whether something is wrong.
    pub(super) fn has_failed(&self) -> bool {
        !self.troubles.is_empty()
    }

    /// Whether nothing could be looked at.
    pub(super) fn is_skipped(&self) -> bool {
        !self.is_made && !self.has_failed()
    }

    /// A line for the check, and one for each problem.
    pub(super) fn text(&self) -> String {
        let state = match (self.has_failed(), self.is_made) {
            (true, _) => "FAILED",
            (false, true) => "ok",
            (false, false) => "not checked",
        };
        let looked_at = on_one_line(&shortened(&self.looked_at)).into_owned();
        let mut text = format!("{:NAME_WIDTH$}  {state:11}  {looked_at}", self.name);
        text = text.trim_end().to_owned() + "\n";
        for trouble in &self.troubles {
            text += &format!("    {}\n", trouble.text());
        }
        if self.more > 0 {
            text += &format!("    and {} more\n", self.more);
        }
        text
    }

    /// The same for programs: `ok` is null for what was not checked.
    pub(super) fn json(&self) -> Value {
        let ok = (!self.is_skipped()).then(|| !self.has_failed());
        json!({
            "name": self.name,
            "ok": ok,
            "looked_at": shortened(&self.looked_at),
            "problems": self.troubles.iter().map(Trouble::json).collect::<Vec<_>>(),
            "more_problems": self.more,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trouble() -> Trouble {
        Trouble::of("rows.csv", "it is 2, but should be 1", "mend it")
            .row(3)
            .field("seed")
    }

    #[test]
    fn a_check_is_ok_failed_or_not_made() {
        let mut check = Check::new("laws").looked_at("7 rows");
        assert_eq!(check.text(), "laws                ok           7 rows\n");
        assert_eq!(check.json()["ok"], true);
        check.require(true, trouble);
        check.require(false, trouble);
        let told = "laws                FAILED       7 rows\n    \
                    rows.csv, row 3, `seed`: it is 2, but should be 1; mend it\n";
        assert_eq!(check.text(), told);
        assert_eq!(check.json()["ok"], false);
        let skipped = Check::skipped("laws", "no rows");
        assert!(skipped.text().contains("not checked  no rows"));
        assert!(skipped.json()["ok"].is_null() && skipped.is_skipped());
    }

    #[test]
    fn many_problems_are_counted() {
        let mut check = Check::new("laws");
        for _ in 0..MOST_TOLD + 5 {
            check.add(trouble());
        }
        assert!(check.text().ends_with("and 5 more\n"));
        let json = check.json();
        assert_eq!(json["problems"].as_array().map(Vec::len), Some(MOST_TOLD));
        assert_eq!(json["more_problems"], 5);
    }
}
