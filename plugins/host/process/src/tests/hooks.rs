//! Every hook, every verdict, and what each question and event says.

use std::sync::Arc;

use plugins::ids::{AgentId, NodeId, RecordId, SourceId, StoreId, ToolId};
use plugins::label::LabelId;
use plugins::model::{Guidance, SchemaMode, Segment, SegmentKind};
use plugins::policy::{
    Basis, CommitVerdict, DecidingField, DenialReason, Evidence, Inflow, InflowVerdict,
    MemoryVerdict, PromptEdit, PromptVerdict, RecordSummary, RecordView, RecoveryAction,
    RecoveryNotice, RecoveryVerdict, Relabel, SessionVerdict, View,
};
use plugins::trace::{Happening, RecoveryKind, Subject};
use plugins::value::Content;

use super::*;

/// A policy that answers each hook with what `answers` says, by the name of the hook.
fn answering_hooks(answers: &str) -> LoadedPolicy {
    let script = format!(
        "{PRELUDE}
ANSWERS = {{{answers}}}
HELLO['hooks'] = list(ANSWERS)
for line in sys.stdin:
    m = json.loads(line)
    if 'hello' in m:
        say(HELLO)
    if 'id' in m:
        say({{'id': m['id'], 'rule': 'r', **ANSWERS[m['ask']]}})
"
    );
    policy(&script)
}

fn on<T>(world: &World, ask: impl FnOnce(&mut View<'_>) -> T) -> T {
    let mut draws = Draws::new(RolloutKey::new(1, "test".into(), 1));
    ask(&mut world.view(&mut draws))
}

fn inflow<'a>(content: &'a Content, labels: &'a [LabelId]) -> Inflow<'a> {
    Inflow {
        agent: AgentId(0),
        from: None,
        content,
        labels,
        recorded: LabelId::BOTTOM,
        node: None,
    }
}

fn record<'a>(content: &'a Content, labels: &'a [LabelId]) -> RecordView<'a> {
    RecordView {
        record: RecordId(4),
        store: StoreId(0),
        key: "note",
        content,
        labels,
        recorded: LabelId::BOTTOM,
        agent: Some(AgentId(0)),
        call: Some(CallId(0)),
    }
}

fn notice(records: &[RecordSummary]) -> RecoveryNotice<'_> {
    RecoveryNotice {
        step: 0,
        kind: RecoveryKind::Revoke,
        revoked: Some(SourceId(0)),
        records,
    }
}

const RECORD: RecordSummary = RecordSummary {
    record: RecordId(4),
    store: StoreId(0),
    call: Some(CallId(0)),
    recorded: LabelId::BOTTOM,
    has_backup: true,
};

#[test]
#[expect(clippy::too_many_lines, reason = "one of each, in one table")]
fn every_hook_has_its_verdicts_with_all_that_they_carry() {
    let loaded = answering_hooks(
        "
'session': {'verdict': 'mask_tools', 'mask': [{'agent': 'assistant', 'tools': ['send']}]},
'prompt': {'verdict': 'edit', 'edit': {'drop': [1, 0], 'mark': [1], 'guidance': 'self_check',
    'schema_mode': 'structured', 'mask': ['send']}},
'observation': {'verdict': 'relabel', 'relabel': {'endorse': ['doc:note']}},
'message': {'verdict': 'transform', 'content': [{'name': 'text', 'value': 'removed'}]},
'proposal': {'verdict': 'rewrite', 'arguments': {'body': 'new', 'to': 'x'}},
'memory_write': {'verdict': 'relabel', 'relabel': {'narrow_readers': ['ann@trusted.local']}},
'memory_read': {'verdict': 'relabel', 'relabel': {'declassify': []}},
'commit': {'verdict': 'hold', 'denial': 'checkpoint_hold', 'basis': 'assumed',
    'fields': ['action', 'target', 'argument:body'],
    'evidence': ['node:1', 'source:doc:note', 'ledger:0', 'no_ledger_entry']},
'recovery': {'verdict': 'act', 'actions': [{'scrub': [4]}, {'quarantine': []}, {'restore': [4]},
    {'rollback': [0, 2]}]},
",
    );
    let world = world();
    let policy = &mut *(loaded.make)();
    let set = |members: &[u32]| members.iter().copied().collect();
    let session = on(&world, |view| policy.on_session(view));
    let masked = vec![(AgentId(0), ToolId(0))];
    assert_eq!(session.verdict, SessionVerdict::MaskTools(masked));
    let segment = Segment {
        kind: SegmentKind::Goal,
        content: Arc::default(),
        marked: false,
    };
    let segments = [segment.clone(), segment];
    let prompt = on(&world, |view| policy.on_prompt(view, AgentId(0), &segments));
    let edit = PromptEdit {
        drop: vec![0, 1],
        mark: vec![1],
        guidance: Some(Guidance::SelfCheck),
        schema_mode: Some(SchemaMode::Structured),
        mask: vec![ToolId(0)],
    };
    assert_eq!(prompt.verdict, PromptVerdict::Edit(edit));
    let (said, labels) = (Content::single("text", "hello"), [LabelId::BOTTOM]);
    let observed = on(&world, |view| {
        policy.on_observation(view, inflow(&said, &labels))
    });
    let endorsed = Relabel::Endorse(set(&[0]));
    assert_eq!(observed.verdict, InflowVerdict::Relabel(endorsed));
    let message = on(&world, |view| {
        policy.on_message(view, inflow(&said, &labels))
    });
    let removed = Content::single("text", "removed");
    assert_eq!(message.verdict, InflowVerdict::Transform(removed));
    let rewritten = vec![(0, Value::text("x")), (1, Value::text("new"))];
    let proposed = propose(policy, &world, 0);
    assert_eq!(proposed.verdict, ProposalVerdict::Rewrite(rewritten));
    let written = on(&world, |view| {
        policy.on_memory_write(view, record(&said, &labels))
    });
    let narrowed = Relabel::NarrowReaders(set(&[0]));
    assert_eq!(written.verdict, MemoryVerdict::Relabel(narrowed));
    let read = on(&world, |view| {
        policy.on_memory_read(view, record(&said, &labels))
    });
    let declassified = Relabel::Declassify(set(&[]));
    assert_eq!(read.verdict, MemoryVerdict::Relabel(declassified));
    let commit = on(&world, |view| {
        policy.on_commit(view, world.proposal(CallId(0)))
    });
    assert_eq!(commit.verdict, CommitVerdict::Hold);
    assert_eq!(commit.reason.denial, DenialReason::CheckpointHold);
    assert_eq!(commit.reason.basis, Basis::Assumed);
    let fields = [
        DecidingField::Action,
        DecidingField::Target,
        DecidingField::Argument(1),
    ];
    assert_eq!(commit.reason.fields, fields);
    let evidence = [
        Evidence::Node(NodeId(1)),
        Evidence::Source(SourceId(0)),
        Evidence::LedgerEntry(0),
        Evidence::NoLedgerEntry,
    ];
    assert_eq!(commit.reason.evidence, evidence);
    let recovery = on(&world, |view| policy.on_recovery(view, notice(&[RECORD])));
    let actions = vec![
        RecoveryAction::Scrub(vec![RecordId(4)]),
        RecoveryAction::Quarantine(vec![]),
        RecoveryAction::Restore(vec![RecordId(4)]),
        RecoveryAction::Rollback(vec![CallId(0), CallId(2)]),
    ];
    assert_eq!(recovery.verdict, RecoveryVerdict::Act(actions));
    no_faults(&loaded);
}

#[test]
fn verdicts_that_carry_nothing_are_understood_at_each_hook() {
    let world = world();
    let (said, labels) = (Content::single("text", "hello"), [LabelId::BOTTOM]);
    let denial = "'denial': 'outside_user_goal'";
    let ask = |hook: &str, verdict: &str, answered: &dyn Fn(&mut dyn Policy)| {
        let loaded = answering_hooks(&format!("'{hook}': {{'verdict': '{verdict}', {denial}}}"));
        answered(&mut *(loaded.make)());
        no_faults(&loaded);
    };
    for (verdict, expected) in [
        ("block", ProposalVerdict::Block),
        ("confirm", ProposalVerdict::Confirm),
        ("hold", ProposalVerdict::Hold),
        ("abort", ProposalVerdict::Abort),
    ] {
        ask("proposal", verdict, &|policy| {
            let ruling = propose(policy, &world, 0);
            assert_eq!(ruling.verdict, expected);
            assert_eq!(ruling.reason.denial, DenialReason::OutsideUserGoal);
        });
    }
    for (verdict, expected) in [
        ("quarantine", InflowVerdict::Quarantine),
        ("drop", InflowVerdict::Drop),
        ("pass", InflowVerdict::Pass),
    ] {
        ask("message", verdict, &|policy| {
            let ruling = on(&world, |view| {
                policy.on_message(view, inflow(&said, &labels))
            });
            assert_eq!(ruling.verdict, expected);
            assert_eq!(ruling.reason.rule, "r");
        });
    }
    for (verdict, expected) in [
        ("block", MemoryVerdict::Block),
        ("confirm", MemoryVerdict::Confirm),
        ("quarantine", MemoryVerdict::Quarantine),
    ] {
        ask("memory_read", verdict, &|policy| {
            let ruling = on(&world, |view| {
                policy.on_memory_read(view, record(&said, &labels))
            });
            assert_eq!(ruling.verdict, expected);
        });
    }
    ask("session", "abort", &|policy| {
        let ruling = on(&world, |view| policy.on_session(view));
        assert_eq!(ruling.verdict, SessionVerdict::Abort);
    });
    ask("commit", "block", &|policy| {
        let ruling = on(&world, |view| {
            policy.on_commit(view, world.proposal(CallId(1)))
        });
        assert_eq!(ruling.verdict, CommitVerdict::Block);
    });
}

/// The most restrictive answer of each hook, by the same rule.
#[test]
fn a_fault_is_a_refusal_at_every_hook() {
    let world = world();
    let (said, labels) = (Content::single("text", "hello"), [LabelId::BOTTOM]);
    let hooks = "'session': {}, 'prompt': {}, 'observation': {}, 'message': {}, 'proposal': {}, \
                 'memory_write': {}, 'memory_read': {}, 'commit': {}, 'recovery': {}";
    let loaded = answering_hooks(hooks);
    let fresh = || (loaded.make)();
    let session = on(&world, |view| fresh().on_session(view));
    assert!(matches!(session.verdict, SessionVerdict::MaskTools(_)));
    let prompt = on(&world, |view| fresh().on_prompt(view, AgentId(0), &[]));
    assert!(matches!(prompt.verdict, PromptVerdict::Edit(_)));
    let flow = inflow(&said, &labels);
    let observed = on(&world, |view| fresh().on_observation(view, flow));
    assert_eq!(observed.verdict, InflowVerdict::Quarantine);
    let message = on(&world, |view| fresh().on_message(view, flow));
    assert_eq!(message.verdict, InflowVerdict::Quarantine);
    assert_eq!(
        propose(&mut *fresh(), &world, 0).verdict,
        ProposalVerdict::Block
    );
    let record = record(&said, &labels);
    let written = on(&world, |view| fresh().on_memory_write(view, record));
    assert_eq!(written.verdict, MemoryVerdict::Block);
    let read = on(&world, |view| fresh().on_memory_read(view, record));
    assert_eq!(read.verdict, MemoryVerdict::Block);
    let commit = on(&world, |view| {
        fresh().on_commit(view, world.proposal(CallId(0)))
    });
    assert_eq!(commit.verdict, CommitVerdict::Block);
    let recovery = on(&world, |view| fresh().on_recovery(view, notice(&[RECORD])));
    let rules = [
        session.reason,
        prompt.reason,
        observed.reason,
        commit.reason,
        recovery.reason,
    ];
    assert!(rules.iter().all(|reason| reason.rule == PLUGIN_FAULT));
    assert_eq!(loaded.faults.as_ref().unwrap().count(), 9);
}

/// Everything that a process is told, as one text, so that a change of the protocol is seen.
#[test]
fn what_is_told_is_what_the_documentation_says() {
    let world = world();
    let mut draws = Draws::new(RolloutKey::new(1, "test".into(), 1));
    let view = &world.view_of(world.prefix_of(2), &mut draws);
    let proposal = world.proposal(CallId(1));
    let question = serde_json::Value::Object(crate::tell::proposal(view, &proposal));
    let tainted =
        r#"{"tainted":true,"influenced":true,"sources":["doc:note"],"control":[],"readers":null}"#;
    let clean = r#"{"tainted":false,"influenced":false,"sources":[],"control":[],"readers":null}"#;
    let arguments = format!(
        r#"[{{"name":"to","role":"recipient","value":"ann@trusted.local","label":{tainted}}},{{"name":"body","role":"content","value":"h{}llo","label":{tainted}}}]"#,
        '\u{e9}'
    )
    .replace(&format!("llo\",\"label\":{tainted}"), &format!("llo\",\"label\":{clean}"));
    let told = question.to_string();
    assert!(
        told.contains(&format!("\"arguments\":{arguments}")),
        "{told}"
    );
    assert!(told.starts_with(r#"{"call":1,"node":1,"agent":"assistant","tool":"send","risk":"outbound","high_risk":true,"target":"ann@trusted.local","arguments":"#), "{told}");
    let rest = r#""ledger_entry":0,"expanding":[],"leaking":[],"wrong_recipient":true,"counts":{"proposed":2,"committed":0,"denied":0,"asked":0,"approved":0}}"#;
    assert!(told.ends_with(rest), "{told}");
    let event = serde_json::Value::Object(crate::tell::event(view, 1, true)).to_string();
    assert!(event.starts_with(r#"{"event":1,"tick":1,"episode":0,"agent":"assistant","what":"proposed","call":1,"tool":"send","high_risk":true,"keep_result":true,"arguments":"#), "{event}");
    assert!(event.contains(r#""nodes":[{"node":1,"kind":"proposal","detail":"plain","tick":1,"agent":"assistant","subject":"call:1","#), "{event}");
    let briefing = crate::tell::briefing(&world.briefing).to_string();
    let tool = r#""tools":[{"name":"send","risk":"outbound","high_risk":true,"operation":"act","store":null,"arguments":[{"name":"to","kind":"text","role":"recipient","passing":"value","required":false},{"name":"body","kind":"text","role":"content","passing":"value","required":false}],"target":{"argument":"to"},"sink":null,"undo":null,"irrevocable_email":false}]"#;
    assert!(briefing.contains(tool), "{briefing}");
    assert!(
        briefing.contains(
            r#""ledger":[{"action":"send","target":"ann@trusted.local","conditions":[]}]"#
        ),
        "{briefing}"
    );
    assert!(briefing.ends_with(r#""principals":["ann@trusted.local"],"sources":[{"name":"doc:note","channel":"retrieved_document","trust":"untrusted","readers":null}]}"#), "{briefing}");
}

/// Each happening has a word of its own and an object of its own.
#[test]
#[expect(clippy::too_many_lines, reason = "one of each, in one table")]
fn every_happening_is_told() {
    use plugins::action::{ActionClass, ParseStatus, Repairs};
    use plugins::ids::MessageId;
    use plugins::policy::{Hook, Reason, VerdictKind};
    use plugins::trace::{Answer, Outcome};

    let mut world = world();
    let (call, node, message, record) = (CallId(0), NodeId(0), MessageId(0), RecordId(0));
    let (subject, agent, store) = (Subject::Call(call), AgentId(0), StoreId(0));
    let arguments = Arc::clone(&world.trace.calls[0].arguments);
    let happenings = vec![
        Happening::EpisodeBegan,
        Happening::Delivered {
            message: Some(message),
        },
        Happening::Completed {
            class: ActionClass::Valid,
            status: ParseStatus::ValidRepairedJson,
            repairs: Repairs::FENCE | Repairs::KEY_ALIAS,
            strict_reading_is_final: true,
            named: Some("send".into()),
        },
        Happening::Sent { message, to: agent },
        Happening::Finished { message },
        Happening::Ruled {
            hook: Hook::MemoryRead,
            subject,
            verdict: VerdictKind::Block,
            reason: Reason::new("a", DenialReason::CheckpointHold)
                .with_fields([DecidingField::Argument(1)])
                .with_evidence([Evidence::Source(SourceId(0))]),
            node: Some(node),
        },
        Happening::Asked {
            subject,
            answer: Answer::Absent,
        },
        Happening::HoldReleased { call },
        Happening::Denied {
            call,
            reason: DenialReason::CheckpointHold,
        },
        Happening::Observed { call, kept: true },
        Happening::Acknowledged { call },
        Happening::Stored {
            record,
            store,
            key: "note".into(),
            content: Arc::new(Content::single("text", "hello")),
            node,
            quarantined: true,
        },
        Happening::Removed {
            record,
            step: Some(1),
        },
        Happening::Quarantined { record },
        Happening::Filtered { store, filter: 1 },
        Happening::Recovered {
            step: None,
            kind: RecoveryKind::Scrub,
            node: None,
            removed: vec![record],
        },
        Happening::Undone { call, node },
        Happening::Relabelled {
            subject,
            before: LabelId::BOTTOM,
            after: LabelId::BOTTOM,
        },
        Happening::Rewritten { call, arguments },
        Happening::Drawn {
            name: "chance".into(),
            value: 7,
        },
        Happening::Ended {
            outcome: Outcome::LimitReached(plugins::trace::LimitKind::Queue),
        },
    ];
    let first = world.trace.events.last().unwrap().clone();
    world.commit(call);
    let from = world.trace.events.len();
    let events = happenings.into_iter().map(|what| plugins::trace::Event {
        what,
        ..first.clone()
    });
    world.trace.events.extend(events);
    let mut draws = Draws::new(RolloutKey::new(1, "test".into(), 1));
    let view = &world.view(&mut draws);
    let told = |position| serde_json::Value::Object(crate::tell::event(view, position, false));
    let words: Vec<String> = (0..world.trace.events.len())
        .map(|position| told(position)["what"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(words[2..4], ["proposed", "committed"]);
    let mut different = words[from..].to_vec();
    different.sort();
    different.dedup();
    assert_eq!(different.len(), 21);
    let all: Vec<String> = (from..world.trace.events.len())
        .map(|at| told(at).to_string())
        .collect();
    let all = all.join("\n");
    for part in [
        r#""repairs":["fence","key_alias"]"#,
        r#""what":"denied","call":0,"reason":"checkpoint_hold","tool":"send""#,
        r#""hook":"memory_read","subject":"call:0","verdict":"block","node":0,"rule":"a","denial":"checkpoint_hold","fields":["argument:body"],"evidence":["source:doc:note"],"basis":"exact""#,
        r#""record":0,"store":0,"key":"note","content":[{"name":"text","value":"hello"}],"node":0,"quarantined":true"#,
        r#""outcome":"limit_reached:queue""#,
        r#""subject":"call:0","answer":"absent""#,
    ] {
        assert!(all.contains(part), "{part} is not in {all}");
    }
}
