//! Parquet: rows are collected by column and written as row groups. Every column is optional, so that a later
//! version of Dyno can add or remove a column without changing the others.

use std::fs::File;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::{KeyValue, SortingColumn};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{ColumnPath, Type, TypePtr};

use crate::error::WriteError;
use crate::row::{Column, Kind, Sink, Value};

/// A row group ends at this many rows or bytes. Groups of this size compress well, let readers skip much data at a
/// time, and fit into memory.
const GROUP_ROWS: usize = 100_000;
const GROUP_BYTES: usize = 64 << 20;

/// Facts about a file besides its columns.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct About<'a> {
    /// The columns by which rows are sorted, ascending with NULL first. If the file lacks one of these columns, only
    /// the columns before it are recorded.
    pub(crate) sorted_by: &'a [&'a str],
    /// A key and a value for the file's metadata.
    pub(crate) note: Option<(&'a str, &'a str)>,
}

impl About<'_> {
    fn sorting(&self, columns: &[Column]) -> Option<Vec<SortingColumn>> {
        let place = |name: &&str| columns.iter().position(|column| column.name == **name);
        let column = |place: usize| SortingColumn {
            // A column's index is also the index of its leaf, because every column has one leaf.
            column_idx: place as i32,
            descending: false,
            nulls_first: true,
        };
        let sorting: Vec<_> = self.sorted_by.iter().map_while(place).map(column).collect();
        (!sorting.is_empty()).then_some(sorting)
    }

    fn key_values(&self) -> Option<Vec<KeyValue>> {
        let note = |(key, value): (&str, &str)| KeyValue::new(key.to_owned(), value.to_owned());
        self.note.map(|pair| vec![note(pair)])
    }
}

pub(crate) struct Parquet {
    writer: SerializedFileWriter<File>,
    columns: Vec<Gathered>,
    rows: usize,
    bytes: usize,
}

impl Parquet {
    pub(crate) fn new(file: File, columns: &[Column], about: &About<'_>) -> Result<Self, WriteError> {
        let fields = columns.iter().map(field).collect::<Result<Vec<_>, _>>()?;
        let schema = Type::group_type_builder("dyno").with_fields(fields).build()?;
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_sorting_columns(about.sorting(columns))
            .set_key_value_metadata(about.key_values())
            .set_created_by(format!("dyno version {}", env!("CARGO_PKG_VERSION")));
        for column in columns.iter().filter(|column| column.kind == Kind::Bytes) {
            // Histograms are almost never equal and have no order, so a dictionary and statistics would be useless.
            let path = ColumnPath::from(column.name.as_str());
            properties = properties
                .set_column_dictionary_enabled(path.clone(), false)
                .set_column_statistics_enabled(path, EnabledStatistics::None);
        }
        let writer = SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties.build()))?;
        let columns = columns.iter().map(|column| Gathered::new(column.kind)).collect();
        Ok(Self { writer, columns, rows: 0, bytes: 0 })
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        let mut group = self.writer.next_row_group()?;
        for gathered in &mut self.columns {
            let mut column = group
                .next_column()?
                .ok_or_else(|| ParquetError::General("the schema has too few columns".to_owned()))?;
            gathered.write(&mut column)?;
            column.close()?;
        }
        group.close()?;
        (self.rows, self.bytes) = (0, 0);
        Ok(())
    }
}

impl Sink for Parquet {
    fn row(&mut self, row: &[Value<'_>]) -> Result<(), WriteError> {
        for (column, value) in self.columns.iter_mut().zip(row) {
            self.bytes += column.push(value);
        }
        self.rows += 1;
        if self.rows >= GROUP_ROWS || self.bytes >= GROUP_BYTES {
            self.write_group()?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<(), WriteError> {
        if self.rows > 0 {
            self.write_group()?;
        }
        self.writer.finish()?;
        Ok(())
    }
}

/// The definition of a column in the schema.
fn field(column: &Column) -> Result<TypePtr, ParquetError> {
    let (physical, logical) = match column.kind {
        Kind::Boolean => (Physical::BOOLEAN, None),
        Kind::Integer => (Physical::INT64, None),
        Kind::Unsigned => (Physical::INT64, Some(LogicalType::integer(64, false))),
        Kind::Real => (Physical::DOUBLE, None),
        Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        Kind::Bytes => (Physical::BYTE_ARRAY, None),
        Kind::Reals => return list(&column.name),
    };
    let field = Type::primitive_type_builder(&column.name, physical)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(logical)
        .build()?;
    Ok(Arc::new(field))
}

/// The definition of a list of numbers, with the three levels that Parquet's `LogicalTypes.md` requires.
fn list(name: &str) -> Result<TypePtr, ParquetError> {
    let element = Type::primitive_type_builder("element", Physical::DOUBLE)
        .with_repetition(Repetition::OPTIONAL)
        .build()?;
    let repeated = Type::group_type_builder("list")
        .with_repetition(Repetition::REPEATED)
        .with_fields(vec![Arc::new(element)])
        .build()?;
    let list = Type::group_type_builder(name)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(Some(LogicalType::List))
        .with_fields(vec![Arc::new(repeated)])
        .build()?;
    Ok(Arc::new(list))
}

/// The values of a column for the next row group. A NULL is not stored as a value, but only as a definition level.
struct Gathered {
    values: Values,
    /// Definition levels. For a column of single values: 1 for a value, 0 for NULL. For a column of lists: 0 for NULL,
    /// 1 for an empty list, 2 for a missing element, 3 for an element.
    definition: Vec<i16>,
    /// Repetition levels: 0 for the first element of a list, 1 for the others. `None` for a column of single
    /// values.
    repetition: Option<Vec<i16>>,
}

enum Values {
    Booleans(Vec<bool>),
    Integers(Vec<i64>),
    Reals(Vec<f64>),
    Bytes(Vec<ByteArray>),
}

impl Gathered {
    fn new(kind: Kind) -> Self {
        let values = match kind {
            Kind::Boolean => Values::Booleans(Vec::new()),
            Kind::Integer | Kind::Unsigned => Values::Integers(Vec::new()),
            Kind::Real | Kind::Reals => Values::Reals(Vec::new()),
            Kind::Text | Kind::Bytes => Values::Bytes(Vec::new()),
        };
        Self { values, definition: Vec::new(), repetition: (kind == Kind::Reals).then(Vec::new) }
    }

    /// Adds a value. Returns its approximate size in memory in bytes.
    fn push(&mut self, value: &Value<'_>) -> usize {
        let mut bytes = size_of::<i64>();
        match (&mut self.values, value) {
            (_, Value::Reals(values)) => return self.push_list(values),
            (Values::Booleans(column), Value::Boolean(value)) => column.push(*value),
            (Values::Integers(column), Value::Integer(value)) => column.push(*value),
            (Values::Integers(column), Value::Unsigned(value)) => column.push(value.cast_signed()),
            (Values::Reals(column), Value::Real(value)) => column.push(*value),
            (Values::Bytes(column), Value::Text(text)) => {
                bytes += text.len();
                column.push(ByteArray::from(*text));
            }
            (Values::Bytes(column), Value::Bytes(slice)) => {
                bytes += slice.len();
                column.push(ByteArray::from(slice.to_vec()));
            }
            // The value is NULL.
            _ => {
                self.level(0, 0);
                return bytes;
            }
        }
        self.level(1, 0);
        bytes
    }

    /// Adds a list. Its definition levels are 1 for an empty list, 2 for a missing element, and 3 for an element.
    fn push_list(&mut self, list: &[Option<f64>]) -> usize {
        if list.is_empty() {
            self.level(1, 0);
        }
        for (index, element) in list.iter().enumerate() {
            self.level(if element.is_some() { 3 } else { 2 }, i16::from(index > 0));
            if let (Values::Reals(column), Some(value)) = (&mut self.values, element) {
                column.push(*value);
            }
        }
        list.len() * size_of::<f64>()
    }

    fn level(&mut self, definition: i16, repetition: i16) {
        self.definition.push(definition);
        self.repetition.iter_mut().for_each(|levels| levels.push(repetition));
    }

    /// Writes the collected values and clears them.
    fn write(&mut self, column: &mut SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        let (definition, repetition) = (Some(&self.definition[..]), self.repetition.as_deref());
        match &mut self.values {
            Values::Booleans(values) => {
                column.typed::<BoolType>().write_batch(values, definition, repetition)?;
                values.clear();
            }
            Values::Integers(values) => {
                column.typed::<Int64Type>().write_batch(values, definition, repetition)?;
                values.clear();
            }
            Values::Reals(values) => {
                column.typed::<DoubleType>().write_batch(values, definition, repetition)?;
                values.clear();
            }
            Values::Bytes(values) => {
                column.typed::<ByteArrayType>().write_batch(values, definition, repetition)?;
                values.clear();
            }
        }
        self.definition.clear();
        self.repetition.iter_mut().for_each(Vec::clear);
        Ok(())
    }
}
