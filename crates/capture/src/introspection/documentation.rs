//! Documentation in introspection data. The specification defines no place for it; three are in
//! use.

use roxmltree::Node;

use super::Annotation;

/// The documentation of an element: from an annotation as in GLib's code generator, from a child
/// element as in Telepathy or dbus-glib, or from the comment before the element.
pub(super) fn of(node: Node<'_, '_>, annotations: &[Annotation]) -> Option<String> {
    let text = ANNOTATIONS.iter().find_map(|name| {
        let text = annotations.iter().find(|annotation| annotation.name == *name)?;
        tidy(&text.value)
    });
    text.or_else(|| element(node)).or_else(|| comment(node))
}

fn element(node: Node<'_, '_>) -> Option<String> {
    let own = node.children().find(|child| ELEMENTS.contains(&child.tag_name().name()))?;
    let texts = own.descendants().filter(Node::is_text).filter_map(|text| text.text());
    tidy(&texts.collect::<String>())
}

/// The text of the comment directly before an element.
fn comment(node: Node<'_, '_>) -> Option<String> {
    let is_space = |node: &Node<'_, '_>| {
        node.is_text() && node.text().is_some_and(|text| text.trim().is_empty())
    };
    let before = node.prev_siblings().skip(1).find(|node| !is_space(node))?;
    tidy(before.text().filter(|_| before.is_comment())?)
}

/// The text without common indentation, and without empty lines at its start and end.
fn tidy(text: &str) -> Option<String> {
    let lines: Vec<_> = text.lines().map(str::trim_end).collect();
    let first = lines.iter().position(|line| !line.is_empty())?;
    let last = lines.iter().rposition(|line| !line.is_empty())?;
    let lines = &lines[first..=last];
    // The text on the line that opens the comment is not indented like the others.
    let indent = |line: &&str| line.len() - line.trim_start().len();
    let common = lines.iter().skip(1).filter(|line| !line.is_empty()).map(indent).min();
    let common = if first == 0 { common } else { common.map(|rest| rest.min(indent(&lines[0]))) };
    let common = common.unwrap_or(usize::MAX);
    let tidy = lines.iter().enumerate().map(|(number, line)| match number {
        0 if first == 0 => line.trim_start(),
        _ => line.get(common.min(indent(line))..).unwrap_or(line),
    });
    Some(tidy.collect::<Vec<_>>().join("\n"))
}

const ANNOTATIONS: [&str; 2] = ["org.gtk.GDBus.DocString", "org.gtk.GDBus.DocString.Short"];
const ELEMENTS: [&str; 2] = ["docstring", "doc"];
