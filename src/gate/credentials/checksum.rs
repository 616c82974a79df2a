//! The checksum at the end of GitHub's and npm's tokens.

/// Digits of base 62 in the order of their values.
const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// Digits of the checksum.
const LENGTH: usize = 6;

/// Whether the last six of these characters are the CRC-32 of those before them in base 62, zeros in front.
pub(super) fn fits(token: &[u8]) -> bool {
    let Some(at) = token.len().checked_sub(LENGTH) else {
        return false;
    };
    let (body, sum) = token.split_at(at);
    let mut left = crc32(body);
    let mut digits = [0; LENGTH];
    for digit in digits.iter_mut().rev() {
        *digit = DIGITS[(left % 62) as usize];
        left /= 62;
    }
    sum == digits
}

/// CRC-32 as zip and Ethernet have it (reflected, polynomial 0xEDB88320).
fn crc32(bytes: &[u8]) -> u32 {
    let step = |mut crc: u32| {
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
        }
        crc
    };
    !bytes.iter().fold(!0, |crc, &byte| step(crc ^ u32::from(byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_crc_of_the_standards_check_string() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }

    #[test]
    fn a_published_revoked_token_fits_and_a_mistyped_one_does_not() {
        let body = ["zQWBuTSOoRi4A9spHcV", "Y5ncnsDkxkJ"].concat();
        assert!(fits(format!("{body}0mLq17").as_bytes()));
        assert!(!fits(format!("{body}0mLq18").as_bytes()));
        assert!(!fits(b"short"));
    }
}
