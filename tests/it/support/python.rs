//! Python, for judges that are not of this project: its XML parser, and JSON Schema where the package
//! `jsonschema` is there. Where it is not, a test is skipped and says so past the runner's capture.

use std::io::Write;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::program::{Outcome, Program};

/// The one that CI made for it, else the one on PATH.
fn interpreter() -> String {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/schemas/venv/bin/python");
    match own.exists() {
        true => own.display().to_string(),
        false => "python3".to_owned(),
    }
}

/// Runs a script that reads this on standard input; `None`, and a line about it, where Python or a
/// module is not there.
#[track_caller]
pub fn script(modules: &[&str], text: &str, stdin: impl Into<Vec<u8>>) -> Option<Outcome> {
    let python = interpreter();
    for module in modules {
        let probe = Command::new(&python).args(["-c", &format!("import {module}")]).output();
        let why = match probe {
            Ok(output) if output.status.success() => continue,
            Ok(_) => format!("{python} has no module {module} (pip install {module})"),
            Err(error) => format!("no {python}: {error}"),
        };
        let caller = std::panic::Location::caller();
        let mut stderr = std::io::stderr().lock();
        writeln!(
            stderr,
            "skipped: what {}:{} asks Python: {why}",
            caller.file(),
            caller.line()
        )
        .expect("standard error can be written");
        return None;
    }
    let program = Program::of(Command::new(python)).args(["-c", text]).stdin(stdin);
    Some(program.run().success())
}

/// Holds values to a JSON Schema; for each the first error in words, or nothing where it is valid.
/// `None` where there is nothing that could.
#[track_caller]
pub fn errors(schema: &Value, instances: &[Value]) -> Option<Vec<Option<String>>> {
    const SCRIPT: &str = "
import json, sys, jsonschema
asked = json.load(sys.stdin)
kind = jsonschema.validators.validator_for(asked['schema'], default=jsonschema.Draft202012Validator)
kind.check_schema(asked['schema'])
judge = kind(asked['schema'])
told = []
for instance in asked['instances']:
    error = jsonschema.exceptions.best_match(judge.iter_errors(instance))
    told.append(None if error is None else error.json_path + ': ' + error.message[:500])
json.dump(told, sys.stdout)
";
    let asked = json!({ "schema": schema, "instances": instances }).to_string();
    let outcome = script(&["jsonschema"], SCRIPT, asked)?;
    Some(serde_json::from_str(&outcome.stdout).expect("a list of errors"))
}

/// All of them are valid.
#[track_caller]
pub fn valid(schema: &Value, instances: &[Value]) {
    for (index, error) in errors(schema, instances).into_iter().flatten().enumerate() {
        assert_eq!(error, None, "{:#}", instances[index]);
    }
}
