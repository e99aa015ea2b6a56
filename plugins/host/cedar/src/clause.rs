//! One policy of the text: what its annotations say of it.

use std::ops::Range;

use cedar_policy::{Effect, Policy};
use plugins::loaded::Mistake;
use plugins::policy::{DenialReason, Hook, VerdictKind};
use plugins::value::Content;

use crate::words::{
    DENIALS, FIELDS, Fields, GROUNDS, Ground, VERDICTS, find, listed, refusal, usual_denial,
    wrong_rule,
};

/// What a policy means beside its condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Clause {
    /// Its rule; none for a permit that has nothing to say.
    pub(crate) rule: Option<String>,
    /// The verdict of a forbid, if it names one.
    pub(crate) verdict: Option<VerdictKind>,
    /// What the agent is told, if it says so.
    denial: Option<DenialReason>,
    /// What the agent receives at a simulation.
    pub(crate) content: Option<String>,
    /// What is named as the fields that decided.
    pub(crate) fields: Option<Fields>,
    /// What is named as evidence, in order.
    pub(crate) grounds: Vec<Ground>,
    /// Where it stands.
    pub(crate) place: Range<usize>,
}

/// How many mistakes in annotations are said: each is looked for in the text.
const MOST_MISTAKES: usize = 100;

/// Every annotation, for a person.
const ANNOTATIONS: &str = "@id, @verdict, @denial, @neutral, @content, @fields, @evidence, \
                           @description";

impl Clause {
    /// Reads the annotations of a policy that stands at `place` of `text`.
    pub(crate) fn read(
        policy: &Policy,
        text: &str,
        place: Range<usize>,
        mistakes: &mut Vec<Mistake>,
    ) -> Self {
        let mut reader = Reader {
            text,
            place: place.clone(),
            effect: policy.effect(),
            mistakes,
        };
        let mut clause = Self {
            rule: Some(policy.id().to_string()),
            verdict: None,
            denial: None,
            content: None,
            fields: None,
            grounds: Vec::new(),
            place,
        };
        let mut annotations: Vec<_> = policy.annotations().collect();
        annotations.sort_unstable();
        for (name, value) in annotations {
            reader.annotation(&mut clause, name, value);
        }
        if clause.content.is_some() && clause.verdict != Some(VerdictKind::Simulate) {
            reader.wrong(
                "content",
                "only a simulation has a content".into(),
                "write `@verdict(\"simulate\")` beside it, or leave it out",
            );
        }
        clause
    }

    /// The verdict at a hook.
    pub(crate) fn verdict_at(&self, hook: Hook) -> VerdictKind {
        self.verdict.unwrap_or(refusal(hook))
    }

    /// What the agent is told at a hook.
    pub(crate) fn denial_at(&self, hook: Hook) -> DenialReason {
        self.denial.unwrap_or(usual_denial(self.verdict_at(hook)))
    }

    /// What the agent receives in place of a result.
    pub(crate) fn simulated(&self) -> Content {
        Content::single("text", self.content.as_deref().unwrap_or("done"))
    }
}

struct Reader<'a> {
    text: &'a str,
    place: Range<usize>,
    effect: Effect,
    mistakes: &'a mut Vec<Mistake>,
}

impl Reader<'_> {
    fn annotation(&mut self, clause: &mut Clause, name: &str, value: &str) {
        match name {
            "id" => {
                if let Some(wrong) = wrong_rule(value) {
                    let help = "name it by 1 to 64 lower-case letters, digits and `_`, for example \
                                `@id(\"tainted_recipient\")`; `@neutral` on a permit names none";
                    self.wrong(name, wrong, help);
                } else if clause.rule.is_some() {
                    clause.rule = Some(value.to_owned());
                }
            }
            "neutral" => {
                self.belongs_to(Effect::Permit, name);
                if !value.is_empty() {
                    let wrong = format!("`@neutral` takes no text, and has `{value}`");
                    self.wrong(name, wrong, "write `@neutral` alone");
                }
                clause.rule = None;
            }
            "verdict" => {
                self.belongs_to(Effect::Forbid, name);
                clause.verdict = self.word(name, value, &VERDICTS);
            }
            "denial" => {
                self.belongs_to(Effect::Forbid, name);
                clause.denial = self.word(name, value, &DENIALS);
            }
            "content" => {
                self.belongs_to(Effect::Forbid, name);
                clause.content = Some(value.to_owned());
            }
            "fields" => clause.fields = self.word(name, value, &FIELDS),
            "evidence" => {
                let words = value.split_ascii_whitespace();
                clause.grounds = words
                    .filter_map(|word| self.word(name, word, &GROUNDS))
                    .collect();
            }
            "description" => {}
            _ => {
                let wrong = format!("`@{name}` is no annotation that has a meaning here");
                self.wrong(name, wrong, &format!("one of {ANNOTATIONS}"));
            }
        }
    }

    fn word<T: Copy>(&mut self, name: &str, word: &str, words: &[(&str, T)]) -> Option<T> {
        let found = find(words, word);
        if found.is_none() {
            let wrong = format!("`@{name}` does not know `{word}`");
            self.wrong(name, wrong, &format!("one of {}", listed(words)));
        }
        found
    }

    fn belongs_to(&mut self, effect: Effect, name: &str) {
        if self.effect != effect {
            let (wanted, found) = match effect {
                Effect::Permit => ("permit", "forbid"),
                Effect::Forbid => ("forbid", "permit"),
            };
            let wrong = format!("`@{name}` is for a {wanted}, and this is a {found}");
            self.wrong(name, wrong, "leave it out");
        }
    }

    /// A mistake at the annotation called `name`.
    fn wrong(&mut self, name: &str, message: String, help: &str) {
        if self.mistakes.len() >= MOST_MISTAKES {
            return;
        }
        let statement = self.text.get(self.place.clone()).unwrap_or_default();
        let written = format!("@{name}");
        let place = match statement.find(&written) {
            Some(at) => self.place.start + at..self.place.start + at + written.len(),
            None => self.place.clone(),
        };
        let mistake = Mistake::new(message).help(help).at(place);
        self.mistakes.push(mistake);
    }
}
