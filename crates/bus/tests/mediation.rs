//! Security modules: which questions the bus asks them, when, and how it applies the answers.

use std::cell::RefCell;
use std::rc::Rc;

use bus::mediation::{Claim, MediatedRecipient, Mediator, MediatorDecision, MediatorKind, Transit};
use bus::policy::PeerAttributes;
use bus::{
    Bus, Configuration, ConnectionCredentials, DescriptorPassing, Details, Input, LogEvent, PeerId,
    Service, Services, WithheldBy,
};
use testkit::world::{
    BusWorld, SeenEffect, foreign_error, identity, interface, member, messages_to, name, path,
};
use wire::Message;
use wire::body::Value;
use wire::message::Builder;
use wire::signature::{Signature, Type};

/// A mediator that records the questions and allows everything except the listed exceptions.
#[derive(Debug)]
struct ScriptedMediator {
    questions: Rc<RefCell<Vec<String>>>,
    /// A part of a question, and the answer to questions that contain it.
    exceptions: Vec<(&'static str, MediatorDecision)>,
}

impl ScriptedMediator {
    fn judge(&self, question: String) -> MediatorDecision {
        let found = self.exceptions.iter().find(|(part, _)| question.contains(part));
        self.questions.borrow_mut().push(question);
        found.map_or(MediatorDecision::Allows, |(_, decision)| decision.clone())
    }
}

impl Mediator for ScriptedMediator {
    fn modules(&self) -> &[MediatorKind] {
        &[MediatorKind::Selinux, MediatorKind::AppArmor]
    }

    fn on_owning(&mut self, claim: &Claim<'_>) -> MediatorDecision {
        let Claim { label, name, context } = *claim;
        self.judge(format!("{} own {name} as {}", text(label), context.unwrap_or("-")))
    }

    fn on_eavesdropping(&mut self, label: Option<&[u8]>) -> MediatorDecision {
        self.judge(format!("{} eavesdrop", text(label)))
    }

    fn on_message(&mut self, transit: &Transit<'_>) -> MediatorDecision {
        let to = match transit.to {
            MediatedRecipient::Bus => "the bus".to_owned(),
            MediatedRecipient::Peer(label) => text(label),
            MediatedRecipient::Service(label) => format!("service {}", label.unwrap_or("-")),
        };
        let member_name = transit.message.member().map_or("reply", |member| member.as_str());
        let from = text(transit.label);
        self.judge(format!("{from} ({}) {member_name} to {to}", transit.sender.unwrap_or("-")))
    }
}

fn text(label: Option<&[u8]>) -> String {
    label.map_or_else(|| "?".to_owned(), |label| String::from_utf8_lossy(label).into_owned())
}

/// A mediated bus, and the questions since the test last took them.
struct Mediated {
    world: BusWorld,
    questions: Rc<RefCell<Vec<String>>>,
}

impl Mediated {
    fn new(exceptions: &[(&'static str, MediatorDecision)]) -> Self {
        let mut services = Services::default();
        let label = Some("assumed".into());
        services.add("com.absent", Service { label, ..Service::default() });
        let security_contexts = [("com.guarded".into(), "context".into())].into();
        let config = Configuration { services, security_contexts, ..Configuration::default() };
        let questions = Rc::default();
        let script =
            ScriptedMediator { questions: Rc::clone(&questions), exceptions: exceptions.to_vec() };
        let mut world = BusWorld::new(config.clone());
        world.bus = Bus::new(identity(), config, 7).mediated_by(Box::new(script));
        Self { world, questions }
    }

    /// Connects a peer with a label, says Hello, and returns the effects of the latter.
    fn join_with_reply(&mut self, label: Option<&str>) -> (PeerId, Vec<SeenEffect>) {
        let credentials = ConnectionCredentials { uid: Some(0), pid: Some(1) };
        let (peer, _) = self.world.connect(credentials, Details::default());
        let label = label.map(|label| label.as_bytes().into());
        let attributes = PeerAttributes { label, ..PeerAttributes::default() };
        self.world.input(Input::AttributesRead { peer, attributes });
        self.world.authenticate(peer, Some(0), DescriptorPassing::Refused);
        let seen = self.world.call_bus(peer, "Hello", &[]);
        (peer, seen)
    }

    fn join(&mut self, label: &str) -> PeerId {
        let peer = self.join_with_reply(Some(label)).0;
        self.take_questions();
        peer
    }

    fn take_questions(&mut self) -> Vec<String> {
        std::mem::take(&mut self.questions.borrow_mut())
    }
}

/// Returns the text of the last message of a connection, if it is an error.
fn error(seen: &[SeenEffect], peer: PeerId) -> Option<String> {
    let message = Message::parse(messages_to(seen, peer).last()?).expect("a message");
    message.error_name()?;
    message.read::<(&str,)>().ok().map(|(text,)| text.to_owned())
}

#[test]
fn hello_is_mediated() {
    let mut bus = Mediated::new(&[("bad", MediatorDecision::Denies(MediatorKind::AppArmor))]);
    let (good, seen) = bus.join_with_reply(Some("good"));
    assert_eq!(error(&seen, good), None);
    assert_eq!(bus.take_questions(), ["good (-) Hello to the bus"]);
    let (bad, seen) = bus.join_with_reply(Some("bad"));
    let text = error(&seen, bad).expect("an error");
    assert!(text.starts_with("An AppArmor policy prevents this sender from sending"), "{text}");
    assert!(text.contains("sender=\"(null)\" (inactive)"), "{text}");
    bus.join_with_reply(None);
    assert_eq!(bus.take_questions().last().map(String::as_str), Some("? (-) Hello to the bus"));
}

#[test]
fn names_are_mediated_with_their_context() {
    let mut bus = Mediated::new(&[
        ("own com.guarded", MediatorDecision::Denies(MediatorKind::Selinux)),
        ("own com.audited", MediatorDecision::AllowsAudited(MediatorKind::AppArmor)),
        (
            "own com.silent",
            MediatorDecision::Silent {
                module: MediatorKind::AppArmor,
                error: foreign_error("why"),
            },
        ),
    ]);
    let peer = bus.join("label");
    let own = |bus: &mut Mediated, name: &str| {
        bus.world.call_bus(peer, "RequestName", &[name.into(), 0_u32.into()])
    };
    let cases = [
        ("com.free", "-", None),
        ("com.guarded", "context", Some("due to SELinux policy")),
        ("com.audited", "-", None),
        ("com.silent", "-", Some("since AppArmor could not be queried: why")),
    ];
    for (name, context, reason) in cases {
        let seen = own(&mut bus, name);
        let expected = reason.map(|reason| {
            format!("Connection \":1.0\" is not allowed to own the service \"{name}\" {reason}")
        });
        assert_eq!(error(&seen, peer), expected, "{name}");
        let questions = bus.take_questions();
        assert_eq!(questions[0], "label (:1.0) RequestName to the bus");
        assert_eq!(questions[1], format!("label own {name} as {context}"));
        let is_logged =
            |seen: &SeenEffect| matches!(seen, SeenEffect::Log(LogEvent::Allowed { .. }));
        assert_eq!(seen.iter().any(is_logged), name == "com.audited", "{name}");
    }
}

#[test]
fn messages_are_mediated_for_each_recipient() {
    let mut bus = Mediated::new(&[
        ("Secret to b", MediatorDecision::Denies(MediatorKind::Selinux)),
        ("Sign to b", MediatorDecision::Denies(MediatorKind::AppArmor)),
        ("Sign to c", MediatorDecision::Denies(MediatorKind::Selinux)),
        ("Wake to service", MediatorDecision::Denies(MediatorKind::AppArmor)),
    ]);
    let [a, b, c] = ["a", "b", "c"].map(|label| bus.join(label));
    for listener in [b, c] {
        bus.world.call_bus(listener, "AddMatch", &["type='signal'".into()]);
    }
    bus.take_questions();
    let call = |member_name| {
        Builder::method_call(path("/x"), member(member_name)).destination(name(":1.1"))
    };
    let seen = bus.world.send(a, call("Open"), &[]);
    assert_eq!(messages_to(&seen, b).len(), 1);
    assert_eq!(bus.take_questions(), ["a (:1.0) Open to b"]);
    let seen = bus.world.send(a, call("Secret"), &[]);
    assert_eq!(messages_to(&seen, b).len(), 0);
    let text = error(&seen, a).expect("an error");
    assert!(text.starts_with("An SELinux policy prevents this sender"), "{text}");
    bus.take_questions();

    let signal = Builder::signal(path("/x"), interface("a.b"), member("Sign"));
    let seen = bus.world.send(a, signal, &[]);
    assert_eq!([b, c].map(|peer| messages_to(&seen, peer).len()), [0, 0]);
    let withheld = seen.iter().filter_map(|it| match it {
        SeenEffect::Log(LogEvent::Withheld { peer, by, .. }) => Some((*peer, *by)),
        _ => None,
    });
    let expected = [(b, WithheldBy::AppArmor), (c, WithheldBy::Selinux)];
    assert_eq!(withheld.collect::<Vec<_>>(), expected);
    assert_eq!(bus.take_questions(), ["a (:1.0) Sign to b", "a (:1.0) Sign to c"]);

    let wake = Builder::method_call(path("/x"), member("Wake")).destination(name("com.absent"));
    let seen = bus.world.send(a, wake, &[]);
    assert!(error(&seen, a).is_some());
    assert!(!seen.iter().any(|it| matches!(it, SeenEffect::Start(..))), "the service was started");
    assert_eq!(bus.take_questions(), ["a (:1.0) Wake to service assumed"]);
}

#[test]
fn unavailable_module_denies_messages() {
    let silent = |module| MediatorDecision::Silent { module, error: foreign_error("why") };
    let mut bus = Mediated::new(&[
        ("Secret to b", silent(MediatorKind::Selinux)),
        ("Private to b", silent(MediatorKind::AppArmor)),
    ]);
    let [a, b] = ["a", "b"].map(|label| bus.join(label));
    for (member_name, module) in [("Secret", "SELinux"), ("Private", "AppArmor")] {
        let call = Builder::method_call(path("/x"), member(member_name)).destination(name(":1.1"));
        let seen = bus.world.send(a, call, &[]);
        assert_eq!(messages_to(&seen, b).len(), 0);
        let text = error(&seen, a).expect("an error");
        let expected = format!("{module} could not be queried (why), so this sender may not");
        assert!(text.starts_with(&expected), "{text}");
    }
}

/// Only a bus that SELinux mediates reports contexts.
#[test]
fn selinux_contexts_are_reported() {
    let mut bus = Mediated::new(&[]);
    let peer = bus.join("user_u:user_r:user_t");
    let nameless = bus.join_with_reply(None).0;
    let ask = |bus: &mut Mediated, about: &str| {
        let seen = bus.world.call_bus(peer, "GetConnectionSELinuxSecurityContext", &[about.into()]);
        let answer = Message::parse(messages_to(&seen, peer).last()?).expect("a message");
        answer.read::<(Vec<u8>,)>().ok().map(|(context,)| context)
    };
    assert_eq!(ask(&mut bus, ":1.0").as_deref(), Some(&b"user_u:user_r:user_t"[..]));
    assert_eq!(ask(&mut bus, ":1.1"), None, "{nameless:?} has none");
    let own = identity().security_label.map(|label| label.to_vec());
    assert_eq!(ask(&mut bus, "org.freedesktop.DBus"), own);
}

#[test]
fn eavesdropping_is_mediated() {
    let mut bus =
        Mediated::new(&[("denied eavesdrop", MediatorDecision::Denies(MediatorKind::AppArmor))]);
    let denied = bus.join("denied");
    let seen = bus.world.call_bus(denied, "AddMatch", &["eavesdrop=true".into()]);
    let expected = "Connection \":1.0\" is not allowed to eavesdrop due to AppArmor policy";
    assert_eq!(error(&seen, denied).as_deref(), Some(expected));
    let allowed = bus.join("allowed");
    let seen = bus.world.call_bus(allowed, "AddMatch", &["eavesdrop=true".into()]);
    assert_eq!(error(&seen, allowed), None);
}

#[test]
fn peers_denied_eavesdropping_get_no_trace() {
    let mut bus =
        Mediated::new(&[("denied eavesdrop", MediatorDecision::Denies(MediatorKind::Selinux))]);
    let [denied, allowed] = ["denied", "allowed"].map(|label| bus.join(label));
    let methods = [
        ("org.freedesktop.DBus.Monitoring.BecomeMonitor", vec![empty("as"), 0_u32.into()]),
        ("org.diligence.Trace1.Start", vec![empty("a{sv}")]),
        ("org.diligence.Trace1.Dump", Vec::new()),
    ];
    for (method, args) in methods {
        let (of, method) = method.rsplit_once('.').expect("its interface");
        let call = Builder::method_call(path("/org/freedesktop/DBus"), member(method));
        let call = call.interface(interface(of)).destination(name("org.freedesktop.DBus"));
        let seen = bus.world.send(denied, call, &args);
        let expected = "Connection \":1.0\" is not allowed to eavesdrop due to SELinux policy";
        assert_eq!(error(&seen, denied).as_deref(), Some(expected), "{method}");
        assert!(bus.take_questions().contains(&"denied eavesdrop".to_owned()), "{method}");
    }
    let seen = bus.world.call_bus(allowed, "GetId", &[]);
    assert!(!seen.iter().any(|it| matches!(it, SeenEffect::Traced { .. })), "a trace was started");
}

/// Returns an empty array of this type.
fn empty(array: &str) -> Value {
    let array = Signature::new(array).expect("a type");
    let Some(Type::Array(element)) = array.single() else { panic!("{array} is an array") };
    Value::Array { element: element.into(), items: Vec::new() }
}

#[test]
fn messages_of_the_bus_are_not_mediated() {
    let mut bus = Mediated::new(&[("to mute", MediatorDecision::Denies(MediatorKind::AppArmor))]);
    let (mute, seen) = bus.join_with_reply(Some("mute"));
    assert_eq!(messages_to(&seen, mute).len(), 2, "the reply to Hello and NameAcquired");
    assert_eq!(bus.take_questions(), ["mute (-) Hello to the bus"]);
}
