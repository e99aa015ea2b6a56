//! Whether a script fits a world.

use plugins::briefing::Briefing;

use super::Script;
use super::error::suggest;
use super::file::{Argument, Choice, Condition, Origin, OriginKind, Part, Say, Step};

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Probably a slip; but a script may name what does not exist on purpose.
    Warning,
    /// Part of the script can never be said.
    Error,
}

/// Something in a script that the world does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// Where: the agent and the step, from 1.
    pub place: String,
    /// What is wrong.
    pub message: String,
    /// What would mend it.
    pub help: String,
}

impl Script {
    /// Compares the names in the script with those of a world, in file order.
    #[must_use]
    pub fn check(&self, briefing: &Briefing) -> Vec<Finding> {
        let names = Names::of(briefing);
        let mut findings = Vec::new();
        for (agent, steps) in &self.agents {
            if !names.agents.contains(&&**agent) {
                findings.push(Finding {
                    severity: Severity::Error,
                    place: format!("agent `{agent}`"),
                    message: format!("the world has no agent `{agent}`"),
                    help: suggest(agent, &names.agents),
                });
            }
            for (position, step) in steps.iter().enumerate() {
                let place = format!("agent `{agent}`, step {}", position + 1);
                names.check_step(step, &place, &mut findings);
            }
        }
        findings
    }
}

/// The names of a world.
struct Names<'b> {
    agents: Vec<&'b str>,
    tools: Vec<&'b str>,
    sources: Vec<&'b str>,
}

impl<'b> Names<'b> {
    fn of(briefing: &'b Briefing) -> Self {
        Self {
            agents: briefing.agents.iter().map(|agent| &*agent.name).collect(),
            tools: briefing.tools.iter().map(|tool| &*tool.name).collect(),
            sources: briefing
                .sources
                .iter()
                .map(|source| &*source.name)
                .collect(),
        }
    }

    fn check_step(&self, step: &Step, place: &str, findings: &mut Vec<Finding>) {
        match &step.say {
            Say::Call(tool, _) => expect("tool", tool, &self.tools, place, findings),
            Say::Delegate(to, _) => expect("agent", to, &self.agents, place, findings),
            Say::Final(_) => {}
        }
        for condition in &step.when {
            self.check_condition(condition, place, findings);
        }
        for origin in copied(&step.say) {
            self.check_origin(origin, place, findings);
        }
        if let Choice::From(origins) = &step.choice {
            for origin in origins {
                self.check_origin(origin, place, findings);
            }
        }
    }

    fn check_condition(&self, condition: &Condition, place: &str, findings: &mut Vec<Finding>) {
        match condition {
            Condition::Seen(origin) | Condition::NotSeen(origin) => {
                self.check_origin(origin, place, findings);
            }
            Condition::Denied(tool) | Condition::Committed(tool) => {
                expect("tool", tool, &self.tools, place, findings);
            }
            Condition::MessageFrom(agent) => {
                expect("agent", agent, &self.agents, place, findings);
            }
            Condition::Not(inner) => self.check_condition(inner, place, findings),
            Condition::Episode(_) | Condition::Chance(_) | Condition::Guidance(_) => {}
        }
    }

    fn check_origin(&self, origin: &Origin, place: &str, findings: &mut Vec<Finding>) {
        if self.sources.contains(&&*origin.name) {
            return;
        }
        match &origin.kind {
            OriginKind::Goal | OriginKind::Message => {}
            OriginKind::MessageFrom(agent) => {
                expect("agent", agent, &self.agents, place, findings);
            }
            OriginKind::Tool(tool) => expect("tool", tool, &self.tools, place, findings),
            OriginKind::Source => expect("source", &origin.name, &self.sources, place, findings),
        }
    }
}

/// Warns if `name` is none of `known`.
fn expect(kind: &str, name: &str, known: &[&str], place: &str, findings: &mut Vec<Finding>) {
    if !known.contains(&name) {
        findings.push(Finding {
            severity: Severity::Warning,
            place: place.to_owned(),
            message: format!("the world has no {kind} `{name}`"),
            help: suggest(name, known),
        });
    }
}

/// Every origin that is copied from.
fn copied(say: &Say) -> Vec<&Origin> {
    let parts: Vec<&Part> = match say {
        Say::Call(_, arguments) => arguments
            .0
            .iter()
            .flat_map(|(_, argument)| match argument {
                Argument::Text(parts) => parts.iter().collect(),
                Argument::List(items) => items.iter().flatten().collect(),
                Argument::Integer(_) | Argument::Boolean(_) => Vec::new(),
            })
            .collect(),
        Say::Delegate(_, fields) => fields.0.iter().flat_map(|(_, parts)| parts).collect(),
        Say::Final(parts) => parts.iter().collect(),
    };
    parts
        .into_iter()
        .filter_map(|part| match part {
            Part::Copy(origin, _) => Some(origin),
            Part::Goal(_) | Part::Own(_) => None,
        })
        .collect()
}
