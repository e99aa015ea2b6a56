//! What the policy in the shadow of a study would have ruled, beside each policy that was enforced.

use study::manifest::Manifest;
use study::row::{Row, Shadowed};

use crate::cli::table::Table;

/// The table with its heading; nothing if the study has no shadow. Coverage comes first: what a shadow
/// says of calls for which it lacked facts is worth nothing.
pub(super) fn report(manifest: &Manifest, rows: &[&Row]) -> Option<String> {
    let shadow = manifest.frozen.shadow.as_ref()?;
    let mut table = Table::new([
        "policy",
        "coverage",
        "calls",
        "would differ",
        "would refuse",
        "of them authorised",
        "would permit",
    ]);
    for policy in &manifest.frozen.policies {
        let under = rows.iter();
        let under = under.filter(|row| *row.identity.policy == *policy.name);
        let seen: Vec<&Shadowed> = under.map(|row| &row.shadow).collect();
        let sum = |number: fn(&Shadowed) -> Option<u64>| -> u64 {
            seen.iter().filter_map(|seen| number(seen)).sum()
        };
        let calls = sum(|seen| seen.shadow_proposals);
        table.row([
            policy.name.clone(),
            share(sum(|seen| seen.shadow_covered), calls),
            calls.to_string(),
            sum(|seen| seen.shadow_differs).to_string(),
            sum(|seen| seen.shadow_refuses).to_string(),
            sum(|seen| seen.shadow_refuses_authorized).to_string(),
            sum(|seen| seen.shadow_permits).to_string(),
        ]);
    }
    Some(format!(
        "shadow {}: asked about every call, never enforced; coverage is the share of calls on which it \
         had the facts it asks for\n{table}",
        shadow.name
    ))
}

/// A share with four decimals; a dash of nothing.
fn share(part: u64, whole: u64) -> String {
    #[expect(
        clippy::cast_precision_loss,
        reason = "a study has far fewer calls than a float has integers"
    )]
    let share = |part: u64, whole: u64| part as f64 / whole as f64;
    if whole == 0 {
        "-".to_owned()
    } else {
        format!("{:.4}", share(part, whole))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_nothing_is_no_number() {
        assert_eq!(share(0, 0), "-");
        assert_eq!(share(1, 3), "0.3333");
    }
}
