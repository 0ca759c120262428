//! What to call the program of a process.

use crate::record::RecordedProcess;

impl RecordedProcess {
    /// What people call its program: the file that it runs, or the script or module if that is an interpreter,
    /// in full where the kernel keeps 15 bytes; or the name that it has given itself. It is not unique.
    pub fn program(&self) -> Option<&str> {
        let of_exe = self.exe.as_deref().map(file_name).filter(|name| !name.is_empty());
        let interpreter = of_exe.or_else(|| self.command.first().map(|word| file_name(word)));
        if let Some(script) = interpreter.and_then(|name| script(name, &self.command)) {
            return Some(script);
        }
        let Some(comm) = self.comm.as_deref() else { return of_exe };
        let first = self.command.first().map(|word| file_name(word));
        let is_whole = |name: &&str| comm.len() >= COMM_MAX && name.starts_with(comm);
        Some(of_exe.filter(is_whole).or_else(|| first.filter(is_whole)).unwrap_or(comm))
    }
}

/// What a path ends with, without what the kernel adds when the file is replaced.
fn file_name(path: &str) -> &str {
    let path = path.strip_suffix(" (deleted)").unwrap_or(path);
    path.rsplit('/').next().unwrap_or(path)
}

/// The script or the module that an interpreter runs; `None` if it is no interpreter, or runs something else.
fn script<'c>(interpreter: &str, command: &'c [String]) -> Option<&'c str> {
    let version = |char: char| char.is_ascii_digit() || char == '.';
    let interpreter = interpreter.trim_end_matches(version);
    if !INTERPRETERS.contains(&interpreter) {
        return None;
    }
    let is_python = interpreter == "python";
    let mut words = command.iter().skip(1).map(String::as_str);
    loop {
        match words.next()? {
            "-m" if is_python => return words.next(),
            "-W" | "-X" if is_python => drop(words.next()),
            "-c" | "-e" | "-" => return None,
            option if option.starts_with('-') => {}
            path => return Some(file_name(path)).filter(|name| !name.is_empty()),
        }
    }
}

/// Bytes that the kernel keeps of a name.
const COMM_MAX: usize = 15;

/// Programs whose first argument is what somebody calls the program, without their versions.
const INTERPRETERS: [&str; 11] =
    ["bash", "dash", "gjs", "gjs-console", "node", "perl", "php", "python", "ruby", "sh", "zsh"];
