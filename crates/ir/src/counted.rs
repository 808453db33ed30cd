//! Numbers of things, in words.

/// A number of things, by the words for one and for several: `1 node`, `2 nodes`.
pub fn counted(number: u64, one: &str, several: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { several })
}

/// Why so many values are too few or too many for what the list is called; nothing where they are as many as are needed.
pub fn miscounted(list: &str, needed: usize, found: usize) -> Option<String> {
    let needs = || counted(needed as u64, "value", "values");
    (needed != found).then(|| format!("`{list}` must have {}, found {found}", needs()))
}
