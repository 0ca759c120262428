//! Drawing object paths as a tree.

use std::env;
use std::fmt::Write as _;

use capture::text::visible::printable;

/// The characters with which the lines of a tree are drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TreeLines {
    Unicode,
    Ascii,
}

impl TreeLines {
    /// Selects the characters for the locale in LC_ALL, LC_CTYPE or LANG. Without a locale, selects
    /// Unicode.
    pub(super) fn of_locale() -> Self {
        let set = |name| env::var(name).ok().filter(|value| !value.is_empty());
        Self::of(["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set).as_deref())
    }

    fn of(locale: Option<&str>) -> Self {
        let is_utf8 = |locale: &str| {
            let locale = locale.to_ascii_lowercase();
            locale.contains("utf-8") || locale.contains("utf8")
        };
        if locale.is_none_or(is_utf8) { Self::Unicode } else { Self::Ascii }
    }

    const fn branch(self, is_last: bool) -> &'static str {
        match (self, is_last) {
            (Self::Unicode, false) => "\u{251c}\u{2500}",
            (Self::Unicode, true) => "\u{2514}\u{2500}",
            (Self::Ascii, false) => "|-",
            (Self::Ascii, true) => "`-",
        }
    }

    /// The indentation of the paths below a branch.
    const fn below(self, is_last: bool) -> &'static str {
        match (self, is_last) {
            (_, true) => "  ",
            (Self::Unicode, false) => "\u{2502} ",
            (Self::Ascii, false) => "| ",
        }
    }
}

/// Draws paths as a tree. Each path must come after its parent.
pub(super) fn draw(paths: &[&str], lines: TreeLines) -> String {
    match paths {
        [] => String::from("No objects discovered.\n"),
        ["/"] => String::from("Only root object discovered.\n"),
        paths => drawn(paths, lines),
    }
}

fn drawn(paths: &[&str], lines: TreeLines) -> String {
    let paths: Vec<&str> = paths.iter().copied().filter(|path| *path != "/").collect();
    let mut text = String::new();
    // The ancestors of the current path, each with a flag that is true if no sibling follows it.
    let mut above: Vec<(&str, bool)> = Vec::new();
    for (index, path) in paths.iter().enumerate() {
        while above.last().is_some_and(|(parent, _)| !is_below(path, parent)) {
            above.pop();
        }
        let parent = above.last().map(|(parent, _)| *parent);
        let is_last = is_last(&paths[index..], parent);
        let stem: String = above.iter().map(|(_, is_last)| lines.below(*is_last)).collect();
        let _ = writeln!(text, "{stem}{}{}", lines.branch(is_last), printable(path));
        above.push((path, is_last));
    }
    text
}

/// Returns true if no sibling follows the first path.
fn is_last(paths: &[&str], parent: Option<&str>) -> bool {
    let Some((first, others)) = paths.split_first() else { return true };
    let is_parents = |path: &&str| parent.is_none_or(|parent| is_below(path, parent));
    others.iter().find(|path| !is_below(path, first)).is_none_or(|path| !is_parents(path))
}

fn is_below(path: &str, parent: &str) -> bool {
    path.strip_prefix(parent).is_some_and(|rest| rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_trees() {
        let paths = ["/", "/a", "/a/b", "/a/b/c", "/a/d", "/ab", "/z/y"];
        let expected = "\
├─/a
│ ├─/a/b
│ │ └─/a/b/c
│ └─/a/d
├─/ab
└─/z/y
";
        assert_eq!(draw(&paths, TreeLines::Unicode), expected);
        assert_eq!(draw(&["/", "/a", "/a/b"], TreeLines::Ascii), "`-/a\n  `-/a/b\n");
        assert_eq!(draw(&["/"], TreeLines::Ascii), "Only root object discovered.\n");
        assert_eq!(draw(&[], TreeLines::Ascii), "No objects discovered.\n");
    }

    #[test]
    fn the_locale_selects_the_line_characters() {
        let check = |locale, lines| assert_eq!(TreeLines::of(locale), lines, "{locale:?}");
        check(None, TreeLines::Unicode);
        check(Some("de_DE.UTF-8"), TreeLines::Unicode);
        check(Some("en_GB.utf8"), TreeLines::Unicode);
        check(Some("C"), TreeLines::Ascii);
        check(Some("POSIX"), TreeLines::Ascii);
    }
}
