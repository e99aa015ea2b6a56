use proptest::collection::{btree_set, vec};
use proptest::prelude::*;

use super::*;

/// Indices on both sides of the word boundaries, so that sets of more than 64 sources occur.
fn index() -> impl Strategy<Value = u32> {
    prop_oneof![0_u32..8, 60_u32..70, 120_u32..200]
}

fn index_set() -> impl Strategy<Value = IndexSet> {
    vec(index(), 0..6).prop_map(|members| members.into_iter().collect())
}

fn readers() -> impl Strategy<Value = Readers> {
    prop_oneof![Just(Readers::Everyone), index_set().prop_map(Readers::Only),]
}

fn label() -> impl Strategy<Value = Label> {
    let flags = (0..1_u16 << 7).prop_map(Flags::from_bits_truncate);
    (index_set(), readers(), index_set(), flags).prop_map(|(sources, readers, control, flags)| {
        Label {
            sources,
            readers,
            control,
            flags,
        }
    })
}

/// Asks a table for everything that it can make of labels.
fn makes_what_the_labels_make(
    table: &mut LabelTable,
    labels: &[Label],
) -> Result<(), TestCaseError> {
    let ids: Vec<_> = labels
        .iter()
        .map(|label| table.intern(label.clone()))
        .collect();
    for (a, &a_id) in labels.iter().zip(&ids) {
        for (b, &b_id) in labels.iter().zip(&ids) {
            let joined = table.join(a_id, b_id);
            prop_assert_eq!(table.get(joined), &a.join(b));
            let written = table.written_by_model(a_id, b_id);
            prop_assert_eq!(table.get(written), &a.join(b).flagged(Flags::VIA_MODEL));
        }
        let flagged = table.flagged(a_id, Flags::VIA_MODEL);
        prop_assert_eq!(table.get(flagged), &a.flagged(Flags::VIA_MODEL));
        let control = a.sources.union(&a.control);
        let chosen = table.chosen_by(a_id);
        prop_assert_eq!(
            table.get(chosen),
            &Label {
                control,
                ..Label::bottom()
            }
        );
    }
    Ok(())
}

proptest! {
    #[test]
    fn join_is_associative(a in label(), b in label(), c in label()) {
        prop_assert_eq!(a.join(&b).join(&c), a.join(&b.join(&c)));
    }

    #[test]
    fn join_is_commutative(a in label(), b in label()) {
        prop_assert_eq!(a.join(&b), b.join(&a));
    }

    #[test]
    fn join_is_idempotent(a in label()) {
        prop_assert_eq!(a.join(&a), a);
    }

    #[test]
    fn bottom_is_the_unit(a in label()) {
        prop_assert_eq!(a.join(&Label::bottom()), a.clone());
        prop_assert_eq!(Label::bottom().join(&a), a.clone());
        prop_assert!(Label::bottom().flows_to(&a));
    }

    #[test]
    fn flows_to_is_the_order_of_join(a in label(), b in label()) {
        prop_assert_eq!(a.flows_to(&b), a.join(&b) == b);
    }

    #[test]
    fn join_is_the_least_upper_bound(a in label(), b in label(), c in label()) {
        let join = a.join(&b);
        prop_assert!(a.flows_to(&join) && b.flows_to(&join));
        prop_assert_eq!(join.flows_to(&c), a.flows_to(&c) && b.flows_to(&c));
    }

    #[test]
    fn carries_is_a_homomorphism(a in label(), b in label(), mask in index_set()) {
        prop_assert_eq!(a.join(&b).carries(&mask), a.carries(&mask) || b.carries(&mask));
    }

    #[test]
    fn influenced_by_is_a_homomorphism(a in label(), b in label(), mask in index_set()) {
        let either = a.influenced_by(&mask) || b.influenced_by(&mask);
        prop_assert_eq!(a.join(&b).influenced_by(&mask), either);
    }

    #[test]
    fn permits_is_a_homomorphism(a in label(), b in label(), reader in index()) {
        let reader = PrincipalId(reader);
        let both = a.readers.permits(reader) && b.readers.permits(reader);
        prop_assert_eq!(a.join(&b).readers.permits(reader), both);
    }

    #[test]
    fn views_are_monotone(a in label(), more in label(), mask in index_set(), reader in index()) {
        let above = a.join(&more);
        let reader = PrincipalId(reader);
        prop_assert!(above.carries(&mask) || !a.carries(&mask));
        prop_assert!(above.influenced_by(&mask) || !a.influenced_by(&mask));
        prop_assert!(a.readers.permits(reader) || !above.readers.permits(reader));
    }

    #[test]
    fn a_wider_mask_sees_no_less(a in label(), mask in index_set(), more in index_set()) {
        let wider = mask.union(&more);
        prop_assert!(a.carries(&wider) || !a.carries(&mask));
        prop_assert!(a.influenced_by(&wider) || !a.influenced_by(&mask));
    }

    #[test]
    fn endorsement_removes_the_cleared_sources_and_nothing_else(
        a in label(),
        cleared in index_set(),
    ) {
        let endorsed = a.endorsed(&cleared);
        prop_assert!(!endorsed.carries(&cleared));
        for index in 0..200 {
            let stays = a.sources.contains(index) && !cleared.contains(index);
            prop_assert_eq!(endorsed.sources.contains(index), stays);
        }
        let same_but_for_sources = Label { sources: a.sources.clone(), ..endorsed };
        prop_assert_eq!(same_but_for_sources, a.flagged(Flags::ENDORSED));
    }

    #[test]
    fn declassification_adds_the_readers_and_nothing_else(a in label(), added in index_set()) {
        let declassified = a.declassified(&added);
        for index in 0..200 {
            let reader = PrincipalId(index);
            let reads = a.readers.permits(reader) || added.contains(index);
            prop_assert_eq!(declassified.readers.permits(reader), reads);
        }
        let same_but_for_readers = Label { readers: a.readers.clone(), ..declassified };
        prop_assert_eq!(same_but_for_readers, a.flagged(Flags::DECLASSIFIED));
    }

    #[test]
    fn a_downgrade_never_raises(a in label(), indices in index_set()) {
        let marks = Flags::ENDORSED | Flags::DECLASSIFIED;
        prop_assert!(a.endorsed(&indices).flows_to(&a.flagged(marks)));
        prop_assert!(a.declassified(&indices).flows_to(&a.flagged(marks)));
    }

    #[test]
    fn readers_are_ordered_as_sets_of_principals(a in readers(), b in readers()) {
        let everyone_of_a = (0..201).all(|index| {
            !a.permits(PrincipalId(index)) || b.permits(PrincipalId(index))
        });
        prop_assert_eq!(a.is_subset(&b), everyone_of_a);
        prop_assert_eq!(a.is_subset(&b), a.intersection(&b) == a);
    }

    #[test]
    fn the_table_agrees_with_the_labels(labels in vec(label(), 1..12)) {
        let mut table = LabelTable::new();
        let ids: Vec<_> = labels.iter().map(|label| table.intern(label.clone())).collect();
        for (a, &a_id) in labels.iter().zip(&ids) {
            prop_assert_eq!(table.get(a_id), a);
            prop_assert_eq!(table.intern(a.clone()), a_id);
            for (b, &b_id) in labels.iter().zip(&ids) {
                let joined = table.join(a_id, b_id);
                prop_assert_eq!(table.get(joined), &a.join(b));
                prop_assert_eq!(a_id == b_id, a == b);
            }
            let flagged = table.flagged(a_id, Flags::VIA_MODEL);
            prop_assert_eq!(table.get(flagged), &a.flagged(Flags::VIA_MODEL));
        }
    }

    /// A table remembers what it made of which labels; after it was cut, the same ids are others.
    #[test]
    fn a_truncated_table_forgets_what_it_made(
        before in vec(label(), 1..8),
        after in vec(label(), 1..8),
        kept in 1_usize..4,
    ) {
        let mut table = LabelTable::new();
        for labels in [before, after] {
            makes_what_the_labels_make(&mut table, &labels)?;
            table.truncate(kept);
            let left = table.labels().to_vec();
            makes_what_the_labels_make(&mut table.clone(), &left)?;
        }
    }

    #[test]
    fn a_rebuilt_table_has_the_same_ids(labels in vec(label(), 0..12)) {
        let mut table = LabelTable::new();
        for label in labels {
            table.intern(label);
        }
        prop_assert_eq!(LabelTable::from_labels(table.labels().to_vec()), table);
    }

    #[test]
    fn a_truncated_table_is_the_table_of_then(
        early in vec(label(), 0..6),
        late in vec(label(), 0..6),
    ) {
        let mut table = LabelTable::new();
        for label in early {
            table.intern(label);
        }
        let then = table.clone();
        for label in &late {
            table.intern(label.clone());
        }
        table.truncate(then.labels().len());
        prop_assert_eq!(&table, &then);
        for label in late {
            let id = table.intern(label.clone());
            prop_assert_eq!(table.get(id), &label);
        }
    }
}

/// A step in the life of a set.
#[derive(Clone, Debug)]
enum Step {
    Insert(u32),
    Union(IndexSet),
    Difference(IndexSet),
    Intersection(IndexSet),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        index().prop_map(Step::Insert),
        index_set().prop_map(Step::Union),
        index_set().prop_map(Step::Difference),
        index_set().prop_map(Step::Intersection),
    ]
}

proptest! {
    #[test]
    fn equal_sets_are_equal_values_whatever_their_history(steps in vec(step(), 0..12)) {
        let mut set = IndexSet::default();
        for step in steps {
            match step {
                Step::Insert(index) => set.insert(index),
                Step::Union(other) => set = set.union(&other),
                Step::Difference(other) => set = set.difference(&other),
                Step::Intersection(other) => set = set.intersection(&other),
            }
            let rebuilt: IndexSet = set.iter().collect();
            prop_assert_eq!(&rebuilt, &set);
            prop_assert_eq!(set.is_empty(), set == IndexSet::default());
        }
    }

    #[test]
    fn set_operations_agree_with_a_plain_set(
        a in btree_set(index(), 0..8),
        b in btree_set(index(), 0..8),
    ) {
        let x: IndexSet = a.iter().copied().collect();
        let y: IndexSet = b.iter().copied().collect();
        let members = |set: IndexSet| set.iter().collect::<Vec<_>>();
        prop_assert!(members(x.union(&y)).iter().eq(a.union(&b)));
        prop_assert!(members(x.intersection(&y)).iter().eq(a.intersection(&b)));
        prop_assert!(members(x.difference(&y)).iter().eq(a.difference(&b)));
        prop_assert_eq!(x.intersects(&y), !a.is_disjoint(&b));
        prop_assert_eq!(x.is_subset(&y), a.is_subset(&b));
        prop_assert!((0..200).all(|index| x.contains(index) == a.contains(&index)));
    }
}

#[test]
fn removing_the_highest_member_leaves_no_trace() {
    let mut set: IndexSet = [3].into_iter().collect();
    let small = set.clone();
    set.insert(130);
    let high: IndexSet = [130].into_iter().collect();
    assert_eq!(set.difference(&high), small);
    assert_eq!(set.intersection(&small), small);
    assert_eq!(set.difference(&set), IndexSet::default());
}

#[test]
fn truncating_keeps_bottom_and_never_grows() {
    let mut table = LabelTable::new();
    table.intern(Label::of_source(SourceId(70)));
    table.truncate(9);
    assert_eq!(table.labels().len(), 2);
    table.truncate(0);
    assert_eq!(table, LabelTable::new());
}

/// Digests that were stored rest on it.
#[test]
fn fingerprints_stay_what_they_are() {
    let source = Label::of_source(SourceId(70));
    assert_eq!(source.fingerprint(), 0xa8e6_b7a4_83b8_f0ad);
    let everything = Label {
        sources: [0, 70].into_iter().collect(),
        readers: Readers::Only([1, 2].into_iter().collect()),
        control: [3].into_iter().collect(),
        flags: Flags::VIA_MODEL | Flags::ENDORSED,
    };
    assert_eq!(everything.fingerprint(), 0x9501_a9d2_5b56_7d1a);
}

#[test]
fn nobody_is_not_everybody() {
    let nobody = Readers::Only(IndexSet::default());
    assert!(!nobody.permits(PrincipalId(0)));
    assert!(nobody.is_subset(&Readers::Everyone));
    assert!(!Readers::Everyone.is_subset(&nobody));
}
