//! Starts programs that do not inherit the special settings of this process.

use crate::raw;
use crate::rlimit::OpenFiles;
use crate::scheduling::{ProcessorSet, set_own_processors};
use crate::signals::{self, ProcessSignal};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, getpid, getppid, set_parent_process_death_signal};
use std::io;
use std::process::Command;

/// The settings that a child applies between fork and exec. It always unblocks the signals that a
/// [`SignalSource`](crate::signals::SignalSource) of its parent blocks.
///
/// # Example
///
/// ```
/// use sys::signals::{ProcessSignal, SignalSource};
/// use sys::spawn::ChildSetup;
/// use std::process::Command;
///
/// # fn main() -> std::io::Result<()> {
/// let signals = SignalSource::block(&[ProcessSignal::Terminate])?;
/// let mut command = Command::new("true");
/// ChildSetup::new().end_with_parent(ProcessSignal::Terminate).install(&mut command);
/// assert!(command.status()?.success());
/// # drop(signals);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "it does nothing until it is installed"]
pub struct ChildSetup {
    open_files: Option<OpenFiles>,
    end_with_parent: Option<ParentDeath>,
    processors: Option<ProcessorSet>,
    oom_score: OomScore,
}

/// The adjustment that the kernel considers when memory runs out.
#[derive(Clone, Copy, Debug, Default)]
enum OomScore {
    #[default]
    Inherited,
    Neutral,
}

#[derive(Clone, Copy, Debug)]
struct ParentDeath {
    parent: Pid,
    signal: ProcessSignal,
}

impl ChildSetup {
    /// Creates a setup that only unblocks signals.
    pub fn new() -> Self {
        Self::default()
    }

    /// Applies this limit of open files to the child: the limit before [`OpenFiles::raise`].
    pub fn open_files(self, limit: OpenFiles) -> Self {
        Self { open_files: Some(limit), ..self }
    }

    /// Sends the child `signal` when the thread that started it ends (prctl(2),
    /// `PR_SET_PDEATHSIG`). The child can revert this. Call it in the process that starts the
    /// child, not before a fork of that process.
    pub fn end_with_parent(self, signal: ProcessSignal) -> Self {
        Self { end_with_parent: Some(ParentDeath { parent: getpid(), signal }), ..self }
    }

    /// Confines the child to `processors`.
    pub fn processors(self, processors: ProcessorSet) -> Self {
        Self { processors: Some(processors), ..self }
    }

    /// If this process is protected from being killed when memory runs out, does not pass the
    /// protection on (proc(5), `oom_score_adj`).
    pub fn without_protection(self) -> Self {
        let own = std::fs::read_to_string("/proc/self/oom_score_adj").unwrap_or_default();
        let is_protected = own.trim().parse::<i32>().is_ok_and(|score| score < 0);
        let oom_score = if is_protected { OomScore::Neutral } else { OomScore::Inherited };
        Self { oom_score, ..self }
    }

    /// Applies the setup to every child that `command` starts from now on. If a step fails in the
    /// child, starting `command` fails.
    pub fn install(self, command: &mut Command) {
        raw::run_before_exec(command, self);
    }

    /// Runs in the child, which must not allocate or lock: it makes only system calls.
    pub(crate) fn apply(&self) -> io::Result<()> {
        if let Some(limit) = &self.open_files {
            limit.restore()?;
        }
        if let Some(death) = self.end_with_parent {
            death.apply()?;
        }
        if let Some(processors) = &self.processors {
            set_own_processors(processors)?;
        }
        if let OomScore::Neutral = self.oom_score {
            let file = rustix::fs::open(
                c"/proc/self/oom_score_adj",
                OFlags::WRONLY | OFlags::CLOEXEC,
                Mode::empty(),
            )?;
            rustix::io::write(file, b"0")?;
        }
        signals::unblock_all()
    }
}

impl ParentDeath {
    fn apply(self) -> io::Result<()> {
        let signal = Signal::from_named_raw(self.signal.number()).ok_or(Errno::INVAL)?;
        set_parent_process_death_signal(Some(signal))?;
        // If the parent ended before the call, the signal will never arrive.
        if getppid() == Some(self.parent) { Ok(()) } else { Err(Errno::SRCH.into()) }
    }
}
