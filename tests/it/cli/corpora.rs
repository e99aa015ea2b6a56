//! `parse` on the corpora of the project.

use super::{Place, word};

#[test]
fn the_reparse_corpus_has_the_counts_of_table_24() {
    let place = Place::new();
    let corpus = crate::support::root().join("worlds/corpora/reparse_96.jsonl");
    let words = ["parse", word(&corpus)];
    let text = place.run(&words).expect(0).out;
    assert!(text.starts_with("96 completions, of a corpus\n"), "{text}");
    let json = place.run(&[&words[..], &["--format", "json"]].concat());
    let json = json.expect(0).json();
    for (name, count) in [
        ("model_actions", 96),
        ("valid_actions", 85),
        ("delegate_actions", 0),
        ("final_actions", 9),
        ("invalid_tool_actions", 0),
        ("invalid_schema_actions", 2),
        ("valid_strict_json", 5),
        ("valid_repaired_json", 89),
        ("invalid_schema", 2),
        ("old_action_like_final_answers", 93),
    ] {
        assert_eq!(json["counts"][name], count, "{name}");
    }
}

#[test]
fn a_corpus_is_refused_where_it_is_wrong() {
    let place = Place::new();
    let header = r#"{"corpus":1,"world":"case8_parser_validity","agent":"assistant"}"#;
    let refused = |text: &str, code: i32, says: &[&str]| {
        place.write("c.jsonl", text);
        let words = ["parse", "c.jsonl", "--error-format", "plain"];
        assert_eq!(place.run(&words).fails(code, says).out, "");
    };
    refused(
        &format!("{header}\n{{\"text\":\"x\"\n"),
        3,
        &["c.jsonl:2:1", "not one completion"],
    );
    refused(
        &header.replace(":1", ":2"),
        7,
        &["c.jsonl:1:1", "version 2"],
    );
    refused(
        &header.replace("case8_parser_validity", "/dev/zero"),
        3,
        &["--world"],
    );
    refused(
        &header.replace("assistant", "asistant"),
        2,
        &["did you mean `assistant`?"],
    );
    // The world of the user stands above that of the corpus.
    place.write(
        "c.jsonl",
        header.replace("case8_parser_validity", "elsewhere"),
    );
    let known = ["--world", "case8_parser_validity", "--agent", "archivist"];
    place
        .run(&[&["parse", "c.jsonl"][..], &known[..]].concat())
        .expect(0);
}
