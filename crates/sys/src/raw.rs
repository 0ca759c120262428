//! Every `unsafe` block there is. Each function is a thin, safe wrapper around one call for which
//! rustix has none; what the calls are for stands in the modules that use them.

use crate::inherited::InheritError;
use crate::spawn::ChildSetup;
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::Signal;
use std::ffi::{CStr, CString, c_char, c_int, c_uint};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::{fs, io, ptr};

/// How much of a socket option's value fitted into the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OptionValue {
    /// All of it: its length in bytes.
    Whole(usize),
    /// Nothing: the length in bytes that it needs.
    Needs(usize),
}

/// getsockopt(2) at level `SOL_SOCKET`.
pub(crate) fn socket_option(
    socket: BorrowedFd<'_>,
    option: c_int,
    value: &mut [u8],
) -> io::Result<OptionValue> {
    let room = libc::socklen_t::try_from(value.len()).unwrap_or(libc::socklen_t::MAX);
    let mut length = room;
    // SAFETY: `value` may be written for `room` bytes, and the kernel writes no more than `length`
    // says at entry; `length` itself is a live local variable.
    let status = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            option,
            value.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    match check(status) {
        Ok(_) => Ok(OptionValue::Whole(length as usize)),
        Err(error) if error.raw_os_error() == Some(libc::ERANGE) && length > room => {
            Ok(OptionValue::Needs(length as usize))
        }
        Err(error) => Err(error),
    }
}

/// `SO_PEERPIDFD`: a new descriptor of the process at the other end.
pub(crate) fn peer_pidfd(socket: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let mut number = [0; size_of::<RawFd>()];
    match socket_option(socket, libc::SO_PEERPIDFD, &mut number)? {
        OptionValue::Whole(length) if length == number.len() => {}
        OptionValue::Whole(_) | OptionValue::Needs(_) => {
            return Err(io::ErrorKind::Unsupported.into());
        }
    }
    // SAFETY: on success this option has put a descriptor into our table that was made for this
    // call, and written its number to all bytes of `number`; so nobody else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(RawFd::from_ne_bytes(number)) })
}

/// Takes the ownership of a descriptor that was open when the program was executed, and sets it
/// close-on-exec.
pub(crate) fn adopt_inherited(number: RawFd) -> Result<OwnedFd, InheritError> {
    if (0..=libc::STDERR_FILENO).contains(&number) {
        return Err(InheritError::Standard(number));
    }
    // SAFETY: `F_GETFD` takes and touches no memory; for a number that is not open it fails.
    let flags = check(unsafe { libc::fcntl(number, libc::F_GETFD) })
        .map_err(|_| InheritError::NotOpen(number))?;
    if flags & libc::FD_CLOEXEC != 0 {
        return Err(InheritError::Owned(number));
    }
    // SAFETY: the descriptor is open. It is not close-on-exec, while whatever Rust code opens is,
    // so it was passed by whoever executed us and has no owner here; it gets the flag below, so a
    // second call for it ends above.
    let descriptor = unsafe { OwnedFd::from_raw_fd(number) };
    match fcntl_setfd(&descriptor, FdFlags::CLOEXEC) {
        Ok(()) => Ok(descriptor),
        Err(_) => Err(InheritError::NotOpen(number)),
    }
}

/// Sets all descriptors from `first` on close-on-exec (close_range(2), Linux 5.11).
pub(crate) fn set_close_on_exec_from(first: c_uint) -> io::Result<()> {
    let flags = libc::CLOSE_RANGE_CLOEXEC;
    // SAFETY: the call takes integers only; with this flag it closes nothing, so no owner loses
    // its descriptor.
    let status = unsafe { libc::syscall(libc::SYS_close_range, first, c_uint::MAX, flags) };
    if status == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Which way [`change_signal_mask`] goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MaskChange {
    Block,
    Unblock,
}

/// Blocks or unblocks signals in this thread. Allowed between fork and exec.
pub(crate) fn change_signal_mask(
    change: MaskChange,
    signals: impl IntoIterator<Item = Signal>,
) -> io::Result<()> {
    let how = match change {
        MaskChange::Block => libc::SIG_BLOCK,
        MaskChange::Unblock => libc::SIG_UNBLOCK,
    };
    let set = signal_set(signals);
    // SAFETY: `set` is an initialised set; that no old set is wanted is said by the null pointer.
    match unsafe { libc::pthread_sigmask(how, &raw const set, ptr::null_mut()) } {
        0 => Ok(()),
        code => Err(io::Error::from_raw_os_error(code)),
    }
}

/// A non-blocking descriptor from which blocked `signals` are read (signalfd(2)).
pub(crate) fn signal_descriptor(signals: impl IntoIterator<Item = Signal>) -> io::Result<OwnedFd> {
    let set = signal_set(signals);
    let flags = libc::SFD_CLOEXEC | libc::SFD_NONBLOCK;
    // SAFETY: `set` is an initialised set that the call only reads.
    let number = check(unsafe { libc::signalfd(-1, &raw const set, flags) })?;
    // SAFETY: with -1 as the first argument, a success is a new descriptor that nobody owns yet.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

fn signal_set(signals: impl IntoIterator<Item = Signal>) -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: `sigemptyset` initialises the whole set, to which its argument points.
    let mut set: libc::sigset_t = unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        set.assume_init()
    };
    for signal in signals {
        // SAFETY: `set` is an initialised set; a number that is no signal would be refused.
        unsafe { libc::sigaddset(&raw mut set, signal.as_raw()) };
    }
    set
}

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

/// Replaces all user and group numbers of the process, in every thread, for good.
pub(crate) fn set_identity(uid: u32, gid: u32, groups: &[u32]) -> io::Result<()> {
    // SAFETY: `groups` may be read for its length.
    check(unsafe { libc::setgroups(groups.len(), groups.as_ptr()) })?;
    // SAFETY: the call takes integers only.
    check(unsafe { libc::setresgid(gid, gid, gid) })?;
    // SAFETY: the call takes integers only.
    check(unsafe { libc::setresuid(uid, uid, uid) })?;
    Ok(())
}

/// What to look up in the user or group database.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Key<'a> {
    Name(&'a CStr),
    Id(u32),
}

/// What this crate wants of a `struct passwd`.
#[derive(Debug)]
pub(crate) struct Account {
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    pub(crate) name: CString,
    pub(crate) home: CString,
}

/// Finds a user (getpwnam_r(3), getpwuid_r(3)).
pub(crate) fn account(key: Key<'_>) -> io::Result<Option<Account>> {
    look_up(
        |entry, scratch, found| {
            let (start, length) = (scratch.as_mut_ptr(), scratch.len());
            match key {
                // SAFETY: all pointers are to live values, and `start` to `length` bytes.
                Key::Name(name) => unsafe {
                    libc::getpwnam_r(name.as_ptr(), entry, start, length, found)
                },
                // SAFETY: as above.
                Key::Id(id) => unsafe { libc::getpwuid_r(id, entry, start, length, found) },
            }
        },
        |entry: &libc::passwd| Account {
            uid: entry.pw_uid,
            gid: entry.pw_gid,
            // SAFETY: the strings of an entry that was found are null or NUL-terminated, and live
            // as long as the scratch space, which is longer than this closure runs.
            name: unsafe { copy_string(entry.pw_name) },
            // SAFETY: as above.
            home: unsafe { copy_string(entry.pw_dir) },
        },
    )
}

/// Finds the number of a group (getgrnam_r(3)).
pub(crate) fn group_id(name: &CStr) -> io::Result<Option<u32>> {
    look_up(
        |entry, scratch, found| {
            let (start, length) = (scratch.as_mut_ptr(), scratch.len());
            // SAFETY: all pointers are to live values, and `start` to `length` bytes.
            unsafe { libc::getgrnam_r(name.as_ptr(), entry, start, length, found) }
        },
        |entry: &libc::group| entry.gr_gid,
    )
}

/// All groups of a user, `primary` among them (getgrouplist(3)).
pub(crate) fn group_list(user: &CStr, primary: u32) -> io::Result<Vec<u32>> {
    let mut groups = vec![0; GROUPS_FIRST];
    while groups.len() <= GROUPS_MAX {
        let mut count = c_int::try_from(groups.len()).expect("limited to GROUPS_MAX");
        // SAFETY: `groups` may be written for `count` entries, and the library writes no more than
        // `count` says at entry; the name is NUL-terminated.
        let status = unsafe {
            libc::getgrouplist(user.as_ptr(), primary, groups.as_mut_ptr(), &raw mut count)
        };
        let count = usize::try_from(count).unwrap_or(0);
        if status >= 0 {
            groups.truncate(count);
            return Ok(groups);
        }
        groups.resize(count.max(groups.len() * 2), 0);
    }
    Err(io::Error::from_raw_os_error(libc::ERANGE))
}

/// The common form of the `get*_r` calls: repeats `call` with more scratch space until the entry
/// fits, then lets `copy` take from it what is wanted.
fn look_up<Entry, Wanted>(
    call: impl Fn(*mut Entry, &mut [c_char], *mut *mut Entry) -> c_int,
    copy: impl Fn(&Entry) -> Wanted,
) -> io::Result<Option<Wanted>> {
    let mut scratch = vec![0; SCRATCH_FIRST];
    let mut entry = MaybeUninit::uninit();
    loop {
        let mut found = ptr::null_mut();
        match call(entry.as_mut_ptr(), &mut scratch, &raw mut found) {
            0 if found.is_null() => return Ok(None),
            // SAFETY: success with `found` set means that it points to `entry`, that `entry` is
            // filled in, and that its strings lie in `scratch`; both live until after `copy`.
            0 => return Ok(Some(copy(unsafe { &*found }))),
            libc::EINTR => {}
            libc::ERANGE if scratch.len() < SCRATCH_MAX => scratch.resize(scratch.len() * 2, 0),
            // The manual lists these among the ways of saying "no such entry".
            libc::ENOENT | libc::ESRCH | libc::EBADF | libc::EPERM => return Ok(None),
            code => return Err(io::Error::from_raw_os_error(code)),
        }
    }
}

/// # Safety
///
/// `string` is null, or points to a NUL-terminated string.
unsafe fn copy_string(string: *const c_char) -> CString {
    if string.is_null() {
        return CString::default();
    }
    // SAFETY: not null, so the caller promises a NUL-terminated string.
    unsafe { CStr::from_ptr(string) }.to_owned()
}

/// Turns the C convention into ours.
fn check(status: c_int) -> io::Result<c_int> {
    if status == -1 { Err(io::Error::last_os_error()) } else { Ok(status) }
}

/// Bytes that hold nearly every entry of the user database, and bytes at which to give up: a group
/// entry names all its members.
const SCRATCH_FIRST: usize = 1024;
const SCRATCH_MAX: usize = 1 << 24;

/// Groups that nearly every user has fewer of, and the kernel's limit (`NGROUPS_MAX`).
const GROUPS_FIRST: usize = 64;
const GROUPS_MAX: usize = 65536;

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks up the number 7 in a database whose every answer is `answer`, `found` or not.
    fn check(answer: impl Fn(usize) -> c_int, found: bool, expected: Result<Option<u32>, c_int>) {
        let result = look_up(
            |entry: *mut u32, scratch, result| {
                let status = answer(scratch.len());
                if found && status == 0 {
                    // SAFETY: `look_up` gives pointers to its own variables.
                    unsafe {
                        entry.write(7);
                        result.write(entry);
                    }
                }
                status
            },
            |entry| *entry,
        );
        assert_eq!(result.map_err(|error| error.raw_os_error().unwrap()), expected);
    }

    #[test]
    fn every_answer_of_a_database_is_understood() {
        check(|_| 0, true, Ok(Some(7)));
        check(|_| 0, false, Ok(None));
        check(|_| libc::ENOENT, false, Ok(None));
        check(|_| libc::EIO, false, Err(libc::EIO));
        check(|room| if room < 100_000 { libc::ERANGE } else { 0 }, true, Ok(Some(7)));
        check(|_| libc::ERANGE, true, Err(libc::ERANGE));
    }
}
