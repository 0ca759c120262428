//! Introspection: what an object can do, as XML ("Introspection Data Format").

use std::fmt::{self, Write};

use super::interface::Definition;
use super::members::{Annotation, Arg, EmitsChange};

/// A document that grows element by element.
///
/// The names of interfaces and members, types and path elements are of characters that XML has no
/// use for; everything else is escaped.
pub(super) struct Xml {
    text: String,
}

impl Xml {
    /// A document for one object, to be ended by [`finish`](Self::finish).
    pub(super) fn node() -> Self {
        Self { text: [DOCTYPE, "<node>\n"].concat() }
    }

    /// Text that is XML already.
    pub(super) fn raw(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// An object below this one.
    pub(super) fn child(&mut self, name: &str) {
        self.line(format_args!("  <node name=\"{name}\"/>"));
    }

    pub(super) fn finish(mut self) -> String {
        self.text.push_str("</node>\n");
        self.text
    }

    pub(super) fn interface<S>(&mut self, definition: &Definition<S>) {
        self.line(format_args!("  <interface name=\"{}\">", definition.name));
        for (name, method) in &definition.methods {
            self.element("method", name, |xml| {
                xml.arguments(&method.arguments, " direction=\"in\"");
                xml.arguments(&method.results, " direction=\"out\"");
                xml.annotations("      ", &method.annotations);
            });
        }
        for (name, signal) in &definition.signals {
            self.element("signal", name, |xml| {
                xml.arguments(&signal.arguments, "");
                xml.annotations("      ", &signal.annotations);
            });
        }
        for (name, property) in &definition.properties {
            let (kind, access) = (&property.kind, property.access().as_str());
            let name = format!("{name}\" type=\"{kind}\" access=\"{access}");
            self.element("property", &name, |xml| {
                xml.emits_change(property.emits);
                xml.annotations("      ", &property.annotations);
            });
        }
        self.annotations("    ", &definition.annotations);
        self.raw("  </interface>\n");
    }

    /// An element with its attributes, empty where `content` writes nothing.
    fn element(&mut self, tag: &str, attributes: &str, content: impl FnOnce(&mut Self)) {
        self.line(format_args!("    <{tag} name=\"{attributes}\">"));
        let before = self.text.len();
        content(self);
        if self.text.len() == before {
            self.text.truncate(before - ">\n".len());
            self.raw("/>\n");
        } else {
            self.line(format_args!("    </{tag}>"));
        }
    }

    fn arguments(&mut self, arguments: &[Arg], direction: &str) {
        for Arg { name, kind } in arguments {
            let name = Escaped(name);
            match name.0 {
                "" => self.line(format_args!("      <arg type=\"{kind}\"{direction}/>")),
                _ => {
                    self.line(format_args!(
                        "      <arg name=\"{name}\" type=\"{kind}\"{direction}/>"
                    ));
                }
            }
        }
    }

    fn emits_change(&mut self, emits: EmitsChange) {
        if emits != EmitsChange::WithValue {
            let value = emits.as_str().into();
            self.annotations("      ", &[Annotation { name: EMITS_CHANGE.into(), value }]);
        }
    }

    fn annotations(&mut self, indent: &str, annotations: &[Annotation]) {
        for Annotation { name, value } in annotations {
            let (name, value) = (Escaped(name), Escaped(value));
            self.line(format_args!("{indent}<annotation name=\"{name}\" value=\"{value}\"/>"));
        }
    }

    fn line(&mut self, text: fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{text}");
    }
}

/// Text inside an attribute.
struct Escaped<'t>(&'t str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|character| match character {
            '&' => f.write_str("&amp;"),
            '<' => f.write_str("&lt;"),
            '>' => f.write_str("&gt;"),
            '"' => f.write_str("&quot;"),
            other => f.write_char(other),
        })
    }
}

/// Tells readers which format this is.
const DOCTYPE: &str = "<!DOCTYPE node PUBLIC \
    \"-//freedesktop//DTD D-BUS Object Introspection 1.0//EN\"\n \
    \"http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd\">\n";

const EMITS_CHANGE: &str = "org.freedesktop.DBus.Property.EmitsChangedSignal";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocking::{Interface, MethodError};

    #[test]
    fn a_whole_interface() {
        let interface = Interface::<()>::builder("org.example.A")
            .annotate("org.example.Note", "a < \"b\" & c")
            .method("Run", &["x", ""], &["y"], |(), _, (x, _): (u8, i64)| Ok((vec![x],)))
            .annotate("org.freedesktop.DBus.Deprecated", "true")
            .method("Nothing", &[], &[], |(), _, ()| Ok(()))
            .signal::<(String,)>("Said", &["what"])
            .property("Size", |()| 7_u64)
            .emits_change(EmitsChange::Const)
            .write_only_property("Word", |(), _: String| Err(MethodError::failed("never")))
            .build()
            .expect("a valid interface");
        let mut xml = Xml { text: String::new() };
        xml.interface(&interface.definition);
        let expected = r#"  <interface name="org.example.A">
    <method name="Nothing"/>
    <method name="Run">
      <arg name="x" type="y" direction="in"/>
      <arg type="x" direction="in"/>
      <arg name="y" type="ay" direction="out"/>
      <annotation name="org.freedesktop.DBus.Deprecated" value="true"/>
    </method>
    <signal name="Said">
      <arg name="what" type="s"/>
    </signal>
    <property name="Size" type="t" access="read">
      <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="const"/>
    </property>
    <property name="Word" type="s" access="write">
      <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="false"/>
    </property>
    <annotation name="org.example.Note" value="a &lt; &quot;b&quot; &amp; c"/>
  </interface>
"#;
        assert_eq!(xml.text, expected);
    }
}
