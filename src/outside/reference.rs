//! How a policy is named on the command line and in study files.
//!
//! ```text
//! reference  = NAME | NAME(KEY=VALUE, ...) | HOST:FILE | OPERATOR(member, ...)
//! HOST       = process | rules | cedar | wasm
//! OPERATOR   = strictest | first_hit | priority
//! member     = reference            under strictest and first_hit
//!            | NUMBER: reference    under priority
//! FILE       = a path without `,`, `(`, `)` and spaces at its ends, or any path in double quotes
//! ```

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// References within references, at most.
const DEEPEST: usize = 8;
/// Bytes of the longest reference.
const LONGEST: usize = 512;

/// A policy as it is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reference {
    /// By its name in the registry, with some of its parameters.
    Named {
        /// The name.
        name: String,
        /// Parameters by name; the others have their defaults.
        parameters: BTreeMap<String, String>,
    },
    /// By a file.
    File(FileReference),
    /// Several policies as one.
    Composed {
        /// How their rulings combine.
        operator: Operator,
        /// The policies in order, each with its priority: 0 unless the operator is
        /// [`Operator::Priority`].
        members: Vec<(i32, Reference)>,
    },
}

/// A policy in a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileReference {
    /// What runs it.
    pub host: Host,
    /// The file as it was written.
    pub path: String,
}

/// What runs a policy from a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Host {
    /// A child process.
    Process,
    /// Rules in RON.
    Rules,
    /// The Cedar language.
    Cedar,
    /// A WebAssembly module.
    Wasm,
}

/// How the rulings of several policies combine; see [`plugins::compose`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// All are asked; the most severe verdict wins.
    Strictest,
    /// The first that does not allow wins.
    FirstHit,
    /// The lowest number first; the first match wins.
    Priority,
}

impl Host {
    /// Every host.
    pub const ALL: [Self; 4] = [Self::Process, Self::Rules, Self::Cedar, Self::Wasm];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Process => "process",
            Self::Rules => "rules",
            Self::Cedar => "cedar",
            Self::Wasm => "wasm",
        }
    }
}

impl Operator {
    /// Every operator.
    pub const ALL: [Self; 3] = [Self::Strictest, Self::FirstHit, Self::Priority];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Strictest => "strictest",
            Self::FirstHit => "first_hit",
            Self::Priority => "priority",
        }
    }
}

/// A reference that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{reference}` names no policy: {problem}, at character {at}")]
pub struct ReferenceError {
    /// What was written.
    pub reference: String,
    /// What is wrong with it.
    pub problem: String,
    /// Where, in characters from 1.
    pub at: usize,
    /// What would mend it.
    pub help: String,
}

impl FileReference {
    /// What the policy is called in rows and tables: the host, and the file name up to its first dot.
    /// Folders are no part of it, so that a study means the same wherever it lies.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}:{}", self.host.name(), self.stem())
    }

    fn stem(&self) -> &str {
        let file = Path::new(&self.path).file_name();
        let file = file.and_then(|file| file.to_str()).unwrap_or_default();
        file.split('.').next().unwrap_or_default()
    }
}

impl Reference {
    /// The files that it names, in order.
    #[must_use]
    pub fn files(&self) -> Vec<&FileReference> {
        match self {
            Self::Named { .. } => Vec::new(),
            Self::File(file) => vec![file],
            Self::Composed { members, .. } => {
                let files = members.iter().map(|(_, member)| member.files());
                files.flatten().collect()
            }
        }
    }

    /// The same with its paths: it reads back as this reference.
    #[must_use]
    pub fn written(&self) -> String {
        self.text(&|file| format!("{}:{}", file.host.name(), quoted(&file.path)))
    }

    fn text(&self, of_file: &dyn Fn(&FileReference) -> String) -> String {
        match self {
            Self::Named { name, parameters } if parameters.is_empty() => name.clone(),
            Self::Named { name, parameters } => {
                let given = parameters.iter();
                let given = given.map(|(key, value)| format!("{key}={}", quoted(value)));
                format!("{name}({})", given.collect::<Vec<_>>().join(","))
            }
            Self::File(file) => of_file(file),
            Self::Composed { operator, members } => {
                let members = members.iter().map(|(number, member)| {
                    let member = member.text(of_file);
                    match operator {
                        Operator::Priority => format!("{number}:{member}"),
                        Operator::Strictest | Operator::FirstHit => member,
                    }
                });
                let members = members.collect::<Vec<_>>().join(",");
                format!("{}({members})", operator.name())
            }
        }
    }

    /// The same with every file replaced.
    #[must_use]
    pub fn with_files(&self, replace: &impl Fn(&FileReference) -> FileReference) -> Self {
        match self {
            Self::Named { .. } => self.clone(),
            Self::File(file) => Self::File(replace(file)),
            Self::Composed { operator, members } => {
                let members = members.iter();
                let replaced =
                    members.map(|(number, member)| (*number, member.with_files(replace)));
                Self::Composed {
                    operator: *operator,
                    members: replaced.collect(),
                }
            }
        }
    }
}

/// What the policy is called in rows and tables. It reads back as a reference with shorter paths.
impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(&FileReference::name))
    }
}

/// A value as it stands among others.
fn quoted(value: &str) -> String {
    let is_plain = !value.is_empty() && value.trim() == value && !value.contains(END_OF_WORD);
    if is_plain {
        value.to_owned()
    } else {
        format!("\"{value}\"")
    }
}

/// The letters at which a word without quotes ends.
const END_OF_WORD: [char; 4] = [',', '(', ')', '"'];

impl FromStr for Reference {
    type Err = ReferenceError;

    fn from_str(text: &str) -> Result<Self, ReferenceError> {
        let mut reader = Reader { text, at: 0 };
        if text.len() > LONGEST {
            return Err(ReferenceError {
                reference: format!("{}...", text.chars().take(40).collect::<String>()),
                problem: format!("it has more than {LONGEST} bytes"),
                at: 1,
                help: "name fewer policies".to_owned(),
            });
        }
        let reference = reader.reference(0)?;
        reader.skip_spaces();
        if reader.rest().is_empty() {
            Ok(reference)
        } else {
            Err(reader.wrong(
                "nothing can stand here",
                "put several policies into strictest(A,B)",
            ))
        }
    }
}

/// The parts of a list of references that commas separate; a comma within brackets or quotes does not.
#[must_use]
pub fn split(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let (mut depth, mut is_quoted) = (0_usize, false);
    for letter in text.chars() {
        match letter {
            '"' => is_quoted = !is_quoted,
            '(' if !is_quoted => depth += 1,
            ')' if !is_quoted => depth = depth.saturating_sub(1),
            ',' if !is_quoted && depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(part) = parts.last_mut() {
            part.push(letter);
        }
    }
    parts
}

/// Reads a reference from its beginning to its end.
struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn skip_spaces(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// Goes past `letter` if it stands here.
    fn takes(&mut self, letter: char) -> bool {
        self.skip_spaces();
        let is_here = self.rest().starts_with(letter);
        if is_here {
            self.at += letter.len_utf8();
        }
        is_here
    }

    fn wrong(&self, problem: impl Into<String>, help: impl Into<String>) -> ReferenceError {
        ReferenceError {
            reference: self.text.to_owned(),
            problem: problem.into(),
            at: self.text[..self.at].chars().count() + 1,
            help: help.into(),
        }
    }

    /// A word up to the next bracket, comma or `stop`, or in quotes.
    fn word(&mut self, stop: char) -> Result<&'t str, ReferenceError> {
        self.skip_spaces();
        if self.takes('"') {
            let Some(length) = self.rest().find('"') else {
                return Err(self.wrong("a quotation mark is not closed", "close it with `\"`"));
            };
            let word = &self.rest()[..length];
            self.at += length + 1;
            return Ok(word);
        }
        let ends = |letter: char| END_OF_WORD.contains(&letter) || letter == stop;
        let length = self.rest().find(ends).unwrap_or(self.rest().len());
        let word = self.rest()[..length].trim_end();
        self.at += length;
        Ok(word)
    }

    fn reference(&mut self, depth: usize) -> Result<Reference, ReferenceError> {
        if depth > DEEPEST {
            let problem = format!("more than {DEEPEST} compositions stand in each other");
            return Err(self.wrong(problem, "nest fewer"));
        }
        self.skip_spaces();
        let start = self.at;
        let name = self.word(':')?;
        if name.is_empty() {
            let help = "name a policy, for example tool_boundary or rules:my.rules.ron";
            return Err(self.wrong("a name is missing", help));
        }
        if self.takes(':') {
            return self.file(name, start).map(Reference::File);
        }
        let operator = Operator::ALL
            .into_iter()
            .find(|operator| operator.name() == name);
        match (operator, self.takes('(')) {
            (Some(operator), true) => self.composed(operator, depth),
            (Some(operator), false) => {
                let help = format!("write {}(A,B)", operator.name());
                Err(self.wrong("an operator needs policies", help))
            }
            (None, is_open) => Ok(Reference::Named {
                name: name.to_owned(),
                parameters: if is_open {
                    self.parameters()?
                } else {
                    BTreeMap::new()
                },
            }),
        }
    }

    fn file(&mut self, host: &str, start: usize) -> Result<FileReference, ReferenceError> {
        let Some(host) = Host::ALL.into_iter().find(|known| known.name() == host) else {
            self.at = start;
            let problem = format!("`{host}` is no host of policies");
            return Err(self.wrong(problem, "the hosts are process, rules, cedar and wasm"));
        };
        let path = self.word(',')?.to_owned();
        let file = FileReference { host, path };
        let stem = file.stem();
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
        if !(1..=64).contains(&stem.len()) || !stem.bytes().all(is_plain) {
            let problem = "a policy is called by letters, digits, `_` and `-` up to the first dot \
                           of its file name, 64 at most";
            return Err(self.wrong(problem, "rename the file"));
        }
        Ok(file)
    }

    fn composed(&mut self, operator: Operator, depth: usize) -> Result<Reference, ReferenceError> {
        let mut members = Vec::new();
        loop {
            let number = match operator {
                Operator::Priority => self.number()?,
                Operator::Strictest | Operator::FirstHit => 0,
            };
            members.push((number, self.reference(depth + 1)?));
            if self.takes(')') {
                return Ok(Reference::Composed { operator, members });
            }
            if !self.takes(',') {
                return Err(self.wrong("`,` or `)` is missing", "close the bracket"));
            }
        }
    }

    fn number(&mut self) -> Result<i32, ReferenceError> {
        self.skip_spaces();
        let start = self.at;
        let word = self.word(':')?;
        if let (Ok(number), true) = (word.parse(), self.takes(':')) {
            return Ok(number);
        }
        self.at = start;
        let help = "write priority(1: A, 2: B); the lowest number is asked first";
        Err(self.wrong("a priority is missing", help))
    }

    fn parameters(&mut self) -> Result<BTreeMap<String, String>, ReferenceError> {
        let mut parameters = BTreeMap::new();
        loop {
            let key = self.word('=')?;
            if key.is_empty() || !self.takes('=') {
                let help = "write NAME(KEY=VALUE), for example intent_ledger_v2(jump_rule=off)";
                return Err(self.wrong("a parameter is missing", help));
            }
            let value = self.word(',')?;
            if parameters
                .insert(key.to_owned(), value.to_owned())
                .is_some()
            {
                let problem = format!("`{key}` is given twice");
                return Err(self.wrong(problem, "give it once"));
            }
            if self.takes(')') {
                return Ok(parameters);
            }
            if !self.takes(',') {
                return Err(self.wrong("`,` or `)` is missing", "close the bracket"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> String {
        text.parse::<Reference>().expect(text).to_string()
    }

    #[test]
    fn a_policy_is_called_by_host_and_file_wherever_it_lies() {
        for (text, called) in [
            ("none", "none"),
            (" rules: ../a/my.rules.ron ", "rules:my"),
            ("process:/tmp/guard.py", "process:guard"),
            ("cedar:\"a, (b)/my.cedar\"", "cedar:my"),
            (
                "strictest( tool_boundary , cedar:x/my.cedar )",
                "strictest(tool_boundary,cedar:my)",
            ),
            (
                "priority(1: wasm:a.wasm, -2:first_hit(none,b(k=v)))",
                "priority(1:wasm:a,-2:first_hit(none,b(k=v)))",
            ),
            ("p(b=\"x, y\",a=1)", "p(a=1,b=\"x, y\")"),
        ] {
            assert_eq!(name(text), called);
            assert_eq!(name(called), called, "what it is called names it too");
            let reference: Reference = text.parse().expect(text);
            assert_eq!(reference.written().parse(), Ok(reference), "it reads back");
        }
    }

    #[test]
    fn what_names_no_policy_says_where_and_how_to_mend_it() {
        for (text, at) in [
            ("", 1),
            ("strictest", 10),
            ("strictest(a", 12),
            ("strictest(a,)", 13),
            ("strictest(a) b", 14),
            ("sandbox:x.py", 1),
            ("priority(a,b)", 10),
            ("p(k)", 4),
            ("p(k=1,k=2)", 10),
            ("rules:", 7),
            ("rules:a b.ron", 14),
            ("rules:\"a.ron", 8),
        ] {
            let error = text.parse::<Reference>().expect_err(text);
            assert_eq!(error.at, at, "{error}");
            assert!(!error.help.is_empty());
        }
        let deep = "strictest(".repeat(40) + "a" + &")".repeat(40);
        assert!(deep.parse::<Reference>().is_err());
        assert!("a".repeat(5000).parse::<Reference>().is_err());
    }

    #[test]
    fn only_commas_outside_brackets_and_quotes_separate_policies() {
        let parts = split("none,strictest(a,b),rules:\"x,y/z.ron\"");
        assert_eq!(parts, ["none", "strictest(a,b)", "rules:\"x,y/z.ron\""]);
        assert_eq!(split("none,"), ["none", ""]);
    }
}
