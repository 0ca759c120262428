//! The blocks of a page that show commands and their output.

/// A block marked `console`.
#[derive(Debug, PartialEq)]
pub(crate) struct ConsoleBlock {
    /// The page, relative to the root of the project.
    pub(crate) page: String,
    /// The line in the page with the opening fence, from 1.
    pub(crate) line: usize,
    pub(crate) check: Check,
    pub(crate) commands: Vec<ShownCommand>,
}

/// How the output of a block is compared.
#[derive(Debug, PartialEq)]
pub(crate) enum Check {
    /// Every line is printed as it is shown.
    Exact,
    /// Figures may differ: see [`crate::comparison`].
    Varies,
    /// The block is not run, because tests lack something that it needs: the reason.
    NotRun(String),
    /// The block does not follow the rules: the violated rule.
    Malformed(String),
}

/// A command with the output that the page shows.
#[derive(Debug, PartialEq)]
pub(crate) struct ShownCommand {
    /// Its line in the page, from 1.
    pub(crate) line: usize,
    /// The command, without its prompt. Further lines of it follow line feeds.
    pub(crate) text: String,
    pub(crate) output: Vec<String>,
}

impl ConsoleBlock {
    /// `FILE:LINE`, the name of the test case.
    pub(crate) fn place(&self) -> String {
        format!("{}:{}", self.page, self.line)
    }
}

/// The start of the comment in front of a block.
const MARK: &str = "<!-- test:";

/// The prompt of a command, and of each further line of it.
const PROMPT: &str = "$ ";
const FURTHER_PROMPT: &str = "> ";

/// The programs that a block may run. In addition, `echo $?` shows the exit status of the previous
/// command.
const PROGRAMS: [&str; 7] = [
    "diligence",
    "diligence-bus",
    "dbus-run-session",
    "busctl",
    "gdbus",
    "dbus-send",
    "dbus-monitor",
];

/// All blocks marked `console` of a page, in their order.
pub(crate) fn parse(page: &str, text: &str) -> Vec<ConsoleBlock> {
    let mut blocks = Vec::new();
    let mut lines = text.lines().enumerate().map(|(index, line)| (index + 1, line));
    let mut mark: Option<(usize, &str)> = None;
    let malformed = |line, problem: &str| ConsoleBlock {
        page: page.to_owned(),
        line,
        check: Check::Malformed(problem.to_owned()),
        commands: Vec::new(),
    };
    while let Some((number, line)) = lines.next() {
        let Some(language) = line.trim_start().strip_prefix("```") else {
            if line.starts_with(MARK) {
                mark = Some((number, line));
            } else if !line.trim().is_empty()
                && let Some((number, _)) = mark.take()
            {
                blocks.push(malformed(number, "no block marked console follows the comment"));
            }
            continue;
        };
        let indent = line.len() - line.trim_start().len();
        let inner: Vec<_> = lines.by_ref().take_while(|(_, line)| line.trim() != "```").collect();
        match (language.trim() == "console", mark.take()) {
            (true, mark) => {
                let check = mark.map_or(Check::Exact, |(_, mark)| check_of(mark));
                let inner =
                    inner.into_iter().map(|(at, line)| (at, line.get(indent..).unwrap_or("")));
                let block = ConsoleBlock {
                    page: page.to_owned(),
                    line: number,
                    check,
                    commands: Vec::new(),
                };
                blocks.push(with_commands(block, inner));
            }
            (false, Some((number, _))) => {
                blocks.push(malformed(number, "no block marked console follows the comment"));
            }
            (false, None) => {}
        }
    }
    blocks
}

fn check_of(mark: &str) -> Check {
    let text = mark.trim_start_matches(MARK).trim_end().trim_end_matches("-->").trim();
    match text.split_once(", ") {
        None if text == "output varies" => Check::Varies,
        Some(("not run", reason)) if !reason.is_empty() => Check::NotRun(reason.to_owned()),
        _ => Check::Malformed(format!(
            "the comment says {text:?}; it may say \"output varies\" or \"not run, REASON\""
        )),
    }
}

fn with_commands<'a>(
    mut block: ConsoleBlock,
    lines: impl Iterator<Item = (usize, &'a str)>,
) -> ConsoleBlock {
    for (number, line) in lines {
        if let Some(text) = line.strip_prefix(PROMPT) {
            block.commands.push(ShownCommand {
                line: number,
                text: text.to_owned(),
                output: Vec::new(),
            });
            continue;
        }
        let Some(command) = block.commands.last_mut() else {
            block.check = Check::Malformed(format!("line {number} is not a command: {line:?}"));
            return block;
        };
        match line.strip_prefix(FURTHER_PROMPT) {
            Some(further) if command.output.is_empty() => {
                command.text.push('\n');
                command.text.push_str(further);
            }
            _ => command.output.push(line.trim_end().to_owned()),
        }
    }
    if block.commands.is_empty() {
        block.check = Check::Malformed("there is no line that begins with `$ `".to_owned());
    }
    let is_run = matches!(block.check, Check::Exact | Check::Varies);
    if let Some(command) = block.commands.iter().find(|command| is_run && !is_known(&command.text))
    {
        block.check = Check::Malformed(format!(
            "line {}: a test cannot run `{}`; mark the block with {MARK} not run, REASON -->",
            command.line, command.text
        ));
    }
    block
}

/// Returns true if a block may run the command. Variable assignments may precede the program.
fn is_known(command: &str) -> bool {
    let is_assignment = |word: &&str| {
        word.split_once('=').is_some_and(|(name, _)| {
            name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
        })
    };
    let program = command.split_whitespace().find(|word| !is_assignment(word));
    command == "echo $?" || program.is_some_and(|program| PROGRAMS.contains(&program))
}

/// Checks the parser on a page that has each kind of block.
pub(crate) fn check() -> Result<(), String> {
    let page = "# Title\n\n```console\n$ diligence show a\none\n\n$ echo $?\n0\n```\n\n```sh\n$ rm -r /\n```\n\n\
        <!-- test: output varies -->\n```console\n$ A=1 diligence call \\\n> --help\n```\n\n\
        <!-- test: not run, it needs root -->\n\n```console\n$ reboot\n```\n\n```console\n$ reboot\n```\n\n\
        <!-- test: maybe -->\n```console\n$ diligence\n```\n\n<!-- test: output varies -->\n\nText.\n";
    let blocks = parse("p.md", page);
    let found: Vec<_> = blocks
        .iter()
        .map(|block| {
            let check = match &block.check {
                Check::Malformed(_) => "malformed".to_owned(),
                check => format!("{check:?}"),
            };
            format!("{} {check} {}", block.place(), block.commands.len())
        })
        .collect();
    let expected = [
        "p.md:3 Exact 2",
        "p.md:16 Varies 1",
        "p.md:23 NotRun(\"it needs root\") 1",
        "p.md:27 malformed 1",
        "p.md:32 malformed 1",
        "p.md:36 malformed 0",
    ];
    if found != expected {
        return Err(format!("{found:#?}"));
    }
    let ShownCommand { text, output, .. } = &blocks[0].commands[0];
    if text != "diligence show a" || output != &["one", ""] {
        return Err(format!("{:?}", blocks[0]));
    }
    match &blocks[1].commands[0].text[..] {
        "A=1 diligence call \\\n--help" => Ok(()),
        text => Err(text.to_owned()),
    }
}
