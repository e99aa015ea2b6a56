//! From the words of an answer to a [`Reason`].

use plugins::ids::NodeId;
use plugins::policy::{Basis, DecidingField, DenialReason, Evidence, Reason, View, is_rule_name};
use plugins::tool::ToolSpec;

use super::Answer;
use crate::words::Word;

/// The verdicts after which an agent is told why.
const DENYING: [&str; 3] = ["block", "confirm", "hold"];

/// The reason of an answer. `neutral` is the verdict of the hook that changes nothing, `tool` that
/// of the call under decision.
pub(super) fn reason(
    answer: &Answer,
    view: &View<'_>,
    neutral: &str,
    tool: Option<&ToolSpec>,
) -> Result<Reason, String> {
    let Some(rule) = &answer.rule else {
        return without_rule(answer, neutral);
    };
    if !is_rule_name(rule) {
        return Err(format!(
            "`{}` is no name of a rule: 1 to 64 lower-case letters, digits and `_`",
            super::shortened(rule)
        ));
    }
    if plugins::loaded::OWN_RULES.contains(&&**rule) {
        return Err(format!("the rule `{rule}` is the program's own"));
    }
    let denial = match &answer.denial {
        Some(word) => *DenialReason::named(word)?,
        None if DENYING.contains(&&*answer.verdict) => {
            return Err(format!("`{}` without `denial`", answer.verdict));
        }
        None => DenialReason::PluginFault,
    };
    let basis = match &answer.basis {
        Some(word) => *Basis::named(word)?,
        None => Basis::Exact,
    };
    let fields = answer.fields.iter().flatten();
    let fields = fields.map(|text| field(text, tool));
    let evidence = answer.evidence.iter().flatten();
    let evidence = evidence.map(|text| self::evidence(text, view));
    Ok(Reason {
        rule: rule.clone().into(),
        denial,
        fields: fields.collect::<Result<_, _>>()?,
        evidence: evidence.collect::<Result<_, _>>()?,
        basis,
    })
}

/// Only what changes nothing needs no rule, and then there is nothing to explain.
fn without_rule(answer: &Answer, neutral: &str) -> Result<Reason, String> {
    if answer.verdict != neutral {
        return Err(format!("`{}` without `rule`", answer.verdict));
    }
    let parts = [
        ("denial", answer.denial.is_some()),
        ("fields", answer.fields.is_some()),
        ("evidence", answer.evidence.is_some()),
        ("basis", answer.basis.is_some()),
    ];
    match parts.iter().find(|(_, is_given)| *is_given) {
        Some((part, _)) => Err(format!("`{part}` without `rule`")),
        None => Ok(Reason::default_allow()),
    }
}

/// `action`, `target` or `argument:NAME`.
fn field(text: &str, tool: Option<&ToolSpec>) -> Result<DecidingField, String> {
    let Some(tool) = tool else {
        return Err("`fields` where no call is under decision".into());
    };
    match text {
        "action" => Ok(DecidingField::Action),
        "target" => Ok(DecidingField::Target),
        _ => {
            let name = text.strip_prefix("argument:").ok_or_else(|| {
                format!("field `{text}` is none of: action, target, argument:NAME")
            })?;
            Ok(DecidingField::Argument(argument(name, tool)?))
        }
    }
}

/// The position of the argument called `name`.
pub(super) fn argument(name: &str, tool: &ToolSpec) -> Result<u16, String> {
    let position = tool
        .arguments
        .iter()
        .position(|argument| &*argument.name == name);
    position
        .and_then(|position| u16::try_from(position).ok())
        .ok_or_else(|| format!("tool `{}` has no argument `{name}`", tool.name))
}

/// `node:3`, `source:NAME`, `ledger:2` or `no_ledger_entry`; what it refers to must exist.
fn evidence(text: &str, view: &View<'_>) -> Result<Evidence, String> {
    let missing = || format!("evidence `{text}` does not exist");
    match text.split_once(':') {
        None if text == "no_ledger_entry" => Ok(Evidence::NoLedgerEntry),
        Some(("node", id)) => {
            let id: u32 = id.parse().map_err(|_| missing())?;
            let exists = (id as usize) < view.prefix.nodes.len();
            exists
                .then_some(Evidence::Node(NodeId(id)))
                .ok_or_else(missing)
        }
        Some(("source", name)) => {
            let source = view.briefing.source_named(name).ok_or_else(missing)?;
            Ok(Evidence::Source(source))
        }
        Some(("ledger", entry)) => {
            let entry: u32 = entry.parse().map_err(|_| missing())?;
            let exists = (entry as usize) < view.briefing.ledger.entries.len();
            exists
                .then_some(Evidence::LedgerEntry(entry))
                .ok_or_else(missing)
        }
        _ => Err(format!(
            "evidence `{text}` is none of: node:ID, source:NAME, ledger:POSITION, no_ledger_entry"
        )),
    }
}
