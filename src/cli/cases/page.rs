//! The page of a case study, in Markdown. Its words come from trace, scenario and rules; fixed are
//! only headings and what the catalogue says of the claim.

use std::collections::BTreeSet;

use plugins::briefing::{Channel, Trust};

use serde_json::Value;
use study::divergence::first_divergence;

use super::catalogue::{STUDIES, Study};
use super::{Group, numbers, trace_file};
use crate::cli::played::Played;
use crate::cli::rules;

/// The line of a trace file on which event 0 stands; before it is the header.
const FIRST_LINE: usize = 2;

/// All of it.
pub(super) fn page(study: &Study, groups: &[Group]) -> String {
    let mut out = format!(
        "# Case {}: {}\n\nDefence: {}. The words of this page are explained in [its index](../{}).\n\n\
         What the paper takes from it (Table 21): \"{}\"\n",
        study.number,
        study.title,
        defences(study),
        super::INDEX,
        study.claim
    );
    out += &shared(study);
    for (index, group) in groups.iter().enumerate() {
        let role = if index == 0 { "World" } else { "Control world" };
        let identity = &group.case.scene.scenario.identity;
        out += &format!("\n## {role} `{identity}`\n\n");
        out += &setting(group);
        out += &format!("\n### What the untrusted text asks for\n\n{}", asked(group));
        out += &parted(group);
        out += &format!("\n### What committed\n\n{}", committed(group));
        out += &recovered(group);
        out += &read(group);
        out += &format!("\n### Numbers\n\n{}", numbers::table(group));
    }
    out += &format!("\n## What the numbers are\n\n{}", numbers::meanings(groups));
    out += &format!("\n## What it does not show\n\n{}\n", study.limit);
    out += &format!("\n## Files\n\n{}", traces(groups));
    out
}

/// The defences of Table 21, each as code.
fn defences(study: &Study) -> String {
    let each = study.defence.split(" / ").map(|name| format!("`{name}`"));
    each.collect::<Vec<_>>().join(" and ")
}

/// That the same rollouts are told on an earlier page, if they are.
fn shared(study: &Study) -> String {
    let [first, ..] = study.runs else {
        return String::new();
    };
    let is_same = |other: &&Study| {
        let runs = other.runs.iter();
        let mut same =
            runs.filter(|run| run.world == first.world && run.policies == first.policies);
        other.number < study.number && same.next().is_some()
    };
    STUDIES
        .iter()
        .find(is_same)
        .map_or_else(String::new, |other| {
            format!(
                "\nThe rollouts of `{}` are those of Case {}, looked at for another claim.\n",
                first.world, other.number
            )
        })
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
        let tools = match &tools[..] {
            [] => "no tool".to_owned(),
            [one] => format!("the tool {one}"),
            many => format!("the tools {}", many.join(", ")),
        };
        out += &format!("- Agent `{}` has {tools}.\n", agent.name);
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
            format!(
                "- `{name}` is untrusted and yet benign: no field of it is an attacker's to fill.\n"
            )
        } else {
            let fields = if slots.len() == 1 { "field" } else { "fields" };
            format!(
                "- `{name}`: an attacker may fill the {fields} {}.\n",
                slots.join(", ")
            )
        };
    }
    let first = &group.sides[0];
    let carrying = carrying_calls(group, first);
    if carrying.is_empty() {
        out += &format!(
            "- Under `{}` no high-risk call carries content from an untrusted source.\n",
            first.policy
        );
    }
    for tool in carrying {
        let mut entries = scenario.briefing.ledger.entries.iter();
        let ledger = if entries.any(|entry| *entry.action == *tool) {
            "has an entry for it"
        } else {
            "has no entry for it"
        };
        out += &format!(
            "- Under `{}` an agent proposes `{tool}`, a high-risk call, with content from an untrusted \
             source; the ledger {ledger}.\n",
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
    let mut out = format!(
        "{heading}At event {index}, tick {tick} (line {} of the files). Until then the same happens, \
         whatever the rules are called by which it is allowed or stopped.\n\n",
        index + FIRST_LINE
    );
    for side in [first, second] {
        let told = told_at(group, side, index);
        let told = told.unwrap_or_else(|| "nothing: its trace ends before".to_owned());
        out += &format!(
            "- `{}`: {told}.{}\n",
            side.policy,
            reason(group, side, index)
        );
    }
    out
}

/// An event in words.
fn told_at(group: &Group, side: &Played, index: usize) -> Option<String> {
    side.told(&group.case).into_iter().nth(index)
}

/// Why an event is as it is: what the rule of the decision says, and which fields decided. An event
/// that is no decision follows from an earlier one about the same call, or no policy was asked.
fn reason(group: &Group, side: &Played, index: usize) -> String {
    let Some(event) = side.events.get(index) else {
        return String::new();
    };
    if event["what"] == "ruled" {
        return rule_words(event);
    }
    let Some(decision) = decision_before(side, index) else {
        return " The policy is not asked about that.".to_owned();
    };
    let told = told_at(group, side, decision).unwrap_or_default();
    format!(
        " That follows from the policy's decision at event {decision}: {told}.{}",
        rule_words(&side.events[decision])
    )
}

/// The last decision before an event that is about the same call.
fn decision_before(side: &Played, index: usize) -> Option<usize> {
    let call = side.events[index]["call"].as_u64()?;
    let subject = format!("call:{call}");
    side.events[..index]
        .iter()
        .rposition(|event| event["what"] == "ruled" && event["subject"] == subject.as_str())
}

/// What the rule of a decision says, and which fields decided.
fn rule_words(ruled: &Value) -> String {
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

/// What recovery did, if the world has a recovery step that was reached.
fn recovered(group: &Group) -> String {
    let is_recovery = |event: &Value| {
        matches!(
            event["what"].as_str(),
            Some("recovered" | "removed" | "undone")
        )
    };
    let is_step = |event: &&Value| event["what"] == "recovered";
    let mut out = String::new();
    for side in &group.sides {
        let Some(start) = side.events.iter().position(|event| is_step(&event)) else {
            continue;
        };
        let events = side.events.iter().zip(side.told(&group.case)).skip(start);
        let told: Vec<String> = events
            .filter(|(event, _)| is_recovery(event))
            .map(|(_, told)| told)
            .collect();
        out += &format!("- `{}`: {}.\n", side.policy, told.join("; "));
    }
    if out.is_empty() {
        return out;
    }
    format!("\n### What recovery did\n\n{out}")
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
        for (number, (event, told)) in (1..).zip(completed) {
            let agent = event["agent"].as_str().unwrap_or_default();
            let status = event["status"].as_str().unwrap_or_default();
            out += &format!("{number}. `{agent}` {told}; read as {status}.\n");
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
