//! How much a module may become. Without a bound a small one would be a program that no memory holds.

use super::{ImportError, Place};

/// Nodes of a module at most: each takes some hundreds of bytes as part of a program. What compilers write has fewer than
/// one for two bytes, and so fewer than that in 16 MiB.
pub const MOST_NODES: u64 = 8_000_000;

/// How much there may be more.
#[derive(Debug)]
pub(super) struct Room {
    /// Values. Signatures and blocks may have a thousand of them for a few bytes.
    values: u64,
    /// Nodes, those of the function that is being read among them.
    nodes: u64,
    /// Nodes of all functions.
    most: u64,
}

impl Room {
    /// Without several results an instruction takes no more values than instructions before it gave, one each.
    pub(super) fn of(module: &[u8]) -> Room {
        Room { values: 1_000_000 + 2 * module.len() as u64, nodes: MOST_NODES, most: MOST_NODES }
    }

    /// Takes values, which are not given back.
    pub(super) fn take(&mut self, values: usize, offset: u64) -> Result<(), ImportError> {
        let left = self.values.checked_sub(values as u64);
        self.values = left.ok_or_else(|| ImportError::unsupported("a module of so many values", offset))?;
        Ok(())
    }

    /// Says whether a function may have so many nodes, after an instruction of it.
    pub(super) fn hold(&self, nodes: usize, function: u32, offset: u64) -> Result<(), ImportError> {
        if nodes as u64 <= self.nodes {
            return Ok(());
        }
        let count = self.most - self.nodes + nodes as u64;
        Err(ImportError::TooManyNodes { count, function, at: Place::Byte(offset) })
    }

    /// A function that has been read has so many nodes, which it may.
    pub(super) fn keep(&mut self, nodes: usize) {
        self.nodes = self.nodes.saturating_sub(nodes as u64);
    }
}

#[cfg(test)]
mod tests {
    use lmlang_ir::RefAllocator;

    use super::*;
    use crate::import::{binary, import, import_within};

    #[test]
    fn the_function_that_has_a_node_too_many_is_told() {
        let text =
            "(module (func nop) (func (param i32) (if (local.get 0) (then (call 0)) (else (call 0)))))";
        let module = binary(text).unwrap();
        let refs = || RefAllocator::starting_at(1);
        let nodes = import(&module, &mut refs()).unwrap().totals().counts.nodes;
        let within = |nodes: u64| {
            let room = Room { nodes, most: nodes, ..Room::of(&module) };
            import_within(room, &module, &mut refs(), &mut |_| true).map(|program| program.is_some())
        };
        let refused = |most: u64| match within(most) {
            Err(ImportError::TooManyNodes { count, function, at: Place::Byte(_) }) => Some((count, function)),
            _ => None,
        };
        assert_eq!(within(nodes), Ok(true));
        assert_eq!(refused(nodes - 1), Some((nodes, 1)));
        // The first function has its `return` only.
        assert!(refused(1).is_some_and(|(count, function)| count > 1 && function == 1));
        assert_eq!(refused(0), Some((1, 0)));
    }
}
