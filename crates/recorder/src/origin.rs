//! Who records, on what.

use std::{env, fs};

use capture::record::RecordingOrigin;

/// What is known about this machine and this program.
pub fn origin(program: &str) -> RecordingOrigin {
    RecordingOrigin {
        program: Some(program.to_owned()),
        hardware: Some(env::consts::ARCH.to_owned()),
        system: system(),
        comments: Vec::new(),
    }
}

/// `Linux 6.12.1 (Debian GNU/Linux 13)`.
fn system() -> Option<String> {
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").ok()?;
    let release = fs::read_to_string("/etc/os-release").ok();
    let name = release.as_deref().and_then(pretty_name);
    let kernel = kernel.trim();
    Some(name.map_or_else(|| format!("Linux {kernel}"), |name| format!("Linux {kernel} ({name})")))
}

/// The name for people in os-release(5).
fn pretty_name(text: &str) -> Option<&str> {
    let value = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(value.trim_matches('"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_says_its_name() {
        let text = "ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 13 (trixie)\"\n";
        assert_eq!(pretty_name(text), Some("Debian GNU/Linux 13 (trixie)"));
        assert_eq!(pretty_name("ID=x\n"), None);
    }
}
