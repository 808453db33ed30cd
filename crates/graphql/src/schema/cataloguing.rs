//! Making, renaming and deleting programs.

use std::sync::Arc;

use async_graphql::{Context, ID, InputObject, SimpleObject};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use lmlang_engine::{Content, Creation, Engine, NewProgramRequest, Updated, is_of_text, refuses};
use lmlang_verify::Consequences;

use crate::direct::Rows;
use crate::error::{ApiError, Code};
use crate::schema::access::allow_of_all;
use crate::schema::call::{call, note};
use crate::schema::diagnostics::Diagnostic;
use crate::schema::failure::fail;
use crate::schema::mutation::{DeletePayload, selector};
use crate::schema::outcome::EditError;
use crate::schema::program::Program;
use crate::schema::view::View;

/// Makes a program.
#[derive(Clone, Debug, InputObject)]
pub struct CreateProgramInput {
    /// Its name, unique among programs.
    name: String,
    /// What it is for.
    doc: Option<String>,
    /// Its first content in the text form, as for `addText`, with its modules; empty without. Refs in it are kept.
    text: Option<String>,
    /// Its first content, a WebAssembly module in text form.
    wat: Option<String>,
    /// Its first content, a binary WebAssembly module in base64.
    wasm: Option<String>,
    /// The program, by id or name, whose content it begins with, refs included. Its history begins here.
    fork_of: Option<ID>,
    /// The revision of `forkOf` [default: the head].
    at: Option<String>,
    /// Why, for the log.
    message: Option<String>,
    /// Same key and input: the first answer; another input: `IDEMPOTENCY_MISMATCH`.
    idempotency_key: Option<String>,
}

/// Gives a program another name or doc.
#[derive(Clone, Debug, InputObject)]
pub struct UpdateProgramInput {
    /// The program, by id or name.
    program_id: ID,
    /// Its name from now on.
    name: Option<String>,
    /// What it is for, from now on.
    doc: Option<String>,
    /// Same key and input: the first answer; another input: `IDEMPOTENCY_MISMATCH`.
    idempotency_key: Option<String>,
}

/// Deletes a program.
#[derive(Clone, Debug, InputObject)]
pub struct DeleteProgramInput {
    /// The program, by id or name.
    program_id: ID,
    /// Same key and input: the first answer; another input: `IDEMPOTENCY_MISMATCH`. Without one, a repetition by id
    /// answers `NOT_FOUND` with `retired: true`, and one by name deletes whatever has the name by then.
    idempotency_key: Option<String>,
}

/// What became of making or changing a program.
#[derive(Clone, SimpleObject)]
pub struct CreateProgramPayload {
    /// The program; null when its text has errors.
    program: Option<Program>,
    /// Errors of the text and of what it says.
    errors: Rows<EditError>,
    /// Warnings about it.
    warnings: Rows<Diagnostic>,
}

impl CreateProgramPayload {
    fn of(program: Program) -> CreateProgramPayload {
        CreateProgramPayload { program: Some(program), errors: Rows::default(), warnings: Rows::default() }
    }
}

/// What a program begins with.
async fn content(engine: &Engine, input: &mut CreateProgramInput) -> Result<Content, ApiError> {
    let bad = |message: &str| Err(ApiError::new(Code::BadRequest, message));
    if input.at.is_some() && input.fork_of.is_none() {
        return bad("`at` names a revision of `forkOf`");
    }
    match (input.text.take(), input.wat.take(), input.wasm.take(), &input.fork_of) {
        (None, None, None, None) => Ok(Content::Empty),
        (Some(text), None, None, None) => Ok(Content::Text(text)),
        (None, Some(wat), None, None) => Ok(Content::Wat(wat)),
        (None, None, Some(wasm), None) => match BASE64_STANDARD.decode(&wasm) {
            Ok(module) => Ok(Content::Wasm(module)),
            Err(error) => bad(&format!("`wasm` is not base64: {error}")),
        },
        (None, None, None, Some(program)) => {
            let view = Box::pin(View::find(engine, program, input.at.as_deref())).await?;
            Ok(Content::Fork(Arc::clone(view.revision())))
        }
        _ => bad("give one of `text`, `wat`, `wasm` and `forkOf`"),
    }
}

/// Makes a program.
pub(crate) async fn create(
    context: &Context<'_>,
    mut input: CreateProgramInput,
) -> Result<CreateProgramPayload, ApiError> {
    let engine = context.data_unchecked::<Engine>();
    note("doc", input.doc.as_deref())?;
    let call = call(context, input.message.clone(), input.idempotency_key.as_deref(), &input)?;
    let content = content(engine, &mut input).await?;
    let request = NewProgramRequest { name: input.name, doc: input.doc.unwrap_or_default(), content };
    match engine.create_program(request, &call).await.map_err(fail)? {
        Creation::Created(open) => {
            // A repeated request is answered with what it made then.
            let made = engine.origin(&open).await.map_err(fail)?;
            let view = View::made(engine, open, made);
            let found = view.findings().iter().map(|(_, found)| Diagnostic::new(&view, found.clone()));
            let warnings = found.take(crate::schema::connection::MAX_PAGE).collect();
            Ok(CreateProgramPayload { program: Some(Program::of(view)), errors: Rows::default(), warnings })
        }
        Creation::Rejected { text, checked, places } => {
            let mut errors: Vec<EditError> =
                text.iter().map(|error| EditError::of_text(0, vec!["text".to_owned()], error)).collect();
            if let Some(checked) = checked {
                let told = |found| refuses(found, &places) && (text.is_empty() || is_of_text(found));
                let mut consequences = Consequences::new(checked.program());
                let found = checked.findings().iter();
                let found = found.filter(|(_, found)| told(found) && !consequences.follows(found));
                errors.extend(found.map(|(_, found)| {
                    let spot = places.get(found.spot(checked.program()).number);
                    let place = spot.or_else(|| places.get(found.at.entity.number));
                    EditError::in_program(checked.program(), found).at(place)
                }));
            }
            errors.sort_by_key(|error| (error.line.is_none(), error.line, error.column));
            Ok(CreateProgramPayload {
                program: None,
                errors: EditError::first(errors).into_iter().collect(),
                warnings: Rows::default(),
            })
        }
    }
}

/// Gives a program another name or doc.
pub(crate) async fn update(
    context: &Context<'_>,
    input: UpdateProgramInput,
) -> Result<CreateProgramPayload, ApiError> {
    note("doc", input.doc.as_deref())?;
    if input.name.is_some() {
        // It may be taken by a program that the caller must not know of.
        allow_of_all(context, "another name")?;
    }
    let engine = context.data_unchecked::<Engine>();
    let call = call(context, None, input.idempotency_key.as_deref(), &input)?;
    let (program, name, doc) = (selector(&input.program_id), input.name.as_deref(), input.doc.as_deref());
    let Updated { open, info, revision } =
        engine.update_program(&program, name, doc, &call).await.map_err(fail)?;
    Ok(CreateProgramPayload::of(Program::then(View::made(engine, open, revision), info)))
}

/// Deletes a program.
pub(crate) async fn delete(
    context: &Context<'_>,
    input: DeleteProgramInput,
) -> Result<DeletePayload, ApiError> {
    let engine = context.data_unchecked::<Engine>();
    let call = call(context, None, input.idempotency_key.as_deref(), &input)?;
    let deleted = engine.delete_program(&selector(&input.program_id), &call).await.map_err(fail)?;
    Ok(DeletePayload { deleted })
}
