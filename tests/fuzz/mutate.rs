//! Inputs made from other inputs.

/// A small generator (xorshift64*), so that a seed gives the same run everywhere.
pub struct Random(u64);

impl Random {
    /// From a seed; 0 is not one.
    pub fn new(seed: u64) -> Random {
        Random(seed.max(1))
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// Less than `limit`, which is not 0.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() >> 11) as usize % limit.max(1)
    }
}

/// One of the inputs with one to eight changes.
pub fn mutated(random: &mut Random, corpus: &[Vec<u8>], words: &[&[u8]], limit: usize) -> Vec<u8> {
    let mut input = match corpus.len() {
        0 => Vec::new(),
        count => corpus[random.below(count)].clone(),
    };
    for _ in 0..=random.below(8) {
        change(random, &mut input, corpus, words);
    }
    input.truncate(limit);
    input
}

fn change(random: &mut Random, input: &mut Vec<u8>, corpus: &[Vec<u8>], words: &[&[u8]]) {
    let at = random.below(input.len() + 1);
    let length = random.below(16.min(input.len() - at + 1));
    match random.below(8) {
        0 if at < input.len() => input[at] ^= 1 << random.below(8),
        1 => {
            let byte = random.below(256) as u8;
            input.insert(at, byte);
        }
        2 => drop(input.drain(at..at + length)),
        3 => {
            let piece = input[at..at + length].to_vec();
            let times = 1 + random.below(4);
            for _ in 0..times {
                input.splice(at..at, piece.iter().copied());
            }
        }
        4 if !corpus.is_empty() => {
            let other = &corpus[random.below(corpus.len())];
            let from = random.below(other.len() + 1);
            let to = from + random.below(64.min(other.len() - from + 1));
            input.splice(at..at, other[from..to].iter().copied());
        }
        5 => input.truncate(at),
        _ if !words.is_empty() => {
            let word = words[random.below(words.len())];
            input.splice(at..at, word.iter().copied());
        }
        _ => {}
    }
}
