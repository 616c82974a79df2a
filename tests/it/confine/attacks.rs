//! One table of attacks, against all layers and against each that is left when others are gone.

use serde_json::Value;

use super::scene::{JOB, Scene, Siege, Without};
use crate::support::jobs::{event, events};
use crate::support::person::Person;
use crate::support::print::{changes, content_changes};

const LANDLOCK: &[i64] = &[
    libc::SYS_landlock_create_ruleset,
    libc::SYS_landlock_add_rule,
    libc::SYS_landlock_restrict_self,
];
const NAMESPACES: &[i64] = &[libc::SYS_unshare];
const MOUNTS: &[i64] = &[libc::SYS_mount_setattr];

/// What Landlock knows nothing of.
const METADATA: &[&str] = &[
    "chmod",
    "fchmod",
    "chown",
    "utime",
    "setxattr",
    "setflags",
    "chmod_folder",
];

/// What nobody promises where the machine's terminals are the agent's too.
const TERMINAL: &str = "terminal of the person";

/// The tier in the log, in the commit and in the object on standard output, which must be one.
#[track_caller]
fn tier(scene: &Scene, siege: &Siege) -> (String, Vec<String>) {
    let confined = event(&events(&scene.repo, JOB), "agent.confined");
    let tier = confined["tier"].as_str().expect("a text").to_owned();
    let told = siege.outcome.json();
    assert_eq!(told["confinement"], Value::from(tier.clone()), "{told:#}");
    if siege.outcome.code == 0 {
        let format = "--format=%(trailers:key=Agent-Confinement,valueonly)";
        let trailer = scene.repo.git(["log", "-1", format, &format!("agent/{JOB}")]);
        assert_eq!(trailer.trim(), tier);
    }
    let open = confined["not_covered"].as_array().expect("a list");
    (
        tier,
        open.iter()
            .map(|line| line.as_str().expect("a text").to_owned())
            .collect(),
    )
}

/// Nothing got through, and nothing outside is another than before.
#[track_caller]
fn held(siege: &Siege, what: &str) {
    let through = siege.those("through");
    assert!(through.is_empty(), "{what}: these attacks got through: {through:#?}");
    let changed = changes(&siege.before, &siege.after);
    assert!(changed.is_empty(), "{what}: changed outside:\n{}", changed.join("\n"));
    assert_eq!(siege.on_terminal, "", "{what}");
    assert_eq!(siege.outcome.code, 0, "{what}: {}", siege.outcome);
    is_complete(siege, what);
}

/// Every attack was made, and none of them was broken.
#[track_caller]
fn is_complete(siege: &Siege, what: &str) {
    assert!(siege.those("broken").is_empty(), "{what}: {:#?}", siege.attempts);
    assert!(siege.attempts.len() > 500, "{what}: only {}", siege.attempts.len());
    let absent = siege.those("absent");
    if !absent.is_empty() {
        eprintln!(
            "skipped: {} attacks, for want of a victim here: {absent:?}",
            absent.len()
        );
    }
}

/// With Landlock alone: but for modes, owners, times and attributes, nothing outside is another.
#[track_caller]
fn held_but_for_metadata(siege: &Siege, what: &str) {
    let is_known = |name: &&&str| {
        let kind = name.split(' ').next().unwrap_or_default();
        !METADATA.contains(&kind) && **name != TERMINAL
    };
    let through = siege.those("through");
    let unknown: Vec<_> = through.iter().filter(is_known).collect();
    assert!(unknown.is_empty(), "{what}: these attacks got through: {unknown:#?}");
    let changed = content_changes(&siege.before, &siege.after);
    assert!(changed.is_empty(), "{what}: changed outside:\n{}", changed.join("\n"));
    // What it cannot stop is seen where it counts.
    siege.outcome.expect(20, &["hooks/pre-commit", "config"]);
    is_complete(siege, what);
}

#[test]
fn without_walls_the_attacks_get_through() {
    for person in Person::all() {
        let attempts = Scene::new(person).control();
        assert!(attempts.len() > 400, "{}", attempts.len());
        let refused: Vec<_> = attempts.iter().filter(|attempt| attempt.how != "through").collect();
        let (absent, wrong): (Vec<_>, Vec<_>) = refused.into_iter().partition(|attempt| attempt.how == "absent");
        assert!(wrong.is_empty(), "{person:?}: {wrong:#?}");
        if !absent.is_empty() {
            eprintln!(
                "skipped: {} attacks that this machine does not offer: {absent:?}",
                absent.len()
            );
        }
    }
}

#[test]
fn all_layers_hold() {
    let strict: &[&str] = &["--confinement", "strict"];
    let last = Person::all().pop().map(|person| (person, strict));
    for (person, options) in Person::all().into_iter().map(|person| (person, &[][..])).chain(last) {
        let mut scene = Scene::new(person);
        scene.options = options;
        let siege = scene.besiege(None);
        let (tier, _) = tier(&scene, &siege);
        let pids = if person.is_root() { "+pidns" } else { "+pidns-user" };
        assert!(
            tier.starts_with("mounts+landlock-abi") && tier.ends_with(pids),
            "{tier}"
        );
        held(&siege, &format!("{person:?}, {tier} {options:?}"));
    }
}

#[test]
fn without_landlock_the_mounts_hold() {
    for (person, errno) in Person::all().into_iter().zip([libc::ENOSYS, libc::EOPNOTSUPP]) {
        let scene = Scene::new(person);
        let calls = LANDLOCK;
        let siege = scene.besiege(Some(Without { calls, errno }));
        let (tier, _) = tier(&scene, &siege);
        let wanted = if person.is_root() {
            "mounts+pidns"
        } else {
            "mounts+pidns-user"
        };
        assert_eq!(tier, wanted);
        held(&siege, &format!("{person:?}, {tier}"));
    }
}

#[test]
fn without_namespaces_landlock_holds() {
    for (person, errno) in Person::all().into_iter().zip([libc::EPERM, libc::ENOSYS]) {
        landlock_alone(
            person,
            Without {
                calls: NAMESPACES,
                errno,
            },
            "+warden",
        );
    }
}

#[test]
fn without_mounts_landlock_holds() {
    for (person, errno) in Person::all().into_iter().zip([libc::ENOSYS, libc::EPERM]) {
        let pids = if person.is_root() { "+pidns" } else { "+pidns-user" };
        landlock_alone(person, Without { calls: MOUNTS, errno }, pids);
    }
}

#[track_caller]
fn landlock_alone(person: Person, without: Without<'_>, end: &str) {
    let scene = Scene::new(person);
    let siege = scene.besiege(Some(without));
    let (tier, open) = tier(&scene, &siege);
    assert!(tier.starts_with("landlock-abi") && tier.ends_with(end), "{tier}");
    for words in ["modes, owners, times and extended attributes", "terminals"] {
        assert!(open.iter().any(|line| line.contains(words)), "{words} in {open:?}");
    }
    held_but_for_metadata(&siege, &format!("{person:?}, {tier}"));
}

pub(super) const GONE: [&[i64]; 3] = [LANDLOCK, NAMESPACES, MOUNTS];
