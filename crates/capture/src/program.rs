//! The name of the program of a process.

use crate::record::RecordedProcess;

impl RecordedProcess {
    /// Returns the usual name of the program: its executable, or the script or module if the
    /// executable is an interpreter, in full where the kernel keeps only 15 bytes; or the name that
    /// the process gave itself. It is not unique.
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

/// The last part of a path, without the suffix that the kernel adds if the file was replaced.
fn file_name(path: &str) -> &str {
    let path = path.strip_suffix(" (deleted)").unwrap_or(path);
    path.rsplit('/').next().unwrap_or(path)
}

/// The script or module that an interpreter runs; `None` if the program is not an interpreter, or
/// runs neither.
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

/// The maximum length of a name in the kernel, in bytes.
const COMM_MAX: usize = 15;

/// Interpreters whose first argument names the program, without version numbers.
const INTERPRETERS: [&str; 11] =
    ["bash", "dash", "gjs", "gjs-console", "node", "perl", "php", "python", "ruby", "sh", "zsh"];
