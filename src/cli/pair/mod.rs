//! `containment pair`: the same rollout under several policies, from the identical state.

mod report;
mod sides;

use std::path::PathBuf;

use containment_bench::{Choice, outside};

use super::exit::Exit;
use super::failure::Failure;
use super::options::{Case, SettingArgs};
use super::policies;
use super::terminal::Terminal;

/// How results are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Words and aligned columns
    #[default]
    Text,
    /// One JSON document
    Json,
}

/// The options of `pair`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A world file, or the name of a shipped world
    world: PathBuf,
    /// The policies, two or more, each as `containment run --policy` takes it
    #[arg(long, value_name = "A,B,...", required = true)]
    policies: Vec<String>,
    /// A parameter of one of the policies; may be given several times
    #[arg(long = "set", value_name = "POLICY.KEY=VALUE", value_parser = parameter)]
    set: Vec<Parameter>,
    #[command(flatten)]
    setting: SettingArgs,
    /// Run under the policy of --under up to this tick, and from there under each policy
    #[arg(long, value_name = "TICK", requires = "under")]
    at: Option<u64>,
    /// The policy up to the tick of --at
    #[arg(long, value_name = "POLICY", requires = "at")]
    under: Option<String>,
    /// How results are printed
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

/// A parameter of one policy.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Parameter {
    policy: String,
    key: String,
    value: String,
}

/// Runs the policies and prints where they part and what differs.
pub(crate) fn run(args: &Args, terminal: &Terminal) -> Result<Exit, Failure> {
    let named = named(args)?;
    let mut case = Case::load(&args.world, &args.setting, terminal)?;
    let mut choices = Vec::new();
    for name in &named {
        choices.push(choice(&mut case, name, &args.set)?);
    }
    let group = match (args.at, &args.under) {
        (Some(tick), Some(under)) => {
            let under = choice(&mut case, under, &args.set)?;
            sides::from_tick(&case, &choices, tick, &under)?
        }
        _ => sides::from_start(&case, &choices)?,
    };
    let comparisons = report::compare_all(&case, &group)?;
    let text = match args.format {
        Format::Text => report::text(&case, &group, &comparisons),
        Format::Json => format!("{:#}", report::json(&case, &group, &comparisons)),
    };
    terminal.print(&text)?;
    policies::tell_faults(&case.outside, terminal);
    Ok(Exit::Ok)
}

/// Reads `POLICY.KEY=VALUE`.
fn parameter(text: &str) -> Result<Parameter, String> {
    let parts = text.split_once('=').and_then(|(name, value)| {
        let (policy, key) = name.split_once('.')?;
        Some((policy, key, value))
    });
    match parts {
        Some((policy, key, value)) if !policy.is_empty() && !key.is_empty() => Ok(Parameter {
            policy: policy.to_owned(),
            key: key.to_owned(),
            value: value.to_owned(),
        }),
        _ => Err("write it as POLICY.KEY=VALUE, for example `rollback_v2.hold=none`".into()),
    }
}

/// The policies as they are named.
fn named(args: &Args) -> Result<Vec<String>, Failure> {
    let lists = args.policies.iter();
    let lists = lists.map(|list| outside::reference::split(list));
    let names: Vec<String> = lists.flatten().collect();
    if names.len() < 2 {
        let help = "name another policy to compare with, as in `--policies none,tool_boundary`";
        return Err(Failure::usage(
            "a comparison needs two policies",
            Some(help.to_owned()),
        ));
    }
    let is_named = |parameter: &&Parameter| {
        names.contains(&parameter.policy) || args.under.as_ref() == Some(&parameter.policy)
    };
    if let Some(stray) = args.set.iter().find(|parameter| !is_named(parameter)) {
        let message = format!("`{}` has a parameter but is not run", stray.policy);
        return Err(Failure::usage(
            message,
            Some("name it in --policies".to_owned()),
        ));
    }
    Ok(names)
}

fn choice(case: &mut Case, name: &str, parameters: &[Parameter]) -> Result<Choice, Failure> {
    let own = parameters
        .iter()
        .filter(|parameter| parameter.policy == name);
    let own = own.map(|parameter| (parameter.key.clone(), parameter.value.clone()));
    case.choice(name, own.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_names_its_policy() {
        let read = parameter("a.b=c=d").expect("a parameter");
        assert_eq!((&*read.policy, &*read.key, &*read.value), ("a", "b", "c=d"));
        for wrong in ["a", "a=b", "a.=b", ".a=b"] {
            assert!(parameter(wrong).is_err(), "{wrong}");
        }
    }
}
