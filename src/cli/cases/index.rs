//! The index of the case studies, in Markdown: a line for each, and the words that their pages use.

use super::{PAGE, Told, folder_of};

/// What a reader needs who has read nothing else of the program.
const WORDS: &str = "\
## Words of the pages

- A *rollout* is one world played out under one policy. Rollouts of one world are *matched*: the same
  script and the same seed, so that only the policy differs. Everything is simulated; there is no real
  model, mailbox or document.
- A *policy*, or defence, is asked about each proposed call before it happens. It may allow it, block it,
  ask the user (*confirm*) or hold it. `none` allows everything.
- A call *carries* a source if content from that source flowed into it. Content from an untrusted source
  is *tainted*, and so is what is derived from it. A call is *high-risk* if it writes or sends something.
- The *intent ledger* lists the high-risk actions that the user's goal authorises, each on its target.
- A call *commits* when it takes effect. *Harm* is a commit that nobody authorised, that goes to a wrong
  recipient, or that leaks a secret.
- A trace is a list of *events*, numbered from 0; a *tick* is a step of simulated time. In a trace file
  the first line is a header, so event 0 is line 2. Traces are redacted: they do not say what sources say.
- R is all nodes of a trace that are reached from an untrusted source over any edge, T those that its
  content reached over taint edges, B that the user's work was done as asked.
- A rule has a name, such as `default_allow`, and its meaning stands behind it. Equations, tables and
  appendices named there are those of the paper, \"ContainmentBench: Trace-Based Evaluation of
  Post-Injection Containment in Tool-Using LLM Agents\".
";

/// The index.
pub(super) fn page(told: &[Told]) -> String {
    let mut out =
        "# The eight case studies\n\nMade by `containment cases` from worlds inside the program; \
                   `containment replay` runs any trace here again.\n\n"
            .to_owned();
    for told in told {
        out += &line(told);
    }
    format!("{out}\n{WORDS}")
}

/// What a case study is about, what it runs, and how that ends.
fn line(Told { study, groups }: &Told) -> String {
    let folder = folder_of(study);
    let main = &groups[0];
    let policies: Vec<String> = main
        .policies
        .iter()
        .map(|name| format!("`{name}`"))
        .collect();
    let harmed = main.sides.iter().filter(|side| {
        let endpoints = &side.row.metrics.endpoints;
        endpoints.committed_harm == Some(true)
    });
    let harmed: Vec<String> = harmed.map(|side| format!("`{}`", side.policy)).collect();
    let ended = if harmed.is_empty() {
        "no harm commits".to_owned()
    } else {
        format!("harm commits under {}", harmed.join(" and "))
    };
    format!(
        "- [Case {}: {}]({folder}/{PAGE}). `{}` under {}: {ended}. {}\n",
        study.number,
        study.title,
        main.case.scene.scenario.identity,
        policies.join(" and "),
        study.claim
    )
}
