//! Messages are shown as in other tools. `show/tools.pcap` was recorded by dbus-monitor while
//! busctl, dbus-monitor and gdbus printed the same messages. Each tool stamped its own copy; the
//! files next to the recording have the times of the recording instead.

use std::path::Path;
use std::time::Duration;

use capture::Capture;
use capture::record::{BusId, Fact, MessageContent, ProcessorUse, RecordedBus, RecordedProcess};
use capture::show::{
    CallDetails, CommandBus, CommandKind, CommandParts, Controls, Inexpressible, Knowledge,
    LineClock, MessageFormat, MessageLines, SendCommand,
};
use capture::text::{Colors, Style, columns};
use testkit::golden;
use testkit::recording::TestRecording;
use wire::body::Value;
use wire::message::{Flags, MessageType};

fn tools(file: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/show").join(file)
}

fn recorded() -> Capture {
    Capture::open(&tools("tools.pcap")).expect("a recording")
}

fn shown(capture: &Capture, format: MessageFormat) -> Vec<String> {
    let mut buffer = capture::model::MessageBuffer::default();
    let show = |message| {
        let mut text = String::new();
        format.push(&mut text, &message, &mut buffer, Controls::Raw).expect("it can be read");
        text
    };
    capture.messages().map(show).collect()
}

#[test]
fn messages_are_shown_like_busctl_monitor() {
    golden::check(tools("busctl.txt"), &shown(&recorded(), MessageFormat::Busctl).concat());
}

#[test]
fn messages_are_shown_like_dbus_monitor() {
    golden::check(tools("dbus-monitor.txt"), &shown(&recorded(), MessageFormat::DbusSend).concat());
}

#[test]
fn messages_are_shown_like_gdbus_monitor() {
    let capture = recorded();
    let lines = shown(&capture, MessageFormat::Gdbus);
    let is_signal = |kind| kind == MessageType::Signal;
    // The tool shows broadcast signals of objects.
    let signals = capture
        .messages()
        .zip(lines)
        .filter(|(message, _)| is_signal(message.kind()) && message.destination_id().is_none());
    let lines: String = signals.map(|(_, line)| line).collect();
    golden::check(tools("gdbus.txt"), &lines);
}

#[test]
fn messages_are_shown_on_one_line_each_like_gdbus() {
    let mut recording = TestRecording::new();
    let call = recording.call(":1.5", "org.x.Mail", "/ org.x.Mail.Find", &("two\nlines",));
    recording.error(&call, ":1.6", "org.x.Error.Failed", "Traceback:\n\tfile 'a\\b'\u{1b}[31m\n");
    let lines = shown(&recording.capture(), MessageFormat::Gdbus);
    let expected = ":1.6 -> :1.5 Error: GDBus.Error:org.x.Error.Failed: \
                    Traceback:\\n\\tfile 'a\\b'\\u001b[31m\\n\n";
    assert_eq!(lines[1], expected);
    assert!(lines.iter().all(|line| line.lines().count() == 1), "{lines:?}");
}

#[test]
fn json_messages_are_like_busctl_with_additional_keys() {
    let ours = shown(&recorded(), MessageFormat::Json);
    let expected = std::fs::read_to_string(tools("busctl.json")).expect("a file");
    let mut compared = 0;
    for line in ours {
        let json: serde_json::Value = serde_json::from_str(&line).expect("a line of JSON");
        let (start, ours) = line.split_once(",\"number\":").expect("our keys");
        match expected.lines().find(|line| line.strip_suffix('}') == Some(start)) {
            Some(_) => compared += 1,
            // The tool fails for dictionaries with numeric keys.
            None => assert_eq!(json["member"], "Changed5", "{line}"),
        }
        assert!(ours.contains("\"size\":"), "{ours}");
    }
    assert_eq!(compared, expected.lines().count());
}

#[test]
fn json_messages_have_more_keys_than_busctl() {
    let mut recording = TestRecording::new();
    recording.process(":1.5", 42, "mailer").owner("org.x.Mail", ":1.6");
    let call = recording.call(":1.5", ":1.6", "/ org.x.Mail.Get", &());
    recording.wait_us(300).reply(&call, ":1.6", &(f64::NAN,));
    recording.signal(":1.6", "/ org.x.Mail.Now", &("x".repeat(200),)).delivered(3, &[(7, 9, 1)]);
    recording.signal(":1.6", "/ org.x.Mail.Cut", &("x".repeat(200),)).cut(180);
    let lines = shown(&recording.capture(), MessageFormat::Json);
    for (line, ours) in [
        (
            0,
            r#""data":[]},"number":1,"size":104,"destination_name":"org.x.Mail","process":"mailer[42]","duration_ns":300000,"partner":2}"#,
        ),
        (
            1,
            r#""data":[null]},"number":2,"size":72,"sender_name":"org.x.Mail","duration_ns":300000,"partner":1}"#,
        ),
        (
            2,
            r#""sender_name":"org.x.Mail","recipients":[":1.7"],"in_bus":{"route_ns":3000,"send_ns":6000}}"#,
        ),
        (
            3,
            r#""payload":{"type":"s","data":null},"number":4,"size":301,"sender_name":"org.x.Mail","problem":"cut"}"#,
        ),
    ] {
        assert!(lines[line].trim_end().ends_with(ours), "{}", lines[line]);
    }
}

#[test]
fn redacted_messages_are_shown_as_redacted() {
    let mut recording = TestRecording::new();
    recording.bus(RecordedBus { content: MessageContent::Redacted, ..RecordedBus::default() });
    recording.signal(":1.6", "/ org.x.Mail.New", &("xxx", 0_u32));
    let capture = recording.capture();
    for (format, expected) in [
        (
            MessageFormat::Busctl,
            "MESSAGE \"su\" {\n          (redacted: the values of the body were removed)\n          \
             STRING \"xxx\";\n",
        ),
        (MessageFormat::Gdbus, "org.x.Mail.New ('xxx', uint32 0) (redacted)\n"),
        (MessageFormat::DbusSend, "uint32 0\n   (redacted: the values of the body were removed)\n"),
        (MessageFormat::Json, r#""payload":{"type":"su","data":null}"#),
        (MessageFormat::Json, r#""problem":"redacted"}"#),
    ] {
        let text = shown(&capture, format).concat();
        assert!(text.contains(expected), "{text}");
    }
    let signal = capture.messages().next().expect("a signal");
    let command = SendCommand::Busctl.of(&signal, &mut capture::model::MessageBuffer::default());
    assert!(matches!(command, Err(Inexpressible::NoArguments)), "{command:?}");
}

/// The introspection data of `org.x.Mixer`, with this type of the argument `mute`.
fn mixer(name: &str, mute: &str, types: &str) -> Fact {
    let xml = format!(
        "<node><interface name='org.x.Mixer'><method name='Mute'><arg name='{mute}' \
         type='{types}'/><arg type='s'/><arg name='was' type='b' direction='out'/></method>\
         <signal name='Muted'><arg name='by' type='ay'/></signal></interface></node>"
    );
    Fact::Introspection { name: name.into(), path: "/".into(), xml }
}

#[test]
fn arguments_are_shown_with_names_from_introspection() {
    let mut recording = TestRecording::new();
    recording.owner("org.x.Sound", ":1.6");
    recording.fact(mixer(":1.9", "other", "b"));
    recording.fact(mixer("org.x.Sound", "mute", "b"));
    let call = recording.call(":1.5", "org.x.Sound", "/ org.x.Mixer.Mute", &(true, "x"));
    recording.reply(&call, ":1.6", &(false,)).error(&call, ":1.6", "org.x.No", "x");
    recording.signal(":1.6", "/ org.x.Mixer.Muted", &(vec![1_u8, 2],));
    // Types that only another service describes, and types that no service describes.
    recording.call(":1.5", ":1.7", "/ org.x.Mixer.Mute", &(true, "x"));
    recording.call(":1.5", "org.x.Sound", "/ org.x.Mixer.Mute", &(1_u32, "x"));
    recording.call(":1.5", "org.x.Sound", "/ org.x.Other.Mute", &(true, "x"));
    let capture = recording.capture();
    for (format, expected) in [
        (
            MessageFormat::Busctl,
            [
                "          mute: BOOLEAN true;\n          STRING \"x\";\n",
                "          was: BOOLEAN false;\n",
                "          by: ARRAY \"y\" {\n                  BYTE 1;\n",
                "          other: BOOLEAN true;\n",
                "          UINT32 1;\n",
                "          BOOLEAN true;\n",
            ],
        ),
        (
            MessageFormat::DbusSend,
            [
                "   mute: boolean true\n   string \"x\"\n",
                "   was: boolean false\n",
                "   by: array of bytes [\n      01 02\n   ]\n",
                "   other: boolean true\n",
                "   uint32 1\n",
                "   boolean true\n",
            ],
        ),
        (
            MessageFormat::Gdbus,
            [
                "org.x.Mixer.Mute (mute: true, 'x')\n",
                "returns (was: false,)\n",
                "Muted (by: [byte 0x01, 0x02],)\n",
                "(other: true, 'x')\n",
                "(uint32 1, 'x')\n",
                "(true, 'x')\n",
            ],
        ),
        (
            MessageFormat::Json,
            [
                r#","arguments":["mute",null]}"#,
                r#","arguments":["was"]}"#,
                r#","arguments":["by"]}"#,
                r#","arguments":["other",null]}"#,
                r#""number":6,"size":130}"#,
                "}\n",
            ],
        ),
    ] {
        let all = shown(&capture, format);
        let named = all.iter().filter(|text| !text.contains("org.x.No"));
        for (text, expected) in named.zip(expected) {
            assert!(text.contains(expected), "{format:?}: {expected:?} is not in {text}");
        }
        assert!(!all[5].contains("arguments"), "{}", all[5]);
    }
}

#[test]
fn commands_send_similar_messages() {
    let mut recording = TestRecording::new();
    let call = recording.call(
        ":1.5",
        "org.x.Mail",
        "/org/x org.x.Mail.Find",
        &("it's", -5_i32, vec!["a", "b c"], Value::Uint32(7)),
    );
    recording.reply(&call, ":1.6", &());
    recording.owner("org.x.Mail", ":1.6").signal(
        ":1.6",
        "/org/x org.x.Mail.Now",
        &(1.5_f64, vec![(1_u8, true)]),
    );
    let capture = recording.capture();
    let mut buffer = capture::model::MessageBuffer::default();
    let mut of = |number: usize, command: SendCommand| {
        let message = capture.messages().nth(number).expect("a message");
        command.of(&message, &mut buffer)
    };
    for (number, command, expected) in [
        (
            0,
            SendCommand::Busctl,
            r"busctl --user -- call org.x.Mail /org/x org.x.Mail Find siasv 'it'\''s' -5 2 a 'b c' u 7",
        ),
        (
            0,
            SendCommand::Gdbus,
            r#"gdbus call --session --dest org.x.Mail --object-path /org/x --method org.x.Mail.Find -- '"it'\''s"' -5 '['\''a'\'', '\''b c'\'']' '<uint32 7>'"#,
        ),
        (
            1,
            SendCommand::DbusSend,
            r"dbus-send --session --print-reply --dest=org.x.Mail /org/x org.x.Mail.Find 'string:it'\''s' int32:-5 'array:string:a,b c' variant:uint32:7",
        ),
        (2, SendCommand::Busctl, "busctl --user emit /org/x org.x.Mail Now 'da(yb)' 1.5 1 1 true"),
        (
            2,
            SendCommand::Gdbus,
            "gdbus emit --session --object-path /org/x --signal org.x.Mail.Now 1.5 '[(byte 0x01, true)]'",
        ),
        (
            2,
            SendCommand::MatchRule,
            "type='signal',sender='org.x.Mail',path='/org/x',interface='org.x.Mail',member='Now'",
        ),
    ] {
        assert_eq!(of(number, command).expect("a command").trim_end(), expected);
    }
    assert!(of(0, SendCommand::Python).expect("a program").contains(
        r#"bus.call_sync("org.x.Mail", "/org/x", "org.x.Mail", "Find", GLib.Variant.parse(None, "(\"it's\", -5, ['a', 'b c'], <uint32 7>)"), None, 0, -1, None)"#
    ));
    assert!(
        matches!(of(2, SendCommand::DbusSend), Err(Inexpressible::Type { types }) if types == "a(yb)")
    );
}

#[test]
fn commands_use_the_address_of_the_bus() {
    for (values, expected_busctl, expected_gdbus) in [
        (vec![], "", ""),
        (vec![Value::from("plain")], " s plain", r" ''\''plain'\'''"),
        (vec![Value::Boolean(true)], " b true", " true"),
        (
            vec![Value::Uint64(u64::MAX)],
            " t 18446744073709551615",
            " 'uint64 18446744073709551615'",
        ),
        (vec![Value::Double(2.0)], " d 2", " 2.0"),
        (vec![Value::Struct(vec![Value::Int32(1)])], " '(i)' 1", " '(1,)'"),
        (vec![Value::Bytes(vec![1, 255])], " ay 2 1 255", " '[byte 0x01, 0xff]'"),
    ] {
        let signature: String = values.iter().map(notation::signature).collect();
        let parts = CommandParts {
            kind: CommandKind::Call,
            bus: CommandBus::Address("unix:path=/b"),
            destination: "a.b",
            path: "/a",
            interface: "a.b.I",
            member: "M",
            signature: &signature,
            values: &values,
        };
        let busctl = "busctl --address=unix:path=/b call a.b /a a.b.I M";
        assert_eq!(parts.busctl(), format!("{busctl}{expected_busctl}\n"));
        let gdbus =
            "gdbus call --address unix:path=/b --dest a.b --object-path /a --method a.b.I.M";
        assert_eq!(parts.gdbus(), format!("{gdbus}{expected_gdbus}\n"));
    }
}

#[test]
fn commands_quote_words_for_a_shell() {
    for (text, expected) in [
        ("plain", "plain"),
        ("", "''"),
        ("it's", r"'it'\''s'"),
        ("$(rm -rf /)", "'$(rm -rf /)'"),
        (r"`a`\", r"'`a`\'"),
        ("a\nb", r"$'a\012b'"),
        ("\u{202e}'\\", r"$'\342\200\256\'\\'"),
    ] {
        let values = [Value::from(text)];
        let parts = CommandParts {
            kind: CommandKind::Signal,
            bus: CommandBus::Session,
            destination: "",
            path: "/a",
            interface: "a.I",
            member: "M",
            signature: "s",
            values: &values,
        };
        let line = parts.busctl();
        assert_eq!(line.trim_end().strip_prefix("busctl --user emit /a a.I M s "), Some(expected));
    }
}

/// A call through a bus that recorded it, whose service was woken late; a call recorded by
/// eavesdropping; a signal.
fn detailed() -> TestRecording {
    let mut recording = TestRecording::traced_and_monitored();
    recording
        .process(":1.5", 101, "shell")
        .process(":1.6", 102, "maild")
        .owner("org.x.Mail", ":1.6");
    let unit = RecordedProcess { unit: Some("mail.service".into()), ..RecordedProcess::default() };
    recording.fact(Fact::Peer { unique: ":1.6".into(), process: Some(unit) });
    let start = recording.now();
    let call = recording.call(":1.5", "org.x.Mail", "/m org.x.Mail.Get", &("Inbox", 7_u32));
    recording.delivered(12, &[(6, 30, 0), (9, 40, 1)]).wait_us(1000);
    recording.error(&call, ":1.6", "org.x.Busy", "not\u{1b}now").delivered(5, &[(5, 20, 0)]);
    for (pid, spans) in
        [(101, [(0, 9_000), (1_025_000, 40_000)]), (102, [(112_000, 200_000), (800_000, 150_000)])]
    {
        let until = start.after(Duration::from_millis(2));
        recording.fact(Fact::Ran(ProcessorUse {
            pid,
            from: start,
            until,
            spans: spans.into(),
            ..ProcessorUse::default()
        }));
    }
    recording.signal(":1.6", "/m org.x.Mail.Changed", &((0..200).collect::<Vec<u32>>(),));
    recording.delivered(13, &[(5, 20, 1), (9, 40, 1)]).staged(2, 4, Some((6, 5))).begun(1, 30);
    recording.on(BusId(1));
    let call = recording.call_with(Flags::NO_AUTO_START, ":1.5", ":1.6", "/m org.x.Mail.Get", &());
    recording.wait_ms(80).reply(&call, ":1.6", &(7_u32,));
    recording.signal(":1.6", "/m org.x.Mail.Changed", &());
    recording.call_with(Flags::NO_REPLY_EXPECTED, ":1.5", ":1.6", "/m org.x.Mail.Go", &());
    recording
}

#[test]
fn details_of_calls_show_peers_and_phases() {
    let capture = detailed().capture();
    let text = |width: usize, kind: MessageType| {
        let mut details = CallDetails::new(&capture, Style::plain(width));
        let chosen = capture.messages().filter(|message| message.kind() != kind);
        chosen.map(|message| details.of(&message).expect("memory")).collect::<Vec<_>>().join("\n")
    };
    let all = text(100, MessageType::Error);
    golden::check(tools("details.txt"), &all);
    assert_eq!(
        text(100, MessageType::MethodCall).split("\n\n").next(),
        all.split("\n\n").next(),
        "a reply stands for its call"
    );
    let narrow = text(80, MessageType::Error);
    let is_fitting =
        |line: &&str| line.chars().count() <= 80 || line.starts_with("recipients: not");
    assert_eq!(narrow.lines().find(|line| !is_fitting(line)), None);
}

/// Calls with all outcomes, a signal, and a reply without its call.
fn conversation() -> Capture {
    let mut recording = TestRecording::new();
    recording.bus(RecordedBus::default()).process(":1.62", 62, "gdbus").process(
        ":1.63",
        63,
        "a-long-name",
    );
    recording.owner("org.freedesktop.NetworkManager", ":1.7");
    let (to, slow) = ("org.freedesktop.NetworkManager", "/ org.example.Slow1.");
    let call = recording.call(":1.62", to, &format!("{slow}Wait"), &(300_u32, "two\nlines"));
    recording.wait_ms(301).reply(&call, ":1.7", &(true,));
    let call = recording.call(":1.63", to, &format!("{slow}GetConnectionUnixProcessID"), &());
    recording.wait_us(72).error(&call, ":1.7", "org.example.Error.NotAuthorized", "no\u{1b}[31m");
    let body = ("org.example.Slow1", vec![("Busy", true)]);
    recording.signal(":1.7", "/ org.freedesktop.DBus.Properties.PropertiesChanged", &body);
    recording.call_with(Flags::NO_REPLY_EXPECTED, ":1.62", to, &format!("{slow}Go"), &());
    recording.call(":1.63", to, &format!("{slow}Never"), &());
    recording.wait_ms(1_500).owner_changed(":1.63", ":1.63", "");
    recording.call(":1.62", to, &format!("{slow}Never"), &());
    recording.wait_ms(20).reply_refused(":1.7", "org.example.Error.Late");
    recording.capture()
}

fn lines_of(capture: &Capture, style: Style, knowledge: Knowledge) -> String {
    let lines = MessageLines::new(style, LineClock::of_recording(capture));
    let (mut text, mut buffer) = (String::new(), capture::model::MessageBuffer::default());
    for message in capture.messages() {
        lines.push(&mut text, &message, knowledge, &mut buffer).expect("it can be read");
    }
    text
}

#[test]
fn lines_fit_the_terminal_and_keep_members_whole() {
    let capture = conversation();
    for width in [60, 80, 120, 200] {
        let text = lines_of(&capture, Style::plain(width), Knowledge::Whole);
        golden::check(tools(&format!("lines-{width}.txt")), &text);
        assert_eq!(text.lines().count(), capture.len());
        for line in text.lines() {
            assert!(columns::cells(line) <= width, "{width}: {line}");
        }
        for member in ["Wait", "GetConnectionUnixProcessID", "PropertiesChanged", "Never"] {
            assert!(text.contains(member), "{width}: {member}");
        }
    }
    let text = lines_of(&capture, Style::plain(MessageLines::UNLIMITED), Knowledge::Whole);
    golden::check(tools("lines-unlimited.txt"), &text);
    assert!(!text.contains('\u{2026}') && !text.contains('\u{1b}'), "{text}");
}

#[test]
fn calls_have_no_outcome_before_it_is_known() {
    let capture = conversation();
    let text = lines_of(&capture, Style::plain(200), Knowledge::SoFar);
    let calls: Vec<_> = text.lines().filter(|line| line.contains('\u{2192}')).collect();
    for words in ["returned", "waiting", "left", "NotAuthorized", " ms", " s "] {
        assert!(calls.iter().all(|line| !line.contains(words)), "{words}: {calls:?}");
    }
    let replies: Vec<_> = text.lines().filter(|line| line.contains('\u{2190}')).collect();
    assert!(replies[0].contains("301 ms  returned (true)"), "{replies:?}");
    assert!(replies[1].contains("org.example.Error.NotAuthorized: no\\u001b[31m"), "{replies:?}");
}

#[test]
fn durations_and_outcomes_have_colors() {
    let capture = conversation();
    let style = Style { width: 120, colors: Colors::Wanted };
    let text = lines_of(&capture, style, Knowledge::Whole);
    let (warning, alarm) = ("\u{1b}[33m", "\u{1b}[31m");
    assert!(text.contains(&format!("{warning} 301 ms")), "{text:?}");
    assert!(text.contains(&format!("{alarm}1.50 s ")), "{text:?}");
    assert!(text.contains(&format!("{alarm}caller left")), "{text:?}");
    assert!(text.contains(&format!("{warning}still waiting")), "{text:?}");
    let plain = lines_of(&capture, Style::plain(120), Knowledge::Whole);
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    let without = parts.fold(first, |all, part| all + part.split_once('m').expect("a color").1);
    assert_eq!(without, plain);
}
