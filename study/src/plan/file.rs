//! What a study file may say, and its checks.

use std::collections::BTreeSet;

use plugins::setting::{Instrumentation, User};
use serde::{Deserialize, Serialize};

use super::places::Field;
use super::problem::{StudyCode, StudyReport};

/// The version of the grammar.
pub const SCHEMA: u32 = 1;
/// Bytes of the largest file.
pub const MAX_BYTES: usize = 1 << 20;
/// Entries of the longest list.
pub const MAX_ENTRIES: usize = 10_000;
/// Rollouts of the largest study. Its rows must fit into a file that is read back, which holds
/// [`crate::folder::MAX_ROWS_BYTES`]: four kilobytes for each, where those of the shipped study take
/// 640 bytes and the longest names 500 more.
pub const MAX_ROLLOUTS: usize = 250_000;
/// Characters of the longest name.
pub const MAX_NAME: usize = 64;

/// The model of a study that names none.
pub const DEFAULT_MODEL: &str = "scripted";

/// What is read of a study file of any version.
#[derive(Debug, Deserialize)]
#[serde(rename = "Study")]
struct Version {
    /// The version of the grammar.
    schema: u32,
}

/// The text of a study file, as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "Study")]
struct StudyFile {
    #[expect(dead_code, reason = "`Version` was read before")]
    schema: u32,
    /// The name, also that of the folder of the result.
    name: String,
    /// The seed from which all draws of the study derive.
    study_seed: u64,
    /// The world files, relative to the study file.
    worlds: Vec<String>,
    /// The policies by name, or as a reference to files: `rules:my.rules.ron`.
    policies: Vec<String>,
    /// A policy that is evaluated beside each of them and never enforced.
    #[serde(default)]
    shadow: Option<String>,
    /// The seeds of the rollouts.
    seeds: Vec<u64>,
    /// What recorded labels are.
    #[serde(default)]
    instrumentation: InstrumentationFile,
    /// Who answers confirmations.
    #[serde(default)]
    user: User,
    /// How variables are drawn that a rollout draws once.
    #[serde(default)]
    latents: Latents,
    /// The model backends by name.
    #[serde(default = "default_models")]
    models: Vec<String>,
    /// The policies over which the common denominator of spread is taken; all of the study if not
    /// given.
    #[serde(default)]
    denominator_policies: Option<Vec<String>>,
}

fn default_models() -> Vec<String> {
    vec![DEFAULT_MODEL.to_owned()]
}

/// How latent variables are drawn: those that a rollout draws once, for example whether the model
/// follows an injected instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Latents {
    /// Each rollout for itself.
    #[default]
    Independent,
    /// Balanced over the rollouts of each world file, and within it over those of each seed: a share
    /// comes out at its expectation.
    Stratified,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename = "Instrumentation")]
enum InstrumentationFile {
    #[default]
    Paper,
    Full,
    Custom {
        authority_only: bool,
        choice: bool,
        low_risk: bool,
    },
}

impl From<InstrumentationFile> for Instrumentation {
    fn from(file: InstrumentationFile) -> Self {
        match file {
            InstrumentationFile::Paper => Self::PAPER,
            InstrumentationFile::Full => Self::FULL,
            InstrumentationFile::Custom {
                authority_only,
                choice,
                low_risk,
            } => Self {
                authority_only,
                choice,
                low_risk,
            },
        }
    }
}

/// A policy that a study names, by where it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedPolicy {
    /// The one at this position of `policies`.
    Live(usize),
    /// The one of `shadow`.
    Shadow,
}

/// A checked study file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Study {
    /// Its name, also that of the folder of the result.
    pub name: String,
    /// The seed from which all draws derive.
    pub study_seed: u64,
    /// The world files as written: relative to the study file.
    pub worlds: Vec<String>,
    /// The policies.
    pub policies: Vec<String>,
    /// The policy in their shadow.
    pub shadow: Option<String>,
    /// The seeds of the rollouts.
    pub seeds: Vec<u64>,
    /// What recorded labels are.
    pub instrumentation: Instrumentation,
    /// Who answers confirmations.
    pub user: User,
    /// How latent variables are drawn.
    pub latents: Latents,
    /// The model backends.
    pub models: Vec<String>,
    /// The policies over which the common denominator of spread is taken.
    pub denominator_policies: Vec<String>,
    /// The text, so that what is found wrong later is found at its place.
    origin: String,
    text: String,
}

impl Study {
    /// An empty report on the file.
    pub(super) fn report(&self) -> StudyReport {
        StudyReport::new(&self.origin, &self.text)
    }

    /// A report that the policy at this position, or the shadow, is wrong.
    #[must_use]
    pub fn refusal(&self, policy: NamedPolicy, message: String, help: String) -> StudyReport {
        let mut report = self.report();
        let (field, index) = match policy {
            NamedPolicy::Live(index) => (Field::Policies, index),
            NamedPolicy::Shadow => (Field::Shadow, 0),
        };
        report.push(field, index, StudyCode::UnknownPolicy, message, Some(help));
        report
    }

    /// Puts other policies in the place of those that the file names. The denominator policies of the
    /// file stay if all of them still run; otherwise all policies are.
    pub fn replace_policies(&mut self, policies: Vec<String>) {
        let denominators = &self.denominator_policies;
        if !denominators.iter().all(|name| policies.contains(name)) {
            self.denominator_policies.clone_from(&policies);
        }
        self.policies = policies;
    }

    /// Puts what the registry calls a policy in the place of what the file says, wherever it does.
    ///
    /// # Errors
    /// When another policy of the study is called so.
    pub fn rename_policy(&mut self, policy: NamedPolicy, name: String) -> Result<(), StudyReport> {
        let index = match policy {
            NamedPolicy::Live(index) => index,
            NamedPolicy::Shadow => {
                self.shadow = Some(name);
                return Ok(());
            }
        };
        if self.policies[..index].contains(&name) {
            let message = format!("two policies of the study are called `{name}`");
            let help = "name it once, or rename one of the files".to_owned();
            return Err(self.refusal(policy, message, help));
        }
        let written = std::mem::replace(&mut self.policies[index], name.clone());
        for denominator in &mut self.denominator_policies {
            if *denominator == written {
                denominator.clone_from(&name);
            }
        }
        Ok(())
    }
}

/// Loads a study file. `origin` names it in messages.
///
/// # Errors
/// When there is a mistake in it; the report names each with line and column.
pub fn load(text: &str, origin: &str) -> Result<Study, StudyReport> {
    let mut report = StudyReport::new(origin, text);
    if text.len() > MAX_BYTES {
        report = StudyReport::new(origin, "");
        let message = format!("the file has {} bytes, more than {MAX_BYTES}", text.len());
        report.push_at(0..0, StudyCode::TooLarge, message, None);
        return Err(report);
    }
    let options =
        ron::Options::default().with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME);
    // Before the fields: those of another version may be other ones.
    if let Ok(Version { schema }) = options.from_str(text)
        && schema != SCHEMA
    {
        let message = format!("version {schema} of the grammar is not supported");
        let help = Some(format!("this program reads version {SCHEMA}"));
        let code = StudyCode::UnsupportedSchema;
        report.push(Field::Schema, 0, code, message, help);
        return Err(report);
    }
    match options.from_str(text) {
        Ok(file) => checked(file, report),
        Err(error) => {
            report.push_ron(error);
            Err(report)
        }
    }
}

/// Like [`load`], from bytes that may not be text.
///
/// # Errors
/// Likewise.
pub fn load_bytes(bytes: &[u8], origin: &str) -> Result<Study, StudyReport> {
    match std::str::from_utf8(bytes) {
        Ok(text) => load(text, origin),
        Err(error) => {
            let valid = &bytes[..error.valid_up_to().min(MAX_BYTES)];
            let mut report = StudyReport::new(origin, &String::from_utf8_lossy(valid));
            let end = valid.len();
            let message = format!("the byte at {} is not UTF-8 text", error.valid_up_to());
            let help = Some("save the file as UTF-8".to_owned());
            report.push_at(end..end, StudyCode::NotText, message, help);
            Err(report)
        }
    }
}

fn checked(file: StudyFile, mut report: StudyReport) -> Result<Study, StudyReport> {
    check_name(&file.name, &mut report);
    let seeds: Vec<String> = file.seeds.iter().map(u64::to_string).collect();
    check_list(&file.worlds, Field::Worlds, &mut report);
    check_list(&file.policies, Field::Policies, &mut report);
    check_list(&seeds, Field::Seeds, &mut report);
    check_list(&file.models, Field::Models, &mut report);
    check_size(&file, &mut report);
    let denominator_policies = denominators(&file, &mut report);
    if !report.is_empty() {
        return Err(report);
    }
    let (origin, text) = report.into_source();
    Ok(Study {
        name: file.name,
        study_seed: file.study_seed,
        worlds: file.worlds,
        policies: file.policies,
        shadow: file.shadow,
        seeds: file.seeds,
        instrumentation: file.instrumentation.into(),
        user: file.user,
        latents: file.latents,
        models: file.models,
        denominator_policies,
        origin,
        text,
    })
}

/// The name becomes that of a folder, so it must be one on any machine.
fn check_name(name: &str, report: &mut StudyReport) {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    let starts_well = name.starts_with(|letter: char| letter.is_ascii_lowercase());
    if !starts_well || !name.bytes().all(is_plain) || name.len() > MAX_NAME {
        let message = "the name of a study is lower-case letters, digits and `_`".to_owned();
        let help = Some(format!(
            "at most {MAX_NAME}, and a letter first, for example `my_study`"
        ));
        report.push(Field::Name, 0, StudyCode::Name, message, help);
    }
}

fn check_list(items: &[String], field: Field, report: &mut StudyReport) {
    let name = field.name();
    if items.is_empty() {
        let message = format!("`{name}` is empty, so the study has no rollouts");
        report.push(field, 0, StudyCode::Empty, message, None);
    }
    if items.len() > MAX_ENTRIES {
        let message = format!(
            "`{name}` has {} entries, more than {MAX_ENTRIES}",
            items.len()
        );
        report.push(field, MAX_ENTRIES, StudyCode::TooMany, message, None);
        return;
    }
    let mut seen = BTreeSet::new();
    for (index, item) in items.iter().enumerate() {
        if !seen.insert(item) {
            let message = format!("`{item}` is given twice in `{name}`");
            report.push(field, index, StudyCode::Repeated, message, None);
        }
    }
}

fn check_size(file: &StudyFile, report: &mut StudyReport) {
    let factors = [
        file.worlds.len(),
        file.policies.len(),
        file.seeds.len(),
        file.models.len(),
    ];
    let product = factors
        .iter()
        .try_fold(1_usize, |product, &factor| product.checked_mul(factor));
    if product.is_none_or(|rollouts| rollouts > MAX_ROLLOUTS) {
        let message = format!("the study has more than {MAX_ROLLOUTS} rollouts");
        let help = Some("rollouts = worlds x policies x seeds x models".to_owned());
        report.push(Field::Seeds, 0, StudyCode::TooMany, message, help);
    }
}

/// The denominator policies: those declared, or all of the study. Each must run, or the denominator
/// would not be the one declared.
fn denominators(file: &StudyFile, report: &mut StudyReport) -> Vec<String> {
    let Some(declared) = &file.denominator_policies else {
        return file.policies.clone();
    };
    let runs = |policy: &str| file.policies.iter().any(|running| running == policy);
    check_list(declared, Field::DenominatorPolicies, report);
    for (index, policy) in declared
        .iter()
        .enumerate()
        .filter(|(_, policy)| !runs(policy))
    {
        let message = format!("`{policy}` is no policy of this study");
        let known = file.policies.iter().map(String::as_str);
        let help = super::problem::advice(policy, known);
        report.push(
            Field::DenominatorPolicies,
            index,
            StudyCode::Denominator,
            message,
            help,
        );
    }
    declared.clone()
}

#[cfg(test)]
mod tests;
