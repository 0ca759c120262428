//! Executes another program in this process (execve(2)). The program keeps the process id, the
//! parent and the children of this process, its blocked and pending signals, and the descriptors
//! that this process passes on.
//!
//! [`CommandExt::exec`](std::os::unix::process::CommandExt::exec) unblocks all signals first, so a
//! pending `SIGTERM` would end the process. This module does not.

use crate::daemonize::set_all_close_on_exec;
use crate::launch::LaunchedProgram;
use crate::raw;
use rustix::fs::{Mode, OFlags, open};
use rustix::io::{FdFlags, fcntl_setfd};
use std::ffi::CString;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

/// Executes the file at `path` in this process, with the words and the environment of `program`, and
/// passes `descriptors` on besides the standard streams. The program
/// [takes](crate::inherited::take) them by their numbers. Returns only if that fails; then all
/// descriptors are close-on-exec again.
pub fn execute(
    path: &Path,
    program: &LaunchedProgram,
    descriptors: &[BorrowedFd<'_>],
) -> io::Error {
    let path = match CString::new(path.as_os_str().as_bytes()) {
        Ok(path) => path,
        Err(error) => return error.into(),
    };
    let passed = descriptors.iter().try_for_each(|fd| fcntl_setfd(fd, FdFlags::empty()));
    let error = match passed {
        Ok(()) => program.execute(&path),
        Err(error) => error.into(),
    };
    // If this fails too, the next child inherits the descriptors.
    let _ = set_all_close_on_exec();
    error
}

/// Opens the file of the program that this process executes. The descriptor refers to this file even
/// when another one replaces it, and is good for nothing but to be executed again by a
/// [`DescriptorKeeper`].
///
/// # Errors
///
/// Fails without `/proc`, or if descriptors run out.
pub fn own_program() -> io::Result<OwnedFd> {
    Ok(open("/proc/self/exe", OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?)
}

/// Sets the name of this process, as `ps -o comm` shows it, to the name of the file at `path`. A
/// process that a [`DescriptorKeeper`] has executed has a number as its name.
///
/// # Errors
///
/// Fails if the path has no name, or if the name contains a zero byte.
pub fn set_name(path: &Path) -> io::Result<()> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    Ok(rustix::thread::set_name(&CString::new(name.as_bytes())?)?)
}

/// Keeps all descriptors that this process has at present, and can execute another program that
/// inherits them, no matter what this program has done with its own ones.
///
/// A thread keeps a copy of the table of descriptors. What this program closes stays open until the
/// keeper is dropped.
#[derive(Debug)]
pub struct DescriptorKeeper {
    orders: Mutex<Sender<Order>>,
    errors: Mutex<Receiver<io::Error>>,
}

/// The program that the thread of a [`DescriptorKeeper`] executes.
#[derive(Debug)]
struct Order {
    path: CString,
    program: LaunchedProgram,
}

impl DescriptorKeeper {
    /// Copies the table of descriptors.
    ///
    /// # Errors
    ///
    /// Fails if threads or memory run out.
    pub fn start() -> io::Result<Self> {
        let ((orders, received), (failed, errors)) = (channel(), channel());
        let (started, start) = channel();
        let keep = move || {
            let copied = started.clone();
            let serve = move || {
                let _ = copied.send(Ok(()));
                received.into_iter().for_each(|Order { path, program }| {
                    let _ = failed.send(program.execute(&path));
                });
            };
            if let Err(error) = raw::with_own_descriptors(serve) {
                let _ = started.send(Err(error));
            }
        };
        thread::Builder::new().name("fallback".to_owned()).spawn(keep)?;
        start.recv().map_err(io::Error::other)??;
        Ok(Self { orders: Mutex::new(orders), errors: Mutex::new(errors) })
    }

    /// Ends all other threads and executes the file of the descriptor `number` in this process, with
    /// the words and the environment of `program`. It inherits the kept descriptors that are not
    /// close-on-exec. Returns only if that fails.
    pub fn execute(&self, number: RawFd, program: LaunchedProgram) -> io::Error {
        // The path is in the table of the thread, which /proc/self does not show.
        let path = format!("/proc/thread-self/fd/{number}");
        let path = CString::new(path).expect("it contains no zeros");
        let orders = self.orders.lock().map_err(|_| io::ErrorKind::Other);
        let errors = self.errors.lock().map_err(|_| io::ErrorKind::Other);
        match (orders, errors) {
            (Ok(orders), Ok(errors)) => {
                let sent = orders.send(Order { path, program }).map_err(io::Error::other);
                sent.and_then(|()| errors.recv().map_err(io::Error::other))
                    .unwrap_or_else(|error| error)
            }
            (Err(kind), _) | (_, Err(kind)) => kind.into(),
        }
    }
}
