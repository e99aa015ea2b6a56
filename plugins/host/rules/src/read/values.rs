//! Reading tests of values and labels.

use plugins::value::Value;

use super::{Kind, Reader};
use crate::predicate::{Test, sorted};
use crate::text::{Node, What};
use crate::words::{Aspects, TESTS};

impl Reader {
    /// One test, of a thing that has the aspects `of`.
    pub(crate) fn test(&mut self, node: &Node<'_>, of: Aspects) -> Option<Test> {
        let word = node.word();
        if word.is_empty() {
            return self.expected(node, "a test such as `Tainted` or `Equals(\"x\")`");
        }
        let Some(known) = TESTS.iter().find(|known| known.name == word) else {
            let here = TESTS.iter().filter(|known| known.at.meets(of));
            let names: Vec<&str> = here.map(|known| known.name).collect();
            return self.unknown(&node.place, "test", word, &names);
        };
        if !known.at.meets(of) {
            let what = match of {
                Aspects::LABEL => "a label alone",
                Aspects::VALUE => "a value without a label",
                _ => "a field",
            };
            let message = format!("`{word}` cannot be asked of {what}");
            let here = TESTS.iter().filter(|known| known.at.meets(of));
            let names: Vec<&str> = here.map(|known| known.name).take(8).collect();
            return self.wrong(
                &node.place,
                message,
                format!("there is: {}", names.join(", ")),
            );
        }
        if let Some(plain) = plain(word) {
            return self.alone(node, known.usage, plain);
        }
        let inner = self.only(node, known.usage)?;
        self.test_of_one(word, inner, of)
    }

    fn test_of_one(&mut self, word: &str, inner: &Node<'_>, of: Aspects) -> Option<Test> {
        Some(match word {
            "All" => Test::All(self.tests(inner, of)?),
            "Any" => Test::Any(self.tests(inner, of)?),
            "Not" => Test::Not(Box::new(self.test(inner, of)?)),
            "Every" => Test::Every(Box::new(self.test(inner, of)?)),
            "Equals" => Test::OneOf(vec![self.value(inner)?]),
            "OneOf" => Test::OneOf(self.one_of(inner)?),
            "Outside" => Test::Outside(sorted(self.some(inner, "texts", Self::text)?)),
            "Contains" => Test::Contains(self.part(inner)?),
            "StartsWith" => Test::StartsWith(self.part(inner)?),
            "EndsWith" => Test::EndsWith(self.part(inner)?),
            "LongerThan" => Test::LongerThan(self.count(inner)?),
            "Texts" => Test::Texts(self.compare(inner)?),
            "From" => Test::From(self.names(inner, Kind::Source)?),
            "InfluencedBy" => Test::InfluencedBy(self.names(inner, Kind::Source)?),
            "ReadableBy" => Test::ReadableBy(self.names(inner, Kind::Principal)?),
            _ => {
                let bound = self.number(inner)?;
                Test::Number(match word {
                    "Less" => crate::logic::Compare::Less(bound),
                    "AtMost" => crate::logic::Compare::AtMost(bound),
                    "AtLeast" => crate::logic::Compare::AtLeast(bound),
                    _ => crate::logic::Compare::More(bound),
                })
            }
        })
    }

    fn tests(&mut self, node: &Node<'_>, of: Aspects) -> Option<Vec<Test>> {
        match node.what {
            What::List(_) => self.some(node, "tests", |reader, node| reader.test(node, of)),
            _ => self.expected(node, "a list of tests"),
        }
    }

    fn one_of(&mut self, node: &Node<'_>) -> Option<Vec<Value>> {
        match node.what {
            What::List(_) => self.some(node, "values", Self::value),
            _ => self.expected(node, "a list of values"),
        }
    }

    /// A part of a text; the empty one is a part of everything.
    fn part(&mut self, node: &Node<'_>) -> Option<plugins::value::Text> {
        let part = self.text(node)?;
        if part.is_empty() {
            let message = "every text has the empty text in it";
            return self.wrong(&node.place, message, "write what to look for, or `Given`");
        }
        Some(part)
    }
}

/// A test that is a word alone.
fn plain(word: &str) -> Option<Test> {
    Some(match word {
        "Given" => Test::Given,
        "Absent" => Test::Absent,
        "Tainted" => Test::Tainted,
        "Influenced" => Test::Influenced,
        "Public" => Test::Public,
        "Expands" => Test::Expands,
        "Leaks" => Test::Leaks,
        _ => return None,
    })
}
