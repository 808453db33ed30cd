//! What the object of a program looks at.

use std::sync::Arc;

use lmlang_engine::{Engine, ProgramInfo};
use tokio::sync::OnceCell;

use crate::error::ApiError;
use crate::schema::failure::fail;
use crate::schema::ids::{View as Which, ViewId};
use crate::schema::view::View;

/// A program and where it is looked at.
#[derive(Clone)]
pub(super) enum Shown {
    /// At a revision that is there, with the name and doc that the program had when it was looked at.
    View(View, Arc<ProgramInfo>),
    /// As the catalogue lists it.
    Row(Arc<Row>),
}

/// A program of a list: opened at its head when somebody asks for more than the list knows. So a list of many costs little,
/// and one that cannot be opened does not hide the others.
pub(super) struct Row {
    engine: Engine,
    info: Arc<ProgramInfo>,
    view: OnceCell<Result<View, ApiError>>,
}

impl Shown {
    /// A program that the catalogue lists.
    pub(super) fn listed(engine: &Engine, info: Arc<ProgramInfo>) -> Shown {
        Shown::Row(Arc::new(Row { engine: engine.clone(), info, view: OnceCell::new() }))
    }

    /// What the fields that need the content look at; the same for all of them.
    pub(super) async fn view(&self) -> Result<&View, ApiError> {
        let row = match self {
            Shown::View(view, _) => return Ok(view),
            Shown::Row(row) => row,
        };
        let open = || async {
            let open = row.engine.open(&row.info).await.map_err(fail)?;
            Ok(View::head(&row.engine, open))
        };
        row.view.get_or_init(open).await.as_ref().map_err(Clone::clone)
    }

    /// What the view is called.
    pub(super) fn id(&self) -> ViewId {
        match self {
            Shown::View(view, _) => view.id().clone(),
            Shown::Row(row) => ViewId { program: row.info.id, view: Which::Head },
        }
    }

    /// What is known of the program without its content.
    pub(super) fn info(&self) -> &ProgramInfo {
        match self {
            Shown::View(_, info) => info,
            Shown::Row(row) => &row.info,
        }
    }
}
