//! Words of identifiers and of prose.

/// The words of a text in lower case: cut at everything but letters and digits, where a small letter is followed by a
/// capital, and before the last capital of several (`HTTPServer` is `http`, `server`).
pub fn words(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for part in text.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty()) {
        let chars: Vec<char> = part.chars().collect();
        let mut word = String::new();
        for (at, c) in chars.iter().enumerate() {
            let before = at.checked_sub(1).map(|at| chars[at]);
            let next = chars.get(at + 1);
            let starts = before.is_some_and(|before| {
                c.is_uppercase() && (before.is_lowercase() || next.is_some_and(|next| next.is_lowercase()))
            });
            if starts && !word.is_empty() {
                found.push(std::mem::take(&mut word));
            }
            word.extend(c.to_lowercase());
        }
        found.push(word);
    }
    found
}

/// Whether one word is another one with few slips: a letter more, less or another, or two changed places. Short words allow
/// none, those from four letters on one, from eight on two.
///
/// The optimal string alignment distance, over three rows.
pub fn is_near(one: &str, other: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let allowed = match a.len() {
        0..=3 => return false,
        4..=7 => 1,
        _ => 2,
    };
    if a.len().abs_diff(b.len()) > allowed || a.len() > 64 {
        return false;
    }
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let mut least = (last[j] + usize::from(x != y)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                least = least.min(before_last[j - 1] + 1);
            }
            row.push(least);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()] <= allowed
}
