//! Which fault is switched on.

use std::cell::Cell;

thread_local! {
    /// Its number, on this thread; 0 is none.
    static ON: Cell<u32> = const { Cell::new(0) };
}

/// Whether the fault with this number is switched on.
pub(crate) fn is(number: u32) -> bool {
    ON.get() == number
}

/// Switches one fault on, and every other off; 0 is no fault's number.
pub fn switch_on(number: u32) {
    ON.set(number);
}
