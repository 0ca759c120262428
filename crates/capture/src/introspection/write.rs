//! Writing documents.

use std::fmt::{self, Write as _};

use super::{Argument, Interface, Introspection};

/// As a document of interfaces, their methods and signals, and the names and types of the arguments: no
/// text that is about anything else is left.
impl fmt::Display for Introspection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<node>")?;
        self.interfaces.iter().try_for_each(|interface| interface.write(f))?;
        f.write_str("</node>")
    }
}

impl Interface {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<interface name=\"{}\">", Escaped(&self.name))?;
        for method in &self.methods {
            write!(f, "<method name=\"{}\">", Escaped(&method.name))?;
            method.arguments.iter().try_for_each(|argument| argument.write(f, "in"))?;
            method.results.iter().try_for_each(|result| result.write(f, "out"))?;
            f.write_str("</method>")?;
        }
        for signal in &self.signals {
            write!(f, "<signal name=\"{}\">", Escaped(&signal.name))?;
            signal.arguments.iter().try_for_each(|argument| argument.write(f, "out"))?;
            f.write_str("</signal>")?;
        }
        f.write_str("</interface>")
    }
}

impl Argument {
    fn write(&self, f: &mut fmt::Formatter<'_>, direction: &str) -> fmt::Result {
        f.write_str("<arg")?;
        if let Some(name) = &self.name {
            write!(f, " name=\"{}\"", Escaped(name))?;
        }
        write!(f, " type=\"{}\" direction=\"{direction}\"/>", Escaped(&self.types))
    }
}

/// A text as the value of an attribute.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|character| match character {
            '"' | '&' | '<' | '\t' | '\n' | '\r' => write!(f, "&#{};", u32::from(character)),
            _ => f.write_char(character),
        })
    }
}
