//! How a text speaks of a call: in the names of this program, or in those of a hosted gateway.

use std::collections::{BTreeMap, BTreeSet};

use cedar_policy::{
    ActionConstraint, EntityId, EntityTypeName, EntityUid, Policy, PrincipalConstraint,
    ResourceConstraint,
};
use plugins::loaded::Mistake;
use plugins::policy::{Hook, Hooks};
use plugins::tool::{RiskClass, ToolSpec};

use crate::needs::asked_types;
use crate::words::hook_word;

/// The groups that actions are members of by their risk.
pub(crate) const GROUPS: [&str; 4] = ["high_risk", "low", "outbound", "write"];

/// The name of what is not there: no target, no sender, no agent.
pub(crate) const NOBODY: &str = "(none)";

/// The hooks besides the proposal that a text can be about.
pub(crate) const MORE_HOOKS: [Hook; 4] = [
    Hook::MemoryRead,
    Hook::MemoryWrite,
    Hook::Message,
    Hook::Observation,
];

/// The namespace of the actions that are hooks.
pub(crate) const HOOKS: &str = "Hook";

/// What the scope of a policy says of the action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reach {
    /// The hooks that it names.
    pub(crate) named: Hooks,
    /// The tools and groups that it names.
    pub(crate) actions: Vec<String>,
    /// It names no action.
    pub(crate) any: bool,
}

impl Reach {
    /// Of one policy.
    pub(crate) fn of(policy: &Policy) -> Self {
        let uids = match policy.action_constraint() {
            ActionConstraint::Any => Vec::new(),
            ActionConstraint::Eq(uid) => vec![uid],
            ActionConstraint::In(uids) => uids,
        };
        let hook = |uid: &EntityUid| hook_of(uid).unwrap_or(Hook::Proposal);
        Self {
            named: uids.iter().map(|uid| Hooks::from(hook(uid))).collect(),
            actions: uids
                .iter()
                .filter(|uid| hook_of(uid).is_none())
                .map(|uid| uid.id().unescaped().to_owned())
                .collect(),
            any: matches!(policy.action_constraint(), ActionConstraint::Any),
        }
    }
}

/// The hook that an action stands for; none if it is a tool or a group, or no hook there is.
fn hook_of(uid: &EntityUid) -> Option<Hook> {
    let is_hook = uid.type_name().namespace() == HOOKS && uid.type_name().basename() == "Action";
    let mut hooks = MORE_HOOKS.into_iter().filter(|_| is_hook);
    hooks.find(|hook| hook_word(*hook) == uid.id().unescaped())
}

/// The hooks that a text declares, and what is wrong with those that it names.
pub(crate) fn hooks(literals: &[EntityUid], reaches: &[Reach]) -> Result<Hooks, Mistake> {
    let of_scopes = reaches.iter().map(|reach| {
        if reach.any {
            Hooks::PROPOSAL
        } else {
            reach.named
        }
    });
    let mut hooks = of_scopes.fold(Hooks::empty(), Hooks::union);
    for uid in literals {
        if uid.type_name().namespace() != HOOKS {
            continue;
        }
        let Some(hook) = hook_of(uid) else {
            let known: Vec<_> = MORE_HOOKS.into_iter().map(hook_word).collect();
            let help = format!(
                "the hooks are {}; a call of a tool is `Action::\"its name\"`",
                known.join(", ")
            );
            return Err(Mistake::new(format!("`{uid}` is no hook")).help(help));
        };
        hooks |= hook.into();
    }
    Ok(hooks)
}

/// In whose names a text speaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// `Agent::"name"` calls `Action::"tool"` on `Target::"target"`.
    Native,
    /// A user calls `Action::"Target__tool"` of a gateway.
    Gateway(Box<Gateway>),
}

/// What the text of a gateway names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Gateway {
    /// The type of those who call.
    pub(crate) principal: EntityTypeName,
    /// The type of its actions.
    pub(crate) action: EntityTypeName,
    /// The gateway.
    pub(crate) resource: EntityUid,
    /// The actions that the text names, in order.
    pub(crate) actions: Vec<String>,
}

/// The shape of a text.
pub(crate) fn shape(
    literals: &[EntityUid],
    policies: &[(&Policy, serde_json::Value)],
) -> Result<Shape, Mistake> {
    let of_type = |name: &str| {
        let found: Vec<&EntityUid> = literals
            .iter()
            .filter(|uid| {
                uid.type_name().basename() == name && uid.type_name().namespace() != HOOKS
            })
            .collect();
        found
    };
    let actions = of_type("Action");
    let gateways = of_type("Gateway");
    let asked = policies.iter().flat_map(resource_types);
    let gateway_type = gateways
        .iter()
        .map(|uid| uid.type_name().clone())
        .chain(asked)
        .find(|name| name.basename() == "Gateway");
    let types: BTreeSet<&EntityTypeName> = actions.iter().map(|uid| uid.type_name()).collect();
    let action = match types.iter().collect::<Vec<_>>()[..] {
        [] => None,
        [one] => Some((*one).clone()),
        _ => {
            let message = "the text speaks of actions in more than one namespace";
            let help = "write what is about this program's tools and what is about a gateway's into \
                        two files, and compose them";
            return Err(Mistake::new(message).help(help));
        }
    };
    let namespace = match (&action, &gateway_type) {
        (Some(action), _) => action.namespace(),
        (None, Some(gateway)) => gateway.namespace(),
        (None, None) => return Ok(Shape::Native),
    };
    if gateway_type.is_none() {
        if namespace.is_empty() {
            return Ok(Shape::Native);
        }
        let message = format!("the text speaks of actions of `{namespace}`, and of no gateway");
        let help = format!(
            "a tool is `Action::\"its name\"`, and a hook `{HOOKS}::Action::\"its name\"`; the text \
             of a gateway says `resource is {namespace}::Gateway`"
        );
        return Err(Mistake::new(message).help(help));
    }
    let gateway = the_gateway(&gateways, gateway_type, &namespace)?;
    Ok(Shape::Gateway(Box::new(Gateway {
        principal: principal_type(policies).unwrap_or(qualified(&namespace, "OAuthUser")?),
        action: action.unwrap_or(qualified(&namespace, "Action")?),
        resource: gateway,
        actions: tool_actions(&actions)?,
    })))
}

/// The one gateway that the text names.
fn the_gateway(
    named: &[&EntityUid],
    asked: Option<EntityTypeName>,
    namespace: &str,
) -> Result<EntityUid, Mistake> {
    let distinct: BTreeSet<&EntityUid> = named.iter().copied().collect();
    if distinct.len() > 1 {
        let message = format!("the text names {} gateways", distinct.len());
        let help = "a run has one: give each gateway a file of its own";
        return Err(Mistake::new(message).help(help));
    }
    match distinct.first() {
        Some(gateway) => Ok((*gateway).clone()),
        None => {
            let gateway = asked.unwrap_or(qualified(namespace, "Gateway")?);
            Ok(uid(&gateway, "gateway"))
        }
    }
}

/// The actions of tools in order. No tool may stand behind two targets: a call of it would be
/// either.
fn tool_actions(actions: &[&EntityUid]) -> Result<Vec<String>, Mistake> {
    let mut found: Vec<String> = Vec::new();
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let mut tools: BTreeMap<&str, &str> = BTreeMap::new();
    for action in actions {
        let id = action.id().unescaped();
        if !seen.insert(id) {
            continue;
        }
        found.push(id.to_owned());
        let other = split(id).and_then(|(_, _, tool)| tools.insert(tool, id));
        if let Some(other) = other {
            let message = format!("`{other}` and `{id}` are one tool behind two targets");
            let help = "a call of that tool could be either: give each target a file of its own";
            return Err(Mistake::new(message).help(help));
        }
    }
    Ok(found)
}

/// A gateway's action as target, what stands between, and tool.
fn split(id: &str) -> Option<(&str, &str, &str)> {
    ["___", "__"].into_iter().find_map(|between| {
        let (target, tool) = id.split_once(between)?;
        (!target.is_empty() && !tool.is_empty()).then_some((target, between, tool))
    })
}

/// The types that a policy asks of its resource, first in its head.
fn resource_types((policy, json): &(&Policy, serde_json::Value)) -> Vec<EntityTypeName> {
    let head = match policy.resource_constraint() {
        ResourceConstraint::Is(name) | ResourceConstraint::IsIn(name, _) => Some(name),
        ResourceConstraint::Any | ResourceConstraint::Eq(_) | ResourceConstraint::In(_) => None,
    };
    let mut asked = Vec::new();
    asked_types(json, "resource", &mut asked);
    let asked = asked.iter().filter_map(|name| name.parse().ok());
    head.into_iter().chain(asked).collect()
}

/// The first type that a policy asks of its principal.
fn principal_type(policies: &[(&Policy, serde_json::Value)]) -> Option<EntityTypeName> {
    policies
        .iter()
        .find_map(|(policy, json)| match policy.principal_constraint() {
            PrincipalConstraint::Is(name) | PrincipalConstraint::IsIn(name, _) => Some(name),
            PrincipalConstraint::Eq(uid) => Some(uid.type_name().clone()),
            PrincipalConstraint::Any | PrincipalConstraint::In(_) => {
                let mut asked = Vec::new();
                asked_types(json, "principal", &mut asked);
                asked.first().and_then(|name| name.parse().ok())
            }
        })
}

fn qualified(namespace: &str, name: &str) -> Result<EntityTypeName, Mistake> {
    let full = if namespace.is_empty() {
        name.to_owned()
    } else {
        format!("{namespace}::{name}")
    };
    type_name(&full)
}

/// A type by its name.
pub(crate) fn type_name(name: &str) -> Result<EntityTypeName, Mistake> {
    name.parse()
        .map_err(|error| Mistake::new(format!("`{name}` is no name of a type: {error}")))
}

/// An entity of a type.
pub(crate) fn uid(of: &EntityTypeName, id: &str) -> EntityUid {
    EntityUid::from_type_name_and_id(of.clone(), EntityId::new(id))
}

/// The action of a tool in this program's names. A tool that is called like a group is another
/// action than the group.
pub(crate) fn action_id(tool: &str) -> String {
    if GROUPS.contains(&tool) {
        format!("tool:{tool}")
    } else {
        tool.to_owned()
    }
}

/// The groups that a tool is a member of, by its risk.
pub(crate) const fn groups(risk: RiskClass) -> &'static [&'static str] {
    match risk {
        RiskClass::Low => &["low"],
        RiskClass::Write => &["write", "high_risk"],
        RiskClass::Outbound => &["outbound", "high_risk"],
    }
}

impl Gateway {
    /// The action of a tool: the one that the text names, behind whatever target, or a new one
    /// behind the only target of the text. And the target, a group that it is a member of.
    pub(crate) fn action_of(&self, tool: &ToolSpec) -> (String, Option<String>) {
        let behind = |id: &str| {
            let target = id.strip_suffix(&*tool.name)?;
            let target = target.strip_suffix("___").or(target.strip_suffix("__"))?;
            (!target.is_empty()).then(|| target.to_owned())
        };
        for id in &self.actions {
            if **id == *tool.name {
                return (id.clone(), None);
            }
            if let Some(target) = behind(id) {
                return (id.clone(), Some(target));
            }
        }
        let targets: BTreeSet<_> = self.actions.iter().filter_map(|id| split(id)).collect();
        let mut targets = targets
            .into_iter()
            .map(|(target, between, _)| (target, between));
        let first = targets.next().unwrap_or(("Target", "__"));
        let is_only = targets.all(|target| target == first);
        let (target, between) = if is_only { first } else { ("Target", "__") };
        let id = format!("{target}{between}{}", tool.name);
        (id, Some(target.to_owned()))
    }
}
