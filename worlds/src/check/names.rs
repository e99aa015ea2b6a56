//! Names: each given once, each reference to one that exists.

use std::collections::BTreeMap;
use std::ops::Range;

use plugins::ids::PrincipalId;
use plugins::label::{IndexSet, Readers};
use plugins::value::Text;

use crate::diagnostic::{Code, Problem, Problems, shortened};
use crate::nearest::advice;
use crate::outline::{At, MAX_ENTRIES};

/// Bytes of the longest name.
const LONGEST_NAME: usize = 128;

/// The names of one kind of thing, in the order of their ids.
pub(crate) struct Directory {
    /// What the things are called in a message.
    what: &'static str,
    /// The code of a reference to one that does not exist.
    unknown: Code,
    names: Vec<Text>,
    entries: BTreeMap<Text, (u32, Range<usize>)>,
}

impl Directory {
    /// Whether no name was given twice.
    pub(crate) fn is_unique(&self) -> bool {
        self.names.len() == self.entries.len()
    }

    pub(crate) const fn new(what: &'static str, unknown: Code) -> Self {
        Self {
            what,
            unknown,
            names: Vec::new(),
            entries: BTreeMap::new(),
        }
    }

    /// A directory of everything in the list at `at`, named by `name` and its field `field`.
    pub(crate) fn of<T>(
        mut self,
        things: &[T],
        at: At<'_>,
        name: impl Fn(&T) -> &str,
        problems: &mut Problems,
    ) -> Self {
        for (index, thing) in things.iter().enumerate() {
            self.add(name(thing), at.item(index).field("name").span(), problems);
        }
        self
    }

    /// Adds a name, which must be valid and new.
    pub(crate) fn add(&mut self, name: &str, span: Range<usize>, problems: &mut Problems) {
        require_valid_name(name, span.clone(), problems);
        let id = u32::try_from(self.names.len()).expect("an outline has fewer values");
        let name = Text::from(name);
        self.names.push(name.clone());
        if let Some((_, first)) = self.entries.get(&name) {
            let message = format!("the {} `{}` is given twice", self.what, shortened(&name));
            problems.push(
                Problem::new(Code::DuplicateName, span, message)
                    .label("again here")
                    .also(first.clone(), "first here"),
            );
        } else {
            self.entries.insert(name, (id, span));
        }
    }

    /// The id of `name`, which must exist.
    pub(crate) fn find(&self, name: &str, at: At<'_>, problems: &mut Problems) -> Option<u32> {
        let found = self.get(name);
        if found.is_none() {
            let message = format!("there is no {} `{}`", self.what, shortened(name));
            let mut problem = Problem::new(self.unknown, at.span(), message).label("not known");
            if !problems.is_full() {
                problem = problem.maybe_help(advice(name, self.names.iter().map(AsRef::as_ref)));
            }
            problems.push(problem);
        }
        found
    }

    /// The id of `name`, if it exists.
    pub(crate) fn get(&self, name: &str) -> Option<u32> {
        self.entries.get(name).map(|&(id, _)| id)
    }

    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }
}

/// Complains about a name that cannot be used.
pub(crate) fn require_valid_name(name: &str, span: Range<usize>, problems: &mut Problems) {
    let is_letter = |letter: char| letter.is_alphanumeric() || "_-.:/@".contains(letter);
    let message = if name.is_empty() {
        "a name is empty".to_owned()
    } else if name.len() > LONGEST_NAME {
        format!("a name is longer than {LONGEST_NAME} bytes")
    } else if let Some(letter) = name.chars().find(|&letter| !is_letter(letter)) {
        format!("a name has the character `{}`", letter.escape_debug())
    } else {
        return;
    };
    problems.push(
        Problem::new(Code::InvalidName, span, message)
            .label("cannot be used")
            .help("use letters, digits and `_ - . : / @`"),
    );
}

/// Everybody who may read something, in the order in which they are mentioned.
#[derive(Default)]
pub(crate) struct Principals {
    names: Vec<Text>,
    ids: BTreeMap<Text, PrincipalId>,
}

impl Principals {
    /// The principal called `name`; new if nobody mentioned it before.
    pub(crate) fn mention(&mut self, name: &str, at: At<'_>, problems: &mut Problems) {
        if name.is_empty() || name.len() > LONGEST_NAME {
            require_valid_name(name, at.span(), problems);
        }
        self.id(name, at, problems);
    }

    fn id(&mut self, name: &str, at: At<'_>, problems: &mut Problems) -> PrincipalId {
        if let Some(&id) = self.ids.get(name) {
            return id;
        }
        let id = PrincipalId::at(self.names.len());
        if self.names.len() >= MAX_ENTRIES {
            let message = format!("more than {MAX_ENTRIES} readers and recipients are mentioned");
            problems.push(Problem::new(Code::TooMany, at.span(), message).label("one too many"));
            return PrincipalId::default();
        }
        let name = Text::from(name);
        self.names.push(name.clone());
        self.ids.insert(name, id);
        id
    }

    /// Every name in the list at `at`.
    pub(crate) fn list(
        &mut self,
        names: &[String],
        at: At<'_>,
        problems: &mut Problems,
    ) -> Vec<PrincipalId> {
        let mut ids = Vec::with_capacity(names.len());
        for (index, name) in names.iter().enumerate() {
            self.mention(name, at.item(index), problems);
            ids.push(self.id(name, at.item(index), problems));
        }
        ids
    }

    /// The readers in the list at `at`; no list means everyone.
    pub(crate) fn readers(
        &mut self,
        names: Option<&[String]>,
        at: At<'_>,
        problems: &mut Problems,
    ) -> Readers {
        names.map_or(Readers::Everyone, |names| {
            let ids = self.list(names, at, problems);
            Readers::Only(ids.into_iter().map(|id| id.0).collect::<IndexSet>())
        })
    }

    pub(crate) fn into_names(self) -> Vec<Text> {
        self.names
    }
}
