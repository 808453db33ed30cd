//! Edits that come as text.

use lmlang_ir::hash::{Content, Hasher};
use lmlang_ir::text::{self, InsertPlace, Written};
use lmlang_ir::{
    ContractRef, FuncRef, Hash, ModuleRef, Name, NodeRef, Place, Program, Ref, RefKind, RegionRef, TypeRef,
    VarRef,
};

use super::error::{Done, EditError, Fail, StaleRead, code};
use super::inputs::{AddText, AddType, InsertText, ReplaceText};
use super::nodes::Operator;
use super::places::What;
use super::removal::removed_in_use;
use super::session::{Session, shortened, wrong_kind};
use super::sources::Scope;

impl Session<'_> {
    /// The operator that a text stands for at a place.
    pub(super) fn operator(&self, field: &[&str], place: Scope, given: &str) -> Done<Operator> {
        let given = Written::with_names(given, &self.names);
        // Most operators name things by ref or nothing at all: what has names costs a look at all that is in scope.
        if let Ok(op) = text::parse_op(given) {
            let mut unknown = None;
            op.each_mention(&mut |of| unknown = unknown.or(self.program.place(of).is_none().then_some(of)));
            return match unknown {
                None => Ok(Operator { op, params: Vec::new() }),
                Some(of) => Err(self.unknown(field, of).into()),
            };
        }
        let Scope { function, region, after } = place;
        let scope = text::OperatorScope { function, region, after };
        let form = text::parse_operator(&self.program, scope, given)
            .map_err(|error| self.told(field, vec![error]))?;
        Ok(Operator { op: form.op, params: form.region_params })
    }

    /// Adds what stands in a text; the names of its entities are `$names` afterwards, where they are free.
    pub(super) fn add_text(&mut self, edit: &AddText) -> Done<()> {
        let module = edit.module.as_ref().map(|text| self.entity_of(&["module"], text)).transpose();
        let module = module.map_err(|fail| match fail {
            Fail::Errors(errors) => Fail::Errors(errors.into_iter().map(make_it_first).collect()),
            fail @ (Fail::Follows | Fail::Stale(_)) => fail,
        })?;
        let given = Written::with_names(&edit.text, &self.names);
        let added = text::add_text(&mut self.program, self.refs, module, given)
            .map_err(|errors| self.told(&["text"], errors))?;
        self.placed(added.places);
        for (name, of) in added.entities {
            self.names.entry(name.to_string()).or_insert(of);
        }
        Ok(())
    }

    /// Adds a type.
    pub(super) fn add_type(&mut self, edit: &AddType) -> Done<Ref> {
        let module = self.module(edit.module.as_ref())?;
        let given = Written::with_names(&edit.text, &self.names);
        let added = text::add_text(&mut self.program, self.refs, Some(module), given)
            .map_err(|errors| self.told(&["text"], errors))?;
        self.placed(added.places);
        match added.entities.as_slice() {
            [(_, of)] if TypeRef::try_from(*of).is_ok() => {
                self.bind(edit.name_as.as_ref(), *of)?;
                Ok(*of)
            }
            others => {
                let message = format!("expected one type, found {} entities", others.len());
                let error = EditError::new(code::WRONG_KIND, &["text"], message);
                Err(error.expected(["type Name = struct { .. }".to_owned()]).into())
            }
        }
    }

    /// Replaces a function by its text.
    pub(super) fn replace_function(&mut self, edit: &ReplaceText) -> Done<Ref> {
        let function: FuncRef = self.entity_of(&["ref"], &edit.of)?;
        let hash = self.function(&["ref"], function)?.content_hash();
        check_hash(function.into(), edit, hash)?;
        let given = Written::with_names(&edit.text, &self.names);
        let places = text::replace_function(&mut self.program, self.refs, function, given, None)
            .map_err(|errors| self.told(&["text"], errors))?;
        self.placed(places);
        Ok(function.into())
    }

    /// Replaces all that stands in a module by its text.
    pub(super) fn replace_module(&mut self, edit: &ReplaceText) -> Done<()> {
        let module: ModuleRef = self.entity_of(&["ref"], &edit.of)?;
        if let Some(hash) = text_hash(&self.program, module.into()) {
            check_hash(module.into(), edit, hash)?;
        }
        if edit.text.trim().is_empty() {
            let message = "an empty text would remove all that is in the module";
            let error = EditError::new(code::NOT_EMPTY, &["text"], message);
            let header = format!("module {}", self.program.path(module.into()));
            return Err(error.expected(["the whole module".to_owned(), header]).into());
        }
        let before = self.program.clone();
        let given = Written::with_names(&edit.text, &self.names);
        let replaced = text::replace_module(&mut self.program, self.refs, module, given, None)
            .map_err(|errors| self.told(&["text"], errors))?;
        self.placed(replaced.places);
        self.settle_module(&before, &["text"], replaced.added, &replaced.removed)
    }

    /// Names what the text of a module made; fails when something that it has no longer is used from elsewhere.
    pub(super) fn settle_module(
        &mut self,
        before: &Program,
        field: &[&str],
        added: Vec<(Name, Ref)>,
        removed: &[Ref],
    ) -> Done<()> {
        let mut in_the_way = Vec::new();
        for of in removed {
            let uses = self.uses_in_program(*of);
            if !uses.is_empty() {
                in_the_way.push(removed_in_use(field, (*of, &before.path(*of)), uses));
            }
        }
        if !in_the_way.is_empty() {
            return Err(Fail::Errors(in_the_way));
        }
        for (name, of) in added {
            self.names.entry(name.to_string()).or_insert(of);
        }
        Ok(())
    }

    /// Replaces a type by its text.
    pub(super) fn replace_type(&mut self, edit: &ReplaceText) -> Done<Ref> {
        let ty: TypeRef = self.entity_of(&["ref"], &edit.of)?;
        let Some(hash) = text_hash(&self.program, ty.into()) else {
            return Err(self.unknown(&["ref"], ty.into()).into());
        };
        check_hash(ty.into(), edit, hash)?;
        let given = Written::with_names(&edit.text, &self.names);
        let places = text::replace_type(&mut self.program, self.refs, ty, given)
            .map_err(|errors| self.told(&["text"], errors))?;
        self.placed(places);
        Ok(ty.into())
    }

    /// Replaces storage by its text.
    pub(super) fn replace_storage(&mut self, edit: &ReplaceText) -> Done<Ref> {
        let of: VarRef = self.entity_of(&["ref"], &edit.of)?;
        if self.program.storage(of).is_none() {
            return Err(wrong_kind(&["ref"], of.into(), &[RefKind::Variable]).into());
        }
        if let Some(hash) = text_hash(&self.program, of.into()) {
            check_hash(of.into(), edit, hash)?;
        }
        let given = Written::with_names(&edit.text, &self.names);
        let places = text::replace_storage(&mut self.program, self.refs, of, given)
            .map_err(|errors| self.told(&["text"], errors))?;
        self.placed(places);
        Ok(of.into())
    }

    /// Replaces a contract by its text.
    pub(super) fn replace_contract(&mut self, edit: &ReplaceText) -> Done<Ref> {
        let contract: ContractRef = self.entity_of(&["ref"], &edit.of)?;
        let function = self.within(&["ref"], contract.into())?;
        let hash = self.function(&["ref"], function)?.content_hash();
        check_hash(function.into(), edit, hash)?;
        let given = Written::with_names(&edit.text, &self.names);
        let places = text::replace_contract(&mut self.program, self.refs, contract, given)
            .map_err(|errors| self.told(&["text"], errors))?;
        self.placed(places);
        Ok(contract.into())
    }

    /// Inserts lines; a label in them is a `$name` afterwards.
    pub(super) fn insert_text(&mut self, edit: &InsertText) -> Done<()> {
        let Scope { function, region, after } = self.spot(&edit.at, None, What::Inner, None)?;
        self.insert_lines(&["text"], function, region, after, &edit.text)
    }

    /// Inserts lines of the text form into a region.
    pub(super) fn insert_lines(
        &mut self,
        field: &[&str],
        function: FuncRef,
        region: RegionRef,
        after: Option<NodeRef>,
        lines: &str,
    ) -> Done<()> {
        let given = Written::with_names(lines, &self.names);
        let at = InsertPlace { function, region, after };
        let inserted = text::insert_text(&mut self.program, self.refs, at, given)
            .map_err(|errors| self.told(field, errors))?;
        self.placed(inserted.places);
        for (label, node) in inserted.labels {
            self.names.insert(label, node.into());
        }
        Ok(())
    }

    /// Inserts a condition that a region yields.
    pub(super) fn insert_condition(
        &mut self,
        field: &[&str],
        function: FuncRef,
        region: RegionRef,
        condition: &str,
    ) -> Done<()> {
        let given = Written::with_names(condition, &self.names);
        let at = InsertPlace { function, region, after: None };
        let inserted = text::insert_condition(&mut self.program, self.refs, at, given)
            .map_err(|errors| self.told(field, errors))?;
        self.placed(inserted.places);
        Ok(())
    }
}

/// Says how there comes to be a module that is not there.
fn make_it_first(error: EditError) -> EditError {
    match error.code {
        code::UNKNOWN_REF => error.expected([
            "a module, made by `addModule` before, or by a line `module NAME` in the text".to_owned(),
        ]),
        _ => error,
    }
}

/// Digits of a hash that tell contents apart; texts show so many.
const LEAST_DIGITS: usize = 16;

/// Fails when an entity is not as the caller read it.
fn check_hash(of: Ref, edit: &ReplaceText, actual: Hash) -> Done<()> {
    let Some(given) = &edit.if_hash else { return Ok(()) };
    let is_hash = given.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_hash || !(LEAST_DIGITS..=64).contains(&given.len()) {
        let message = "a hash is 64 hexadecimal digits, or the first 16 of them at least";
        let error = EditError::new(code::BAD_HASH, &["ifHash"], message).found(shortened(given));
        return Err(error.expected(["a contentHash".to_owned()]).into());
    }
    match begins(actual, given) {
        true => Ok(()),
        false => Err(Fail::Stale(StaleRead { edit: 0, of, given: given.clone(), actual })),
    }
}

/// Whether a hash begins with the digits that a caller gave.
fn begins(hash: Hash, given: &str) -> bool {
    hash.to_string().starts_with(&given.to_ascii_lowercase())
}

/// The hash that an edit gives which replaces the text of an entity on a condition: of a function, type, storage or module.
pub fn text_hash(program: &Program, of: Ref) -> Option<Hash> {
    match program.place(of)? {
        Place::Module(of) => text::module_hash(program, of),
        Place::Type(of) => {
            let mut hasher = Hasher::new(b"type");
            program.type_def(of)?.hash_into(&mut hasher);
            Some(hasher.finish())
        }
        Place::Storage(of) => {
            let mut hasher = Hasher::new(b"storage");
            program.storage(of)?.hash_into(&mut hasher);
            Some(hasher.finish())
        }
        Place::Function(of) => Some(program.function(of)?.content_hash()),
        Place::Member(..)
        | Place::Region(..)
        | Place::Variable(..)
        | Place::Contract(..)
        | Place::Node(..) => None,
    }
}

/// Whether an entity has a text whose hash begins with the digits that a caller gave.
pub fn has_text_hash(program: &Program, of: Ref, given: &str) -> bool {
    text_hash(program, of).is_some_and(|hash| begins(hash, given))
}
