//! What README shows is what happens: its files are written out, its commands run, its output
//! compared.

use super::Place;

/// The section with a world, its script, a study and a session.
const SECTION: &str = "## A world of your own\n";
/// Stands in output for whatever was left out: lines where it is alone, letters elsewhere.
const CUT: &str = "...";

/// The fenced blocks of the section that are of this language, in order.
fn blocks(language: &str) -> Vec<String> {
    let path = crate::support::root().join("README.md");
    let text = std::fs::read_to_string(path).expect("the project has a README");
    let (_, section) = text.split_once(SECTION).expect("README has the section");
    let section = section
        .split_once("\n## ")
        .map_or(section, |(section, _)| section);
    section
        .split(&format!("```{language}\n"))
        .skip(1)
        .map(|rest| rest.split_once("```").expect("a fence is closed").0.into())
        .collect()
}

/// A folder with the files that a reader was told to save.
fn place() -> Place {
    let place = Place::new();
    let files = blocks("ron");
    let names = ["trip.ron", "trip.script.ron", "my.ron"];
    assert_eq!(files.len(), names.len());
    for (name, content) in names.iter().zip(files) {
        place.write(name, content);
    }
    place
}

/// The commands of a session, each with the output shown below it.
pub(super) fn commands(session: &str) -> Vec<(String, Vec<String>)> {
    let mut commands: Vec<(String, Vec<String>)> = Vec::new();
    for line in session.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            commands.push((command.to_owned(), Vec::new()));
        } else {
            let (_, output) = commands.last_mut().expect("output follows a command");
            output.push(line.to_owned());
        }
    }
    commands
}

/// The words of a command line in which only single quotes are special.
pub(super) fn words_of(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for (index, piece) in line.split('\'').enumerate() {
        if index % 2 == 1 {
            words.push(piece);
        } else {
            words.extend(piece.split_whitespace());
        }
    }
    words
}

/// Whether the pieces between the cuts occur in `text` in this order, the first at its beginning
/// and the last at its end.
fn shows(shown: &str, text: &str) -> bool {
    let mut pieces = shown.split(CUT);
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let mut pieces: Vec<&str> = pieces.collect();
    let Some(last) = pieces.pop() else {
        return rest.is_empty();
    };
    for piece in pieces {
        match rest.split_once(piece) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// The first line of `shown` that is not in `output` where it should be. Without a cut before it, a
/// line follows the one before.
pub(super) fn missing<'s>(shown: &'s [String], output: &str) -> Option<&'s str> {
    let mut lines = output.lines();
    let mut is_cut = false;
    for line in shown {
        if line == CUT {
            is_cut = true;
            continue;
        }
        let found = if is_cut {
            lines.any(|other| shows(line, other))
        } else {
            lines.next().is_some_and(|other| shows(line, other))
        };
        if !found {
            return Some(line);
        }
        is_cut = false;
    }
    (!is_cut && lines.next().is_some()).then_some("nothing more")
}

#[test]
fn the_session_of_the_readme_is_what_a_reader_sees() {
    let place = place();
    let mut ran = 0;
    for (command, shown) in blocks("console").iter().flat_map(|text| commands(text)) {
        let Some(words) = command.strip_prefix("containment ") else {
            continue;
        };
        let words = words_of(words);
        let done = place
            .run(&words)
            .expect(if words[0] == "diff" { 6 } else { 0 });
        if let Some(line) = missing(&shown, &done.out) {
            panic!("`{command}` does not show `{line}`:\n{}", done.out);
        }
        ran += 1;
    }
    assert!(ran >= 9, "{ran} commands");
}

#[test]
fn output_with_cuts_is_compared() {
    let shown = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    for (text, output, expected) in [
        ("a\nb", "a\nb\n", None),
        ("a", "a\nb\n", Some("nothing more")),
        ("a\n...", "a\nb\n", None),
        ("b", "a\nb\n", Some("b")),
        ("...\nb", "a\nb\n", None),
        ("a...c...e", "abcde", None),
        ("a...e...c", "abcde", Some("a...e...c")),
        ("a...c", "abcde", Some("a...c")),
    ] {
        assert_eq!(missing(&shown(text), output), expected, "{text}");
    }
}
