//! Names of entities as seen inside of a function.

use std::collections::HashMap;

use crate::ops::AttrKind;
use crate::refs::{FuncRef, MemberRef, NodeRef, RefKind, TypeRef, VarRef};
use crate::text::error::{Mistake, code, in_scope};
use crate::text::names::{ProgramNames, unknown_ref};
use crate::text::resolve::{Names, Resolved, given_ref};
use crate::text::scope::Scope;
use crate::text::syntax::{Path, Segment};

/// Names in a function.
pub(super) struct BodyNames<'a> {
    pub(super) program: ProgramNames<'a>,
    pub(super) function: FuncRef,
    pub(super) scope: &'a Scope,
    /// Refs of entities that the text makes.
    pub(super) given: &'a HashMap<u64, RefKind>,
    /// Below this a ref that nothing has can be that of something that was removed.
    pub(super) retired_below: u64,
}

impl BodyNames<'_> {
    /// The ref of a member that was removed. Operators that name it are left behind, and the verifier tells of them.
    fn removed(&self, segment: &Segment) -> Option<MemberRef> {
        let (of, _) = given_ref(segment)?;
        let taken = self.given.contains_key(&of.number) || self.program.program.ref_of(of.number).is_some();
        MemberRef::try_from(of).ok().filter(|_| !taken && of.number < self.retired_below)
    }
}

impl Names for BodyNames<'_> {
    fn named(&self, path: &Path) -> Resolved<TypeRef> {
        self.program.named(path)
    }

    fn function(&self, path: &Path) -> Resolved<FuncRef> {
        self.program.function(path)
    }

    fn variable(&self, path: &Path) -> Resolved<VarRef> {
        let body = self.program.program.function(self.function).map(|function| function.body());
        let segment = path.last();
        if let Some((of, at)) = given_ref(segment) {
            let found =
                VarRef::try_from(of).ok().filter(|of| body.is_some_and(|body| body.variable(*of).is_some()));
            return found.ok_or_else(|| unknown_ref(of, at));
        }
        match self.scope.variables(&segment.name) {
            [of] if path.segments.len() == 1 => Ok(*of),
            [] | [_] => {
                let message = format!("there is no variable `{}`", path.display());
                Err(Mistake::new(code::UNKNOWN_NAME, segment.at, message)
                    .found(path.display())
                    .candidates(in_scope(&segment.name, self.scope.variable_names())))
            }
            several => {
                let message = format!("`{}` is the name of more than one variable", segment.name);
                let shown = several.iter().map(|of| format!("{}#{of}", segment.name)).collect();
                Err(Mistake::new(code::AMBIGUOUS_NAME, segment.at, message).candidates(shown))
            }
        }
    }

    fn storage(&self, path: &Path, kind: AttrKind) -> Resolved<VarRef> {
        self.program.storage(path, kind)
    }

    fn member(&self, owner: TypeRef, segment: &Segment) -> Resolved<MemberRef> {
        match self.removed(segment) {
            Some(member) => Ok(member),
            None => self.program.member(owner, segment),
        }
    }

    fn target(&self, segment: &Segment) -> Resolved<NodeRef> {
        if let Some((of, at)) = given_ref(segment) {
            let known = self.given.contains_key(&of.number) || self.program.program.place(of).is_some();
            return match NodeRef::try_from(of) {
                Ok(node) if known => Ok(node),
                Ok(_) => Err(unknown_ref(of, at)),
                Err(error) => {
                    Err(Mistake::new(code::WRONG_KIND, at, error.to_string()).found(of.to_string()))
                }
            };
        }
        self.scope.label(&segment.name).ok_or_else(|| {
            let message = format!("there is no label `{}` around", segment.name);
            Mistake::new(code::UNKNOWN_NAME, segment.at, message)
                .found(&*segment.name)
                .candidates(in_scope(&segment.name, self.scope.label_names()))
        })
    }

    fn capture(&self, segment: &Segment) -> Resolved<u32> {
        let function = self.program.program.function(self.function);
        let captures = function.map_or(&[][..], |function| &function.head().captures);
        match captures.iter().position(|capture| *capture.name == *segment.name) {
            Some(index) => Ok(index as u32),
            None => {
                let message = format!("there is no capture `{}`", segment.name);
                Err(Mistake::new(code::UNKNOWN_NAME, segment.at, message)
                    .found(&*segment.name)
                    .candidates(in_scope(&segment.name, captures.iter().map(|capture| &*capture.name))))
            }
        }
    }
}
