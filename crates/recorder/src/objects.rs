//! What objects say they have: asked of those that messages name, so that arguments can be shown
//! with their names.

use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Duration;

use capture::introspection::Introspection;
use capture::record::Fact;
use client::wire::message::MessageType;
use client::wire::names::{BusName, InterfaceName, ObjectPath};
use client::{CallError, Connection, ReceivedMessage, StartedCall, driver, error_name};
use inspector::start_introspect;
use wire::Message;

/// Whether objects are asked what they have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ObjectIntrospection {
    /// They are left alone.
    #[default]
    Ignored,
    /// Those that messages name are asked, by the recorder, which the services notice. Nothing is
    /// started for it, a service is asked one question at a time, and how many there are in all is
    /// bounded.
    Introspected,
}

/// Asks objects what they have: those that messages name with an interface that the service has
/// not described yet.
#[derive(Debug, Default)]
pub(crate) struct Introspector {
    services: HashMap<String, IntrospectedService>,
    waiting: VecDeque<IntrospectedObject>,
    asked: Vec<(IntrospectedObject, StartedCall)>,
    /// Questions that were put.
    questions: usize,
    /// Bytes of documents that were learnt.
    learnt: usize,
}

/// What is known of a service, by the name that messages have for it.
#[derive(Debug, Default)]
struct IntrospectedService {
    /// Interfaces that it has described.
    described: HashSet<String>,
    /// Objects that were seen while they were of interest.
    paths: HashSet<String>,
    /// Whether it does not answer in time, or not us, and so is left alone.
    silence: Silence,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Silence {
    #[default]
    Unknown,
    Kept,
}

/// An object, and the interface of which a message spoke; empty if it spoke of none.
#[derive(Clone, PartialEq, Eq, Debug)]
struct IntrospectedObject {
    service: String,
    path: String,
    interface: String,
}

impl Introspector {
    /// Looks at a message. Those of the connection `own` are not of interest.
    pub(crate) fn see(&mut self, bytes: &[u8], own: &str) {
        let Ok(message) = Message::parse(bytes) else { return };
        let Some((service, path)) = object(&message) else { return };
        let is_own = message.sender().is_some_and(|sender| sender == own);
        if service == driver::NAME.as_str() || is_own {
            return;
        }
        let interface = message.interface().map_or("", InterfaceName::as_str);
        let Some(known) = self.service(service.as_str()) else { return };
        if known.is_of_interest(path.as_str(), interface) {
            known.paths.insert(path.as_str().to_owned());
            self.waiting.push_back(IntrospectedObject {
                service: service.as_str().to_owned(),
                path: path.as_str().to_owned(),
                interface: interface.to_owned(),
            });
        }
    }

    /// What is known of a service, unless there are too many.
    fn service(&mut self, name: &str) -> Option<&mut IntrospectedService> {
        if !self.services.contains_key(name) && self.services.len() < SERVICES_MAX {
            self.services.insert(name.to_owned(), IntrospectedService::default());
        }
        self.services.get_mut(name)
    }

    /// A name has another owner, who has not said anything yet.
    pub(crate) fn changed_hands(&mut self, name: &str) {
        self.services.remove(name);
    }

    /// Whether all questions were answered.
    pub(crate) fn is_settled(&self) -> bool {
        self.waiting.is_empty() && self.asked.is_empty()
    }

    /// Takes the answers that have come to `connection`, and asks more.
    pub(crate) fn take(&mut self, connection: &Connection, learn: &mut dyn FnMut(Fact)) {
        for (object, mut call) in std::mem::take(&mut self.asked) {
            match call.poll() {
                None => self.asked.push((object, call)),
                Some(answer) => self.answered(object, answer, learn),
            }
        }
        while self.asked.len() < ASKED_MAX
            && let Some(object) = self.next()
        {
            let (service, path) = (object.service.as_str(), object.path.as_str());
            // What cannot be sent is a connection that has ended, which shows when it is flushed.
            if let Ok(call) = start_introspect(connection, service, path, PATIENCE) {
                self.questions += 1;
                self.asked.push((object, call));
            }
        }
    }

    /// The next object whose service is not busy with a question, and still has to be asked.
    fn next(&mut self) -> Option<IntrospectedObject> {
        if self.questions >= QUESTIONS_MAX || self.learnt >= LEARNT_MAX {
            self.waiting.clear();
        }
        let Self { services, asked, waiting, .. } = self;
        waiting.retain(|object| {
            services
                .get(&object.service)
                .is_some_and(|known| known.is_to_be_asked(&object.interface))
        });
        let is_busy = |object: &IntrospectedObject| {
            asked.iter().any(|(one, _)| one.service == object.service)
        };
        let place = waiting.iter().position(|object| !is_busy(object))?;
        waiting.remove(place)
    }

    fn answered(
        &mut self,
        object: IntrospectedObject,
        answer: Result<ReceivedMessage, CallError>,
        learn: &mut dyn FnMut(Fact),
    ) {
        let Some(known) = self.services.get_mut(&object.service) else { return };
        match answer {
            Ok(reply) => {
                let Ok((xml,)) = reply.read::<(&str,)>() else { return };
                let Ok(found) = Introspection::parse(xml) else { return };
                known.described.extend(found.interfaces.into_iter().map(|one| one.name));
                // An answer is as much as can be learnt for calls that name no interface.
                known.described.insert(String::new());
                self.learnt += xml.len();
                let IntrospectedObject { service: name, path, .. } = object;
                learn(Fact::Introspection { name, path, xml: xml.to_owned() });
            }
            Err(CallError::TimedOut) => known.silence = Silence::Kept,
            Err(error) if error.remote_name() == Some(error_name::ACCESS_DENIED.as_str()) => {
                known.silence = Silence::Kept;
            }
            // There is no such object any more, or it does not say; another one may.
            Err(_) => {}
        }
    }
}

impl IntrospectedService {
    fn is_to_be_asked(&self, interface: &str) -> bool {
        self.silence == Silence::Unknown && !self.described.contains(interface)
    }

    fn is_of_interest(&self, path: &str, interface: &str) -> bool {
        self.is_to_be_asked(interface) && self.paths.len() < PATHS_MAX && !self.paths.contains(path)
    }
}

/// Which object of whom a message is about.
fn object<'m>(message: &Message<'m>) -> Option<(BusName<'m>, ObjectPath<'m>)> {
    let service = match message.message_type() {
        MessageType::MethodCall => message.destination(),
        MessageType::Signal => message.sender(),
        MessageType::MethodReturn | MessageType::Error | MessageType::Unknown(_) => None,
    };
    service.zip(message.path())
}

/// Services that are asked.
const SERVICES_MAX: usize = 1024;

/// Objects of each that are asked.
const PATHS_MAX: usize = 32;

/// Questions in all.
const QUESTIONS_MAX: usize = 4096;

/// Bytes of documents in all, so that a file of messages does not become one of documents.
const LEARNT_MAX: usize = 16 << 20;

/// Questions that are under way at once.
const ASKED_MAX: usize = 4;

/// How long a service has to answer.
const PATIENCE: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use testkit::recording::TestRecording;

    use super::*;

    /// The objects that are of interest after a recording.
    fn seen(introspector: &mut Introspector, recording: &TestRecording) -> Vec<String> {
        recording.each(|record| {
            if let capture::RecordingRecord::Message(raw) = record {
                introspector.see(raw.bytes, ":1.9");
            }
        });
        let all = std::mem::take(&mut introspector.waiting).into_iter();
        all.map(|IntrospectedObject { service, path, .. }| format!("{service} {path}")).collect()
    }

    #[test]
    fn objects_are_asked_that_messages_name() {
        let mut recording = TestRecording::new();
        let call = recording.call(":1.5", "org.x.Mail", "/a org.x.Mail.Get", &());
        recording.reply(&call, ":1.6", &());
        recording.call(":1.5", "org.x.Mail", "/a org.x.Mail.Get", &());
        recording.call(":1.5", "org.x.Mail", "/b Get", &());
        recording.signal(":1.6", "/c org.x.Mail.Came", &());
        recording.call(":1.9", "org.x.Own", "/own org.x.Own.Get", &());
        recording.ask_bus(":1.5", "ListNames", &(), &(vec![":1.5"],));
        let mut introspector = Introspector::default();
        assert_eq!(
            seen(&mut introspector, &recording),
            ["org.x.Mail /a", "org.x.Mail /b", ":1.6 /c"]
        );
        assert!(seen(&mut introspector, &recording).is_empty(), "once");
    }

    #[test]
    fn what_is_described_is_not_asked_again() {
        let mut introspector = Introspector::default();
        let known = introspector.service("org.x.Mail").expect("there is room");
        known.described.insert("org.x.Mail".into());
        let mut recording = TestRecording::new();
        recording.call(":1.5", "org.x.Mail", "/a org.x.Mail.Get", &());
        recording.call(":1.5", "org.x.Mail", "/a org.x.Other.Get", &());
        for number in 0..2 * PATHS_MAX {
            recording.call(":1.5", "org.x.Many", &format!("/o{number} org.x.Many.Get"), &());
        }
        let seen = seen(&mut introspector, &recording);
        assert_eq!(seen.len(), 1 + PATHS_MAX, "{seen:?}");
        assert_eq!(seen[0], "org.x.Mail /a");
    }

    #[test]
    fn who_keeps_silence_is_left_alone() {
        let mut introspector = Introspector::default();
        let mut recording = TestRecording::new();
        recording.call(":1.5", "org.x.Mail", "/a org.x.Mail.Get", &());
        recording.call(":1.5", "org.x.Mail", "/b org.x.Mail.Get", &());
        recording.each(|record| {
            if let capture::RecordingRecord::Message(raw) = record {
                introspector.see(raw.bytes, ":1.9");
            }
        });
        let object = introspector.next().expect("the first one");
        introspector.answered(object, Err(CallError::TimedOut), &mut |fact| panic!("{fact:?}"));
        assert_eq!(introspector.next(), None);
        assert!(introspector.is_settled());
        introspector.changed_hands("org.x.Mail");
        assert_eq!(seen(&mut introspector, &recording), ["org.x.Mail /a", "org.x.Mail /b"]);
    }
}
