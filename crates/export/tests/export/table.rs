//! The flat table as CSV and as Parquet.

use capture::Capture;
use capture::model::MessageBuffer;
use export::flat::{COLUMNS, FlatRow, FlatValue};
use export::{write_csv, write_json, write_parquet};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use testkit::golden;
use testkit::recording::TestRecording;

use crate::golden_file;
use crate::scene::office;

fn csv(capture: &Capture, kind: &str) -> String {
    let mut file = Vec::new();
    let is_wanted = |kind: &str, found: &str| kind.is_empty() || kind == found;
    write_csv(capture, |message| is_wanted(kind, message.kind().as_str()), &mut file)
        .expect("memory takes all");
    String::from_utf8(file).expect("it is text")
}

fn parquet_of(capture: &Capture) -> SerializedFileReader<bytes::Bytes> {
    let mut file = Vec::new();
    write_parquet(capture, |_| true, &mut file).expect("memory takes all");
    SerializedFileReader::new(file.into()).expect("a file of columns")
}

/// The value of a column as the Parquet reader returns it.
fn field(value: FlatValue, row: &FlatRow<'_>) -> Field {
    match value {
        FlatValue::Text(get) => get(row).map_or(Field::Null, |text| Field::Str(text.to_owned())),
        FlatValue::Integer(get) => get(row).map_or(Field::Null, Field::Long),
        FlatValue::Time(get) => Field::Long(get(row)),
        FlatValue::Boolean(get) => Field::Bool(get(row)),
        FlatValue::Body => row
            .body(&mut MessageBuffer::default())
            .expect("it is in memory")
            .map_or(Field::Null, Field::Str),
    }
}

fn check_columns(capture: &Capture) {
    let file = parquet_of(capture);
    let mut rows = file.get_row_iter(None).expect("rows");
    for message in capture.messages() {
        let found = rows.next().expect("a row for each message").expect("it can be read");
        let row = FlatRow::new(message);
        let expected = COLUMNS.iter().map(|column| (column.name, field(column.value, &row)));
        let found = found.get_column_iter().map(|(name, field)| (name.as_str(), field.clone()));
        assert_eq!(found.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    }
    assert!(rows.next().is_none());
}

#[test]
fn csv_lines_have_all_columns() {
    golden::check(golden_file("office.csv"), &csv(&office().capture(), ""));
}

#[test]
fn tables_have_only_selected_messages() {
    let lines = csv(&office().capture(), "signal");
    assert_eq!(lines.lines().count(), 1 + 5);
    assert!(lines.lines().skip(1).all(|line| line.contains(",session,signal,")), "{lines}");
}

#[test]
fn parquet_columns_equal_csv_columns() {
    check_columns(&office().capture());
}

#[test]
fn parquet_files_of_many_messages_have_several_row_groups() {
    let mut recording = TestRecording::new();
    for number in 0..140_000_u32 {
        recording.signal(":1.6", "/m org.example.Mail.Changed", &(number,));
    }
    let capture = recording.capture();
    let file = parquet_of(&capture);
    assert_eq!(file.metadata().num_row_groups(), 2);
    let rows: Vec<_> = file.metadata().row_groups().iter().map(|group| group.num_rows()).collect();
    assert_eq!(rows, [131_072, 140_000 - 131_072]);
    let last = file.get_row_iter(None).expect("rows").last().expect("rows").expect("a row");
    assert!(last.to_string().starts_with("{number: 140000,"), "{last}");
}

#[test]
fn empty_recordings_have_columns() {
    let file = parquet_of(&Capture::default());
    let metadata = file.metadata().file_metadata();
    assert_eq!(metadata.num_rows(), 0);
    assert_eq!(metadata.schema_descr().num_columns(), COLUMNS.len());
    let version = metadata.key_value_metadata().and_then(|pairs| pairs.first()).expect("a key");
    assert_eq!(version.key, "diligence.messages.version");
    assert_eq!(version.value.as_deref(), Some("2"));
}

#[test]
fn messages_as_json_have_their_arguments() {
    let mut file = Vec::new();
    write_json(&office().capture(), |_| true, &mut file).expect("memory takes all");
    let lines = String::from_utf8(file).expect("it is text");
    let messages: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).expect("an object a line")).collect();
    assert_eq!(messages.len(), office().capture().len());
    assert_eq!(messages[0]["payload"]["data"][0], "In");
    assert_eq!(messages[1]["duration_ns"], 1_000_000);
}
