//! The program `containment`: see `containment --help`.

mod cli;

use std::process::ExitCode;

/// Rows live until the end of a study, and the usual allocator asks the system for their memory a page
/// at a time: that was a tenth of a study.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    cli::main(std::env::args_os()).into()
}
