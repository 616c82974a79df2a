//! How many lines a difference of two texts adds and deletes, in bounded time.
//!
//! Lines that both texts have once are paired in the longest order that both keep; the gaps between them are treated
//! alike, and small gaps are compared exactly. Each pairing is one that a difference could make, so that the count is
//! never less than the shortest difference has; it is more where a text repeats few lines many times.

use std::collections::HashMap;

/// A longer line counts as one for each such part of it that is begun: a program in one line is not one line to review.
const LINE: usize = 1000;
/// How deep gaps within gaps are looked at.
const MAX_DEPTH: u32 = 32;
/// Gaps in which fewer pairs of lines than this could be compared are compared exactly.
const MAX_PAIRS: usize = 1 << 16;
/// All such comparisons of one file together, in pairs of lines.
const MAX_WORK: usize = 1 << 26;

/// Lines that are added and deleted between two contents, text or not.
pub(super) fn changed(old: &[u8], new: &[u8]) -> u64 {
    let mut known: HashMap<&[u8], u32> = HashMap::new();
    let mut weights: Vec<u64> = Vec::new();
    let mut numbered = |text| -> Vec<u32> {
        let number = |line| {
            *known.entry(line).or_insert_with(|| {
                weights.push(weight(line));
                (weights.len() - 1) as u32
            })
        };
        lines(text).map(number).collect()
    };
    let (old, new) = (numbered(old), numbered(new));
    let sum = |lines: &[u32]| lines.iter().map(|&line| weights[line as usize]).sum::<u64>();
    let mut work = MAX_WORK;
    let mut common = 0;
    let mut open = vec![(&old[..], &new[..], 0)];
    while let Some((old, new, depth)) = open.pop() {
        let ahead = old.iter().zip(new).take_while(|(a, b)| a == b).count();
        let (old, new) = (trimmed(old, ahead, &mut common, &sum), &new[ahead..]);
        let behind = old
            .iter()
            .rev()
            .zip(new.iter().rev())
            .take_while(|(a, b)| a == b)
            .count();
        common += sum(&old[old.len() - behind..]);
        let (old, new) = (&old[..old.len() - behind], &new[..new.len() - behind]);
        if old.is_empty() || new.is_empty() {
            continue;
        }
        let pairs = old.len().saturating_mul(new.len());
        if pairs <= MAX_PAIRS.min(work) {
            work -= pairs;
            common += longest(old, new, &weights);
            continue;
        }
        let anchors = anchors(old, new);
        if anchors.is_empty() || depth == MAX_DEPTH {
            continue;
        }
        let (mut from_old, mut from_new) = (0, 0);
        for (at_old, at_new) in anchors {
            common += weights[old[at_old] as usize];
            open.push((&old[from_old..at_old], &new[from_new..at_new], depth + 1));
            (from_old, from_new) = (at_old + 1, at_new + 1);
        }
        open.push((&old[from_old..], &new[from_new..], depth + 1));
    }
    sum(&old) + sum(&new) - 2 * common
}

/// What is left after the first lines, which are counted as common.
fn trimmed<'a>(lines: &'a [u32], count: usize, common: &mut u64, sum: &impl Fn(&[u32]) -> u64) -> &'a [u32] {
    *common += sum(&lines[..count]);
    &lines[count..]
}

/// Lines without their ends; what follows the last line break is a line if it is anything.
fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|&byte| byte == b'\n')
}

fn weight(line: &[u8]) -> u64 {
    line.len().div_ceil(LINE).max(1) as u64
}

/// Places of the lines that stand once in each text, in the longest order that both keep (patience sorting).
fn anchors(old: &[u32], new: &[u32]) -> Vec<(usize, usize)> {
    let once = |lines: &[u32]| {
        let mut places: HashMap<u32, Option<usize>> = HashMap::new();
        for (at, line) in lines.iter().enumerate() {
            places
                .entry(*line)
                .and_modify(|place| *place = None)
                .or_insert(Some(at));
        }
        places
    };
    let in_new = once(new);
    let mut pairs: Vec<(usize, usize)> = once(old)
        .into_iter()
        .filter_map(|(line, at)| Some((at?, (*in_new.get(&line)?)?)))
        .collect();
    pairs.sort_unstable();
    // For each length the pair that ends such an order earliest in `new`, and the pair before each.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (index, (_, at)) in pairs.iter().enumerate() {
        let length = ends.partition_point(|&end| pairs[end].1 < *at);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        if length == ends.len() {
            ends.push(index);
        } else {
            ends[length] = index;
        }
    }
    let mut order = Vec::new();
    let mut next = ends.last().copied();
    while let Some(index) = next {
        order.push(pairs[index]);
        next = before[index];
    }
    order.reverse();
    order
}

/// The weight of the heaviest common subsequence.
fn longest(old: &[u32], new: &[u32], weights: &[u64]) -> u64 {
    let mut row = vec![0; new.len() + 1];
    for a in old {
        let mut corner = 0;
        for (index, b) in new.iter().enumerate() {
            let above = row[index + 1];
            let best = if a == b {
                corner + weights[*a as usize]
            } else {
                above.max(row[index])
            };
            row[index + 1] = best;
            corner = above;
        }
    }
    row[new.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(lines: &[&str]) -> Vec<u8> {
        lines
            .iter()
            .flat_map(|line| [line.as_bytes(), b"\n"].concat())
            .collect()
    }

    #[test]
    fn additions_deletions_and_edits() {
        assert_eq!(changed(b"", b""), 0);
        assert_eq!(changed(b"", b"a\nb\n"), 2);
        assert_eq!(changed(b"a\nb\n", b""), 2);
        assert_eq!(changed(b"a\nb\nc\n", b"a\nx\nc\n"), 2);
        assert_eq!(
            changed(b"a\nb", b"a\nb\n"),
            2,
            "a line break at the end is a change, as in git"
        );
        assert_eq!(changed(b"a\r\n", b"a\n"), 2);
    }

    #[test]
    fn lines_that_moved_count_on_both_sides() {
        let old = text(&["a", "b", "c", "d"]);
        let new = text(&["d", "a", "b", "c"]);
        assert_eq!(changed(&old, &new), 2);
        let reversed: Vec<String> = (0..1000).map(|n| n.to_string()).rev().collect();
        let ordered: Vec<String> = (0..1000).map(|n| n.to_string()).collect();
        let text = |lines: &[String]| lines.join("\n").into_bytes();
        assert!(changed(&text(&ordered), &text(&reversed)) >= 1990);
    }

    #[test]
    fn a_long_line_counts_by_its_length() {
        assert_eq!(changed(b"", &[b'x'; 2500]), 3);
        assert_eq!(changed(b"", &[&[b'x'; 999][..], b"\n"].concat()), 1);
    }

    /// The shortest difference, by the textbook.
    fn shortest(old: &[u8], new: &[u8]) -> u64 {
        let (old, new): (Vec<&[u8]>, Vec<&[u8]>) = (lines(old).collect(), lines(new).collect());
        let mut table = vec![vec![0u64; new.len() + 1]; old.len() + 1];
        for (i, a) in old.iter().enumerate() {
            for (j, b) in new.iter().enumerate() {
                table[i + 1][j + 1] = match a == b {
                    true => table[i][j] + 1,
                    false => table[i][j + 1].max(table[i + 1][j]),
                };
            }
        }
        (old.len() + new.len()) as u64 - 2 * table[old.len()][new.len()]
    }

    #[test]
    fn never_less_than_the_shortest_difference_and_near_it() {
        // A generator of its own, so that a failure can be made again.
        let mut state = 7u64;
        let mut random = |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for round in 0..60 {
            let letters = [2, 20, 100_000][round % 3];
            let old: Vec<u64> = (0..400).map(|_| random(letters)).collect();
            let mut new = old.clone();
            for _ in 0..random(80) {
                let at = random(new.len() as u64) as usize;
                match random(3) {
                    0 => drop(new.remove(at)),
                    1 => new.insert(at, random(letters)),
                    _ => new[at] = random(letters),
                }
            }
            let text = |lines: &[u64]| lines.iter().map(|n| format!("{n}\n")).collect::<String>().into_bytes();
            let (old, new) = (text(&old), text(&new));
            let (counted, least) = (changed(&old, &new), shortest(&old, &new));
            assert!(counted >= least, "round {round}: {counted} < {least}");
            if letters == 100_000 {
                assert_eq!(counted, least, "round {round}");
            }
        }
    }

    #[test]
    fn a_million_lines_and_repetitions_take_no_long_time() {
        let many: Vec<u8> = (0..100_000).flat_map(|n| format!("{n}\n").into_bytes()).collect();
        let mut edited = many.clone();
        edited.extend_from_slice(b"one more\n");
        edited[0] = b'x';
        assert_eq!(changed(&many, &edited), 3);
        // Two lines in two orders: no line stands once, and the exact way has 10^10 steps.
        let one: Vec<u8> = (0..100_000)
            .flat_map(|n| if n % 2 == 0 { *b"a\n" } else { *b"b\n" })
            .collect();
        let other: Vec<u8> = (0..100_000)
            .flat_map(|n| if n % 3 == 0 { *b"a\n" } else { *b"b\n" })
            .collect();
        assert!(changed(&one, &other) > 30_000);
    }
}
