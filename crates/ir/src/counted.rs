//! Numbers of things, in words.

/// A number of things, by the words for one and for several: `1 node`, `2 nodes`.
pub fn counted(number: u64, one: &str, several: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { several })
}
