use proptest::prelude::*;
use serde_json::json;

use super::*;

fn schema(json: &Json) -> Schema {
    Schema::read(json).unwrap()
}

/// Schemas, what they accept and what they refuse: one JSON text for all.
fn table() -> Vec<(Json, Vec<Json>, Vec<Json>)> {
    let rows = json!([
        [true, [1, "a"], []],
        [false, [], [1, "a", []]],
        [{}, [1, "a"], []],
        [{"type": "string"}, ["a"], [1, ["a"]]],
        [{"type": ["integer", "boolean"]}, [1, true], ["a"]],
        [{"type": "integer"}, [1], [true]],
        [{"enum": ["a", 1]}, ["a", 1], ["b", 2]],
        [{"const": ["a"]}, [["a"]], ["a", ["a", "a"]]],
        [{"items": {"enum": ["a"]}}, [["a", "a"], [], "b"], [["b"]]],
        [{"pattern": "b"}, ["abc", 1], ["ac"]],
        [{"pattern": "^b$"}, ["b"], ["abc"]],
        [{"minLength": 2, "maxLength": 3}, ["äö", "abc"], ["a", "abcd"]],
        [{"minimum": 1, "exclusiveMaximum": 3}, [1, 2, "a"], [0, 3]],
        [{"exclusiveMinimum": 1, "maximum": 3}, [2, 3], [1, 4]],
        [{"exclusiveMinimum": i64::MAX}, ["a"], [i64::MAX]],
        [{"multipleOf": 3}, [-3, 0], [2]],
        [{"minItems": 1, "maxItems": 1}, [["a"], "a"], [[], ["a", "b"]]],
        [{"uniqueItems": true}, [["a", "b"]], [["a", "b", "a"]]],
        [{"uniqueItems": false}, [["a", "a"]], []],
        [{"contains": {"const": "a"}}, [["b", "a"]], [["b"], []]],
        [{"not": {"const": "a"}}, ["b"], ["a"]],
        [{"allOf": [{"minLength": 2}, {"pattern": "a"}]}, ["ab"], ["a", "bb"]],
        [{"anyOf": [{"const": "a"}, {"const": "b"}]}, ["a", "b"], ["c"]],
        [{"oneOf": [{"minLength": 2}, {"pattern": "a"}]}, ["a", "bb"], ["ab", "b"]],
        [{"title": "x", "description": "y", "default": 1.5}, ["a"], []],
    ]);
    serde_json::from_value(rows).unwrap()
}

#[test]
fn each_keyword_accepts_and_refuses_as_json_schema_says() {
    for (text, accepted, refused) in table() {
        let schema = schema(&text);
        for value in accepted {
            assert!(schema.accepts(&value), "{text} accepts {value}");
        }
        for value in refused {
            assert!(!schema.accepts(&value), "{text} refuses {value}");
        }
    }
}

#[test]
fn what_is_not_understood_is_refused_with_its_place() {
    for (text, place) in [
        (json!({"emun": ["a"]}), "/emun"),
        (json!({"format": "email"}), "/format"),
        (
            json!({"anyOf": [{}, {"properties": {}}]}),
            "/anyOf/1/properties",
        ),
        (json!({"items": {"type": "text"}}), "/items/type"),
        (json!({"pattern": "(?!a)"}), "/pattern"),
        (json!({"minimum": 0.5}), "/minimum"),
        (json!({"enum": [1.0]}), "/enum"),
        (json!({"const": [{"a": 0.5}]}), "/const"),
        (json!({"multipleOf": 0}), "/multipleOf"),
        (json!({"minLength": -1}), "/minLength"),
        (json!({"allOf": {}}), "/allOf"),
        (json!({"uniqueItems": 1}), "/uniqueItems"),
        (json!("a"), ""),
    ] {
        let error = Schema::read(&text).unwrap_err();
        assert_eq!(error.place, place, "{text}: {error}");
    }
}

#[test]
fn inclusion_is_shown_where_it_is_plain_to_see() {
    let within = |small: Json, large: Json| schema(&small).is_within(&schema(&large));
    for (small, large) in [
        (json!({"enum": ["a"]}), json!({"enum": ["a", "b"]})),
        (json!({"enum": ["ab"]}), json!({"pattern": "a"})),
        (json!(false), json!({"const": "a"})),
        (json!({"pattern": "a"}), json!({})),
        (
            json!({"items": {"const": "a"}}),
            json!({"items": {"enum": ["a", "b"]}}),
        ),
        (json!({"minimum": 3}), json!({"exclusiveMinimum": 1})),
        (
            json!({"not": {"enum": ["a", "b"]}}),
            json!({"not": {"const": "a"}}),
        ),
        (
            json!({"anyOf": [{"const": 1}, {"const": 2}]}),
            json!({"type": "number"}),
        ),
    ] {
        assert!(
            within(small.clone(), large.clone()),
            "{small} within {large}"
        );
        assert!(
            !within(large.clone(), small.clone()),
            "{large} within {small}"
        );
    }
    // True, but not shown: that would take a prover.
    assert!(!within(json!({"pattern": "^a$"}), json!({"pattern": "a"})));
}

proptest! {
    /// Whatever is claimed to be included is: for all schemas and values of the table.
    #[test]
    fn no_inclusion_is_claimed_that_a_value_refutes(
        a in 0..25_usize, b in 0..25_usize, c in 0..25_usize,
    ) {
        let table = table();
        let [a, b, c] = [a, b, c].map(|row| table[row].0.clone());
        let small = [
            a.clone(),
            json!({"allOf": [&a, &c]}),
            json!({"anyOf": [&a, &c]}),
            json!({"oneOf": [&a, &c]}),
            json!({"not": &a}),
            json!({"items": &a}),
        ];
        let large = [
            b.clone(),
            json!({"anyOf": [&b, &c]}),
            json!({"not": &b}),
            json!({"items": &b}),
        ];
        let values = table.iter().flat_map(|(_, accepted, refused)| accepted.iter().chain(refused));
        let values: Vec<_> = values.collect();
        for small in small.iter().map(schema) {
            for large in large.iter().map(schema) {
                if small.is_within(&large) {
                    for value in &values {
                        prop_assert!(
                            !small.accepts(value) || large.accepts(value),
                            "{small:?} within {large:?}, but {value}"
                        );
                    }
                }
            }
        }
    }
}
