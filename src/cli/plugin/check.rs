//! `containment plugin check`: whether a policy keeps to the contract of all policies.

use std::path::{Path, PathBuf};

use containment_bench::Bench;
use containment_bench::outside::LoadedFile;
use engine::export::names::word;
use plugins::conformance::{Law, Violation, check_policy, hooks_exercised};
use plugins::policy::{Hook, Hooks, Policy};

use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::policies;
use crate::cli::scenes;
use crate::cli::shown::on_one_line;
use crate::cli::table::Table;
use crate::cli::terminal::Terminal;
use crate::cli::world_text::Loaded;

/// The options of `plugin check`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Policies as `containment run --policy` takes them, for example rules:my.rules.ron; of a file alone
    /// the host follows from the ending
    #[arg(required = true, value_name = "POLICY")]
    policies: Vec<String>,
    /// Random scenarios that each is put through; every fourth is hostile
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..=1000))]
    rounds: u64,
    /// Worlds whose agents, tools, arguments and sources the policy may name
    #[arg(long = "world", value_name = "WORLD")]
    worlds: Vec<PathBuf>,
}

/// Checks each policy, and tells what it is and what it violates.
pub(crate) fn run(args: &Args, terminal: &Terminal) -> Result<Exit, Failure> {
    let mut exit = Exit::Ok;
    for written in &args.policies {
        let violations = check(written, args, terminal)?;
        if violations > 0 {
            exit = Exit::Threshold;
        }
    }
    Ok(exit)
}

/// How many violations there are.
fn check(written: &str, args: &Args, terminal: &Terminal) -> Result<usize, Failure> {
    let mut bench = Bench::built_in();
    let reference = policies::parse(&policies::with_host(written))?;
    let registered = policies::register(&mut bench.registry, &reference, Path::new(""))?;
    let make = || -> Box<dyn Policy> {
        let made = bench.policy(&registered.name.as_str().into());
        made.expect("it was made when it was registered").policy
    };
    terminal.print(&description(&bench, &registered.name, &*make()))?;
    for world in &args.worlds {
        let Loaded { scene, .. } = scenes::load(world)?;
        for file in &registered.files {
            for problem in policies::foreign_names(file, &scene.scenario.briefing) {
                terminal.complain_all(&[problem.warning().into()]);
            }
        }
    }
    let faults = faults_of(&registered.files);
    // The kit also offers state that is damaged, which a policy may well refuse: such faults are none.
    hooks_exercised(&make, args.rounds);
    let faulty = faults_of(&registered.files) - faults;
    let violations = check_policy(&make, args.rounds);
    terminal.print(&told(&violations, args.rounds, faulty))?;
    if faulty > 0 {
        policies::tell_faults(&registered.files, terminal);
    }
    Ok(violations.len() + usize::from(faulty > 0))
}

fn faults_of(files: &[LoadedFile]) -> u64 {
    let faults = files.iter().filter_map(|file| file.policy.faults.as_ref());
    faults.map(|faults| faults.count()).sum()
}

/// What the policy is.
fn description(bench: &Bench, name: &str, policy: &dyn Policy) -> String {
    let policies = &bench.registry.policies;
    let (Some(origin), Ok((info, _))) = (policies.origin(name), policies.find(name)) else {
        return String::new();
    };
    let mut table = Table::default();
    let mut line = |key: &str, value: String| table.row(["  ".to_owned() + key, value]);
    line("kind", origin.kind.to_owned());
    line("version", origin.version.to_string());
    if let Some(content) = origin.content {
        line("content", format!("{content:032x}"));
    }
    line("hooks", hooks(policy.hooks()));
    if !info.summary.is_empty() {
        line("says", on_one_line(&info.summary).into_owned());
    }
    format!("{name}\n{table}")
}

/// The names of hooks.
fn hooks(declared: Hooks) -> String {
    let all = [
        Hook::Session,
        Hook::Prompt,
        Hook::Observation,
        Hook::Message,
        Hook::Proposal,
        Hook::MemoryWrite,
        Hook::MemoryRead,
        Hook::Commit,
        Hook::Recovery,
    ];
    let named = all.iter().filter(|hook| declared.contains((**hook).into()));
    let named: Vec<String> = named.map(word).collect();
    if named.is_empty() {
        "none: it is never asked".to_owned()
    } else {
        named.join(", ")
    }
}

fn told(violations: &[Violation], rounds: u64, faults: u64) -> String {
    let mut lines: Vec<String> = violations
        .iter()
        .map(|violation| {
            let law = law(violation.law);
            let detail = on_one_line(&violation.detail);
            format!("  round {}: {law}: {detail}", violation.round)
        })
        .collect();
    let wrong = violations.len();
    lines.push(match (wrong, faults) {
        (0, 0) => format!("  keeps the contract in {rounds} random scenarios"),
        (0, _) => format!("  fails: {faults} faults in {rounds} random scenarios"),
        _ => format!("  breaks the contract: {wrong} violations in {rounds} random scenarios"),
    });
    lines.join("\n") + "\n"
}

/// A law in words.
const fn law(law: Law) -> &'static str {
    match law {
        Law::NeverPanics => "it panics",
        Law::Deterministic => "the same question twice has two answers",
        Law::Independent => "one rollout notices another",
        Law::Restores => "after going back it goes on differently",
        Law::RefusesForeignState => "it takes state that is not its own",
        Law::ConstantHooks => "its hooks change",
        Law::UndeclaredHookIsNeutral => "a hook that it does not declare does something",
        Law::NamesARule => "a ruling names no rule of its own",
        Law::RefersToWhatExists => "a ruling refers to what does not exist",
        Law::Coherent => "what it says contradicts itself",
    }
}
