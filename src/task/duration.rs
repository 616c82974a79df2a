//! Durations, written the same way everywhere.

/// Upper limit of a duration in seconds: ten years, so that sums of times cannot overflow.
const MAX_SECONDS: u64 = 3650 * 24 * 3600;

/// Durations as written everywhere: a whole number with s, m, h or d. In seconds, at least one and
/// at most ten years.
pub fn parse_duration(text: &str) -> Result<u64, String> {
    let wrong = || {
        let is_bare = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let what = match suggested(text) {
            Some(_) if is_bare => format!("write `{text}s` or `{text}m`"),
            Some(meant) => format!("write `{meant}`"),
            None => "write a whole number with s, m, h or d, such as 90s or 5m".to_owned(),
        };
        format!("`{}` is no duration; {what}", text.escape_debug())
    };
    let unit = text.chars().last().ok_or_else(wrong)?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 24 * 3600,
        _ => return Err(wrong()),
    };
    let digits = &text[..text.len() - 1];
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(wrong());
    }
    let total = digits
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(seconds));
    match total {
        Some(0) => Err(format!("`{text}` is no time at all")),
        Some(total) if total <= MAX_SECONDS => Ok(total),
        _ => Err(format!("`{text}` is longer than 3650d")),
    }
}

/// Seconds in the largest unit that leaves no rest: `90s`, `5m`.
pub fn format_duration(seconds: u64) -> String {
    let (size, unit) = [(24 * 3600, 'd'), (3600, 'h'), (60, 'm')]
        .into_iter()
        .find(|&(size, _)| seconds != 0 && seconds.is_multiple_of(size))
        .unwrap_or((1, 's'));
    format!("{}{unit}", seconds / size)
}

/// What was probably meant: `90s` for `90 seconds`, `90m` for `1h30m`, `5m` for a bare `5`.
pub(super) fn suggested(text: &str) -> Option<String> {
    let lower = text.trim().to_ascii_lowercase();
    let mut rest = lower.as_str();
    let mut thousandths: u64 = 0;
    while !rest.is_empty() {
        let (number, behind) = rest.split_at(
            rest.find(|c: char| !(c.is_ascii_digit() || c == '.'))
                .unwrap_or(rest.len()),
        );
        let behind = behind.trim_start();
        let (unit, behind) = behind.split_at(behind.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(behind.len()));
        let size: u64 = match unit {
            "s" | "sec" | "secs" | "second" | "seconds" => 1,
            "m" | "min" | "mins" | "minute" | "minutes" | "" => 60,
            "h" | "hr" | "hrs" | "hour" | "hours" => 3600,
            "d" | "day" | "days" => 24 * 3600,
            "w" | "week" | "weeks" => 7 * 24 * 3600,
            _ => return None,
        };
        let (whole, part) = number.split_once('.').unwrap_or((number, ""));
        let part: u64 = format!("{part:0<3}").get(..3)?.parse().ok()?;
        let value = whole.parse::<u64>().ok()?.checked_mul(1000)?.checked_add(part)?;
        thousandths = thousandths.checked_add(value.checked_mul(size)?)?;
        rest = behind.trim_start_matches([' ', ',', '.']);
        rest = rest.strip_prefix("and ").unwrap_or(rest).trim_start();
    }
    let seconds = thousandths / 1000;
    (thousandths.is_multiple_of(1000) && (1..=MAX_SECONDS).contains(&seconds)).then(|| format_duration(seconds))
}
