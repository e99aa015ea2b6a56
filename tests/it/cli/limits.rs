//! What a file of many tiny lines costs.

use super::{Place, finished};

const CASE_2: &str = "case2_partner_meeting";

/// Enough for the text of each file, and far too little for all its lines as values.
#[cfg(target_os = "linux")]
const MEMORY_KIB: u32 = 250 << 10;

#[cfg(target_os = "linux")]
#[test]
fn memory_is_bounded_by_the_size_of_a_file_and_not_by_its_lines() {
    let place = Place::new();
    let trace = place.run(&["trace", CASE_2]).expect(0).out;
    let header = trace.lines().next().expect("a header");
    let events = "{\"type\":\"event\"}\n".repeat(1_500_000);
    place.write("many.jsonl", format!("{header}\n{events}"));
    place.write("many.txt", "a\n".repeat(120_000));
    let commands: [(&[&str], i32); 3] = [
        (&["diff", "many.jsonl", "many.jsonl"], 0),
        (&["replay", "many.jsonl"], 6),
        (&["parse", "many.txt", "--format", "json"], 0),
    ];
    for (words, code) in commands {
        let program = place.command(words);
        let mut shell = std::process::Command::new("sh");
        let limited = format!("ulimit -v {MEMORY_KIB}; exec \"$0\" \"$@\"");
        shell.args(["-c", &limited]).arg(program.get_program());
        shell.args(program.get_args()).current_dir(&place.0);
        finished(&mut shell, words).expect(code);
    }
}

#[test]
fn a_trace_is_refused_at_its_first_wrong_line() {
    let place = Place::new();
    let trace = place.run(&["trace", CASE_2]).expect(0).out;
    let header = trace.lines().next().expect("a header");
    for (line, says) in [
        ("{}", "no event of a trace"),
        ("{\"type\":\"header\"}", "no event of a trace"),
        ("[]", "not one JSON object"),
        ("{\"type\":\"event\"", "not one JSON object"),
    ] {
        let wrong = format!("{header}\n{{\"type\":\"event\"}}\n\n{line}\nnonsense\n");
        place.write("wrong.jsonl", wrong);
        let done = place.run(&["replay", "wrong.jsonl"]);
        done.fails(3, &["line 4: ", says, "wrong.jsonl"]);
    }
}
