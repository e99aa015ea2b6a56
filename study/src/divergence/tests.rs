use plugins::ids::{AgentId, PrincipalId};
use plugins::label::Label;
use plugins::policy::{Evidence, VerdictKind};
use plugins::trace::Subject;
use plugins::value::Value;
use proptest::prelude::*;
use worlds::spec::Stage;

use super::*;
use crate::fixture::random::story;
use crate::fixture::{PARTNER, Story, scenario, tainted};

const READER: AgentId = AgentId(0);

fn labelled(story: &Story) -> Labelled<'_> {
    Labelled {
        trace: &story.trace,
        labels: &story.labels,
    }
}

fn divergence(first: &Story, second: &Story) -> Option<usize> {
    let there = first_divergence(labelled(first), labelled(second));
    assert_eq!(there, first_divergence(labelled(second), labelled(first)));
    there
}

fn reading() -> Story {
    let mut story = Story::new(scenario(Stage::ActiveTainted));
    story.begin(READER);
    story.read_note(READER);
    story
}

fn create_event(story: &mut Story, verdict: VerdictKind, rule: &'static str) {
    let arguments = [tainted("event", "event-1"), tainted("attendee", PARTNER)];
    let call = story.propose("create_event", &arguments);
    story.rule(call, verdict, rule);
}

/// Cases 2 and 3: equal until the decision on the event.
#[test]
fn two_policies_diverge_at_the_decision() {
    let mut first = reading();
    create_event(&mut first, VerdictKind::Confirm, "confirm_tainted_write");
    let mut second = reading();
    create_event(&mut second, VerdictKind::Allow, "ledger_match");
    // Delivered, observed, proposed, ruled.
    assert_eq!(divergence(&first, &second), Some(3));
}

#[test]
fn rule_names_and_other_reasons_are_not_compared() {
    let mut first = reading();
    create_event(&mut first, VerdictKind::Block, "one");
    let mut second = reading();
    create_event(&mut second, VerdictKind::Block, "other");
    let Happening::Ruled { reason, .. } = &mut second.trace.events[3].what else {
        panic!("the fourth event is the ruling");
    };
    reason.evidence.push(Evidence::NoLedgerEntry);
    assert_eq!(divergence(&first, &second), None);
}

#[test]
fn a_trace_that_goes_on_diverges_where_the_other_ends() {
    let first = reading();
    let mut second = reading();
    second.finish(READER, true);
    assert_eq!(divergence(&first, &second), Some(2));
    assert_eq!(divergence(&second, &second), None);
}

/// Ids depend on which labels a rollout needed first.
#[test]
fn labels_are_compared_and_not_their_ids() {
    let mut first = reading();
    let mut second = Story::new(scenario(Stage::ActiveTainted));
    let readers = [PrincipalId(7).0].into_iter().collect();
    second.labels.intern(Label {
        readers: plugins::label::Readers::Only(readers),
        ..Label::bottom()
    });
    second.begin(READER);
    second.read_note(READER);
    for story in [&mut first, &mut second] {
        create_event(story, VerdictKind::Allow, "rule");
        let call = CallId(1);
        story.rewrite(call, &[tainted("attendee", PARTNER)]);
    }
    assert_ne!(first.trace, second.trace);
    assert_eq!(divergence(&first, &second), None);
    let exact = second.trace.nodes[0].recorded;
    second.trace.nodes.last_mut().unwrap().exact = exact;
    assert_eq!(divergence(&first, &second), Some(3));
}

fn changed(change: impl Fn(&mut Story)) -> Option<usize> {
    let mut first = reading();
    create_event(&mut first, VerdictKind::Allow, "rule");
    first.commit(CallId(1), false);
    let mut second = first.clone();
    change(&mut second);
    divergence(&first, &second)
}

#[test]
fn whatever_belongs_to_an_event_counts() {
    assert_eq!(changed(|_| ()), None);
    assert_eq!(changed(|story| story.trace.events[2].tick += 1), Some(2));
    assert_eq!(changed(|story| story.trace.events[2].agent = None), Some(2));
    let value = |story: &mut Story| story.argument(CallId(1), 0).value = Value::text("other");
    assert_eq!(changed(value), Some(2));
    let keep = |story: &mut Story| story.trace.calls[0].keep_result = false;
    assert_eq!(changed(keep), Some(1));
    let label = |story: &mut Story| story.argument(CallId(1), 0).label = LabelId::BOTTOM;
    assert_eq!(changed(label), Some(2));
    assert_eq!(changed(|story| story.trace.edges[1].taint = false), Some(1));
    let subject = |story: &mut Story| story.trace.nodes[1].subject = Subject::Agent(AgentId(2));
    assert_eq!(changed(subject), Some(0));
    let gone = |story: &mut Story| story.trace.calls.truncate(1);
    assert_eq!(changed(gone), Some(2));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn a_trace_is_itself_and_a_beginning_ends_early(story in story(), cut: usize) {
        prop_assert_eq!(divergence(&story, &story), None);
        let mut beginning = story.clone();
        beginning.trace.events.truncate(cut % (story.trace.events.len() + 1));
        let length = beginning.trace.events.len();
        let expected = (length < story.trace.events.len()).then_some(length);
        prop_assert_eq!(divergence(&story, &beginning), expected);
    }
}
