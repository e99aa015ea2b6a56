//! Reading predicates.

use super::{Fields, Kind, Reader};
use crate::logic::Compare;
use crate::predicate::{
    COUNTED, Counted, Names, Of, OperationKind, Predicate, RISKS, ROLES, STEPS, Which, Within,
};
use crate::text::{Node, What};
use crate::words::{Aspects, PREDICATES, Places};

const VALUE: Aspects = Aspects::VALUE;
const LABEL: Aspects = Aspects::LABEL;

impl Reader {
    /// A list of predicates that is not empty.
    pub(crate) fn predicates(&mut self, node: &Node<'_>, at: Places) -> Option<Vec<Predicate>> {
        let What::List(items) = &node.what else {
            return self.expected(node, "a list such as `[HighRisk, Not(LedgerMatch)]`");
        };
        if items.is_empty() {
            let help = "name a condition, or write `[Always]`";
            return self.wrong(&node.place, "the list of conditions is empty", help);
        }
        let read: Vec<Option<Predicate>> =
            items.iter().map(|item| self.predicate(item, at)).collect();
        read.into_iter().collect()
    }

    /// One predicate, which must mean something at each of the places `at`.
    pub(crate) fn predicate(&mut self, node: &Node<'_>, at: Places) -> Option<Predicate> {
        let word = node.word();
        if word.is_empty() {
            return self.expected(node, "a predicate such as `HighRisk`");
        }
        let Some(known) = PREDICATES.iter().find(|known| known.name == word) else {
            let here = PREDICATES.iter().filter(|known| known.at.contains(at));
            let names: Vec<&str> = here.map(|known| known.name).collect();
            return self.unknown(&node.place, "predicate", word, &names);
        };
        if !known.at.contains(at) {
            let message = if at == Places::TOOLS {
                format!("`{word}` is no predicate about a tool alone")
            } else {
                format!("`{word}` means nothing at {}", at.names())
            };
            let help = format!("it can be asked at {}", known.at.names());
            return self.wrong(&node.place, message, help);
        }
        match word {
            "All" | "Any" => {
                let inner = self.only(node, known.usage)?;
                let each = self.predicates(inner, at)?;
                Some(if word == "All" {
                    Predicate::All(each)
                } else {
                    Predicate::Any(each)
                })
            }
            "Not" => {
                let inner = self.only(node, known.usage)?;
                Some(Predicate::Not(Box::new(self.predicate(inner, at)?)))
            }
            "Argument" | "EveryArgument" => self.argument(node, word == "EveryArgument"),
            "Field" => self.field(node),
            "Count" | "Happened" => self.history(node, word == "Count", at),
            _ => match Self::plain(word) {
                Some(plain) => self.alone(node, known.usage, plain),
                None => {
                    let inner = self.only(node, known.usage)?;
                    self.with_one(word, inner)
                }
            },
        }
    }

    /// A predicate that is a word alone.
    fn plain(word: &str) -> Option<Predicate> {
        Some(match word {
            "Always" => Predicate::Always,
            "HighRisk" => Predicate::HighRisk,
            "Reads" => Predicate::Reads,
            "LedgerMatch" => Predicate::LedgerMatch,
            "LedgerNamesTool" => Predicate::LedgerNamesTool,
            "Expanding" => Predicate::Expanding,
            "Leaking" => Predicate::Leaking,
            "WrongRecipient" => Predicate::WrongRecipient,
            "NoSender" => Predicate::NoSender,
            "Initial" => Predicate::Initial,
            "UntrustedContext" => Predicate::UntrustedContext,
            _ => return None,
        })
    }

    /// A predicate with one thing in its brackets.
    fn with_one(&mut self, word: &str, inner: &Node<'_>) -> Option<Predicate> {
        Some(match word {
            "Tool" => Predicate::Tool(self.names(inner, Kind::Tool)?),
            "Risk" => Predicate::Risk(self.some(inner, "risks", |reader, node| {
                reader.choice(node, "risk", &RISKS)
            })?),
            "Operation" => {
                Predicate::Operation(self.some(inner, "operations", |reader, node| {
                    reader.choice(node, "operation", &OperationKind::ALL)
                })?)
            }
            "Target" => Predicate::Target(self.test(inner, VALUE)?),
            "Key" => Predicate::Key(self.test(inner, VALUE)?),
            "Choice" => Predicate::Choice(self.test(inner, LABEL)?),
            "Recorded" => Predicate::Recorded(self.test(inner, LABEL)?),
            "AnyRecord" => Predicate::AnyRecord(self.test(inner, LABEL)?),
            "LedgerEntry" => Predicate::LedgerEntry(self.count(inner)?),
            "LedgerNames" => Predicate::LedgerNames(self.name(inner, Kind::Argument)?),
            "Agent" => Predicate::Agent(self.names(inner, Kind::Agent)?),
            "Sender" => Predicate::Sender(self.names(inner, Kind::Agent)?),
            "Store" => Predicate::Store(self.some(inner, "stores", Self::store)?),
            "Age" => Predicate::Age(self.compare(inner)?),
            "Episode" => Predicate::Episode(self.compare(inner)?),
            "Tick" => Predicate::Tick(self.compare(inner)?),
            "Step" => Predicate::Step(self.some(inner, "steps", |reader, node| {
                reader.choice(node, "step", &STEPS)
            })?),
            "Revoked" => Predicate::Revoked(self.names(inner, Kind::Source)?),
            _ => return self.expected(inner, "nothing"),
        })
    }

    /// The number of a store.
    fn store(&mut self, node: &Node<'_>) -> Option<u64> {
        let number = self.count(node)?;
        self.mentions.push(super::Mention {
            kind: Kind::Store,
            name: number.to_string().into(),
            place: node.place.clone(),
        });
        Some(number)
    }

    /// `AtLeast(3)` and the like, or a number alone.
    pub(crate) fn compare(&mut self, node: &Node<'_>) -> Option<Compare> {
        const KNOWN: [&str; 5] = ["Less", "AtMost", "Exactly", "AtLeast", "More"];
        if let What::Number(number) = node.what {
            return Some(Compare::Exactly(number));
        }
        let make = match node.word() {
            "Less" => Compare::Less,
            "AtMost" => Compare::AtMost,
            "Exactly" => Compare::Exactly,
            "AtLeast" => Compare::AtLeast,
            "More" => Compare::More,
            "" => return self.expected(node, "a comparison such as `AtLeast(2)`"),
            word => return self.unknown(&node.place, "comparison", word, &KNOWN),
        };
        let inner = self.only(node, "AtLeast(2)")?;
        Some(make(self.number(inner)?))
    }

    fn argument(&mut self, node: &Node<'_>, every: bool) -> Option<Predicate> {
        let fields = Fields::of(self, node, "an argument", &["role", "name", "is"])?;
        let which = match (fields.take("name"), fields.take("role")) {
            (Some(name), None) => Some(Which::Named(self.name(name, Kind::Argument)?)),
            (None, Some(role)) => self
                .some(role, "roles", |reader, node| {
                    reader.choice(node, "role", &ROLES)
                })
                .map(Which::OfRole),
            (None, None) => Some(Which::Every),
            (Some(name), Some(_)) => {
                let help = "keep one of them";
                self.wrong(
                    &name.place,
                    "an argument is meant by its name or its role",
                    help,
                )
            }
        };
        let is = fields.need(self, "is", "Tainted");
        let all = VALUE.and(LABEL).and(Aspects::CALL);
        let is = is.and_then(|is| self.test(is, all));
        let (which, is) = (which?, is?);
        Some(Predicate::Argument { which, every, is })
    }

    fn field(&mut self, node: &Node<'_>) -> Option<Predicate> {
        let fields = Fields::of(self, node, "a field", &["name", "is"])?;
        let name = match fields.take("name") {
            Some(name) => Some(self.text(name)?),
            None => None,
        };
        let is = fields.need(self, "is", "Contains(\"http\")")?;
        let is = self.test(is, VALUE.and(LABEL))?;
        Some(Predicate::Field { name, is })
    }

    /// `Count(...)`, or `Happened(...)`: once at least.
    fn history(&mut self, node: &Node<'_>, counts: bool, at: Places) -> Option<Predicate> {
        const COUNT: &[&str] = &["what", "of", "within", "is"];
        let known = if counts { COUNT } else { &COUNT[..3] };
        let fields = Fields::of(self, node, "the history", known)?;
        let what = fields.need(self, "what", "Committed");
        let what: Option<Counted> =
            what.and_then(|what| self.choice(what, "happening of calls", &COUNTED));
        let of = match fields.take("of") {
            Some(of) => self.history_of(of, at),
            None => Some(Of::All),
        };
        let within = match fields.take("within") {
            Some(within) => self.within(within),
            None => Some(Within::Rollout),
        };
        let is = if counts {
            let is = fields.need(self, "is", "AtLeast(2)");
            is.and_then(|is| self.compare(is))
        } else {
            Some(Compare::AtLeast(1))
        };
        Some(Predicate::Count {
            what: what?,
            of: of?,
            within: within?,
            is: is?,
        })
    }

    fn history_of(&mut self, node: &Node<'_>, at: Places) -> Option<Of> {
        const KNOWN: [&str; 6] = [
            "All",
            "HighRisk",
            "ThisTool",
            "ThisTarget",
            "ThisAgent",
            "Tool",
        ];
        let of = match node.word() {
            "All" => Of::All,
            "HighRisk" => Of::HighRisk,
            "ThisTool" => Of::ThisTool,
            "ThisTarget" => Of::ThisTarget,
            "ThisAgent" => Of::ThisAgent,
            "Tool" => {
                let inner = self.only(node, "Tool(\"send_mail\")")?;
                let names: Names = self.names(inner, Kind::Tool)?;
                return Some(Of::Tool(names));
            }
            "" => return self.expected(node, "which calls are counted, such as `HighRisk`"),
            word => return self.unknown(&node.place, "kind of calls", word, &KNOWN),
        };
        let has_call = Places::CALL.contains(at);
        if matches!(of, Of::ThisTool | Of::ThisTarget) && !has_call {
            let message = format!("there is no call at {}", at.names());
            return self.wrong(&node.place, message, "count `All`, `HighRisk` or a `Tool`");
        }
        if of == Of::ThisAgent && (Places::SESSION.contains(at) || Places::RECOVERY.contains(at)) {
            let message = format!("there is no agent at {}", at.names());
            return self.wrong(&node.place, message, "count `All`, `HighRisk` or a `Tool`");
        }
        self.alone(node, node.word(), of)
    }

    fn within(&mut self, node: &Node<'_>) -> Option<Within> {
        match node.word() {
            "Rollout" => self.alone(node, "Rollout", Within::Rollout),
            "Episode" => self.alone(node, "Episode", Within::Episode),
            "Ticks" => {
                let inner = self.only(node, "Ticks(10)")?;
                match self.count(inner)? {
                    0 => self.wrong(&inner.place, "nothing is within 0 ticks", "write 1 or more"),
                    ticks => Some(Within::Ticks(ticks)),
                }
            }
            "" => self.expected(node, "a time such as `Episode`"),
            word => self.unknown(&node.place, "time", word, &["Rollout", "Episode", "Ticks"]),
        }
    }
}
