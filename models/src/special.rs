//! What the writer of strings escapes and their reader stops at.

/// Which bytes may mean something else in a string than themselves: both quotes, the backslash, and
/// control characters.
pub(crate) static SPECIAL: [bool; 256] = {
    let mut special = [false; 256];
    let mut control = 0;
    while control < b' ' {
        special[control as usize] = true;
        control += 1;
    }
    special[b'"' as usize] = true;
    special[b'\'' as usize] = true;
    special[b'\\' as usize] = true;
    special
};
