//! The elements of a single file, and all errors in them.

use std::path::Path;
use std::time::Duration;

use broker::busconfig::{
    self, AppArmorMode, BusType, ConfigErrorKind, Document, ForkMode, ServiceDir, Syslog, Umask,
};
use bus::{BusLimits, PolicyVerdict};
use wire::sasl::{Mechanism, Mechanisms};

use crate::{ConfigFiles, check_refusal, environment, wrap};

fn read(elements: &str) -> (ConfigFiles, Document) {
    let files = ConfigFiles::with_main(elements);
    let document = files.read(&environment()).unwrap_or_else(|error| panic!("{error}"));
    (files, document)
}

#[test]
fn an_empty_configuration_has_the_defaults() {
    let (files, document) = read("");
    let Document { bus_type: None, user: None, pidfile: None, service_helper: None, .. } = document
    else {
        panic!("{document:?}");
    };
    assert_eq!(document.fork, ForkMode::Foreground);
    assert_eq!(document.umask, Umask::Reset);
    assert_eq!(document.syslog, Syslog::Off);
    assert_eq!(document.anonymous, PolicyVerdict::Deny);
    assert_eq!(document.mechanisms(), Mechanisms::ALL);
    assert_eq!(document.limits, BusLimits::default());
    assert_eq!(document.app_armor, None);
    let error = document.addresses().unwrap_err();
    assert_eq!((error.position, &error.kind), (None, &ConfigErrorKind::NoListen));
    assert_eq!(
        files.shorten(error),
        "main.conf: Configuration file needs one or more <listen> elements giving addresses"
    );
}

#[test]
fn every_element_is_understood() {
    let (files, document) = read(
        r#"<type>session</type> <user>messagebus</user> <fork/> <keep_umask></keep_umask>
           <syslog><!-- a lot --></syslog> <pidfile>run/pid</pidfile>
           <listen>unix:tmpdir=/tmp</listen> <listen>tcp:host=localhost;unix:path=/b</listen>
           <auth>ANONYMOUS</auth> <auth>EXTERNAL</auth> <allow_anonymous/>
           <servicehelper>/lib/helper</servicehelper>
           <servicedir>services</servicedir> <standard_session_servicedirs/>
           <servicedir>/srv</servicedir> <standard_system_servicedirs />
           <limit name="max_names_per_connection">7</limit> <limit name="max_containers">1</limit>
           <selinux><associate own="a.b" context="c_t"/></selinux> <apparmor mode="disabled"/>"#,
    );
    assert_eq!(document.bus_type, Some(BusType::Session));
    assert_eq!(document.user.as_deref(), Some("messagebus"));
    assert_eq!(document.fork, ForkMode::Background);
    assert_eq!(document.umask, Umask::Keep);
    assert_eq!(document.syslog, Syslog::On);
    assert_eq!(document.pidfile.as_deref(), Some(Path::new("run/pid")));
    let addresses = document.addresses().unwrap();
    let addresses: Vec<_> = addresses.iter().map(ToString::to_string).collect();
    assert_eq!(addresses, ["unix:tmpdir=/tmp", "tcp:host=localhost;unix:path=/b"]);
    let mechanisms = [Mechanism::External, Mechanism::Anonymous];
    assert_eq!(document.mechanisms(), mechanisms.into_iter().collect());
    assert_eq!(document.anonymous, PolicyVerdict::Allow);
    assert_eq!(document.service_helper.as_deref(), Some(Path::new("/lib/helper")));
    let service_dirs = [
        ServiceDir::Path(files.path("services")),
        ServiceDir::StandardSession,
        ServiceDir::Path("/srv".into()),
        ServiceDir::StandardSystem,
    ];
    assert_eq!(document.service_dirs, service_dirs);
    let limits =
        BusLimits { max_names_per_connection: 7, max_containers: 1, ..BusLimits::default() };
    assert_eq!(document.limits, limits);
    let association = &document.associations[0];
    assert_eq!((&*association.name, &*association.context), ("a.b", "c_t"));
    assert_eq!(files.shorten(&association.origin), "main.conf:10:21");
    assert_eq!(document.app_armor.unwrap().mode, AppArmorMode::Disabled);
    assert_eq!(document.sources.into_iter().collect::<Vec<_>>(), [files.path("main.conf")]);
}

/// Elements, and the resulting value of `<type>`.
#[test]
fn text_is_unescaped_as_in_xml() {
    let cases = [
        ("<type>session</type>", BusType::Session),
        ("<type>system</type>", BusType::System),
        ("<type>Session</type>", BusType::Other("Session".into())),
        ("<type>\n  session\t</type>", BusType::Session),
        ("<type>ses<!-- not yet -->sion</type>", BusType::Session),
        ("<type><![CDATA[a < b]]></type>", BusType::Other("a < b".into())),
        ("<type>&lt;&#98;&gt;</type>", BusType::Other("<b>".into())),
        ("<type>session</type><type>system</type>", BusType::System),
        ("<?note?><type>\u{a0}</type>", BusType::Other("\u{a0}".into())),
    ];
    for (elements, expected) in cases {
        assert_eq!(read(elements).1.bus_type, Some(expected), "{elements}");
    }
}

#[test]
fn entities_of_the_document_are_known() {
    let text = "\u{feff}<?xml version=\"1.0\"?><!DOCTYPE busconfig PUBLIC \"-//x\" \"http://x\" \
                [<!ENTITY where \"tmpdir=/tmp\"><!ENTITY all \"<fork/><syslog/>\">]>\n\
                <busconfig>&all;<listen>unix:&where;</listen></busconfig>";
    let files = ConfigFiles::new().add("main.conf", text);
    let document = files.read(&environment()).unwrap();
    assert_eq!((document.fork, document.syslog), (ForkMode::Background, Syslog::On));
    assert_eq!(document.listen[0].text, "unix:tmpdir=/tmp");
}

#[test]
fn mistakes_are_shown_where_they_are() {
    let cases = [
        ("<bees/>", "2:1: Element <bees> not allowed inside <busconfig> in configuration file"),
        ("<allow/>", "2:1: Element <allow> not allowed inside <busconfig> in configuration file"),
        (
            "  <x:fork xmlns:x='y'/>",
            "2:3: Element <fork> not allowed inside <busconfig> in configuration file",
        ),
        ("<fork>\n<fork/></fork>", "3:1: Element <fork> is not allowed in this context"),
        ("<user>a<fork/></user>", "2:8: Element <fork> is not allowed in this context"),
        ("<é/>", "2:1: Element <é> not allowed inside <busconfig> in configuration file"),
        (
            "<!--é--><bees/>",
            "2:9: Element <bees> not allowed inside <busconfig> in configuration file",
        ),
        ("<fork x='1'/>", "2:7: Attribute \"x\" is invalid on <fork> element in this context"),
        (
            "<fork xml:lang='en'/>",
            "2:7: Attribute \"lang\" is invalid on <fork> element in this context",
        ),
        (
            "<include name='a'>b</include>",
            "2:10: Attribute \"name\" is invalid on <include> element in this context",
        ),
        (
            "<includedir ignore_missing='yes'>b</includedir>",
            "2:13: Attribute \"ignore_missing\" is invalid on <includedir> element in this context",
        ),
        (
            "<selinux x='y'/>",
            "2:10: Attribute \"x\" is invalid on <selinux> element in this context",
        ),
        (
            "<fork>now</fork>",
            "2:7: No text content expected inside XML element fork in configuration file",
        ),
        (
            "<fork/>\n\nnow",
            "2:8: No text content expected inside XML element busconfig in configuration file",
        ),
        (
            "<policy user='root'>x</policy>",
            "2:21: No text content expected inside XML element policy in configuration file",
        ),
        ("<type/>", "2:1: XML element <type> was expected to have content inside it"),
        (
            "<pidfile> </pidfile>",
            "2:1: XML element <pidfile> was expected to have content inside it",
        ),
        (
            "<limit name='max_bees'/>",
            "2:1: XML element <limit> was expected to have content inside it",
        ),
        (
            "<include if_selinux_enabled='maybe'>x</include>",
            "2:10: if_selinux_enabled attribute must have value \"yes\" or \"no\"",
        ),
        (
            "<include ignore_missing='Yes'>x</include>",
            "2:10: ignore_missing attribute must have value \"yes\" or \"no\"",
        ),
        (
            "<auth>KERBEROS_V4</auth>",
            "2:1: Unsupported auth mechanism \"KERBEROS_V4\" in bus config file detected. Supported mechanisms are \"EXTERNAL, DBUS_COOKIE_SHA1, ANONYMOUS\".",
        ),
        ("<limit>5</limit>", "2:1: <limit> element must have a \"name\" attribute"),
        ("<limit name='max_bees'>5</limit>", "2:1: There is no limit called \"max_bees\""),
        (
            "<limit name='auth_timeout'>-1</limit>",
            "2:1: <limit name=\"auth_timeout\"> must be a positive number",
        ),
        (
            "<selinux><fork/></selinux>",
            "2:10: Element <fork> not allowed inside <selinux> in configuration file",
        ),
        (
            "<selinux><associate own='a'/></selinux>",
            "2:10: Element <associate> must have attributes own=\"<servicename>\" and context=\"<selinux context>\"",
        ),
        (
            "<apparmor mode=''/>",
            "2:11: Mode attribute on <apparmor> must have value \"required\", \"enabled\" or \"disabled\", not \"\"",
        ),
        ("<user>&nosuch;</user>", "2:7: not well-formed XML: unknown entity reference 'nosuch'"),
        ("<user>a</usr>", "2:8: not well-formed XML: expected 'user' tag, not 'usr'"),
    ];
    for (elements, expected) in cases {
        check_refusal(elements, Some(expected));
    }
}

#[test]
fn files_that_are_not_xml_are_rejected() {
    let deep = format!("<busconfig>{}", "<a>".repeat(100_000));
    let cases = [
        ("", "1:1: not well-formed XML: the document does not have a root node"),
        ("\n\n ", "3:2: not well-formed XML: the document does not have a root node"),
        ("<busconfig>\n", "2:1: not well-formed XML: the root node was opened but never closed"),
        (&deep, "1:300012: not well-formed XML: the root node was opened but never closed"),
        (
            "<policy/>",
            "1:1: Unknown element <policy> at root of configuration file, expected <busconfig>",
        ),
        (
            "<busconfig xmlns='x'/>",
            "1:1: Unknown element <busconfig> at root of configuration file, expected <busconfig>",
        ),
        (
            "<busconfig a='b'/>",
            "1:12: Attribute \"a\" is invalid on <busconfig> element in this context",
        ),
    ];
    for (text, expected) in cases {
        let files = ConfigFiles::new().add("main.conf", text);
        let error = files.shorten(files.read(&environment()).unwrap_err());
        assert_eq!(error, format!("main.conf:{expected}"));
    }
}

#[test]
fn a_byte_that_is_not_utf8_is_shown() {
    let files =
        ConfigFiles::new().add("main.conf", b"<busconfig>\n<!-- \xc3\xa9 \xe9 -->\n</busconfig>");
    let error = files.shorten(files.read(&environment()).unwrap_err());
    assert_eq!(error, "main.conf:2:8: this byte is not UTF-8, which the file must be");
}

#[test]
fn a_wrong_address_is_shown_when_it_is_used() {
    let (files, document) = read("<listen>unix:path=/a</listen>\n<listen>garbage</listen>");
    assert_eq!(
        files.shorten(document.addresses().unwrap_err()),
        "main.conf:3:1: <listen> must have an address: the transport's name must be followed by \
         ':' (at byte 7)"
    );
}

#[test]
fn limits_start_from_the_built_in_ones_whatever_the_type() {
    let text = "<type>session</type><limit name='reply_timeout'>100</limit>";
    let reply_timeout = Some(Duration::from_millis(100));
    let expected = BusLimits { reply_timeout, ..BusLimits::default() };
    assert_eq!(read(text).1.limits, expected);
}

#[test]
fn the_built_in_session_is_that_of_the_usual_files() {
    let config = busconfig::built_in_session();
    assert_eq!(config.configuration.limits, BusLimits::session());
    assert!(!config.configuration.policy.restricts());
    assert_eq!(config.mechanisms(), Mechanisms::NONE.with(Mechanism::External));
    assert!(!config.admits_anonymous());
    assert_eq!(config.document.umask, Umask::Keep);
    assert_eq!(config.document.service_dirs, [ServiceDir::StandardSession]);
    assert!(config.document.sources.is_empty());
}

#[test]
fn long_files_are_parsed_quickly() {
    let files = ConfigFiles::new().add("main.conf", wrap(&"<fork/>".repeat(100_000)));
    assert_eq!(files.read(&environment()).unwrap().fork, ForkMode::Background);
}
