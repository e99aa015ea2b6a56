//! The header of the kit and the writer agree: every record is read here by the names and types
//! that stand in `containment.h`.

use std::collections::BTreeMap;

use plugins::label::LabelTable;

use super::*;
use crate::codes::NONE;
use crate::event::Known;
use crate::message::Message;
use crate::question::{About, BothCounts};
use crate::{briefing, event, message, question};

/// Where a member of a record is, and of which type.
type Members = BTreeMap<String, (usize, String)>;

/// The records of the header by name, with their sizes.
struct Header(BTreeMap<String, (usize, Members)>);

impl Header {
    /// Reads `struct name { type member, member; };` and lays it out as C does.
    fn read() -> Self {
        let header = include_str!("../../kit/containment.h");
        let mut text = String::new();
        for piece in header.split("/*") {
            text.push_str(piece.split_once("*/").map_or(piece, |(_, code)| code));
        }
        let mut records = Self(BTreeMap::new());
        for piece in text.split("\nstruct ").skip(1) {
            let Some((name, rest)) = piece.split_once(" {") else {
                continue;
            };
            let body = rest.split_once("};").unwrap().0;
            let record = records.lay_out(body);
            records.0.insert(name.trim().to_owned(), record);
        }
        records
    }

    fn lay_out(&self, body: &str) -> (usize, Members) {
        let (mut at, mut widest) = (0_usize, 4);
        let mut members = Members::new();
        for line in body
            .split(';')
            .map(str::trim)
            .filter(|line| !line.is_empty())
        {
            let line = line.trim_start_matches("struct ");
            let (kind, names) = line.split_once(' ').unwrap();
            let (size, align) = match kind {
                "cb_u32" => (4, 4),
                "cb_u64" | "cb_i64" => (8, 8),
                record => self.size_and_align(record),
            };
            for name in names.split(',') {
                at = at.next_multiple_of(align);
                members.insert(name.trim().to_owned(), (at, kind.to_owned()));
                at += size;
                widest = widest.max(align);
            }
        }
        (at.next_multiple_of(widest), members)
    }

    fn size_and_align(&self, record: &str) -> (usize, usize) {
        let (size, members) = &self.0[record];
        let is_wide = |kind: &str| match kind {
            "cb_u64" | "cb_i64" => true,
            "cb_u32" => false,
            record => self.size_and_align(record).1 == 8,
        };
        let align = if members.values().any(|(_, kind)| is_wide(kind)) {
            8
        } else {
            4
        };
        (*size, align)
    }
}

/// A record in a message.
#[derive(Clone, Copy)]
struct At<'a> {
    header: &'a Header,
    bytes: &'a [u8],
    record: &'a str,
    at: usize,
}

impl<'a> At<'a> {
    fn member(&self, path: &str) -> usize {
        let mut at = self.at;
        let mut record = self.record;
        for name in path.split('.') {
            let (place, kind) = &self.header.0[record].1[name];
            at += place;
            record = kind;
        }
        at
    }

    fn word_at(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.bytes[at..at + 4].try_into().unwrap())
    }

    fn word(&self, path: &str) -> u32 {
        self.word_at(self.member(path))
    }

    fn long(&self, path: &str) -> u64 {
        let at = self.member(path);
        u64::from_le_bytes(self.bytes[at..at + 8].try_into().unwrap())
    }

    fn text(&self, path: &str) -> &'a str {
        let at = self.member(path);
        let (begin, bytes) = (self.word_at(at) as usize, self.word_at(at + 4) as usize);
        std::str::from_utf8(&self.bytes[begin..begin + bytes]).unwrap()
    }

    /// The records of a list.
    fn list(&self, path: &str, record: &'a str) -> Vec<Self> {
        let at = self.member(path);
        let (begin, count) = (self.word_at(at) as usize, self.word_at(at + 4) as usize);
        let size = self.header.0[record].0;
        let items = (0..count).map(|position| begin + position * size);
        items
            .map(|at| Self {
                record,
                at,
                ..*self
            })
            .collect()
    }

    fn numbers(&self, path: &str) -> Vec<u32> {
        let at = self.member(path);
        let (begin, count) = (self.word_at(at) as usize, self.word_at(at + 4) as usize);
        (0..count)
            .map(|position| self.word_at(begin + position * 4))
            .collect()
    }

    /// A text that is a record itself.
    fn own_text(&self) -> &'a str {
        let (begin, bytes) = (self.word_at(self.at), self.word_at(self.at + 4));
        std::str::from_utf8(&self.bytes[begin as usize..][..bytes as usize]).unwrap()
    }
}

#[test]
fn the_records_of_the_header_have_the_sizes_that_are_written() {
    let header = Header::read();
    for (name, words) in [
        ("cb_text", 2),
        ("cb_list", 2),
        ("cb_value", message::VALUE),
        ("cb_label", message::LABEL),
        ("cb_field", message::FIELD),
        ("cb_argument", event::ARGUMENT),
        ("cb_counts", 5),
        ("cb_question", question::QUESTION),
        ("cb_call_question", question::CALL_QUESTION),
        ("cb_inflow_question", question::INFLOW_QUESTION),
        ("cb_record_question", question::RECORD_QUESTION),
        ("cb_prompt_question", question::PROMPT_QUESTION),
        ("cb_segment", question::SEGMENT),
        ("cb_recovery_question", question::RECOVERY_QUESTION),
        ("cb_summary", question::SUMMARY),
        ("cb_briefing", briefing::BRIEFING),
        ("cb_agent", briefing::AGENT),
        ("cb_argument_spec", briefing::ARGUMENT_SPEC),
        ("cb_tool", briefing::TOOL),
        ("cb_sink", briefing::SINK),
        ("cb_condition", briefing::CONDITION),
        ("cb_entry", briefing::ENTRY),
        ("cb_source", briefing::SOURCE),
        ("cb_canary", briefing::CANARY),
        ("cb_node", event::NODE),
        ("cb_edge", event::EDGE),
        ("cb_call", event::CALL),
        ("cb_event", event::EVENT),
        ("cb_mask", 2),
        ("cb_edit", 8),
        ("cb_relabel", 3),
        ("cb_new_field", 4),
        ("cb_change", 6),
        ("cb_action", 3),
        ("cb_evidence", 2),
    ] {
        assert_eq!(header.0[name].0, words * 4, "{name}");
    }
}

fn known<'a>(world: &'a World, labels: &'a LabelTable) -> Known<'a> {
    Known {
        briefing: &world.briefing,
        labels,
    }
}

#[test]
fn a_briefing_reads_as_the_header_says() {
    let (header, world) = (
        Header::read(),
        plugins::conformance::generate::random_world(3),
    );
    let mut message = Message::default();
    briefing::write(&mut message, &world.briefing);
    let read = At {
        header: &header,
        bytes: message.bytes(),
        record: "cb_briefing",
        at: 0,
    };
    assert_eq!(read.word("abi"), 1);
    let agents: Vec<_> = read
        .list("agents", "cb_agent")
        .iter()
        .map(|agent| agent.text("name"))
        .collect();
    assert_eq!(agents.len(), world.briefing.agents.len());
    assert_eq!(agents[0], "assistant");
    assert_eq!(
        read.numbers("untrusted"),
        world.briefing.untrusted.iter().collect::<Vec<_>>()
    );
    let principals = read.list("principals", "cb_text");
    assert_eq!(principals[2].own_text(), "eve@external.local");
    for (read, tool) in read
        .list("tools", "cb_tool")
        .iter()
        .zip(&world.briefing.tools)
    {
        assert_eq!(read.text("name"), &*tool.name);
        assert_eq!(read.word("risk"), tool.risk as u32);
        assert_eq!(read.long("latency_ticks"), tool.latency_ticks);
        let arguments = read.list("arguments", "cb_argument_spec");
        for (read, argument) in arguments.iter().zip(&tool.arguments) {
            assert_eq!(read.text("name"), &*argument.name);
            assert_eq!(read.word("role"), argument.role as u32);
            assert_eq!(read.word("required"), u32::from(argument.required));
        }
        match &tool.target {
            Target::Argument(position) => {
                assert_eq!(read.word("target_argument"), u32::from(*position));
            }
            Target::Fixed(target) => {
                assert_eq!(
                    (read.word("target_argument"), read.text("target")),
                    (NONE, &**target)
                );
            }
        }
    }
}

#[test]
fn sources_and_ledger_read_as_the_header_says() {
    let (header, world) = (
        Header::read(),
        plugins::conformance::generate::random_world(3),
    );
    let mut message = Message::default();
    briefing::write(&mut message, &world.briefing);
    let read = At {
        header: &header,
        bytes: message.bytes(),
        record: "cb_briefing",
        at: 0,
    };
    let sources = read.list("sources", "cb_source");
    for (read, source) in sources.iter().zip(&world.briefing.sources) {
        assert_eq!(read.text("name"), &*source.name);
        assert_eq!(
            read.word("untrusted"),
            u32::from(source.trust == Trust::Untrusted)
        );
        assert_eq!(read.word("label.flags") & 1, read.word("untrusted"));
        let sources: Vec<_> = source.label.sources.iter().collect();
        assert_eq!(read.numbers("label.sources"), sources);
    }
    for (read, entry) in read
        .list("ledger", "cb_entry")
        .iter()
        .zip(&world.briefing.ledger.entries)
    {
        assert_eq!(
            (read.text("action"), read.text("target")),
            (&*entry.action, &*entry.target)
        );
        let conditions = read.list("conditions", "cb_condition");
        assert_eq!(conditions.len(), entry.conditions.len());
        for (read, (name, _)) in conditions.iter().zip(&entry.conditions) {
            assert_eq!(read.text("name"), &**name);
            let values = read.list("values", "cb_value");
            assert_eq!(values.is_empty(), read.word("kind") >= 2);
        }
    }
}

#[test]
fn a_call_reads_as_the_header_says() {
    let (header, world) = (Header::read(), small_world());
    let mut draws = Draws::new(RolloutKey::new(1, "wasm".into(), 1));
    let view = world.view(&mut draws);
    let mut message = Message::default();
    let mut counts = BothCounts::default();
    counts[0].proposed = 7;
    counts[1].approved = 9;
    let about = About::Call(world.proposal(CallId(0)));
    question::write(&mut message, &view, Hook::Commit, &about, &counts);
    let read = At {
        header: &header,
        bytes: message.bytes(),
        record: "cb_call_question",
        at: 0,
    };
    assert_eq!((read.long("head.tick"), read.word("head.hook")), (1, 7));
    assert_eq!(
        (
            read.word("head.all.proposed"),
            read.word("head.high_risk.approved")
        ),
        (7, 9)
    );
    assert_eq!(
        (read.text("agent_name"), read.text("tool_name")),
        ("assistant", "send")
    );
    assert_eq!(read.text("target"), "ann@trusted.local");
    assert_eq!(
        (
            read.word("risk"),
            read.word("ledger_entry"),
            read.word("node")
        ),
        (2, 0, 0)
    );
    // High risk, not on the list of recipients, with a target, its record tainted and influenced.
    assert_eq!(read.word("flags"), 0b1_1111);
    let arguments = read.list("arguments", "cb_argument");
    let seen: Vec<_> = arguments
        .iter()
        .map(|read| {
            (
                read.word("position"),
                read.word("role"),
                read.word("flags"),
                read.text("name"),
                read.text("value.items"),
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            (0, 0, 3, "to", "ann@trusted.local"),
            (1, 7, 0, "body", "grüße")
        ]
    );
    assert_eq!(arguments[0].word("object"), NONE);
    let labels = read.list("head.labels", "cb_label");
    let label = labels[arguments[0].word("label") as usize];
    assert_eq!(
        (label.word("flags"), label.numbers("sources")),
        (0b111, vec![0])
    );
    assert!(read.numbers("expanding").is_empty());
}

#[test]
fn events_read_as_the_header_says() {
    let (header, world) = (
        Header::read(),
        plugins::conformance::generate::random_world(5),
    );
    let prefix = world.trace.prefix();
    let mut message = Message::default();
    let (mut nodes, mut edges) = (0, 0);
    for (position, event) in prefix.events.iter().enumerate() {
        event::write(&mut message, prefix, position, known(&world, &world.labels));
        let read = At {
            header: &header,
            bytes: message.bytes(),
            record: "cb_event",
            at: 0,
        };
        assert_eq!(
            (read.long("tick"), read.word("number") as usize),
            (event.tick, position)
        );
        assert_eq!(
            (read.word("first_node"), read.word("first_edge")),
            (nodes, edges)
        );
        let new = read.list("nodes", "cb_node");
        for (read, node) in new.iter().zip(&prefix.nodes[nodes as usize..]) {
            assert_eq!(
                (read.word("kind"), read.long("tick")),
                (node.kind as u32, node.tick)
            );
        }
        nodes += u32::try_from(new.len()).unwrap();
        edges += u32::try_from(read.list("edges", "cb_edge").len()).unwrap();
        assert_eq!((nodes, edges), (event.nodes_after, event.edges_after));
        match &event.what {
            plugins::trace::Happening::Proposed { call } => {
                assert_eq!((read.word("kind"), read.word("a")), (3, call.0));
                let calls = read.list("calls", "cb_call");
                let call = prefix.call(*call).unwrap();
                assert_eq!(
                    (calls[0].word("id"), calls[0].word("tool")),
                    (call.id.0, call.tool.0)
                );
                let arguments = calls[0].list("arguments", "cb_argument");
                assert_eq!(arguments.len(), call.arguments.len());
            }
            plugins::trace::Happening::Committed { call, node } => {
                assert_eq!(
                    (read.word("kind"), read.word("a"), read.word("b")),
                    (10, call.0, node.0)
                );
            }
            _ => {}
        }
    }
}
