//! A bus for tests of traces, its activatable services, and actions of its peers.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::mpsc;

use broker::activation::{UnitActivation, read};
use broker::busconfig::{self, Config, ServiceDir};
use broker::event_loop::Loaded;
use wire::Message;
use wire::body::{EncodeArgs, Value};
use wire::message::Builder;
use wire::names::{BusName, InterfaceName, MemberName, ObjectPath};
use wire::signature::Signature;

use crate::daemon;
use crate::peer::BrokerPeer;

/// A bus in a thread of this process, which ends with the process.
pub(crate) struct TracedBus {
    pub(crate) path: PathBuf,
}

impl TracedBus {
    pub(crate) fn start(name: &str, change: impl FnOnce(&mut Config)) -> Self {
        let mut config = busconfig::built_in_session();
        change(&mut config);
        Self::start_with(name, config.into())
    }

    pub(crate) fn start_with(name: &str, loaded: Loaded) -> Self {
        let name = format!("diligence-trace-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let (ready, is_ready) = mpsc::channel();
        let socket = path.clone();
        std::thread::spawn(move || {
            daemon::run(&socket, loaded, || ready.send(()).expect("the test waits"));
        });
        is_ready.recv().expect("the bus starts");
        Self { path }
    }

    pub(crate) fn connect(&self) -> BrokerPeer {
        BrokerPeer::connect(&self.path)
    }
}

impl Drop for TracedBus {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// A directory with service files, removed on drop.
pub(crate) struct ServiceFolder(PathBuf);

impl ServiceFolder {
    /// Creates a directory with these services: name and command of each.
    pub(crate) fn new(name: &str, services: &[(&str, &str)]) -> Self {
        let name = format!("diligence-trace-{name}-services-{}", std::process::id());
        let folder = Self(std::env::temp_dir().join(name));
        std::fs::create_dir_all(&folder.0).expect("a folder");
        for (name, command) in services {
            let file = format!("[D-BUS Service]\nName={name}\nExec={command}\n");
            std::fs::write(folder.0.join(format!("{name}.service")), file).expect("a file");
        }
        folder
    }

    /// The default configuration with these services.
    pub(crate) fn loaded(&self) -> Loaded {
        let (catalog, warnings) = read(&[ServiceDir::Path(self.0.clone())], None);
        assert_eq!(warnings.len(), 0, "the files are right");
        let mut config = busconfig::built_in_session();
        config.configuration.services = catalog.services(&UnitActivation::Direct);
        Loaded { config, catalog }
    }
}

impl Drop for ServiceFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl BrokerPeer {
    pub(crate) fn call_bus(
        &mut self,
        interface: &str,
        member: &str,
        args: &impl EncodeArgs,
    ) -> Vec<u8> {
        let interface = InterfaceName::new(interface).expect("a name");
        let call = builder("/org/freedesktop/DBus", member).interface(interface);
        let destination = BusName::new(DRIVER).expect("a name");
        let serial = self.send(call.destination(destination), args);
        self.reply_to(serial)
    }

    pub(crate) fn call(&mut self, to: &str, member: &str) {
        let call = builder("/com/example", member);
        let call = match BusName::new(to) {
            Ok(to) => call.destination(to),
            Err(_) => call.interface(InterfaceName::literal("org.freedesktop.DBus.Peer")),
        };
        self.send(call, &());
    }

    pub(crate) fn emit(&mut self, member: &str) {
        self.emit_with(member, &());
    }

    /// Emits these signals with one write.
    pub(crate) fn emit_together(&mut self, members: &[&str]) {
        let path = ObjectPath::literal("/com/example");
        let interface = InterfaceName::literal("com.example.Trace");
        let signal = |member| {
            let member = MemberName::new(member).expect("a name");
            Builder::signal(path, interface, member)
        };
        self.send_together(members.iter().map(|member| signal(member)));
    }

    pub(crate) fn emit_with(&mut self, member: &str, args: &impl EncodeArgs) {
        let path = ObjectPath::literal("/com/example");
        let interface = InterfaceName::literal("com.example.Trace");
        let member = MemberName::new(member).expect("a name");
        self.send(Builder::signal(path, interface, member), args);
    }

    pub(crate) fn start_trace(&mut self, rules: &[&str]) -> OwnedFd {
        self.start_trace_with(vec![self::rules(rules)])
    }

    pub(crate) fn start_trace_with(&mut self, options: Vec<(&str, Value)>) -> OwnedFd {
        self.try_trace(options).expect("it is ours")
    }

    pub(crate) fn try_trace(&mut self, options: Vec<(&str, Value)>) -> Result<OwnedFd, String> {
        let options: BTreeMap<&str, Value> = options.into_iter().collect();
        self.ring_of("Start", &(options,))
    }

    /// Calls a method that returns a ring. Returns the ring, or the name of the error.
    pub(crate) fn ring_of(
        &mut self,
        member: &str,
        args: &impl EncodeArgs,
    ) -> Result<OwnedFd, String> {
        let mut rings = self.rings_of(member, args)?;
        Ok(rings.remove(0))
    }

    /// Calls a method that returns rings. Returns all of them, at least one.
    pub(crate) fn rings_of(
        &mut self,
        member: &str,
        args: &impl EncodeArgs,
    ) -> Result<Vec<OwnedFd>, String> {
        let reply = self.call_bus(TRACE, member, args);
        let reply = Message::parse(&reply).expect("a message");
        match reply.error_name() {
            Some(name) => Err(name.as_str().to_owned()),
            None => Ok(std::mem::take(&mut self.fds)),
        }
    }
}

/// The option that gives a trace its match rules.
pub(crate) fn rules(rules: &[&str]) -> (&'static str, Value) {
    let element = Signature::new("s").expect("a type").into();
    let items = rules.iter().map(|&rule| rule.into()).collect();
    ("Rules", Value::Array { element, items })
}

fn builder<'a>(path: &'a str, member: &'a str) -> Builder<'a> {
    let path = ObjectPath::new(path).expect("a path");
    Builder::method_call(path, MemberName::new(member).expect("a member"))
}

pub(crate) const DRIVER: &str = "org.freedesktop.DBus";
pub(crate) const TRACE: &str = "org.diligence.Trace1";
