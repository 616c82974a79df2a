//! Values of the forms that the gate takes for credentials, put together from pieces: nothing that searches this
//! repository stops at a test.

/// A GitHub token that was published and revoked; its checksum is right.
pub fn github() -> String {
    ["gh", "p_", "zQWBuTSOoRi4A9spHcV", "Y5ncnsDkxkJ0mLq17"].concat()
}

/// An AWS access key id.
pub fn aws() -> String {
    ["AK", "IA", "Q3EGRIXN5ZHTPWK7"].concat()
}

/// The file of a private key, four lines and the last line break.
pub fn private_key() -> String {
    let line = "q7RkV2mZx9LbT4cYwN8dHs3GpJ6fUe5A".repeat(2);
    let dashes = "-".repeat(5);
    format!("{dashes}BEGIN PRIVATE KEY{dashes}\n{line}\n{line}\n{dashes}END PRIVATE KEY{dashes}\n")
}

/// What a finding names a value by.
pub fn fingerprint(value: &str) -> String {
    super::jobs::sha256(value)[..16].to_owned()
}
