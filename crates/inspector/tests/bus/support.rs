//! A private bus for each test, and services in threads.

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
use inspector::{Inspector, InspectorTimeouts};

/// A private bus that ends with the test. The environment variable `DILIGENCE_BUS` selects its
/// program; the default is dbus-daemon.
pub(crate) struct InspectorBus {
    daemon: Child,
    address: String,
    /// The data directory with the service files.
    data: PathBuf,
}

impl InspectorBus {
    /// Starts a bus with an activatable name, [`SLEEPER`].
    pub(crate) fn start() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let data = format!("diligence-inspector-{}-{number}", std::process::id());
        let data = std::env::temp_dir().join(data);
        let services = data.join("dbus-1/services");
        fs::create_dir_all(&services).expect("a temporary directory");
        let service = format!("[D-BUS Service]\nName={SLEEPER}\nExec=/bin/false\n");
        fs::write(services.join("sleeper.service"), service).expect("the directory is ours");
        let program = std::env::var("DILIGENCE_BUS").unwrap_or_else(|_| DBUS_DAEMON.into());
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

    pub(crate) fn inspector_with_short_timeouts(&self) -> Inspector {
        Inspector::with_timeouts(self.connect(), SHORT_TIMEOUTS)
    }

    pub(crate) fn connect(&self) -> Connection {
        Connection::open(&self.address).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Stops the bus with SIGSTOP: it reads nothing more.
    pub(crate) fn stop(&self) {
        let command = format!("kill -STOP {}", self.daemon.id());
        let done = Command::new("sh").args(["-c", &command]).status().expect("a shell");
        assert!(done.success());
    }

    /// Returns the process ID of the bus.
    pub(crate) fn pid(&self) -> u32 {
        self.daemon.id()
    }

    /// Runs a service with the name [`NAME`] in a thread, with the objects that `set_up` adds.
    pub(crate) fn serve(
        &self,
        set_up: impl FnOnce(&Connection) + Send + 'static,
    ) -> SupportService {
        self.run(move |connection, stop| {
            set_up(connection);
            own(connection);
            move |connection: &Connection| {
                while !stop.load(Ordering::Relaxed)
                    && connection.process(Some(POLL_TIMEOUT)).is_ok()
                {}
            }
        })
    }

    /// Runs a service with the name [`NAME`] in a thread. Each call is passed to `answer`.
    pub(crate) fn answer(
        &self,
        mut answer: impl FnMut(IncomingCall) + Send + 'static,
    ) -> SupportService {
        self.run(move |connection, stop| {
            own(connection);
            move |connection: &Connection| {
                while !stop.load(Ordering::Relaxed) {
                    match connection.next_request(Some(POLL_TIMEOUT)) {
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
        let (address, stop_flag) = (self.address.clone(), Arc::clone(&stop));
        let thread = thread::spawn(move || {
            let connection = Connection::open(&address).expect("the bus is running");
            let serve = begin(&connection, stop_flag);
            ready.send(()).expect("the test waits");
            serve(&connection);
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

/// A service that runs until it is dropped.
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
    connection.request_name(NAME, NameFlags::NONE).expect("the name is free");
}

/// The well-known name of the service.
pub(crate) const NAME: &str = "org.example.Service";

/// An activatable name whose service exits at once.
pub(crate) const SLEEPER: &str = "org.example.Sleeper";

/// Short timeouts for services that do not reply.
pub(crate) const SHORT_TIMEOUTS: InspectorTimeouts =
    InspectorTimeouts { reply: Duration::from_millis(300), total: Duration::from_millis(1200) };

const POLL_TIMEOUT: Duration = Duration::from_millis(20);

const DBUS_DAEMON: &str = "/usr/bin/dbus-daemon";
