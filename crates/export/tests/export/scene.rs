//! A recording with every kind of message.

use std::collections::HashMap;

use testkit::recording::{DRIVER, TestRecording};
use wire::body::Value;
use wire::message::Flags;

const NO_REPLY: &str = "org.freedesktop.DBus.Error.NoReply";

/// A reader calls a mail service, which is sometimes slow, while a recorder listens.
pub(crate) fn office() -> TestRecording {
    let mut recording = TestRecording::new();
    recording.bus(capture::record::RecordedBus { name: "session".into(), ..Default::default() });
    recording.owner("org.example.Mail", ":1.6").process(":1.5", 42, "reader");
    recording.process(":1.6", 50, "maild");
    recording.fact(capture::record::Fact::Recorder { unique: ":1.9".into() });
    recording.rule(":1.5", "type='signal',member='Changed'");
    for millis in [1, 2, 3, 40] {
        let call =
            recording.call(":1.5", "org.example.Mail", "/m org.example.Mail.Count", &("In",));
        recording.wait_ms(millis).reply(&call, ":1.6", &(7_u32,));
    }
    let call = recording.call(":1.5", ":1.6", "/m org.example.Mail.Find", &("a \"b\", c",));
    recording.wait_ms(9).error(&call, ":1.6", "org.example.Error.Busy", "not now");
    let call = recording.call(":1.5", "org.example.Mail", "/m org.example.Mail.Find", &("z",));
    recording.wait_ms(900).error(&call, DRIVER, NO_REPLY, "late");
    recording.call(":1.5", "org.example.Mail", "/m org.example.Mail.Find", &("never",));
    let to = "org.example.Mail";
    recording.call_with(Flags::NO_REPLY_EXPECTED, ":1.5", to, "/m org.example.Mail.Go", &());
    let changed = HashMap::from([("Unread", Value::Uint32(3))]);
    for _ in 0..3 {
        recording.wait_ms(5).signal(":1.6", "/m org.example.Mail.Changed", &(&changed,));
    }
    recording.signal(":1.6", "/m org.example.Mail.Changed", &("x".repeat(99),)).cut(150);
    recording.signal_to(":1.6", ":1.5", "/m org.example.Mail.Sent", &());
    recording.ask_bus(":1.5", "GetId", &(), &("abc",));
    recording.ask_bus(":1.9", "ListNames", &(), &(vec!["org.example.Mail"],));
    recording
}
