//! What would take too long to compile is refused before. Compiling is not metered, so what makes it
//! slow is bounded: the size of a function, how many there are, and how many blocks stand in one.

use plugins::loaded::Mistake;
use wasmparser::{BinaryReaderError, FunctionBody, Operator, Parser, Payload};

use crate::limits::{CARRIED, FUNCTION_BYTES, FUNCTIONS, SQUARES, TARGETS};

/// What makes compiling slow, added up over a module.
#[derive(Default)]
struct Shape {
    functions: usize,
    /// The blocks of each function, squared.
    squares: usize,
    /// The local variables of each function, times the depths of its blocks.
    carried: usize,
    /// The targets of every branch table.
    targets: usize,
}

/// Checks the functions of a binary module.
///
/// # Errors
/// What is too large, or that the module cannot be read at all.
pub(crate) fn check(binary: &[u8]) -> Result<(), Mistake> {
    let invalid =
        |error: BinaryReaderError| Mistake::new(format!("the module is not valid: {error}"));
    let mut shape = Shape::default();
    for payload in Parser::new(0).parse_all(binary) {
        let Payload::CodeSectionEntry(body) = payload.map_err(invalid)? else {
            continue;
        };
        let number = shape.functions;
        let bytes = body.range().len();
        shape.add(&body).map_err(invalid)?;
        for (found, most, what) in [
            (bytes, FUNCTION_BYTES, "bytes in one function"),
            (shape.functions, FUNCTIONS, "functions"),
            (
                shape.squares,
                SQUARES,
                "as the squares of its numbers of blocks",
            ),
            (
                shape.carried,
                CARRIED,
                "as local variables times depths of blocks",
            ),
            (shape.targets, TARGETS, "targets of branch tables"),
        ] {
            if found > most {
                let message = format!("at function {number} the module has {found} {what}");
                return Err(Mistake::new(message).help(format!("{most} are allowed")));
            }
        }
    }
    Ok(())
}

impl Shape {
    /// Adds a function.
    fn add(&mut self, body: &FunctionBody<'_>) -> Result<(), BinaryReaderError> {
        self.functions += 1;
        let (mut blocks, mut depth, mut depths) = (0_usize, 0_usize, 0_usize);
        let mut locals = 1_usize;
        for local in body.get_locals_reader()? {
            locals = locals.saturating_add(local?.0 as usize);
        }
        let mut operators = body.get_operators_reader()?;
        while !operators.eof() {
            match operators.read()? {
                Operator::Block { .. }
                | Operator::Loop { .. }
                | Operator::If { .. }
                | Operator::TryTable { .. } => {
                    blocks += 1;
                    depth += 1;
                    depths += depth;
                }
                Operator::End => depth = depth.saturating_sub(1),
                Operator::BrTable { targets } => self.targets += targets.len() as usize,
                _ => {}
            }
        }
        let carried = locals.saturating_mul(depths);
        self.carried = self.carried.saturating_add(carried);
        self.squares = self.squares.saturating_add(blocks.saturating_mul(blocks));
        Ok(())
    }
}
