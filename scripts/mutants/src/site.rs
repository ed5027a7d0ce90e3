//! Places of a source that can be changed.

use std::ops::Range;

/// A change at a place: what the text becomes, and how a person is told.
#[derive(Clone, Debug)]
pub struct Change {
    /// Which of the program's changes; set when all are known.
    pub id: u32,
    pub line: usize,
    pub column: usize,
    /// The function that holds it.
    pub function: String,
    pub told: String,
    pub text: String,
}

/// What kind of text is at a place.
#[derive(Debug)]
pub enum Kind {
    /// After the brace that opens a function: changes return at once.
    Body,
    /// An operator between two operands.
    Binary { left: Range<usize>, right: Range<usize> },
    /// A minus or a not before its operand.
    Unary { operand: Range<usize> },
    /// The condition of an arm of a match.
    Guard,
    /// After the pattern of an arm: whether the arm is there, with no condition of its own.
    Arm,
}

/// A place, as bytes of the source, with its changes.
#[derive(Debug)]
pub struct Site {
    pub range: Range<usize>,
    pub kind: Kind,
    pub changes: Vec<Change>,
}
