//! A process that is no function of what it is told is found out.

use plugins::conformance::Law;

use super::*;
use crate::probe;

#[track_caller]
fn found_out(script: &str) {
    let violations = probe(&policy(script), 4);
    let is_expected = |law| matches!(law, Law::Deterministic | Law::Independent | Law::Restores);
    assert!(
        violations
            .iter()
            .any(|violation| is_expected(violation.law)),
        "{violations:?}"
    );
}

#[test]
fn answers_by_chance_are_found_out() {
    found_out(&replying(
        "{'verdict': 'allow', 'rule': 'r%d' % random.randrange(9)}",
    ));
}

#[test]
fn answers_by_the_clock_are_found_out() {
    found_out(&replying(
        "{'verdict': 'allow', 'rule': 't%d' % time.monotonic_ns()}",
    ));
}

#[test]
fn answers_by_what_happened_in_other_rollouts_are_found_out() {
    let script = answering(
        "count = globals().get('count', 0) + 1\nsay({'id': m['id'], 'verdict': 'allow', 'rule': 'n%d' % count})",
    );
    found_out(&script);
}

#[test]
fn answers_by_the_process_are_found_out() {
    found_out(&replying(
        "{'verdict': 'allow', 'rule': 'p%d' % os.getpid()}",
    ));
}

/// A count of its own questions is lost when the engine goes back, unless it is a state.
#[test]
fn a_memory_that_is_no_state_is_found_out() {
    let script = format!(
        "{PRELUDE}
for line in sys.stdin:
    m = json.loads(line)
    if 'hello' in m:
        say(HELLO)
    if 'reset' in m:
        count = 0
    if 'id' in m:
        count += 1
        say({{'id': m['id'], 'verdict': 'allow', 'rule': 'n%d' % count}})
"
    );
    found_out(&script);
}

#[test]
fn an_honest_policy_is_not() {
    assert_eq!(
        probe(
            &policy(&replying("{'verdict': 'allow', 'rule': 'fine'}")),
            4
        ),
        []
    );
}
