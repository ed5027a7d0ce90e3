//! Drafts of specs for a file of the user's own: which columns, which numbers are still to be filled in, and what follows from answers.
//!
//! A draft contains column names and, where it is public, the number of rows; no other value is read off the file. Each number that only the
//! user knows stays `nan` until [`SpecDraft`] has its answer.
//!
//! ```
//! use dpgp_release::draft::SpecDraft;
//!
//! let mut draft = SpecDraft::new("[model]\nnoise_variance = nan   # fill in: square of the typical difference\n");
//! let [place] = draft.asking_order()[..] else { panic!("one question") };
//! let typed = draft.parse_answer(place, "1.5").map_err(std::io::Error::other)?; // asked for as a standard deviation
//! draft.set_answer(place, typed);
//! assert_eq!(draft.text(), "[model]\nnoise_variance = 2.25   # square of the typical difference\n");
//! # Ok::<(), std::io::Error>(())
//! ```

mod answers;
mod bounds;
mod columns;
mod error;
mod questions;
mod rules;
mod spec_text;

pub use answers::{SpecDraft, range_text};
pub use bounds::{note_bounds_origin, read_released_bounds, set_remaining_budget, total_budget};
pub use columns::{ChosenColumns, ColumnError, ColumnRoles, ensure_column_exists, first_names_text};
pub use error::{DraftError, indent_first_lines};
pub use questions::SpecQuestion;
pub use spec_text::{
    CountChoices, CountNeighbourRelation, DescribedFile, GeneratedSpec, PersonColumnAndLimit, ProtectedPart,
    UserDataFile, describe_file, generate_spec,
};
