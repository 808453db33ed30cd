//! From the tree to the program: refs, modules, types, storage and heads of functions.
//!
//! Everything is built on a copy of the program, which costs a few pointers; the copy replaces it only when the text has
//! no mistake.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::entities::{
    Field, FunctionHead, Import, Module, Name, Param, Shape, TypeDef, VariantDef, Visibility,
};
use crate::program::Program;
use crate::refs::{FuncRef, MemberRef, ModuleRef, Ref, RefAllocator, RefKind, TypeRef};
use crate::text::cursor::Parser;
use crate::text::error::{MAX_ERRORS, Mistake, code};
use crate::text::lower_body::Reuse;
use crate::text::names::{ProgramNames, unknown_ref};
use crate::text::resolve::{Resolved, given_ref_of, resolve_type, resolve_types};
use crate::text::syntax::{FunctionItem, Item, ModuleSyntax, ParamSyntax, Segment, Tag, Tree, TypeItem};
use crate::types::Type;

/// The module of items that stand before any `module` line, when nothing else is said.
const DEFAULT_MODULE: &str = "main";

/// What refs given to entities of a text mean.
#[derive(Clone, Debug)]
pub(super) enum Policy {
    /// They become the refs of the entities.
    Honour,
    /// They name entities that are there already; those that may be named.
    Match(HashMap<u64, RefKind>),
    /// There are none.
    Refuse,
}

/// A text on its way into a program.
pub(super) struct Lowering<'t> {
    pub(super) program: Program,
    pub(super) refs: RefAllocator,
    pub(super) tree: &'t Tree,
    pub(super) policy: Policy,
    pub(super) mistakes: Vec<Mistake>,
    /// The lowest ref that was never handed out before the text.
    pub(super) fresh: u64,
    /// The refs that the text gives to entities.
    pub(super) given: HashMap<u64, RefKind>,
    /// Those that it gives more than once.
    pub(super) doubled: HashSet<u64>,
    /// Those that it gives and nothing has: they are told where they are given.
    pub(super) unknown: HashSet<String>,
    /// Whether a head is broken, so that types that follow from it are not known.
    pub(super) tainted: bool,
    /// Whether that was so before any body was read: what bodies use may have other types than the text says.
    pub(super) tainted_heads: bool,
    pub(super) reuse: Reuse,
    /// What was made, in the order of the text.
    pub(super) made: Vec<(Name, Ref)>,
    /// Where entities stand in the text, by number, if anybody wants to know.
    pub(super) places: Option<HashMap<u64, u32>>,
}

impl<'t> Lowering<'t> {
    pub(super) fn new(
        program: &Program,
        refs: &RefAllocator,
        tree: &'t Tree,
        policy: Policy,
    ) -> Lowering<'t> {
        let mut lowering = Lowering {
            program: program.clone(),
            refs: refs.clone(),
            tree,
            policy,
            mistakes: Vec::new(),
            fresh: refs.watermark(),
            given: HashMap::new(),
            doubled: HashSet::new(),
            unknown: HashSet::new(),
            tainted: false,
            tainted_heads: false,
            reuse: Reuse::default(),
            made: Vec::new(),
            places: None,
        };
        lowering.collect_given();
        lowering
    }

    pub(super) fn note(&mut self, mistake: Mistake) {
        let told = matches!(mistake.code, code::UNKNOWN_REF | code::WRONG_KIND)
            && mistake
                .found
                .as_ref()
                .is_some_and(|name| self.tree.like_refs.contains(&**name) || self.unknown.contains(&**name));
        if !told && !self.is_full() {
            self.mistakes.push(mistake);
        }
    }

    /// Whether no more mistakes are noted: far more than are told. What is left of bodies is not looked at then, for a
    /// mistake costs a look at many names.
    pub(super) fn is_full(&self) -> bool {
        self.mistakes.len() >= 10 * MAX_ERRORS
    }

    /// The value, or nothing and a mistake noted, unless a name is at fault whose own mistake is told.
    pub(super) fn noted<T>(&mut self, resolved: Resolved<T>) -> Option<T> {
        match resolved {
            Ok(value) => Some(value),
            Err(mistake) => {
                self.note_name(mistake);
                None
            }
        }
    }

    pub(super) fn note_name(&mut self, mistake: Mistake) {
        self.tainted = true;
        let told = mistake.code == code::UNKNOWN_NAME
            && mistake.found.as_ref().is_some_and(|name| self.tree.broken.contains(&**name));
        if !told {
            self.note(mistake);
        }
    }

    /// The given number, or a fresh one.
    pub(super) fn number(&mut self, tag: Option<Tag>, at: u32) -> u64 {
        let number = match tag {
            Some(tag) if self.is_free(tag.of) => tag.of.number,
            Some(_) | None => match self.refs.allocate() {
                Some(number) => number,
                None => self.exhausted(at),
            },
        };
        self.placed(number, at)
    }

    /// Has the places of entities remembered.
    pub(super) fn with_places(mut self) -> Self {
        self.places = Some(HashMap::new());
        self
    }

    /// Remembers where an entity stands.
    pub(super) fn placed(&mut self, number: u64, at: u32) -> u64 {
        if let Some(places) = &mut self.places {
            places.entry(number).or_insert(at);
        }
        number
    }

    pub(super) fn exhausted(&mut self, at: u32) -> u64 {
        self.note(Mistake::new(code::REFS_EXHAUSTED, at, "all refs of the program are used up"));
        1
    }

    pub(super) fn names(&self, module: ModuleRef) -> ProgramNames<'_> {
        ProgramNames { program: &self.program, module: Some(module) }
    }

    /// Lowers all modules of the tree. Items without a header go to `module`.
    pub(super) fn modules(&mut self, module: Option<ModuleRef>) {
        let tree = self.tree;
        let mut homes: Vec<Option<ModuleRef>> = vec![None; tree.modules.len()];
        // Those nearer to the top first, so that a header finds its parent wherever it stands.
        let mut order: Vec<usize> = (0..tree.modules.len()).collect();
        order.sort_by_key(|index| {
            tree.modules[*index].0.as_ref().map_or(0, |header| header.path.segments.len())
        });
        for index in order {
            homes[index] = match &tree.modules[index] {
                (Some(header), _) => self.module(header),
                (None, items) => items.first().map(|_| module.unwrap_or_else(|| self.default_module())),
            };
        }
        let placed: Vec<(ModuleRef, &'t Item)> = tree
            .modules
            .iter()
            .zip(homes)
            .flat_map(|((_, items), home)| items.iter().filter_map(move |item| Some((home?, item))))
            .collect();
        self.place_items(&placed);
    }

    fn default_module(&mut self) -> ModuleRef {
        let only = {
            let mut modules = self.program.modules().map(|(module, _)| module);
            modules.next().filter(|_| modules.next().is_none())
        };
        let found = || self.program.lookup(None, DEFAULT_MODULE).find_map(|of| ModuleRef::try_from(of).ok());
        match only.or_else(found) {
            Some(module) => module,
            None => self.new_module(None, DEFAULT_MODULE.into(), None, 0),
        }
    }

    fn new_module(&mut self, parent: Option<ModuleRef>, name: Name, tag: Option<Tag>, at: u32) -> ModuleRef {
        let of = ModuleRef::of_key(self.number(tag, at));
        let record = Module {
            name: Arc::clone(&name),
            parent,
            visibility: Visibility::Private,
            doc: None,
            trailer: None,
        };
        if let Err(error) = self.program.add_module(of, record) {
            self.note(Mistake::new(code::DUPLICATE_REF, at, error.to_string()));
        }
        self.made.push((name, of.into()));
        of
    }

    fn module(&mut self, header: &ModuleSyntax) -> Option<ModuleRef> {
        let (last, parents) = header.path.segments.split_last()?;
        let mut scope = None;
        for segment in parents {
            scope = Some(self.module_in(scope, segment, None)?);
        }
        let of = self.module_in(scope, last, last.tag)?;
        let before = self.program.module(of)?.clone();
        let visibility = match header.modifiers.visibility {
            Visibility::Public => Visibility::Public,
            Visibility::Private => before.visibility,
        };
        let doc = header.modifiers.doc.clone().or(before.doc.clone());
        let trailer = header.trailer.clone().or(before.trailer.clone());
        let changed = self.program.set_module(of, Module { visibility, doc, trailer, ..before });
        if let Err(error) = changed {
            self.note(Mistake::new(code::UNKNOWN_REF, last.at, error.to_string()));
        }
        Some(of)
    }

    /// The module of a name in another one; made when there is none.
    fn module_in(
        &mut self,
        scope: Option<ModuleRef>,
        segment: &Segment,
        definition: Option<Tag>,
    ) -> Option<ModuleRef> {
        if let Some(Ok(of)) = given_ref_of::<ModuleRef>(segment) {
            if self.program.module(of).is_some() {
                return Some(of);
            }
            if definition.is_none() {
                self.note(unknown_ref(of.into(), segment.at));
                return None;
            }
            return Some(self.new_module(scope, Arc::clone(&segment.name), definition, segment.at));
        }
        let found: Vec<ModuleRef> =
            self.program.lookup(scope, &segment.name).filter_map(|of| ModuleRef::try_from(of).ok()).collect();
        match found.as_slice() {
            [one] => Some(*one),
            [] => Some(self.new_module(scope, Arc::clone(&segment.name), definition, segment.at)),
            _ => {
                let message = format!("`{}` is the name of more than one module", segment.name);
                self.note(Mistake::new(code::AMBIGUOUS_NAME, segment.at, message).found(&*segment.name));
                None
            }
        }
    }

    fn place_items(&mut self, placed: &[(ModuleRef, &'t Item)]) {
        let mut types = Vec::new();
        for (module, item) in placed {
            if let Item::Type(item) = item {
                types.push((self.declare_type(*module, item), *module, item));
            }
        }
        for (of, module, item) in types {
            self.define_type(of, module, item, None);
        }
        let mut functions = Vec::new();
        for (module, item) in placed {
            if let Item::Function(item) = item {
                let number = self.number(item.label.tag, item.label.at);
                let of = FuncRef::of_key(number);
                let head = self.head(*module, item);
                if let Err(error) = self.program.add_function(of, head) {
                    self.note(Mistake::new(code::DUPLICATE_REF, item.label.at, error.to_string()));
                    continue;
                }
                self.made.push((Arc::clone(&item.label.name), of.into()));
                functions.push((of, item));
            }
        }
        let mut behind = Vec::new();
        for (module, item) in placed {
            if let Item::Storage(item) = item {
                self.storage(*module, item, &mut behind);
            }
        }
        for (of, module, item) in behind {
            self.begin_with(of, module, item);
        }
        self.tainted_heads |= self.tainted;
        for (of, item) in functions {
            self.function_body(of, item);
        }
    }

    pub(super) fn declare_type(&mut self, module: ModuleRef, item: &TypeItem) -> TypeRef {
        let of = TypeRef::of_key(self.number(item.label.tag, item.label.at));
        let def = TypeDef {
            name: Arc::clone(&item.label.name),
            module,
            visibility: item.modifiers.visibility,
            shape: Shape::Struct(Vec::new()),
            doc: item.modifiers.doc.clone(),
        };
        if let Err(error) = self.program.add_type(of, def) {
            self.note(Mistake::new(code::DUPLICATE_REF, item.label.at, error.to_string()));
        }
        self.made.push((Arc::clone(&item.label.name), of.into()));
        of
    }

    /// Fills a type in. Members without a ref keep those of the members of the same name in `before`.
    pub(super) fn define_type(
        &mut self,
        of: TypeRef,
        module: ModuleRef,
        item: &TypeItem,
        before: Option<&TypeDef>,
    ) {
        let kept: HashMap<&str, MemberRef> = before
            .into_iter()
            .flat_map(|def| {
                let fields = def.fields().iter().map(|field| (&*field.name, field.member));
                fields.chain(def.variants().iter().map(|variant| (&*variant.name, variant.member)))
            })
            .filter(|(_, member)| !self.given.contains_key(&member.number()))
            .collect();
        let mut seen = HashSet::new();
        let (mut fields, mut variants) = (Vec::new(), Vec::new());
        for member in &item.members {
            let name = Arc::clone(&member.label.name);
            let fresh = seen.insert(Arc::clone(&name));
            let number = match (member.label.tag, kept.get(&*name)) {
                (None, Some(kept)) if fresh => kept.number(),
                (tag, _) => self.number(tag, member.label.at),
            };
            let reference = MemberRef::of_key(number);
            let resolved = member.ty.as_ref().map(|ty| resolve_type(ty, &self.names(module))).transpose();
            let Some(ty) = self.noted(resolved) else {
                self.tainted = true;
                continue;
            };
            let doc = member.doc.clone();
            if item.is_enum {
                variants.push(VariantDef { member: reference, name, payload: ty, doc });
            } else if let Some(ty) = ty {
                fields.push(Field { member: reference, name, ty, doc });
            }
        }
        let def = TypeDef {
            name: Arc::clone(&item.label.name),
            module,
            visibility: item.modifiers.visibility,
            shape: if item.is_enum { Shape::Enum(variants) } else { Shape::Struct(fields) },
            doc: item.modifiers.doc.clone(),
        };
        if let Err(error) = self.program.set_type(of, def) {
            self.note(Mistake::new(code::DUPLICATE_REF, item.label.at, error.to_string()));
        }
    }

    /// The head of a function, as far as its types can be resolved.
    pub(super) fn head(&mut self, module: ModuleRef, item: &FunctionItem) -> FunctionHead {
        let params = self.params(module, &item.params);
        let captures = self.params(module, &item.captures);
        let results = resolve_types(&item.results, &self.names(module));
        let results = self.noted(results);
        self.tainted |= results.is_none();
        let modifiers = &item.modifiers;
        FunctionHead {
            name: Arc::clone(&item.label.name),
            module,
            visibility: modifiers.visibility,
            params,
            results: results.unwrap_or_default(),
            captures,
            effect_bound: item.bound,
            import: modifiers.import.clone().map(|(module, name)| Import { module, name }),
            exports: modifiers.exports.clone(),
            start: modifiers.start,
            doc: modifiers.doc.clone(),
            runs: item.runs.clone(),
        }
    }

    fn params(&mut self, module: ModuleRef, params: &[ParamSyntax]) -> Vec<Param> {
        if params.len() >= crate::node::MAX_PORTS {
            let at = params[0].name.as_ref().map_or(0, |name| name.at);
            self.note(Mistake::new(code::TOO_LARGE, at, "a function has too many parameters"));
            return Vec::new();
        }
        let mut resolved = Vec::with_capacity(params.len());
        for param in params {
            let name = Parser::name_or_blank(param);
            // A missing type is told by the parser.
            let ty = param.ty.as_ref().map(|ty| resolve_type(ty, &self.names(module)));
            match ty.and_then(|ty| self.noted(ty)) {
                Some(ty) => resolved.push(Param { name, ty }),
                None => {
                    self.tainted = true;
                    resolved.push(Param { name, ty: Type::Never });
                }
            }
        }
        resolved
    }
}
