//! The command line as clap sees it: the global options and the table of commands.

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};

use crate::commands::{
    act, approve, ask, backup, bisect, blame, branch, build, case, chat, check, checkpoint, compare,
    completions, config, context, coverage, cypher, debug, diff, doctor, edit, entity, export, find, flow,
    fmt, graph, graphql, help, history, import, man, mcp, merge, mutate, program, propose, revert, run,
    schema, serve, server, show, test, token, tool, travel, verify, watch,
};
use crate::settings::{Flags, Secret};

/// Programs as typed graphs in a database, edited, verified, run and undone.
#[derive(Parser)]
#[command(
    name = "lmlang",
    version,
    disable_help_subcommand = true,
    propagate_version = true,
    // Apart from those of a command, which would stand between them.
    next_help_heading = "Global options",
    after_help = "Exit codes: `lmlang help exit-codes`. Settings: `lmlang help settings`."
)]
pub(crate) struct Cli {
    /// Print data as JSON: one document, or one line for each item of a stream.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Whether to use colours.
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t)]
    pub(crate) color: Color,
    /// The folder of the database [default: .lmlang].
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// The database instead, as a URL: `postgres://user@host/name`, which several servers can share, or `sqlite:FILE`.
    /// `LMLANG_DATABASE_URL` keeps a password in it from others who can list processes.
    #[arg(long, global = true, value_name = "URL", conflicts_with = "data")]
    pub(crate) database_url: Option<String>,
    /// Ask a server, such as `http://127.0.0.1:4000`, instead of opening a database. One that has the database open is
    /// found without this.
    #[arg(long, global = true, value_name = "URL", conflicts_with_all = ["data", "database_url"])]
    pub(crate) server: Option<String>,
    /// Who is recorded with changes [default: the user's name].
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) author: Option<String>,
    /// The token to show to a server. `LMLANG_TOKEN` keeps it from others who can list processes.
    #[arg(long, global = true, value_name = "TOKEN")]
    pub(crate) token: Option<String>,
    /// How many seconds to wait at most: until another process closes the database, which is not waited for without this, and
    /// until a run of a flow ends or asks [default there: 60].
    #[arg(long, global = true, value_name = "SECONDS")]
    pub(crate) wait: Option<u64>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve the programs of a database over GraphQL; a new database begins with the sample programs.
    Serve(serve::Args),
    /// Check files: read them and find all that is wrong.
    Check(check::Args),
    /// Lay files out: indentation, blanks, blank lines.
    Fmt(fmt::Args),
    /// Run a function of a file, or of a program.
    Run(run::Args),
    /// Run a function step by step, forward and back, with breakpoints.
    Debug(debug::Args),
    /// Write a file, or a program, as an executable WebAssembly module.
    Build(build::Args),
    /// Make a program from a file.
    Import(import::Args),
    /// Write a program to a file, or to standard output.
    Export(export::Args),
    /// Make, list, rename, describe and delete programs.
    Program(program::Args),
    /// Print the text of a program, or of parts of it.
    Show(show::Args),
    /// Change a program by edits, all of them or none, by a new revision; exits with 6 when one is wrong.
    Edit(edit::Args),
    /// Find all that is wrong with a program; exits with 6 when something is.
    Verify(verify::Args),
    /// Try several ways to change a program on copies of it, and rank them.
    Propose(propose::Args),
    /// List the revisions of a program, the newest first.
    History(history::Args),
    /// Tell of each part of a function, module or type who changed it last, in which revision, and why.
    Blame(blame::Args),
    /// Take the last change of a program back, by a new revision.
    Undo(travel::Args),
    /// Make a change that was undone again, by a new revision.
    Redo(travel::Args),
    /// Take chosen revisions back, by a new one, and keep later work.
    Revert(revert::Args),
    /// Begin, list and forget branches.
    Branch(branch::Args),
    /// Bring the changes of a branch into another one, by a new revision.
    Merge(merge::Args),
    /// Print what happens to programs, as it happens.
    Watch(watch::Args),
    /// Name revisions, and go back to them.
    Checkpoint(checkpoint::Args),
    /// Show how two revisions of a program differ.
    Diff(diff::Args),
    /// Add, list and remove test cases.
    Case(case::Args),
    /// Run the test cases of a program, and say which hold; exits with 8 when one does not.
    Test(test::Args),
    /// List the nodes that no test case reaches.
    Coverage(coverage::Args),
    /// List the small changes of a function that its test cases and contracts do not notice.
    Mutate(mutate::Args),
    /// Find the revision at which a test case broke.
    Bisect(bisect::Args),
    /// Run a function at two revisions, and show where the runs part, or find an input on which they do.
    Compare(compare::Args),
    /// Print what a model is told of a part of a program, within a budget of tokens.
    Context(context::Args),
    /// Ask who calls, writes and reads something, what a change of it could affect, what is dead or unused, and what may trap
    /// or has effects.
    Ask(ask::Args),
    /// Find entities of a program by words of their names, docs and signatures.
    Find(find::Args),
    /// List nodes by what they are, what they depend on, what lies around them, and what some of them compute.
    Graph(graph::Args),
    /// Make, change, list and delete entities: what agents keep beside programs.
    Entity(entity::Args),
    /// Ask a question in Cypher about entities and programs.
    Cypher(cypher::Args),
    /// Ask for an operation of the schema, and print the whole answer.
    Graphql(graphql::Args),
    /// Begin durable runs of flows, answer what they ask, and look at what they did.
    Flow(flow::Args),
    /// Have a task carried out on entities and programs; exits with 7 when it asks and there is no terminal.
    Act(act::Args),
    /// Talk about a pipeline, a program or tasks, or with a flow of your own, line by line.
    Chat(chat::Args),
    /// Agree to what a run asks.
    Approve(approve::Args),
    /// Refuse what a run asks.
    Reject(approve::RejectArgs),
    /// Make, list and revoke the tokens with which callers show who they are, and show who you are.
    Token(token::Args),
    /// Show what answers requests, and what it allows.
    Server(server::Args),
    /// Offer the tools for agents on standard input and output (MCP), and tell clients how to start that.
    Mcp(mcp::Args),
    /// List the tools for agents, and call one.
    Tool(tool::Args),
    /// Write programs with all of their history to a file, and load them into another database.
    Backup(backup::Args),
    /// Print the GraphQL schema.
    Schema(schema::Args),
    /// Check a database: its structure, every log against the hashes that it records, every snapshot.
    Doctor(doctor::Args),
    /// Show the settings, and where each comes from.
    Config(config::Args),
    /// Print completions for a shell.
    Completions(completions::Args),
    /// Write the manual pages into a folder.
    Man(man::Args),
    /// Explain a command, `exit-codes`, `settings`, `operators` or `codes`.
    Help(help::Args),
}

impl Cli {
    /// The settings that the command line gives.
    pub(crate) fn flags(&self) -> Flags {
        let mut flags = Flags {
            data: self.data.clone(),
            database_url: match (&self.database_url, &self.data) {
                (Some(url), _) => Some(Some(Secret::new(url.clone()))),
                // The folder that is given here, not the database of another layer.
                (None, Some(_)) => Some(None),
                (None, None) => None,
            },
            server: match (&self.server, self.data.is_some() || self.database_url.is_some()) {
                (Some(url), _) => Some(Some(url.clone())),
                // The database that is given here, not the server of another layer.
                (None, true) => Some(None),
                (None, false) => None,
            },
            author: self.author.clone(),
            token: self.token.clone().map(Secret::new),
            wait: self.wait,
            ..Flags::default()
        };
        if let Command::Serve(serve) = &self.command {
            // It asks no other server.
            flags.server = None;
            flags.listen = serve.listen.clone();
            flags.insecure_no_auth = serve.insecure_no_auth.then_some(true);
        }
        flags
    }
}

impl Command {
    /// The command's name, if it lists what authors have done, records none itself, and is not told whose to list.
    pub(crate) fn lists_all_authors(&self) -> Option<&'static str> {
        match self {
            Command::History(args) => args.lists_all_authors().then_some("history"),
            Command::Graph(args) => args.lists_all_authors().then_some("graph search"),
            Command::Watch(args) => args.lists_all_authors().then_some("watch"),
            _ => None,
        }
    }
}

impl From<Color> for anstream::ColorChoice {
    fn from(color: Color) -> anstream::ColorChoice {
        match color {
            Color::Auto => anstream::ColorChoice::Auto,
            Color::Always => anstream::ColorChoice::Always,
            Color::Never => anstream::ColorChoice::Never,
        }
    }
}
