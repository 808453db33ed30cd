//! Functions that are added to a program together: what is kept of all by number changes hands as one.

use std::sync::Arc;

use crate::change::{Found, StructureError, mentioned};
use crate::draft::{Draft, Parts, Workspace};
use crate::entities::FunctionHead;
use crate::function::Function;
use crate::program::{Home, Program};
use crate::refs::{FuncRef, RefKind};
use crate::trie::Entries;

/// Functions with what a program notes of them when they are added, which needs no program to be found out.
///
/// One serves again and again, so that its lists need no new room.
#[derive(Debug, Default)]
pub struct PreparedFunctions {
    functions: Entries<Arc<Function>>,
    found: Found,
    /// What the operators and types of each name outside of it, as often as they do, and where that ends.
    mentioned: Vec<u64>,
    ends: Vec<usize>,
    workspace: Workspace,
}

impl PreparedFunctions {
    /// Puts a function together. The draft is empty again, whatever comes of it.
    ///
    /// # Errors
    ///
    /// As [`Draft::finish`]. Then none of the functions is left.
    pub fn put_together(
        &mut self,
        of: FuncRef,
        head: FunctionHead,
        draft: &mut Draft,
    ) -> Result<(), StructureError> {
        // The parts are looked through while they lie in lists.
        let Parts { nodes, regions, variables, contracts } = draft.parts();
        let parts = (nodes.items().iter(), regions.items().iter(), variables.items().iter());
        mentioned(&mut self.mentioned, &head, parts.0, parts.1, parts.2);
        let regions = regions.keys().iter().map(|number| (RefKind::Region, *number));
        let variables = variables.keys().iter().map(|number| (RefKind::Variable, *number));
        let contracts = contracts.keys().iter().map(|number| (RefKind::Contract, *number));
        self.found.add(of, nodes.keys().iter().copied(), regions.chain(variables).chain(contracts));
        match draft.finish_in(&mut self.workspace, head) {
            Ok(function) => {
                self.functions.push(of.number(), Arc::new(function));
                self.ends.push(self.mentioned.len());
                Ok(())
            }
            Err(error) => {
                self.clear();
                Err(error)
            }
        }
    }

    fn clear(&mut self) {
        self.functions.clear();
        self.found.homes.clear();
        self.mentioned.clear();
        self.ends.clear();
    }
}

impl Program {
    /// Adds functions, of which none is left then. It is all of them or none.
    ///
    /// # Errors
    ///
    /// A ref that two of them or of their parts have, or something in the program.
    pub fn add_prepared_functions(&mut self, prepared: &mut PreparedFunctions) -> Result<(), StructureError> {
        let added = self.add_together(prepared);
        prepared.clear();
        added
    }

    fn add_together(&mut self, prepared: &mut PreparedFunctions) -> Result<(), StructureError> {
        let PreparedFunctions { functions, found, mentioned, ends, workspace: _ } = prepared;
        let own = |number: &u64| (*number, Home::new(RefKind::Function, 0));
        let mut own: Entries<Home> = functions.keys().iter().map(own).collect();
        own.sort().map_err(|twice| StructureError::Exists(FuncRef::of_key(own.keys()[twice]).into()))?;
        let parts = found.take()?;
        // Apart from their parts, whose numbers are elsewhere: these change hands as whole subtries then.
        self.index.claim_all(own.take())?;
        if let Err(error) = self.index.claim_all(parts) {
            for number in functions.keys() {
                self.index.homes.remove(*number);
            }
            return Err(error);
        }
        let mut from = 0;
        for ((number, function), end) in functions.keys().iter().zip(functions.items()).zip(&*ends) {
            self.index.functions += 1;
            self.index.counts.add(function.body.counts);
            self.index.name(Some(function.head.module), &function.head.name, *number);
            self.index.mention_all(&mut mentioned[from..*end], *number);
            self.index.state(FuncRef::of_key(*number), function.states_invariants_of());
            from = *end;
        }
        // That no number occurs twice is known.
        if functions.sort().is_ok() {
            self.functions.absorb(functions.take());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::PreparedFunctions;
    use crate::change::StructureError;
    use crate::draft::Draft;
    use crate::entities::{FunctionHead, Region, RegionOwner, RegionRole};
    use crate::node::NodeContent;
    use crate::ops::Op;
    use crate::program::Program;
    use crate::refs::{FuncRef, ModuleRef, NodeRef, RegionRef};

    /// A function with two nodes that call others.
    fn draft(numbers: [u64; 3], calls: [u64; 2]) -> Draft {
        let [root, first, second] = numbers;
        let mut draft = Draft::new();
        let region = Region::new(RegionOwner::Function, RegionRole::Body, Vec::new());
        draft.add_region(RegionRef::of_key(root), region).unwrap();
        for (of, callee) in [first, second].into_iter().zip(calls) {
            let content = NodeContent::new(Op::call(FuncRef::of_key(callee)), []);
            draft.append(NodeRef::of_key(of), RegionRef::of_key(root), content).unwrap();
        }
        draft
    }

    fn head(of: u64) -> FunctionHead {
        FunctionHead::new(format!("f{of}"), ModuleRef::of_key(9), Vec::new(), Vec::new())
    }

    const FUNCTIONS: [(u64, [u64; 3], [u64; 2]); 3] =
        [(3, [70, 71, 72], [2, 2]), (1, [16, 17, 18], [2, 3]), (2, [40, 33, 39], [1, 9])];

    #[test]
    fn functions_that_are_added_together_are_as_those_added_one_by_one() {
        let (mut together, mut one_by_one) = (Program::new(), Program::new());
        let mut prepared = PreparedFunctions::default();
        for (of, numbers, calls) in FUNCTIONS {
            prepared.put_together(FuncRef::of_key(of), head(of), &mut draft(numbers, calls)).unwrap();
            let function = draft(numbers, calls).finish(head(of)).unwrap();
            one_by_one.add_whole_function(FuncRef::of_key(of), function.into()).unwrap();
        }
        together.add_prepared_functions(&mut prepared).unwrap();
        assert!(together == one_by_one);
        assert_eq!(together.root_hash(), one_by_one.root_hash());
        assert_eq!(together.totals(), one_by_one.totals());
        let users = |of: &Program| of.all_users().collect::<Vec<_>>();
        assert_eq!(users(&together), users(&one_by_one));
        for number in 0..80 {
            assert_eq!(together.ref_of(number), one_by_one.ref_of(number));
        }
        // None is left.
        together.add_prepared_functions(&mut prepared).unwrap();
        assert_eq!(together.totals(), one_by_one.totals());
    }

    #[test]
    fn all_are_added_or_none() {
        let mut program = Program::new();
        let mut prepared = PreparedFunctions::default();
        let mut add = |program: &mut Program, functions: &[(u64, [u64; 3])]| {
            for (of, numbers) in functions {
                let mut draft = draft(*numbers, [1, 1]);
                prepared.put_together(FuncRef::of_key(*of), head(*of), &mut draft).unwrap();
            }
            program.add_prepared_functions(&mut prepared)
        };
        add(&mut program, &[(1, [16, 17, 18])]).unwrap();
        let exists = |number| StructureError::Exists(NodeRef::of_key(number).into());
        let before = program.totals();
        assert_eq!(add(&mut program, &[(2, [32, 33, 34]), (3, [48, 49, 18])]), Err(exists(18)));
        assert_eq!(add(&mut program, &[(2, [32, 33, 34]), (3, [48, 49, 34])]), Err(exists(34)));
        let function = StructureError::Exists(FuncRef::of_key(1).into());
        assert_eq!(add(&mut program, &[(2, [32, 33, 34]), (1, [48, 49, 50])]), Err(function));
        assert_eq!(program.totals(), before);
        add(&mut program, &[(2, [32, 33, 34]), (3, [48, 49, 50])]).unwrap();
        assert_eq!(program.totals().functions, 3);
    }
}
