//! Tables: their order, keys and layout.

use capture::table::{Cell, Column, ColumnUnit, DataTable};
use capture::text::Style;

fn table() -> DataTable {
    let columns = [Column::text("name"), Column::number("size", ColumnUnit::Bytes)];
    let mut table = DataTable::new(columns);
    table.push([Cell::text("b"), Cell::Bytes(1)]);
    table.push([Cell::text("c"), Cell::Absent]);
    table.push([Cell::text("a"), Cell::Bytes(2)]);
    table
}

fn names(table: &DataTable) -> String {
    let name = |row: &Vec<Cell>| match &row[0] {
        Cell::Text(name) => name.clone(),
        other => panic!("{other:?}"),
    };
    table.rows().iter().map(name).collect()
}

#[test]
fn rows_are_sorted_by_name_or_key() {
    for (by, expected) in [("name", "abc"), ("size", "abc"), ("size_bytes", "abc")] {
        let mut table = table();
        table.sort(by).unwrap();
        assert_eq!(names(&table), expected, "{by}");
    }
    let error = table().sort("color").unwrap_err();
    assert_eq!(error.to_string(), "there is no column `color`; expected one of name, size");
}

#[test]
fn omitted_rows_are_counted() {
    let mut table = table();
    table.truncate(5);
    assert_eq!(table.omitted(), 0);
    table.truncate(1);
    assert_eq!((table.omitted(), names(&table).as_str()), (2, "b"));
}

#[test]
fn keys_contain_the_unit_once() {
    for (name, unit, expected) in [
        ("bytes", ColumnUnit::Bytes, "bytes"),
        ("p90", ColumnUnit::Time, "p90_ns"),
        ("time-outs", ColumnUnit::Count, "time_outs"),
        ("messages", ColumnUnit::Rate, "messages_per_s"),
        ("recipients", ColumnUnit::Mean, "recipients_mean"),
    ] {
        assert_eq!(Column::number(name, unit).key(), expected);
    }
}

fn calls() -> DataTable {
    let columns = [
        Column::text("member"),
        Column::number("calls", ColumnUnit::Count),
        Column::number("errors", ColumnUnit::Count).spare(),
        Column::number("p90", ColumnUnit::Time),
    ];
    let mut table = DataTable::new(columns);
    let row = |name: &str, calls, nanos| {
        [Cell::text(name), Cell::Count(calls), Cell::Count(0), Cell::nanos(nanos)]
    };
    table.push(row("org.example.Mail.GetCountOfAllMessages", 1234, 1_500_000));
    table.push(row("org.example.Mail.Get\u{1b}", 2, 2_000_000_000));
    table
}

#[test]
fn tables_fit_the_line() {
    for (width, expected) in [
        (
            70,
            "\
member                                  calls  errors      p90
org.example.Mail.GetCountOfAllMessages  1,234       0  1.50 ms
org.example.Mail.Get\\u001b                  2       0  2.00 s
",
        ),
        (
            50,
            "\
member                              calls      p90
\u{2026}Mail.GetCountOfAllMessages         1,234  1.50 ms
",
        ),
        (
            40,
            "\
member                    calls      p90
\u{2026}GetCountOfAllMessages    1,234  1.50 ms
",
        ),
        (
            30,
            "\
member          calls      p90
\u{2026}OfAllMessages  1,234  1.50 ms
\u{2026}ail.Get\\u001b      2  2.00 s
",
        ),
    ] {
        let found = calls().to_text(Style::plain(width));
        assert!(found.starts_with(expected), "{found}");
    }
}

#[test]
fn the_sorted_column_is_always_shown() {
    let mut table = calls();
    assert!(table.shows("errors", Style::plain(70)) && !table.shows("errors", Style::plain(50)));
    table.sort("errors").expect("there is such a column");
    assert!(table.shows("errors", Style::plain(30)), "{}", table.to_text(Style::plain(30)));
}

#[test]
fn columns_without_content_are_left_out() {
    let mut table = DataTable::new([Column::text("a"), Column::text("b")]);
    assert_eq!(table.to_text(Style::plain(80)), "a  b\n");
    table.push([Cell::Absent, Cell::text("1")]);
    assert_eq!(table.to_text(Style::plain(80)), "b\n1\n");
}

#[test]
fn csv_fields_are_quoted_if_needed() {
    let mut table = DataTable::new([Column::text("a,b"), Column::number("n", ColumnUnit::Rate)]);
    table.push([Cell::text("say \"no\"\n"), Cell::Rate(0.25)]);
    table.push([Cell::text("plain text"), Cell::Absent]);
    let expected = "\"a,b\",n_per_s\n\"say \"\"no\"\"\n\",0.25\nplain text,\n";
    assert_eq!(table.to_csv(), expected);
}
