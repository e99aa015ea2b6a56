//! Reads `faults.txt`, the table of faults.

/// A mistake that somebody could make in the engine.
pub struct Fault {
    /// Its position in the table, from 1.
    pub number: u32,
    /// What goes wrong.
    pub name: String,
    /// The file, in `engine/src`.
    pub file: String,
    /// The text that is mistaken. It occurs once in the file; where it has `«` and `»`, only what
    /// stands between them is mistaken.
    pub find: String,
    /// What stands there instead; nothing, if a statement is left out.
    pub instead: String,
}

/// The faults in `table`: under the name of a file, separated by empty lines, a name each, then
/// lines with `- ` that are mistaken and lines with `+ ` that stand there instead.
///
/// # Panics
/// When a fault is not written so.
#[must_use]
pub fn read(table: &str) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut file = "";
    for paragraph in table.split("\n\n") {
        let mut lines = paragraph.lines();
        let name = lines.next().unwrap_or_default();
        if name.starts_with("//") {
            continue;
        }
        if let Some(heading) = name.strip_prefix("# engine/src/") {
            file = heading;
            continue;
        }
        let marked = |mark: &str| {
            let lines = paragraph.lines().skip(1);
            let lines = lines.filter_map(|line| line.strip_prefix(mark));
            lines.collect::<Vec<_>>().join("\n")
        };
        let (find, instead) = (marked("- "), marked("+ "));
        assert!(
            lines.all(|line| line.starts_with("- ") || line.starts_with("+ ")) && !find.is_empty(),
            "the fault `{name}` is not written as the others"
        );
        faults.push(Fault {
            number: u32::try_from(faults.len()).expect("a few faults") + 1,
            name: name.to_owned(),
            file: file.to_owned(),
            find,
            instead,
        });
    }
    faults
}
