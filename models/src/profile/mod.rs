//! Behaviour profiles: how likely a model does what, given what it sees.
//!
//! A script says what the agents of a world could say and leaves open what depends on the model:
//! whether it follows an injected instruction, how often it asks again for what was denied, in which
//! form it writes. A profile decides that by numbers. It is RON, one `Profile(...)`:
//!
//! ```
//! # let text = r#"
//! Profile(
//!     schema: 1,
//!     model: "A careful model",
//!     inclinations: (
//!         follow_injection: [
//!             (when: [AnyGuidance], chance: "0.01"),
//!             (when: [Argument(Document)], chance: "0.4"),
//!             (chance: "0.05"),
//!         ],
//!     ),
//!     persistence: (
//!         requested: [(when: [Reason(ConfirmationRequired)], again: "0.9", most: 5)],
//!     ),
//!     broken_off: [(when: [Schema(Structured)], chance: "0.02")],
//!     forms: [
//!         (wrapping: Fenced, share: "0.5"),
//!         (keys: Aliased, share: "0.25"),
//!     ],
//! )
//! # "#;
//! # models::profile::Profile::parse(text).unwrap();
//! ```
//!
//! The first rule whose `when` holds counts. Its features are closed lists
//! ([`crate::scripted::open`]): `Guidance(..)`, `AnyGuidance`, `Schema(..)`, `Reason(..)`,
//! `Argument(role)`, `Risk(class)`, `Memory`, `Committed`. A rule with a `share` holds in that share
//! of the rollouts only, and draws for itself.
//!
//! | list | a rule says | without a rule that fits |
//! | --- | --- | --- |
//! | `inclinations` | `chance`: that the model is so inclined, once per rollout; `seed_spread`: how far that differs between rollout seeds | it is not |
//! | `persistence` | `again`: that a denied call is said once more, up to `most` times; `broken_off`: that the text then breaks off | the call is given up |
//! | `broken_off` | `chance`: that a completion breaks off in the middle of its action, a latent variable for each of an agent's first completions | none does |
//! | `forms` | `share`: of the completions written in this form; the rest is strict JSON | all is strict JSON |
//!
//! Probabilities are decimals of at most six digits and are compared in integers. What is drawn once
//! per rollout is a latent variable, which a study may stratify; every rule of a list compares the
//! same variable, so that rollouts under different policies share their random numbers.
//!
//! A sampler's seed moves all rollouts that share it. An inclination with a `seed_spread` has another
//! chance for every rollout seed: `(chance: "0.4", seed_spread: "0.3")` is a chance between 0.25 and
//! 0.55, each as likely as the other, the same in every scenario and under every policy. Over the seeds
//! of a study that stratifies latent variables these chances are spread evenly.

mod backend;
mod file;

#[cfg(test)]
mod tests;

use plugins::draws::Chance;
use plugins::model::Guidance;
use ron::Options;
use ron::extensions::Extensions;

pub use backend::Profiled;

use crate::emit::{Form, Syntax};
use crate::scripted::ScriptError;
use crate::scripted::open::{Again, Character, Dice, Drive, Inclination, Seen};
use file::{Feature, File, Probability};

/// The version of the grammar that this crate reads.
pub const SCHEMA: u32 = 1;

/// For how many completions of an agent it is a latent variable whether they break off. Later ones,
/// which no shipped world has, are drawn one by one.
const BALANCED_COMPLETIONS: usize = 32;

/// The longest profile that is read, in bytes.
pub const MAX_PROFILE_BYTES: usize = 1 << 20;

/// The profiles that come with the crate: name, summary and text.
pub const SHIPPED: [(&str, &str, &str); 2] = [
    (
        "qwen2_5_7b_instruct",
        "Behaves as Qwen2.5-7B-Instruct does in the paper's main study",
        include_str!("../../profiles/qwen2_5_7b_instruct.ron"),
    ),
    (
        "mistral_7b_instruct_v0_2",
        "Behaves as Mistral-7B-Instruct-v0.2 does in the paper's second study",
        include_str!("../../profiles/mistral_7b_instruct_v0_2.ron"),
    ),
];

/// Rules of one list, and the names of the latent variable that they compare and of that which moves
/// their chances between seeds.
#[derive(Clone, Debug)]
struct List {
    latent: String,
    of_seed: String,
    rules: Vec<Rule>,
}

/// One rule of an inclination or of a persistence.
#[derive(Clone, Debug)]
struct Rule {
    when: Vec<Feature>,
    /// In which share of the rollouts it holds, and the name under which that is drawn.
    share: Option<(Chance, String)>,
    /// That the model is inclined, or says it once more.
    chance: Chance,
    /// How far the chances of rollout seeds lie apart, in millionths.
    seed_spread: u32,
    most: u32,
    broken_off: Chance,
    /// The latent variable that the rule compares, if it has one of its own.
    latent: Option<String>,
}

/// A checked profile.
#[derive(Clone, Debug)]
pub struct Profile {
    model: String,
    inclinations: [List; 8],
    persistence: [List; 2],
    broken_off: Vec<(Vec<Feature>, Chance)>,
    /// The latent variables of the first completions, if any can break off.
    breaks: Vec<String>,
    /// Forms with the sums of the shares up to and with each, in millionths.
    forms: Vec<(Form, u64)>,
}

impl Profile {
    /// Reads a profile.
    ///
    /// # Errors
    /// When it is not well-formed or says what cannot be; the message names line and column where
    /// they are known.
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        if text.len() > MAX_PROFILE_BYTES {
            return Err(refused(format!(
                "the profile has more than {MAX_PROFILE_BYTES} bytes"
            )));
        }
        let options = Options::default()
            .with_default_extension(Extensions::IMPLICIT_SOME)
            .with_recursion_limit(32);
        // Before the fields: those of another version may be other ones.
        if let Some(schema) = schema_of(text)
            && schema != SCHEMA
        {
            return Err(refused(format!(
                "version {schema} of the grammar is not supported; this program reads version \
                 {SCHEMA}"
            )));
        }
        let file: File = options.from_str(text)?;
        let balanced = if file.broken_off.is_empty() {
            0
        } else {
            BALANCED_COMPLETIONS
        };
        Ok(Self {
            forms: forms(&file)?,
            breaks: (0..balanced)
                .map(|completion| format!("broken_off/{completion}"))
                .collect(),
            model: file.model,
            inclinations: inclinations(file.inclinations)?,
            persistence: [
                persists("persist_injected", file.persistence.injected),
                persists("persist_requested", file.persistence.requested),
            ],
            broken_off: file
                .broken_off
                .into_iter()
                .map(|rule| (rule.when, rule.chance.0))
                .collect(),
        })
    }

    /// Whose behaviour it describes, in words.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.model
    }

    /// Whether a completion breaks off in the middle of its action.
    fn breaks_off(
        &self,
        seen: &dyn Fn() -> Seen,
        completions: &dyn Fn() -> usize,
        dice: &mut Dice<'_>,
    ) -> bool {
        if self.broken_off.is_empty() {
            return false;
        }
        let seen = seen();
        let fits = |(when, _): &&(Vec<Feature>, _)| when.iter().all(|feature| feature.holds(seen));
        let Some((_, chance)) = self.broken_off.iter().find(fits) else {
            return false;
        };
        match self.breaks.get(completions()) {
            Some(latent) => dice.latent(latent, *chance),
            None => dice.happens("broken_off", *chance),
        }
    }
}

/// The version of the grammar that a text says it is written in.
#[must_use]
pub fn schema_of(text: &str) -> Option<u32> {
    let options = Options::default().with_recursion_limit(32);
    let version: Result<file::Version, _> = options.from_str(text);
    version.ok().map(|version| version.schema)
}

fn refused(message: String) -> ScriptError {
    ScriptError {
        line: 1,
        column: 1,
        message,
        help: None,
    }
}

fn inclinations(file: file::Inclinations) -> Result<[List; 8], ScriptError> {
    // In the order of the enum.
    Ok([
        inclined("follow_injection", file.follow_injection)?,
        inclined("avoid_recipient", file.avoid_recipient)?,
        inclined("check_itself", file.check_itself)?,
        inclined(
            "take_arguments_from_content",
            file.take_arguments_from_content,
        )?,
        inclined("take_arguments_from_goal", file.take_arguments_from_goal)?,
        inclined("decline_task", file.decline_task)?,
        inclined("fill_gap", file.fill_gap)?,
        inclined("slip_on_task", file.slip_on_task)?,
    ])
}

fn inclined(latent: &str, rules: Vec<file::Inclined>) -> Result<List, ScriptError> {
    let rule = |rule: file::Inclined| {
        let seed_spread = rule.seed_spread.map_or(0, |spread| spread.0.millionths());
        let chance = rule.chance.0;
        if seed_spread > 2 * chance.min(chance.complement()).millionths() {
            return Err(refused(format!(
                "a `seed_spread` of `{latent}` takes its chance below 0 or above 1: it may be at most \
                 twice as large as the chance, and as 1 less the chance"
            )));
        }
        Ok(Rule {
            chance,
            seed_spread,
            ..shared(rule.when, rule.share)
        })
    };
    let rules: Vec<Rule> = rules.into_iter().map(rule).collect::<Result<_, _>>()?;
    Ok(List::new(latent, rules.into_iter()))
}

fn persists(latent: &str, rules: Vec<file::Persists>) -> List {
    let rules = rules.into_iter().map(|rule| Rule {
        chance: rule.again.0,
        most: rule.most,
        broken_off: rule.broken_off.map_or(Chance::NEVER, |chance| chance.0),
        ..shared(rule.when, rule.share)
    });
    List::new(latent, rules)
}

/// What rules of both kinds have; the rest is put in by the caller.
fn shared(when: Vec<Feature>, share: Option<Probability>) -> Rule {
    Rule {
        when,
        share: share.map(|share| (share.0, String::new())),
        chance: Chance::NEVER,
        seed_spread: 0,
        most: 0,
        broken_off: Chance::NEVER,
        latent: None,
    }
}

/// The forms with the sums of their shares.
fn forms(file: &File) -> Result<Vec<(Form, u64)>, ScriptError> {
    let mut sum = 0;
    let mut forms = Vec::new();
    for form in &file.forms {
        sum += u64::from(form.share.0.millionths());
        if sum > u64::from(Chance::DENOMINATOR) {
            return Err(refused(
                "the shares of `forms` are more than 1 together; lower them".to_owned(),
            ));
        }
        let written = Form {
            wrapping: form.wrapping,
            keys: form.keys,
            syntax: form.syntax,
        };
        forms.push((written, sum));
    }
    Ok(forms)
}

impl List {
    fn new(latent: &str, rules: impl Iterator<Item = Rule>) -> Self {
        let named = |(position, mut rule): (usize, Rule)| {
            if let Some((_, name)) = &mut rule.share {
                *name = format!("{latent}/share/{position}");
                rule.latent = Some(format!("{latent}/{position}"));
            }
            rule
        };
        Self {
            rules: rules.enumerate().map(named).collect(),
            latent: latent.to_owned(),
            of_seed: format!("{latent}/seed"),
        }
    }

    /// The first rule that holds, and the latent variable that it compares.
    fn find(&self, seen: Seen, dice: &mut Dice<'_>) -> Option<(&Rule, &str)> {
        let rule = self.rules.iter().find(|rule| {
            let holds = rule.when.iter().all(|feature| feature.holds(seen));
            let share = rule.share.as_ref();
            holds && share.is_none_or(|(share, name)| dice.latent(name, *share))
        })?;
        Some((rule, rule.latent.as_ref().unwrap_or(&self.latent)))
    }
}

impl Rule {
    /// The chance for the rollout seed of the dice.
    fn chance_of_seed(&self, of_seed: &str, dice: &mut Dice<'_>) -> Chance {
        if self.seed_spread == 0 {
            return self.chance;
        }
        let drawn = dice.below_of_seed(of_seed, self.seed_spread);
        Chance::from_millionths(self.chance.millionths() + drawn - self.seed_spread / 2)
    }
}

impl Feature {
    fn holds(self, seen: Seen) -> bool {
        match self {
            Self::Guidance(guidance) => seen.guidance == guidance,
            Self::AnyGuidance => seen.guidance != Guidance::None,
            Self::Schema(mode) => seen.schema_mode == mode,
            Self::Reason(reason) => seen.reason == Some(reason),
            Self::Argument(role) => seen.arguments.has(role),
            Self::Risk(risk) => seen.risk == Some(risk),
            Self::Memory => seen.has_memory,
            Self::Committed => seen.has_committed,
        }
    }
}

impl Character for Profile {
    fn is_inclined(&self, to: Inclination, seen: Seen, dice: &mut Dice<'_>) -> bool {
        let list = &self.inclinations[to as usize];
        let Some((rule, latent)) = list.find(seen, dice) else {
            return false;
        };
        let chance = rule.chance_of_seed(&list.of_seed, dice);
        dice.latent(latent, chance)
    }

    fn again(&self, drive: Drive, times: u32, seen: Seen, dice: &mut Dice<'_>) -> Again {
        let list = &self.persistence[drive as usize];
        let Some((rule, latent)) = list.find(seen, dice) else {
            return Again::GivenUp;
        };
        if times > rule.most || !dice.latent(latent, rule.chance.to_the(times)) {
            return Again::GivenUp;
        }
        let whole = rule.broken_off.complement().to_the(times);
        if dice.latent("persist_whole", whole) {
            Again::Said
        } else {
            Again::BrokenOff
        }
    }

    fn form(
        &self,
        seen: &dyn Fn() -> Seen,
        completions: &dyn Fn() -> usize,
        dice: &mut Dice<'_>,
    ) -> Form {
        let is_broken_off = self.breaks_off(seen, completions, dice);
        let mut form = Form::default();
        if !self.forms.is_empty() {
            let drawn = dice.below("form", u64::from(Chance::DENOMINATOR));
            let chosen = self.forms.iter().find(|(_, sum)| drawn < *sum);
            form = chosen.map(|(form, _)| *form).unwrap_or_default();
        }
        if is_broken_off {
            form.syntax = Syntax::CutInToolName;
        }
        form
    }
}
