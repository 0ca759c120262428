//! Who has a name, or what a process is: every credential.

use std::fmt::Write as _;

use capture::record::{Process, Time};
use capture::text::Style;
use capture::text::units::date_and_time;
use capture::text::visible::printable;
use inspector::{Inspector, Name, Who};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use sys::control_group::Belonging;
use sys::identity::{Capabilities, Four, Identity, capability_names};
use sys::users::{User, group_name};

use crate::bus_choice::BusChoice;
use crate::inspection::{LookError, names, no_such_name};

/// Credentials, in the order of busctl, then what is known besides.
pub(super) struct Credentials(Vec<(&'static str, Value)>);

enum Value {
    /// It is known that there is none.
    None,
    Number(u64),
    Text(String),
    Numbers(Vec<u32>),
    Words(Vec<String>),
    Capabilities(u64),
}

/// Those of whoever has a name.
pub(super) fn of_name(
    inspector: &Inspector,
    choice: &BusChoice,
    wanted: &str,
) -> Result<Credentials, LookError> {
    let found = inspector.name(wanted).map_err(|failure| LookError::Word { failure })?;
    let name = found.ok_or_else(|| no_such_name(inspector, choice, wanted))?;
    if name.owner.is_none() && name.who.is_none() {
        return Err(LookError::NotRunning { name: name.name });
    }
    let all = names(inspector, choice)?;
    let Name { owner, who, is_activatable, .. } = name;
    let who = who.unwrap_or_else(nobody);
    let others = names_of(&all, |other| owner.is_some() && other.owner == owner);
    let mut told = Credentials(Vec::new());
    told.process(&who.process, owner);
    told.besides(&who);
    told.words("Names", others);
    told.push("Activatable", Value::Text(if is_activatable { "yes" } else { "no" }.into()));
    Ok(told)
}

/// Those of a process, and what it is on the bus.
pub(super) fn of_process(
    inspector: &Inspector,
    choice: &BusChoice,
    pid: u32,
) -> Result<Credentials, LookError> {
    let known = inspector::Credentials { pid: Some(pid), ..inspector::Credentials::default() };
    let process = known.process(now());
    let identity = Identity::of_process(pid).ok_or(LookError::NoSuchProcess { pid })?;
    let process = Process { uid: Some(identity.users.effective), ..process };
    let all = names(inspector, choice)?;
    let is_its = |name: &Name| name.who.as_ref().is_some_and(|who| who.process.pid == Some(pid));
    let mut told = Credentials(Vec::new());
    told.process(&process, None);
    let user = user_name(identity.users.effective);
    told.besides(&Who { process, user, ..nobody() });
    told.words("Connections", unique_names(&all, is_its));
    told.words("Names", names_of(&all, is_its));
    Ok(told)
}

/// Those of the bus itself, after its address and its number.
pub(super) fn of_bus(inspector: &Inspector, choice: &BusChoice) -> Result<Credentials, LookError> {
    let mut told = Credentials(Vec::new());
    let place = choice.place();
    told.text("BusAddress", place.address());
    told.text("BusScope", Some(place.name().to_owned()).filter(|name| !name.is_empty()));
    told.text("BusID", inspector.connection().server_guid().map(|id| id.to_string()));
    let Credentials(others) = of_name(inspector, choice, BUS)?;
    told.0.extend(others);
    Ok(told)
}

fn nobody() -> Who {
    Who { process: Process::default(), user: None, groups: Vec::new(), label: None }
}

fn names_of(all: &[Name], is_wanted: impl Fn(&Name) -> bool) -> Vec<String> {
    let names = all.iter().filter(|name| !name.name.starts_with(':') && is_wanted(name));
    names.map(|name| name.name.clone()).collect()
}

fn unique_names(all: &[Name], is_wanted: impl Fn(&Name) -> bool) -> Vec<String> {
    let names = all.iter().filter(|name| name.name.starts_with(':') && is_wanted(name));
    names.map(|name| name.name.clone()).collect()
}

fn user_name(uid: u32) -> Option<String> {
    User::by_id(uid).ok().flatten().map(|user| user.name())
}

impl Credentials {
    fn push(&mut self, key: &'static str, value: Value) {
        self.0.push((key, value));
    }

    fn text(&mut self, key: &'static str, text: Option<String>) {
        self.0.extend(text.map(|text| (key, Value::Text(text))));
    }

    fn words(&mut self, key: &'static str, words: Vec<String>) {
        if !words.is_empty() {
            self.push(key, Value::Words(words));
        }
    }

    /// A text, or that there is none.
    fn text_or_none(&mut self, key: &'static str, text: Option<String>) {
        self.push(key, text.map_or(Value::None, Value::Text));
    }

    fn number_or_none(&mut self, key: &'static str, number: Option<u32>) {
        self.push(key, number.map_or(Value::None, |number| Value::Number(number.into())));
    }

    /// What busctl tells.
    fn process(&mut self, process: &Process, owner: Option<String>) {
        let identity = process.pid.and_then(Identity::of_process);
        if let Some(pid) = process.pid {
            self.push("PID", Value::Number(pid.into()));
        }
        match &identity {
            Some(identity) => self.identity(identity),
            None => self.0.extend(process.uid.map(|uid| ("EUID", Value::Number(uid.into())))),
        }
        self.text("Comm", process.comm.clone());
        self.text("Exe", process.exe.clone());
        self.text("CommandLine", Some(process.command.join(" ")).filter(|line| !line.is_empty()));
        self.text("Label", identity.as_ref().and_then(|identity| identity.label.clone()));
        self.text("CGroup", process.cgroup.clone());
        if let Some(belonging) = process.pid.and_then(Belonging::of_process) {
            self.belonging(belonging);
        }
        if let Some(identity) = &identity {
            self.number_or_none("AuditLoginUID", identity.login_user);
            self.number_or_none("AuditSessionID", identity.audit_session);
        }
        self.text("UniqueName", owner);
        if let Some(identity) = &identity {
            self.capabilities(identity.capabilities);
        }
    }

    fn identity(&mut self, identity: &Identity) {
        let Identity { parent, users, groups, supplementary, terminal, .. } = identity;
        self.push("PPID", Value::Number((*parent).into()));
        self.text_or_none("TTY", terminal.clone());
        self.four(["UID", "EUID", "SUID", "FSUID"], *users);
        self.four(["GID", "EGID", "SGID", "FSGID"], *groups);
        self.push("SupplementaryGIDs", Value::Numbers(supplementary.clone()));
    }

    fn four(&mut self, keys: [&'static str; 4], numbers: Four) {
        let Four { real, effective, saved, filesystem } = numbers;
        for (key, number) in keys.into_iter().zip([real, effective, saved, filesystem]) {
            self.push(key, Value::Number(number.into()));
        }
    }

    fn belonging(&mut self, belonging: Belonging) {
        let Belonging { unit, slice, user_unit, user_slice, session, owner } = belonging;
        self.text_or_none("Unit", unit);
        self.text_or_none("Slice", slice);
        self.text_or_none("UserUnit", user_unit);
        self.text_or_none("UserSlice", user_slice);
        self.text_or_none("Session", session);
        self.0.extend(owner.map(|owner| ("OwnerUID", Value::Number(owner.into()))));
    }

    fn capabilities(&mut self, capabilities: Capabilities) {
        let Capabilities { effective, permitted, inheritable, bounding } = capabilities;
        self.push("EffectiveCapabilities", Value::Capabilities(effective));
        self.push("PermittedCapabilities", Value::Capabilities(permitted));
        self.push("InheritableCapabilities", Value::Capabilities(inheritable));
        self.push("BoundingCapabilities", Value::Capabilities(bounding));
    }

    /// What busctl does not tell.
    fn besides(&mut self, who: &Who) {
        let identity = who.process.pid.and_then(Identity::of_process);
        self.text("User", who.user.clone());
        let named = |gid| group_name(gid).ok().flatten();
        self.text("Group", identity.as_ref().and_then(|it| named(it.groups.effective)));
        let groups = match &identity {
            Some(identity) => &identity.supplementary,
            None => &who.groups,
        };
        self.words("SupplementaryGroups", groups.iter().filter_map(|gid| named(*gid)).collect());
        self.text("BusLabel", who.label.clone());
        self.text("InnermostUnit", who.process.unit.clone());
        self.text("Started", who.process.started.map(date_and_time));
    }

    /// A line for each.
    pub(super) fn to_text(&self, style: Style) -> String {
        let mut text = String::new();
        for (key, value) in &self.0 {
            let _ = writeln!(text, "{key}={}", value.to_text(style));
        }
        text
    }
}

impl Value {
    fn to_text(&self, style: Style) -> String {
        let text = match self {
            Self::None => return style.pale("n/a"),
            Self::Number(number) => number.to_string(),
            Self::Text(text) => printable(text).into_owned(),
            Self::Numbers(numbers) => joined(numbers.iter().map(u32::to_string)),
            Self::Words(words) => printable(&words.join(" ")).into_owned(),
            Self::Capabilities(set) => folded(capability_names(*set)),
        };
        if text.is_empty() { text } else { style.strong(text) }
    }
}

fn joined(words: impl Iterator<Item = String>) -> String {
    words.collect::<Vec<_>>().join(" ")
}

/// Names as busctl breaks them into lines: before the fourth, and then after every four.
fn folded(names: impl Iterator<Item = String>) -> String {
    let mut text = String::new();
    for (index, name) in names.enumerate() {
        text += if index > 0 { " " } else { "" };
        text += if index % 4 == 3 { "\n        " } else { "" };
        text += &name;
    }
    text
}

impl Serialize for Credentials {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::None => serializer.serialize_none(),
            Self::Number(number) => serializer.serialize_u64(*number),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Numbers(numbers) => serializer.collect_seq(numbers),
            Self::Words(words) => serializer.collect_seq(words),
            Self::Capabilities(set) => serializer.collect_seq(capability_names(*set)),
        }
    }
}

fn now() -> Time {
    Time(i64::try_from(sys::clock::realtime().as_nanos()).unwrap_or(i64::MAX))
}

const BUS: &str = "org.freedesktop.DBus";
