//! The choices that a generator makes.
//!
//! A generator asks for numbers and builds something valid from whatever it gets. Zero always means the simplest
//! answer, and a list that has run out answers zero: so removing or lowering numbers, which is what a property test
//! does to shrink a failure, gives smaller programs.

/// A source of choices: a list, or a seed.
#[derive(Clone, Debug)]
pub struct Choices {
    stream: Stream,
}

#[derive(Clone, Debug)]
enum Stream {
    Given { list: Vec<u32>, at: usize },
    Seeded { state: u64 },
}

impl Choices {
    /// Answers with the numbers of a list, then with zeros.
    pub fn given(list: Vec<u32>) -> Choices {
        Choices { stream: Stream::Given { list, at: 0 } }
    }

    /// Answers without end, the same for the same seed on every platform.
    pub fn seeded(seed: u64) -> Choices {
        Choices { stream: Stream::Seeded { state: seed } }
    }

    /// The next number.
    pub fn number(&mut self) -> u32 {
        match &mut self.stream {
            Stream::Given { list, at } => {
                let number = list.get(*at).copied().unwrap_or(0);
                *at += 1;
                number
            }
            Stream::Seeded { state } => {
                // SplitMix64 (Steele, Lea, Flood 2014).
                *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let mut mixed = *state;
                mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
                (mixed >> 32) as u32
            }
        }
    }

    /// Tells whether nothing but zeros will follow.
    pub fn exhausted(&self) -> bool {
        match &self.stream {
            Stream::Given { list, at } => *at >= list.len(),
            Stream::Seeded { .. } => false,
        }
    }

    /// A number below a bound; zero for the bound zero.
    pub fn below(&mut self, bound: usize) -> usize {
        if bound <= 1 { 0 } else { self.number() as usize % bound }
    }

    /// True that many times in a hundred; never once the choices have run out.
    pub fn chance(&mut self, percent: u32) -> bool {
        self.number() % 100 >= 100 - percent.min(100)
    }

    /// One of some things; `None` of nothing.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        from.get(self.below(from.len()))
    }

    /// 64 bits: often small, sometimes at the edges of a type, else anything.
    pub fn bits(&mut self) -> u64 {
        const EDGES: [u64; 12] = [
            0,
            1,
            u64::MAX,
            i32::MAX as u64,
            i32::MIN as i64 as u64,
            u32::MAX as u64,
            i64::MAX as u64,
            i64::MIN as u64,
            0x7f80_0000,
            0x7fc0_0000,
            0x3ff0_0000_0000_0000,
            0x7ff0_0000_0000_0001,
        ];
        match self.below(4) {
            0 | 1 => self.below(10) as u64,
            2 => EDGES[self.below(EDGES.len())],
            _ => u64::from(self.number()) << 32 | u64::from(self.number()),
        }
    }
}
