//! Plain data as bytes, at the end of a buffer.
//!
//! The bytes are those of postcard, which reads them back. To write a number it fills an array and
//! copies from it; a trace is thousands of numbers of one byte each, which here are pushed. What
//! writes them is inlined into the types, so that there is no call for each.

use std::fmt;

use serde::Serialize;
use serde::ser::{
    Error, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

/// Appends `value` to `out`, the bytes that [`postcard::to_stdvec`] gives.
///
/// # Panics
/// When `value` is no plain data: its type refuses to be written.
pub(crate) fn append<T: Serialize + ?Sized>(value: &T, out: &mut Vec<u8>) {
    match value.serialize(Encoder(out)) {
        Ok(()) => {}
        Err(never) => match never {},
    }
}

/// Plain data can always be written.
#[derive(Debug)]
enum Never {}

impl fmt::Display for Never {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {}
    }
}

impl std::error::Error for Never {}

impl Error for Never {
    fn custom<T: fmt::Display>(message: T) -> Self {
        panic!("columns and traces are plain data, which always serialises: {message}")
    }
}

type Result<T = ()> = std::result::Result<T, Never>;

/// Writes values one after the other, without names. A number, also that of a variant or of the
/// elements that follow, takes seven bits of each byte, the lowest first.
struct Encoder<'a>(&'a mut Vec<u8>);

impl Encoder<'_> {
    /// Most numbers take one byte.
    #[inline]
    fn number(&mut self, number: u64) {
        match u8::try_from(number) {
            Ok(byte @ 0..0x80) => self.0.push(byte),
            _ => self.long_number(number),
        }
    }

    #[inline(never)]
    fn long_number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number.to_le_bytes()[0] | 0x80);
            number >>= 7;
        }
        self.0.push(number.to_le_bytes()[0]);
    }

    /// The sign is the lowest bit, so that negative numbers near zero are short as well.
    fn signed(&mut self, number: i64) {
        self.number((number << 1 ^ number >> 63).cast_unsigned());
    }

    #[inline]
    fn length(&mut self, length: Option<usize>) {
        self.number(length.expect("columns and traces know how long they are") as u64);
    }
}

impl Serializer for Encoder<'_> {
    type Ok = ();
    type Error = Never;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    fn is_human_readable(&self) -> bool {
        false
    }

    #[inline]
    fn serialize_bool(self, value: bool) -> Result {
        self.serialize_u8(value.into())
    }

    fn serialize_i8(self, value: i8) -> Result {
        self.serialize_u8(value.cast_unsigned())
    }

    fn serialize_i16(mut self, value: i16) -> Result {
        self.signed(value.into());
        Ok(())
    }

    fn serialize_i32(mut self, value: i32) -> Result {
        self.signed(value.into());
        Ok(())
    }

    fn serialize_i64(mut self, value: i64) -> Result {
        self.signed(value);
        Ok(())
    }

    #[inline]
    fn serialize_u8(self, value: u8) -> Result {
        self.0.push(value);
        Ok(())
    }

    #[inline]
    fn serialize_u16(mut self, value: u16) -> Result {
        self.number(value.into());
        Ok(())
    }

    #[inline]
    fn serialize_u32(mut self, value: u32) -> Result {
        self.number(value.into());
        Ok(())
    }

    #[inline]
    fn serialize_u64(mut self, value: u64) -> Result {
        self.number(value);
        Ok(())
    }

    fn serialize_u128(self, mut value: u128) -> Result {
        while value >= 0x80 {
            self.0.push(value.to_le_bytes()[0] | 0x80);
            value >>= 7;
        }
        self.serialize_u8(value.to_le_bytes()[0])
    }

    fn serialize_f32(self, value: f32) -> Result {
        self.0.extend_from_slice(&value.to_le_bytes());
        Ok(())
    }

    fn serialize_f64(self, value: f64) -> Result {
        self.0.extend_from_slice(&value.to_le_bytes());
        Ok(())
    }

    fn serialize_char(self, value: char) -> Result {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    #[inline]
    fn serialize_str(self, value: &str) -> Result {
        self.serialize_bytes(value.as_bytes())
    }

    #[inline]
    fn serialize_bytes(mut self, value: &[u8]) -> Result {
        self.number(value.len() as u64);
        self.0.extend_from_slice(value);
        Ok(())
    }

    #[inline]
    fn serialize_none(self) -> Result {
        self.serialize_u8(0)
    }

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result {
        self.0.push(1);
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result {
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result {
        Ok(())
    }

    #[inline]
    fn serialize_unit_variant(self, _: &'static str, index: u32, _: &'static str) -> Result {
        self.serialize_u32(index)
    }

    #[inline]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result {
        value.serialize(self)
    }

    #[inline]
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        mut self,
        _: &'static str,
        index: u32,
        _: &'static str,
        value: &T,
    ) -> Result {
        self.number(index.into());
        value.serialize(self)
    }

    #[inline]
    fn serialize_seq(mut self, length: Option<usize>) -> Result<Self> {
        self.length(length);
        Ok(self)
    }

    #[inline]
    fn serialize_tuple(self, _: usize) -> Result<Self> {
        Ok(self)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self> {
        Ok(self)
    }

    fn serialize_tuple_variant(
        mut self,
        _: &'static str,
        index: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self> {
        self.number(index.into());
        Ok(self)
    }

    fn serialize_map(mut self, length: Option<usize>) -> Result<Self> {
        self.length(length);
        Ok(self)
    }

    #[inline]
    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self> {
        Ok(self)
    }

    #[inline]
    fn serialize_struct_variant(
        mut self,
        _: &'static str,
        index: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self> {
        self.number(index.into());
        Ok(self)
    }
}

/// Says of kinds of compound values that their parts follow each other.
macro_rules! parts_follow_each_other {
    ($($kind:ident: $method:ident($($name:ident: $type:ty)?),)+) => {$(
        impl $kind for Encoder<'_> {
            type Ok = ();
            type Error = Never;

            #[inline]
            fn $method<T: Serialize + ?Sized>(&mut self, $($name: $type,)? part: &T) -> Result {
                part.serialize(Encoder(self.0))
            }

            #[inline]
            fn end(self) -> Result {
                Ok(())
            }
        }
    )+};
}

parts_follow_each_other! {
    SerializeSeq: serialize_element(),
    SerializeTuple: serialize_element(),
    SerializeTupleStruct: serialize_field(),
    SerializeTupleVariant: serialize_field(),
    SerializeStruct: serialize_field(_name: &'static str),
    SerializeStructVariant: serialize_field(_name: &'static str),
}

impl SerializeMap for Encoder<'_> {
    type Ok = ();
    type Error = Never;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result {
        key.serialize(Encoder(self.0))
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result {
        value.serialize(Encoder(self.0))
    }

    fn end(self) -> Result {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
