//! Events of a server's stream, as they come in pieces.

/// An event: its name, and what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) name: String,
    pub(crate) data: String,
}

/// What has come of a stream and was not taken out of it yet.
#[derive(Debug, Default)]
pub(crate) struct Events(Vec<u8>);

impl Events {
    /// Adds what has come.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// The next event that is whole. What only says that somebody is there is none.
    pub(crate) fn next(&mut self) -> Option<Event> {
        loop {
            let end = self.0.windows(2).position(|two| two == b"\n\n")?;
            let block: Vec<u8> = self.0.drain(..end + 2).collect();
            let block = String::from_utf8_lossy(&block);
            let (mut name, mut data) = (None, Vec::new());
            for line in block.lines() {
                match line
                    .split_once(':')
                    .map(|(field, value)| (field, value.strip_prefix(' ').unwrap_or(value)))
                {
                    Some(("event", value)) => name = Some(value.to_owned()),
                    Some(("data", value)) => data.push(value),
                    _ => {}
                }
            }
            if let Some(name) = name {
                return Some(Event { name, data: data.join("\n") });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_whole_or_not_there_yet() {
        let mut events = Events::default();
        let mut found = Vec::new();
        for piece in [
            "event: read\nda",
            "ta: {\"bytes\":1}\n",
            "\n: still here\n\nevent: a\ndata: 1\ndata: 2\n\nevent: b",
        ] {
            events.add(piece.as_bytes());
            found.extend(std::iter::from_fn(|| events.next()).map(|event| (event.name, event.data)));
        }
        let expect = [("read", "{\"bytes\":1}"), ("a", "1\n2")];
        assert_eq!(found, expect.map(|(name, data)| (name.to_owned(), data.to_owned())));
    }
}
