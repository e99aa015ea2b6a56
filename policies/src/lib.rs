//! The built-in policies (defences), one file each, and the rules that their verdicts name.
//!
//! Those that look at the trusted configuration share one reading of it (`authorize`) and differ in
//! what they make of taint. What is *the paper's*, what is *inferred* and what is *ours* is said at
//! each policy and each rule.

use std::sync::Arc;

use plugins::parameters::{ParameterSpec, Parameters};
use plugins::policy::Policy;
use plugins::registry::{DuplicateName, Factory, PluginInfo, Registry};

pub mod cross_agent_taint_firewall;
pub mod intent_ledger_v2;
pub mod none;
pub mod prompt_only;
pub mod recipient_guard;
pub mod rollback_v2;
pub mod rules;
pub mod structured_guard;
pub mod taint_only_v1;
pub mod tool_boundary;

mod authorize;
mod quarantine;
mod taint;

use cross_agent_taint_firewall::CrossAgentTaintFirewall;
use intent_ledger_v2::IntentLedgerV2;
use none::NoDefence;
use prompt_only::PromptOnly;
use recipient_guard::RecipientGuard;
use rollback_v2::RollbackV2;
use structured_guard::StructuredGuard;
use taint_only_v1::TaintOnlyV1;
use tool_boundary::ToolBoundary;

/// Registers every built-in policy.
///
/// # Errors
/// When one of the names is taken.
pub fn register(registry: &mut Registry) -> Result<(), DuplicateName> {
    for (info, factory) in built_in() {
        registry.policies.add(info, factory)?;
    }
    Ok(())
}

fn built_in() -> Vec<(PluginInfo, Factory<Box<dyn Policy>>)> {
    vec![
        plugin(
            "none",
            "No defence: the positive control and the ceiling of utility.",
            Vec::new(),
            |_| Box::new(NoDefence),
        ),
        plugin(
            "prompt_only",
            "Shows guidance in every prompt and enforces nothing.",
            PromptOnly::parameters(),
            |parameters| Box::new(PromptOnly::new(parameters)),
        ),
        plugin(
            "structured_guard",
            "Asks for structured actions and puts every high-risk call to the user; no labels.",
            StructuredGuard::parameters(),
            |parameters| Box::new(StructuredGuard::new(parameters)),
        ),
        plugin(
            "tool_boundary",
            "Checks every high-risk call against the authorised tools and targets; no labels.",
            ToolBoundary::parameters(),
            |parameters| Box::new(ToolBoundary::new(parameters)),
        ),
        plugin(
            "taint_only_v1",
            "Refuses or confirms every tainted high-risk call, authorised or not.",
            TaintOnlyV1::parameters(),
            |parameters| Box::new(TaintOnlyV1::of_parameters(parameters)),
        ),
        plugin(
            "intent_ledger_v2",
            "Allows what the trusted ledger authorises unless taint expands it or a secret leaks.",
            IntentLedgerV2::parameters(),
            |parameters| Box::new(IntentLedgerV2::of_parameters(parameters)),
        ),
        plugin(
            "rollback_v2",
            "intent_ledger_v2 with a checkpoint for e-mail and rollback of revoked sources.",
            RollbackV2::parameters(),
            |parameters| Box::new(RollbackV2::of_parameters(parameters)),
        ),
        plugin(
            "recipient_guard",
            "The policy that is also written in every language of `docs/book`; our definition.",
            Vec::new(),
            |_| Box::new(RecipientGuard),
        ),
        plugin(
            "cross_agent_taint_firewall",
            "Blocks tainted high-risk calls that the ledger does not authorise; our definition.",
            CrossAgentTaintFirewall::parameters(),
            |parameters| Box::new(CrossAgentTaintFirewall::new(parameters)),
        ),
    ]
}

fn plugin(
    name: &'static str,
    summary: &'static str,
    parameters: Vec<ParameterSpec>,
    make: fn(&Parameters) -> Box<dyn Policy>,
) -> (PluginInfo, Factory<Box<dyn Policy>>) {
    let info = PluginInfo {
        name: name.into(),
        summary: summary.into(),
        version: 1,
        parameters,
    };
    (info, Arc::new(move |parameters| Ok(make(parameters))))
}

#[cfg(test)]
mod desk;
#[cfg(test)]
mod tests;
