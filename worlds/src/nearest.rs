//! Suggestions: the known name nearest to one that is not.

/// Names looked at, so that a hostile file cannot make a suggestion expensive.
const MOST_CANDIDATES: usize = 1_000;
/// Letters of the longest name for which a suggestion is sought.
const LONGEST_NAME: usize = 40;

/// The known name nearest to `wrong`, if one is near enough to have been meant.
pub(crate) fn nearest<'a>(
    wrong: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let letters = lowered(wrong);
    let allowed = (letters.len() / 3).max(1);
    known
        .into_iter()
        .take(MOST_CANDIDATES)
        .map(|candidate| (distance(&letters, &lowered(candidate)), candidate))
        .filter(|&(distance, _)| distance <= allowed)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

/// "did you mean", if there is a near name; else the first few known ones.
pub(crate) fn advice<'a>(
    wrong: &str,
    known: impl IntoIterator<Item = &'a str> + Clone,
) -> Option<String> {
    if let Some(name) = nearest(wrong, known.clone()) {
        return Some(format!("did you mean `{name}`?"));
    }
    let mut known = known.into_iter();
    let first: Vec<String> = known
        .by_ref()
        .take(8)
        .map(|name| format!("`{name}`"))
        .collect();
    let more = if known.next().is_some() { ", ..." } else { "" };
    (!first.is_empty()).then(|| format!("there is: {}{more}", first.join(", ")))
}

fn lowered(name: &str) -> Vec<char> {
    name.chars()
        .take(LONGEST_NAME)
        .flat_map(char::to_lowercase)
        .collect()
}

/// Insertions, deletions, substitutions and swaps of neighbours that lead from `a` to `b`.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let changed = usize::from(a[i - 1] != b[j - 1]);
            let mut best = (above[j] + 1)
                .min(row[j - 1] + 1)
                .min(above[j - 1] + changed);
            let swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if swapped {
                best = best.min(before[j - 2] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_is_recognised() {
        let known = ["Trusted", "Untrusted"];
        assert_eq!(nearest("Untrustd", known), Some("Untrusted"));
        assert_eq!(nearest("trusted", known), Some("Trusted"));
        assert_eq!(
            nearest("reciever", ["receiver", "sender"]),
            Some("receiver")
        );
        assert_eq!(nearest("xyz", known), None);
        assert_eq!(nearest("a", ["b"]), Some("b"));
    }

    #[test]
    fn advice_falls_back_to_what_there_is() {
        assert_eq!(
            advice("zzzz", ["alpha", "beta"]).as_deref(),
            Some("there is: `alpha`, `beta`")
        );
        assert_eq!(advice("zzzz", []), None);
    }

    #[test]
    fn a_swap_of_neighbours_counts_once() {
        assert_eq!(distance(&lowered("ab"), &lowered("ba")), 1);
        assert_eq!(distance(&lowered("abc"), &lowered("")), 3);
        assert_eq!(distance(&lowered(""), &lowered("ab")), 2);
    }
}
