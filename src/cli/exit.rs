//! How the program ends: the exit codes, which are stable.

use std::process::ExitCode;

/// What an exit code says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Everything was done.
    Ok = 0,
    /// The program is wrong.
    Bug = 1,
    /// The command line is wrong.
    Usage = 2,
    /// A file is wrong.
    Invalid = 3,
    /// A number is beyond a threshold, or a verification failed.
    Threshold = 4,
    /// Not everything was done.
    Incomplete = 5,
    /// The same inputs gave another result.
    NotDeterministic = 6,
    /// A file is written for another version.
    UnsupportedVersion = 7,
}

/// Every exit code, with what it says.
pub(crate) const TABLE: [(Exit, &str); 8] = [
    (Exit::Ok, "ok"),
    (Exit::Bug, "a bug of this program"),
    (Exit::Usage, "the command line is wrong"),
    (Exit::Invalid, "a file is invalid or cannot be read"),
    (
        Exit::Threshold,
        "a threshold is exceeded, or a verification failed",
    ),
    (
        Exit::Incomplete,
        "not everything was done or written, or a condition cannot be decided",
    ),
    (
        Exit::NotDeterministic,
        "results differ that should be the same",
    ),
    (
        Exit::UnsupportedVersion,
        "a file is written for another version",
    ),
];

impl Exit {
    /// The number.
    pub(crate) const fn code(self) -> u8 {
        self as u8
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// The table as text, for `--help`.
pub(crate) fn help() -> String {
    let codes = TABLE.map(|(exit, meaning)| format!("\n  {}  {meaning}", exit.code()));
    format!("Exit codes:{}", codes.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_their_positions() {
        for (position, (exit, _)) in TABLE.iter().enumerate() {
            assert_eq!(usize::from(exit.code()), position);
        }
    }
}
