//! The dictionary of shapes and digests.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};

use sha2::{Digest as _, Sha256};

use crate::file::{DigestCounts, Writer};
use crate::sql::{Dialect, Kind, digest_text};

/// Largest number of shapes in memory. This many shapes take about 30 MB. When the number is reached, all shapes are
/// forgotten and then learned again.
const SHAPES_MAX: usize = 300_000;

/// A shape that is already in the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub(super) shape_id: i64,
    pub(super) digest_id: i64,
    pub(super) kind: Kind,
    /// Whether the logged text was valid UTF-8. Only then is the shape's text exactly as logged.
    pub(super) is_utf8: bool,
}

/// Finds known shapes by two hashes with random keys. The two hashes together have 128 bits. The texts of shapes are in
/// the file, and not in memory.
#[derive(Debug)]
pub(super) struct Shapes {
    dialect: Dialect,
    keys: [RandomState; 2],
    known: HashMap<[u64; 2], Known>,
    counts: HashMap<i64, DigestCounts, foldhash::quality::RandomState>,
}

impl Shapes {
    pub(super) fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            keys: [RandomState::new(), RandomState::new()],
            known: HashMap::new(),
            counts: HashMap::default(),
        }
    }

    pub(super) fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Finds a shape, and adds the shape to the file if it is new.
    pub(super) fn find(&mut self, shape: &[u8], writer: &mut Writer<'_>) -> rusqlite::Result<Known> {
        let key = self.keys.each_ref().map(|key| key.hash_one(shape));
        if let Some(known) = self.known.get(&key) {
            return Ok(*known);
        }
        if self.known.len() >= SHAPES_MAX {
            self.flush(writer)?;
            self.known.clear();
        }
        let text = String::from_utf8_lossy(shape);
        let is_utf8 = matches!(text, std::borrow::Cow::Borrowed(_));
        let kind = Kind::of(shape);
        let digest = digest_text(&text, self.dialect);
        let hash = Sha256::digest(digest.as_bytes());
        let hash = hash.first_chunk().map_or(0, |first| u64::from_be_bytes(*first));
        let digest_id = writer.digest(&format!("{hash:016x}"), &digest, kind)?;
        let shape_id = writer.add_shape(digest_id, &text)?;
        let known = Known { shape_id, digest_id, kind, is_utf8 };
        self.known.insert(key, known);
        Ok(known)
    }

    /// The counts of a digest.
    pub(super) fn counts(&mut self, digest_id: i64) -> &mut DigestCounts {
        self.counts.entry(digest_id).or_default()
    }

    /// Writes the counts to the file.
    pub(super) fn flush(&mut self, writer: &Writer<'_>) -> rusqlite::Result<()> {
        self.counts.drain().try_for_each(|(id, counts)| writer.count_digest(id, &counts))
    }
}
