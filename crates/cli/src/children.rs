//! Starting and ending child processes of a command.

use std::io;
use std::process::{Child, Command};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use sys::clock;
use sys::signals;
use sys::spawn::ChildSetup;

/// Starts a process that receives SIGTERM when this process ends for any reason. It is in a process
/// group of its own, so Ctrl-C on the terminal does not signal it.
pub(crate) fn start_dependent(command: &mut Command) -> io::Result<Child> {
    use std::os::unix::process::CommandExt as _;
    ChildSetup::new().end_with_parent(signals::ProcessSignal::Terminate).install(command);
    command.process_group(0).spawn()
}

/// Sends a signal to a process; does nothing if it has ended.
pub(crate) fn send_signal(child: &mut Child, signal: Signal) {
    // The kernel does not reuse the pid before the parent has waited for the process.
    if let Ok(None) = child.try_wait() {
        // The process can have ended since `try_wait`, and then there is nothing to signal.
        let _ = kill_process(pid(child), signal);
    }
}

/// Ends processes and waits for them: sends SIGTERM, and after [`TERMINATION_TIMEOUT`] SIGKILL to
/// processes that are still running.
pub(crate) fn end_all<'c>(children: impl IntoIterator<Item = &'c mut Child>) {
    let mut left: Vec<&mut Child> = children.into_iter().collect();
    left.iter_mut().for_each(|child| send_signal(child, Signal::TERM));
    let deadline = clock::monotonic() + TERMINATION_TIMEOUT;
    while wait_for_any(&mut left) && clock::monotonic() < deadline {
        thread::sleep(Duration::from_millis(2));
    }
    for child in left {
        send_signal(child, Signal::KILL);
        // Waiting fails only if the process is not a child of this one.
        let _ = child.wait();
    }
}

/// Removes ended processes from the list; returns true if some are still running.
fn wait_for_any(children: &mut Vec<&mut Child>) -> bool {
    children.retain_mut(|child| matches!(child.try_wait(), Ok(None)));
    !children.is_empty()
}

fn pid(child: &Child) -> Pid {
    Pid::from_child(child)
}

/// The time between SIGTERM and SIGKILL.
const TERMINATION_TIMEOUT: Duration = Duration::from_secs(2);
