//! Processes that a command starts and ends.

use std::io;
use std::process::{Child, Command};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use sys::clock;
use sys::signals;
use sys::spawn::ChildSetup;

/// Starts a process that ends when this one does, however that happens, and that the keys of the
/// terminal do not reach.
pub(crate) fn start_dependent(command: &mut Command) -> io::Result<Child> {
    use std::os::unix::process::CommandExt as _;
    ChildSetup::new().end_with_parent(signals::ProcessSignal::Terminate).install(command);
    command.process_group(0).spawn()
}

/// Sends a signal to a process; does nothing if it has ended.
pub(crate) fn send_signal(child: &mut Child, signal: Signal) {
    // Until it is waited for, its number belongs to no other process.
    if let Ok(None) = child.try_wait() {
        // It may have ended since, and then there is nobody to tell.
        let _ = kill_process(pid(child), signal);
    }
}

/// Ends processes and waits for them: politely at first, and [after a while](PATIENCE) by force.
pub(crate) fn end_all<'c>(children: impl IntoIterator<Item = &'c mut Child>) {
    let mut left: Vec<&mut Child> = children.into_iter().collect();
    left.iter_mut().for_each(|child| send_signal(child, Signal::TERM));
    let deadline = clock::monotonic() + PATIENCE;
    while wait_for_any(&mut left) && clock::monotonic() < deadline {
        thread::sleep(Duration::from_millis(2));
    }
    for child in left {
        send_signal(child, Signal::KILL);
        // Only who has no such child fails to wait for it.
        let _ = child.wait();
    }
}

/// Forgets those that have ended; says whether some have not.
fn wait_for_any(children: &mut Vec<&mut Child>) -> bool {
    children.retain_mut(|child| matches!(child.try_wait(), Ok(None)));
    !children.is_empty()
}

fn pid(child: &Child) -> Pid {
    Pid::from_child(child)
}

/// How long processes have to end by themselves.
const PATIENCE: Duration = Duration::from_secs(2);
