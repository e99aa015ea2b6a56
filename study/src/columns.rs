//! Columns of a row. Each is declared once, with its meaning, denominator, stages, null rule and
//! origin; the struct field and its documentation, the CSV header, the JSON keys and `COLUMNS.md`
//! are all made from that declaration, so none of them can drift.

mod cell;
mod line;

use std::borrow::Cow;

pub use cell::{BadCell, Cell, CellWriter, Hash, Quantity, Reader, STAGES, Scalar, Word};
pub use line::CsvLine;
use worlds::spec::Stage;

/// Where a definition comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Stated in the paper.
    P,
    /// Not stated, but forced or strongly suggested by the published numbers.
    N,
    /// Ours, because the paper is silent.
    O,
}

impl Origin {
    /// The mark: `P`, `N` or `O`.
    #[must_use]
    pub const fn mark(self) -> &'static str {
        match self {
            Self::P => "P",
            Self::N => "N",
            Self::O => "O",
        }
    }
}

/// The stages to which a column applies. On any other stage it is null.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stages {
    /// Every stage.
    All,
    /// The memory and recovery stage.
    Memory,
    /// The active-tainted utility stage.
    Active,
    /// The clean utility stage.
    Clean,
    /// Both utility stages.
    Utility,
    /// No stage: rows of search studies only.
    Search,
}

impl Stages {
    /// Whether `stage` is one of them.
    #[must_use]
    pub const fn include(self, stage: Stage) -> bool {
        match self {
            Self::All => true,
            Self::Memory => matches!(stage, Stage::MemoryRecovery),
            Self::Active => matches!(stage, Stage::ActiveTainted),
            Self::Clean => matches!(stage, Stage::Clean),
            Self::Utility => matches!(stage, Stage::ActiveTainted | Stage::Clean),
            Self::Search => false,
        }
    }

    /// In words, for the documentation.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::All => "all stages",
            Self::Memory => "memory_recovery",
            Self::Active => "active_tainted",
            Self::Clean => "clean",
            Self::Utility => "active_tainted and clean",
            Self::Search => "search studies",
        }
    }
}

/// What a quantity of a row means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spec {
    /// Its name, as in the definitions.
    pub name: &'static str,
    /// What it is; for a ratio, what is counted.
    pub doc: &'static str,
    /// The denominator.
    pub over: &'static str,
    /// Where it applies.
    pub stages: Stages,
    /// When it is null. Every metric of an errored rollout is null besides.
    pub null: &'static str,
    /// Where the definition comes from.
    pub origin: Origin,
    /// Equation, table or section of the paper, or what is ours about it.
    pub reference: &'static str,
}

/// Which part of a quantity a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All of it; for a ratio the quotient.
    Value,
    /// The numerator of a ratio.
    Numerator,
    /// The denominator of a ratio, after clipping.
    Denominator,
}

/// One column of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// The quantity.
    pub spec: &'static Spec,
    /// Which part of it.
    pub part: Part,
}

impl Column {
    /// Its name in a header.
    #[must_use]
    pub fn name(&self) -> Cow<'static, str> {
        match self.part {
            Part::Value => Cow::Borrowed(self.spec.name),
            Part::Numerator => Cow::Owned(format!("{}_numerator", self.spec.name)),
            Part::Denominator => Cow::Owned(format!("{}_denominator", self.spec.name)),
        }
    }
}

/// A struct whose fields are columns.
pub trait Columns: Sized {
    /// Appends its columns, in order.
    fn columns(out: &mut Vec<Column>);
    /// Writes its cells, one for each column.
    fn write(&self, out: &mut impl CellWriter);
    /// Reads it back from cells in the same order.
    ///
    /// # Errors
    /// When a cell does not hold what its column says.
    fn read(cells: &mut Reader<'_>) -> Result<Self, BadCell>;
}

/// Declares a struct of columns. A column says what it is (for a ratio, its numerator) in its doc
/// comment, and then its denominator, stages, null rule and origin.
macro_rules! columns {
    (
        $(#[$struct_meta:meta])*
        pub struct $name:ident {
            $(
                $(#[doc = $doc:literal])+
                $field:ident: $type:ty {
                    over: $over:literal,
                    stages: $stages:ident,
                    null: $null:literal,
                    origin: $origin:ident($reference:literal),
                }
            )+
        }
    ) => {
        $(#[$struct_meta])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $name {
            $(
                $(#[doc = $doc])+
                #[doc = concat!(
                    "\n\nDenominator: ", $over,
                    ". Stages: ", stringify!($stages),
                    ". Null: ", $null,
                    ". Origin: ", stringify!($origin), " (", $reference, ")."
                )]
                pub $field: $type,
            )+
        }

        impl $crate::columns::Columns for $name {
            fn columns(out: &mut Vec<$crate::columns::Column>) {
                $({
                    static SPEC: $crate::columns::Spec = $crate::columns::Spec {
                        name: stringify!($field),
                        doc: concat!($($doc),+),
                        over: $over,
                        stages: $crate::columns::Stages::$stages,
                        null: $null,
                        origin: $crate::columns::Origin::$origin,
                        reference: $reference,
                    };
                    let parts = <$type as $crate::columns::Quantity>::PARTS.iter();
                    out.extend(parts.map(|&part| $crate::columns::Column { spec: &SPEC, part }));
                })+
            }

            fn write(&self, out: &mut impl $crate::columns::CellWriter) {
                $($crate::columns::Quantity::write(&self.$field, out);)+
            }

            fn read(
                cells: &mut $crate::columns::Reader<'_>,
            ) -> Result<Self, $crate::columns::BadCell> {
                Ok(Self {
                    $($field: cells.take()?,)+
                })
            }
        }
    };
}
pub(crate) use columns;

#[cfg(test)]
mod tests;
