//! Calls that follow the signature of their function.

use lmlang_ir::ops::Expected;
use lmlang_ir::text::LiteralPlace;
use lmlang_ir::{FuncRef, FunctionHead, NodeRef, Opcode, Ref, Source, Type};

use crate::request::error::{Done, EditError, code};
use crate::request::session::Session;
use crate::request::sources::Scope;

impl Session<'_> {
    /// Refuses that parameters change places among the same types where the function is used by reference too: what calls
    /// it so would pass the wrong ones, and nothing would tell.
    pub(in crate::request) fn check_references(
        &self,
        of: FuncRef,
        (old, new): (&FunctionHead, &FunctionHead),
        moved: &[Option<u16>],
    ) -> Done<()> {
        let types =
            |head: &FunctionHead| head.params.iter().map(|param| param.ty.clone()).collect::<Vec<Type>>();
        let stays = (0..).zip(moved).all(|(from, to)| *to == Some(from));
        if stays || types(old) != types(new) || old.results != new.results {
            return Ok(());
        }
        let mut references: Vec<String> = Vec::new();
        let users = self.program.users_of(of.into()).map(|(user, _)| user);
        for user in users.chain([of.into()]) {
            let Ok(caller) = FuncRef::try_from(user) else {
                references.push(user.to_string());
                continue;
            };
            let calls = self.calls_in(caller, of)?;
            let body = self.body(caller)?;
            let users = body.users_of(of.number()).filter(|one| one.input.is_none()).map(|one| one.node);
            references.extend(users.filter(|node| !calls.contains(node)).map(|node| node.to_string()));
        }
        if references.is_empty() {
            return Ok(());
        }
        references.sort_unstable();
        references.dedup();
        let message = format!(
            "`{of}` is used by reference too, by {}: what calls it so would pass its arguments in the places that they \
             had; change those first, or give the parameters other types",
            references.join(", ")
        );
        let error = EditError::new(code::HAS_USES, &["params"], message).found(of.to_string());
        Err(error.candidates(references).into())
    }

    /// Lets each call of a function pass its arguments in their new places, and for parameters that are new what the caller
    /// gives for them in their order: sources as the call sees them, or literals; what is not given is a hole. `moved` tells
    /// where parameters are afterwards.
    pub(in crate::request) fn rewrite_calls(
        &mut self,
        of: FuncRef,
        head: &FunctionHead,
        moved: &[Option<u16>],
        defaults: &[String],
    ) -> Done<()> {
        let before: Vec<Option<usize>> = (0..head.params.len())
            .map(|to| moved.iter().position(|at| at.is_some_and(|at| usize::from(at) == to)))
            .collect();
        let new = before.iter().filter(|from| from.is_none()).count();
        if defaults.len() > new {
            let message = format!("{} defaults for {new} new parameters", defaults.len());
            let error = EditError::new(code::NO_SUCH_PORT, &["defaults"], message);
            return Err(error.found(defaults.len().to_string()).expected([format!("at most {new}")]).into());
        }
        let callers: Vec<Ref> = self.program.users_of(of.into()).map(|(user, _)| user).collect();
        let mut callers: Vec<FuncRef> = callers.into_iter().filter_map(|user| user.try_into().ok()).collect();
        callers.push(of);
        callers.sort_unstable();
        callers.dedup();
        for caller in callers {
            for call in self.calls_in(caller, of)? {
                self.rewrite_call(caller, call, head, &before, defaults)?;
            }
        }
        Ok(())
    }

    fn calls_in(&self, caller: FuncRef, of: FuncRef) -> Done<Vec<NodeRef>> {
        let body = self.body(caller)?;
        let users = body.users_of(of.number()).filter(|one| one.input.is_none()).map(|one| one.node);
        let is_call =
            |node: &NodeRef| body.node(*node).is_some_and(|found| found.op().code() == Opcode::Call);
        Ok(users.filter(is_call).collect())
    }

    fn rewrite_call(
        &mut self,
        caller: FuncRef,
        call: NodeRef,
        head: &FunctionHead,
        before: &[Option<usize>],
        defaults: &[String],
    ) -> Done<()> {
        let body = self.body(caller)?;
        let Some(mut content) = body.node(call).map(|found| found.content()) else { return Ok(()) };
        let region = body.node(call).map(|found| found.region());
        let mut defaults = defaults.iter().enumerate();
        let mut inputs: Vec<Option<Source>> = Vec::with_capacity(before.len());
        for (param, from) in head.params.iter().zip(before) {
            inputs.push(match (from, region) {
                (Some(from), _) => content.inputs.get(*from),
                (None, Some(region)) => match defaults.next() {
                    Some((index, text)) => {
                        // Constants for the defaults before stand there by now.
                        let after = self.body(caller)?.previous(call);
                        let place = Scope { function: caller, region, after };
                        let index = index.to_string();
                        let field = ["defaults", &*index];
                        let given = self.given(&field, place, text)?;
                        let wanted = Expected::Is(param.ty.clone());
                        Some(self.input(&field, place, given, LiteralPlace::Takes(&wanted))?)
                    }
                    None => None,
                },
                (None, None) => None,
            });
        }
        content.inputs = inputs.into_iter().collect();
        self.open(caller)?.set_node(call, content)?;
        let body = self.body(caller)?;
        let gone = |port: u16| usize::from(port) >= head.results.len();
        let uses: Vec<_> = body
            .uses_of(call.number())
            .filter(|one| body.source_of(*one).is_some_and(|source| gone(source.port())))
            .filter_map(|one| Some((one.node, one.input?)))
            .collect();
        let mut open = self.open(caller)?;
        for (user, input) in uses {
            open.set_input(user, usize::from(input), None)?;
        }
        Ok(())
    }
}
