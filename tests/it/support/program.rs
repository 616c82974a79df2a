//! Programs under test: started with a deadline, waited for, and shown whole when a test fails.

use std::ffi::OsStr;
use std::fmt;
use std::io::{Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// After this time a program is killed and the test fails.
const DEADLINE: Duration = Duration::from_secs(180);

/// How a program ended.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Exit code; 128 and the signal's number where one ended it, as a shell says it.
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
    shown: String,
}

impl Outcome {
    /// The same outcome, which must be a success.
    #[track_caller]
    pub fn success(self) -> Outcome {
        assert_eq!(self.code, 0, "{self}");
        self
    }

    /// The exit code is this one, and each text stands in the output.
    #[track_caller]
    pub fn expect(&self, code: i32, texts: &[&str]) {
        assert_eq!(self.code, code, "{self}");
        for text in texts {
            assert!(
                self.stdout.contains(text) || self.stderr.contains(text),
                "{text:?} is missing in\n{self}"
            );
        }
    }

    /// The last line of standard output.
    pub fn last_line(&self) -> &str {
        self.stdout.lines().last().unwrap_or_default()
    }

    /// Standard output as JSON.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("no JSON ({error}):\n{self}"))
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "$ {}\nexit {}\n--- stdout\n{}--- stderr\n{}",
            self.shown, self.code, self.stdout, self.stderr
        )
    }
}

/// A program that has not been started.
pub struct Program {
    command: Command,
    stdin: Option<Vec<u8>>,
    deadline: Duration,
}

impl Program {
    pub fn of(command: Command) -> Program {
        Program {
            command,
            stdin: None,
            deadline: DEADLINE,
        }
    }

    pub fn args<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(mut self, args: I) -> Program {
        self.command.args(args);
        self
    }

    pub fn env(mut self, key: &str, value: impl AsRef<OsStr>) -> Program {
        self.command.env(key, value);
        self
    }

    pub fn env_remove(mut self, key: &str) -> Program {
        self.command.env_remove(key);
        self
    }

    pub fn cwd(mut self, folder: impl AsRef<Path>) -> Program {
        self.command.current_dir(folder);
        self
    }

    /// What it reads; without, its standard input is empty.
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Program {
        self.stdin = Some(bytes.into());
        self
    }

    pub fn deadline(mut self, deadline: Duration) -> Program {
        self.deadline = deadline;
        self
    }

    /// Runs it to its end.
    #[track_caller]
    pub fn run(self) -> Outcome {
        self.spawn().wait()
    }

    /// Starts it in a process group of its own.
    #[track_caller]
    pub fn spawn(mut self) -> Running {
        let words = std::iter::once(self.command.get_program()).chain(self.command.get_args());
        let shown = words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
        let stdin = if self.stdin.is_some() {
            Stdio::piped()
        } else {
            Stdio::null()
        };
        let command = self.command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command
            .process_group(0)
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {shown}: {error}"));
        let writer = child.stdin.take().zip(self.stdin).map(|(mut pipe, bytes)| {
            // A program that does not read all of it is not at fault here.
            std::thread::spawn(move || drop(pipe.write_all(&bytes)))
        });
        let stdout = collect(child.stdout.take().expect("it is piped"));
        let stderr = collect(child.stderr.take().expect("it is piped"));
        Running {
            child,
            started: Instant::now(),
            deadline: self.deadline,
            threads: Some((writer, stdout, stderr)),
            shown,
        }
    }
}

type Collector = JoinHandle<Vec<u8>>;

fn collect(mut pipe: impl Read + Send + 'static) -> Collector {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).expect("a pipe can be read");
        bytes
    })
}

/// A program at work. Dropped, it is killed.
pub struct Running {
    child: Child,
    started: Instant,
    deadline: Duration,
    threads: Option<(Option<JoinHandle<()>>, Collector, Collector)>,
    shown: String,
}

impl Running {
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().expect("it can be waited for").is_none()
    }

    /// Sends a signal by its number to the program alone, not to its group.
    pub fn signal(&mut self, signal: i32) {
        let signal = rustix::process::Signal::from_named_raw(signal).expect("a known signal");
        rustix::process::kill_process(rustix::process::Pid::from_child(&self.child), signal)
            .expect("it can be signalled");
    }

    /// Waits for its end; kills it and fails when that does not come in time.
    #[track_caller]
    pub fn wait(mut self) -> Outcome {
        let mut is_late = false;
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("it can be waited for") {
                break status;
            }
            if !is_late && self.started.elapsed() > self.deadline {
                is_late = true;
                self.kill();
            }
            std::thread::sleep(Duration::from_millis(3));
        };
        let (writer, stdout, stderr) = self.threads.take().expect("it is waited for once");
        if let Some(writer) = writer {
            writer.join().expect("the writer ends");
        }
        let text = |thread: Collector| String::from_utf8_lossy(&thread.join().expect("the reader ends")).into_owned();
        let outcome = Outcome {
            code: status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0)),
            stdout: text(stdout),
            stderr: text(stderr),
            shown: std::mem::take(&mut self.shown),
        };
        assert!(!is_late, "killed after {:?}:\n{outcome}", self.deadline);
        outcome
    }

    /// Kills its whole group.
    pub fn kill(&mut self) {
        let group = rustix::process::Pid::from_child(&self.child);
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.threads.is_some() && self.is_running() {
            self.kill();
            let _ = self.child.wait();
        }
    }
}

#[test]
#[should_panic(expected = "killed after")]
fn a_program_past_its_deadline_is_killed() {
    let repo = super::repo::Repo::empty();
    let sleep = repo.program("sleep").args(["60"]);
    sleep.deadline(Duration::from_millis(100)).run();
}

#[test]
fn a_program_in_the_background_can_be_signalled() {
    let repo = super::repo::Repo::empty();
    let mut sleep = repo.program("sleep").args(["60"]).spawn();
    assert!(sleep.is_running(), "{} has ended", sleep.pid());
    sleep.signal(15);
    assert_eq!(sleep.wait().code, 128 + 15);
}

#[test]
fn nothing_of_the_testers_environment_is_passed_on() {
    let repo = super::repo::Repo::empty();
    let script = "echo ${CARGO_MANIFEST_DIR-none} ${HOME-none}";
    let outcome = repo.program("sh").args(["-c", script]).env_remove("HOME").run();
    assert_eq!(outcome.stdout, "none none\n", "{outcome}");
}
