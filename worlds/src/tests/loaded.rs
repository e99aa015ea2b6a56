//! What a file says is what the scenario holds.

use plugins::briefing::Channel;
use plugins::ids::{AgentId, SourceId, StoreId, ToolId};
use plugins::label::{Label, Readers};
use plugins::ledger::Condition;
use plugins::tool::{Operation, RiskClass, Target, Undo};
use plugins::value::{Text, Value};

use super::codes::BASE;
use crate::spec::{Limits, MemoryMode, RecoveryOperation, Scenario};
use crate::{check, load};

fn loaded(text: &str) -> Scenario {
    let checked = check(text, "world.ron", "world");
    checked
        .scenario
        .unwrap_or_else(|| panic!("{:?}", miette::Report::new(checked.report)))
}

fn names(names: &[Text]) -> Vec<&str> {
    names.iter().map(AsRef::as_ref).collect()
}

fn readers(label: &Label, scenario: &Scenario) -> Vec<String> {
    match &label.readers {
        Readers::Everyone => vec!["everyone".to_owned()],
        Readers::Only(set) => set
            .iter()
            .map(|id| scenario.briefing.principals[id as usize].to_string())
            .collect(),
    }
}

#[test]
fn source_instances_are_declared_ones_then_records_then_goals() {
    let world = loaded(BASE);
    let instances: Vec<(&str, Channel)> = world
        .briefing
        .sources
        .iter()
        .map(|info| (&*info.name, info.channel))
        .collect();
    assert_eq!(
        instances,
        [
            ("note:partner", Channel::RetrievedDocument),
            ("doc:plan", Channel::RetrievedDocument),
            ("ping", Channel::InterAgentMessage),
            ("book/contact", Channel::PersistentMemory),
            ("shelf/a", Channel::PersistentMemory),
            ("goal", Channel::Goal),
            ("goal:2", Channel::Goal),
        ]
    );
    assert_eq!(world.briefing.untrusted, [0, 2].into_iter().collect());
    assert_eq!(world.stores[0].records[0].source, SourceId(3));
    assert_eq!(world.stores[2].records[0].source, SourceId(4));
    let goals: Vec<SourceId> = world.episodes.iter().map(|episode| episode.goal).collect();
    assert_eq!(goals, [SourceId(5), SourceId(6)]);
    assert_eq!(&*world.sources[6].content.fields[0].name, "text");
    assert_eq!(
        names(&world.briefing.goals),
        ["Invite the partner.", "Say who was invited."]
    );
}

#[test]
fn a_label_is_the_source_narrowed_to_those_who_may_read() {
    let world = loaded(BASE);
    let plan = SourceId(1);
    let title = &world.sources[1].labels[0];
    let code = &world.sources[1].labels[1];
    assert_eq!(title.sources, Label::of_source(plan).sources);
    assert_eq!(readers(title, &world), ["user@corp.local"]);
    // Nobody may read both what only the user and what only the boss may read.
    assert!(readers(code, &world).is_empty());
    let whole = &world.briefing.sources[1].label;
    assert_eq!(*whole, title.join(code));
    assert_eq!(readers(&world.sources[0].labels[0], &world), ["everyone"]);
    assert_eq!(world.sources[0].slots, [1]);
}

#[test]
fn fields_keep_the_order_of_the_file() {
    let world = loaded(&BASE.replace(
        "{\"text\": \"Hello.\"}",
        "{\"z\": \"1\", \"a\": \"2\", \"m\": \"3\"}",
    ));
    let fields: Vec<&str> = world.sources[2]
        .content
        .fields
        .iter()
        .map(|field| &*field.name)
        .collect();
    assert_eq!(fields, ["z", "a", "m"]);
}

#[test]
fn principals_are_those_mentioned_where_readers_stand() {
    let world = loaded(&BASE.replace(
        "    ledger:",
        "    principals: [\"clerk@corp.local\"],\n    ledger:",
    ));
    assert_eq!(
        names(&world.briefing.principals),
        [
            "clerk@corp.local",
            "partner@trusted.local",
            "team@corp.local",
            "user@corp.local",
            "boss@corp.local",
        ]
    );
    // An address in content is not somebody who is known.
    let text = BASE.replace("See you on Tuesday.", "Write to outsider@external.local.");
    assert!(
        loaded(&text)
            .briefing
            .principal_named("outsider@external.local")
            .is_none()
    );
}

#[test]
fn tools_have_their_usual_risk_and_target() {
    let world = loaded(BASE);
    let tool = |name: &str| {
        let id = world.briefing.tool_named(name).unwrap();
        &world.briefing.tools[id.index()]
    };
    let read = tool("read_note");
    assert_eq!(
        (read.risk, &read.target),
        (RiskClass::Low, &Target::Argument(0))
    );
    let keep = tool("keep");
    assert_eq!(keep.operation, Operation::MemoryWrite(StoreId(0)));
    assert_eq!(
        (keep.risk, &keep.target),
        (RiskClass::Write, &Target::Argument(0))
    );
    assert_eq!(keep.sink, None);
    let post = tool("post");
    assert_eq!(post.target, Target::Fixed("team_board".into()));
    assert_eq!(
        post.undo,
        Undo::Inverse(world.briefing.tool_named("unpost").unwrap())
    );
    let invite = tool("send_invite");
    assert!(invite.irrevocable_email && invite.latency_ticks == 1);
    assert_eq!(
        world.briefing.agents[1].tools,
        [ToolId(1), ToolId(2), ToolId(5)],
        "ascending, whatever the order in the file"
    );
}

#[test]
fn a_condition_has_the_canonical_name_of_its_argument() {
    let text = BASE.replace(
        "{\"seats\": OneOf([1, 2])}",
        "{\"to\": Equals([\"partner@trusted.local\"]), \"seats\": Absent}",
    );
    let world = loaded(&text);
    let conditions = &world.briefing.ledger.entries[0].conditions;
    let partner = Value::List(vec!["partner@trusted.local".into()]);
    assert_eq!(
        *conditions,
        [
            ("recipient".into(), Condition::Equals(partner)),
            ("seats".into(), Condition::Absent),
        ]
    );
}

#[test]
fn memory_recovery_and_limits_are_as_written() {
    let world = loaded(BASE);
    let book = &world.stores[0];
    assert_eq!(
        (book.mode, &book.persists),
        (MemoryMode::Persistent, &vec![(AgentId(0), 2)])
    );
    let step = &world.recovery[1];
    assert_eq!((step.episode, step.after_ticks), (1, 60));
    assert!(matches!(&step.operation, RecoveryOperation::Restore(scope)
        if scope.store == StoreId(2) && scope.keys.is_empty()));
    assert_eq!(
        world.recovery[2].operation,
        RecoveryOperation::Revoke(SourceId(0))
    );
    assert_eq!(
        world.limits,
        Limits {
            turns: 20,
            ..Limits::default()
        }
    );
    let objective = &world.success.recovery;
    assert_eq!(objective.at_initial_value, [(StoreId(2), "a".into())]);
}

#[test]
fn identity_is_the_name_of_the_file_unless_the_file_says() {
    let world = load(BASE, "x/base.ron", "base").unwrap();
    assert_eq!((&*world.identity, &*world.family), ("base", "base"));
    let text = BASE.replace("    topology:", "    family: \"invites\",\n    topology:");
    let world = load(&text, "x/base.ron", "base").unwrap();
    assert_eq!((&*world.identity, &*world.family), ("base", "invites"));
    let text = text.replace("    topology:", "    variant: \"late\",\n    topology:");
    let world = load(&text, "x/base.ron", "base").unwrap();
    assert_eq!(
        (&*world.identity, &*world.family),
        ("invites/late", "invites")
    );
}

#[test]
fn the_topology_is_custom_where_several_agents_have_no_name_for_it() {
    assert_eq!(&*loaded(BASE).topology, "peer_chain");
    let unnamed = BASE.replace("    topology: \"peer_chain\",\n", "");
    assert_eq!(&*loaded(&unnamed).topology, "custom");
    let alone = "World(schema: 1, stage: Clean, domain: Email, agents: [(name: \"a\")], \
                 episodes: [(goal: \"b\")])";
    assert_eq!(&*loaded(alone).topology, "single");
}

#[test]
fn the_hash_is_that_of_what_is_said_and_not_of_how() {
    let hash = loaded(BASE).content_hash;
    let spaced = BASE.replace(", ", ",\n      /* and */ ");
    assert_eq!(loaded(&spaced).content_hash, hash);
    assert_eq!(load(BASE, "other.ron", "other").unwrap().content_hash, hash);
    let spelled_out = BASE
        .replace(
            "does: ReadSource,",
            "does: ReadSource, risk: Low, target: Argument(\"note\"),",
        )
        .replace("(turns: 20)", "(turns: 20, queue: 1000)");
    assert_eq!(loaded(&spelled_out).content_hash, hash);
    for (from, to) in [
        ("Hello.", "Hello!"),
        ("after_ticks: 50", "after_ticks: 51"),
        ("latency_ticks: 2", "latency_ticks: 3"),
        ("backup: true, fields: {\"phone\"", "fields: {\"phone\""),
        ("OneOf([1, 2])", "OneOf([1])"),
        ("turns: 20", "turns: 21"),
        ("topology: \"peer_chain\"", "topology: \"chain\""),
    ] {
        assert_ne!(loaded(&BASE.replace(from, to)).content_hash, hash, "{to}");
    }
}
