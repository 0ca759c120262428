//! Passing file descriptors in both directions.

#![expect(clippy::unwrap_used, reason = "a panic in a test is its report")]

mod support;

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};

use diligence_client::wire::body::UnixFd;
use diligence_client::wire::message::Builder;
use diligence_client::wire::names::{BusName, MemberName, ObjectPath};
use diligence_client::wire::sasl::FdPassing;
use diligence_client::wire::sasl::client::FdNegotiation;
use diligence_client::{
    CallError, CallOptions, ConnectOptions, Connection, IncomingCall, NameFlags, ReceivedMessage,
    SendError, ServedInterface,
};
use support::PrivateTestBus;

const NAME: &str = "org.example.Files";
const PATH: &str = "/files";

/// Serves a method that reads a descriptor to its end, and returns the text in uppercase in a new
/// one.
fn serve_files(connection: &Connection) {
    let interface = ServedInterface::<()>::builder(NAME)
        .raw_method("Upper", &[("in", "h")], &[("out", "h")], |(), request| upper(&request))
        .build()
        .expect("a valid interface");
    connection.add_object(PATH, &interface, ()).expect("the path is free");
    connection.request_name(NAME, NameFlags::NONE).expect("the name has no owner");
}

fn upper(request: &IncomingCall) {
    let text = text_behind(request.message()).to_uppercase();
    let reply = pipe_with(&text);
    request
        .reply_with_descriptors(&(UnixFd(0),), vec![reply])
        .expect("descriptor passing was negotiated");
}

fn pipe_with(text: &str) -> OwnedFd {
    let (reader, mut writer) = std::io::pipe().expect("descriptors are left");
    writer.write_all(text.as_bytes()).expect("the text fits into the pipe");
    reader.into()
}

fn text_behind(message: &ReceivedMessage) -> String {
    let (place,): (UnixFd,) = message.read().expect("one descriptor");
    let descriptor = message.descriptor(place).expect("the descriptor was attached");
    let mut text = String::new();
    let copy = descriptor.try_clone().expect("descriptors are left");
    File::from(copy).read_to_string(&mut text).expect("UTF-8");
    text
}

fn call(connection: &Connection, descriptors: Vec<OwnedFd>) -> Result<ReceivedMessage, CallError> {
    let message =
        Builder::method_call(ObjectPath::new(PATH).unwrap(), MemberName::new("Upper").unwrap())
            .destination(BusName::new(NAME).unwrap());
    let options = CallOptions { descriptors, ..CallOptions::default() };
    connection.start_call(&message, &(UnixFd(0),), options)?.wait()
}

#[test]
fn descriptors_pass_in_both_directions() {
    let bus = PrivateTestBus::start();
    let _service = bus.serve(serve_files);
    let connection = bus.connect();
    assert_eq!(connection.fds(), FdPassing::Agreed);
    for text in ["one", "two"] {
        let reply = call(&connection, vec![pipe_with(text)]).unwrap();
        assert_eq!(text_behind(&reply), text.to_uppercase());
        assert_eq!(reply.descriptors().len(), 1);
        assert!(reply.descriptor(UnixFd(1)).is_none());
    }
}

#[test]
fn descriptors_of_many_messages_are_not_mixed_up() {
    let bus = PrivateTestBus::start();
    let _service = bus.serve(serve_files);
    let connection = bus.connect();
    let message =
        Builder::method_call(ObjectPath::new(PATH).unwrap(), MemberName::new("Upper").unwrap())
            .destination(BusName::new(NAME).unwrap());
    let calls: Vec<_> = (0..50)
        .map(|index| {
            let descriptors = vec![pipe_with(&format!("text {index}"))];
            let options = CallOptions { descriptors, ..CallOptions::default() };
            connection.start_call(&message, &(UnixFd(0),), options).unwrap()
        })
        .collect();
    for (index, call) in calls.into_iter().enumerate() {
        assert_eq!(text_behind(&call.wait().unwrap()), format!("TEXT {index}"));
    }
}

#[test]
fn python_clients_exchange_descriptors() {
    let bus = PrivateTestBus::start();
    let _service = bus.serve(serve_files);
    let script = r#"
import dbus, os
files = dbus.SessionBus().get_object('org.example.Files', '/files')
reader, writer = os.pipe()
os.write(writer, b'from python')
os.close(writer)
back = files.Upper(dbus.types.UnixFd(reader), dbus_interface='org.example.Files')
print(os.read(back.take(), 100).decode())
"#;
    assert_eq!(bus.python(script), "FROM PYTHON\n");
}

#[test]
fn descriptors_that_cannot_be_passed_are_refused() {
    let bus = PrivateTestBus::start();
    let options = ConnectOptions { fds: FdNegotiation::NotRequested, ..ConnectOptions::default() };
    let connection = Connection::open_with(&bus.address.parse().unwrap(), &options).unwrap();
    assert_eq!(connection.fds(), FdPassing::Off);
    let error = call(&connection, vec![pipe_with("x")]).unwrap_err();
    assert_eq!(error, CallError::Send(SendError::DescriptorsRefused));

    let connection = bus.connect();
    let many = (0..300).map(|_| pipe_with("")).collect();
    let error = call(&connection, many).unwrap_err();
    let expected = SendError::DescriptorsTooMany { count: 300, limit: 253 };
    assert_eq!(error, CallError::Send(expected));
    assert!(connection.as_fd().try_clone_to_owned().is_ok());
}
