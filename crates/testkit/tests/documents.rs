//! The Markdown files of the tree: docs/README.md lists every page, and no link is broken.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use testkit::source_tree::{files_below, read, root};

#[test]
fn the_table_of_contents_lists_every_page() {
    let docs = root().join("docs");
    let contents = read(&docs.join("README.md"));
    let rows = contents
        .lines()
        .filter_map(|line| line.strip_prefix("| [")?.split_once("](")?.1.split_once(')'));
    let mut listed = BTreeMap::new();
    for (page, about) in rows {
        *listed.entry(page.to_owned()).or_insert(0) += 1;
        assert!(
            about.trim_matches([' ', '|']).len() > 10,
            "{page} needs a description in docs/README.md"
        );
    }
    let twice: Vec<_> = listed.iter().filter(|(_, times)| **times > 1).collect();
    assert!(twice.is_empty(), "docs/README.md lists twice: {twice:?}");
    let entries =
        fs::read_dir(&docs).expect("docs").map(|entry| entry.expect("an entry").file_name());
    let pages = entries.map(|name| name.to_string_lossy().into_owned());
    let pages = pages.filter(|name| name.ends_with(".md") && name != "README.md");
    let missing: Vec<_> = pages.filter(|page| !listed.contains_key(page)).collect();
    assert!(missing.is_empty(), "docs/README.md does not list {missing:?}");
    let readme = read(&root().join("README.md"));
    assert!(readme.contains("](docs/README.md)"), "README.md must link to docs/README.md");
}

#[test]
fn every_relative_link_and_anchor_resolves() {
    let files = documents();
    let anchors: BTreeMap<&PathBuf, BTreeSet<String>> =
        files.iter().map(|(path, text)| (path, anchors_of(text))).collect();
    let mut problems = Vec::new();
    let mut count = 0;
    for (path, text) in &files {
        for (line, target) in links_of(text) {
            let is_elsewhere = target.contains("://") || target.starts_with("mailto:");
            if is_elsewhere {
                continue;
            }
            count += 1;
            let (file, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let file = match file {
                "" => path.clone(),
                _ => normal(&path.parent().expect("a file has a folder").join(file)),
            };
            let place = format!("{}:{line}: {target}", path.display());
            if !root().join(&file).exists() {
                problems.push(format!("{place}: there is no {}", file.display()));
            } else if !anchor.is_empty() {
                match anchors.get(&file) {
                    Some(anchors) if anchors.contains(anchor) => {}
                    Some(_) => {
                        problems.push(format!("{place}: {} has no such heading", file.display()))
                    }
                    None => {
                        problems.push(format!("{place}: {} is not a Markdown file", file.display()))
                    }
                }
            }
        }
    }
    assert!(count > 100, "only {count} links were found");
    assert!(problems.is_empty(), "links that lead nowhere:\n{}", problems.join("\n"));
}

#[test]
fn anchors_are_those_of_common_renderers() {
    for (heading, anchor) in [
        ("Messages of the recorder", "messages-of-the-recorder"),
        ("The flat table: csv and parquet", "the-flat-table-csv-and-parquet"),
        ("Notes: blocks of type 0x80444C47", "notes-blocks-of-type-0x80444c47"),
        ("`stats` and _top_, [a link](x.md)", "stats-and-_top_-a-link"),
        ("L07 is gone", "l07-is-gone"),
    ] {
        assert_eq!(slug(heading), anchor);
    }
    let text = "# A\n## B c\n## B c\n```sh\n# no heading\n```\n<a id=\"here\"></a>\n";
    let expected = ["a", "b-c", "b-c-1", "here"];
    assert_eq!(anchors_of(text), expected.map(str::to_owned).into());
    let text = "a [b](c.md#d) `[no](link)`\n```\n[no](code)\n```\n![p](q.png)\n[r]: s.md\n";
    let links = links_of(text);
    let links: Vec<_> = links.iter().map(|(line, target)| (*line, &target[..])).collect();
    assert_eq!(links, [(1, "c.md#d"), (5, "q.png"), (6, "s.md")]);
}

/// Returns all Markdown files by their path from the root.
fn documents() -> BTreeMap<PathBuf, String> {
    let files = files_below(&root(), |file| file.extension().is_some_and(|its| its == "md"));
    let relative = |file: &Path| file.strip_prefix(root()).expect("below the root").to_owned();
    files.iter().map(|file| (relative(file), read(file))).collect()
}

/// Returns the lines outside of code blocks, with their numbers.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        (!is_fence && !is_code).then_some((index + 1, line))
    })
}

/// Returns the targets of links and pictures, with their lines.
fn links_of(text: &str) -> Vec<(usize, String)> {
    let mut links = Vec::new();
    for (number, line) in prose(text) {
        if let Some((_, target)) = line.strip_prefix('[').and_then(|rest| rest.split_once("]: ")) {
            links.push((number, target.split_whitespace().next().unwrap_or_default().to_owned()));
            continue;
        }
        let words: String = line.split('`').step_by(2).collect::<Vec<_>>().join("code");
        for rest in words.split("](").skip(1) {
            let target = rest.split([')', ' ']).next().unwrap_or_default();
            links.push((number, target.to_owned()));
        }
    }
    links
}

/// Returns the anchors of a page: one for each heading, and explicit ones.
fn anchors_of(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    for (_, line) in prose(text) {
        for rest in line.split("<a id=\"").skip(1) {
            anchors.extend(rest.split('"').next().map(str::to_owned));
        }
        let heading = line.trim_start_matches('#');
        let level = line.len() - heading.len();
        if !(1..=6).contains(&level) || !heading.starts_with(' ') {
            continue;
        }
        let slug = slug(heading.trim());
        let before = times.entry(slug.clone()).or_insert(0);
        anchors.insert(match *before {
            0 => slug,
            number => format!("{slug}-{number}"),
        });
        *before += 1;
    }
    anchors
}

/// Returns the anchor of a heading, like code hosting sites generate it.
fn slug(heading: &str) -> String {
    // Only the text of a link counts.
    let mut text = String::new();
    for (index, part) in heading.split("](").enumerate() {
        let part =
            if index == 0 { part } else { part.split_once(')').map_or("", |(_, rest)| rest) };
        text.push_str(part);
    }
    let kept = |char: &char| char.is_alphanumeric() || matches!(char, ' ' | '-' | '_');
    text.chars()
        .filter(kept)
        .map(|char| if char == ' ' { '-' } else { char })
        .flat_map(char::to_lowercase)
        .collect()
}

/// Returns the path without `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                normal.pop();
            }
            Component::CurDir => {}
            other => normal.push(other),
        }
    }
    normal
}
