//! The command line: one file for each subcommand, and what they share.
//!
//! Results go to standard output and everything else to standard error. A command gives back its
//! exit code, or a [`failure::Failure`] that says what is wrong, where, and what would mend it.

mod adversaries;
mod calibrate;
mod cases;
mod check;
mod codes;
mod corpus;
mod decisions;
mod diff;
mod differences;
mod exit;
mod explain;
mod failure;
mod families;
mod figures;
mod files;
mod gate;
mod library;
mod list;
#[cfg(feature = "rules")]
mod measure;
mod merge;
mod narrate;
mod nearest;
mod new;
mod options;
mod pair;
mod parse;
mod played;
mod plugin;
mod policies;
mod problem;
mod profiles;
mod recordings;
mod records;
mod replay;
mod reports;
mod rows;
mod rules;
mod run;
mod scenes;
mod scorecard;
mod shipped;
mod shown;
mod step;
mod study;
mod table;
mod tables;
mod terminal;
mod trace;
mod traces;
mod usage;
mod verify;
mod world_text;

use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use exit::Exit;
use failure::Failure;
use problem::Problem;
use terminal::{OutputArgs, Terminal};

/// Simulates how far an injected instruction travels through a system of LLM agents, and what each
/// defence contains or destroys
#[derive(Debug, Parser)]
#[command(name = "containment", version, max_term_width = 100)]
struct CommandLine {
    #[command(flatten)]
    output: OutputArgs,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run one rollout and print its row
    Run(run::Args),
    /// Step through one rollout, step by step, forwards and backwards
    Step(step::Args),
    /// Run a study: many rollouts, their rows and what differs
    Study(study::Args),
    /// Put the shards of a study together
    Merge(merge::Args),
    /// Print the tables of a result, and what they may be claimed for
    Tables(tables::Args),
    /// Hold a result against every published number
    Scorecard(scorecard::Args),
    /// Check that a result is whole, unchanged and fit to be given away
    Verify(verify::Args),
    /// Fit a behaviour profile to published numbers
    Calibrate(calibrate::Args),
    /// Draw the figures of a result, or of a world
    Figures(figures::Args),
    /// Print the index of the case studies, and write them as redacted traces with explanations
    Cases(cases::Args),
    /// Run one rollout under several policies from the identical state, and compare
    Pair(pair::Args),
    /// Print the trace of one rollout, as JSON Lines or as a graph
    Trace(trace::Args),
    /// Check world files and their scripts
    Check(check::Args),
    /// Run what was written down again, and compare
    Replay(replay::Args),
    /// Show where two traces, or two results, differ
    Diff(diff::Args),
    /// Show how completions are read
    Parse(parse::Args),
    /// Count in the traces of a result what a file of metrics says
    #[cfg(feature = "rules")]
    Measure(measure::Args),
    /// Check policies of your own
    Plugin(plugin::Args),
    /// Write files to begin with
    New(new::Args),
    /// List plugins, worlds, columns, rules or codes
    List(list::Args),
    /// Explain a code, a rule, a policy, a column, a heading of a table or an exit code
    Explain(explain::Args),
}

/// Does what the command line says.
pub(crate) fn main(words: impl IntoIterator<Item = OsString>) -> Exit {
    let words: Vec<OsString> = words.into_iter().collect();
    let (terminal, done) = match parse(&words) {
        Ok(CommandLine { output, command }) => {
            let terminal = Terminal::new(output);
            let done = catch_unwind(AssertUnwindSafe(|| command.run(&terminal)));
            (terminal, done)
        }
        Err(said) => {
            let terminal = Terminal::new(OutputArgs::in_words(&words));
            let done = usage::tell(&said, &words, &terminal);
            (terminal, Ok(done))
        }
    };
    match done {
        Ok(Ok(exit)) => exit,
        Ok(Err(failure)) => {
            terminal.fail(&failure);
            failure.exit
        }
        Err(_) => {
            let words = words
                .iter()
                .skip(1)
                .map(|word| word.to_string_lossy().into_owned());
            let command = options::command_line(&words.collect::<Vec<_>>());
            let problem = Problem::new("this is a bug of the program, not of your input")
                .help("report it with the lines above and the command below");
            terminal.fail(&Failure::new(Exit::Bug, problem).reproduced_by(command));
            Exit::Bug
        }
    }
}

/// The command line, or what is said instead: what is wrong with it, or the help that it asks for.
fn parse(words: &[OsString]) -> Result<CommandLine, clap::Error> {
    let matches = CommandLine::command()
        .after_help(exit::help())
        .try_get_matches_from(words)?;
    CommandLine::from_arg_matches(&matches)
}

impl Command {
    fn run(&self, terminal: &Terminal) -> Result<Exit, Failure> {
        match self {
            Self::Run(args) => run::run(args, terminal),
            Self::Step(args) => step::run(args, terminal),
            Self::Study(args) => study::run(args, terminal),
            Self::Merge(args) => merge::run(args, terminal),
            Self::Tables(args) => tables::run(args, terminal),
            Self::Scorecard(args) => scorecard::run(args, terminal),
            Self::Verify(args) => verify::run(args, terminal),
            Self::Calibrate(args) => calibrate::run(args, terminal),
            Self::Figures(args) => figures::run(args, terminal),
            Self::Cases(args) => cases::run(args, terminal),
            Self::Pair(args) => pair::run(args, terminal),
            Self::Trace(args) => trace::run(args, terminal),
            Self::Check(args) => check::run(args, terminal),
            Self::Replay(args) => replay::run(args, terminal),
            Self::Diff(args) => diff::run(args, terminal),
            Self::Parse(args) => parse::run(args, terminal),
            #[cfg(feature = "rules")]
            Self::Measure(args) => measure::run(args, terminal),
            Self::Plugin(args) => plugin::run(args, terminal),
            Self::New(args) => new::run(args, terminal),
            Self::List(args) => list::run(args, terminal),
            Self::Explain(args) => explain::run(args, terminal),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        CommandLine::command().debug_assert();
    }
}
