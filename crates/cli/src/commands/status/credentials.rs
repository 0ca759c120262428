//! The credentials of a process, or of the owner of a name.

use std::fmt::Write as _;

use capture::record::{RecordedProcess, RecordedTime};
use capture::text::Style;
use capture::text::units::date_and_time;
use capture::text::visible::printable;
use inspector::{Inspector, Name, NameOwner, OwnerContainer};
use serde::{Serialize, Serializer};
use sys::control_group::Belonging;
use sys::identity::{Capabilities, IdSet, ProcessIdentity, capability_names};
use sys::users::{UserAccount, group_name};

use crate::bus_choice::BusChoice;
use crate::inspection::{InspectionError, names, no_such_name};

/// Credentials in the order of busctl, and then additional facts.
pub(super) struct CredentialList(Vec<(&'static str, CredentialValue)>);

#[derive(Serialize)]
#[serde(untagged)]
enum CredentialValue {
    /// The value is known to be missing, such as the terminal of a daemon.
    None,
    Number(u32),
    Text(String),
    Numbers(Vec<u32>),
    Words(Vec<String>),
    /// The names of capabilities, which are folded like in busctl.
    Capabilities(Vec<String>),
}

/// Returns the credentials of the owner of a name.
pub(super) fn of_name(
    inspector: &Inspector,
    choice: &BusChoice,
    wanted: &str,
) -> Result<CredentialList, InspectionError> {
    let found =
        inspector.name(wanted).map_err(|failure| InspectionError::InvalidName { failure })?;
    let name = found.ok_or_else(|| no_such_name(inspector, choice, wanted))?;
    if name.owner.is_none() && name.owner_process.is_none() {
        return Err(InspectionError::NotRunning { name: name.name });
    }
    let all = names(inspector, choice)?;
    let Name { owner, owner_process, is_activatable, .. } = name;
    let known = owner_process.unwrap_or_else(unknown_owner);
    let others = names_of(&all, |other| owner.is_some() && other.owner == owner);
    let mut list = CredentialList(Vec::new());
    list.process(&known.process, owner);
    list.additional(&known);
    list.words("Names", others);
    list.push(
        "Activatable",
        CredentialValue::Text(if is_activatable { "yes" } else { "no" }.into()),
    );
    Ok(list)
}

/// Returns the credentials of a process, and its names on the bus.
pub(super) fn of_process(
    inspector: &Inspector,
    choice: &BusChoice,
    pid: u32,
) -> Result<CredentialList, InspectionError> {
    let known =
        inspector::BusCredentials { pid: Some(pid), ..inspector::BusCredentials::default() };
    let process = known.process(now());
    let identity =
        ProcessIdentity::of_process(pid).ok_or(InspectionError::NoSuchProcess { pid })?;
    let process = RecordedProcess { uid: Some(identity.users.effective), ..process };
    let all = names(inspector, choice)?;
    let is_of_process = |name: &Name| {
        name.owner_process.as_ref().is_some_and(|known| known.process.pid == Some(pid))
    };
    let mut list = CredentialList(Vec::new());
    list.process(&process, None);
    let user = user_name(identity.users.effective);
    list.additional(&NameOwner { process, user, ..unknown_owner() });
    list.words("Connections", unique_names(&all, is_of_process));
    list.words("Names", names_of(&all, is_of_process));
    Ok(list)
}

/// Returns the credentials of the bus itself, after its address and GUID.
pub(super) fn of_bus(
    inspector: &Inspector,
    choice: &BusChoice,
) -> Result<CredentialList, InspectionError> {
    let mut list = CredentialList(Vec::new());
    let place = choice.place();
    list.text("BusAddress", place.address());
    list.text("BusScope", Some(place.name().to_owned()).filter(|name| !name.is_empty()));
    list.text("BusID", inspector.connection().server_guid().map(|id| id.to_string()));
    let CredentialList(others) = of_name(inspector, choice, BUS)?;
    list.0.extend(others);
    Ok(list)
}

fn unknown_owner() -> NameOwner {
    NameOwner {
        process: RecordedProcess::default(),
        user: None,
        groups: Vec::new(),
        label: None,
        container: None,
    }
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
    UserAccount::by_id(uid).ok().flatten().map(|user| user.name())
}

impl CredentialList {
    fn push(&mut self, key: &'static str, value: CredentialValue) {
        self.0.push((key, value));
    }

    fn text(&mut self, key: &'static str, text: Option<String>) {
        self.0.extend(text.map(|text| (key, CredentialValue::Text(text))));
    }

    fn words(&mut self, key: &'static str, words: Vec<String>) {
        if !words.is_empty() {
            self.push(key, CredentialValue::Words(words));
        }
    }

    /// Adds a text, or the information that it is missing.
    fn text_or_none(&mut self, key: &'static str, text: Option<String>) {
        self.push(key, text.map_or(CredentialValue::None, CredentialValue::Text));
    }

    fn number(&mut self, key: &'static str, number: Option<u32>) {
        self.0.extend(number.map(|number| (key, CredentialValue::Number(number))));
    }

    fn number_or_none(&mut self, key: &'static str, number: Option<u32>) {
        self.push(key, number.map_or(CredentialValue::None, CredentialValue::Number));
    }

    /// Adds the credentials that busctl prints.
    fn process(&mut self, process: &RecordedProcess, owner: Option<String>) {
        let identity = process.pid.and_then(ProcessIdentity::of_process);
        self.number("PID", process.pid);
        match &identity {
            Some(identity) => self.identity(identity),
            None => self.number("EUID", process.uid),
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

    fn identity(&mut self, identity: &ProcessIdentity) {
        let ProcessIdentity { parent, users, groups, supplementary, terminal, .. } = identity;
        self.number("PPID", Some(*parent));
        self.text_or_none("TTY", terminal.clone());
        self.id_set(["UID", "EUID", "SUID", "FSUID"], *users);
        self.id_set(["GID", "EGID", "SGID", "FSGID"], *groups);
        self.push("SupplementaryGIDs", CredentialValue::Numbers(supplementary.clone()));
    }

    fn id_set(&mut self, keys: [&'static str; 4], numbers: IdSet) {
        let IdSet { real, effective, saved, filesystem } = numbers;
        for (key, number) in keys.into_iter().zip([real, effective, saved, filesystem]) {
            self.number(key, Some(number));
        }
    }

    fn belonging(&mut self, belonging: Belonging) {
        let Belonging { unit, slice, user_unit, user_slice, session, owner } = belonging;
        for (key, text) in [
            ("Unit", unit),
            ("Slice", slice),
            ("UserUnit", user_unit),
            ("UserSlice", user_slice),
            ("Session", session),
        ] {
            self.text_or_none(key, text);
        }
        self.number("OwnerUID", owner);
    }

    fn capabilities(&mut self, capabilities: Capabilities) {
        let Capabilities { effective, permitted, inheritable, bounding } = capabilities;
        for (key, set) in [
            ("EffectiveCapabilities", effective),
            ("PermittedCapabilities", permitted),
            ("InheritableCapabilities", inheritable),
            ("BoundingCapabilities", bounding),
        ] {
            self.push(key, CredentialValue::Capabilities(capability_names(set).collect()));
        }
    }

    /// Adds facts that busctl does not print.
    fn additional(&mut self, known: &NameOwner) {
        let identity = known.process.pid.and_then(ProcessIdentity::of_process);
        self.text("User", known.user.clone());
        let named = |gid| group_name(gid).ok().flatten();
        self.text("Group", identity.as_ref().and_then(|it| named(it.groups.effective)));
        let groups = match &identity {
            Some(identity) => &identity.supplementary,
            None => &known.groups,
        };
        self.words("SupplementaryGroups", groups.iter().filter_map(|gid| named(*gid)).collect());
        self.text("BusLabel", known.label.clone());
        if let Some(OwnerContainer { path, kind, name }) = known.container.clone() {
            self.text("Container", Some(path));
            self.text("ContainerType", kind);
            self.text("ContainerName", name);
        }
        self.text("InnermostUnit", known.process.unit.clone());
        self.text("Started", known.process.started.map(date_and_time));
    }

    /// Returns a line for each credential.
    pub(super) fn to_text(&self, style: Style) -> String {
        let mut text = String::new();
        for (key, value) in &self.0 {
            let _ = writeln!(text, "{key}={}", value.to_text(style));
        }
        text
    }
}

impl CredentialValue {
    fn to_text(&self, style: Style) -> String {
        let text = match self {
            Self::None => return style.pale("n/a"),
            Self::Number(number) => number.to_string(),
            Self::Text(text) => printable(text).into_owned(),
            Self::Numbers(numbers) => joined(numbers.iter().map(u32::to_string)),
            Self::Words(words) => printable(&words.join(" ")).into_owned(),
            Self::Capabilities(names) => folded(names),
        };
        if text.is_empty() { text } else { style.strong(text) }
    }
}

fn joined(words: impl Iterator<Item = String>) -> String {
    words.collect::<Vec<_>>().join(" ")
}

/// Folds names like busctl: a line break before the fourth name, and then after every four names.
fn folded(names: &[String]) -> String {
    let mut text = String::new();
    for (index, name) in names.iter().enumerate() {
        text += if index > 0 { " " } else { "" };
        text += if index % 4 == 3 { "\n        " } else { "" };
        text += name;
    }
    text
}

impl Serialize for CredentialList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

fn now() -> RecordedTime {
    RecordedTime(i64::try_from(sys::clock::realtime().as_nanos()).unwrap_or(i64::MAX))
}

const BUS: &str = "org.freedesktop.DBus";
