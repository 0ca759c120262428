//! The command line of xdg-dbus-proxy, which is read to settings.
//!
//! Programs that start the proxy may read its error messages, so these are the messages of
//! xdg-dbus-proxy.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::os::fd::RawFd;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;

use sandbox::{SandboxRule, SandboxRuleError, SandboxRules};

/// The action that a command line requests.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ProxyRequest {
    /// Print the options of the program.
    Help,
    /// Print the version of the program.
    Version,
    /// Run proxies with these settings.
    Serve(ProxySettings),
}

/// The settings of all proxies of a process.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ProxySettings {
    /// The proxies, at least one.
    pub proxies: Vec<ProxyOptions>,
    /// The descriptor that gets a byte when all sockets listen. The process ends when its other end
    /// is closed.
    pub sync_fd: Option<RawFd>,
    /// Warnings about options that have no effect.
    pub warnings: Vec<String>,
}

/// The options of one proxy: one address with one socket.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ProxyOptions {
    /// The address of the bus. It is checked when a program connects.
    pub address: OsString,
    /// The path of the socket at which the proxy listens.
    pub path: PathBuf,
    /// Whether and how messages are filtered.
    pub filter: FilterOptions,
}

/// The options about the messages that a proxy forwards.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FilterOptions {
    /// Filter the messages; without it, the proxy forwards everything.
    pub is_enabled: bool,
    /// Print a line for each message, if messages are filtered.
    pub logs: bool,
    /// Pass changes of all unique names.
    pub has_sloppy_names: bool,
    /// What the programs may see and do.
    pub rules: SandboxRules,
}

/// An error in a command line. Its text is the text of xdg-dbus-proxy.
#[derive(Debug)]
pub enum CommandLineError {
    /// The value of `--fd` is not a descriptor.
    SyncFd(String),
    /// The value of `--args` is not a descriptor.
    ArgumentsFd(String),
    /// The descriptor of `--args` cannot be read.
    Arguments(io::Error),
    /// The option does not exist, or is not allowed before the first address.
    UnknownOption(String),
    /// A path is missing after an address, or an option is in its place.
    MissingPath,
    /// A rule has an invalid name; the name without `.*`.
    RuleName(String),
    /// A rule has a name, but no pattern; the whole value.
    RulePattern(String),
    /// The command line has no address.
    NoProxies,
}

impl fmt::Display for CommandLineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SyncFd(value) => write!(f, "Invalid fd {value}"),
            Self::ArgumentsFd(value) => write!(f, "Invalid --args fd {value}"),
            Self::Arguments(error) => write!(f, "Failed to load --args: {error}"),
            Self::UnknownOption(option) => write!(f, "Unknown argument {option}"),
            Self::MissingPath => f.write_str("No socket path given"),
            Self::RuleName(name) => write!(f, "'{name}' is not a valid dbus name"),
            Self::RulePattern(value) => write!(f, "'{value}' is not a valid name + rule"),
            Self::NoProxies => f.write_str("No proxies specified"),
        }
    }
}

impl std::error::Error for CommandLineError {}

/// Reads all bytes of the descriptor of an option `--args`.
pub type ArgumentReader<'r> = dyn FnMut(RawFd) -> io::Result<Vec<u8>> + 'r;

/// Parses the words after the name of the program.
///
/// # Errors
///
/// The first error in the order of the words.
pub fn parse(
    words: Vec<OsString>,
    read: &mut ArgumentReader<'_>,
) -> Result<ProxyRequest, CommandLineError> {
    let mut words = Words { rest: words.into_iter().rev().collect() };
    let mut settings = ProxySettings::default();
    while let Some(word) = words.next() {
        if word.as_bytes().starts_with(b"-") {
            if let Some(request) = general_option(&word, &mut words, &mut settings, read)? {
                return Ok(request);
            }
            continue;
        }
        let path = words.next_operand().ok_or(CommandLineError::MissingPath)?;
        let mut proxy = ProxyOptions { address: word, path: path.into(), ..Default::default() };
        while let Some(option) = words.next_option() {
            if proxy_option(&option, &mut proxy.filter, &mut settings.warnings)? {
                continue;
            }
            if let Some(request) = general_option(&option, &mut words, &mut settings, read)? {
                return Ok(request);
            }
        }
        settings.proxies.push(proxy);
    }
    if settings.proxies.is_empty() {
        return Err(CommandLineError::NoProxies);
    }
    Ok(ProxyRequest::Serve(settings))
}

/// The words that are not parsed yet, the next one at the end.
struct Words {
    rest: Vec<OsString>,
}

impl Words {
    fn next(&mut self) -> Option<OsString> {
        self.rest.pop()
    }

    fn next_option(&mut self) -> Option<OsString> {
        self.rest.pop_if(|word| word.as_bytes().starts_with(b"-"))
    }

    fn next_operand(&mut self) -> Option<OsString> {
        self.rest.pop_if(|word| !word.as_bytes().starts_with(b"-"))
    }

    /// Inserts words that are separated by NUL bytes before the other words.
    fn insert(&mut self, bytes: &[u8]) {
        let bytes = bytes.strip_suffix(b"\0").map_or(bytes, |rest| rest);
        let words = bytes.split(|byte| *byte == 0).map(|word| OsString::from_vec(word.to_vec()));
        let words: Vec<_> = words.collect();
        self.rest.extend(words.into_iter().rev());
    }
}

/// Parses an option that is allowed everywhere.
fn general_option(
    option: &OsStr,
    words: &mut Words,
    settings: &mut ProxySettings,
    read: &mut ArgumentReader<'_>,
) -> Result<Option<ProxyRequest>, CommandLineError> {
    let text = option.to_string_lossy();
    match &*text {
        "--help" => return Ok(Some(ProxyRequest::Help)),
        "--version" => return Ok(Some(ProxyRequest::Version)),
        _ => {}
    }
    if let Some(value) = text.strip_prefix("--fd=") {
        let fd = descriptor(value).ok_or_else(|| CommandLineError::SyncFd(value.into()))?;
        settings.sync_fd = Some(fd);
    } else if let Some(value) = text.strip_prefix("--args=") {
        let fd = descriptor(value).ok_or_else(|| CommandLineError::ArgumentsFd(value.into()))?;
        let bytes = read(fd).map_err(CommandLineError::Arguments)?;
        if !bytes.is_empty() {
            words.insert(&bytes);
        }
    } else {
        return Err(CommandLineError::UnknownOption(text.into_owned()));
    }
    Ok(None)
}

/// Parses a number like strtol(3): white space and a plus sign may precede it.
fn descriptor(text: &str) -> Option<RawFd> {
    let text = text.trim_start_matches(|letter: char| letter.is_ascii_whitespace());
    text.parse().ok().filter(|fd| *fd >= 0)
}

/// Parses an option that is only allowed after an address. Returns false if it is another option.
fn proxy_option(
    option: &OsStr,
    filter: &mut FilterOptions,
    warnings: &mut Vec<String>,
) -> Result<bool, CommandLineError> {
    let text = option.to_string_lossy();
    match &*text {
        "--filter" => filter.is_enabled = true,
        "--log" => filter.logs = true,
        "--sloppy-names" => filter.has_sloppy_names = true,
        _ => {
            let is_rule = |keyword: &&str| text.starts_with(&format!("--{keyword}="));
            let Some(keyword) = RULES.into_iter().find(is_rule) else { return Ok(false) };
            match SandboxRule::parse(&text[2..]) {
                Ok(rule) => filter.rules.push(rule),
                Err(SandboxRuleError::InvalidName { name, .. })
                    if PATTERN_RULES.contains(&keyword) =>
                {
                    // xdg-dbus-proxy accepts such a rule. It cannot have an effect.
                    warnings.push(format!("ignored {text}: '{name}' is not a valid dbus name"));
                }
                Err(SandboxRuleError::InvalidName { name, .. }) => {
                    return Err(CommandLineError::RuleName(name.into()));
                }
                Err(SandboxRuleError::MissingPattern { value }) => {
                    return Err(CommandLineError::RulePattern(value.into()));
                }
                Err(_) => return Ok(false),
            }
        }
    }
    Ok(true)
}

/// The keywords of rules, which are also options.
const RULES: [&str; 5] = ["see", "talk", "own", "call", "broadcast"];

/// The keywords of rules with a pattern for messages.
const PATTERN_RULES: [&str; 2] = ["call", "broadcast"];

/// The text of `--help`.
pub fn usage(argv0: &str) -> String {
    format!(
        "usage: {argv0} [OPTIONS...] [ADDRESS PATH [OPTIONS...] ...]

Listens at the socket PATH and forwards connections to the bus at ADDRESS.

Options:
    --help                       Print the options and exit
    --version                    Print the version and exit
    --fd=FD                      Write a byte to FD when all sockets listen,
                                 and exit when its other end is closed
    --args=FD                    Insert arguments from FD, separated by NUL bytes

Options of one proxy, after its ADDRESS and PATH:
    --filter                     Forward only what the rules allow
    --log                        Print filtered messages to standard output
    --sloppy-names               Pass changes of the owners of all unique names
    --see=NAME                   Make NAME visible
    --talk=NAME                  Also allow messages to and from NAME
    --own=NAME                   Also allow owning NAME
    --call=NAME=RULE             Allow the calls of RULE to NAME
    --broadcast=NAME=RULE        Allow broadcasts from NAME

NAME is a well-known name; NAME.* includes the names below it.
RULE is [METHOD][@PATH], such as org.example.Player.*@/player/*
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Result<ProxyRequest, String> {
        let mut read = |fd: RawFd| match fd {
            5 => Ok(b"--filter\0--talk=a.b\0".to_vec()),
            6 => Ok(b"unix:path=/x\0/y\0--args=5".to_vec()),
            7 => Ok(Vec::new()),
            8 => Ok(b"\0\0--own=a.b".to_vec()),
            _ => Err(io::Error::from(io::ErrorKind::NotFound)),
        };
        let words = words.iter().map(OsString::from).collect();
        parse(words, &mut read).map_err(|error| error.to_string())
    }

    fn settings(words: &[&str]) -> ProxySettings {
        match parsed(words) {
            Ok(ProxyRequest::Serve(settings)) => settings,
            other => panic!("{words:?}: {other:?}"),
        }
    }

    fn proxy(address: &str, path: &str, filter: FilterOptions) -> ProxyOptions {
        ProxyOptions { address: address.into(), path: path.into(), filter }
    }

    fn rules(texts: &[&str]) -> SandboxRules {
        SandboxRules::parse(texts.iter().copied()).unwrap()
    }

    #[test]
    fn each_proxy_has_its_own_options() {
        let settings = settings(&[
            "--fd=3",
            "a:",
            "/a",
            "--log",
            "--see=a.b.*",
            "--fd=4",
            "--call=a.b=c.d.*@/x",
            "b:",
            "/b",
            "--filter",
            "--sloppy-names",
        ]);
        assert_eq!(settings.sync_fd, Some(4));
        let first = FilterOptions {
            logs: true,
            rules: rules(&["see=a.b.*", "call=a.b=c.d.*@/x"]),
            ..Default::default()
        };
        let second =
            FilterOptions { is_enabled: true, has_sloppy_names: true, ..Default::default() };
        assert_eq!(settings.proxies, [proxy("a:", "/a", first), proxy("b:", "/b", second)]);
    }

    #[test]
    fn arguments_are_inserted_where_they_are_mentioned() {
        let talk = || FilterOptions {
            is_enabled: true,
            rules: rules(&["talk=a.b"]),
            ..Default::default()
        };
        let expected = [proxy("unix:path=/x", "/y", talk())];
        assert_eq!(settings(&["--args=6"]).proxies, expected);
        assert_eq!(settings(&["--args= 7", "unix:path=/x", "/y", "--args=5"]).proxies, expected);
        // An empty word is an operand, so it begins another proxy.
        let empty = FilterOptions { rules: rules(&["own=a.b"]), ..Default::default() };
        let with_empty = settings(&["a:", "/a", "--args=8"]);
        let first = proxy("a:", "/a", FilterOptions::default());
        assert_eq!(with_empty.proxies, [first, proxy("", "", empty)]);
    }

    #[test]
    fn help_and_version_end_the_command_line() {
        assert_eq!(parsed(&["--help", "--nonsense"]), Ok(ProxyRequest::Help));
        assert_eq!(parsed(&["a:", "/a", "--version"]), Ok(ProxyRequest::Version));
        assert!(usage("a/b").starts_with("usage: a/b [OPTIONS...] [ADDRESS PATH "));
    }

    #[test]
    fn errors_have_the_texts_of_xdg_dbus_proxy() {
        for (words, expected) in [
            (&["--fd=x"][..], "Invalid fd x"),
            (&["--fd=-1"], "Invalid fd -1"),
            (&["--fd="], "Invalid fd "),
            (&["--args=3x"], "Invalid --args fd 3x"),
            (&["--args=99"], "Failed to load --args: entity not found"),
            (&["--filter"], "Unknown argument --filter"),
            (&["a:", "/a", "--nonsense"], "Unknown argument --nonsense"),
            (&["a:", "/a", "--see"], "Unknown argument --see"),
            (&["a:"], "No socket path given"),
            (&["a:", "--filter"], "No socket path given"),
            (&["a:", "/a", "--talk=:1.5"], "':1.5' is not a valid dbus name"),
            (&["a:", "/a", "--own=org.*"], "'org' is not a valid dbus name"),
            (&["a:", "/a", "--call=a.b"], "'a.b' is not a valid name + rule"),
            (&["a:", "/a", "--broadcast="], "'' is not a valid name + rule"),
            (&["--fd=3"], "No proxies specified"),
        ] {
            assert_eq!(parsed(words).unwrap_err(), expected, "{words:?}");
        }
    }

    #[test]
    fn rules_that_cannot_match_are_ignored_with_a_warning() {
        let settings =
            settings(&["a:", "/a", "--call=:1.5=*", "--broadcast=x=*", "--call=org.*=*"]);
        assert_eq!(settings.proxies[0].filter.rules, rules(&["call=org.*=*"]));
        let warning = "ignored --call=:1.5=*: ':1.5' is not a valid dbus name";
        assert_eq!(settings.warnings[0], warning);
        assert_eq!(settings.warnings.len(), 2);
    }
}
