//! Real process trees under the supervisor.
//!
//! The supervisor waits for every child it has, and the stub must be dispatched before a thread is
//! started; so each case is a process of its own, started from this harness, with a deadline.
#![allow(missing_docs)]

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use agentgate::confine::{Layers, Mode, Network, Plan};
use agentgate::process::{AgentRun, Ending, Finished, ProcessId, Tool, ToolError, signals, stub, try_layers};

const CASES: &[(&str, fn())] = &[
    ("exit_codes_are_the_agents", exit_codes_are_the_agents),
    ("a_signal_is_told_apart", a_signal_is_told_apart),
    (
        "what_cannot_be_executed_never_started",
        what_cannot_be_executed_never_started,
    ),
    (
        "standard_input_is_the_file_or_empty",
        standard_input_is_the_file_or_empty,
    ),
    ("nothing_of_ours_is_inherited", nothing_of_ours_is_inherited),
    ("the_agent_has_no_terminal", the_agent_has_no_terminal),
    ("output_is_kept_at_both_ends", output_is_kept_at_both_ends),
    ("the_pipe_may_be_held_open", the_pipe_may_be_held_open),
    (
        "a_limit_ends_a_tool_with_all_its_own",
        a_limit_ends_a_tool_with_all_its_own,
    ),
    ("daemons_are_ended", daemons_are_ended),
    ("who_ignores_sigterm_is_killed", who_ignores_sigterm_is_killed),
    ("a_stopped_process_is_ended", a_stopped_process_is_ended),
    (STORM, a_storm_of_forks_is_ended),
    (
        "a_time_out_is_one_whatever_the_agent_says",
        a_time_out_is_one_whatever_the_agent_says,
    ),
    ("a_silent_agent_is_ended", a_silent_agent_is_ended),
    ("any_output_breaks_the_silence", any_output_breaks_the_silence),
    ("what_nobody_reads_is_no_silence", what_nobody_reads_is_no_silence),
    ("a_signal_to_us_ends_the_agent", a_signal_to_us_ends_the_agent),
    ("a_hangup_is_not_caught_under_nohup", a_hangup_is_not_caught_under_nohup),
    (
        "a_second_signal_cuts_the_grace_short",
        a_second_signal_cuts_the_grace_short,
    ),
    (
        "strangers_and_other_children_live_on",
        strangers_and_other_children_live_on,
    ),
    ("our_death_is_the_agents", our_death_is_the_agents),
    (
        "a_reader_that_stalls_holds_up_no_limit",
        a_reader_that_stalls_holds_up_no_limit,
    ),
    ("progress_is_told", progress_is_told),
    ("one_run_after_another", one_run_after_another),
];

/// The case that starts programs as fast as it can.
const STORM: &str = "a_storm_of_forks_is_ended";

/// How many cases run at the same time.
const AT_ONCE: usize = 4;

/// Longer than any case takes on a slow machine.
const DEADLINE: Duration = Duration::from_secs(60);

/// Each case runs twice: with no layer but the warden, and with all that the machine offers.
const LAYERS: &str = "AGENTGATE_TEST_LAYERS";

fn all_layers() -> bool {
    std::env::var(LAYERS).is_ok_and(|layers| layers == "all")
}

fn plan(dir: &Path) -> Plan {
    let layers = if all_layers() {
        let probe = try_layers().expect("tried");
        let layers = probe.choose(Mode::On, &Network::Allow, false).expect("enough");
        assert!(
            layers.mounts && layers.pids.is_some() && layers.landlock.is_some(),
            "{:?}",
            probe.lines()
        );
        layers
    } else {
        Layers::default()
    };
    Plan {
        layers,
        writable: vec![fs::canonicalize(dir).unwrap_or_else(|_| dir.to_owned())],
        ..Plan::default()
    }
}

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    match args.next() {
        Some(first) if first == stub::COMMAND => return stub::main(args.collect()),
        Some(first) if first == stub::PROBE => return stub::probe(),
        Some(first) if first == "__case" => {
            let name = args.next().expect("a case");
            let (_, case) = CASES.iter().find(|(known, _)| name == *known).expect("a known case");
            case();
            return ExitCode::SUCCESS;
        }
        Some(first) if first == "__verbose" => {
            let dir = PathBuf::from(args.next().expect("folder"));
            let limit = Some(Duration::from_secs(1));
            let finished = run(&AgentRun {
                verbose: true,
                limit,
                ..agent(&dir, "yes")
            });
            return ExitCode::from(u8::from(finished.ending != Ending::TimedOut));
        }
        Some(first) if first == "__verbose_idle" => {
            let dir = PathBuf::from(args.next().expect("folder"));
            let finished = run(&AgentRun {
                verbose: true,
                limit: Some(Duration::from_secs(3)),
                idle: Some(Duration::from_secs(1)),
                ..agent(&dir, "yes")
            });
            return ExitCode::from(u8::from(finished.ending != Ending::TimedOut));
        }
        Some(first) if first == "__supervise" => {
            run(&agent(&PathBuf::from(args.next().expect("folder")), "sleep 300"));
            return ExitCode::SUCCESS;
        }
        _ => {}
    }
    let filters: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let chosen = CASES
        .iter()
        .filter(|(name, _)| filters.is_empty() || filters.iter().any(|f| name.contains(f)));
    let all = chosen.flat_map(|(name, _)| [(*name, "warden"), (*name, "all")]);
    // Most of a case's time it waits. Those that take the whole machine come last, by themselves.
    let (alone, together): (Vec<_>, Vec<_>) = all.partition(|(name, _)| *name == STORM);
    let (passed, failed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let try_each = |next: &AtomicUsize, cases: &[(&str, &str)]| {
        while let Some((name, layers)) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            match case(name, layers) {
                true => passed.fetch_add(1, Ordering::Relaxed),
                false => failed.fetch_add(1, Ordering::Relaxed),
            };
        }
    };
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| try_each(&next, &together));
        }
    });
    try_each(&AtomicUsize::new(0), &alone);
    let (passed, failed) = (passed.into_inner(), failed.into_inner());
    let word = if failed == 0 { "ok" } else { "FAILED" };
    eprintln!("test result: {word}. {passed} passed; {failed} failed; 0 ignored; 0 measured; 0 filtered out");
    if failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Whether this case passes, in a process of its own.
fn case(name: &str, layers: &str) -> bool {
    let started = Instant::now();
    let mut case = this_program(&["__case", name])
        .env(LAYERS, layers)
        .process_group(0)
        .spawn()
        .expect("start a case");
    let outcome = wait_for(&mut case, DEADLINE).map(|status| status.success());
    let word = match outcome {
        Some(true) => "ok",
        Some(false) => "FAILED",
        None => {
            let _ = case.kill();
            let _ = case.wait();
            "FAILED (deadline)"
        }
    };
    eprintln!(
        "test {name} ({layers}) ... {word} ({:.1} s)",
        started.elapsed().as_secs_f32()
    );
    word == "ok"
}

#[expect(clippy::disallowed_methods, reason = "the harness starts its cases")]
fn this_program(args: &[&str]) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args(args);
    command
}

#[expect(clippy::disallowed_methods, reason = "processes outside of the tree under test")]
fn sh(script: &str) -> Child {
    Command::new("/bin/sh")
        .args(["-c", script])
        .stdin(Stdio::null())
        .spawn()
        .expect("start sh")
}

fn wait_for(child: &mut Child, most: Duration) -> Option<std::process::ExitStatus> {
    let until = Instant::now() + most;
    while Instant::now() < until {
        if let Some(status) = child.try_wait().expect("wait") {
            return Some(status);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    None
}

fn agent(dir: &Path, script: &str) -> AgentRun {
    AgentRun {
        program: "/bin/sh".into(),
        argv: ["sh", "-c", script].map(Into::into).to_vec(),
        cwd: dir.to_owned(),
        plan: plan(dir),
        environment: vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())],
        stdin: None,
        log: dir.join("agent.log"),
        verbose: false,
        limit: Some(Duration::from_secs(40)),
        idle: None,
        grace: AgentRun::GRACE,
    }
}

fn run(agent: &AgentRun) -> Finished {
    agent.clone().run(&mut |_| {}).expect("supervised")
}

fn log(dir: &Path) -> String {
    fs::read_to_string(dir.join("agent.log")).expect("log")
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("folder")
}

/// Whether a process that wrote its pid into this file still runs.
fn runs(file: &Path) -> bool {
    let pid = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    if !all_layers() {
        return is_running(pid.trim());
    }
    // It is the pid inside its namespace; other cases have such pids too, in folders of their own.
    let place = |path: &Path| fs::metadata(path).map(|meta| (meta.dev(), meta.ino())).ok();
    let folder = place(file.parent().expect("it is in one"));
    fs::read_dir("/proc").expect("proc").flatten().any(|entry| {
        if place(&entry.path().join("cwd")) != folder {
            return false;
        }
        let status = fs::read_to_string(entry.path().join("status")).unwrap_or_default();
        let pids = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
        let mut pids = pids.unwrap_or_default().split_whitespace();
        let outside = pids.next();
        pids.last() == Some(pid.trim()) && outside.is_some_and(is_running)
    })
}

fn is_running(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.is_ok_and(|stat| !stat.rsplit(')').next().expect("stat").trim_start().starts_with('Z'))
}

/// Nothing but us descends from us.
fn nothing_left() {
    let me = std::process::id().to_string();
    for entry in fs::read_dir("/proc").expect("proc").flatten() {
        let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else {
            continue;
        };
        let parent = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1));
        assert_ne!(parent, Some(me.as_str()), "left: {stat}");
    }
}

fn exit_codes_are_the_agents() {
    let dir = folder();
    for code in [0, 2, 7, 13, 124, 255] {
        let finished = run(&agent(dir.path(), &format!("exit {code}")));
        assert_eq!((finished.ending, finished.leftovers), (Ending::Exited(code), 0));
    }
}

fn a_signal_is_told_apart() {
    assert_eq!(run(&agent(folder().path(), "kill -9 $$")).ending, Ending::Signaled(9));
    assert_eq!(
        run(&agent(folder().path(), "kill -PIPE $$")).ending,
        Ending::Signaled(13),
        "default action"
    );
}

fn what_cannot_be_executed_never_started() {
    let dir = folder();
    let not_started = |run: &AgentRun| match self::run(run).ending {
        Ending::NotStarted(words) => words,
        other => panic!("{other:?}"),
    };
    let missing = AgentRun {
        program: "/nowhere/agent".into(),
        ..agent(dir.path(), "")
    };
    assert!(not_started(&missing).starts_with("cannot execute /nowhere/agent: "));
    let folder = AgentRun {
        cwd: "/nowhere".into(),
        ..agent(dir.path(), "")
    };
    assert!(not_started(&folder).starts_with("cannot enter /nowhere: "));
    let huge = AgentRun {
        argv: vec!["x".repeat(1 << 20).into()],
        ..agent(dir.path(), "")
    };
    not_started(&huge);
    nothing_left();
}

fn standard_input_is_the_file_or_empty() {
    let dir = folder();
    let task = dir.path().join("TASK.md");
    agentgate::files::create_new(&task, b"the task", 0o600).expect("task");
    assert_eq!(
        run(&AgentRun {
            stdin: Some(task),
            ..agent(dir.path(), "cat; echo .")
        })
        .ending,
        Ending::Exited(0)
    );
    assert_eq!(
        run(&agent(dir.path(), "cat; echo .; read x || echo end")).ending,
        Ending::Exited(0)
    );
    assert_eq!(log(dir.path()), "the task.\n.\nend\n");
}

fn nothing_of_ours_is_inherited() {
    let dir = folder();
    // One that was opened without close-on-exec by someone else.
    let held = fs::File::open("/").expect("open");
    rustix::io::fcntl_setfd(&held, rustix::io::FdFlags::empty()).expect("inheritable");
    run(&agent(
        dir.path(),
        "ls /proc/$$/fd; env; pwd; grep -E '^Sig(Blk|Ign)' /proc/self/status",
    ));
    let cwd = fs::canonicalize(dir.path()).expect("path");
    let log = log(dir.path());
    let lines: Vec<&str> = log
        .lines()
        .filter(|line| !line.starts_with("PWD=") && !line.starts_with("_="))
        .collect();
    let (lines, masks) = lines.split_at(5);
    assert_eq!(
        lines,
        [
            "0",
            "1",
            "2",
            "PATH=/usr/local/bin:/usr/bin:/bin",
            &cwd.display().to_string()
        ]
    );
    // Signals 32 and 33 belong to the C library, which refuses to change them.
    let mask = |line: &str| u64::from_str_radix(line.split_once('\t').expect("mask").1, 16).expect("hex") & 0x7fff_ffff;
    assert_eq!(
        masks.iter().map(|line| mask(line)).collect::<Vec<_>>(),
        [0, 0],
        "nothing blocked or ignored"
    );
}

fn the_agent_has_no_terminal() {
    let dir = folder();
    let script =
        "if (: </dev/tty) 2>/dev/null; then echo terminal; else echo none; fi; cut -d' ' -f1,5,6 /proc/$$/stat";
    run(&agent(dir.path(), script));
    let log = log(dir.path());
    let (first, ids) = log.split_once('\n').expect("lines");
    assert_eq!(first, "none");
    let ids: Vec<&str> = ids.split_whitespace().collect();
    assert!(
        ids.iter().all(|id| *id == ids[0]),
        "leader of a session and group: {ids:?}"
    );
}

fn output_is_kept_at_both_ends() {
    let dir = folder();
    let script = "echo first; yes 0123456789abcde | head -c 20971520; echo err >&2; echo last";
    let finished = run(&agent(dir.path(), script));
    assert_eq!(finished.ending, Ending::Exited(0));
    let all = 20_971_520 + 6 + 4 + 5;
    assert_eq!((finished.output_bytes, finished.log_error), (all, None));
    assert!(finished.last_lines.ends_with(b"err\nlast\n") && finished.last_lines.len() == 2048);
    let log = log(dir.path());
    assert!(log.starts_with("first\n0123456789abcde\n") && log.ends_with("\nerr\nlast\n"));
    let marker = format!("\n[agentgate: {} bytes of output dropped here]\n", all - (16 << 20));
    assert_eq!(log.find(&marker), Some(8 << 20));
    assert_eq!(log.len(), (16 << 20) + marker.len());
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &fs::metadata(dir.path().join("agent.log")).expect("log").permissions(),
    );
    assert_eq!(mode & 0o777, 0o600);
}

fn the_pipe_may_be_held_open() {
    let dir = folder();
    let started = Instant::now();
    let finished = run(&agent(dir.path(), "(trap '' TERM; sleep 60; sleep 60) & echo done"));
    assert_eq!(
        (finished.ending, log(dir.path()).as_str()),
        (Ending::Exited(0), "done\n")
    );
    assert!(finished.leftovers >= 1);
    assert!(started.elapsed() < Duration::from_secs(8), "{:?}", started.elapsed());
    nothing_left();
}

/// A tool behind walls, such as a git whose filter hangs: with namespaces not one process outlives its limit.
fn a_limit_ends_a_tool_with_all_its_own() {
    if !all_layers() {
        return;
    }
    let dir = folder();
    let script =
        "trap '' TERM; setsid sh -c 'trap \"\" TERM; echo $$ > far; sleep 71' & echo $$ > near; sleep 71; sleep 71";
    let started = Instant::now();
    let ended = Tool::new("/bin/sh", dir.path())
        .args(["-c", script])
        .variable("PATH", "/usr/bin:/bin")
        .confined(plan(dir.path()))
        .time_limit(Duration::from_millis(700))
        .run();
    assert!(matches!(ended, Err(ToolError::TimedOut { .. })), "{ended:?}");
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    for name in ["near", "far"] {
        let file = dir.path().join(name);
        let gone = Instant::now() + Duration::from_secs(2);
        while runs(&file) {
            assert!(Instant::now() < gone, "{name} still runs");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
    nothing_left();
}

fn daemons_are_ended() {
    let dir = folder();
    let mut script = "setsid nohup sh -c 'echo $$ >one; exec sleep 300' >/dev/null 2>&1 &\n\
        (setsid sh -c '(echo $$ >two; exec sleep 300) & exit' &)\n\
        while [ ! -s one ] || [ ! -s two ]; do sleep 0.01; done\n"
        .to_owned();
    let python = "import os,time\nif os.fork(): os._exit(0)\nos.setsid()\nif os.fork(): os._exit(0)\n\
        open('three.new','w').write(str(os.getpid()))\nos.rename('three.new','three')\ntime.sleep(300)";
    let with_python = Path::new("/usr/bin/python3").exists();
    if with_python {
        script += &format!("/usr/bin/python3 -c \"{python}\"\nwhile [ ! -s three ]; do sleep 0.01; done\n");
    }
    let finished = run(&agent(dir.path(), &script));
    assert_eq!(finished.ending, Ending::Exited(0));
    assert!(finished.leftovers >= 2, "{finished:?}");
    assert!(!runs(&dir.path().join("one")));
    assert!(!with_python || !runs(&dir.path().join("three")));
    nothing_left();
}

fn who_ignores_sigterm_is_killed() {
    let dir = folder();
    let script = "trap '' TERM INT HUP; (setsid sh -c 'trap \"\" TERM; while :; do sleep 1; done' &) ; while :; do sleep 1; done";
    let started = Instant::now();
    let finished = run(&AgentRun {
        limit: Some(Duration::from_millis(500)),
        grace: Duration::from_millis(500),
        ..agent(dir.path(), script)
    });
    assert_eq!(finished.ending, Ending::TimedOut);
    assert!(started.elapsed() >= Duration::from_secs(1), "the grace was given");
    assert!(started.elapsed() < Duration::from_secs(8), "{:?}", started.elapsed());
    nothing_left();
}

fn a_stopped_process_is_ended() {
    let dir = folder();
    let script = "(trap 'echo told; exit' TERM; kill -STOP $(sh -c 'echo $PPID'); sleep 5) & sleep 0.3";
    let finished = run(&agent(dir.path(), script));
    assert_eq!(
        (finished.ending, log(dir.path()).as_str()),
        (Ending::Exited(0), "told\n")
    );
    nothing_left();
}

fn a_storm_of_forks_is_ended() {
    let dir = folder();
    // 200 chains, each of which goes on in a new process every few milliseconds, half of them in a
    // session of their own.
    let chain = "trap '' TERM; i=0; while [ $i -lt 100 ]; do (setsid sh ./chain 2>/dev/null &); sh ./chain & i=$((i+1)); done; wait";
    let link = "trap '' TERM; sleep 0.05; (sh ./chain &) ; exit 0";
    agentgate::files::create_new(&dir.path().join("chain"), link.as_bytes(), 0o700).expect("script");
    let started = Instant::now();
    let finished = run(&AgentRun {
        limit: Some(Duration::from_secs(2)),
        grace: Duration::from_millis(200),
        ..agent(dir.path(), chain)
    });
    nothing_left();
    eprintln!("    {finished:?} after {:?}", started.elapsed());
}

fn a_time_out_is_one_whatever_the_agent_says() {
    let dir = folder();
    let script = "trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.05; done";
    let finished = run(&AgentRun {
        limit: Some(Duration::from_millis(700)),
        ..agent(dir.path(), script)
    });
    assert_eq!(finished.ending, Ending::TimedOut);
    assert!(log(dir.path()).ends_with("bye\n"), "output of its last moments is kept");
    assert!(
        finished.duration < Duration::from_secs(2),
        "it did not use up its grace: {:?}",
        finished.duration
    );
}

/// Sends us a signal once a file is there: an agent behind its walls cannot. By a stranger, not a child of
/// ours, and one that gives up.
fn signal_us_when(file: &Path, signal: &str) {
    let script = format!(
        "(for n in $(seq 2000); do [ ! -e {file} ] || {{ kill -{signal} {us}; exit; }}; sleep 0.01; done) &",
        file = file.display(),
        us = std::process::id()
    );
    sh(&script).wait().expect("started");
}

fn a_silent_agent_is_ended() {
    let dir = folder();
    let idle = Duration::from_millis(600);
    let silent = |script: &str| {
        run(&AgentRun {
            idle: Some(idle),
            grace: Duration::from_millis(500),
            ..agent(dir.path(), script)
        })
    };
    // Whatever status it then returns; from the start, and from its last word on.
    let finished = silent("trap 'echo bye; exit 0' TERM; while :; do sleep 0.05; done");
    assert_eq!(finished.ending, Ending::Silent(idle));
    assert!(finished.duration >= idle && finished.duration < Duration::from_secs(4));
    let finished = silent("sleep 0.4; echo working; sleep 300");
    assert_eq!(finished.ending, Ending::Silent(idle));
    assert!(
        finished.duration >= Duration::from_millis(1000),
        "{:?}",
        finished.duration
    );
    // The same order of the end as at the limit.
    let finished = silent("trap '' TERM; (setsid sleep 300 &); exec >/dev/null 2>&1; while :; do sleep 1; done");
    assert_eq!(finished.ending, Ending::Silent(idle));
    assert!(finished.duration >= Duration::from_millis(1100), "the grace was given");
    assert!(finished.duration < Duration::from_secs(8), "{:?}", finished.duration);
    nothing_left();
    // The limit goes first where both have come.
    let finished = run(&AgentRun {
        idle: Some(idle),
        limit: Some(idle),
        ..agent(dir.path(), "sleep 300")
    });
    assert_eq!(finished.ending, Ending::TimedOut);
}

fn any_output_breaks_the_silence() {
    let dir = folder();
    let idle = Some(Duration::from_secs(2));
    for stream in ["", ">&2"] {
        let script = format!("for i in 1 2 3 4 5 6 7 8; do sleep 0.4; printf . {stream}; done; exit 4");
        let finished = run(&AgentRun {
            idle,
            ..agent(dir.path(), &script)
        });
        assert_eq!(finished.ending, Ending::Exited(4));
        assert!(finished.duration >= Duration::from_secs(3));
    }
}

/// A person's terminal that is held up (ctrl-S) holds up the agent; that is not its own silence.
fn what_nobody_reads_is_no_silence() {
    let dir = folder();
    let mut us = this_program(&["__verbose_idle"])
        .arg(dir.path())
        .stderr(Stdio::piped())
        .spawn()
        .expect("start");
    assert!(wait_for(&mut us, Duration::from_secs(20)).expect("ended").success());
}

fn a_signal_to_us_ends_the_agent() {
    signals::install().expect("handlers");
    let dir = folder();
    signal_us_when(&dir.path().join("now"), "INT");
    let finished = run(&agent(
        dir.path(),
        "trap 'exit 0' TERM; touch now; while :; do sleep 0.05; done",
    ));
    assert_eq!(finished.ending, Ending::Interrupted(2));
    assert_eq!((signals::pending(), signals::count()), (Some(2), 1));
    let again = run(&agent(dir.path(), "touch ran"));
    assert_eq!(again.ending, Ending::Interrupted(2));
    assert!(!dir.path().join("ran").exists(), "nothing is started after a signal");
    nothing_left();
}

fn a_hangup_is_not_caught_under_nohup() {
    if std::env::var_os("UNDER_NOHUP").is_none() {
        let program = std::env::current_exe().expect("this program");
        let script = format!(
            "trap '' HUP INT; UNDER_NOHUP=1 exec {} __case a_hangup_is_not_caught_under_nohup",
            program.display()
        );
        assert!(wait_for(&mut sh(&script), DEADLINE).expect("ended").success());
        return;
    }
    signals::install().expect("handlers");
    let dir = folder();
    signal_us_when(&dir.path().join("hangup"), "HUP");
    let finished = run(&agent(dir.path(), "touch hangup; sleep 0.4; exit 5"));
    assert_eq!((finished.ending, signals::pending()), (Ending::Exited(5), None));
    // A script's `agentgate run ... &` ignores SIGINT; one sent on purpose counts.
    signal_us_when(&dir.path().join("interrupt"), "INT");
    let finished = run(&agent(dir.path(), "touch interrupt; sleep 20"));
    assert_eq!(finished.ending, Ending::Interrupted(2));
}

fn a_second_signal_cuts_the_grace_short() {
    signals::install().expect("handlers");
    let dir = folder();
    signal_us_when(&dir.path().join("first"), "TERM");
    signal_us_when(&dir.path().join("second"), "TERM");
    let script = "trap 'touch second' TERM; touch first; while :; do sleep 0.05; done";
    let started = Instant::now();
    let finished = run(&AgentRun {
        grace: Duration::from_secs(30),
        ..agent(dir.path(), script)
    });
    assert_eq!(finished.ending, Ending::Interrupted(15));
    assert_eq!(signals::count(), 2);
    assert!(started.elapsed() < Duration::from_secs(8), "{:?}", started.elapsed());
}

fn strangers_and_other_children_live_on() {
    let dir = folder();
    let file = dir.path().join("stranger");
    // Orphaned before we are a subreaper: no descendant of ours any more.
    let mut parent = sh(&format!(
        "(setsid sh -c 'echo $$ >{0}.new; mv {0}.new {0}; exec sleep 30' &)",
        file.display()
    ));
    wait_for(&mut parent, Duration::from_secs(10)).expect("ended");
    while !file.exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let mut child = sh("sleep 30; exit 3");
    let finished = run(&agent(dir.path(), "(setsid sleep 300 &); sleep 0.2"));
    assert_eq!((finished.ending, finished.leftovers), (Ending::Exited(0), 1));
    assert!(is_running(fs::read_to_string(&file).expect("pid").trim()), "a stranger");
    assert!(child.try_wait().expect("not reaped").is_none(), "another child");
    child.kill().expect("ended");
    child.wait().expect("its status is still ours");
    let pid = fs::read_to_string(&file).expect("pid").trim().parse().expect("pid");
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(pid).expect("pid"),
        rustix::process::Signal::KILL,
    )
    .expect("ended");
}

fn our_death_is_the_agents() {
    let dir = folder();
    let mut us = this_program(&["__supervise"]).arg(dir.path()).spawn().expect("start");
    let children = |pid: &str| {
        let listed = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
        listed.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    let agent: i32 = loop {
        // The stub, with a PID namespace its first process, and the agent.
        let mut descendants = children(&us.id().to_string());
        for _ in 0..2 {
            let below: Vec<String> = descendants.iter().flat_map(|pid| children(pid)).collect();
            descendants.extend(below);
        }
        let command = |pid: &String| fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        if let Some(pid) = descendants.iter().find(|pid| command(pid).starts_with(b"sh\0")) {
            break pid.parse().expect("pid");
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let stat = fs::read_to_string(format!("/proc/{agent}/stat")).expect("stat");
    let start_time = stat
        .rsplit(')')
        .next()
        .and_then(|rest| rest.split_whitespace().nth(19))
        .expect("field");
    let boot_id = ProcessId::current().expect("identity").boot_id;
    let id = ProcessId {
        pid: agent,
        start_time: start_time.parse().expect("number"),
        boot_id,
    };
    assert!(id.alive());
    us.kill().expect("killed");
    us.wait().expect("reaped");
    let until = Instant::now() + Duration::from_secs(5);
    while id.alive() {
        assert!(Instant::now() < until, "the agent outlived us");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn a_reader_that_stalls_holds_up_no_limit() {
    let dir = folder();
    let mut us = this_program(&["__verbose"])
        .arg(dir.path())
        .stderr(Stdio::piped())
        .spawn()
        .expect("start");
    assert!(wait_for(&mut us, Duration::from_secs(20)).expect("ended").success());
    let mut seen = Vec::new();
    std::io::Read::read_to_end(&mut us.stderr.take().expect("pipe"), &mut seen).expect("read");
    assert!(seen.starts_with(b"y\ny\n"), "what was read is the agent's output");
}

fn progress_is_told() {
    let dir = folder();
    let (mut calls, mut last) = (0, String::new());
    let finished = agent(dir.path(), "echo working; sleep 1")
        .run(&mut |progress| {
            calls += 1;
            last = progress.last_line.to_owned();
        })
        .expect("supervised");
    assert_eq!(finished.ending, Ending::Exited(0));
    assert_eq!(last, "working");
    assert!((3..=15).contains(&calls), "{calls}");
}

fn one_run_after_another() {
    let dir = folder();
    for n in 0..20 {
        let finished = run(&agent(dir.path(), &format!("(setsid sleep 300 &); echo {n}")));
        assert_eq!(finished.ending, Ending::Exited(0));
    }
    assert_eq!(log(dir.path()).lines().count(), 20);
    nothing_left();
}
