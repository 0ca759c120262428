//! Costs of parsing, validating, stamping and building a message.
//!
//! Run with `cargo bench -p diligence-wire`. Times are for one message.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::num::NonZeroU32;

use diligence_wire::body::{EncodeArgs, Value};
use diligence_wire::message::{Builder, Message, SenderField};
use diligence_wire::names::{BusName, InterfaceName, MemberName, ObjectPath};
use divan::Bencher;
use divan::counter::BytesCount;

fn main() {
    divan::main();
}

#[divan::bench]
fn parse_call(bencher: Bencher<'_, '_>) {
    let bytes = call();
    bencher.bench_local(|| Message::parse(black_box(&bytes)).map(|message| message.serial()));
}

#[divan::bench]
fn parse_signal(bencher: Bencher<'_, '_>) {
    let bytes = properties_changed();
    bencher.bench_local(|| Message::parse(black_box(&bytes)).map(|message| message.serial()));
}

#[divan::bench]
fn parse_and_stamp_call(bencher: Bencher<'_, '_>) {
    forward(bencher, &call(), |_| ());
}

#[divan::bench]
fn parse_validate_and_stamp_signal(bencher: Bencher<'_, '_>) {
    forward(bencher, &properties_changed(), |message| {
        message.validate_body().expect("the message is valid");
    });
}

#[divan::bench]
fn stamp_forged_sender(bencher: Bencher<'_, '_>) {
    forward(bencher, &message(destined().sender(bus_name(":1.7")), &()), |_| ());
}

#[divan::bench]
fn validate_small(bencher: Bencher<'_, '_>) {
    validate(bencher, &("org.example.Player", 7_u32, true));
}

#[divan::bench]
fn validate_properties_20(bencher: Bencher<'_, '_>) {
    validate(bencher, &(properties(20),));
}

#[divan::bench]
fn validate_bytes_1_mib(bencher: Bencher<'_, '_>) {
    validate(bencher, &(vec![7_u8; 1 << 20],));
}

#[divan::bench]
fn validate_strings_1000(bencher: Bencher<'_, '_>) {
    validate(bencher, &(vec!["org.freedesktop.systemd1"; 1000],));
}

#[divan::bench]
fn validate_structs_1000(bencher: Bencher<'_, '_>) {
    validate(bencher, &(vec![(1_i64, 2_u64, "three"); 1000],));
}

#[divan::bench]
fn validate_text_1_mib(bencher: Bencher<'_, '_>) {
    validate(bencher, &("t".repeat(1 << 20),));
}

#[divan::bench]
fn build_driver_reply(bencher: Bencher<'_, '_>) {
    let mut out = Vec::with_capacity(1024);
    let call = NonZeroU32::MIN;
    bencher.bench_local(|| {
        out.clear();
        Builder::method_return(call)
            .sender(bus_name("org.freedesktop.DBus"))
            .destination(bus_name(":1.42"))
            .write(&mut out, NonZeroU32::MAX, black_box(&(":1.41",)))
            .map(|()| out.len())
    });
}

/// Parses `bytes`, passes the message to `check`, and adds a sender.
fn forward(bencher: Bencher<'_, '_>, bytes: &[u8], check: impl Fn(&Message<'_>)) {
    let sender = SenderField::new(bus_name(":1.42"));
    let mut out = Vec::with_capacity(4096);
    bencher.bench_local(|| {
        out.clear();
        let message = Message::parse(black_box(bytes)).expect("the message is valid");
        check(&message);
        message.stamp(&sender, &mut out);
        out.len()
    });
}

fn validate(bencher: Bencher<'_, '_>, args: &impl EncodeArgs) {
    let bytes = message(destined(), args);
    let message = Message::parse(&bytes).expect("the message is valid");
    bencher
        .counter(BytesCount::new(message.body().len()))
        .bench_local(|| black_box(&message).validate_body());
}

/// A call of about 200 bytes, which reads the properties of an object.
fn call() -> Vec<u8> {
    message(destined(), &("org.freedesktop.NetworkManager.Device",))
}

fn destined() -> Builder<'static> {
    Builder::method_call(
        ObjectPath::literal("/org/freedesktop/NetworkManager/Devices/3"),
        MemberName::literal("GetAll"),
    )
    .interface(PROPERTIES)
    .destination(bus_name("org.freedesktop.NetworkManager"))
}

fn properties_changed() -> Vec<u8> {
    let path = ObjectPath::literal("/org/freedesktop/NetworkManager/Devices/3");
    let signal = Builder::signal(path, PROPERTIES, MemberName::literal("PropertiesChanged"));
    let gone: &[&str] = &["ActiveConnection"];
    message(signal, &("org.freedesktop.NetworkManager.Device", properties(3), gone))
}

fn properties(count: u32) -> BTreeMap<String, Value> {
    (0..count).map(|n| (format!("Property{n}"), property(n))).collect()
}

fn property(number: u32) -> Value {
    match number % 3 {
        0 => Value::from(number),
        1 => Value::from("a text of some length"),
        _ => Value::from(true),
    }
}

fn message(builder: Builder<'_>, args: &impl EncodeArgs) -> Vec<u8> {
    let mut bytes = Vec::new();
    builder.write(&mut bytes, NonZeroU32::MIN, args).expect("the arguments fit");
    bytes
}

fn bus_name(text: &str) -> BusName<'_> {
    BusName::new(text).expect("a bus name")
}

const PROPERTIES: InterfaceName<'static> =
    InterfaceName::literal("org.freedesktop.DBus.Properties");
