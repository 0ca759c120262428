//! Which files are service files. Each row was tested with the reference implementation: `Yes`
//! means that ListActivatableNames returned the name.

use services::{ServiceFile, ServiceFileError, SyntaxErrorKind};

/// How the reference implementation treats a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ServiceFileVerdict {
    Yes,
    /// The first error is of this kind.
    Syntax(SyntaxErrorKind),
    Without(&'static str),
    /// The reference implementation lists a name that no peer can own; here the file is rejected.
    OddName,
}

use ServiceFileVerdict::{OddName, Syntax, Without, Yes};
use SyntaxErrorKind as Kind;

/// `@` stands for `[D-BUS Service]\nName=a.b\nExec=/bin/true\n`.
#[rustfmt::skip]
const ROWS: &[(&[u8], ServiceFileVerdict)] = &[
    (b"@", Yes),
    (b"", Without("Name")),
    (b"[D-BUS Service]", Without("Name")),
    (b"[D-BUS Service]\nName=a.b\nExec=/bin/true", Yes),
    (b"[D-BUS Service]\r\nName=a.b\r\nExec=/bin/true\r\n", Yes),
    (b"[D-BUS Service]\rName=a.b\rExec=/bin/true", Yes),
    (b"[D-BUS Service]\nName=a.b\n", Without("Exec")),
    (b"[D-BUS Service]\nName=a.b\nSystemdService=a.service\n", Without("Exec")),
    (b"[D-BUS Service]\nName=a.b\nExec=\n", Yes),
    (b"# c\n\n  \t\n@#x\n", Yes),
    (b"@  # c\n", Syntax(Kind::NoEqualsSign)),
    (b"@ A=b\n", Syntax(Kind::Key)),
    (b"[D-BUS Service]\nName = a.b\nExec =  /bin/true \n", Yes),
    (b"[D-BUS Service]\nName\t=a.b\nExec=/bin/true\n", Syntax(Kind::Key)),
    (b"[D-BUS Service]\nName=a.b \nExec=/bin/true\n", OddName),
    (b"[D-BUS Service]\nName=\\sa.b\nExec=/bin/true\n", OddName),
    (b"[D-BUS Service]\nName=\nExec=/bin/true\n", OddName),
    (b"[D-BUS Service]\nName=:1.5\nExec=/bin/true\n", OddName),
    (b"[D-BUS Service]\nName=example\nExec=/bin/true\n", OddName),
    (b"@Foo=bar\n", Yes),
    (b"@Name=c.d\nExec=/bin/false\n", Yes),
    (b"@Name[de]=x\n", Yes),
    (b"[D-BUS Service]\nName[de]=a.b\nExec=/bin/true\n", Without("Name")),
    (b"@A[de=x\n", Yes),
    (b"@A[d e]=x\n", Yes),
    (b"@A[sr_YU.UTF-8@Latn]=x\n", Yes),
    (b"@A[de]b=x\n", Yes),
    (b"[Other]\nA=b\n@[Other]\nName=x\n", Yes),
    (b"@[D-BUS Service]\nName=c.d\nExec=/bin/false\n", Yes),
    (b"[D-BUS Service]\nName=a.b\n[D-BUS Service]\nExec=/bin/true\n", Without("Exec")),
    (b"A=b\n@", Syntax(Kind::BeforeGroup)),
    (b"[D-Bus Service]\nName=a.b\nExec=/bin/true\n", Without("Name")),
    (b"[D-BUS Service] \nName=a.b\nExec=/bin/true\n", Syntax(Kind::GroupEnd)),
    (b" [D-BUS Service]\nName=a.b\nExec=/bin/true\n", Syntax(Kind::BeforeGroup)),
    (b"@[Other\n", Syntax(Kind::GroupEnd)),
    (b"@[a[b]\n", Syntax(Kind::GroupName)),
    (b"@[]\n", Syntax(Kind::GroupName)),
    (b"@nonsense\n", Syntax(Kind::NoEqualsSign)),
    (b"@=x\n", Syntax(Kind::Key)),
    (b"@A_b=x\n", Syntax(Kind::Key)),
    (b"@A.b=x\n", Syntax(Kind::Key)),
    (b"@A b=x\n", Syntax(Kind::Key)),
    (b"@A-b=x\n", Yes),
    (b"@1b=x\n", Yes),
    (b"@X-Foo=x\n", Yes),
    (b"[D-BUS Service]\nname=a.b\nExec=/bin/true\n", Without("Name")),
    (b"@A=\\s\\t\\n\\r\\\\\n", Yes),
    (b"@A=\\\"\n", Syntax(Kind::Escape)),
    (b"@A=\\;\n", Syntax(Kind::Escape)),
    (b"@A=\\\n", Syntax(Kind::Escape)),
    (b"@[Other]\nA=\\q\n", Syntax(Kind::Escape)),
    ("@A=ä\n".as_bytes(), Yes),
    (b"@A=\xff\n", Syntax(Kind::NotUtf8)),
    (b"# \xff\n@", Syntax(Kind::NotUtf8)),
    (b"@A=\0\n", Syntax(Kind::Nul)),
    (b"@A=\x01\n", Yes),
    ("\u{feff}@".as_bytes(), Syntax(Kind::BeforeGroup)),
    (b"[D-BUS Service]\nName=a.b\nExec=/bin/true 'a\n", Yes),
    (b"@User=\nSystemdService=\nAssumedAppArmorLabel=\n", Yes),
];

#[test]
fn the_reference_takes_the_same_files() {
    for (text, taken) in ROWS {
        let shown = String::from_utf8_lossy(text);
        let found = match ServiceFile::parse(&with_service(text)) {
            Ok(service) => {
                assert_eq!(service.name, "a.b", "{shown:?}");
                Yes
            }
            Err(ServiceFileError::Syntax(error)) => Syntax(error.kind),
            Err(ServiceFileError::Missing(key)) => Without(key),
            Err(ServiceFileError::Name(_)) => OddName,
        };
        assert_eq!(found, *taken, "{shown:?}");
    }
}

/// Puts the usual lines where a row has `@` alone before a line.
fn with_service(text: &[u8]) -> Vec<u8> {
    let usual = b"[D-BUS Service]\nName=a.b\nExec=/bin/true\n".as_slice();
    let mut whole = Vec::new();
    for (index, byte) in text.iter().enumerate() {
        let is_first =
            index == 0 || text[index - 1] == b'\n' || text[..index] == *"\u{feff}".as_bytes();
        match byte {
            b'@' if is_first => whole.extend_from_slice(usual),
            other => whole.push(*other),
        }
    }
    whole
}

#[test]
fn mistakes_are_found_by_line() {
    let line = |text: &[u8]| match ServiceFile::parse(text) {
        Err(ServiceFileError::Syntax(error)) => error.line,
        other => panic!("{other:?}"),
    };
    assert_eq!(line(b"x"), 1);
    assert_eq!(line(b"[A]\n\n#\nx\n"), 4);
    assert_eq!(line(b"[A]\r\nx\r\n"), 2);
    assert_eq!(line(b"[A]\nB=c\nD=\xff"), 3);
    assert_eq!(line(b"\xff"), 1);
}

#[test]
fn service_files_have_all_settings() {
    let text = "[D-BUS Service]\nName=a.b\nExec=/bin/x  'y z' \nUser=me\nSystemdService=a.service\n\
                AssumedAppArmorLabel=/usr/bin/x\n";
    let service = ServiceFile::parse(text.as_bytes()).unwrap();
    assert_eq!(service.command.unwrap().words(), ["/bin/x", "y z"]);
    assert_eq!(service.user.as_deref(), Some("me"));
    assert_eq!(service.unit.as_deref(), Some("a.service"));
    assert_eq!(service.label.as_deref(), Some("/usr/bin/x"));
    let text = "[D-BUS Service]\nName=a.b\nExec=\nUser=\nSystemdService=\nAssumedAppArmorLabel=\n";
    let service = ServiceFile::parse(text.as_bytes()).unwrap();
    assert_eq!(service.command.unwrap().program(), "");
    assert_eq!((service.user, service.unit, service.label), (None, None, None));
}
