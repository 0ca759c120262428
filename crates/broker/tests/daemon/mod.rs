//! A complete daemon that runs in a thread of its test.

use std::path::Path;

use broker::busconfig::{self, ConfigError};
use broker::event_loop::{EventLoop, Loaded, LoopParts, Reload};
use broker::listen::{ListenEnvironment, listen, parse};
use broker::log::{Log, LogTarget};
use sys::rlimit::OpenFiles;
use sys::signals::{ProcessSignal, SignalSource};
use wire::guid::Guid;

/// A configuration that is never reloaded.
struct Unchanged;

impl Reload for Unchanged {
    fn read(&mut self) -> Result<Loaded, ConfigError> {
        Ok(busconfig::built_in_session().into())
    }

    fn done(&mut self) {}
}

/// Runs a bus at a socket file, until the process of the test ends. Calls `ready` when clients can
/// connect.
pub(crate) fn run(path: &Path, loaded: Loaded, ready: impl FnOnce()) {
    let address = parse(&format!("unix:path={}", path.display())).expect("an address");
    let parts = LoopParts {
        listeners: listen(&address, &mut ListenEnvironment::default()).expect("a free place"),
        identity: bus::BusIdentity {
            id: Guid::from_bytes([7; 16]),
            machine_id: None,
            pid: std::process::id(),
            uid: sys::credentials::own_credentials().expect("our own").uid,
            security_label: None,
        },
        loaded,
        mediator: None,
        open_files: OpenFiles::current(),
        reload: Box::new(Unchanged),
        log: Log::new("test", LogTarget::Stderr),
        metrics: None,
        signals: SignalSource::block(&[ProcessSignal::Terminate]).expect("signals"),
    };
    let mut event_loop = EventLoop::new(parts).expect("an event loop");
    // The invariant checks allocate memory.
    event_loop.stop_checking();
    ready();
    event_loop.run().expect("it runs until the end");
}
