//! `camel`: capabilities for machine learning (arXiv 2503.18813).
//!
//! See `docs/book/field.md` for what is exact, and exact given the oracle.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use plugins::briefing::{Briefing, Channel, Trust};
use plugins::ids::{PrincipalId, SourceId};
use plugins::label::{self, IndexSet, LabelId};
use plugins::parameters::{ParameterSpec, Parameters};
use plugins::policy::{
    DecidingField, Evidence, Hooks, Policy, Proposal, ProposalVerdict, Ruling, View,
};
use plugins::predicate::matches;
use plugins::registry::CreateError;
use plugins::rule::Rule;
use plugins::state::SavedState;

pub mod derive;
pub mod engine;
pub mod text;

use self::derive::derived_policies;
use self::engine::{
    Argument, Arguments, Capabilities, Engine, Inner, Readers, Refusal, Source, ValueId, Values,
};
use crate::parameter::{choice, truth, wrong_text};
use crate::rules;

/// What stands for the program of the privileged model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Plan {
    /// The ledger: a call is in it if an entry authorises it.
    Match,
    /// The actions of the ledger: targets and arguments are data.
    Action,
    /// Nothing: every call is taken for one of the program.
    None,
}

#[derive(Debug)]
struct Setup {
    given: Option<Engine>,
    bugcompat: bool,
    plan: Plan,
    strict: bool,
    /// The choice of a call counts as its control dependency.
    control: bool,
}

/// *Published*: every value has sources and readers; a tool without side effect is allowed; a private
/// control dependency denies; then the first policy whose pattern fits the tool decides by what its
/// arguments depend on; none: denied. STRICT counts control dependencies of values, NORMAL does not.
///
/// *Given the oracle*: the privileged model writes its program from the request alone. Here the ledger
/// stands for the program, and a call outside it is refused; such rulings are `assumed`.
///
/// *Ours*: which policy a tool of a world gets; low-risk tools have no side effect; a plan from the
/// ledger has no branches, so that calls have no control dependencies unless the exact labels of their
/// choice are taken for that.
#[derive(Clone, Debug)]
pub struct Camel {
    setup: Arc<Setup>,
}

impl Camel {
    /// Its name.
    pub const NAME: &'static str = "camel";

    /// The policy with these parameters, as declared by [`Camel::parameters`].
    ///
    /// # Errors
    /// When the text of the policies is wrong.
    pub fn of_parameters(parameters: &Parameters) -> Result<Self, CreateError> {
        let bugcompat = parameters.boolean("bugcompat");
        let given = text::read_policies(parameters.text("policies"))
            .map_err(|problem| wrong_text(Self::NAME, "policies", &problem))?;
        let setup = Setup {
            given: given.map(|policies| Engine {
                policies,
                bugcompat,
            }),
            bugcompat,
            plan: match parameters.text("plan") {
                "action" => Plan::Action,
                "none" => Plan::None,
                _ => Plan::Match,
            },
            strict: parameters.text("mode") == "strict",
            control: parameters.text("control") == "choice",
        };
        Ok(Self {
            setup: Arc::new(setup),
        })
    }

    /// The parameters that it takes.
    #[must_use]
    pub fn parameters() -> Vec<ParameterSpec> {
        vec![
            choice(
                "plan",
                "What stands for the program of the privileged model: the ledger, its actions with \
                 any arguments, or nothing.",
                &["match", "action", "none"],
            ),
            choice(
                "mode",
                "Whether values depend on what decided them too (`strict`) or only on what flowed \
                 into them.",
                &["normal", "strict"],
            ),
            choice(
                "control",
                "The control dependencies of a call: none, as in a program without branches, or the \
                 exact label of its choice.",
                &["none", "choice"],
            ),
            crate::parameter::text(
                "policies",
                "The policies of the tools as JSON; empty: derived from what the tools do.",
            ),
            truth(
                "bugcompat",
                "Repeats the mistake of the repository at f083b6b in `delete_email`: denies what is \
                 trusted and allows what is not.",
                false,
            ),
        ]
    }

    fn engine(&self, briefing: &Briefing) -> Cow<'_, Engine> {
        match &self.setup.given {
            Some(engine) => Cow::Borrowed(engine),
            None => Cow::Owned(Engine {
                policies: derived_policies(briefing),
                bugcompat: self.setup.bugcompat,
            }),
        }
    }

    /// Whether the program has such a call, and the entry of the ledger that says so.
    fn planned(&self, view: &View<'_>, proposal: &Proposal<'_>) -> (bool, Option<usize>) {
        let ledger = &view.briefing.ledger;
        let entry = match self.setup.plan {
            Plan::None => return (true, None),
            Plan::Match => matches(proposal.view(), ledger),
            Plan::Action => {
                let mut actions = ledger.entries.iter();
                actions.position(|entry| entry.action == proposal.tool.name)
            }
        };
        (entry.is_some(), entry)
    }
}

/// The values of one call.
struct Desk<'a> {
    view: &'a View<'a>,
    strict: bool,
    values: Values,
    /// The source of each control dependency.
    control: Vec<(ValueId, SourceId)>,
}

impl Desk<'_> {
    /// A source instance as a value.
    fn source(&mut self, source: u32) -> ValueId {
        let briefing = self.view.briefing;
        let readers = &briefing.sources[source as usize].label.readers;
        self.values.add(Capabilities {
            sources: BTreeSet::from([source_of(briefing, source)]),
            readers: readers_of(briefing, readers),
        })
    }

    /// A value with this label. In strict mode it depends also on what influenced its choice.
    fn labelled(&mut self, label: LabelId) -> ValueId {
        let briefing = self.view.briefing;
        let label = self.view.labels.get(label);
        let sources = label.sources.iter();
        let mut sources: BTreeSet<Source> =
            sources.map(|source| source_of(briefing, source)).collect();
        if sources.is_empty() {
            sources.insert(Source::Camel);
        }
        let value = self.values.add(Capabilities {
            sources,
            readers: readers_of(briefing, &label.readers),
        });
        if self.strict {
            for source in label.control.iter() {
                let on = self.source(source);
                self.values.depend(value, on);
            }
        }
        value
    }

    fn arguments(&mut self, proposal: &Proposal<'_>) -> Arguments {
        let mut arguments = Arguments::new();
        for argument in proposal.arguments {
            let spec = &proposal.tool.arguments[usize::from(argument.position)];
            let value = self.labelled(argument.label);
            let object = argument.referent.as_ref().map(|referent| {
                let whole = self.labelled(LabelId::BOTTOM);
                for &label in &referent.labels {
                    let field = self.labelled(label);
                    self.values.depend(whole, field);
                }
                whole
            });
            let given = Argument {
                value,
                texts: argument.value.strings().map(str::to_owned).collect(),
                object,
            };
            arguments.insert(spec.name.to_string(), given);
        }
        arguments
    }

    /// What decided that the call is made.
    fn control(&mut self, proposal: &Proposal<'_>) {
        let choice = self.view.labels.get(proposal.call.choice);
        let sources: IndexSet = choice.sources.union(&choice.control);
        for source in sources.iter() {
            let value = self.source(source);
            self.control.push((value, SourceId(source)));
        }
    }
}

/// A source instance. An untrusted one is a tool result by somebody; a trusted one is vouched for.
fn source_of(briefing: &Briefing, source: u32) -> Source {
    let info = &briefing.sources[source as usize];
    let inner = match (info.channel, info.trust) {
        (Channel::Goal, Trust::Trusted) => return Source::User,
        (_, Trust::Trusted) => Inner::Trusted,
        (_, Trust::Untrusted) => Inner::Named(info.name.to_string()),
    };
    Source::Tool {
        name: info.name.to_string(),
        inner: BTreeSet::from([inner]),
    }
}

fn readers_of(briefing: &Briefing, readers: &label::Readers) -> Readers {
    match readers {
        label::Readers::Everyone => Readers::Public,
        label::Readers::Only(set) => {
            let names = set.iter().map(PrincipalId);
            let names = names.map(|it| briefing.principals[it.index()].to_string());
            Readers::Only(names.collect())
        }
    }
}

/// The rule of a refusal, and the fields and evidence that go with it.
fn refused(refusal: Refusal, proposal: &Proposal<'_>, desk: &Desk<'_>) -> Ruling<ProposalVerdict> {
    let (rule, names): (&Rule, Vec<String>) = match refusal {
        Refusal::ControlDependency(private) => {
            let sources = desk.control.iter();
            let sources = sources.filter(|(value, _)| private.contains(value));
            let reason = rules::CAMEL_BLOCK_CONTROL_DEPENDENCY.reason();
            let reason = reason.with_evidence(sources.map(|&(_, it)| Evidence::Source(it)));
            return Ruling::new(ProposalVerdict::Block, reason);
        }
        Refusal::NoPolicy => {
            let reason = rules::CAMEL_BLOCK_NO_POLICY.reason();
            let reason = reason.with_fields([DecidingField::Action]);
            return Ruling::new(ProposalVerdict::Block, reason);
        }
        Refusal::Untrusted(names) => (&rules::CAMEL_BLOCK_UNTRUSTED_ARGUMENT, names),
        Refusal::Unreadable(names) => (&rules::CAMEL_BLOCK_UNREADABLE_ARGUMENT, names),
        Refusal::NotPublic(names) => (&rules::CAMEL_BLOCK_NOT_PUBLIC, names),
        Refusal::Absent(name) => (&rules::CAMEL_BLOCK_ABSENT_ARGUMENT, vec![name]),
        Refusal::Trusted(name) => (&rules::CAMEL_BLOCK_TRUSTED_ARGUMENT, vec![name]),
    };
    let positions = names.iter().filter_map(|name| proposal.tool.argument(name));
    let fields = positions.map(DecidingField::Argument);
    Ruling::new(ProposalVerdict::Block, rule.reason().with_fields(fields))
}

impl SavedState for Camel {}

impl Policy for Camel {
    fn hooks(&self) -> Hooks {
        Hooks::PROPOSAL
    }

    fn on_proposal(
        &mut self,
        view: &mut View<'_>,
        proposal: Proposal<'_>,
    ) -> Ruling<ProposalVerdict> {
        let setup = &*self.setup;
        if !proposal.tool.high_risk() {
            let reason = rules::CAMEL_ALLOW_NO_SIDE_EFFECT.reason();
            return Ruling::new(ProposalVerdict::Allow, reason);
        }
        let (planned, entry) = self.planned(view, &proposal);
        let ruling = if planned {
            let mut desk = Desk {
                view,
                strict: setup.strict,
                values: Values::default(),
                control: Vec::new(),
            };
            let arguments = desk.arguments(&proposal);
            if setup.control {
                desk.control(&proposal);
            }
            let control: Vec<ValueId> = desk.control.iter().map(|&(value, _)| value).collect();
            let engine = self.engine(view.briefing);
            let tool = &*proposal.tool.name;
            match engine.check(&desk.values, tool, true, &arguments, &control) {
                Ok(()) => {
                    let entry = entry.and_then(|entry| u32::try_from(entry).ok());
                    let reason = rules::CAMEL_ALLOW_POLICY.reason();
                    let reason = reason.with_evidence(entry.map(Evidence::LedgerEntry));
                    Ruling::new(ProposalVerdict::Allow, reason)
                }
                Err(refusal) => refused(refusal, &proposal, &desk),
            }
        } else {
            let reason = rules::CAMEL_BLOCK_OUTSIDE_PLAN.reason();
            let mut entries = view.briefing.ledger.entries.iter();
            let is_named = entries.any(|entry| entry.action == proposal.tool.name);
            let unnamed = (!is_named).then_some(Evidence::NoLedgerEntry);
            Ruling::new(ProposalVerdict::Block, reason.with_evidence(unnamed))
        };
        match setup.plan {
            Plan::None => ruling,
            Plan::Match | Plan::Action => Ruling::new(ruling.verdict, ruling.reason.assumed()),
        }
    }
}

#[cfg(test)]
mod tests;
