//! External programs as tasks: the requests to them and their answers.

mod answer;
mod setting;

pub use answer::{ProgramRequest, ProgramResponse, RequestData, ResponseError};
pub use setting::{CommandTask, ProgramClaim, Timeout};
