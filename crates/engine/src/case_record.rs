//! What is stored of a test case, and of what a run of one gave.

use lmlang_history::log::{Actor, ActorKind};
use lmlang_ir::FuncRef;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::cases::Case;
use crate::recall::{BoundsRecord, EnvironmentRecord};
use crate::simulate::Bounds;
use crate::standing::{CaseRun, End};

/// The version of the forms that are written.
const VERSION: u32 = 1;

/// The stored form of a case.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CaseRecord {
    version: u32,
    /// Values in the text form, with refs in place of names.
    args: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expected: Option<Vec<String>>,
    #[serde(with = "BoundsRecord")]
    bounds: Bounds,
    #[serde(flatten)]
    environment: EnvironmentRecord,
    author: String,
    #[serde(with = "KindRecord")]
    author_kind: ActorKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    client: Option<String>,
    revision: u64,
}

impl CaseRecord {
    pub(crate) fn of(case: &Case) -> CaseRecord {
        CaseRecord {
            version: VERSION,
            args: case.args.clone(),
            expected: case.expected.clone(),
            bounds: case.bounds,
            environment: EnvironmentRecord::of(&case.environment),
            author: case.added_by.name.clone(),
            author_kind: case.added_by.kind,
            client: case.added_by.client.clone(),
            revision: case.revision,
        }
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a record has a JSON form")
    }

    pub(crate) fn read(bytes: &[u8]) -> Option<CaseRecord> {
        serde_json::from_slice::<CaseRecord>(bytes).ok().filter(|record| record.version == VERSION)
    }

    /// The case that it is the stored form of.
    pub(crate) fn case(self, id: Uuid, function: FuncRef, name: String, added: i64) -> Option<Case> {
        Some(Case {
            id,
            function,
            name,
            args: self.args,
            expected: self.expected,
            bounds: self.bounds,
            environment: self.environment.environment()?,
            added,
            added_by: Actor { name: self.author, kind: self.author_kind, client: self.client },
            revision: self.revision,
        })
    }
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "ActorKind", rename_all = "camelCase")]
enum KindRecord {
    Human,
    Agent,
    Tool,
    Flow,
    System,
}

/// The stored form of what a run gave.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunRecord {
    version: u32,
    steps: u64,
    fuel: u64,
    end: EndRecord,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum EndRecord {
    Returned {
        digest: [u8; 32],
        values: Option<Vec<String>>,
    },
    Stopped {
        code: String,
        message: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        node: Option<String>,
    },
}

impl RunRecord {
    pub(crate) fn of(run: &CaseRun) -> RunRecord {
        let end = match run.end.clone() {
            End::Returned { digest, values } => EndRecord::Returned { digest, values },
            End::Stopped { code, message, node } => {
                EndRecord::Stopped { code, message, node: node.map(|node| node.to_string()) }
            }
        };
        RunRecord { version: VERSION, steps: run.steps, fuel: run.fuel_used, end }
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a record has a JSON form")
    }

    /// What the run gave; nothing where another version wrote it: then it is run again.
    pub(crate) fn read(bytes: &[u8]) -> Option<CaseRun> {
        let record = serde_json::from_slice::<RunRecord>(bytes).ok()?;
        let end = match record.end {
            EndRecord::Returned { digest, values } => End::Returned { digest, values },
            EndRecord::Stopped { code, message, node } => {
                End::Stopped { code, message, node: node.map(|node| node.parse()).transpose().ok()? }
            }
        };
        let run = CaseRun { steps: record.steps, fuel_used: record.fuel, end, by_time: false };
        (record.version == VERSION).then_some(run)
    }
}
