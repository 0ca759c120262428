//! Errors when the process has no descriptor left. It is a single test, because the limit applies
//! to the process.

use rustix::process::{Resource, Rlimit, setrlimit};
use std::fs::File;
use std::io::IoSlice;
use std::os::fd::{AsFd, AsRawFd};
use sys::rlimit::OpenFiles;
use sys::socket::{Accepted, UnixAddress, accept, connect_unix, listen_unix, socket_pair};
use sys::transfer::{DescriptorDelivery, ReceiveOutcome, TransferWait, receive, send};

#[test]
fn running_out_of_descriptors_is_reported_not_hidden() {
    let (here, there) = socket_pair().unwrap();
    let name = format!("diligence-sys-exhaustion-{}", std::process::id());
    let listener = listen_unix(UnixAddress::Abstract(name.as_bytes())).unwrap();
    let client = connect_unix(UnixAddress::Abstract(name.as_bytes())).unwrap();
    send(&here, &[IoSlice::new(b"x")], &[here.as_fd(); 5], TransferWait::Never).unwrap();

    // Leaves room for two descriptors: the kernel assigns the lowest free number.
    let lowest_free = File::open("/dev/null").unwrap().as_raw_fd();
    let before = OpenFiles::current();
    let soft = u64::try_from(lowest_free).unwrap() + 2;
    setrlimit(Resource::Nofile, Rlimit { current: Some(soft), maximum: before.hard() }).unwrap();

    let mut descriptors = Vec::new();
    let received = receive(&there, &mut [0; 8], &mut descriptors, TransferWait::Never).unwrap();
    assert_eq!(received, ReceiveOutcome { bytes: 1, descriptors: DescriptorDelivery::Truncated });
    assert_eq!(descriptors.len(), 2);

    let accepted = accept(&listener).unwrap();
    assert!(matches!(accepted, Accepted::OutOfRoom(_)), "{accepted:?}");
    drop(descriptors);
    let accepted = accept(&listener).unwrap();
    assert!(matches!(accepted, Accepted::Connection(_)), "the connection was not lost");

    before.restore().unwrap();
    assert_eq!(OpenFiles::current(), before);
    drop(client);
}
