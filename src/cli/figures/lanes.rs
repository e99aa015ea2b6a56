//! The steps of a rollout that Figure 2 shows: side effects as proposed, decided and committed.

use std::collections::BTreeSet;

use report::figures::repair::{Lane, Step, StepKind};
use serde_json::Value;

use crate::cli::options::Case;
use crate::cli::played::Played;

/// What happened to side effects, by tick. Reads are left out: no policy of the figure stops one.
pub(super) fn lane(case: &Case, played: &Played) -> Lane {
    let mut effects: BTreeSet<u64> = BTreeSet::new();
    let mut steps = Vec::new();
    for (event, told) in played.events.iter().zip(played.told(case)) {
        let what = event["what"].as_str().unwrap_or_default();
        if what == "proposed" && !is_read(case, event) {
            effects.extend(event["call"].as_u64());
        }
        let call = call_of(event);
        if !call.is_some_and(|call| effects.contains(&call)) {
            continue;
        }
        let (kind, text) = match what {
            "proposed" => {
                let tool = event["tool"].as_str().unwrap_or_default();
                let call = event["call"].as_u64().unwrap_or_default();
                (StepKind::Proposal, format!("proposes {tool} (call {call})"))
            }
            "ruled" if event["verdict"] == "allow" => (StepKind::Allowed, told),
            "ruled" => (StepKind::Denied, told),
            "committed" => (StepKind::Commit, told),
            _ => continue,
        };
        let text = text.split(", carrying").next().unwrap_or_default();
        steps.push(Step {
            tick: event["tick"].as_u64().unwrap_or_default(),
            kind,
            text: text.to_owned(),
        });
    }
    Lane {
        policy: played.policy.clone(),
        steps,
    }
}

fn is_read(case: &Case, event: &Value) -> bool {
    let briefing = &case.scene.scenario.briefing;
    let tool = event["tool"].as_str().unwrap_or_default();
    let tool = briefing.tool_named(tool);
    tool.is_some_and(|tool| briefing.tools[tool.index()].operation.is_read())
}

/// The call that an event is about.
fn call_of(event: &Value) -> Option<u64> {
    let subject = event["subject"].as_str();
    let subject = subject.and_then(|subject| subject.strip_prefix("call:")?.parse().ok());
    event["call"].as_u64().or(subject)
}
