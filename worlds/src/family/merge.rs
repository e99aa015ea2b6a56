//! From a family file to the text of one member: parts are added, words are put in.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::MOST_EXPANDED_BYTES;
use super::expansion::Expansion;
use super::sheet::{PART_FIELDS, Sheet, Words};
use crate::diagnostic::{Code, Problem, Problems, shortened};
use crate::nearest::advice;
use crate::outline::{At, Outline, Shape};

/// The text of a file, and where the literals in it are: values and keys in quotes, ascending.
pub(super) struct Texts<'o> {
    file: &'o str,
    literals: Vec<Range<usize>>,
}

impl<'o> Texts<'o> {
    pub(super) fn of(outline: &'o Outline<'_>) -> Self {
        let file = outline.text();
        let mut literals = Vec::new();
        for at in outline.all() {
            if at.shape() == Shape::Text {
                literals.push(at.whole());
            }
            if at.label().is_some_and(|label| label.ends_with(['"', '#'])) {
                literals.push(at.label_span());
            }
        }
        literals.sort_unstable_by_key(|literal| literal.start);
        Self { file, literals }
    }

    /// The literals within a range.
    fn within(&self, range: &Range<usize>) -> &[Range<usize>] {
        let first = self
            .literals
            .partition_point(|text| text.start < range.start);
        let end = self.literals.partition_point(|text| text.start < range.end);
        &self.literals[first..end]
    }
}

/// What one member is made from.
pub(super) struct Recipe<'a, 'o> {
    texts: &'a Texts<'o>,
    sheet: &'a Sheet<'o>,
    family: usize,
    variant: usize,
    words: Words,
}

impl<'a, 'o> Recipe<'a, 'o> {
    pub(super) fn new(
        texts: &'a Texts<'o>,
        sheet: &'a Sheet<'o>,
        family: usize,
        variant: usize,
    ) -> Self {
        Self {
            texts,
            sheet,
            family,
            variant,
            words: sheet.words_of(family, variant),
        }
    }

    /// The world of the member: that of the file with the fields of the parts, and its own name.
    pub(super) fn world(&self, used: &mut Used, problems: &mut Problems) -> Expansion {
        let mut fields = Fields::default();
        for field in self.sheet.world.children() {
            fields.add(field);
        }
        for part in self.parts() {
            let of_world =
                |field: &At<'_>| !field.label().is_some_and(|l| PART_FIELDS.contains(&l));
            part.children()
                .filter(of_world)
                .for_each(|field| fields.add(field));
        }
        let mut writer = self.writer(used, problems);
        let (family, variant) = (
            &self.sheet.families[self.family],
            &self.sheet.variants[self.variant],
        );
        writer.out.copy(writer.file, self.sheet.world.span());
        for (field, choice) in [("family", family), ("variant", variant)] {
            let words = format!("{field}: \"{}\", ", choice.name);
            writer.out.put(&words, choice.at.clone());
        }
        writer.fields(&fields);
        writer.close(self.sheet.world);
        writer.out
    }

    /// The script of the member: those of the parts, which say how its agents come to act, and after
    /// them that of the file.
    pub(super) fn script(&self, used: &mut Used, problems: &mut Problems) -> Option<Expansion> {
        let of_parts = self.parts().filter_map(|part| part.named("script"));
        let scripts: Vec<At<'o>> = of_parts.chain(self.sheet.script).collect();
        if scripts.is_empty() {
            return None;
        }
        let mut writer = self.writer(used, problems);
        writer.value(&scripts);
        Some(writer.out)
    }

    fn parts(&self) -> impl Iterator<Item = At<'o>> {
        let parts = self.sheet.parts_of(self.family, self.variant);
        parts.into_iter().map(|part| self.sheet.parts[part].at)
    }

    fn writer<'w>(&'w self, used: &'w mut Used, problems: &'w mut Problems) -> Writer<'w, 'o> {
        Writer {
            file: self.texts.file,
            texts: self.texts,
            words: Dictionary::new(&self.words),
            out: Expansion::default(),
            used,
            problems,
        }
    }
}

/// Bytes of the longest word, with the words in it put in.
const LONGEST_WORD: usize = 1 << 16;

/// How brackets are written.
const ALONE: &str = "`{name}` stands for a word; `{{` and `}}` are brackets";

/// Where the names of the words stand that were put in.
pub(super) type Used = BTreeSet<usize>;

/// Fields by name, in the order in which they are first given; some are given several times.
#[derive(Default)]
struct Fields<'o>(Vec<Vec<At<'o>>>);

impl<'o> Fields<'o> {
    fn add(&mut self, field: At<'o>) {
        let same = |values: &&mut Vec<At<'o>>| {
            field.label().is_some() && values[0].label() == field.label()
        };
        match self.0.iter_mut().find(same) {
            Some(values) => values.push(field),
            None => self.0.push(vec![field]),
        }
    }
}

/// Writes the text of a member.
struct Writer<'w, 'o> {
    file: &'o str,
    texts: &'w Texts<'o>,
    words: Dictionary<'w>,
    out: Expansion,
    used: &'w mut Used,
    problems: &'w mut Problems,
}

impl<'o> Writer<'_, 'o> {
    /// Values for one place: lists, maps and structs are added together, of anything else there may
    /// be one.
    fn value(&mut self, values: &[At<'o>]) {
        let [first, more @ ..] = values else {
            return;
        };
        let shape = first.shape();
        let is_alike = more.iter().all(|value| value.shape() == shape);
        let is_tuple = |value: &At<'_>| value.children().any(|child| child.label().is_none());
        match shape {
            Shape::Map if is_alike => {
                self.out.copy(self.file, first.span());
                self.entries(values);
                self.close(*first);
            }
            Shape::Group if is_alike && !values.iter().any(is_tuple) => {
                let mut fields = Fields::default();
                for field in values.iter().flat_map(|value| value.children()) {
                    fields.add(field);
                }
                self.out.copy(self.file, first.span());
                self.fields(&fields);
                self.close(*first);
            }
            _ if more.is_empty() => self.written(first.whole()),
            Shape::List if is_alike => {
                self.out.copy(self.file, first.span());
                for entry in values.iter().flat_map(|value| value.children()) {
                    self.written(entry.extent());
                    self.out.put(", ", entry.span());
                }
                self.close(*first);
            }
            _ => self.given_twice(*first, more[0]),
        }
    }

    /// The entries of maps: those whose keys are the same once the words are put in are added
    /// together.
    fn entries(&mut self, maps: &[At<'o>]) {
        let mut entries: Vec<(String, Vec<At<'o>>)> = Vec::new();
        for entry in maps.iter().flat_map(|map| map.children()) {
            let key = self.key(entry);
            match entries.iter_mut().find(|(other, _)| *other == key) {
                Some((_, values)) => values.push(entry),
                None => entries.push((key, vec![entry])),
            }
        }
        for (_, values) in &entries {
            let label = values[0].label_span();
            self.written(label.clone());
            self.out.put(": ", label.clone());
            self.value(values);
            self.out.put(", ", label);
        }
    }

    /// The key of an entry with words put in, as it is written; as it stands if that cannot be done.
    fn key(&mut self, entry: At<'_>) -> String {
        let written = entry.label().unwrap_or_default();
        let key = self.words.put_together(written, self.used, self.problems);
        key.unwrap_or_else(|_| written.to_owned())
    }

    fn fields(&mut self, fields: &Fields<'o>) {
        for values in &fields.0 {
            let first = values[0];
            if first.label().is_some() {
                self.out.copy(self.file, first.label_span());
                self.out.put(": ", first.label_span());
            }
            self.value(values);
            self.out.put(", ", first.span());
        }
    }

    /// The closing bracket of a value.
    fn close(&mut self, value: At<'o>) {
        let end = value.whole().end;
        self.out.copy(self.file, end - 1..end);
    }

    fn given_twice(&mut self, first: At<'o>, again: At<'o>) {
        let name = first.label().unwrap_or("script");
        let message = format!("`{name}` is given by several parts, and is nothing that adds up");
        let problem = Problem::new(Code::Repeated, again.label_span(), message).label("again here");
        self.problems.push(
            problem
                .also(first.label_span(), "first here")
                .help("only lists, maps and structs add up: give it in one place"),
        );
    }

    /// What is written in a range, with words put in.
    fn written(&mut self, range: Range<usize>) {
        let mut done = range.start;
        let texts = self.texts;
        for literal in texts.within(&range) {
            self.out.copy(self.file, done..literal.start);
            self.literal(literal.clone());
            done = literal.end;
        }
        self.out.copy(self.file, done..range.end);
    }

    /// A text in quotes, with words put in.
    fn literal(&mut self, range: Range<usize>) {
        let written = &self.file[range.clone()];
        let mut done = 0;
        while let Some(found) = first_bracket(&written[done..]) {
            let at = done + found;
            self.out
                .copy(self.file, range.start + done..range.start + at);
            done = at + self.bracket(written, at, range.start);
        }
        self.out.copy(self.file, range.start + done..range.end);
    }

    /// What stands for a bracket at `at` of a literal, and what follows it; gives how many bytes of the
    /// literal that was.
    fn bracket(&mut self, written: &str, at: usize, start: usize) -> usize {
        let rest = &written[at..];
        match bracket(rest) {
            Bracket::Doubled => {
                self.out.put(&rest[..1], start + at..start + at + 2);
                2
            }
            Bracket::Alone => {
                let span = start + at..start + at + 1;
                let problem = Problem::new(Code::UnknownWord, span, "a bracket that stands alone");
                self.problems.push(problem.help(ALONE));
                1
            }
            Bracket::Word(name) => {
                let length = name.len() + 2;
                let span = start + at..start + at + length;
                self.word(name, span, written.starts_with('r'));
                length
            }
        }
    }

    /// The word called `name`, which stands at `span`.
    fn word(&mut self, name: &str, span: Range<usize>, is_raw: bool) {
        if !self.words.words.contains_key(name) {
            let message = format!("there is no word `{}`", shortened(name));
            let known = self.words.words.keys().map(String::as_str);
            let problem = Problem::new(Code::UnknownWord, span, message).label("not known");
            self.problems.push(problem.maybe_help(advice(name, known)));
            return;
        }
        // What is wrong with the word itself was told at its name.
        let Some(said) = self.words.say(name, self.used, self.problems) else {
            return;
        };
        if self.out.text().len() > MOST_EXPANDED_BYTES {
            return;
        }
        if !is_raw {
            self.out.put(&escaped(said), span);
        } else if said.contains('"') {
            let message = format!("the word `{name}` has quotes, which end a raw text");
            let problem = Problem::new(Code::UnknownWord, span, message);
            self.problems
                .push(problem.help("write the text without `r`"));
        } else {
            self.out.put(said, span);
        }
    }
}

/// Words with other words put into them, each once it is needed.
struct Dictionary<'w> {
    words: &'w Words,
    /// What a word says; nothing while it is being put together, or if something is wrong with it.
    said: BTreeMap<String, Option<String>>,
}

impl<'w> Dictionary<'w> {
    const fn new(words: &'w Words) -> Self {
        Self {
            words,
            said: BTreeMap::new(),
        }
    }

    /// What a word says; nothing if it is not known, or if something is wrong with it, which is told
    /// at its name.
    fn say(&mut self, name: &str, used: &mut Used, problems: &mut Problems) -> Option<&str> {
        let word = self.words.get(name)?;
        used.insert(word.name.start);
        if !self.said.contains_key(name) {
            // A word that is met again while it is being put together never ends.
            self.said.insert(name.to_owned(), None);
            match self.put_together(&word.value, used, problems) {
                Ok(value) => {
                    self.said.insert(name.to_owned(), Some(value));
                }
                Err(message) => {
                    let message = format!("the word `{}` {message}", shortened(name));
                    let problem = Problem::new(Code::UnknownWord, word.name.clone(), message);
                    problems.push(problem.label("cannot be put in"));
                }
            }
        }
        self.said.get(name)?.as_deref()
    }

    /// The value of a word with the words in it put in, or what is wrong with it.
    fn put_together(
        &mut self,
        value: &str,
        used: &mut Used,
        problems: &mut Problems,
    ) -> Result<String, String> {
        let mut out = String::new();
        let mut rest = value;
        while let Some(at) = first_bracket(rest) {
            out.push_str(&rest[..at]);
            rest = &rest[at..];
            match bracket(rest) {
                Bracket::Doubled => {
                    out.push_str(&rest[..1]);
                    rest = &rest[2..];
                }
                Bracket::Alone => return Err(format!("has a bracket that stands alone; {ALONE}")),
                Bracket::Word(inner) => {
                    let Some(said) = self.say(inner, used, problems) else {
                        let inner = shortened(inner);
                        return Err(format!("has `{{{inner}}}` in it, which stands for nothing"));
                    };
                    out.push_str(said);
                    rest = &rest[inner.len() + 2..];
                }
            }
            if out.len() > LONGEST_WORD {
                return Err(format!("says more than {LONGEST_WORD} bytes"));
            }
        }
        out.push_str(rest);
        Ok(out)
    }
}

/// What a bracket at the beginning of a text is.
enum Bracket<'t> {
    /// A bracket, written twice.
    Doubled,
    /// This word.
    Word(&'t str),
    /// Neither.
    Alone,
}

/// Where the first bracket of a text is.
fn first_bracket(text: &str) -> Option<usize> {
    text.bytes().position(|byte| matches!(byte, b'{' | b'}'))
}

fn bracket(text: &str) -> Bracket<'_> {
    if text.starts_with("{{") || text.starts_with("}}") {
        return Bracket::Doubled;
    }
    let name = text.strip_prefix('{').and_then(|name| {
        let end = name.find('}')?;
        Some(&name[..end])
    });
    name.map_or(Bracket::Alone, Bracket::Word)
}

/// A text as it is written between quotes.
fn escaped(text: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~') && !b"\"'\\".contains(&byte);
    if text.bytes().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let quoted = ron::to_string(text).unwrap_or_default();
    let inside = quoted.trim_start_matches('"').strip_suffix('"');
    Cow::Owned(inside.unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn a_word_is_written_so_that_it_reads_as_it_is() {
        for text in [
            "",
            "plain (and) #1",
            "it's",
            "\"quoted\"",
            "\\",
            "a\nb",
            "é\u{202E}",
            "\u{7F}",
        ] {
            let written = format!("\"{}\"", escaped(text));
            assert_eq!(written, ron::to_string(text).unwrap(), "{text:?}");
            assert_eq!(ron::from_str::<String>(&written).unwrap(), text);
        }
    }
}
