//! The flat table in the columnar format Apache Parquet.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::Arc;
use std::thread;

use ::parquet::basic::{Compression, Encoding};
use ::parquet::column::writer::{
    ColumnCloseResult, ColumnWriter, get_column_writer, get_typed_column_writer_mut,
};
use ::parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, Int64Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::KeyValue;
use ::parquet::file::properties::{WriterProperties, WriterPropertiesPtr};
use ::parquet::file::writer::{SerializedFileWriter, SerializedPageWriter, TrackedWrite};
use ::parquet::schema::parser::parse_message_type;
use ::parquet::schema::types::{ColumnDescPtr, ColumnPath, SchemaDescriptor};
use bytes::Bytes;
use capture::Capture;
use capture::model::{CapturedMessage, MessageBuffer};
use capture::workers::OrderedWorkers;

use crate::ExportError;
use crate::flat::{self, COLUMNS, FlatRow, FlatValue};

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
            FlatValue::Boolean(_) => ("required boolean", ""),
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
    let columns = encode_columns(writer.schema_descr(), writer.properties(), rows)?;
    let mut group = writer.next_row_group()?;
    for EncodedColumn { bytes, close } in columns {
        group.append_column(&bytes, close)?;
    }
    group.close()?;
    Ok(())
}

/// A column of a row group, encoded in memory.
struct EncodedColumn {
    bytes: Bytes,
    close: ColumnCloseResult,
}

/// Encodes the columns with all processors.
fn encode_columns(
    schema: &SchemaDescriptor,
    properties: &WriterPropertiesPtr,
    rows: &[FlatRow<'_>],
) -> Result<Vec<EncodedColumn>, ExportError> {
    let mut order: Vec<usize> = (0..COLUMNS.len()).collect();
    // Bodies take about as long as all other columns.
    order.sort_by_key(|&index| !matches!(COLUMNS[index].value, FlatValue::Body));
    let mut columns = thread::scope(|scope| {
        let encode = || {
            |index: usize| {
                let descriptor = schema.column(index);
                let column = encode_column(descriptor, properties, COLUMNS[index].value, rows);
                (index, column)
            }
        };
        OrderedWorkers::start(scope, encode).unlimited().process(order).collect::<Vec<_>>()
    });
    columns.sort_by_key(|(index, _)| *index);
    columns.into_iter().map(|(_, column)| column).collect()
}

fn encode_column(
    descriptor: ColumnDescPtr,
    properties: &WriterPropertiesPtr,
    value: FlatValue,
    rows: &[FlatRow<'_>],
) -> Result<EncodedColumn, ExportError> {
    let mut sink = TrackedWrite::new(Vec::new());
    let pages = Box::new(SerializedPageWriter::new(&mut sink));
    let mut column = get_column_writer(descriptor, Arc::clone(properties), pages);
    match value {
        FlatValue::Body => write_bodies(&mut column, rows)?,
        value => write_column(&mut column, value, rows)?,
    }
    let close = column.close()?;
    Ok(EncodedColumn { bytes: sink.into_inner()?.into(), close })
}

fn write_column(
    column: &mut ColumnWriter<'_>,
    value: FlatValue,
    rows: &[FlatRow<'_>],
) -> Result<(), ParquetError> {
    match value {
        FlatValue::Text(get) => {
            let text = |row| get(row).map(ByteArray::from);
            write_optional::<ByteArrayType>(column, rows.iter().map(text))
        }
        FlatValue::Integer(get) => write_optional::<Int64Type>(column, rows.iter().map(get)),
        FlatValue::Time(get) => {
            let times: Vec<_> = rows.iter().map(get).collect();
            get_typed_column_writer_mut::<Int64Type>(column)
                .write_batch(&times, None, None)
                .map(drop)
        }
        FlatValue::Boolean(get) => {
            let values: Vec<_> = rows.iter().map(get).collect();
            get_typed_column_writer_mut::<BoolType>(column)
                .write_batch(&values, None, None)
                .map(drop)
        }
        FlatValue::Body => Ok(()),
    }
}

/// Writes bodies in small batches, since they may be large.
fn write_bodies(column: &mut ColumnWriter<'_>, rows: &[FlatRow<'_>]) -> Result<(), ExportError> {
    let mut buffer = MessageBuffer::default();
    for rows in rows.chunks(BODY_ROWS) {
        let body = |row: &FlatRow<'_>| {
            Ok(row.body(&mut buffer)?.map(|body| ByteArray::from(body.into_bytes())))
        };
        let bodies = rows.iter().map(body).collect::<io::Result<Vec<_>>>()?;
        write_optional::<ByteArrayType>(column, bodies.into_iter())?;
    }
    Ok(())
}

/// Writes the values that are present, and for each row whether it has a value.
fn write_optional<T: DataType>(
    column: &mut ColumnWriter<'_>,
    rows: impl Iterator<Item = Option<T::T>>,
) -> Result<(), ParquetError> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    for value in rows {
        levels.push(i16::from(value.is_some()));
        values.extend(value);
    }
    let column = get_typed_column_writer_mut::<T>(column);
    column.write_batch(&values, Some(&levels), None).map(drop)
}

/// The number of rows in memory at a time, and in each row group of the file.
const GROUP_ROWS: usize = 1 << 17;

/// The number of bodies in memory at a time.
const BODY_ROWS: usize = 1 << 8;

/// The metadata key of the version of the table.
const VERSION_KEY: &str = "diligence.messages.version";

/// The columns in which nearly every value is slightly larger than the one before.
const ASCENDING: [&str; 4] = ["number", "time_ns", "serial", "reply_serial"];
