//! What a reason names: the fields that decided, and the evidence.

use plugins::ids::SourceId;
use plugins::label::LabelId;
use plugins::policy::{DecidingField, Evidence, Proposal, View};
use plugins::predicate::{expanding_fields, leaking_fields, matches};
use plugins::tool::Role;

use crate::authority::{Scope, nearest, target_entry};
use crate::clause::Clause;
use crate::words::{Fields, Ground};

/// What a decision is about, as far as a reason can name it.
#[derive(Clone, Copy)]
pub(crate) enum About<'a> {
    /// A call.
    Call(&'a Proposal<'a>),
    /// Content or a record with this recorded label.
    Content(LabelId),
}

impl About<'_> {
    /// The fields and the evidence that a policy asks for.
    pub(crate) fn named(
        self,
        view: &View<'_>,
        clause: &Clause,
    ) -> (Vec<DecidingField>, Vec<Evidence>) {
        let fields = match (self, clause.fields) {
            (Self::Call(proposal), Some(asked)) => fields(view, proposal, asked),
            _ => Vec::new(),
        };
        let grounds = clause.grounds.iter();
        let evidence = grounds.flat_map(|ground| self.evidence(view, *ground, &fields));
        let evidence = evidence.collect();
        (fields, evidence)
    }

    fn evidence(self, view: &View<'_>, ground: Ground, fields: &[DecidingField]) -> Vec<Evidence> {
        let proposal = match (self, ground) {
            (Self::Call(proposal), _) => proposal,
            (Self::Content(recorded), Ground::Sources) => return untrusted(view, [recorded]),
            (Self::Content(_), _) => return Vec::new(),
        };
        let call = proposal.view();
        let ledger = &view.briefing.ledger;
        match ground {
            Ground::LedgerEntry => entry(matches(call, ledger)),
            Ground::TargetEntry => entry(target_entry(call, ledger)),
            Ground::NearestEntry | Ground::NearestTargetEntry => {
                let scope = match ground {
                    Ground::NearestEntry => Scope::Everything,
                    _ => Scope::Targets,
                };
                let nearest = nearest(call, ledger, scope);
                let named = nearest.map(|(position, _)| Evidence::LedgerEntry(position));
                vec![named.unwrap_or(Evidence::NoLedgerEntry)]
            }
            Ground::Sources if fields.is_empty() => untrusted(view, [proposal.call.recorded]),
            Ground::Sources => {
                let arguments = proposal.arguments.iter();
                let named = arguments.filter(|argument| {
                    fields.contains(&DecidingField::Argument(argument.position))
                });
                untrusted(view, named.map(|argument| argument.label))
            }
            Ground::Proposal => proposal.node.map(Evidence::Node).into_iter().collect(),
        }
    }
}

fn entry(position: Option<usize>) -> Vec<Evidence> {
    let position = position.and_then(|position| u32::try_from(position).ok());
    position.map(Evidence::LedgerEntry).into_iter().collect()
}

fn fields(view: &View<'_>, proposal: &Proposal<'_>, asked: Fields) -> Vec<DecidingField> {
    let call = proposal.view();
    let briefing = view.briefing;
    let positions = match asked {
        Fields::Refused | Fields::TargetRefused => {
            let scope = match asked {
                Fields::Refused => Scope::Everything,
                _ => Scope::Targets,
            };
            let nearest = nearest(call, &briefing.ledger, scope);
            return nearest.map_or_else(|| vec![DecidingField::Action], |(_, fields)| fields);
        }
        Fields::Leaking => leaking_fields(call, briefing, view.labels),
        Fields::Expanding => match matches(call, &briefing.ledger) {
            Some(entry) => {
                let entry = &briefing.ledger.entries[entry];
                expanding_fields(call, entry, view.labels, &briefing.untrusted)
            }
            None => Vec::new(),
        },
        Fields::TaintedAuthority => tainted(view, proposal, Role::is_authority),
        Fields::TaintedRecipients => tainted(view, proposal, |role| role == Role::Recipient),
    };
    positions.into_iter().map(DecidingField::Argument).collect()
}

/// The positions of the tainted arguments of some roles.
fn tainted(view: &View<'_>, proposal: &Proposal<'_>, counts: impl Fn(Role) -> bool) -> Vec<u16> {
    let specs = &proposal.tool.arguments;
    let arguments = proposal.arguments.iter();
    arguments
        .filter(|argument| counts(specs[usize::from(argument.position)].role))
        .filter(|argument| view.tainted(argument.label))
        .map(|argument| argument.position)
        .collect()
}

/// The untrusted sources of some labels, each once.
fn untrusted(view: &View<'_>, labels: impl IntoIterator<Item = LabelId>) -> Vec<Evidence> {
    let mut found = Vec::new();
    for label in labels {
        for source in view.labels.get(label).sources.iter() {
            let evidence = Evidence::Source(SourceId(source));
            if view.briefing.untrusted.contains(source) && !found.contains(&evidence) {
                found.push(evidence);
            }
        }
    }
    found
}
