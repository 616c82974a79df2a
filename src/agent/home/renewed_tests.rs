use super::*;
use serde_json::json;

const NOW: f64 = 1_800_000_000.0;

fn judged(old: Value, new: Value) -> Result<(), String> {
    judge(&old, &new, NOW)
}

fn jwt(exp: u64) -> String {
    // {"exp":N} in base64url, by hand.
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let claims = format!("{{\"exp\":{exp}}}");
    let mut text = String::new();
    for chunk in claims.as_bytes().chunks(3) {
        let three = chunk.iter().fold(0u32, |all, byte| all << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..=chunk.len() {
            text.push(LETTERS[(three >> (18 - 6 * place) & 63) as usize] as char);
        }
    }
    format!("h.{text}.s")
}

#[test]
fn the_usual_files_renewed() {
    let claude = |token: &str, expiry: u64| json!({"claudeAiOauth": {"accessToken": token, "refreshToken": token, "expiresAt": expiry, "scopes": ["a"]}});
    judged(claude("1", 1_799_000_000_000), claude("2", 1_800_003_600_000)).expect("claude");
    let codex = |exp: u64, at: &str| json!({"OPENAI_API_KEY": null, "tokens": {"id_token": jwt(exp), "access_token": jwt(exp), "refresh_token": at, "account_id": "a"}, "last_refresh": at});
    judged(
        codex(1_799_000_000, "2026-12-01T00:00:00.5Z"),
        codex(1_800_000_600, "2027-01-01T00:00:00Z"),
    )
    .expect("codex");
    let gemini = |token: &str, expiry: u64| json!({"access_token": token, "refresh_token": "r", "scope": "s", "token_type": "Bearer", "expiry_date": expiry});
    judged(gemini("1", 1_799_000_000_000), gemini("2", 1_800_000_000_001)).expect("gemini");
    let opencode = |token: &str, expiry: u64| json!({"anthropic": {"type": "oauth", "access": token, "refresh": token, "expires": expiry}, "other": {"type": "api", "key": "k"}});
    judged(opencode("1", 1_799_000_000_000), opencode("2", 1_800_000_000_001)).expect("opencode");
}

#[test]
fn a_token_alone_that_says_when_it_ends_is_enough() {
    judged(
        json!({"access_token": jwt(1_799_000_000)}),
        json!({"access_token": jwt(1_800_000_000)}),
    )
    .expect("newer");
    let error = judged(
        json!({"access_token": jwt(1_800_000_000)}),
        json!({"access_token": jwt(1_799_000_000)}),
    );
    assert!(error.expect_err("older").contains("older"));
}

#[test]
fn anything_else_is_no_renewal() {
    let old = json!({"a": {"access_token": "1", "expires_at": 1_799_000_000, "url": "https://x"}});
    let cases = [
        (
            json!({"a": {"access_token": "2", "expires_at": 1_799_000_000, "url": "https://x"}}),
            "newer",
        ),
        (
            json!({"a": {"access_token": "2", "expires_at": 1_700_000_000, "url": "https://x"}}),
            "older",
        ),
        (
            json!({"a": {"access_token": "2", "expires_at": 1_800_000_001, "url": "https://evil"}}),
            "no token",
        ),
        (json!({"a": {"access_token": "2", "expires_at": 1_800_000_001}}), "gone"),
        (
            json!({"a": {"access_token": "2", "expires_at": 1_800_000_001, "url": "https://x", "b": 1}}),
            "new",
        ),
        (
            json!({"a": {"access_token": null, "expires_at": 1_800_000_001, "url": "https://x"}}),
            "no token",
        ),
        (
            json!({"a": {"access_token": "2", "expires_at": "soon", "url": "https://x"}}),
            "no token",
        ),
        (
            json!({"a": {"access_token": "2", "expires_at": 99_999_999_999_i64, "url": "https://x"}}),
            "year",
        ),
        (
            json!({"a": {"access_token": "1", "expires_at": 1_800_000_001, "url": "https://x"}}),
            "same tokens",
        ),
        (json!({"a": "x"}), "no token"),
        (json!(["a"]), "no token"),
    ];
    for (new, why) in cases {
        let error = judged(old.clone(), new.clone()).expect_err("no renewal");
        assert!(error.contains(why), "{new}: {error}");
    }
    assert!(judged(json!([1]), json!([2])).is_err());
}
