//! An auditor that is a process.

use std::sync::Arc;

use plugins::auditor::{Auditor, Finding};
use plugins::briefing::Briefing;
use plugins::draws::{Draws, RolloutKey};
use plugins::fault::PLUGIN_FAULT;
use plugins::ids::NodeId;
use plugins::label::LabelTable;
use plugins::policy::{View, is_rule_name};
use plugins::trace::Prefix;

use crate::hear::{Findings, Found};
use crate::pool::Pool;
use crate::session::Session;
use crate::tell::{self, Object, Question};

/// An auditor. It is told each trace from the beginning.
pub(crate) struct ProcessAuditor {
    pool: Arc<Pool>,
}

impl ProcessAuditor {
    pub(crate) fn new(pool: Arc<Pool>) -> Self {
        Self { pool }
    }
}

impl Auditor for ProcessAuditor {
    /// After a fault there is one finding, [`PLUGIN_FAULT`] at the last node, because a trace that
    /// nobody has read is not one without findings.
    fn audit(&self, prefix: Prefix<'_>, labels: &LabelTable, briefing: &Briefing) -> Vec<Finding> {
        let mut draws = Draws::new(RolloutKey::new(0, "auditor".into(), 0));
        let last = prefix.events.last();
        let view = &View {
            briefing,
            prefix,
            labels,
            tick: last.map_or(0, |event| event.tick),
            episode: last.map_or(0, |event| event.episode),
            draws: &mut draws,
        };
        let question = Question {
            rollout: None,
            reset: &|| tell::briefing(briefing),
            events: prefix.events.len(),
            event: &|position| tell::event(view, position, true),
            facts: &Object::new,
        };
        let understand = |reply: &Findings| {
            let findings = reply.findings.iter();
            findings
                .map(|found| finding(found, prefix.nodes.len()))
                .collect()
        };
        let findings =
            Session::new(Arc::clone(&self.pool)).ask(None, "audit", question, understand);
        findings.unwrap_or_else(|| {
            let last = prefix.nodes.len().checked_sub(1);
            let failed = last.map(|node| Finding {
                node: NodeId::at(node),
                finding: PLUGIN_FAULT.into(),
            });
            failed.into_iter().collect()
        })
    }
}

fn finding(found: &Found, nodes: usize) -> Result<Finding, String> {
    if found.node as usize >= nodes {
        return Err(format!("there is no node {}", found.node));
    }
    if !is_rule_name(&found.finding) || found.finding == PLUGIN_FAULT {
        let finding = crate::hear::shortened(&found.finding);
        return Err(format!("`{finding}` is no name of a finding"));
    }
    Ok(Finding {
        node: NodeId(found.node),
        finding: found.finding.clone().into(),
    })
}
