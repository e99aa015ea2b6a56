//! Plain data as bytes, at the end of a buffer.

use postcard::ser_flavors::Flavor;
use serde::Serialize;

/// Appends `value` to `out`, the bytes that [`postcard::to_stdvec`] gives. That begins with an empty
/// vector and grows it byte by byte; here the caller knows how much is to come.
pub(crate) fn append<T: Serialize + ?Sized>(value: &T, out: &mut Vec<u8>) {
    postcard::serialize_with_flavor(value, Appending(out))
        .expect("columns and traces are plain data, which always serialises");
}

struct Appending<'a>(&'a mut Vec<u8>);

impl Flavor for Appending<'_> {
    type Output = ();

    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        // Most numbers take one byte, for which a copy of a slice is a long way round.
        match bytes {
            [byte] => self.0.push(*byte),
            _ => self.0.extend_from_slice(bytes),
        }
        Ok(())
    }

    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.0.push(byte);
        Ok(())
    }

    fn finalize(self) -> postcard::Result<()> {
        Ok(())
    }
}
