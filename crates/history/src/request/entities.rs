//! Edits of modules, types, functions, variables and contracts, apart from removing them.

use std::sync::Arc;

use lmlang_ir::text::{Written, parse_type};
use lmlang_ir::types::Type;
use lmlang_ir::{
    Contract, ContractKind, ContractRef, EffectBound, FuncRef, Function, FunctionHead, Module, ModuleRef,
    Param, Place, Ref, RefKind, Region, RegionOwner, RegionParam, RegionRef, RegionRole, Shape, Source,
    TypeDef, TypeRef, VarRef, Variable,
};

use super::error::{Done, EditError, code};
use super::inputs::{
    AddContract, AddFunction, AddModule, AddVar, ConditionKind, MoveFunction, ParamRequest, Rename, SetDoc,
    SetSignature, SetVisibility,
};
use super::session::{Session, check_module_name, check_name, check_new_name, wrong_kind};

/// The parameters of a contract's region: what it promises about, under the names that the text form gives them.
fn contract_params(kind: ContractKind, results: &[Type]) -> Vec<RegionParam> {
    match (kind, results) {
        (ContractKind::Require | ContractKind::Invariant, _) => Vec::new(),
        (ContractKind::Ensure, [only]) => vec![RegionParam { name: Some("result".into()), ty: only.clone() }],
        (ContractKind::Ensure, several) => {
            let name = |index: usize| Some(format!("result{index}").into());
            let params = several.iter().enumerate();
            params.map(|(index, ty)| RegionParam { name: name(index), ty: ty.clone() }).collect()
        }
    }
}

/// What is written about an entity. Its lines end as those of the text form, where it stands as comments.
fn doc(text: Option<&str>) -> Option<Arc<str>> {
    let text = text.filter(|text| !text.is_empty())?;
    Some(text.replace("\r\n", "\n").replace('\r', "\n").into())
}

/// Where parameters are afterwards: those of a name where that is, one that only got another name where it was.
fn follow(old: &[Param], new: &[Param]) -> Vec<Option<u16>> {
    let known = |params: &[Param], name: &str| params.iter().position(|param| *param.name == *name);
    let to = |(index, param): (usize, &Param)| {
        let renamed = || {
            let here = new.get(index)?;
            (here.ty == param.ty && known(old, &here.name).is_none()).then_some(index)
        };
        known(new, &param.name).or_else(renamed).map(|at| at as u16)
    };
    old.iter().enumerate().map(to).collect()
}

impl Session<'_> {
    /// Adds a module.
    pub(super) fn add_module(&mut self, edit: &AddModule) -> Done<Ref> {
        check_new_name("parent", &edit.name)?;
        let parent = edit.parent.as_ref().map(|text| self.entity_of(&["parent"], text)).transpose()?;
        let module: ModuleRef = self.allocate(ModuleRef::new)?;
        let content = Module {
            name: edit.name.as_str().into(),
            parent,
            visibility: edit.visibility,
            doc: doc(edit.doc.as_deref()),
            trailer: None,
        };
        self.program.add_module(module, content)?;
        self.bind(edit.name_as.as_ref(), module)?;
        Ok(module.into())
    }

    /// Gives an entity another name.
    pub(super) fn rename(&mut self, edit: &Rename, expected: RefKind) -> Done<()> {
        check_name(&["name"], &edit.name)?;
        let of = self.entity(&["ref"], &edit.of)?;
        if of.kind != expected {
            return Err(wrong_kind(&["ref"], of, &[expected]).into());
        }
        if expected == RefKind::Module {
            check_module_name(&["name"], &edit.name)?;
        }
        let name: Arc<str> = edit.name.as_str().into();
        match self.program.place(of) {
            Some(Place::Module(module)) => {
                if let Some(found) = self.program.module(module).cloned() {
                    self.program.set_module(module, Module { name, ..found })?;
                }
            }
            Some(Place::Type(ty)) => {
                if let Some(found) = self.program.type_def(ty).map(|def| def.as_ref().clone()) {
                    self.program.set_type(ty, TypeDef { name, ..found })?;
                }
            }
            Some(Place::Function(function)) => self.change_head(function, |head| head.name = name)?,
            Some(Place::Variable(function, variable)) => {
                if let Some(found) = self.body(function)?.variable(variable).cloned() {
                    let content = Variable { name: Some(name), ..found };
                    self.open(function)?.set_variable(variable, content)?;
                }
            }
            Some(Place::Storage(variable)) => {
                if let Some(mut found) = self.program.storage(variable).cloned() {
                    found.name = name;
                    self.program.set_storage(variable, found)?;
                }
            }
            Some(Place::Member(..) | Place::Region(..) | Place::Contract(..) | Place::Node(..)) | None => {
                return Err(wrong_kind(&["ref"], of, &[expected]).into());
            }
        }
        Ok(())
    }

    fn change_head(&mut self, function: FuncRef, change: impl FnOnce(&mut FunctionHead)) -> Done<()> {
        let mut head = self.function(&["ref"], function)?.head().clone();
        change(&mut head);
        self.open(function)?.set_head(head);
        Ok(())
    }

    /// Types as a caller wrote them, each in its field.
    fn types(&self, field: &str, module: ModuleRef, texts: &[String]) -> Done<Vec<Type>> {
        let one = |(index, text): (usize, &String)| self.ty(&[field, &index.to_string()], module, text);
        texts.iter().enumerate().map(one).collect()
    }

    pub(super) fn ty(&self, field: &[&str], module: ModuleRef, text: &str) -> Done<Type> {
        let given = Written::with_names(text, &self.names);
        parse_type(&self.program, Some(module), given).map_err(|error| self.told(field, vec![error]))
    }

    fn params(&self, field: &str, module: ModuleRef, params: &[ParamRequest]) -> Done<Vec<Param>> {
        let one = |(index, param): (usize, &ParamRequest)| {
            let index = index.to_string();
            check_name(&[field, &index, "name"], &param.name)?;
            let ty = self.ty(&[field, &index, "type"], module, &param.ty)?;
            Ok(Param { name: param.name.as_str().into(), ty })
        };
        params.iter().enumerate().map(one).collect()
    }

    /// Adds a function with an empty body, or the lines that the caller gives.
    pub(super) fn add_function(&mut self, edit: &AddFunction) -> Done<Ref> {
        check_new_name("module", &edit.name)?;
        let module = self.module(edit.module.as_ref())?;
        let head = FunctionHead {
            captures: self.params("captures", module, &edit.captures)?,
            visibility: edit.visibility,
            effect_bound: edit.effect_bound,
            doc: doc(edit.doc.as_deref()),
            ..FunctionHead::new(
                edit.name.as_str(),
                module,
                self.params("params", module, &edit.params)?,
                self.types("results", module, &edit.results)?,
            )
        };
        let function: FuncRef = self.allocate(FuncRef::new)?;
        let region: RegionRef = self.allocate_in(function, RegionRef::new)?;
        self.program.add_whole_function(function, Arc::new(Function::new(head)))?;
        let root = Region::new(RegionOwner::Function, RegionRole::Body, Vec::new());
        self.open(function)?.add_region(region, root)?;
        // The body may call the function itself.
        self.bind(edit.name_as.as_ref(), function)?;
        if let Some(lines) = &edit.body {
            self.insert_lines(&["body"], function, region, None, lines)?;
        }
        Ok(function.into())
    }

    /// Changes what a function takes, returns and may do.
    pub(super) fn set_signature(&mut self, edit: &SetSignature) -> Done<Ref> {
        let function: FuncRef = self.entity_of(&["ref"], &edit.of)?;
        let old = self.function(&["ref"], function)?.head().clone();
        let mut head = old.clone();
        if let Some(params) = &edit.params {
            head.params = self.params("params", old.module, params)?;
        }
        if let Some(results) = &edit.results {
            head.results = self.types("results", old.module, results)?;
        }
        head.effect_bound = edit.effect_bound.unwrap_or(old.effect_bound);
        let results = head.results.clone();
        let moved = follow(&old.params, &head.params);
        self.open(function)?.set_head(head.clone());
        if edit.params.is_some() {
            self.move_params(function, &moved)?;
        }
        if edit.results.is_some() {
            self.set_ensure_params(function, &results)?;
        }
        if edit.rewrite_calls {
            self.check_references(function, (&old, &head), &moved)?;
            self.rewrite_calls(function, &head, &moved, &edit.defaults)?;
        }
        Ok(function.into())
    }

    /// Lets uses of parameters follow them to their new positions; uses of one that is gone become holes.
    fn move_params(&mut self, function: FuncRef, moved: &[Option<u16>]) -> Done<()> {
        let body = self.body(function)?;
        let uses: Vec<_> = body
            .uses_of(function.number())
            .filter_map(|one| Some((one.node, one.input?, body.source_of(one)?.port())))
            .collect();
        let mut open = self.open(function)?;
        for (node, input, port) in uses {
            let to = moved.get(usize::from(port)).copied().flatten();
            let source = to.map(|to| Source::Param(function, to));
            open.set_input(node, usize::from(input), source)?;
        }
        Ok(())
    }

    /// What a promise sees are the results.
    pub(super) fn set_ensure_params(&mut self, function: FuncRef, results: &[Type]) -> Done<()> {
        let body = self.body(function)?;
        let ensures = body.contracts().filter(|(_, contract)| contract.kind == ContractKind::Ensure);
        let regions: Vec<(RegionRef, Vec<RegionParam>)> = ensures
            .filter_map(|(_, contract)| Some((contract.region, body.region(contract.region)?.params.clone())))
            .collect();
        for (region, old) in regions {
            let params = if old.len() == results.len() {
                let named = old.into_iter().zip(results);
                named.map(|(param, ty)| RegionParam { name: param.name, ty: ty.clone() }).collect()
            } else {
                contract_params(ContractKind::Ensure, results)
            };
            self.set_region_params(function, region, params)?;
        }
        Ok(())
    }

    /// Gives a region other parameters; uses of those that are gone become holes.
    pub(super) fn set_region_params(
        &mut self,
        function: FuncRef,
        region: RegionRef,
        params: Vec<RegionParam>,
    ) -> Done<()> {
        let body = self.body(function)?;
        let Some(mut record) = body.region(region).filter(|record| record.params != params).cloned() else {
            return Ok(());
        };
        let gone = |port: u16| usize::from(port) >= params.len();
        let uses: Vec<_> = body
            .uses_of(region.number())
            .filter(|one| body.source_of(*one).is_some_and(|source| gone(source.port())))
            .filter_map(|one| Some((one.node, one.input?)))
            .collect();
        let mut open = self.open(function)?;
        for (node, input) in uses {
            open.set_input(node, usize::from(input), None)?;
        }
        record.params = params;
        open.set_region(region, record)?;
        Ok(())
    }

    /// Moves a function to another module.
    pub(super) fn move_function(&mut self, edit: &MoveFunction) -> Done<()> {
        let function: FuncRef = self.entity_of(&["ref"], &edit.of)?;
        let module: ModuleRef = self.entity_of(&["module"], &edit.module)?;
        self.change_head(function, |head| head.module = module)
    }

    /// Sets or clears what is written about an entity.
    pub(super) fn set_doc(&mut self, edit: &SetDoc) -> Done<()> {
        let of = self.entity(&["ref"], &edit.of)?;
        let doc = doc(edit.doc.as_deref());
        match self.program.place(of) {
            Some(Place::Module(module)) => {
                if let Some(found) = self.program.module(module).cloned() {
                    self.program.set_module(module, Module { doc, ..found })?;
                }
            }
            Some(Place::Type(ty)) => self.change_type(ty, |def| def.doc = doc)?,
            Some(Place::Member(ty, member)) => self.change_type(ty, |def| match &mut def.shape {
                Shape::Struct(fields) => {
                    fields
                        .iter_mut()
                        .filter(|field| field.member == member)
                        .for_each(|f| f.doc = doc.clone());
                }
                Shape::Enum(variants) => {
                    variants.iter_mut().filter(|v| v.member == member).for_each(|v| v.doc = doc.clone());
                }
            })?,
            Some(Place::Function(function)) => self.change_head(function, |head| head.doc = doc)?,
            Some(Place::Variable(function, variable)) => {
                if let Some(found) = self.body(function)?.variable(variable).cloned() {
                    self.open(function)?.set_variable(variable, Variable { doc, ..found })?;
                }
            }
            Some(Place::Storage(variable)) => {
                if let Some(mut found) = self.program.storage(variable).cloned() {
                    found.doc = doc;
                    self.program.set_storage(variable, found)?;
                }
            }
            Some(Place::Contract(function, contract)) => {
                if let Some(mut found) = self.body(function)?.contract(contract).cloned() {
                    found.doc = doc;
                    self.open(function)?.set_contract(contract, found)?;
                }
            }
            Some(Place::Node(function, node)) => {
                if let Some(found) = self.body(function)?.node(node) {
                    let content = lmlang_ir::NodeContent { doc, ..found.content() };
                    self.open(function)?.set_node(node, content)?;
                }
            }
            Some(Place::Region(..)) | None => {
                let kinds = RefKind::ALL.into_iter().filter(|kind| *kind != RefKind::Region);
                return Err(wrong_kind(&["ref"], of, &kinds.collect::<Vec<_>>()).into());
            }
        }
        Ok(())
    }

    fn change_type(&mut self, ty: TypeRef, change: impl FnOnce(&mut TypeDef)) -> Done<()> {
        if let Some(mut def) = self.program.type_def(ty).map(|def| def.as_ref().clone()) {
            change(&mut def);
            self.program.set_type(ty, def)?;
        }
        Ok(())
    }

    /// Says who may use an entity.
    pub(super) fn set_visibility(&mut self, edit: &SetVisibility) -> Done<()> {
        let of = self.entity(&["ref"], &edit.of)?;
        let visibility = edit.visibility;
        match self.program.place(of) {
            Some(Place::Module(module)) => {
                if let Some(found) = self.program.module(module).cloned() {
                    self.program.set_module(module, Module { visibility, ..found })?;
                }
            }
            Some(Place::Type(ty)) => self.change_type(ty, |def| def.visibility = visibility)?,
            Some(Place::Function(function)) => {
                self.change_head(function, |head| head.visibility = visibility)?
            }
            Some(Place::Storage(variable)) => {
                if let Some(mut found) = self.program.storage(variable).cloned() {
                    found.visibility = visibility;
                    self.program.set_storage(variable, found)?;
                }
            }
            Some(
                Place::Member(..)
                | Place::Region(..)
                | Place::Variable(..)
                | Place::Contract(..)
                | Place::Node(..),
            )
            | None => {
                let kinds = [RefKind::Module, RefKind::Type, RefKind::Function];
                return Err(wrong_kind(&["ref"], of, &kinds).into());
            }
        }
        Ok(())
    }

    /// Adds a condition to a function, or an invariant to a type: to a function that states those of the type.
    pub(super) fn add_contract(&mut self, edit: &AddContract) -> Done<Ref> {
        let of: Ref = self.entity(&["ref"], &edit.of)?;
        let (kind, wanted): (_, &[RefKind]) = match edit.kind {
            ConditionKind::Require => (ContractKind::Require, &[RefKind::Function]),
            ConditionKind::Ensure => (ContractKind::Ensure, &[RefKind::Function]),
            ConditionKind::Invariant => (ContractKind::Invariant, &[RefKind::Type, RefKind::Function]),
        };
        let function = match (TypeRef::try_from(of), FuncRef::try_from(of)) {
            (Ok(ty), _) if kind == ContractKind::Invariant => self.function_of_invariants(ty)?,
            (_, Ok(function)) => function,
            _ => return Err(wrong_kind(&["ref"], of, wanted).into()),
        };
        self.refuse_imported(&["ref"], function, "contracts")?;
        let params = contract_params(kind, &self.function(&["ref"], function)?.head().results);
        let contract: ContractRef = self.allocate_in(function, ContractRef::new)?;
        let region: RegionRef = self.allocate_in(function, RegionRef::new)?;
        let record = Contract { kind, message: edit.message.as_str().into(), region, doc: None };
        let mut open = self.open(function)?;
        open.add_contract(contract, record)?;
        open.add_region(region, Region::new(RegionOwner::Contract(contract), RegionRole::Contract, params))?;
        if edit.text.lines().any(|line| line.split_whitespace().next() == Some("yield")) {
            self.insert_lines(&["text"], function, region, None, &edit.text)?;
        } else {
            self.insert_condition(&["text"], function, region, &edit.text)?;
        }
        self.bind(edit.name_as.as_ref(), contract)?;
        Ok(contract.into())
    }

    /// The function beside a type that states invariants of it as they are added here, with the parameter `value`: one that
    /// there is, else a new one.
    fn function_of_invariants(&mut self, ty: TypeRef) -> Done<FuncRef> {
        let Some(def) = self.program.type_def(ty).cloned() else {
            return Err(self.unknown(&["ref"], ty.into()).into());
        };
        let param = Param { name: "value".into(), ty: Type::Named(ty) };
        let fits = |of: &FuncRef| {
            let head = self.program.function(*of).map(|function| function.head());
            head.is_some_and(|head| {
                head.module == def.module
                    && head.params == [param.clone()]
                    && head.results.is_empty()
                    && head.captures.is_empty()
                    && head.import.is_none()
                    && head.effect_bound == EffectBound::Reads
            })
        };
        let name = format!("{}_invariants", def.name);
        let named = self.program.lookup(Some(def.module), &name).filter_map(|of| FuncRef::try_from(of).ok());
        if let Some(function) = self.program.stating(ty).chain(named).find(fits) {
            return Ok(function);
        }
        let names = std::iter::once(name.clone()).chain((2u32..).map(|count| format!("{name}{count}")));
        let is_free = |name: &String| self.program.lookup(Some(def.module), name).next().is_none();
        let name = names.into_iter().find(is_free).unwrap_or_default();
        let function: FuncRef = self.allocate(FuncRef::new)?;
        let head = FunctionHead {
            effect_bound: EffectBound::Reads,
            ..FunctionHead::new(name, def.module, vec![param], Vec::new())
        };
        self.program.add_function(function, head)?;
        let root: RegionRef = self.allocate_in(function, RegionRef::new)?;
        let region = Region::new(RegionOwner::Function, RegionRole::Body, Vec::new());
        self.open(function)?.add_region(root, region)?;
        self.insert_lines(&["text"], function, root, None, "return")?;
        Ok(function)
    }

    /// Adds a variable to a function.
    pub(super) fn add_variable(&mut self, edit: &AddVar) -> Done<Ref> {
        let function: FuncRef = self.entity_of(&["function"], &edit.function)?;
        if let Some(name) = &edit.name {
            check_name(&["name"], name)?;
        }
        self.refuse_imported(&["function"], function, "variables")?;
        let module = self.function(&["function"], function)?.head().module;
        let ty = self.ty(&["type"], module, &edit.ty)?;
        let variable: VarRef = self.allocate_in(function, VarRef::new)?;
        let content = Variable { name: edit.name.as_deref().map(Arc::from), ty, doc: None };
        self.open(function)?.add_variable(variable, content)?;
        self.bind(edit.name_as.as_ref(), variable)?;
        Ok(variable.into())
    }

    /// Refuses a function of the host: nothing stands in it, and its text has no place for what would.
    fn refuse_imported(&self, field: &[&str], function: FuncRef, what: &str) -> Done<()> {
        if self.function(field, function)?.body().root().is_some() {
            return Ok(());
        }
        let message = format!("an imported function has no {what}");
        Err(EditError::new(code::WRONG_KIND, field, message).found(function.to_string()).into())
    }
}
