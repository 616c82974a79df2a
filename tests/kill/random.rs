//! Numbers from a seed, the same on every machine (splitmix64).

pub struct Random(u64);

impl Random {
    pub fn of(seed: u64) -> Random {
        Random(seed)
    }

    /// One below `limit`, which is not 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }

    /// So many of them, each at most once, in a random order.
    pub fn some<T>(&mut self, mut from: Vec<T>, count: usize) -> Vec<T> {
        let mut taken = Vec::new();
        while taken.len() < count && !from.is_empty() {
            let at = self.below(from.len() as u64) as usize;
            taken.push(from.swap_remove(at));
        }
        taken
    }
}
