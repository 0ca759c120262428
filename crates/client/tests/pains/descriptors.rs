//! Descriptors pass in one direction only, or fail without a reason when there are too many. Here,
//! they pass in both directions and in both front ends, and an error has the limit.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;

use diligence_client::asynchronous::{self, Runtime};
use diligence_client::wire::body::UnixFd;
use diligence_client::wire::message::Builder;
use diligence_client::wire::names::{BusName, InterfaceName, MemberName, ObjectPath};
use diligence_client::wire::sasl::client::FdNegotiation;
use diligence_client::{
    CallError, CallOptions, ConnectOptions, IncomingCall, NameFlags, ReceivedMessage, SendError,
    ServedInterface,
};

use crate::support::{BusProgram, PrivateTestBus, TestService};

mod tests {
    crate::pains! {
        blocking: descriptors_pass_in_both_directions;
        asynchronous: descriptors_pass_in_both_directions_in_a_task;
    }
}

const NAME: &str = "org.example.Files";

/// Serves a method that returns as many descriptors as it gets, with texts in uppercase.
fn serve(bus: &PrivateTestBus) -> TestService {
    let upper = |(): &mut (), call: IncomingCall| {
        let message = call.message();
        let texts = message.descriptors().iter().map(|fd| text_in(fd).to_uppercase());
        let descriptors: Vec<_> = texts.map(|text| pipe_with(&text)).collect();
        let places: Vec<_> = (0..descriptors.len() as u32).map(UnixFd).collect();
        call.reply_with_descriptors(&(places,), descriptors).expect("the bus passes descriptors");
    };
    let interface = ServedInterface::<()>::builder(NAME)
        .raw_method("Upper", &[("in", "ah")], &[("out", "ah")], upper)
        .build()
        .expect("a valid interface");
    bus.serve(move |connection| {
        connection.add_object("/files", &interface, ()).expect("a new object");
        connection.request_name(NAME, NameFlags::NONE).expect("a free name");
    })
}

fn pipe_with(text: &str) -> OwnedFd {
    let (reader, mut writer) = std::io::pipe().unwrap();
    writer.write_all(text.as_bytes()).unwrap();
    reader.into()
}

fn text_in(descriptor: &OwnedFd) -> String {
    let mut text = String::new();
    let copy = descriptor.try_clone().unwrap();
    File::from(copy).read_to_string(&mut text).unwrap();
    text
}

fn method() -> Builder<'static> {
    Builder::method_call(ObjectPath::literal("/files"), MemberName::literal("Upper"))
        .interface(InterfaceName::literal(NAME))
        .destination(BusName::new(NAME).unwrap())
}

/// A call with this number of descriptors.
fn arguments(count: u32) -> (Vec<UnixFd>, CallOptions) {
    let descriptors = (0..count).map(|index| pipe_with(&format!("text {index}"))).collect();
    let options = CallOptions { descriptors, ..CallOptions::default() };
    ((0..count).map(UnixFd).collect(), options)
}

fn check(reply: &ReceivedMessage, count: u32) {
    let (places,): (Vec<UnixFd>,) = reply.read().unwrap();
    assert_eq!(places.len(), count as usize);
    for (index, place) in places.into_iter().enumerate() {
        let descriptor = reply.descriptor(place).expect("a descriptor");
        assert_eq!(text_in(descriptor), format!("TEXT {index}"));
    }
}

fn check_errors(too_many: &CallError, refused: &CallError) {
    let expected = SendError::DescriptorsTooMany { count: MANY as usize, limit: 253 };
    assert_eq!(too_many, &CallError::Send(expected));
    assert_eq!(
        too_many.to_string(),
        "the message has 300 descriptors, but at most 253 are allowed"
    );
    assert_eq!(refused, &CallError::Send(SendError::DescriptorsRefused));
}

fn without_descriptors() -> ConnectOptions {
    ConnectOptions { fds: FdNegotiation::NotRequested, ..ConnectOptions::default() }
}

fn descriptors_pass_in_both_directions(program: BusProgram) {
    let bus = PrivateTestBus::start_this(program);
    let _service = serve(&bus);
    let connection = bus.connect();
    let call = |connection: &diligence_client::Connection, count| {
        let (places, options) = arguments(count);
        connection.start_call(&method(), &(places,), options)?.wait()
    };
    for count in [1, 2, SOME] {
        check(&call(&connection, count).unwrap(), count);
    }
    let address = bus.address.parse().unwrap();
    let other = diligence_client::Connection::open_with(&address, &without_descriptors()).unwrap();
    check_errors(&call(&connection, MANY).unwrap_err(), &call(&other, 1).unwrap_err());
    // The connections live on.
    check(&call(&connection, 1).unwrap(), 1);
}

async fn descriptors_pass_in_both_directions_in_a_task(
    program: BusProgram,
    runtime: &(impl Runtime + Sync),
) {
    let bus = PrivateTestBus::start_this(program);
    let _service = serve(&bus);
    let connection = asynchronous::Connection::open(&bus.address, runtime).await.unwrap();
    let call = |connection: &asynchronous::Connection, count| {
        let (places, options) = arguments(count);
        connection.start_call(&method(), &(places,), options)
    };
    for count in [1, 2, SOME] {
        check(&call(&connection, count).await.unwrap(), count);
    }
    let (address, options) = (bus.address.parse().unwrap(), without_descriptors());
    let other = asynchronous::Connection::open_with(&address, &options, runtime).await.unwrap();
    let too_many = call(&connection, MANY).await.unwrap_err();
    check_errors(&too_many, &call(&other, 1).await.unwrap_err());
    check(&call(&connection, 1).await.unwrap(), 1);
}

/// As many descriptors as both buses pass in one message by default.
const SOME: u32 = 16;
/// More descriptors than the kernel passes at once.
const MANY: u32 = 300;
