//! SELinux, asked through the files of selinuxfs.
//!
//! Each question is about two contexts, the class `dbus` and one of its permissions. Answers are
//! kept until the kernel says that it has another policy or is in another mode, which it does on a
//! page of its own; that is looked at before each answer.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use bus::mediation::{Claim, MediatedRecipient, MediatorKind, Transit};

use super::{Answer, MediationError, ModuleAsker, own_label};
use crate::os_error::OsError;

/// Asks SELinux.
#[derive(Debug)]
pub(crate) struct Selinux {
    /// Where its files are.
    folder: PathBuf,
    status_page: File,
    /// The bus's own context.
    own: Box<[u8]>,
    /// When what follows was learnt.
    status: SelinuxStatus,
    numbers: Numbers,
    /// By question. Hashed with a key, since who has many labels could choose them.
    answers: HashMap<Box<[u8]>, Answer>,
    /// The question that is asked; its memory is kept.
    question: Vec<u8>,
}

/// A permission of the class `dbus`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Permission {
    AcquireService,
    SendMessage,
}

impl Selinux {
    /// Whether the kernel runs SELinux and this system uses it. A selinuxfs that cannot be written
    /// to is how containers hide it.
    pub(crate) fn is_active() -> bool {
        let is_hidden = |error: io::Error| {
            matches!(error.kind(), io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::NotFound)
        };
        let access = File::options().read(true).write(true).open(Path::new(FOLDER).join(ACCESS));
        fs::exists(SYSTEM_CONFIG).unwrap_or(true) && !access.is_err_and(is_hidden)
    }

    /// Opens what is needed to ask.
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

    /// Forgets what was learnt of another policy or in another mode.
    fn keep_up(&mut self) -> io::Result<()> {
        let status = SelinuxStatus::read(&self.status_page)?;
        if status != self.status {
            self.answers.clear();
            self.numbers = Numbers::read(&self.folder)?;
            self.status = status;
        }
        Ok(())
    }

    /// Asks the kernel, which answers once for each time that the file is opened.
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

impl ModuleAsker for Selinux {
    fn module(&self) -> MediatorKind {
        MediatorKind::Selinux
    }

    fn owning(&mut self, claim: &Claim<'_>) -> Result<Answer, OsError> {
        let Some(source) = claim.label else { return Ok(Answer::No) };
        let target = claim.context.map(str::as_bytes);
        self.ask(source, target, Permission::AcquireService)
    }

    /// SELinux knows no such permission.
    fn eavesdropping(&mut self, _: &[u8]) -> Result<Answer, OsError> {
        Ok(Answer::Yes)
    }

    fn message(&mut self, transit: &Transit<'_>) -> Result<Answer, OsError> {
        let Some(source) = transit.label else { return Ok(Answer::No) };
        let target = match transit.to {
            MediatedRecipient::Bus => None,
            MediatedRecipient::Peer(Some(label)) => Some(label),
            MediatedRecipient::Peer(None) => return Ok(Answer::No),
            // It is asked when it is there, and known who it is.
            MediatedRecipient::Service(_) => return Ok(Answer::Yes),
        };
        self.ask(source, target, Permission::SendMessage)
    }
}

/// What the kernel says of its policy as a whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct SelinuxStatus {
    /// Counted up with each change.
    sequence: u32,
    mode: SelinuxMode,
    /// What holds of classes that the policy does not know.
    unknown: Unknown,
}

/// What a no means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum SelinuxMode {
    Permissive,
    Enforcing,
}

/// What holds of what a policy does not know.
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

/// What the policy calls the class and its permissions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Numbers {
    /// It knows them by these.
    Known { class: u16, acquire: u32, send: u32 },
    /// It has no such class, or not with these permissions.
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

    /// The bit of a permission; none if it is not known.
    const fn mask(self, permission: Permission) -> u32 {
        match (self, permission) {
            (Self::Unknown, _) => 0,
            (Self::Known { acquire, .. }, Permission::AcquireService) => acquire,
            (Self::Known { send, .. }, Permission::SendMessage) => send,
        }
    }
}

/// The bit of a permission. Permissions are counted from 1.
fn mask_of(permission: u16) -> Option<u32> {
    1_u32.checked_shl(u32::from(permission).checked_sub(1)?)
}

/// What the kernel answers, as far as it matters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Decision {
    allowed: u32,
    audit_allowed: u32,
    audit_denied: u32,
    /// Whether the source is one for whom a no is only told.
    mode: SelinuxMode,
}

impl Decision {
    /// Reads hexadecimal numbers: allowed, decided, audited if allowed, audited if denied, a number
    /// of the policy, in decimal, and flags.
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

/// Writes what is asked of the kernel. Contexts with blanks or zeros in them would ask something
/// else; there are none.
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

/// Set in the flags of an answer about a source for whom a no is only told.
const FLAG_PERMISSIVE: u32 = 1;

/// Answers that are kept. Systems have some hundred kinds of processes, of which few talk.
const ANSWERS_MAX: usize = 1024;

/// Bytes of an answer: five numbers of at most 8 digits, one of 10.
const ANSWER_LEN_MAX: usize = 128;

/// Bytes of the status that matter.
const STATUS_LEN: usize = 5 * size_of::<u32>();

const FOLDER: &str = "/sys/fs/selinux";
const ACCESS: &str = "access";
const STATUS: &str = "status";
/// Without it a system has SELinux in its kernel and does not use it.
const SYSTEM_CONFIG: &str = "/etc/selinux/config";
const OWN_LABEL: &str = "/proc/self/attr/current";

#[cfg(test)]
mod tests {
    use super::*;

    // Taken down from Linux 6.8.
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
    fn questions_are_words() {
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
        assert!(ask(&mut selinux).is_err(), "it is asked again, and nobody answers");
        assert_eq!(selinux.numbers, Numbers::Known { class: 7, acquire: 1, send: 2 });

        write(8, "7");
        fs::remove_file(permissions.join("send_msg")).unwrap();
        assert_eq!(ask(&mut selinux), Ok(Answer::No), "what is not known is denied");
        fs::remove_dir_all(folder).unwrap();
    }
}
