//! Tokens with a fixed beginning. The forms are those that their makers publish.

use super::{Found, checksum};

/// A form of token: a beginning, and what follows it.
struct Form {
    rule: &'static str,
    what: &'static str,
    start: &'static str,
    letters: fn(u8) -> bool,
    /// Least and most characters after the beginning.
    length: (usize, usize),
    /// What else must be so of these characters.
    fits: fn(&[u8]) -> bool,
}

const fn form(
    rule: &'static str,
    what: &'static str,
    start: &'static str,
    letters: fn(u8) -> bool,
    length: (usize, usize),
    fits: fn(&[u8]) -> bool,
) -> Form {
    Form {
        rule,
        what,
        start,
        letters,
        length,
        fits,
    }
}

fn alnum(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

fn word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn dotted(byte: u8) -> bool {
    word(byte) || byte == b'.'
}

fn slashed(byte: u8) -> bool {
    word(byte) || byte == b'/'
}

fn hex(byte: u8) -> bool {
    byte.is_ascii_hexdigit()
}

fn base32(byte: u8) -> bool {
    byte.is_ascii_uppercase() || matches!(byte, b'2'..=b'7')
}

fn upper(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

fn letter(byte: u8) -> bool {
    byte.is_ascii_alphabetic()
}

fn any(_: &[u8]) -> bool {
    true
}

/// Both cases: words joined by hyphens (`glpat-your-token-goes-here`) have only one.
fn mixed(token: &[u8]) -> bool {
    token.iter().any(u8::is_ascii_uppercase) && token.iter().any(u8::is_ascii_lowercase)
}

fn digits_and_letters(token: &[u8]) -> bool {
    token.iter().any(u8::is_ascii_digit) && token.iter().any(u8::is_ascii_alphabetic)
}

/// `<team>-<...>-<secret>`, the first of digits.
fn slack(token: &[u8]) -> bool {
    let mut parts = token.split(|&byte| byte == b'-');
    let first = parts.next().unwrap_or_default();
    let last = parts.next_back().unwrap_or_default();
    !first.is_empty() && first.iter().all(u8::is_ascii_digit) && last.len() >= 16
}

/// `T<team>/B<bot>/<secret>`
fn slack_hook(token: &[u8]) -> bool {
    let parts: Vec<&[u8]> = token.split(|&byte| byte == b'/').collect();
    matches!(parts[..], [team, bot, secret] if team.len() >= 8 && bot.len() >= 8 && secret.len() >= 20)
}

/// `<number>/<secret>`
fn discord_hook(token: &[u8]) -> bool {
    let parts: Vec<&[u8]> = token.split(|&byte| byte == b'/').collect();
    matches!(parts[..], [id, secret] if id.len() >= 17 && id.iter().all(u8::is_ascii_digit) && secret.len() >= 60)
}

fn sendgrid(token: &[u8]) -> bool {
    token.get(22) == Some(&b'.') && token.iter().filter(|&&byte| byte == b'.').count() == 1
}

/// What stands in the middle of each of OpenAI's keys.
fn openai(token: &[u8]) -> bool {
    token.windows(8).any(|window| window == b"T3BlbkFJ")
}

const GITHUB: &str = "GitHub token";
const GITLAB: &str = "GitLab token";
const SLACK: &str = "Slack token";
const AWS: &str = "AWS access key id";
const OPENAI: &str = "OpenAI API key";
const SHOPIFY: &str = "Shopify token";
const STRIPE: &str = "Stripe live key";

const FORMS: &[Form] = &[
    form("aws-access-key-id", AWS, "AKIA", base32, (16, 16), any),
    form("aws-access-key-id", AWS, "ASIA", base32, (16, 16), any),
    form("aws-access-key-id", AWS, "ABIA", base32, (16, 16), any),
    form("aws-access-key-id", AWS, "ACCA", base32, (16, 16), any),
    form("github-token", GITHUB, "ghp_", alnum, (36, 36), checksum::fits),
    form("github-token", GITHUB, "gho_", alnum, (36, 36), checksum::fits),
    form("github-token", GITHUB, "ghu_", alnum, (36, 36), checksum::fits),
    form("github-token", GITHUB, "ghs_", alnum, (36, 36), checksum::fits),
    form("github-token", GITHUB, "ghr_", alnum, (36, 76), checksum::fits),
    form("github-token", GITHUB, "github_pat_", word, (82, 82), mixed),
    form("gitlab-token", GITLAB, "glpat-", word, (20, 300), mixed),
    form("gitlab-token", GITLAB, "gldt-", word, (20, 300), mixed),
    form("gitlab-token", GITLAB, "glrt-", word, (20, 300), mixed),
    form("gitlab-token", GITLAB, "glcbt-", word, (20, 300), mixed),
    form("gitlab-token", GITLAB, "glptt-", hex, (40, 40), digits_and_letters),
    form("gitlab-token", GITLAB, "glagent-", word, (50, 300), mixed),
    form("gitlab-token", GITLAB, "gloas-", word, (60, 300), mixed),
    form("gitlab-token", GITLAB, "glsoat-", word, (20, 300), mixed),
    form("gitlab-token", GITLAB, "glft-", word, (20, 300), mixed),
    form("gitlab-token", GITLAB, "glimt-", word, (20, 300), mixed),
    form("slack-token", SLACK, "xoxb-", word, (24, 300), slack),
    form("slack-token", SLACK, "xoxp-", word, (24, 300), slack),
    form("slack-token", SLACK, "xoxa-", word, (24, 300), slack),
    form("slack-token", SLACK, "xoxo-", word, (24, 300), slack),
    form("slack-token", SLACK, "xoxr-", word, (24, 300), slack),
    form("slack-token", SLACK, "xoxs-", word, (24, 300), slack),
    form("slack-token", SLACK, "xoxe-", word, (24, 400), slack),
    form("slack-token", SLACK, "xoxe.xoxb-", word, (24, 400), slack),
    form("slack-token", SLACK, "xoxe.xoxp-", word, (24, 400), slack),
    form("slack-token", SLACK, "xapp-", word, (40, 300), slack),
    form(
        "slack-webhook",
        "Slack webhook",
        "hooks.slack.com/services/",
        slashed,
        (40, 90),
        slack_hook,
    ),
    form(
        "discord-webhook",
        "Discord webhook",
        "discord.com/api/webhooks/",
        slashed,
        (78, 120),
        discord_hook,
    ),
    form(
        "discord-webhook",
        "Discord webhook",
        "discordapp.com/api/webhooks/",
        slashed,
        (78, 120),
        discord_hook,
    ),
    form("stripe-key", STRIPE, "sk_live_", alnum, (24, 250), mixed),
    form("stripe-key", STRIPE, "rk_live_", alnum, (24, 250), mixed),
    form("google-api-key", "Google API key", "AIza", word, (35, 35), mixed),
    form(
        "google-oauth-secret",
        "Google OAuth client secret",
        "GOCSPX-",
        word,
        (28, 28),
        mixed,
    ),
    form("npm-token", "npm token", "npm_", alnum, (36, 36), checksum::fits),
    form(
        "pypi-token",
        "PyPI token",
        "pypi-AgEIcHlwaS5vcmc",
        word,
        (50, 1000),
        mixed,
    ),
    form(
        "pypi-token",
        "TestPyPI token",
        "pypi-AgENdGVzdC5weXBpLm9yZw",
        word,
        (50, 1000),
        mixed,
    ),
    form(
        "rubygems-token",
        "RubyGems token",
        "rubygems_",
        hex,
        (48, 48),
        digits_and_letters,
    ),
    form("docker-token", "Docker Hub token", "dckr_pat_", word, (27, 27), mixed),
    form("docker-token", "Docker Hub token", "dckr_oat_", word, (32, 32), mixed),
    form("anthropic-key", "Anthropic API key", "sk-ant-", word, (80, 300), mixed),
    form("openai-key", OPENAI, "sk-proj-", word, (40, 300), openai),
    form("openai-key", OPENAI, "sk-svcacct-", word, (40, 300), openai),
    form("openai-key", OPENAI, "sk-admin-", word, (40, 300), openai),
    form("openai-key", OPENAI, "sk-", alnum, (48, 48), openai),
    form(
        "openrouter-key",
        "OpenRouter API key",
        "sk-or-v1-",
        hex,
        (64, 64),
        digits_and_letters,
    ),
    form("groq-key", "Groq API key", "gsk_", alnum, (52, 52), mixed),
    form("xai-key", "xAI API key", "xai-", alnum, (80, 80), mixed),
    form(
        "hugging-face-token",
        "Hugging Face token",
        "hf_",
        letter,
        (34, 34),
        mixed,
    ),
    form("replicate-token", "Replicate token", "r8_", alnum, (37, 37), mixed),
    form("sendgrid-key", "SendGrid API key", "SG.", dotted, (66, 66), sendgrid),
    form(
        "digitalocean-token",
        "DigitalOcean token",
        "dop_v1_",
        hex,
        (64, 64),
        digits_and_letters,
    ),
    form(
        "digitalocean-token",
        "DigitalOcean token",
        "doo_v1_",
        hex,
        (64, 64),
        digits_and_letters,
    ),
    form(
        "digitalocean-token",
        "DigitalOcean token",
        "dor_v1_",
        hex,
        (64, 64),
        digits_and_letters,
    ),
    form("shopify-token", SHOPIFY, "shpat_", hex, (32, 32), digits_and_letters),
    form("shopify-token", SHOPIFY, "shpca_", hex, (32, 32), digits_and_letters),
    form("shopify-token", SHOPIFY, "shppa_", hex, (32, 32), digits_and_letters),
    form("shopify-token", SHOPIFY, "shpss_", hex, (32, 32), digits_and_letters),
    form(
        "databricks-token",
        "Databricks token",
        "dapi",
        hex,
        (32, 32),
        digits_and_letters,
    ),
    form("vault-token", "Vault token", "hvs.", word, (90, 300), mixed),
    form("vault-token", "Vault token", "hvb.", word, (90, 400), mixed),
    form("linear-key", "Linear API key", "lin_api_", alnum, (40, 40), mixed),
    form(
        "grafana-token",
        "Grafana service account token",
        "glsa_",
        word,
        (41, 41),
        mixed,
    ),
    form(
        "atlassian-token",
        "Atlassian API token",
        "ATATT3",
        word,
        (170, 200),
        mixed,
    ),
    form(
        "pulumi-token",
        "Pulumi token",
        "pul-",
        hex,
        (40, 40),
        digits_and_letters,
    ),
    form(
        "supabase-token",
        "Supabase token",
        "sbp_",
        hex,
        (40, 40),
        digits_and_letters,
    ),
    form(
        "sentry-token",
        "Sentry token",
        "sntryu_",
        hex,
        (64, 64),
        digits_and_letters,
    ),
    form(
        "new-relic-key",
        "New Relic API key",
        "NRAK-",
        upper,
        (27, 27),
        digits_and_letters,
    ),
    form(
        "postman-key",
        "Postman API key",
        "PMAK-",
        word,
        (59, 59),
        digits_and_letters,
    ),
    form(
        "planetscale-token",
        "PlanetScale token",
        "pscale_tkn_",
        dotted,
        (32, 64),
        mixed,
    ),
    form(
        "planetscale-token",
        "PlanetScale password",
        "pscale_pw_",
        dotted,
        (32, 64),
        mixed,
    ),
    form(
        "age-key",
        "age secret key",
        "AGE-SECRET-KEY-1",
        upper,
        (58, 58),
        digits_and_letters,
    ),
];

/// The token that begins here. The longest beginning counts.
pub(super) fn at(text: &[u8], at: usize) -> Option<Found> {
    let rest = &text[at..];
    if !begins(rest) || !is_boundary(text, at) {
        return None;
    }
    let fits = |form: &Form| {
        let after = rest.strip_prefix(form.start.as_bytes())?;
        let (least, most) = form.length;
        let length = after
            .iter()
            .take(most + 1)
            .take_while(|&&byte| (form.letters)(byte))
            .count();
        let follows = after.get(length).is_some_and(u8::is_ascii_alphanumeric);
        let is_one = (least..=most).contains(&length) && !follows && (form.fits)(&after[..length]);
        is_one.then(|| form.start.len() + length)
    };
    let (form, length) = FORMS
        .iter()
        .filter_map(|form| Some((form, fits(form)?)))
        .max_by_key(|(form, _)| form.start.len())?;
    Some(Found {
        rule: form.rule,
        what: form.what,
        span: at..at + length,
        value: rest[..length].to_vec(),
    })
}

/// Whether any form begins with these two bytes: most places of a text are decided by that.
fn begins(rest: &[u8]) -> bool {
    matches!(
        rest,
        [b'A', b'K' | b'S' | b'B' | b'C' | b'I' | b'T' | b'G', ..]
            | [b'g', b'h' | b'i' | b'l' | b's', ..]
            | [b'x', b'o' | b'a', ..]
            | [b'h', b'o' | b'f' | b'v', ..]
            | [b's', b'k' | b'h' | b'b' | b'n', ..]
            | [b'd', b'i' | b'c' | b'o' | b'a', ..]
            | [b'r', b'k' | b'u' | b'8', ..]
            | [b'p', b'y' | b'u' | b's', ..]
            | [b'n', b'p', ..]
            | [b'l', b'i', ..]
            | [b'G', b'O', ..]
            | [b'S', b'G', ..]
            | [b'N', b'R', ..]
            | [b'P', b'M', ..]
    )
}

/// Whether a token can begin here: not in the middle of a word. The letter of an escape (`\n`) and the digits of
/// `%3D` belong to no word.
fn is_boundary(text: &[u8], at: usize) -> bool {
    match &text[..at] {
        [.., b'\\', b'n' | b'r' | b't'] => true,
        [.., b'%', a, b] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit() => true,
        [.., before] => !before.is_ascii_alphanumeric() && *before != b'_',
        [] => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_form_is_passed_over_by_its_first_bytes() {
        for form in FORMS {
            assert!(begins(form.start.as_bytes()), "{}", form.start);
            assert!(form.length.0 <= form.length.1);
        }
    }
}
