//! Durable edits a second through the committer, in process, and what they cost in CPU.
//!
//! `cargo run --release -p lmlang-store --example commit_rate [seconds]`. Wall time is mostly the disk; compare CPU.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use lmlang_store::{
    Actor, ActorKey, ActorKind, Append, Entry, EntryKind, Idempotency, NewProgram, Options, ProgramKey,
    Store, Timestamp,
};
use uuid::Uuid;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let seconds: u64 = std::env::args().nth(1).map_or(Ok(2), |text| text.parse())?;
    println!("callers programs   edits/s  cpu us/edit  edits/commit  p50 ms  p99 ms  bytes/edit");
    for (callers, programs) in [(1, 1), (64, 1), (64, 64)] {
        measure(callers, programs, Duration::from_secs(seconds)).await?;
    }
    Ok(())
}

async fn measure(callers: usize, programs: usize, span: Duration) -> Result<(), Box<dyn std::error::Error>> {
    let dir = tempfile::tempdir()?;
    let store = Store::open(Options::file(dir.path().join("lmlang.db"))).await?;
    let actor = Actor { name: "bench".to_owned(), kind: ActorKind::Tool, client: None };
    let actor = store.actor_key(&actor).await?;
    let mut logs = Vec::new();
    for number in 0..programs {
        logs.push((create(&store, number, actor).await?, Mutex::new(2_u64)));
    }
    let logs: Arc<[(ProgramKey, Mutex<u64>)]> = logs.into();
    let before = store.committer().committed();
    let (cpu, start) = (cpu_time()?, Instant::now());
    let done = Arc::new(AtomicU64::new(0));
    let mut tasks = tokio::task::JoinSet::new();
    for caller in 0..callers {
        let (committer, logs, done) = (store.committer().clone(), Arc::clone(&logs), Arc::clone(&done));
        tasks.spawn(async move {
            let (program, next) = &logs[caller % logs.len()];
            let mut latencies = Vec::new();
            while start.elapsed() < span {
                let sent = Instant::now();
                let ticket = {
                    // Order of the numbers is order of submission, as under a program's writer.
                    let mut next = next.lock().expect("nobody panics");
                    let entries = vec![edit(*next, actor)];
                    *next += 1;
                    committer.submit(Append { program: *program, after: id_of(*next - 2), entries })
                };
                ticket.await.expect("the disk works");
                latencies.push(sent.elapsed());
                done.fetch_add(1, Ordering::Relaxed);
            }
            latencies
        });
    }
    let mut latencies = tasks.join_all().await.concat();
    let (wall, cpu) = (start.elapsed(), cpu_time()? - cpu);
    let after = store.committer().committed();
    let edits = done.load(Ordering::Relaxed) as f64;
    latencies.sort_unstable();
    let percentile = |percent: usize| latencies[(latencies.len() - 1) * percent / 100].as_secs_f64() * 1e3;
    let path = std::path::PathBuf::from(store.location().to_string());
    store.close().await?;
    println!(
        "{callers:7} {programs:8} {:9.0} {:12.1} {:13.1} {:7.2} {:7.2} {:11.0}",
        edits / wall.as_secs_f64(),
        cpu.as_secs_f64() * 1e6 / edits,
        edits / (after.transactions - before.transactions) as f64,
        percentile(50),
        percentile(99),
        std::fs::metadata(path)?.len() as f64 / edits,
    );
    Ok(())
}

async fn create(
    store: &Store,
    number: usize,
    actor: ActorKey,
) -> Result<ProgramKey, Box<dyn std::error::Error>> {
    let program = NewProgram {
        id: Uuid::now_v7(),
        name: format!("p{number}"),
        doc: String::new(),
        created: Timestamp(0),
    };
    let first = Entry { kind: EntryKind::Create, ..edit(1, actor) };
    Ok(store.create_program(program, vec![first]).await?)
}

/// The id of the entry with a number, in all logs here.
fn id_of(seq: u64) -> Uuid {
    Uuid::from_u128(seq.into())
}

fn edit(seq: u64, actor: ActorKey) -> Entry {
    Entry {
        seq,
        id: id_of(seq),
        parents: [seq - 1].into_iter().collect(),
        branch: 0,
        kind: EntryKind::Edit,
        actor,
        on_behalf_of: None,
        message: None,
        time: Timestamp(seq.cast_signed()),
        edits: vec![7; 300],
        counts: vec![1, 2, 3],
        root_hash: [7; 32],
        next_ref: seq * 16,
        target: None,
        idempotency: Some(Idempotency { key: Uuid::now_v7().as_bytes().to_vec(), digest: vec![9; 32] }),
        origin: None,
    }
}

/// CPU time of the process: the sum over its threads, of which none ends between two readings. Linux only.
fn cpu_time() -> Result<Duration, Box<dyn std::error::Error>> {
    let mut nanoseconds = 0;
    for task in std::fs::read_dir("/proc/self/task")? {
        let text = std::fs::read_to_string(task?.path().join("schedstat"))?;
        nanoseconds += text.split(' ').next().unwrap_or_default().parse::<u64>()?;
    }
    Ok(Duration::from_nanos(nanoseconds))
}
