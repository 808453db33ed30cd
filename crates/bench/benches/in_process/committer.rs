//! The committer beside the engine: a thread with one connection of rusqlite's, which inserts what is queued and no more.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, params_from_iter};
use tokio::sync::oneshot;
use uuid::Uuid;

/// A row of the engine's log, and how the table was made.
#[derive(Debug)]
pub(crate) struct Template {
    /// The statements that make the table and its indexes.
    schema: Vec<String>,
    columns: Vec<String>,
    values: Vec<Value>,
}

impl Template {
    /// Reads the newest row that an engine wrote.
    pub(crate) fn read(database: &Path) -> rusqlite::Result<Template> {
        let connection = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        let mut schema = connection.prepare(
            "SELECT sql FROM sqlite_master WHERE tbl_name = 'log' AND sql IS NOT NULL ORDER BY type DESC",
        )?;
        let schema = schema.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
        let mut newest = connection.prepare("SELECT * FROM log ORDER BY position DESC LIMIT 1")?;
        let columns: Vec<String> = newest.column_names().into_iter().map(str::to_owned).collect();
        let values = newest.query_row([], |row| (0..columns.len()).map(|at| row.get(at)).collect())?;
        Ok(Template { schema, columns, values })
    }
}

/// A row that is wanted.
#[derive(Debug)]
struct Job {
    program: usize,
    /// The idempotency key, made by the caller as clients do.
    key: String,
    done: oneshot::Sender<()>,
}

#[derive(Debug, Default)]
struct Queue {
    jobs: Vec<Job>,
    most: usize,
    closed: bool,
    /// Rows, and transactions.
    committed: (u64, u64),
}

#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<Queue>,
    wake: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A handle to the thread.
#[derive(Debug)]
pub(crate) struct Committer {
    shared: Arc<Shared>,
    thread: JoinHandle<rusqlite::Result<u64>>,
}

impl Committer {
    /// Makes a database with the table, and starts the thread.
    pub(crate) fn start(
        database: &Path,
        template: Template,
    ) -> Result<Committer, Box<dyn std::error::Error + Send + Sync>> {
        let connection = Connection::open(database)?;
        // The settings of the engine's own connection.
        connection.pragma_update(None, "page_size", 4096)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "wal_autocheckpoint", 4000)?;
        connection.set_prepared_statement_cache_capacity(512);
        for statement in &template.schema {
            connection.execute_batch(statement)?;
        }
        let shared = Arc::new(Shared::default());
        shared.lock().most = 1;
        let theirs = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("committer".to_owned());
        let thread = thread.spawn(move || commit(&theirs, &connection, &template))?;
        Ok(Committer { shared, thread })
    }

    /// Puts so many rows into a transaction, at most.
    pub(crate) fn at_most(&self, rows: f64) {
        self.shared.lock().most = (rows.round() as usize).max(1);
    }

    /// Inserts a row, and waits until it is durable.
    pub(crate) async fn insert(&self, program: usize) -> io::Result<()> {
        let (done, inserted) = oneshot::channel();
        let key = Uuid::now_v7().to_string();
        self.shared.lock().jobs.push(Job { program, key, done });
        self.shared.wake.notify_one();
        inserted.await.map_err(io::Error::other)
    }

    /// Rows, and transactions.
    pub(crate) fn committed(&self) -> (u64, u64) {
        self.shared.lock().committed
    }

    /// Ends the thread, and counts the rows.
    pub(crate) fn close(self) -> Result<u64, Box<dyn std::error::Error + Send + Sync>> {
        self.shared.lock().closed = true;
        self.shared.wake.notify_one();
        Ok(self.thread.join().map_err(|_| "the committer ended by a panic")??)
    }
}

/// Inserts until the queue is closed. Answers how many rows there are.
fn commit(shared: &Shared, connection: &Connection, template: &Template) -> rusqlite::Result<u64> {
    let mut rows = Rows::of(template);
    while let Some(batch) = next(shared) {
        rows.insert(connection, &batch)?;
        let mut queue = shared.lock();
        queue.committed = (queue.committed.0 + batch.len() as u64, queue.committed.1 + 1);
        drop(queue);
        for job in batch {
            // A caller that has gone needs no answer.
            job.done.send(()).ok();
        }
    }
    let rows: i64 = connection.query_row("SELECT count(*) FROM log", [], |row| row.get(0))?;
    Ok(rows.unsigned_abs())
}

/// Waits for rows.
fn next(shared: &Shared) -> Option<Vec<Job>> {
    let mut queue = shared.lock();
    while queue.jobs.is_empty() && !queue.closed {
        queue = shared.wake.wait(queue).unwrap_or_else(PoisonError::into_inner);
    }
    let count = queue.jobs.len().min(queue.most);
    (count > 0).then(|| queue.jobs.drain(..count).collect())
}

/// Rows that differ from the template in what makes them others.
struct Rows<'a> {
    template: &'a Template,
    /// The newest number of each program's log.
    newest: HashMap<usize, i64>,
    columns: String,
    places: String,
}

impl Rows<'_> {
    fn of(template: &Template) -> Rows<'_> {
        let columns: Vec<String> = template.columns.iter().map(|name| format!("\"{name}\"")).collect();
        let places = vec!["?"; columns.len()].join(",");
        Rows { template, newest: HashMap::new(), columns: columns.join(","), places: format!("({places})") }
    }

    /// Inserts a batch in one statement, which is one transaction.
    fn insert(&mut self, connection: &Connection, batch: &[Job]) -> rusqlite::Result<()> {
        let mut values = Vec::with_capacity(batch.len() * self.template.columns.len());
        for job in batch {
            let seq = self.newest.entry(job.program).or_default();
            *seq += 1;
            let program = job.program as i64;
            let (first, seq) = (values.len(), *seq);
            values.extend(self.template.values.iter().cloned());
            for (name, value) in self.template.columns.iter().zip(&mut values[first..]) {
                match name.as_str() {
                    "position" => *value = Value::Null,
                    "program" => *value = Value::Integer(program),
                    "seq" => *value = Value::Integer(seq),
                    "id" => *value = Value::Blob(Uuid::now_v7().into_bytes().to_vec()),
                    "idem_key" => *value = Value::Blob(job.key.clone().into_bytes()),
                    _ => {}
                }
            }
        }
        let (columns, places) = (&self.columns, vec![self.places.as_str(); batch.len()].join(","));
        let text = format!("INSERT INTO \"log\" ({columns}) VALUES {places}");
        connection.prepare_cached(&text)?.execute(params_from_iter(values)).map(drop)
    }
}
