//! Tests of completion in real bash, zsh and fish.

use std::fs;
use std::process::Command;
use std::time::Instant;

use crate::lamp::{LAMP, LampBus, WAIT_TIMEOUT};
use crate::support::text;
use crate::terminal::{BEGIN, END, InteractiveShell, PROMPT, in_session};

/// The keys before Tab, the line after Tab, and words that the shell shows.
const LINES: &[(&str, &str, &[&str])] = &[
    ("diligence intro", "diligence introspect ", &[]),
    ("diligence call org.example.La", "diligence call LAMP ", &[]),
    ("diligence call 'org.example.La", "diligence call 'LAMP' ", &[]),
    ("diligence call :1", "diligence call :1.", &["1.0", "1.1"]),
    ("diligence call LAMP /", "diligence call LAMP OBJECT", &["OBJECT/"]),
    ("diligence call LAMP OBJECT/b", "diligence call LAMP OBJECT/bulbs/", &["a", "b"]),
    ("diligence call LAMP OBJECT/bulbs/a", "diligence call LAMP OBJECT/bulbs/a ", &[]),
    ("diligence call \"LAMP\" OBJECT Sw", "diligence call \"LAMP\" OBJECT Switch ", &[]),
    ("diligence set LAMP OBJECT org.example.Lamp1 ", "", &["On", "Secret"]),
    ("diligence set LAMP OBJECT On t", "diligence set LAMP OBJECT On true ", &[]),
    (
        "diligence get --address ADDRESS LAMP OBJECT Col",
        "diligence get --address ADDRESS LAMP OBJECT Color ",
        &[],
    ),
    (
        "diligence get --address=ADDRESS LAMP OBJECT Col",
        "diligence get --address=ADDRESS LAMP OBJECT Color ",
        &[],
    ),
    ("diligence call --dest=org.example.La", "diligence call --dest=LAMP ", &[]),
    ("diligence show --format=bu", "diligence show --format=busctl ", &[]),
    ("diligence show --format bu", "diligence show --format busctl ", &[]),
    ("diligence show rec", "diligence show recording.pcapng ", &[]),
    ("diligence record --output=rec", "diligence record --output=recording.pcapng ", &[]),
    ("diligence generate man compl", "diligence generate man completions/", &[]),
    ("diligence run -- diligence-no-such", "diligence run -- diligence-no-such", &[]),
    ("diligence run dilig", "diligence run diligence ", &[]),
    ("diligence call org.example.Silent /", "diligence call org.example.Silent /", &[]),
];

fn expand(stage: &LampBus, text: &str) -> String {
    let text = text.replace("LAMP", LAMP).replace("OBJECT", "/org/example/lamp_1");
    text.replace("ADDRESS", &stage.bus.address)
}

/// Types each line, and retries while the machine is too busy for the time limit.
fn type_all(stage: &LampBus, shell: &mut InteractiveShell) {
    fs::write(stage.folder.join("recording.pcapng"), "").expect("a writable folder");
    for (keys, line, shown) in LINES {
        let keys = expand(stage, keys);
        let line = if line.is_empty() { keys.clone() } else { expand(stage, line) };
        let deadline = Instant::now() + WAIT_TIMEOUT;
        loop {
            let typed = shell.press(&format!("{keys}\t"));
            let output = typed.output;
            let missing = shown.iter().find(|word| !output.contains(&expand(stage, word)));
            if typed.line == line && missing.is_none() {
                break;
            }
            let found = &typed.line;
            assert!(
                Instant::now() < deadline,
                "{keys:?}: {found:?}, not {line:?}; {missing:?} missing in {output:?}"
            );
        }
    }
}

#[test]
fn bash_completes() {
    let stage = LampBus::new();
    let scripts = stage.scripts();
    let start = stage.folder.join("start.bash");
    let text = format!(
        "PS1='{PROMPT}'; source {scripts}/diligence.bash
         bind 'set enable-bracketed-paste off'; bind 'set bell-style none'
         bind 'set show-all-if-ambiguous on'; bind 'set completion-query-items 0'
         shown() {{ printf '%s' '{BEGIN}' \"$READLINE_LINE\" '{END}'; READLINE_LINE=; }}; bind -x '\"\\C-g\": shown'\n"
    );
    fs::write(&start, text).expect("a writable folder");
    let mut command = in_session("bash");
    command.args(["--noprofile", "--rcfile"]).arg(&start).arg("-i");
    stage.with_path(&mut command);
    type_all(&stage, &mut InteractiveShell::start(command));
}

#[test]
fn zsh_completes() {
    let stage = LampBus::new();
    let scripts = stage.scripts();
    let text = format!(
        "PS1='{PROMPT}'; fpath=({scripts} $fpath); autoload -U compinit; compinit -u -D
         unsetopt list_ambiguous auto_menu beep ; unset zle_bracketed_paste
         shown() {{ zle -I; print -rn -- '{BEGIN}'\"$BUFFER\"'{END}'; BUFFER= }}; zle -N shown
         bindkey -e; bindkey '^G' shown\n"
    );
    fs::write(stage.folder.join(".zshrc"), text).expect("a writable folder");
    let mut command = in_session("zsh");
    command.arg("-i").env("ZDOTDIR", stage.folder.join(""));
    stage.with_path(&mut command);
    type_all(&stage, &mut InteractiveShell::start(command));
}

#[test]
fn fish_completes() {
    let stage = LampBus::new();
    let scripts = stage.scripts();
    fs::write(stage.folder.join("recording.pcapng"), "").expect("a writable folder");
    for (line, expected) in [
        ("diligence intro", &["introspect\tShow the methods"][..]),
        ("diligence call org.example.La", &["LAMP\t"]),
        ("diligence call 'org.example.La", &["LAMP\t"]),
        ("diligence call :1", &[":1.0\t", ":1.1\t"]),
        ("diligence call LAMP /", &["OBJECT\torg.example.Lamp1, ", "OBJECT/\tobjects below it"]),
        ("diligence call LAMP OBJECT/b", &["OBJECT/bulbs/a\t", "OBJECT/bulbs/b\t"]),
        ("diligence call 'LAMP' OBJECT Sw", &["Switch\t(b on, s how) -> (u)"]),
        ("diligence set LAMP OBJECT org.example.Lamp1 ", &["On\tb", "Secret\ts"]),
        ("diligence set LAMP OBJECT On t", &["true\tOn"]),
        ("diligence get --address ADDRESS LAMP OBJECT Col", &["Color\ts"]),
        ("diligence get --address=ADDRESS LAMP OBJECT Col", &["Color\ts"]),
        ("diligence start ", &["org.example.Sleeper\tcan be started"]),
        ("diligence show --format=bu", &["--format=busctl"]),
        ("diligence show rec", &["recording.pcapng"]),
        ("diligence record --output=rec", &["--output=recording.pcapng"]),
        ("diligence run dilig", &["diligence\t"]),
        ("diligence generate man ", &["completions/"]),
        ("diligence call org.example.Silent /", &[]),
    ] {
        let line = expand(&stage, line);
        let deadline = Instant::now() + WAIT_TIMEOUT;
        loop {
            let mut command = Command::new("fish");
            command.arg("--no-config").arg("--command");
            command.arg("source $argv[1]/diligence.fish; complete --do-complete $argv[2]");
            command.args([&scripts, &line]);
            stage.with_path(&mut command);
            let output = command.output().expect("fish is installed");
            let (found, errors) = (text(&output.stdout), text(&output.stderr));
            assert_eq!(errors, "", "{line:?}");
            let missing = expected.iter().find(|word| {
                let word = expand(&stage, word);
                !found.lines().any(|line| line.starts_with(&word))
            });
            let is_enough = !expected.is_empty() || found.is_empty();
            if missing.is_none() && is_enough {
                break;
            }
            assert!(Instant::now() < deadline, "{line:?}: {found:?}, without {missing:?}");
        }
    }
}
