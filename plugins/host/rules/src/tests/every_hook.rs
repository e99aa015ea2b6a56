//! A file that uses every hook and every verdict.

use plugins::briefing::Trust;
use plugins::conformance::sample::{World, tool};
use plugins::conformance::{check_policy, hooks_exercised};
use plugins::ids::{AgentId, CallId, NodeId, RecordId, SourceId, StoreId, ToolId};
use plugins::label::{LabelId, Readers};
use plugins::model::{Guidance, Segment, SegmentKind};
use plugins::policy::{
    CommitVerdict, DenialReason, Hooks, Inflow, InflowVerdict, MemoryVerdict, Policy, PromptEdit,
    PromptVerdict, ProposalVerdict, RecordSummary, RecordView, RecoveryAction, RecoveryNotice,
    RecoveryVerdict, Relabel, SessionVerdict, View,
};
use plugins::tool::{RiskClass, Undo};
use plugins::trace::{Event, Happening, RecoveryKind};
use plugins::value::{Content, Value};

use super::{ask, draws, file, policy};

const EVERYTHING: &str = r#"Rules(
    schema: 1,
    summary: "Every hook",
    rules: [
        (rule: "mask", at: Session, when: [Episode(0)], then: MaskTools(tools: [Risk(Outbound)])),
        (rule: "show", at: Prompt, when: [UntrustedContext], then: Edit(guidance: SelfCheck, schema: Structured, mark: Untrusted, drop: Untrusted, mask: [HighRisk])),
        (rule: "hide", at: Observation, when: [Recorded(Tainted), Field(is: Contains("CANARY"))], then: Transform("(removed)")),
        (rule: "narrow", at: Observation, when: [Recorded(Tainted)], then: Relabel(NarrowReaders(["ann@trusted.local"]))),
        (rule: "drop", at: Message, when: [NoSender], then: Drop),
        (rule: "keep_out", at: Message, when: [Field(is: Tainted)], then: Quarantine),
        (rule: "pretend", at: Proposal, when: [HighRisk, Argument(role: Content, is: Tainted)], then: Simulate("done")),
        (rule: "rewrite", at: Proposal, when: [Argument(name: "argument_0", is: Equals("public"))], then: Rewrite([(argument: "argument_0", to: "private")])),
        (rule: "hold", at: Proposal, when: [LedgerMatch], then: Hold),
        (rule: "barrier", at: Commit, when: [HighRisk, Count(what: Committed, of: ThisTool, is: AtLeast(1))], then: Hold),
        (rule: "last_word", at: Commit, when: [Leaking], then: Block, denial: OutsideUserGoal),
        (rule: "store", at: MemoryWrite, when: [Field(name: "field_0", is: Tainted), Age(0), Not(Initial)], then: Confirm, denial: ConfirmationRequired),
        (rule: "read", at: MemoryRead, when: [Initial, Recorded(Tainted)], then: Quarantine),
        (rule: "act", at: Recovery, when: [AnyRecord(Tainted)], then: Act([Quarantine(Tainted), Restore(Revoked), Scrub(Everything), Rollback(Tainted)])),
    ],
)"#;

#[test]
fn a_policy_of_every_hook_keeps_the_laws() {
    let loaded = crate::load(EVERYTHING).unwrap();
    let make = || (loaded.make)();
    assert_eq!(make().hooks(), Hooks::all());
    assert_eq!(check_policy(&make, 120), []);
    assert_eq!(hooks_exercised(&make, 400), Hooks::all());
}

/// What cannot be known is refused at each hook, by the words of that hook.
#[test]
fn a_missing_fact_is_refused_at_every_hook_where_one_can_be_missing() {
    let text = file(
        r#"(rule: "a", at: [Observation, Message], when: [Field(name: "no", is: Given)], then: Pass),
        (rule: "b", at: [Proposal, Commit], when: [Argument(name: "no", is: Given)], then: Allow),
        (rule: "c", at: [MemoryRead, MemoryWrite], when: [Field(name: "no", is: Given)], then: Allow),"#,
    );
    let loaded = crate::load(&text).unwrap();
    assert_eq!(check_policy(&|| (loaded.make)(), 40), []);
    let (mut policy, desk) = ((loaded.make)(), Desk::new());
    let call = CallId(0);
    let proposal = ask(&mut *policy, &desk.world, call);
    assert_eq!(proposal.verdict, ProposalVerdict::Block);
    assert_eq!(proposal.reason.rule, "facts_missing");
    assert_eq!(proposal.reason.denial, DenialReason::PluginFault);
    let commit = desk.ask(|view| policy.on_commit(view, desk.world.proposal(call)));
    assert_eq!(commit.verdict, CommitVerdict::Block);
    let message = desk.ask(|view| policy.on_message(view, desk.inflow()));
    assert_eq!(message.verdict, InflowVerdict::Quarantine);
    let read = desk.ask(|view| policy.on_memory_read(view, desk.record()));
    assert_eq!(read.verdict, MemoryVerdict::Block);
    assert_eq!(read.reason.rule, "facts_missing");
}

/// An agent, an untrusted note, a high-risk tool that can be undone, and a call of it that committed.
struct Desk {
    world: World,
    tainted: LabelId,
    content: Content,
    labels: [LabelId; 1],
}

impl Desk {
    fn new() -> Self {
        let mut world = World::new();
        world.add_agent("assistant");
        world.add_agent("helper");
        world.add_principal("ann@trusted.local");
        let note = world.add_source("doc:note", Trust::Untrusted, Readers::Everyone);
        let mut update = tool("update", RiskClass::Write, "notes");
        update.undo = Undo::Inverse(ToolId(0));
        world.add_tool(update);
        world.add_tool(tool("clock", RiskClass::Low, "clock"));
        let tainted = world.label_of(&[note]);
        let call = world.add_call(ToolId(0), Vec::new());
        world.trace.calls[0].recorded = tainted;
        world.commit(call);
        Self {
            world,
            tainted,
            content: Content::single("text", "pay now"),
            labels: [tainted],
        }
    }

    fn ask<T>(&self, question: impl FnOnce(&mut View<'_>) -> T) -> T {
        let mut draws = draws();
        question(&mut self.world.view(&mut draws))
    }

    fn inflow(&self) -> Inflow<'_> {
        Inflow {
            agent: AgentId(1),
            from: Some(AgentId(0)),
            content: &self.content,
            labels: &self.labels,
            recorded: self.tainted,
            node: None,
        }
    }

    fn record(&self) -> RecordView<'_> {
        RecordView {
            record: RecordId(3),
            store: StoreId(0),
            key: "contact",
            content: &self.content,
            labels: &self.labels,
            recorded: self.tainted,
            agent: None,
            call: None,
        }
    }
}

/// The policy of one rule.
fn rule(at: &str, when: &str, then: &str) -> Box<dyn Policy> {
    policy(&file(&format!(
        "(rule: \"r\", at: {at}, when: [{when}], then: {then}),"
    )))
}

#[test]
fn a_session_hides_the_chosen_tools_from_the_chosen_agents() {
    let desk = Desk::new();
    let mask = |then: &str| {
        let mut policy = rule("Session", "Always", then);
        desk.ask(|view| policy.on_session(view)).verdict
    };
    assert_eq!(
        mask("MaskTools(tools: [HighRisk], agents: [\"helper\"])"),
        SessionVerdict::MaskTools(vec![(AgentId(1), ToolId(0))])
    );
    assert_eq!(
        mask("MaskTools(tools: [Any([Tool(\"clock\"), Risk(Outbound)])])"),
        SessionVerdict::MaskTools(vec![(AgentId(0), ToolId(1)), (AgentId(1), ToolId(1))])
    );
    assert_eq!(mask("MaskTools(tools: [Reads])"), SessionVerdict::Pass);
    assert_eq!(mask("Abort"), SessionVerdict::Abort);
}

#[test]
fn a_prompt_is_edited_where_something_came_from_outside() {
    let desk = Desk::new();
    let segment = |kind| Segment {
        kind,
        content: Content::default().into(),
        marked: false,
    };
    let observed = |source: Option<u32>| SegmentKind::Observation {
        tool: ToolId(1),
        source: source.map(SourceId),
    };
    let segments = [
        segment(SegmentKind::Goal),
        segment(observed(Some(0))),
        segment(observed(None)),
        segment(SegmentKind::Message { from: None }),
        segment(SegmentKind::Message {
            from: Some(AgentId(1)),
        }),
    ];
    let then = "Edit(guidance: TreatContentAsData, mark: Untrusted, mask: [HighRisk])";
    let mut policy = rule("Prompt", "UntrustedContext, Agent(\"assistant\")", then);
    let mut verdict = |agent: u32, segments: &[Segment]| {
        desk.ask(|view| policy.on_prompt(view, AgentId(agent), segments))
            .verdict
    };
    let edit = PromptEdit {
        mark: vec![1, 3],
        guidance: Some(Guidance::TreatContentAsData),
        mask: vec![ToolId(0)],
        ..PromptEdit::default()
    };
    assert_eq!(verdict(0, &segments), PromptVerdict::Edit(edit));
    assert_eq!(verdict(1, &segments), PromptVerdict::Pass);
    assert_eq!(verdict(0, &segments[..1]), PromptVerdict::Pass);
}

#[test]
fn what_comes_in_is_told_apart_by_sender_and_field() {
    let desk = Desk::new();
    let message = |when: &str, then: &str| {
        let mut policy = rule("Message", when, then);
        desk.ask(|view| policy.on_message(view, desk.inflow()))
            .verdict
    };
    for (when, hits) in [
        ("Sender(\"assistant\")", true),
        ("Sender(\"helper\")", false),
        ("NoSender", false),
        ("Agent(\"helper\")", true),
        (
            "Field(name: \"text\", is: All([Tainted, StartsWith(\"pay\")]))",
            true,
        ),
        ("Field(is: Contains(\"PAY\"))", false),
        ("Recorded(From(\"doc:note\"))", true),
    ] {
        let verdict = message(when, "Drop");
        assert_eq!(verdict == InflowVerdict::Drop, hits, "{when}");
    }
    let readers: plugins::label::IndexSet = std::iter::once(0).collect();
    for (then, wanted) in [
        (
            "Transform(\"-\")",
            InflowVerdict::Transform(Content::single("text", "-")),
        ),
        (
            "Transform([(field: \"body\", says: \"-\")])",
            InflowVerdict::Transform(Content::single("body", "-")),
        ),
        (
            "Relabel(NarrowReaders([\"ann@trusted.local\", \"nobody\"]))",
            InflowVerdict::Relabel(Relabel::NarrowReaders(readers.clone())),
        ),
        (
            "Relabel(Declassify(\"ann@trusted.local\"))",
            InflowVerdict::Relabel(Relabel::Declassify(readers.clone())),
        ),
        (
            "Relabel(Endorse([\"doc:note\"]))",
            InflowVerdict::Relabel(Relabel::Endorse(readers)),
        ),
    ] {
        assert_eq!(message("Always", then), wanted);
    }
}

#[test]
fn memory_is_told_apart_by_store_key_and_age() {
    let mut desk = Desk::new();
    desk.world.trace.events.push(Event {
        tick: 9,
        episode: 0,
        agent: None,
        what: Happening::Stored {
            record: RecordId(3),
            store: StoreId(0),
            key: "contact".into(),
            content: Content::default().into(),
            node: NodeId(0),
            quarantined: false,
        },
        nodes_after: 2,
        edges_after: 1,
    });
    let verdict = |when: &str, id: u32| {
        let mut policy = rule("MemoryRead", when, "Quarantine");
        let record = RecordView {
            record: RecordId(id),
            ..desk.record()
        };
        desk.ask(|view| {
            view.episode = 2;
            policy.on_memory_read(view, record)
        })
        .reason
        .rule
        .to_string()
    };
    for (when, id, rule) in [
        ("Store([0, 7])", 3, "r"),
        ("Store(1)", 3, "default_allow"),
        ("Key(StartsWith(\"con\"))", 3, "r"),
        ("Age(AtLeast(2))", 3, "r"),
        ("Age(Less(2))", 3, "default_allow"),
        ("Age(AtLeast(0))", 4, "facts_missing"),
        ("Initial", 3, "default_allow"),
        ("Initial", 4, "r"),
        // Nobody asked for it.
        ("Agent(\"assistant\")", 3, "facts_missing"),
    ] {
        assert_eq!(verdict(when, id), rule, "{when} of {id}");
    }
}

#[test]
fn recovery_acts_on_what_is_tainted_or_revoked() {
    let desk = Desk::new();
    let record = |id, recorded, has_backup| RecordSummary {
        record: RecordId(id),
        store: StoreId(0),
        call: None,
        recorded,
        has_backup,
    };
    let records = [
        record(0, desk.tainted, true),
        record(1, LabelId::BOTTOM, true),
        record(2, desk.tainted, false),
    ];
    let act = |when: &str, then: &str, revoked: Option<u32>| {
        let notice = RecoveryNotice {
            step: 0,
            kind: RecoveryKind::Revoke,
            revoked: revoked.map(SourceId),
            records: &records,
        };
        let mut policy = rule("Recovery", when, then);
        desk.ask(|view| policy.on_recovery(view, notice)).verdict
    };
    let revoked = Some(0);
    assert_eq!(
        act(
            "Step(Revoke), Revoked(\"doc:note\")",
            "Act([Restore(Revoked), Scrub(Tainted), Rollback(Revoked), Quarantine(Everything)])",
            revoked
        ),
        RecoveryVerdict::Act(vec![
            RecoveryAction::Restore(vec![RecordId(0)]),
            RecoveryAction::Scrub(vec![RecordId(0), RecordId(2)]),
            RecoveryAction::Rollback(vec![CallId(0)]),
            RecoveryAction::Quarantine(vec![RecordId(0), RecordId(1), RecordId(2)]),
        ])
    );
    // Nothing was revoked, so there is nothing that came from it.
    assert_eq!(
        act("Always", "Act([Scrub(Revoked), Rollback(Revoked)])", None),
        RecoveryVerdict::Pass
    );
    assert_eq!(
        act("Revoked(\"doc:note\")", "Act([Scrub(Tainted)])", None),
        RecoveryVerdict::Pass
    );
    assert_eq!(
        act("Step([Undo, Scrub])", "Act([Scrub(Tainted)])", revoked),
        RecoveryVerdict::Pass
    );
    assert_ne!(
        act("AnyRecord(Tainted)", "Act([Scrub(Tainted)])", None),
        RecoveryVerdict::Pass
    );
}

/// A rewrite is by name; a tool that has no such argument cannot be rewritten so, and is refused.
#[test]
fn a_rewrite_that_does_not_fit_the_tool_is_refused() {
    let mut world = World::new();
    world.add_agent("assistant");
    let mut share = tool("share", RiskClass::Outbound, "x");
    let role = plugins::tool::Role::Visibility;
    share.arguments = vec![plugins::conformance::sample::argument("visibility", role)];
    let share = world.add_tool(share);
    let clock = world.add_tool(tool("clock", RiskClass::Low, "x"));
    let (share, clock) = (
        world.add_call(share, Vec::new()),
        world.add_call(clock, Vec::new()),
    );
    let verdict = |to: &str, call| {
        let then = format!("Rewrite([(argument: \"visibility\", to: {to})])");
        let ruling = ask(&mut *rule("Proposal", "Always", &then), &world, call);
        (ruling.verdict, ruling.reason.rule.to_string())
    };
    let private = ProposalVerdict::Rewrite(vec![(0, Value::text("private"))]);
    assert_eq!(verdict("\"private\"", share), (private, "r".into()));
    let refused = (ProposalVerdict::Block, "facts_missing".to_owned());
    assert_eq!(verdict("3", share), refused);
    assert_eq!(verdict("\"private\"", clock), refused);
}
