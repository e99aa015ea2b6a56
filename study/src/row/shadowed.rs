//! What a policy in the shadow would have ruled, in numbers.

use plugins::compose::shadow::{ShadowLog, Sighting};
use plugins::policy::{Hook, VerdictKind};
use plugins::value::Text;

use crate::columns::{Hash, columns};

columns! {
    /// What the policy in the shadow would have ruled beside the one that was enforced.
    #[derive(Default)]
    pub struct Shadowed {
        /// The policy in the shadow: evaluated beside the defence and never enforced.
        shadow: Option<Text> {
            over: "name",
            stages: All,
            null: "there is none",
            origin: O("shadow policies"),
        }
        /// Hash of its version, its parameters and what it is made of.
        shadow_hash: Option<Hash> {
            over: "hash",
            stages: All,
            null: "there is none",
            origin: O("shadow policies"),
        }
        /// Proposals on which it was asked.
        shadow_proposals: Option<u64> {
            over: "count",
            stages: All,
            null: "there is none",
            origin: O("shadow policies"),
        }
        /// Of these, those on which it had all the facts that it asked for: its coverage.
        shadow_covered: Option<u64> {
            over: "shadow_proposals",
            stages: All,
            null: "there is none",
            origin: O("shadow policies"),
        }
        /// Proposals on which its verdict is another than that of the defence.
        shadow_differs: Option<u64> {
            over: "shadow_proposals",
            stages: All,
            null: "there is none",
            origin: O("shadow policies"),
        }
        /// Proposals that the defence allows and it would not.
        shadow_refuses: Option<u64> {
            over: "shadow_proposals",
            stages: All,
            null: "there is none",
            origin: O("shadow policies"),
        }
        /// Of these, those that the ledger authorises: work that it would stop.
        shadow_refuses_authorized: Option<u64> {
            over: "shadow_refuses",
            stages: All,
            null: "there is none",
            origin: O("shadow policies"),
        }
        /// Proposals that it allows and the defence does not.
        shadow_permits: Option<u64> {
            over: "shadow_proposals",
            stages: All,
            null: "there is none",
            origin: O("shadow policies"),
        }
        /// Rulings at whatever hook that were not counted, because there were too many different ones.
        shadow_dropped: Option<u64> {
            over: "count",
            stages: All,
            null: "there is none",
            origin: O("shadow policies"),
        }
    }
}

impl Shadowed {
    /// Whether parts are no more than the whole, and everything is there or nothing.
    #[must_use]
    pub fn adds_up(&self) -> bool {
        let numbers = [
            self.shadow_proposals,
            self.shadow_covered,
            self.shadow_differs,
            self.shadow_refuses,
            self.shadow_refuses_authorized,
            self.shadow_permits,
            self.shadow_dropped,
        ];
        let names = [self.shadow.is_some(), self.shadow_hash.is_some()];
        let mut there = numbers.iter().map(Option::is_some).chain(names);
        let is_there = self.shadow.is_some();
        let [all, covered, differs, refuses, authorized, permits, _] =
            numbers.map(Option::unwrap_or_default);
        there.all(|it| it == is_there)
            && covered <= all
            && differs <= all
            && refuses.saturating_add(permits) <= differs
            && authorized <= refuses
    }

    /// The numbers of a log.
    #[must_use]
    pub fn of(name: Text, hash: Hash, log: &ShadowLog) -> Self {
        let count = |holds: &dyn Fn(&Sighting) -> bool| -> Option<u64> {
            let proposals = log.counts().filter(|(seen, _)| seen.hook == Hook::Proposal);
            let held = proposals.filter(|(seen, _)| holds(seen));
            Some(held.map(|(_, count)| count).sum())
        };
        let allows = |kind: VerdictKind| kind == VerdictKind::Allow;
        let is_authorized = |seen: &Sighting| seen.call.is_some_and(|call| call.authorized);
        let refuses = |seen: &Sighting| allows(seen.live) && !allows(seen.observed);
        Self {
            shadow: Some(name),
            shadow_hash: Some(hash),
            shadow_proposals: count(&|_| true),
            shadow_covered: count(&Sighting::is_covered),
            shadow_differs: count(&|seen| seen.live != seen.observed),
            shadow_refuses: count(&refuses),
            shadow_refuses_authorized: count(&|seen| refuses(seen) && is_authorized(seen)),
            shadow_permits: count(&|seen| allows(seen.observed) && !allows(seen.live)),
            shadow_dropped: Some(log.dropped()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_shadow_are_no_more_than_the_whole() {
        let sound = Shadowed {
            shadow: Some("observed".into()),
            shadow_hash: Some(Hash(1)),
            shadow_proposals: Some(9),
            shadow_covered: Some(8),
            shadow_differs: Some(5),
            shadow_refuses: Some(3),
            shadow_refuses_authorized: Some(2),
            shadow_permits: Some(2),
            shadow_dropped: Some(0),
        };
        assert!(sound.adds_up());
        assert!(Shadowed::default().adds_up());
        let changes: [fn(&mut Shadowed); 6] = [
            |row| row.shadow = None,
            |row| row.shadow_dropped = None,
            |row| row.shadow_covered = Some(10),
            |row| row.shadow_differs = Some(4),
            |row| row.shadow_refuses_authorized = Some(4),
            |row| row.shadow_permits = Some(3),
        ];
        for change in changes {
            let mut row = sound.clone();
            change(&mut row);
            assert!(!row.adds_up(), "{row:?}");
        }
    }
}
