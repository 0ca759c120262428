//! Behavior that is only visible from another process: children that run this program again in a
//! role, or forks of it, for which it must have one thread.

#[path = "support/runner.rs"]
mod runner;

use runner::RunnerTest;
use rustix::process::{
    Pid, Resource, Rlimit, Signal as Number, WaitOptions, WaitStatus, geteuid, getpid, getsid,
    kill_process, setrlimit, waitpid,
};
use rustix::thread::gettid;
use std::io::{ErrorKind, IoSlice, Read};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio, exit, id};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use std::{env, fs, thread};
use sys::crash;
use sys::credentials::peer_credentials;
use sys::daemonize::{self, ForkSide, StandardStream};
use sys::inherited::{self, InheritError, ListenVariables, PassedDescriptor};
use sys::launch::{ChildEnding, ChildProcess, LaunchedProgram};
use sys::memory;
use sys::poll::{Events, Interest, Poller};
use sys::privileges::{PrivilegeIdentity, switch_to};
use sys::process::usage;
use sys::rlimit::OpenFiles;
use sys::scheduling::{
    Nice, ProcessorSet, Slice, nice, own_processors, processors, set_nice, set_own_processors,
    set_processors, set_slice, slice,
};
use sys::signals::ProcessSignal;
use sys::socket::{
    Accepted, UnixAddress, accept, connect_unix, listen_unix, set_receive_timeout, socket_pair,
};
use sys::spawn::ChildSetup;
use sys::transfer::{TransferWait, receive, send};
use tempfile::TempDir;

fn main() {
    match env::var(ROLE).as_deref() {
        Ok("daemon") => be_a_daemon(),
        Ok("service") => be_a_service(),
        Ok("parent") => helper_parent_that_exits(),
        Ok("close-on-exec") => be_close_on_exec(),
        Ok("crash") => be_a_program_that_crashes(),
        Ok(role) => panic!("no such role: {role}"),
        Err(_) => {
            let is_root = geteuid().is_root();
            let needs_root = [("a_peer_of_another_user_is_recognized", "needs root")];
            runner::run(&TESTS, if is_root { &[] } else { &needs_root });
        }
    }
}

/// The tests of this program.
const TESTS: [RunnerTest; 15] = [
    ("a_peer_of_another_user_is_recognized", a_peer_of_another_user_is_recognized),
    ("the_numbers_that_mean_unchanged_are_refused", unchanged_numbers_are_refused),
    ("a_wait_that_is_interrupted_has_no_events", an_interrupted_wait_has_no_events),
    ("a_receive_that_is_interrupted_goes_on", an_interrupted_receive_goes_on),
    ("a_daemon_is_detached", a_daemon_is_detached),
    ("sockets_of_a_service_are_taken_once", sockets_of_a_service_are_taken_once),
    ("inherited_descriptors_are_not_passed_on", inherited_descriptors_are_not_passed_on),
    ("children_get_the_limit_of_before", children_get_the_limit_of_before),
    ("a_child_ends_with_its_parent", a_child_ends_with_its_parent),
    ("a_child_is_confined_to_processors", a_child_is_confined_to_processors),
    ("a_program_is_started_and_not_waited_for", a_program_is_started_and_not_waited_for),
    (
        "a_started_program_gets_its_arguments_and_environment",
        a_started_program_gets_its_arguments_and_environment,
    ),
    ("settings_reach_all_threads", settings_reach_all_threads),
    ("the_switches_of_all_threads_count", the_switches_of_all_threads_count),
    ("a_crash_saves_memories_that_were_closed", a_crash_saves_memories_that_were_closed),
];

/// The environment variable with the role of a copy of this program.
const ROLE: &str = "DILIGENCE_SYS_ROLE";

/// Returns the command that runs this program in a role.
fn role(name: &str) -> Command {
    let mut command = Command::new(env::current_exe().expect("this program has a file"));
    command.env(ROLE, name);
    command
}

/// Returns the command that runs this program in a role, from a shell that runs `prologue` before.
fn role_after(prologue: &str, name: &str) -> Command {
    let mut command = Command::new("sh");
    let program = env::current_exe().expect("this program has a file");
    command.args(["-c", &format!("{prologue} exec \"$0\"")]).arg(program).env(ROLE, name);
    command
}

/// Returns the standard output of a command that must succeed.
fn output(mut command: Command) -> String {
    let output = command.stderr(Stdio::inherit()).output().expect("it can be started");
    assert!(output.status.success(), "{command:?}: {}", output.status);
    String::from_utf8(output.stdout).expect("it prints ASCII")
}

/// Runs `work` in a forked child.
fn in_child(work: impl FnOnce()) -> Pid {
    match daemonize::fork().expect("a process can be made") {
        ForkSide::Parent { child } => Pid::from_raw(child.cast_signed()).expect("not zero"),
        ForkSide::Child => {
            // A panic would unwind into the parent's code.
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
            exit(i32::from(result.is_err()));
        }
    }
}

/// Waits until `found` returns a value.
fn eventually<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(Instant::now() < deadline, "no {what} in time");
        thread::sleep(Duration::from_millis(1));
    }
}

/// Waits for a forked child and checks that its work succeeded.
fn join(child: Pid) {
    let (_, status) = waitpid(Some(child), WaitOptions::empty()).expect("ours").expect("ended");
    assert_eq!(status.exit_status(), Some(0));
}

/// Stops and continues a process, which interrupts its blocking call. If it has ended, the returned
/// status says so.
fn interrupt(child: Pid) -> WaitStatus {
    kill_process(child, Number::STOP).expect("ours");
    let (_, status) = waitpid(Some(child), WaitOptions::UNTRACED).expect("ours").expect("changed");
    if status.stopped() {
        kill_process(child, Number::CONT).expect("ours");
    }
    // Time in which the child blocks again: that it does is not observable.
    thread::sleep(Duration::from_millis(2));
    status
}

fn a_peer_of_another_user_is_recognized() {
    let name = format!("diligence-sys-processes-{}", id());
    let address = UnixAddress::Abstract(name.as_bytes());
    let listener = listen_unix(address).expect("the name is free");
    let (here, there) = socket_pair().expect("sockets can be made");
    // More groups than the first buffer holds, and unsorted.
    let groups: Vec<u32> = (1000..1200).rev().chain([5, 5]).collect();
    let child = in_child(|| {
        let identity = PrivilegeIdentity { uid: 1234, gid: 777, groups: &groups };
        switch_to(identity).expect("root may");
        let back = switch_to(PrivilegeIdentity { uid: 0, gid: 0, groups: &[] });
        assert_eq!(back.expect_err("there is no way back").kind(), ErrorKind::PermissionDenied);
        let _connection = connect_unix(address).expect("the parent listens");
        // The connection stays open until the parent has finished its checks.
        let _ = receive(&there, &mut [0], &mut Vec::new(), TransferWait::Block);
    });
    let connection = eventually("a connection", || match accept(&listener).expect("it listens") {
        Accepted::Connection(connection) => Some(connection),
        Accepted::NoneWaiting => None,
        Accepted::OutOfRoom(error) => panic!("{error}"),
    });
    let peer = peer_credentials(&connection).expect("a Unix socket");
    assert_eq!(peer.pid, Some(child.as_raw_nonzero().get().cast_unsigned()));
    assert_eq!((peer.uid, peer.gid), (1234, 777));
    assert_eq!(peer.groups, Some([5, 777].into_iter().chain(1000..1200).collect()));
    send(&here, &[IoSlice::new(b"x")], &[], TransferWait::Block).expect("the child waits");
    join(child);
}

fn unchanged_numbers_are_refused() {
    for (uid, gid) in [(u32::MAX, 1), (1, u32::MAX)] {
        let error =
            switch_to(PrivilegeIdentity { uid, gid, groups: &[] }).expect_err("it is refused");
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
    }
}

fn an_interrupted_wait_has_no_events() {
    let child = in_child(|| {
        let poller = Poller::new().expect("a poller can be made");
        let mut events = Events::with_capacity(1);
        poller.wait(&mut events, None).expect("an interruption is not an error");
        assert!(events.is_empty());
    });
    // The child may take some time until it blocks.
    let status = loop {
        let status = interrupt(child);
        if !status.stopped() {
            break status;
        }
    };
    assert_eq!(status.exit_status(), Some(0));
}

fn an_interrupted_receive_goes_on() {
    let (here, there) = socket_pair().expect("sockets can be made");
    // The kernel reports the interruption only if there is a timeout.
    set_receive_timeout(&there, Some(Duration::from_secs(10))).expect("not zero");
    let child = in_child(|| {
        let mut buffer = [0; 8];
        let received = receive(&there, &mut buffer, &mut Vec::new(), TransferWait::Block);
        assert_eq!(received.expect("it went on").bytes, 4);
    });
    for _ in 0..20 {
        assert!(interrupt(child).stopped());
    }
    send(&here, &[IoSlice::new(b"late")], &[], TransferWait::Block).expect("there is room");
    join(child);
}

fn a_daemon_is_detached() {
    let directory = TempDir::new().expect("a new folder");
    let report = directory.path().join("report");
    let mut command = role("daemon");
    command.env("REPORT", &report);
    // The output ends only when the daemon has closed it, too.
    assert_eq!(output(command), "parent leaves\n");
    let text = eventually("the report of the daemon", || {
        fs::read_to_string(&report).ok().filter(|text| text.ends_with("done\n"))
    });
    assert_eq!(text, "own session\n/dev/null\n/dev/null\n/dev/null\ndone\n");
    let mode = fs::metadata(&report).expect("it was made").permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
}

fn be_a_daemon() {
    let report = env::var("REPORT").expect("the test sets it");
    if let ForkSide::Parent { .. } = daemonize::fork().expect("a process can be made") {
        println!("parent leaves");
        return;
    }
    daemonize::start_session().expect("a forked child leads nothing");
    daemonize::set_file_mode_mask(0o027);
    for stream in [StandardStream::Input, StandardStream::Output, StandardStream::Error] {
        daemonize::silence(stream).expect("/dev/null opens");
    }
    let is_leader = getsid(None).expect("ours") == getpid();
    let mut text = if is_leader { "own session\n" } else { "old session\n" }.to_owned();
    for stream in 0..3 {
        let target = fs::read_link(format!("/proc/self/fd/{stream}")).expect("it is open");
        text += &format!("{}\n", target.display());
    }
    fs::write(report, text + "done\n").expect("the directory is there");
}

fn sockets_of_a_service_are_taken_once() {
    let check = |prologue: &str, expected: &str| {
        let (_here, there) = socket_pair().expect("sockets can be made");
        let mut command = role_after(prologue, "service");
        command.stdin(Stdio::from(there));
        assert_eq!(output(command), expected, "{prologue:?}");
    };
    let passed = "exec 3<&0 4</dev/null; export LISTEN_PID=$$ LISTEN_FDS=";
    check(&format!("{passed}2;"), "[3, 4] again Owned(3)\n");
    check(&format!("{passed}1;"), "[3] again Owned(3)\n");
    check(&format!("{passed}0;"), "[] again []\n");
    let named = |names: &str| format!("{passed}2 LISTEN_FDNAMES={names};");
    check(&named("-a:-b"), "[3-a, 4-b] again Owned(3)\n");
    check(&named(":-b:-c"), "[3, 4-b] again Owned(3)\n");
    check(&named("-a"), "[3-a, 4] again Owned(3)\n");
    check(&format!("{passed}65535;"), "NotOpen(5)\n");
    check(&format!("{passed}-1;"), "BadListenFds\n");
    check(&format!("{passed};"), "BadListenFds\n");
    check("export LISTEN_FDS=1 LISTEN_PID=1;", "[] again []\n");
    check("export LISTEN_FDS=1 LISTEN_PID=me;", "BadListenPid\n");
    check("export LISTEN_FDS=1;", "[] again []\n");
    check("", "[] again []\n");

    let refused = |number| inherited::take(number).expect_err("it is not to be had");
    assert_eq!(refused(-1), InheritError::NotOpen(-1));
    assert_eq!(refused(2), InheritError::Standard(2));
    let (ours, _) = socket_pair().expect("sockets can be made");
    let number = ours.as_raw_fd();
    assert_eq!(refused(number), InheritError::Owned(number));
}

fn be_a_service() {
    let [pid, count, names] =
        ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"].map(|name| env::var(name).ok());
    let variables =
        ListenVariables { pid: pid.as_deref(), count: count.as_deref(), names: names.as_deref() };
    let numbers = |taken: &[PassedDescriptor]| {
        let show =
            |taken: &PassedDescriptor| format!("{}{}", taken.descriptor.as_raw_fd(), taken.name);
        taken.iter().map(show).collect::<Vec<_>>().join(", ")
    };
    match inherited::listen_fds(variables) {
        Err(error) => println!("{error:?}"),
        Ok(taken) => match inherited::listen_fds(variables) {
            Ok(again) => println!("[{}] again [{}]", numbers(&taken), numbers(&again)),
            Err(error) => println!("[{}] again {error:?}", numbers(&taken)),
        },
    }
}

fn inherited_descriptors_are_not_passed_on() {
    // The shell that lists the descriptors opens none of its own.
    let listed = output(role_after("exec 7</dev/null 9</dev/null;", "close-on-exec"));
    assert_eq!(listed, "7 open\n9 open\n7 closed\n9 closed\n");
}

fn be_close_on_exec() {
    let list = "for fd in 7 9; do [ -e /proc/$$/fd/$fd ] && echo $fd open || echo $fd closed; done";
    let list =
        || assert!(Command::new("sh").args(["-c", list]).status().expect("sh runs").success());
    list();
    daemonize::set_all_close_on_exec().expect("Linux 5.11 or newer");
    list();
}

fn children_get_the_limit_of_before() {
    let child = in_child(|| {
        let lower = Rlimit { current: Some(100), maximum: Some(200) };
        setrlimit(Resource::Nofile, lower).expect("lowering is allowed");
        let before = OpenFiles::raise().expect("raising to the hard limit is allowed");
        assert_eq!((before.soft(), before.hard()), (Some(100), Some(200)));
        let raised = OpenFiles::current();
        assert_eq!(raised.soft(), raised.hard());
        // In a container, root may lack the right to exceed the hard limit.
        let is_expected = |soft| soft == 200 || geteuid().is_root() && soft == 65536;
        assert!(raised.soft().is_some_and(is_expected), "{raised:?}");

        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -Sn; ulimit -Hn"]);
        ChildSetup::new().open_files(before).install(&mut command);
        assert_eq!(output(command), "100\n200\n");
    });
    join(child);
}

fn a_child_ends_with_its_parent() {
    let pid = output(role("parent"));
    let state = Path::new("/proc").join(pid.trim()).join("stat");
    // Until it has ended, or is a zombie that was not waited for.
    eventually("the end of the child", || {
        let runs = fs::read_to_string(&state).is_ok_and(|text| !text.contains(") Z "));
        (!runs).then_some(())
    });
}

fn helper_parent_that_exits() {
    let mut command = Command::new("sleep");
    command.arg("1000").stdout(Stdio::null());
    ChildSetup::new().end_with_parent(ProcessSignal::Terminate).install(&mut command);
    println!("{}", command.spawn().expect("sleep runs").id());
}

/// Returns the last of the processors that this process may use.
fn last_processor() -> ProcessorSet {
    let allowed = own_processors().expect("there are not too many");
    allowed.iter().last().and_then(ProcessorSet::one).expect("there is one")
}

fn a_child_is_confined_to_processors() {
    let wanted = last_processor();
    let mut command = Command::new("sh");
    command.args(["-c", "grep Cpus_allowed_list /proc/self/status"]);
    ChildSetup::new().processors(wanted).install(&mut command);
    assert_eq!(output(command), format!("Cpus_allowed_list:\t{wanted}\n"));
}

fn settings_reach_all_threads() {
    let (one, quiet) = (last_processor(), Nice::new(3).expect("from -20 to 19"));
    let short = Slice::new(Duration::from_micros(300)).expect("from 0.1 to 100 ms");
    let child = in_child(|| {
        let (done, is_done) = mpsc::channel();
        let (number, numbers) = mpsc::channel();
        let watched = thread::spawn(move || {
            number.send(gettid().as_raw_nonzero().get().cast_unsigned()).expect("it waits");
            is_done.recv().expect("it is sent");
        });
        let number = numbers.recv().expect("it is sent");
        set_processors(id(), &one).expect("they are ours to use");
        set_nice(id(), quiet).expect("yielding is always allowed");
        // Fails on an old kernel; the test of slices reports that.
        let is_sliced = set_slice(id(), short).is_ok();
        for number in [id(), number] {
            assert_eq!(processors(number).expect("it lives"), one);
            assert_eq!(nice(number).expect("it lives"), quiet);
            assert!(!is_sliced || slice(number).expect("it lives") == short);
        }
        set_own_processors(&one).expect("they are ours to use");
        done.send(()).expect("it waits");
        watched.join().expect("it does not panic");
    });
    join(child);
}

fn the_switches_of_all_threads_count() {
    let child = in_child(|| {
        let sleeper = thread::spawn(|| {
            (0..SLEEPS).for_each(|_| thread::sleep(Duration::from_micros(100)));
            // While the thread lives, its counts are available.
            usage(id()).expect("it is this process").voluntary_switches
        });
        assert!(sleeper.join().expect("it does not panic") >= SLEEPS);
        // Now the waiting thread has ended, and one is left.
        assert!(usage(id()).expect("it is this process").voluntary_switches < SLEEPS);
    });
    join(child);
}

const SLEEPS: u64 = 50;

fn program(words: &[&str], environment: &[(&str, &str)]) -> LaunchedProgram {
    let environment = environment.iter().map(|(name, value)| (name.into(), value.into()));
    LaunchedProgram::new(words.iter().map(Into::into), environment).expect("no zero bytes")
}

/// Waits for a child as an event loop does: a signal can interrupt a wait.
fn end_of(child: &ChildProcess) -> ChildEnding {
    let poller = Poller::new().expect("a descriptor");
    poller.add(child, 0, Interest::Read).expect("it can be watched");
    let deadline = Instant::now() + CHILD_TIME;
    loop {
        if let Some(ending) = child.ending().expect("it is a child") {
            return ending;
        }
        let left = deadline.saturating_duration_since(Instant::now());
        assert!(!left.is_zero(), "the child still runs after {CHILD_TIME:?}");
        poller.wait(&mut Events::with_capacity(1), Some(left)).expect("it can be waited for");
    }
}

/// Time limit for a child on a busy machine.
const CHILD_TIME: Duration = Duration::from_secs(60);

fn a_program_is_started_and_not_waited_for() {
    let check = |words: &[&str], expected: &str| {
        let started = program(words, &[]).start(&ChildSetup::new());
        let (child, _output) = started.expect("a process");
        let ending = match end_of(&child) {
            ChildEnding::NotExecuted(error) => format!("{:?}", error.kind()),
            other => format!("{other:?}"),
        };
        assert_eq!(ending, expected, "{words:?}");
    };
    check(&["/bin/true"], "Exited(0)");
    check(&["/bin/sh", "-c", "exit 7"], "Exited(7)");
    check(&["/bin/sh", "-c", "kill -9 $$"], "Signaled(9)");
    check(&["/bin/sh", "-c", "exit 127"], "Exited(127)");
    check(&["/nonexistent/program"], "NotFound");
    check(&["true"], "NotFound");
    check(&["/tmp"], "PermissionDenied");
    check(&[""], "NotFound");
    check(&[], "NotFound");

    let words = ["/bin/sleep", "100"];
    let (child, _output) = program(&words, &[]).start(&ChildSetup::new()).expect("a process");
    assert!(child.ending().expect("it is a child").is_none(), "it runs");
    child.kill().expect("it is ours");
    assert!(matches!(end_of(&child), ChildEnding::Signaled(9)));
    let zero = LaunchedProgram::new(["a\0b".into()], []).expect_err("a zero byte");
    assert_eq!(zero.kind(), ErrorKind::InvalidInput);
}

fn a_started_program_gets_its_arguments_and_environment() {
    // As the bus does when it starts, so that a service does not read from the terminal.
    daemonize::silence(StandardStream::Input).expect("/dev/null opens");
    let script = "echo \"$A$PATH\" >&2; cat; (sleep 0.1; echo late >&2) &";
    let environment = [("A", "b=c"), ("PATH", "/bin:/usr/bin")];
    let words = ["/bin/sh", "-c", script];
    let started = program(&words, &environment).start(&ChildSetup::new().without_protection());
    let (child, mut output) = started.expect("a process");
    assert!(matches!(end_of(&child), ChildEnding::Exited(0)));
    // Reading does not block, although another process still has the other end open.
    let mut text = String::new();
    let error = output.read_to_string(&mut text).expect_err("it does not wait");
    assert_eq!(error.kind(), ErrorKind::WouldBlock);
    assert_eq!(text, "b=c/bin:/usr/bin\n");
}

fn a_crash_saves_memories_that_were_closed() {
    let directory = TempDir::new().expect("a new folder");
    let file = directory.path().join("saved");
    let mut command = role("crash");
    let status = command.env("SAVED", &file).stderr(Stdio::null()).status().expect("it starts");
    assert_eq!(status.code(), None, "a signal has ended it");
    assert_eq!(fs::read(file).expect("the copy"), b"firstsecond");
}

fn be_a_program_that_crashes() {
    let memory = |bytes| memory::sealed("test", bytes).expect("there is memory");
    let (forgotten, first, second) = (memory(b"old"), memory(b"first"), memory(b"second"));
    let file = env::var_os("SAVED").expect("a path");
    let save = |from: [&OwnedFd; 2]| crash::save(from.map(AsFd::as_fd), Path::new(&file));
    save([&forgotten, &forgotten]).expect("there are descriptors");
    save([&first, &second]).expect("there are descriptors");
    drop((forgotten, first, second));
    std::process::abort();
}
