//! What the process behind a connection is called.

use std::path::Path;

use capture::text::visible::printable;

/// The process behind a connection. The texts are chosen by it, and made fit to be shown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Program {
    /// Its number.
    pub(crate) pid: u32,
    /// What people call it.
    pub(crate) label: String,
    /// The program, without its directory, and its arguments; empty if the process has gone.
    pub(crate) command: String,
}

impl Program {
    /// Finds the name in what the kernel knows: the name of the process, at most 15 bytes long,
    /// and its command line.
    pub(crate) fn new(pid: u32, comm: Option<&str>, command_line: Option<&[String]>) -> Self {
        let arguments = command_line.unwrap_or_default();
        let label = label(comm, arguments).map_or_else(|| format!("pid {pid}"), String::from);
        Self {
            pid,
            label: printable(&label).into_owned(),
            command: printable(&command(arguments)).into_owned(),
        }
    }
}

fn command(arguments: &[String]) -> String {
    match arguments {
        [] => String::new(),
        [program, arguments @ ..] => {
            [&[base_name(program).to_owned()], arguments].concat().join(" ")
        }
    }
}

/// The name of the process; in full, if the kernel has cut it; of an interpreter, its script.
fn label<'a>(comm: Option<&'a str>, arguments: &'a [String]) -> Option<&'a str> {
    let called = arguments.first().map(|first| base_name(first.trim_start_matches('-')));
    let name = match (comm, called) {
        (Some(comm), Some(called)) if comm.len() == COMM_LEN && called.starts_with(comm) => called,
        (Some(comm), _) => comm,
        (None, called) => called?,
    };
    if !is_interpreter(name) {
        return Some(name);
    }
    let script = arguments.iter().skip(1).find(|argument| !argument.starts_with('-'));
    Some(script.map_or(name, |script| base_name(script)))
}

/// Whether a process of this name is known by the script that it runs.
fn is_interpreter(name: &str) -> bool {
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    INTERPRETERS.contains(&name)
}

fn base_name(path: &str) -> &str {
    Path::new(path).file_name().and_then(|name| name.to_str()).unwrap_or(path)
}

const INTERPRETERS: [&str; 8] = ["python", "perl", "ruby", "node", "gjs", "bash", "sh", "dash"];

/// Bytes to which the kernel cuts the name of a process.
const COMM_LEN: usize = 15;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_called_what_people_call_it() {
        let check = |comm: Option<&str>, line: &[&str], expected: &str| {
            let line: Vec<String> = line.iter().copied().map(String::from).collect();
            let found =
                Program::new(7, comm, Some(line.as_slice()).filter(|line| !line.is_empty()));
            assert_eq!(found.label, expected, "{comm:?} {line:?}");
        };
        check(Some("gdbus"), &["gdbus", "call"], "gdbus");
        check(
            Some("gnome-terminal-"),
            &["/usr/bin/gnome-terminal-server"],
            "gnome-terminal-server",
        );
        check(Some("demo-battery"), &["/usr/bin/diligence", "demo", "battery"], "demo-battery");
        check(Some("python3"), &["/usr/bin/python3", "-u", "/opt/thing.py", "-v"], "thing.py");
        check(Some("python3.13"), &["python3.13"], "python3.13");
        check(Some("bash"), &["-bash"], "bash");
        check(Some("kworker"), &[], "kworker");
        check(None, &["/bin/tool"], "tool");
        check(None, &[], "pid 7");
        check(Some("a\nb"), &[], "a\\nb");
    }
}
