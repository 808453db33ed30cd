//! Edits as the domain takes them.

use lmlang_history::request as domain;

use crate::error::{ApiError, Code};
use crate::schema::edit_input::{self as input, ContractKind, EditInput, EffectBound, Visibility};

impl From<Visibility> for lmlang_ir::Visibility {
    fn from(visibility: Visibility) -> lmlang_ir::Visibility {
        match visibility {
            Visibility::Public => lmlang_ir::Visibility::Public,
            Visibility::Private => lmlang_ir::Visibility::Private,
        }
    }
}

impl From<lmlang_ir::Visibility> for Visibility {
    fn from(visibility: lmlang_ir::Visibility) -> Visibility {
        match visibility {
            lmlang_ir::Visibility::Public => Visibility::Public,
            lmlang_ir::Visibility::Private => Visibility::Private,
        }
    }
}

impl From<EffectBound> for lmlang_ir::EffectBound {
    fn from(bound: EffectBound) -> lmlang_ir::EffectBound {
        match bound {
            EffectBound::Pure => lmlang_ir::EffectBound::Pure,
            EffectBound::Reads => lmlang_ir::EffectBound::Reads,
            EffectBound::Any => lmlang_ir::EffectBound::Any,
        }
    }
}

impl From<lmlang_ir::EffectBound> for EffectBound {
    fn from(bound: lmlang_ir::EffectBound) -> EffectBound {
        match bound {
            lmlang_ir::EffectBound::Pure => EffectBound::Pure,
            lmlang_ir::EffectBound::Reads => EffectBound::Reads,
            lmlang_ir::EffectBound::Any => EffectBound::Any,
        }
    }
}

fn port(name: &str, given: i32) -> Result<u16, ApiError> {
    u16::try_from(given).map_err(|_| {
        ApiError::new(Code::BadRequest, format!("`{name}` must be between 0 and 65535, found {given}"))
            .at(name)
    })
}

fn at(
    function: Option<String>,
    region: Option<String>,
    before: Option<String>,
    after: Option<String>,
) -> domain::At {
    domain::At { function, region, before, after }
}

fn params(given: Vec<input::ParamInput>) -> Vec<domain::ParamRequest> {
    given.into_iter().map(|param| domain::ParamRequest { name: param.name, ty: param.ty }).collect()
}

fn replace_text(given: input::ReplaceText) -> domain::ReplaceText {
    domain::ReplaceText { of: given.of, text: given.text, if_hash: given.if_hash }
}

fn remove(given: input::Remove) -> domain::Remove {
    domain::Remove { of: given.of, cascade: given.cascade.0 }
}

fn target(given: input::Target) -> domain::Target {
    domain::Target { name_as: given.name_as, of: given.of }
}

fn rename(given: input::Rename) -> domain::Rename {
    domain::Rename { of: given.of, name: given.name }
}

fn add_function(given: input::AddFunction) -> domain::AddFunction {
    domain::AddFunction {
        name_as: given.name_as,
        name: given.name,
        module: given.module,
        params: params(given.params),
        results: given.results,
        captures: params(given.captures.unwrap_or_default()),
        visibility: given.visibility.0.into(),
        effect_bound: given.effect_bound.0.into(),
        doc: given.doc,
        body: given.body,
    }
}

/// The edits that a client asks for; an argument that no edit can have is told with its place.
pub(crate) fn requests(edits: Vec<EditInput>) -> Result<Vec<domain::EditRequest>, ApiError> {
    let placed = |(index, edit)| {
        request(edit).map_err(|error| {
            let argument = error.data.as_ref().and_then(|data| data["path"].as_str()).unwrap_or_default();
            let path = format!("input.edits[{index}].{argument}");
            error.at(&path)
        })
    };
    edits.into_iter().enumerate().map(placed).collect()
}

/// The edit that a client asks for; what this version does not do is known by name.
fn request(edit: EditInput) -> Result<domain::EditRequest, ApiError> {
    use domain::EditRequest as To;
    Ok(match edit {
        EditInput::AddText(given) => To::AddText(domain::AddText { module: given.module, text: given.text }),
        EditInput::ReplaceFunctionText(given) => To::ReplaceFunctionText(replace_text(given)),
        EditInput::ReplaceModuleText(given) => To::ReplaceModuleText(replace_text(given)),
        EditInput::ApplyTextPatch(given) => To::ApplyTextPatch(domain::ApplyTextPatch { patch: given.patch }),
        EditInput::InsertText(given) => To::InsertText(domain::InsertText {
            text: given.text,
            at: at(given.function, given.region, given.before, given.after),
        }),
        EditInput::AddModule(given) => To::AddModule(domain::AddModule {
            name_as: given.name_as,
            name: given.name,
            parent: given.parent,
            visibility: given.visibility.0.into(),
            doc: given.doc,
        }),
        EditInput::RenameModule(given) => To::RenameModule(rename(given)),
        EditInput::RemoveModule(given) => To::RemoveModule(remove(given)),
        EditInput::AddType(given) => {
            To::AddType(domain::AddType { name_as: given.name_as, module: given.module, text: given.text })
        }
        EditInput::ReplaceType(given) => To::ReplaceType(replace_text(given)),
        EditInput::ReplaceStorage(given) => To::ReplaceStorage(replace_text(given)),
        EditInput::RenameType(given) => To::RenameType(rename(given)),
        EditInput::RemoveType(given) => To::RemoveType(remove(given)),
        EditInput::AddFunction(given) => To::AddFunction(add_function(given)),
        EditInput::AddClosure(given) => To::AddClosure(add_function(given)),
        EditInput::SetSignature(given) => To::SetSignature(domain::SetSignature {
            of: given.of,
            params: given.params.map(params),
            results: given.results,
            effect_bound: given.effect_bound.map(Into::into),
            // Who says what calls pass wants them to pass it.
            rewrite_calls: given.rewrite_calls.0 || given.defaults.is_some(),
            defaults: given.defaults.unwrap_or_default(),
        }),
        EditInput::RenameFunction(given) => To::RenameFunction(rename(given)),
        EditInput::MoveFunction(given) => {
            To::MoveFunction(domain::MoveFunction { of: given.of, module: given.module })
        }
        EditInput::RemoveFunction(given) => To::RemoveFunction(remove(given)),
        EditInput::SetDoc(given) => To::SetDoc(domain::SetDoc { of: given.of, doc: given.doc }),
        EditInput::SetVisibility(given) => {
            To::SetVisibility(domain::SetVisibility { of: given.of, visibility: given.visibility.into() })
        }
        EditInput::InsertNode(given) => To::InsertNode(domain::InsertNode {
            name_as: given.name_as,
            op: given.op,
            at: at(given.function, given.region, given.before, given.after),
            inputs: given.inputs.unwrap_or_default(),
            name: given.name,
        }),
        EditInput::RemoveNode(given) => To::RemoveNode(domain::RemoveNode {
            of: given.of,
            replace_uses_with: given.replace_uses_with,
            cascade: given.cascade.0,
        }),
        EditInput::ModifyNode(given) => To::ModifyNode(domain::ModifyNode { of: given.of, op: given.op }),
        EditInput::MoveNode(given) => To::MoveNode(domain::MoveNode {
            of: given.of,
            at: at(None, given.region, given.before, given.after),
        }),
        EditInput::RenameNode(given) => To::RenameNode(rename(given)),
        EditInput::AddEdge(given) => To::AddEdge(domain::AddEdge {
            from: given.from,
            to: given.to,
            source_port: port("addEdge.sourcePort", given.source_port.0)?,
            target_port: port("addEdge.targetPort", given.target_port)?,
            replace: given.replace.0,
        }),
        EditInput::AddControlEdge(given) => To::AddControlEdge(domain::AddControlEdge {
            from: given.from,
            to: given.to,
            branch_index: given
                .branch_index
                .map(|index| port("addControlEdge.branchIndex", index))
                .transpose()?
                .map(u32::from),
        }),
        EditInput::RemoveEdge(given) => To::RemoveEdge(remove(given)),
        EditInput::ReplaceUses(given) => {
            To::ReplaceUses(domain::ReplaceUses { of: given.of, with: given.with })
        }
        EditInput::AddVar(given) => To::AddVar(domain::AddVar {
            name_as: given.name_as,
            function: given.function,
            name: given.name,
            ty: given.ty,
        }),
        EditInput::RenameVar(given) => To::RenameVar(rename(given)),
        EditInput::RemoveVar(given) => To::RemoveVar(remove(given)),
        // There is not one thing that it makes.
        EditInput::PromoteVar(given) if given.name_as.is_some() => To::Unsupported("promoteVar.as"),
        EditInput::PromoteVar(given) => To::PromoteVar(domain::PromoteVar { of: given.of }),
        EditInput::DemoteToVar(given) => {
            To::DemoteToVar(domain::DemoteToVar { name_as: given.name_as, of: given.of })
        }
        EditInput::AddContract(given) => {
            let kind = match given.kind {
                ContractKind::Require => domain::ConditionKind::Require,
                ContractKind::Ensure => domain::ConditionKind::Ensure,
                ContractKind::Invariant => domain::ConditionKind::Invariant,
            };
            To::AddContract(domain::AddContract {
                name_as: given.name_as,
                of: given.of,
                kind,
                message: given.message,
                text: given.text,
            })
        }
        EditInput::ReplaceContract(given) => To::ReplaceContract(replace_text(given)),
        EditInput::RemoveContract(given) => To::RemoveContract(remove(given)),
        EditInput::AddLoopParam(given) => To::AddLoopParam(domain::AddLoopParam {
            of: given.of,
            name: given.name,
            ty: given.ty,
            initial: given.initial,
            next: given.next,
        }),
        EditInput::AddResult(given) => {
            To::AddResult(domain::AddResult { of: given.of, ty: given.ty, default: given.default })
        }
        EditInput::Wrap(given) => {
            To::Wrap(domain::Wrap { name_as: given.name_as, refs: given.refs, op: given.op })
        }
        // What was in it has names of its own.
        EditInput::Unwrap(given) if given.name_as.is_some() => To::Unsupported("unwrap.as"),
        EditInput::Unwrap(given) => To::Unwrap(target(given)),
        EditInput::ReplaceSubgraph(given) => {
            To::ReplaceSubgraph(domain::ReplaceSubgraph { refs: given.refs, text: given.text })
        }
        EditInput::ExtractFunction(given) => To::ExtractFunction(domain::ExtractFunction {
            name_as: given.name_as,
            refs: given.refs,
            name: given.name,
            module: given.module,
        }),
        EditInput::InlineCall(given) => To::InlineCall(target(given)),
        EditInput::ReplacePattern(given) => To::ReplacePattern(domain::ReplacePattern {
            pattern: given.pattern,
            replacement: given.replacement,
            within: given.within,
            limit: usize::from(port("replacePattern.limit", given.limit.0)?),
        }),
    })
}
