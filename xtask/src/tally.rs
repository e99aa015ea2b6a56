//! Counting: what the lines that `cargo test` prints add up to.

/// Tests counted so far.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    /// One line per skipped test: its name and the reason.
    pub(crate) skipped: Vec<String>,
    /// The names of all tests that ran.
    pub(crate) ran: Vec<String>,
}

impl Tally {
    /// Takes one line of `cargo test` output into account.
    ///
    /// Passes and failures come from the `test result:` lines, which are printed once per test
    /// binary; names and reasons come from the `test NAME ... OUTCOME` lines above them.
    pub(crate) fn read(&mut self, line: &str) {
        if let Some(counts) = line.strip_prefix("test result: ") {
            self.passed += count_before(counts, " passed");
            self.failed += count_before(counts, " failed");
        } else if let Some((name, outcome)) = line
            .strip_prefix("test ")
            .and_then(|rest| rest.split_once(" ... "))
        {
            if let Some(reason) = outcome.strip_prefix("ignored") {
                let reason = reason.strip_prefix(", ").unwrap_or("no reason given");
                self.skipped.push(format!("{name}: {reason}"));
            } else {
                self.ran.push(name.to_owned());
            }
        }
    }

    /// Adds what another run counted.
    pub(crate) fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped.extend(other.skipped);
        self.ran.extend(other.ran);
    }

    /// Whether anything ran and nothing failed.
    pub(crate) fn is_good(&self) -> bool {
        self.passed > 0 && self.failed == 0
    }

    /// The line that every run ends with.
    pub(crate) fn summary(&self) -> String {
        format!(
            "{} passed, {} failed, {} skipped",
            self.passed,
            self.failed,
            self.skipped.len()
        )
    }
}

/// The number that stands right before `word`, or zero if there is none.
fn count_before(text: &str, word: &str) -> u64 {
    text.split_once(word)
        .and_then(|(before, _)| before.rsplit(' ').next())
        .and_then(|number| number.parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(output: &str) -> Tally {
        let mut tally = Tally::default();
        output.lines().for_each(|line| tally.read(line));
        tally
    }

    #[test]
    fn sums_over_test_binaries() {
        let tally = read(
            "\
running 2 tests
test label::join_is_idempotent ... ok
test label::bottom ... FAILED

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

running 1 test
test src/lib.rs - draws (line 12) ... ok

test result: ok. 11 passed; 0 failed; 0 ignored; 0 measured; 3 filtered out; finished in 0.31s
",
        );
        assert_eq!(tally.summary(), "12 passed, 1 failed, 0 skipped");
        assert_eq!(
            tally.ran,
            [
                "label::join_is_idempotent",
                "label::bottom",
                "src/lib.rs - draws (line 12)"
            ]
        );
        assert!(!tally.is_good());
    }

    #[test]
    fn keeps_the_reason_of_a_skip() {
        let tally = read(
            "\
test locale::decimal_comma ... ignored, the locale is not installed
test src/lib.rs - trace (line 3) ... ignored
test result: ok. 0 passed; 0 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.00s
",
        );
        assert_eq!(
            tally.skipped,
            [
                "locale::decimal_comma: the locale is not installed",
                "src/lib.rs - trace (line 3): no reason given"
            ]
        );
        assert_eq!(tally.summary(), "0 passed, 0 failed, 2 skipped");
    }

    #[test]
    fn nothing_ran_is_not_good() {
        assert!(!read("running 0 tests").is_good());
    }
}
