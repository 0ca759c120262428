//! Which names there are, and who is behind them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use capture::record::{RecordedProcess, RecordedTime};
use client::{CallError, Connection, IntoName, ReceivedMessage, StartedCall};
use serde::Serialize;
use sys::clock;
use sys::users::UserAccount;
use wire::message::Builder;
use wire::names::{BusName, InterfaceName, MemberName, ObjectPath, WellKnownName};

use crate::asking::{Asking, InspectorQuestion, within};
use crate::{BusCredentials, Inspector, InspectorFailure};

/// A name on a bus: of a connection, of a service, or of one that can be started.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Name {
    /// The name.
    pub name: String,
    /// The connection that has it, by its unique name; of a unique name itself. `None` if it can
    /// only be started, and for the bus, which has no connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Whether the bus can start a service that will own it.
    pub is_activatable: bool,
    /// Who that is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub who: Option<NameOwner>,
    /// Why the owner, or who it is, is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<InspectorFailure>,
}

/// A program with a connection.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "NameOwner"))]
pub struct NameOwner {
    /// The process.
    #[serde(flatten)]
    pub process: RecordedProcess,
    /// The name of the user it runs as.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The numbers of the groups it is in.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<u32>,
    /// Its label in the security module of the kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

impl Inspector {
    /// All names: those of services in the order of the alphabet, then those of connections in the
    /// order in which they came.
    ///
    /// # Errors
    ///
    /// If the bus does not tell its names. What it does not tell of one of them is that one's
    /// [`failure`](Name::failure).
    pub fn names(&self) -> Result<Vec<Name>, InspectorFailure> {
        Ok(self
            .census(NameCensus::default(), vec![OwnerQuestion::Names, OwnerQuestion::Activatable])?
            .finish())
    }

    /// The same of one name; `None` if nobody has it and nobody can be started for it.
    ///
    /// # Errors
    ///
    /// If it is no name, or the bus does not tell which names can be started.
    pub fn name(&self, name: &str) -> Result<Option<Name>, InspectorFailure> {
        let name: BusName<'_> = name.into_name()?;
        let mut census = NameCensus::default();
        let questions = census.found(name.as_str().to_owned()).into_iter();
        let census =
            self.census(census, questions.chain([OwnerQuestion::Activatable]).collect())?;
        Ok(census.finish().into_iter().find(|found| found.name == name.as_str()))
    }

    fn census(
        &self,
        mut census: NameCensus,
        questions: Vec<OwnerQuestion>,
    ) -> Result<NameCensus, InspectorFailure> {
        let mut asking = Asking::new(&self.connection, self.patience, AT_ONCE);
        questions.into_iter().for_each(|question| asking.push(question));
        while let Some((question, answer)) = asking.next() {
            let found = census.answered(question, answer)?;
            found.into_iter().for_each(|more| asking.push(more));
        }
        let unasked: Vec<_> = asking.unasked().collect();
        unasked.into_iter().for_each(|question| census.left_out(&question));
        Ok(census)
    }
}

#[derive(Debug)]
enum OwnerQuestion {
    Names,
    Activatable,
    Owner(String),
    Who(String),
}

impl InspectorQuestion for OwnerQuestion {
    fn ask(&self, connection: &Connection, patience: Duration) -> Result<StartedCall, CallError> {
        let message = |member| {
            Builder::method_call(PATH, member).interface(DRIVER).destination(BusName::from(BUS))
        };
        let options = within(patience);
        match self {
            Self::Names => connection.start_call(&message(LIST_NAMES), &(), options),
            Self::Activatable => connection.start_call(&message(LIST_ACTIVATABLE), &(), options),
            Self::Owner(name) => connection.start_call(&message(OWNER), &(name,), options),
            Self::Who(name) => connection.start_call(&message(CREDENTIALS), &(name,), options),
        }
    }
}

/// What is known so far.
#[derive(Default)]
struct NameCensus {
    names: BTreeMap<String, Name>,
    /// By unique name; of the bus by its own.
    who: HashMap<String, NameOwner>,
    /// Of whom it was asked who they are.
    asked: HashSet<String>,
    users: HashMap<u32, Option<String>>,
}

impl NameCensus {
    /// Takes an answer, and gives what is to be asked because of it.
    fn answered(
        &mut self,
        question: OwnerQuestion,
        answer: Result<ReceivedMessage, InspectorFailure>,
    ) -> Result<Vec<OwnerQuestion>, InspectorFailure> {
        match question {
            OwnerQuestion::Names => {
                let names = list(&answer?)?;
                return Ok(names.into_iter().filter_map(|name| self.found(name)).collect());
            }
            OwnerQuestion::Activatable => self.activatable(list(&answer?)?),
            OwnerQuestion::Owner(name) => match answer.and_then(|reply| owner(&reply)) {
                Ok(owner) => {
                    self.name(name).owner = Some(owner.clone());
                    return Ok(self.ask_who(owner).into_iter().collect());
                }
                Err(failure) => self.failed(name, failure),
            },
            OwnerQuestion::Who(name) => match answer {
                Ok(reply) => self.learn(name, BusCredentials::read(&reply)),
                Err(failure) => self.failed(name, failure),
            },
        }
        Ok(Vec::new())
    }

    /// What is to be asked first about a name that somebody has.
    fn found(&mut self, name: String) -> Option<OwnerQuestion> {
        match name.starts_with(':') || name == BUS.as_str() {
            true => self.ask_who(name),
            false => Some(OwnerQuestion::Owner(name)),
        }
    }

    /// Who it is, unless that has been asked. Only the bus itself has no connection.
    fn ask_who(&mut self, name: String) -> Option<OwnerQuestion> {
        if name.starts_with(':') {
            self.name(name.clone()).owner = Some(name.clone());
        }
        self.asked.insert(name.clone()).then_some(OwnerQuestion::Who(name))
    }

    fn activatable(&mut self, names: Vec<String>) {
        names.into_iter().for_each(|name| self.name(name).is_activatable = true);
    }

    fn learn(&mut self, name: String, credentials: BusCredentials) {
        let process = credentials.process(now());
        let user = process.uid.and_then(|uid| {
            let found = || UserAccount::by_id(uid).ok().flatten().map(|user| user.name());
            self.users.entry(uid).or_insert_with(found).clone()
        });
        let BusCredentials { groups, label, .. } = credentials;
        self.who.insert(name, NameOwner { process, user, groups, label });
    }

    /// A name that nobody has any more is gone, if nobody can be started for it either.
    fn failed(&mut self, name: String, failure: InspectorFailure) {
        if failure.error_name() != Some(NOBODY) {
            self.name(name).failure = Some(failure);
        } else if let Some(known) = self.names.get_mut(&name) {
            known.owner = None;
            if !known.is_activatable {
                self.names.remove(&name);
            }
        }
    }

    fn left_out(&mut self, question: &OwnerQuestion) {
        if let OwnerQuestion::Owner(name) | OwnerQuestion::Who(name) = question {
            self.name(name.clone()).failure =
                Some(InspectorFailure::LeftOut(crate::InspectionBound::Time));
        }
    }

    fn name(&mut self, name: String) -> &mut Name {
        self.names.entry(name.clone()).or_insert(Name {
            name,
            owner: None,
            is_activatable: false,
            who: None,
            failure: None,
        })
    }

    fn finish(self) -> Vec<Name> {
        let Self { names, who, .. } = self;
        let mut names: Vec<_> = names.into_values().collect();
        for name in &mut names {
            name.who = who.get(name.owner.as_ref().unwrap_or(&name.name)).cloned();
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

/// The numbers of a unique name; none for others, which so come first.
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
const NOBODY: &str = "org.freedesktop.DBus.Error.NameHasNoOwner";

/// Questions that are under way at once: a system bus allows each connection 128 or so.
const AT_ONCE: usize = 64;
