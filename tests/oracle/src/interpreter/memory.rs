//! Section 4: automatic persistence, recovery and undo.

use plugins::ids::{AgentId, CallId, NodeId, RecordId, StoreId};
use plugins::label::LabelId;
use plugins::policy::{
    Hook, MemoryVerdict, RecordSummary, RecordView, RecoveryAction, RecoveryNotice,
    RecoveryVerdict, Ruling, Verdict, VerdictKind,
};
use plugins::tool::Undo;
use plugins::trace::{EdgeKind, Happening, NodeDetail, NodeKind, RecoveryKind, Subject};
use plugins::value::Text;
use worlds::spec::{MemoryMode, RecoveryOperation, RecoveryScope};

use super::Run;
use super::ask::ask;
use super::state::{AnsweredStep, Due, Flow, Record};

impl Run<'_> {
    pub(super) fn persist(&mut self, write: u32, agent: AgentId) {
        let write = &self.automatic_writes[write as usize];
        let (store, state) = (write.store, write.state);
        let mut flow = Flow {
            content: write.content.clone(),
            fields: write.fields,
            recorded: self.recorded(state),
            taint: true,
        };
        self.automatic_writes_of[store.index()] += 1;
        let number = self.automatic_writes_of[store.index()];
        let name = &self.scenario.briefing.agents[agent.index()].name;
        let key: Text = format!("{name}/{number}").into();
        if let Some(filter) = self.refused(store, &key, flow.recorded) {
            return self.emit(Happening::Filtered { store, filter });
        }
        let id = RecordId::at(self.records.len());
        let view = RecordView {
            record: id,
            store,
            key: &key,
            content: &flow.content,
            labels: &self.fields[flow.fields.range()],
            recorded: flow.recorded,
            agent: Some(agent),
            call: None,
        };
        let ruling = ask!(self, MEMORY_WRITE, on_memory_write(view));
        let Ruling { verdict, reason } = ruling;
        let kind = verdict.kind();
        let subject = Subject::Record(id);
        let allowed = match verdict {
            MemoryVerdict::Allow | MemoryVerdict::Quarantine => true,
            MemoryVerdict::Block => false,
            MemoryVerdict::Relabel(change) => {
                let (before, after) = self.relabel(&mut flow, &change);
                self.emit(Happening::Relabelled {
                    subject,
                    before,
                    after,
                });
                true
            }
            MemoryVerdict::Confirm => self.approved(subject, None),
        };
        if !allowed {
            let subject = Subject::Agent(agent);
            let decision = self.decision(state, subject, false);
            return self.ruled(Hook::MemoryWrite, subject, kind, reason, Some(decision));
        }
        let (record, node) = self.new_record(store, key, flow.content, flow.fields, None);
        self.edge_carrying(state, node, EdgeKind::Data, flow.taint, flow.recorded);
        let quarantined = kind == VerdictKind::Quarantine;
        self.stored(record, node, quarantined);
        let decision = self.decision(node, subject, quarantined);
        self.ruled(Hook::MemoryWrite, subject, kind, reason, Some(decision));
    }

    /// Happening `Quarantined`.
    pub(super) fn quarantine(&mut self, record: RecordId) {
        self.records[record.index()].quarantined = true;
        self.emit(Happening::Quarantined { record });
    }

    pub(super) fn recover(&mut self, step: u32) {
        let scenario = self.scenario;
        let operation = &scenario.recovery[step as usize].operation;
        let subject = Subject::Step(step);
        let mut revoked = None;
        let kind = match operation {
            RecoveryOperation::Scrub(scope) => {
                let victims = self.victims(scope);
                self.recover_records(subject, Some(step), RecoveryKind::Scrub, victims)
            }
            RecoveryOperation::Restore(scope) => {
                let victims = self.victims(scope);
                self.recover_records(subject, Some(step), RecoveryKind::Restore, victims)
            }
            RecoveryOperation::Quarantine(scope) => {
                let victims = self.victims(scope);
                self.recover_records(subject, Some(step), RecoveryKind::Quarantine, victims)
            }
            RecoveryOperation::Revoke(source) => {
                revoked = Some(*source);
                self.emit(Happening::Recovered {
                    step: Some(step),
                    kind: RecoveryKind::Revoke,
                    node: None,
                    removed: Vec::new(),
                });
                RecoveryKind::Revoke
            }
        };
        let records = self.record_summaries();
        let notice = RecoveryNotice {
            step,
            kind,
            revoked,
            records: &records,
        };
        let Ruling { verdict, reason } = ask!(self, RECOVERY, on_recovery(notice));
        if verdict.kind() != VerdictKind::Allow {
            self.ruled(Hook::Recovery, subject, verdict.kind(), reason, None);
        }
        let RecoveryVerdict::Act(actions) = verdict else {
            return;
        };
        for action in actions {
            if let RecoveryAction::Rollback(calls) = action {
                for call in calls {
                    self.schedule(self.tick + 1, Due::Undo(call));
                }
            } else {
                let answer = super::count(self.answered.len());
                self.answered.push(AnsweredStep { step, action });
                self.schedule(self.tick + 1, Due::Act(answer));
            }
        }
    }

    /// The live records of persistent stores, if the policy will be told.
    fn record_summaries(&self) -> Vec<RecordSummary> {
        if !self.hooks.contains(plugins::policy::Hooks::RECOVERY) {
            return Vec::new();
        }
        let is_persistent =
            |store: StoreId| self.scenario.stores[store.index()].mode == MemoryMode::Persistent;
        self.records
            .iter()
            .enumerate()
            .filter(|(_, record)| record.live && is_persistent(record.store))
            .map(|(id, record)| RecordSummary {
                record: RecordId::at(id),
                store: record.store,
                call: record.call,
                recorded: record.recorded,
                has_backup: self.backup(record.store, &record.key).is_some(),
            })
            .collect()
    }

    /// Live unquarantined records in scope whose recorded label is tainted, ascending.
    fn victims(&self, scope: &RecoveryScope) -> Vec<RecordId> {
        self.usable_records(|_, record| {
            scope.covers(record.store, &record.key) && self.tainted(record.recorded)
        })
    }

    fn usable_records(&self, wanted: impl Fn(RecordId, &Record) -> bool) -> Vec<RecordId> {
        let records = self.records.iter().enumerate();
        records
            .map(|(id, record)| (RecordId::at(id), record))
            .filter(|(id, record)| record.is_usable() && wanted(*id, record))
            .map(|(id, _)| id)
            .collect()
    }

    pub(super) fn act_on_step(&mut self, answer: u32) {
        let AnsweredStep { step, action } = &self.answered[answer as usize];
        let (kind, named) = match action {
            RecoveryAction::Scrub(records) => (RecoveryKind::Scrub, records),
            RecoveryAction::Quarantine(records) => (RecoveryKind::Quarantine, records),
            RecoveryAction::Restore(records) => (RecoveryKind::Restore, records),
            RecoveryAction::Rollback(_) => unreachable!("a rollback is scheduled as undo"),
        };
        let victims = self.usable_records(|id, _| named.contains(&id));
        self.recover_records(Subject::Step(*step), None, kind, victims);
    }

    /// One scrub, restore or quarantine.
    fn recover_records(
        &mut self,
        subject: Subject,
        step: Option<u32>,
        kind: RecoveryKind,
        mut victims: Vec<RecordId>,
    ) -> RecoveryKind {
        let backup = |run: &Self, victim: RecordId| {
            let record = &run.records[victim.index()];
            run.backup(record.store, &record.key)
        };
        let detail = match kind {
            RecoveryKind::Scrub => NodeDetail::Scrub,
            RecoveryKind::Restore => {
                victims.retain(|&victim| backup(self, victim).is_some());
                NodeDetail::Restore
            }
            RecoveryKind::Quarantine => NodeDetail::Quarantine,
            RecoveryKind::Revoke | RecoveryKind::Undo => unreachable!("not about named records"),
        };
        let touched: Vec<NodeId> = victims
            .iter()
            .map(|&victim| self.touch_record(victim))
            .collect();
        let decision = self.node(NodeKind::Decision, detail, subject, LabelId::BOTTOM);
        for from in touched {
            self.edge(from, decision, EdgeKind::Audit, false);
        }
        if kind == RecoveryKind::Quarantine {
            self.audit(decision, subject);
        }
        self.emit(Happening::Recovered {
            step,
            kind,
            node: Some(decision),
            removed: victims.clone(),
        });
        for &victim in &victims {
            if kind == RecoveryKind::Quarantine {
                self.quarantine(victim);
            } else {
                self.remove(victim, step);
            }
        }
        if kind == RecoveryKind::Restore {
            for victim in victims {
                let initial = backup(self, victim).expect("a victim of a restore has a backup");
                let (record, node, from) = self.copy_of(initial, None);
                self.edge(from, node, EdgeKind::Data, true);
                self.stored(record, node, false);
            }
        }
        kind
    }

    pub(super) fn undo(&mut self, call: CallId) {
        let Some(progress) = self.calls.get(call.index()) else {
            return;
        };
        let (stored, removed) = (progress.stored, progress.removed);
        let Some(effect) = progress.effect.filter(|_| !progress.undone) else {
            return;
        };
        let tool = self.tool(call);
        if tool.undo == Undo::Irrevocable {
            return;
        }
        let is_memory = tool.operation.written_store().is_some();
        let live = stored.filter(|record| self.records[record.index()].live);
        if is_memory && live.is_none() && removed.is_none() {
            return;
        }
        self.calls[call.index()].undone = true;
        let subject = Subject::Call(call);
        let about = if is_memory {
            stored.map(|record| self.touch_record(record))
        } else {
            Some(effect)
        };
        let decision = self.node(
            NodeKind::Decision,
            NodeDetail::Undo,
            subject,
            LabelId::BOTTOM,
        );
        if let Some(about) = about {
            self.edge(about, decision, EdgeKind::Audit, false);
        }
        self.emit(Happening::Recovered {
            step: None,
            kind: RecoveryKind::Undo,
            node: Some(decision),
            removed: live.into_iter().collect(),
        });
        if let Some(record) = live {
            self.remove(record, None);
        }
        let node = self.node(
            NodeKind::SideEffect,
            NodeDetail::Plain,
            subject,
            LabelId::BOTTOM,
        );
        self.emit(Happening::Undone { call, node });
        if let Some(earlier) = removed {
            let (record, memory, from) = self.copy_of(earlier, None);
            self.edge(node, memory, EdgeKind::Data, true);
            self.edge(from, memory, EdgeKind::Data, true);
            self.stored(record, memory, false);
        }
    }
}
