//! Whether a login file is the old one with newer tokens in it, and nothing else.

use serde_json::Value;

/// Furthest a token may be said to be good for, in seconds from now: an absurd date would keep the
/// person's tools from ever renewing it.
const FURTHEST: f64 = 400.0 * 24.0 * 3600.0;

/// Says why `new` is not a renewal of `old`; `now` in seconds since 1970.
///
/// Same keys at every level, values differ only where a token or a time stands (an agent could
/// otherwise change which server the person's tools send them to), no time is older and one is newer.
pub(super) fn judge(old: &Value, new: &Value, now: f64) -> Result<(), String> {
    if !old.is_object() {
        return Err("yours is no JSON object".into());
    }
    let mut seen = Seen::default();
    compare("", old, new, now, &mut seen)?;
    match (seen.newer, seen.token) {
        (true, true) => Ok(()),
        (true, false) => Err("it holds the same tokens with another date".into()),
        _ => Err("no time of expiry in it is newer than in yours".into()),
    }
}

/// What differs.
#[derive(Default)]
struct Seen {
    /// A time is newer.
    newer: bool,
    /// A token is another one.
    token: bool,
}

fn compare(key: &str, old: &Value, new: &Value, now: f64, seen: &mut Seen) -> Result<(), String> {
    if let (Value::Object(before), Value::Object(after)) = (old, new) {
        if let Some(name) = before.keys().find(|name| !after.contains_key(*name)) {
            return Err(format!("the key {name:?} is gone"));
        }
        if let Some(name) = after.keys().find(|name| !before.contains_key(*name)) {
            return Err(format!("the key {name:?} is new"));
        }
        return before
            .iter()
            .try_for_each(|(name, value)| compare(name, value, &after[name], now, seen));
    }
    if old == new {
        return Ok(());
    }
    let plain = plain(key);
    let token = TOKENS.contains(&plain.as_str());
    let time = TIMES.contains(&plain.as_str());
    if !token && !time || std::mem::discriminant(old) != std::mem::discriminant(new) {
        return Err(format!("the value of {key:?} is another one, and it is no token"));
    }
    seen.token |= token;
    let seconds = |value: &Value| if time { time_of(value) } else { expiry_of_token(value) };
    match (seconds(old), seconds(new)) {
        (Some(before), Some(after)) if after < before => Err(format!("{key:?} is older than in yours")),
        (_, Some(after)) if after > now + FURTHEST => Err(format!("{key:?} is more than a year ahead")),
        (Some(before), Some(after)) => {
            seen.newer |= after > before;
            Ok(())
        }
        _ if time && !RELATIVE.contains(&plain.as_str()) => Err(format!("{key:?} is no time that is known here")),
        _ => Ok(()),
    }
}

/// `expires_at`, `expiresAt` and `Expires-At` are one key.
fn plain(key: &str) -> String {
    key.chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|letter| letter.to_ascii_lowercase())
        .collect()
}

const TOKENS: &[&str] = &[
    "accesstoken",
    "refreshtoken",
    "idtoken",
    "access",
    "refresh",
    "token",
    "idtokenraw",
];
const TIMES: &[&str] = &[
    "expires",
    "expiresat",
    "expiresin",
    "expirydate",
    "expiry",
    "expiration",
    "exp",
    "refreshtokenexpiresat",
    "refreshexpiresat",
    "refreshexpires",
    "issuedat",
    "lastrefresh",
    "lastrefreshed",
];
/// Seconds from the moment of an answer: says nothing about when.
const RELATIVE: &[&str] = &["expiresin"];

/// Seconds since 1970 of a number of seconds or milliseconds, or of a date.
fn time_of(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => absolute(number.as_f64()?),
        Value::String(text) => match text.parse::<f64>() {
            Ok(number) => absolute(number),
            Err(_) => {
                let time: jiff::Timestamp = text.parse().ok()?;
                Some(time.as_millisecond() as f64 / 1000.0)
            }
        },
        _ => None,
    }
}

fn absolute(number: f64) -> Option<f64> {
    // Seconds reach this number in the year 5138; milliseconds passed it in 1973.
    let seconds = if number >= 1e11 { number / 1000.0 } else { number };
    // Less than 2001 is a duration or no time at all.
    (seconds >= 1e9).then_some(seconds)
}

/// `exp` of a JSON web token. Its signature is not looked at: nothing is granted by it.
fn expiry_of_token(value: &Value) -> Option<f64> {
    let mut parts = value.as_str()?.split('.');
    let (_, claims, _) = (parts.next()?, parts.next()?, parts.next()?);
    let claims: Value = serde_json::from_slice(&base64url(claims)?).ok()?;
    time_of(claims.get("exp")?)
}

fn base64url(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() * 3 / 4);
    let (mut bits, mut count) = (0u32, 0);
    for letter in text.trim_end_matches('=').bytes() {
        let six = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'-' | b'+' => 62,
            b'_' | b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(six);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 0xff) as u8);
        }
    }
    Some(bytes)
}

#[cfg(test)]
#[path = "renewed_tests.rs"]
mod tests;
