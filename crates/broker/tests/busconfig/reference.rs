//! The configuration files from dbus-daemon's tests, and those that it is shipped with.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use broker::busconfig::{
    self, BusType, Config, ConfigErrorKind, Document, Environment, ServiceDir,
};
use bus::policy::ConnectQuery;
use bus::{BusLimits, PolicyVerdict};

const DATA: &str = "/usr/lib/dbus-1.0/installed-tests/dbus/data";
const HINT: &str = "; it is in Debian's package dbus-tests";

/// Checks each file of a directory of test data against a table, which must list all files.
fn check_directory<T>(name: &str, table: &[(&str, T)], check: impl Fn(&Path, &T)) {
    let directory = Path::new(DATA).join(name);
    let entries = fs::read_dir(&directory).unwrap_or_else(|error| panic!("{name}: {error}{HINT}"));
    let files = entries.map(|entry| entry.expect("an entry").path());
    let files: BTreeSet<_> = files.filter(|file| file.is_file()).collect();
    let expected = table.iter().map(|(name, _)| directory.join(format!("{name}.conf")));
    assert_eq!(files, expected.collect());
    for (name, expected) in table {
        check(&directory.join(format!("{name}.conf")), expected);
    }
}

#[test]
fn invalid_files_are_refused_for_their_reason() {
    const SCOPE: &str =
        "<policy> element must have exactly one of (context|user|group|at_console) attributes";
    let table = [
        (
            "apparmor-bad-attribute",
            "3:13: Attribute \"enforcement_style\" is invalid on <apparmor> element in this context",
        ),
        (
            "apparmor-bad-mode",
            "3:13: Mode attribute on <apparmor> must have value \"required\", \"enabled\" or \"disabled\", not \"plaintive\"",
        ),
        (
            "bad-attribute",
            "3:10: Attribute \"wildebeest\" is invalid on <limit> element in this context",
        ),
        (
            "bad-attribute-2",
            "2:11: Attribute \"carefully\" is invalid on <listen> element in this context",
        ),
        ("bad-element", "3:3: Element <bees> not allowed inside <busconfig> in configuration file"),
        (
            "bad-limit",
            "3:3: <limit name=\"max_names_per_connection\"> element has invalid value (could not parse as integer)",
        ),
        ("badselinux-1", "9:12: selinux_root_relative attribute must have value \"yes\" or \"no\""),
        ("badselinux-2", "9:12: if_selinux_enabled attribute must have value \"yes\" or \"no\""),
        ("circular-1", "3:1: Circular inclusion of file 'circular-1.conf'"),
        ("circular-2", "circular-3.conf:3:1: Circular inclusion of file 'circular-2.conf'"),
        ("circular-3", "circular-2.conf:3:1: Circular inclusion of file 'circular-3.conf'"),
        ("double-attribute", "3:36: not well-formed XML: attribute 'name' is already defined"),
        (
            "impossible-send",
            "4:5: Rule with send_broadcast=\"true\" and send_destination=\"com.example.Bees\" cannot match anything",
        ),
        ("limit-no-name", "3:3: <limit> element must have a \"name\" attribute"),
        ("ludicrous-limit", "4:3: <limit name=\"max_names_per_connection\"> value is too large"),
        (
            "negative-limit",
            "3:3: <limit name=\"max_names_per_connection\"> must be a positive number",
        ),
        (
            "non-numeric-limit",
            "3:3: <limit name=\"max_names_per_connection\"> element has invalid value (could not parse as integer)",
        ),
        ("not-well-formed", "4:18: not well-formed XML: expected 'user' tag, not 'foo'"),
        (
            "policy-bad-at-console",
            "3:11: Unknown value \"somewhere in the vicinity\" for at_console in message bus configuration file, expected \"true\" or \"false\"",
        ),
        (
            "policy-bad-attribute",
            "3:11: Attribute \"hat\" is invalid on <policy> element in this context",
        ),
        (
            "policy-bad-context",
            "3:11: context attribute on <policy> must have the value \"default\" or \"mandatory\", not \"apropos of nothing\"",
        ),
        (
            "policy-bad-rule-attribute",
            "4:12: Attribute \"species\" is invalid on <allow> element in this context",
        ),
        ("policy-contradiction", &format!("3:3: {SCOPE}")),
        (
            "policy-member-no-path",
            "4:5: On element <deny>, if you specify a member you must specify an interface or a path. Keep in mind that not all messages have an interface field.",
        ),
        (
            "policy-mixed",
            "4:5: Invalid combination of attributes on element <allow>: own, own_prefix, user, group and the message-related attributes cannot be combined",
        ),
        ("policy-no-attributes", &format!("3:3: {SCOPE}")),
        ("policy-no-rule-attribute", "4:5: Element <allow> must have one or more attributes"),
        (
            "send-and-receive",
            "4:5: Invalid combination of attributes on element <allow>: send and receive attributes cannot be combined",
        ),
        ("truncated-file", "10:1: not well-formed XML: unexpected end of stream"),
        ("unknown-limit", "3:3: There is no limit called \"max_bees\""),
    ];
    check_directory("invalid-config-files", &table, |file, expected| {
        let error = Document::read(file, &Environment::of_this_system()).unwrap_err().to_string();
        let directory = format!("{}/", file.parent().unwrap().display());
        let own_name = format!("{}:", file.file_name().unwrap().display());
        let error = error.replace(&directory, "");
        assert_eq!(error.strip_prefix(&own_name).unwrap_or(&error), *expected);
    });
}

/// The policy of a valid file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ReferenceKind {
    /// It allows everything, like the usual session bus.
    Session,
    /// It lets every user connect.
    Open,
    /// It denies some operation.
    Restricting,
}

impl ReferenceKind {
    fn check(self, file: &Path) {
        let config = busconfig::load(file, &Environment::of_this_system())
            .unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(config.document.file, file);
        match self {
            Self::Session => check_session(&config),
            Self::Open => assert_eq!(admits_strangers(&config), PolicyVerdict::Allow),
            Self::Restricting => assert!(config.configuration.policy.restricts()),
        }
    }
}

fn check_session(config: &Config) {
    assert!(!config.configuration.policy.restricts());
    assert_eq!(admits_strangers(config), PolicyVerdict::Deny);
    assert_eq!(config.document.bus_type, Some(BusType::Session));
}

fn admits_strangers(config: &Config) -> PolicyVerdict {
    config.configuration.policy.admits(&ConnectQuery { uid: 1000, groups: &[], bus_uid: 500 })
}

#[test]
fn valid_session_files_are_accepted() {
    use ReferenceKind::{Open, Restricting, Session};
    let table = [
        ("as-another-user", Restricting),
        ("basic", Restricting),
        ("check-own-rules", Restricting),
        ("count-fds", Restricting),
        ("debug-allow-all", Open),
        ("debug-allow-all-sha1", Open),
        ("entities", Restricting),
        ("finite-timeout", Session),
        ("forbidding", Restricting),
        ("incoming-limit", Session),
        ("limit-containers", Session),
        ("listen-unix-runtime", Session),
        ("many-rules", Restricting),
        ("max-completed-connections", Session),
        ("max-connections-per-user", Session),
        ("max-containers", Session),
        ("max-match-rules-per-connection", Session),
        ("max-names-per-connection", Session),
        ("max-replies-per-connection", Session),
        ("minimal", Restricting),
        ("multi-user", Open),
        ("pending-fd-timeout", Session),
        ("send-destination-prefix-rules", Restricting),
        ("session", Session),
        ("standard-session-dirs", Restricting),
        ("systemd-activation", Restricting),
        ("tmp-session", Session),
    ];
    check_directory("valid-config-files", &table, |file, kind| kind.check(file));
}

#[test]
fn valid_system_files_are_accepted() {
    use ReferenceKind::{Open, Restricting};
    let table = [
        ("debug-allow-all-fail", Open),
        ("debug-allow-all-pass", Open),
        ("many-rules", Restricting),
        ("system", Restricting),
        ("tmp-session-like-system", Restricting),
    ];
    check_directory("valid-config-files-system", &table, |file, kind| kind.check(file));
}

/// The two files of each directory have the same meaning.
#[test]
fn equivalent_files_have_the_same_meaning() {
    for directory in ["basic", "entities"] {
        let documents = ["1", "2"].map(|number| {
            let name = format!("equiv-config-files/{directory}/{directory}-{number}.conf");
            let file = Path::new(DATA).join(name);
            let document = Document::read(&file, &Environment::of_this_system());
            let document = document.unwrap_or_else(|error| panic!("{error}{HINT}"));
            assert!(document.sources.contains(&file));
            // Everything except the names of the files.
            Document { file: PathBuf::new(), sources: BTreeSet::new(), ..document }
        });
        assert_eq!(documents[0], documents[1]);
        let listen: Vec<_> = documents[0].listen.iter().map(|listen| &*listen.text).collect();
        assert_eq!(listen.len(), 4, "its own and the ones in basic.d: {listen:?}");
    }
}

#[test]
fn xml_entities_are_expanded() {
    let file = Path::new(DATA).join("valid-config-files/entities.conf");
    let document = Document::read(&file, &Environment::of_this_system())
        .unwrap_or_else(|error| panic!("{error}{HINT}"));
    assert_eq!(document.listen[0].text, "unix:path=/foo/<bar>");
    assert!(document.service_dirs.contains(&ServiceDir::Path("/usr/&share/foo".into())));
    // Like in dbus-daemon, an invalid address is only reported when it is used.
    let error = document.addresses().unwrap_err();
    assert_eq!(error.position.map(|position| position.line), Some(6));
    assert!(matches!(error.kind, ConfigErrorKind::Address(_)), "{error}");
}

#[test]
fn the_shipped_session_bus_is_understood() {
    let file = Path::new("/usr/share/dbus-1/session.conf");
    let config = busconfig::load(file, &Environment::of_this_system())
        .unwrap_or_else(|error| panic!("{error}; Debian's dbus-session-bus-common has the file"));
    check_session(&config);
    assert_eq!(config.configuration.limits, BusLimits::session());
    let built_in = busconfig::built_in_session();
    assert_eq!(config.configuration, built_in.configuration);
    assert_eq!(config.addresses().unwrap(), built_in.addresses().unwrap());
    assert_eq!(config.mechanisms(), built_in.mechanisms());
    assert_eq!(config.document.service_dirs, built_in.document.service_dirs);
    assert_eq!(config.document.umask, built_in.document.umask);
}

#[test]
fn the_shipped_system_bus_is_understood() {
    let file = Path::new("/usr/share/dbus-1/system.conf");
    let config = busconfig::load(file, &Environment::of_this_system())
        .unwrap_or_else(|error| panic!("{error}; Debian's dbus-system-bus-common has the file"));
    assert_eq!(config.document.bus_type, Some(BusType::System));
    assert_eq!(config.document.user.as_deref(), Some("messagebus"));
    assert!(config.configuration.policy.restricts());
    assert_eq!(admits_strangers(&config), PolicyVerdict::Allow);
}
