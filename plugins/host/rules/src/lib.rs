//! Policies and metrics written as rules in a RON file, for whoever has no language at hand.
//!
//! A file is read once into typed predicates ([`load`]); a decision then compares, and reads nothing.
//! Every mistake of a file is told at once, at its place. Where a fact is missing, logic has three
//! values, and a decision that hangs on what is not known is a refusal unless the file says otherwise.
//! `docs/book/rules.md` is the reference of the grammar.

mod answer;
mod check;
mod evaluate;
mod file;
mod history;
mod logic;
mod metrics;
mod nearest;
mod policy;
mod predicate;
mod read;
mod recover;
mod relabel;
mod scene;
mod text;
mod words;
mod world;

use std::sync::Arc;

use plugins::briefing::Briefing;
use plugins::loaded::{LoadedPolicy, Mistake};

pub use metrics::{Measured, Metrics};
use policy::RulesPolicy;
pub use read::file::MAX_RULES;
pub use read::metrics::MAX_METRICS;
use read::{Mention, Reader};
use text::Node;
pub use text::{MAX_BYTES, MAX_DEPTH, MAX_VALUES};

/// The host's name in a reference such as `rules:FILE`.
pub const KIND: &str = "rules";
/// The version of the grammar that is read.
pub const VERSION: u32 = 1;

/// Reads a policy.
///
/// # Errors
/// Every mistake of the file, in the order of the text.
pub fn load(text: &str) -> Result<LoadedPolicy, Vec<Mistake>> {
    let (rules, _) = read(text, Reader::rules)?;
    let summary = rules.summary.clone();
    let rules = Arc::new(rules);
    Ok(LoadedPolicy {
        kind: KIND,
        version: VERSION,
        summary,
        content: plugins::loaded::content_hash([text.as_bytes()]),
        make: Arc::new(move || Box::new(RulesPolicy::new(Arc::clone(&rules)))),
        faults: None,
    })
}

/// Reads metrics.
///
/// # Errors
/// Every mistake of the file, in the order of the text.
pub fn load_metrics(text: &str) -> Result<Metrics, Vec<Mistake>> {
    let (metrics, _) = read(text, Reader::metrics)?;
    Ok(Metrics {
        metrics,
        content: plugins::loaded::content_hash([text.as_bytes()]),
    })
}

/// What a file of rules or metrics names and the world of `briefing` does not have: tools, agents,
/// arguments, sources, readers and stores. Such a file can be used, but hardly as it was meant. A file
/// that cannot be read gives its mistakes instead.
#[must_use]
pub fn validate(text: &str, briefing: &Briefing) -> Vec<Mistake> {
    let mentions = if is_metrics(text) {
        read(text, Reader::metrics).map(|(_, mentions)| mentions)
    } else {
        read(text, Reader::rules).map(|(_, mentions)| mentions)
    };
    match mentions {
        Ok(mentions) => world::strangers(&mentions, briefing),
        Err(mistakes) => mistakes,
    }
}

/// Whether a text says that it is metrics rather than rules.
#[must_use]
pub fn is_metrics(text: &str) -> bool {
    text::tree(text).is_ok_and(|root| root.word() == "Metrics")
}

/// What a text says, and the names of a world that it mentions.
fn read<T>(
    text: &str,
    say: impl FnOnce(&mut Reader, &Node<'_>) -> Option<T>,
) -> Result<(T, Vec<Mention>), Vec<Mistake>> {
    let root = text::tree(text).map_err(|mistake| vec![mistake])?;
    let mut reader = Reader::default();
    match say(&mut reader, &root) {
        Some(said) if reader.is_clean() => Ok((said, reader.mentions)),
        _ => Err(reader.into_mistakes()),
    }
}

#[cfg(test)]
mod tests;
