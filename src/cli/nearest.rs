//! The nearest known name to one that does not exist.

/// Bytes of the longest name that is compared: all known ones are shorter, and the work grows with it.
const LONGEST: usize = 256;

/// A help line for `found`, which is none of `known`: the nearest name if one is near enough.
pub(crate) fn suggestion<'n>(
    found: &str,
    known: impl IntoIterator<Item = &'n str>,
) -> Option<String> {
    if found.len() > LONGEST {
        return None;
    }
    let found = found.to_lowercase();
    let (distance, name) = known
        .into_iter()
        .map(|name| (edits(&found, &name.to_lowercase()), name))
        .min()?;
    let is_near = distance * 3 <= found.chars().count().max(3);
    is_near.then(|| format!("did you mean `{name}`?"))
}

/// How many letters must be inserted, removed or exchanged to make `left` of `right`.
fn edits(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (above, left) in left.chars().enumerate() {
        let mut diagonal = above;
        row[0] = above + 1;
        for (column, right) in right.iter().enumerate() {
            let exchanged = diagonal + usize::from(left != *right);
            diagonal = row[column + 1];
            row[column + 1] = exchanged.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_name_is_suggested_and_a_far_one_is_not() {
        let known = ["tool_boundary", "taint_only_v1"];
        let help = suggestion("tool_boundry", known);
        assert_eq!(help.as_deref(), Some("did you mean `tool_boundary`?"));
        assert_eq!(suggestion("something_else", known), None);
        assert_eq!(suggestion("a", []), None);
    }

    #[test]
    fn a_name_of_any_length_is_answered_at_once() {
        let long = "x".repeat(10_000_000);
        assert_eq!(suggestion(&long, ["tool_boundary"; 100]), None);
    }
}
