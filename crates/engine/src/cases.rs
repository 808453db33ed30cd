//! Test cases: a function with arguments, and what it must return. They belong to the program, beside its log.
//!
//! What is stored names entities by their refs, so that a case outlives new names. It is read again with the types of the
//! revision where it is run.

use std::sync::Arc;

use lmlang_history::log::{Actor, Idempotency};
use lmlang_interp::Environment;
use lmlang_ir::text::{parse_value, print_type_name, print_value_by_refs};
use lmlang_ir::{FuncRef, Program, Type, Value, counted, miscounted};
use lmlang_store::{CasePlace, CreateCaseError};
use uuid::Uuid;

use crate::case_record::CaseRecord;
use crate::catalog::check_length;
use crate::engine::{Engine, OpenProgram};
use crate::error::Error;
use crate::request::Call;
use crate::simulate::Bounds;
use crate::timeline::Revision;

/// Cases of one program at most.
pub(crate) const MOST: u64 = 10_000;

/// Bytes of one case at most, as it is stored.
pub(crate) const BYTES: usize = 64 << 10;

/// A case to be added.
#[derive(Clone, Debug)]
pub struct NewCase {
    /// The function.
    pub function: FuncRef,
    /// The name of the case, unique among those of the function.
    pub name: String,
    /// The arguments, of the types that it takes.
    pub args: Vec<Value>,
    /// What it must return, of the types that it returns; without, that it returns is enough.
    pub expected: Option<Vec<Value>>,
    /// The bounds of its runs.
    pub bounds: Bounds,
    /// What its runs are given besides arguments.
    pub environment: Environment,
}

/// A test case.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its id.
    pub id: Uuid,
    /// The function.
    pub function: FuncRef,
    /// Its name, unique among the cases of the function.
    pub name: String,
    /// The arguments, in the text form with refs in place of names.
    pub args: Vec<String>,
    /// What the function must return, in that form; without, that it returns is enough.
    pub expected: Option<Vec<String>>,
    /// The bounds of its runs.
    pub bounds: Bounds,
    /// What its runs are given besides arguments.
    pub environment: Environment,
    /// When it was added, in microseconds of UTC.
    pub added: i64,
    /// Who added it.
    pub added_by: Actor,
    /// The revision whose types it was written for: there the function is.
    pub revision: u64,
}

/// Some cases of a program.
#[derive(Clone, Debug)]
pub struct CasePage {
    /// The cases, by function and name.
    pub cases: Vec<Arc<Case>>,
    /// Whether more follow.
    pub more: bool,
}

/// A case read with the types of a revision.
#[derive(Clone, Debug)]
pub(crate) struct Fitted {
    pub(crate) args: Vec<Value>,
    pub(crate) expected: Option<Vec<Value>>,
}

impl Case {
    /// Where it stands in the list of its program.
    pub fn place(&self) -> CasePlace {
        CasePlace { function: self.function.number(), name: self.name.clone() }
    }

    /// Reads the case with the types of a program; why that cannot be done otherwise, in words.
    pub(crate) fn fit(&self, program: &Program) -> Result<Fitted, String> {
        let Some(function) = program.function(self.function) else {
            return Err(format!("the function `{}` is not there", self.function));
        };
        let path = || program.path(self.function.into());
        let params: Vec<Type> = function.head().params.iter().map(|param| param.ty.clone()).collect();
        let read = |texts: &[String], types: &[Type], what: &str, does: &str| {
            if texts.len() != types.len() {
                let values = counted(types.len() as u64, "value", "values");
                return Err(format!("`{}` {does} {values} here, the case has {}", path(), texts.len()));
            }
            let value = |(index, (text, ty)): (usize, (&String, &Type))| {
                parse_value(program, ty, text).map_err(|error| {
                    let ty = print_type_name(program, None, ty);
                    format!(
                        "`{what}[{index}]` is no `{ty}`, which `{}` {does} here: {}",
                        path(),
                        error.message
                    )
                })
            };
            texts.iter().zip(types).enumerate().map(value).collect::<Result<Vec<Value>, String>>()
        };
        let args = read(&self.args, &params, "args", "takes")?;
        let results = &function.head().results;
        let expected = self.expected.as_ref().map(|expected| read(expected, results, "expected", "returns"));
        Ok(Fitted { args, expected: expected.transpose()? })
    }

    /// The values of the case as a program writes them; those that it cannot read stay as they are stored.
    pub fn shown(program: &Program, texts: &[String], types: &[Type]) -> Vec<String> {
        let print = |(index, text): (usize, &String)| {
            let value = types.get(index).and_then(|ty| parse_value(program, ty, text).ok());
            value.map_or_else(|| text.clone(), |value| lmlang_ir::text::print_value(program, &value))
        };
        texts.iter().enumerate().map(print).collect()
    }

    fn of_row(row: &lmlang_store::Case) -> Result<Case, Error> {
        let unreadable = || lmlang_store::Fault::Row { table: "cases", column: "payload" };
        let record = CaseRecord::read(&row.payload).ok_or_else(unreadable)?;
        let function = FuncRef::new(row.function).ok_or_else(unreadable)?;
        let case = record.case(row.id, function, row.name.clone(), row.made.0);
        Ok(case.ok_or_else(unreadable)?)
    }
}

/// Whether what is stored of a case can be read.
pub(crate) fn is_readable(row: &lmlang_store::Case) -> bool {
    Case::of_row(row).is_ok()
}

/// Refuses a name that a line of a list would not show.
fn check_case_name(name: &str, limit: usize) -> Result<(), Error> {
    check_length(name, limit)?;
    if name.trim().is_empty() || name.chars().any(char::is_control) {
        let message = "`name` must be one line that is not empty";
        return Err(Error::Argument { place: "input.name".to_owned(), message: message.to_owned() });
    }
    Ok(())
}

/// The values as they are stored, if they are of these types.
fn stored(program: &Program, values: &[Value], types: &[Type], what: &str) -> Result<Vec<String>, Error> {
    if let Some(message) = miscounted(what, types.len(), values.len()) {
        return Err(Error::Argument { place: format!("input.{what}"), message });
    }
    let text = |(index, (value, ty)): (usize, (&Value, &Type))| {
        let text = print_value_by_refs(program, value);
        match parse_value(program, ty, &text) {
            Ok(read) if read == *value => Ok(text),
            Ok(_) | Err(_) => {
                let ty = print_type_name(program, None, ty);
                let message = format!("`{what}[{index}]` is no `{ty}`");
                Err(Error::Argument { place: format!("input.{what}[{index}]"), message })
            }
        }
    };
    values.iter().zip(types).enumerate().map(text).collect()
}

impl Engine {
    /// Adds a case to a program; the revision has the types of its values.
    ///
    /// A repeated request is answered as the first one.
    pub async fn add_case(
        &self,
        open: &OpenProgram,
        revision: &Arc<Revision>,
        new: NewCase,
        call: &Call,
    ) -> Result<Arc<Case>, Error> {
        if let Some(first) = self.added_under(call).await? {
            return Ok(first);
        }
        check_case_name(&new.name, self.limits().name_length)?;
        let program = revision.checked.program();
        let missing = || Error::not_found("function", new.function.to_string());
        let head = program.function(new.function).ok_or_else(missing)?.head();
        if !head.captures.is_empty() {
            let message = format!("`{}` captures values: only closures can call it", new.function);
            return Err(Error::Argument { place: "input.function".to_owned(), message });
        }
        let params: Vec<Type> = head.params.iter().map(|param| param.ty.clone()).collect();
        let expected = new.expected.as_ref().map(|all| stored(program, all, &head.results, "expected"));
        let case = Arc::new(Case {
            id: self.0.clock.id(),
            function: new.function,
            args: stored(program, &new.args, &params, "args")?,
            expected: expected.transpose()?,
            name: new.name,
            bounds: new.bounds,
            environment: new.environment,
            added: self.now(),
            added_by: call.actor.clone(),
            revision: revision.entry.number,
        });
        let payload = CaseRecord::of(&case).bytes();
        if payload.len() > BYTES {
            return Err(Error::Limit {
                which: "caseBytes",
                limit: BYTES as u64,
                actual: payload.len() as u64,
            });
        }
        let key = open.timeline.key();
        let count = self.store().count_cases(key, None).await?;
        if count >= MOST {
            return Err(Error::Limit { which: "casesOfProgram", limit: MOST, actual: count + 1 });
        }
        let row = lmlang_store::Case {
            id: case.id,
            program: key,
            function: case.function.number(),
            name: case.name.clone(),
            made: lmlang_store::Timestamp(case.added),
            removed: None,
            making: keyed(call),
            removal: None,
            payload,
        };
        let engine = self.clone();
        let stored = self.to_end(async move { Ok(engine.store().create_case(row).await) }).await?;
        match stored {
            Ok(()) => {
                self.case_added(open, &case);
                Ok(case)
            }
            Err(CreateCaseError::NameTaken { name }) => Err(Error::NameTaken { what: "case", name }),
            Err(CreateCaseError::KeyTaken) => self.added_under(call).await?.ok_or(Error::IdempotencyMismatch),
            Err(CreateCaseError::Storage(fault)) => Err(fault.into()),
        }
    }

    /// The case that was added by a request with the key of a call.
    async fn added_under(&self, call: &Call) -> Result<Option<Arc<Case>>, Error> {
        let Some(Idempotency { key, digest }) = &call.idempotency else { return Ok(None) };
        if self.store().case_removed_under(key).await?.is_some() {
            return Err(Error::IdempotencyMismatch);
        }
        match self.store().case_made_under(key).await? {
            None => Ok(None),
            Some(row) if row.making.as_ref().is_some_and(|making| making.digest == digest) => {
                Ok(Some(Arc::new(Case::of_row(&row)?)))
            }
            Some(_) => Err(Error::IdempotencyMismatch),
        }
    }

    /// Removes a case of a program. Answers whether it was there; a repeated request is answered as the first one.
    pub async fn remove_case(&self, open: &OpenProgram, id: Uuid, call: &Call) -> Result<bool, Error> {
        if self.has_removed_case(call).await? {
            return Ok(true);
        }
        match self.remove_live_case(open, id, call).await {
            Ok(true) => Ok(true),
            // Perhaps because the same request was carried out meanwhile.
            not => match self.has_removed_case(call).await? {
                true => Ok(true),
                false => not,
            },
        }
    }

    /// Whether the request with the key of a call has removed a case.
    async fn has_removed_case(&self, call: &Call) -> Result<bool, Error> {
        let Some(Idempotency { key, digest }) = &call.idempotency else { return Ok(false) };
        if self.store().case_made_under(key).await?.is_some() {
            return Err(Error::IdempotencyMismatch);
        }
        match self.store().case_removed_under(key).await? {
            None => Ok(false),
            Some(row) if row.removal.as_ref().is_some_and(|removal| removal.digest == digest) => Ok(true),
            Some(_) => Err(Error::IdempotencyMismatch),
        }
    }

    async fn remove_live_case(&self, open: &OpenProgram, id: Uuid, call: &Call) -> Result<bool, Error> {
        let row = self.store().case(id).await?.filter(|row| row.program == open.timeline.key());
        let Some(row) = row else { return Err(Error::not_found("case", id.to_string())) };
        if row.removed.is_some() {
            let given = id.to_string();
            return Err(Error::NotFound { what: "case", given, candidates: Vec::new(), retired: true });
        }
        let (engine, now, request) = (self.clone(), self.0.clock.now(), keyed(call));
        self.to_end(async move { Ok(engine.store().remove_case(id, now, request).await?) }).await
    }

    /// The case of a program with an id, unless it was removed.
    pub async fn case(&self, open: &OpenProgram, id: Uuid) -> Result<Option<Arc<Case>>, Error> {
        let row = self.store().case(id).await?;
        let row = row.filter(|row| row.program == open.timeline.key() && row.removed.is_none());
        row.map(|row| Case::of_row(&row).map(Arc::new)).transpose()
    }

    /// Cases of a program by function and name, at most so many after a place; all, or those of one function.
    pub async fn cases(
        &self,
        open: &OpenProgram,
        function: Option<FuncRef>,
        after: Option<&CasePlace>,
        limit: usize,
    ) -> Result<CasePage, Error> {
        let (key, number) = (open.timeline.key(), function.map(FuncRef::number));
        let rows = self.store().cases(key, number, after, limit as u64 + 1).await?;
        let more = rows.len() > limit;
        let cases = rows.iter().take(limit).map(|row| Case::of_row(row).map(Arc::new));
        Ok(CasePage { cases: cases.collect::<Result<_, _>>()?, more })
    }

    /// How many cases a program has, or one of its functions.
    pub async fn count_cases(&self, open: &OpenProgram, function: Option<FuncRef>) -> Result<u64, Error> {
        Ok(self.store().count_cases(open.timeline.key(), function.map(FuncRef::number)).await?)
    }

    /// The cases of some functions, by function and name.
    pub(crate) async fn cases_of(
        &self,
        open: &OpenProgram,
        functions: &[u64],
    ) -> Result<Vec<Arc<Case>>, Error> {
        let rows = self.store().cases_of(open.timeline.key(), functions).await?;
        rows.iter().map(|row| Case::of_row(row).map(Arc::new)).collect()
    }
}

/// The key of a call as the store keeps it.
pub(crate) fn keyed(call: &Call) -> Option<lmlang_store::Idempotency> {
    let given = call.idempotency.clone()?;
    Some(lmlang_store::Idempotency { key: given.key, digest: given.digest.to_vec() })
}
