//! SELinux decisions, queried through the files of selinuxfs.
//!
//! Each query consists of two contexts, the class `dbus` and one of its permissions. Answers are
//! cached until the kernel reports another policy or another mode on its status page, which is read
//! before each answer.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use bus::mediation::{Claim, MediatedRecipient, MediatorKind, Transit};

use super::{Answer, MediationError, ModuleClient, own_label};
use crate::os_error::OsError;

/// Queries SELinux, with a cache of answers.
#[derive(Debug)]
pub(crate) struct Selinux {
    /// The directory of selinuxfs.
    folder: PathBuf,
    status_page: File,
    /// The context of the bus process.
    own: Box<[u8]>,
    /// The status of the policy when the cached values were read.
    status: SelinuxStatus,
    numbers: Numbers,
    /// Cached answers by query. Hashed with a random key, because a peer with many labels could
    /// choose colliding ones.
    answers: HashMap<Box<[u8]>, Answer>,
    /// The current query; its memory is reused.
    question: Vec<u8>,
}

/// A permission of the class `dbus`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Permission {
    AcquireService,
    SendMessage,
}

impl Selinux {
    /// Whether the kernel runs SELinux and this system uses it. Containers hide SELinux by a
    /// selinuxfs that is not writable.
    pub(crate) fn is_active() -> bool {
        let is_hidden = |error: io::Error| {
            matches!(error.kind(), io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::NotFound)
        };
        let access = File::options().read(true).write(true).open(Path::new(FOLDER).join(ACCESS));
        fs::exists(SYSTEM_CONFIG).unwrap_or(true) && !access.is_err_and(is_hidden)
    }

    /// Opens the status page and reads the class numbers.
    pub(super) fn open() -> Result<Self, MediationError> {
        let own = own_label(MediatorKind::Selinux, &[OWN_LABEL])?;
        Self::open_in(Path::new(FOLDER), own)
    }

    fn open_in(folder: &Path, own: Box<[u8]>) -> Result<Self, MediationError> {
        let path = folder.join(STATUS);
        let failed = |error| MediationError::new(MediatorKind::Selinux, &path, error);
        let status_page = File::open(&path).map_err(failed)?;
        Ok(Self {
            folder: folder.into(),
            status: SelinuxStatus::read(&status_page).map_err(failed)?,
            status_page,
            own,
            numbers: Numbers::read(folder).map_err(failed)?,
            answers: HashMap::new(),
            question: Vec::new(),
        })
    }

    /// Whether `source` has a permission on `target`.
    fn ask(
        &mut self,
        source: &[u8],
        target: Option<&[u8]>,
        permission: Permission,
    ) -> Result<Answer, OsError> {
        self.keep_up()?;
        let Numbers::Known { class, .. } = self.numbers else {
            return Ok(self.status.answer_without_class());
        };
        let mask = self.numbers.mask(permission);
        let target = target.unwrap_or(&self.own);
        write_question(&mut self.question, source, target, class, mask)?;
        if let Some(&answer) = self.answers.get(&*self.question) {
            return Ok(answer);
        }
        let decision = self.decide()?;
        let answer = decision.answer(mask, self.status.mode);
        if self.answers.len() == ANSWERS_MAX {
            self.answers.clear();
        }
        self.answers.insert(self.question.as_slice().into(), answer);
        Ok(answer)
    }

    /// Clears the cache if the policy or the mode has changed.
    fn keep_up(&mut self) -> io::Result<()> {
        let status = SelinuxStatus::read(&self.status_page)?;
        if status != self.status {
            self.answers.clear();
            self.numbers = Numbers::read(&self.folder)?;
            self.status = status;
        }
        Ok(())
    }

    /// Queries the kernel, which answers once per opened file.
    fn decide(&self) -> Result<Decision, OsError> {
        let path = self.folder.join(ACCESS);
        let mut access = File::options().read(true).write(true).open(path)?;
        access.write_all(&self.question)?;
        let mut text = [0; ANSWER_LEN_MAX];
        let len = access.read(&mut text)?;
        let decision = str::from_utf8(&text[..len]).ok().and_then(Decision::parse);
        decision.ok_or(OsError::Kind(io::ErrorKind::InvalidData))
    }
}

impl ModuleClient for Selinux {
    fn module(&self) -> MediatorKind {
        MediatorKind::Selinux
    }

    fn owning(&mut self, claim: &Claim<'_>) -> Result<Answer, OsError> {
        let Some(source) = claim.label else { return Ok(Answer::No) };
        let target = claim.context.map(str::as_bytes);
        self.ask(source, target, Permission::AcquireService)
    }

    /// SELinux has no permission for eavesdropping.
    fn eavesdropping(&mut self, _: &[u8]) -> Result<Answer, OsError> {
        Ok(Answer::Yes)
    }

    fn message(&mut self, transit: &Transit<'_>) -> Result<Answer, OsError> {
        let Some(source) = transit.label else { return Ok(Answer::No) };
        let target = match transit.to {
            MediatedRecipient::Bus => None,
            MediatedRecipient::Peer(Some(label)) => Some(label),
            MediatedRecipient::Peer(None) => return Ok(Answer::No),
            // It is queried when the service has connected and its context is known.
            MediatedRecipient::Service(_) => return Ok(Answer::Yes),
        };
        self.ask(source, target, Permission::SendMessage)
    }
}

/// The status of the policy that is in force.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct SelinuxStatus {
    /// Incremented with each change.
    sequence: u32,
    mode: SelinuxMode,
    /// The decision for classes that the policy does not define.
    unknown: Unknown,
}

/// Whether denials are enforced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum SelinuxMode {
    Permissive,
    Enforcing,
}

/// The decision for permissions that a policy does not define.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Unknown {
    Allowed,
    Denied,
}

impl SelinuxStatus {
    fn read(page: &File) -> io::Result<Self> {
        let mut bytes = [0; STATUS_LEN];
        page.read_exact_at(&mut bytes, 0)?;
        Ok(Self::parse(&bytes))
    }

    /// Five numbers: version, sequence, enforcing, policies loaded, unknown denied.
    fn parse(bytes: &[u8; STATUS_LEN]) -> Self {
        let number = |index: usize| {
            let at = index * size_of::<u32>();
            let bytes = bytes[at..].first_chunk().expect("five numbers");
            u32::from_ne_bytes(*bytes)
        };
        Self {
            sequence: number(1),
            mode: if number(2) == 0 { SelinuxMode::Permissive } else { SelinuxMode::Enforcing },
            unknown: if number(4) == 0 { Unknown::Allowed } else { Unknown::Denied },
        }
    }

    const fn answer_without_class(self) -> Answer {
        match (self.unknown, self.mode) {
            (Unknown::Allowed, _) => Answer::Yes,
            (Unknown::Denied, SelinuxMode::Permissive) => Answer::YesAudited,
            (Unknown::Denied, SelinuxMode::Enforcing) => Answer::No,
        }
    }
}

/// The numbers of the class and its permissions in the policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Numbers {
    /// The policy defines them with these numbers.
    Known { class: u16, acquire: u32, send: u32 },
    /// The policy does not define the class, or not these permissions.
    Unknown,
}

impl Numbers {
    fn read(folder: &Path) -> io::Result<Self> {
        let number = |path: &str| -> io::Result<Option<u16>> {
            match fs::read_to_string(folder.join(path)) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                text => {
                    text?.trim().parse().map(Some).map_err(|_| io::ErrorKind::InvalidData.into())
                }
            }
        };
        let mask = |name: &str| -> io::Result<Option<u32>> {
            Ok(number(&format!("class/dbus/perms/{name}"))?.and_then(mask_of))
        };
        Ok(match (number("class/dbus/index")?, mask("acquire_svc")?, mask("send_msg")?) {
            (Some(class), Some(acquire), Some(send)) => Self::Known { class, acquire, send },
            _ => Self::Unknown,
        })
    }

    /// The bit of a permission; 0 if the policy does not define it.
    const fn mask(self, permission: Permission) -> u32 {
        match (self, permission) {
            (Self::Unknown, _) => 0,
            (Self::Known { acquire, .. }, Permission::AcquireService) => acquire,
            (Self::Known { send, .. }, Permission::SendMessage) => send,
        }
    }
}

/// The bit of a permission. Permissions are numbered from 1.
fn mask_of(permission: u16) -> Option<u32> {
    1_u32.checked_shl(u32::from(permission).checked_sub(1)?)
}

/// The relevant part of the kernel's answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Decision {
    allowed: u32,
    audit_allowed: u32,
    audit_denied: u32,
    /// Whether the source is in a permissive domain, whose denials are only logged.
    mode: SelinuxMode,
}

impl Decision {
    /// Parses hexadecimal numbers: allowed, decided, audited if allowed, audited if denied, then a
    /// sequence number in decimal, and flags.
    fn parse(text: &str) -> Option<Self> {
        let words: Vec<&str> = text.trim_end_matches('\0').split_whitespace().collect();
        let [allowed, _, audit_allowed, audit_denied, _, flags] = words[..] else { return None };
        let mask = |word: &str| u32::from_str_radix(word, 16).ok();
        let is_permissive = mask(flags)? & FLAG_PERMISSIVE != 0;
        Some(Self {
            allowed: mask(allowed)?,
            audit_allowed: mask(audit_allowed)?,
            audit_denied: mask(audit_denied)?,
            mode: if is_permissive { SelinuxMode::Permissive } else { SelinuxMode::Enforcing },
        })
    }

    fn answer(self, mask: u32, mode: SelinuxMode) -> Answer {
        let is_enforced = mode == SelinuxMode::Enforcing && self.mode == SelinuxMode::Enforcing;
        match self.allowed & mask == mask {
            true if self.audit_allowed & mask != 0 => Answer::YesAudited,
            true => Answer::Yes,
            false if is_enforced => Answer::No,
            false if self.audit_denied & mask != 0 => Answer::YesAudited,
            false => Answer::Yes,
        }
    }
}

/// Encodes a query. Spaces or zero bytes in a context would change its meaning; valid contexts
/// contain none.
fn write_question(
    question: &mut Vec<u8>,
    source: &[u8],
    target: &[u8],
    class: u16,
    mask: u32,
) -> io::Result<()> {
    let is_one_word = |context: &[u8]| {
        !context.is_empty() && !context.iter().any(|byte| *byte == 0 || byte.is_ascii_whitespace())
    };
    if !is_one_word(source) || !is_one_word(target) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    question.clear();
    question.extend_from_slice(source);
    question.push(b' ');
    question.extend_from_slice(target);
    write!(question, " {class} {mask:x}")
}

/// The flag of an answer about a source in a permissive domain.
const FLAG_PERMISSIVE: u32 = 1;

/// The maximum number of cached answers. Systems have a few hundred types of processes, of which
/// few use the bus.
const ANSWERS_MAX: usize = 1024;

/// The maximum length of an answer in bytes: five numbers of at most 8 digits, one of 10.
const ANSWER_LEN_MAX: usize = 128;

/// The number of bytes of the status page that are used.
const STATUS_LEN: usize = 5 * size_of::<u32>();

const FOLDER: &str = "/sys/fs/selinux";
const ACCESS: &str = "access";
const STATUS: &str = "status";
/// Without this file, a system does not use the SELinux of its kernel.
const SYSTEM_CONFIG: &str = "/etc/selinux/config";
const OWN_LABEL: &str = "/proc/self/attr/current";

#[cfg(test)]
mod tests {
    use super::*;

    // Recorded on Linux 6.8.
    #[test]
    fn answers_are_read_as_the_kernel_writes_them() {
        use SelinuxMode::{Enforcing, Permissive};
        let cases = [
            ("2 ffffffff 0 ffffffff 2 0", 2, Enforcing, Answer::Yes),
            ("2 ffffffff 0 ffffffff 2 0", 1, Enforcing, Answer::No),
            ("0 ffffffff 0 ffffffff 2 0", 1, Permissive, Answer::YesAudited),
            ("0 ffffffff 0 ffffffff 2 1", 1, Enforcing, Answer::YesAudited),
            ("0 ffffffff 0 0 2 1", 1, Enforcing, Answer::Yes),
            ("3 ffffffff 1 ffffffff 2 0", 1, Enforcing, Answer::YesAudited),
            ("ffffffff ffffffff 0 ffffffff 4294967295 1\0", 1, Enforcing, Answer::Yes),
        ];
        for (text, mask, mode, expected) in cases {
            let decision = Decision::parse(text).expect("six numbers");
            assert_eq!(decision.answer(mask, mode), expected, "{text} {mask} {mode:?}");
        }
        for broken in ["", "1 2 3 4 5", "x 0 0 0 1 0", "1 2 3 4 5 6 7"] {
            assert_eq!(Decision::parse(broken), None, "{broken}");
        }
    }

    #[test]
    fn selinux_queries_consist_of_words() {
        let mut question = Vec::new();
        write_question(&mut question, b"a:b:c", b"d:e:f", 2, 0x10).unwrap();
        assert_eq!(question, b"a:b:c d:e:f 2 10");
        for bad in [&b""[..], b"a b", b"a\0", b"a\n"] {
            for (source, target) in [(bad, &b"a:b:c"[..]), (b"a:b:c", bad)] {
                assert!(write_question(&mut question, source, target, 2, 1).is_err(), "{bad:?}");
            }
        }
    }

    #[test]
    fn a_status_is_five_numbers() {
        let status = |numbers: [u32; 5]| {
            let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
            SelinuxStatus::parse(bytes.as_slice().try_into().unwrap())
        };
        let cases = [
            ([1, 4, 1, 1, 0], SelinuxMode::Enforcing, Unknown::Allowed, Answer::Yes),
            ([1, 6, 0, 1, 1], SelinuxMode::Permissive, Unknown::Denied, Answer::YesAudited),
            ([1, 8, 1, 2, 1], SelinuxMode::Enforcing, Unknown::Denied, Answer::No),
        ];
        for (numbers, mode, unknown, answer) in cases {
            let found = status(numbers);
            assert_eq!(found, SelinuxStatus { sequence: numbers[1], mode, unknown });
            assert_eq!(found.answer_without_class(), answer);
        }
    }

    #[test]
    fn permissions_are_counted_from_1() {
        let cases = [(0, None), (1, Some(1)), (2, Some(2)), (32, Some(1 << 31)), (33, None)];
        for (permission, mask) in cases {
            assert_eq!(mask_of(permission), mask, "{permission}");
        }
    }

    #[test]
    fn a_policy_is_read_again_when_it_changes() {
        let folder = std::env::temp_dir().join(format!("diligence-selinux-{}", std::process::id()));
        let permissions = folder.join("class/dbus/perms");
        fs::create_dir_all(&permissions).unwrap();
        let write = |sequence: u32, class: &str| {
            let page: Vec<u8> =
                [1, sequence, 1, 1, 1].iter().flat_map(|number| number.to_ne_bytes()).collect();
            fs::write(folder.join(STATUS), page).unwrap();
            fs::write(folder.join("class/dbus/index"), class).unwrap();
        };
        write(4, "2");
        fs::write(permissions.join("acquire_svc"), "1").unwrap();
        fs::write(permissions.join("send_msg"), "2").unwrap();
        let mut selinux = Selinux::open_in(&folder, b"bus"[..].into()).unwrap();
        assert_eq!(selinux.numbers, Numbers::Known { class: 2, acquire: 1, send: 2 });
        selinux.answers.insert(b"a b 2 2"[..].into(), Answer::Yes);
        let ask = |selinux: &mut Selinux| selinux.ask(b"a", Some(b"b"), Permission::SendMessage);
        assert_eq!(ask(&mut selinux), Ok(Answer::Yes), "it is known");

        write(6, "7");
        assert!(ask(&mut selinux).is_err(), "the query is repeated, and fails");
        assert_eq!(selinux.numbers, Numbers::Known { class: 7, acquire: 1, send: 2 });

        write(8, "7");
        fs::remove_file(permissions.join("send_msg")).unwrap();
        assert_eq!(
            ask(&mut selinux),
            Ok(Answer::No),
            "permissions missing in the policy are denied"
        );
        fs::remove_dir_all(folder).unwrap();
    }
}
