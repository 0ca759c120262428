//! What objects say, and how large it is.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use diligence_testkit::recording::Recording;
use wire::body::{Value, Variant};
use wire::message::Builder;
use wire::names::{BusName, InterfaceName, MemberName, ObjectPath};

use crate::scene::*;

pub(crate) const CASES: &[Case] = &[
    Case {
        rule: 23,
        name: "the same value again",
        raises: |r| (0..4).for_each(|_| changed(r.wait_ms(500), &[("Count", 7)], &[])),
        misses: |r| (0..4).for_each(|turn| changed(r.wait_ms(500), &[("Count", turn)], &[])),
    },
    Case {
        rule: 24,
        name: "a signal for each property",
        raises: |r| split(r, 300),
        misses: |r| split(r, 3000),
    },
    Case {
        rule: 25,
        name: "changed, now ask me",
        raises: |r| invalidated(r, 1),
        misses: |r| invalidated(r, 200),
    },
    Case {
        rule: 26,
        name: "two signals for a change",
        raises: |r| doubled(r, 200),
        misses: |r| doubled(r, 5000),
    },
    Case {
        rule: 27,
        name: "a value that goes back and forth",
        raises: |r| ring(r, |turn| turn % 2),
        misses: |r| ring(r, |turn| turn),
    },
    Case {
        rule: 34,
        name: "a large answer",
        raises: |r| large(r, 70_000),
        misses: |r| large(r, 60_000),
    },
    Case {
        rule: 35,
        name: "sixteen descriptors",
        raises: |r| descriptors(r, 16),
        misses: |r| descriptors(r, 15),
    },
    Case {
        rule: 47,
        name: "an interface at the root",
        raises: |r| (0..3).for_each(|turn| at_root(r, turn)),
        misses: |r| (0..2).for_each(|turn| at_root(r, turn)),
    },
    Case {
        rule: 48,
        name: "a password for all",
        raises: |r| secret(r, "hunter2"),
        misses: |r| secret(r, ""),
    },
    Case {
        rule: 48,
        name: "a password for one, beside broadcasts of the same signal",
        raises: |r| {
            secret_for(r, CLIENT, "");
            secret(r, "hunter2");
        },
        misses: |r| {
            secret(r, "");
            secret_for(r, CLIENT, "hunter2");
        },
    },
];

fn split(r: &mut Recording, micros: i64) {
    for (value, name) in (1..).zip(["Count", "Size", "Owner"]) {
        changed(r.wait_us(micros), &[(name, value)], &[]);
    }
}

fn invalidated(r: &mut Recording, after_ms: i64) {
    for turn in 0..3_u32 {
        changed(r, &[], &["Count"]);
        ask_standard(r.wait_ms(after_ms), BOX, "Properties.Get", &(IFACE, "Count"), turn);
        uneven(r, turn.into());
    }
}

fn doubled(r: &mut Recording, apart_us: i64) {
    for turn in 0..3_u32 {
        changed(r.wait_ms(300), &[("Count", turn)], &[]);
        r.wait_us(apart_us).signal(SERVICE, &signal("CountChanged"), &(turn,));
    }
}

fn ring(r: &mut Recording, value: fn(u32) -> u32) {
    for turn in 0..10_u32 {
        let what = "Properties.Set";
        ask_standard(r.wait_ms(3), BOX, what, &(IFACE, "Limit", Variant(value(turn))), 0);
        changed(r.wait_ms(1), &[("Limit", value(turn))], &[]);
    }
}

fn large(r: &mut Recording, len: usize) {
    let call = pending(r, CLIENT, MAIL, "Fetch");
    r.wait_us(900).reply(&call, SERVICE, &(vec![7_u8; len],));
}

fn descriptors(r: &mut Recording, count: u32) {
    let path = ObjectPath::new(BOX).expect("a path");
    let interface = InterfaceName::new(IFACE).expect("an interface");
    let member = MemberName::new("Open").expect("a member");
    let message = Builder::signal(path, interface, member)
        .sender(BusName::new(SERVICE).expect("a name"))
        .unix_fds(count);
    let mut bytes = Vec::new();
    let serial = NonZeroU32::new(9).expect("not 0");
    message.write(&mut bytes, serial, &()).expect("a message that can be sent");
    r.raw(&bytes);
}

fn at_root(r: &mut Recording, turn: u32) {
    let call = r.call(CLIENT, MAIL, &format!("/ {IFACE}.Count"), &());
    r.wait_us(200).reply(&call, SERVICE, &(turn,)).wait_ms(5);
}

fn secret(r: &mut Recording, password: &str) {
    let values = BTreeMap::from([("Password", Value::String(password.into()))]);
    r.signal(SERVICE, &signal("Joined"), &(values,));
}

fn secret_for(r: &mut Recording, recipient: &str, password: &str) {
    let values = BTreeMap::from([("Password", Value::String(password.into()))]);
    r.signal_to(SERVICE, recipient, &signal("Joined"), &(values,));
}
