//! Signals that are blocked and read, and children that receive them again. The main thread must be
//! the only one: another thread would not block the signals, and they would kill the process.

#[path = "support/runner.rs"]
mod runner;

use rustix::process::{Signal as Number, getpid, kill_process};
use std::process::Command;
use std::time::Duration;
use sys::poll::{Events, Interest, Poller};
use sys::signals::{ProcessSignal, SignalSource};
use sys::spawn::ChildSetup;

fn main() {
    runner::run(
        &[
            ("each_signal_is_read_once", each_signal_is_read_once),
            ("several_signals_wait_for_each_other", several_signals_wait_for_each_other),
            ("only_the_signals_asked_for_are_read", only_the_signals_asked_for_are_read),
            ("children_let_the_signals_through", children_let_the_signals_through),
            ("an_ended_child_is_announced", an_ended_child_is_announced),
        ],
        &[],
    );
}

fn source() -> SignalSource {
    SignalSource::block(&ProcessSignal::ALL).expect("there are descriptors left")
}

fn raise(number: Number) {
    kill_process(getpid(), number).expect("a process may signal itself");
}

fn take(source: &SignalSource) -> Option<ProcessSignal> {
    source.take().expect("reading a signalfd does not fail")
}

fn each_signal_is_read_once() {
    let source = source();
    let poller = Poller::new().expect("there are descriptors left");
    poller.add(&source, 1, Interest::Read).expect("a signalfd can be polled");
    let mut events = Events::with_capacity(1);
    for (number, signal) in [
        (Number::TERM, ProcessSignal::Terminate),
        (Number::INT, ProcessSignal::Interrupt),
        (Number::HUP, ProcessSignal::HangUp),
        (Number::USR1, ProcessSignal::User1),
        (Number::USR2, ProcessSignal::User2),
        (Number::CHILD, ProcessSignal::Child),
        (Number::WINCH, ProcessSignal::Resized),
        (Number::TSTP, ProcessSignal::Suspend),
    ] {
        assert_eq!(take(&source), None);
        raise(number);
        raise(number);
        poller.wait(&mut events, Some(Duration::from_secs(5))).expect("a wait does not fail");
        assert_eq!(events.iter().len(), 1);
        assert_eq!(take(&source), Some(signal));
        assert_eq!(take(&source), None, "{signal:?} comes once");
    }
}

fn several_signals_wait_for_each_other() {
    let source = source();
    raise(Number::TERM);
    raise(Number::HUP);
    let mut taken = [take(&source), take(&source)];
    taken.sort_by_key(|signal| *signal != Some(ProcessSignal::HangUp));
    assert_eq!(taken, [Some(ProcessSignal::HangUp), Some(ProcessSignal::Terminate)]);
    assert_eq!(take(&source), None);
}

fn only_the_signals_asked_for_are_read() {
    let all = source();
    let some = SignalSource::block(&[ProcessSignal::User1]).expect("there are descriptors left");
    raise(Number::USR2);
    assert_eq!(take(&some), None);
    assert_eq!(take(&all), Some(ProcessSignal::User2));
}

/// Returns the signals that `command` has blocked, according to its own status.
fn blocked_in(mut command: Command) -> u64 {
    let output = command.args(["SigBlk", "/proc/self/status"]).output().expect("grep runs");
    let text = String::from_utf8(output.stdout).expect("proc(5) is ASCII");
    let mask = text.split_whitespace().nth(1).expect("a key and a value");
    u64::from_str_radix(mask, 16).expect("a hexadecimal number")
}

fn children_let_the_signals_through() {
    let _source = source();
    let plain = Command::new("grep");
    let mut set_up = Command::new("grep");
    ChildSetup::new().install(&mut set_up);
    assert_eq!(blocked_in(plain).count_ones() as usize, ProcessSignal::ALL.len());
    assert_eq!(blocked_in(set_up), 0);
}

fn an_ended_child_is_announced() {
    let source = source();
    while take(&source).is_some() {}
    let mut command = Command::new("true");
    ChildSetup::new().install(&mut command);
    let mut child = command.spawn().expect("true runs");
    child.wait().expect("it is our child");
    assert_eq!(take(&source), Some(ProcessSignal::Child));
}
