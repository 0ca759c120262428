//! Names that contain the number of a process, and therefore differ in each session.

use std::borrow::Cow;

/// Numbers with fewer digits are probably versions or instances.
const LEAST_DIGITS: usize = 3;

/// Replaces the numbers of processes in a well-known name with `*`, as in
/// `org.gtk.vfs.mountpoint_1234`, `org.kde.StatusNotifierItem-1234-1` and
/// `org.mpris.MediaPlayer2.vlc.instance1234`.
///
/// The result can be used in a query.
pub(super) fn without_numbers(name: &str) -> Cow<'_, str> {
    let mut rest = name;
    let mut found = String::new();
    while let Some((start, end)) = next_number(rest) {
        found += &rest[..start];
        found.push('*');
        rest = &rest[end..];
    }
    if found.is_empty() { Cow::Borrowed(name) } else { Cow::Owned(found + rest) }
}

/// The start and the end of the first number of a process.
fn next_number(name: &str) -> Option<(usize, usize)> {
    let is_digit = |char: char| char.is_ascii_digit();
    let mut from = 0;
    loop {
        let start = from + name[from..].find(is_digit)?;
        let end = name[start..].find(|char| !is_digit(char)).map_or(name.len(), |end| start + end);
        let before = &name[..start];
        let is_set_off = before.ends_with(['_', '-']) || before.ends_with("instance");
        let is_whole = name[end..].chars().next().is_none_or(|char| !char.is_alphanumeric());
        if is_set_off && is_whole && end - start >= LEAST_DIGITS {
            return Some((start, end));
        }
        from = end;
    }
}

#[cfg(test)]
mod tests {
    use super::without_numbers;

    #[test]
    fn process_numbers_in_names_are_replaced() {
        for (name, expected) in [
            ("org.gtk.vfs.mountpoint_1234", "org.gtk.vfs.mountpoint_*"),
            ("org.kde.StatusNotifierItem-1234-1", "org.kde.StatusNotifierItem-*-1"),
            ("org.mpris.MediaPlayer2.vlc.instance1234", "org.mpris.MediaPlayer2.vlc.instance*"),
            (
                "org.mpris.MediaPlayer2.firefox.instance_1_234",
                "org.mpris.MediaPlayer2.firefox.instance_1_*",
            ),
            ("org.freedesktop.login1", "org.freedesktop.login1"),
            ("org.example.Sensor_2", "org.example.Sensor_2"),
            ("org.example.Sha_256sum", "org.example.Sha_256sum"),
            ("org.example.X11", "org.example.X11"),
            ("", ""),
        ] {
            assert_eq!(without_numbers(name), expected);
        }
    }
}
