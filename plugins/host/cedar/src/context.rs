//! What a policy sees of a decision: the principal, the action, the resource and the context.

use std::collections::BTreeMap;

use cedar_policy::{Context, RestrictedExpression};
use plugins::facts::Counts;
use plugins::ids::PrincipalId;
use plugins::label::{Label, LabelId, Readers};
use plugins::policy::{Proposal, View};
use plugins::predicate::{expanding_fields, leaking_fields, matches, wrong_recipient};
use plugins::tool::{RiskClass, Role, ToolSpec, ValueKind};
use plugins::value::{Content, Value};

use crate::authority::{lists_action, lists_target, target_entry};
use crate::needs::Needs;

/// The attributes that say which arguments are tainted, by role.
pub(crate) const TAINTED_BY_ROLE: [(&str, Role); 8] = [
    ("tainted_recipients", Role::Recipient),
    ("tainted_documents", Role::Document),
    ("tainted_visibility", Role::Visibility),
    ("tainted_memory_keys", Role::MemoryKey),
    ("tainted_events", Role::Event),
    ("tainted_contacts", Role::Contact),
    ("tainted_scopes", Role::Scope),
    ("tainted_contents", Role::Content),
];

/// What content that enters a context, or a record, says and carries.
#[derive(Clone, Copy)]
pub(crate) struct Labelled<'a> {
    pub(crate) content: &'a Content,
    pub(crate) labels: &'a [LabelId],
    pub(crate) recorded: LabelId,
}

type Pairs = BTreeMap<String, RestrictedExpression>;

/// A record in the making, of which only what is looked at is made.
struct Group<'a> {
    needs: &'a Needs,
    name: &'static str,
    pairs: Pairs,
}

impl<'a> Group<'a> {
    const fn new(needs: &'a Needs, name: &'static str) -> Self {
        Self {
            needs,
            name,
            pairs: Pairs::new(),
        }
    }

    fn add(&mut self, part: &str, value: impl FnOnce() -> RestrictedExpression) {
        if self.needs.part(self.name, part) {
            self.pairs.insert(part.to_owned(), value());
        }
    }

    /// Adds what may be absent.
    fn add_if(&mut self, part: &str, value: impl FnOnce() -> Option<RestrictedExpression>) {
        if self.needs.part(self.name, part) {
            self.pairs
                .extend(value().map(|value| (part.to_owned(), value)));
        }
    }
}

/// The context of a call; `arguments` is the name of the record of arguments. None if Cedar refuses
/// to make it.
pub(crate) fn of_call(
    view: &View<'_>,
    proposal: &Proposal<'_>,
    needs: &Needs,
    arguments: &str,
) -> Option<Context> {
    let mut pairs = Pairs::new();
    if needs.group(arguments) {
        pairs.insert(arguments.to_owned(), record(self::arguments(proposal))?);
    }
    let mut top = |name: &str, value: Option<RestrictedExpression>| {
        pairs.extend(value.map(|value| (name.to_owned(), value)));
    };
    if needs.group("risk") {
        top("risk", Some(text(risk_word(proposal.tool.risk))));
    }
    top("high_risk", Some(truth(proposal.tool.high_risk())));
    top("read", Some(truth(proposal.tool.operation.is_read())));
    top("episode", Some(number(u64::from(view.episode))));
    if needs.group("target") {
        top("target", proposal.view().target().map(text));
    }
    if needs.group("labels") {
        top("labels", Some(record(call_labels(view, proposal, needs))?));
    }
    if needs.group("ledger") {
        top("ledger", Some(record(ledger(view, proposal, needs))?));
    }
    if needs.group("history") {
        top("history", Some(history(view, proposal, needs)?));
    }
    Context::from_pairs(pairs).ok()
}

/// The context of content at a message, an observation or a record.
pub(crate) fn of_content(
    view: &View<'_>,
    what: Labelled<'_>,
    from: Option<&str>,
    needs: &Needs,
) -> Option<Context> {
    let fields = &what.content.fields;
    let mut pairs = Pairs::new();
    let mut top = |name: &str, value: RestrictedExpression| {
        pairs.insert(name.to_owned(), value);
    };
    top("episode", number(u64::from(view.episode)));
    if let Some(from) = from {
        top("from", text(from));
    }
    if needs.group("fields") {
        top("fields", set(fields.iter().map(|field| &*field.name)));
    }
    if needs.group("text") {
        let values: Vec<&str> = fields.iter().map(|field| &*field.value).collect();
        top("text", text(&values.join("\n")));
    }
    if needs.group("labels") {
        top("labels", record(content_labels(view, what, needs))?);
    }
    Context::from_pairs(pairs).ok()
}

/// The risk as a word.
const fn risk_word(risk: RiskClass) -> &'static str {
    match risk {
        RiskClass::Low => "low",
        RiskClass::Write => "write",
        RiskClass::Outbound => "outbound",
    }
}

fn text(value: &str) -> RestrictedExpression {
    RestrictedExpression::new_string(value.to_owned())
}

fn truth(value: bool) -> RestrictedExpression {
    RestrictedExpression::new_bool(value)
}

fn number(value: u64) -> RestrictedExpression {
    RestrictedExpression::new_long(i64::try_from(value).unwrap_or(i64::MAX))
}

fn set<'a>(values: impl IntoIterator<Item = &'a str>) -> RestrictedExpression {
    RestrictedExpression::new_set(values.into_iter().map(text))
}

fn record(pairs: Pairs) -> Option<RestrictedExpression> {
    RestrictedExpression::new_record(pairs).ok()
}

/// The arguments by name. One that takes a list is a set, even if one text was given.
fn arguments(proposal: &Proposal<'_>) -> Pairs {
    let given = proposal.arguments.iter().map(|argument| {
        let spec = &proposal.tool.arguments[usize::from(argument.position)];
        let value = match &argument.value {
            Value::Text(one) if spec.kind == ValueKind::List => set([&**one]),
            Value::Text(one) => text(one),
            Value::List(many) => set(many.iter().map(|item| &**item)),
            Value::Integer(number) => RestrictedExpression::new_long(*number),
            Value::Boolean(holds) => truth(*holds),
        };
        (spec.name.to_string(), value)
    });
    given.collect()
}

/// The names of the arguments of which something holds.
fn names<'a>(
    proposal: &Proposal<'a>,
    holds: impl Fn(Role, LabelId) -> bool,
) -> RestrictedExpression {
    let tool: &'a ToolSpec = proposal.tool;
    let arguments = proposal.arguments.iter();
    let found = arguments.filter_map(|argument| {
        let spec = &tool.arguments[usize::from(argument.position)];
        holds(spec.role, argument.label).then_some(&*spec.name)
    });
    set(found)
}

fn call_labels(view: &View<'_>, proposal: &Proposal<'_>, needs: &Needs) -> Pairs {
    let untrusted = &view.briefing.untrusted;
    let mut group = Group::new(needs, "labels");
    group.add("tainted_fields", || {
        names(proposal, |_, label| view.tainted(label))
    });
    group.add("influenced_fields", || {
        names(proposal, |_, label| {
            view.labels.get(label).influenced_by(untrusted)
        })
    });
    group.add("tainted_authority", || {
        names(proposal, |role, label| {
            role.is_authority() && view.tainted(label)
        })
    });
    for (part, wanted) in TAINTED_BY_ROLE {
        group.add(part, || {
            names(proposal, |role, label| {
                role == wanted && view.tainted(label)
            })
        });
    }
    let labels = || proposal.arguments.iter().map(|argument| argument.label);
    provenance(view, &mut group, labels);
    recorded(view, &mut group, proposal.call.recorded);
    let choice = || view.labels.get(proposal.call.choice);
    group.add("choice_tainted", || truth(choice().carries(untrusted)));
    group.add("choice_influenced", || {
        truth(choice().influenced_by(untrusted))
    });
    group.pairs
}

fn content_labels(view: &View<'_>, what: Labelled<'_>, needs: &Needs) -> Pairs {
    let mut group = Group::new(needs, "labels");
    group.add("tainted_fields", || {
        let fields = what.content.fields.iter().zip(what.labels);
        let tainted = fields.filter(|(_, label)| view.tainted(**label));
        set(tainted.map(|(field, _)| &*field.name))
    });
    provenance(view, &mut group, || what.labels.iter().copied());
    recorded(view, &mut group, what.recorded);
    group.pairs
}

/// What holds of the join of some exact labels.
fn provenance<L: Iterator<Item = LabelId>>(
    view: &View<'_>,
    group: &mut Group<'_>,
    labels: impl Fn() -> L,
) {
    let untrusted = &view.briefing.untrusted;
    let joined = || {
        labels().fold(Label::bottom(), |joined, label| {
            joined.join(view.labels.get(label))
        })
    };
    let any = |holds: &dyn Fn(&Label) -> bool| labels().any(|label| holds(view.labels.get(label)));
    group.add("tainted", || truth(any(&|label| label.carries(untrusted))));
    group.add("influenced", || {
        truth(any(&|label| label.influenced_by(untrusted)))
    });
    group.add("sources", || sources(view, joined().sources.iter()));
    group.add("control", || sources(view, joined().control.iter()));
    group.add_if("readers", || match joined().readers {
        Readers::Everyone => None,
        Readers::Only(readers) => {
            let principals = readers.iter().map(PrincipalId);
            let names = principals.map(|reader| &*view.briefing.principals[reader.index()]);
            Some(set(names))
        }
    });
}

fn recorded(view: &View<'_>, group: &mut Group<'_>, recorded: LabelId) {
    group.add("recorded_tainted", || truth(view.tainted(recorded)));
    group.add("recorded_sources", || {
        sources(view, view.labels.get(recorded).sources.iter())
    });
}

fn sources(view: &View<'_>, ids: impl Iterator<Item = u32>) -> RestrictedExpression {
    set(ids.map(|source| &*view.briefing.sources[source as usize].name))
}

fn ledger(view: &View<'_>, proposal: &Proposal<'_>, needs: &Needs) -> Pairs {
    let briefing = view.briefing;
    let call = proposal.view();
    let matched = matches(call, &briefing.ledger);
    let by_position = |positions: Vec<u16>| {
        let names = positions.into_iter().map(usize::from);
        set(names.map(|position| &*call.tool.arguments[position].name))
    };
    let position = |entry: usize| number(entry as u64);
    let mut group = Group::new(needs, "ledger");
    group.add("matched", || truth(matched.is_some()));
    group.add_if("entry", || matched.map(position));
    group.add("action_listed", || {
        truth(lists_action(call, &briefing.ledger))
    });
    group.add("target_listed", || {
        truth(lists_target(call, &briefing.ledger))
    });
    let target_entry = || target_entry(call, &briefing.ledger);
    group.add("target_authorized", || truth(target_entry().is_some()));
    group.add_if("target_entry", || target_entry().map(position));
    group.add("expanding", || {
        by_position(matched.map_or_else(Vec::new, |entry| {
            let entry = &briefing.ledger.entries[entry];
            expanding_fields(call, entry, view.labels, &briefing.untrusted)
        }))
    });
    group.add("leaking", || {
        by_position(leaking_fields(call, briefing, view.labels))
    });
    group.add("wrong_recipient", || truth(wrong_recipient(call, briefing)));
    group.pairs
}

fn history(
    view: &View<'_>,
    proposal: &Proposal<'_>,
    needs: &Needs,
) -> Option<RestrictedExpression> {
    let mut pairs = Pairs::new();
    let mut add = |name: &str, counts: &dyn Fn() -> Counts| -> Option<()> {
        if needs.part("history", name) {
            pairs.insert(name.to_owned(), counted(counts())?);
        }
        Some(())
    };
    let prefix = view.prefix;
    add("total", &|| Counts::of(prefix, |_| true))?;
    add("tool", &|| {
        Counts::of(prefix, |call| call.tool == proposal.call.tool)
    })?;
    add("agent", &|| {
        Counts::of(prefix, |call| call.agent == proposal.call.agent)
    })?;
    add("high_risk", &|| Counts::of_high_risk(prefix, view.briefing))?;
    record(pairs)
}

fn counted(counts: Counts) -> Option<RestrictedExpression> {
    let pairs = [
        ("proposed", counts.proposed),
        ("committed", counts.committed),
        ("denied", counts.denied),
        ("asked", counts.asked),
        ("approved", counts.approved),
    ];
    let pairs = pairs.into_iter();
    record(
        pairs
            .map(|(name, count)| (name.to_owned(), number(count)))
            .collect(),
    )
}
