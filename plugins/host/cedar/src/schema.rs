//! What a world offers to a text, as a Cedar schema, and Cedar's validation against it.

use std::collections::{BTreeMap, BTreeSet};

use cedar_policy::{EntityTypeName, Schema, ValidationMode, Validator};
use plugins::briefing::Briefing;
use plugins::loaded::Mistake;
use plugins::tool::{ToolSpec, ValueKind};

use crate::context::TAINTED_BY_ROLE;
use crate::shape::{Gateway, HOOKS, Shape, action_id, groups};
use crate::{located, read};

/// Everything that a text can speak of in a world, in Cedar's schema syntax: its tools as actions
/// with their arguments, the groups by risk, the hooks, and the context of each.
#[must_use]
pub fn schema(briefing: &Briefing) -> String {
    let mut text = String::from("// What a policy can speak of in this world.\n\n");
    text += "entity Agent;\nentity Target;\nentity Sender;\nentity Record;\n\n";
    text += "action \"low\", \"high_risk\";\n";
    text += "action \"write\", \"outbound\" in [Action::\"high_risk\"];\n";
    let mut seen = BTreeSet::new();
    for tool in &briefing.tools {
        if seen.insert(&tool.name) {
            let groups = groups(tool.risk).iter();
            let groups: Vec<String> = groups.map(|name| format!("Action::\"{name}\"")).collect();
            let id = action_id(&tool.name);
            let applies = ["Agent", "Target", "arguments"];
            action(&mut text, &id, &groups, applies, tool);
        }
    }
    text.push('\n');
    call_types(&mut text);
    hooks(&mut text, "Agent");
    text
}

/// Cedar's own diagnostics of a text in a world: misspelt attributes, unknown tools, values of the
/// wrong type. A text of a gateway is held against a schema of its shape.
#[must_use]
pub fn validate(text: &str, briefing: &Briefing) -> Vec<Mistake> {
    let program = match read(text) {
        Ok(program) => program,
        Err(mistakes) => return mistakes,
    };
    let schema = match &program.shape {
        Shape::Native => schema(briefing),
        Shape::Gateway(gateway) => gateway_schema(gateway, briefing),
    };
    let schema = match Schema::from_cedarschema_str(&schema) {
        Ok((schema, _)) => schema,
        // The places are those of the schema, so they would mislead in the text.
        Err(error) => {
            let message = format!("the world has no schema: {error}");
            return vec![Mistake::new(message)];
        }
    };
    let result = Validator::new(schema).validate(&program.sets.all, ValidationMode::Strict);
    let mut mistakes: Vec<Mistake> = result.validation_errors().map(located).collect();
    for mistake in &mut mistakes {
        // The name that Cedar gives to a policy says nothing to its author; the place does.
        if let Some((_, said)) = mistake.message.split_once(", ")
            && mistake.message.starts_with("for policy `")
        {
            mistake.message = said.to_owned();
        }
    }
    let place = |mistake: &Mistake| mistake.place.as_ref().map_or(0, |place| place.start);
    mistakes.sort_by(|a, b| place(a).cmp(&place(b)).then(a.message.cmp(&b.message)));
    // One misspelt name is found once for each tool that the policy is about; the first is enough.
    mistakes.dedup_by(|later, first| match (&later.place, &first.place) {
        (None, None) => later.message == first.message,
        (later, first) => later == first,
    });
    mistakes
}

/// The schema of a gateway whose tools are those of the world.
fn gateway_schema(gateway: &Gateway, briefing: &Briefing) -> String {
    let mut blocks: BTreeMap<String, String> = BTreeMap::new();
    let mut declare = |name: &EntityTypeName, tags: &str| {
        let block = blocks.entry(name.namespace()).or_default();
        line(block, &format!("entity {}{tags};", name.basename()));
    };
    declare(&gateway.principal, " tags String");
    let resource = gateway.resource.type_name();
    if *resource != gateway.principal {
        declare(resource, "");
    }
    let mut actions = String::new();
    let mut targets = BTreeSet::new();
    let mut seen = BTreeSet::new();
    for tool in &briefing.tools {
        let (id, target) = gateway.action_of(tool);
        let target = target.filter(|target| *target != id);
        let group = target
            .as_ref()
            .map(|target| format!("Action::{}", quoted(target)));
        if seen.insert(id.clone()) {
            let (principal, resource) = (gateway.principal.to_string(), resource.to_string());
            let applies = [principal.as_str(), resource.as_str(), "input"];
            let groups: Vec<String> = group.into_iter().collect();
            action(&mut actions, &id, &groups, applies, tool);
        }
        targets.extend(target);
    }
    for target in targets.difference(&seen) {
        line(&mut actions, &format!("action {};", quoted(target)));
    }
    *blocks.entry(gateway.action.namespace()).or_default() += &actions;
    let mut text = String::new();
    for (namespace, block) in blocks {
        if namespace.is_empty() {
            text += &block;
        } else {
            line(&mut text, &format!("namespace {namespace} {{\n{block}}}"));
        }
    }
    text += "entity Sender;\nentity Record;\n";
    call_types(&mut text);
    hooks(&mut text, &gateway.principal.to_string());
    text
}

/// One tool. `applies` names the types of principal and resource and the record of arguments.
fn action(text: &mut String, id: &str, groups: &[String], applies: [&str; 3], tool: &ToolSpec) {
    let [principal, resource, arguments] = applies;
    let mut names = BTreeSet::new();
    let arguments_type: Vec<String> = tool
        .arguments
        .iter()
        .filter(|argument| names.insert(&argument.name))
        .map(|argument| {
            let optional = if argument.required { "" } else { "?" };
            let kind = kind_type(argument.kind);
            format!("{}{optional}: {kind}", quoted(&argument.name))
        })
        .collect();
    let groups = if groups.is_empty() {
        String::new()
    } else {
        format!(" in [{}]", groups.join(", "))
    };
    line(text, &format!("action {}{groups} appliesTo {{", quoted(id)));
    line(
        text,
        &format!("  principal: {principal},\n  resource: {resource},"),
    );
    line(text, "  context: {");
    line(
        text,
        &format!("    {arguments}: {{{}}},", arguments_type.join(", ")),
    );
    line(
        text,
        "    risk: String, high_risk: Bool, read: Bool, episode: Long, target?: String,",
    );
    line(
        text,
        "    labels: CallLabels, ledger: Ledger, history: History,",
    );
    line(text, "  }\n};");
}

const fn kind_type(kind: ValueKind) -> &'static str {
    match kind {
        ValueKind::Text => "String",
        ValueKind::List => "Set<String>",
        ValueKind::Integer => "Long",
        ValueKind::Boolean => "Bool",
    }
}

/// The types of what a call carries beside its arguments.
fn call_types(text: &mut String) {
    line(text, "type CallLabels = {");
    line(text, PROVENANCE);
    line(
        text,
        "  influenced_fields: Set<String>, tainted_authority: Set<String>,",
    );
    for (name, _) in TAINTED_BY_ROLE {
        line(text, &format!("  {name}: Set<String>,"));
    }
    line(text, "  choice_tainted: Bool, choice_influenced: Bool,\n};");
    line(text, "type Ledger = {");
    line(
        text,
        "  matched: Bool, entry?: Long, action_listed: Bool, target_listed: Bool,",
    );
    line(text, "  target_authorized: Bool, target_entry?: Long,");
    line(
        text,
        "  expanding: Set<String>, leaking: Set<String>, wrong_recipient: Bool,\n};",
    );
    line(text, "type Counts = {");
    line(
        text,
        "  proposed: Long, committed: Long, denied: Long, asked: Long, approved: Long,\n};",
    );
    line(
        text,
        "type History = {total: Counts, tool: Counts, agent: Counts, high_risk: Counts};",
    );
}

/// What is known of every value: the same for calls and for content.
const PROVENANCE: &str = "  tainted_fields: Set<String>, tainted: Bool, influenced: Bool,\n  \
                          sources: Set<String>, control: Set<String>, readers?: Set<String>,\n  \
                          recorded_tainted: Bool, recorded_sources: Set<String>,";

/// The hooks beside the proposal.
fn hooks(text: &mut String, principal: &str) {
    line(text, &format!("type ContentLabels = {{\n{PROVENANCE}\n}};"));
    line(text, "type Content = {");
    line(
        text,
        "  episode: Long, from?: String, text: String, fields: Set<String>,",
    );
    line(text, "  labels: ContentLabels,\n};\n");
    line(text, &format!("namespace {HOOKS} {{"));
    for (hooks, resource) in [
        ("memory_read, memory_write", "Record"),
        ("message, observation", "Sender"),
    ] {
        line(text, &format!("  action {hooks} appliesTo {{"));
        line(
            text,
            &format!("    principal: {principal}, resource: {resource}, context: Content,"),
        );
        line(text, "  };");
    }
    line(text, "}");
}

/// A name as a Cedar string.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.escape_debug())
}

fn line(text: &mut String, content: &str) {
    text.push_str(content);
    text.push('\n');
}
