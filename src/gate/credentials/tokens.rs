//! Tokens with a fixed beginning. The forms are those that their makers publish.

use super::{Found, checksum};

/// A form of token: a beginning, and what follows it.
struct Form {
    rule: &'static str,
    what: &'static str,
    start: &'static str,
    letters: Letters,
    /// Least and most characters after the beginning.
    length: (usize, usize),
    /// What else must be so of these characters.
    fits: fn(&[u8]) -> bool,
}

const fn form(
    rule: &'static str,
    what: &'static str,
    start: &'static str,
    letters: Letters,
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

/// Which characters a token consists of.
#[derive(Clone, Copy)]
enum Letters {
    Alnum,
    Word,
    Dotted,
    Slashed,
    Hex,
    Base32,
    Upper,
    Letter,
}

use Letters::{Alnum, Base32, Dotted, Hex, Letter, Slashed, Upper, Word};

impl Letters {
    const COUNT: usize = 8;

    fn has(self, byte: u8) -> bool {
        let word = || byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        match self {
            Alnum => byte.is_ascii_alphanumeric(),
            Word => word(),
            Dotted => word() || byte == b'.',
            Slashed => word() || byte == b'/',
            Hex => byte.is_ascii_hexdigit(),
            Base32 => byte.is_ascii_uppercase() || matches!(byte, b'2'..=b'7'),
            Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Letter => byte.is_ascii_alphabetic(),
        }
    }
}

/// Where the run of each kind of characters ends that was looked at last. A text of beginnings alone would else be read
/// anew from each of them.
#[derive(Default)]
pub(super) struct Runs([(usize, usize); Letters::COUNT]);

impl Runs {
    /// How many such characters follow from here on.
    fn length(&mut self, text: &[u8], at: usize, letters: Letters) -> usize {
        let (start, end) = &mut self.0[letters as usize];
        if !(*start..*end).contains(&at) {
            *start = at;
            *end = at + text[at..].iter().take_while(|&&byte| letters.has(byte)).count();
        }
        *end - at
    }
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
    form("aws-access-key-id", AWS, "AKIA", Base32, (16, 16), any),
    form("aws-access-key-id", AWS, "ASIA", Base32, (16, 16), any),
    form("aws-access-key-id", AWS, "ABIA", Base32, (16, 16), any),
    form("aws-access-key-id", AWS, "ACCA", Base32, (16, 16), any),
    form("github-token", GITHUB, "ghp_", Alnum, (36, 36), checksum::fits),
    form("github-token", GITHUB, "gho_", Alnum, (36, 36), checksum::fits),
    form("github-token", GITHUB, "ghu_", Alnum, (36, 36), checksum::fits),
    form("github-token", GITHUB, "ghs_", Alnum, (36, 36), checksum::fits),
    form("github-token", GITHUB, "ghr_", Alnum, (36, 76), checksum::fits),
    form("github-token", GITHUB, "github_pat_", Word, (82, 82), mixed),
    form("gitlab-token", GITLAB, "glpat-", Word, (20, 300), mixed),
    form("gitlab-token", GITLAB, "gldt-", Word, (20, 300), mixed),
    form("gitlab-token", GITLAB, "glrt-", Word, (20, 300), mixed),
    form("gitlab-token", GITLAB, "glcbt-", Word, (20, 300), mixed),
    form("gitlab-token", GITLAB, "glptt-", Hex, (40, 40), digits_and_letters),
    form("gitlab-token", GITLAB, "glagent-", Word, (50, 300), mixed),
    form("gitlab-token", GITLAB, "gloas-", Word, (60, 300), mixed),
    form("gitlab-token", GITLAB, "glsoat-", Word, (20, 300), mixed),
    form("gitlab-token", GITLAB, "glft-", Word, (20, 300), mixed),
    form("gitlab-token", GITLAB, "glimt-", Word, (20, 300), mixed),
    form("slack-token", SLACK, "xoxb-", Word, (24, 300), slack),
    form("slack-token", SLACK, "xoxp-", Word, (24, 300), slack),
    form("slack-token", SLACK, "xoxa-", Word, (24, 300), slack),
    form("slack-token", SLACK, "xoxo-", Word, (24, 300), slack),
    form("slack-token", SLACK, "xoxr-", Word, (24, 300), slack),
    form("slack-token", SLACK, "xoxs-", Word, (24, 300), slack),
    form("slack-token", SLACK, "xoxe-", Word, (24, 400), slack),
    form("slack-token", SLACK, "xoxe.xoxb-", Word, (24, 400), slack),
    form("slack-token", SLACK, "xoxe.xoxp-", Word, (24, 400), slack),
    form("slack-token", SLACK, "xapp-", Word, (40, 300), slack),
    form(
        "slack-webhook",
        "Slack webhook",
        "hooks.slack.com/services/",
        Slashed,
        (40, 90),
        slack_hook,
    ),
    form(
        "discord-webhook",
        "Discord webhook",
        "discord.com/api/webhooks/",
        Slashed,
        (78, 120),
        discord_hook,
    ),
    form(
        "discord-webhook",
        "Discord webhook",
        "discordapp.com/api/webhooks/",
        Slashed,
        (78, 120),
        discord_hook,
    ),
    form("stripe-key", STRIPE, "sk_live_", Alnum, (24, 250), mixed),
    form("stripe-key", STRIPE, "rk_live_", Alnum, (24, 250), mixed),
    form("google-api-key", "Google API key", "AIza", Word, (35, 35), mixed),
    form(
        "google-oauth-secret",
        "Google OAuth client secret",
        "GOCSPX-",
        Word,
        (28, 28),
        mixed,
    ),
    form("npm-token", "npm token", "npm_", Alnum, (36, 36), checksum::fits),
    form(
        "pypi-token",
        "PyPI token",
        "pypi-AgEIcHlwaS5vcmc",
        Word,
        (50, 1000),
        mixed,
    ),
    form(
        "pypi-token",
        "TestPyPI token",
        "pypi-AgENdGVzdC5weXBpLm9yZw",
        Word,
        (50, 1000),
        mixed,
    ),
    form(
        "rubygems-token",
        "RubyGems token",
        "rubygems_",
        Hex,
        (48, 48),
        digits_and_letters,
    ),
    form("docker-token", "Docker Hub token", "dckr_pat_", Word, (27, 27), mixed),
    form("docker-token", "Docker Hub token", "dckr_oat_", Word, (32, 32), mixed),
    form("anthropic-key", "Anthropic API key", "sk-ant-", Word, (80, 300), mixed),
    form("openai-key", OPENAI, "sk-proj-", Word, (40, 300), openai),
    form("openai-key", OPENAI, "sk-svcacct-", Word, (40, 300), openai),
    form("openai-key", OPENAI, "sk-admin-", Word, (40, 300), openai),
    form("openai-key", OPENAI, "sk-", Alnum, (48, 48), openai),
    form(
        "openrouter-key",
        "OpenRouter API key",
        "sk-or-v1-",
        Hex,
        (64, 64),
        digits_and_letters,
    ),
    form("groq-key", "Groq API key", "gsk_", Alnum, (52, 52), mixed),
    form("xai-key", "xAI API key", "xai-", Alnum, (80, 80), mixed),
    form(
        "hugging-face-token",
        "Hugging Face token",
        "hf_",
        Letter,
        (34, 34),
        mixed,
    ),
    form("replicate-token", "Replicate token", "r8_", Alnum, (37, 37), mixed),
    form("sendgrid-key", "SendGrid API key", "SG.", Dotted, (66, 66), sendgrid),
    form(
        "digitalocean-token",
        "DigitalOcean token",
        "dop_v1_",
        Hex,
        (64, 64),
        digits_and_letters,
    ),
    form(
        "digitalocean-token",
        "DigitalOcean token",
        "doo_v1_",
        Hex,
        (64, 64),
        digits_and_letters,
    ),
    form(
        "digitalocean-token",
        "DigitalOcean token",
        "dor_v1_",
        Hex,
        (64, 64),
        digits_and_letters,
    ),
    form("shopify-token", SHOPIFY, "shpat_", Hex, (32, 32), digits_and_letters),
    form("shopify-token", SHOPIFY, "shpca_", Hex, (32, 32), digits_and_letters),
    form("shopify-token", SHOPIFY, "shppa_", Hex, (32, 32), digits_and_letters),
    form("shopify-token", SHOPIFY, "shpss_", Hex, (32, 32), digits_and_letters),
    form(
        "databricks-token",
        "Databricks token",
        "dapi",
        Hex,
        (32, 32),
        digits_and_letters,
    ),
    form("vault-token", "Vault token", "hvs.", Word, (90, 300), mixed),
    form("vault-token", "Vault token", "hvb.", Word, (90, 400), mixed),
    form("linear-key", "Linear API key", "lin_api_", Alnum, (40, 40), mixed),
    form(
        "grafana-token",
        "Grafana service account token",
        "glsa_",
        Word,
        (41, 41),
        mixed,
    ),
    form(
        "atlassian-token",
        "Atlassian API token",
        "ATATT3",
        Word,
        (170, 200),
        mixed,
    ),
    form(
        "pulumi-token",
        "Pulumi token",
        "pul-",
        Hex,
        (40, 40),
        digits_and_letters,
    ),
    form(
        "supabase-token",
        "Supabase token",
        "sbp_",
        Hex,
        (40, 40),
        digits_and_letters,
    ),
    form(
        "sentry-token",
        "Sentry token",
        "sntryu_",
        Hex,
        (64, 64),
        digits_and_letters,
    ),
    form(
        "new-relic-key",
        "New Relic API key",
        "NRAK-",
        Upper,
        (27, 27),
        digits_and_letters,
    ),
    form(
        "postman-key",
        "Postman API key",
        "PMAK-",
        Word,
        (59, 59),
        digits_and_letters,
    ),
    form(
        "planetscale-token",
        "PlanetScale token",
        "pscale_tkn_",
        Dotted,
        (32, 64),
        mixed,
    ),
    form(
        "planetscale-token",
        "PlanetScale password",
        "pscale_pw_",
        Dotted,
        (32, 64),
        mixed,
    ),
    form(
        "age-key",
        "age secret key",
        "AGE-SECRET-KEY-1",
        Upper,
        (58, 58),
        digits_and_letters,
    ),
];

/// Beginnings of forms that nothing else has: a checksum ends them, or they are long, or a word stands in the middle.
pub(super) const CERTAIN: [&str; 14] = [
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "npm_",
    "github_pat_",
    "sk-ant-",
    "sk-proj-",
    "sk-svcacct-",
    "sk-admin-",
    "pypi-AgEIcHlwaS5vcmc",
    "pypi-AgENdGVzdC5weXBpLm9yZw",
    "AGE-SECRET-KEY-1",
];

/// The token that begins here. The longest beginning counts.
pub(super) fn at(text: &[u8], at: usize, runs: &mut Runs) -> Option<Found> {
    let rest = &text[at..];
    // `TOKEN_ghp_...` and `xghp_...` are a name with a token behind it; only a certain form tells that from a longer name.
    let is_after_name = !is_boundary(text, at);
    let mut best: Option<(&Form, usize)> = None;
    for form in FORMS {
        let start = form.start.as_bytes();
        if Some(&start[0]) != rest.first()
            || !rest.starts_with(start)
            || (is_after_name && !CERTAIN.contains(&form.start))
        {
            continue;
        }
        let (least, most) = form.length;
        let length = runs.length(text, at + start.len(), form.letters);
        let after = &rest[start.len()..];
        let follows = after.get(length).is_some_and(u8::is_ascii_alphanumeric);
        let is_one = (least..=most).contains(&length) && !follows && (form.fits)(&after[..length]);
        if is_one && best.is_none_or(|(other, _)| other.start.len() < start.len()) {
            best = Some((form, start.len() + length));
        }
    }
    let (form, length) = best?;
    Some(Found {
        rule: form.rule,
        what: form.what,
        span: at..at + length,
        value: rest[..length].to_vec(),
    })
}

/// Whether any form begins with these two bytes: most places of a text are decided by that.
#[inline]
pub(super) fn begins(rest: &[u8]) -> bool {
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
/// `%3D` and `\u003d` belong to no word.
fn is_boundary(text: &[u8], at: usize) -> bool {
    match &text[..at] {
        [.., b'\\', b'n' | b'r' | b't'] => true,
        // `\u003d`, as some writers of JSON put `=`.
        [.., b'\\', b'u', a, b, c, d] if [a, b, c, d].iter().all(|byte| byte.is_ascii_hexdigit()) => true,
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
            assert_eq!(super::super::skip(form.start.as_bytes()), 0, "{}", form.start);
            assert!(form.length.0 <= form.length.1);
        }
        for start in CERTAIN {
            assert!(FORMS.iter().any(|form| form.start == start), "{start}");
        }
    }
}
