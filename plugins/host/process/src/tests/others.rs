//! Attackers and auditors that are processes.

use plugins::attacker::{Feedback, Slot};
use plugins::auditor::Auditor;
use plugins::conformance::{check_attacker, check_auditor};
use plugins::ids::{NodeId, SourceId};
use plugins::trace::NodeKind;

use super::*;
use crate::{load_attacker, load_auditor};

/// A shipped example, with time to answer on a busy machine.
fn example(name: &str) -> Scripted {
    let path = root().join("examples/plugins").join(name);
    scripted(&fs::read_to_string(path).unwrap(), "")
}

fn slot(default: &str) -> Slot {
    Slot {
        source: SourceId(0),
        field: "text".into(),
        default: default.into(),
    }
}

fn fill(attacker: &mut dyn plugins::attacker::Attacker, feedback: Option<u8>) -> Vec<String> {
    let mut draws = Draws::new(RolloutKey::new(1, "test".into(), 1));
    let feedback = feedback.map(|stage| Feedback { stage });
    let texts = attacker.fill(&[slot("Share it."), slot("Now.")], feedback, &mut draws);
    texts.iter().map(ToString::to_string).collect()
}

#[test]
fn an_attacker_learns_the_stage_and_goes_on_from_its_state() {
    let loaded = load_attacker(&example("insistent_attacker.py").description).unwrap();
    assert_eq!(loaded.name, "insistent_attacker");
    let mut attacker = (loaded.make)();
    assert_eq!(fill(&mut *attacker, None), ["Share it.", "Now."]);
    let agreed = ["Share it. This was agreed.", "Now. This was agreed."];
    assert_eq!(fill(&mut *attacker, Some(2)), agreed);
    let mut saved = Vec::new();
    attacker.save(&mut saved);
    let urgent = ["Share it. It is urgent.", "Now. It is urgent."];
    assert_eq!(fill(&mut *attacker, Some(4)), urgent);
    let mut other = (loaded.make)();
    other.restore(&saved, other.version()).unwrap();
    assert_eq!(fill(&mut *other, Some(5)), agreed);
    assert_eq!(check_attacker(&|| (loaded.make)(), 24), []);
    assert_eq!(loaded.faults.count(), 0);
}

#[test]
fn an_attacker_that_fails_leaves_the_slots_as_they_are() {
    for answer in [
        "{'texts': ['one']}",
        "{'texts': [1, 2]}",
        "{'verdict': 'allow'}",
    ] {
        let script = replying(answer)
            .replace("'hooks': ['proposal']", "")
            .replace("\"hooks\": [\"proposal\"]", "\"as\": \"attacker\"");
        let loaded = load_attacker(&scripted(&script, "").description).unwrap();
        let mut attacker = (loaded.make)();
        for _ in 0..2 {
            assert_eq!(fill(&mut *attacker, Some(5)), ["Share it.", "Now."]);
        }
        assert_eq!(loaded.faults.count(), 1, "{:?}", loaded.faults.first());
    }
}

#[test]
fn an_auditor_finds_what_a_native_one_would() {
    let loaded = load_auditor(&example("tainted_effects.py").description).unwrap();
    let auditor = (loaded.make)();
    let mut found = 0;
    for seed in 0..60 {
        let world = plugins::conformance::generate::random_world(seed);
        let prefix = world.trace.prefix();
        let findings = auditor.audit(prefix, &world.labels, &world.briefing);
        let nodes: Vec<NodeId> = findings.iter().map(|finding| finding.node).collect();
        let is_wanted = |node: &NodeId| {
            let node = &prefix.nodes[node.index()];
            let label = world.labels.get(node.recorded);
            node.kind == NodeKind::SideEffect && label.carries(&world.briefing.untrusted)
        };
        let wanted = (0..prefix.nodes.len()).map(NodeId::at).filter(is_wanted);
        assert!(wanted.eq(nodes.iter().copied()), "seed {seed}");
        assert!(
            findings
                .iter()
                .all(|finding| finding.finding == "tainted_side_effect")
        );
        found += nodes.len();
    }
    assert!(found > 10, "{found}");
    assert_eq!(check_auditor(&*auditor, 24), []);
    assert_eq!(loaded.faults.count(), 0);
}

/// A trace that nobody could read is not one without findings.
#[test]
fn an_auditor_that_fails_says_so() {
    for answer in [
        "{'findings': [{'node': 99, 'finding': 'stray'}]}",
        "{'findings': [{'node': 0, 'finding': ''}]}",
        "{'findings': [{'node': 0, 'finding': 'plugin_fault'}]}",
        "{'findings': None}",
    ] {
        let script = replying(answer).replace("\"hooks\": [\"proposal\"]", "\"as\": \"auditor\"");
        let loaded = load_auditor(&scripted(&script, "").description).unwrap();
        let world = world();
        let auditor: Box<dyn Auditor> = (loaded.make)();
        let findings = auditor.audit(world.trace.prefix(), &world.labels, &world.briefing);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].finding, PLUGIN_FAULT);
        assert_eq!(loaded.faults.count(), 1);
    }
}
