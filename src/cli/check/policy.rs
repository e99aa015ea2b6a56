//! Files that hold a policy, or metrics in the language of rules: whether they are well formed, and
//! whether the worlds beside them have what they name.

use std::path::Path;

use containment_bench::outside::{self, Host};
use plugins::briefing::Briefing;
use plugins::loaded::Mistake;

use super::{Finding, says};
use crate::cli::files::{self, MAX_SOURCE_BYTES};
use crate::cli::policies;
use crate::cli::problem::Complaint;

/// A file that holds a policy.
pub(super) struct PolicyText {
    host: Host,
    text: String,
}

/// What kind of policy a file holds, if it holds one.
pub(super) fn find(path: &Path) -> Option<PolicyText> {
    let is_cedar = path.extension().is_some_and(|ending| ending == "cedar");
    let text = files::text(path, MAX_SOURCE_BYTES).ok()?;
    let is_rules = ["Rules", "Metrics"].iter().any(|what| says(&text, what));
    let host = match (is_cedar, is_rules) {
        (true, _) => Host::Cedar,
        (false, true) => Host::Rules,
        (false, false) => return None,
    };
    Some(PolicyText { host, text })
}

/// Checks the text alone, then against each world, called as it was named.
pub(super) fn check(
    file: String,
    PolicyText { host, text }: &PolicyText,
    worlds: &[(String, Briefing)],
) -> Finding {
    let told = |mistake: &Mistake| policies::problem(&file, Some(text), mistake);
    let (mut complaints, policy): (Vec<Complaint>, Option<String>) =
        match outside::check_text(*host, text) {
            Ok(what) => (Vec::new(), Some(what)),
            Err(mistakes) => (mistakes.iter().map(|it| told(it).into()).collect(), None),
        };
    if policy.is_some() {
        for (world, briefing) in worlds {
            let foreign = outside::foreign_names(*host, text, briefing);
            complaints.extend(foreign.into_iter().map(|mut mistake| {
                mistake.message = format!("{} (in the world `{world}`)", mistake.message);
                Complaint::from(told(&mistake).warning())
            }));
        }
    }
    Finding {
        file,
        complaints,
        policy,
        ..Finding::default()
    }
}
