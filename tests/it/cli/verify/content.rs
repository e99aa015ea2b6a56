//! What must not stand in a folder that is given away, traces that do not belong there, and folders in
//! which anything lies.

use super::{MANIFEST, ROWS, SCENARIOS, caught, caught_with, cell, changed, place, study, verify};
use crate::cli::Place;

#[test]
fn what_must_not_be_given_away_is_named_and_not_repeated() {
    let canary = "CANARY-plan-0001";
    let key = format!("AKIA{}", "Q7".repeat(8));
    for secret in [canary, &key] {
        let place = place();
        place.write("result/notes.md", format!("first\nsee {secret}.\n"));
        caught(&place, "secrets", &["notes.md", "\"line\":2"]);
        let done = verify(&place, &[]).expect(4);
        assert!(!done.out.contains(secret), "{}", done.out);
    }
    let place = place();
    let escaped = canary.replace('p', "\\u0070").replace('C', "\\u0043");
    place.write("result/claims.json", format!("{{\"x\": \"{escaped}\"}}\n"));
    caught(&place, "secrets", &["claims.json"]);
    let stranger = |rows: String| cell(&rows, 3, "family", |_| canary.to_owned());
    caught(
        &changed(ROWS, stranger, true),
        "secrets",
        &["rows.csv", "\"line\":4"],
    );
}

#[test]
fn an_address_that_somebody_could_own_is_named() {
    for address in ["eve@evil.test", "https://evil.test/x", "www.evil.test"] {
        let place = place();
        place.write("result/notes.md", format!("write to {address}\n"));
        caught(
            &place,
            "local addresses",
            &["notes.md", "\"line\":1", "evil.test"],
        );
    }
    let place = place();
    place.write(
        "result/notes.md",
        "partner@trusted.local and www.corp.example\n",
    );
    verify(&place, &[]).expect(0);
}

/// The letters are made here, so that none of them stands in a file of the project.
#[test]
fn hidden_and_encoded_text_is_named() {
    let letters = [0x200B_u32, 0x202E, 0xFEFF, 0xE0041, 0x1B];
    for letter in letters.map(|code| char::from_u32(code).expect("a letter")) {
        let text = format!("{{\"x\": \"a{letter}b\"}}\n");
        let place = place();
        place.write("result/notes.json", text);
        let code = format!("U+{:04X}", u32::from(letter));
        caught(&place, "forbidden markers", &["notes.json", &code]);
    }
    let escape = format!("{{\"x\": \"a{}u202eb\"}}\n", '\\');
    let run = "aGVsbG8gd29ybGQgMTIzNDU2Nzg5MCBoZWxsbyB3b3JsZCAx";
    let hash = "0123456789abcdef0123456789abcdef";
    let markup = format!("<{}>", "script");
    for text in [&*escape, run, hash, &markup] {
        let place = place();
        place.write("result/notes.json", text);
        caught(&place, "forbidden markers", &["notes.json", "\"line\":1"]);
    }
}

/// The trace of the row at this position, from 1.
fn trace_of(place: &Place, row: usize, more: &[&str]) -> String {
    let rows = place.read(ROWS);
    let line = rows.lines().nth(row).expect("a row");
    let id = line.split(',').nth(1).expect("an id");
    let words = [&["trace", "result", "--id", id], more].concat();
    place.run(&words).expect(0).out
}

#[test]
fn a_trace_that_is_not_redacted_or_of_another_rollout_is_named() {
    let place = place();
    let good = trace_of(&place, 1, &[]);
    place.write("result/one.jsonl", &good);
    verify(&place, &[]).expect(0);
    let wrong = |text: String, says: &[&str]| {
        place.write("result/one.jsonl", text);
        caught_with(&place, &[], "traces", &[&["one.jsonl"], says].concat());
    };
    let revealed = trace_of(&place, 1, &["--reveal"]);
    wrong(revealed.clone(), &["redacted"]);
    wrong(
        revealed.replacen("\"redacted\":false", "\"redacted\":true", 1),
        &["value"],
    );
    wrong(
        good.replacen("\"seed\":1", "\"seed\":99", 1),
        &["no row of the result"],
    );
    let hash = good.split("\"policy_hash\":\"").nth(1).expect("a hash");
    wrong(good.replacen(&hash[..4], "ffff", 1), &["policy_hash"]);
    wrong(good.replacen("\"tick\":1", "\"tick\":2", 1), &["run again"]);
    wrong(good[..good.len() / 2].to_owned(), &["JSON"]);
    wrong("{}\n".to_owned(), &["header"]);
    study(&place, "controls", "other");
    let rows = place.read("other/rows.csv");
    let id = rows.lines().nth(1).and_then(|row| row.split(',').nth(1));
    let words = ["trace", "other", "--id", id.expect("an id")];
    wrong(place.run(&words).expect(0).out, &["no row of the result"]);
    let schema = good.replacen("\"schema\":1", "\"schema\":2", 1);
    place.write("result/one.jsonl", schema);
    verify(&place, &[]).expect(7);
}

/// Anything may lie in a folder: nothing is followed out of it, and nothing makes it hang or panic.
#[test]
fn hostile_folders_are_answered() {
    let deep = "[".repeat(100_000);
    for file in [
        MANIFEST,
        ROWS,
        SCENARIOS,
        "result/claims.json",
        "result/one.jsonl",
    ] {
        let binary: &[u8] = &[0xFF, 0x00, 0x9F];
        for bytes in [b"", deep.as_bytes(), binary] {
            let place = place();
            place.write(file, bytes);
            let done = verify(&place, &[]);
            assert!(matches!(done.code, Some(0 | 4)), "{file}: {done:?}");
        }
    }
    let many = |text: String| {
        let seeds: Vec<String> = (0..300_000).map(|seed| seed.to_string()).collect();
        text.replacen(
            "\"seeds\": [",
            &format!("\"seeds\": [{},", seeds.join(",")),
            1,
        )
    };
    caught(
        &changed(MANIFEST, many, true),
        "row identities",
        &["more rollouts"],
    );
}

#[cfg(unix)]
#[test]
fn links_and_devices_are_not_followed() {
    let place = place();
    std::os::unix::fs::symlink("/dev/zero", place.path("result/zero")).expect("a link");
    caught(&place, "files and versions", &["zero", "no regular file"]);
}
