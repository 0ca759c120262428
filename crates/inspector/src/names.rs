//! The names on a bus, and the processes that own them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::time::Duration;

use capture::record::{RecordedProcess, RecordedTime};
use client::{CallError, Connection, IntoName, ReceivedMessage, StartedCall};
use serde::Serialize;
use sys::clock;
use sys::users::UserAccount;
use wire::body::Value;
use wire::message::Builder;
use wire::names::{BusName, InterfaceName, MemberName, ObjectPath, WellKnownName};

use crate::requests::{InspectorRequest, RequestBatch, with_timeout};
use crate::{BusCredentials, Inspector, InspectorFailure};

/// A name on a bus: a unique name, a well-known name with an owner, or an activatable name.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Name {
    /// The unique or well-known name.
    pub name: String,
    /// The unique name of the owner; a unique name owns itself. `None` for an activatable name
    /// without an owner, and for the bus, which has no connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// True if the bus can start a service that owns the name.
    pub is_activatable: bool,
    /// The process of the owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "who")]
    pub owner_process: Option<NameOwner>,
    /// Why the owner or its process is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<InspectorFailure>,
}

/// The process that owns a name.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "NameOwner"))]
pub struct NameOwner {
    /// The process and its user ID.
    #[serde(flatten)]
    pub process: RecordedProcess,
    /// The name of the user that the process runs as.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The group IDs of the process.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<u32>,
    /// The label of the process in the Linux security module.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The container that the connection is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container: Option<OwnerContainer>,
}

/// A container of the bus (`org.freedesktop.DBus.Containers1`): the connections of one sandbox.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OwnerContainer {
    /// The object path that identifies it.
    pub path: String,
    /// The type, such as `org.flatpak`, unless the bus does not tell.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The name that the sandbox has chosen, such as an application id, unless the bus does not
    /// tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// Formats name and type, or else the object path.
impl fmt::Display for OwnerContainer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.kind, &self.name) {
            (Some(kind), Some(name)) if !name.is_empty() => write!(f, "{name} ({kind})"),
            (Some(kind), _) => f.write_str(kind),
            (None, _) => f.write_str(&self.path),
        }
    }
}

impl Inspector {
    /// Returns all names: first well-known names in alphabetical order, then unique names by
    /// number.
    ///
    /// # Errors
    ///
    /// If the bus does not list its names. If a request for one name fails, only its own
    /// [`failure`](Name::failure) says so.
    pub fn names(&self) -> Result<Vec<Name>, InspectorFailure> {
        Ok(self
            .census(NameCensus::default(), vec![NameRequest::Names, NameRequest::Activatable])?
            .finish())
    }

    /// Looks up one name. Returns `None` if the name has no owner and is not activatable.
    ///
    /// # Errors
    ///
    /// If the name is invalid, or the bus does not list the activatable names.
    pub fn name(&self, name: &str) -> Result<Option<Name>, InspectorFailure> {
        let name: BusName<'_> = name.into_name()?;
        let mut census = NameCensus::default();
        let requests = census.first_request(name.as_str().to_owned()).into_iter();
        let census = self.census(census, requests.chain([NameRequest::Activatable]).collect())?;
        Ok(census.finish().into_iter().find(|found| found.name == name.as_str()))
    }

    fn census(
        &self,
        mut census: NameCensus,
        requests: Vec<NameRequest>,
    ) -> Result<NameCensus, InspectorFailure> {
        let mut batch = RequestBatch::new(&self.connection, self.timeouts, IN_FLIGHT_MAX);
        requests.into_iter().for_each(|request| batch.push(request));
        while let Some((request, reply)) = batch.next() {
            let requests = census.store(request, reply)?;
            requests.into_iter().for_each(|request| batch.push(request));
        }
        let unsent: Vec<_> = batch.unsent().collect();
        unsent.into_iter().for_each(|request| census.skip(&request));
        Ok(census)
    }
}

#[derive(Debug)]
enum NameRequest {
    Names,
    Activatable,
    Owner(String),
    Credentials(String),
    /// The container with this object path.
    Container(String),
}

impl InspectorRequest for NameRequest {
    fn start(&self, connection: &Connection, timeout: Duration) -> Result<StartedCall, CallError> {
        let message = |member| {
            Builder::method_call(PATH, member).interface(DRIVER).destination(BusName::from(BUS))
        };
        let options = with_timeout(timeout);
        match self {
            Self::Names => connection.start_call(&message(LIST_NAMES), &(), options),
            Self::Activatable => connection.start_call(&message(LIST_ACTIVATABLE), &(), options),
            Self::Owner(name) => connection.start_call(&message(OWNER), &(name,), options),
            Self::Credentials(name) => {
                connection.start_call(&message(CREDENTIALS), &(name,), options)
            }
            Self::Container(path) => {
                let message = message(INSTANCE_INFO).interface(CONTAINERS);
                let path = ObjectPath::new(path).expect("the bus has sent it as a path");
                connection.start_call(&message, &(path,), options)
            }
        }
    }
}

/// The replies so far.
#[derive(Default)]
struct NameCensus {
    names: BTreeMap<String, Name>,
    /// By unique name; the process of the bus has the name of the bus.
    owners: HashMap<String, NameOwner>,
    /// The names whose credentials were requested.
    requested: HashSet<String>,
    users: HashMap<u32, Option<String>>,
    /// Types and names of containers, by object path; `None` if they are not known yet.
    containers: HashMap<String, Option<(String, String)>>,
}

impl NameCensus {
    /// Stores a reply, and returns the requests that follow from it.
    fn store(
        &mut self,
        request: NameRequest,
        reply: Result<ReceivedMessage, InspectorFailure>,
    ) -> Result<Vec<NameRequest>, InspectorFailure> {
        match request {
            NameRequest::Names => {
                let names = list(&reply?)?;
                return Ok(names.into_iter().filter_map(|name| self.first_request(name)).collect());
            }
            NameRequest::Activatable => self.activatable(list(&reply?)?),
            NameRequest::Owner(name) => match reply.and_then(|reply| owner(&reply)) {
                Ok(owner) => {
                    self.name(name).owner = Some(owner.clone());
                    return Ok(self.credentials_request(owner).into_iter().collect());
                }
                Err(failure) => self.fail(name, failure),
            },
            NameRequest::Credentials(name) => match reply {
                Ok(reply) => {
                    let request = self.set_credentials(name, BusCredentials::read(&reply));
                    return Ok(request.into_iter().collect());
                }
                Err(failure) => self.fail(name, failure),
            },
            // A container that has ended, or that is hidden from a sandboxed program, has no facts.
            NameRequest::Container(path) => {
                let facts = reply.ok().and_then(|reply| container_facts(&reply));
                self.containers.insert(path, facts);
            }
        }
        Ok(Vec::new())
    }

    /// Returns the first request for a name that has an owner.
    fn first_request(&mut self, name: String) -> Option<NameRequest> {
        match name.starts_with(':') || name == BUS.as_str() {
            true => self.credentials_request(name),
            false => Some(NameRequest::Owner(name)),
        }
    }

    /// Returns a request for the credentials of a name, unless one was made before. Only the bus
    /// itself has a well-known name here.
    fn credentials_request(&mut self, name: String) -> Option<NameRequest> {
        if name.starts_with(':') {
            self.name(name.clone()).owner = Some(name.clone());
        }
        self.requested.insert(name.clone()).then_some(NameRequest::Credentials(name))
    }

    fn activatable(&mut self, names: Vec<String>) {
        names.into_iter().for_each(|name| self.name(name).is_activatable = true);
    }

    /// Stores credentials, and returns a request for the container, unless one was made before.
    fn set_credentials(
        &mut self,
        name: String,
        credentials: BusCredentials,
    ) -> Option<NameRequest> {
        let process = credentials.process(now());
        let user = process.uid.and_then(|uid| {
            let look_up = || UserAccount::by_id(uid).ok().flatten().map(|user| user.name());
            self.users.entry(uid).or_insert_with(look_up).clone()
        });
        let BusCredentials { groups, label, container, .. } = credentials;
        let request = container.clone().filter(|path| !self.containers.contains_key(path));
        self.containers.extend(request.clone().map(|path| (path, None)));
        let container = container.map(|path| OwnerContainer { path, kind: None, name: None });
        self.owners.insert(name, NameOwner { process, user, groups, label, container });
        request.map(NameRequest::Container)
    }

    /// Stores a failure. A name that has lost its owner is removed, unless it is activatable.
    fn fail(&mut self, name: String, failure: InspectorFailure) {
        if failure.error_name() != Some(NAME_HAS_NO_OWNER) {
            self.name(name).failure = Some(failure);
        } else if let Some(entry) = self.names.get_mut(&name) {
            entry.owner = None;
            if !entry.is_activatable {
                self.names.remove(&name);
            }
        }
    }

    fn skip(&mut self, request: &NameRequest) {
        if let NameRequest::Owner(name) | NameRequest::Credentials(name) = request {
            self.name(name.clone()).failure =
                Some(InspectorFailure::LeftOut(crate::InspectionBound::Time));
        }
    }

    fn name(&mut self, name: String) -> &mut Name {
        self.names.entry(name.clone()).or_insert(Name {
            name,
            owner: None,
            is_activatable: false,
            owner_process: None,
            failure: None,
        })
    }

    fn finish(self) -> Vec<Name> {
        let Self { names, mut owners, containers, .. } = self;
        for container in owners.values_mut().filter_map(|owner| owner.container.as_mut()) {
            if let Some(Some((kind, name))) = containers.get(&container.path).cloned() {
                (container.kind, container.name) = (Some(kind), Some(name));
            }
        }
        let mut names: Vec<_> = names.into_values().collect();
        for name in &mut names {
            name.owner_process = owners.get(name.owner.as_ref().unwrap_or(&name.name)).cloned();
        }
        names.sort_by_cached_key(|name| (unique_number(&name.name), name.name.clone()));
        names
    }
}

fn list(reply: &ReceivedMessage) -> Result<Vec<String>, InspectorFailure> {
    let (names,) = reply.read()?;
    Ok(names)
}

fn owner(reply: &ReceivedMessage) -> Result<String, InspectorFailure> {
    let (owner,) = reply.read()?;
    Ok(owner)
}

/// Returns the type and the name of a container.
fn container_facts(reply: &ReceivedMessage) -> Option<(String, String)> {
    type Facts = (HashMap<String, Value>, String, String, HashMap<String, Value>);
    let (_, kind, name, _): Facts = reply.read().ok()?;
    Some((kind, name))
}

/// Returns the numbers of a unique name. Well-entry names have none, so they sort first.
fn unique_number(name: &str) -> Vec<u64> {
    let numbers = name.strip_prefix(':').into_iter().flat_map(|rest| rest.split('.'));
    numbers.map(|number| number.parse().unwrap_or(u64::MAX)).collect()
}

fn now() -> RecordedTime {
    RecordedTime(i64::try_from(clock::realtime().as_nanos()).unwrap_or(i64::MAX))
}

const BUS: WellKnownName<'static> = WellKnownName::literal("org.freedesktop.DBus");
const PATH: ObjectPath<'static> = ObjectPath::literal("/org/freedesktop/DBus");
const DRIVER: InterfaceName<'static> = InterfaceName::literal("org.freedesktop.DBus");
const LIST_NAMES: MemberName<'static> = MemberName::literal("ListNames");
const LIST_ACTIVATABLE: MemberName<'static> = MemberName::literal("ListActivatableNames");
const OWNER: MemberName<'static> = MemberName::literal("GetNameOwner");
const CREDENTIALS: MemberName<'static> = MemberName::literal("GetConnectionCredentials");
const CONTAINERS: InterfaceName<'static> =
    InterfaceName::literal("org.freedesktop.DBus.Containers1");
const INSTANCE_INFO: MemberName<'static> = MemberName::literal("GetInstanceInfo");
const NAME_HAS_NO_OWNER: &str = "org.freedesktop.DBus.Error.NameHasNoOwner";

/// Maximum number of requests in flight. System buses commonly allow 128 pending replies per
/// connection.
const IN_FLIGHT_MAX: usize = 64;
