//! `containment new`: files to begin with.

use std::path::PathBuf;

use super::exit::Exit;
use super::failure::Failure;
use super::files;
use super::terminal::Terminal;

/// The options of `new`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Write a policy that works, to be changed
    Policy(PolicyArgs),
}

/// The options of `new policy`.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line, and a group lets one be given"
)]
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("host").required(true))]
struct PolicyArgs {
    /// What the policy is called: lower-case letters, digits and `_`
    name: String,
    /// As rules in RON
    #[arg(long, group = "host")]
    rules: bool,
    /// In Cedar
    #[arg(long, group = "host")]
    cedar: bool,
    /// As a Python program
    #[arg(long, group = "host")]
    process: bool,
    /// As a WebAssembly module
    #[arg(long, group = "host")]
    wasm: bool,
    /// The language of the module
    #[arg(long, value_enum, default_value = "c", requires = "wasm")]
    language: Language,
    /// The folder in which the files are written
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
}

/// A language of which there is a template for WebAssembly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Language {
    /// C, with clang or zig
    C,
    /// `AssemblyScript`, with npm
    Assemblyscript,
    /// Rust, with the target wasm32-unknown-unknown
    Rust,
}

impl Language {
    const fn name(self) -> &'static str {
        match self {
            Self::C => "c",
            Self::Assemblyscript => "assemblyscript",
            Self::Rust => "rust",
        }
    }
}

/// The policy that is written in every language.
const RULES: &str = include_str!("../../policies/recipient_guard/recipient_guard.rules.ron");
const CEDAR: &str = include_str!("../../policies/recipient_guard/recipient_guard.cedar");
const PROCESS: &str = include_str!("../../policies/recipient_guard/recipient_guard.py");

/// Writes the files, none over another.
pub(crate) fn run(args: &Args, terminal: &Terminal) -> Result<Exit, Failure> {
    let What::Policy(args) = &args.what;
    let name = &args.name;
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    if !(1..=64).contains(&name.len()) || !name.bytes().all(is_plain) {
        let message = format!("a policy cannot be called `{name}`");
        let help = "use lower-case letters, digits and `_`, 64 at most";
        return Err(Failure::usage(message, Some(help.to_owned())));
    }
    let template = args.template()?;
    let paths: Vec<PathBuf> = template
        .iter()
        .map(|(file, _)| args.out.join(file))
        .collect();
    if let Some(there) = paths.iter().find(|path| path.symlink_metadata().is_ok()) {
        let message = format!("`{}` is there already", files::shown(there));
        let help = "name another policy, or another folder with --out";
        return Err(Failure::usage(message, Some(help.to_owned())));
    }
    for (path, (_, text)) in paths.iter().zip(&template) {
        if let Some(folder) = path.parent() {
            // If it cannot be made, writing the file says so.
            drop(std::fs::create_dir_all(folder));
        }
        files::write_new(path, text.as_bytes())?;
        terminal.print(&files::shown(path))?;
    }
    terminal.note(&args.next());
    Ok(Exit::Ok)
}

impl PolicyArgs {
    /// The names of the files and what they say.
    fn template(&self) -> Result<Vec<(String, String)>, Failure> {
        let name = &self.name;
        Ok(if self.rules {
            vec![(format!("{name}.rules.ron"), RULES.to_owned())]
        } else if self.cedar {
            vec![(format!("{name}.cedar"), CEDAR.to_owned())]
        } else if self.process {
            vec![(format!("{name}.py"), PROCESS.to_owned())]
        } else {
            self.module()?
        })
    }

    #[cfg(feature = "wasm")]
    #[expect(
        clippy::unnecessary_wraps,
        reason = "a program without this host has none"
    )]
    fn module(&self) -> Result<Vec<(String, String)>, Failure> {
        let language = wasm_host::Language::named(self.language.name());
        let language = language.expect("the kit has every language of the option");
        Ok(wasm_host::template(language, &self.name))
    }

    #[cfg(not(feature = "wasm"))]
    fn module(&self) -> Result<Vec<(String, String)>, Failure> {
        let message = format!(
            "this program was built without the host `wasm`, so a module in {} could not run",
            self.language.name()
        );
        let help = "build it with `--features wasm`".to_owned();
        Err(Failure::usage(message, Some(help)))
    }

    /// What to do with them.
    fn next(&self) -> String {
        let file = |host: &str, ending: &str| {
            let path = self.out.join(format!("{}.{ending}", self.name));
            format!("next: containment plugin check {host}:{}", path.display())
        };
        if self.rules {
            file("rules", "rules.ron")
        } else if self.cedar {
            file("cedar", "cedar")
        } else if self.process {
            file("process", "py")
        } else {
            "next: build the module as its first lines say".to_owned()
        }
    }
}
