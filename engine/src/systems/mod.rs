//! What happens in each phase of a tick, one file each, in the order of [`crate::agenda::Phase`].
//! `params` holds what several of them reach for, `hooks` how they ask the policy.

pub(crate) mod authorize;
pub(crate) mod commit;
pub(crate) mod decide;
pub(crate) mod deliver;
pub(crate) mod hooks;
pub(crate) mod memory;
pub(crate) mod observe;
pub(crate) mod params;
pub(crate) mod parse;
pub(crate) mod record;
pub(crate) mod recover;
pub(crate) mod remember;
pub(crate) mod settle;
