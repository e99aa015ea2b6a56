//! What happens in each phase of a tick, one file each, in the order of [`crate::agenda::Phase`].
//! What several of them reach for: time and trace in `stage`, the entities in `entities`. How they
//! ask the policy: `hooks`. What a call does: `effect`, `memory` and `backup`.

pub(crate) mod authorize;
pub(crate) mod backup;
pub(crate) mod commit;
pub(crate) mod decide;
pub(crate) mod deliver;
pub(crate) mod effect;
pub(crate) mod entities;
pub(crate) mod hooks;
pub(crate) mod memory;
pub(crate) mod observe;
pub(crate) mod parse;
pub(crate) mod record;
pub(crate) mod recover;
pub(crate) mod referent;
pub(crate) mod remember;
pub(crate) mod settle;
pub(crate) mod stage;
