//! Handing the work of a proxy to the bus itself.
//!
//! Diligence's bus can filter the messages of a sandbox. So the proxy passes it the rules and the
//! listening socket, and programs are connected to the bus without a process between. Their
//! messages need no copies, and the bus sees their real processes. On another bus, or if the bus
//! does not permit it, the proxy stands between as usual.

use std::io::PipeWriter;
use std::iter;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

use client::{
    CallOptions, ConnectOptions, Connection, ReceivedMessage, Subscription, SubscriptionError,
    Timeout, Values,
};
use sandbox::SandboxRule;
use sys::privileges::effective_user;
use wire::address::AddressList;
use wire::body::Value;
use wire::message::Builder;
use wire::names::{BusName, InterfaceName, MemberName, ObjectPath, ObjectPathBuf};
use wire::signature::{Signature, SignatureBuf, Type};

use crate::command_line::{FilterOptions, ProxyOptions};

/// A container of the bus that does the work of one proxy, as long as this exists.
#[derive(Debug)]
pub(crate) struct BusRegistration {
    connection: Connection,
    /// When this is closed, also because the process was killed, the bus disconnects the programs.
    _lifetime: PipeWriter,
    /// The ends of containers.
    removals: Subscription,
    /// The object path of the container.
    container: String,
}

/// Whether the bus still does the work of a proxy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RegistrationState {
    /// The bus serves the programs.
    Serving,
    /// The container was stopped by a program of this user.
    Stopped,
    /// The connection to the bus has ended, and the container with it.
    Ended,
}

impl BusRegistration {
    /// Asks the bus to serve the programs that connect to `socket`. Returns `None` if it does not.
    ///
    /// Without a filter, and if messages are printed, the proxy must do the work itself.
    pub(crate) fn try_new(options: &ProxyOptions, socket: &OwnedFd) -> Option<Self> {
        let ProxyOptions { address, path, filter } = options;
        if !filter.is_enabled || filter.logs {
            return None;
        }
        let connecting = ConnectOptions { timeout: Some(TIMEOUT), ..ConnectOptions::default() };
        let addresses = AddressList::parse(address.to_str()?).ok()?;
        let connection = Connection::open_with(&addresses, &connecting).ok()?;
        connection.set_call_timeout(Some(TIMEOUT));
        // Other users may not pass sockets, and the bus would log each attempt.
        let user = connection.call(DRIVER, PATH, DRIVER, "GetConnectionUnixUser", &(DRIVER,));
        let (user,): (u32,) = user.ok()?.read().ok()?;
        if ![user, 0].contains(&effective_user()) {
            return None;
        }
        let supported = connection
            .call(DRIVER, PATH, PROPERTIES, "Get", &(CONTAINERS, "SupportedArguments"))
            .ok()?;
        let (Value::Array { items, .. },) = supported.read::<(Value,)>().ok()? else { return None };
        let is_supported = |name: &str| items.contains(&Value::from(name));
        if ![RULES, UNIQUE_NAMES, CREATOR_CREDENTIALS, SOCKET, LIFETIME]
            .into_iter()
            .all(is_supported)
        {
            return None;
        }
        let call =
            Builder::method_call(ObjectPath::literal(PATH), MemberName::literal("AddServer"))
                .interface(InterfaceName::literal(CONTAINERS))
                .destination(BusName::new(DRIVER).ok()?);
        let removals = connection.proxy(DRIVER, PATH, CONTAINERS).ok()?;
        let removals = removals.signals("InstanceRemoved").ok()?;
        let (read_end, write_end) = std::io::pipe().ok()?;
        let call_options = CallOptions {
            timeout: Timeout::OfConnection,
            descriptors: vec![socket.try_clone().ok()?, read_end.into()],
        };
        let arguments = arguments(path, filter);
        let added = connection.start_call(&call, &Values(&arguments), call_options).ok()?.wait();
        let (container, _, _): (ObjectPathBuf, Vec<u8>, String) = added.ok()?.read().ok()?;
        let container = container.to_string();
        Some(Self { connection, _lifetime: write_end, removals, container })
    }

    /// Reads what the bus has sent. Nobody has a reason to call the proxy, so calls are dropped.
    pub(crate) fn process(&self) -> RegistrationState {
        loop {
            match self.connection.next_request(Some(Duration::ZERO)) {
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(_) => return RegistrationState::Ended,
            }
        }
        match iter::from_fn(|| self.removals.poll().transpose()).any(|it| self.is_end(it)) {
            true => RegistrationState::Stopped,
            false => RegistrationState::Serving,
        }
    }

    /// True if a signal says that the container was removed.
    fn is_end(&self, removal: Result<ReceivedMessage, SubscriptionError>) -> bool {
        let Ok(signal) = removal else { return false };
        let container = signal.read::<(ObjectPath<'_>,)>();
        container.is_ok_and(|(container,)| container.as_str() == self.container)
    }
}

impl AsFd for BusRegistration {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.connection.as_fd()
    }
}

/// The arguments of AddServer: type, name, metadata, and named arguments.
fn arguments(path: &Path, filter: &FilterOptions) -> [Value; 4] {
    // The bus refuses patterns that no message matches, which the command line allows.
    let rules = filter.rules.iter().cloned().map(SandboxRule::without_impossible_messages);
    let rules = rules.map(|rule| Value::from(rule.to_string().as_str()));
    let rules = Value::Array { element: element_of("as"), items: rules.collect() };
    let entry = |(name, value): (&str, Value)| {
        Value::DictEntry(Box::new((Value::from(name), Value::Variant(Box::new(value)))))
    };
    let dictionary = |items| Value::Array { element: element_of("a{sv}"), items };
    let named = [
        (RULES, rules),
        (UNIQUE_NAMES, Value::Boolean(filter.has_sloppy_names)),
        // Services look for the identity of a sandbox in the process of its proxy.
        (CREATOR_CREDENTIALS, Value::Boolean(true)),
        (SOCKET, Value::UnixFd(0)),
        (LIFETIME, Value::UnixFd(1)),
    ];
    [
        Value::from(CONTAINER_TYPE),
        Value::from(&*path.to_string_lossy()),
        dictionary(Vec::new()),
        dictionary(named.map(entry).into()),
    ]
}

/// The type of the elements of an array.
fn element_of(array: &str) -> SignatureBuf {
    match Signature::new(array).ok().and_then(Signature::single) {
        Some(Type::Array(element)) => element.into(),
        _ => unreachable!("it is the type of an array"),
    }
}

/// The type of the containers of proxies. Their name is the path of the socket.
const CONTAINER_TYPE: &str = "org.diligence.SandboxProxy";

const DRIVER: &str = "org.freedesktop.DBus";
const PATH: &str = "/org/freedesktop/DBus";
const PROPERTIES: &str = "org.freedesktop.DBus.Properties";
const CONTAINERS: &str = "org.freedesktop.DBus.Containers1";

const RULES: &str = "org.diligence.Rules";
const UNIQUE_NAMES: &str = "org.diligence.SeeUniqueNames";
const CREATOR_CREDENTIALS: &str = "org.diligence.CreatorCredentials";
const SOCKET: &str = "org.diligence.Socket";
const LIFETIME: &str = "org.diligence.Lifetime";

/// The time that the bus has to answer. The program that starts the proxy waits meanwhile.
const TIMEOUT: Duration = Duration::from_secs(2);
