//! The page of a case study, in Markdown. Its words come from trace, scenario and rules; fixed are
//! only headings and what the catalogue says of the claim.

use std::collections::BTreeSet;

use plugins::briefing::{Channel, Trust};
use policies::rules;
use serde_json::Value;
use study::divergence::first_divergence;

use super::catalogue::Study;
use super::{Group, numbers, trace_file};
use crate::cli::played::Played;

/// All of it.
pub(super) fn page(study: &Study, groups: &[Group]) -> String {
    let mut out = format!(
        "# Case {}: {}\n\nDefence: `{}`. {}\n",
        study.number, study.title, study.defence, study.claim
    );
    for (index, group) in groups.iter().enumerate() {
        let role = if index == 0 { "World" } else { "Control world" };
        let identity = &group.case.scene.scenario.identity;
        out += &format!("\n## {role} `{identity}`\n\n");
        out += &setting(group);
        out += &format!("\n### What the untrusted text asks for\n\n{}", asked(group));
        out += &parted(group);
        out += &format!("\n### What committed\n\n{}", committed(group));
        out += &read(group);
        out += &format!("\n### Numbers\n\n{}", numbers::table(group));
    }
    out += &format!("\n## What it does not show\n\n{}\n", study.limit);
    out += &format!("\n## Files\n\n{}", traces(groups));
    out
}

/// Goal, agents and sources.
fn setting(group: &Group) -> String {
    let briefing = &group.case.scene.scenario.briefing;
    let mut out = String::new();
    for goal in &briefing.goals {
        out += &format!("Goal of the user: \"{goal}\"\n\n");
    }
    for agent in &briefing.agents {
        let tools = agent.tools.iter();
        let tools: Vec<String> = tools
            .map(|tool| format!("`{}`", briefing.tools[tool.index()].name))
            .collect();
        out += &format!("- Agent `{}` has {}.\n", agent.name, tools.join(", "));
    }
    for source in &briefing.sources {
        if source.channel == Channel::Goal {
            continue;
        }
        let trust = match source.trust {
            Trust::Trusted => "trusted",
            Trust::Untrusted => "untrusted",
        };
        out += &format!("- Source `{}` is {trust}.\n", source.name);
    }
    let entries = briefing.ledger.entries.iter();
    let entries: Vec<String> = entries
        .map(|entry| format!("`{}` on `{}`", entry.action, entry.target))
        .collect();
    let authorised = if entries.is_empty() {
        "no high-risk action".to_owned()
    } else {
        entries.join(", ")
    };
    out + &format!("- The intent ledger authorises {authorised}.\n")
}

/// The kind of what untrusted sources ask for: which fields an attacker may fill, and which high-risk
/// calls carry them. What the fields say is not repeated.
fn asked(group: &Group) -> String {
    let scenario = &group.case.scene.scenario;
    let mut out = String::new();
    for source in scenario.briefing.untrusted.iter() {
        let spec = &scenario.sources[source as usize];
        let name = &scenario.briefing.sources[source as usize].name;
        let slots = spec.slots.iter();
        let slots: Vec<String> = slots
            .filter_map(|slot| spec.content.fields.get(usize::from(*slot)))
            .map(|field| format!("`{}`", field.name))
            .collect();
        out += &if slots.is_empty() {
            format!("- `{name}` is benign: no field of it is an attacker's to fill.\n")
        } else {
            format!("- `{name}`: an attacker may fill {}.\n", slots.join(", "))
        };
    }
    let first = &group.sides[0];
    let carrying = carrying_calls(group, first);
    if carrying.is_empty() {
        out += &format!("- Under `{}` no high-risk call carries it.\n", first.policy);
    }
    for tool in carrying {
        let mut entries = scenario.briefing.ledger.entries.iter();
        let ledger = if entries.any(|entry| *entry.action == *tool) {
            "has an entry for such an action"
        } else {
            "has no entry for such an action"
        };
        out += &format!(
            "- Under `{}` the agent proposes `{tool}` with it, a high-risk call; the ledger {ledger}.\n",
            first.policy
        );
    }
    out
}

/// The tools of high-risk calls with an argument from an untrusted source.
fn carrying_calls(group: &Group, side: &Played) -> BTreeSet<String> {
    let briefing = &group.case.scene.scenario.briefing;
    let untrusted: BTreeSet<&str> = briefing
        .untrusted
        .iter()
        .map(|source| &*briefing.sources[source as usize].name)
        .collect();
    let carries = |argument: &Value| {
        let sources = argument["sources"].as_array().into_iter().flatten();
        let mut sources = sources.filter_map(Value::as_str);
        sources.any(|source| untrusted.contains(source))
    };
    let proposed = side
        .events
        .iter()
        .filter(|event| event["what"] == "proposed");
    let carrying = proposed.filter(|event| {
        let mut arguments = event["arguments"].as_array().into_iter().flatten();
        arguments.any(carries)
    });
    let tools = carrying.filter_map(|event| event["tool"].as_str());
    let is_high_risk = |tool: &&str| {
        let tool = briefing.tool_named(tool);
        tool.is_some_and(|tool| briefing.tools[tool.index()].high_risk())
    };
    tools.filter(is_high_risk).map(str::to_owned).collect()
}

/// Where two matched rollouts part, with both decisions and their reasons.
fn parted(group: &Group) -> String {
    let [first, second] = &group.sides[..] else {
        return String::new();
    };
    let heading = format!(
        "\n### Where `{}` and `{}` part\n\n",
        first.policy, second.policy
    );
    let Some(index) = first_divergence(first.labelled(), second.labelled()) else {
        return format!("{heading}Nowhere: the same happens, event for event.\n");
    };
    let tick = [first, second]
        .iter()
        .find_map(|side| side.events.get(index)?["tick"].as_u64())
        .unwrap_or_default();
    let mut out = format!("{heading}At event {index}, tick {tick}.\n\n");
    for side in [first, second] {
        let told = side.told(&group.case).into_iter().nth(index);
        let told = told.unwrap_or_else(|| "nothing: its trace ends before".to_owned());
        out += &format!("- `{}`: {told}.{}\n", side.policy, reason(side, index));
    }
    out
}

/// What the rule of the decision at an event says, and which fields decided; nothing if the event is
/// no decision.
fn reason(side: &Played, index: usize) -> String {
    let event = side.events.get(index);
    let Some(ruled) = event.filter(|event| event["what"] == "ruled") else {
        return " No decision is made there.".to_owned();
    };
    let rule = ruled["rule"].as_str().unwrap_or_default();
    let docs: Vec<&str> = rule
        .split('+')
        .filter_map(|rule| Some(rules::find(rule)?.doc))
        .collect();
    let fields = ruled["fields"].as_array().into_iter().flatten();
    let fields: Vec<&str> = fields.filter_map(Value::as_str).collect();
    let deciding = if fields.is_empty() {
        String::new()
    } else {
        format!(" Deciding here: {}.", fields.join(", "))
    };
    format!(" {}{deciding}", docs.join(" "))
}

/// What each rollout committed, and what it undid.
fn committed(group: &Group) -> String {
    let mut out = String::new();
    for side in &group.sides {
        let events = side.events.iter().zip(side.told(&group.case));
        let commits: Vec<String> = events
            .filter(|(event, _)| event["what"] == "committed" || event["what"] == "undone")
            .map(|(_, told)| told)
            .collect();
        let said = if commits.is_empty() {
            "nothing".to_owned()
        } else {
            commits.join("; ")
        };
        out += &format!("- `{}`: {said}.\n", side.policy);
    }
    out
}

/// How completions were read, if one was not plainly an action.
fn read(group: &Group) -> String {
    let is_plain = |event: &Value| {
        let repairs = event["repairs"].as_array();
        let repaired = repairs.is_some_and(|repairs| !repairs.is_empty());
        let class = event["class"].as_str().unwrap_or_default();
        !repaired && !class.starts_with("invalid")
    };
    let mut out = String::new();
    for side in &group.sides {
        let events = side.events.iter().zip(side.told(&group.case));
        let completed: Vec<(&Value, String)> = events
            .filter(|(event, _)| event["what"] == "completed")
            .collect();
        if completed.iter().all(|(event, _)| is_plain(event)) {
            continue;
        }
        out += &format!(
            "\n### How completions were read under `{}`\n\n",
            side.policy
        );
        for (event, told) in completed {
            let agent = event["agent"].as_str().unwrap_or_default();
            let status = event["status"].as_str().unwrap_or_default();
            out += &format!("1. `{agent}` {told}; read as {status}.\n");
        }
    }
    out
}

fn traces(groups: &[Group]) -> String {
    let mut out = String::new();
    for group in groups {
        for side in &group.sides {
            out += &format!(
                "- `{}`: the redacted trace under `{}`, digest {}\n",
                trace_file(group, side),
                side.policy,
                side.row.identity.trace_digest
            );
        }
    }
    out
}
