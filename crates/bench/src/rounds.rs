//! Rounds: everything takes its turn in each of them, in another order every time.

/// Rounds of a block, at least.
pub const ROUNDS: usize = 5;

/// The middle, the least and the most of some measurements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The middle one; of an even number the upper of the two.
    pub median: f64,
    /// The least.
    pub low: f64,
    /// The most.
    pub high: f64,
}

impl Spread {
    /// The spread of measurements, of which there is at least one.
    ///
    /// # Panics
    ///
    /// When there is none.
    #[must_use]
    pub fn of(measured: &[f64]) -> Spread {
        let mut sorted = measured.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (low, high) = (sorted[0], sorted[sorted.len() - 1]);
        Spread { median: sorted[sorted.len() / 2], low, high }
    }

    /// The spread of the quotients, round by round.
    #[must_use]
    pub fn of_ratio(measured: &[f64], beside: &[f64]) -> Spread {
        let ratios: Vec<f64> = measured.iter().zip(beside).map(|(one, other)| one / other).collect();
        Spread::of(&ratios)
    }
}

/// A series of numbers that looks random and is the same every time.
#[derive(Clone, Copy, Debug)]
pub struct Series(u64);

impl Series {
    /// The series of a seed.
    #[must_use]
    pub fn seeded(seed: u64) -> Series {
        Series(seed)
    }

    /// The next number, by SplitMix64 (Steele, Lea, Flood 2014).
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// The next number below a bound, which is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.number() % bound as u64) as usize
    }
}

/// The orders of `count` things in `rounds` rounds, the same for the same seed.
#[must_use]
pub fn orders(count: usize, rounds: usize, seed: u64) -> Vec<Vec<usize>> {
    let mut series = Series::seeded(seed);
    let shuffled = |_| {
        let mut order: Vec<usize> = (0..count).collect();
        for at in (1..count).rev() {
            order.swap(at, series.below(at + 1));
        }
        order
    };
    (0..rounds).map(shuffled).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_round_has_everything_and_orders_differ() {
        let orders = orders(4, 20, 1);
        for order in &orders {
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2, 3]);
        }
        assert!(orders.iter().any(|order| *order != orders[0]));
        assert_eq!(orders, super::orders(4, 20, 1));
    }

    #[test]
    fn a_ratio_is_taken_within_rounds() {
        let spread = Spread::of_ratio(&[1.0, 20.0, 6.0], &[1.0, 10.0, 2.0]);
        assert_eq!(spread, Spread { median: 2.0, low: 1.0, high: 3.0 });
    }
}
