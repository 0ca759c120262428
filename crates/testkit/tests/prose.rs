//! Comments, messages and documents are written in plain English: without the phrases that made
//! earlier texts hard to read, and without doc comments that are too short to be useful.

use std::path::Path;
use std::str::FromStr;

use proc_macro2::{TokenStream, TokenTree};
use testkit::source_tree::{files_below, read, root, rust_files};

/// The minimum number of words in a doc comment. Shorter comments repeat the name of their item.
const DOC_COMMENT_WORDS_MIN: usize = 4;

/// Phrases that must not be used, and their replacements.
const PHRASES: &[(&str, &str)] = &[
    ("of whom", "whose"),
    ("whoever", "the peer, the user or the process that"),
    ("those who", "peers that, users who"),
    ("that of", "repeat the noun"),
    ("those of", "repeat the noun"),
    ("no more than", "at most"),
    ("otherwise than", "differs from"),
    ("nothing is told", "prints nothing"),
    ("told", "printed, reported, logged or notified"),
    ("so many", "the number, with its noun"),
    ("comes of", "results from"),
    ("is no", "is not a"),
    ("are no", "are not"),
    ("as one", "like"),
    ("is had", "is available"),
    ("his", "its"),
    ("him", "it, or the peer"),
    ("culprit", "cause"),
    ("appetite", "limit"),
    ("thrift", "budget"),
    ("asides", "notes"),
];

/// Plain English that contains one of the phrases.
const EXCEPTIONS: &[&str] =
    &["there is no", "there are no", "is no longer", "are no longer", "as one file", "as one two"];

/// The extensions of files whose lines are checked as a whole. So are all scripts.
const OTHER_LANGUAGES: &[&str] = &["c", "css", "h", "in", "py", "sql", "te", "toml", "ts", "tsx"];

/// A text for readers, with its place.
struct ReadableText {
    place: String,
    text: String,
}

#[test]
fn doc_comments_have_at_least_four_words() {
    let mut count = 0;
    let mut short = Vec::new();
    for file in rust_files() {
        for comment in doc_comments(&read(&file)) {
            count += 1;
            let words = comment.split_whitespace().count();
            if words < DOC_COMMENT_WORDS_MIN {
                short.push(format!("{}: {comment}", relative(&file)));
            }
        }
    }
    assert!(count > 10_000, "only {count} doc comments were found");
    assert!(short.is_empty(), "say more, or delete the comment: {short:#?}");
}

#[test]
fn no_text_contains_a_phrase_that_stops_readers() {
    let texts = texts();
    assert!(texts.len() > 20_000, "only {} texts were found", texts.len());
    let found: Vec<_> = texts.iter().filter_map(problem).collect();
    assert!(found.is_empty(), "{} phrases to replace: {found:#?}", found.len());
}

#[test]
fn phrases_are_found_in_comments_strings_and_documents() {
    let code = "/// Whoever is first.\nfn e() {}\n// Take no more\n// than two.\nfn f() { g!(\"nobody was told\"); }";
    let texts: Vec<_> = texts_of_rust("a.rs", code).iter().filter_map(problem).collect();
    assert_eq!(texts.len(), 3, "{texts:#?}");
    let problem = |text: &str| problem(&ReadableText { place: "page".into(), text: text.into() });
    assert!(problem("A reply is no call.").is_some());
    assert_eq!(problem("There is no reply."), None);
    assert_eq!(problem("A history is one file."), None);
    assert_eq!(problem("It is no longer queued."), None);
    assert_eq!(texts_of_document("page.md", "```\nWhoever\n```\n").len(), 0);
}

#[test]
fn doc_comments_are_joined_and_other_comments_are_not_among_them() {
    let code = "/// One\n/// two.\nstruct A;\n// Not this.\n/** Three. */ struct B;";
    assert_eq!(doc_comments(code), ["One two.", "Three."]);
}

/// Returns the phrase that must be replaced in a text, with its replacement.
fn problem(text: &ReadableText) -> Option<String> {
    let is_in_word = |letter: char| letter.is_alphanumeric() || "-_'’`".contains(letter);
    let words = text.text.split(|letter| !is_in_word(letter)).filter(|word| !word.is_empty());
    let words = words.map(str::to_lowercase).collect::<Vec<_>>().join(" ");
    let without = |words: String, plain: &&str| words.replace(&format!(" {plain} "), " - ");
    let words = EXCEPTIONS.iter().fold(format!(" {words} "), without);
    let (phrase, instead) =
        PHRASES.iter().find(|(phrase, _)| words.contains(&format!(" {phrase} ")))?;
    Some(format!("{}: write {instead:?} instead of {phrase:?}: {}", text.place, text.text.trim()))
}

fn texts() -> Vec<ReadableText> {
    let mut texts = Vec::new();
    for file in rust_files() {
        // The list of phrases is here.
        if !file.ends_with("testkit/tests/prose.rs") {
            texts.extend(texts_of_rust(&relative(&file), &read(&file)));
        }
    }
    let ends = |file: &Path, all: &[&str]| {
        file.extension().is_some_and(|end| all.iter().any(|wanted| end == *wanted))
    };
    for file in files_below(&root(), |file| ends(file, &["md"])) {
        texts.extend(texts_of_document(&relative(&file), &read(&file)));
    }
    let is_other =
        |file: &Path| ends(file, OTHER_LANGUAGES) || file.starts_with(root().join("scripts"));
    for file in files_below(&root(), is_other) {
        let lines = read(&file);
        let lines = lines.lines().enumerate();
        texts.extend(lines.map(|(index, line)| at(&relative(&file), index, line)));
    }
    texts
}

/// Returns comments and strings. Lines of one comment are joined.
fn texts_of_rust(file: &str, code: &str) -> Vec<ReadableText> {
    let mut texts = Vec::new();
    let mut comment: Option<ReadableText> = None;
    for (index, line) in code.lines().enumerate() {
        match line.trim_start().strip_prefix("//") {
            Some(rest) => {
                let comment = comment.get_or_insert_with(|| at(file, index, ""));
                comment.text.push_str(rest.trim_start_matches(['/', '!']));
            }
            None => texts.extend(comment.take()),
        }
    }
    texts.extend(comment);
    let tokens = TokenStream::from_str(code).unwrap_or_else(|error| panic!("{file}: {error}"));
    let lines: Vec<_> = code.lines().collect();
    for_each_string(tokens, &mut |line, text| {
        // A doc comment is also a string of an attribute.
        if !lines[line - 1].trim_start().starts_with("//") {
            texts.push(at(file, line - 1, text));
        }
    });
    texts
}

/// Calls a function with each string in code, and the number of its line.
fn for_each_string(tokens: TokenStream, then: &mut impl FnMut(usize, &str)) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => for_each_string(group.stream(), then),
            TokenTree::Literal(literal) => {
                let line = literal.span().start().line;
                if let Ok(text) = syn::parse_str::<syn::LitStr>(&literal.to_string()) {
                    then(line, &text.value());
                }
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) => {}
        }
    }
}

/// Returns the lines of a document, except code blocks.
fn texts_of_document(file: &str, document: &str) -> Vec<ReadableText> {
    let mut in_code = false;
    let mut texts = Vec::new();
    for (index, line) in document.lines().enumerate() {
        let is_fence = line.trim_start().starts_with("```");
        in_code ^= is_fence;
        if !in_code && !is_fence {
            texts.push(at(file, index, line));
        }
    }
    texts
}

/// Returns the doc comments in code. Lines of one comment are joined.
fn doc_comments(code: &str) -> Vec<String> {
    let mut comments = Vec::new();
    let mut comment = String::new();
    for line in code.lines() {
        let line = line.trim();
        let block = line.strip_prefix("/** ").and_then(|rest| rest.split_once(" */"));
        if let Some((text, _)) = block {
            comments.push(text.to_owned());
            continue;
        }
        let text = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
        match text {
            Some(text) => comment = [comment.trim(), text.trim()].join(" ").trim().to_owned(),
            None if comment.is_empty() => {}
            None => comments.push(std::mem::take(&mut comment)),
        }
    }
    if !comment.is_empty() {
        comments.push(comment);
    }
    comments
}

fn at(file: &str, index: usize, text: &str) -> ReadableText {
    ReadableText { place: format!("{file}:{}", index + 1), text: text.to_owned() }
}

fn relative(file: &Path) -> String {
    file.strip_prefix(root()).unwrap_or(file).display().to_string()
}
