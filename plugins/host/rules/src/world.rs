//! What a file names and a world does not have.

use std::collections::BTreeSet;

use plugins::briefing::Briefing;
use plugins::loaded::Mistake;

use crate::nearest::advice;
use crate::read::{Kind, MOST_MISTAKES, Mention};

/// Names that are looked through for the nearest.
const MOST_NAMES: usize = 1_000;

/// A warning for each name that `briefing` does not have.
pub(crate) fn strangers(mentions: &[Mention], briefing: &Briefing) -> Vec<Mistake> {
    let known = Known::of(briefing);
    let mut strangers: Vec<&Mention> = mentions
        .iter()
        .filter(|mention| !known.of_kind(mention.kind).1.contains(&*mention.name))
        .collect();
    strangers.sort_by_key(|mention| mention.place.start);
    let untold = strangers.len().saturating_sub(MOST_MISTAKES);
    let told = strangers.into_iter().take(MOST_MISTAKES);
    let mut warnings: Vec<Mistake> = told
        .map(|mention| {
            let (what, names) = known.of_kind(mention.kind);
            let name = crate::text::shortened(&mention.name);
            let message = format!("the world has no {what} `{name}`");
            let warning = Mistake::new(message).at(mention.place.clone());
            let near: Vec<&str> = names.iter().take(MOST_NAMES).map(|name| &**name).collect();
            match advice(&mention.name, &near) {
                Some(advice) => warning.help(advice),
                None => warning,
            }
        })
        .collect();
    if untold > 0 {
        warnings.push(Mistake::new(format!("{untold} names more are not there")));
    }
    warnings
}

/// The names of a world, of each kind.
struct Known {
    tools: BTreeSet<String>,
    agents: BTreeSet<String>,
    arguments: BTreeSet<String>,
    sources: BTreeSet<String>,
    principals: BTreeSet<String>,
    stores: BTreeSet<String>,
}

impl Known {
    fn of(briefing: &Briefing) -> Self {
        let tools = briefing.tools.iter();
        let arguments = tools.clone().flat_map(|tool| &tool.arguments);
        let stores = tools.clone().filter_map(|tool| store_of(tool.operation));
        let principals = briefing.principals.iter();
        Self {
            arguments: arguments
                .flat_map(|argument| std::iter::once(&argument.name).chain(&argument.aliases))
                .map(|name| name.to_string())
                .collect(),
            stores: stores.map(|store| store.to_string()).collect(),
            tools: tools.map(|tool| tool.name.to_string()).collect(),
            agents: names(briefing.agents.iter().map(|agent| &agent.name)),
            sources: names(briefing.sources.iter().map(|source| &source.name)),
            principals: names(principals),
        }
    }

    fn of_kind(&self, kind: Kind) -> (&'static str, &BTreeSet<String>) {
        match kind {
            Kind::Tool => ("tool", &self.tools),
            Kind::Agent => ("agent", &self.agents),
            Kind::Argument => ("tool with an argument", &self.arguments),
            Kind::Source => ("source", &self.sources),
            Kind::Principal => ("reader", &self.principals),
            Kind::Store => ("tool that uses the store", &self.stores),
        }
    }
}

fn names<'a>(names: impl Iterator<Item = &'a plugins::value::Text>) -> BTreeSet<String> {
    names.map(|name| name.to_string()).collect()
}

/// The number of the store that a tool reads or changes.
fn store_of(operation: plugins::tool::Operation) -> Option<u32> {
    match operation {
        plugins::tool::Operation::MemoryRead(store) => Some(store.0),
        other => other.written_store().map(|store| store.0),
    }
}
