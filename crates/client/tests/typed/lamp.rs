//! A lamp: a served object with members of all kinds, and its proxies.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::thread;
use std::time::Duration;

use diligence_client::wire::body::UnixFd;
use diligence_client::wire::names::{ObjectPath, ObjectPathBuf};
use diligence_client::{
    CallError, Connection, DeferredReply, ErrorReply, IncomingCall, MethodError, NameFlags, Object,
    ReceivedMessage, interface, proxy,
};

pub(crate) const NAME: &str = "org.example.Lamp";
pub(crate) const PATH: &str = "/org/example/Lamp";

#[derive(Debug, PartialEq, thiserror::Error, ErrorReply)]
#[dbus(prefix = "org.example.Lamp.Error")]
pub(crate) enum LampError {
    #[error("the lamp is broken")]
    Broken,
    #[error("{0}")]
    #[dbus(rename = "org.freedesktop.DBus.Error.InvalidArgs")]
    Invalid(String),
    #[error(transparent)]
    #[dbus(other)]
    Call(CallError),
}

#[derive(Default)]
pub(crate) struct TestLamp {
    is_on: bool,
    pub(crate) brightness: u8,
    label: String,
    secret: String,
    uses: u32,
}

#[interface(name = "org.example.Lamp")]
#[annotate("org.gtk.GDBus.DocString", "A lamp.")]
impl TestLamp {
    /// Switches the lamp, and returns whether it is on.
    #[method(results("is_on"))]
    fn toggle(&mut self, call: &IncomingCall) -> Result<bool, LampError> {
        if self.brightness == 0 {
            return Err(LampError::Broken);
        }
        self.is_on = !self.is_on;
        self.uses += 1;
        Self::toggled(call, self.is_on, call.message().sender().unwrap_or_default()).unwrap();
        Self::uses_changed(call);
        Ok(self.is_on)
    }

    #[method(results("sum", "texts"))]
    fn combine(&self, numbers: (i32, i64), texts: Vec<&str>) -> (i64, String) {
        (i64::from(numbers.0) + numbers.1, texts.concat())
    }

    fn nothing(&self) {}

    #[method(name = "getHTTPPath")]
    fn path_of<'a>(&self, path: ObjectPath<'a>) -> ObjectPath<'a> {
        path
    }

    #[method(no_reply)]
    fn forget(&mut self, label: String) {
        self.label = label;
    }

    /// Answers in a thread.
    fn wait(&self, ms: u64, reply: DeferredReply<(u64,)>) {
        thread::spawn(move || {
            thread::sleep(Duration::from_millis(ms));
            match ms {
                // The caller gets the error of a reply that was dropped.
                0 => drop(reply),
                13 => reply.send(Err(LampError::Broken.into())),
                _ => reply.send(Ok((ms,))),
            }
        });
    }

    #[deprecated]
    #[method(results("number", "file"))]
    fn swap_files(
        &self,
        file: OwnedFd,
        log: BorrowedFd<'_>,
    ) -> Result<(u32, OwnedFd), MethodError> {
        let mut text = String::new();
        File::from(file)
            .read_to_string(&mut text)
            .map_err(|e| MethodError::failed(e.to_string()))?;
        let (reader, mut writer) = std::io::pipe().unwrap();
        writer.write_all(text.to_uppercase().as_bytes()).unwrap();
        File::from(log.try_clone_to_owned().unwrap()).write_all(b"logged").unwrap();
        Ok((text.len() as u32, reader.into()))
    }

    #[property]
    pub(crate) fn brightness(&self) -> u8 {
        self.brightness
    }

    #[property]
    fn set_brightness(&mut self, value: u8, call: &IncomingCall) -> Result<(), LampError> {
        assert!(call.message().sender().is_some());
        if value > 100 {
            return Err(LampError::Invalid(format!("{value} is more than 100")));
        }
        self.brightness = value;
        Ok(())
    }

    #[property(emits_change = "invalidates")]
    fn label(&self) -> &str {
        &self.label
    }

    #[property]
    fn set_label(&mut self, label: &str) {
        self.label = label.to_owned();
    }

    #[property(emits_change = "const")]
    #[annotate("org.example.Unit", "one")]
    fn version(&self) -> (u32, &str) {
        (1, "one")
    }

    #[property(emits_change = false)]
    fn is_on(&self) -> bool {
        self.is_on
    }

    #[property]
    fn uses(&self) -> u32 {
        self.uses
    }

    #[property]
    fn set_secret(&mut self, secret: String) {
        self.secret = secret;
    }

    #[signal]
    pub(crate) fn toggled(is_on: bool, by: &str);

    #[signal]
    #[deprecated]
    pub(crate) fn bare();
}

/// A lamp in another program.
#[proxy(
    interface = "org.example.Lamp",
    default_service = "org.example.Lamp",
    default_path = "/org/example/Lamp"
)]
pub(crate) trait Lamp {
    fn toggle(&self) -> Result<bool, LampError>;
    fn combine(&self, numbers: (i32, i64), texts: &[&str]) -> Result<(i64, String), CallError>;
    #[method(timeout = Duration::from_secs(5))]
    fn nothing(&self) -> Result<(), CallError>;
    #[method(name = "getHTTPPath")]
    fn path_of(&self, path: ObjectPath<'_>) -> Result<ObjectPathBuf, CallError>;
    #[method(no_reply)]
    fn forget(&self, label: &str) -> Result<(), CallError>;
    fn wait(&self, ms: u64) -> Result<u64, LampError>;
    /// Passes files in both directions.
    #[deprecated]
    fn swap_files(&self, file: OwnedFd, log: OwnedFd) -> Result<(u32, OwnedFd), CallError>;
    #[method(name = "SwapFiles")]
    fn swap_listed_files(
        &self,
        file: UnixFd,
        log: UnixFd,
        #[descriptors] descriptors: Vec<OwnedFd>,
    ) -> Result<ReceivedMessage, CallError>;
    #[property]
    fn brightness(&self) -> Result<u8, CallError>;
    #[property]
    fn set_brightness(&self, value: u8) -> Result<(), LampError>;
    #[property]
    fn label(&self) -> Result<String, CallError>;
    #[property]
    fn set_label(&self, label: &str) -> Result<(), CallError>;
    #[property]
    fn version(&self) -> Result<(u32, String), CallError>;
    #[property]
    fn is_on(&self) -> Result<bool, CallError>;
    #[property]
    fn uses(&self) -> Result<u32, CallError>;
    #[signal]
    fn toggled(&self, is_on: bool, by: String);
    #[signal]
    fn bare(&self);
}

impl TestLamp {
    pub(crate) fn new() -> Self {
        Self { brightness: 7, label: "desk".into(), ..Self::default() }
    }
}

/// Serves a lamp, and owns its name.
pub(crate) fn serve_lamp(connection: &Connection) -> Object<TestLamp> {
    let lamp = connection.export(PATH, TestLamp::new()).unwrap();
    connection.request_name(NAME, NameFlags::NONE).unwrap();
    lamp
}
