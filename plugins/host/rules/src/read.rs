//! From the tree of a text to its meaning. Nothing here stops at a mistake: what cannot be read is
//! noted and left out, and the rest is read on.

mod answers;
pub(crate) mod file;
pub(crate) mod metrics;
mod predicates;
mod values;

use plugins::loaded::Mistake;
use plugins::value::{Text, Value};

use crate::nearest::advice;
use crate::predicate::{Names, sorted};
use crate::text::{Entry, Node, Place, What, shortened};

/// The version of the grammar.
pub(crate) const SCHEMA: i64 = 1;
/// Mistakes that are told of one file.
pub(crate) const MOST_MISTAKES: usize = 100;
/// Letters of a summary, and of the doc of a metric.
pub(crate) const LONGEST_SUMMARY: usize = 300;

/// What a name in a file stands for in a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Tool,
    Agent,
    Argument,
    Source,
    Principal,
    Store,
}

/// A name that a world may lack.
#[derive(Clone, Debug)]
pub(crate) struct Mention {
    pub(crate) kind: Kind,
    pub(crate) name: Text,
    pub(crate) place: Place,
}

/// Collects what is wrong, and which names of a world are mentioned.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    mistakes: Vec<Mistake>,
    untold: usize,
    pub(crate) mentions: Vec<Mention>,
}

impl Reader {
    /// The mistakes in the order of the text.
    pub(crate) fn into_mistakes(mut self) -> Vec<Mistake> {
        self.mistakes
            .sort_by_key(|mistake| mistake.place.as_ref().map_or(0, |place| place.start));
        if self.untold > 0 {
            let message = format!("there are {} mistakes more", self.untold);
            self.mistakes.push(Mistake::new(message));
        }
        self.mistakes
    }

    pub(crate) fn is_clean(&self) -> bool {
        self.mistakes.is_empty()
    }

    pub(crate) fn note(&mut self, mistake: Mistake) {
        if self.mistakes.len() < MOST_MISTAKES {
            self.mistakes.push(mistake);
        } else {
            self.untold += 1;
        }
    }

    /// Notes what is wrong at a place, and gives nothing.
    pub(crate) fn wrong<T>(
        &mut self,
        place: &Place,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Option<T> {
        self.note(Mistake::new(message).at(place.clone()).help(help));
        None
    }

    /// Notes that another kind of value is expected.
    pub(crate) fn expected<T>(&mut self, node: &Node<'_>, what: &str) -> Option<T> {
        let message = format!("{} stands where {what} is expected", node.shown());
        self.note(Mistake::new(message).at(node.place.clone()));
        None
    }

    /// Notes a word that is not among the `known` ones.
    pub(crate) fn unknown<T>(
        &mut self,
        place: &Place,
        what: &str,
        word: &str,
        known: &[&str],
    ) -> Option<T> {
        if self.mistakes.len() >= MOST_MISTAKES {
            self.untold += 1;
            return None;
        }
        let mistake = Mistake::new(format!("`{}` is no {what}", shortened(word)));
        let mistake = mistake.at(place.clone());
        self.note(match advice(word, known) {
            Some(advice) => mistake.help(advice),
            None => mistake,
        });
        None
    }

    pub(crate) fn text(&mut self, node: &Node<'_>) -> Option<Text> {
        match &node.what {
            What::Text(text) => Some(text.as_str().into()),
            _ => self.expected(node, "a text in quotes"),
        }
    }

    pub(crate) fn number(&mut self, node: &Node<'_>) -> Option<i64> {
        match node.what {
            What::Number(number) => Some(number),
            _ => self.expected(node, "a number"),
        }
    }

    /// A number that is not negative.
    pub(crate) fn count(&mut self, node: &Node<'_>) -> Option<u64> {
        let number = self.number(node)?;
        match u64::try_from(number) {
            Ok(number) => Some(number),
            Err(_) => self.wrong(
                &node.place,
                format!("{number} is less than 0"),
                "write 0 or more",
            ),
        }
    }

    /// A text, a number, a truth value or a list of texts.
    pub(crate) fn value(&mut self, node: &Node<'_>) -> Option<Value> {
        match &node.what {
            What::Text(text) => Some(Value::text(text)),
            What::Number(number) => Some(Value::Integer(*number)),
            What::Word("true") => Some(Value::Boolean(true)),
            What::Word("false") => Some(Value::Boolean(false)),
            What::List(items) => {
                let texts: Vec<Option<Text>> = items.iter().map(|item| self.text(item)).collect();
                texts.into_iter().collect::<Option<_>>().map(Value::List)
            }
            _ => self.expected(node, "a text, a number, `true`, `false` or a list of texts"),
        }
    }

    /// One of the words of `table`, standing alone.
    pub(crate) fn choice<T: Copy>(
        &mut self,
        node: &Node<'_>,
        what: &str,
        table: &[(&str, T)],
    ) -> Option<T> {
        let What::Word(word) = node.what else {
            return self.expected(node, &format!("a {what}"));
        };
        let found = table.iter().find(|(name, _)| *name == word);
        if let Some((_, value)) = found {
            return Some(*value);
        }
        let known: Vec<&str> = table.iter().map(|(name, _)| *name).collect();
        self.unknown(&node.place, what, word, &known)
    }

    /// One thing, or a list of them that is not empty.
    pub(crate) fn some<T>(
        &mut self,
        node: &Node<'_>,
        what: &str,
        mut read: impl FnMut(&mut Self, &Node<'_>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let What::List(items) = &node.what else {
            return read(self, node).map(|one| vec![one]);
        };
        if items.is_empty() {
            let message = format!("an empty list of {what} fits nothing");
            return self.wrong(&node.place, message, "name one at least");
        }
        let read: Vec<Option<T>> = items.iter().map(|item| read(self, item)).collect();
        read.into_iter().collect()
    }

    /// One name of something in a world, or several; sorted, as [`crate::predicate::is_named`] wants them.
    pub(crate) fn names(&mut self, node: &Node<'_>, kind: Kind) -> Option<Names> {
        let names = self.some(node, "names", |reader, node| reader.name(node, kind));
        names.map(sorted)
    }

    pub(crate) fn name(&mut self, node: &Node<'_>, kind: Kind) -> Option<Text> {
        let name = self.text(node)?;
        self.mentions.push(Mention {
            kind,
            name: name.clone(),
            place: node.place.clone(),
        });
        Some(name)
    }

    /// What stands in the brackets of a word that takes exactly one thing.
    pub(crate) fn only<'n, 't>(&mut self, node: &'n Node<'t>, usage: &str) -> Option<&'n Node<'t>> {
        match &node.what {
            What::Group(_, entries) => match entries.as_slice() {
                [Entry { name: None, value }] => Some(value),
                _ => self.misused(node, usage),
            },
            _ => self.misused(node, usage),
        }
    }

    /// Notes that a word is written in another way.
    pub(crate) fn misused<T>(&mut self, node: &Node<'_>, usage: &str) -> Option<T> {
        let message = format!("{} is not how it is written", node.shown());
        self.wrong(&node.place, message, format!("write it as in `{usage}`"))
    }

    /// Refuses brackets behind a word that takes nothing.
    pub(crate) fn alone<T>(&mut self, node: &Node<'_>, usage: &str, value: T) -> Option<T> {
        match node.what {
            What::Word(_) => Some(value),
            _ => self.misused(node, usage),
        }
    }
}

/// The named entries of a group, taken one by one.
pub(crate) struct Fields<'n, 't> {
    entries: &'n [Entry<'t>],
    place: Place,
    known: &'static [&'static str],
}

impl<'n, 't> Fields<'n, 't> {
    /// The entries of `node`, which may have the names in `known`; notes the others.
    pub(crate) fn of(
        reader: &mut Reader,
        node: &'n Node<'t>,
        what: &str,
        known: &'static [&'static str],
    ) -> Option<Self> {
        let What::Group(_, entries) = &node.what else {
            let first = known.first().copied().unwrap_or_default();
            return reader.expected(node, &format!("{what} such as `({first}: ...)`"));
        };
        let mut seen: Vec<&str> = Vec::new();
        for entry in entries {
            match &entry.name {
                None => {
                    reader.expected::<()>(&entry.value, &format!("a named entry of {what}"));
                }
                Some((name, place)) if !known.contains(name) => {
                    reader.unknown::<()>(place, &format!("entry of {what}"), name, known);
                }
                Some((name, place)) if seen.contains(name) => {
                    let message = format!("`{name}` is given twice");
                    reader.wrong::<()>(place, message, "keep one of them");
                }
                Some((name, _)) => seen.push(name),
            }
        }
        Some(Self {
            entries,
            place: node.place.clone(),
            known,
        })
    }

    /// The value of `name`, if it is given.
    pub(crate) fn take(&self, name: &str) -> Option<&'n Node<'t>> {
        debug_assert!(self.known.contains(&name), "{name}");
        let is_it = |entry: &Entry<'_>| entry.name.as_ref().is_some_and(|(own, _)| *own == name);
        self.entries
            .iter()
            .find(|entry| is_it(entry))
            .map(|entry| &entry.value)
    }

    /// The value of `name`; notes that it is missing.
    pub(crate) fn need(
        &self,
        reader: &mut Reader,
        name: &str,
        example: &str,
    ) -> Option<&'n Node<'t>> {
        let taken = self.take(name);
        if taken.is_none() {
            let message = format!("`{name}` is missing");
            reader.wrong::<()>(
                &self.place,
                message,
                format!("for example `{name}: {example}`"),
            );
        }
        taken
    }
}
