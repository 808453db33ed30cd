//! The sample programs, embedded in the binary.

use lmlang_engine::{Call, Creation, Engine, NewProgramRequest};
use lmlang_history::log::{Actor, ActorKind};
use rust_embed::RustEmbed;

use crate::error::Error;
use crate::output::bar;
use crate::source::leading_comment;

#[derive(RustEmbed)]
#[folder = "../../examples"]
struct Examples;

/// Makes a program of every sample. Answers how many there are.
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
        let request = NewProgramRequest { name: name.clone(), doc, text: Some(text) };
        match engine.create_program(request, &call).await? {
            Creation::Created(_) => loaded += 1,
            // The samples are part of the binary and tested; a broken one must not keep the server from starting.
            Creation::Rejected { .. } => tracing::error!(sample = name, "a sample program has errors"),
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(loaded)
}
