//! The machine of a measurement: figures of different machines are not comparable.

use std::fmt;
use std::fs;

use serde::{Deserialize, Serialize};
use sys::load;
use sys::scheduling;

/// Facts about a machine that affect figures. If the system does not provide a fact, its text is
/// empty or its number is zero.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Machine {
    /// The release of the kernel: `6.12.48-amd64`.
    pub kernel: String,
    /// The architecture the program was built for: `x86_64`.
    pub architecture: String,
    /// The model of the first processor.
    pub processor: String,
    /// The number of online processors.
    pub processors: usize,
    /// The number of processors that this process may use.
    pub usable_processors: usize,
    /// The size of memory, in bytes.
    pub memory_bytes: u64,
    /// The hypervisor, if this is a virtual machine, whose neighbors may disturb the measurement;
    /// `None` if none was detected.
    pub hypervisor: Option<Hypervisor>,
    /// The frequency governor of the first processor: `powersave`, `performance`, `schedutil`.
    /// `None` if the kernel does not control the frequency.
    pub governor: Option<String>,
}

/// The hypervisor of a virtual machine.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hypervisor {
    Unnamed,
    /// The name from the firmware or the device tree: `QEMU`, `linux,kvm`.
    Named(String),
}

impl Machine {
    /// Reads the facts of this machine.
    pub fn read() -> Self {
        let cpuinfo = text("/proc/cpuinfo");
        Self {
            kernel: text("/proc/sys/kernel/osrelease"),
            architecture: std::env::consts::ARCH.to_owned(),
            processor: model(&cpuinfo).map(str::to_owned).unwrap_or_else(board),
            processors: load::processors().map_or(0, |processors| processors.len()),
            usable_processors: scheduling::own_processors().map_or(0, |own| own.count()),
            memory_bytes: memory_bytes(&text("/proc/meminfo")),
            hypervisor: hypervisor(&cpuinfo),
            governor: named("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        }
    }
}

/// Formats a line: `AMD EPYC, 1 of 2 processors, 3.8 GiB, Linux 6.12.48 (x86_64), virtual machine`.
impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kernel, architecture, processors, usable_processors, .. } = self;
        let processor = if self.processor.is_empty() { "processor" } else { &self.processor };
        write!(f, "{processor}, ")?;
        if usable_processors != processors {
            write!(f, "{usable_processors} of ")?;
        }
        let plural = if *processors == 1 { "" } else { "s" };
        write!(f, "{processors} processor{plural}, ")?;
        #[expect(clippy::cast_precision_loss, reason = "one place after the point is shown")]
        let gibibytes = self.memory_bytes as f64 / GIB;
        write!(f, "{gibibytes:.1} GiB, Linux {kernel} ({architecture})")?;
        match &self.hypervisor {
            None => {}
            Some(Hypervisor::Unnamed) => f.write_str(", virtual machine")?,
            Some(Hypervisor::Named(name)) => write!(f, ", virtual machine ({name})")?,
        }
        self.governor.as_ref().map_or(Ok(()), |governor| write!(f, ", governor {governor}"))
    }
}

/// Reads a file and trims white space and the zero byte at the end of device tree files; empty if
/// it cannot be read.
fn text(path: &str) -> String {
    let content = fs::read(path).unwrap_or_default();
    let content = String::from_utf8_lossy(&content);
    content.trim_matches(|sign: char| sign.is_whitespace() || sign == '\0').to_owned()
}

/// Like [`text`], but `None` if the file is missing or empty.
fn named(path: &str) -> Option<String> {
    Some(text(path)).filter(|text| !text.is_empty())
}

/// The name of a board whose `/proc/cpuinfo` has no model name.
fn board() -> String {
    text("/proc/device-tree/model")
}

fn model(cpuinfo: &str) -> Option<&str> {
    value(cpuinfo, "model name")
}

/// Detects a hypervisor. Only x86 machines have a processor flag for it.
fn hypervisor(cpuinfo: &str) -> Option<Hypervisor> {
    let name = named("/sys/hypervisor/type").or_else(|| named(DEVICE_TREE_HYPERVISOR));
    if has_hypervisor_flag(cpuinfo) {
        let name = name.or_else(|| named("/sys/class/dmi/id/sys_vendor"));
        return Some(name.map_or(Hypervisor::Unnamed, Hypervisor::Named));
    }
    name.map(Hypervisor::Named)
}

fn has_hypervisor_flag(cpuinfo: &str) -> bool {
    let mut flags = value(cpuinfo, "flags").unwrap_or_default().split(' ');
    flags.any(|flag| flag == "hypervisor")
}

fn memory_bytes(meminfo: &str) -> u64 {
    let total = value(meminfo, "MemTotal").and_then(|value| value.strip_suffix(" kB"));
    total.and_then(|number| number.parse::<u64>().ok()).unwrap_or(0) * 1024
}

/// Returns the value of the first line `key : value`.
fn value<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let mut lines = text.lines().filter_map(|line| line.split_once(':'));
    lines.find_map(|(found, value)| (found.trim() == key).then(|| value.trim()))
}

const DEVICE_TREE_HYPERVISOR: &str = "/proc/device-tree/hypervisor/compatible";

const GIB: f64 = (1u64 << 30) as f64;

#[cfg(test)]
mod tests {
    use super::*;

    const CPUINFO: &str = "processor\t: 0\nmodel\t\t: 1\nmodel name\t: AMD EPYC\n\
        flags\t\t: fpu hypervisor lahf_lm\n\nprocessor\t: 1\nmodel name\t: another\n";

    #[test]
    fn machine_files_of_the_kernel_are_parsed() {
        assert_eq!(model(CPUINFO), Some("AMD EPYC"));
        assert_eq!(model("processor\t: 0\nBogoMIPS\t: 48.00\n"), None);
        assert!(has_hypervisor_flag(CPUINFO));
        assert!(!has_hypervisor_flag("flags\t: fpu hypervisorless\n"));
        assert!(!has_hypervisor_flag(""));
        assert_eq!(memory_bytes("MemTotal:        8011904 kB\nMemFree: 1 kB\n"), 8_011_904 << 10);
        assert_eq!(memory_bytes("MemTotal: much\n"), 0);
    }

    #[test]
    fn machine_facts_are_read() {
        let machine = Machine::read();
        assert!(machine.kernel.starts_with(|sign: char| sign.is_ascii_digit()), "{machine:?}");
        assert!((1..=machine.processors).contains(&machine.usable_processors), "{machine:?}");
        assert!(machine.memory_bytes > 1 << 20, "{machine:?}");
        let json = serde_json::to_string(&machine).unwrap();
        assert_eq!(serde_json::from_str::<Machine>(&json).unwrap(), machine, "{json}");
    }

    #[test]
    fn machine_is_formatted_as_one_line() {
        let check = |machine: &Machine, expected: &str| assert_eq!(machine.to_string(), expected);
        let mut machine = Machine {
            kernel: "6.12.48".to_owned(),
            architecture: "x86_64".to_owned(),
            processor: "AMD EPYC".to_owned(),
            processors: 2,
            usable_processors: 2,
            memory_bytes: 15 << 28,
            ..Machine::default()
        };
        check(&machine, "AMD EPYC, 2 processors, 3.8 GiB, Linux 6.12.48 (x86_64)");
        machine.usable_processors = 1;
        machine.hypervisor = Some(Hypervisor::Unnamed);
        let start = "AMD EPYC, 1 of 2 processors, 3.8 GiB, Linux 6.12.48 (x86_64), virtual machine";
        check(&machine, start);
        machine.hypervisor = Some(Hypervisor::Named("QEMU".to_owned()));
        machine.governor = Some("powersave".to_owned());
        check(&machine, &format!("{start} (QEMU), governor powersave"));
        machine = Machine { processors: 1, usable_processors: 1, ..Machine::default() };
        check(&machine, "processor, 1 processor, 0.0 GiB, Linux  ()");
    }
}
