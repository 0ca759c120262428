//! Options, exit statuses and error messages, compared with the original.

use conformance::{BusUnderTest, ExternalProgram, FinishedProgram, ScratchFolder, check_all};

use crate::proxy::{ProxyProgram, link_proxy};

/// Runs a program with arguments that it must reject, or that print something.
fn run(program: ProxyProgram, words: &[&str]) -> FinishedProgram {
    program.program().args(words).run()
}

pub(crate) fn errors_are_those_of_the_original() {
    let scratch = ScratchFolder::new();
    let path = scratch.join("proxy").display().to_string();
    let proxy = ["unix:path=/nowhere", &path];
    let with = |options: &[&'static str]| -> Vec<String> {
        proxy.iter().chain(options).map(|word| (*word).to_owned()).collect()
    };
    let alone = |options: &[&'static str]| -> Vec<String> {
        options.iter().map(|word| (*word).to_owned()).collect()
    };
    let cases = [
        alone(&["--nonsense"]),
        alone(&["-x"]),
        alone(&["--filter"]),
        alone(&["--fd=x"]),
        alone(&["--fd=-1"]),
        alone(&["--fd="]),
        alone(&["--fd=3x"]),
        alone(&["--args=x"]),
        alone(&["--fd=3"]),
        alone(&["unix:"]),
        alone(&["unix:", "--filter"]),
        with(&["--nonsense"]),
        with(&["--see"]),
        with(&["--see="]),
        with(&["--see=org"]),
        with(&["--talk=org.*"]),
        with(&["--own=:1.5"]),
        with(&["--own=a b.c"]),
        with(&["--talk=a.b.*.*"]),
        with(&["--call="]),
        with(&["--call=a.b"]),
        with(&["--broadcast=a.b.*"]),
        with(&["--filter", "--log", "--sloppy-names", "unix:"]),
    ];
    check_all(
        &cases,
        |words| words.join(" "),
        |words| {
            let words: Vec<_> = words.iter().map(String::as_str).collect();
            let (ours, original) =
                (run(ProxyProgram::Ours, &words), run(ProxyProgram::Original, &words));
            assert_eq!((ours.code(), &ours.stderr), (original.code(), &original.stderr));
            assert_eq!(ours.stdout, original.stdout);
            assert_eq!(ours.code(), 1);
        },
    );
    for program in [ProxyProgram::Ours, ProxyProgram::Original] {
        let start = "Failed to start proxy for unix:path=/nowhere: ";
        let failed = run(program, &["unix:path=/nowhere", "/nowhere/socket"]);
        assert!(failed.code() == 1 && failed.stderr.starts_with(start), "{failed}");
        let help = run(program, &["unix:", &path, "--help"]).success();
        assert!(help.stdout.starts_with("usage: ") && help.stderr.is_empty(), "{help}");
        let options = "xdg-dbus-proxy [OPTIONS...] [ADDRESS PATH [OPTIONS...] ...]\n";
        assert!(help.stdout.contains(options), "{help}");
        let usage = run(program, &[]);
        // The first line has the path of the program.
        let options = |text: &str| text.split_once('\n').map(|(_, rest)| rest.to_owned());
        assert_eq!((usage.code(), options(&usage.stderr)), (1, options(&help.stdout)));
        let version = run(program, &["--version"]).success().stdout;
        assert!(version.starts_with("xdg-dbus-proxy 0.1.") && version.lines().count() == 1);
        let unread = run(program, &["--args=77"]);
        assert!(unread.code() == 1 && unread.stderr.starts_with("Failed to load --args: "));
    }
}

/// Runs a shell script with the program as `$1`, the address of a bus as `$2` and a folder as `$3`.
fn script(program: ProxyProgram, script: &str) -> FinishedProgram {
    let bus = BusUnderTest::session();
    let scratch = ScratchFolder::new();
    let path = match program {
        ProxyProgram::Ours | ProxyProgram::InBus => link_proxy(&scratch),
        ProxyProgram::Original => crate::proxy::original(),
    };
    let shell = ExternalProgram::shell(script).arg(path).arg(bus.address()).arg(scratch.path());
    shell.run().success()
}

pub(crate) fn the_byte_and_the_end_of_the_sync_descriptor() {
    // The reader ends after one byte, which ends the proxy.
    let with_fifo = "cd \"$3\"; mkfifo sync
        \"$1\" --fd=3 \"$2\" one \"$2\" two --filter 3> sync &
        exec 4< sync; head -c 1 <&4; test -S one && test -S two && echo listens
        exec 4<&-; wait $!; echo status $?; test -e one || test -e two || echo removed";
    // Standard output can be the descriptor, too.
    let with_output =
        "cd \"$3\"; \"$1\" --fd=1 \"$2\" one | head -c 1; echo; test -e one || echo removed";
    for program in [ProxyProgram::Ours, ProxyProgram::Original] {
        let found = script(program, with_fifo).stdout;
        assert_eq!(found, "xlistens\nstatus 0\nremoved\n", "{program:?}");
        assert_eq!(script(program, with_output).stdout, "x\nremoved\n", "{program:?}");
    }
}

pub(crate) fn arguments_come_from_descriptors() {
    let with_files = "cd \"$3\"; mkfifo sync
        printf '%s\\0' --filter --talk=a.b \"$2\" two > first
        printf '%s\\0%s' \"$2\" one > second
        \"$1\" --fd=9 --args=4 --args=3 9> sync 3< first 4< second &
        exec 5< sync; head -c 1 <&5
        dbus-send --bus=unix:path=one --print-reply=literal --dest=org.freedesktop.DBus / \
            org.freedesktop.DBus.ReloadConfig 2>&1 | cut -d: -f1
        dbus-send --bus=unix:path=two --print-reply=literal --dest=org.freedesktop.DBus / \
            org.freedesktop.DBus.ReloadConfig 2>&1 | cut -d: -f1
        exec 5<&-; wait $!; echo status $?";
    for program in [ProxyProgram::Ours, ProxyProgram::Original] {
        let found = script(program, with_files).stdout;
        let expected = "xError org.freedesktop.DBus.Error.AccessDenied\nstatus 0\n";
        assert_eq!(found, expected, "{program:?}");
    }
}
