//! External programs as tasks: the requests to them and their answers.

mod answer;
mod setting;

pub use answer::{AnswerError, ProgramAnswer, ProgramQuestion, QuestionData};
pub use setting::{CommandTask, ProgramClaim, Timeout};
