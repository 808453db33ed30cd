//! The program while a list of edits is carried out, and what the names in the list stand for.

use std::collections::BTreeSet;

use imbl::OrdMap;
use lmlang_ir::text::{self, Places, TextError, in_scope, near_entities, nearest};
use lmlang_ir::{
    Body, FuncRef, Function, FunctionMut, ModuleRef, NodeRef, Place, Program, Ref, RefAllocator, RefKind,
    RegionRef, StructureError, refs,
};

use super::error::{Done, EditError, Fail, code};

/// How many refs around an unknown one are looked at for candidates.
const NEARBY: u64 = 64;

/// The state of a request in the making.
pub(super) struct Session<'a> {
    pub(super) program: Program,
    pub(super) refs: &'a mut RefAllocator,
    /// What `$names` stand for.
    pub(super) names: OrdMap<String, Ref>,
    /// Names that an edit would have made, had it not failed.
    pub(super) lost: BTreeSet<String>,
    /// The lowest ref that was never handed out before the request.
    pub(super) fresh: u64,
    /// The edit that is carried out, and where what the edits before brought stands in their texts.
    pub(super) edit: usize,
    pub(super) places: Vec<(usize, Places)>,
    /// How many inputs and parameters promotions may still write; nothing once it was too much.
    pub(super) promotable: Option<usize>,
}

/// The `$` and the parts of a text like `$x.then`, without them.
pub(super) fn dollar(text: &str) -> Option<(&str, Option<&str>)> {
    let name = text.strip_prefix('$')?;
    Some(match name.split_once('.') {
        Some((name, rest)) => (name, Some(rest)),
        None => (name, None),
    })
}

impl Session<'_> {
    /// Remembers where the entities of the current edit's text stand.
    pub(super) fn placed(&mut self, places: Places) {
        self.places.push((self.edit, places));
    }

    /// Gives a name to something that was made.
    pub(super) fn bind(&mut self, name_as: Option<&String>, of: impl Into<Ref>) -> Done<()> {
        let Some(name) = name_as else { return Ok(()) };
        let name = bare(name);
        if name.is_empty() || name.contains(['.', '$', ' ']) {
            let message = format!("`{}` cannot be a name in a list of edits", shortened(name));
            let error = EditError::new(code::BAD_NAME, &["as"], message).found(shortened(name));
            return Err(error.into());
        }
        if let Some(taken) = self.names.get(name) {
            let message = format!("`${name}` stands for something already");
            let error = EditError::new(code::DUPLICATE_NAME, &["as"], message).found(format!("${name}"));
            return Err(error.candidates([taken.to_string()]).into());
        }
        self.names.insert(name.to_owned(), of.into());
        Ok(())
    }

    /// What a `$name` stands for.
    pub(super) fn named(&self, field: &[&str], name: &str) -> Done<Ref> {
        if let Some(of) = self.names.get(name) {
            return Ok(*of);
        }
        if self.lost.contains(name) {
            return Err(Fail::Follows);
        }
        let known = in_scope(name, self.names.iter().map(|(name, _)| name.as_str()))
            .into_iter()
            .map(|name| format!("${name}"));
        let message = format!("no edit before made `${name}`");
        Err(EditError::new(code::UNKNOWN_NAME, field, message)
            .found(format!("${name}"))
            .candidates(known)
            .into())
    }

    /// The entity that a text names: a ref, `$x`, a region of it like `$x.then`, or the path of what has one.
    pub(super) fn entity(&self, field: &[&str], text: &str) -> Done<Ref> {
        if let Some((name, part)) = dollar(text) {
            let of = self.named(field, name)?;
            return match part {
                None => Ok(of),
                Some(role) => self.region_of(field, of, role).map(Ref::from),
            };
        }
        // As the text form prints it: `total#f12`.
        let given = text.rsplit_once('#').map_or(text, |(_, of)| of);
        if let Ok(of) = given.parse::<Ref>() {
            return match self.program.place(of) {
                Some(_) => Ok(of),
                None => Err(self.unknown(field, of).into()),
            };
        }
        self.by_path(field, text)
    }

    fn by_path(&self, field: &[&str], text: &str) -> Done<Ref> {
        match self.program.resolve(text).as_slice() {
            [one] => Ok(*one),
            [] => {
                let message = format!("there is no `{}`", shortened(text));
                let error = EditError::new(code::UNKNOWN_REF, field, message).found(shortened(text));
                // What an edit before made is `$x`, and whoever forgets the sign means that first.
                let made = self.names.contains_key(text).then(|| format!("${text}"));
                Err(error.candidates(made).candidates(near_entities(&self.program, text)).into())
            }
            several => {
                let message = format!("`{text}` is the name of more than one entity");
                let refs = several.iter().map(Ref::to_string);
                Err(EditError::new(code::AMBIGUOUS_NAME, field, message).found(text).candidates(refs).into())
            }
        }
    }

    /// The mistake of a ref that nothing has.
    pub(super) fn unknown(&self, field: &[&str], of: Ref) -> EditError {
        let other = self.program.ref_of(of.number);
        if let Some(other) = other {
            let message = format!("there is no `{of}`; the number is that of `{other}`");
            return EditError::new(code::UNKNOWN_REF, field, message)
                .found(of.to_string())
                .candidates([other.to_string()]);
        }
        let retired = of.number < self.fresh;
        let around = (1..=NEARBY).flat_map(|distance| {
            [of.number.checked_sub(distance), of.number.checked_add(distance)].into_iter().flatten()
        });
        let near: Vec<String> = around
            .filter_map(|number| self.program.ref_of(number))
            .filter(|near| near.kind == of.kind)
            .take(3)
            .map(|near| near.to_string())
            .collect();
        let message = format!("there is no `{of}`");
        let error = EditError::new(code::UNKNOWN_REF, field, message).found(of.to_string()).candidates(near);
        EditError { retired, ..error }
    }

    /// An entity of one kind.
    pub(super) fn entity_of<R>(&self, field: &[&str], text: &str) -> Done<R>
    where
        R: TryFrom<Ref>,
        R: KnownKind,
    {
        let of = self.entity(field, text)?;
        R::try_from(of).map_err(|_| wrong_kind(field, of, &[R::KIND]).into())
    }

    /// A node, with the function that it is in. A name alone is looked for in `home`, the function that something else in
    /// the edit tells.
    pub(super) fn node(&self, field: &[&str], text: &str, home: Option<FuncRef>) -> Done<(FuncRef, NodeRef)> {
        if !is_plain(text) || (home.is_none() && !self.is_name(text)) {
            let node: NodeRef = self.entity_of(field, text)?;
            return self.within(field, node.into()).map(|function| (function, node));
        }
        let name = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(text);
        let Some(function) = home else {
            let message = format!("`{}` is a name, and nothing tells its function", shortened(text));
            let error = EditError::new(code::UNKNOWN_REF, field, message).found(shortened(text));
            return Err(error.expected(["a ref", "`$name`", "`function::name`"].map(str::to_owned)).into());
        };
        let body = self.body(function)?;
        let found: Vec<NodeRef> = body.named(name).filter_map(|of| NodeRef::try_from(of).ok()).collect();
        match found.as_slice() {
            [node] => Ok((function, *node)),
            [] if !self.is_name(text) => self.node(field, text, None),
            [] => {
                let known = body.nodes().filter_map(|(_, node)| node.name().map(AsRef::as_ref));
                let path = self.program.path(function.into());
                let message = format!("`{path}` has no node `{}`", shortened(text));
                let error = EditError::new(code::UNKNOWN_REF, field, message).found(shortened(text));
                Err(error.candidates(nearest(name, known)).into())
            }
            several => {
                let message = format!("`{}` is the name of more than one node", shortened(text));
                let candidates = several.iter().map(|node| format!("{name}#{node}"));
                let error = EditError::new(code::AMBIGUOUS_NAME, field, message).found(shortened(text));
                Err(error.candidates(candidates).into())
            }
        }
    }

    /// Tells whether a text is a name alone, and not that of a module, type, function or global.
    pub(super) fn is_name(&self, text: &str) -> bool {
        is_plain(text) && self.program.resolve(text).is_empty()
    }

    /// The function that a node or a source is in, as far as its text alone tells.
    pub(super) fn home_of(&self, text: &str) -> Option<FuncRef> {
        let first = text.split('.').next().unwrap_or(text);
        let given = first.rsplit_once('#').map_or(first, |(_, of)| of);
        let of = match (dollar(first), given.parse::<Ref>()) {
            (Some((name, _)), _) => *self.names.get(name)?,
            (None, Ok(of)) => of,
            (None, Err(_)) if first.contains("::") => *self.program.resolve(first).first()?,
            (None, Err(_)) => return None,
        };
        self.within(&[], of).ok()
    }

    /// A region, with the function that it is in; of a node that owns one region that one.
    pub(super) fn region(&self, field: &[&str], text: &str) -> Done<(FuncRef, RegionRef)> {
        let region: RegionRef = self.entity_of(field, text)?;
        self.within(field, region.into()).map(|function| (function, region))
    }

    /// The function that an entity is in.
    pub(super) fn within(&self, field: &[&str], of: Ref) -> Done<FuncRef> {
        let around = match self.program.place(of) {
            Some(
                Place::Function(function)
                | Place::Region(function, _)
                | Place::Variable(function, _)
                | Place::Contract(function, _)
                | Place::Node(function, _),
            ) => Some(function),
            Some(Place::Module(_) | Place::Type(_) | Place::Member(..) | Place::Storage(_)) | None => None,
        };
        around.ok_or_else(|| self.unknown(field, of).into())
    }

    /// The region of a node (or a function, or a contract) with a role: `then`, `else`, `body`, `case0`, `default`.
    fn region_of(&self, field: &[&str], of: Ref, role: &str) -> Done<RegionRef> {
        let function = self.within(field, of)?;
        let body = self.function(field, function)?.body();
        let regions: Vec<RegionRef> = match self.program.place(of) {
            Some(Place::Node(_, node)) => {
                body.node(node).map_or_else(Vec::new, |node| node.regions().to_vec())
            }
            Some(Place::Function(_)) => body.root().into_iter().collect(),
            Some(Place::Contract(_, contract)) => {
                body.contract(contract).map(|c| c.region).into_iter().collect()
            }
            Some(
                Place::Module(_)
                | Place::Type(_)
                | Place::Member(..)
                | Place::Region(..)
                | Place::Variable(..)
                | Place::Storage(_),
            )
            | None => Vec::new(),
        };
        let role_of = |region: &RegionRef| body.region(*region).map(|region| region.role.to_string());
        regions.iter().copied().find(|region| role_of(region).as_deref() == Some(role)).ok_or_else(|| {
            let message = format!("`{of}` has no region `{role}`");
            EditError::new(code::UNKNOWN_NAME, field, message)
                .found(role)
                .expected(regions.iter().filter_map(role_of))
                .into()
        })
    }

    /// A function that exists.
    pub(super) fn function(&self, field: &[&str], function: FuncRef) -> Done<&Function> {
        match self.program.function(function) {
            Some(found) => Ok(found),
            None => Err(self.unknown(field, function.into()).into()),
        }
    }

    /// The body of a function that exists.
    pub(super) fn body(&self, function: FuncRef) -> Done<&Body> {
        self.function(&["function"], function).map(Function::body)
    }

    /// A function to write to.
    pub(super) fn open(&mut self, function: FuncRef) -> Done<FunctionMut<'_>> {
        Ok(self.program.function_mut(function)?)
    }

    /// A module given by the caller, or the only one there is.
    pub(super) fn module(&self, text: Option<&String>) -> Done<ModuleRef> {
        if let Some(text) = text {
            return self.entity_of(&["module"], text);
        }
        let mut modules = self.program.modules().map(|(module, _)| module);
        match (modules.next(), modules.next()) {
            (Some(only), None) => Ok(only),
            (None, _) => {
                Err(EditError::new(code::MODULE_REQUIRED, &["module"], "the program has no module yet")
                    .into())
            }
            (Some(_), Some(_)) => {
                let paths =
                    self.program.modules().take(8).map(|(module, _)| self.program.path(module.into()));
                let error = EditError::new(
                    code::MODULE_REQUIRED,
                    &["module"],
                    "the program has more than one module",
                );
                Err(error.candidates(paths).into())
            }
        }
    }

    /// A number for an entity of the program.
    pub(super) fn allocate<R>(&mut self, make: impl Fn(u64) -> Option<R>) -> Done<R> {
        self.refs.allocate().and_then(make).ok_or_else(exhausted)
    }

    /// A number for an entity inside a function.
    pub(super) fn allocate_in<R>(&mut self, function: FuncRef, make: impl Fn(u64) -> Option<R>) -> Done<R> {
        self.refs.allocate_in(function).and_then(make).ok_or_else(exhausted)
    }

    /// The mistakes in a text that stands in a field, without those that only follow from an edit that failed.
    pub(super) fn told(&self, field: &[&str], errors: Vec<TextError>) -> Fail {
        let lost = |error: &TextError| {
            let name = error.found.as_deref().and_then(|found| found.strip_prefix('$'));
            error.code == text::code::UNKNOWN_NAME && name.is_some_and(|name| self.lost.contains(name))
        };
        let told = errors.into_iter().filter(|error| !lost(error)).map(|error| EditError::text(field, error));
        match told.collect::<Vec<EditError>>() {
            told if told.is_empty() => Fail::Follows,
            told => Fail::Errors(told),
        }
    }
}

/// Refs with the kind that they are of.
pub(super) trait KnownKind {
    /// The kind.
    const KIND: RefKind;
}

macro_rules! known_kinds {
    ($($name:ident)*) => {$(
        impl KnownKind for lmlang_ir::$name {
            const KIND: RefKind = lmlang_ir::$name::KIND;
        }
    )*};
}

known_kinds!(ModuleRef TypeRef FuncRef RegionRef VarRef ContractRef NodeRef);

/// Tells whether a text is neither a ref nor a `$name` nor a path.
fn is_plain(text: &str) -> bool {
    !text.is_empty() && !text.contains(['$', '#']) && !text.contains("::") && text.parse::<Ref>().is_err()
}

/// A name as given under `as`: with or without `$`.
pub(super) fn bare(name: &str) -> &str {
    name.strip_prefix('$').unwrap_or(name)
}

/// Checks a name that is given to an entity.
pub(super) fn check_name(field: &[&str], name: &str) -> Done<()> {
    let bad = |reason: String| EditError::new(code::BAD_NAME, field, reason).found(shortened(name));
    if name.trim().is_empty() {
        return Err(bad("a name is not empty".to_owned()).into());
    }
    if refs::looks_like_ref(name) {
        let error = bad(format!("`{name}` looks like a ref"));
        return Err(error.expected([refs::NAME_RULE.to_owned()]).candidates([format!("{name}_")]).into());
    }
    if name.chars().any(char::is_control) {
        return Err(bad("a name has no control characters".to_owned()).into());
    }
    Ok(())
}

/// Checks the name of a module, which its path would otherwise not tell from modules in each other.
pub(super) fn check_module_name(field: &[&str], name: &str) -> Done<()> {
    if !name.contains("::") {
        return Ok(());
    }
    let name = shortened(name);
    let message = format!("`{name}` is a path and cannot be the name of a module");
    let error = EditError::new(code::BAD_NAME, field, message).found(name);
    Err(error.expected([refs::MODULE_NAME_RULE.to_owned()]).into())
}

/// Checks the name of something new, which is no path: where it stands, the argument `around` says.
pub(super) fn check_new_name(around: &str, name: &str) -> Done<()> {
    check_name(&["name"], name)?;
    let Some((path, last)) = name.rsplit_once("::") else { return Ok(()) };
    let message = format!("`{}` is a path: `{around}` says where it stands", shortened(name));
    let error = EditError::new(code::BAD_NAME, &["name"], message).found(shortened(name));
    let (path, last) = (shortened(path), shortened(last));
    Err(error.expected([format!("{around}: \"{path}\", name: \"{last}\"")]).into())
}

pub(super) fn wrong_kind(field: &[&str], of: Ref, expected: &[RefKind]) -> EditError {
    let words: Vec<String> = expected.iter().map(|kind| kind_word(*kind).to_owned()).collect();
    let message = format!("expected {}, found {} `{of}`", words.join(" or "), kind_word(of.kind));
    EditError::new(code::WRONG_KIND, field, message).found(of.to_string()).expected(words)
}

fn kind_word(kind: RefKind) -> &'static str {
    match kind {
        RefKind::Module => "a module",
        RefKind::Type => "a type",
        RefKind::Member => "a field or variant",
        RefKind::Function => "a function",
        RefKind::Region => "a region",
        RefKind::Variable => "a variable",
        RefKind::Contract => "a contract",
        RefKind::Node => "a node",
    }
}

fn exhausted() -> Fail {
    EditError::new(code::REFS_EXHAUSTED, &[], "all refs of the program are used up").into()
}

/// Enough of a text to recognise it in a message.
pub(super) fn shortened(text: &str) -> String {
    text.chars().take(80).collect()
}

impl From<StructureError> for Fail {
    fn from(error: StructureError) -> Fail {
        let code = match error {
            StructureError::Cycle(_) | StructureError::ForeignAnchor(_) => code::BAD_ANCHOR,
            StructureError::NoInput(..) => code::NO_SUCH_PORT,
            StructureError::Missing(_) => code::UNKNOWN_REF,
            StructureError::NotEmpty(_) => code::NOT_EMPTY,
            StructureError::Exists(_) => code::STRUCTURE,
        };
        EditError::new(code, &[], error.to_string()).into()
    }
}
