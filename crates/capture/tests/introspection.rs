//! Parsing of introspection documents.

use capture::introspection::{
    Annotation, Argument, DOCUMENT_MAX, Interface, Introspection, InvalidDocument,
};
use wire::introspection::EMITS_CHANGE;

/// The data that is left after writing it as XML.
fn written(mut found: Introspection) -> Introspection {
    found.children.clear();
    for interface in &mut found.interfaces {
        interface.properties.clear();
        interface.annotations.clear();
        interface.methods.iter_mut().for_each(|method| method.annotations.clear());
        interface.signals.iter_mut().for_each(|signal| signal.annotations.clear());
    }
    found
}

/// Summarizes a document as `interface: method(in) -> out; signal!(in)`, with each argument as
/// `name:type`, properties with access and changes, annotations in brackets, and children after a
/// bar.
fn summary(document: &str) -> String {
    let Ok(found) = Introspection::parse(document) else { return "invalid".to_owned() };
    let interfaces: Vec<_> = found.interfaces.iter().map(interface_summary).collect();
    match found.children.is_empty() {
        true => interfaces.join("; "),
        false => format!("{} | {}", interfaces.join("; "), found.children.join(" ")),
    }
}

fn interface_summary(interface: &Interface) -> String {
    let methods = interface.methods.iter().map(|one| {
        let (taken, given) = (arguments(&one.arguments), arguments(&one.results));
        format!(" {}({taken})->{given}{}", one.name, said(&one.annotations))
    });
    let signals = interface.signals.iter();
    let signals = signals.map(|one| {
        format!(" {}!({}){}", one.name, arguments(&one.arguments), said(&one.annotations))
    });
    let properties = interface
        .properties
        .iter()
        .map(|one| format!(" {}:{} {:?} {:?}", one.name, one.types, one.access, one.emits_change));
    let members: String = methods.chain(signals).chain(properties).collect();
    format!("{}{}:{members}", interface.name, said(&interface.annotations))
}

fn arguments(all: &[Argument]) -> String {
    let all = all.iter().map(|one| match &one.name {
        Some(name) => format!("{name}:{}", one.types),
        None => one.types.clone(),
    });
    all.collect::<Vec<_>>().join(",")
}

fn said(annotations: &[Annotation]) -> String {
    annotations.iter().map(|one| format!("[{}={}]", one.name, one.value)).collect()
}

#[test]
fn introspection_documents_are_parsed() {
    let emits = |value| format!("<annotation name='{EMITS_CHANGE}' value='{value}'/>");
    let changes = format!(
        "<node><interface name='a.B'>{}<property name='P' type='s' access='read'/>\
             <property name='Q' type='u' access='write'>{}</property>\
             <property name='R' access='readwrite'>{}</property>\
             <property name='S' type='v' access='huh'>{}</property></interface></node>",
        emits("const"),
        emits("false"),
        emits("invalidates"),
        emits("true"),
    );
    let expected = format!(
        "a.B[{EMITS_CHANGE}=const]: P:s Read Const Q:u Write No R: ReadWrite Invalidates \
             S:v Read Value"
    );
    for (document, expected) in [
        ("", "invalid"),
        ("<node", "invalid"),
        ("<node/>", ""),
        ("<node><interface/><interface name=''/><node name='a'/></node>", " | a"),
        (
            "<node><node name='a'><node name='b/c'><interface name='x.Y'/></node></node>\
                 <node/><node name=''/><node name='/d e'/></node>",
            " | a a/b/c /d e",
        ),
        (
            "<!DOCTYPE node PUBLIC '-//freedesktop//DTD D-BUS Object Introspection 1.0//EN' \
                 'http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd'>\
                 <node><interface name='a.B'><method name='M'><arg type='s' name='x'/>\
                 <arg type='u' direction='out'/><arg type='b' name='y' direction='in'/>\
                 <annotation name='n' value='v'/></method><signal name='S'><arg name='z'/>\
                 <annotation name='e'/></signal></interface><interface name='c.D'/></node>",
            "a.B: M(x:s,y:b)->u[n=v] S!(z:)[e=]; c.D:",
        ),
        ("<node><interface name='a&amp;&quot;&lt;&#10;'/></node>", "a&\"<\n:"),
        (changes.as_str(), expected.as_str()),
        ("<!DOCTYPE n [<!ENTITY a 'aa'><!ENTITY b '&a;&b;'>]><node>&b;</node>", "invalid"),
    ] {
        assert_eq!(summary(document), expected, "{document}");
        if let Ok(found) = Introspection::parse(document) {
            assert_eq!(Introspection::parse(&found.outline()), Ok(written(found)));
        }
    }
}

#[test]
fn introspection_documents_are_limited_in_size() {
    let long = format!("<node>{}</node>", " ".repeat(DOCUMENT_MAX));
    assert_eq!(Introspection::parse(&long), Err(InvalidDocument::TooLong));
    let many = format!("<node>{}</node>", "<a/>".repeat(50_000));
    assert_eq!(Introspection::parse(&many), Err(InvalidDocument::NotXml));
    // It would expand to 16 GiB of text.
    let (text, uses) = ("a".repeat(DOCUMENT_MAX / 2), "&a;".repeat(DOCUMENT_MAX / 8));
    let bomb = format!("<!DOCTYPE n [<!ENTITY a '{text}'>]><node>{uses}</node>");
    assert_eq!(Introspection::parse(&bomb), Err(InvalidDocument::Entities));
}

#[test]
fn introspection_of_nested_objects_is_limited_in_depth() {
    let deep = |levels| format!("{}{}", "<node name='a'>".repeat(levels), "</node>".repeat(levels));
    let found = Introspection::parse(&deep(18_000)).expect("it is XML");
    assert_eq!(found.children.len(), 17);
    assert_eq!(found.children[2], "a/a/a");
    let long = "a".repeat(1024);
    let long = format!("<node><node name='{long}'><node name='b'/></node></node>");
    assert_eq!(Introspection::parse(&long).expect("it is XML").children.len(), 1);
}

#[test]
fn introspection_documentation_is_found_in_all_three_places() {
    for (inside, expected) in [
        ("<method name='M'/>", None),
        ("<!-- Plays. --><method name='M'/>", Some("Plays.")),
        (
            "<!-- One.\n       Two.\n         Three.\n  -->\n  <method name='M'/>",
            Some("One.\nTwo.\n  Three."),
        ),
        (
            "<!--\n    M:\n    @a: what\n\n    Plays.\n  -->\n<method name='M'/>",
            Some("M:\n@a: what\n\nPlays."),
        ),
        ("<!-- other --><signal name='S'/><method name='M'/>", None),
        ("<!-- --><method name='M'/>", None),
        (
            "<!-- no --><method name='M'><annotation name='org.gtk.GDBus.DocString' value='Plays.'/></method>",
            Some("Plays."),
        ),
        (
            "<method name='M'><doc xmlns='urn:x'><p>Plays <b>it</b>.</p></doc></method>",
            Some("Plays it."),
        ),
        (
            "<method name='M'><tp:docstring xmlns:tp='urn:y'>Plays.</tp:docstring></method>",
            Some("Plays."),
        ),
    ] {
        let document = format!("<node><interface name='a.B'>{inside}</interface></node>");
        let found = Introspection::parse(&document).expect("it is XML");
        let method = found.interfaces[0].method("M").expect("the method exists");
        assert_eq!(method.documentation.as_deref(), expected, "{inside}");
    }
}
