//! Context switches of real processes, recorded by the kernel.

use std::collections::BTreeSet;
use std::io::{ErrorKind, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio, id};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};
use sys::clock;
use sys::process::processor_time;
use sys::scheduling::{ProcessorSet, own_processors, set_own_processors, set_processors};
use sys::switches::SwitchKind::{Ended, Preempted, Resumed, Waited};
use sys::switches::{Followed, SwitchKind, SwitchTrace, Switches};

/// Starts a trace, or prints why this kernel does not permit it.
fn record(pid: u32, capacity: usize) -> Option<SwitchTrace> {
    match SwitchTrace::start(pid, Followed::All, capacity) {
        Ok(trace) => Some(trace),
        Err(error) => match error.kind() {
            ErrorKind::PermissionDenied | ErrorKind::Unsupported | ErrorKind::InvalidInput => {
                println!("not tested: this kernel records no switches for us: {error}");
                None
            }
            _ => panic!("{error}"),
        },
    }
}

/// A process that sleeps until it is woken, and then replies. It shares one processor with the
/// waking thread, so whenever that thread continues, the process got the processor and lost it.
struct EchoProcess {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
}

impl EchoProcess {
    fn start() -> Self {
        set_own_processors(&last_processor()).expect("it is ours to use");
        let mut command = Command::new("cat");
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("cat runs");
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let (input, output) = (input.expect("it is a pipe"), output.expect("it is a pipe"));
        let mut echo = Self { child, input, output };
        // After its first reply, it has executed its program.
        echo.wake(1);
        echo
    }

    fn wake(&mut self, times: usize) {
        for _ in 0..times {
            self.input.write_all(b"x").expect("it reads");
            self.output.read_exact(&mut [0]).expect("it writes");
        }
    }

    fn end(self) {
        let Self { mut child, input, .. } = self;
        drop(input);
        child.wait().expect("it is ours");
    }
}

fn last_processor() -> ProcessorSet {
    let allowed = own_processors().expect("there are not too many");
    allowed.iter().last().and_then(ProcessorSet::one).expect("there is one")
}

fn count(switches: &Switches, kind: SwitchKind) -> usize {
    switches.switches.iter().filter(|switch| switch.kind == kind).count()
}

fn assert_is_ordered(switches: &Switches) {
    assert!(switches.switches.is_sorted_by_key(|switch| switch.time));
    assert!(switches.running.iter().all(|span| span.start < span.end));
    assert!(switches.running.windows(2).all(|pair| pair[0].end < pair[1].start));
}

#[test]
fn a_process_that_is_woken_gets_the_processor_each_time() {
    let mut echo = EchoProcess::start();
    let Some(mut trace) = record(echo.child.id(), 10_000) else { return };
    let before = clock::monotonic();
    echo.wake(100);
    // After its last reply, it takes a moment until it sleeps, which is not observable from here.
    thread::sleep(Duration::from_millis(20));
    let after = clock::monotonic();
    let switches = trace.take().unwrap();
    assert_is_ordered(&switches);
    assert_eq!(switches.lost, 0);
    let [resumed, preempted, waited] =
        [Resumed, Preempted, Waited].map(|kind| count(&switches, kind));
    assert!(resumed >= 100 && preempted + waited == resumed && waited >= 1, "{resumed} {waited}");
    assert_eq!(switches.running.len(), resumed);
    let times = switches.switches.iter().filter(|switch| switch.kind == Resumed);
    assert!(times.clone().all(|switch| (before..after).contains(&switch.time)));
    assert!(switches.switches.iter().all(|switch| switch.thread == echo.child.id()));

    // A second call returns only new records.
    assert_eq!(trace.take().unwrap(), Switches::default());
    echo.wake(1);
    assert!(count(&trace.take().unwrap(), Resumed) >= 1);
    echo.end();
}

#[test]
fn spans_add_up_to_the_time_that_the_process_ran() {
    let mut child = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
    let Some(mut trace) = record(child.id(), 10_000) else {
        child.kill().unwrap();
        child.wait().unwrap();
        return;
    };
    set_processors(child.id(), &last_processor()).unwrap();
    let start = clock::monotonic();
    trace.take().unwrap();
    let before = processor_time(child.id()).unwrap();
    // The time of the measurement.
    thread::sleep(Duration::from_millis(300));
    let used = processor_time(child.id()).unwrap() - before;
    let switches = trace.take().unwrap();
    let elapsed = clock::monotonic() - start;
    child.kill().unwrap();
    child.wait().unwrap();

    assert_is_ordered(&switches);
    assert_eq!((switches.lost, count(&switches, Waited)), (0, 0));
    let spans: Duration = switches.running.iter().map(|span| span.end - span.start).sum();
    // The processor time excludes time stolen by a hypervisor, and is accurate to the last tick.
    assert!(spans + Duration::from_millis(30) >= used, "{spans:?} {used:?}");
    assert!(spans <= elapsed, "{spans:?} {elapsed:?}");

    // Every span but the last ended because of preemption, or because the process was ended.
    let last = trace.take().unwrap();
    assert_eq!(count(&last, Waited), 0, "{last:?}");
    assert_eq!(last.switches.last().map(|switch| switch.kind), Some(Ended));
    assert!(count(&switches, Preempted).abs_diff(count(&switches, Resumed)) <= 1);
}

#[test]
fn records_that_do_not_fit_are_counted_as_lost() {
    let mut echo = EchoProcess::start();
    // The smallest ring is one page.
    let Some(mut trace) = record(echo.child.id(), 0) else { return };
    echo.wake(10_000);
    let first = trace.take().unwrap();
    assert_is_ordered(&first);
    assert!(first.lost > 0, "{}", first.switches.len());
    assert!(!first.switches.is_empty());
    let (last_switch, last_span) = (first.switches.last(), first.running.last());
    assert!(last_span.unwrap().end <= last_switch.unwrap().time, "nothing is known after it");

    echo.wake(10);
    let second = trace.take().unwrap();
    assert_is_ordered(&second);
    assert_eq!(second.lost, 0);
    assert!(count(&second, Resumed) >= 10);
    echo.end();
}

#[test]
fn the_ring_goes_round() {
    let mut echo = EchoProcess::start();
    let Some(mut trace) = record(echo.child.id(), 256) else { return };
    for _ in 0..200 {
        echo.wake(7);
        let switches = trace.take().unwrap();
        assert_is_ordered(&switches);
        assert_eq!(switches.lost, 0);
        assert!(count(&switches, Resumed) >= 7, "{switches:?}");
    }
    echo.end();
}

#[test]
fn all_threads_are_recorded() {
    let (done, is_done) = mpsc::channel::<()>();
    let sleeper =
        thread::spawn(move || while is_done.recv_timeout(Duration::from_millis(1)).is_err() {});
    if let Some(mut trace) = record(id(), 1000) {
        let mut threads = BTreeSet::new();
        let deadline = Instant::now() + Duration::from_secs(30);
        while threads.len() < 2 {
            assert!(Instant::now() < deadline, "{threads:?}");
            // This thread has switches too, because it sleeps.
            thread::sleep(Duration::from_millis(1));
            let switches = trace.take().unwrap();
            assert_is_ordered(&switches);
            threads.extend(switches.switches.iter().map(|switch| switch.thread));
        }
    }
    done.send(()).unwrap();
    sleeper.join().unwrap();
}

#[test]
fn threads_that_begin_later_are_followed_or_counted() {
    let Some(mut trace) = record(id(), 1000) else { return };
    trace.take().unwrap();
    thread::spawn(|| ()).join().unwrap();
    let switches = trace.take().unwrap();
    assert!(switches.unfollowed >= 1, "it has ended before: {switches:?}");

    let (done, is_done) = mpsc::channel::<()>();
    let (begun, has_begun) = mpsc::channel();
    let sleeper = thread::spawn(move || {
        begun.send(rustix::thread::gettid().as_raw_nonzero().get().cast_unsigned()).unwrap();
        while is_done.recv_timeout(Duration::from_millis(1)).is_err() {}
    });
    let number = has_begun.recv().unwrap();
    let before = trace.threads();
    trace.take_and_follow(0).unwrap();
    assert!(trace.threads() <= before, "there was no room");
    done.send(()).unwrap();
    sleeper.join().unwrap();

    let Some(mut trace) = record(id(), 1000) else { return };
    let (done, is_done) = mpsc::channel::<()>();
    let sleeper =
        thread::spawn(move || while is_done.recv_timeout(Duration::from_millis(1)).is_err() {});
    trace.take().unwrap();
    let deadline = Instant::now() + Duration::from_secs(30);
    while !trace.take().unwrap().switches.iter().any(|switch| switch.thread > number) {
        assert!(Instant::now() < deadline, "the thread after {number} is not followed");
        thread::sleep(Duration::from_millis(1));
    }
    done.send(()).unwrap();
    sleeper.join().unwrap();
}

#[test]
fn recording_a_missing_process_fails_with_not_found() {
    let echo = EchoProcess::start();
    let gone = echo.child.id();
    echo.end();
    for missing in [0, gone, u32::MAX] {
        let error = SwitchTrace::start(missing, Followed::All, 1).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound, "{missing}");
    }
}
