//! The capabilities and the policy engine of `CaMeL`: pure functions.
//!
//! Written from the paper (arXiv 2503.18813) and `google-research/camel-prompt-injection` at f083b6b
//! (Apache-2.0). Nothing is copied.

use std::collections::{BTreeMap, BTreeSet};

/// A source within a tool result.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Inner {
    /// Somebody or something by name, whom nobody vouches for.
    Named(String),
    /// The user.
    User,
    /// Data that the tool vouches for.
    Trusted,
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// The user's request.
    User,
    /// The interpreter itself, for example a literal of the program.
    Camel,
    /// The assistant.
    Assistant,
    /// A tool that is trusted as a whole.
    TrustedTool,
    /// A tool result. Trusted only if it has inner sources and all of them are trusted.
    Tool {
        /// Its name.
        name: String,
        /// Who is in it.
        inner: BTreeSet<Inner>,
    },
}

impl Source {
    fn is_trusted(&self) -> bool {
        match self {
            Self::User | Self::Camel | Self::Assistant | Self::TrustedTool => true,
            Self::Tool { inner, .. } => {
                !inner.is_empty() && inner.iter().all(|it| !matches!(it, Inner::Named(_)))
            }
        }
    }
}

/// Who may read a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Readers {
    /// Everybody.
    Public,
    /// These.
    Only(BTreeSet<String>),
}

impl Readers {
    /// Those whom both permit.
    #[must_use]
    pub fn intersection(self, other: &Self) -> Self {
        match (self, other) {
            (Self::Public, other) => other.clone(),
            (own, Self::Public) => own,
            (Self::Only(own), Self::Only(other)) => {
                Self::Only(own.intersection(other).cloned().collect())
            }
        }
    }
}

/// What a value carries besides itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Its own sources.
    pub sources: BTreeSet<Source>,
    /// Its own readers.
    pub readers: Readers,
}

/// One value: its capabilities, and the values that it depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Value {
    capabilities: Capabilities,
    dependencies: Vec<ValueId>,
}

/// A value of [`Values`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ValueId(usize);

/// The values of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Values(Vec<Value>);

impl Values {
    /// Adds a value.
    pub fn add(&mut self, capabilities: Capabilities) -> ValueId {
        self.0.push(Value {
            capabilities,
            dependencies: Vec::new(),
        });
        ValueId(self.0.len() - 1)
    }

    /// Lets `value` depend on `on`. Circles are allowed.
    pub fn depend(&mut self, value: ValueId, on: ValueId) {
        self.0[value.0].dependencies.push(on);
    }

    /// The value and all that it depends on, directly or not.
    fn reached(&self, value: ValueId) -> BTreeSet<ValueId> {
        let mut reached = BTreeSet::new();
        let mut open = vec![value];
        while let Some(next) = open.pop() {
            if reached.insert(next) {
                open.extend(&self.0[next.0].dependencies);
            }
        }
        reached
    }

    /// The sources of the value and of all that it depends on.
    #[must_use]
    pub fn all_sources(&self, value: ValueId) -> BTreeSet<Source> {
        let reached = self.reached(value).into_iter();
        let sources = reached.flat_map(|it| &self.0[it.0].capabilities.sources);
        sources.cloned().collect()
    }

    /// Those who may read the value and all that it depends on.
    #[must_use]
    pub fn all_readers(&self, value: ValueId) -> Readers {
        let reached = self.reached(value).into_iter();
        let readers = reached.map(|it| &self.0[it.0].capabilities.readers);
        readers.fold(Readers::Public, Readers::intersection)
    }

    /// Whether every source is trusted.
    #[must_use]
    pub fn is_trusted(&self, value: ValueId) -> bool {
        self.all_sources(value).iter().all(Source::is_trusted)
    }

    /// Whether everybody may read it.
    #[must_use]
    pub fn is_public(&self, value: ValueId) -> bool {
        self.all_readers(value) == Readers::Public
    }

    /// Whether all of `readers` may read it.
    #[must_use]
    pub fn can_read(&self, readers: &BTreeSet<String>, value: ValueId) -> bool {
        match self.all_readers(value) {
            Readers::Public => true,
            Readers::Only(permitted) => readers.is_subset(&permitted),
        }
    }
}

/// One argument of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// What is known of its value.
    pub value: ValueId,
    /// The texts in it: the recipients, if it names some.
    pub texts: Vec<String>,
    /// For the name of an object: what is known of the object.
    pub object: Option<ValueId>,
}

/// The arguments of a call by name.
pub type Arguments = BTreeMap<String, Argument>;

/// An argument that a policy looks at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Without it the call is refused; an optional one is passed over.
    pub required: bool,
}

/// What a policy of a tool wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Check {
    /// Nothing.
    Nothing,
    /// These arguments are trusted.
    Trusted(Vec<Field>),
    /// The recipients are trusted, or all of them may read the data.
    TrustedOrReadable {
        /// Who receives.
        recipients: Vec<Field>,
        /// What they receive.
        data: Vec<Field>,
    },
    /// The recipients are trusted, and all of them may read the data.
    TrustedAndReadable {
        /// Who receives.
        recipients: Vec<Field>,
        /// What they receive.
        data: Vec<Field>,
    },
    /// These arguments are public.
    Public(Vec<Field>),
    /// This argument is trusted; with `bugcompat`, it is not: `delete_email` of the repository.
    Delete(Field),
}

/// A policy: which tools it is for, by pattern, and what it wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolPolicy {
    /// The pattern, as of `fnmatch`.
    pub pattern: String,
    /// What it wants.
    pub check: Check,
}

/// Why a call is refused. Arguments are named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// These control dependencies are not public.
    ControlDependency(Vec<ValueId>),
    /// No policy's pattern fits.
    NoPolicy,
    /// Not trusted.
    Untrusted(Vec<String>),
    /// Not readable by all who receive.
    Unreadable(Vec<String>),
    /// Not public.
    NotPublic(Vec<String>),
    /// Needed and absent.
    Absent(String),
    /// Trusted, under `bugcompat`.
    Trusted(String),
}

/// The security policies of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Engine {
    /// In order; the first whose pattern fits decides.
    pub policies: Vec<ToolPolicy>,
    /// The mistake of the repository in `delete_email`.
    pub bugcompat: bool,
}

impl Engine {
    /// Whether a call may be executed. `control`: the values that decided that it is made.
    ///
    /// # Errors
    /// Why not.
    pub fn check(
        &self,
        values: &Values,
        tool: &str,
        has_side_effect: bool,
        arguments: &Arguments,
        control: &[ValueId],
    ) -> Result<(), Refusal> {
        if !has_side_effect {
            return Ok(());
        }
        let private = control.iter().filter(|value| !values.is_public(**value));
        let private: Vec<ValueId> = private.copied().collect();
        if !private.is_empty() {
            return Err(Refusal::ControlDependency(private));
        }
        let mut policies = self.policies.iter();
        let policy = policies
            .find(|policy| fits(&policy.pattern, tool))
            .ok_or(Refusal::NoPolicy)?;
        policy.check.check(values, arguments, self.bugcompat)
    }
}

impl Check {
    fn check(
        &self,
        values: &Values,
        arguments: &Arguments,
        bugcompat: bool,
    ) -> Result<(), Refusal> {
        let untrusted = |fields: &[Field]| {
            failing(fields, arguments, |argument| {
                values.is_trusted(argument.value)
            })
        };
        let unreadable = |recipients: &[Field], data: &[Field]| {
            let readers = texts(recipients, arguments)?;
            failing(data, arguments, |argument| {
                let mut parts = std::iter::once(argument.value).chain(argument.object);
                parts.all(|part| values.can_read(&readers, part))
            })
        };
        match self {
            Self::Nothing => Ok(()),
            Self::Trusted(fields) => none(untrusted(fields)?, Refusal::Untrusted),
            Self::TrustedOrReadable { recipients, data } => {
                if untrusted(recipients)?.is_empty() {
                    return Ok(());
                }
                none(unreadable(recipients, data)?, Refusal::Unreadable)
            }
            Self::TrustedAndReadable { recipients, data } => {
                none(untrusted(recipients)?, Refusal::Untrusted)?;
                none(unreadable(recipients, data)?, Refusal::Unreadable)
            }
            Self::Public(fields) => {
                let private = failing(fields, arguments, |argument| {
                    values.is_public(argument.value)
                });
                none(private?, Refusal::NotPublic)
            }
            Self::Delete(field) => {
                let untrusted = untrusted(std::slice::from_ref(field))?;
                match (bugcompat, untrusted.is_empty()) {
                    (false, true) | (true, false) => Ok(()),
                    (false, false) => Err(Refusal::Untrusted(untrusted)),
                    (true, true) => Err(Refusal::Trusted(field.name.clone())),
                }
            }
        }
    }
}

/// Refuses for these arguments, if there are any.
fn none(names: Vec<String>, refusal: fn(Vec<String>) -> Refusal) -> Result<(), Refusal> {
    if names.is_empty() {
        Ok(())
    } else {
        Err(refusal(names))
    }
}

/// The arguments of `fields` that are given, in order.
fn given<'a>(
    fields: &'a [Field],
    arguments: &'a Arguments,
) -> Result<Vec<(&'a str, &'a Argument)>, Refusal> {
    let mut given = Vec::new();
    for field in fields {
        match arguments.get(&field.name) {
            Some(argument) => given.push((field.name.as_str(), argument)),
            None if field.required => return Err(Refusal::Absent(field.name.clone())),
            None => {}
        }
    }
    Ok(given)
}

/// The names of those that do not satisfy `holds`.
fn failing(
    fields: &[Field],
    arguments: &Arguments,
    holds: impl Fn(&Argument) -> bool,
) -> Result<Vec<String>, Refusal> {
    let given = given(fields, arguments)?.into_iter();
    let failing = given.filter(|(_, argument)| !holds(argument));
    Ok(failing.map(|(name, _)| name.to_owned()).collect())
}

fn texts(fields: &[Field], arguments: &Arguments) -> Result<BTreeSet<String>, Refusal> {
    let given = given(fields, arguments)?.into_iter();
    Ok(given
        .flat_map(|(_, argument)| argument.texts.clone())
        .collect())
}

/// Whether `name` fits a pattern of `fnmatch`: `*` is any text, `?` any character, `[abc]`, `[a-c]`
/// and `[!abc]` one character of a set.
#[must_use]
pub fn fits(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    // Whether what was read of the pattern fits the first so many characters of the name.
    let mut fitting = vec![false; name.len() + 1];
    fitting[0] = true;
    let mut at = 0;
    while at < pattern.len() {
        let (token, next) = token(&pattern, at);
        at = next;
        let mut then = vec![false; name.len() + 1];
        if matches!(token, Token::Any) {
            let mut reached = false;
            for (end, fits) in then.iter_mut().enumerate() {
                reached |= fitting[end];
                *fits = reached;
            }
        } else {
            for (start, letter) in name.iter().enumerate() {
                then[start + 1] = fitting[start] && token.fits(*letter);
            }
        }
        fitting = then;
    }
    fitting[name.len()]
}

/// A piece of a pattern.
enum Token<'a> {
    Any,
    One,
    Letter(char),
    Set { letters: &'a [char], negated: bool },
}

impl Token<'_> {
    fn fits(&self, letter: char) -> bool {
        match self {
            Self::Any | Self::One => true,
            Self::Letter(wanted) => letter == *wanted,
            Self::Set { letters, negated } => in_set(letters, letter) != *negated,
        }
    }
}

/// The piece at `at`, and where the next begins. A `[` without its `]` is a letter.
fn token(pattern: &[char], at: usize) -> (Token<'_>, usize) {
    match pattern[at] {
        '*' => (Token::Any, at + 1),
        '?' => (Token::One, at + 1),
        '[' => {
            let negated = pattern.get(at + 1) == Some(&'!');
            let start = at + 1 + usize::from(negated);
            // The first letter of a set may be `]`.
            let mut rest = pattern.iter().skip(start + 1);
            match rest.position(|&letter| letter == ']') {
                Some(length) => {
                    let end = start + 1 + length;
                    let letters = &pattern[start..end];
                    (Token::Set { letters, negated }, end + 1)
                }
                None => (Token::Letter('['), at + 1),
            }
        }
        letter => (Token::Letter(letter), at + 1),
    }
}

fn in_set(set: &[char], letter: char) -> bool {
    match set {
        [] => false,
        [first, '-', last, rest @ ..] => (*first..=*last).contains(&letter) || in_set(rest, letter),
        [first, rest @ ..] => *first == letter || in_set(rest, letter),
    }
}
