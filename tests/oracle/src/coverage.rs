//! What occurred in a set of rollouts, and what did not.

use std::collections::BTreeSet;
use std::fmt::Debug;

use plugins::action::{ActionClass, ParseStatus, Repairs};
use plugins::briefing::Channel;
use plugins::draws::Draws;
use plugins::model::{
    Guidance, ModelBackend, ModelFailure, OwnTurn, Reply, SchemaMode, SegmentKind, Turn,
};
use plugins::policy::{
    CommitVerdict, DenialReason, Hook, InflowVerdict, MemoryVerdict, PromptVerdict,
    ProposalVerdict, RecoveryVerdict, SessionVerdict, VerdictKind,
};
use plugins::state::{RestoreError, SavedState};
use plugins::tool::Operation;
use plugins::trace::{
    Answer, EdgeKind, Event, Happening, LimitKind, NodeDetail, NodeKind, Outcome, RecoveryKind,
    Subject, Trace,
};
use worlds::spec::{AfterSending, MemoryMode, Scenario, StoreFilter};

use crate::json::snake;

/// The variants of a closed enum; a new variant does not compile until it is listed.
macro_rules! variants {
    ($type:ident: $($variant:ident),*) => {{
        let _is_exhaustive = |value: &$type| match value { $($type::$variant { .. } => ()),* };
        [$(stringify!($variant)),*].as_slice()
    }};
}

/// The kinds of verdict that a hook can have ruled, by variant; the neutral one leaves a record only
/// where it is given a kind.
macro_rules! verdicts {
    ($type:ident { $($variant:ident => $kind:ident),* } neutral $neutral:ident $(=> $allow:ident)?) => {{
        let _is_exhaustive = |value: &$type| match value {
            $($type::$variant { .. } => (),)*
            $type::$neutral => (),
        };
        [$(VerdictKind::$kind,)* $(VerdictKind::$allow)?].as_slice()
    }};
}

/// Every hook; `rulings` does not compile without one.
const HOOKS: [Hook; 9] = [
    Hook::Session,
    Hook::Prompt,
    Hook::Observation,
    Hook::Message,
    Hook::Proposal,
    Hook::MemoryWrite,
    Hook::MemoryRead,
    Hook::Commit,
    Hook::Recovery,
];

fn rulings(hook: Hook) -> &'static [VerdictKind] {
    let inflow = verdicts!(InflowVerdict {
        Relabel => Relabel, Transform => Edit, Quarantine => Quarantine, Drop => Drop
    } neutral Pass);
    match hook {
        Hook::Session => {
            verdicts!(SessionVerdict { MaskTools => Edit, Abort => Abort } neutral Pass)
        }
        Hook::Prompt => verdicts!(PromptVerdict { Edit => Edit } neutral Pass),
        Hook::Observation | Hook::Message => inflow,
        Hook::Proposal => verdicts!(ProposalVerdict {
            Block => Block, Confirm => Confirm, Hold => Hold, Rewrite => Rewrite,
            Simulate => Simulate, Abort => Abort
        } neutral Allow => Allow),
        Hook::MemoryWrite => verdicts!(MemoryVerdict {
            Block => Block, Quarantine => Quarantine, Relabel => Relabel, Confirm => Confirm
        } neutral Allow => Allow),
        Hook::MemoryRead => verdicts!(MemoryVerdict {
            Block => Block, Quarantine => Quarantine, Relabel => Relabel, Confirm => Confirm
        } neutral Allow),
        Hook::Commit => verdicts!(CommitVerdict { Block => Block, Hold => Hold } neutral Allow),
        Hook::Recovery => verdicts!(RecoveryVerdict { Act => Act } neutral Pass),
    }
}

/// What occurred, as `group:name`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    seen: BTreeSet<String>,
}

impl Coverage {
    /// Everything that can occur.
    #[must_use]
    pub fn everything() -> Self {
        let mut all = Self::default();
        for (group, names) in closed_enums() {
            for name in names {
                all.see(group, &snake_words(name));
            }
        }
        // An agent that gave its final answer is never called again.
        all.seen.remove("own_turn:final");
        for (name, _) in Repairs::all().iter_names() {
            all.see("repair", &name.to_lowercase());
        }
        for hook in HOOKS {
            for verdict in rulings(hook) {
                all.see_ruling(hook, *verdict);
            }
        }
        all
    }

    /// What can occur and did not.
    #[must_use]
    pub fn missing(&self) -> Vec<String> {
        let everything = Self::everything().seen;
        everything.difference(&self.seen).cloned().collect()
    }

    /// What occurred and was not thought possible.
    #[must_use]
    pub fn unexpected(&self) -> Vec<String> {
        let everything = Self::everything().seen;
        self.seen.difference(&everything).cloned().collect()
    }

    /// Notes what occurred in one rollout.
    pub fn add(&mut self, trace: &Trace, scenario: &Scenario) {
        for node in &trace.nodes {
            self.see_variant("node", &node.kind);
            self.see_variant("detail", &node.detail);
            match (node.kind, node.subject) {
                (NodeKind::Source, Subject::Source(source)) => {
                    let channel = scenario.briefing.sources[source.index()].channel;
                    self.see_variant("channel", &channel);
                }
                (NodeKind::Memory, Subject::Record(record)) => {
                    let initial = scenario
                        .stores
                        .iter()
                        .map(|store| store.records.len())
                        .sum();
                    if record.index() < initial {
                        self.see_variant("channel", &Channel::PersistentMemory);
                    }
                }
                _ => {}
            }
        }
        for edge in &trace.edges {
            self.see_variant("edge", &edge.kind);
        }
        for event in &trace.events {
            self.see_variant("happening", &event.what);
            self.happening(event, trace, scenario);
        }
    }

    fn happening(&mut self, event: &Event, trace: &Trace, scenario: &Scenario) {
        match &event.what {
            Happening::Completed {
                class,
                status,
                repairs,
                ..
            } => {
                self.see_variant("class", class);
                self.see_variant("status", status);
                for (name, _) in repairs.iter_names() {
                    self.see("repair", &name.to_lowercase());
                }
            }
            Happening::Ruled { hook, verdict, .. } => self.see_ruling(*hook, *verdict),
            Happening::Asked { answer, .. } => self.see_variant("answer", answer),
            Happening::Denied { reason, .. } => self.see_variant("denial", reason),
            Happening::Proposed { call } => {
                let tool = trace.calls[call.index()].tool;
                let operation = scenario.briefing.tools[tool.index()].operation;
                self.see_variant("operation", &operation);
            }
            Happening::Sent { to, .. } => {
                let channel = event.agent.and_then(|from| scenario.channel(from, *to));
                if let Some(channel) = channel {
                    self.see_variant("after_sending", &channel.after);
                }
            }
            Happening::Stored { store, .. } => {
                self.see_variant("memory_mode", &scenario.stores[store.index()].mode);
            }
            Happening::Filtered { store, filter } => {
                let filters = &scenario.stores[store.index()].filters;
                self.see_variant("filter", &filters[*filter as usize]);
            }
            Happening::Recovered { kind, .. } => self.see_variant("recovery", kind),
            Happening::Ended { outcome } => {
                self.see_variant("outcome", outcome);
                if let Outcome::LimitReached(kind) = outcome {
                    self.see_variant("limit", kind);
                }
            }
            _ => {}
        }
    }

    fn see(&mut self, group: &str, name: &str) {
        self.seen.insert(format!("{group}:{name}"));
    }

    fn see_variant(&mut self, group: &str, variant: &impl Debug) {
        self.see(group, &snake(variant));
    }

    fn see_ruling(&mut self, hook: Hook, verdict: VerdictKind) {
        self.see("ruling", &format!("{}:{}", snake(&hook), snake(&verdict)));
    }
}

/// Every group of which all variants must occur.
#[expect(clippy::too_many_lines, reason = "one table")]
fn closed_enums() -> [(&'static str, &'static [&'static str]); 20] {
    [
        (
            "node",
            variants!(NodeKind:
            Source, AgentState, Message, Memory, Proposal, ToolResult, Decision, SideEffect),
        ),
        (
            "detail",
            variants!(NodeDetail:
            Plain, FinalAnswer, SelfCheck, TaskRecord, Scrub, Restore, Quarantine, Audit, Undo),
        ),
        (
            "edge",
            variants!(EdgeKind: Data, Delegation, Control, Temporal, Audit),
        ),
        (
            "channel",
            variants!(Channel:
            Goal, RetrievedDocument, ToolResult, InterAgentMessage, PersistentMemory),
        ),
        (
            "happening",
            variants!(Happening:
            EpisodeBegan, Delivered, Completed, Proposed, Sent, Finished, Ruled, Asked,
            HoldReleased, Denied, Committed, Observed, Acknowledged, Stored, Removed, Quarantined,
            Filtered, Recovered, Undone, Relabelled, Rewritten, Drawn, Ended),
        ),
        (
            "class",
            variants!(ActionClass: Valid, Delegate, Final, InvalidTool, InvalidSchema),
        ),
        (
            "status",
            variants!(ParseStatus: ValidStrictJson, ValidRepairedJson, InvalidSchema),
        ),
        ("answer", variants!(Answer: Approved, Denied, Absent)),
        (
            "denial",
            variants!(DenialReason:
            TargetNotAuthorized, OutsideUserGoal, TaintedPrivilegeJump, ConfirmationRequired,
            CheckpointHold, MemoryQuarantined, PluginFault),
        ),
        (
            "operation",
            variants!(Operation:
            ReadSource, ReturnSource, Act, MemoryRead, MemoryWrite, MemoryUpdate, MemoryDelete,
            MemoryRestore),
        ),
        (
            "after_sending",
            variants!(AfterSending: HandOff, Continue, AwaitReply),
        ),
        ("memory_mode", variants!(MemoryMode: Session, Persistent)),
        (
            "filter",
            variants!(StoreFilter:
            RefuseUntrustedWrites, HideUntrustedReads, RefuseKeyPrefix),
        ),
        (
            "recovery",
            variants!(RecoveryKind: Scrub, Restore, Quarantine, Revoke, Undo),
        ),
        (
            "outcome",
            variants!(Outcome: Completed, LimitReached, Errored),
        ),
        (
            "limit",
            variants!(LimitKind: Ticks, Events, Queue, Turns, Delegations, Text),
        ),
        (
            "segment",
            variants!(SegmentKind:
            Goal, Message, Own, Observation, Acknowledged, Denied, Rejected),
        ),
        (
            "own_turn",
            variants!(OwnTurn: Call, Delegate, Final, Invalid),
        ),
        (
            "guidance",
            variants!(Guidance: None, TreatContentAsData, SelfCheck),
        ),
        ("schema_mode", variants!(SchemaMode: Plain, Structured)),
    ]
}

/// The snake-case name of a variant given in words.
fn snake_words(name: &str) -> String {
    struct Name<'a>(&'a str);
    impl Debug for Name<'_> {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str(self.0)
        }
    }
    snake(&Name(name))
}

/// A model that notes what it is shown.
pub struct Watched<'a> {
    model: &'a mut dyn ModelBackend,
    coverage: &'a mut Coverage,
}

impl<'a> Watched<'a> {
    /// Watches `model`.
    pub fn new(model: &'a mut dyn ModelBackend, coverage: &'a mut Coverage) -> Self {
        Self { model, coverage }
    }
}

impl SavedState for Watched<'_> {
    fn version(&self) -> u32 {
        self.model.version()
    }

    fn save(&self, out: &mut Vec<u8>) {
        self.model.save(out);
    }

    fn restore(&mut self, bytes: &[u8], version: u32) -> Result<(), RestoreError> {
        self.model.restore(bytes, version)
    }
}

impl ModelBackend for Watched<'_> {
    fn complete(
        &mut self,
        turn: Turn<'_>,
        draws: &mut Draws,
        reply: &mut Reply,
    ) -> Result<(), ModelFailure> {
        self.coverage.see_variant("guidance", &turn.guidance);
        self.coverage.see_variant("schema_mode", &turn.schema_mode);
        for segment in turn.context {
            self.coverage.see_variant("segment", &segment.kind);
            if let SegmentKind::Own { turn, .. } = segment.kind {
                self.coverage.see_variant("own_turn", &turn);
            }
        }
        self.model.complete(turn, draws, reply)
    }
}

#[cfg(test)]
mod tests {
    use plugins::briefing::Trust;

    use super::{Coverage, Watched};
    use crate::generate::WorldSeed;
    use crate::interpreter::{Interpreter, run};
    use crate::json::{Heading, render};
    use crate::numbers::Numbers;
    use crate::plain_parser::PlainParser;

    const WORLDS: u64 = 3_000;

    const HEADING: Heading<'_> = Heading {
        policy: "random",
        model: "random",
        redacted: false,
    };

    /// Only the parser of Appendix I repairs more than a code fence.
    fn needs_another_parser(name: &str) -> bool {
        name.starts_with("repair:") && name != "repair:fence"
    }

    #[test]
    fn everything_occurs_and_every_law_holds_in_random_rollouts() {
        let mut coverage = Coverage::default();
        let mut interpreter = Interpreter::default();
        for seed in (0..WORLDS).map(WorldSeed) {
            let scenario = seed.scenario();
            let setting = seed.setting();
            let mut model = seed.model();
            let mut watched = Watched::new(&mut model, &mut coverage);
            let policy = &mut seed.policy();
            let history = interpreter.run(&scenario, policy, &mut watched, &PlainParser, &setting);
            coverage.add(&history.trace, &scenario);
            let text = render(history, &scenario, &setting, HEADING);
            let sources = scenario.briefing.sources.iter();
            let untrusted = sources
                .filter(|source| source.trust == Trust::Untrusted)
                .map(|source| source.name.to_string())
                .collect();
            let numbers = Numbers::read(&text, &untrusted).expect("a rendered trace");
            assert!(
                numbers.violations.is_empty(),
                "{seed:?}: {:?}\n{text}",
                numbers.violations
            );
        }
        let missing: Vec<String> = coverage.missing();
        let missing = missing.iter().filter(|name| !needs_another_parser(name));
        assert_eq!(missing.collect::<Vec<_>>(), Vec::<&String>::new());
        assert_eq!(coverage.unexpected(), Vec::<String>::new());
    }

    #[test]
    fn a_used_interpreter_plays_like_a_fresh_one() {
        let mut interpreter = Interpreter::default();
        for seed in (0..300).map(WorldSeed) {
            let scenario = seed.scenario();
            let setting = seed.setting();
            let policy = &mut seed.policy();
            let fresh = run(&scenario, policy, &mut seed.model(), &PlainParser, &setting);
            let policy = &mut seed.policy();
            let used =
                interpreter.run(&scenario, policy, &mut seed.model(), &PlainParser, &setting);
            assert_eq!(
                render(&fresh, &scenario, &setting, HEADING),
                render(used, &scenario, &setting, HEADING),
                "{seed:?}"
            );
        }
    }
}
