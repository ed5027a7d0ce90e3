//! Runs the program of a `task.command`: one process group for each cell and replicate, which ends with its time or with the run.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use thiserror::Error;

use dpgp_task::{CellMeasurements, CommandTask, ProgramRequest, RequestData, ResponseError};

/// Why a program gave no numbers.
#[derive(Debug, Error)]
pub enum ProgramError {
    /// It cannot be started.
    #[error("{program:?} cannot be started: {cause}")]
    Start {
        /// The program.
        program: String,
        /// The system's reason.
        cause: std::io::Error,
    },
    /// It ended with an error.
    #[error("{program:?} ended with {status}{tail}")]
    Failed {
        /// The program.
        program: String,
        /// Its exit code, or the signal that ended it.
        status: String,
        /// The end of what it printed.
        tail: LogTail,
    },
    /// It took too long.
    #[error("{program:?} was stopped after {seconds} s (task.command.timeout){tail}")]
    Timeout {
        /// The program.
        program: String,
        /// The limit.
        seconds: u64,
        /// The end of what it printed.
        tail: LogTail,
    },
    /// The run was interrupted.
    #[error("{0:?} was stopped because the run was interrupted")]
    Interrupted(String),
    /// Its answer is wrong.
    #[error("{program:?} {cause}{tail}")]
    Answer {
        /// The program.
        program: String,
        /// What is wrong.
        cause: ResponseError,
        /// The end of what it printed.
        tail: LogTail,
    },
}

/// The end of what a program printed to standard error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogTail(String);

/// The most lines that a message shows, and the most letters of each.
const TAIL: (usize, usize) = (8, 300);

impl LogTail {
    fn of(log: &str) -> Self {
        let lines: Vec<&str> = log.lines().filter(|line| !line.trim().is_empty()).collect();
        let last = lines[lines.len().saturating_sub(TAIL.0)..].iter();
        Self(last.map(|line| format!("\n  {}", line.chars().take(TAIL.1).collect::<String>())).collect())
    }
}

impl std::fmt::Display for LogTail {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0.is_empty() {
            true => Ok(()),
            false => write!(f, "; the end of its standard error:{}", self.0),
        }
    }
}

/// Where a program runs, and what it is told beside its cell.
pub(super) struct ProgramRun<'a> {
    pub task: &'a CommandTask,
    /// The folder of the spec.
    pub folder: &'a Path,
    pub data: Option<&'a RequestData>,
    pub seed: u64,
    pub replicate: u32,
    /// Whether the run is to end.
    pub stop: &'a AtomicBool,
}

/// Variables that every program gets.
const PASSED_ON: [&str; 4] = ["PATH", "HOME", "LANG", "TMPDIR"];
/// A running program is looked at after an eighth of its time so far, but not less often nor more often than this.
const PAUSES: (Duration, Duration) = (Duration::from_micros(100), Duration::from_millis(20));

impl ProgramRun<'_> {
    /// Runs the program and reads its answer.
    ///
    /// # Errors
    /// [`ProgramError`].
    pub fn run_program(&self) -> Result<CellMeasurements, ProgramError> {
        let program = self.task.command_line_text();
        let start = |cause| ProgramError::Start { program: program.clone(), cause };
        let scratch = tempfile::tempdir().map_err(start)?;
        let Self { task, seed, replicate, .. } = *self;
        let question = ProgramRequest {
            cell: &task.with,
            seed,
            replicate,
            guarantee: task.guarantee.as_ref(),
            data: self.data,
            folder: scratch.path(),
        };
        let question = serde_json::to_vec(&question).map_err(|error| start(error.into()))?;
        let mut child = self.command().spawn().map_err(start)?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (ended, output, log) = thread::scope(|threads| {
            // A program may end without reading its question.
            threads.spawn(move || stdin.map(|mut stdin| stdin.write_all(&question)));
            let output = threads.spawn(move || read_to_text(stdout));
            let log = threads.spawn(move || read_to_text(stderr));
            let ended = self.wait(&mut child);
            (ended, output.join().unwrap_or_default(), log.join().unwrap_or_default())
        });
        let tail = LogTail::of(&log);
        let seconds = task.timeout.duration().as_secs();
        match ended.map_err(start)? {
            ProgramEnd::Stopped => Err(ProgramError::Interrupted(program)),
            ProgramEnd::TimedOut => Err(ProgramError::Timeout { program, seconds, tail }),
            ProgramEnd::Itself(status) if status.success() => {
                task.parse_response(&output).map_err(|cause| ProgramError::Answer { program, cause, tail })
            }
            ProgramEnd::Itself(status) => Err(ProgramError::Failed { program, status: status.to_string(), tail }),
        }
    }

    fn command(&self) -> Command {
        let (name, arguments) = self.task.run.split_first().map_or(("", &[][..]), |(name, all)| (name, all));
        let mut command = Command::new(program_path(self.folder, name));
        command.args(arguments).current_dir(self.folder).env_clear();
        let passed = PASSED_ON.into_iter().chain(self.task.env.iter().map(String::as_str));
        command.envs(passed.filter_map(|name| Some((name, std::env::var_os(name)?))));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command
    }

    /// Waits for the end of the program, of its time or of the run.
    fn wait(&self, child: &mut Child) -> std::io::Result<ProgramEnd> {
        let (start, limit) = (Instant::now(), self.task.timeout.duration());
        loop {
            if let Some(status) = child.try_wait()? {
                // What it left running would keep its output open.
                kill_process_group(child);
                return Ok(ProgramEnd::Itself(status));
            }
            let timed_out = start.elapsed() >= limit;
            if timed_out || self.stop.load(Ordering::Relaxed) {
                kill_process_group(child);
                child.wait()?;
                return Ok(if timed_out { ProgramEnd::TimedOut } else { ProgramEnd::Stopped });
            }
            thread::sleep((start.elapsed() / 8).clamp(PAUSES.0, PAUSES.1));
        }
    }
}

/// What is started: a path is relative to the folder of the spec, a bare name is looked up in PATH.
fn program_path(folder: &Path, name: &str) -> OsString {
    match Path::new(name).components().count() {
        0 | 1 if !name.starts_with('.') => name.into(),
        _ => folder.join(name).into(),
    }
}

/// The first line that `PROGRAM --version` prints.
///
/// # Errors
/// The reason in words.
pub(super) fn version_line(folder: &Path, program: &str) -> Result<String, String> {
    let mut command = Command::new(program_path(folder, program));
    let output = command.arg("--version").current_dir(folder).stdin(Stdio::null()).output();
    let output = output.map_err(|cause| format!("{program:?} cannot be started: {cause}"))?;
    // Some programs print their version to standard error.
    let printed = if output.stdout.is_empty() { &output.stderr } else { &output.stdout };
    let line = String::from_utf8_lossy(printed).lines().next().map(|line| line.trim().to_owned());
    line.filter(|line| output.status.success() && !line.is_empty())
        .ok_or_else(|| format!("`{program} --version` printed nothing or ended with {}", output.status))
}

enum ProgramEnd {
    Itself(ExitStatus),
    TimedOut,
    Stopped,
}

/// Ends the program with all that it started.
fn kill_process_group(child: &mut Child) {
    // Errors mean that nothing is left.
    #[cfg(unix)]
    let _ = rustix::process::kill_process_group(rustix::process::Pid::from_child(child), rustix::process::Signal::KILL);
    let _ = child.kill();
}

/// All that a program writes. Bytes that are no text become question marks.
fn read_to_text(stream: Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    // What was read before an error counts.
    let _ = stream.map(|mut stream| stream.read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}
