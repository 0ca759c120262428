//! The state of a running bus, and the kinds of the descriptors that belong to it.

use std::fmt;
use std::fs;
use std::path::Path;
use std::str::FromStr;

use conformance::{InstalledProgram, PlainMessage, TestPeer};

/// The state that a bus saved, and its descriptors in the order of the state.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CapturedState {
    pub(crate) state: Vec<u8>,
    pub(crate) descriptors: Vec<DescriptorKind>,
}

/// The kind of a descriptor of the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DescriptorKind {
    /// A socket of a connection.
    Socket,
    /// A socket that accepts connections.
    Listener,
    /// Memory of this many bytes.
    Memory(u64),
    /// The watch of folders.
    Inotify,
    /// A process that the bus has started.
    Process,
    /// Any other kind, such as a pipe or a device.
    Other,
}

impl fmt::Display for DescriptorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Socket => f.write_str("socket"),
            Self::Listener => f.write_str("listener"),
            Self::Memory(len) => write!(f, "memory {len}"),
            Self::Inotify => f.write_str("inotify"),
            Self::Process => f.write_str("process"),
            Self::Other => f.write_str("other"),
        }
    }
}

impl FromStr for DescriptorKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.strip_prefix("memory ")) {
            (_, Some(len)) => len.parse().map(Self::Memory).map_err(|_| text.to_owned()),
            ("socket", _) => Ok(Self::Socket),
            ("listener", _) => Ok(Self::Listener),
            ("inotify", _) => Ok(Self::Inotify),
            ("process", _) => Ok(Self::Process),
            ("other", _) => Ok(Self::Other),
            _ => Err(text.to_owned()),
        }
    }
}

impl CapturedState {
    /// Captures the state of the bus of `caller`, which serves on: the installed program copies the state instead
    /// of checking it, and rejects it.
    pub(crate) fn of(caller: &mut TestPeer, installed: &InstalledProgram) -> Self {
        let path = |name: &str| installed.folder().join(name);
        installed.replace_by_script(&format!(
            "cat /dev/stdin > {}; cat /proc/net/unix /proc/net/tcp > {}\n\
             cd /proc/$PPID/fd; for fd in *; do\n\
             printf '%s %s %s\\n' $fd \"$(readlink $fd)\" $(stat -L -c %s $fd); done > {}\n\
             echo copied >&2; exit 1",
            path("state").display(),
            path("sockets").display(),
            path("descriptors").display(),
        ));
        let error = caller.call(reexecute());
        let expected = "cannot continue with the state: copied";
        assert!(error.first_text().ends_with(expected), "{}", error.summary());
        installed.restore();
        let text = |name| fs::read_to_string(path(name)).expect("the script wrote it");
        let (sockets, descriptors) = (text("sockets"), text("descriptors"));
        let state = fs::read(path("state")).expect("the script wrote it");
        let kind = |number: u32| {
            let begin = format!("{number} ");
            let line = descriptors.lines().find_map(|line| line.strip_prefix(&begin));
            kind_of(line.expect("the descriptor is open"), &sockets)
        };
        let descriptors = DescriptorNumbers::find(&state).numbers.into_iter().map(kind).collect();
        Self { state, descriptors }
    }

    /// Reads a golden state and the file with its descriptors.
    pub(crate) fn read(path: &Path) -> Self {
        let kinds = path.with_extension("descriptors");
        let kinds = fs::read_to_string(&kinds)
            .unwrap_or_else(|error| panic!("{}: {error}", kinds.display()));
        let descriptors = kinds.lines().map(|line| line.parse().expect("a kind")).collect();
        Self { state: fs::read(path).expect("the file is readable"), descriptors }
    }

    /// Writes golden files into the folder of the format. Existing files stay as they are.
    pub(crate) fn write(&self, root: &Path, name: &str) {
        let folder = root.join(format!("format-{}", self.state[MAGIC.len()]));
        fs::create_dir_all(&folder).expect("the folder is writable");
        let mut paths = (1..).map(|number| folder.join(format!("{name}-{number}.state")));
        let path = paths.find(|path| !path.exists()).expect("numbers do not end");
        fs::write(&path, &self.state).expect("the folder is writable");
        let kinds: String = self.descriptors.iter().map(|kind| format!("{kind}\n")).collect();
        fs::write(path.with_extension("descriptors"), kinds).expect("the folder is writable");
    }

    /// The state with other numbers of its descriptors.
    pub(crate) fn with_numbers(&self, numbers: &[u32]) -> Vec<u8> {
        let DescriptorNumbers { part, rest, .. } = DescriptorNumbers::find(&self.state);
        let len = u32::try_from(numbers.len()).expect("a process has fewer descriptors");
        let mut array = vec![0xdd];
        array.extend(len.to_be_bytes());
        for number in numbers {
            array.push(0xce);
            array.extend(number.to_be_bytes());
        }
        let mut state = self.state[..part].to_vec();
        state.extend((array.len() as u64).to_le_bytes());
        state.extend(array);
        state.extend(&self.state[rest..]);
        state
    }
}

/// A call that replaces the bus.
fn reexecute() -> PlainMessage {
    const BUS: &str = "org.freedesktop.DBus";
    PlainMessage::call(BUS, "/org/freedesktop/DBus", "org.diligence.Daemon1", "Reexecute")
}

/// The kind of a descriptor, from its link in `/proc` and its size.
fn kind_of(line: &str, sockets: &str) -> DescriptorKind {
    if let Some((_, inode)) = line.split_once("socket:[") {
        let inode = inode.split(']').next().unwrap_or_default();
        let is_listening = |socket: &str| {
            let words: Vec<_> = socket.split_whitespace().collect();
            // The flags of Unix sockets have SO_ACCEPTCON; the state of TCP sockets is LISTEN.
            match words[..] {
                [_, _, _, flags, _, _, found, ..] if found == inode => flags == "00010000",
                [_, _, _, state, .., found, _, _, _, _, _, _, _] if found == inode => state == "0A",
                _ => false,
            }
        };
        let is_listener = sockets.lines().any(is_listening);
        return if is_listener { DescriptorKind::Listener } else { DescriptorKind::Socket };
    }
    if line.starts_with("/memfd:") {
        let size = line.rsplit(' ').next().and_then(|size| size.parse().ok());
        return DescriptorKind::Memory(size.expect("stat prints the size"));
    }
    match line {
        line if line.starts_with("anon_inode:inotify") => DescriptorKind::Inotify,
        line if line.contains("pidfd") => DescriptorKind::Process,
        _ => DescriptorKind::Other,
    }
}

/// The first part of a state: the numbers of its descriptors.
struct DescriptorNumbers {
    numbers: Vec<u32>,
    /// Where the part begins with its length.
    part: usize,
    /// Where the next part begins.
    rest: usize,
}

impl DescriptorNumbers {
    fn find(state: &[u8]) -> Self {
        assert!(state.starts_with(MAGIC), "this is not a state");
        let part = MAGIC.len() + 1;
        let (len, array) = state[part..].split_first_chunk().expect("the state has a part");
        let len = usize::try_from(u64::from_le_bytes(*len)).expect("a short part");
        let mut bytes = array[..len].iter().map(|byte| u32::from(*byte));
        let big_endian = |bytes: &mut dyn Iterator<Item = u32>, count| {
            bytes.take(count).fold(0, |number, byte| number << 8 | byte)
        };
        let count = match bytes.next() {
            Some(short @ 0x90..=0x9f) => short & 0xf,
            Some(0xdc) => big_endian(&mut bytes, 2),
            Some(0xdd) => big_endian(&mut bytes, 4),
            other => panic!("not an array: {other:?}"),
        };
        let number = |_| match bytes.next() {
            Some(short @ ..=0x7f) => short,
            Some(0xcc) => big_endian(&mut bytes, 1),
            Some(0xcd) => big_endian(&mut bytes, 2),
            Some(0xce) => big_endian(&mut bytes, 4),
            other => panic!("not a number: {other:?}"),
        };
        Self {
            numbers: (0..count).map(number).collect(),
            part,
            rest: part + size_of::<u64>() + len,
        }
    }
}

/// The beginning of every state, which the number of the format follows.
const MAGIC: &[u8] = b"diligence-state\0";
