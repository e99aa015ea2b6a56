//! The states of several policies in one: count, then version, length and bytes of each.

use crate::policy::Policy;
use crate::state::RestoreError;

/// Refuses bytes of another version.
pub(super) fn check_version(found: u32, expected: u32) -> Result<(), RestoreError> {
    if found == expected {
        Ok(())
    } else {
        Err(RestoreError::Version { found, expected })
    }
}

/// Appends the states of `policies` in order.
pub(super) fn save<'a>(policies: impl ExactSizeIterator<Item = &'a dyn Policy>, out: &mut Vec<u8>) {
    out.extend_from_slice(&(policies.len() as u64).to_le_bytes());
    for policy in policies {
        let mut state = Vec::new();
        policy.save(&mut state);
        push(policy.version(), &state, out);
    }
}

/// Appends one frame.
pub(super) fn push(version: u32, state: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&version.to_le_bytes());
    out.extend_from_slice(&(state.len() as u64).to_le_bytes());
    out.extend_from_slice(state);
}

/// Restores every policy, or none.
pub(super) fn restore(
    mut policies: Vec<&mut (dyn Policy + 'static)>,
    bytes: &[u8],
) -> Result<(), RestoreError> {
    let mut reader = Reader(bytes);
    if reader.number()? != policies.len() as u64 {
        return Err(damaged("another number of policies"));
    }
    let frames = policies
        .iter()
        .map(|_| reader.frame())
        .collect::<Result<Vec<_>, _>>()?;
    reader.end()?;
    let before: Vec<_> = policies.iter().map(|policy| state_of(&**policy)).collect();
    for at in 0..policies.len() {
        let (version, state) = frames[at];
        if let Err(error) = policies[at].restore(state, version) {
            put_back(&mut policies[..at], &before);
            return Err(error);
        }
    }
    Ok(())
}

fn state_of(policy: &dyn Policy) -> (u32, Vec<u8>) {
    let mut state = Vec::new();
    policy.save(&mut state);
    (policy.version(), state)
}

/// Undoes the restores that succeeded before one failed. A policy always reads what it just wrote;
/// one that does not is caught by the conformance kit.
fn put_back(policies: &mut [&mut (dyn Policy + 'static)], before: &[(u32, Vec<u8>)]) {
    for (policy, (version, state)) in policies.iter_mut().zip(before) {
        let _ = policy.restore(state, *version);
    }
}

/// Reads what was pushed.
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    /// A whole number of 8 bytes.
    pub(super) fn number(&mut self) -> Result<u64, RestoreError> {
        self.array().map(u64::from_le_bytes)
    }

    /// One byte.
    pub(super) fn byte(&mut self) -> Result<u8, RestoreError> {
        self.array().map(|[byte]| byte)
    }

    /// Bytes preceded by their number.
    pub(super) fn sized(&mut self) -> Result<&'a [u8], RestoreError> {
        let length = usize::try_from(self.number()?).map_err(|_| damaged("it is cut short"))?;
        let (taken, rest) = self
            .0
            .split_at_checked(length)
            .ok_or_else(|| damaged("it is cut short"))?;
        self.0 = rest;
        Ok(taken)
    }

    /// The version and bytes of one frame.
    pub(super) fn frame(&mut self) -> Result<(u32, &'a [u8]), RestoreError> {
        let version = self.array().map(u32::from_le_bytes)?;
        Ok((version, self.sized()?))
    }

    /// Refuses bytes after the last frame.
    pub(super) fn end(&self) -> Result<(), RestoreError> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(damaged("it goes on after its end"))
        }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], RestoreError> {
        let (taken, rest) = self
            .0
            .split_first_chunk::<N>()
            .ok_or_else(|| damaged("it is cut short"))?;
        self.0 = rest;
        Ok(*taken)
    }
}

pub(super) fn damaged(how: &str) -> RestoreError {
    RestoreError::Damaged(how.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::Composition;
    use crate::compose::stubs::{Recoverer, alternating, decide, saved};
    use crate::state::SavedState;

    #[test]
    fn a_refused_member_leaves_all_members_as_they_were() {
        let make =
            |number| Composition::strictest(vec![alternating(), Box::new(Recoverer(number))]);
        let mut other = make(2);
        decide(&mut other);
        let foreign = saved(&other);
        let mut composition = make(1);
        let before = saved(&composition);
        let error = composition.restore(&foreign, 1).unwrap_err();
        assert_eq!(error, damaged("another number"));
        assert_eq!(saved(&composition), before);
    }

    #[test]
    fn state_of_another_shape_is_refused() {
        let one = Composition::strictest(vec![alternating()]);
        let mut two = Composition::strictest(vec![alternating(), alternating()]);
        assert!(two.restore(&saved(&one), 1).is_err());
        assert!(two.restore(&saved(&two), 2).is_err());
        let mut longer = saved(&two);
        longer.push(0);
        assert!(two.restore(&longer, 1).is_err());
        let huge = [2_u64.to_le_bytes(), [0xFF; 8], [0xFF; 8]].concat();
        assert!(two.restore(&huge, 1).is_err());
    }
}
