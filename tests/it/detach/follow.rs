//! `agentgate log --follow`: every event once and in order, whatever happens to the reader.

use std::fs;
use std::io::Write;
use std::time::Duration;

use serde_json::Value;

use super::{Job, lines, patient};
use crate::support::repo::Repo;
use crate::support::scene::{JOB, events, record, until, with_kept};

/// A number below `limit`, from a seed that is carried on (splitmix64).
fn random(seed: &mut u64, limit: u64) -> u64 {
    *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *seed;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed ^ (mixed >> 31)) % limit
}

#[test]
fn a_reader_that_is_killed_and_comes_back_misses_nothing_and_sees_nothing_twice() {
    let repo = with_kept();
    let all = log_of_live(&repo);
    let expected: Vec<Value> = lines(&String::from_utf8_lossy(&all));
    // The log of a job that runs is written as it was, in pieces that end anywhere.
    let job = patient_log(&repo);
    let path = record(&repo, "live").join("events.jsonl");
    let mut seed = u64::from(std::process::id());
    eprintln!("seed {seed}");
    let (mut written, mut seen) = (0, Vec::<Value>::new());
    let mut file = fs::OpenOptions::new().append(true).open(&path).expect("there is a log");
    for round in 0..100 {
        let last = seen.last().map_or(0, |event| event["seq"].as_u64().expect("a number"));
        // A file of its own: a reader that is killed before its shell has emptied the file leaves what is in it.
        let out = repo.top().join(format!("read-{round}"));
        let words = format!(
            "exec {} log live --since {last} --follow --json > {}",
            repo.binary(),
            out.display()
        );
        let mut reader = repo.program("sh").args(["-c", &words]).spawn();
        let next = if round == 99 {
            all.len()
        } else {
            (written + random(&mut seed, 90) as usize).min(all.len())
        };
        let half = written + (next - written) / 2;
        file.write_all(&all[written..half]).expect("it can be written");
        std::thread::sleep(Duration::from_millis(random(&mut seed, 30)));
        file.write_all(&all[half..next]).expect("it can be written");
        written = next;
        std::thread::sleep(Duration::from_millis(random(&mut seed, 60)));
        if round == 99 {
            drop(job);
            reader.wait().success();
            seen.extend(lines(&fs::read_to_string(&out).expect("it is there")));
            break;
        }
        reader.signal(9);
        reader.wait();
        let text = fs::read_to_string(&out).unwrap_or_default();
        // Each line is there whole or not at all.
        assert!(text.is_empty() || text.ends_with('\n'), "{text:?}");
        seen.extend(lines(&text));
    }
    assert_eq!(seen, expected);
}

/// The log of [`JOB`] as that of a job `live`, chained anew.
fn log_of_live(repo: &Repo) -> Vec<u8> {
    let text = fs::read_to_string(record(repo, JOB).join("events.jsonl")).expect("there is a log");
    let mut sum = "0".repeat(64);
    let mut lines = String::new();
    for line in text.lines() {
        let body = line.rsplit_once(",\"sum\":").expect("a sum").0;
        let body = body.replace(&format!("\"job\":\"{JOB}\""), "\"job\":\"live\"");
        sum = agentgate::job::log::sha256_hex(&[sum.as_bytes(), body.as_bytes()]);
        lines.push_str(&format!("{body},\"sum\":\"{sum}\"}}\n"));
    }
    lines.into_bytes()
}

/// A job folder `live` that is held as by an owner, and whose log is still empty.
fn patient_log(repo: &Repo) -> fs::File {
    repo.tampered("there is a log without a job");
    let folder = record(repo, "live");
    fs::create_dir(&folder).expect("it is new");
    fs::write(folder.join("events.jsonl"), "").expect("it can be written");
    let lock = fs::File::create(folder.join("owner.lock")).expect("it can be made");
    lock.lock().expect("it is free");
    lock
}

#[test]
fn it_follows_a_real_job_to_the_end_of_its_landing() {
    let repo = Repo::new();
    let job = super::detached(&repo, &["--land"], super::PATIENT);
    job.at_work();
    let json = repo.command(["log", JOB, "--follow", "--json", "--since", "2"]).spawn();
    let text = repo.command(["log", JOB, "-f"]).spawn();
    job.go();
    let outcome = json.wait().success();
    let all = events(&repo, JOB);
    assert_eq!(all.last().expect("events")["event"], "job.landed");
    assert_eq!(lines(&outcome.stdout), all[2..]);
    let outcome = text.wait().success();
    for event in &all {
        assert!(
            outcome.stdout.contains(event["event"].as_str().expect("a kind")),
            "{outcome}"
        );
    }
    assert!(outcome.stderr.contains("it was landed"), "{outcome}");
    // Of a job that is over: what there is, and the end.
    let again = repo.agentgate(["log", JOB, "--follow", "--json"]).success();
    assert_eq!(lines(&again.stdout), all);
    let none = repo
        .agentgate(["log", JOB, "--follow", "--json", "--since", "999"])
        .success();
    assert_eq!(none.stdout, "");
}

#[test]
fn half_a_line_is_not_shown_until_it_is_whole() {
    let repo = with_kept();
    let all = log_of_live(&repo);
    let first = all.iter().position(|&byte| byte == b'\n').expect("a line") + 1;
    let second = first + all[first..].iter().position(|&byte| byte == b'\n').expect("a line") + 1;
    let lock = patient_log(&repo);
    let path = record(&repo, "live").join("events.jsonl");
    let out = repo.top().join("read");
    let words = format!("exec {} log live --follow --json > {}", repo.binary(), out.display());
    let mut reader = repo.program("sh").args(["-c", &words]).spawn();
    let shown = || fs::read_to_string(&out).map_or(0, |text| text.lines().count());
    // All but its newline: the last piece of it.
    for (bytes, count) in [
        (first + 1, 1),
        (second - 1, 1),
        (second, 2),
        (second + 40, 2),
        (all.len(), events(&repo, JOB).len()),
    ] {
        fs::write(&path, &all[..bytes]).expect("it can be written");
        until("it is shown", || shown() >= count);
        std::thread::sleep(Duration::from_millis(120));
        assert_eq!(shown(), count, "{bytes}");
        assert!(reader.is_running());
    }
    drop(lock);
    reader.wait().success();
}

#[test]
fn a_reader_of_its_output_that_goes_away_ends_it_quietly() {
    let repo = Repo::new();
    let job: Job<'_> = patient(&repo);
    // `head` ends after one line, and no event comes after that.
    let (binary, root) = (repo.binary(), repo.root.display());
    let words = format!("{{ {binary} -C {root} log {JOB} --follow --json; echo $? > code; }} 2> err | head -n 1");
    let outcome = repo.program("sh").args(["-c", &words]).cwd(repo.top()).run().success();
    assert_eq!(outcome.stdout.lines().count(), 1, "{outcome}");
    assert_eq!(fs::read_to_string(repo.top().join("code")).expect("it ended"), "0\n");
    assert_eq!(fs::read_to_string(repo.top().join("err")).expect("it is there"), "");
    job.go();
}
