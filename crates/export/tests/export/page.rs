//! The page docs/export.md matches the program.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use export::flat::{COLUMNS, FlatValue};
use rusqlite::Connection;
use testkit::golden;

use crate::scene::office;
use crate::sqlite::{database, rows};

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/export.md")
}

fn page() -> String {
    std::fs::read_to_string(path()).expect("the page")
}

/// The table of columns as it must be on the page.
fn columns() -> String {
    let mut text = String::from("| column | type | what |\n| --- | --- | --- |\n");
    for column in COLUMNS {
        let kind = match column.value {
            FlatValue::Text(_) => "text",
            FlatValue::Integer(_) => "integer",
            FlatValue::Time(_) => "time",
            FlatValue::Boolean(_) => "boolean",
            FlatValue::Body => "JSON",
        };
        let _ = writeln!(text, "| `{}` | {kind} | {} |", column.name, column.about);
    }
    text
}

/// The output of `sqlite3 -box` without its lines: column names, then rows.
fn answer(database: &Connection, sql: &str) -> String {
    let statement = database.prepare(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let names = statement.column_names().into_iter().map(str::to_owned).collect();
    let table: Vec<Vec<String>> = std::iter::once(names).chain(rows(database, sql)).collect();
    let width = |at: usize| table.iter().map(|row| row[at].len()).max().unwrap_or_default();
    let line = |row: &Vec<String>| {
        let cells = row.iter().enumerate().map(|(at, cell)| format!("{cell:0$}", width(at)));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    table.iter().map(line).collect()
}

#[test]
fn the_page_has_the_schemas() {
    let page = page();
    assert!(page.contains(&columns()), "the table of columns is\n{}", columns());
    let tables = include_str!("../../src/sqlite/tables.sql");
    assert!(
        page.contains(&format!("```sql\n{tables}```\n")),
        "the tables are not as in tables.sql"
    );
    let database = database(&office().capture());
    for view in rows(&database, "SELECT name FROM sqlite_schema WHERE type = 'view'") {
        let sql = format!("SELECT group_concat(name, ', ') FROM pragma_table_info('{}')", view[0]);
        let row = format!("| `{}` | {} |", view[0], rows(&database, &sql)[0][0]);
        assert!(page.contains(&row), "the page has no row that begins with\n{row}");
    }
}

/// Runs each example of the page on the recording of these tests, and compares the result.
#[test]
fn examples_of_the_page_give_the_documented_answers() {
    let page = page();
    let database = database(&office().capture());
    let (start, examples) = page.split_once("\n## Examples\n").expect("examples");
    let mut found = format!("{start}\n## Examples\n");
    let mut parts = examples.split("```sql\n");
    found += parts.next().unwrap_or_default();
    let mut count = 0;
    for part in parts {
        let (sql, rest) = part.split_once("```\n").expect("the end of the example");
        let (before, rest) = rest.split_once("```text\n").expect("its answer");
        let (_, after) = rest.split_once("```\n").expect("the end of the answer");
        let answer = answer(&database, sql);
        let _ = write!(found, "```sql\n{sql}```\n{before}```text\n{answer}```\n{after}");
        count += 1;
    }
    assert!(count >= 5, "{count} examples");
    golden::check(path(), &found);
}
