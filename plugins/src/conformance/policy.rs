//! The kit for policies.

use super::question::{Answer, Case};
use super::{Law, Violation, check_rounds};
use crate::policy::{Hooks, Policy, VerdictKind};
use crate::state::SavedState;

/// Puts the policies that `make` makes through `rounds` scenarios. `make` must return the same
/// policy each time; it is called many times.
pub fn check_policy(make: &dyn Fn() -> Box<dyn Policy>, rounds: u64) -> Vec<Violation> {
    check_rounds(rounds, |round, report| {
        let case = Case::of_round(round);
        let answers = answers(&mut *make(), &case, 0);
        check_answers(&answers, report);
        check_determinism(make, &case, &answers, report);
        check_independence(make, &case, &answers, report);
        check_hooks(make, &case, report);
        check_restoring(make, &case, &answers, report);
        check_foreign_state(make, &case, report);
    })
}

/// The declared hooks from which some scenario drew a ruling that is not neutral. What a policy
/// declares beyond these either has rare conditions or makes forks later than they could be.
pub fn hooks_exercised(make: &dyn Fn() -> Box<dyn Policy>, rounds: u64) -> Hooks {
    let mut exercised = Hooks::empty();
    for round in 0..rounds {
        let answers = answers(&mut *make(), &Case::of_round(round), 0);
        let active = answers.iter().filter(|answer| !answer.is_neutral());
        exercised.extend(active.map(|answer| Hooks::from(answer.hook)));
    }
    exercised
}

type Report<'a> = &'a mut dyn FnMut(Law, String);

/// The answers to the questions from `first` on whose hooks the policy declares.
fn answers(policy: &mut dyn Policy, case: &Case, first: usize) -> Vec<Answer> {
    declared(policy, case)
        .into_iter()
        .filter(|&position| position >= first)
        .map(|position| case.ask(policy, position))
        .collect()
}

/// The positions of the questions that the engine would ask this policy.
fn declared(policy: &dyn Policy, case: &Case) -> Vec<usize> {
    let hooks = policy.hooks();
    (0..case.len())
        .filter(|&position| hooks.contains(case.hook(position).into()))
        .collect()
}

fn check_answers(answers: &[Answer], report: Report<'_>) {
    for answer in answers {
        if answer.rule.is_empty() {
            report(Law::NamesARule, format!("no rule: {}", answer.text));
        }
        if answer.kind != VerdictKind::Allow && answer.rule == crate::policy::DEFAULT_ALLOW {
            report(
                Law::NamesARule,
                format!("the rule of nobody: {}", answer.text),
            );
        }
        if let Some(stray) = &answer.stray {
            let detail = format!("{stray} does not exist: {}", answer.text);
            report(Law::RefersToWhatExists, detail);
        }
    }
}

fn check_determinism(
    make: &dyn Fn() -> Box<dyn Policy>,
    case: &Case,
    expected: &[Answer],
    report: Report<'_>,
) {
    let again = answers(&mut *make(), case, 0);
    compare(expected, &again, Law::Deterministic, "asked twice", report);
}

/// Asks another instance the same questions backwards in between.
fn check_independence(
    make: &dyn Fn() -> Box<dyn Policy>,
    case: &Case,
    expected: &[Answer],
    report: Report<'_>,
) {
    let (mut policy, mut other) = (make(), make());
    let positions = declared(&*policy, case);
    let interleaved: Vec<_> = positions
        .iter()
        .zip(positions.iter().rev())
        .map(|(&position, &backwards)| {
            case.ask(&mut *other, backwards);
            case.ask(&mut *policy, position)
        })
        .collect();
    let how = "with another instance beside it";
    compare(expected, &interleaved, Law::Independent, how, report);
}

fn check_hooks(make: &dyn Fn() -> Box<dyn Policy>, case: &Case, report: Report<'_>) {
    let mut policy = make();
    let hooks = policy.hooks();
    answers(&mut *policy, case, 0);
    if policy.hooks() != hooks {
        let detail = format!("{hooks:?} became {:?}", policy.hooks());
        report(Law::ConstantHooks, detail);
    }
    for position in 0..case.len() {
        if hooks.contains(case.hook(position).into()) {
            continue;
        }
        let answer = case.ask(&mut *policy, position);
        if !answer.is_neutral() {
            let detail = format!("{:?}: {}", answer.hook, answer.text);
            report(Law::UndeclaredHookIsNeutral, detail);
        }
    }
}

/// Saves before the first, a middle and the last question and goes on in another instance.
fn check_restoring(
    make: &dyn Fn() -> Box<dyn Policy>,
    case: &Case,
    expected: &[Answer],
    report: Report<'_>,
) {
    let positions = declared(&*make(), case);
    let cuts = [0, positions.len() / 2, positions.len().saturating_sub(1)];
    for cut in cuts {
        let mut policy = make();
        for &position in &positions[..cut] {
            case.ask(&mut *policy, position);
        }
        let saved = saved(&*policy);
        let mut used = make();
        answers(&mut *used, case, 0);
        for (how, mut restored) in [("a fresh instance", make()), ("a used instance", used)] {
            if let Err(error) = restored.restore(&saved, policy.version()) {
                report(Law::Restores, format!("{how} refuses its state: {error}"));
                continue;
            }
            if self::saved(&*restored) != saved {
                report(Law::Restores, format!("{how} saves other bytes"));
            }
            let rest: Vec<_> = positions[cut..]
                .iter()
                .map(|&position| case.ask(&mut *restored, position))
                .collect();
            compare(&expected[cut..], &rest, Law::Restores, how, report);
        }
    }
}

/// Offers state of another version and damaged state. Damaged state may be accepted if it happens
/// to be valid; it must not panic then either.
fn check_foreign_state(make: &dyn Fn() -> Box<dyn Policy>, case: &Case, report: Report<'_>) {
    let mut policy = make();
    answers(&mut *policy, case, 0);
    let before = saved(&*policy);
    let version = policy.version();
    if policy.restore(&before, version.wrapping_add(1)).is_ok() {
        let detail = "state of another version is accepted".to_owned();
        report(Law::RefusesForeignState, detail);
    }
    for damaged in damages(&before) {
        let mut other = make();
        answers(&mut *other, case, 0);
        if other.restore(&damaged, version).is_ok() {
            answers(&mut *other, case, 0);
        } else if saved(&*other) != before {
            let detail = "a refused restore changes the state".to_owned();
            report(Law::RefusesForeignState, detail);
        }
    }
    if saved(&*policy) != before {
        let detail = "a refused version changes the state".to_owned();
        report(Law::RefusesForeignState, detail);
    }
}

/// Saved bytes cut short, prolonged, and changed in single bytes.
pub(super) fn damages(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut damages = vec![
        Vec::new(),
        vec![0xFF; 40],
        bytes[..bytes.len() / 2].to_vec(),
        [bytes, &[0]].concat(),
    ];
    for at in (0..bytes.len()).step_by(1 + bytes.len() / 16) {
        let mut flipped = bytes.to_vec();
        flipped[at] ^= 0xFF;
        damages.push(flipped);
    }
    damages
}

fn saved(state: &(impl SavedState + ?Sized)) -> Vec<u8> {
    let mut bytes = Vec::new();
    state.save(&mut bytes);
    bytes
}

fn compare(expected: &[Answer], found: &[Answer], law: Law, how: &str, report: Report<'_>) {
    let differing = expected.iter().zip(found).find(|(a, b)| a != b);
    if let Some((a, b)) = differing {
        let detail = format!("{how}: {:?}: {} but then {}", a.hook, a.text, b.text);
        report(law, detail);
    } else if expected.len() != found.len() {
        report(law, format!("{how}: another number of answers"));
    }
}
