//! A text that was read and checked, and the policy that asks it.

use std::sync::Arc;

use cedar_policy::{
    Authorizer, Decision, Entities, Entity, EntityTypeName, EntityUid, PolicySet, Request,
};
use plugins::fault;
use plugins::ids::AgentId;
use plugins::policy::{
    DEFAULT_ALLOW, DenialReason, FACTS_MISSING, Hook, Hooks, Inflow, InflowVerdict, MemoryVerdict,
    Policy, Proposal, ProposalVerdict, Reason, RecordView, Ruling, Verdict, VerdictKind, View,
};
use plugins::state::SavedState;

use crate::clause::Clause;
use crate::context::{Labelled, of_call, of_content};
use crate::grounds::About;
use crate::needs::Needs;
use crate::sets::Sets;
use crate::shape::{NOBODY, Shape, action_id, groups, uid};
use crate::words::{DEFAULT_DENY, hook_word, refusal};

/// The types of this program's names.
#[derive(Clone, Debug)]
pub(crate) struct Types {
    pub(crate) agent: EntityTypeName,
    pub(crate) action: EntityTypeName,
    pub(crate) target: EntityTypeName,
    pub(crate) hook: EntityTypeName,
    pub(crate) sender: EntityTypeName,
    pub(crate) record: EntityTypeName,
}

/// A text, ready to be asked.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) sets: Sets,
    /// What each policy means, by position in the text.
    pub(crate) clauses: Vec<Clause>,
    pub(crate) shape: Shape,
    pub(crate) hooks: Hooks,
    pub(crate) needs: Needs,
    pub(crate) types: Types,
    pub(crate) authorizer: Authorizer,
}

/// What Cedar says of a request.
struct Outcome<'a> {
    decision: Decision,
    /// The policies that determine it, in the order of the text.
    clauses: Vec<&'a Clause>,
    /// Some policy could not be evaluated, for example because an attribute is missing.
    incomplete: bool,
}

impl Program {
    /// Asks about a call. None if Cedar refuses to take the question.
    fn ask_about_call(&self, view: &View<'_>, proposal: &Proposal<'_>) -> Option<Outcome<'_>> {
        let agent = agent_name(view, Some(proposal.call.agent));
        let tool = proposal.tool;
        let (principal, action, resource, parents, arguments) = match &self.shape {
            Shape::Native => {
                let group = |name: &&str| uid(&self.types.action, name);
                (
                    uid(&self.types.agent, agent),
                    uid(&self.types.action, &action_id(&tool.name)),
                    uid(
                        &self.types.target,
                        proposal.view().target().unwrap_or(NOBODY),
                    ),
                    groups(tool.risk).iter().map(group).collect::<Vec<_>>(),
                    "arguments",
                )
            }
            Shape::Gateway(gateway) => {
                let (id, target) = gateway.action_of(tool);
                let target = target.filter(|target| *target != id);
                (
                    uid(&gateway.principal, agent),
                    uid(&gateway.action, &id),
                    gateway.resource.clone(),
                    target.iter().map(|id| uid(&gateway.action, id)).collect(),
                    "input",
                )
            }
        };
        let context = of_call(view, proposal, &self.needs, arguments)?;
        let policies = self.sets.of_call(action.id().unescaped(), tool.risk);
        let entity = Entity::new_no_attrs(action.clone(), parents.into_iter().collect());
        let entities = Entities::from_entities([entity], None).ok()?;
        let request = Request::new(principal, action, resource, context, None).ok()?;
        self.ask(policies, &request, &entities)
    }

    /// Asks about content at another hook.
    fn ask_about_content(
        &self,
        view: &View<'_>,
        hook: Hook,
        agent: Option<AgentId>,
        resource: EntityUid,
        from: Option<AgentId>,
        what: Labelled<'_>,
    ) -> Option<Outcome<'_>> {
        let agent = agent_name(view, agent);
        let principal = match &self.shape {
            Shape::Native => uid(&self.types.agent, agent),
            Shape::Gateway(gateway) => uid(&gateway.principal, agent),
        };
        let from = from.map(|from| agent_name(view, Some(from)));
        let context = of_content(view, what, from, &self.needs)?;
        let action = uid(&self.types.hook, hook_word(hook));
        let request = Request::new(principal, action, resource, context, None).ok()?;
        self.ask(self.sets.of_hook(hook), &request, &Entities::empty())
    }

    fn ask(
        &self,
        policies: &PolicySet,
        request: &Request,
        entities: &Entities,
    ) -> Option<Outcome<'_>> {
        let response = self.authorizer.is_authorized(request, policies, entities);
        let reasons = response.diagnostics().reason();
        // Cedar gives a set: its order is none.
        let mut positions = reasons
            .map(|id| position(id.as_ref()))
            .collect::<Option<Vec<usize>>>()?;
        positions.sort_unstable();
        let clauses = positions.into_iter().map(|at| self.clauses.get(at));
        Some(Outcome {
            decision: response.decision(),
            clauses: clauses.collect::<Option<_>>()?,
            incomplete: response.diagnostics().errors().next().is_some(),
        })
    }
}

/// The position in the text of the policy that Cedar calls so.
pub(crate) fn position(id: &str) -> Option<usize> {
    id.strip_prefix("policy")?.parse().ok()
}

fn agent_name<'a>(view: &View<'a>, agent: Option<AgentId>) -> &'a str {
    let briefing = view.briefing;
    let info = agent.and_then(|agent| briefing.agents.get(agent.index()));
    info.map_or(NOBODY, |info| &info.name)
}

impl Outcome<'_> {
    /// The verdict and the reason at a hook. The severest verdict stands, and the rules of all
    /// policies that determine the answer are joined.
    fn ruling<V: Verdict>(
        &self,
        hook: Hook,
        view: &View<'_>,
        about: About<'_>,
        verdict: impl Fn(VerdictKind, Option<&Clause>) -> V,
    ) -> Ruling<V> {
        let refused = self.decision == Decision::Deny;
        let severest = self.clauses.iter().max_by(|a, b| {
            // Of equals the first in the text leads: `max_by` keeps the last.
            let order = a.verdict_at(hook).cmp(&b.verdict_at(hook));
            order.then(b.place.start.cmp(&a.place.start))
        });
        let mut reason = Reason::new(DEFAULT_ALLOW, DenialReason::PluginFault);
        let mut rules: Vec<&str> = Vec::new();
        if let (true, Some(leading)) = (refused, severest) {
            reason.denial = leading.denial_at(hook);
        }
        for clause in &self.clauses {
            append_new(&mut rules, clause.rule.as_deref());
            if clause.rule.is_some() {
                let (fields, evidence) = about.named(view, clause);
                append_new(&mut reason.fields, fields);
                append_new(&mut reason.evidence, evidence);
            }
        }
        if refused && self.clauses.is_empty() {
            rules.push(DEFAULT_DENY);
            reason.denial = DenialReason::TargetNotAuthorized;
        }
        append_new(&mut rules, self.incomplete.then_some(FACTS_MISSING));
        if !rules.is_empty() {
            reason.rule = rules.join("+").into();
        }
        let verdict = match (refused, severest) {
            (false, _) => V::neutral(),
            (true, Some(leading)) => verdict(leading.verdict_at(hook), Some(leading)),
            (true, None) => verdict(refusal(hook), None),
        };
        Ruling::new(verdict, reason)
    }
}

fn append_new<T: PartialEq>(list: &mut Vec<T>, more: impl IntoIterator<Item = T>) {
    for item in more {
        if !list.contains(&item) {
            list.push(item);
        }
    }
}

/// The policy of one rollout. It keeps nothing: each answer follows from what it is shown.
pub(crate) struct CedarPolicy {
    program: Arc<Program>,
}

impl CedarPolicy {
    /// An instance that asks this text.
    pub(crate) const fn new(program: Arc<Program>) -> Self {
        Self { program }
    }

    fn on_inflow(&self, view: &View<'_>, hook: Hook, inflow: Inflow<'_>) -> Ruling<InflowVerdict> {
        let what = Labelled {
            content: inflow.content,
            labels: inflow.labels,
            recorded: inflow.recorded,
        };
        let sender = uid(&self.program.types.sender, agent_name(view, inflow.from));
        let agent = Some(inflow.agent);
        let outcome = self
            .program
            .ask_about_content(view, hook, agent, sender, inflow.from, what);
        let Some(outcome) = outcome else {
            return fault::on_inflow();
        };
        outcome.ruling(
            hook,
            view,
            About::Content(inflow.recorded),
            |kind, _| match kind {
                VerdictKind::Drop => InflowVerdict::Drop,
                _ => InflowVerdict::Quarantine,
            },
        )
    }

    fn on_memory(
        &self,
        view: &View<'_>,
        hook: Hook,
        record: RecordView<'_>,
    ) -> Ruling<MemoryVerdict> {
        let what = Labelled {
            content: record.content,
            labels: record.labels,
            recorded: record.recorded,
        };
        let resource = uid(&self.program.types.record, record.key);
        let outcome =
            self.program
                .ask_about_content(view, hook, record.agent, resource, None, what);
        let Some(outcome) = outcome else {
            return fault::on_memory();
        };
        outcome.ruling(
            hook,
            view,
            About::Content(record.recorded),
            |kind, _| match kind {
                VerdictKind::Confirm => MemoryVerdict::Confirm,
                VerdictKind::Quarantine => MemoryVerdict::Quarantine,
                _ => MemoryVerdict::Block,
            },
        )
    }
}

impl SavedState for CedarPolicy {}

impl Policy for CedarPolicy {
    fn hooks(&self) -> Hooks {
        self.program.hooks
    }

    fn on_proposal(
        &mut self,
        view: &mut View<'_>,
        proposal: Proposal<'_>,
    ) -> Ruling<ProposalVerdict> {
        if !self.hooks().contains(Hooks::PROPOSAL) {
            return Ruling::<ProposalVerdict>::neutral();
        }
        let Some(outcome) = self.program.ask_about_call(view, &proposal) else {
            return fault::on_proposal();
        };
        let about = About::Call(&proposal);
        outcome.ruling(Hook::Proposal, view, about, |kind, clause| match kind {
            VerdictKind::Abort => ProposalVerdict::Abort,
            VerdictKind::Confirm => ProposalVerdict::Confirm,
            VerdictKind::Hold => ProposalVerdict::Hold,
            VerdictKind::Simulate => {
                ProposalVerdict::Simulate(clause.map(Clause::simulated).unwrap_or_default())
            }
            _ => ProposalVerdict::Block,
        })
    }

    fn on_memory_write(
        &mut self,
        view: &mut View<'_>,
        record: RecordView<'_>,
    ) -> Ruling<MemoryVerdict> {
        if !self.hooks().contains(Hooks::MEMORY_WRITE) {
            return Ruling::<MemoryVerdict>::neutral();
        }
        self.on_memory(view, Hook::MemoryWrite, record)
    }

    fn on_memory_read(
        &mut self,
        view: &mut View<'_>,
        record: RecordView<'_>,
    ) -> Ruling<MemoryVerdict> {
        if !self.hooks().contains(Hooks::MEMORY_READ) {
            return Ruling::<MemoryVerdict>::neutral();
        }
        self.on_memory(view, Hook::MemoryRead, record)
    }

    fn on_observation(&mut self, view: &mut View<'_>, inflow: Inflow<'_>) -> Ruling<InflowVerdict> {
        if !self.hooks().contains(Hooks::OBSERVATION) {
            return Ruling::<InflowVerdict>::neutral();
        }
        self.on_inflow(view, Hook::Observation, inflow)
    }

    fn on_message(&mut self, view: &mut View<'_>, inflow: Inflow<'_>) -> Ruling<InflowVerdict> {
        if !self.hooks().contains(Hooks::MESSAGE) {
            return Ruling::<InflowVerdict>::neutral();
        }
        self.on_inflow(view, Hook::Message, inflow)
    }
}
