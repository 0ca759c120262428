//! A private bus for a test, and services in threads.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use client::{Connection, IncomingCall, NameFlags};
use inspector::{Inspector, InspectorPatience};

/// A bus of its own, which ends with the test. `DILIGENCE_BUS` says which program it is.
pub(crate) struct InspectorBus {
    daemon: Child,
    address: String,
    /// Where its service files are.
    data: PathBuf,
}

impl InspectorBus {
    /// It can start [`SLEEPER`].
    pub(crate) fn start() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let data = format!("diligence-inspector-{}-{number}", std::process::id());
        let data = std::env::temp_dir().join(data);
        let services = data.join("dbus-1/services");
        fs::create_dir_all(&services).expect("a place for temporary files");
        let service = format!("[D-BUS Service]\nName={SLEEPER}\nExec=/bin/false\n");
        fs::write(services.join("sleeper.service"), service).expect("the directory is ours");
        let program = std::env::var("DILIGENCE_BUS").unwrap_or_else(|_| REFERENCE.into());
        let mut daemon = Command::new(&program)
            .args(["--session", "--nofork", "--nopidfile", "--print-address"])
            .env("XDG_DATA_HOME", &data)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|e| panic!("{program}: {e}; the Debian package is dbus-daemon"));
        let mut address = String::new();
        let output = daemon.stdout.take().expect("it is piped");
        BufReader::new(output).read_line(&mut address).expect("an address");
        Self { daemon, address: address.trim_end().into(), data }
    }

    pub(crate) fn inspector(&self) -> Inspector {
        Inspector::new(self.connect())
    }

    pub(crate) fn hasty_inspector(&self) -> Inspector {
        Inspector::with_patience(self.connect(), HASTE)
    }

    pub(crate) fn connect(&self) -> Connection {
        Connection::open(&self.address).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Stops the bus, so that it takes nothing any more, until it is killed.
    pub(crate) fn stop(&self) {
        let command = format!("kill -STOP {}", self.daemon.id());
        let done = Command::new("sh").args(["-c", &command]).status().expect("a shell");
        assert!(done.success());
    }

    /// The process of the bus.
    pub(crate) fn pid(&self) -> u32 {
        self.daemon.id()
    }

    /// Serves the objects that `set_up` adds, in a thread, as [`NAME`].
    pub(crate) fn serve(
        &self,
        set_up: impl FnOnce(&Connection) + Send + 'static,
    ) -> SupportService {
        self.run(move |connection, stop| {
            set_up(connection);
            own(connection);
            move |connection: &Connection| {
                while !stop.load(Ordering::Relaxed) && connection.process(Some(TURN)).is_ok() {}
            }
        })
    }

    /// Answers each call to [`NAME`] by `answer`, in a thread.
    pub(crate) fn answer(
        &self,
        mut answer: impl FnMut(IncomingCall) + Send + 'static,
    ) -> SupportService {
        self.run(move |connection, stop| {
            own(connection);
            move |connection: &Connection| {
                while !stop.load(Ordering::Relaxed) {
                    match connection.next_request(Some(TURN)) {
                        Ok(request) => request.into_iter().for_each(&mut answer),
                        Err(_) => break,
                    }
                }
            }
        })
    }

    fn run<R: FnOnce(&Connection)>(
        &self,
        begin: impl FnOnce(&Connection, Arc<AtomicBool>) -> R + Send + 'static,
    ) -> SupportService {
        let (ready, is_ready) = mpsc::channel();
        let stop = Arc::new(AtomicBool::new(false));
        let (address, told) = (self.address.clone(), Arc::clone(&stop));
        let thread = thread::spawn(move || {
            let connection = Connection::open(&address).expect("the bus runs");
            let go_on = begin(&connection, told);
            ready.send(()).expect("the test waits");
            go_on(&connection);
        });
        is_ready.recv().expect("the service is ready");
        SupportService { stop, thread: Some(thread) }
    }
}

impl Drop for InspectorBus {
    fn drop(&mut self) {
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
        let _ = fs::remove_dir_all(&self.data);
    }
}

/// Something that serves until it is dropped.
pub(crate) struct SupportService {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for SupportService {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let ended = self.thread.take().map(JoinHandle::join);
        assert!(thread::panicking() || matches!(ended, Some(Ok(()))), "the service panicked");
    }
}

fn own(connection: &Connection) {
    connection.request_name(NAME, NameFlags::NONE).expect("nobody has the name");
}

/// The name of the service.
pub(crate) const NAME: &str = "org.example.Service";

/// A name that can be started, though nothing comes of it.
pub(crate) const SLEEPER: &str = "org.example.Sleeper";

/// So long a hasty inspector waits.
pub(crate) const HASTE: InspectorPatience =
    InspectorPatience { answer: Duration::from_millis(300), whole: Duration::from_millis(1200) };

const TURN: Duration = Duration::from_millis(20);

const REFERENCE: &str = "/usr/bin/dbus-daemon";
