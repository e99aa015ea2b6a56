//! Two policies, or two versions of one: on which calls of a study they rule differently. Both are asked
//! in the shadow of one and the same policy, so neither changes what the other sees.

use std::collections::BTreeMap;
use std::path::Path;

use containment_bench::Bench;
use containment_bench::outside::LoadedFile;
use engine::Rollout;
use engine::export::names::word;
use plugins::compose::shadow::{ProposedCall, Sighting};
use plugins::ids::CallId;
use plugins::policy::{DEFAULT_ALLOW, Hook, VerdictKind};
use plugins::trace::Trace;
use serde_json::{Value, json};
use study::plan::{Group, Plan};
use study::runner;

use crate::cli::failure::Failure;
use crate::cli::study::plans::{self, Changes};
use crate::cli::table::Table;

/// Calls that are listed as text.
const SHOWN: usize = 60;

/// What one policy ruled on one call.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Ruled {
    verdict: String,
    rule: String,
}

/// A call on which the policies rule differently.
struct Difference {
    world: String,
    seed: u64,
    tick: u64,
    call: CallId,
    tool: String,
    is_authorized: bool,
    ruled: [Ruled; 2],
}

impl Difference {
    /// Whether the verdict is another, not the rule alone.
    fn is_of_verdict(&self) -> bool {
        self.ruled[0].verdict != self.ruled[1].verdict
    }
}

/// What was found.
pub(super) struct Comparison {
    names: [String; 2],
    under: String,
    calls: u64,
    covered: [u64; 2],
    differences: Vec<Difference>,
    /// The policies from files.
    pub(super) outside: Vec<LoadedFile>,
}

/// Asks both policies about every call of a study under the policy `under`.
pub(super) fn compare(
    written: [&str; 2],
    study: Option<&Path>,
    under: &str,
) -> Result<Comparison, Failure> {
    let [first, second] = [written[0], written[1]].map(|shadow| {
        plans::load(
            study,
            &Changes {
                policies: Some(vec![under.to_owned()]),
                shadow: Some(shadow.to_owned()),
                ..Changes::default()
            },
        )
    });
    let (first, second) = (first?, second?);
    let plans = [&first.plan, &second.plan];
    let mut comparison = Comparison {
        names: plans.map(name),
        under: plans[0].study.policies.join(", "),
        calls: 0,
        covered: [0; 2],
        differences: Vec::new(),
        outside: Vec::new(),
    };
    for (one, other) in plans[0].groups().zip(plans[1].groups()) {
        let [one, other] =
            [(plans[0], one), (plans[1], other)].map(|(plan, group)| sighted(plan, group));
        comparison.add(plans[0], &one, &other);
    }
    comparison.outside = first.outside.into_iter().chain(second.outside).collect();
    Ok(comparison)
}

fn name(plan: &Plan) -> String {
    let shadow = plan.cast.shadow.as_ref();
    shadow.map_or_else(String::new, |shadow| shadow.name.to_string())
}

/// The rollout of a group, with what the policy in the shadow ruled on each of its calls.
struct Sighted {
    group: Group,
    trace: Trace,
    /// By call; a policy that is not asked about calls has none.
    on_calls: BTreeMap<ProposedCall, Sighting>,
}

impl Sighted {
    /// What was ruled on a call: nothing was asked of a policy that has nothing to say.
    fn ruled(&self, call: ProposedCall) -> (Ruled, bool) {
        let nothing = || (word(&VerdictKind::Allow), DEFAULT_ALLOW.to_owned(), true);
        let seen = self.on_calls.get(&call);
        let seen = seen.map(|seen| (word(&seen.observed), seen.rule.clone(), seen.is_covered()));
        let (verdict, rule, is_covered) = seen.unwrap_or_else(nothing);
        (Ruled { verdict, rule }, is_covered)
    }
}

fn sighted(plan: &Plan, group: Group) -> Sighted {
    let scenario = &plan.scenarios[group.scenario].scenario;
    let plugins = runner::plugins(plan, group, 0);
    let mut rollout = Rollout::new(scenario, plugins, &runner::setting(plan, group));
    rollout.run();
    let on_calls = rollout.shadow_log().map_or_else(BTreeMap::new, |log| {
        let counts = log.counts().map(|(sighting, _)| sighting);
        let on_calls = counts.filter(|sighting| sighting.hook == Hook::Proposal);
        let by_call = on_calls.filter_map(|sighting| Some((sighting.call?, sighting.clone())));
        by_call.collect()
    });
    Sighted {
        group,
        trace: rollout.trace().clone(),
        on_calls,
    }
}

impl Comparison {
    fn add(&mut self, plan: &Plan, one: &Sighted, other: &Sighted) {
        let scenario = &plan.scenarios[one.group.scenario].scenario;
        let mut calls: Vec<ProposedCall> = one.on_calls.keys().copied().collect();
        calls.extend(other.on_calls.keys());
        calls.sort_unstable();
        calls.dedup();
        for proposed in calls {
            let [(first, covers), (second, also_covers)] =
                [one, other].map(|side| side.ruled(proposed));
            self.calls += 1;
            self.covered[0] += u64::from(covers);
            self.covered[1] += u64::from(also_covers);
            if first == second {
                continue;
            }
            let ruled = [first, second];
            let call = &one.trace.calls[proposed.id.index()];
            let proposal = one.trace.events.iter().find(|event| {
                event.what == plugins::trace::Happening::Proposed { call: proposed.id }
            });
            self.differences.push(Difference {
                world: scenario.identity.to_string(),
                seed: one.group.seed,
                tick: proposal.map_or(0, |event| event.tick),
                call: proposed.id,
                tool: scenario.briefing.tools[call.tool.index()].name.to_string(),
                is_authorized: proposed.authorized,
                ruled,
            });
        }
    }

    /// Whether they rule the same on every call.
    pub(super) fn is_same(&self) -> bool {
        self.differences.is_empty()
    }

    pub(super) fn text(&self) -> String {
        let [a, b] = &self.names;
        let mut text = format!(
            "{a} and {b}, asked about the same {} calls under {}\n  coverage  {} and {}\n  \
             verdict   differs on {} calls, {} of them authorised\n  \
             rule      differs on {} more\n",
            self.calls,
            self.under,
            self.coverage(0),
            self.coverage(1),
            self.count(Difference::is_of_verdict),
            self.count(|it| it.is_of_verdict() && it.is_authorized),
            self.count(|it| !it.is_of_verdict()),
        );
        if self.is_same() {
            return text;
        }
        let mut table = Table::new(["world", "seed", "tick", "call", "tool", "authorised", a, b]);
        let of_verdict = self.differences.iter().filter(|it| it.is_of_verdict());
        let of_rule = self.differences.iter().filter(|it| !it.is_of_verdict());
        for difference in of_verdict.chain(of_rule).take(SHOWN) {
            let [first, second] = &difference.ruled;
            let told = |ruled: &Ruled| format!("{} {}", ruled.verdict, ruled.rule);
            table.row([
                difference.world.clone(),
                difference.seed.to_string(),
                difference.tick.to_string(),
                difference.call.0.to_string(),
                difference.tool.clone(),
                if difference.is_authorized {
                    "yes"
                } else {
                    "no"
                }
                .to_owned(),
                told(first),
                told(second),
            ]);
        }
        text.push_str(&table.to_string());
        let unlisted = self.differences.len().saturating_sub(SHOWN);
        if unlisted > 0 {
            text.push_str(&format!("and {unlisted} more; `--format json` has all\n"));
        }
        text
    }

    fn count(&self, counts: impl Fn(&Difference) -> bool) -> usize {
        let counted = self.differences.iter();
        counted.filter(|difference| counts(difference)).count()
    }

    fn coverage(&self, policy: usize) -> String {
        format!("{} of {} calls", self.covered[policy], self.calls)
    }

    pub(super) fn json(&self) -> Value {
        let differences = self.differences.iter().map(|difference| {
            let ruled = |ruled: &Ruled| json!({ "verdict": ruled.verdict, "rule": ruled.rule });
            json!({
                "world": difference.world,
                "seed": difference.seed,
                "tick": difference.tick,
                "call": difference.call.0,
                "tool": difference.tool,
                "authorized": difference.is_authorized,
                "rulings": difference.ruled.each_ref().map(ruled),
            })
        });
        json!({
            "schema": 1,
            "same": self.is_same(),
            "policies": self.names,
            "under": self.under,
            "calls": self.calls,
            "covered": self.covered,
            "differences": differences.collect::<Vec<_>>(),
        })
    }
}

/// Whether what was named is a policy rather than a record: there is no such file, and it names a host,
/// several policies, or one that is built in.
pub(super) fn is_policy(name: &Path) -> bool {
    let built_in = Bench::built_in().registry.policies;
    let is_reference = |text: &str| text.contains([':', '(']) || built_in.find(text).is_ok();
    !name.exists() && name.to_str().is_some_and(is_reference)
}
