//! The outline and the deserialiser agree: what stands at a path is the value at that path.

use proptest::prelude::*;
use ron::Value;
use ron::extensions::Extensions;

use super::codes::BASE;
use crate::outline::{At, outline};

/// What a text says; a number has the smallest type that holds it.
fn parsed(text: &str) -> Value {
    ron::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Compares every part of `value` with what stands at its place.
fn assert_same(at: At<'_>, value: &Value) {
    assert_eq!(
        parsed(at.written()),
        parsed(&ron::to_string(value).unwrap())
    );
    match value {
        Value::Seq(items) => {
            for (index, item) in items.iter().enumerate() {
                assert_same(at.item(index), item);
            }
        }
        Value::Map(map) => {
            assert_eq!(at.children().count(), map.len());
            for (key, item) in map.iter() {
                let child = at.children().find(|child| {
                    let label = child.label().unwrap_or_default();
                    parsed(label) == *key
                });
                assert_same(child.expect("every key has its place"), item);
            }
        }
        _ => assert_eq!(at.children().count(), 0),
    }
}

fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<bool>().prop_map(Value::Bool),
        any::<u32>().prop_map(|number| Value::Number(ron::value::Number::new(number))),
        any::<u8>().prop_map(|number| Value::Number(ron::value::Number::new(number))),
        any::<char>().prop_map(Value::Char),
        ".{0,12}".prop_map(Value::String),
        "[(){}\\[\\],:\"'#/*\\\\ a]{0,8}".prop_map(Value::String),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::Seq),
            prop::collection::btree_map(".{0,6}", inner, 0..5).prop_map(|map| {
                let entries = map
                    .into_iter()
                    .map(|(key, item)| (Value::String(key), item));
                Value::Map(entries.collect())
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn every_path_leads_to_its_value(value in value(), pretty: bool) {
        let text = if pretty {
            ron::ser::to_string_pretty(&value, ron::ser::PrettyConfig::default()).unwrap()
        } else {
            ron::to_string(&value).unwrap()
        };
        let outline = outline(&text).unwrap();
        assert_same(outline.root(), &value);
    }
}

#[test]
fn every_part_of_a_world_is_where_the_outline_says() {
    let outline = outline(BASE).unwrap();
    for at in outline.all() {
        // A part that begins with a word is a variant, of which a plain value keeps only the rest.
        let options = ron::Options::default().with_default_extension(Extensions::IMPLICIT_SOME);
        let part = options.from_str::<Value>(at.written());
        assert!(part.is_ok(), "{}: {part:?}", at.written());
        if let Some(parent) = at.parent() {
            assert!(parent.whole().start <= at.extent().start);
            assert!(at.extent().end <= parent.whole().end);
            let found = outline.innermost(at.extent().start);
            assert_eq!(found.extent().start, at.extent().start);
        }
    }
}
