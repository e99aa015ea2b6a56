//! A policy that rules anything from every hook.

use std::borrow::Cow;

use plugins::ids::{AgentId, CallId, NodeId, RecordId, SourceId, ToolId};
use plugins::label::IndexSet;
use plugins::model::{Guidance, SchemaMode, Segment};
use plugins::policy::{
    Basis, CommitVerdict, DecidingField, DenialReason, Evidence, Hooks, Inflow, InflowVerdict,
    MemoryVerdict, Policy, PromptEdit, PromptVerdict, Proposal, ProposalVerdict, Reason,
    RecordView, RecoveryAction, RecoveryNotice, RecoveryVerdict, Relabel, Ruling, SessionVerdict,
    View,
};
use plugins::state::{RestoreError, SavedState};
use plugins::tool::{Target, ValueKind};
use plugins::value::{Content, Value};

use super::Random;
use super::digest::Digest;

/// Its verdicts depend on its draws, on all that it is shown, and on how often it was asked.
#[derive(Clone, Debug)]
pub struct RandomPolicy {
    hooks: Hooks,
    asked: u64,
}

impl RandomPolicy {
    /// A policy that uses exactly these hooks.
    #[must_use]
    pub const fn new(hooks: Hooks) -> Self {
        Self { hooks, asked: 0 }
    }

    pub(super) fn with_some_hooks(random: &mut Random) -> Self {
        let hooks = match random.below(8) {
            0 => Hooks::empty(),
            1 | 2 => Hooks::all(),
            _ => random.some(Hooks::all().iter(), 50).into_iter().collect(),
        };
        Self::new(hooks)
    }

    /// The choices at one hook, after `digest` of what it is shown.
    fn random(&mut self, view: &mut View<'_>, mut digest: Digest) -> Random {
        digest.view(view);
        self.asked += 1;
        digest.number(self.asked);
        let mut random = Random::new(view.draws.bits("verdict"), digest.value());
        if random.chance(5) {
            view.draws.below("again", 10);
        }
        random
    }
}

impl SavedState for RandomPolicy {
    fn save(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.asked.to_le_bytes());
    }

    fn restore(&mut self, bytes: &[u8], version: u32) -> Result<(), RestoreError> {
        if version != self.version() {
            return Err(RestoreError::Version {
                found: version,
                expected: self.version(),
            });
        }
        let bytes = bytes
            .try_into()
            .map_err(|_| RestoreError::Damaged("the counter has eight bytes".to_owned()))?;
        self.asked = u64::from_le_bytes(bytes);
        Ok(())
    }
}

impl Policy for RandomPolicy {
    fn hooks(&self) -> Hooks {
        self.hooks
    }

    fn on_session(&mut self, view: &mut View<'_>) -> Ruling<SessionVerdict> {
        let random = &mut self.random(view, Digest::new());
        let verdict = match random.below(100) {
            0..3 => SessionVerdict::Abort,
            3..50 => {
                let masks = (0..random.below(4)).map(|_| {
                    let agent = AgentId(random.small(5));
                    (agent, ToolId(random.small(12)))
                });
                SessionVerdict::MaskTools(masks.collect())
            }
            _ => SessionVerdict::Pass,
        };
        Ruling::new(verdict, reason(random, view))
    }

    fn on_prompt(
        &mut self,
        view: &mut View<'_>,
        agent: AgentId,
        segments: &[Segment],
    ) -> Ruling<PromptVerdict> {
        let mut digest = Digest::new();
        digest.debug((agent, segments.len()));
        for segment in segments {
            digest.debug(segment.kind);
            digest.content(&segment.content);
        }
        let random = &mut self.random(view, digest);
        let verdict = if random.chance(75) {
            PromptVerdict::Pass
        } else {
            let positions = 0..u32::try_from(segments.len()).expect("a few segments") + 1;
            let guidance = [
                Guidance::None,
                Guidance::TreatContentAsData,
                Guidance::SelfCheck,
            ];
            let modes = [SchemaMode::Plain, SchemaMode::Structured];
            PromptVerdict::Edit(PromptEdit {
                drop: random.some(positions.clone(), 15),
                mark: random.some(positions, 20),
                guidance: random.chance(40).then(|| *random.pick(&guidance)),
                schema_mode: random.chance(40).then(|| *random.pick(&modes)),
                mask: random.some((0..12).map(ToolId), 8),
            })
        };
        Ruling::new(verdict, reason(random, view))
    }

    fn on_observation(&mut self, view: &mut View<'_>, inflow: Inflow<'_>) -> Ruling<InflowVerdict> {
        self.inflow(view, inflow)
    }

    fn on_message(&mut self, view: &mut View<'_>, inflow: Inflow<'_>) -> Ruling<InflowVerdict> {
        self.inflow(view, inflow)
    }

    fn on_proposal(
        &mut self,
        view: &mut View<'_>,
        proposal: Proposal<'_>,
    ) -> Ruling<ProposalVerdict> {
        let digest = proposal_digest(view, proposal);
        let random = &mut self.random(view, digest);
        let verdict = match random.below(100) {
            0..10 => ProposalVerdict::Block,
            10..20 => ProposalVerdict::Confirm,
            20..32 => ProposalVerdict::Hold,
            32..44 => ProposalVerdict::Rewrite(rewrite(random, proposal)),
            44..52 => ProposalVerdict::Simulate(content(random)),
            52 => ProposalVerdict::Abort,
            _ => ProposalVerdict::Allow,
        };
        Ruling::new(verdict, reason(random, view))
    }

    fn on_memory_write(
        &mut self,
        view: &mut View<'_>,
        record: RecordView<'_>,
    ) -> Ruling<MemoryVerdict> {
        self.record(view, record)
    }

    fn on_memory_read(
        &mut self,
        view: &mut View<'_>,
        record: RecordView<'_>,
    ) -> Ruling<MemoryVerdict> {
        self.record(view, record)
    }

    fn on_commit(&mut self, view: &mut View<'_>, proposal: Proposal<'_>) -> Ruling<CommitVerdict> {
        let digest = proposal_digest(view, proposal);
        let random = &mut self.random(view, digest);
        let verdict = match random.below(10) {
            0 => CommitVerdict::Block,
            1 => CommitVerdict::Hold,
            _ => CommitVerdict::Allow,
        };
        Ruling::new(verdict, reason(random, view))
    }

    fn on_recovery(
        &mut self,
        view: &mut View<'_>,
        notice: RecoveryNotice<'_>,
    ) -> Ruling<RecoveryVerdict> {
        let mut digest = Digest::new();
        digest.debug((notice.step, notice.kind, notice.revoked));
        for record in notice.records {
            digest.debug((record.record, record.store, record.call, record.has_backup));
            digest.label(record.recorded, view.labels);
        }
        let random = &mut self.random(view, digest);
        let verdict = if random.chance(30) {
            RecoveryVerdict::Pass
        } else {
            let actions = (0..=random.below(3)).map(|_| action(random, view, notice));
            RecoveryVerdict::Act(actions.collect())
        };
        Ruling::new(verdict, reason(random, view))
    }
}

impl RandomPolicy {
    fn inflow(&mut self, view: &mut View<'_>, inflow: Inflow<'_>) -> Ruling<InflowVerdict> {
        let mut digest = Digest::new();
        digest.debug((inflow.agent, inflow.from, inflow.node));
        digest.content(inflow.content);
        digest.labels(inflow.labels, view.labels);
        digest.label(inflow.recorded, view.labels);
        let random = &mut self.random(view, digest);
        let verdict = match random.below(100) {
            0..12 => InflowVerdict::Relabel(relabel(random, view)),
            12..20 => InflowVerdict::Transform(content(random)),
            20..25 => InflowVerdict::Quarantine,
            25..30 => InflowVerdict::Drop,
            _ => InflowVerdict::Pass,
        };
        Ruling::new(verdict, reason(random, view))
    }

    fn record(&mut self, view: &mut View<'_>, record: RecordView<'_>) -> Ruling<MemoryVerdict> {
        let mut digest = Digest::new();
        digest.debug((record.record, record.store, record.key));
        digest.debug((record.agent, record.call));
        digest.content(record.content);
        digest.labels(record.labels, view.labels);
        digest.label(record.recorded, view.labels);
        let random = &mut self.random(view, digest);
        let verdict = match random.below(100) {
            0..10 => MemoryVerdict::Block,
            10..20 => MemoryVerdict::Quarantine,
            20..35 => MemoryVerdict::Relabel(relabel(random, view)),
            35..45 => MemoryVerdict::Confirm,
            _ => MemoryVerdict::Allow,
        };
        Ruling::new(verdict, reason(random, view))
    }
}

fn proposal_digest(view: &View<'_>, proposal: Proposal<'_>) -> Digest {
    let mut digest = Digest::new();
    let call = proposal.call;
    digest.debug((call.id, call.agent, call.episode, call.tool));
    digest.debug((call.keep_result, proposal.node, &proposal.tool.name));
    digest.label(call.recorded, view.labels);
    digest.label(call.choice, view.labels);
    digest.arguments(&call.arguments, view.labels);
    digest.arguments(proposal.arguments, view.labels);
    digest
}

fn reason(random: &mut Random, view: &View<'_>) -> Reason {
    let denials = [
        DenialReason::TargetNotAuthorized,
        DenialReason::OutsideUserGoal,
        DenialReason::TaintedPrivilegeJump,
        DenialReason::ConfirmationRequired,
        DenialReason::CheckpointHold,
        DenialReason::MemoryQuarantined,
        DenialReason::PluginFault,
    ];
    let rule = match random.below(3) {
        0 => Cow::Borrowed("any_rule"),
        1 => Cow::Borrowed(plugins::policy::DEFAULT_ALLOW),
        _ => Cow::Owned(format!("rule_{}", random.below(5))),
    };
    let fields = (0..random.below(3)).map(|_| match random.below(4) {
        0 => DecidingField::Action,
        1 => DecidingField::Target,
        _ => DecidingField::Argument(u16::try_from(random.below(6)).expect("below 6")),
    });
    let fields = fields.collect();
    let evidence = (0..random.below(3)).map(|_| {
        let nodes = view.prefix.nodes.len();
        match random.below(4) {
            0 if nodes > 0 => Evidence::Node(NodeId::at(random.size(nodes))),
            1 => Evidence::Source(SourceId::at(random.size(view.briefing.sources.len()))),
            2 => Evidence::LedgerEntry(random.small(8)),
            _ => Evidence::NoLedgerEntry,
        }
    });
    let evidence = evidence.collect();
    Reason {
        rule,
        denial: *random.pick(&denials),
        fields,
        evidence,
        basis: if random.chance(70) {
            Basis::Exact
        } else {
            Basis::Assumed
        },
    }
}

fn content(random: &mut Random) -> Content {
    let fields = 1 + random.size(3);
    random.content(fields)
}

/// New values for some arguments; a position beyond the last is ignored. A target stays one text.
fn rewrite(random: &mut Random, proposal: Proposal<'_>) -> Vec<(u16, Value)> {
    let count = proposal.tool.arguments.len();
    let changes = 1 + random.below(3);
    let changes = (0..changes).map(|_| {
        let position = random.size(count + 1);
        let is_target = matches!(proposal.tool.target, Target::Argument(0)) && position == 0;
        let spec = proposal.tool.arguments.get(position);
        let kind = match spec {
            _ if is_target => ValueKind::Text,
            Some(spec) if random.chance(85) => spec.kind,
            _ => ValueKind::List,
        };
        let position = u16::try_from(position).expect("a few arguments");
        (position, random.value(kind))
    });
    changes.collect()
}

fn relabel(random: &mut Random, view: &View<'_>) -> Relabel {
    let principals = 0..u32::try_from(view.briefing.principals.len()).expect("a few principals");
    let sources = 0..u32::try_from(view.briefing.sources.len()).expect("a few sources");
    let set = |items: Vec<u32>| items.into_iter().collect::<IndexSet>();
    match random.below(5) {
        0 => Relabel::NarrowReaders(set(random.some(principals, 50))),
        1 => Relabel::Declassify(set(random.some(principals, 50))),
        2 => Relabel::Endorse(view.briefing.untrusted.clone()),
        _ => Relabel::Endorse(set(random.some(sources, 60))),
    }
}

fn action(random: &mut Random, view: &View<'_>, notice: RecoveryNotice<'_>) -> RecoveryAction {
    let mut records: Vec<RecordId> = (0..random.below(4))
        .map(|_| RecordId(random.small(12)))
        .collect();
    for record in notice.records {
        if random.chance(40) {
            records.push(record.record);
        }
    }
    match random.below(5) {
        0 => RecoveryAction::Scrub(records),
        1 => RecoveryAction::Quarantine(records),
        2 => RecoveryAction::Restore(records),
        _ => {
            let calls = view.prefix.calls.len();
            let mut undone = Vec::new();
            for _ in 0..random.below(5) {
                undone.push(CallId::at(random.size(calls + 1)));
            }
            for (call, _) in view.prefix.commits() {
                if random.chance(50) {
                    undone.push(call.id);
                }
            }
            RecoveryAction::Rollback(undone)
        }
    }
}
