//! fork(2), and the code that runs in the child before execve(2).

use super::check;
use crate::spawn::ChildSetup;
use std::ffi::{CStr, CString, c_char, c_int};
use std::os::fd::BorrowedFd;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::{fs, io, ptr};

/// Makes the child of `command` run `setup` between fork and exec.
pub(crate) fn run_before_exec(command: &mut Command, setup: ChildSetup) {
    // SAFETY: after fork, the child must not allocate, and must not take a lock that another thread may have held.
    // `ChildSetup::apply` does neither: it makes system calls on plain integers, and its errors are error numbers.
    unsafe { command.pre_exec(move || setup.apply()) };
}

/// fork(2). Returns the process id of the child in the parent, and `None` in the child.
pub(crate) fn fork() -> io::Result<Option<u32>> {
    let threads = fs::read_dir("/proc/self/task")?.count();
    assert_eq!(threads, 1, "a process with several threads must not fork");
    // SAFETY: in the child of a process with several threads, locks and data that another thread was using would
    // remain as they were. There is no other thread.
    let number = check(unsafe { libc::fork() })?;
    Ok(u32::try_from(number).ok().filter(|&number| number != 0))
}

/// The descriptors that a new process reads and writes.
pub(crate) struct LaunchStreams<'f> {
    /// The standard input of the program. `None` leaves it unchanged.
    pub(crate) input: Option<BorrowedFd<'f>>,
    /// The standard output of the program. `None` leaves it unchanged.
    pub(crate) stdout: Option<BorrowedFd<'f>>,
    /// The standard error of the program.
    pub(crate) stderr: BorrowedFd<'f>,
    /// Receives the error number if the program cannot be executed.
    pub(crate) report: BorrowedFd<'f>,
}

impl LaunchStreams<'_> {
    /// Sets the standard streams of this process. Makes only system calls.
    fn apply(&self) -> io::Result<()> {
        if let Some(input) = self.input {
            rustix::stdio::dup2_stdin(input)?;
        }
        if let Some(stdout) = self.stdout {
            rustix::stdio::dup2_stdout(stdout)?;
        }
        Ok(rustix::stdio::dup2_stderr(self.stderr)?)
    }
}

/// Executes a program in this process (execve(2)), which keeps its signal mask and all descriptors that are not
/// close-on-exec. Returns only if that fails.
pub(crate) fn execute(path: &CStr, words: &[CString], environment: &[CString]) -> io::Error {
    let (words, environment) = (pointers(words), pointers(environment));
    // SAFETY: all strings are NUL-terminated, and both lists end with a null pointer. All of them exist until the
    // call returns, and it only reads them.
    unsafe { libc::execve(path.as_ptr(), words.as_ptr(), environment.as_ptr()) };
    io::Error::last_os_error()
}

/// Gives this thread its own table of descriptors, runs `work` in it, and ends. The other threads keep the old table.
pub(crate) fn with_own_descriptors(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    // SAFETY: descriptors of other threads that are opened or closed from now on do not exist, or still exist, in this
    // thread. That can confuse only code that exchanges descriptors between both, so `work` must not. It gets nothing
    // that contains a descriptor from its only caller, `DescriptorKeeper::start`.
    unsafe { rustix::thread::unshare_unsafe(rustix::thread::UnshareFlags::FILES) }?;
    work();
    Ok(())
}

/// Pointers to strings, and a null pointer at the end.
fn pointers(texts: &[CString]) -> Vec<*const c_char> {
    texts.iter().map(|text| text.as_ptr()).chain([ptr::null()]).collect()
}

/// Starts a program in a new process: fork(2), `setup` in the child, execve(2). Returns the process id of the child.
pub(crate) fn launch(
    words: &[CString],
    environment: &[CString],
    setup: &ChildSetup,
    streams: &LaunchStreams<'_>,
) -> io::Result<u32> {
    let path = words.first().map_or(c"", |word| word);
    let (words, environment) = (pointers(words), pointers(environment));
    // SAFETY: the child must not allocate, and must not take a lock that another thread may have held. Everything that
    // it needs was allocated above. Until execve(2) or _exit(2) it only makes system calls, like `ChildSetup::apply` and
    // `LaunchStreams::apply`.
    // It runs no code of a caller.
    let number = check(unsafe { libc::fork() })?;
    if number != 0 {
        return Ok(number.cast_unsigned());
    }
    let error = match streams.apply().and_then(|()| setup.apply()) {
        Ok(()) => {
            // SAFETY: all strings are NUL-terminated, and both lists end with a null pointer. All of them exist until the
            // call returns, and it only reads them.
            unsafe { libc::execve(path.as_ptr(), words.as_ptr(), environment.as_ptr()) };
            io::Error::last_os_error()
        }
        Err(error) => error,
    };
    // If the parent has closed the pipe, it does not need the report.
    let _ =
        rustix::io::write(streams.report, &error.raw_os_error().unwrap_or_default().to_ne_bytes());
    // SAFETY: the call takes an integer and does not return.
    unsafe { libc::_exit(NOT_EXECUTED) }
}

/// The exit status of a process that could not execute its program, as in shells.
const NOT_EXECUTED: c_int = 127;
