//! What would take too long to compile is refused before.

use plugins::loaded::Mistake;
use wasmparser::{BinaryReaderError, FunctionBody, Operator, Parser, Payload};

use crate::limits::{DEPTH, FUNCTION_BYTES};

/// Checks size and depth of every function of a binary module.
///
/// # Errors
/// What is too large, or that the module cannot be read at all.
pub(crate) fn check(binary: &[u8]) -> Result<(), Mistake> {
    let invalid =
        |error: BinaryReaderError| Mistake::new(format!("the module is not valid: {error}"));
    let mut number = 0_usize;
    for payload in Parser::new(0).parse_all(binary) {
        let Payload::CodeSectionEntry(body) = payload.map_err(invalid)? else {
            continue;
        };
        let bytes = body.range().len();
        if bytes > FUNCTION_BYTES {
            let message = format!("function {number} has {bytes} bytes");
            return Err(Mistake::new(message).help(format!("{FUNCTION_BYTES} are allowed")));
        }
        if depth(&body).map_err(invalid)? > DEPTH {
            let message = format!("function {number} has more than {DEPTH} blocks in one another");
            return Err(Mistake::new(message));
        }
        number += 1;
    }
    Ok(())
}

/// How deep blocks stand in one another.
fn depth(body: &FunctionBody<'_>) -> Result<usize, BinaryReaderError> {
    let (mut now, mut deepest) = (0_usize, 0);
    let mut operators = body.get_operators_reader()?;
    while !operators.eof() {
        match operators.read()? {
            Operator::Block { .. }
            | Operator::Loop { .. }
            | Operator::If { .. }
            | Operator::TryTable { .. } => now += 1,
            Operator::End => now = now.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(now);
    }
    Ok(deepest)
}
