//! Families: many worlds from one file.
//!
//! A family file is RON, one `Family(...)`. It says one world, and what its members change in it:
//! `words` that stand for `{name}` in texts, and named `parts` that add to the world.
//!
//! ```text
//! Family(
//!     schema: 1,
//!     parts: {
//!         "single": (agents: [(name: "assistant", tools: ["read", "share"])]),
//!         "pair": (agents: [(name: "reader", tools: ["read"]), (name: "writer", tools: ["share"])],
//!                  channels: [(from: "reader", to: "writer")]),
//!     },
//!     families: {
//!         "share_plan": (words: {"document": "doc:plan"}),
//!         "share_budget": (words: {"document": "doc:budget"}),
//!     },
//!     variants: {
//!         "alone": (parts: ["single"]),
//!         "handed_on": (parts: ["pair"], words: {"document": "doc:plan"}),
//!     },
//!     world: World(schema: 1, ..., sources: [(name: "{document}", ...)]),
//! )
//! ```
//!
//! Every family with every variant is a member; its identity is `family/variant`. A part adds its
//! entries to lists and maps, and its fields to what does not have them; entries of a map whose keys
//! are the same once the words are put in are added together. Besides the parts of its
//! family and its variant, a member has one of those listed under `in_turn: [...]`: the first member
//! the first of them, the next the next, and so round. In a script the steps of parts come first, then
//! those of the file. Of the words of the file, the family, its parts, the variant, its parts and the
//! part in turn, the later ones win; a word may have other words in it. `{{` and `}}` are brackets in
//! a text. What a member says is checked as any world; a mistake is told at its place in the family
//! file.

mod expansion;
mod merge;
mod sheet;

use std::collections::BTreeSet;

use crate::diagnostic::{Code, Problem, Problems, Report};
use crate::load::{checked, too_large};
use crate::outline::{Outline, outline};
use crate::spec::Scenario;
use crate::{MAX_BYTES, check as meaning};

pub use expansion::Expansion;
use merge::{Recipe, Texts, Used};
use sheet::Sheet;

/// The version of the grammar that this crate reads.
pub const SCHEMA: u32 = 1;

/// Members of the largest family file.
pub const MOST_MEMBERS: usize = 4_096;
/// Bytes that all members may say together.
const MOST_EXPANDED_BYTES: usize = 64 << 20;

/// One world of a family file.
#[derive(Clone, Debug)]
pub struct Member {
    /// The scenario; its identity is `family/variant`.
    pub scenario: Scenario,
    /// What the models say in it, if the file has a `script`.
    pub script: Option<Expansion>,
}

/// The result of a check: what was found, and the members if nothing forbids them.
#[derive(Debug)]
pub struct CheckedFamily {
    /// The members by family and variant, in the order of the file, unless there are errors.
    pub members: Option<Vec<Member>>,
    /// Errors and warnings; may be empty. What several members have in common is told once.
    pub report: Report,
}

/// Whether the text is meant to be a family file: its first word says so.
#[must_use]
pub fn is_family(text: &str) -> bool {
    outline(text).is_ok_and(|outline| outline.root().word() == "Family")
}

/// Loads a family file. `origin` names the text in messages. Warnings are dropped: see
/// [`check_family`].
///
/// # Errors
/// When there is an error; the report holds the warnings too.
pub fn load_family(text: &str, origin: &str) -> Result<Vec<Member>, Report> {
    let checked = check_family(text, origin);
    checked.members.ok_or(checked.report)
}

/// Checks a family file and gives everything that was found.
#[must_use]
pub fn check_family(text: &str, origin: &str) -> CheckedFamily {
    if text.len() > MAX_BYTES {
        return CheckedFamily {
            members: None,
            report: too_large(text.len(), origin),
        };
    }
    let mut problems = Problems::default();
    meaning::text::visible(text, &mut problems);
    let members = match outline(text) {
        Ok(outline) => members(&outline, &mut problems),
        Err(problem) => {
            problems.push(problem);
            None
        }
    };
    CheckedFamily {
        members: members.filter(|_| !problems.has_errors()),
        report: Report::new(origin, text, problems),
    }
}

/// The members of a well-formed file; nothing if it is no family, or says what no member can be made
/// from.
fn members(outline: &Outline<'_>, problems: &mut Problems) -> Option<Vec<Member>> {
    let sheet = Sheet::read(outline.root(), problems)?;
    let texts = Texts::of(outline);
    let mut told = Told::default();
    let mut used = Used::new();
    let mut members = Vec::new();
    let mut bytes = 0;
    for (family, variant) in sheet.pairs() {
        let mut found = Problems::default();
        let recipe = Recipe::new(&texts, &sheet, family, variant);
        let world = recipe.world(&mut used, &mut found);
        let script = recipe.script(&mut used, &mut found);
        bytes += world.text().len() + script.as_ref().map_or(0, |script| script.text().len());
        if bytes > MOST_EXPANDED_BYTES {
            let message = format!("the members say more than {MOST_EXPANDED_BYTES} bytes together");
            let problem = Problem::new(Code::TooMany, outline.root().span(), message);
            problems.push(problem.help("make several files of it"));
            return None;
        }
        let identity = sheet.identity(family, variant);
        let scenario = if found.has_errors() {
            None
        } else {
            scenario(&world, &identity, &mut found)
        };
        told.tell(found, &identity, problems);
        if problems.is_full() {
            return None;
        }
        members.extend(scenario.map(|scenario| Member { scenario, script }));
    }
    if !problems.has_errors() {
        sheet.tell_unused(&used, problems);
    }
    (members.len() == sheet.pairs().count()).then_some(members)
}

/// The scenario that the text of a member says, with its problems at their places in the file.
fn scenario(world: &Expansion, identity: &str, found: &mut Problems) -> Option<Scenario> {
    let mut problems = Problems::default();
    let scenario = match outline(world.text()) {
        Ok(outline) => checked(&outline, identity, &mut problems),
        Err(problem) => {
            problems.push(problem);
            None
        }
    };
    found.extend(problems.moved(|span| world.original(span)));
    scenario
}

/// What was told of earlier members: a mistake in the world itself is a mistake of every member.
#[derive(Default)]
struct Told(BTreeSet<(Code, usize)>);

impl Told {
    fn tell(&mut self, found: Problems, identity: &str, problems: &mut Problems) {
        for mut problem in found.into_list() {
            if self.0.insert((problem.code, problem.span.start)) {
                problem.message = format!("{} (in `{identity}`)", problem.message);
                problems.push(problem);
            }
        }
    }
}

#[cfg(test)]
mod tests;
