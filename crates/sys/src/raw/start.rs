//! What happens between fork(2) and execve(2).

use super::check;
use crate::spawn::ChildSetup;
use std::ffi::{CString, c_char, c_int};
use std::os::fd::BorrowedFd;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::{fs, io, ptr};

/// Makes the child of `command` run `setup` between fork and exec.
pub(crate) fn run_before_exec(command: &mut Command, setup: ChildSetup) {
    // SAFETY: what runs in the child after fork must not allocate or take a lock that another
    // thread may have held. `ChildSetup::apply` makes system calls on plain integers, and its
    // errors are error numbers; it does neither.
    unsafe { command.pre_exec(move || setup.apply()) };
}

/// fork(2): the child's process number in the parent, nothing in the child.
pub(crate) fn fork() -> io::Result<Option<u32>> {
    let threads = fs::read_dir("/proc/self/task")?.count();
    assert_eq!(threads, 1, "a process with several threads must not fork");
    // SAFETY: the danger in the child of a process with several threads is to meet locks and data
    // that another thread had in its hands; there is no other thread.
    let number = check(unsafe { libc::fork() })?;
    Ok(u32::try_from(number).ok().filter(|&number| number != 0))
}

/// The descriptors that a new process writes to.
pub(crate) struct Outputs<'f> {
    /// Becomes its standard error.
    pub(crate) stderr: BorrowedFd<'f>,
    /// Gets the error number of what fails before the program is executed.
    pub(crate) report: BorrowedFd<'f>,
}

/// A new process that goes on as another program: fork(2), `setup` in the child, execve(2). Returns the
/// child's process number.
pub(crate) fn launch(
    words: &[CString],
    environment: &[CString],
    setup: &ChildSetup,
    outputs: &Outputs<'_>,
) -> io::Result<u32> {
    let pointers = |texts: &[CString]| {
        let texts = texts.iter().map(|text| text.as_ptr());
        texts.chain([ptr::null()]).collect::<Vec<*const c_char>>()
    };
    let path = words.first().map_or(c"", |word| word);
    let (words, environment) = (pointers(words), pointers(environment));
    // SAFETY: the child must neither allocate nor take a lock that another thread may have held.
    // Everything it needs stands ready. It makes system calls on plain integers, as
    // `ChildSetup::apply` does, and ends by the last of them.
    let number = check(unsafe { libc::fork() })?;
    if number != 0 {
        return Ok(number.cast_unsigned());
    }
    let prepared = rustix::stdio::dup2_stderr(outputs.stderr).map_err(io::Error::from);
    let error = match prepared.and_then(|()| setup.apply()) {
        Ok(()) => {
            // SAFETY: all strings end with a zero and both lists with a null pointer, and all of
            // them live until the call returns; it only reads them.
            unsafe { libc::execve(path.as_ptr(), words.as_ptr(), environment.as_ptr()) };
            io::Error::last_os_error()
        }
        Err(error) => error,
    };
    // If nobody reads it any more, nobody wants to know.
    let _ =
        rustix::io::write(outputs.report, &error.raw_os_error().unwrap_or_default().to_ne_bytes());
    // SAFETY: the call takes an integer and does not return; nothing of ours runs after it.
    unsafe { libc::_exit(NOT_EXECUTED) }
}

/// The exit status of a process that could not become the program, as shells have it. It matters
/// only to who sees it without the report.
const NOT_EXECUTED: c_int = 127;
