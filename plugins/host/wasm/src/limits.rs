//! What a module may use.

/// How much of everything a module may use. Part of the identity of the policy: other limits can
/// mean other rulings.
///
/// Fuel counts executed WebAssembly instructions, one each, and one for each byte that is moved at
/// once; it is the same on every run. A module that needs more is stopped, and that is a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Limits {
    /// Fuel for one question, with everything that belongs to it. The briefing, a start function,
    /// saving and restoring may use as much each.
    pub fuel: u64,
    /// Fuel for reading one event. An episode that is gone back on is read again event by event.
    pub event_fuel: u64,
    /// Linear memory of one instance, in bytes. Growing beyond it fails as in any WebAssembly.
    pub memory_bytes: u32,
    /// Size of a module, in bytes, as text or binary.
    pub module_bytes: u32,
    /// Own state that a module may save, in bytes.
    pub state_bytes: u32,
    /// What comes with one verdict (a rewrite, an edit), in bytes, all lists and texts added up.
    pub payload_bytes: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            fuel: 50_000_000,
            event_fuel: 5_000_000,
            memory_bytes: 16 << 20,
            module_bytes: 1 << 20,
            state_bytes: 1 << 20,
            payload_bytes: 1 << 20,
        }
    }
}

impl Limits {
    /// The limits as bytes, for the hash of the policy.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let Self {
            fuel,
            event_fuel,
            memory_bytes,
            module_bytes,
            state_bytes,
            payload_bytes,
        } = self;
        let mut bytes = Vec::new();
        bytes.extend(fuel.to_le_bytes());
        bytes.extend(event_fuel.to_le_bytes());
        for limit in [memory_bytes, module_bytes, state_bytes, payload_bytes] {
            bytes.extend(limit.to_le_bytes());
        }
        bytes
    }
}

/// The most rules that a module may have.
pub(crate) const MOST_RULES: u32 = 256;

/// The most native stack that a module may use, in bytes. A rollout runs on a thread with far more.
pub(crate) const STACK_BYTES: usize = 256 << 10;

/// The most entries of all tables of an instance.
pub(crate) const TABLE_ELEMENTS: usize = 10_000;

/// The most tables of an instance.
pub(crate) const TABLES: usize = 4;

/// The longest summary that is kept, in bytes.
pub(crate) const SUMMARY_BYTES: u32 = 1_000;

/// The largest function, in bytes. Compiling takes more than in proportion to the size of one.
pub(crate) const FUNCTION_BYTES: usize = 64 << 10;

/// The most functions of a module.
pub(crate) const FUNCTIONS: usize = 10_000;

/// The blocks of each function, squared, and added up over a module: compiling takes time in
/// proportion.
pub(crate) const SQUARES: usize = 20_000_000;

/// The local variables of each function, times the depths of all its blocks, and added up over a
/// module: a variable that lives through many loops costs at each of them.
pub(crate) const CARRIED: usize = 10_000_000;

/// The targets of all branch tables of a module, added up.
pub(crate) const TARGETS: usize = 20_000;
