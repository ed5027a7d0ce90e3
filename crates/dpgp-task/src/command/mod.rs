//! Programs of anybody's as tasks: what they are told, and what they answer.

mod answer;
mod setting;

pub use answer::{AnswerError, ProgramAnswer, ProgramQuestion, QuestionData};
pub use setting::{CommandTask, ProgramClaim, Timeout};
