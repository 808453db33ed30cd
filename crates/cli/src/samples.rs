//! The sample programs, embedded in the binary.

use lmlang_engine::{Call, Content, Creation, Engine, Error as EngineError, NewProgramRequest};
use lmlang_history::log::{Actor, ActorKind};
use rust_embed::RustEmbed;

use crate::error::Error;
use crate::output::bar;
use crate::source::leading_comment;

#[derive(RustEmbed)]
#[folder = "../../examples"]
struct Examples;

/// Tells whether loading the samples began and was interrupted: there are fewer programs, and no others.
pub(crate) async fn are_incomplete(engine: &Engine) -> Result<bool, Error> {
    let names: Vec<_> = Examples::iter().collect();
    let page = engine.programs(None, None, names.len()).await?;
    let sample = |name: &str| names.iter().any(|file| file.trim_end_matches(".lm") == name);
    Ok((1..names.len() as u64).contains(&page.total) && page.programs.iter().all(|info| sample(&info.name)))
}

/// Makes a program of every sample, once in the life of a database. Answers how many were made.
pub(crate) async fn load(engine: &Engine) -> Result<usize, Error> {
    let actor = Actor { name: "lmlang".to_owned(), kind: ActorKind::System, client: None };
    let call = Call { message: Some("a sample program".to_owned()), ..Call::by(actor) };
    let mut names: Vec<_> = Examples::iter().collect();
    names.sort_unstable();
    let bar = bar("loading samples", names.len() as u64);
    let mut loaded = 0;
    for file in &names {
        let Some(content) = Examples::get(file) else { continue };
        let name = file.trim_end_matches(".lm").to_owned();
        let text = String::from_utf8_lossy(&content.data).into_owned();
        let doc = leading_comment(&text);
        let request = NewProgramRequest { name: name.clone(), doc, content: Content::Text(text) };
        let key = format!("sample {name}");
        match engine.create_program(request, &call.clone().keyed(Some(&key), name.as_bytes())).await {
            Ok(Creation::Created(_)) => loaded += 1,
            // The samples are part of the binary and tested; a broken one must not keep the server from starting.
            Ok(Creation::Rejected { .. }) => tracing::error!(sample = name, "a sample program has errors"),
            // There before, or there before and deleted since.
            Err(EngineError::NameTaken { .. } | EngineError::NotFound { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(loaded)
}
