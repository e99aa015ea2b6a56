//! Development tasks: `cargo xtask test`, `cargo xtask golden` and `cargo xtask corpus`.
//!
//! There is nothing to install before the tests run: they need the pinned toolchain and a C linker,
//! and a running xtask shows that both are here.

mod suite;
mod tally;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask <task>

  test     run every test: unit, integration, doc tests, examples, and a subset without optimisation
  golden   record the golden digests anew; read the difference before committing it
  corpus   generate the corpora of completions anew
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["test"] => suite::test(),
        ["golden"] => suite::record_golden(),
        ["corpus"] => suite::write_corpus(),
        _ => {
            suite::say(USAGE);
            ExitCode::from(2)
        }
    }
}
