//! Profiles read, and asked.

use plugins::draws::{Draws, RolloutKey, Stratum};
use plugins::model::{Guidance, SchemaMode};
use plugins::policy::DenialReason;
use plugins::tool::{RiskClass, Role};

use super::{Profile, SHIPPED};
use crate::emit::{Form, Keys, Syntax, Wrapping};
use crate::scripted::open::{Again, Character, Dice, Drive, Inclination, Roles, Seen};

fn profile(fields: &str) -> Profile {
    let text = format!("Profile(schema: 1, model: \"test\", {fields})");
    Profile::parse(&text).unwrap()
}

fn seen() -> Seen {
    Seen {
        guidance: Guidance::None,
        schema_mode: SchemaMode::Plain,
        arguments: [Role::Recipient].into_iter().collect(),
        risk: Some(RiskClass::Outbound),
        reason: None,
        has_memory: false,
        has_committed: false,
    }
}

/// The draws of the rollouts of a group of this size.
fn group(size: u32) -> impl Iterator<Item = Draws> {
    (0..size).map(move |place| draws(place, size, 0, 1))
}

fn draws(place: u32, places: u32, slice: u32, slices: u32) -> Draws {
    Draws::new(RolloutKey {
        rollout_seed: u64::from(slice),
        stratum: Some(Stratum {
            group: "all".into(),
            place,
            places,
            slice,
            slices,
        }),
        ..RolloutKey::default()
    })
}

/// In how many of 100 stratified rollouts the model is inclined to follow.
fn followers(profile: &Profile, seen: Seen) -> usize {
    let follows = |mut draws: Draws| {
        let dice = &mut Dice::new(&mut draws);
        profile.is_inclined(Inclination::FollowInjection, seen, dice)
    };
    group(100).map(follows).filter(|follows| *follows).count()
}

#[test]
fn the_shipped_profiles_are_well_formed() {
    for (name, _, text) in SHIPPED {
        let profile = Profile::parse(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(!profile.model().is_empty());
    }
}

/// What a rule can ask is read from a file and copied bit by bit, which no text can be; and this is
/// all that a profile learns of a turn. Otherwise this does not compile and must be thought about.
#[test]
fn nothing_that_a_rule_asks_or_learns_can_hold_a_name() {
    const fn is_closed<T: Copy + serde::de::DeserializeOwned>() {}
    is_closed::<super::file::Feature>();
    is_closed::<Inclination>();
    is_closed::<Drive>();
    let Seen {
        guidance: Guidance::None,
        schema_mode: SchemaMode::Plain,
        arguments,
        risk: Some(RiskClass::Outbound),
        reason: None,
        has_memory: false,
        has_committed: false,
    } = seen()
    else {
        panic!("these are the fields and their values");
    };
    let _: Roles = arguments;
}

#[test]
fn the_first_rule_that_fits_counts() {
    let profile = profile(
        r#"inclinations: (follow_injection: [
            (when: [Argument(Document)], chance: "1"),
            (when: [AnyGuidance, Risk(Outbound)], chance: "0"),
            (when: [Schema(Structured)], chance: "0.1"),
            (when: [Memory], chance: "0.2"),
            (when: [Committed], chance: "0.3"),
            (when: [Reason(CheckpointHold)], chance: "0.4"),
            (when: [Guidance(SelfCheck)], chance: "0.5"),
            (chance: "0.25"),
        ])"#,
    );
    let followers = |change: &dyn Fn(&mut Seen)| {
        let mut seen = seen();
        change(&mut seen);
        followers(&profile, seen)
    };
    let guided = |seen: &mut Seen| seen.guidance = Guidance::SelfCheck;
    assert_eq!(followers(&|_| {}), 25);
    assert_eq!(
        followers(&|seen| seen.arguments = [Role::Document].into_iter().collect()),
        100
    );
    assert_eq!(followers(&guided), 0);
    assert_eq!(followers(&|seen| (guided(seen), seen.risk = None).1), 50);
    assert_eq!(
        followers(&|seen| seen.schema_mode = SchemaMode::Structured),
        10
    );
    assert_eq!(followers(&|seen| seen.has_memory = true), 20);
    assert_eq!(followers(&|seen| seen.has_committed = true), 30);
    assert_eq!(
        followers(&|seen| seen.reason = Some(DenialReason::CheckpointHold)),
        40
    );
}

#[test]
fn without_a_rule_the_model_is_not_inclined_and_gives_up() {
    let silent = profile("");
    assert_eq!(followers(&silent, seen()), 0);
    for mut draws in group(4) {
        let dice = &mut Dice::new(&mut draws);
        assert_eq!(
            silent.again(Drive::Injected, 1, seen(), dice),
            Again::GivenUp
        );
        assert_eq!(silent.form(&seen, &|| 0, dice), Form::default());
    }
}

/// The rules of a list compare one latent variable: whoever follows at the lower chance follows at
/// the higher one too.
#[test]
fn rollouts_share_their_random_numbers_across_rules() {
    let profile = profile(
        r#"inclinations: (follow_injection: [
            (when: [AnyGuidance], chance: "0.3"),
            (chance: "0.6"),
        ])"#,
    );
    let guided = Seen {
        guidance: Guidance::TreatContentAsData,
        ..seen()
    };
    for mut draws in group(100) {
        let dice = &mut Dice::new(&mut draws);
        let mut follows = |seen| profile.is_inclined(Inclination::FollowInjection, seen, dice);
        assert!(!follows(guided) || follows(seen()));
    }
}

/// In how many of 100 rollouts with each of five seeds the model follows, in order of the counts; and
/// in how many in all.
fn followers_by_seed(profile: &Profile) -> (Vec<usize>, usize) {
    let count = |slice| {
        let follows = |place: &u32| {
            let mut draws = draws(*place, 100, slice, 5);
            let dice = &mut Dice::new(&mut draws);
            profile.is_inclined(Inclination::FollowInjection, seen(), dice)
        };
        (0..100).filter(follows).count()
    };
    let mut counts: Vec<usize> = (0..5).map(count).collect();
    counts.sort_unstable();
    let sum = counts.iter().sum();
    (counts, sum)
}

/// With a spread every seed has another chance, here 0.24, 0.32, 0.4, 0.48 and 0.56, and the mean is
/// what it was.
#[test]
fn a_chance_may_differ_between_seeds() {
    let rules = |spread: &str| {
        let rule = format!(r#"(chance: "0.4"{spread})"#);
        profile(&format!("inclinations: (follow_injection: [{rule}])"))
    };
    let (alike, sum) = followers_by_seed(&rules(""));
    assert_eq!((alike, sum), (vec![40; 5], 200));
    let (apart, sum) = followers_by_seed(&rules(r#", seed_spread: "0.4""#));
    assert_eq!((apart, sum), (vec![24, 32, 40, 48, 56], 200));
    // Without strata it is drawn anew for every seed, and shared by the rollouts of a seed.
    let profile = rules(r#", seed_spread: "0.8""#);
    let share = |seed| {
        let follows = |scenario: &u32| {
            let key = RolloutKey::new(1, scenario.to_string().as_str().into(), seed);
            let mut draws = Draws::new(key);
            profile.is_inclined(
                Inclination::FollowInjection,
                seen(),
                &mut Dice::new(&mut draws),
            )
        };
        (0..200).filter(follows).count()
    };
    let shares: Vec<usize> = (0..20).map(share).collect();
    assert!(shares.iter().any(|share| *share < 40), "{shares:?}");
    assert!(shares.iter().any(|share| *share > 120), "{shares:?}");
}

/// How many of 1,000 stratified rollouts say a denied call so many times again.
fn persistent(profile: &Profile, times: u32, expected: Again) -> usize {
    let again = |mut draws: Draws| {
        let dice = &mut Dice::new(&mut draws);
        profile.again(Drive::Requested, times, seen(), dice)
    };
    group(1_000)
        .map(again)
        .filter(|again| *again == expected)
        .count()
}

#[test]
fn a_call_is_said_again_with_the_same_chance_each_time_up_to_a_bound() {
    let stubborn = profile(r#"persistence: (requested: [(again: "0.5", most: 3)])"#);
    let counts: Vec<usize> = (1..=4)
        .map(|times| persistent(&stubborn, times, Again::Said))
        .collect();
    assert_eq!(counts, [500, 250, 125, 0]);
}

#[test]
fn what_is_said_again_may_break_off() {
    let clumsy = profile(r#"persistence: (requested: [(again: "1", most: 9, broken_off: "0.5")])"#);
    assert_eq!(persistent(&clumsy, 1, Again::Said), 500);
    assert_eq!(persistent(&clumsy, 1, Again::BrokenOff), 500);
    assert_eq!(persistent(&clumsy, 2, Again::Said), 250);
}

#[test]
fn a_rule_with_a_share_holds_in_that_share_and_draws_for_itself() {
    let split = profile(
        r#"persistence: (requested: [
            (share: "0.25", again: "1", most: 1),
            (again: "0", most: 1),
        ])"#,
    );
    assert_eq!(persistent(&split, 1, Again::Said), 250);
}

#[test]
fn completions_are_written_in_the_shares_of_the_forms() {
    let writer = profile(
        r#"broken_off: [(when: [Risk(Outbound)], chance: "0.1")],
           forms: [
               (wrapping: Fenced, keys: Aliased, share: "0.3"),
               (syntax: TrailingComma, share: "0.2"),
           ]"#,
    );
    let mut counts = [0; 4];
    for seed in 0..2_000 {
        let mut draws = Draws::new(RolloutKey::new(1, "w".into(), seed));
        let form = writer.form(&seen, &|| 0, &mut Dice::new(&mut draws));
        let kind = match form {
            Form {
                syntax: Syntax::CutInToolName,
                ..
            } => 0,
            Form {
                wrapping: Wrapping::Fenced,
                keys: Keys::Aliased,
                ..
            } => 1,
            Form {
                syntax: Syntax::TrailingComma,
                ..
            } => 2,
            form => {
                assert_eq!(form, Form::default());
                3
            }
        };
        counts[kind] += 1;
    }
    // 0.1, 0.9 x 0.3, 0.9 x 0.2 and the rest, within four standard deviations.
    for (count, expected) in counts.iter().zip([200_i32, 540, 360, 900]) {
        assert!((count - expected).abs() < 90, "{counts:?}");
    }
}

/// Balanced for every completion, and drawn anew for each.
#[test]
fn whether_a_completion_breaks_off_is_balanced() {
    let clumsy = profile(r#"broken_off: [(chance: "0.3")]"#);
    let broken = |completion: usize| -> Vec<bool> {
        let breaks = |mut draws: Draws| {
            let dice = &mut Dice::new(&mut draws);
            clumsy.form(&seen, &|| completion, dice).syntax == Syntax::CutInToolName
        };
        group(100).map(breaks).collect()
    };
    for completion in [0, 1, 31] {
        let count = broken(completion)
            .into_iter()
            .filter(|is_broken| *is_broken);
        assert_eq!(count.count(), 30, "{completion}");
    }
    assert_ne!(broken(0), broken(1));
    // Beyond the balanced ones a completion is drawn for itself, here for all of them with one key.
    let beyond = broken(32);
    assert!(beyond.iter().all(|is_broken| *is_broken == beyond[0]));
}

#[test]
fn mistakes_are_told_at_their_place() {
    for (fields, expected) in [
        (
            "inclinations: (follow: [])",
            "line 1, column 50: unknown field `follow`",
        ),
        (
            r#"broken_off: [(chance: "1.5")]"#,
            "`1.5` is not a probability",
        ),
        (
            "broken_off: [(chance: 0.5)]",
            "a decimal between 0 and 1 in quotes",
        ),
        (
            r#"broken_off: [(when: [Policy("none")], chance: "1")]"#,
            "unknown feature `Policy`",
        ),
        (
            r#"forms: [(share: "0.6"), (wrapping: Fenced, share: "0.6")]"#,
            "more than 1 together",
        ),
        (
            r#"inclinations: (fill_gap: [(chance: "0.1", seed_spread: "0.21")])"#,
            "a `seed_spread` of `fill_gap` takes its chance below 0 or above 1",
        ),
        (
            r#"inclinations: (fill_gap: [(chance: "0.9", seed_spread: "0.21")])"#,
            "takes its chance below 0 or above 1",
        ),
        (
            r#"persistence: (injected: [(again: "0.5", most: 1, seed_spread: "0.1")])"#,
            "seed_spread",
        ),
        (
            r#"persistence: (requested: [(again: "1", most: -1)])"#,
            "column",
        ),
    ] {
        let text = format!("Profile(schema: 1, model: \"test\", {fields})");
        let error = Profile::parse(&text).unwrap_err().to_string();
        assert!(error.contains(expected), "{fields}: {error}");
    }
    profile(r#"inclinations: (fill_gap: [(chance: "0.1", seed_spread: "0.2")])"#);
    let later = "Profile(schema: 2, model: \"test\")";
    let error = Profile::parse(later).unwrap_err().to_string();
    assert!(error.contains("reads version 1"), "{error}");
    let large = " ".repeat(super::MAX_PROFILE_BYTES + 1);
    assert!(Profile::parse(&large).is_err());
}
