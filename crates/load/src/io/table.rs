//! Entries by index. Each entry has a generation, so that an event of a removed socket is not mistaken for an event
//! of the socket that has the same index now.

use super::Token;

#[derive(Debug)]
pub(super) struct Table<T> {
    slots: Vec<(u32, Option<T>)>,
    free: Vec<u32>,
}

impl<T> Table<T> {
    pub(super) fn new() -> Self {
        Self { slots: Vec::new(), free: Vec::new() }
    }

    pub(super) fn insert(&mut self, entry: T) -> Token {
        if let Some(index) = self.free.pop() {
            let slot = &mut self.slots[index as usize];
            slot.1 = Some(entry);
            return Token { index, generation: slot.0 };
        }
        self.slots.push((0, Some(entry)));
        Token { index: self.slots.len() as u32 - 1, generation: 0 }
    }

    pub(super) fn get_mut(&mut self, token: Token) -> Option<&mut T> {
        let (generation, entry) = self.slots.get_mut(token.index as usize)?;
        if *generation == token.generation { entry.as_mut() } else { None }
    }

    pub(super) fn remove(&mut self, token: Token) -> Option<T> {
        let (generation, entry) = self.slots.get_mut(token.index as usize)?;
        if *generation != token.generation {
            return None;
        }
        let entry = entry.take()?;
        *generation = generation.wrapping_add(1);
        self.free.push(token.index);
        Some(entry)
    }
}

impl Token {
    /// Packs the token into the 64 bits of user data that the kernel returns with an event. The caller may use the bits
    /// 24 to 31 for itself, so indexes must be below 16 million.
    pub(super) fn to_bits(self) -> u64 {
        u64::from(self.generation) << 32 | u64::from(self.index)
    }

    pub(super) fn from_bits(bits: u64) -> Self {
        Self { index: bits as u32 & 0x00FF_FFFF, generation: (bits >> 32) as u32 }
    }
}
