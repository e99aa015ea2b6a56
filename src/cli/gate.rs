//! What `tables --fail-if` comes to: whether a condition on a number of a result holds.

use report::analysis::Analysis;
use report::threshold::{Decision, Threshold};

use super::exit::Exit;
use super::failure::Failure;
use super::problem::Problem;
use super::terminal::Terminal;

/// Tells of every condition whether it holds under each model. That one holds weighs more than that
/// another cannot be decided.
pub(crate) fn decide(
    conditions: &[Threshold],
    analyses: &[Analysis<'_>],
    terminal: &Terminal,
) -> Result<Exit, Failure> {
    let mut holds = false;
    let mut undecided: Option<Failure> = None;
    for condition in conditions {
        for analysis in analyses {
            let model = analysis.evidence.model;
            match condition.decide(analysis) {
                Ok(decision) => {
                    holds |= decision.is_exceeded;
                    terminal.note(&told(condition, model, &decision));
                }
                Err(reason) => {
                    let message =
                        format!("`{condition}` cannot be decided under {model}: {reason}");
                    let help = "`containment tables DIR --table claims` says what may be claimed";
                    let problem = Problem::new(message).help(help);
                    let failure = Failure::new(Exit::Incomplete, problem);
                    match &mut undecided {
                        None => undecided = Some(failure),
                        Some(first) => first.complaints.extend(failure.complaints),
                    }
                }
            }
        }
    }
    match undecided {
        Some(failure) if holds => {
            terminal.fail(&failure);
            Ok(Exit::Threshold)
        }
        Some(failure) => Err(failure),
        None if holds => Ok(Exit::Threshold),
        None => Ok(Exit::Ok),
    }
}

/// The decision in words, with what it rests on.
fn told(condition: &Threshold, model: &str, decision: &Decision) -> String {
    let (verdict, words) = if decision.is_exceeded {
        ("FAIL", "holds")
    } else {
        ("pass", "does not hold")
    };
    let estimate = &decision.estimate;
    let mut text = format!(
        "{verdict}: `{condition}` {words} under {model}: {:.4}, of {} rollouts of {} {}",
        decision.number,
        estimate.n,
        estimate.clusters,
        condition.units(),
    );
    if let Some(wider) = decision.over_families {
        text += &format!("; over families of scenarios its interval reaches to {wider:.4}");
    }
    text
}
