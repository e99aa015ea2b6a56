//! Whether a predicate holds at a moment.
//!
//! What a moment does not have is unknown, and so is a test that the value is of no kind for. That
//! an argument was not given is known.

use plugins::action::Argument;
use plugins::ids::AgentId;
use plugins::label::{IndexSet, LabelId, Readers};
use plugins::predicate::{expanding_fields, leaking_fields, wrong_recipient};
use plugins::tool::{Role, Target};
use plugins::trace::Happening;
use plugins::value::{Text, Value};

use crate::history::count;
use crate::logic::Truth;
use crate::predicate::{Names, OperationKind, Predicate, Test, Which, is_named};
use crate::scene::{Scene, Sender, is_untrusted};

/// Whether all of `predicates` hold.
pub(crate) fn all(predicates: &[Predicate], scene: &Scene<'_>) -> Truth {
    Truth::all(predicates.iter().map(|predicate| truth(predicate, scene)))
}

/// Whether `predicate` holds.
pub(crate) fn truth(predicate: &Predicate, scene: &Scene<'_>) -> Truth {
    match predicate {
        Predicate::Always => Truth::True,
        Predicate::All(each) => all(each, scene),
        Predicate::Any(each) => Truth::any(each.iter().map(|one| truth(one, scene))),
        Predicate::Not(inner) => truth(inner, scene).not(),
        Predicate::Agent(names) => {
            Truth::given(scene.agent.map(|agent| is_agent(names, agent, scene)))
        }
        Predicate::Recorded(test) => label_truth(test, scene.recorded, scene),
        Predicate::Field { name, is } => field_truth(name.as_ref(), is, scene),
        Predicate::Sender(names) => match scene.sender {
            Sender::NoInflow => Truth::Unknown,
            Sender::Nobody => Truth::False,
            Sender::Agent(agent) => Truth::of(is_agent(names, agent, scene)),
        },
        Predicate::NoSender => match scene.sender {
            Sender::NoInflow => Truth::Unknown,
            sender => Truth::of(matches!(sender, Sender::Nobody)),
        },
        Predicate::Count {
            what,
            of,
            within,
            is,
        } => match count(*what, of, *within, is.bound(), scene) {
            Some(number) => Truth::of(is.holds_of(number)),
            None => Truth::Unknown,
        },
        Predicate::Episode(is) => Truth::of(is.holds(i64::from(scene.episode))),
        Predicate::Tick(is) => Truth::of(is.holds_of(scene.tick)),
        Predicate::UntrustedContext => {
            let mut segments = scene.segments.iter();
            Truth::of(segments.any(|segment| is_untrusted(segment, scene.briefing)))
        }
        Predicate::Store(_) | Predicate::Key(_) | Predicate::Age(_) | Predicate::Initial => {
            Truth::given(memory_truth(predicate, scene))
        }
        Predicate::Step(_) | Predicate::Revoked(_) | Predicate::AnyRecord(_) => {
            recovery_truth(predicate, scene)
        }
        Predicate::Tool(_)
        | Predicate::Risk(_)
        | Predicate::HighRisk
        | Predicate::Reads
        | Predicate::Operation(_) => Truth::given(tool_truth(predicate, scene)),
        _ => call_truth(predicate, scene),
    }
}

fn is_agent(names: &Names, agent: AgentId, scene: &Scene<'_>) -> bool {
    let info = scene.briefing.agents.get(agent.index());
    info.is_some_and(|info| is_named(names, &info.name))
}

/// Statements about the tool alone; none without one.
fn tool_truth(predicate: &Predicate, scene: &Scene<'_>) -> Option<bool> {
    let tool = scene.tool?;
    match predicate {
        Predicate::Tool(names) => Some(is_named(names, &tool.name)),
        Predicate::Risk(risks) => Some(risks.contains(&tool.risk)),
        Predicate::HighRisk => Some(tool.high_risk()),
        Predicate::Reads => Some(tool.operation.is_read()),
        Predicate::Operation(kinds) => Some(kinds.contains(&OperationKind::of(tool.operation))),
        _ => None,
    }
}

/// Statements about a call and the ledger; unknown without a call.
fn call_truth(predicate: &Predicate, scene: &Scene<'_>) -> Truth {
    let (Some(tool), Some((call, given)), Some(view)) = (scene.tool, scene.call, scene.view())
    else {
        return Truth::Unknown;
    };
    let ledger = &scene.briefing.ledger;
    match predicate {
        Predicate::Argument { which, every, is } => argument_truth(which, *every, is, given, scene),
        Predicate::Target(test) => target_truth(test, scene),
        Predicate::Choice(test) => label_truth(test, Some(call.choice), scene),
        Predicate::LedgerMatch => Truth::of(scene.entry().is_some()),
        Predicate::LedgerEntry(wanted) => {
            Truth::of(scene.entry().is_some_and(|entry| entry as u64 == *wanted))
        }
        Predicate::LedgerNamesTool => {
            Truth::of(ledger.entries.iter().any(|entry| entry.action == tool.name))
        }
        Predicate::LedgerNames(name) => {
            let Some(position) = tool.argument(name) else {
                return Truth::Unknown;
            };
            let is_target = matches!(tool.target, Target::Argument(target) if target == position);
            Truth::of(scene.entry().is_some_and(|entry| {
                let mut conditions = ledger.entries[entry].conditions.iter();
                is_target || conditions.any(|(name, _)| tool.argument(name) == Some(position))
            }))
        }
        Predicate::Expanding => Truth::of(!expanding(scene).is_empty()),
        Predicate::Leaking => {
            Truth::of(!leaking_fields(view, scene.briefing, scene.labels).is_empty())
        }
        Predicate::WrongRecipient => Truth::of(wrong_recipient(view, scene.briefing)),
        _ => Truth::Unknown,
    }
}

/// The positions through which the call expands what the user authorised; none without an entry.
fn expanding(scene: &Scene<'_>) -> Vec<u16> {
    let (Some(view), Some(entry)) = (scene.view(), scene.entry()) else {
        return Vec::new();
    };
    let entry = &scene.briefing.ledger.entries[entry];
    expanding_fields(view, entry, scene.labels, &scene.briefing.untrusted)
}

fn argument_truth(
    which: &Which,
    every: bool,
    is: &Test,
    given: &[Argument],
    scene: &Scene<'_>,
) -> Truth {
    let Some(tool) = scene.tool else {
        return Truth::Unknown;
    };
    let position = match which {
        Which::Named(name) => match tool.argument(name) {
            Some(position) => Some(position),
            None => return Truth::Unknown,
        },
        Which::OfRole(_) | Which::Every => None,
    };
    let has_role = |roles: &[Role], position: u16| {
        let spec = tool.arguments.get(usize::from(position));
        spec.is_some_and(|spec| roles.contains(&spec.role))
    };
    let mut meant = given.iter().filter(|argument| match which {
        Which::Named(_) => Some(argument.position) == position,
        Which::OfRole(roles) => has_role(roles, argument.position),
        Which::Every => true,
    });
    let Some(first) = meant.next() else {
        return test_truth(is, &Thing::ABSENT, scene);
    };
    let truths = std::iter::once(first)
        .chain(meant)
        .map(|argument| test_truth(is, &Thing::of_argument(argument), scene));
    if every {
        Truth::all(truths)
    } else {
        Truth::any(truths)
    }
}

/// That a target argument was not given is known; which of several is the target is not.
fn target_truth(test: &Test, scene: &Scene<'_>) -> Truth {
    let (Some(tool), Some(view)) = (scene.tool, scene.view()) else {
        return Truth::Unknown;
    };
    let thing = match (view.target(), &tool.target) {
        (Some(target), _) => Thing::of_text(target, None),
        (None, Target::Argument(position)) if view.value(*position).is_none() => Thing::ABSENT,
        (None, _) => return Truth::Unknown,
    };
    test_truth(test, &thing, scene)
}

fn label_truth(test: &Test, label: Option<LabelId>, scene: &Scene<'_>) -> Truth {
    let thing = Thing {
        seen: Seen::Nothing,
        label,
        position: None,
    };
    test_truth(test, &thing, scene)
}

/// A field by name, or any field. Contents have no schema, so a field that is not there is unknown.
fn field_truth(name: Option<&Text>, is: &Test, scene: &Scene<'_>) -> Truth {
    let Some((content, labels)) = scene.content else {
        return Truth::Unknown;
    };
    let thing = |position: usize, value: &'_ Text| -> Truth {
        let thing = Thing::of_text(value, labels.get(position).copied());
        test_truth(is, &thing, scene)
    };
    match name {
        Some(name) => content
            .field(name)
            .map_or(Truth::Unknown, |(position, value)| thing(position, value)),
        None if content.fields.is_empty() => test_truth(is, &Thing::ABSENT, scene),
        None => {
            let fields = content.fields.iter().enumerate();
            Truth::any(fields.map(|(position, field)| thing(position, &field.value)))
        }
    }
}

fn memory_truth(predicate: &Predicate, scene: &Scene<'_>) -> Option<bool> {
    let record = scene.record?;
    // The episode in which the rollout stored it; none for a record from before.
    let stored_in = || {
        let mut events = scene.prefix.events.iter();
        events.find_map(|event| match event.what {
            Happening::Stored { record: id, .. } if id == record.id => Some(event.episode),
            _ => None,
        })
    };
    match predicate {
        Predicate::Store(stores) => Some(stores.contains(&u64::from(record.store.0))),
        Predicate::Key(test) => match test_truth(test, &Thing::of_text(record.key, None), scene) {
            Truth::Unknown => None,
            truth => Some(truth == Truth::True),
        },
        Predicate::Age(is) if record.is_new => Some(is.holds(0)),
        Predicate::Age(is) => {
            let age = scene.episode.saturating_sub(stored_in()?);
            Some(is.holds(i64::from(age)))
        }
        Predicate::Initial => Some(!record.is_new && stored_in().is_none()),
        _ => None,
    }
}

fn recovery_truth(predicate: &Predicate, scene: &Scene<'_>) -> Truth {
    let Some(notice) = scene.notice else {
        return Truth::Unknown;
    };
    match predicate {
        Predicate::Step(kinds) => Truth::of(kinds.contains(&notice.kind)),
        Predicate::Revoked(names) => Truth::of(notice.revoked.is_some_and(|source| {
            let info = scene.briefing.sources.get(source.index());
            info.is_some_and(|info| is_named(names, &info.name))
        })),
        Predicate::AnyRecord(test) => {
            let records = notice.records.iter();
            Truth::any(records.map(|record| label_truth(test, Some(record.recorded), scene)))
        }
        _ => Truth::Unknown,
    }
}

/// What a test looks at.
struct Thing<'a> {
    seen: Seen<'a>,
    label: Option<LabelId>,
    /// Of an argument.
    position: Option<u16>,
}

/// The value of a thing.
enum Seen<'a> {
    /// An argument that was not given.
    Absent,
    Value(&'a Value),
    Text(&'a str),
    /// A label alone.
    Nothing,
}

impl<'a> Thing<'a> {
    const ABSENT: Self = Self {
        seen: Seen::Absent,
        label: None,
        position: None,
    };

    fn of_argument(argument: &'a Argument) -> Self {
        Self {
            seen: Seen::Value(&argument.value),
            label: Some(argument.label),
            position: Some(argument.position),
        }
    }

    fn of_text(text: &'a str, label: Option<LabelId>) -> Self {
        Self {
            seen: Seen::Text(text),
            label,
            position: None,
        }
    }

    /// Whether one of the texts is as `is` says: of a text itself, of a list one of its members.
    fn some(&self, is: impl Fn(&str) -> bool) -> Truth {
        match self.seen {
            Seen::Absent => Truth::False,
            Seen::Text(text) => Truth::of(is(text)),
            Seen::Value(value @ (Value::Text(_) | Value::List(_))) => {
                Truth::of(value.strings().any(is))
            }
            Seen::Value(_) | Seen::Nothing => Truth::Unknown,
        }
    }

    fn equals(&self, wanted: &Value) -> bool {
        match (&self.seen, wanted) {
            (Seen::Text(text), Value::Text(wanted)) => **wanted == **text,
            (Seen::Value(Value::List(items)), Value::Text(wanted)) => items.contains(wanted),
            (Seen::Value(value), wanted) => *value == wanted,
            _ => false,
        }
    }

    /// Whether what is known of its label is so; what is absent comes from nowhere.
    fn labelled(&self, is: impl Fn(LabelId) -> bool) -> Truth {
        match (self.label, &self.seen) {
            (Some(label), _) => Truth::of(is(label)),
            (None, Seen::Absent) => Truth::False,
            (None, _) => Truth::Unknown,
        }
    }
}

fn test_truth(test: &Test, thing: &Thing<'_>, scene: &Scene<'_>) -> Truth {
    match test {
        Test::All(each) => Truth::all(each.iter().map(|one| test_truth(one, thing, scene))),
        Test::Any(each) => Truth::any(each.iter().map(|one| test_truth(one, thing, scene))),
        Test::Not(inner) => test_truth(inner, thing, scene).not(),
        Test::Given | Test::Absent => match thing.seen {
            Seen::Nothing => Truth::Unknown,
            Seen::Absent => Truth::of(*test == Test::Absent),
            _ => Truth::of(*test == Test::Given),
        },
        Test::OneOf(wanted) => match thing.seen {
            Seen::Nothing => Truth::Unknown,
            _ => Truth::of(wanted.iter().any(|one| thing.equals(one))),
        },
        Test::Every(inner) => every_truth(inner, thing, scene),
        Test::Outside(known) => thing.some(|text| !is_named(known, text)),
        Test::Contains(part) => thing.some(|text| text.contains(&**part)),
        Test::StartsWith(part) => thing.some(|text| text.starts_with(&**part)),
        Test::EndsWith(part) => thing.some(|text| text.ends_with(&**part)),
        Test::LongerThan(letters) => thing.some(|text| is_longer(text, *letters)),
        Test::Texts(is) => match thing.seen {
            Seen::Absent => Truth::of(is.holds(0)),
            Seen::Text(_) => Truth::of(is.holds(1)),
            Seen::Value(value @ (Value::Text(_) | Value::List(_))) => {
                Truth::of(is.holds_of(value.strings().count() as u64))
            }
            _ => Truth::Unknown,
        },
        Test::Number(is) => match thing.seen {
            Seen::Absent => Truth::False,
            Seen::Value(Value::Integer(number)) => Truth::of(is.holds(*number)),
            _ => Truth::Unknown,
        },
        Test::Expands => position_truth(thing, || expanding(scene)),
        Test::Leaks => position_truth(thing, || {
            scene.view().map_or_else(Vec::new, |view| {
                leaking_fields(view, scene.briefing, scene.labels)
            })
        }),
        _ => thing.labelled(|label| label_holds(test, label, scene)),
    }
}

/// Whether each text is so: each member of a list, or the value itself. Of nothing, all is true.
fn every_truth(inner: &Test, thing: &Thing<'_>, scene: &Scene<'_>) -> Truth {
    match thing.seen {
        Seen::Absent => Truth::True,
        Seen::Value(Value::List(items)) => Truth::all(items.iter().map(|item| {
            let item = Thing {
                seen: Seen::Text(item),
                ..*thing
            };
            test_truth(inner, &item, scene)
        })),
        _ => test_truth(inner, thing, scene),
    }
}

/// Counts letters, and no more of them than needed.
fn is_longer(text: &str, letters: u64) -> bool {
    text.len() as u64 > letters
        && usize::try_from(letters).is_ok_and(|letters| text.chars().nth(letters).is_some())
}

fn position_truth(thing: &Thing<'_>, positions: impl Fn() -> Vec<u16>) -> Truth {
    match (thing.position, &thing.seen) {
        (Some(position), _) => Truth::of(positions().contains(&position)),
        (None, Seen::Absent) => Truth::False,
        (None, _) => Truth::Unknown,
    }
}

fn label_holds(test: &Test, label: LabelId, scene: &Scene<'_>) -> bool {
    let (label, briefing) = (scene.label(label), scene.briefing);
    let has_source = |set: &IndexSet, names: &Names| {
        set.iter().any(|source| {
            let info = briefing.sources.get(source as usize);
            info.is_some_and(|info| is_named(names, &info.name))
        })
    };
    match test {
        Test::Tainted => label.carries(&briefing.untrusted),
        Test::Influenced => label.influenced_by(&briefing.untrusted),
        Test::From(names) => has_source(&label.sources, names),
        Test::InfluencedBy(names) => {
            has_source(&label.sources, names) || has_source(&label.control, names)
        }
        Test::ReadableBy(names) => match &label.readers {
            Readers::Everyone => true,
            Readers::Only(readers) => names.iter().all(|name| {
                let principal = briefing.principal_named(name);
                principal.is_some_and(|principal| readers.contains(principal.0))
            }),
        },
        Test::Public => label.readers == Readers::Everyone,
        _ => false,
    }
}
