//! A disk with a volatile cache: written data stays in memory until it is flushed.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use super::medium::Medium;

/// The unit in which writes survive a cut. As in most disks, a write of one unit is either complete or absent.
pub(super) const BLOCK_BYTES: usize = 4096;
/// Largest number of blocks that are written to the image at once.
const RUN_BLOCKS: usize = 256;

type Block = [u8; BLOCK_BYTES];

/// The writes that a disk had not flushed when its power was cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CutWrites {
    /// Number of blocks of 4 KiB that were written but not flushed.
    pub unflushed_blocks: u64,
    /// Number of these blocks that reached the disk nevertheless.
    pub survived_blocks: u64,
}

/// A disk that keeps its flushed blocks in a file and the other blocks in memory.
#[derive(Debug)]
pub(super) struct Disk {
    image: File,
    bytes: u64,
    unflushed: BTreeMap<u64, Box<Block>>,
    /// False after a cut. The disk then still answers, so that its users can end, but makes nothing durable.
    is_powered: bool,
}

impl Disk {
    pub(super) fn new(image: File, bytes: u64) -> Self {
        Self { image, bytes, unflushed: BTreeMap::new(), is_powered: true }
    }

    /// Cuts the power. The unflushed blocks for which `survives` returns true are kept, because a real disk may have
    /// written some blocks before it was told to flush.
    pub(super) fn cut(&mut self, mut survives: impl FnMut() -> bool) -> io::Result<CutWrites> {
        self.is_powered = false;
        let mut cut = CutWrites { unflushed_blocks: self.unflushed.len() as u64, ..CutWrites::default() };
        for (number, block) in self.unflushed.iter().filter(|_| survives()) {
            self.image.write_all_at(&**block, number * BLOCK_BYTES as u64)?;
            cut.survived_blocks += 1;
        }
        Ok(cut)
    }

    /// Forgets the data that did not survive the latest cut.
    pub(super) fn power_on(&mut self) {
        self.unflushed.clear();
        self.is_powered = true;
    }
}

impl Medium for Disk {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn read(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        let bytes = into.len().min(self.bytes.saturating_sub(offset) as usize);
        let into = &mut into[..bytes];
        self.image.read_exact_at(into, offset)?;
        for (number, in_block, range) in parts(offset, bytes) {
            if let Some(block) = self.unflushed.get(&number) {
                into[range.clone()].copy_from_slice(&block[in_block..in_block + range.len()]);
            }
        }
        Ok(bytes)
    }

    fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        if offset + bytes.len() as u64 > self.bytes {
            return Err(io::ErrorKind::StorageFull.into());
        }
        for (number, in_block, range) in parts(offset, bytes.len()) {
            let is_whole = range.len() == BLOCK_BYTES;
            if !is_whole && !self.unflushed.contains_key(&number) {
                let mut block = Box::new([0; BLOCK_BYTES]);
                self.image.read_exact_at(&mut *block, number * BLOCK_BYTES as u64)?;
                self.unflushed.insert(number, block);
            }
            let block = self.unflushed.entry(number).or_insert_with(|| Box::new([0; BLOCK_BYTES]));
            block[in_block..in_block + range.len()].copy_from_slice(&bytes[range]);
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.is_powered {
            return Ok(());
        }
        let blocks: Vec<(u64, &Block)> =
            self.unflushed.iter().map(|(number, block)| (*number, &**block)).collect();
        for run in blocks.chunk_by(|a, b| a.0 + 1 == b.0).flat_map(|run| run.chunks(RUN_BLOCKS)) {
            let bytes: Vec<u8> = run.iter().flat_map(|(_, block)| block.iter().copied()).collect();
            self.image.write_all_at(&bytes, run[0].0 * BLOCK_BYTES as u64)?;
        }
        self.unflushed.clear();
        Ok(())
    }
}

/// Splits a range of the disk into blocks. Each item has the block's number, the offset in the block, and the part
/// of the range that is in the block.
fn parts(offset: u64, bytes: usize) -> impl Iterator<Item = (u64, usize, std::ops::Range<usize>)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let at = offset + done as u64;
        let in_block = (at % BLOCK_BYTES as u64) as usize;
        let length = (BLOCK_BYTES - in_block).min(bytes - done);
        let part = (at / BLOCK_BYTES as u64, in_block, done..done + length);
        done += length;
        (length > 0).then_some(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: u64 = 16 * BLOCK_BYTES as u64;

    fn disk() -> Disk {
        let image = tempfile::tempfile().unwrap();
        image.set_len(SIZE).unwrap();
        Disk::new(image, SIZE)
    }

    fn read(disk: &Disk, offset: u64, bytes: usize) -> Vec<u8> {
        let mut into = vec![0xff; bytes];
        let read = disk.read(offset, &mut into).unwrap();
        into.truncate(read);
        into
    }

    #[test]
    fn what_was_flushed_survives_a_cut_and_what_was_not_does_not() {
        let mut disk = disk();
        disk.write(100, b"flushed").unwrap();
        disk.flush().unwrap();
        disk.write(104, b"not").unwrap();
        assert_eq!(read(&disk, 100, 8), b"flusnot\0");
        let cut = disk.cut(|| false).unwrap();
        assert_eq!(cut, CutWrites { unflushed_blocks: 1, survived_blocks: 0 });
        disk.power_on();
        assert_eq!(read(&disk, 100, 8), b"flushed\0");
    }

    #[test]
    fn each_block_survives_or_not() {
        let mut disk = disk();
        let bytes = vec![7; 3 * BLOCK_BYTES];
        disk.write(BLOCK_BYTES as u64 / 2, &bytes).unwrap();
        let mut turn = 0;
        let cut = disk
            .cut(|| {
                turn += 1;
                turn % 2 == 0
            })
            .unwrap();
        assert_eq!(cut, CutWrites { unflushed_blocks: 4, survived_blocks: 2 });
        disk.power_on();
        let quarter = |block: u64| block * BLOCK_BYTES as u64 + BLOCK_BYTES as u64 / 4;
        let firsts: Vec<u8> = (0..4).map(|block| read(&disk, quarter(block), 1)[0]).collect();
        assert_eq!(firsts, [0, 7, 0, 7]);
    }

    #[test]
    fn what_is_flushed_without_power_is_gone() {
        let mut disk = disk();
        disk.cut(|| true).unwrap();
        disk.write(0, b"late").unwrap();
        disk.flush().unwrap();
        assert_eq!(read(&disk, 0, 4), b"late");
        disk.power_on();
        assert_eq!(read(&disk, 0, 4), [0; 4]);
    }

    #[test]
    fn runs_of_blocks_are_flushed_to_their_places() {
        let mut disk = disk();
        let bytes: Vec<u8> = (0..5 * BLOCK_BYTES).map(|at| (at / 1000) as u8).collect();
        disk.write(2 * BLOCK_BYTES as u64, &bytes).unwrap();
        disk.write(9 * BLOCK_BYTES as u64, &bytes).unwrap();
        disk.flush().unwrap();
        disk.cut(|| false).unwrap();
        disk.power_on();
        assert_eq!(read(&disk, 2 * BLOCK_BYTES as u64, bytes.len()), bytes);
        assert_eq!(read(&disk, 9 * BLOCK_BYTES as u64, bytes.len()), bytes);
    }

    #[test]
    fn the_disk_ends_where_it_ends() {
        let mut disk = disk();
        assert_eq!(read(&disk, SIZE - 3, 10).len(), 3);
        assert!(disk.write(SIZE - 3, b"four").is_err());
        assert_eq!(read(&disk, SIZE + 1, 1), [0; 0]);
    }
}
