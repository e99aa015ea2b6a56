//! Policies written as Cedar text: `cedar:FILE`.
//!
//! A text decides with Cedar's own meaning: a `forbid` wins over every `permit`, and what no
//! `permit` allows is denied. Annotations say what a refusal is: `@id` names its rule, `@verdict`
//! puts it to the user or holds it, `@denial` says what the agent is told. `docs/book/cedar.md` is
//! the reference.
//!
//! Two shapes of text are read. A text in this program's names speaks of `Agent`, `Action` and
//! `Target`; see [`schema()`]. A text of a hosted gateway, which speaks of a user who calls
//! `Action::"Target__tool"` of a `Gateway`, is read as it is.
//!
//! A text keeps no state and looks at no clock, so the same question has the same answer. Nothing
//! can go wrong while it runs but that an attribute is missing: then Cedar leaves the policy out,
//! and the rule says `facts_missing`.

mod attributes;
mod authority;
mod clause;
mod context;
mod grounds;
mod limits;
mod needs;
mod program;
mod schema;
mod sets;
mod shape;
mod words;

use std::ops::Range;
use std::sync::Arc;

use cedar_policy::ffi::DetailedError;
use cedar_policy::{Authorizer, EntityUid, PolicySet};
use plugins::loaded::{LoadedPolicy, Mistake, content_hash};
use plugins::policy::{Hook, Hooks};

use crate::clause::Clause;
pub use crate::limits::{MAX_BYTES, MAX_CHAIN, MAX_NESTING, MAX_POLICIES};
use crate::needs::Needs;
use crate::program::{CedarPolicy, Program, Types, position};
pub use crate::schema::{schema, validate};
use crate::sets::Sets;
use crate::shape::{HOOKS, MORE_HOOKS, Reach, Shape, hooks, shape, type_name};
pub use crate::words::DEFAULT_DENY;
use crate::words::{fits, hook_word};

/// The version of the vocabulary: types, context and annotations.
pub const VERSION: u32 = 1;

/// Reads a text.
///
/// # Errors
/// Cedar's own syntax errors at their places; a text beyond the limits, or without a policy;
/// templates; annotations and verdicts that have no meaning here; names of two shapes; attributes
/// of the context that there are not.
pub fn load(text: &str) -> Result<LoadedPolicy, Vec<Mistake>> {
    let program = Arc::new(read(text)?);
    let unknown = unknown_attributes(text, &program);
    if !unknown.is_empty() {
        return Err(unknown);
    }
    Ok(LoadedPolicy {
        kind: "cedar",
        version: VERSION,
        summary: summary(text),
        content: content_hash([text.as_bytes()]),
        make: Arc::new(move || Box::new(CedarPolicy::new(Arc::clone(&program)))),
        faults: None,
    })
}

/// What a text in this program's names reads although there is no such attribute. What a gateway
/// has in its context beside the input is not known here.
fn unknown_attributes(text: &str, program: &Program) -> Vec<Mistake> {
    if matches!(program.shape, Shape::Gateway(_)) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for policy in program.sets.all.policies() {
        let clause = position(policy.id().as_ref()).and_then(|at| program.clauses.get(at));
        if let (Some(clause), Ok(json)) = (clause, policy.to_json()) {
            found.extend(attributes::unknown(&json, text, &clause.place));
        }
    }
    found.sort_by_key(|mistake| mistake.place.as_ref().map(|place| place.start));
    found
}

/// The first line of a text, if it is a comment.
fn summary(text: &str) -> String {
    let first = text.lines().next().unwrap_or_default();
    let comment = first.trim().strip_prefix("//").unwrap_or_default();
    comment.trim_start_matches('/').trim().to_owned()
}

/// Reads a text and checks all that can be checked without a world.
pub(crate) fn read(text: &str) -> Result<Program, Vec<Mistake>> {
    let places = limits::statements(text).map_err(|mistake| vec![mistake])?;
    let policies: PolicySet = text.parse().map_err(|errors: cedar_policy::ParseErrors| {
        errors.iter().map(located).collect::<Vec<_>>()
    })?;
    let templates = templates(&policies, &places);
    if !templates.is_empty() {
        return Err(templates);
    }
    let mut ordered: Vec<_> = policies.policies().collect();
    ordered.sort_by_key(|policy| position(policy.id().as_ref()));
    if ordered.is_empty() {
        let help = "Cedar denies what nothing permits: write `forbid (principal, action, resource);` \
                    to refuse everything";
        return Err(vec![Mistake::new("the text has no policy").help(help)]);
    }
    let mut mistakes = Vec::new();
    let mut clauses = Vec::new();
    let mut needs = Needs::default();
    let mut jsons = Vec::new();
    for (at, policy) in ordered.iter().copied().enumerate() {
        let place = places.get(at).cloned().unwrap_or(0..text.len());
        clauses.push(Clause::read(policy, text, place.clone(), &mut mistakes));
        match policy.to_json() {
            Ok(json) => {
                needs.add(&json);
                jsons.push((policy, json));
            }
            Err(error) => mistakes.push(located(&error).at(place)),
        }
    }
    let literals: Vec<EntityUid> = ordered
        .iter()
        .flat_map(|policy| policy.entity_literals())
        .collect();
    let reaches: Vec<Reach> = ordered.iter().map(|policy| Reach::of(policy)).collect();
    let hooks = hooks(&literals, &reaches).map_err(|mistake| vec![mistake])?;
    mistakes.extend(unfit(&clauses, &reaches, hooks));
    let shape = shape(&literals, &jsons).map_err(|mistake| vec![mistake])?;
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    let types = types().map_err(|mistake| vec![mistake])?;
    let ordered: Vec<_> = ordered.into_iter().cloned().collect();
    Ok(Program {
        sets: Sets::new(policies, &ordered, &reaches, &shape),
        clauses,
        shape,
        hooks,
        needs,
        types,
        authorizer: Authorizer::new(),
    })
}

fn types() -> Result<Types, Mistake> {
    Ok(Types {
        agent: type_name("Agent")?,
        action: type_name("Action")?,
        target: type_name("Target")?,
        hook: type_name(&format!("{HOOKS}::Action"))?,
        sender: type_name("Sender")?,
        record: type_name("Record")?,
    })
}

/// An error of Cedar's, with its help and at its place.
pub(crate) fn located(error: impl Into<DetailedError>) -> Mistake {
    let error: DetailedError = error.into();
    let label = error.source_locations.into_iter().next();
    let said = label.as_ref().and_then(|label| label.label.clone());
    Mistake {
        message: error.message,
        help: error.help.or(said),
        place: label.map(|label| label.loc.start..label.loc.end),
    }
}

/// Templates are for whoever links them to entities, and nobody does here.
fn templates(policies: &PolicySet, places: &[Range<usize>]) -> Vec<Mistake> {
    let mut found: Vec<_> = policies.templates().collect();
    found.sort_by_key(|template| position(template.id().as_ref()));
    let mistake = |template: &cedar_policy::Template| {
        let mut slots: Vec<String> = template.slots().map(ToString::to_string).collect();
        slots.sort_unstable();
        let message = format!(
            "a template with {}: nothing fills it in",
            slots.join(" and ")
        );
        let mistake = Mistake::new(message)
            .help("name the entity, or leave the variable unconstrained and test it in `when`");
        let place = position(template.id().as_ref()).and_then(|at| places.get(at));
        match place {
            Some(place) => mistake.at(place.clone()),
            None => mistake,
        }
    };
    found.into_iter().map(mistake).collect()
}

/// Verdicts that cannot be given at a hook that their policy is about.
fn unfit(clauses: &[Clause], reaches: &[Reach], declared: Hooks) -> Vec<Mistake> {
    let mut found = Vec::new();
    for (clause, reach) in clauses.iter().zip(reaches) {
        let Some(verdict) = clause.verdict else {
            continue;
        };
        let about = if reach.any { declared } else { reach.named };
        let hooks = std::iter::once(Hook::Proposal).chain(MORE_HOOKS);
        let wrong = hooks
            .filter(|hook| about.contains((*hook).into()))
            .find(|hook| !fits(verdict, *hook));
        if let Some(hook) = wrong {
            let message = format!(
                "this verdict cannot be given at the hook `{}`, which the policy is about",
                hook_word(hook)
            );
            let help = "name in its head the action that it is about";
            found.push(Mistake::new(message).help(help).at(clause.place.clone()));
        }
    }
    found
}

#[cfg(test)]
mod tests;
