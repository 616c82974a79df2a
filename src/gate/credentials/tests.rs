//! Values are put together here from pieces, so that no search for credentials stops at this file.

use super::*;

/// `pieces` joined, as the forms want them.
fn joined(pieces: &[&str]) -> String {
    pieces.concat()
}

/// Base62 text of this length without a pattern.
fn random(length: usize) -> String {
    let letters = b"q7RkV2mZx9LbT4cYwN8dHs3GpJ6fUe5A";
    (0..length)
        .map(|n| char::from(letters[(n * n + 3 * n + n / 7) % 32]))
        .collect()
}

fn random_hex(length: usize) -> String {
    (0..length)
        .map(|n| char::from(b"9f3a7c2e8b1d5064"[(n * n + 5 * n + n / 5) % 16]))
        .collect()
}

fn rules(text: &str) -> Vec<&'static str> {
    search(text.as_bytes()).into_iter().map(|hit| hit.rule).collect()
}

/// A private key's file.
pub(crate) fn pem(label: &str) -> String {
    let line = random(64);
    let dashes = "-".repeat(5);
    format!(
        "{dashes}BEGIN {label}{dashes}\n{line}\n{line}\n{}==\n{dashes}END {label}{dashes}\n",
        random(22)
    )
}

fn values() -> Vec<(&'static str, String)> {
    let github = joined(&["gh", "p_", "zQWBuTSOoRi4A9spHcV", "Y5ncnsDkxkJ0mLq17"]);
    vec![
        ("aws-access-key-id", joined(&["AK", "IA", "Q3EGRIXN5ZHTPWK7"])),
        ("aws-access-key-id", joined(&["AS", "IA", "Q3EGRIXN5ZHTPWK7"])),
        (
            "npm-token",
            github.replace(&joined(&["gh", "p_"]), &joined(&["np", "m_"])),
        ),
        ("github-token", github),
        (
            "github-token",
            joined(&["github", "_pat_", &random(22), "_", &random(59)]),
        ),
        ("gitlab-token", joined(&["gl", "pat-", &random(20)])),
        ("gitlab-token", joined(&["gl", "ptt-", &random_hex(40)])),
        (
            "slack-token",
            joined(&["xo", "xb-", "284719305561", "-", "284719305562", "-", &random(24)]),
        ),
        (
            "slack-webhook",
            joined(&["hooks.slack", ".com/services/", "T02AB3CD4", "/B05EF6GH7/", &random(24)]),
        ),
        (
            "discord-webhook",
            joined(&["discord", ".com/api/webhooks/", "928374650192837465", "/", &random(68)]),
        ),
        ("stripe-key", joined(&["sk", "_live_", &random(24)])),
        ("google-api-key", joined(&["AI", "za", &random(35)])),
        ("pypi-token", joined(&["pypi-", "AgEIcHlwaS5vcmc", &random(120)])),
        ("anthropic-key", joined(&["sk-", "ant-api03-", &random(93), "AA"])),
        (
            "openai-key",
            joined(&["sk-", "proj-", &random(60), "T3Blbk", "FJ", &random(60)]),
        ),
        ("openai-key", joined(&["sk-", &random(20), "T3Blbk", "FJ", &random(20)])),
        ("sendgrid-key", joined(&["S", "G.", &random(22), ".", &random(43)])),
        ("digitalocean-token", joined(&["dop", "_v1_", &random_hex(64)])),
        ("shopify-token", joined(&["shp", "at_", &random_hex(32)])),
        ("age-key", joined(&["AGE-SECRET", "-KEY-1", &random(58).to_uppercase()])),
    ]
}

#[test]
fn each_form_is_found_where_it_stands() {
    for (rule, value) in values() {
        let text = format!("first = 1\nkey = \"{value}\";\nlast\n");
        let hits = search(text.as_bytes());
        assert_eq!(rules(&text), [rule], "{rule}");
        assert_eq!((hits[0].line, hits[0].column), (2, 8), "{rule}");
        assert_eq!(hits[0].fingerprint.len(), FINGERPRINT);
        assert!(hits[0].is_in(&text), "{rule}");
        // At either end of a file, and with an escaped line break before it.
        assert_eq!(rules(&value), [rule], "{rule}");
        assert_eq!(rules(&format!("{{\"a\": \"\\n{value}\\n\"}}")), [rule], "{rule}");
        assert_eq!(rules(&format!("\"url?key\\u003d{value}\"")), [rule], "{rule}");
    }
}

#[test]
fn a_form_that_is_certain_tells_a_token_behind_a_name_or_a_letter() {
    for (rule, value) in values().into_iter().filter(|(rule, _)| !rule.ends_with("webhook")) {
        let is_certain = tokens::CERTAIN.iter().any(|start| value.starts_with(start));
        for before in ["TOKEN_", "X", "x7"] {
            let found = rules(&format!("{before}{value}"));
            match is_certain {
                true => assert_eq!(found, [rule], "{before}"),
                false => assert_eq!(found, [""; 0], "{before} {rule}"),
            }
        }
    }
}

#[test]
fn a_part_of_a_longer_word_is_no_token() {
    for (rule, value) in values()
        .into_iter()
        .filter(|(rule, _)| rule.ends_with("-id") || *rule == "github-token")
    {
        assert_eq!(rules(&format!("{value}Z")), [""; 0], "{rule}");
        assert_eq!(rules(&value[..value.len() - 1]), [""; 0], "{rule}");
    }
}

#[test]
fn a_wrong_checksum_is_no_token() {
    for (rule, value) in values() {
        if value.ends_with("0mLq17") {
            assert_eq!(rules(&value.replace("17", "18")), [""; 0], "{rule}");
        }
    }
}

#[test]
fn values_of_manuals_are_none() {
    for value in [
        joined(&["AK", "IA", "IOSFODNN7", "EXAMPLE"]),
        joined(&[
            "aws_secret_access_key = ",
            "wJalrXUtnFEMI/K7MDENG/",
            "bPxRfiCYEXAMPLEKEY",
        ]),
        joined(&["gh", "p_", &"x".repeat(36)]),
        joined(&["gl", "pat-", "your-token-goes-here-now"]),
        joined(&["gl", "pat-", &"X".repeat(20)]),
        joined(&["xo", "xb-", "1234567890-1234567890-", "abcdefghijklmnopqrstuvwx"]),
        joined(&["hooks.slack", ".com/services/", "T00000000/B00000000/", &"X".repeat(24)]),
        joined(&["sk", "_test_", &random(24)]),
        joined(&[
            "AccountName=devstoreaccount1;Account",
            "Key=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr",
            "/KBHBeksoGMGw==",
        ]),
        // A commit id.
        joined(&["secret_access_key: ", &random_hex(40)]),
    ] {
        assert_eq!(rules(&value), [""; 0], "{value}");
    }
}

#[test]
fn secret_keys_are_told_by_the_name_that_they_are_given_to() {
    let aws = random(40);
    for text in [
        format!("aws_secret_access_key = {aws}\n"),
        format!("export AWS_SECRET_ACCESS_KEY='{aws}'\n"),
        format!("{{\"SecretAccessKey\": \"{aws}\"}}"),
        format!("<SecretAccessKey>{aws}</SecretAccessKey>"),
        format!("secretAccessKey: `{aws}`,"),
        format!("{{\\\"aws_secret_key\\\": \\\"{aws}\\\"}}"),
    ] {
        assert_eq!(rules(&text), ["aws-secret-access-key"], "{text}");
    }
    for text in [
        format!("key = {aws}"),
        format!("secret_access_key is a name; {aws}"),
        format!("secret_access_key = {aws}x"),
    ] {
        assert_eq!(rules(&text), [""; 0], "{text}");
    }
    let azure = format!("{}==", random(86));
    assert_eq!(rules(&format!("AccountKey={azure};")), ["azure-storage-key"]);
    assert_eq!(rules(&format!("AZURE_STORAGE_KEY: \"{azure}\"")), ["azure-storage-key"]);
}

#[test]
fn private_keys_need_a_body() {
    for label in [
        "PRIVATE KEY",
        "RSA PRIVATE KEY",
        "EC PRIVATE KEY",
        "ENCRYPTED PRIVATE KEY",
        "OPENSSH PRIVATE KEY",
        "PGP PRIVATE KEY BLOCK",
    ] {
        let file = pem(label);
        assert_eq!(rules(&file), ["private-key"], "{label}");
        let one = search(file.as_bytes()).remove(0).fingerprint;
        // In a JSON file, and in source, it is the same key.
        for other in [
            format!("{{\"private_key\": \"{}\"}}", file.replace('\n', "\\n")),
            file.lines().map(|line| format!("    \"{line}\\n\" +\n")).collect(),
            file.replace('\n', "\r\n"),
        ] {
            let hits = search(other.as_bytes());
            assert_eq!(hits.len(), 1, "{other}");
            if !other.contains('+') {
                assert_eq!(hits[0].fingerprint, one, "{other}");
            }
        }
        let header = file.lines().next().expect("a line");
        let prose = "and then words and more words until there are enough of them ".repeat(20);
        for text in [
            format!("if line == \"{header}\" {{ parse() }}"),
            format!("{header}\n...\n-----END {label}-----\n"),
            format!("{header}\n{prose}{}", random(64)),
        ] {
            assert_eq!(rules(&text), [""; 0], "{text}");
        }
    }
    for label in ["PUBLIC KEY", "CERTIFICATE", "PGP PUBLIC KEY BLOCK"] {
        assert_eq!(rules(&pem(label)), [""; 0], "{label}");
    }
}

#[test]
fn a_putty_key() {
    let file = format!(
        "PuTTY-User-{}File-3: ssh-ed25519\nEncryption: none\nComment: a key\nPublic-Lines: 2\n{}\n{}\nPrivate-Lines: 1\n{}\nPrivate-MAC: {}\n",
        "Key-",
        random(64),
        random(16),
        random(64),
        random_hex(64)
    );
    assert_eq!(rules(&file), ["putty-key"]);
}

#[test]
fn utf16_and_binary_files_are_read_too() {
    let (rule, value) = values().swap_remove(0);
    let text = format!("\u{feff}a\nb = {value}\n");
    for bytes in [
        text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>(),
        text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
        text[3..].encode_utf16().flat_map(u16::to_le_bytes).collect(),
    ] {
        let hits = search(&bytes);
        assert_eq!(hits.len(), 1);
        assert_eq!((hits[0].rule, hits[0].line), (rule, 2));
        assert_eq!(blanked(&bytes, &hits), b"(left out: it holds a credential)\n");
    }
    // A mark, then one byte: every pair of bytes after it is another letter.
    let odd = [
        b"\xff\xfe=".to_vec(),
        text[3..].encode_utf16().flat_map(u16::to_le_bytes).collect(),
    ]
    .concat();
    assert_eq!(search(&odd).len(), 1);
    let binary = [b"\x00\xff\x01", value.as_bytes(), b"\x00\x00more"].concat();
    assert_eq!(search(&binary).len(), 1);
}

#[test]
fn blanking_leaves_everything_else_as_it_is() {
    let (_, value) = values().swap_remove(0);
    let text = format!("a = \"{value}\"\n{}b\n", pem("PRIVATE KEY"));
    let hits = search(text.as_bytes());
    assert_eq!(hits.len(), 2);
    let left = String::from_utf8(blanked(text.as_bytes(), &hits)).expect("text");
    assert_eq!(left.len(), text.len());
    assert_eq!(left.lines().count(), text.lines().count());
    assert!(left.starts_with("a = \"xxxx") && left.ends_with("\nb\n"), "{left}");
    assert_eq!(search(left.as_bytes()), []);
}

#[test]
fn one_value_is_found_once_and_two_twice() {
    let (_, value) = values().swap_remove(0);
    assert_eq!(search(format!("{value}\n{value}\n").as_bytes()).len(), 1);
    let other = format!("{}A", &value[..value.len() - 1]);
    assert_eq!(search(format!("{value},{other}").as_bytes()).len(), 2);
}

#[test]
fn hostile_text_takes_no_long_time() {
    let begin = format!("{}BEGIN PRIVATE KEY{0}\n", "-".repeat(5));
    for piece in [
        "xoxb-",
        "sk-ant-",
        "pypi-AgEIcHlwaS5vcmc",
        "-----",
        "-----BEGIN ",
        "secret_access_key=",
        "PuTTY-User-Key-File-",
        &begin,
        "A",
        "\\n",
    ] {
        let text = piece.repeat(300_000 / piece.len());
        let _ = search(text.as_bytes());
    }
}

#[test]
fn a_value_is_found_once_wherever_windows_of_a_large_content_meet() {
    let (key, token) = (pem("RSA PRIVATE KEY"), values().remove(0).1);
    let whole = [search(key.as_bytes()), search(token.as_bytes())].concat();
    let wide = |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
    let window = 32 * 1024;
    for before in [0, 2, 40, 100, 300, 1000] {
        // Lines of 64 bytes each up to a little before the second window.
        let mut content = [0xff, 0xfe].to_vec();
        let fill = wide(&format!("{}\n", ".".repeat(31)));
        while content.len() + fill.len() <= window - before {
            content.extend(&fill);
        }
        let lines = content.chunks_exact(2).filter(|unit| unit == b"\n\0").count();
        content.extend(wide(&key));
        content.extend(wide(&format!("\n{token}\n")));
        let found = search_by(&content, window);
        let told = |hits: &[Hit]| -> Vec<String> { hits.iter().map(|hit| hit.fingerprint.clone()).collect() };
        assert_eq!(told(&found), told(&whole), "{before}");
        assert_eq!(found[0].line as usize, lines + 1, "{before}");
    }
}
