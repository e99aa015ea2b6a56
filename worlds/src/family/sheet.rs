//! What a family file says besides its world: words, parts, families and variants.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::{MOST_MEMBERS, SCHEMA};
use crate::check::names::require_valid_name;
use crate::diagnostic::{Code, Problem, Problems, shortened};
use crate::nearest::advice;
use crate::outline::{At, Shape};

/// The fields of a family file.
const FIELDS: [&str; 8] = [
    "schema", "words", "parts", "in_turn", "families", "variants", "world", "script",
];
/// The fields of a family and of a variant.
const CHOICE_FIELDS: [&str; 2] = ["words", "parts"];
/// The fields of a part that are no fields of a world.
pub(super) const PART_FIELDS: [&str; 2] = ["words", "script"];

/// A word: what stands for `{name}`.
#[derive(Clone, Debug)]
pub(super) struct Word {
    pub(super) value: String,
    /// Where its name stands.
    pub(super) name: Range<usize>,
}

/// Words by name.
pub(super) type Words = BTreeMap<String, Word>;

/// A named part of a world.
pub(super) struct Part<'o> {
    pub(super) name: String,
    pub(super) at: At<'o>,
    pub(super) words: Words,
}

/// A family or a variant.
pub(super) struct Choice {
    pub(super) name: String,
    /// Where its name stands.
    pub(super) at: Range<usize>,
    pub(super) words: Words,
    /// Positions of its parts.
    pub(super) parts: Vec<usize>,
}

/// A family file, read.
pub(super) struct Sheet<'o> {
    pub(super) words: Words,
    pub(super) parts: Vec<Part<'o>>,
    /// Positions of the parts of which every member has one, in turn.
    in_turn: Vec<usize>,
    pub(super) families: Vec<Choice>,
    pub(super) variants: Vec<Choice>,
    pub(super) world: At<'o>,
    pub(super) script: Option<At<'o>>,
}

impl<'o> Sheet<'o> {
    /// Reads a file; nothing if there is an error.
    pub(super) fn read(root: At<'o>, problems: &mut Problems) -> Option<Self> {
        if let Err(problem) = require_family(root) {
            problems.push(problem);
            return None;
        }
        let before = problems.has_errors();
        known_fields(root, &FIELDS, problems);
        for field in ["families", "variants", "world", "schema"] {
            if root.named(field).is_none() {
                let message = format!("`{field}` is missing");
                let problem = Problem::new(Code::MissingField, root.span(), message);
                problems.push(problem.label(format!("needs `{field}`")));
            }
        }
        let parts = parts(root, problems);
        let sheet = Self {
            words: words(root, problems),
            in_turn: chosen(root, "in_turn", &parts, problems),
            families: choices(root.named("families"), &parts, problems),
            variants: choices(root.named("variants"), &parts, problems),
            parts,
            world: root.field("world"),
            script: root.named("script"),
        };
        if sheet.families.len() * sheet.variants.len() > MOST_MEMBERS {
            let message = format!("there are more than {MOST_MEMBERS} members");
            let at = root.field("families");
            let problem = Problem::new(Code::TooMany, at.span(), message);
            problems.push(problem.help("members = families x variants"));
        }
        (before == problems.has_errors()).then_some(sheet)
    }

    /// Every family with every variant, by position.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        let variants = self.variants.len();
        (0..self.families.len()).flat_map(move |family| (0..variants).map(move |v| (family, v)))
    }

    /// `family/variant`.
    pub(super) fn identity(&self, family: usize, variant: usize) -> String {
        let (family, variant) = (&self.families[family], &self.variants[variant]);
        format!("{}/{}", family.name, variant.name)
    }

    /// The positions of the parts of a member, in order.
    pub(super) fn parts_of(&self, family: usize, variant: usize) -> Vec<usize> {
        let turn = self.turn(family, variant);
        let (family, variant) = (&self.families[family], &self.variants[variant]);
        let mut parts = Vec::new();
        for &part in family.parts.iter().chain(&variant.parts).chain(&turn) {
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
        parts
    }

    /// The part that a member has because it is its turn.
    fn turn(&self, family: usize, variant: usize) -> Option<usize> {
        let position = family * self.variants.len() + variant;
        let turn = position.checked_rem(self.in_turn.len())?;
        Some(self.in_turn[turn])
    }

    /// The words of a member.
    pub(super) fn words_of(&self, family: usize, variant: usize) -> Words {
        let mut words = self.words.clone();
        let turn = self.turn(family, variant);
        for choice in [&self.families[family], &self.variants[variant]] {
            for &part in &choice.parts {
                words.extend(self.parts[part].words.clone());
            }
            words.extend(choice.words.clone());
        }
        if let Some(part) = turn {
            words.extend(self.parts[part].words.clone());
        }
        words
    }

    /// Warns of words and parts that no member uses; `used` are the places of the words used.
    pub(super) fn tell_unused(&self, used: &BTreeSet<usize>, problems: &mut Problems) {
        let choices = || self.families.iter().chain(&self.variants);
        for (position, part) in self.parts.iter().enumerate() {
            let is_chosen = choices().any(|choice| choice.parts.contains(&position));
            if !is_chosen && !self.in_turn.contains(&position) {
                let message = format!("no member has the part `{}`", part.name);
                let span = part.at.label_span();
                problems.push(Problem::new(Code::UnusedPart, span, message).label("never added"));
            }
        }
        let of_parts = self.parts.iter().map(|part| &part.words);
        let of_choices = choices().map(|choice| &choice.words);
        let all = std::iter::once(&self.words)
            .chain(of_parts)
            .chain(of_choices);
        for (name, word) in all.flatten() {
            if !used.contains(&word.name.start) {
                let message = format!("no text has `{{{name}}}` where this word counts");
                let problem = Problem::new(Code::UnusedPart, word.name.clone(), message);
                problems.push(problem.label("never said"));
            }
        }
    }
}

/// The file must be a family of this version; nothing else can be said about one that is not.
fn require_family(root: At<'_>) -> Result<(), Problem> {
    if root.shape() != Shape::Group || root.word() != "Family" {
        let label = format!("`{}` instead of `Family(...)`", shortened(root.word()));
        let problem = Problem::new(Code::NotAFamily, root.span(), "the file is not a family");
        return Err(problem.label(label));
    }
    let Some(schema) = root.named("schema") else {
        return Ok(());
    };
    if schema.written() == SCHEMA.to_string() {
        return Ok(());
    }
    let version = shortened(schema.written());
    let message = format!("version {version} of the grammar is not supported");
    let problem = Problem::new(Code::UnsupportedSchema, schema.span(), message);
    Err(problem
        .label("not supported")
        .help(format!("this program reads version {SCHEMA}")))
}

/// Complains about fields that are not known, and about those given twice.
fn known_fields(at: At<'_>, known: &[&str], problems: &mut Problems) {
    let mut seen = BTreeSet::new();
    for field in at.children() {
        let name = field.label().unwrap_or_default();
        let span = field.label_span();
        if !known.contains(&name) {
            let message = format!("there is no field `{}` here", shortened(name));
            let problem = Problem::new(Code::UnknownField, span, message).label("not known");
            problems.push(problem.maybe_help(advice(name, known.iter().copied())));
        } else if !seen.insert(name) {
            let message = format!("`{name}` is given twice");
            problems.push(Problem::new(Code::Repeated, span, message).label("again here"));
        }
    }
}

/// Complains about a value of another shape.
fn require(at: At<'_>, shape: Shape, what: &str, problems: &mut Problems) -> bool {
    if at.shape() == shape {
        return true;
    }
    let message = format!("{what} is expected");
    problems.push(Problem::new(Code::WrongType, at.span(), message).label("something else"));
    false
}

/// The text of a literal; an empty one and a complaint if it is something else.
fn text(at: At<'_>, problems: &mut Problems) -> String {
    if !require(at, Shape::Text, "a text in quotes", problems) {
        return String::new();
    }
    unquoted(at.written())
}

/// What a literal says. What is wrong with its escapes was said by the outline.
fn unquoted(written: &str) -> String {
    ron::from_str(written).unwrap_or_default()
}

/// The entries of a map with names as keys, each once.
fn named<'o>(map: At<'o>, problems: &mut Problems) -> Vec<(String, At<'o>)> {
    if !require(map, Shape::Map, "a map in `{}`", problems) {
        return Vec::new();
    }
    let mut entries: Vec<(String, At<'o>)> = Vec::new();
    for entry in map.children() {
        let name = unquoted(entry.label().unwrap_or_default());
        let span = entry.label_span();
        require_valid_name(&name, span.clone(), problems);
        if entries.iter().any(|(other, _)| *other == name) {
            let message = format!("`{name}` is given twice");
            problems.push(Problem::new(Code::Repeated, span, message).label("again here"));
        } else {
            entries.push((name, entry));
        }
    }
    entries
}

fn words(owner: At<'_>, problems: &mut Problems) -> Words {
    let Some(map) = owner.named("words") else {
        return Words::new();
    };
    let entries = named(map, problems).into_iter();
    entries
        .map(|(name, at)| {
            let word = Word {
                value: text(at, problems),
                name: at.label_span(),
            };
            (name, word)
        })
        .collect()
}

fn parts<'o>(root: At<'o>, problems: &mut Problems) -> Vec<Part<'o>> {
    let Some(map) = root.named("parts") else {
        return Vec::new();
    };
    let entries = named(map, problems).into_iter();
    entries
        .map(|(name, at)| {
            require(at, Shape::Group, "fields of a world in `()`", problems);
            Part {
                name,
                at,
                words: words(at, problems),
            }
        })
        .collect()
}

fn choices(map: Option<At<'_>>, parts: &[Part<'_>], problems: &mut Problems) -> Vec<Choice> {
    let Some(map) = map else {
        return Vec::new();
    };
    let entries = named(map, problems);
    if entries.is_empty() && map.shape() == Shape::Map {
        let message = "there is no member";
        problems.push(Problem::new(Code::NothingHappens, map.span(), message).label("empty"));
    }
    let choice = |(name, at): (String, At<'_>)| {
        if name.contains('/') {
            // `a/b` with `c` and `a` with `b/c` would be called the same.
            let message = format!("the name `{}` has a `/`", shortened(&name));
            let problem = Problem::new(Code::InvalidName, at.label_span(), message);
            problems.push(
                problem
                    .label("cannot be used")
                    .help("members are called `family/variant`: leave `/` out of both names"),
            );
        }
        if require(at, Shape::Group, "`(words: ..., parts: ...)`", problems) {
            known_fields(at, &CHOICE_FIELDS, problems);
        }
        Choice {
            name,
            at: at.label_span(),
            words: words(at, problems),
            parts: chosen(at, "parts", parts, problems),
        }
    };
    entries.into_iter().map(choice).collect()
}

/// The parts that a field names, by position.
fn chosen(at: At<'_>, field: &str, parts: &[Part<'_>], problems: &mut Problems) -> Vec<usize> {
    let Some(list) = at.named(field) else {
        return Vec::new();
    };
    if !require(list, Shape::List, "a list in `[]`", problems) {
        return Vec::new();
    }
    let mut chosen = Vec::new();
    for entry in list.children() {
        let name = text(entry, problems);
        match parts.iter().position(|part| part.name == name) {
            Some(position) => chosen.push(position),
            None if entry.shape() == Shape::Text => {
                let message = format!("there is no part `{}`", shortened(&name));
                let problem = Problem::new(Code::UnknownPart, entry.span(), message);
                let known = parts.iter().map(|part| &*part.name);
                problems.push(problem.label("not known").maybe_help(advice(&name, known)));
            }
            None => {}
        }
    }
    chosen
}
