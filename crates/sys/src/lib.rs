//! The edge to Linux: everything that a D-Bus broker and a blocking client ask of the kernel.
//!
//! The crates that know what a message means know no file descriptor. This crate is the opposite:
//! it knows descriptors, processes and users, and nothing of D-Bus. All of its `unsafe`
//! code is in one private module, `raw`, behind functions that are safe to call. The only other
//! `unsafe` in the workspace is in the functions that `analyst` exports to the page, and in allocators
//! that count in tests. Where [`rustix`] offers a call, it is used; `raw` holds the rest.
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
//!           filesystem   socket files, private directories, lock files
//!           notify       tell the service manager "ready"
//!  loop     poll         which descriptors can be read or written
//!           socket       listen, accept, connect
//!           transfer     bytes and descriptors, one system call each way
//!           credentials  who is at the other end
//!           process      what that process is called and has used, for logs and statistics
//!           identity     as whom it runs and what it may do
//!           control_group  which unit and session that is
//!           signals      signals as a readable descriptor
//!           spawn        children that do not inherit the broker's peculiarities
//!           launch       children that are not waited for, not even until they are executed
//!           clock        the current time, read once per turn
//!           cycles       the same clock without a call, where the kernel trusts the processor
//!           timer        the moment of the next deadline as a readable descriptor
//!           watch        changes of directories as a readable descriptor
//!           random       unguessable bytes
//!           datagram     entries for a log that another program keeps
//!           memory       what is too long for that, as a descriptor
//!           shared       memory that we write and others read, without a system call
//! ```
//!
//! A benchmark, which starts processes and looks at them, uses three more:
//!
//! ```text
//!           scheduling   which processors a process may use, its nice value, its slice
//!           switches     when it got and lost a processor
//!           load         what the processors of the machine did
//! ```
//!
//! A recorder has one more:
//!
//! ```text
//!           run_delay    how long it waited for a processor
//! ```
//!
//! A command that writes files and shows pages to its user has two more:
//!
//! ```text
//!           replace      a file that appears under its name when it is complete
//!           loopback     the user at the other end of a TCP connection
//! ```
//!
//! What a Rust program has already when `main` starts is not repeated here: the standard library
//! opens `/dev/null` on descriptors 0 to 2 that are closed, and ignores `SIGPIPE`.
//!
//! No function keeps state, reads the environment or logs. Errors are [`std::io::Error`], or an
//! enum when the caller has to decide something; a call that a signal interrupted is repeated,
//! except [`poll::Poller::wait`], which returns without events.
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

pub mod inherited;

pub mod crash;
pub mod daemonize;
pub mod filesystem;
pub mod inheritance;
pub mod notify;
pub mod private_directory;
pub mod privileges;
pub mod rlimit;
pub mod users;

pub mod poll;
pub mod socket;
pub mod transfer;

pub mod control_group;
pub mod credentials;
pub mod cycles;
pub mod identity;
pub mod launch;
pub mod process;
pub mod signals;
pub mod spawn;

pub mod clock;
pub mod datagram;
pub mod memory;
pub mod random;
pub mod shared;
pub mod timer;
pub mod watch;

pub mod loopback;
pub mod replace;

pub mod run_delay;

pub mod load;
pub mod scheduling;
pub mod switches;

#[expect(unsafe_code, reason = "system and C library calls for which rustix has no function")]
mod raw;
