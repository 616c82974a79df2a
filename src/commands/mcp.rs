//! `agentgate mcp`: the connector that an agent starts inside its walls, and a person's server of what only reads.
//!
//! The connector carries lines between the agent and the one who holds the job, and knows no tool by name. The one
//! thing that it does itself is to run `agentgate check` and `agentgate explain` where it is, inside the walls,
//! when the other side asks for that: what an agent's worktree makes a program do stays with the agent.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::json;

use super::Surroundings;
use crate::exit::{Exit, Stop};
use crate::mcp::RUN;
use crate::mcp::lines::{Line, Lines};
use crate::mcp::session::{Desk, Reply, Session, is_verdict};
use crate::mcp::tools::{self, Tool as Offer};
use crate::process::{Status, Tool};
use crate::socket;

/// The variable with the socket of a call.
pub const VARIABLE: &str = "AGENTGATE_MCP";
/// The commands that the connector runs for the other side.
const RUNS: [&str; 2] = ["check", "explain"];
/// How long one of them may take.
const LIMIT: Duration = Duration::from_secs(600);
/// How long replies are waited for once the client has said its last word.
const PATIENCE: Duration = Duration::from_secs(10);
/// Bytes of output that are shown.
const SHOWN: usize = 48 << 10;
const CHUNK: usize = 64 << 10;

/// Writes a line to the client; false once nobody reads.
pub type Show<'a> = &'a mut dyn FnMut(&str) -> Result<bool>;

/// Connects the client on standard input and output with the server of the job that this process is part of, until
/// one of the two goes away.
///
/// # Errors
/// Exit 64 outside of a job, and 13 where the call is over; that standard output cannot be written.
pub fn connect(surroundings: &Surroundings, input: impl Read + Send + 'static, show: Show<'_>) -> Result<()> {
    let Some(path) = surroundings.var(VARIABLE) else {
        let stop = Stop::new(Exit::Usage, format!("this is no job: {VARIABLE} is not set"));
        return Err(stop
            .hint("an agent starts `agentgate mcp` inside of its job; your own assistant wants `agentgate mcp --stdio`")
            .into());
    };
    let path = Path::new(path);
    let mut stream = socket::connect(path).map_err(|error| {
        let what = format!(
            "the call is over, or its agentgate is gone: nobody serves {}: {error}",
            path.display()
        );
        Stop::new(Exit::Locked, what)
            .hint("its tools are there as long as the role's call lasts; there is nothing to wait for")
    })?;
    let link = Arc::new(Link {
        out: Mutex::new(stream.try_clone().context("cannot share the connection")?),
        due: Mutex::default(),
        less: Condvar::new(),
    });
    let theirs = Arc::clone(&link);
    // Not joined: it may wait for a client that never says anything more.
    std::thread::Builder::new()
        .name("mcp input".into())
        .spawn(move || carry(input, &theirs))
        .context("cannot start a thread")?;
    let mut lines = Lines::default();
    let mut buffer = vec![0; CHUNK];
    let mut heard = false;
    loop {
        let read = match stream.read(&mut buffer) {
            // Closed by an owner that had not read all: nothing more comes either way.
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => Ok(0),
            other => other,
        };
        let read = match read {
            Ok(0) if !heard && link.was_asked() => {
                let what = format!("{} does not serve this process, or not any more", path.display());
                return Err(Stop::new(Exit::Locked, what)
                    .hint("only processes of the job are served, as long as the role's call lasts")
                    .hint("for your own assistant: agentgate mcp --stdio")
                    .into());
            }
            Ok(0) => return Ok(()),
            Ok(read) => {
                heard = true;
                read
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error).context("the connection to the job broke"),
        };
        for line in lines.feed(&buffer[..read]) {
            let Line::Whole(line) = line else { continue };
            let line = String::from_utf8_lossy(&line);
            if let Some(asked) = asked(&line) {
                let (link, vars) = (Arc::clone(&link), surroundings.clone());
                held(&link.due).running += 1;
                std::thread::Builder::new()
                    .name("mcp run".into())
                    .spawn(move || answer(&asked, &vars, &link))
                    .context("cannot start a thread")?;
            } else {
                if !show(&line)? {
                    return Ok(());
                }
                link.less(|due| due.replies -= 1);
            }
        }
    }
}

/// The way to the job.
struct Link {
    out: Mutex<UnixStream>,
    due: Mutex<Due>,
    less: Condvar,
}

/// What is still to come before the way may be closed.
#[derive(Default)]
struct Due {
    /// Replies to the client.
    replies: i64,
    /// Commands that run here.
    running: i64,
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Link {
    fn less(&self, change: impl FnOnce(&mut Due)) {
        change(&mut held(&self.due));
        self.less.notify_all();
    }

    fn send(&self, line: &[u8]) -> std::io::Result<()> {
        let mut stream = held(&self.out);
        stream.write_all(line)?;
        stream.write_all(b"\n")
    }

    /// Whether the client has asked anything, or does so in the next moment.
    fn was_asked(&self) -> bool {
        for _ in 0..20 {
            if held(&self.due).replies > 0 {
                return true;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        false
    }

    /// Waits for what the client has asked and was not told yet: one that only pipes its questions in has closed
    /// its end long before.
    fn settle(&self) {
        let until = Instant::now() + PATIENCE;
        let mut due = held(&self.due);
        while due.running > 0 || due.replies > 0 {
            let left = until.saturating_duration_since(Instant::now());
            if due.running == 0 && left.is_zero() {
                break;
            }
            let nap = left.max(Duration::from_millis(100));
            due = match self.less.wait_timeout(due, nap) {
                Ok((due, _)) => due,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
    }
}

/// Whether a line of the client is one that is replied to.
fn is_replied_to(line: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Head {
        method: Option<serde::de::IgnoredAny>,
        id: Option<serde::de::IgnoredAny>,
        result: Option<serde::de::IgnoredAny>,
        error: Option<serde::de::IgnoredAny>,
    }
    match serde_json::from_slice::<Head>(line) {
        Ok(head) => match head.method {
            Some(_) => head.id.is_some(),
            None => head.result.is_none() && head.error.is_none(),
        },
        // With what is wrong with it.
        Err(_) => true,
    }
}

/// From the client to the job, whole lines alone: others write there too.
fn carry(mut input: impl Read, link: &Link) {
    let mut lines = Lines::default();
    let mut buffer = vec![0; CHUNK];
    loop {
        let read = match input.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        for line in lines.feed(&buffer[..read]) {
            let line = match line {
                Line::Whole(line) => line,
                // The other side says what is wrong with it, as with any line that is no message.
                Line::TooLong => b"\"a message that is too long\"".to_vec(),
            };
            if is_replied_to(&line) {
                held(&link.due).replies += 1;
            }
            if link.send(&line).is_err() {
                return;
            }
        }
    }
    link.settle();
    let _ = held(&link.out).shutdown(std::net::Shutdown::Write);
}

/// A command that the other side asks for.
struct Asked {
    id: String,
    args: Vec<String>,
}

fn asked(line: &str) -> Option<Asked> {
    #[derive(Deserialize)]
    struct Request {
        method: String,
        id: String,
        params: Params,
    }
    #[derive(Deserialize)]
    struct Params {
        args: Vec<String>,
    }
    // Any other message is only carried, so it is not taken apart.
    if !line.contains(RUN) {
        return None;
    }
    let request: Request = serde_json::from_str(line).ok()?;
    (request.method == RUN).then_some(Asked {
        id: request.id,
        args: request.params.args,
    })
}

fn answer(asked: &Asked, surroundings: &Surroundings, link: &Link) {
    // `-C FOLDER VERB`
    let is_known = asked.args.get(2).is_some_and(|verb| RUNS.contains(&verb.as_str()));
    let result = match is_known {
        true => match run(&asked.args, surroundings) {
            Ok((exit, text)) => json!({"exit": exit, "text": text}),
            Err(words) => json!({"exit": null, "text": words}),
        },
        false => json!({"exit": null, "text": "this connector does not run that"}),
    };
    let line = json!({"jsonrpc": "2.0", "id": asked.id, "result": result}).to_string();
    // If nobody hears it, the call is over.
    let _ = link.send(line.as_bytes());
    link.less(|due| due.running -= 1);
}

/// Runs this program and gives its exit code and what it printed, or why there is none.
fn run(args: &[String], surroundings: &Surroundings) -> Result<(i32, String), String> {
    let tool = Tool::own(&surroundings.cwd)
        .args(args)
        .environment(variables(surroundings))
        .time_limit(LIMIT);
    let outcome = tool.run().map_err(|error| error.to_string())?;
    let exit = match outcome.status {
        Status::Exited(exit) => exit,
        Status::Signaled(signal) => return Err(format!("it was killed by signal {signal}")),
    };
    let mut text = shown(&outcome.stdout);
    if !outcome.stderr.is_empty() {
        text.push_str(&shown(&outcome.stderr));
    }
    Ok((exit, text))
}

/// What such a command needs. Several agents start a server with an environment that is nearly empty, and a job can
/// write to its own places alone.
fn variables(surroundings: &Surroundings) -> Vec<(OsString, OsString)> {
    let mut vars = surroundings.vars.clone();
    let private = surroundings
        .var(VARIABLE)
        .map(Path::new)
        .and_then(|socket| socket.parent()?.parent());
    if let Some(private) = private {
        for (name, folder) in [("TMPDIR", "tmp"), ("HOME", "home")] {
            vars.retain(|(known, _)| known != name);
            vars.push((name.into(), private.join(folder).into()));
        }
    }
    if surroundings.var("PATH").is_none() {
        vars.push(("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into()));
    }
    vars
}

/// As much as a model can take in, cut at a line.
fn shown(bytes: &[u8]) -> String {
    let Some(page) = bytes.get(..SHOWN).filter(|page| page.len() < bytes.len()) else {
        return String::from_utf8_lossy(bytes).into_owned();
    };
    let end = memchr::memrchr(b'\n', page).unwrap_or(SHOWN);
    let page = String::from_utf8_lossy(&page[..end]);
    format!("{page}\n[the rest of {} bytes is not shown]\n", bytes.len())
}

/// Serves a person's assistant until it goes away.
///
/// # Errors
/// Standard input cannot be read, or standard output not written.
pub fn serve(surroundings: &Surroundings, mut input: impl Read, show: Show<'_>) -> Result<()> {
    let desk = Persons {
        tools: tools::persons(),
        surroundings,
    };
    let (mut session, mut lines) = (Session::default(), Lines::default());
    let mut buffer = vec![0; CHUNK];
    loop {
        let read = match input.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(read) => read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error).context("cannot read standard input"),
        };
        for line in lines.feed(&buffer[..read]) {
            if let Some(reply) = session.hear(&line, &desk)
                && !show(&reply)?
            {
                return Ok(());
            }
        }
    }
}

struct Persons<'a> {
    tools: Vec<Offer>,
    surroundings: &'a Surroundings,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Explain {
    what: String,
    import: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Check {
    range: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Log {
    id: String,
    since: Option<u64>,
}

/// The command line of a tool. What a client sends is never an option.
fn command(tool: &str, arguments: &str) -> Result<Vec<String>, serde_json::Error> {
    Ok(match tool {
        "status" => {
            serde_json::from_str::<Nothing>(arguments)?;
            vec!["status".to_owned()]
        }
        "explain" => match serde_json::from_str(arguments)? {
            Explain { what, import: None } => vec!["explain".to_owned(), "--".to_owned(), what],
            Explain {
                what,
                import: Some(import),
            } => vec![
                "explain".to_owned(),
                format!("--import={import}"),
                format!("--in={what}"),
            ],
        },
        "check" => match serde_json::from_str::<Check>(arguments)?.range {
            Some(range) => vec!["check".to_owned(), format!("--range={range}")],
            None => vec!["check".to_owned(), "--worktree".to_owned()],
        },
        _ => {
            let Log { id, since } = serde_json::from_str(arguments)?;
            vec![
                "log".to_owned(),
                format!("--since={}", since.unwrap_or_default()),
                "--".to_owned(),
                id,
            ]
        }
    })
}

impl Desk for Persons<'_> {
    fn tools(&self) -> &[Offer] {
        &self.tools
    }

    fn instructions(&self) -> &str {
        "The rules of this repository's architecture and the jobs of its agents. Nothing here changes anything."
    }

    fn call(&self, tool: &str, arguments: &str) -> Reply {
        let args = match command(tool, arguments) {
            Ok(args) => args,
            Err(error) => return Reply::Failed(format!("the arguments of {tool} are not its own: {error}")),
        };
        match run(&args, self.surroundings) {
            Ok((exit, text)) if is_verdict(exit) => Reply::Text(format!("{text}exit {exit}\n")),
            Ok((exit, text)) => Reply::Failed(format!("{text}exit {exit}\n")),
            Err(words) => Reply::Failed(words),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_client_sends_is_never_an_option() {
        for (tool, arguments) in [
            ("explain", r#"{"what": "--help"}"#),
            ("explain", r#"{"what": "--task", "import": "--json"}"#),
            ("check", r#"{"range": "--checks"}"#),
            ("log", r#"{"id": "--follow"}"#),
        ] {
            let args = command(tool, arguments).expect("arguments");
            let end = args.iter().position(|arg| arg == "--").unwrap_or(args.len());
            for arg in &args[1..end] {
                assert!(arg.contains('='), "{args:?}");
            }
        }
        assert!(command("status", r#"{"x": 1}"#).is_err());
        assert!(command("check", r#"{"checks": true}"#).is_err());
    }

    #[test]
    fn only_the_request_to_run_is_taken() {
        assert!(asked(r#"{"jsonrpc":"2.0","id":1,"result":{"text":"agentgate/run"}}"#).is_none());
        let line =
            r#"{"jsonrpc":"2.0","id":"agentgate-1","method":"agentgate/run","params":{"args":["-C","/w","check"]}}"#;
        assert_eq!(asked(line).expect("a request").args, ["-C", "/w", "check"]);
    }
}
