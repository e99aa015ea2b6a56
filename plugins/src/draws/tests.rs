use proptest::prelude::*;

use super::*;

fn key(scenario: &str, study_seed: u64, rollout_seed: u64) -> RolloutKey {
    RolloutKey::new(study_seed, scenario.into(), rollout_seed)
}

fn sliced(place: u32, places: u32, slice: u32, slices: u32) -> Stratum {
    Stratum {
        group: "documents".into(),
        place,
        places,
        slice,
        slices,
    }
}

/// A group with one slice.
fn stratum(places: u32, place: u32) -> Stratum {
    sliced(place, places, 0, 1)
}

/// Every place of a group in every slice.
fn all(places: u32, slices: u32) -> impl Iterator<Item = Stratum> {
    (0..slices)
        .flat_map(move |slice| (0..places).map(move |place| sliced(place, places, slice, slices)))
}

fn position(study_seed: u64, name: &str, stratum: &Stratum) -> u64 {
    stratum.position(study_seed, xxh3_64(name.as_bytes()))
}

/// The draws of three entities at the events of an agent's turns, each with `extra` irrelevant
/// events of another role before it.
fn three_draws(extra: u32) -> Vec<u64> {
    const TURN: u8 = 1;
    const IRRELEVANT: u8 = 2;
    let mut draws = Draws::new(key("demo", 1, 2));
    (0..3)
        .map(|ordinal| {
            for sibling in 0..extra {
                let event = EventKey::ROOT.child(IRRELEVANT, ordinal * extra + sibling);
                draws.at(0, "assistant", event).bits("follow");
            }
            let event = EventKey::ROOT.child(TURN, ordinal);
            draws.at(0, "assistant", event).bits("follow")
        })
        .collect()
}

#[test]
fn an_irrelevant_event_changes_no_other_draw() {
    assert_eq!(three_draws(0), three_draws(1));
    assert_eq!(three_draws(0), three_draws(7));
}

#[test]
fn draws_do_not_depend_on_the_order_of_drawing() {
    let mut draws = Draws::new(key("demo", 1, 2));
    let names = ["a", "b", "c", "d"];
    let forward: Vec<_> = names.iter().map(|name| draws.bits(name)).collect();
    let mut backward: Vec<_> = names.iter().rev().map(|name| draws.bits(name)).collect();
    backward.reverse();
    assert_eq!(forward, backward);
}

#[test]
fn every_part_of_the_key_counts() {
    let event = EventKey::ROOT.child(1, 0);
    let draw = |key: RolloutKey, episode, entity: &str, event, name: &str| {
        Draws::new(key).at(episode, entity, event).bits(name)
    };
    let same = || key("demo", 1, 2);
    let values = [
        draw(same(), 0, "agent", event, "x"),
        draw(key("other", 1, 2), 0, "agent", event, "x"),
        draw(key("demo", 9, 2), 0, "agent", event, "x"),
        draw(key("demo", 1, 9), 0, "agent", event, "x"),
        draw(same(), 1, "agent", event, "x"),
        draw(same(), 0, "helper", event, "x"),
        draw(same(), 0, "agent", EventKey::ROOT.child(2, 0), "x"),
        draw(same(), 0, "agent", EventKey::ROOT.child(1, 1), "x"),
        draw(same(), 0, "agent", event.child(1, 0), "x"),
        draw(same(), 0, "agent", event, "y"),
    ];
    let distinct: std::collections::BTreeSet<_> = values.iter().collect();
    assert_eq!(distinct.len(), values.len());
}

/// Content hash, policy, model and attacker have no way in: a key is all that [`Draws::new`] takes,
/// and this is all that a key holds. A new field fails to compile here and must be thought about.
#[test]
fn content_policy_model_and_attacker_are_not_part_of_the_key() {
    let RolloutKey {
        study_seed: _,
        scenario_identity: _,
        rollout_seed: _,
        stratum: _,
    } = key("demo", 1, 2);
}

#[test]
fn strata_change_no_other_draw() {
    let mut plain = Draws::new(key("demo", 1, 2));
    let mut stratified = Draws::new(RolloutKey {
        stratum: Some(stratum(8, 3)),
        ..key("demo", 1, 2)
    });
    assert_eq!(plain.bits("follow"), stratified.bits("follow"));
}

#[test]
fn a_latent_variable_is_drawn_once_per_rollout() {
    let half = Chance::from_millionths(500_000);
    let latent = |draws: &mut Draws, episode, ordinal| {
        let event = EventKey::ROOT.child(1, ordinal);
        draws.at(episode, "agent", event).latent("leaning", half)
    };
    for seed in 0..50 {
        let mut draws = Draws::new(key("demo", 1, seed));
        let first = latent(&mut draws, 0, 0);
        assert!((0..5).all(|i| latent(&mut draws, i, 3 * i) == first));
    }
}

#[test]
fn a_latent_variable_keeps_its_place_in_the_group() {
    let half = Chance::from_millionths(500_000);
    for rank in 0..16 {
        let stratum = stratum(16, rank);
        let mut draws = Draws::new(RolloutKey {
            stratum: Some(stratum.clone()),
            ..key("demo", 1, 2)
        });
        for _ in 0..2 {
            for name in ["follow", "slip", "follow"] {
                let expected = stratum.falls_below(1, name, half);
                assert_eq!(draws.latent(name, half), expected, "{name} at {rank}");
            }
        }
    }
}

#[test]
fn a_latent_variable_shares_no_stream_with_a_draw_of_its_name() {
    let mut draws = Draws::new(key("demo", 1, 2));
    draws.recording(true);
    draws.bits("leaning");
    draws.latent("leaning", Chance::ALWAYS);
    let recorded: Vec<_> = draws.take_record().map(|record| record.value).collect();
    assert_ne!(recorded[0], recorded[1]);
}

#[test]
fn nothing_is_recorded_unless_asked() {
    let mut draws = Draws::new(key("demo", 1, 2));
    draws.bits("a");
    assert_eq!(draws.take_record().count(), 0);
    draws.recording(true);
    let value = draws.bits("b");
    draws.latent("c", Chance::NEVER);
    let taken: Vec<_> = draws.take_record().collect();
    assert_eq!((&*taken[0].name, taken[0].value), ("b", value));
    assert_eq!(&*taken[1].name, "c");
    assert_eq!(draws.take_record().count(), 0);
}

#[test]
fn a_stratified_draw_is_recorded_as_the_fraction_that_was_compared() {
    let mut draws = Draws::new(RolloutKey {
        stratum: Some(stratum(1, 0)),
        ..key("demo", 1, 2)
    });
    draws.recording(true);
    assert!(draws.latent("susceptible", Chance::from_millionths(500_001)));
    assert!(!draws.latent("susceptible", Chance::from_millionths(500_000)));
    assert!(draws.take_record().all(|record| record.value == 1 << 63));
}

/// How many of a group fall below `chance`.
fn count_below(study_seed: u64, group: impl Iterator<Item = Stratum>, chance: Chance) -> u32 {
    let below = |stratum: &Stratum| stratum.falls_below(study_seed, "susceptible", chance);
    u32::try_from(group.filter(below).count()).unwrap()
}

/// Whether `count` of `size` meets `chance` to within so many halves.
fn meets_expectation(count: u32, size: u32, chance: Chance, halves: u64) -> bool {
    let scaled = u64::from(count) * u64::from(Chance::DENOMINATOR);
    let expected = u64::from(size) * u64::from(chance.millionths());
    2 * scaled.abs_diff(expected) <= halves * u64::from(Chance::DENOMINATOR)
}

#[test]
fn stratified_counts_meet_expectation_for_every_small_size() {
    for (places, slices) in (0..=24).flat_map(|places| (0..=5).map(move |slices| (places, slices)))
    {
        for millionths in [0, 1, 3_100, 12_500, 333_333, 500_000, 666_667, 999_999] {
            let chance = Chance::from_millionths(millionths);
            let count = count_below(7, all(places, slices), chance);
            assert!(
                meets_expectation(count, places * slices, chance, 1),
                "{count} of {places} x {slices} at {chance:?}"
            );
        }
        let size = places * slices;
        assert_eq!(count_below(7, all(places, slices), Chance::NEVER), 0);
        assert_eq!(count_below(7, all(places, slices), Chance::ALWAYS), size);
    }
}

/// A position for every place and slice, and in every slice one in every interval.
fn is_sliced(study_seed: u64, places: u32, slices: u32) -> bool {
    let positions = |slice: u32| -> Vec<u64> {
        let of = |place| {
            position(
                study_seed,
                "susceptible",
                &sliced(place, places, slice, slices),
            )
        };
        let mut positions: Vec<u64> = (0..places).map(of).collect();
        positions.sort_unstable();
        positions
    };
    let intervals = 0..u64::from(places);
    let mut all = Vec::new();
    for slice in 0..slices {
        let slice = positions(slice);
        let found = slice.iter().map(|position| position / u64::from(slices));
        if !found.eq(intervals.clone()) {
            return false;
        }
        all.extend(slice);
    }
    all.sort_unstable();
    all.into_iter().eq(0..u64::from(places) * u64::from(slices))
}

#[test]
fn a_group_is_sliced_for_every_small_size() {
    for (places, slices) in (1..=24).flat_map(|places| (1..=7).map(move |slices| (places, slices)))
    {
        assert!(is_sliced(11, places, slices), "{places} x {slices}");
    }
}

#[test]
fn the_permutation_is_a_bijection_for_every_small_size() {
    for size in 0..=300 {
        let mut images: Vec<_> = (0..size).map(|index| permuted(index, size, 11)).collect();
        images.sort_unstable();
        assert!(images.iter().copied().eq(0..size), "size {size}");
    }
}

#[test]
fn the_permutation_is_a_bijection_for_large_sizes() {
    for size in [4_096, 4_097, 17_640, 65_535, 65_537] {
        let mut seen = vec![false; size as usize];
        for index in 0..size {
            let image = permuted(index, size, 11) as usize;
            assert!(!std::mem::replace(&mut seen[image], true), "size {size}");
        }
    }
    for index in [0, 1, u32::MAX - 1] {
        assert!(permuted(index, u32::MAX, 11) < u32::MAX);
    }
}

/// Whether each of `size` values was found about equally often: within six standard deviations.
fn are_even(counts: &[u32], size: u32) -> bool {
    let draws: u32 = counts.iter().sum();
    counts.iter().all(|count| {
        let deviation = (count * size).abs_diff(draws);
        u64::from(deviation).pow(2) < 36 * u64::from(draws * size)
    })
}

#[test]
fn the_permutation_has_no_favourite_place() {
    const SEEDS: u64 = 3_000;
    for (places, slices) in [(2_u32, 1_u32), (3, 1), (5, 1), (8, 1), (1, 5), (3, 2)] {
        let size = places * slices;
        for stratum in all(places, slices) {
            let mut counts = vec![0_u32; size as usize];
            for seed in 0..SEEDS {
                let position = position(seed, "susceptible", &stratum);
                counts[usize::try_from(position).unwrap()] += 1;
            }
            assert!(are_even(&counts, size), "{stratum}: {counts:?}");
        }
    }
}

#[test]
fn an_index_outside_its_group_ends_and_lands_inside() {
    for (size, index) in [
        (0, 0),
        (0, 5),
        (1, 0),
        (1, 7),
        (5, 5),
        (5, 7),
        (6, u32::MAX),
    ] {
        assert!(permuted(index, size, 3) < size.max(1));
    }
    assert!(!stratum(0, 5).falls_below(3, "susceptible", Chance::ALWAYS));
    let last = sliced(u32::MAX - 1, u32::MAX, u32::MAX - 1, u32::MAX);
    assert!(last.falls_below(3, "susceptible", Chance::ALWAYS));
    assert!(fraction(last.size() - 1, last.size()) > 0);
}

#[test]
fn one_row_alone_gives_what_it_gives_within_its_group() {
    let chance = Chance::from_millionths(250_000);
    let whole: Vec<_> = all(8, 5)
        .map(|stratum| stratum.falls_below(5, "susceptible", chance))
        .collect();
    let mut rows: Vec<_> = all(8, 5).zip(whole).collect();
    rows.reverse();
    for (stratum, within) in rows {
        let mut alone = Draws::new(RolloutKey {
            stratum: Some(stratum),
            ..key("demo", 5, 1)
        });
        assert_eq!(alone.latent("susceptible", chance), within);
    }
}

#[test]
fn two_groups_and_two_variables_are_permuted_differently() {
    let order = |group: &str, name: &str| -> Vec<_> {
        all(16, 4)
            .map(|stratum| Stratum {
                group: group.into(),
                ..stratum
            })
            .map(|stratum| position(1, name, &stratum))
            .collect()
    };
    assert_ne!(order("a", "x"), order("b", "x"));
    assert_ne!(order("a", "x"), order("a", "y"));
    assert_ne!(order("ab", "x"), order("a", "bx"));
}

/// Two slices of one order would be one draw counted twice.
#[test]
fn two_slices_are_permuted_differently() {
    let order = |slice| -> Vec<_> {
        let of = |place| position(1, "x", &sliced(place, 32, slice, 4)) / 4;
        (0..32).map(of).collect()
    };
    assert_ne!(order(0), order(1));
    assert_ne!(order(1), order(2));
}

#[test]
fn a_stratum_is_read_as_it_is_written() {
    for group in ["documents", "a:b", "a:1/2"] {
        let stratum = Stratum {
            group: group.into(),
            ..sliced(3, 16, 2, 5)
        };
        let written = stratum.to_string();
        assert_eq!(written, format!("{group}:3/16:2/5"));
        assert_eq!(written.parse(), Ok(stratum));
    }
    for hostile in [
        "",
        "a",
        "a:1",
        "a:1/2",
        "a:1/2:0",
        "a:1/2:0/",
        "a:1/2:",
        "a:40/40:0/1",
        "a:0/1:1/1",
        "a:01/2:0/1",
        "a:0/1:00/1",
        "a:1/0:0/1",
        "a:0/1:0/0",
        "a:-1/2:0/1",
        "a:+1/2:0/1",
        "a:1/99999999999:0/1",
        ":0/4:0/1",
        "0/4:0/1",
        "a\nb:0/4:0/1",
    ] {
        assert!(hostile.parse::<Stratum>().is_err(), "{hostile}");
    }
}

/// The seed latents of the slices, in order.
fn of_seeds(study_seed: u64, scenario: &str, places: u32, slices: u32, name: &str) -> Vec<u64> {
    let of = |slice| {
        let mut draws = Draws::new(RolloutKey {
            stratum: Some(sliced(places - 1, places, slice, slices)),
            ..key(scenario, study_seed, u64::from(slice))
        });
        draws.of_seed(name)
    };
    (0..slices).map(of).collect()
}

#[test]
fn a_seed_latent_is_shared_by_all_rollouts_of_a_seed() {
    let stratified = of_seeds(1, "demo", 4, 5, "mood");
    assert_eq!(of_seeds(1, "other", 9, 5, "mood"), stratified);
    assert_ne!(of_seeds(2, "demo", 4, 5, "mood"), stratified);
    assert_ne!(of_seeds(1, "demo", 4, 5, "care"), stratified);
    let plain = |scenario: &str, study_seed, rollout_seed, entity: &str| {
        let mut draws = Draws::new(key(scenario, study_seed, rollout_seed));
        draws
            .at(3, entity, EventKey::ROOT.child(1, 2))
            .of_seed("mood")
    };
    assert_eq!(plain("demo", 1, 2, "agent"), plain("other", 1, 2, "helper"));
    assert_ne!(plain("demo", 1, 2, "agent"), plain("demo", 1, 3, "agent"));
    assert_ne!(plain("demo", 1, 2, "agent"), plain("demo", 2, 2, "agent"));
}

#[test]
fn a_seed_latent_is_recorded() {
    let mut draws = Draws::new(key("demo", 1, 2));
    draws.of_seed("mood");
    assert_eq!(draws.take_record().count(), 0);
    draws.recording(true);
    let value = draws.of_seed("mood");
    let taken: Vec<_> = draws.take_record().collect();
    assert_eq!((&*taken[0].name, taken[0].value), ("mood", value));
}

#[test]
fn chances_are_read_exactly() {
    let millionths = |text: &str| text.parse().map(Chance::millionths).ok();
    for (text, expected) in [
        ("0", 0),
        ("1", 1_000_000),
        ("0.25", 250_000),
        ("0.000001", 1),
        ("1.000000", 1_000_000),
        ("0.", 0),
    ] {
        assert_eq!(millionths(text), Some(expected), "{text}");
    }
}

#[test]
fn a_chance_to_a_power_is_that_many_times_in_a_row() {
    let chance: Chance = "0.5".parse().unwrap();
    assert_eq!(chance.to_the(0), Chance::ALWAYS);
    assert_eq!(chance.to_the(3).millionths(), 125_000);
    assert_eq!(Chance::ALWAYS.to_the(u32::MAX), Chance::ALWAYS);
    assert_eq!(Chance::NEVER.to_the(1), Chance::NEVER);
    assert_eq!(chance.to_the(u32::MAX), Chance::NEVER);
    assert_eq!(
        Chance::from_millionths(1).complement().millionths(),
        999_999
    );
}

#[test]
fn hostile_text_is_no_chance() {
    for text in [
        "",
        ".",
        ".5",
        "-0.1",
        "+0.1",
        "1.000001",
        "2",
        "9",
        "10",
        "00.5",
        "0.0000001",
        "1e-3",
        "0x1",
        "NaN",
        "inf",
        " 0.5",
        "0.5 ",
        "0,5",
        "0.5.5",
        "\u{663}",
        "0.\u{665}",
        "0.-1",
        "0.+1",
        "999999999999999999999999999999",
    ] {
        let error = text.parse::<Chance>().unwrap_err();
        assert_eq!(error.0, text);
    }
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in ".*") {
        if let Ok(chance) = text.parse::<Chance>() {
            prop_assert!(chance <= Chance::ALWAYS);
        }
    }

    #[test]
    fn every_chance_survives_printing(millionths in 0..=Chance::DENOMINATOR) {
        let text = format!("{}.{:06}", millionths / 1_000_000, millionths % 1_000_000);
        prop_assert_eq!(text.parse::<Chance>().unwrap().millionths(), millionths);
    }

    #[test]
    fn stratified_counts_meet_expectation(
        study_seed: u64,
        places in 0_u32..80,
        slices in 0_u32..7,
        millionths in 0..=Chance::DENOMINATOR,
    ) {
        let chance = Chance::from_millionths(millionths);
        let count = count_below(study_seed, all(places, slices), chance);
        prop_assert!(meets_expectation(count, places * slices, chance, 1), "{} in all", count);
        for slice in 0..slices {
            let slice = all(places, slices).filter(|stratum| stratum.slice == slice);
            let count = count_below(study_seed, slice, chance);
            prop_assert!(meets_expectation(count, places, chance, 2), "{} in a slice", count);
        }
    }

    #[test]
    fn a_group_is_sliced(study_seed: u64, places in 1_u32..80, slices in 1_u32..9) {
        prop_assert!(is_sliced(study_seed, places, slices));
    }

    /// One in every interval, so that no study has only lucky seeds.
    #[test]
    fn seed_latents_are_spread_evenly(study_seed: u64, slices in 1_u32..40) {
        let mut found = of_seeds(study_seed, "demo", 3, slices, "mood");
        found.sort_unstable();
        let expected = (0..slices).map(|slice| fraction(u64::from(slice), u64::from(slices)));
        prop_assert!(found.into_iter().eq(expected));
    }

    #[test]
    fn below_is_in_bounds(seed: u64, bound: u64) {
        let value = Draws::new(key("demo", 1, seed)).below("x", bound);
        prop_assert!(value < bound || (bound == 0 && value == 0));
    }

    #[test]
    fn never_never_happens_and_always_always_does(seed: u64) {
        let mut draws = Draws::new(key("demo", 1, seed));
        prop_assert!(!draws.happens("x", Chance::NEVER));
        prop_assert!(draws.happens("x", Chance::ALWAYS));
    }

    #[test]
    fn two_seeds_differ(a: u64, b: u64) {
        let draw = |study, rollout| Draws::new(key("demo", study, rollout)).bits("x");
        prop_assert_eq!(draw(a, 0) == draw(b, 0), a == b);
        prop_assert_eq!(draw(0, a) == draw(0, b), a == b);
    }

    #[test]
    fn neighbouring_texts_do_not_run_into_each_other(a in "[ab]{0,3}", b in "[ab]{0,3}") {
        let draw = |entity: &str, name: &str| {
            Draws::new(key("demo", 1, 2)).at(0, entity, EventKey::ROOT).bits(name)
        };
        prop_assert_eq!(draw(&a, &b) == draw("a", "ba"), (a.as_str(), b.as_str()) == ("a", "ba"));
    }
}

/// Draws are uniform enough that a chance of one in four happens about that often.
#[test]
fn a_chance_happens_about_as_often_as_it_says() {
    let quarter = Chance::from_millionths(250_000);
    let hits = (0..20_000)
        .filter(|&seed| Draws::new(key("demo", 1, seed)).happens("x", quarter))
        .count();
    assert!((4_700..5_300).contains(&hits), "{hits}");
}
