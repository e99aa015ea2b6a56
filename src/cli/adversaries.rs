//! Attackers that fill the slots of a world before a rollout, and auditors that read its trace.

use std::path::Path;

use containment_bench::{attack, outside};
use engine::Rollout;
use plugins::draws::Draws;

use super::exit::Exit;
use super::failure::Failure;
use super::options::Case;
use super::policies;
use super::problem::Problem;
use super::shown::on_one_line;
use super::terminal::Terminal;

/// Findings that are told one by one.
const MOST_TOLD: usize = 50;

/// Has the slots of the world of `case` filled by the attacker that `named` names.
pub(crate) fn attack(case: &mut Case, named: &str, terminal: &Terminal) -> Result<(), Failure> {
    let reference = policies::parse(named)?;
    let registry = &case.bench.registry;
    let attacker = outside::attacker(registry, &reference, Path::new(""));
    let mut attacker = attacker.map_err(|error| policies::failure(registry, error))?;
    let mut draws = Draws::new(case.setting.key.clone());
    let filled = attack::filled(&case.scene, &mut *attacker.plugin, None, &mut draws);
    case.scene = filled.map_err(|error| {
        let problem = Problem::new(format!("`{}`: {error}", attacker.name));
        let help = "an attacker gives one text for each slot, in their order";
        Failure::new(Exit::Invalid, problem.help(help))
    })?;
    if let Some(faults) = &attacker.faults {
        let what = "the slots are as the world file says";
        policies::tell_some(&attacker.name, &**faults, faults.count(), what, terminal);
    }
    Ok(())
}

/// Has the trace of `rollout` read by the auditor that `named` names, and tells what is found.
pub(crate) fn audit(
    case: &Case,
    named: &str,
    rollout: &Rollout,
    terminal: &Terminal,
) -> Result<(), Failure> {
    let reference = policies::parse(named)?;
    let registry = &case.bench.registry;
    let auditor = outside::auditor(registry, &reference, Path::new(""));
    let auditor = auditor.map_err(|error| policies::failure(registry, error))?;
    let briefing = &case.scene.scenario.briefing;
    let trace = rollout.trace();
    let found = auditor
        .plugin
        .audit(trace.prefix(), rollout.labels(), briefing);
    let plural = if found.len() == 1 { "" } else { "s" };
    terminal.note(&format!(
        "{}: {} finding{plural}",
        auditor.name,
        found.len()
    ));
    for finding in found.iter().take(MOST_TOLD) {
        let node = finding.node;
        let kind = trace.nodes.get(node.index()).map(|node| node.kind);
        let kind = kind.map_or_else(String::new, |kind| engine::export::names::word(&kind));
        let words = on_one_line(&finding.finding);
        terminal.note(&format!("  node {} ({kind}): {words}", node.0));
    }
    if let Some(faults) = &auditor.faults {
        let what = "an audit that failed has the finding `plugin_fault`";
        policies::tell_some(&auditor.name, &**faults, faults.count(), what, terminal);
    }
    Ok(())
}
