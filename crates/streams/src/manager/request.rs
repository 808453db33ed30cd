//! Requests, and the paths that they have in HTTP.

use serde_json::Value as Json;

use super::{Refused, RefusedKind};

/// A request to a Manager.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// `GET /streams`.
    ListStreams,
    /// `POST /streams`.
    CreateStream(Json),
    /// `GET /streams/describe/:name`.
    DescribeStream(String),
    /// `DELETE /streams/:name`.
    DeleteStream(String),
    /// `GET /functions`.
    ListFunctions,
    /// `GET /functions/describe/:name`.
    DescribeFunction(String),
    /// `GET /capabilities/syntax`.
    Syntax,
    /// `GET /pipelines`.
    ListPipelines,
    /// `POST /pipelines`.
    CreatePipeline(Json),
    /// `GET /pipelines/:id`.
    GetPipeline(String),
    /// `PUT /pipelines/:id`.
    ReplacePipeline(String, Json),
    /// `DELETE /pipelines/:id`.
    DeletePipeline(String),
    /// `POST /pipelines/:id/start`.
    StartPipeline(String),
    /// `POST /pipelines/:id/stop`.
    StopPipeline(String),
    /// `GET /pipelines/:id/explain`.
    ExplainPipeline(String),
    /// `GET /pipelines/:id/stats`.
    PipelineStats(String),
    /// `POST /pipelines/:id/simulate`, with a [`Sample`](crate::Sample).
    SimulatePipeline(String, Json),
}

impl Request {
    /// Whether it comes with a body.
    pub const fn takes_body(&self) -> bool {
        matches!(
            self,
            Request::CreateStream(_)
                | Request::CreatePipeline(_)
                | Request::ReplacePipeline(..)
                | Request::SimulatePipeline(..)
        )
    }

    /// Whether it may change something.
    pub const fn changes(&self) -> bool {
        match self {
            Request::CreateStream(_)
            | Request::DeleteStream(_)
            | Request::CreatePipeline(_)
            | Request::ReplacePipeline(..)
            | Request::DeletePipeline(_)
            | Request::StartPipeline(_)
            | Request::StopPipeline(_) => true,
            Request::ListStreams
            | Request::DescribeStream(_)
            | Request::ListFunctions
            | Request::DescribeFunction(_)
            | Request::Syntax
            | Request::ListPipelines
            | Request::GetPipeline(_)
            | Request::ExplainPipeline(_)
            | Request::PipelineStats(_)
            | Request::SimulatePipeline(..) => false,
        }
    }

    /// Whether a program is run for it.
    pub const fn runs(&self) -> bool {
        matches!(self, Request::SimulatePipeline(..))
    }

    /// Whether queries are read for it, which takes longer than a look at what there is.
    pub const fn plans(&self) -> bool {
        matches!(
            self,
            Request::DeleteStream(_)
                | Request::CreatePipeline(_)
                | Request::ReplacePipeline(..)
                | Request::ExplainPipeline(_)
                | Request::PipelineStats(_)
                | Request::SimulatePipeline(..)
        )
    }

    /// The request of a method and a path, which is decoded already; `body` is `null` where there is none.
    pub fn of(method: &str, path: &str, body: Json) -> Result<Request, Refused> {
        let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
        let own = |text: &str| text.to_owned();
        let request = match (method, parts.as_slice()) {
            ("GET", ["streams"]) => Request::ListStreams,
            ("POST", ["streams"]) => Request::CreateStream(body),
            ("GET", ["streams", "describe", name]) => Request::DescribeStream(own(name)),
            ("DELETE", ["streams", name]) => Request::DeleteStream(own(name)),
            ("GET", ["functions"]) => Request::ListFunctions,
            ("GET", ["functions", "describe", name]) => Request::DescribeFunction(own(name)),
            ("GET", ["capabilities", "syntax"]) => Request::Syntax,
            ("GET", ["pipelines"]) => Request::ListPipelines,
            ("POST", ["pipelines"]) => Request::CreatePipeline(body),
            ("GET", ["pipelines", id]) => Request::GetPipeline(own(id)),
            ("PUT", ["pipelines", id]) => Request::ReplacePipeline(own(id), body),
            ("DELETE", ["pipelines", id]) => Request::DeletePipeline(own(id)),
            ("POST", ["pipelines", id, "start"]) => Request::StartPipeline(own(id)),
            ("POST", ["pipelines", id, "stop"]) => Request::StopPipeline(own(id)),
            ("GET", ["pipelines", id, "explain"]) => Request::ExplainPipeline(own(id)),
            ("GET", ["pipelines", id, "stats"]) => Request::PipelineStats(own(id)),
            ("POST", ["pipelines", id, "simulate"]) => Request::SimulatePipeline(own(id), body),
            (
                _,
                ["streams" | "functions" | "pipelines"]
                | ["streams" | "pipelines", _]
                | ["streams" | "functions", "describe", _]
                | ["capabilities", "syntax"]
                | ["pipelines", _, "start" | "stop" | "explain" | "stats" | "simulate"],
            ) => {
                let message = format!("`/{}` does not take {method}", parts.join("/"));
                return Err(Refused::new(RefusedKind::WrongMethod, message));
            }
            _ => {
                let message = format!("there is nothing at `/{}`", parts.join("/"));
                return Err(Refused::new(RefusedKind::NotFound, message));
            }
        };
        Ok(request)
    }
}
