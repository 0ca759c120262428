//! A process that continues a captured state with new descriptors of the same kinds.

use std::fs::{self, File};
use std::io::PipeWriter;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Child, Command};

use conformance::{ExternalProgram, ScratchFolder, StartedProgram, TestPeer, bus_binary};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, inotify, memfd_create};
use rustix::io::{FdFlags, fcntl_setfd, ioctl_fionbio};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::capture::{CapturedState, DescriptorKind};

/// A bus that continues a captured state. Its clients are sockets that nobody uses.
#[derive(Debug)]
pub(crate) struct RevivedBus {
    running: StartedProgram,
    address: String,
    /// The other ends of the connections.
    _clients: Vec<UnixStream>,
    /// The other ends of pipes.
    _writers: Vec<PipeWriter>,
    _services: Vec<SleepingService>,
    _scratch: ScratchFolder,
}

/// A process in place of a service, which the bus kills if the start takes too long.
#[derive(Debug)]
struct SleepingService(Child);

impl SleepingService {
    fn start() -> Self {
        Self(Command::new("sleep").arg("600").spawn().expect("sleep is installed"))
    }

    fn pidfd(&self) -> OwnedFd {
        let pid = Pid::from_child(&self.0);
        pidfd_open(pid, PidfdFlags::empty()).expect("it has not been waited for")
    }
}

impl Drop for SleepingService {
    fn drop(&mut self) {
        // It has ended already if the bus has killed it.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl RevivedBus {
    /// Starts a process with the state and waits until it serves.
    pub(crate) fn start(captured: &CapturedState) -> Self {
        let scratch = ScratchFolder::new();
        let (mut clients, mut writers) = (Vec::new(), Vec::new());
        let mut services = Vec::new();
        let mut listener = None;
        let mut make = |(index, kind): (usize, &DescriptorKind)| -> OwnedFd {
            match kind {
                DescriptorKind::Socket => {
                    let (ours, theirs) = UnixStream::pair().expect("a pair of sockets");
                    ours.set_nonblocking(true).expect("a socket");
                    clients.push(theirs);
                    ours.into()
                }
                DescriptorKind::Listener => {
                    let path = scratch.join(&format!("listener-{index}"));
                    let socket = UnixListener::bind(&path).expect("a scratch folder is writable");
                    socket.set_nonblocking(true).expect("a socket");
                    // The listeners of the bus precede the socket for metrics.
                    listener.get_or_insert(path);
                    socket.into()
                }
                DescriptorKind::Memory(len) => {
                    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
                    let file = File::from(memfd_create("ring", flags).expect("memory"));
                    file.set_len(*len).expect("memory");
                    let seals = SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
                    fcntl_add_seals(&file, seals).expect("new memory");
                    file.into()
                }
                DescriptorKind::Inotify => {
                    let flags = inotify::CreateFlags::CLOEXEC | inotify::CreateFlags::NONBLOCK;
                    inotify::init(flags).expect("inotify")
                }
                DescriptorKind::Process => {
                    services.push(SleepingService::start());
                    services.last().expect("it was just added").pidfd()
                }
                DescriptorKind::Other => {
                    let (reader, writer) = std::io::pipe().expect("a pipe");
                    ioctl_fionbio(&reader, true).expect("a pipe");
                    writers.push(writer);
                    reader.into()
                }
            }
        };
        let descriptors: Vec<_> = captured.descriptors.iter().enumerate().map(&mut make).collect();
        let number = |fd: &OwnedFd| u32::try_from(fd.as_raw_fd()).expect("numbers are positive");
        let numbers: Vec<_> = descriptors.iter().map(number).collect();
        let path = scratch.join("state");
        fs::write(&path, captured.with_numbers(&numbers)).expect("a scratch folder is writable");
        let state = OwnedFd::from(File::open(&path).expect("it was written"));
        for fd in descriptors.iter().chain([&state]) {
            fcntl_setfd(fd, FdFlags::empty()).expect("an open descriptor");
        }
        let program = ExternalProgram::at(bus_binary());
        let program = program.env("DILIGENCE_STATE", number(&state).to_string());
        let mut running = program.start();
        drop((descriptors, state));
        running.wait_for("the line in the log", |_, stderr| {
            stderr.contains(" replaced version ").then_some(())
        });
        let address = format!("unix:path={}", listener.expect("a listener").display());
        Self {
            running,
            address,
            _clients: clients,
            _writers: writers,
            _services: services,
            _scratch: scratch,
        }
    }

    /// Connects a client to the revived bus.
    pub(crate) fn peer(&self) -> TestPeer {
        TestPeer::connect(&self.address)
    }

    /// Ends the bus, which must succeed.
    pub(crate) fn stop(self) {
        let _ = self.running.terminate().success();
    }
}
