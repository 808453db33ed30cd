//! Edits as JSON, in the form of the API's `EditInput`.

use lmlang_history::request::{
    AddContract, AddControlEdge, AddEdge, AddFunction, AddLoopParam, AddModule, AddResult, AddText, AddType,
    AddVar, ApplyTextPatch, At, ConditionKind, DemoteToVar, EditRequest, ExtractFunction, InsertNode,
    InsertText, ModifyNode, MoveFunction, MoveNode, ParamRequest, PromoteVar, Remove, RemoveNode, Rename,
    ReplacePattern, ReplaceSubgraph, ReplaceText, ReplaceUses, SetDoc, SetSignature, SetVisibility, Target,
    Wrap,
};
use lmlang_ir::{EffectBound, Visibility};
use serde_json::{Map, Value};

/// Reads a list of edits; the error says what is wrong.
pub(super) fn read(text: &str) -> Result<Vec<EditRequest>, String> {
    let list: Vec<Value> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    list.into_iter().map(edit).collect()
}

fn edit(value: Value) -> Result<EditRequest, String> {
    let Value::Object(outer) = value else { return Err(format!("an edit is an object: {value}")) };
    let mut entries = outer.into_iter();
    match (entries.next(), entries.next()) {
        (Some((name, Value::Object(map))), None) => {
            let mut fields = Fields { of: name, map };
            let edit = fields.edit()?;
            match fields.map.keys().next() {
                None => Ok(edit),
                Some(extra) => Err(format!("`{}` has no field `{extra}`", fields.of)),
            }
        }
        (_, _) => Err("an edit has one field, which is an object".to_owned()),
    }
}

/// The fields of one edit; each is taken out when it is read.
struct Fields {
    of: String,
    map: Map<String, Value>,
}

impl Fields {
    fn wrong<T>(&self, name: &str, wanted: &str) -> Result<T, String> {
        Err(format!("`{}.{name}` is {wanted}", self.of))
    }

    fn maybe(&mut self, name: &str) -> Result<Option<String>, String> {
        match self.map.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => self.wrong(name, "a text"),
        }
    }

    fn text(&mut self, name: &str) -> Result<String, String> {
        match self.maybe(name)? {
            Some(text) => Ok(text),
            None => self.wrong(name, "needed"),
        }
    }

    fn flag(&mut self, name: &str) -> Result<bool, String> {
        match self.map.remove(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(flag),
            Some(_) => self.wrong(name, "true or false"),
        }
    }

    fn number(&mut self, name: &str) -> Result<Option<u16>, String> {
        match self.map.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => match value.as_u64().and_then(|number| u16::try_from(number).ok()) {
                Some(number) => Ok(Some(number)),
                None => self.wrong(name, "a small number"),
            },
        }
    }

    fn list(&mut self, name: &str) -> Result<Option<Vec<Value>>, String> {
        match self.map.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Array(list)) => Ok(Some(list)),
            Some(_) => self.wrong(name, "a list"),
        }
    }

    fn texts(&mut self, name: &str) -> Result<Option<Vec<String>>, String> {
        let Some(list) = self.list(name)? else { return Ok(None) };
        let texts: Option<Vec<String>> =
            list.into_iter().map(|value| value.as_str().map(str::to_owned)).collect();
        texts.map_or_else(|| self.wrong(name, "a list of texts"), |texts| Ok(Some(texts)))
    }

    fn params(&mut self, name: &str) -> Result<Option<Vec<ParamRequest>>, String> {
        let Some(list) = self.list(name)? else { return Ok(None) };
        let param = |value: Value| {
            let text = |field: &str| value.get(field)?.as_str().map(str::to_owned);
            Some(ParamRequest { name: text("name")?, ty: text("type")? })
        };
        let params: Option<Vec<ParamRequest>> = list.into_iter().map(param).collect();
        params.map_or_else(|| self.wrong(name, "a list of names and types"), |params| Ok(Some(params)))
    }

    fn visibility(&mut self) -> Result<Visibility, String> {
        match self.maybe("visibility")?.as_deref() {
            None | Some("PRIVATE") => Ok(Visibility::Private),
            Some("PUBLIC") => Ok(Visibility::Public),
            Some(_) => self.wrong("visibility", "PUBLIC or PRIVATE"),
        }
    }

    fn effect_bound(&mut self) -> Result<Option<EffectBound>, String> {
        match self.maybe("effectBound")?.as_deref() {
            None => Ok(None),
            Some("PURE") => Ok(Some(EffectBound::Pure)),
            Some("READS") => Ok(Some(EffectBound::Reads)),
            Some("ANY") => Ok(Some(EffectBound::Any)),
            Some(_) => self.wrong("effectBound", "PURE, READS or ANY"),
        }
    }

    fn at(&mut self) -> Result<At, String> {
        let (function, region) = (self.maybe("function")?, self.maybe("region")?);
        Ok(At { function, region, before: self.maybe("before")?, after: self.maybe("after")? })
    }

    fn rename(&mut self) -> Result<Rename, String> {
        Ok(Rename { of: self.text("ref")?, name: self.text("name")? })
    }

    fn remove(&mut self) -> Result<Remove, String> {
        Ok(Remove { of: self.text("ref")?, cascade: self.flag("cascade")? })
    }

    fn replace(&mut self) -> Result<ReplaceText, String> {
        Ok(ReplaceText { of: self.text("ref")?, text: self.text("text")?, if_hash: self.maybe("ifHash")? })
    }

    fn add_function(&mut self) -> Result<AddFunction, String> {
        Ok(AddFunction {
            name_as: self.maybe("as")?,
            name: self.text("name")?,
            module: self.maybe("module")?,
            params: self.params("params")?.unwrap_or_default(),
            results: self.texts("results")?.unwrap_or_default(),
            captures: self.params("captures")?.unwrap_or_default(),
            visibility: self.visibility()?,
            effect_bound: self.effect_bound()?.unwrap_or_default(),
            doc: self.maybe("doc")?,
            body: self.maybe("body")?,
        })
    }

    fn insert_node(&mut self) -> Result<InsertNode, String> {
        let inputs = self.list("inputs")?.unwrap_or_default();
        let input = |value: Value| match value {
            Value::Null => Some(None),
            Value::String(source) => Some(Some(source)),
            _ => None,
        };
        let inputs: Option<Vec<Option<String>>> = inputs.into_iter().map(input).collect();
        let Some(inputs) = inputs else { return self.wrong("inputs", "a list of sources and nulls") };
        let (name_as, op) = (self.maybe("as")?, self.text("op")?);
        Ok(InsertNode { name_as, op, at: self.at()?, inputs, name: self.maybe("name")? })
    }

    fn refs(&mut self) -> Result<Vec<String>, String> {
        match self.texts("refs")? {
            Some(refs) => Ok(refs),
            None => self.wrong("refs", "a list of texts"),
        }
    }

    fn target(&mut self) -> Result<Target, String> {
        Ok(Target { name_as: self.maybe("as")?, of: self.text("ref")? })
    }

    fn add_contract(&mut self) -> Result<AddContract, String> {
        let kind = match self.text("kind")?.as_str() {
            "REQUIRE" => ConditionKind::Require,
            "ENSURE" => ConditionKind::Ensure,
            "INVARIANT" => ConditionKind::Invariant,
            _ => return self.wrong("kind", "REQUIRE, ENSURE or INVARIANT"),
        };
        let (name_as, of) = (self.maybe("as")?, self.text("ref")?);
        Ok(AddContract { name_as, of, kind, message: self.text("message")?, text: self.text("text")? })
    }

    fn edit(&mut self) -> Result<EditRequest, String> {
        use EditRequest as E;
        Ok(match self.of.as_str() {
            "addText" => E::AddText(AddText { module: self.maybe("module")?, text: self.text("text")? }),
            "replaceFunctionText" => E::ReplaceFunctionText(self.replace()?),
            "replaceModuleText" => E::ReplaceModuleText(self.replace()?),
            "applyTextPatch" => E::ApplyTextPatch(ApplyTextPatch { patch: self.text("patch")? }),
            "insertText" => E::InsertText(InsertText { text: self.text("text")?, at: self.at()? }),
            "addModule" => E::AddModule(AddModule {
                name_as: self.maybe("as")?,
                name: self.text("name")?,
                parent: self.maybe("parent")?,
                visibility: self.visibility()?,
                doc: self.maybe("doc")?,
            }),
            "renameModule" => E::RenameModule(self.rename()?),
            "removeModule" => E::RemoveModule(self.remove()?),
            "addType" => E::AddType(AddType {
                name_as: self.maybe("as")?,
                module: self.maybe("module")?,
                text: self.text("text")?,
            }),
            "replaceType" => E::ReplaceType(self.replace()?),
            "renameType" => E::RenameType(self.rename()?),
            "replaceStorage" => E::ReplaceStorage(self.replace()?),
            "removeType" => E::RemoveType(self.remove()?),
            "addFunction" => E::AddFunction(self.add_function()?),
            "addClosure" => E::AddClosure(self.add_function()?),
            "setSignature" => E::SetSignature(SetSignature {
                of: self.text("ref")?,
                params: self.params("params")?,
                results: self.texts("results")?,
                effect_bound: self.effect_bound()?,
                rewrite_calls: self.flag("rewriteCalls")?,
                defaults: self.texts("defaults")?.unwrap_or_default(),
            }),
            "renameFunction" => E::RenameFunction(self.rename()?),
            "moveFunction" => {
                E::MoveFunction(MoveFunction { of: self.text("ref")?, module: self.text("module")? })
            }
            "removeFunction" => E::RemoveFunction(self.remove()?),
            "setDoc" => E::SetDoc(SetDoc { of: self.text("ref")?, doc: self.maybe("doc")? }),
            "setVisibility" => {
                E::SetVisibility(SetVisibility { of: self.text("ref")?, visibility: self.visibility()? })
            }
            "insertNode" => E::InsertNode(self.insert_node()?),
            "removeNode" => E::RemoveNode(RemoveNode {
                of: self.text("ref")?,
                replace_uses_with: self.maybe("replaceUsesWith")?,
                cascade: self.flag("cascade")?,
            }),
            "modifyNode" => E::ModifyNode(ModifyNode { of: self.text("ref")?, op: self.text("op")? }),
            "moveNode" => E::MoveNode(MoveNode { of: self.text("ref")?, at: self.at()? }),
            "renameNode" => E::RenameNode(self.rename()?),
            "addEdge" => E::AddEdge(AddEdge {
                from: self.text("from")?,
                to: self.text("to")?,
                source_port: self.number("sourcePort")?.unwrap_or(0),
                target_port: self.number("targetPort")?.unwrap_or(0),
                replace: self.flag("replace")?,
            }),
            "addControlEdge" => E::AddControlEdge(AddControlEdge {
                from: self.text("from")?,
                to: self.text("to")?,
                branch_index: self.number("branchIndex")?.map(u32::from),
            }),
            "removeEdge" => E::RemoveEdge(self.remove()?),
            "replaceUses" => E::ReplaceUses(ReplaceUses { of: self.text("ref")?, with: self.text("with")? }),
            "addVar" => E::AddVar(AddVar {
                name_as: self.maybe("as")?,
                function: self.text("function")?,
                name: self.maybe("name")?,
                ty: self.text("type")?,
            }),
            "renameVar" => E::RenameVar(self.rename()?),
            "removeVar" => E::RemoveVar(self.remove()?),
            "promoteVar" => E::PromoteVar(PromoteVar { of: self.text("ref")? }),
            "demoteToVar" => {
                E::DemoteToVar(DemoteToVar { name_as: self.maybe("as")?, of: self.text("ref")? })
            }
            "addContract" => E::AddContract(self.add_contract()?),
            "replaceContract" => E::ReplaceContract(self.replace()?),
            "removeContract" => E::RemoveContract(self.remove()?),
            "addLoopParam" => E::AddLoopParam(AddLoopParam {
                of: self.text("ref")?,
                name: self.text("name")?,
                ty: self.text("type")?,
                initial: self.text("initial")?,
                next: self.text("next")?,
            }),
            "addResult" => E::AddResult(AddResult {
                of: self.text("ref")?,
                ty: self.text("type")?,
                default: self.text("default")?,
            }),
            "wrap" => E::Wrap(Wrap { name_as: self.maybe("as")?, refs: self.refs()?, op: self.text("op")? }),
            "unwrap" => E::Unwrap(self.target()?),
            "replaceSubgraph" => {
                E::ReplaceSubgraph(ReplaceSubgraph { refs: self.refs()?, text: self.text("text")? })
            }
            "extractFunction" => E::ExtractFunction(ExtractFunction {
                name_as: self.maybe("as")?,
                refs: self.refs()?,
                name: self.text("name")?,
                module: self.maybe("module")?,
            }),
            "inlineCall" => E::InlineCall(self.target()?),
            "replacePattern" => E::ReplacePattern(ReplacePattern {
                pattern: self.text("pattern")?,
                replacement: self.text("replacement")?,
                within: self.texts("within")?,
                limit: self.number("limit")?.map_or(100, usize::from),
            }),
            other => return Err(format!("there is no edit `{other}`")),
        })
    }
}
