//! The interface to Linux: the system calls of a D-Bus broker and a blocking client.
//!
//! The crates that handle messages use no file descriptors. This crate is the opposite: it handles
//! descriptors, processes and users, and has no code for D-Bus. All of its `unsafe` code is in one
//! private module, `raw`, behind safe functions. The only other `unsafe` code in the workspace is in
//! the functions that `analyst` exports to the page, and in counting allocators of tests. If
//! [`rustix`] has a call, this crate uses it; `raw` has the rest.
//!
//! A broker uses the modules in this order:
//!
//! ```text
//!  start    inherited    descriptors given by the service manager or named on the command line
//!           daemonize    fork, new session, standard streams to /dev/null, close-on-exec
//!           rlimit       room for many descriptors; the old limit is given back to children
//!           users        names in the configuration -> numbers
//!           privileges   become the bus user
//!           inheritance  undo what a set-user-ID program inherited from its caller
//!           crash        save memory to a file if the process crashes
//!           reexec       execute another program in this process, with chosen descriptors
//!           fd_queue     one descriptor that holds any number of others
//!           filesystem   socket files, private directories, lock files
//!           notify       tell the service manager "ready"
//!  loop     poll         which descriptors can be read or written
//!           socket       listen, accept, connect
//!           transfer     bytes and descriptors, one system call each way
//!           credentials  the process at the other end
//!           process      the name and resource usage of that process, for logs and statistics
//!           identity     its users, groups and capabilities
//!           control_group  its unit and session
//!           signals      signals as a readable descriptor
//!           spawn        children that do not inherit the broker's special settings
//!           launch       children that are started without blocking until their execution
//!           clock        the current time, read once per turn
//!           cycles       the same clock without a call, where the kernel trusts the processor
//!           timer        the next deadline as a readable descriptor
//!           watch        changes of directories as a readable descriptor
//!           random       unguessable bytes
//!           datagram     entries for the log of another program
//!           memory       entries that are too long for a datagram, as a descriptor
//!           shared       memory that this process writes and others read, without a system call
//! ```
//!
//! A benchmark, which starts and observes processes, uses three more:
//!
//! ```text
//!           scheduling   which processors a process may use, its nice value, its slice
//!           switches     the times at which it got and lost a processor
//!           load         the load of the machine's processors
//! ```
//!
//! A recorder has one more:
//!
//! ```text
//!           run_delay    the time that it waited for a processor
//! ```
//!
//! A command that writes files and shows pages to its user has two more:
//!
//! ```text
//!           replace      a file that appears under its name when it is complete
//!           loopback     the user at the other end of a TCP connection
//! ```
//!
//! This crate does not repeat the setup of the Rust standard library before `main`, which opens
//! `/dev/null` on closed descriptors 0 to 2, and ignores `SIGPIPE`.
//!
//! No function keeps state, reads the environment or logs. Errors are [`std::io::Error`], or an
//! enum if the caller has to make a decision. A call interrupted by a signal is repeated, except
//! [`poll::Poller::wait`], which returns without events.
//!
//! # Example
//!
//! One turn of a loop that answers every connection:
//!
//! ```
//! use sys::poll::{Events, Interest, Poller};
//! use sys::socket::{self, Accepted, UnixAddress};
//! use sys::transfer::{self, TransferWait};
//! use std::io::IoSlice;
//!
//! # fn main() -> std::io::Result<()> {
//! let name = format!("diligence-sys-example-{}", std::process::id());
//! let address = UnixAddress::Abstract(name.as_bytes());
//! let listener = socket::listen_unix(address)?;
//! let client = socket::connect_unix(address)?;
//!
//! let poller = Poller::new()?;
//! let mut events = Events::with_capacity(64);
//! poller.add(&listener, 0, Interest::Read)?;
//! poller.wait(&mut events, None)?;
//! for event in events.iter().filter(|event| event.token() == 0) {
//!     assert!(event.is_readable());
//!     if let Accepted::Connection(peer) = socket::accept(&listener)? {
//!         transfer::send(&peer, &[IoSlice::new(b"hello")], &[], TransferWait::Never)?;
//!     }
//! }
//!
//! let mut buffer = [0; 64];
//! let received =
//!     transfer::receive(&client, &mut buffer, &mut Vec::new(), TransferWait::Block)?;
//! assert_eq!(&buffer[..received.bytes], b"hello");
//! # Ok(())
//! # }
//! ```

#[cfg(not(target_os = "linux"))]
compile_error!("this crate talks to the Linux kernel only");

pub use unix::{clock, credentials, poll, shared, socket, timer, transfer};

pub mod inherited;

pub mod crash;
pub mod daemonize;
pub mod fd_queue;
pub mod filesystem;
pub mod inheritance;
pub mod notify;
pub mod private_directory;
pub mod privileges;
pub mod rlimit;
pub mod users;

pub mod control_group;
pub mod cycles;
pub mod identity;
pub mod launch;
pub mod process;
pub mod signals;
pub mod spawn;

pub mod datagram;
pub mod memory;
pub mod parallel;
pub mod random;
pub mod reexec;
pub mod watch;

pub mod loopback;
pub mod replace;

pub mod run_delay;

pub mod load;
pub mod scheduling;
pub mod switches;

#[expect(unsafe_code, reason = "system and C library calls for which rustix has no function")]
mod raw;
