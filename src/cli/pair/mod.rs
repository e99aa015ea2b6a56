//! `containment pair`: the same rollout under several policies, from the identical state.

mod report;
mod sides;

use std::path::PathBuf;

use containment_bench::Choice;

use super::exit::Exit;
use super::failure::Failure;
use super::options::{Case, SettingArgs};
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
    /// The policies, two or more
    #[arg(long, value_name = "A,B,...", value_delimiter = ',', required = true)]
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
    let choices = choices(args)?;
    let case = Case::load(&args.world, &args.setting, terminal)?;
    let group = match (args.at, &args.under) {
        (Some(tick), Some(under)) => {
            let under = choice(under, &args.set);
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

fn choices(args: &Args) -> Result<Vec<Choice>, Failure> {
    if args.policies.len() < 2 {
        let help = "name another policy to compare with, as in `--policies none,tool_boundary`";
        return Err(Failure::usage(
            "a comparison needs two policies",
            Some(help.to_owned()),
        ));
    }
    let is_named = |parameter: &&Parameter| {
        args.policies.contains(&parameter.policy) || args.under.as_ref() == Some(&parameter.policy)
    };
    if let Some(stray) = args.set.iter().find(|parameter| !is_named(parameter)) {
        let message = format!("`{}` has a parameter but is not run", stray.policy);
        return Err(Failure::usage(
            message,
            Some("name it in --policies".to_owned()),
        ));
    }
    let names = args.policies.iter();
    Ok(names.map(|name| choice(name, &args.set)).collect())
}

fn choice(name: &str, parameters: &[Parameter]) -> Choice {
    let own = parameters
        .iter()
        .filter(|parameter| parameter.policy == name);
    let own = own.map(|parameter| (parameter.key.clone(), parameter.value.clone()));
    Choice {
        name: name.to_owned(),
        parameters: own.collect(),
    }
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
