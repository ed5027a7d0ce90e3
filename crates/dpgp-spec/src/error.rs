//! Errors of specs, each with file, line, column and key path.

use std::fmt;
use std::path::PathBuf;

use super::Problem;

/// Numbers to be filled in that an error names one by one.
const MOST_UNFILLED: usize = 8;

/// An error in a spec, where it stands and what would be right.
#[derive(Debug, Clone, PartialEq)]
pub struct SpecError {
    /// The spec's file.
    pub file: PathBuf,
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
    /// Dotted key path; empty for the file as a whole.
    pub path: String,
    /// Where a number is to be filled in: the lines and key paths of the others that are.
    pub unfilled: Vec<(usize, String)>,
    /// The line's text.
    pub snippet: String,
    /// What is wrong.
    pub problem: Box<Problem>,
}

impl std::error::Error for SpecError {}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: ", self.file.display(), self.line, self.column)?;
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        let margin = self.line.to_string();
        writeln!(f, "{}", self.problem)?;
        writeln!(f, "  {margin} | {}", self.snippet)?;
        write!(f, "  {:width$} | {:>column$}", "", "^", width = margin.len(), column = self.column)?;
        if self.unfilled.is_empty() {
            return Ok(());
        }
        if let [(first, _), .., (last, _)] = &self.unfilled[..]
            && self.unfilled.len() > MOST_UNFILLED
        {
            let count = self.unfilled.len();
            return write!(
                f,
                "\n  also to be filled in: {count} other numbers, from line {first} to line {last}"
            );
        }
        let others = self.unfilled.iter().map(|(line, path)| format!("{path} (line {line})"));
        write!(f, "\n  also to be filled in: {}", others.collect::<Vec<_>>().join(", "))
    }
}
