//! Tests of the core without socket or clock: commands and bytes in, bytes and outcomes out.

#![expect(clippy::unwrap_used, reason = "a panic in a test is its report")]

use std::num::NonZeroU32;
use std::time::Duration;

use diligence_client::core::{
    CallDeadline, CallHandle, ClientHandshake, Core, CoreConfig, Ended, Established,
    HandshakeConfig, HandshakeError, HandshakeStage, Incoming, MessageDisposition, NoReply,
    SendError, SignalDelivery, SubscriptionId,
};
use diligence_client::wire::body::{EncodeArgs, Value};
use diligence_client::wire::framer::{Frame, Framer, FramerLimits};
use diligence_client::wire::guid::Guid;
use diligence_client::wire::message::{
    Builder, FixedHeader, Flags, InvalidReason, Message, MessageType,
};
use diligence_client::wire::names::{
    BusName, BusNameBuf, ErrorName, InterfaceName, MemberName, ObjectPath,
};
use diligence_client::wire::sasl::client::{
    AuthenticationAttempt, AuthenticationPlan, DirectAttempt, FdNegotiation, NoCookies,
};
use diligence_client::wire::sasl::server::{
    FdSupport, NoAuthority, PeerIdentity, SaslServer, ServerConfig, ServerProgress,
};
use diligence_client::wire::sasl::{FdPassing, Mechanism, Mechanisms};

/// A core, and a scripted bus.
struct CoreScript {
    core: Core<u32>,
    serial: NonZeroU32,
}

impl CoreScript {
    fn new() -> Self {
        Self::with(CoreConfig { fds: FdPassing::Agreed, ..CoreConfig::default() })
    }

    fn with(config: CoreConfig) -> Self {
        Self { core: Core::new(config), serial: NonZeroU32::MIN }
    }

    /// Takes all queued messages; returns one line per message.
    fn sent(&mut self) -> Vec<String> {
        let (mut bytes, mut descriptors) = (Vec::new(), Vec::new());
        while let Some(transmit) = self.core.poll_transmit() {
            bytes.extend_from_slice(transmit.bytes);
            descriptors.extend_from_slice(transmit.descriptors);
            let count = transmit.bytes.len();
            self.core.transmitted(count);
        }
        lines(&bytes, &descriptors)
    }

    /// Receives a message in pieces of `piece` bytes.
    fn receive_in(
        &mut self,
        piece: usize,
        message: &Builder<'_>,
        body: &impl EncodeArgs,
        descriptors: &[u32],
    ) -> Vec<MessageDisposition> {
        let mut bytes = Vec::new();
        let message = message.unix_fds(descriptors.len() as u32);
        message.write(&mut bytes, self.serial, body).unwrap();
        self.serial = self.serial.checked_add(1).unwrap();
        let mut dispositions = Vec::new();
        let mut descriptors = descriptors.to_vec();
        for chunk in bytes.chunks(piece) {
            assert_eq!(self.core.space().put(chunk), chunk.len());
            self.core.handle_received(chunk.len(), descriptors.drain(..));
            dispositions.extend(std::iter::from_fn(|| self.core.poll_message()));
        }
        dispositions
    }

    fn receive(&mut self, message: &Builder<'_>, body: &impl EncodeArgs) -> MessageDisposition {
        let dispositions = self.receive_in(usize::MAX, message, body, &[]);
        let [disposition] = dispositions[..] else { panic!("{dispositions:?}") };
        disposition
    }

    fn receive_bytes(&mut self, bytes: &[u8]) -> Vec<MessageDisposition> {
        assert_eq!(self.core.space().put(bytes), bytes.len());
        self.core.handle_received(bytes.len(), []);
        std::iter::from_fn(|| self.core.poll_message()).collect()
    }

    fn signal(&mut self, sender: &str, member: &str, number: u32) -> MessageDisposition {
        self.receive(&signal(sender, member), &(number,))
    }

    fn owner_changed(&mut self, name: &str, new: &str) -> MessageDisposition {
        let path = ObjectPath::new("/org/freedesktop/DBus").unwrap();
        let interface = InterfaceName::new("org.freedesktop.DBus").unwrap();
        let member = MemberName::new("NameOwnerChanged").unwrap();
        let sender = BusName::new("org.freedesktop.DBus").unwrap();
        self.receive(&Builder::signal(path, interface, member).sender(sender), &(name, "", new))
    }

    fn subscribe(&mut self, rule: &str) -> (SubscriptionId, Option<CallHandle>) {
        self.core.subscribe(rule.parse().unwrap(), None).unwrap()
    }

    /// Takes the numbers in the queued signals of a subscription; a loss is its negative count.
    fn numbers(&mut self, id: SubscriptionId) -> Vec<i64> {
        let number = |delivery| match delivery {
            SignalDelivery::Signal(signal) => signal.read::<(u32,)>().unwrap().0.into(),
            SignalDelivery::Lost { count } => -(count as i64),
            SignalDelivery::Reconnected => panic!("nothing was interrupted"),
        };
        std::iter::from_fn(|| self.core.poll_signal(id)).map(number).collect()
    }
}

/// Formats messages, one line each: `#serial member(arguments) flags {descriptors}`.
fn lines(bytes: &[u8], descriptors: &[u32]) -> Vec<String> {
    let (mut rest, mut descriptors) = (bytes, descriptors.iter());
    let mut lines = Vec::new();
    while let Some(start) = rest.first_chunk() {
        let len = FixedHeader::parse(start).unwrap().message_len();
        let message = Message::parse(&rest[..len]).unwrap();
        message.validate_body().unwrap();
        rest = &rest[len..];
        let subject = match (message.member(), message.error_name()) {
            (Some(member), _) => member.as_str(),
            (None, Some(error)) => error.as_str(),
            (None, None) => "return",
        };
        let arguments = Value::read_args(&message).unwrap();
        let arguments: Vec<String> = arguments.iter().map(text).collect();
        let mut line = format!("#{} {subject}({})", message.serial(), arguments.join(", "));
        if message.flags() != Flags::NONE {
            line += &format!(" {:#x}", message.flags().bits());
        }
        let attached: Vec<_> = descriptors.by_ref().take(message.unix_fds() as usize).collect();
        if !attached.is_empty() {
            line += &format!(" {attached:?}");
        }
        lines.push(line);
    }
    assert!(rest.is_empty() && descriptors.next().is_none());
    lines
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Uint32(number) => number.to_string(),
        other => format!("{other:?}"),
    }
}

fn call(member: &str) -> Builder<'_> {
    Builder::method_call(ObjectPath::ROOT, MemberName::new(member).unwrap())
}

/// A message of this type without a body, with these fields, of which only the last may be without
/// padding.
fn raw_message(kind: u8, fields: &[&[u8]]) -> Vec<u8> {
    let mut fields = fields.concat();
    let mut bytes = vec![b'l', kind, 0, 1, 0, 0, 0, 0, 7, 0, 0, 0];
    bytes.extend_from_slice(&(fields.len() as u32).to_le_bytes());
    fields.resize(fields.len().next_multiple_of(8), 0);
    bytes.extend_from_slice(&fields);
    bytes
}

fn signal<'a>(sender: &'a str, member: &'a str) -> Builder<'a> {
    let interface = InterfaceName::new("org.example.A").unwrap();
    let member = MemberName::new(member).unwrap();
    Builder::signal(ObjectPath::new("/a").unwrap(), interface, member)
        .sender(BusName::new(sender).unwrap())
}

const SECOND: Duration = Duration::from_secs(1);
const FAILED: &str = "org.freedesktop.DBus.Error.Failed";

#[test]
fn replies_are_matched_to_calls_in_any_order() {
    let mut script = CoreScript::new();
    let calls: Vec<CallHandle> = ["A", "B", "C"]
        .map(|member| script.core.call(&call(member), &(1_u32,), Vec::new(), None).unwrap())
        .into();
    assert_eq!(script.sent(), ["#1 A(1)", "#2 B(1)", "#3 C(1)"]);
    assert!(script.core.poll_reply(calls[0]).is_none());

    let reply = Builder::method_return(calls[2].serial());
    assert_eq!(script.receive(&reply, &("c",)), MessageDisposition::Reply(calls[2]));
    assert_eq!(script.receive(&reply, &("again",)), MessageDisposition::Ignored);
    let error = Builder::error(ErrorName::new(FAILED).unwrap(), calls[0].serial());
    assert_eq!(script.receive(&error, &("so",)), MessageDisposition::Reply(calls[0]));
    script.core.forget(calls[1]);
    assert_eq!(
        script.receive(&Builder::method_return(calls[1].serial()), &()),
        MessageDisposition::Ignored
    );

    let reply = script.core.poll_reply(calls[2]).unwrap().unwrap();
    assert_eq!((reply.read(), reply.remote_error()), (Ok(("c",)), None));
    let error = script.core.poll_reply(calls[0]).unwrap().unwrap().remote_error().unwrap();
    assert_eq!((error.name.as_str(), error.message.as_str()), (FAILED, "so"));
}

#[test]
fn replies_with_equal_headers_keep_their_own_numbers_and_bodies() {
    let mut script = CoreScript::new();
    let mut start = || script.core.call(&call("A"), &(), Vec::new(), None).unwrap();
    let calls = [start(), start(), start()];
    let mut numbers = Vec::new();
    for (number, call) in calls.into_iter().enumerate() {
        let reply = Builder::method_return(call.serial()).sender(BusName::new(":1.7").unwrap());
        let serial = script.serial;
        let disposition = script.receive(&reply, &(number as u32,));
        assert_eq!(disposition, MessageDisposition::Reply(call));
        let reply = script.core.poll_reply(call).unwrap().unwrap();
        assert_eq!((reply.serial(), reply.sender()), (serial, Some(":1.7")));
        numbers.push(reply.read::<(u32,)>().unwrap().0);
    }
    assert_eq!(numbers, [0, 1, 2]);
    // Only its number makes this header invalid.
    script.receive_bytes(&raw_message(2, &[b"\x05\x01u\0\x09\0\0\0"]));
    script.receive_bytes(&raw_message(2, &[b"\x05\x01u\0\0\0\0\0"]));
    let Some(Ended::Invalid(invalid)) = script.core.ended() else { panic!("it is invalid") };
    assert_eq!(invalid.reason, InvalidReason::ReplySerialZero);
}

#[test]
fn a_call_with_the_field_of_a_reply_is_a_call() {
    let mut script = CoreScript::new();
    let waiting = script.core.call(&call("A"), &(), Vec::new(), None).unwrap();
    let path = b"\x01\x01o\0\x01\0\0\0/\0\0\0\0\0\0\0";
    let member = b"\x03\x01s\0\x01\0\0\0M\0\0\0\0\0\0\0";
    let message = raw_message(1, &[path, member, b"\x05\x01u\0\x01\0\0\0"]);
    for _ in 0..3 {
        assert_eq!(script.receive_bytes(&message), [MessageDisposition::Request]);
        assert_eq!(script.core.poll_request().unwrap().member(), Some("M"));
    }
    assert!(script.core.poll_reply(waiting).is_none());
}

#[test]
fn replies_for_lanes_are_checked_after_equal_ones_for_the_bus() {
    let mut script = CoreScript::new();
    let mut start = || script.core.call(&call("A"), &(), Vec::new(), None).unwrap();
    let [first, second] = [start(), start()];
    let reply = |call: CallHandle| Builder::method_return(call.serial());
    assert_eq!(script.receive(&reply(first), &()), MessageDisposition::Reply(first));
    let forged = reply(second).flags(Flags::LANE_REPLY);
    for _ in 0..2 {
        assert_eq!(script.receive(&forged, &()), MessageDisposition::Ignored);
    }
    assert_eq!(script.core.counters().foreign_replies, 2);
    assert_eq!(script.receive(&reply(second), &()), MessageDisposition::Reply(second));
}

#[test]
fn calls_time_out_at_their_deadlines() {
    let mut script = CoreScript::new();
    let mut start = |at: Option<Duration>| {
        let deadline = at.map(|at| CallDeadline { at, limit: at / 2 });
        script.core.call(&call("A"), &(), Vec::new(), deadline).unwrap()
    };
    let late = start(Some(3 * SECOND));
    let soon = start(Some(SECOND));
    let never = start(None);
    assert_eq!(script.core.next_timeout(), Some(SECOND));
    script.core.handle_timeout(SECOND / 2);
    assert!(script.core.poll_reply(soon).is_none());
    script.core.handle_timeout(SECOND);
    let late_reply = NoReply::TimedOut { limit: SECOND / 2 };
    assert_eq!(script.core.poll_reply(soon).unwrap().unwrap_err(), late_reply);
    assert_eq!(
        script.receive(&Builder::method_return(soon.serial()), &()),
        MessageDisposition::Ignored
    );
    assert_eq!(script.core.counters().late_replies, 1);
    assert_eq!(script.core.next_timeout(), Some(3 * SECOND));
    script.receive(&Builder::method_return(late.serial()), &());
    assert_eq!(script.core.next_timeout(), None);
    script.core.handle_timeout(9 * SECOND);
    assert!(script.core.poll_reply(late).unwrap().is_ok());
    assert!(script.core.poll_reply(never).is_none());
}

#[test]
fn the_end_fails_pending_calls_but_keeps_received_messages() {
    let mut script = CoreScript::new();
    let (id, _) = script.subscribe("member='S'");
    let answered = script.core.call(&call("A"), &(), Vec::new(), None).unwrap();
    let deadline = Some(CallDeadline { at: SECOND, limit: SECOND });
    let waiting = script.core.call(&call("B"), &(), Vec::new(), deadline).unwrap();
    script.receive(&Builder::method_return(answered.serial()), &());
    script.signal(":1.7", "S", 7);
    script.core.handle_ended(Ended::Closed);
    script.core.handle_ended(Ended::DescriptorsLost);
    assert_eq!(script.core.ended(), Some(Ended::Closed));
    assert!(script.core.poll_reply(answered).unwrap().is_ok());
    let lost = script.core.poll_reply(waiting).unwrap().unwrap_err();
    assert_eq!(lost, NoReply::Disconnected(Ended::Closed));
    assert_eq!(script.numbers(id), [7]);
    assert!(script.sent().is_empty());
    let refused = script.core.send(&call("C"), &(), Vec::new()).unwrap_err();
    assert_eq!(refused, SendError::Disconnected(Ended::Closed));
    assert_eq!(script.core.next_timeout(), None);
}

#[test]
fn invalid_messages_end_the_connection() {
    let mut script = CoreScript::new();
    script.core.space().put(b"x\x02\0\x01\0\0\0\0\0\0\0\0\0\0\0\0");
    script.core.handle_received(16, []);
    assert_eq!(script.core.poll_message(), None);
    let Some(Ended::Invalid(error)) = script.core.ended() else { panic!() };
    assert_eq!(error.reason, InvalidReason::ByteOrder);
    assert_eq!(script.core.poll_message(), None);
}

#[test]
fn messages_are_parsed_from_pieces_of_any_size() {
    let mut script = CoreScript::new();
    for piece in [1, 2, 7, 16, 63, 64 * 1024] {
        let id = script.core.call(&call("A"), &(), Vec::new(), None).unwrap();
        let reply = Builder::method_return(id.serial());
        let text = "x".repeat(300);
        let disposition = script.receive_in(piece, &reply, &(&*text,), &[5]);
        assert_eq!(disposition, [MessageDisposition::Reply(id)], "{piece}");
        let reply = script.core.poll_reply(id).unwrap().unwrap();
        assert_eq!(reply.read::<(&str,)>().unwrap().0, text);
        assert_eq!(reply.descriptors(), [5]);
    }
    // Larger than the scratch buffer, so it is read into its own buffer.
    let large = "x".repeat(1_000_000);
    let id = script.core.call(&call("A"), &(), Vec::new(), None).unwrap();
    let disposition =
        script.receive_in(50_000, &Builder::method_return(id.serial()), &(&*large,), &[]);
    assert_eq!(disposition, [MessageDisposition::Reply(id)]);
}

#[test]
fn descriptors_travel_with_their_messages() {
    let mut script = CoreScript::new();
    script.core.send(&call("A"), &(), vec![]).unwrap();
    script.core.send(&call("B"), &(), vec![4, 5]).unwrap();
    script.core.send(&call("C"), &(), vec![]).unwrap();
    script.core.send(&call("D"), &(), vec![6]).unwrap();
    let expected = ["#1 A()", "#2 B() [4, 5]", "#3 C()", "#4 D() [6]"];
    assert_eq!(script.sent(), expected);

    script.receive_in(usize::MAX, &call("X"), &(), &[1, 2]);
    script.receive_in(usize::MAX, &call("Y"), &(), &[]);
    script.receive_in(usize::MAX, &call("Z"), &(), &[3]);
    let mut requests = std::iter::from_fn(|| script.core.poll_request());
    let mut next = || requests.next().map(|request| request.descriptors().to_vec());
    assert_eq!(
        [next(), next(), next(), next()],
        [Some(vec![1, 2]), Some(vec![]), Some(vec![3]), None]
    );

    let many = script.core.send(&call("E"), &(), vec![0; 254]).unwrap_err();
    assert_eq!(many, SendError::DescriptorsTooMany { count: 254, limit: 253 });
    let mut without = CoreScript::with(CoreConfig::default());
    let refused = without.core.send(&call("E"), &(), vec![0]).unwrap_err();
    assert_eq!(refused, SendError::DescriptorsRefused);
    assert!(without.sent().is_empty());
}

#[test]
fn missing_descriptors_end_the_connection() {
    let mut script = CoreScript::new();
    let mut bytes = Vec::new();
    call("A").unix_fds(1).write(&mut bytes, NonZeroU32::MIN, &()).unwrap();
    assert_eq!(script.core.space().put(&bytes), bytes.len());
    script.core.handle_received(bytes.len(), []);
    assert_eq!(script.core.poll_message(), None);
    assert!(matches!(script.core.ended(), Some(Ended::Invalid(_))));
}

#[test]
fn match_rules_are_added_once_and_removed_with_their_last_user() {
    let mut script = CoreScript::new();
    let rule = "type='signal',member='S'";
    let (one, confirmation) = script.subscribe(rule);
    assert!(confirmation.is_some());
    assert_eq!(script.sent(), [format!("#1 AddMatch({rule})")]);
    let (two, confirmation) = script.subscribe("member=S,type=signal");
    assert_eq!((confirmation, script.sent()), (None, vec![]));

    assert_eq!(script.signal(":1.7", "S", 1), MessageDisposition::Signal { subscriptions: 2 });
    script.core.unsubscribe(one);
    assert_eq!(script.signal(":1.7", "S", 2), MessageDisposition::Signal { subscriptions: 1 });
    assert!(script.sent().is_empty());
    assert_eq!((script.numbers(one), script.numbers(two)), (vec![], vec![1, 2]));
    script.core.unsubscribe(two);
    script.core.unsubscribe(two);
    assert_eq!(script.sent(), [format!("#2 RemoveMatch({rule}) 0x1")]);
    assert_eq!(script.signal(":1.7", "S", 3), MessageDisposition::Ignored);
    script.subscribe(rule);
    assert_eq!(script.sent(), [format!("#3 AddMatch({rule})")]);
}

#[test]
fn match_rules_select_signals_by_each_key() {
    let mut script = CoreScript::new();
    let rules = [
        "interface='org.example.A',member='S'",
        "interface='org.example.A'",
        "member='S'",
        "type='signal'",
        "interface='org.example.B',member='S'",
        "member='T'",
        "path='/b'",
        "path_namespace='/a',sender=':1.7'",
        "arg0='x'",
    ];
    let ids = rules.map(|rule| script.subscribe(rule).0);
    let disposition = script.receive(&signal(":1.7", "S"), &("x",));
    assert_eq!(disposition, MessageDisposition::Signal { subscriptions: 6 });
    let found = ids.map(|id| script.core.poll_signal(id).is_some());
    assert_eq!(found, [true, true, true, true, false, false, false, true, true]);
}

#[test]
fn subscriptions_by_well_known_sender_follow_the_owner() {
    let mut script = CoreScript::new();
    let rule = "type='signal',member='S',sender='org.example.A'";
    let (id, _) = script.subscribe(rule);
    let owners = "type='signal',interface='org.freedesktop.DBus',member='NameOwnerChanged',\
        path='/org/freedesktop/DBus',sender='org.freedesktop.DBus',arg0='org.example.A'";
    assert_eq!(
        script.sent(),
        [
            format!("#1 AddMatch({owners}) 0x1"),
            "#2 GetNameOwner(org.example.A) 0x2".to_owned(),
            format!("#3 AddMatch({rule})"),
        ]
    );
    let query = NonZeroU32::new(2).unwrap();
    assert_eq!(script.signal(":1.7", "S", 1), MessageDisposition::Ignored);
    let reply = Builder::method_return(query);
    let forged = reply.sender(BusName::new(":1.9").unwrap());
    assert_eq!(script.receive(&forged, &(":1.9",)), MessageDisposition::Ignored);
    assert_eq!(script.core.counters().foreign_replies, 1);
    let reply = reply.sender(BusName::new("org.freedesktop.DBus").unwrap());
    assert_eq!(script.receive(&reply, &(":1.7",)), MessageDisposition::Ignored);
    assert_eq!(script.signal(":1.9", "S", 8), MessageDisposition::Ignored);
    assert_eq!(script.signal(":1.7", "S", 2), MessageDisposition::Signal { subscriptions: 1 });
    assert_eq!(script.signal(":1.8", "S", 3), MessageDisposition::Ignored);
    script.owner_changed("org.example.A", ":1.8");
    assert_eq!(script.signal(":1.8", "S", 4), MessageDisposition::Signal { subscriptions: 1 });
    assert_eq!(script.signal(":1.7", "S", 5), MessageDisposition::Ignored);
    script.owner_changed("org.example.A", "");
    assert_eq!(script.signal(":1.8", "S", 6), MessageDisposition::Ignored);
    script.owner_changed("org.example.B", ":1.8");
    assert_eq!(script.signal(":1.8", "S", 7), MessageDisposition::Ignored);
    assert_eq!(script.numbers(id), [2, 4]);

    let (other, _) = script.subscribe("sender='org.example.A'");
    assert_eq!(script.sent().len(), 1, "the name is already watched");
    script.core.unsubscribe(id);
    assert_eq!(script.sent(), [format!("#5 RemoveMatch({rule}) 0x1")]);
    script.core.unsubscribe(other);
    assert_eq!(script.sent()[1], format!("#7 RemoveMatch({owners}) 0x1"));
}

#[test]
fn subscriptions_to_names_without_owner_select_nothing() {
    let mut script = CoreScript::new();
    let (id, _) = script.subscribe("sender='org.example.A'");
    let error = ErrorName::new("org.freedesktop.DBus.Error.NameHasNoOwner").unwrap();
    script.receive(&Builder::error(error, NonZeroU32::new(2).unwrap()), &(":1.7",));
    assert_eq!(script.signal(":1.7", "S", 1), MessageDisposition::Ignored);
    script.owner_changed("org.example.A", ":1.7");
    script.signal(":1.7", "S", 2);
    assert_eq!(script.numbers(id), [2]);
}

#[test]
fn queues_of_signals_and_requests_are_bounded() {
    let mut script =
        CoreScript::with(CoreConfig { signals_max: 2, requests_max: 1, ..CoreConfig::default() });
    let (id, _) = script.subscribe("member='S'");
    script.sent();
    for number in 0..5 {
        script.signal(":1.7", "S", number);
    }
    assert_eq!(script.numbers(id), [0, 1, -3]);
    script.signal(":1.7", "S", 5);
    assert_eq!(script.numbers(id), [5]);

    let caller = BusName::new(":1.7").unwrap();
    assert_eq!(script.receive(&call("A").sender(caller), &()), MessageDisposition::Request);
    assert_eq!(script.receive(&call("B").sender(caller), &()), MessageDisposition::Ignored);
    let silent = call("C").sender(caller).flags(Flags::NO_REPLY_EXPECTED);
    assert_eq!(script.receive(&silent, &()), MessageDisposition::Ignored);
    let refusal = "org.freedesktop.DBus.Error.LimitsExceeded(too many calls wait to be served)";
    assert_eq!(script.sent(), [format!("#2 {refusal}")]);
    let request = script.core.poll_request().expect("the first");
    assert_eq!(request.member(), Some("A"));
}

#[test]
fn an_interrupted_connection_keeps_nothing_of_its_bus() {
    let mut script = CoreScript::new();
    let caller = BusName::new(":1.7").unwrap();
    assert_eq!(script.receive(&call("A").sender(caller), &()), MessageDisposition::Request);
    // A whole message and the first bytes of another.
    let mut unread = Vec::new();
    call("B").sender(caller).write(&mut unread, NonZeroU32::MIN, &()).unwrap();
    unread.extend_from_within(..20);
    assert_eq!(script.core.space().put(&unread), unread.len());
    script.core.handle_received(unread.len(), []);
    script.core.interrupt(Ended::Closed);
    let CoreScript { core, .. } = CoreScript::new();
    script.core.resume(Established { core, unique_name: None, guid: None });
    assert_eq!(script.core.poll_message(), Some(MessageDisposition::Reconnected));
    assert_eq!(script.receive(&call("C").sender(caller), &()), MessageDisposition::Request);
    let member = |request: Incoming<_>| request.member().map(str::to_owned);
    assert_eq!(script.core.poll_request().and_then(member).as_deref(), Some("C"));
    assert!(script.core.poll_request().is_none());
}

/// The bytes that a reader has would be taken for bytes of the next connection.
#[test]
#[should_panic(expected = "only one reader uses the receiver")]
fn a_connection_that_is_read_from_cannot_be_interrupted() {
    let mut core = CoreScript::new().core;
    let _receiver = core.take_receiver().expect("nobody reads");
    core.interrupt(Ended::Closed);
}

#[test]
fn raw_messages_keep_their_bytes() {
    let mut script = CoreScript::new();
    let mut bytes = Vec::new();
    call("A").write(&mut bytes, NonZeroU32::MIN, &(7_u32,)).unwrap();
    signal(":1.7", "S").write(&mut bytes, NonZeroU32::MIN, &()).unwrap();
    assert_eq!(script.core.space().put(&bytes), bytes.len());
    script.core.handle_received(bytes.len(), []);
    let (one, two) = (script.core.poll_raw().unwrap(), script.core.poll_raw().unwrap());
    assert!(script.core.poll_raw().is_none() && script.core.poll_request().is_none());
    assert_eq!([one.bytes(), two.bytes()].concat(), bytes);
    assert_eq!(one.message_type(), MessageType::MethodCall);
    assert_eq!((two.path(), two.interface()), (Some("/a"), Some("org.example.A")));
    assert_eq!((two.member(), two.sender()), (Some("S"), Some(":1.7")));
    script.core.send_bytes(&bytes).unwrap();
    assert_eq!(script.sent(), ["#1 A(7)", "#1 S()"]);
}

/// Runs a handshake with a server that accepts `mechanisms`; returns the core, and the number of
/// round trips.
fn shake_hands(
    plan: AuthenticationPlan,
    mechanisms: Mechanisms,
) -> Result<(Core<u32>, usize), HandshakeError> {
    let guid = Guid::from_bytes([7; 16]);
    let mut server = SaslServer::new(ServerConfig {
        guid,
        mechanisms,
        peer: PeerIdentity { uid: Some(1000) },
        fds: FdSupport::Available,
        cookie_context: Default::default(),
    });
    let config =
        HandshakeConfig { plan, fds: FdNegotiation::Requested, core: CoreConfig::default() };
    let mut handshake = ClientHandshake::<u32>::start(config);
    let (mut rounds, mut messages) = (0, None);
    loop {
        let to_server = handshake.poll_transmit().to_vec();
        handshake.transmitted(to_server.len());
        let mut to_client = Vec::new();
        let rest = match &messages {
            Some(()) => to_server,
            None => match server.receive(&to_server, 0, &mut NoAuthority, &mut to_client) {
                Ok(ServerProgress::Done { consumed, .. }) => {
                    messages = Some(());
                    to_server[consumed..].to_vec()
                }
                _ => Vec::new(),
            },
        };
        to_client.extend(answer_hello(&rest));
        rounds += 1;
        // The pieces do not align with lines or messages.
        for piece in to_client.chunks(9) {
            match handshake.handle_received(piece, [], &mut NoCookies)? {
                HandshakeStage::Unfinished(next) => handshake = next,
                HandshakeStage::Established(established) => {
                    assert_eq!(established.guid, Some(guid));
                    assert_eq!(
                        established.unique_name.as_ref().map(BusNameBuf::as_str),
                        Some(":1.42")
                    );
                    return Ok((established.core, rounds));
                }
            }
        }
    }
}

fn answer_hello(messages: &[u8]) -> Vec<u8> {
    let mut framer = Framer::new(FramerLimits::default());
    let mut scratch = vec![0; 128 * 1024];
    framer.keep(messages);
    framer.unpark(&mut scratch);
    let mut out = Vec::new();
    if let Some(Frame::Scratch(bytes)) = framer.next(&scratch).unwrap() {
        let hello = Message::parse(bytes).unwrap();
        assert_eq!(hello.member(), Some(MemberName::new("Hello").unwrap()));
        let reply = Builder::method_return(hello.serial());
        reply.write(&mut out, NonZeroU32::MIN, &(":1.42",)).unwrap();
    }
    out
}

#[test]
fn pipelined_handshakes_take_one_round_trip() {
    for direct in [DirectAttempt::ExternalWithoutUid, DirectAttempt::External { uid: 1000 }] {
        let (core, rounds) =
            shake_hands(AuthenticationPlan::Pipelined(direct), Mechanisms::ALL).unwrap();
        assert_eq!((core.fds(), rounds), (FdPassing::Agreed, 1));
        assert_eq!(core.waiting_len(), 0);
    }
}

#[test]
fn sequential_handshakes_try_the_offered_mechanisms() {
    let anonymous: AuthenticationAttempt = DirectAttempt::Anonymous { trace: String::new() }.into();
    let plan = AuthenticationPlan::Sequential {
        first: DirectAttempt::External { uid: 1000 }.into(),
        then: vec![anonymous],
    };
    let (_, rounds) = shake_hands(plan.clone(), Mechanisms::ALL).unwrap();
    assert_eq!(rounds, 3);
    let only = Mechanisms::NONE.with(Mechanism::Anonymous);
    let (_, rounds) = shake_hands(plan.clone(), only).unwrap();
    assert_eq!(rounds, 4);
    let none = Mechanisms::NONE.with(Mechanism::DbusCookieSha1);
    let refused = shake_hands(plan, none).err().expect("no mechanism is shared");
    assert!(matches!(refused, HandshakeError::Authentication(_)), "{refused}");
}
