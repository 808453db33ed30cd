//! What tokens cost.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::reply::{Cost, CostSource, Usage};

/// What a model's tokens cost, in US dollars for a million.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Tokens of the request.
    pub input: f64,
    /// Tokens of the answer.
    pub output: f64,
    /// Tokens of the request that the provider had kept; as `input` without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<f64>,
}

/// Prices by the name of the model.
pub type Prices = BTreeMap<String, Price>;

impl Price {
    /// What these tokens cost, to the nearest billionth of a dollar.
    pub fn cost(&self, usage: Usage) -> Cost {
        let cached = usage.cached.unwrap_or(0).min(usage.input);
        let parts = [
            (usage.input - cached, self.input),
            (cached, self.cached.unwrap_or(self.input)),
            (usage.output, self.output),
        ];
        // A dollar for a million tokens is a thousand billionths for each; a whole number of billionths for a million is
        // exact far beyond what any price is written with.
        let millionths: u128 = parts
            .iter()
            .map(|&(tokens, price)| u128::from(tokens) * u128::from((price * 1e9).round() as u64))
            .sum();
        let nano_usd = u64::try_from((millionths + 500_000) / 1_000_000).unwrap_or(u64::MAX);
        Cost { nano_usd, source: CostSource::Prices }
    }

    /// Says whether these are prices: no negative ones, no infinite ones.
    pub(crate) fn is_legal(&self) -> bool {
        [self.input, self.output, self.cached.unwrap_or(0.0)]
            .iter()
            .all(|price| price.is_finite() && (0.0..=1e6).contains(price))
    }
}

#[cfg(test)]
mod tests {
    use super::super::reply::UsageSource;
    use super::*;

    fn check(price: Price, (input, cached, output): (u64, Option<u64>, u64), expect: &str) {
        let cost = price.cost(Usage { input, output, cached, source: UsageSource::Reported });
        assert_eq!(cost.to_string(), expect);
    }

    #[test]
    fn tokens_cost_what_the_table_says() {
        let price = Price { input: 0.15, output: 0.6, cached: Some(0.075) };
        check(price, (1_000_000, None, 1_000_000), "$0.750000000");
        check(price, (1_000, Some(400), 10), "$0.000126000");
        check(price, (1, None, 0), "$0.000000150");
        check(price, (0, None, 0), "$0.000000000");
        check(Price { input: 0.0375, output: 0.0, cached: None }, (3, Some(9), 0), "$0.000000113");
        check(Price { input: 1e6, output: 0.0, cached: None }, (u64::MAX, None, 0), "$18446744073.709551615");
    }
}
