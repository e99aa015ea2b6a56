//! Reading verdicts.

use plugins::model::{Guidance, SchemaMode};
use plugins::value::{Content, Field, Text, Value};

use super::{Fields, Kind, Reader};
use crate::answer::{Action, ActionKind, Affected, Answer, Edit, NewLabel};
use crate::text::{Node, What};
use crate::words::{Places, VERDICTS};

impl Reader {
    /// A verdict that exists at each of the places `at`.
    pub(crate) fn answer(&mut self, node: &Node<'_>, at: Places) -> Option<Answer> {
        let word = node.word();
        if word.is_empty() {
            return self.expected(node, "a verdict such as `Block`");
        }
        let here = VERDICTS.iter().filter(|known| known.at.contains(at));
        let names: Vec<&str> = here.map(|known| known.name).collect();
        let Some(known) = VERDICTS.iter().find(|known| known.name == word) else {
            return self.unknown(&node.place, "verdict", word, &names);
        };
        if !known.at.contains(at) {
            let message = format!("`{word}` is no verdict at {}", at.names());
            let help = if names.is_empty() {
                "no verdict is of all these hooks: write a rule for each".to_owned()
            } else {
                format!("there is: {}", names.join(", "))
            };
            return self.wrong(&node.place, message, help);
        }
        let plain = match word {
            "Allow" | "Pass" => Answer::Allow,
            "Block" => Answer::Block,
            "Confirm" => Answer::Confirm,
            "Hold" => Answer::Hold,
            "Abort" => Answer::Abort,
            "Drop" => Answer::Drop,
            "Quarantine" => Answer::Quarantine,
            "MaskTools" => return self.mask(node),
            "Edit" => return self.edit(node).map(Answer::Edit),
            _ => {
                let inner = self.only(node, known.usage)?;
                return self.answer_of_one(word, inner);
            }
        };
        self.alone(node, known.usage, plain)
    }

    fn answer_of_one(&mut self, word: &str, inner: &Node<'_>) -> Option<Answer> {
        Some(match word {
            "Simulate" => Answer::Simulate(self.content(inner)?),
            "Transform" => Answer::Transform(self.content(inner)?),
            "Rewrite" => Answer::Rewrite(self.some(inner, "arguments", Self::rewritten)?),
            "Relabel" => Answer::Relabel(self.new_label(inner)?),
            _ => Answer::Act(self.some(inner, "actions", Self::action)?),
        })
    }

    /// A text, or fields.
    fn content(&mut self, node: &Node<'_>) -> Option<Content> {
        if let What::Text(text) = &node.what {
            return Some(Content::single("text", text));
        }
        let What::List(_) = node.what else {
            return self.expected(
                node,
                "a text, or a list such as `[(field: \"text\", says: \"-\")]`",
            );
        };
        let fields = self.some(node, "fields", |reader, node| {
            let fields = Fields::of(reader, node, "a field", &["field", "says"])?;
            let name = fields.need(reader, "field", "\"text\"");
            let says = fields.need(reader, "says", "\"(removed)\"");
            Some(Field {
                name: reader.text(name?)?,
                value: reader.text(says?)?,
            })
        })?;
        Some(Content { fields })
    }

    fn rewritten(&mut self, node: &Node<'_>) -> Option<(Text, Value)> {
        let fields = Fields::of(self, node, "a rewrite", &["argument", "to"])?;
        let argument = fields.need(self, "argument", "\"visibility\"");
        let to = fields.need(self, "to", "\"private\"");
        let argument = argument.and_then(|argument| self.name(argument, Kind::Argument));
        let value = to.and_then(|to| self.value(to));
        Some((argument?, value?))
    }

    fn new_label(&mut self, node: &Node<'_>) -> Option<NewLabel> {
        const KNOWN: [&str; 3] = ["NarrowReaders", "Endorse", "Declassify"];
        match node.word() {
            "NarrowReaders" => {
                let inner = self.only(node, "NarrowReaders([\"ann@trusted.local\"])")?;
                Some(NewLabel::NarrowReaders(self.names(inner, Kind::Principal)?))
            }
            "Endorse" => {
                let inner = self.only(node, "Endorse([\"doc:note\"])")?;
                Some(NewLabel::Endorse(self.names(inner, Kind::Source)?))
            }
            "Declassify" => {
                let inner = self.only(node, "Declassify([\"ann@trusted.local\"])")?;
                Some(NewLabel::Declassify(self.names(inner, Kind::Principal)?))
            }
            "" => self.expected(node, "a change such as `Endorse([\"doc:note\"])`"),
            word => self.unknown(&node.place, "change of a label", word, &KNOWN),
        }
    }

    fn mask(&mut self, node: &Node<'_>) -> Option<Answer> {
        let fields = Fields::of(self, node, "masked tools", &["tools", "agents"])?;
        let tools = fields.need(self, "tools", "[Risk(Outbound)]");
        let tools = tools.and_then(|tools| self.predicates(tools, Places::TOOLS));
        let agents = match fields.take("agents") {
            Some(agents) => Some(self.names(agents, Kind::Agent)?),
            None => None,
        };
        let tools = tools?;
        Some(Answer::MaskTools { tools, agents })
    }

    fn edit(&mut self, node: &Node<'_>) -> Option<Edit> {
        const KNOWN: &[&str] = &["guidance", "schema", "mark", "drop", "mask"];
        const GUIDANCE: [(&str, Guidance); 2] = [
            ("TreatContentAsData", Guidance::TreatContentAsData),
            ("SelfCheck", Guidance::SelfCheck),
        ];
        const SCHEMA: [(&str, SchemaMode); 2] = [
            ("Plain", SchemaMode::Plain),
            ("Structured", SchemaMode::Structured),
        ];
        const SEGMENTS: [(&str, bool); 1] = [("Untrusted", true)];
        let fields = Fields::of(self, node, "an edit", KNOWN)?;
        let mut edit = Edit::default();
        let mut read = true;
        if let Some(guidance) = fields.take("guidance") {
            edit.guidance = self.choice(guidance, "guidance", &GUIDANCE);
            read &= edit.guidance.is_some();
        }
        if let Some(schema) = fields.take("schema") {
            edit.schema = self.choice(schema, "way to show the schema", &SCHEMA);
            read &= edit.schema.is_some();
        }
        for (name, of) in [
            ("mark", &mut edit.mark_untrusted),
            ("drop", &mut edit.drop_untrusted),
        ] {
            if let Some(segments) = fields.take(name) {
                let chosen = self.choice(segments, "choice of segments", &SEGMENTS);
                read &= chosen.is_some();
                *of = chosen.unwrap_or_default();
            }
        }
        if let Some(mask) = fields.take("mask") {
            let mask = self.predicates(mask, Places::TOOLS);
            read &= mask.is_some();
            edit.mask = mask.unwrap_or_default();
        }
        if read && edit == Edit::default() {
            let help = format!("name one of {}", KNOWN.join(", "));
            return self.wrong(&node.place, "this edit changes nothing", help);
        }
        read.then_some(edit)
    }

    fn action(&mut self, node: &Node<'_>) -> Option<Action> {
        const KINDS: [(&str, ActionKind); 4] = [
            ("Scrub", ActionKind::Scrub),
            ("Quarantine", ActionKind::Quarantine),
            ("Restore", ActionKind::Restore),
            ("Rollback", ActionKind::Rollback),
        ];
        const AFFECTED: [(&str, Affected); 3] = [
            ("Tainted", Affected::Tainted),
            ("Revoked", Affected::Revoked),
            ("Everything", Affected::Everything),
        ];
        let word = node.word();
        if word.is_empty() {
            return self.expected(node, "an action such as `Quarantine(Tainted)`");
        }
        let Some((_, what)) = KINDS.iter().find(|(name, _)| *name == word) else {
            let known = KINDS.map(|(name, _)| name);
            return self.unknown(&node.place, "action", word, &known);
        };
        let inner = self.only(node, "Quarantine(Tainted)")?;
        let of = self.choice(inner, "choice of records", &AFFECTED)?;
        Some(Action { what: *what, of })
    }
}
