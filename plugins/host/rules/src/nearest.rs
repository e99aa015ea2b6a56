//! Suggestions: the known word nearest to one that is not.

/// Letters of the longest word for which a suggestion is sought, so that none is expensive.
const LONGEST: usize = 40;

/// "did you mean", if there is a near word; else the first known ones.
pub(crate) fn advice(wrong: &str, known: &[&str]) -> Option<String> {
    if let Some(word) = nearest(wrong, known) {
        return Some(format!("did you mean `{word}`?"));
    }
    let first: Vec<String> = known
        .iter()
        .take(12)
        .map(|word| format!("`{word}`"))
        .collect();
    let more = if known.len() > first.len() {
        ", ..."
    } else {
        ""
    };
    (!first.is_empty()).then(|| format!("there is: {}{more}", first.join(", ")))
}

/// The known word nearest to `wrong`, if one is near enough to have been meant.
fn nearest<'a>(wrong: &str, known: &[&'a str]) -> Option<&'a str> {
    let letters = lowered(wrong);
    let allowed = (letters.len() / 3).max(1);
    known
        .iter()
        .map(|&word| (distance(&letters, &lowered(word)), word))
        .filter(|&(distance, _)| distance <= allowed)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, word)| word)
}

/// Without `_`, so that `tainted_recipient` and `TaintedRecipient` are the same.
fn lowered(word: &str) -> Vec<char> {
    word.chars()
        .filter(|&letter| letter != '_')
        .take(LONGEST)
        .flat_map(char::to_lowercase)
        .collect()
}

/// Insertions, deletions and substitutions that lead from `a` to `b`.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for (i, letter) in a.iter().enumerate() {
        let mut diagonal = above[0];
        above[0] = i + 1;
        for (j, other) in b.iter().enumerate() {
            let changed = diagonal + usize::from(letter != other);
            diagonal = above[j + 1];
            above[j + 1] = changed.min(above[j] + 1).min(above[j + 1] + 1);
        }
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_word_is_recognised() {
        let known = ["Tainted", "Argument", "HighRisk"];
        assert_eq!(nearest("Tained", &known), Some("Tainted"));
        assert_eq!(nearest("high_risk", &known), Some("HighRisk"));
        assert_eq!(nearest("Xyzzy", &known), None);
        assert_eq!(distance(&lowered("kitten"), &lowered("sitting")), 3);
        assert_eq!(distance(&[], &lowered("ab")), 2);
    }

    #[test]
    fn without_a_near_word_there_is_a_list() {
        assert_eq!(
            advice("zzzz", &["Low", "Write"]).as_deref(),
            Some("there is: `Low`, `Write`")
        );
        assert_eq!(advice("zzzz", &[]), None);
    }
}
