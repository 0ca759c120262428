//! Blocking proxies, and served objects of a thread.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::time::Duration;

use diligence_client::wire::body::{Shape, UnixFd, Value, Writer};
use diligence_client::wire::names::{ObjectPath, ObjectPathBuf};
use diligence_client::{
    CallError, Encode, InterfaceError, NameFlags, PropertyChanges, ServeError, ServedObject as _,
    SignalError, Typed, interface, proxy,
};

use crate::lamp::{LampError, LampProperties, LampProxy, NAME, PATH, TestLamp, serve_lamp};
use crate::support::PrivateTestBus;

const SHORTLY: Option<Duration> = Some(Duration::from_secs(5));

#[test]
fn methods_pass_arguments_and_results() {
    let bus = PrivateTestBus::start();
    let _service = bus.serve(|connection| drop(serve_lamp(connection)));
    let connection = bus.connect();
    let lamp = LampProxy::new(&connection);
    assert_eq!(LampProxy::INTERFACE, NAME);
    assert_eq!(lamp.toggle(), Ok(true));
    assert_eq!(lamp.toggle(), Ok(false));
    assert_eq!(lamp.combine((-1, 5), &["a", "b"]), Ok((4, "ab".into())));
    assert_eq!(lamp.nothing(), Ok(()));
    let path = ObjectPath::literal("/a/b");
    assert_eq!(lamp.path_of(path).unwrap().as_path(), path);
    lamp.forget("forgotten").unwrap();
    assert_eq!(lamp.label().unwrap(), "forgotten");
    assert_eq!(lamp.wait(10), Ok(10));
}

#[test]
fn errors_keep_their_names_and_texts() {
    let bus = PrivateTestBus::start();
    let _service = bus.serve(|connection| drop(serve_lamp(connection)));
    let connection = bus.connect();
    let lamp = LampProxy::at(&connection, NAME, PATH).unwrap();
    let text = "101 is more than 100";
    assert_eq!(lamp.set_brightness(101), Err(LampError::Invalid(text.into())));
    assert_eq!(lamp.set_brightness(0), Ok(()));
    assert_eq!(lamp.toggle(), Err(LampError::Broken));
    assert_eq!(lamp.wait(13), Err(LampError::Broken));
    let error = connection.call(NAME, PATH, NAME, "Toggle", &()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "Toggle of org.example.Lamp failed: org.example.Lamp.Error.Broken: the lamp is broken"
    );
    // The thread of the service drops the reply.
    let LampError::Call(error) = lamp.wait(0).unwrap_err() else { panic!("a name of the lamp") };
    assert_eq!(error.remote_name(), Some("org.freedesktop.DBus.Error.Failed"));
    let nowhere = LampProxy::at(&connection, NAME, "/nowhere").unwrap();
    let error = nowhere.toggle().unwrap_err();
    let LampError::Call(CallError::Remote { name, .. }) = error else { panic!("{error}") };
    assert_eq!(name, "org.freedesktop.DBus.Error.UnknownObject");
    assert!(LampProxy::at(&connection, "no name", PATH).is_err());
    // The result has another type than the proxy declares.
    let wrong = WrongLampProxy::at(&connection, NAME, PATH).unwrap();
    let error = wrong.combine((1, 2), &[]).unwrap_err();
    let CallError::Read { error: types, member: Some(member) } = &error else { panic!("{error}") };
    assert_eq!((member.interface(), member.member()), (Some("org.example.Lamp"), "Combine"));
    let owner = member.destination().expect("the bus names the sender");
    assert_eq!(error.to_string(), format!("Combine of {owner} cannot be read: {types}"));
    let explained = connection.explain(&error).to_string();
    assert!(explained.starts_with(&format!("Combine of {owner} (")), "{explained}");
    assert!(explained.contains(&format!("pid {}", std::process::id())), "{explained}");
    assert!(matches!(wrong.toggle("x"), Err(CallError::Remote { .. })));
}

#[proxy(interface = "org.example.Lamp")]
trait WrongLamp {
    fn combine(&self, numbers: (i32, i64), texts: &[&str]) -> Result<u32, CallError>;
    fn toggle(&self, extra: &str) -> Result<bool, CallError>;
}

#[test]
fn descriptors_pass_in_both_directions() {
    let bus = PrivateTestBus::start();
    let _service = bus.serve(|connection| drop(serve_lamp(connection)));
    let connection = bus.connect();
    let lamp = LampProxy::new(&connection);
    let files = || {
        let (reader, mut writer) = std::io::pipe().unwrap();
        writer.write_all(b"text").unwrap();
        let (log, logged) = std::io::pipe().unwrap();
        (OwnedFd::from(reader), OwnedFd::from(logged), log)
    };
    let check = |length: u32, file: OwnedFd, mut log: std::io::PipeReader| {
        let mut text = String::new();
        std::fs::File::from(file).read_to_string(&mut text).unwrap();
        assert_eq!((length, text.as_str()), (4, "TEXT"));
        let mut logged = [0; 6];
        log.read_exact(&mut logged).unwrap();
        assert_eq!(&logged, b"logged");
    };
    let (file, logged, log) = files();
    #[expect(deprecated, reason = "the test is about deprecated methods, too")]
    let (length, file) = lamp.swap_files(file, logged).unwrap();
    check(length, file, log);
    // In the other order, and with the whole reply.
    let (file, logged, log) = files();
    let reply = lamp.swap_listed_files(UnixFd(1), UnixFd(0), vec![logged, file]).unwrap();
    let (length, place): (u32, UnixFd) = reply.read().unwrap();
    check(length, reply.descriptor(place).unwrap().try_clone().unwrap(), log);
    let missing = lamp.swap_listed_files(UnixFd(1), UnixFd(0), Vec::new()).unwrap_err();
    assert!(missing.remote_name().is_some(), "{missing}");
}

#[test]
fn properties_are_read_written_and_watched() {
    let bus = PrivateTestBus::start();
    let _service = bus.serve(|connection| drop(serve_lamp(connection)));
    let connection = bus.connect();
    let lamp = LampProxy::new(&connection);
    let changes = lamp.property_changes().unwrap();
    let mut known = lamp.properties().unwrap();
    assert_eq!(
        known,
        LampProperties {
            brightness: Some(7),
            label: Some("desk".into()),
            version: Some((1, "one".into())),
            is_on: Some(false),
            uses: Some(0),
        }
    );
    assert_eq!((lamp.brightness().unwrap(), lamp.label().unwrap().as_str()), (7, "desk"));
    assert_eq!(lamp.version(), Ok((1, "one".into())));
    lamp.set_brightness(50).unwrap();
    let change = changes.next(SHORTLY).unwrap().unwrap();
    let brightness = LampProperties { brightness: Some(50), ..LampProperties::default() };
    assert_eq!((change.interface.as_str(), &change.changed), (NAME, &brightness));
    known.apply(change);
    lamp.set_label("floor").unwrap();
    let change = changes.next(SHORTLY).unwrap().unwrap();
    assert_eq!(change.invalidated, ["Label"]);
    known.apply(change);
    // `is_on` changes without a signal, `uses` with one.
    lamp.toggle().unwrap();
    known.apply(changes.next(SHORTLY).unwrap().unwrap());
    assert_eq!((known.brightness, known.label, known.uses), (Some(50), None, Some(1)));
    assert_eq!((known.is_on, lamp.is_on().unwrap()), (Some(false), true));
    // Secret can be written only.
    lamp.proxy().set("Secret", &"word").unwrap();
    let error = lamp.proxy().get::<Value>("Secret").unwrap_err();
    assert_eq!(error.remote_name(), Some("org.freedesktop.DBus.Error.AccessDenied"));
    assert_eq!(changes.poll(), Ok(None));
}

#[test]
fn signals_have_decoded_arguments() {
    let bus = PrivateTestBus::start();
    let connection = bus.connect();
    let lamp = LampProxy::new(&connection);
    let (toggled, bare) = (lamp.subscribe_toggled().unwrap(), lamp.subscribe_bare().unwrap());
    let _service = bus.serve(|connection| {
        let lamp = serve_lamp(connection);
        TestLamp::toggled(&lamp, false, "nobody").unwrap();
        #[expect(deprecated, reason = "the test is about deprecated signals, too")]
        TestLamp::bare(&lamp).unwrap();
        // Another type of argument.
        lamp.emit("Toggled", &(7_u8,)).unwrap();
        TestLamp::toggled(&lamp, true, "").unwrap();
    });
    assert_eq!(toggled.next(SHORTLY), Ok(Some((false, "nobody".into()))));
    assert!(matches!(toggled.next(SHORTLY), Err(SignalError::Read(_))));
    assert_eq!(toggled.next(SHORTLY), Ok(Some((true, String::new()))));
    assert_eq!(bare.next(SHORTLY), Ok(Some(())));
    assert_eq!((bare.poll(), toggled.poll()), (Ok(None), Ok(None)));
    lamp.toggle().unwrap();
    let signal = toggled.inner().next(SHORTLY).unwrap().unwrap();
    assert_eq!(signal.path(), Some(PATH));
    assert_eq!(signal.read(), Ok((true, connection.unique_name().as_str())));
}

#[test]
fn object_managers_announce_typed_objects() {
    let bus = PrivateTestBus::start();
    let (service, connection) = (bus.connect(), bus.connect());
    service.add_object_manager("/org/example").unwrap();
    service.request_name(NAME, NameFlags::NONE).unwrap();
    let manager = ObjectManagerProxy::new(&connection);
    let (added, removed) = (
        manager.subscribe_interfaces_added().unwrap(),
        manager.subscribe_interfaces_removed().unwrap(),
    );
    let counter = service.export("/org/example/c", GenericCounter(7_u32)).unwrap();
    service.flush().unwrap();
    let (path, interfaces) = added.next(SHORTLY).unwrap().unwrap();
    assert_eq!(path.as_path(), "/org/example/c");
    assert_eq!(interfaces["org.example.Counter"]["Count"], Value::Uint32(7));
    let serving = std::thread::spawn(move || {
        service.serve_for(Duration::from_millis(400)).unwrap();
        counter.remove();
        service.flush().unwrap();
    });
    let objects = manager.get_managed_objects().unwrap();
    assert_eq!(objects.len(), 1);
    let (path, interfaces) = removed.next(SHORTLY).unwrap().unwrap();
    assert_eq!(
        (path.as_path().as_str(), &interfaces[0][..]),
        ("/org/example/c", "org.example.Counter")
    );
    serving.join().unwrap();
}

type ManagedInterfaces = BTreeMap<String, BTreeMap<String, Value>>;

#[proxy(
    interface = "org.freedesktop.DBus.ObjectManager",
    default_service = "org.example.Lamp",
    default_path = "/org/example"
)]
trait ObjectManager {
    fn get_managed_objects(&self) -> Result<BTreeMap<ObjectPathBuf, ManagedInterfaces>, CallError>;
    #[signal]
    fn interfaces_added(&self, path: ObjectPathBuf, interfaces: ManagedInterfaces);
    #[signal]
    fn interfaces_removed(&self, path: ObjectPathBuf, interfaces: Vec<String>);
}

/// An interface for states of several types.
struct GenericCounter<T>(T);

#[interface(name = "org.example.Counter")]
impl<T: Copy + Send + Encode + 'static> GenericCounter<T> {
    #[property(emits_change = true)]
    fn count(&self) -> T {
        self.0
    }
}

/// A property whose two functions differ in their types.
struct MixedProperty(u32);

#[interface(name = "org.example.Mixed")]
impl MixedProperty {
    #[property]
    fn size(&self) -> u32 {
        self.0
    }

    #[property]
    fn set_size(&mut self, size: u64) {
        self.0 = u32::try_from(size).unwrap_or(u32::MAX);
    }
}

#[test]
fn definitions_are_checked_once() {
    let mixed = MixedProperty::served_interface().unwrap_err();
    assert!(matches!(mixed, InterfaceError::SetterType { .. }), "{mixed}");
    let first = TestLamp::served_interface().unwrap();
    assert_eq!(first.name(), NAME);
    let bus = PrivateTestBus::start();
    let connection = bus.connect();
    connection.export("/a", TestLamp::default()).unwrap();
    let error = connection.export("/a", TestLamp::default()).unwrap_err();
    assert!(matches!(error, ServeError::Taken { .. }), "{error}");
    let error = connection.export("/a", GenericCounter(Deep)).unwrap_err();
    assert!(matches!(error, ServeError::Interface(InterfaceError::Types { .. })), "{error}");
}

/// A type that is nested too deeply.
#[derive(Clone, Copy)]
struct Deep;

type Nested<T> = Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<T>>>>>>>>;
type TooDeep = Nested<Nested<Nested<Nested<Vec<u8>>>>>;

impl Typed for Deep {
    const SHAPE: Shape = TooDeep::SHAPE;
}

impl Encode for Deep {
    fn encode(&self, _: &mut Writer<'_>) {
        unreachable!("the type is refused before");
    }
}

#[test]
fn changes_are_applied_to_known_properties() {
    let mut known = LampProperties { brightness: Some(1), uses: Some(2), ..<_>::default() };
    known.apply(PropertyChanges {
        interface: NAME.into(),
        changed: LampProperties { is_on: Some(true), uses: Some(3), ..<_>::default() },
        invalidated: vec!["Brightness".into(), "Uses".into(), "Unknown".into()],
    });
    let expected = LampProperties { is_on: Some(true), uses: Some(3), ..<_>::default() };
    assert_eq!(known, expected);
}

/// A program may have the library under another path.
mod renamed {
    pub(crate) use diligence_client as library;
}

#[derive(Debug, thiserror::Error, renamed::library::ErrorReply)]
#[dbus(prefix = "org.example.Error", crate = renamed::library)]
enum RenamedError {
    #[error("the text")]
    Odd,
    #[error(transparent)]
    #[dbus(other)]
    Call(CallError),
}

struct RenamedObject;

#[renamed::library::interface(
    name = "org.example.Renamed",
    crate = renamed::library
)]
impl RenamedObject {
    fn fail(&self) -> Result<u8, RenamedError> {
        Err(RenamedError::Odd)
    }

    #[property]
    fn number(&self) -> u8 {
        7
    }
}

#[renamed::library::proxy(
    interface = "org.example.Renamed",
    default_path = "/a",
    crate = renamed::library
)]
trait Renamed {
    #[method(no_auto_start, interactive)]
    fn fail(&self) -> Result<u8, RenamedError>;
    #[property]
    fn number(&self) -> Result<u8, CallError>;
}

#[test]
fn the_library_can_have_another_path() {
    let bus = PrivateTestBus::start();
    let connection = bus.connect();
    let _service = bus.serve(|connection| {
        connection.export("/a", RenamedObject).unwrap();
        connection.request_name(NAME, NameFlags::NONE).unwrap();
    });
    let renamed = RenamedProxy::new(&connection, NAME).unwrap();
    assert!(matches!(renamed.fail(), Err(RenamedError::Odd)));
    assert_eq!(renamed.properties().unwrap().number, renamed.number().ok());
}
