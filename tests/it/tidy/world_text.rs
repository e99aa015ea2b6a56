//! What the shipped RON files may contain: text that a reader sees as it is, and only addresses
//! that cannot exist.

use super::tree::{TextFile, assert_none, files, has_extension, made_up, violation};

/// Letters that show as nothing or change how their neighbours show. Control letters and spaces
/// other than the plain one are refused apart from this list.
const INVISIBLE: &[(u32, u32)] = &[
    (0x00AD, 0x00AD),     // soft hyphen
    (0x034F, 0x034F),     // grapheme joiner
    (0x061C, 0x061C),     // Arabic letter mark
    (0x115F, 0x1160),     // Hangul fillers
    (0x17B4, 0x17B5),     // Khmer inherent vowels
    (0x180B, 0x180F),     // Mongolian selectors
    (0x200B, 0x200F),     // zero width, left and right marks
    (0x202A, 0x202E),     // direction overrides
    (0x2060, 0x206F),     // joiners, invisible operators, isolates
    (0x2800, 0x2800),     // blank Braille pattern
    (0x3164, 0x3164),     // Hangul filler
    (0xE000, 0xF8FF),     // private use
    (0xFE00, 0xFE0F),     // variation selectors
    (0xFEFF, 0xFEFF),     // byte order mark
    (0xFFA0, 0xFFA0),     // half-width Hangul filler
    (0xFFF0, 0xFFFF),     // specials, also what stands for invalid UTF-8
    (0x1D173, 0x1D17A),   // musical beams
    (0xE0000, 0xE0FFF),   // tags, more variation selectors
    (0xF0000, 0x10_FFFF), // private use
];

#[test]
fn shipped_ron_files_are_visible_text_with_local_addresses() {
    let violations: Vec<String> = files()
        .iter()
        .filter(|file| is_shipped(&file.path))
        .flat_map(|file| {
            let mut found = invisible_letters(file);
            found.extend(foreign_addresses(file));
            found
        })
        .collect();
    assert_none(&violations);
}

/// Hostile files for tests are not shipped; they stand under `tests/` or a crate's `src/`.
fn is_shipped(path: &str) -> bool {
    has_extension(path, "ron")
        && !path
            .split('/')
            .any(|folder| folder == "tests" || folder == "src")
}

fn invisible_letters(file: &TextFile) -> Vec<String> {
    let mut violations = Vec::new();
    for (number, line) in file.lines() {
        for letter in line.chars().filter(|letter| is_invisible(*letter)) {
            violations.push(violation(
                &file.path,
                number,
                &format!("invisible letter U+{:04X}", u32::from(letter)),
                "remove it, or write a plain space",
            ));
        }
        for escape in ["\\u", "\\x"]
            .iter()
            .filter(|escape| line.contains(**escape))
        {
            let fix = "write the letter itself, so that a reader sees it";
            violations.push(violation(
                &file.path,
                number,
                &format!("escape `{escape}`"),
                fix,
            ));
        }
    }
    violations
}

fn is_invisible(letter: char) -> bool {
    let code = u32::from(letter);
    letter.is_control()
        || (letter.is_whitespace() && letter != ' ')
        || INVISIBLE
            .iter()
            .any(|(first, last)| (*first..=*last).contains(&code))
}

fn foreign_addresses(file: &TextFile) -> Vec<String> {
    let mut violations = Vec::new();
    for (number, line) in file.lines() {
        for (at, _) in line.match_indices('@') {
            let name = line[..at]
                .rsplit(|letter| !is_address(letter))
                .next()
                .unwrap_or_default();
            let host = line[at + 1..]
                .split(|letter| !is_address(letter))
                .next()
                .unwrap_or_default();
            let host = host.trim_end_matches('.').to_lowercase();
            let is_local = matches!(host.rsplit_once('.'), Some((_, "local" | "example")));
            if !name.is_empty() && !host.is_empty() && !is_local {
                violations.push(violation(
                    &file.path,
                    number,
                    &format!("address `{name}@{host}`"),
                    "end it in .local or .example, which nobody can own",
                ));
            }
        }
    }
    violations
}

fn is_address(letter: char) -> bool {
    letter.is_alphanumeric() || "._%+-".contains(letter)
}

#[test]
fn an_invisible_letter_is_found() {
    for letter in [
        '\u{200B}',
        '\u{202E}',
        '\u{FEFF}',
        '\u{00A0}',
        '\u{E0041}',
        '\u{1}',
        '\t',
    ] {
        let found = invisible_letters(&made_up("worlds/a.ron", &format!("(\n  a{letter}b,\n)")));
        assert_eq!(found.len(), 1, "{letter:?}");
        assert!(found[0].starts_with("worlds/a.ron:2: "), "{}", found[0]);
    }
    let plain = made_up(
        "worlds/a.ron",
        "(\n    name: \"Zoë Müller – 価格 €5\",\n)\n",
    );
    assert_none(&invisible_letters(&plain));
}

#[test]
fn a_foreign_address_is_found() {
    for bad in [
        "eve@evil.test",
        "eve@evil.example.com",
        "eve@localhost",
        "eve@xlocal",
    ] {
        let found = foreign_addresses(&made_up("worlds/a.ron", &format!("\nto: \"{bad}\",\n")));
        assert_eq!(found.len(), 1, "{bad}");
        assert!(found[0].starts_with("worlds/a.ron:2: "), "{}", found[0]);
    }
    let good = "\"ops@corp.local\", \"Write to a.b@x.example. Thanks @all, at 5 @ noon\"";
    assert_none(&foreign_addresses(&made_up("worlds/a.ron", good)));
}

#[test]
fn only_shipped_files_are_read() {
    assert!(is_shipped("worlds/demos/email.ron"));
    assert!(is_shipped("models/profiles/paper.ron"));
    assert!(!is_shipped("tests/it/hostile/bidi.ron"));
    assert!(!is_shipped("worlds/demos/email.rs"));
}
