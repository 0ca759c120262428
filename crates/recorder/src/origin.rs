//! The program and machine that record.

use std::{env, fs};

use capture::record::RecordingOrigin;

/// Returns the origin of recordings that `program` makes on this machine.
pub fn origin(program: &str) -> RecordingOrigin {
    RecordingOrigin {
        program: Some(program.to_owned()),
        hardware: Some(env::consts::ARCH.to_owned()),
        system: system(),
        comments: Vec::new(),
    }
}

/// The kernel and distribution, such as `Linux 6.12.1 (Debian GNU/Linux 13)`.
fn system() -> Option<String> {
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").ok()?;
    let release = fs::read_to_string("/etc/os-release").ok();
    let name = release.as_deref().and_then(pretty_name);
    let kernel = kernel.trim();
    Some(name.map_or_else(|| format!("Linux {kernel}"), |name| format!("Linux {kernel} ({name})")))
}

/// The name in os-release(5) for display.
fn pretty_name(text: &str) -> Option<&str> {
    let value = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(value.trim_matches('"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distribution_names_come_from_os_release() {
        let text = "ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 13 (trixie)\"\n";
        assert_eq!(pretty_name(text), Some("Debian GNU/Linux 13 (trixie)"));
        assert_eq!(pretty_name("ID=x\n"), None);
    }
}
