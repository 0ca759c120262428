//! Introspects the objects that messages refer to, so that arguments can be shown with their names.

use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Duration;

use capture::introspection::Introspection;
use capture::record::Fact;
use client::wire::message::MessageType;
use client::wire::names::{BusName, InterfaceName, ObjectPath};
use client::{CallError, Connection, ReceivedMessage, StartedCall, driver, error_name};
use inspector::start_introspect;
use wire::Message;

/// The introspection of objects by the recorder.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ObjectIntrospection {
    /// No objects are introspected.
    #[default]
    Ignored,
    /// The recorder introspects objects that messages refer to, which their services can notice. No
    /// service is started for it, each service handles one request at a time, and the total number
    /// of requests is bounded.
    Introspected,
}

/// Introspects the objects that messages refer to with an interface that their service has not
/// described yet.
#[derive(Debug, Default)]
pub(crate) struct Introspector {
    services: HashMap<String, IntrospectedService>,
    waiting: VecDeque<IntrospectedObject>,
    asked: Vec<(IntrospectedObject, StartedCall)>,
    /// The number of requests sent.
    questions: usize,
    /// The total length of the received documents, in bytes.
    document_bytes: usize,
}

/// The state of a service, by the name that messages use.
#[derive(Debug, Default)]
struct IntrospectedService {
    /// The interfaces that the service has described.
    described: HashSet<String>,
    /// The objects that were queued for introspection.
    paths: HashSet<String>,
    /// The last response. A service that timed out or denied access is not asked again.
    response: ServiceResponse,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum ServiceResponse {
    #[default]
    Unknown,
    Refusing,
}

/// An object, and the interface in the message; empty if the message has none.
#[derive(Clone, PartialEq, Eq, Debug)]
struct IntrospectedObject {
    service: String,
    path: String,
    interface: String,
}

impl Introspector {
    /// Examines a message. Messages of the connection `own` are ignored.
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

    /// The state of a service; `None` if there are too many services.
    fn service(&mut self, name: &str) -> Option<&mut IntrospectedService> {
        if !self.services.contains_key(name) && self.services.len() < SERVICES_MAX {
            self.services.insert(name.to_owned(), IntrospectedService::default());
        }
        self.services.get_mut(name)
    }

    /// Forgets a name with a new owner, which has described nothing yet.
    pub(crate) fn owner_changed(&mut self, name: &str) {
        self.services.remove(name);
    }

    /// Returns true if all requests have been answered.
    pub(crate) fn is_settled(&self) -> bool {
        self.waiting.is_empty() && self.asked.is_empty()
    }

    /// Processes the replies received by `connection`, and sends more requests.
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
            // A request can only be unsendable if the connection has ended, which is noticed when
            // it is flushed.
            if let Ok(call) = start_introspect(connection, service, path, TIMEOUT) {
                self.questions += 1;
                self.asked.push((object, call));
            }
        }
    }

    /// The next object to introspect whose service has no pending request.
    fn next(&mut self) -> Option<IntrospectedObject> {
        if self.questions >= QUESTIONS_MAX || self.document_bytes >= DOCUMENT_BYTES_MAX {
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
                // For calls without an interface, any reply answers the question.
                known.described.insert(String::new());
                self.document_bytes += xml.len();
                let IntrospectedObject { service: name, path, .. } = object;
                learn(Fact::Introspection { name, path, xml: xml.to_owned() });
            }
            Err(CallError::TimedOut { .. }) => known.response = ServiceResponse::Refusing,
            Err(error) if error.remote_name() == Some(error_name::ACCESS_DENIED.as_str()) => {
                known.response = ServiceResponse::Refusing;
            }
            // This object no longer exists or cannot be introspected. Another one of the service
            // may.
            Err(_) => {}
        }
    }
}

impl IntrospectedService {
    fn is_to_be_asked(&self, interface: &str) -> bool {
        self.response == ServiceResponse::Unknown && !self.described.contains(interface)
    }

    fn is_of_interest(&self, path: &str, interface: &str) -> bool {
        self.is_to_be_asked(interface) && self.paths.len() < PATHS_MAX && !self.paths.contains(path)
    }
}

/// The service and object that a message refers to.
fn object<'m>(message: &Message<'m>) -> Option<(BusName<'m>, ObjectPath<'m>)> {
    let service = match message.message_type() {
        MessageType::MethodCall => message.destination(),
        MessageType::Signal => message.sender(),
        MessageType::MethodReturn | MessageType::Error | MessageType::Unknown(_) => None,
    };
    service.zip(message.path())
}

/// The maximum number of services that are introspected.
const SERVICES_MAX: usize = 1024;

/// The maximum number of objects introspected for a service.
const PATHS_MAX: usize = 32;

/// The maximum number of requests in total.
const QUESTIONS_MAX: usize = 4096;

/// The maximum total length of documents in bytes, so that they do not dominate the recording.
const DOCUMENT_BYTES_MAX: usize = 16 << 20;

/// The maximum number of concurrent requests.
const ASKED_MAX: usize = 4;

/// The time limit for a reply.
const TIMEOUT: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use client::CalledMethod;
    use client::wire::names::MemberName;
    use testkit::recording::TestRecording;

    use super::*;

    /// The objects that are queued after a recording.
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
    fn introspection_covers_objects_that_messages_name() {
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
    fn introspection_skips_interfaces_that_are_described() {
        let mut introspector = Introspector::default();
        let known = introspector.service("org.x.Mail").expect("the table is not full");
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
    fn introspection_stops_for_services_that_time_out() {
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
        let method = CalledMethod::of(&driver::method(MemberName::literal("Introspect")));
        let silent = CallError::TimedOut { method: method.into(), limit: Duration::from_secs(1) };
        introspector.answered(object, Err(silent), &mut |fact| panic!("{fact:?}"));
        assert_eq!(introspector.next(), None);
        assert!(introspector.is_settled());
        introspector.owner_changed("org.x.Mail");
        assert_eq!(seen(&mut introspector, &recording), ["org.x.Mail /a", "org.x.Mail /b"]);
    }
}
