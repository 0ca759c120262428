//! All unsafe code of the crate. Each function is a thin, safe wrapper around one system call or C library call that
//! rustix does not have. The modules that use them document their purpose.

pub(crate) mod crash;
pub(crate) mod cycles;
mod start;
pub(crate) mod unfinished;

use crate::inherited::InheritError;
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, munmap};
use rustix::param::page_size;
use rustix::process::Pid;
use rustix::time::Timespec;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_ulong};
use std::mem::MaybeUninit;
use std::ops::Range;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use std::{io, ptr, slice};

pub(crate) use start::{
    LaunchStreams, execute, fork, launch, run_before_exec, with_own_descriptors,
};

/// Takes the ownership of a descriptor that was open when the program was executed, and sets it
/// close-on-exec.
pub(crate) fn adopt_inherited(number: RawFd) -> Result<OwnedFd, InheritError> {
    if (0..=libc::STDERR_FILENO).contains(&number) {
        return Err(InheritError::Standard(number));
    }
    let _one_at_a_time = ADOPTING.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: `F_GETFD` takes and touches no memory; for a number that is not open it fails.
    let flags = check(unsafe { libc::fcntl(number, libc::F_GETFD) })
        .map_err(|_| InheritError::NotOpen(number))?;
    if flags & libc::FD_CLOEXEC != 0 {
        return Err(InheritError::Owned(number));
    }
    // SAFETY: the descriptor is open. It is not close-on-exec, but every descriptor that Rust code opens is, so it was
    // inherited and has no owner in this process. It becomes close-on-exec below, before the lock is released, so a
    // second call for the same number returns above, in another thread too.
    let descriptor = unsafe { OwnedFd::from_raw_fd(number) };
    match fcntl_setfd(&descriptor, FdFlags::CLOEXEC) {
        Ok(()) => Ok(descriptor),
        Err(_) => Err(InheritError::NotOpen(number)),
    }
}

/// Locked from the check of a descriptor until it is close-on-exec.
static ADOPTING: Mutex<()> = Mutex::new(());

/// Makes all descriptors from `first` on close-on-exec (close_range(2), Linux 5.11).
pub(crate) fn set_close_on_exec_from(first: c_uint) -> io::Result<()> {
    let flags = libc::CLOSE_RANGE_CLOEXEC;
    // SAFETY: the call takes integers only; with this flag it closes nothing, so no owner loses
    // its descriptor.
    let status = unsafe { libc::syscall(libc::SYS_close_range, first, c_uint::MAX, flags) };
    check(status).map(drop)
}

/// What [`change_signal_mask`] does with the signals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MaskChange {
    Block,
    Unblock,
}

/// Blocks or unblocks signals in this thread. Allowed between fork and exec.
pub(crate) fn change_signal_mask(
    change: MaskChange,
    signals: impl IntoIterator<Item = c_int>,
) -> io::Result<()> {
    let how = match change {
        MaskChange::Block => libc::SIG_BLOCK,
        MaskChange::Unblock => libc::SIG_UNBLOCK,
    };
    let set = signal_set(signals);
    // SAFETY: `set` is initialized. The null pointer means that the old set is not returned.
    match unsafe { libc::pthread_sigmask(how, &raw const set, ptr::null_mut()) } {
        0 => Ok(()),
        code => Err(io::Error::from_raw_os_error(code)),
    }
}

/// Unblocks every signal and restores its default action (signal(7)).
pub(crate) fn reset_signals() -> io::Result<()> {
    let none = signal_set([]);
    // SAFETY: `none` is initialized. The null pointer means that the old set is not returned.
    let status =
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const none, ptr::null_mut()) };
    if status != 0 {
        return Err(io::Error::from_raw_os_error(status));
    }
    // The C library refuses to change two signals that it uses itself. A caller may have ignored those too, so this
    // calls the kernel. The kernel's structure begins with the handler. If it is all zero, it means the default action.
    let default = [0_usize; 8];
    let mut found = [0_usize; 8];
    for number in 1..=SIGNALS {
        let change = |new: *const usize, old: *mut usize| {
            // SAFETY: each pointer is null, or points to more bytes than the kernel reads or writes. The default
            // action runs no code of this process.
            let status =
                unsafe { libc::syscall(libc::SYS_rt_sigaction, number, new, old, SIGNALS / 8) };
            check(status)
        };
        change(ptr::null(), found.as_mut_ptr())?;
        // Handlers do not survive execve(2), and until then the C library needs its own.
        if found[0] == libc::SIG_IGN {
            change(default.as_ptr(), ptr::null_mut())?;
        }
    }
    Ok(())
}

/// The number of signals of the kernel.
const SIGNALS: c_int = 64;

/// Stops the timers that execve(2) keeps (setitimer(2)).
pub(crate) fn stop_timers() -> io::Result<()> {
    let zero = libc::timeval { tv_sec: 0, tv_usec: 0 };
    let off = libc::itimerval { it_interval: zero, it_value: zero };
    for timer in [libc::ITIMER_REAL, libc::ITIMER_VIRTUAL, libc::ITIMER_PROF] {
        // SAFETY: `off` is only read. The null pointer means that the old value is not returned.
        check(unsafe { libc::setitimer(timer, &raw const off, ptr::null_mut()) })?;
    }
    Ok(())
}

/// Resets the I/O priority of this process to the one that follows from its nice value (ioprio_set(2)).
pub(crate) fn reset_io_priority() -> io::Result<()> {
    const WHO_PROCESS: c_int = 1;
    const OWN: c_int = 0;
    const NONE: c_int = 0;
    // SAFETY: the call takes integers only.
    check(unsafe { libc::syscall(libc::SYS_ioprio_set, WHO_PROCESS, OWN, NONE) }).map(drop)
}

/// Sets the timer slack of this thread to the initial value of process 1 (prctl(2), `PR_SET_TIMERSLACK`).
pub(crate) fn reset_timer_slack() -> io::Result<()> {
    const NANOSECONDS: c_ulong = 50_000;
    // SAFETY: the call takes integers only.
    check(unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, NANOSECONDS) }).map(drop)
}

/// A non-blocking descriptor from which blocked `signals` are read (signalfd(2)).
pub(crate) fn signal_descriptor(signals: impl IntoIterator<Item = c_int>) -> io::Result<OwnedFd> {
    let set = signal_set(signals);
    let flags = libc::SFD_CLOEXEC | libc::SFD_NONBLOCK;
    // SAFETY: `set` is initialized, and the call only reads it.
    let number = check(unsafe { libc::signalfd(-1, &raw const set, flags) })?;
    // SAFETY: with -1 as the first argument, a success is a new descriptor that nobody owns yet.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

fn signal_set(signals: impl IntoIterator<Item = c_int>) -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: `sigemptyset` initializes the whole set that its argument points to.
    let mut set: libc::sigset_t = unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        set.assume_init()
    };
    for signal in signals {
        // SAFETY: `set` is initialized. A number that is not a signal is refused.
        unsafe { libc::sigaddset(&raw mut set, signal) };
    }
    set
}

/// Replaces all user and group ids of the process, in every thread. This cannot be undone.
pub(crate) fn set_identity(uid: u32, gid: u32, groups: &[u32]) -> io::Result<()> {
    // SAFETY: `groups` may be read for its length.
    check(unsafe { libc::setgroups(groups.len(), groups.as_ptr()) })?;
    // SAFETY: the call takes integers only.
    check(unsafe { libc::setresgid(gid, gid, gid) })?;
    // SAFETY: the call takes integers only.
    check(unsafe { libc::setresuid(uid, uid, uid) })?;
    Ok(())
}

/// sched_getattr(2): how the scheduler treats one thread.
pub(crate) fn scheduling_attributes(thread: Pid) -> io::Result<libc::sched_attr> {
    let mut attributes = MaybeUninit::<libc::sched_attr>::zeroed();
    let room = size_of::<libc::sched_attr>();
    let thread = thread.as_raw_nonzero().get();
    let flags: c_uint = 0;
    // SAFETY: `attributes` may be written for `room` bytes, and the kernel writes no more.
    check(unsafe {
        libc::syscall(libc::SYS_sched_getattr, thread, attributes.as_mut_ptr(), room, flags)
    })?;
    // SAFETY: the structure consists of integers only, and was zeroed.
    Ok(unsafe { attributes.assume_init() })
}

/// Sets the scheduling attributes of one thread (sched_setattr(2)).
pub(crate) fn set_scheduling_attributes(
    thread: Pid,
    attributes: &libc::sched_attr,
) -> io::Result<()> {
    let size = size_of::<libc::sched_attr>().try_into().expect("it has 48 bytes");
    let attributes = libc::sched_attr { size, ..*attributes };
    let flags: c_uint = 0;
    let thread = thread.as_raw_nonzero().get();
    // SAFETY: the kernel only reads `attributes`, as many bytes as its own `size` says.
    let status =
        unsafe { libc::syscall(libc::SYS_sched_setattr, thread, &raw const attributes, flags) };
    check(status).map(drop)
}

/// The processor time of all threads that the process has or had (clock_getcpuclockid(3)).
pub(crate) fn process_clock(process: Pid) -> io::Result<Duration> {
    let mut clock = 0;
    // SAFETY: `clock` is a live local variable.
    match unsafe { libc::clock_getcpuclockid(process.as_raw_nonzero().get(), &raw mut clock) } {
        0 => {}
        code => return Err(io::Error::from_raw_os_error(code)),
    }
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a live local variable; a clock that does not exist any more is refused.
    check(unsafe { libc::clock_gettime(clock, &raw mut time) })?;
    let time = Timespec { tv_sec: time.tv_sec, tv_nsec: time.tv_nsec };
    Ok(time.try_into().expect("no process has run for a negative time"))
}

/// The processor time of the children that have ended and were waited for (getrusage(2)).
pub(crate) fn ended_children_clock() -> Duration {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: `usage` may be written as a whole.
    let status = unsafe { libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr()) };
    check(status).expect("neither the constant nor the address is wrong");
    // SAFETY: the structure consists of integers only, and was zeroed.
    let usage = unsafe { usage.assume_init() };
    let times = [usage.ru_utime, usage.ru_stime];
    let times = times.map(|time| Timespec { tv_sec: time.tv_sec, tv_nsec: time.tv_usec * 1000 });
    times.map(|time| Duration::try_from(time).expect("no time is negative")).iter().sum()
}

/// Whether the kernel may use huge pages for memory (madvise(2)).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum HugePages {
    Wanted,
    Unwanted,
}

/// Tells the kernel about huge pages in the whole pages of a range of addresses. The advice changes no content, and
/// an error has no effect, also if the range is not mapped any more.
pub(crate) fn advise_huge_pages(range: Range<usize>, pages: HugePages) {
    let advice = match pages {
        HugePages::Wanted => Advice::LinuxHugepage,
        HugePages::Unwanted => Advice::LinuxNoHugepage,
    };
    let page = page_size();
    let start = range.start.next_multiple_of(page);
    let len = range.end.saturating_sub(start) / page * page;
    if len > 0 {
        // SAFETY: both kinds of advice change neither contents nor rights of the pages, no matter whose they are.
        let _ = unsafe { madvise(ptr::without_provenance_mut(start), len, advice) };
    }
}

/// Returns free memory to the kernel (malloc_trim(3) of glibc).
#[cfg(target_env = "gnu")]
pub(crate) fn give_back_memory() {
    // SAFETY: the call takes a number, and does not change allocated memory.
    unsafe { libc::malloc_trim(0) };
}

/// Other C libraries do not have this function.
#[cfg(not(target_env = "gnu"))]
pub(crate) fn give_back_memory() {}

/// `struct perf_event_attr` as Linux 3.19 had it (`PERF_ATTR_SIZE_VER3`). The kernel takes all later fields as zero.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EventAttributes {
    pub(crate) kind: u32,
    /// Filled in by [`EventRing::open`].
    pub(crate) size: u32,
    pub(crate) config: u64,
    pub(crate) sample_period: u64,
    pub(crate) sample_type: u64,
    pub(crate) read_format: u64,
    /// One-bit fields in C. The first of them is bit 0 here.
    pub(crate) flags: u64,
    /// Wake-ups, breakpoints, branches and registers, which this crate does not use.
    pub(crate) unused: [u64; 5],
    pub(crate) sample_stack_user: u32,
    pub(crate) clock: i32,
}

/// An event, and the ring buffer into which the kernel writes its records (perf_event_open(2), "MMAP layout"): a page
/// with the positions, then the ring. Each event has one ring, and nothing else in this process has its memory.
#[derive(Debug)]
pub(crate) struct EventRing {
    event: OwnedFd,
    /// The page with the positions.
    start: NonNull<u8>,
    page: usize,
    /// Bytes in the ring, a power of two.
    room: usize,
}

// SAFETY: the mapping belongs to this value alone, and to the whole process, not to a thread.
unsafe impl Send for EventRing {}

impl EventRing {
    /// Opens an event for one thread, on every processor, and makes its ring, with room for at least `room` bytes.
    pub(crate) fn open(attributes: EventAttributes, thread: Pid, room: usize) -> io::Result<Self> {
        let event = open_event(attributes, thread)?;
        let page = page_size();
        let room = room.clamp(page, RING_MAX).next_power_of_two();
        // Only with a writable mapping, the kernel does not overwrite unread records.
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the kernel chooses the place, so nothing that is mapped is replaced.
        let start =
            unsafe { mmap(ptr::null_mut(), page + room, access, MapFlags::SHARED, &event, 0) }?;
        let start = NonNull::new(start.cast()).expect("the kernel maps nothing at zero");
        Ok(Self { event, start, page, room })
    }

    /// The event, from which its counters are read.
    pub(crate) const fn event(&self) -> &OwnedFd {
        &self.event
    }

    /// Appends all unread records to `records`, and frees their room.
    pub(crate) fn drain(&mut self, records: &mut Vec<u8>) {
        // Acquire: all bytes that the kernel wrote before it moved the head are seen.
        let head = self.position(DATA_HEAD).load(Ordering::Acquire);
        // Only this process writes the tail.
        let tail = self.position(DATA_TAIL).load(Ordering::Relaxed);
        for part in unread_parts(head, tail, self.room) {
            // SAFETY: the part is between the tail, which moves only below, and the head that was loaded above.
            records.extend_from_slice(unsafe { self.bytes(part) });
        }
        // Release: the kernel may overwrite the bytes once the tail moves, so after they were read.
        self.position(DATA_TAIL).store(head, Ordering::Release);
    }

    fn position(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: both offsets are multiples of eight within the first page, which is mapped as long as `self`
        // exists. The kernel and this process access these words only atomically.
        unsafe { AtomicU64::from_ptr(self.start.as_ptr().add(offset).cast()) }
    }

    /// The bytes of a part of the ring.
    ///
    /// # Safety
    ///
    /// The part is between the tail and a head that was loaded with acquire ordering, and the tail does not move as
    /// long as the bytes are borrowed.
    unsafe fn bytes(&self, part: Range<usize>) -> &[u8] {
        assert!(part.end <= self.room, "within the ring");
        // SAFETY: the bytes are mapped as long as `self` exists, and the assertion keeps the part within them. The kernel
        // wrote them before it moved the head, and does not write between tail and head.
        unsafe {
            slice::from_raw_parts(self.start.as_ptr().add(self.page + part.start), part.len())
        }
    }
}

impl Drop for EventRing {
    fn drop(&mut self) {
        // SAFETY: the mapping was made with this address and length, and no reference into it is left. The call fails
        // only for an address that is not a page boundary.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.page + self.room) };
    }
}

/// perf_event_open(2) for one thread, on every processor.
fn open_event(attributes: EventAttributes, thread: Pid) -> io::Result<OwnedFd> {
    let size = size_of::<EventAttributes>().try_into().expect("it has 96 bytes");
    // C compilers for big-endian machines allocate bit fields from the highest bit on.
    let is_reversed = cfg!(target_endian = "big");
    let flags = if is_reversed { attributes.flags.reverse_bits() } else { attributes.flags };
    let attributes = EventAttributes { size, flags, ..attributes };
    let (any_processor, no_group): (c_int, c_int) = (-1, -1);
    let options: c_ulong = PERF_FLAG_FD_CLOEXEC;
    // SAFETY: the kernel only reads `attributes`, as many bytes as its own `size` says.
    let number = check(unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            &raw const attributes,
            thread.as_raw_nonzero().get(),
            any_processor,
            no_group,
            options,
        )
    })?;
    let number = RawFd::try_from(number).expect("a descriptor is a C integer");
    // SAFETY: on success, the number refers to a new descriptor, which has no owner yet.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// The unread bytes of a ring: the part up to its end, and the part from its start on. Positions only grow.
fn unread_parts(head: u64, tail: u64, room: usize) -> [Range<usize>; 2] {
    let index = |position: u64| usize::try_from(position % room as u64).expect("less than room");
    let unread = usize::try_from(head.wrapping_sub(tail)).map_or(room, |unread| unread.min(room));
    let start = index(tail);
    let first = unread.min(room - start);
    [start..start + first, 0..unread - first]
}

/// The key of an entry in the user or group database.
#[derive(Clone, Copy, Debug)]
pub(crate) enum DatabaseKey<'a> {
    Name(&'a CStr),
    Id(u32),
}

/// The fields of a `struct passwd` that this crate uses.
#[derive(Debug)]
pub(crate) struct PasswdEntry {
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    pub(crate) name: CString,
    pub(crate) home: CString,
}

/// Finds a user (getpwnam_r(3), getpwuid_r(3)).
pub(crate) fn account(key: DatabaseKey<'_>) -> io::Result<Option<PasswdEntry>> {
    let call = |entry: *mut _, scratch: &mut [c_char], found: *mut *mut _| {
        let (start, length) = (scratch.as_mut_ptr(), scratch.len());
        match key {
            // SAFETY: `entry` and `found` are from `look_up`, which passes pointers to its own variables. `start` may be
            // written for `length` characters, and `name` is NUL-terminated.
            DatabaseKey::Name(name) => unsafe {
                libc::getpwnam_r(name.as_ptr(), entry, start, length, found)
            },
            // SAFETY: `entry` and `found` are from `look_up`, which passes pointers to its own variables. `start` may be
            // written for `length` characters.
            DatabaseKey::Id(id) => unsafe { libc::getpwuid_r(id, entry, start, length, found) },
        }
    };
    let copy = |entry: &libc::passwd| PasswdEntry {
        uid: entry.pw_uid,
        gid: entry.pw_gid,
        // SAFETY: the library has filled in the entry. Its strings are null or NUL-terminated, and are in the scratch
        // space, which exists until after this closure.
        name: unsafe { copy_string(entry.pw_name) },
        // SAFETY: the same holds for this string of the entry.
        home: unsafe { copy_string(entry.pw_dir) },
    };
    // SAFETY: these functions return 0 with a null pointer, or with one to the entry, which they have filled in.
    unsafe { look_up(call, copy) }
}

/// Finds the id of a group (getgrnam_r(3)).
pub(crate) fn group_id(name: &CStr) -> io::Result<Option<u32>> {
    let call = |entry: *mut _, scratch: &mut [c_char], found: *mut *mut _| {
        let (start, length) = (scratch.as_mut_ptr(), scratch.len());
        // SAFETY: `entry` and `found` are from `look_up`, which passes pointers to its own variables. `start` may be
        // written for `length` characters, and `name` is NUL-terminated.
        unsafe { libc::getgrnam_r(name.as_ptr(), entry, start, length, found) }
    };
    // SAFETY: the function returns 0 with a null pointer, or with one to the entry, which it has filled in.
    unsafe { look_up(call, |entry: &libc::group| entry.gr_gid) }
}

/// Finds the name of a group (getgrgid_r(3)).
pub(crate) fn group_name(gid: u32) -> io::Result<Option<CString>> {
    let call = |entry: *mut _, scratch: &mut [c_char], found: *mut *mut _| {
        let (start, length) = (scratch.as_mut_ptr(), scratch.len());
        // SAFETY: `entry` and `found` are from `look_up`, which passes pointers to its own variables. `start` may be
        // written for `length` characters.
        unsafe { libc::getgrgid_r(gid, entry, start, length, found) }
    };
    // SAFETY: the library has filled in the entry, and its name is in the scratch space, which exists until after this
    // closure.
    let copy = |entry: &libc::group| unsafe { copy_string(entry.gr_name) };
    // SAFETY: the function returns 0 with a null pointer, or with one to the entry, which it has filled in.
    unsafe { look_up(call, copy) }
}

/// All groups of a user, `primary` among them (getgrouplist(3)).
pub(crate) fn group_list(user: &CStr, primary: u32) -> io::Result<Vec<u32>> {
    let mut groups = vec![0; GROUPS_FIRST];
    while groups.len() <= GROUPS_MAX {
        let mut count = c_int::try_from(groups.len()).expect("limited to GROUPS_MAX");
        // SAFETY: `groups` may be written for `count` entries, and the library writes at most as many as
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

/// Makes a `get*_r` call: repeats `call` with more scratch space until the entry fits, then has `copy` copy the entry.
///
/// # Safety
///
/// `call` gets pointers to an entry and to a pointer, both live but not initialized or null, and scratch space. If it
/// returns 0, it has left the second pointer null, or has made it point to an initialized entry that exists as long as
/// the first one.
unsafe fn look_up<Entry, Wanted>(
    call: impl Fn(*mut Entry, &mut [c_char], *mut *mut Entry) -> c_int,
    copy: impl Fn(&Entry) -> Wanted,
) -> io::Result<Option<Wanted>> {
    let mut scratch = vec![0; SCRATCH_FIRST];
    let mut entry = MaybeUninit::uninit();
    loop {
        let mut found = ptr::null_mut();
        match call(entry.as_mut_ptr(), &mut scratch, &raw mut found) {
            0 if found.is_null() => return Ok(None),
            // SAFETY: the caller promises that `call` has made `found` point to an initialized entry, which exists until
            // after `copy`, as `entry` and `scratch` do.
            0 => return Ok(Some(copy(unsafe { &*found }))),
            libc::EINTR => {}
            libc::ERANGE if scratch.len() < SCRATCH_MAX => scratch.resize(scratch.len() * 2, 0),
            // According to the manual, these mean that there is no such entry.
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

/// Converts a C status, which is -1 for an error in `errno`, into a result.
fn check<Status: Into<i64> + Copy>(status: Status) -> io::Result<Status> {
    if status.into() == -1 { Err(io::Error::last_os_error()) } else { Ok(status) }
}

/// Scratch space in bytes that suffices for nearly every entry of the user database, and the size
/// at which the look-up fails: a group entry names all its members.
const SCRATCH_FIRST: usize = 1024;
const SCRATCH_MAX: usize = 1 << 24;

/// A number of groups that suffices for nearly every user, and the kernel's limit (`NGROUPS_MAX`).
const GROUPS_FIRST: usize = 64;
const GROUPS_MAX: usize = 65536;

/// The new descriptor is close-on-exec.
const PERF_FLAG_FD_CLOEXEC: c_ulong = 8;

/// Offsets in the first page of an event's mapping (`struct perf_event_mmap_page`): the position up to which the kernel
/// has written, and the position up to which this process has read.
const DATA_HEAD: usize = 1024;
const DATA_TAIL: usize = 1032;

/// The length in bytes of the largest ring, more than the kernel lets a user lock for an event.
const RING_MAX: usize = 1 << 30;

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks up the number 7 in a database whose every answer is `answer`, `found` or not.
    fn check(answer: impl Fn(usize) -> c_int, found: bool, expected: Result<Option<u32>, c_int>) {
        let call = |entry: *mut u32, scratch: &mut [c_char], result: *mut *mut u32| {
            let status = answer(scratch.len());
            if found && status == 0 {
                // SAFETY: `look_up` gives pointers to its own variables.
                unsafe {
                    entry.write(7);
                    result.write(entry);
                }
            }
            status
        };
        // SAFETY: the closure above leaves the pointer null, or makes it point to the entry that it has written.
        let result = unsafe { look_up(call, |entry| *entry) };
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

    #[test]
    fn the_unread_part_of_a_ring_may_go_over_its_end() {
        let check = |head, tail, expected: [Range<usize>; 2]| {
            assert_eq!(unread_parts(head, tail, 16), expected, "{tail}..{head}");
        };
        check(0, 0, [0..0, 0..0]);
        check(16, 0, [0..16, 0..0]);
        check(24, 8, [8..16, 0..8]);
        check(32, 24, [8..16, 0..0]);
        check(40, 40, [8..8, 0..0]);
        check(4, u64::MAX - 3, [12..16, 0..4]);
        // More than fits would be a bug of the kernel; this code must stay correct.
        check(1000, 0, [0..16, 0..0]);
    }

    #[test]
    fn the_attributes_of_an_event_have_the_size_that_the_kernel_expects() {
        assert_eq!(size_of::<EventAttributes>(), 96);
    }
}
