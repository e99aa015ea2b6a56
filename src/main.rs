//! The program `containment`: see `containment --help`.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main(std::env::args_os()).into()
}
