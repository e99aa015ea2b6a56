//! Policies of the field, ported from what is published of them, one file each.
//!
//! Each is a pure engine and an adapter that builds the engine's inputs from briefing, labels and
//! trace. What is *published* of a system, what is *given the oracle* and what is *ours* is said at
//! each policy; `docs/book/field.md` says it for users. Golden vectors in `policies/field/vectors/`
//! hold the engines to what is published. No code and no prose of the originals is here.

use std::sync::Arc;

use plugins::parameters::{ParameterSpec, Parameters};
use plugins::policy::Policy;
use plugins::registry::{CreateError, DuplicateName, PluginInfo, Registry};

pub mod audience;
pub mod camel;
pub mod fides;
pub mod progent;
pub mod rules;
pub mod schema;

mod parameter;

use camel::Camel;
use fides::Fides;
use progent::Progent;

/// Registers every policy of the field.
///
/// # Errors
/// When one of the names is taken.
pub fn register(registry: &mut Registry) -> Result<(), DuplicateName> {
    add(
        registry,
        Camel::NAME,
        "CaMeL: capabilities of each argument against a policy for each tool, within a plan.",
        Camel::parameters(),
        |parameters| Ok(Box::new(Camel::of_parameters(parameters)?)),
    )?;
    add(
        registry,
        Fides::NAME,
        "Fides: labels of whole contexts, and policies on the calls made from them.",
        Fides::parameters(),
        |parameters| Ok(Box::new(Fides::new(parameters))),
    )?;
    add(
        registry,
        Progent::NAME,
        "Progent: checks every call against ordered rules with a schema for each argument.",
        Progent::parameters(),
        |parameters| Ok(Box::new(Progent::of_parameters(parameters)?)),
    )
}

fn add(
    registry: &mut Registry,
    name: &'static str,
    summary: &'static str,
    parameters: Vec<ParameterSpec>,
    make: fn(&Parameters) -> Result<Box<dyn Policy>, CreateError>,
) -> Result<(), DuplicateName> {
    let info = PluginInfo {
        name: name.into(),
        summary: summary.into(),
        version: 1,
        parameters,
    };
    registry.policies.add(info, Arc::new(make))
}

#[cfg(test)]
mod desk;
#[cfg(test)]
mod tests;
