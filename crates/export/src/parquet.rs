//! The flat table in the columnar format Apache Parquet.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::Arc;

use ::parquet::basic::{Compression, Encoding};
use ::parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, Int64Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::KeyValue;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use ::parquet::schema::parser::parse_message_type;
use ::parquet::schema::types::ColumnPath;
use capture::Capture;
use capture::model::{CapturedMessage, MessageBuffer};

use crate::ExportError;
use crate::flat::{self, COLUMNS, FlatRow, FlatValue};
use crate::parts::for_each_part;

/// Writes the selected messages. `out` is not a valid file until this function returns.
///
/// # Errors
///
/// If the recording cannot be read, or if writing to `out` fails.
pub fn write_parquet<'c>(
    capture: &'c Capture,
    mut selects: impl FnMut(&CapturedMessage<'c>) -> bool,
    out: impl Write + Send,
) -> Result<(), ExportError> {
    let schema = Arc::new(parse_message_type(&schema())?);
    let mut writer = SerializedFileWriter::new(out, schema, Arc::new(properties()))?;
    let mut messages = capture.messages().filter(|message| selects(message));
    let mut rows = Vec::new();
    loop {
        rows.clear();
        rows.extend(messages.by_ref().take(GROUP_ROWS).map(FlatRow::new));
        if rows.is_empty() {
            break;
        }
        write_group(&mut writer, &rows)?;
    }
    writer.finish()?;
    Ok(writer.inner_mut().flush()?)
}

/// The schema of the table in the notation of Parquet.
fn schema() -> String {
    let mut text = String::from("message messages {\n");
    for column in COLUMNS {
        let kind = match column.value {
            FlatValue::Text(_) => ("optional binary", " (STRING)"),
            FlatValue::Integer(_) => ("optional int64", ""),
            FlatValue::Time(_) => ("required int64", " (TIMESTAMP(NANOS,true))"),
            FlatValue::Truth(_) => ("required boolean", ""),
            FlatValue::Body => ("optional binary", " (JSON)"),
        };
        let _ = writeln!(text, "  {} {}{};", kind.0, column.name, kind.1);
    }
    text + "}\n"
}

/// Few different texts occur often, so columns of texts use a dictionary. Ascending numbers are
/// stored as differences.
fn properties() -> WriterProperties {
    let version = KeyValue::new(VERSION_KEY.to_owned(), flat::VERSION.to_string());
    let mut builder = WriterProperties::builder()
        .set_created_by(concat!("diligence ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_key_value_metadata(Some(vec![version]))
        .set_compression(Compression::SNAPPY);
    for name in ASCENDING {
        let column = ColumnPath::from(name);
        builder = builder
            .set_column_dictionary_enabled(column.clone(), false)
            .set_column_encoding(column, Encoding::DELTA_BINARY_PACKED);
    }
    builder.build()
}

fn write_group<W: Write + Send>(
    writer: &mut SerializedFileWriter<W>,
    rows: &[FlatRow<'_>],
) -> Result<(), ExportError> {
    let mut group = writer.next_row_group()?;
    for column in COLUMNS {
        let Some(mut place) = group.next_column()? else { break };
        match column.value {
            FlatValue::Body => write_bodies(&mut place, rows)?,
            value => write_column(&mut place, value, rows)?,
        }
        place.close()?;
    }
    group.close()?;
    Ok(())
}

fn write_column(
    place: &mut SerializedColumnWriter<'_>,
    value: FlatValue,
    rows: &[FlatRow<'_>],
) -> Result<(), ParquetError> {
    match value {
        FlatValue::Text(get) => {
            let text = |row| get(row).map(ByteArray::from);
            write_optional::<ByteArrayType>(place, rows.iter().map(text))
        }
        FlatValue::Integer(get) => write_optional::<Int64Type>(place, rows.iter().map(get)),
        FlatValue::Time(get) => {
            let times: Vec<_> = rows.iter().map(get).collect();
            place.typed::<Int64Type>().write_batch(&times, None, None).map(drop)
        }
        FlatValue::Truth(get) => {
            let truths: Vec<_> = rows.iter().map(get).collect();
            place.typed::<BoolType>().write_batch(&truths, None, None).map(drop)
        }
        FlatValue::Body => Ok(()),
    }
}

/// Writes bodies in small batches, since they may be large.
fn write_bodies(
    place: &mut SerializedColumnWriter<'_>,
    rows: &[FlatRow<'_>],
) -> Result<(), ExportError> {
    let bodies = |rows: &[FlatRow<'_>], buffer: &mut MessageBuffer| {
        let body = |row: &FlatRow<'_>| {
            Ok(row.body(buffer)?.map(|body| ByteArray::from(body.into_bytes())))
        };
        rows.iter().map(body).collect::<io::Result<Vec<_>>>()
    };
    for_each_part(rows.chunks(BODY_ROWS), bodies, |bodies| {
        Ok(write_optional::<ByteArrayType>(place, bodies.into_iter())?)
    })
}

/// Writes the values that are present, and for each row whether it has a value.
fn write_optional<T: DataType>(
    place: &mut SerializedColumnWriter<'_>,
    column: impl Iterator<Item = Option<T::T>>,
) -> Result<(), ParquetError> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    for value in column {
        levels.push(i16::from(value.is_some()));
        values.extend(value);
    }
    place.typed::<T>().write_batch(&values, Some(&levels), None).map(drop)
}

/// The number of rows in memory at a time, and in each row group of the file.
const GROUP_ROWS: usize = 1 << 17;

/// The number of bodies in memory at a time.
const BODY_ROWS: usize = 1 << 8;

/// The metadata key of the version of the table.
const VERSION_KEY: &str = "diligence.messages.version";

/// The columns in which nearly every value is slightly larger than the one before.
const ASCENDING: [&str; 4] = ["number", "time_ns", "serial", "reply_serial"];
