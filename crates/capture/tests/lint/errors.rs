//! What goes wrong.

use diligence_capture::record::{
    Bus, BusId, Clock, Content, EndCause, Fact, Gap, GapCause, Method,
};
use diligence_testkit::recording::{Call, DRIVER, Recording};
use wire::message::Flags;

use crate::scene::*;

pub(crate) const CASES: &[Case] = &[
    Case {
        rule: 13,
        name: "no answer",
        raises: |r| unanswered(r, Flags::NONE, 6000),
        misses: |r| unanswered(r, Flags::NONE, 4000),
    },
    Case {
        rule: 13,
        name: "no answer, and none wanted",
        raises: |r| unanswered(r, Flags::NO_AUTO_START, 6000),
        misses: |r| unanswered(r, Flags::NO_REPLY_EXPECTED, 60_000),
    },
    Case {
        rule: 14,
        name: "the service leaves first",
        raises: |r| {
            pending(r, CLIENT, MAIL, "Load");
            leave(r);
        },
        misses: |r| {
            ask(r, "Load", 300, 1);
            leave(r);
        },
    },
    Case {
        rule: 15,
        name: "an error after 25 seconds",
        raises: |r| no_reply(r, 25_100),
        misses: |r| no_reply(r, 20_000),
    },
    Case {
        rule: 16,
        name: "ten times the same error",
        raises: |r| storm(r, 10),
        misses: |r| storm(r, 9),
    },
    Case {
        rule: 17,
        name: "what is not there",
        raises: |r| (0..3).for_each(|turn| probe(r, turn)),
        misses: |r| (0..2).for_each(|turn| probe(r, turn)),
    },
    Case { rule: 18, name: "is he there now", raises: |r| retry(r, 3), misses: |r| retry(r, 2) },
    Case {
        rule: 41,
        name: "too many rules",
        raises: |r| refused(r, "org.freedesktop.DBus.Error.LimitsExceeded"),
        misses: |r| refused(r, "org.freedesktop.DBus.Error.MatchRuleInvalid"),
    },
    Case {
        rule: 41,
        name: "signals that were lost",
        raises: |r| {
            let why = String::from("its queue is full");
            r.fact(Fact::Dropped { recipient: Some(CLIENT.into()), why, count: 12 });
        },
        misses: |r| {
            r.fact(Fact::Activatable { name: MAIL.into() });
        },
    },
    Case {
        rule: 41,
        name: "a connection that the bus ended",
        raises: |r| left(r, Some("it sent nonsense")),
        misses: |r| left(r, None),
    },
    Case {
        rule: 43,
        name: "answers to who wants none",
        raises: |r| unwanted(r, 10),
        misses: |r| unwanted(r, 9),
    },
    Case {
        rule: 49,
        name: "two answers",
        raises: |r| {
            let call = pending(r, CLIENT, MAIL, "Count");
            r.wait_us(90).reply(&call, SERVICE, &(1_u32,)).wait_us(90).reply(&call, SERVICE, &());
        },
        misses: |r| {
            let call = pending(r, CLIENT, MAIL, "Count");
            r.wait_us(90).reply(&call, SERVICE, &(1_u32,));
            let before = Call { caller: CLIENT.into(), serial: call.serial.saturating_add(999) };
            r.wait_us(90).reply(&before, SERVICE, &(1_u32,));
        },
    },
    Case {
        rule: 49,
        name: "an answer of somebody else",
        raises: |r| {
            let call = pending(r, CLIENT, SERVICE, "Count");
            r.wait_us(90).reply(&call, OTHER, &(1_u32,)).wait_us(90).reply(&call, SERVICE, &());
        },
        misses: |r| {
            let call = pending(r, CLIENT, SERVICE, "Count");
            r.wait_us(90).reply(&call, SERVICE, &(1_u32,));
        },
    },
    Case {
        rule: 50,
        name: "a recorder that was thrown out",
        raises: |r| {
            let cause = GapCause::Disconnected;
            r.gap(Gap { at: None, bus: BusId(0), cause, lost: None });
        },
        misses: |_| {},
    },
    Case {
        rule: 50,
        name: "a bus that was gone before anybody wanted an end",
        raises: |r| ended(r, EndCause::NoBus),
        misses: |r| ended(r, EndCause::Command),
    },
    Case {
        rule: 50,
        name: "a file that could not be written any more",
        raises: |r| ended(r, EndCause::Broken),
        misses: |r| ended(r, EndCause::Size),
    },
    Case {
        rule: 50,
        name: "a message that was cut",
        raises: |r| {
            r.signal(SERVICE, &signal("New"), &("a text that is longer",)).cut(120);
        },
        misses: |r| {
            r.signal(SERVICE, &signal("New"), &("a text that is longer",));
        },
    },
    Case {
        rule: 50,
        name: "a recording by eavesdropping",
        raises: |r| {
            r.bus(Bus { method: Method::Eavesdrop, ..Bus::default() });
        },
        misses: |r| {
            r.bus(Bus { method: Method::Trace, ..Bus::default() });
        },
    },
    Case {
        rule: 50,
        name: "a text, in which an answer need not be",
        raises: |r| {
            *r = recorded(Bus { content: Content::Headers, ..Bus::default() });
            unanswered(r, Flags::NONE, 6000);
        },
        misses: |r| {
            *r = recorded(Bus::default());
            unanswered(r, Flags::NONE, 4000);
        },
    },
    Case {
        rule: 50,
        name: "what messages say is crossed out, so that they may well say the same",
        raises: |r| {
            *r = recorded(Bus { content: Content::Redacted, ..Bus::default() });
            (0..9).for_each(|turn| same_property(r, turn));
        },
        misses: |r| {
            *r = recorded(Bus::default());
            (0..2).for_each(|turn| same_property(r, turn));
        },
    },
    Case {
        rule: 50,
        name: "no times, so nothing comes at once",
        raises: |r| {
            *r = recorded(Bus { clock: Clock::Absent, ..Bus::default() });
            (0..200).for_each(|turn| ask(r, "GetCount", 0, turn));
        },
        misses: |r| {
            *r = recorded(Bus::default());
            ask(r, "GetCount", 0, 1);
        },
    },
    Case {
        rule: 50,
        name: "a clock that was set back",
        raises: |r| two_signals(r, -20_000),
        misses: |r| two_signals(r, -20),
    },
    Case {
        rule: 50,
        name: "nobody is known",
        raises: |r| strangers(r, 4),
        misses: |r| strangers(r, 3),
    },
];

/// The service says the same of a property again.
fn same_property(r: &mut Recording, turn: i64) {
    changed(r, &[("Count", 0)], &[]);
    uneven(r, turn);
}

fn unanswered(r: &mut Recording, flags: Flags, millis: i64) {
    r.call_with(flags, CLIENT, MAIL, &method("Load"), &());
    ask(r.wait_ms(millis), "Count", 300, 1);
}

fn ended(r: &mut Recording, cause: EndCause) {
    ask(r, "Count", 300, 1);
    r.fact(Fact::Ended { cause });
}

fn leave(r: &mut Recording) {
    r.wait_ms(5).owner_changed(MAIL, SERVICE, "").owner_changed(SERVICE, SERVICE, "");
}

fn no_reply(r: &mut Recording, millis: i64) {
    let call = pending(r, CLIENT, MAIL, "Load");
    r.wait_ms(millis).error(&call, DRIVER, "org.freedesktop.DBus.Error.NoReply", "nothing came");
}

fn storm(r: &mut Recording, count: i64) {
    for turn in 0..count {
        fail(r, "Send", "org.example.Error.Full");
        uneven(r, turn);
    }
}

fn probe(r: &mut Recording, turn: i64) {
    fail(r, "Undo", "org.freedesktop.DBus.Error.UnknownMethod");
    uneven(r, turn);
}

fn retry(r: &mut Recording, count: i64) {
    for turn in 0..count {
        let call = r.call(CLIENT, "org.example.Absent", &method("Count"), &());
        r.wait_us(90).error(&call, DRIVER, "org.freedesktop.DBus.Error.ServiceUnknown", "no");
        r.wait_ms(5000 + 2000 * turn);
    }
}

fn refused(r: &mut Recording, error: &str) {
    let what = format!("/org/freedesktop/DBus {DRIVER}.AddMatch");
    let call = r.call(CLIENT, DRIVER, &what, &(rule("New"),));
    r.wait_us(90).error(&call, DRIVER, error, "no");
}

fn left(r: &mut Recording, why: Option<&str>) {
    r.fact(Fact::Left { unique: OTHER.into(), why: why.map(str::to_owned) });
}

fn unwanted(r: &mut Recording, count: u32) {
    for number in 0..count {
        let call = r.call_with(Flags::NO_REPLY_EXPECTED, CLIENT, MAIL, &method("Note"), &());
        r.wait_us(90).reply(&call, SERVICE, &(number,)).wait_ms(5);
    }
}

fn two_signals(r: &mut Recording, micros: i64) {
    r.signal(SERVICE, &signal("New"), &()).wait_us(micros).signal(SERVICE, &signal("New"), &());
}

/// Beside the three who are known.
fn strangers(r: &mut Recording, count: u32) {
    for number in 0..count {
        r.wait_ms(50).signal(&format!(":1.{}", 50 + number), &signal("New"), &());
    }
}
