//! A line of CSV, written cell by cell into a buffer.
//!
//! A study writes more than a hundred cells for each rollout, so none of them becomes a string of its
//! own first.

use std::io::Write as _;

use super::cell::{CellWriter, Hash};

/// A line of CSV that is being written to the end of a buffer.
pub struct CsvLine<'a> {
    out: &'a mut Vec<u8>,
    is_begun: bool,
}

impl<'a> CsvLine<'a> {
    /// Begins a line at the end of `out`.
    pub const fn new(out: &'a mut Vec<u8>) -> Self {
        Self {
            out,
            is_begun: false,
        }
    }

    /// Ends the line.
    pub fn finish(self) {
        self.out.push(b'\n');
    }

    fn next(&mut self) {
        if self.is_begun {
            self.out.push(b',');
        }
        self.is_begun = true;
    }
}

impl CellWriter for CsvLine<'_> {
    fn null(&mut self) {
        self.next();
    }

    fn integer(&mut self, number: u64) {
        self.next();
        // Most counts have one digit.
        if let Ok(digit @ 0..10) = u8::try_from(number) {
            self.out.push(b'0' + digit);
            return;
        }
        let mut digits = itoa::Buffer::new();
        self.out.extend_from_slice(digits.format(number).as_bytes());
    }

    /// The shortest text that reads back the same. Most quotients are 0 or 1.
    fn decimal(&mut self, number: f64) {
        self.next();
        match number.to_bits() {
            ZERO => self.out.push(b'0'),
            ONE => self.out.push(b'1'),
            _ => write!(self.out, "{number}").expect("memory takes any bytes"),
        }
    }

    fn text(&mut self, text: &str) {
        self.next();
        let bytes = text.as_bytes();
        if bytes.iter().any(|byte| b",\"\r\n".contains(byte)) {
            quoted(bytes, self.out);
        } else {
            self.out.extend_from_slice(bytes);
        }
    }

    fn hash(&mut self, hash: Hash) {
        self.next();
        self.out.extend_from_slice(&hash.digits());
    }
}

const ZERO: u64 = 0_f64.to_bits();
const ONE: u64 = 1_f64.to_bits();

/// A text between quotation marks, its own doubled.
fn quoted(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    for &byte in text {
        if byte == b'"' {
            out.push(byte);
        }
        out.push(byte);
    }
    out.push(b'"');
}
