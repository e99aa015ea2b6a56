//! Recordings, wrong and hostile ones among them.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

use plugins::briefing::{AgentInfo, Briefing};
use plugins::conformance::check_model;
use plugins::draws::{Draws, RolloutKey};
use plugins::ids::{AgentId, ToolId};
use plugins::model::{
    Derivation, Guidance, Input, ModelBackend, ModelFailure, OwnTurn, PreparedModel, Reply,
    SchemaMode, Segment, SegmentKind, Turn,
};
use plugins::state::SavedState;
use plugins::value::Content;
use proptest::prelude::*;
use smallvec::smallvec;

use super::{
    MAX_COMPLETIONS, MAX_RECORDING_BYTES, Recorded, Recorder, Recording, RecordingError, header,
};

const HEADER: &str = r#"{"recording":1,"model":"m","scenario":"s"}"#;
const LINE: &str = r#"{"agent":"a","episode":0,"turn":0,"shown":{"context":"0123456789abcdef0123456789abcdef","segments":1,"guidance":"None","schema_mode":"Plain","tools":[]},"text":"x","latency_ticks":1}"#;

/// A model that counts its turns, and says that its words come from the first segment.
#[derive(Clone, Debug, Default)]
struct Counting(u8);

impl SavedState for Counting {
    fn save(&self, out: &mut Vec<u8>) {
        out.push(self.0);
    }

    fn restore(&mut self, bytes: &[u8], _: u32) -> Result<(), plugins::state::RestoreError> {
        match bytes {
            [count] => self.0 = *count,
            _ => return Err(plugins::state::RestoreError::Damaged("no count".into())),
        }
        Ok(())
    }
}

impl ModelBackend for Counting {
    fn complete(
        &mut self,
        _: Turn<'_>,
        _: &mut Draws,
        reply: &mut Reply,
    ) -> Result<(), ModelFailure> {
        self.0 += 1;
        write!(reply.text, "\"word\" {}", self.0).unwrap();
        reply.latency_ticks = 3;
        reply.tag = u32::from(self.0);
        reply.derivations.push(Derivation {
            field: "text".into(),
            inputs: smallvec![Input {
                segment: 0,
                field: Some(0)
            }],
        });
        reply.choice = Some(smallvec![]);
        Ok(())
    }
}

/// A model without state that knows nothing of where its words come from.
#[derive(Clone, Copy, Debug)]
struct Plain;

impl SavedState for Plain {}

impl ModelBackend for Plain {
    fn complete(
        &mut self,
        _: Turn<'_>,
        _: &mut Draws,
        reply: &mut Reply,
    ) -> Result<(), ModelFailure> {
        reply.text.push_str("done");
        Ok(())
    }
}

/// Two agents and what one of them is shown.
struct Stage {
    briefing: Briefing,
    context: Vec<Segment>,
    agent: AgentId,
    episode: u32,
    tools: Vec<ToolId>,
    guidance: Guidance,
    schema_mode: SchemaMode,
}

impl Stage {
    fn new() -> Self {
        let agent = |name: &str| AgentInfo {
            name: name.into(),
            tools: Vec::new(),
        };
        Self {
            briefing: Briefing {
                agents: vec![agent("planner"), agent("worker")],
                ..Briefing::default()
            },
            context: vec![segment(SegmentKind::Goal, "the goal")],
            agent: AgentId(0),
            episode: 0,
            tools: Vec::new(),
            guidance: Guidance::None,
            schema_mode: SchemaMode::Plain,
        }
    }

    fn ask(&self, model: &mut dyn ModelBackend) -> Result<Reply, ModelFailure> {
        let mut draws = Draws::new(RolloutKey::new(1, "s".into(), 1));
        let mut reply = Reply::default();
        reply.clear();
        let turn = Turn {
            agent: self.agent,
            episode: self.episode,
            briefing: &self.briefing,
            tools: &self.tools,
            context: &self.context,
            guidance: self.guidance,
            schema_mode: self.schema_mode,
        };
        model.complete(turn, &mut draws, &mut reply)?;
        Ok(reply)
    }

    fn failure(&self, model: &mut dyn ModelBackend) -> String {
        self.ask(model).expect_err("a failure").0
    }
}

fn segment(kind: SegmentKind, text: &str) -> Segment {
    Segment {
        kind,
        content: Arc::new(Content::single("text", text)),
        marked: false,
    }
}

fn recorder(inner: impl ModelBackend + 'static) -> (Recorder, Receiver<String>) {
    let (sender, lines) = channel();
    let sink = Box::new(move |line| sender.send(line).unwrap());
    (Recorder::new(Box::new(inner), sink), lines)
}

fn recording(lines: &Receiver<String>) -> Recording {
    let mut text = header("m", "s");
    for line in lines.try_iter() {
        text = format!("{text}\n{line}");
    }
    Recording::parse(&text).unwrap()
}

/// A player of `count` turns of the planner on `stage`.
fn recorded(stage: &Stage, count: usize) -> Recorded {
    let (mut model, lines) = recorder(Counting::default());
    for _ in 0..count {
        stage.ask(&mut model).unwrap();
    }
    Recorded::new(recording(&lines))
}

fn refused(text: &str) -> RecordingError {
    Recording::parse(text).expect_err(text)
}

#[test]
fn what_was_recorded_is_said_again_with_all_that_was_said_of_it() {
    let mut stage = Stage::new();
    let (mut model, lines) = recorder(Counting::default());
    let mut alone = Counting::default();
    let mut said = Vec::new();
    for (agent, episode) in [(0, 0), (1, 0), (0, 0), (0, 1), (1, 1), (0, 1)] {
        (stage.agent, stage.episode) = (AgentId(agent), episode);
        let reply = stage.ask(&mut model).unwrap();
        assert_eq!(reply, stage.ask(&mut alone).unwrap());
        said.push((agent, episode, reply));
    }
    let recording = recording(&lines);
    assert_eq!((recording.model(), recording.scenario()), ("m", "s"));
    let mut player = Recorded::new(recording);
    for (agent, episode, reply) in said {
        (stage.agent, stage.episode) = (AgentId(agent), episode);
        assert_eq!(stage.ask(&mut player).unwrap(), reply);
    }
    let failure = stage.failure(&mut player);
    assert!(
        failure.starts_with("agent `planner`, episode 1, turn 2: no completion is left, 2 of this"),
        "{failure}"
    );
    assert!(
        failure.contains("record again under this policy"),
        "{failure}"
    );
}

#[test]
fn without_derivations_everything_said_comes_from_all_that_was_shown() {
    let stage = Stage::new();
    let (mut model, lines) = recorder(Plain);
    stage.ask(&mut model).unwrap();
    let line = lines.try_iter().next().unwrap();
    for key in ["tag", "derivations", "choice"] {
        assert!(!line.contains(key), "{line}");
    }
    let recording = Recording::parse(&format!("{HEADER}\n{line}\n")).unwrap();
    let reply = stage.ask(&mut Recorded::new(recording)).unwrap();
    assert_eq!((reply.text.as_str(), reply.choice), ("done", None));
    assert!(reply.derivations.is_empty());
}

#[test]
fn every_part_of_what_is_shown_counts_and_is_told() {
    let stage = Stage::new();
    let told = |change: &dyn Fn(&mut Stage), says: &str| {
        let mut other = Stage::new();
        change(&mut other);
        let failure = other.failure(&mut recorded(&stage, 1));
        let place = "agent `planner`, episode 0, turn 0: ";
        assert!(failure.starts_with(place), "{failure}");
        assert!(failure.contains(says), "{failure}");
        assert!(
            failure.contains("record again under this policy"),
            "{failure}"
        );
        assert!(!failure.contains('\n'), "{failure}");
    };
    let same_count = "1 segments as recorded, but not the same ones";
    told(&|stage| stage.context[0].marked = true, same_count);
    told(
        &|stage| stage.context[0] = segment(SegmentKind::Goal, "another goal"),
        same_count,
    );
    told(
        &|stage| stage.context[0] = segment(SegmentKind::Rejected, "the goal"),
        same_count,
    );
    told(
        &|stage| stage.context[0].content = Arc::new(Content::single("goal", "the goal")),
        same_count,
    );
    let more = segment(SegmentKind::Goal, "more");
    told(
        &|stage| stage.context.push(more.clone()),
        "it is shown 2 segments, recorded were 1",
    );
    told(
        &|stage| stage.guidance = Guidance::SelfCheck,
        "the guidance is `SelfCheck`, recorded was `None`",
    );
    told(
        &|stage| stage.schema_mode = SchemaMode::Structured,
        "the schema mode is `Structured`, recorded was `Plain`",
    );
    told(
        &|stage| stage.tools.push(ToolId(0)),
        "its tools are `?`, recorded were none",
    );
}

/// A tag comes back in the context, and no model reads it.
#[test]
fn what_no_model_reads_does_not_count() {
    let mut stage = Stage::new();
    let own = |tag| SegmentKind::Own {
        turn: OwnTurn::Final,
        tag,
    };
    stage.context.push(segment(own(1), "said"));
    let mut player = recorded(&stage, 1);
    stage.context[1].kind = own(2);
    stage.briefing.goals.push("a goal that is not shown".into());
    stage.ask(&mut player).unwrap();
}

#[test]
fn an_agent_that_said_nothing_is_told_with_those_that_did() {
    let mut stage = Stage::new();
    let mut player = recorded(&stage, 1);
    stage.agent = AgentId(1);
    let failure = stage.failure(&mut player);
    assert!(
        failure.starts_with("agent `worker`, episode 0, turn 0: the recording has no completion"),
        "{failure}"
    );
    assert!(failure.contains("those of `planner`"), "{failure}");
}

#[test]
fn a_derivation_from_what_was_not_shown_is_told() {
    let stage = Stage::new();
    let (mut model, lines) = recorder(Counting::default());
    stage.ask(&mut model).unwrap();
    let line = lines.try_iter().next().unwrap();
    for (from, to) in [
        (r#""segment":0"#, r#""segment":4000000000"#),
        (r#""field":0"#, r#""field":7"#),
    ] {
        let changed = line.replace(from, to);
        assert_ne!(changed, line);
        let recording = Recording::parse(&format!("{HEADER}\n{changed}")).unwrap();
        let failure = stage.failure(&mut Recorded::new(recording));
        assert!(failure.contains("line 2 of the recording"), "{failure}");
    }
}

/// The turns of the kit are none that were recorded: there the player fails, always in the same way.
#[test]
fn player_and_recorder_keep_the_laws() {
    struct Writing;
    impl PreparedModel for Writing {
        fn make(&self) -> Box<dyn ModelBackend> {
            let inner = Box::new(Counting::default());
            Box::new(Recorder::new(inner, Box::new(drop)))
        }
    }
    let kept = |violations: Vec<_>| assert!(violations.is_empty(), "{:?}", violations.first());
    let stage = Stage::new();
    kept(check_model(&recorded(&stage, 3), 60));
    let written = check_model(&Writing, 60);
    // `Counting` points at a first segment even where there is none; the recorder adds no fault.
    let refers = plugins::conformance::Law::RefersToWhatExists;
    kept(
        written
            .into_iter()
            .filter(|found| found.law != refers)
            .collect(),
    );
}

#[test]
fn a_wrong_recording_is_refused_at_its_place() {
    let second = LINE.replace("\"turn\":0", "\"turn\":1");
    for (text, line, says) in [
        (String::new(), 1, "the line is empty"),
        ("[]".to_owned(), 1, "expected an object with `recording`"),
        ("{}".to_owned(), 1, "missing field `recording`"),
        (LINE.to_owned(), 1, "missing field `recording`"),
        (HEADER.replace("\"s\"", "3"), 1, "expected a string"),
        (HEADER.replace('}', ",\"x\":1}"), 1, "unknown field `x`"),
        (format!("{HEADER}\n\n{LINE}"), 2, "the line is empty"),
        (
            format!("{HEADER}\n{}", &LINE[..70]),
            2,
            "the line breaks off",
        ),
        (format!("{HEADER}\n{LINE} {LINE}"), 2, "trailing characters"),
        (
            format!("{HEADER}\n{LINE}\n{LINE}"),
            3,
            "given twice, first on line 2",
        ),
        (
            format!("{HEADER}\n{second}"),
            2,
            "turn 0 of agent `a` in episode 0 is missing",
        ),
        (
            format!(
                "{HEADER}\n{}",
                LINE.replace("\"turn\":0", "\"turn\":4294967295")
            ),
            2,
            "is missing before turn 4294967295",
        ),
        (
            format!(
                "{HEADER}\n{}",
                LINE.replace("\"turn\":0", "\"turn\":99999999999999999999")
            ),
            2,
            "expected a whole number",
        ),
        (
            format!("{HEADER}\n{}", LINE.replace("\"turn\":0", "\"turn\":-1")),
            2,
            "expected a whole number",
        ),
        (
            format!("{HEADER}\n{}", LINE.replace("\"x\"", "[[[[")),
            2,
            "expected a string",
        ),
        (
            format!("{HEADER}\n{}", LINE.replace("\"x\"", &"[".repeat(100_000))),
            2,
            "expected a string",
        ),
        (
            format!("{HEADER}\n{}", LINE.replace("abcdef\"", "abcdeg\"")),
            2,
            "`context` is no hash of 32 digits",
        ),
    ] {
        let error = refused(&text);
        assert_eq!(error.line, line, "{error}");
        assert!(error.message.contains(says), "{error}");
        assert!(error.help.contains("--record FILE"), "{error:?}");
        assert!(!error.is_other_version);
    }
}

#[test]
fn a_recording_of_another_version_is_refused_as_that() {
    let error = refused(&HEADER.replace('1', "2"));
    assert!(error.is_other_version, "{error}");
    assert!(refused(&HEADER.replace('1', "18446744073709551615")).is_other_version);
}

#[test]
fn a_place_is_counted_in_characters() {
    let line = LINE.replace("\"x\"", "\"ä\",\"ö\":1");
    let error = refused(&format!("{HEADER}\n{line}"));
    let before = line[..line.find("\"ö\"").unwrap()].chars().count();
    assert!((before..before + 5).contains(&error.column), "{error}");
}

#[test]
fn a_recording_has_a_limit_of_bytes_and_lines() {
    let error = refused(&" ".repeat(MAX_RECORDING_BYTES + 1));
    assert!(
        error.message.contains("more than 67108864 bytes"),
        "{error}"
    );
    let mut text = HEADER.to_owned();
    for turn in 0..=MAX_COMPLETIONS {
        let line = LINE.replace("\"turn\":0", &format!("\"turn\":{turn}"));
        write!(text, "\n{line}").unwrap();
    }
    let error = refused(&text);
    assert!(
        error.message.contains("more than 100000 completions"),
        "{error}"
    );
    let cut = text.rsplit_once('\n').unwrap().0;
    assert!(Recording::parse(cut).is_ok());
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in r#"(\PC|\n|[{}\[\]",:0-9]){0,200}"#) {
        let _ = Recording::parse(&text);
        let _ = Recording::parse(&format!("{HEADER}\n{text}"));
    }

    #[test]
    fn a_recording_with_pieces_put_in_is_read_or_refused(
        at in 0..=LINE.len(),
        length in 0..20_usize,
        piece in r#"([{}\[\]",:0-9a-z]|\PC){0,10}"#,
    ) {
        let end = (at + length).min(LINE.len());
        let line = format!("{}{piece}{}", &LINE[..at], &LINE[end..]);
        let text = format!("{HEADER}\n{line}");
        if let Ok(recording) = Recording::parse(&text) {
            let _ = Stage::new().ask(&mut Recorded::new(recording));
        }
    }
}
