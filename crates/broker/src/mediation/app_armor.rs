//! AppArmor decisions, queried through the file `.access` in its securityfs directory.
//!
//! A query is a label and an operation, terminated by zero bytes; the answer is four permission
//! masks. There are two queries for each message: whether its sender may send it, and whether its
//! recipient may receive it. Requested replies are allowed together with their call. Answers are
//! not cached, because rules can change at any time.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;

use bus::mediation::{Claim, MediatedRecipient, MediatorKind, ReplyClass, Transit};

use super::{Answer, MediationError, ModuleClient, own_label};
use crate::os_error::OsError;

/// Queries AppArmor for one bus.
#[derive(Debug)]
pub(crate) struct AppArmorClient {
    access: File,
    /// The label of the bus process.
    own: Box<[u8]>,
    /// The name of this bus in profiles.
    bus_type: Box<str>,
}

impl AppArmorClient {
    /// Whether the kernel runs AppArmor with support for D-Bus.
    pub(crate) fn is_active() -> bool {
        let is_on = matches!(fs::read(ENABLED).as_deref(), Ok([b'Y', ..]));
        is_on && fs::read_to_string(PERMISSIONS).is_ok_and(|words| knows_dbus(&words))
    }

    /// Opens the query file. `bus_type` is the name of the bus in profiles.
    pub(super) fn open(bus_type: &str) -> Result<Self, MediationError> {
        let failed =
            |path: &str, error| MediationError::new(MediatorKind::AppArmor, path.as_ref(), error);
        if !fs::read(REPEATABLE).is_ok_and(|word| word.starts_with(b"yes")) {
            return Err(failed(REPEATABLE, io::ErrorKind::Unsupported.into()));
        }
        let access = File::options().read(true).write(true).open(ACCESS);
        Ok(Self {
            access: access.map_err(|error| failed(ACCESS, error))?,
            own: own_label(MediatorKind::AppArmor, &OWN_LABEL)?,
            bus_type: bus_type.into(),
        })
    }

    /// Whether a label has a permission.
    fn ask(&self, who: Confined<'_>, permission: u32, about: &[&[u8]]) -> Result<Answer, OsError> {
        if who.mode == Mode::Unconfined {
            return Ok(Answer::Yes);
        }
        self.access.write_all_at(&question(who.label, &self.bus_type, about), 0)?;
        let mut text = [0; ANSWER_LEN_MAX];
        let len = self.access.read_at(&mut text, 0)?;
        let masks = str::from_utf8(&text[..len]).ok().and_then(Masks::parse);
        let masks = masks.ok_or(OsError::Kind(io::ErrorKind::InvalidData))?;
        Ok(masks.answer(permission, who.mode))
    }

    fn send(&self, transit: &Transit<'_>, from: Confined<'_>) -> Result<Answer, OsError> {
        let name = transit.message.destination().map_or(BUS_NAME, |name| name.as_str());
        let peer = match transit.to {
            MediatedRecipient::Bus => Confined::parse(&self.own).label,
            MediatedRecipient::Peer(label) => {
                label.map(|label| Confined::parse(label).label).unwrap_or_default()
            }
            MediatedRecipient::Service(label) => label.map(str::as_bytes).unwrap_or_default(),
        };
        self.ask(from, SEND, &about_message(transit, name, peer))
    }

    fn receive(&self, transit: &Transit<'_>, from: Confined<'_>) -> Result<Answer, OsError> {
        let to = match transit.to {
            MediatedRecipient::Bus => &self.own,
            MediatedRecipient::Peer(Some(label)) => label,
            MediatedRecipient::Peer(None) => return Ok(Answer::No),
            // It is queried when the service has connected.
            MediatedRecipient::Service(_) => return Ok(Answer::Yes),
        };
        let name = transit.sender.unwrap_or_default();
        self.ask(Confined::parse(to), RECEIVE, &about_message(transit, name, from.label))
    }
}

impl ModuleClient for AppArmorClient {
    fn module(&self) -> MediatorKind {
        MediatorKind::AppArmor
    }

    fn owning(&mut self, claim: &Claim<'_>) -> Result<Answer, OsError> {
        let Some(label) = claim.label else { return Ok(Answer::No) };
        self.ask(Confined::parse(label), ACQUIRE, &[claim.name.as_bytes()])
    }

    fn eavesdropping(&mut self, label: &[u8]) -> Result<Answer, OsError> {
        self.ask(Confined::parse(label), EAVESDROP, &[])
    }

    fn message(&mut self, transit: &Transit<'_>) -> Result<Answer, OsError> {
        if transit.reply == ReplyClass::Requested {
            return Ok(Answer::Yes);
        }
        let Some(label) = transit.label else { return Ok(Answer::No) };
        let from = Confined::parse(label);
        Ok(self.send(transit, from)?.max(self.receive(transit, from)?))
    }
}

/// A label and the mode of its profile, which the kernel writes together: `profile (enforce)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Confined<'a> {
    label: &'a [u8],
    mode: Mode,
}

/// The mode of a profile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    /// Operations that the profile does not allow are denied.
    Enforced,
    /// Operations that the profile does not allow are only logged.
    Complaining,
    /// The process has no profile.
    Unconfined,
}

impl<'a> Confined<'a> {
    fn parse(text: &'a [u8]) -> Self {
        let mode_at = text.windows(2).rposition(|pair| pair == b" (");
        let (label, mode) = match (mode_at, text.last()) {
            (Some(at), Some(b')')) => (&text[..at], &text[at + 2..text.len() - 1]),
            _ => (text, &b""[..]),
        };
        let mode = match (label, mode) {
            (_, b"unconfined") | (b"unconfined", b"") => Mode::Unconfined,
            (_, b"complain") => Mode::Complaining,
            _ => Mode::Enforced,
        };
        Self { label, mode }
    }
}

/// The four permission masks of an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Masks {
    allow: u32,
    deny: u32,
    audit: u32,
    quiet: u32,
}

impl Masks {
    /// Parses lines that consist of a word and a number.
    fn parse(text: &str) -> Option<Self> {
        let mask = |word: &str| {
            let line =
                text.lines().find_map(|line| line.strip_prefix(word)?.strip_prefix(" 0x"))?;
            u32::from_str_radix(line, 16).ok()
        };
        let [allow, deny, audit, quiet] = ["allow", "deny", "audit", "quiet"].map(mask);
        Some(Self { allow: allow?, deny: deny?, audit: audit?, quiet: quiet? })
    }

    const fn answer(self, permission: u32, mode: Mode) -> Answer {
        let is_allowed = self.allow & !self.deny & permission == permission;
        let (is_audited, is_quiet) = (self.audit & permission != 0, self.quiet & permission != 0);
        match (is_allowed, mode) {
            (true, _) if is_audited => Answer::YesAudited,
            (true, _) => Answer::Yes,
            (false, Mode::Complaining) if is_quiet => Answer::Yes,
            (false, Mode::Complaining) => Answer::YesAudited,
            (false, _) => Answer::No,
        }
    }
}

fn about_message<'q>(transit: &Transit<'q>, name: &'q str, peer: &'q [u8]) -> [&'q [u8]; 5] {
    let message = transit.message;
    let path = message.path().map_or("", |path| path.as_str());
    let interface = message.interface().map_or("", |name| name.as_str());
    let member = message.member().map_or("", |name| name.as_str());
    [name.as_bytes(), peer, path.as_bytes(), interface.as_bytes(), member.as_bytes()]
}

/// Encodes a query about a label. A zero byte inside a part would shift the other parts, so each
/// part is cut off there; neither labels nor names contain any.
fn question(label: &[u8], bus_type: &str, about: &[&[u8]]) -> Vec<u8> {
    let mut question = [b"label\0", label, b"\0", &[CLASS_DBUS], bus_type.as_bytes()].concat();
    for part in about {
        question.push(0);
        question.extend(part.iter().take_while(|byte| **byte != 0));
    }
    question
}

fn knows_dbus(words: &str) -> bool {
    ["acquire", "send", "receive"].iter().all(|word| words.split_whitespace().any(|it| it == *word))
}

/// The class number of D-Bus in AppArmor queries.
const CLASS_DBUS: u8 = 32;

const SEND: u32 = 1 << 1;
const RECEIVE: u32 = 1 << 2;
const EAVESDROP: u32 = 1 << 5;
const ACQUIRE: u32 = 1 << 6;

/// The recipient of a message without a destination, in profiles.
const BUS_NAME: &str = "org.freedesktop.DBus";

/// The maximum length of an answer in bytes: four lines of at most 17.
const ANSWER_LEN_MAX: usize = 128;

const ENABLED: &str = "/sys/module/apparmor/parameters/enabled";
const PERMISSIONS: &str = "/sys/kernel/security/apparmor/features/dbus/mask";
/// Exists if one open file can be used for several queries (since Linux 4.17).
const REPEATABLE: &str = "/sys/kernel/security/apparmor/features/query/label/multi_transaction";
const ACCESS: &str = "/sys/kernel/security/apparmor/.access";
const OWN_LABEL: [&str; 2] = ["/proc/self/attr/apparmor/current", "/proc/self/attr/current"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_parsed_with_their_mode() {
        let cases: [(&[u8], &[u8], Mode); 9] = [
            (b"unconfined", b"unconfined", Mode::Unconfined),
            (b"caller (enforce)", b"caller", Mode::Enforced),
            (b"lenient (complain)", b"lenient", Mode::Complaining),
            (b"chrome (unconfined)", b"chrome", Mode::Unconfined),
            (b"a//&b (mixed)", b"a//&b", Mode::Enforced),
            (b"with (words) in it (kill)", b"with (words) in it", Mode::Enforced),
            (b"unconfined (enforce)", b"unconfined", Mode::Enforced),
            (b"no mode", b"no mode", Mode::Enforced),
            (b"", b"", Mode::Enforced),
        ];
        for (text, label, mode) in cases {
            let shown = String::from_utf8_lossy(text);
            assert_eq!(Confined::parse(text), Confined { label, mode }, "{shown}");
        }
    }

    // Recorded on Linux 6.8 as built by Ubuntu.
    #[test]
    fn answers_are_read_as_the_kernel_writes_them() {
        use Mode::{Complaining, Enforced};
        let text = |[allow, deny, audit, quiet]: [u32; 4]| {
            format!(
                "allow 0x{allow:08x}\ndeny 0x{deny:08x}\naudit 0x{audit:08x}\nquiet 0x{quiet:08x}\n"
            )
        };
        let cases = [
            ([0x8006, 0, 0, 0], SEND, Enforced, Answer::Yes),
            ([0x8006, 0, 0, 0], RECEIVE, Enforced, Answer::Yes),
            ([0x8002, 0, 0, 0], RECEIVE, Enforced, Answer::No),
            ([0x8002, 0, 2, 0], SEND, Enforced, Answer::YesAudited),
            ([0x8000, 0, 0, 2], SEND, Enforced, Answer::No),
            ([0x8000, 0, 0, 2], SEND, Complaining, Answer::Yes),
            ([0, 0, 0, 0], SEND, Complaining, Answer::YesAudited),
            ([0x8006, 2, 0, 0], SEND, Enforced, Answer::No),
            ([0x8040, 0, 0, 0], ACQUIRE, Enforced, Answer::Yes),
            ([0x8000, 0, 0, 0], ACQUIRE, Enforced, Answer::No),
            ([0x8020, 0, 0, 0], EAVESDROP, Enforced, Answer::Yes),
        ];
        for (masks, permission, mode, expected) in cases {
            let masks = Masks::parse(&text(masks)).expect("four masks");
            assert_eq!(masks.answer(permission, mode), expected, "{masks:x?} {permission:x}");
        }
        for broken in ["", "allow 0x1\n", "allow 1\ndeny 0x0\naudit 0x0\nquiet 0x0\n", "deny\n"] {
            assert_eq!(Masks::parse(broken), None, "{broken:?}");
        }
        assert!(text([u32::MAX; 4]).len() <= ANSWER_LEN_MAX);
    }

    #[test]
    fn questions_are_parts_with_zeros_between() {
        let message: [&[u8]; 5] = [b"com.example.Open", b"open", b"/ok", b"com.example.I", b"M"];
        let cases: [(&[&[u8]], &[u8]); 4] = [
            (
                &message,
                b"label\0caller\0\x20session\0com.example.Open\0open\0/ok\0com.example.I\0M",
            ),
            (&[b"com.example.Open"], b"label\0caller\0\x20session\0com.example.Open"),
            (&[], b"label\0caller\0\x20session"),
            (&[b"a\0b", b"c"], b"label\0caller\0\x20session\0a\0c"),
        ];
        for (about, expected) in cases {
            assert_eq!(question(b"caller", "session", about), expected);
        }
    }

    #[test]
    fn only_kernels_with_complete_dbus_mediation_count() {
        assert!(knows_dbus("acquire send receive\n"));
        assert!(!knows_dbus("acquire send\n"));
        assert!(!knows_dbus(""));
    }
}
