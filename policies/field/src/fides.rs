//! `fides`: information-flow control for planners (arXiv 2505.23643), and the product that goes by
//! the same name.
//!
//! See `docs/book/field.md` for what is exact and for what a simulator cannot say.

use plugins::action::Argument;
use plugins::ids::NodeId;
use plugins::parameters::{ParameterSpec, Parameters};
use plugins::policy::{
    DecidingField, Evidence, Hooks, Inflow, InflowVerdict, Policy, Proposal, ProposalVerdict,
    Ruling, VerdictKind, View,
};
use plugins::predicate::{CallView, matches};
use plugins::rule::Rule;
use plugins::state::{RestoreError, SavedState};
use plugins::tool::RiskClass;
use plugins::trace::NodeKind;
use plugins::value::Content;
use serde::{Deserialize, Serialize};

pub mod engine;

mod track;
mod variables;

use self::engine::{
    Declaration, FieldLabel, Label, LabelledCall, Level, Planner, Policies, Violation, admit,
    check_paper, check_repository,
};
use self::track::{Track, outside};
use self::variables::Variables;
use crate::audience::Audience;
use crate::parameter::{choice, restored, save, truth};
use crate::rules;

/// What does not change in a rollout.
#[derive(Clone, Copy, Debug)]
enum Setup {
    Paper {
        policies: Policies,
        trusted_arguments: bool,
        endorses: bool,
    },
    Repository {
        tracker: bool,
        asks: bool,
        low_risk_accepts: bool,
        outbound: Level,
    },
}

/// Which calls a planner is taken to have made after it looked into the variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Inspecting {
    /// Those that no entry of the ledger authorises.
    OutsideLedger,
    /// Those whose action no entry of the ledger names.
    OutsideActions,
    /// None.
    Never,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct State {
    track: Track,
    variables: Variables,
}

/// *Published*: the label of the context is the join over what entered it; before a call its label is
/// put to the policies. Paper: P-T (a consequential call needs a trusted context) and P-F (who
/// receives may read), over readers. Repository: integrity and a level of confidentiality of the
/// context, for every tool; without a context label a call proceeds. Results that would raise the
/// label go behind variables, and calls that name them get the values.
///
/// *Given the oracle*: a model here acts on what is hidden from it as if it had read it. So a call that
/// nobody could plan without the hidden content, because the ledger has none such, counts as made after
/// an inspection, and rulings from then on are `assumed`.
///
/// *Ours*: high-risk tools are the consequential ones; in a system of several agents a message carries
/// the label of its sender's context; the levels of readers.
#[derive(Clone, Debug)]
pub struct Fides {
    setup: Setup,
    planner: Planner,
    inspecting: Inspecting,
    state: State,
}

impl Fides {
    /// Its name.
    pub const NAME: &'static str = "fides";

    /// The policy with these parameters, as declared by [`Fides::parameters`].
    #[must_use]
    pub fn new(parameters: &Parameters) -> Self {
        let repository = parameters.text("profile") == "repository";
        let setup = if repository {
            Setup::Repository {
                tracker: parameters.boolean("tracker"),
                asks: parameters.boolean("approval_on_violation"),
                low_risk_accepts: parameters.text("accepts_untrusted") == "low_risk",
                outbound: match parameters.text("outbound_allows") {
                    "private" => Level::Private,
                    "user_identity" => Level::UserIdentity,
                    _ => Level::Public,
                },
            }
        } else {
            Setup::Paper {
                policies: match parameters.text("policies") {
                    "trusted_action" => Policies::TrustedAction,
                    "permitted_flow" => Policies::PermittedFlow,
                    "either" => Policies::Either,
                    _ => Policies::Both,
                },
                trusted_arguments: parameters.boolean("trusted_arguments"),
                endorses: parameters.text("endorse") == "boolean",
            }
        };
        let planner = match (parameters.text("planner"), setup) {
            ("basic", _) | (_, Setup::Repository { tracker: false, .. }) => Planner::Basic,
            (_, Setup::Repository { .. }) => Planner::AutoHide,
            (_, Setup::Paper { .. }) => Planner::Variables,
        };
        let inspecting = match parameters.text("inspect") {
            "outside_actions" => Inspecting::OutsideActions,
            "never" => Inspecting::Never,
            _ => Inspecting::OutsideLedger,
        };
        Self {
            setup,
            planner,
            inspecting,
            state: State::default(),
        }
    }

    /// The parameters that it takes.
    #[must_use]
    pub fn parameters() -> Vec<ParameterSpec> {
        vec![
            choice(
                "profile",
                "The paper's lattice and policies, or the checks of the repository.",
                &["paper", "repository"],
            ),
            choice(
                "planner",
                "Whether results that would raise the label of the context go behind variables, or \
                 every result enters the context.",
                &["variables", "basic"],
            ),
            choice(
                "inspect",
                "Planner `variables`: which high-risk calls it is taken to have made only after it \
                 looked into every variable, which raises the label of the context: those that the \
                 ledger does not authorise, those whose action it does not name, or none.",
                &["outside_ledger", "outside_actions", "never"],
            ),
            choice(
                "policies",
                "Profile `paper`: which policies are in force; `either` is the tutorial's, which lets \
                 an untrusted context send what the recipient may read.",
                &["both", "trusted_action", "permitted_flow", "either"],
            ),
            truth(
                "trusted_arguments",
                "Profile `paper`: P-T also refuses untrusted variables in arguments of authority.",
                false,
            ),
            choice(
                "endorse",
                "Profile `paper`: which fields of results carry so little that they are shown as \
                 trusted: none, or those that say true, false, yes or no.",
                &["never", "boolean"],
            ),
            truth(
                "tracker",
                "Profile `repository`: whether labels are tracked; if not, calls have no context \
                 label and proceed.",
                true,
            ),
            truth(
                "approval_on_violation",
                "Profile `repository`: puts a violation to the user instead of blocking.",
                false,
            ),
            choice(
                "accepts_untrusted",
                "Profile `repository`: the tools that are declared to accept an untrusted context.",
                &["low_risk", "none"],
            ),
            choice(
                "outbound_allows",
                "Profile `repository`: the highest confidentiality that outbound tools are declared \
                 to allow; others are not restricted.",
                &["public", "private", "user_identity"],
            ),
        ]
    }

    /// The label of the context from which a call was made, and the state of the agent then.
    fn context(&self, view: &View<'_>, proposal: &Proposal<'_>) -> (Label, Option<NodeId>) {
        let track = &self.state.track;
        let (episode, agent) = (proposal.call.episode, proposal.call.agent);
        let origin = proposal.node.and_then(|node| {
            let mut edges = view.prefix.edges.iter().rev();
            let into = edges.find(|edge| {
                let from = &view.prefix.nodes[edge.from.index()];
                edge.to == node && from.kind == NodeKind::AgentState
            })?;
            Some(into.from)
        });
        match origin {
            Some(state) => (track.at_state(episode, agent, state), origin),
            None => (track.now(episode, agent), None),
        }
    }

    /// What the planner must have inspected to make a call: everything hidden, or nothing.
    fn inspected(&self, view: &View<'_>, proposal: &Proposal<'_>) -> Option<Label> {
        let hidden = self.state.variables.all()?;
        let ledger = &view.briefing.ledger;
        let is_planned = match self.inspecting {
            Inspecting::OutsideLedger => {
                let arguments = self.expanded(proposal);
                let call = CallView {
                    tool: proposal.tool,
                    arguments: &arguments,
                };
                matches(call, ledger).is_some()
            }
            Inspecting::OutsideActions => {
                let mut entries = ledger.entries.iter();
                entries.any(|entry| entry.action == proposal.tool.name)
            }
            Inspecting::Never => true,
        };
        (proposal.tool.high_risk() && !is_planned).then_some(hidden)
    }

    /// Whether rulings rest on what a planner is taken to have inspected.
    fn rests_on_oracle(&self) -> bool {
        self.inspecting != Inspecting::Never && self.state.variables.all().is_some()
    }

    /// The arguments of a call with what its variables stand for.
    fn expanded(&self, proposal: &Proposal<'_>) -> Vec<Argument> {
        let arguments = proposal.arguments.iter().map(|argument| {
            let value = self.state.variables.expanded(&argument.value);
            Argument {
                value: value.unwrap_or_else(|| argument.value.clone()),
                ..argument.clone()
            }
        });
        arguments.collect()
    }

    /// The violation of a call, if there is one, and its context.
    fn check(
        &self,
        view: &View<'_>,
        proposal: &Proposal<'_>,
    ) -> (Result<(), Violation>, Option<NodeId>) {
        let (context, state) = self.context(view, proposal);
        let context = match self.inspected(view, proposal) {
            Some(inspected) => context.join(&inspected),
            None => context,
        };
        let checked = match self.setup {
            Setup::Paper { .. } if !proposal.tool.high_risk() => Ok(()),
            Setup::Paper {
                policies,
                trusted_arguments,
                ..
            } => {
                let call = LabelledCall {
                    context: &context,
                    data: &self.data(view, proposal, &context),
                    untrusted_argument: !self.untrusted_authority(proposal).is_empty(),
                    audience: &Audience::of(proposal.view(), view.briefing),
                };
                check_paper(policies, trusted_arguments, call)
            }
            Setup::Repository {
                tracker,
                low_risk_accepts,
                outbound,
                ..
            } => {
                let declaration = Declaration {
                    accepts_untrusted: low_risk_accepts && !proposal.tool.high_risk(),
                    most_confidential: (proposal.tool.risk == RiskClass::Outbound)
                        .then_some(outbound),
                };
                check_repository(tracker.then_some(&context), declaration)
            }
        };
        (checked, state)
    }

    /// The label of the data of a call: of the context, of the variables that its arguments name, and
    /// of the objects.
    fn data(&self, view: &View<'_>, proposal: &Proposal<'_>, context: &Label) -> Label {
        let mut data = context.clone();
        for argument in proposal.arguments {
            if let Some(label) = self.state.variables.named(&argument.value) {
                data = data.join(&label);
            }
            let referred = argument.referent.iter().flat_map(|it| &it.labels);
            for &label in referred {
                data = data.join(&outside(view, label));
            }
        }
        data
    }

    /// The arguments of authority that name an untrusted variable, by position.
    fn untrusted_authority(&self, proposal: &Proposal<'_>) -> Vec<u16> {
        let arguments = proposal.arguments.iter().filter(|argument| {
            let role = proposal.tool.arguments[usize::from(argument.position)].role;
            let label = self.state.variables.named(&argument.value);
            role.is_authority() && label.is_some_and(|label| label.untrusted)
        });
        arguments.map(|argument| argument.position).collect()
    }

    /// The ruling on a call that violates nothing.
    fn pass(&self, proposal: &Proposal<'_>) -> Ruling<ProposalVerdict> {
        let mut changes = Vec::new();
        for argument in proposal.arguments {
            if let Some(value) = self.state.variables.expanded(&argument.value) {
                changes.push((argument.position, value));
            }
        }
        if !changes.is_empty() {
            let fields = changes.iter().map(|&(position, _)| position);
            let fields = fields.map(DecidingField::Argument);
            let reason = rules::FIDES_EXPAND_VARIABLES.reason().with_fields(fields);
            return Ruling::new(ProposalVerdict::Rewrite(changes), reason);
        }
        let rule = match self.setup {
            Setup::Repository { tracker: false, .. } => &rules::FIDES_ALLOW_UNLABELLED,
            Setup::Paper { .. } if !proposal.tool.high_risk() => {
                return Ruling::<ProposalVerdict>::neutral();
            }
            _ => &rules::FIDES_ALLOW,
        };
        Ruling::new(ProposalVerdict::Allow, rule.reason())
    }

    /// The rule of a violation.
    fn rule_of(&self, violation: Violation) -> &'static Rule {
        let asks = matches!(self.setup, Setup::Repository { asks: true, .. });
        match (violation, asks) {
            (Violation::UntrustedContext, false) => &rules::FIDES_BLOCK_UNTRUSTED_CONTEXT,
            (Violation::UntrustedContext, true) => &rules::FIDES_CONFIRM_UNTRUSTED_CONTEXT,
            (Violation::UntrustedArgument, _) => &rules::FIDES_BLOCK_UNTRUSTED_ARGUMENT,
            (Violation::Flow, _) => &rules::FIDES_BLOCK_FLOW,
            (Violation::Confidentiality, false) => &rules::FIDES_BLOCK_CONFIDENTIALITY,
            (Violation::Confidentiality, true) => &rules::FIDES_CONFIRM_CONFIDENTIALITY,
        }
    }

    fn refuse(
        &self,
        violation: Violation,
        state: Option<NodeId>,
        proposal: &Proposal<'_>,
    ) -> Ruling<ProposalVerdict> {
        let rule = self.rule_of(violation);
        let mut reason = rule.reason().with_evidence(state.map(Evidence::Node));
        if violation == Violation::UntrustedArgument {
            let fields = self.untrusted_authority(proposal);
            reason = reason.with_fields(fields.into_iter().map(DecidingField::Argument));
        }
        let verdict = if rule.verdict == VerdictKind::Confirm {
            ProposalVerdict::Confirm
        } else {
            ProposalVerdict::Block
        };
        Ruling::new(verdict, reason)
    }

    fn fields(&self, view: &View<'_>, inflow: &Inflow<'_>) -> Vec<FieldLabel> {
        let endorses = matches!(self.setup, Setup::Paper { endorses: true, .. });
        let origin = self.state.track.origin(view, inflow.node);
        let fields = inflow.content.fields.iter().zip(inflow.labels);
        fields
            .map(|(field, &label)| FieldLabel {
                label: outside(view, label).join(&origin),
                endorsed: endorses && is_truth_value(&field.value),
            })
            .collect()
    }
}

/// Whether a text carries one bit.
fn is_truth_value(text: &str) -> bool {
    let text = text.trim();
    ["true", "false", "yes", "no"]
        .iter()
        .any(|word| text.eq_ignore_ascii_case(word))
}

impl SavedState for Fides {
    fn save(&self, out: &mut Vec<u8>) {
        save(&self.state, out);
    }

    fn restore(&mut self, bytes: &[u8], version: u32) -> Result<(), RestoreError> {
        self.state = restored(bytes, version, self.version())?;
        Ok(())
    }
}

impl Policy for Fides {
    fn hooks(&self) -> Hooks {
        match self.planner {
            Planner::Basic => Hooks::PROPOSAL,
            Planner::Variables | Planner::AutoHide => Hooks::PROPOSAL | Hooks::OBSERVATION,
        }
    }

    fn on_observation(&mut self, view: &mut View<'_>, inflow: Inflow<'_>) -> Ruling<InflowVerdict> {
        if self.planner == Planner::Basic {
            return Ruling::<InflowVerdict>::neutral();
        }
        self.state.track.catch_up(view);
        let context = self.state.track.now(view.episode, inflow.agent);
        let fields = self.fields(view, &inflow);
        let admission = admit(self.planner, &context, &fields);
        self.state.track.decide(inflow.agent, admission.raises);
        if !admission.hidden.contains(&true) {
            return Ruling::<InflowVerdict>::neutral();
        }
        let mut shown: Content = inflow.content.clone();
        let hidden = admission.hidden.iter().zip(fields);
        for (field, (hidden, known)) in shown.fields.iter_mut().zip(hidden) {
            if *hidden {
                field.value = self.state.variables.hide(field.value.clone(), known.label);
            }
        }
        let reason = rules::FIDES_HIDE_RESULT.reason();
        let reason = reason.with_evidence(inflow.node.map(Evidence::Node));
        Ruling::new(InflowVerdict::Transform(shown), reason)
    }

    fn on_proposal(
        &mut self,
        view: &mut View<'_>,
        proposal: Proposal<'_>,
    ) -> Ruling<ProposalVerdict> {
        self.state.track.catch_up(view);
        let mut ruling = match self.check(view, &proposal) {
            (Ok(()), _) => self.pass(&proposal),
            (Err(violation), state) => self.refuse(violation, state, &proposal),
        };
        if proposal.tool.high_risk() && self.rests_on_oracle() {
            ruling.reason = ruling.reason.assumed();
        }
        ruling
    }
}

#[cfg(test)]
mod tests;
