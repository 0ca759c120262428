//! Tests of `diligence top`, on a terminal and in a pipe.

use std::process::Command;

use crate::recorder::{OurBus, demo};
use crate::support::{ProgramFolder, SpawnedProgram, eventually, text};

/// A terminal of a given size that tmux(1) provides, and in which a program runs.
struct TopTerminal {
    name: String,
}

impl TopTerminal {
    fn start(folder: &ProgramFolder, (columns, lines): (u16, u16), program: &Command) -> Self {
        let terminal = Self { name: folder.join("tmux").display().to_string() };
        let (columns, lines) = (columns.to_string(), lines.to_string());
        let words = ["new-session", "-d", "-x", &columns, "-y", &lines, "--"];
        let program = [program.get_program()].into_iter().chain(program.get_args());
        let mut command = terminal.tmux(&words);
        let output = SpawnedProgram::start(command.args(program)).ended();
        assert!(output.status.success(), "{output:?}");
        terminal
    }

    fn tmux(&self, words: &[&str]) -> Command {
        let mut command = Command::new("tmux");
        command.args(["-S", &self.name, "-f", "/dev/null"]).args(words).env("LC_ALL", "C.UTF-8");
        command
    }

    /// Returns the text on the screen, or `None` if the program has exited.
    fn screen(&self) -> Option<String> {
        let output = SpawnedProgram::start(&mut self.tmux(&["capture-pane", "-p"])).ended();
        output.status.success().then(|| text(&output.stdout))
    }

    fn press(&self, key: &str) {
        let output = SpawnedProgram::start(&mut self.tmux(&["send-keys", key])).ended();
        assert!(output.status.success(), "{output:?}");
    }
}

impl Drop for TopTerminal {
    fn drop(&mut self) {
        let _ = self.tmux(&["kill-server"]).output();
    }
}

#[test]
fn top_shows_its_page_on_terminals_of_any_width() {
    let folder = ProgramFolder::new();
    let bus = OurBus::start(&folder);
    let _battery = demo(&folder, &bus.address, &["battery"]);
    let mut top = folder.diligence();
    top.args(["top", "--interval", "200ms", "--address", &bus.address]);
    for columns in [80, 100, 160, 200] {
        let terminal = TopTerminal::start(&folder, (columns, 30), &top);
        let screen = eventually("the battery", || {
            terminal.screen().filter(|screen| screen.contains("com.example.Battery"))
        });
        for expected in ["written by the bus", "by service, sorted by messages", " q  quit"] {
            assert!(screen.contains(expected), "{columns}: {screen}");
        }
        terminal.press("?");
        eventually("the help", || terminal.screen().filter(|screen| screen.contains(" Help: ")));
        terminal.press("x");
        terminal.press("q");
        eventually("its end", || terminal.screen().is_none().then_some(()));
    }
}

#[test]
fn top_prints_tables_in_a_pipe() {
    let folder = ProgramFolder::new();
    let bus = OurBus::start(&folder);
    let _battery = demo(&folder, &bus.address, &["battery"]);
    let mut top = folder.diligence();
    top.args(["top", "--once", "--interval", "3s", "--by", "member", "--address", &bus.address]);
    let output = SpawnedProgram::start(&mut top).ended();
    let lines = text(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    assert!(lines.contains("PropertiesChanged") && !lines.contains('\u{1b}'), "{lines}");
    assert!(lines.lines().all(|line| line.chars().count() <= 120), "{lines}");
}
