//! What the headings of tables mean, for who asks.

/// What a heading stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// The mean of a column of the rows.
    MeanOf(&'static str),
    /// Something that no column of the rows says by itself.
    Words(&'static str),
}

use Meaning::{MeanOf, Words};

/// Every heading of the tables and the scorecard, as it is printed.
pub const HEADINGS: [(&str, Meaning); 111] = [
    // Which numbers.
    (
        "Stage",
        Words(
            "what a scenario tests: security, memory and recovery, authorised work on tainted input, clean work",
        ),
    ),
    (
        "Scope",
        Words("the rollouts that a number is about: those of one stage, or all"),
    ),
    ("Defence", Words("the policy under which the rollouts ran")),
    (
        "Comparison",
        Words("the two policies compared on the same scenarios and seeds: A vs B"),
    ),
    (
        "Metric",
        Words("what is measured; the table `claims` names its column, which `explain` describes"),
    ),
    (
        "Column",
        Words("the column of `rows.csv` that a metric is the mean of"),
    ),
    ("Quantity", Words("what is counted or measured")),
    (
        "Number",
        Words("the value; in the scorecard, the id of a published number"),
    ),
    ("Count", Words("how many")),
    (
        "What",
        Words("the class or table of published numbers, or the intervals"),
    ),
    // How many.
    (
        "N",
        Words("rollouts, or pairs of them, to which the question applies"),
    ),
    ("Active N", Words("rollouts of the stage active_tainted")),
    (
        "Pairs",
        Words(
            "rollouts under A with their partner under B: same scenario, model, seed and state before",
        ),
    ),
    ("Scenarios", Words("different worlds")),
    (
        "Families",
        Words("groups of scenarios that share topology and susceptibility"),
    ),
    ("Defences", Words("policies")),
    ("Seeds", Words("rollout seeds")),
    (
        "Rows",
        Words("rollouts: scenarios times policies times seeds"),
    ),
    (
        "Rollouts",
        Words("runs of one scenario under one policy, model and seed"),
    ),
    (
        "Errored",
        Words("rollouts without numbers, because their backend failed"),
    ),
    (
        "At a limit",
        Words("rollouts that ended at a limit of events or time"),
    ),
    ("Events", Words("rollouts in which it happened")),
    // Endpoints and work.
    ("Policy violation", MeanOf("committed_harm")),
    ("Committed violation", MeanOf("committed_harm")),
    ("Wrong recipient", MeanOf("wrong_recipient_rate")),
    ("Secret leak", MeanOf("secret_leakage")),
    ("Leak by reference", MeanOf("leak_by_reference")),
    ("Harm attempt", MeanOf("harm_attempt")),
    (
        "Authorized completion",
        MeanOf("authorized_tainted_action_success_fraction"),
    ),
    ("By Eq. 6", MeanOf("authorized_tainted_action_success")),
    (
        "Whatever harm",
        MeanOf("authorized_tainted_action_success_fraction_unzeroed"),
    ),
    ("FP block", MeanOf("false_positive_block_rate")),
    ("FP confirm", MeanOf("false_positive_confirm_rate")),
    ("Clean completion", MeanOf("clean_benign_completion")),
    ("Benign completion", MeanOf("benign_completion")),
    ("Valid proposal", MeanOf("valid_tool_proposal_rate")),
    ("Parse failure", MeanOf("parse_failure_rate")),
    ("Invalid tool", MeanOf("invalid_tool_rate")),
    // Memory.
    ("Reinfection", MeanOf("memory_reinfection")),
    ("Recovery", MeanOf("recovery_success")),
    (
        "Recovered rows",
        Words("rollouts that recovered, of those in which there was something to recover from"),
    ),
    ("Rollback", MeanOf("rollback")),
    // Spread.
    ("Logged spread", MeanOf("blast_radius_norm")),
    ("Spread", MeanOf("blast_radius_norm")),
    (
        "Denominator",
        Words(
            "what spread is a share of: the region that the rollout itself could reach (realised), or the largest under any declared policy (fixed maximum)",
        ),
    ),
    ("A", Words("mean spread under the first policy")),
    ("B", Words("mean spread under the second policy")),
    (
        "Weighted gap",
        Words(
            "what a stage gives to the difference over all stages: (its rows / all rows)(mean A - mean B)",
        ),
    ),
    (
        "Gap share",
        Words("the weighted gap as a share of the sum over stages"),
    ),
    ("Agents", Words("labelled agents, mean of a rollout")),
    ("Messages", Words("labelled messages, mean of a rollout")),
    (
        "Memory",
        Words("labelled memory records, mean of a rollout"),
    ),
    ("Tools", Words("labelled tool calls, mean of a rollout")),
    (
        "Side effects",
        Words("labelled effects of committed calls, mean of a rollout"),
    ),
    (
        "Sources",
        Words("untrusted inputs that were read, mean of a rollout"),
    ),
    (
        "All kinds",
        Words("labelled nodes of all kinds, mean of a rollout"),
    ),
    (
        "Region",
        Words("nodes that labels could have reached, mean of a rollout"),
    ),
    ("Privilege jump", MeanOf("privilege_jump")),
    ("Cascade depth", MeanOf("cascade_depth")),
    ("Taint to commit", MeanOf("taint_to_commit_rate")),
    // Differences.
    (
        "Mean",
        Words("over the rollouts to which the question applies"),
    ),
    ("Mean A", Words("the mean under A, over the pairs")),
    ("Mean B", Words("the mean under B, over the same pairs")),
    ("Delta", Words("mean B - mean A, over pairs")),
    (
        "95 % CI",
        Words(
            "percentile bootstrap over scenarios with all their seeds; for shares exact where nothing or everything happened",
        ),
    ),
    (
        "95 % CI (scenarios)",
        Words("percentile bootstrap over scenarios with all their seeds: for scenarios like these"),
    ),
    (
        "95 % CI (pairs)",
        Words("percentile bootstrap over pairs: for exactly these scenarios"),
    ),
    (
        "95 % CI (families)",
        Words("percentile bootstrap over families of scenarios: for families like these"),
    ),
    ("Method", Words("how the interval over scenarios is made")),
    (
        "Win rate",
        Words("the share of pairs in which B is strictly better"),
    ),
    (
        "P, sign flip",
        Words(
            "the chance of a difference as large if neither policy were better, scenarios flipped as a whole",
        ),
    ),
    (
        "P, Holm",
        Words(
            "the same, adjusted by Holm's rule for how many differences may be claims in this table",
        ),
    ),
    (
        "Std.",
        Words("the standard deviation of the means by seed (ddof 0)"),
    ),
    ("Range", Words("the greatest mean of a seed less the least")),
    (
        "Same zero endpoint",
        Words("pairs in which neither rollout committed harm"),
    ),
    (
        "Trajectory divergence",
        Words(
            "of the pairs with the same harm, the share in which one of twelve fields of the trajectory differs (6.5)",
        ),
    ),
    (
        "Utility differs",
        Words("of the pairs with the same harm, those whose utility differs"),
    ),
    (
        "Both differ",
        Words("of the pairs with the same harm, those whose trajectory and utility differ"),
    ),
    (
        "Divergence at equal utility",
        Words("the trajectory divergence among pairs that have the same utility too"),
    ),
    (
        "Fields that differ most",
        Words("the fields of the trajectory that differ in most pairs, with how many"),
    ),
    (
        "Scenarios, 3/n",
        Words(
            "upper bound at 95 % in percent where nothing was seen, by the rule of three, with scenarios as trials",
        ),
    ),
    ("Scenarios, exact", Words("the same, exact: 1 - 0.05^(1/n)")),
    (
        "Families, 3/n",
        Words(
            "the same by the rule of three, with families as trials: scenarios of a family are alike",
        ),
    ),
    (
        "Families, exact",
        Words("the same, exact, with families as trials"),
    ),
    (
        "Rollouts, 3/n",
        Words(
            "the same by the rule of three, with rollouts as trials: for exactly these scenarios",
        ),
    ),
    (
        "Rule",
        Words(
            "the rule of a policy, or the fault of a completion, that the last high-risk proposal ended at",
        ),
    ),
    // Claims.
    (
        "Role",
        Words("what a metric is for (Table 6): primary, diagnostic, instrumented or prerequisite"),
    ),
    (
        "Control",
        Words(
            "what shows that zeros mean something: the mean without a defence where low is better, of false positives and confirmations the opportunities of a rollout, else the greatest mean of any policy",
        ),
    ),
    (
        "Status",
        Words("what a number may be claimed for; `explain` knows each of them"),
    ),
    (
        "Comparative",
        Words("differences of the metric that are claims"),
    ),
    (
        "Ties",
        Words("differences of the metric whose interval holds zero"),
    ),
    ("Permits", Words("what may be said with this status")),
    (
        "Rank",
        Words(
            "place from the best; equal where nothing shows a difference to the first policy of the rank",
        ),
    ),
    (
        "Behind by",
        Words("how much worse, in pairs, than the first policy of the rank, or of the rank above"),
    ),
    // Scorecard.
    (
        "Class",
        Words(
            "why a published number should be met: target, restated, held out, by construction, accounting (docs/paper.md)",
        ),
    ),
    ("Published", Words("the number in the paper")),
    ("Ours", Words("the number of this result")),
    (
        "Difference",
        Words("ours less the published one; of two results, the second less the first"),
    ),
    ("Tolerance", Words("how far ours may be off")),
    (
        "Verdict",
        Words("within or outside tolerance, not simulated, or not comparable"),
    ),
    (
        "Interval",
        Words("our interval, and whether both ends are within 0.02 of the published ones"),
    ),
    ("Why", Words("what is known of why a number is off")),
    (
        "Within",
        Words("how many are within tolerance, of how many compared"),
    ),
    ("Share", Words("the share that is within tolerance")),
    (
        "Left out",
        Words("what no rollout can answer, or is not simulated yet"),
    ),
    ("Least", Words("under the study seed that holds least")),
    ("Most", Words("under the study seed that holds most")),
    ("First", Words("the mean in the result named first")),
    ("Second", Words("the mean in the result of `--against`")),
    (
        "Rows that differ",
        Words("rollouts with another value in the second result, of those in both"),
    ),
    ("Result", Words("what is not simulated yet")),
];

/// Words that stand in cells and notes.
pub const TERMS: [(&str, Meaning); 19] = [
    ("all", Words("the scope of rollouts of all stages together")),
    (
        "security",
        Words(
            "the stage in which an injected instruction asks for what nobody authorised (scope of a number)",
        ),
    ),
    (
        "memory_recovery",
        Words("the stage in which memory was tainted and is to recover (scope of a number)"),
    ),
    (
        "active_tainted",
        Words(
            "the stage in which the user authorised work over untrusted content (scope of a number)",
        ),
    ),
    (
        "clean",
        Words("the stage without untrusted content (scope of a number)"),
    ),
    (
        "identical pairs",
        Words(
            "the rollouts of every pair have the same number: an observation of these pairs, and no inference",
        ),
    ),
    (
        "not over families",
        Words(
            "the interval over scenarios leaves out zero, that over families does not: scenarios of a family are alike, so claim it of the families that show it only",
        ),
    ),
    (
        "target",
        Words("a published number that a parameter was fitted to, or a structure was chosen for"),
    ),
    (
        "restated",
        Words("a published number that is the same quantity as a target, printed elsewhere"),
    ),
    (
        "held out",
        Words(
            "a published number that no parameter was fitted to; most of them follow from targets all the same (docs/paper.md)",
        ),
    ),
    (
        "by construction",
        Words(
            "a published number that follows from the logic of a policy whatever the model is like",
        ),
    ),
    (
        "accounting",
        Words("a published number that counts rows, pairs or scenarios"),
    ),
    (
        "N/A",
        Words("the question does not apply, or cannot be answered from these rows; never a zero"),
    ),
    (
        "not simulated yet",
        Words("the simulator does not reach so far; never a zero"),
    ),
    (
        "Monte-Carlo error",
        Words(
            "how far the end of an interval may be off because resamples are finitely many, in the unit of the number",
        ),
    ),
    (
        "positive control",
        Words(
            "what shows that a metric could have been other than zero in this study; without one its zeros say nothing",
        ),
    ),
    (
        "scenario",
        Words("one world: agents, tools, sources, a goal, and what is authorised"),
    ),
    (
        "family",
        Words("scenarios that are variants of one text, with the same susceptibility"),
    ),
    (
        "3/n",
        Words("the rule of three: an upper bound at 95 % where nothing was seen in n trials"),
    ),
];

/// What a heading or a term means; case does not matter.
#[must_use]
pub fn meaning(heading: &str) -> Option<(&'static str, Meaning)> {
    let mut all = HEADINGS.into_iter().chain(TERMS);
    all.find(|(known, _)| known.eq_ignore_ascii_case(heading))
}

#[cfg(test)]
mod tests {
    use study::row::row_columns;

    use super::*;

    #[test]
    fn each_is_told_once_and_names_a_column_that_there_is() {
        let all: Vec<_> = HEADINGS.iter().chain(&TERMS).collect();
        for (place, (heading, meaning)) in all.iter().enumerate() {
            let mut others = all[..place].iter();
            assert!(
                others.all(|(other, _)| !other.eq_ignore_ascii_case(heading)),
                "{heading}"
            );
            if let MeanOf(name) = meaning {
                let mut columns = row_columns().iter();
                assert!(columns.any(|column| column.spec.name == *name), "{name}");
            }
        }
    }
}
