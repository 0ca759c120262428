//! Included files and directories.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use broker::busconfig::{
    BusType, ConfigErrorKind, ConfigReadError, Document, Environment, ForkMode, SecurityModule,
    Umask,
};

use crate::{ConfigFiles, environment, wrap};

/// The texts of all `<listen>` elements, which show the order of reading.
fn listened(document: &Document) -> String {
    let texts: Vec<_> = document.listen.iter().map(|listen| listen.text.as_str()).collect();
    texts.join(" ")
}

fn listen(text: &str) -> String {
    wrap(&format!("<listen>{text}</listen>"))
}

#[test]
fn included_files_count_at_the_place_of_the_include() {
    let files = ConfigFiles::with_main(
        "<type>system</type><user>a</user><limit name='max_message_size'>1</limit>
         <limit name='max_incoming_bytes'>2</limit>
         <listen>1</listen><include>sub/inner.conf</include><listen>4</listen>
         <user>c</user>",
    )
    .add(
        "sub/inner.conf",
        wrap(
            "<type>session</type><user>b</user><limit name='max_message_size'>3</limit>
             <listen>2</listen><include>../other.conf</include><servicedir>services</servicedir>",
        ),
    )
    .add("other.conf", wrap("<listen>3</listen><fork/>"));
    let document = files.read(&environment()).unwrap();
    assert_eq!(listened(&document), "1 2 3 4");
    assert_eq!(document.bus_type, Some(BusType::Session));
    assert_eq!(document.user.as_deref(), Some("c"));
    assert_eq!(document.fork, ForkMode::Background);
    assert_eq!((document.limits.max_message_size, document.limits.max_incoming_bytes), (3, 2));
    let dirs = format!("{:?}", document.service_dirs);
    assert!(dirs.contains("/sub/services"), "{dirs}");
    let sources: Vec<_> =
        document.sources.iter().map(|path| files.shorten(path.display())).collect();
    assert_eq!(sources, ["main.conf", "sub/../other.conf", "sub/inner.conf"]);
    assert_eq!(files.shorten(&document.listen[1].origin), "sub/inner.conf:3:14");
}

#[test]
fn a_missing_file_is_refused_or_ignored() {
    let cases = [
        ("<include>no</include>", Some("2:1: Failed to open \"no\": No such file or directory")),
        (
            "<include ignore_missing='no'>no</include>",
            Some("2:1: Failed to open \"no\": No such file or directory"),
        ),
        ("<include ignore_missing='yes'>no</include>", None),
        ("<include ignore_missing='yes'>dir</include>", Some("2:1: \"dir\" is not a regular file")),
        ("<include>dir</include>", Some("2:1: \"dir\" is not a regular file")),
        ("<include if_selinux_enabled='yes'>no</include>", None),
        (
            "<include selinux_root_relative='yes'>no</include>",
            Some("2:1: Failed to open \"/no/selinux/no\": No such file or directory"),
        ),
        ("<include selinux_root_relative='yes' ignore_missing='yes'>no</include>", None),
        ("<includedir>no</includedir>", None),
        (
            "<includedir>main.conf</includedir>",
            Some("2:1: Failed to read directory \"main.conf\": Not a directory"),
        ),
    ];
    for (elements, expected) in cases {
        let files = ConfigFiles::with_main(elements);
        fs::create_dir(files.path("dir")).unwrap();
        let refusal = files.read(&environment()).err().map(|error| files.shorten(error));
        assert_eq!(refusal, expected.map(|line| format!("main.conf:{line}")), "{elements}");
    }
}

#[test]
fn the_main_file_must_be_there() {
    let files = ConfigFiles::new();
    let path = files.path("main.conf");
    let check = |expected: ConfigReadError, line: &str| {
        let error = files.read(&environment()).unwrap_err();
        assert_eq!((&error.file, error.position), (&path, None));
        assert_eq!(files.shorten(&error), line);
        assert_eq!(error.kind, ConfigErrorKind::Read(expected));
    };
    let error = std::io::Error::from_raw_os_error(2).into();
    check(
        ConfigReadError::Open { path: path.clone(), error },
        "main.conf: Failed to open \"main.conf\": No such file or directory",
    );
    fs::create_dir(&path).unwrap();
    check(
        ConfigReadError::NotAFile(path.clone()),
        "main.conf: \"main.conf\" is not a regular file",
    );
    fs::remove_dir(&path).unwrap();
    fs::write(&path, wrap(&" ".repeat(1 << 20))).unwrap();
    check(
        ConfigReadError::TooLarge(path.clone()),
        "main.conf: \"main.conf\" is too large: more than 1048576 bytes",
    );
}

#[test]
fn a_file_cannot_include_itself() {
    let include = |file: &str| wrap(&format!("<include>{file}</include>"));
    let cases = [
        (include("main.conf"), "main.conf:2:1: Circular inclusion of file 'main.conf'"),
        (include("a/../main.conf"), "main.conf:2:1: Circular inclusion of file 'a/../main.conf'"),
        (include("link.conf"), "main.conf:2:1: Circular inclusion of file 'link.conf'"),
        (include("a/a.conf"), "a/../b.conf:2:1: Circular inclusion of file 'a/../main.conf'"),
    ];
    for (text, expected) in cases {
        let files = ConfigFiles::new()
            .add("main.conf", text)
            .add("a/a.conf", include("../b.conf"))
            .add("b.conf", include("main.conf"));
        symlink("main.conf", files.path("link.conf")).unwrap();
        let error = files.shorten(files.read(&environment()).unwrap_err());
        assert_eq!(error, expected);
    }
}

#[test]
fn a_file_can_be_included_twice() {
    let files =
        ConfigFiles::with_main("<include>a</include><include>a</include>").add("a", listen("1"));
    assert_eq!(listened(&files.read(&environment()).unwrap()), "1 1");
}

#[test]
fn a_directory_is_included_by_name() {
    let files = ConfigFiles::with_main("<includedir>d</includedir><listen>end</listen>")
        .add("d/b.conf", listen("b"))
        .add("d/a.conf", listen("a"))
        .add("d/.conf", listen("hidden"))
        .add("d/10.conf", listen("10"))
        .add("d/9.conf", listen("9"))
        .add("d/README", "not XML")
        .add("d/a.conf.dpkg-old", "not XML")
        .add("d/sub.conf.d/x.conf", "not XML");
    symlink("nowhere", files.path("d/dangling.conf")).unwrap();
    let document = files.read(&environment()).unwrap();
    assert_eq!(listened(&document), "hidden 10 9 a b end");
    assert_eq!(document.warnings, []);
    assert!(document.sources.contains(&files.path("d")));
    assert!(!document.sources.contains(&files.path("d/README")));
}

#[test]
fn an_invalid_file_of_a_directory_is_ignored_as_a_whole() {
    let files = ConfigFiles::with_main("<includedir>d</includedir><keep_umask/>")
        .add("d/1.conf", listen("1"))
        .add("d/2.conf", wrap("<listen>2</listen><fork/><include>../deep</include>\n<bees/>"))
        .add("d/3.conf", wrap("<fork/><include>../deep</include>"))
        .add("d/4.conf", wrap("<fork/><include>../main.conf</include>"))
        .add("d/5.conf/file", "")
        .add("d/6.conf", listen("6"))
        .add("deep", wrap("<user>x</user><policy/>"));
    let document = files.read(&environment()).unwrap();
    assert_eq!(listened(&document), "1 6");
    assert_eq!((document.fork, document.umask), (ForkMode::Foreground, Umask::Keep));
    assert_eq!(document.user, None);
    let warnings: Vec<_> = document.warnings.iter().map(|warning| files.shorten(warning)).collect();
    let expected = [
        "d/2.conf:3:1: Element <bees> not allowed inside <busconfig> in configuration file",
        "d/../deep:2:15: <policy> element must have exactly one of (context|user|group|at_console) attributes",
        "d/4.conf:2:8: Circular inclusion of file 'd/../main.conf'",
        "main.conf:2:1: \"d/5.conf\" is not a regular file",
    ];
    assert_eq!(
        warnings,
        expected.map(|error| {
            format!(
                "main.conf:2:1: Encountered error '{error}' while parsing, so the file is ignored"
            )
        })
    );
    // A fix of these files must be noticed, so they count as sources.
    for file in ["d/2.conf", "d/3.conf", "d/../deep"] {
        assert!(document.sources.contains(&files.path(file)), "{file}");
    }
}

#[test]
fn selinux_files_are_included_where_selinux_is() {
    let files = ConfigFiles::with_main(
        "<include if_selinux_enabled='yes' selinux_root_relative='yes'>contexts/x</include>",
    )
    .add("policy/contexts/x", listen("contexts"));
    let selinux_root: PathBuf = files.path("policy");
    for (selinux, expected) in
        [(SecurityModule::Active, "contexts"), (SecurityModule::Inactive, "")]
    {
        let selinux_root = selinux_root.clone();
        let document = files.read(&Environment { selinux, selinux_root, ..environment() }).unwrap();
        assert_eq!(listened(&document), expected);
    }
}

#[test]
fn unknown_accounts_leave_a_warning() {
    let files = ConfigFiles::with_main(
        "<policy user='nosuch'><allow own='*'/></policy>
         <policy group='nosuch'/>
         <policy context='default'><allow user='nosuch'/><deny group=''/><allow own='*'/></policy>",
    );
    let document = files.read(&environment()).unwrap();
    let warnings: Vec<_> = document.warnings.iter().map(|warning| files.shorten(warning)).collect();
    let expected = [
        "main.conf:2:9: Unknown username \"nosuch\" in message bus configuration file",
        "main.conf:3:18: Unknown group \"nosuch\" in message bus configuration file",
        "main.conf:4:36: Unknown username \"nosuch\" on element <allow>",
        "main.conf:4:58: Unknown group \"\" on element <deny>",
    ];
    assert_eq!(warnings, expected);
    assert_eq!(document.policy.rules.len(), 1);
}
