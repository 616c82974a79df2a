//! The compiler's coverage counters, where the program was built with them (`sancov`'s inline 8-bit
//! counters): the start-up code of each module hands over its array.

#![expect(
    unsafe_code,
    reason = "the counters are an array that the linker places and that every edge of the program increments"
)]

use std::sync::Mutex;

struct Counters {
    modules: Vec<(usize, usize)>,
    seen: Vec<u8>,
}

static COUNTERS: Mutex<Counters> = Mutex::new(Counters {
    modules: Vec::new(),
    seen: Vec::new(),
});

/// Called by each module's start-up code.
#[unsafe(no_mangle)]
extern "C" fn __sanitizer_cov_8bit_counters_init(start: *mut u8, stop: *mut u8) {
    let mut counters = COUNTERS.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let module = (start as usize, stop as usize);
    if module.0 < module.1 && !counters.modules.contains(&module) {
        counters.modules.push(module);
        let length = counters.seen.len() + module.1 - module.0;
        counters.seen.resize(length, 0);
    }
}

/// Called with the table of edges, which is not used here.
#[unsafe(no_mangle)]
extern "C" fn __sanitizer_cov_pcs_init(_start: *const usize, _stop: *const usize) {}

/// How many counters there are; 0 in an ordinary build.
pub fn counters() -> usize {
    COUNTERS
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
        .seen
        .len()
}

/// How many were ever reached.
pub fn seen() -> usize {
    let counters = COUNTERS.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    counters.seen.iter().filter(|seen| **seen != 0).count()
}

/// Whether the run since the last call reached an edge for the first time, or an order of magnitude
/// more often than any before; the counters are set back.
pub fn is_new() -> bool {
    let mut counters = COUNTERS.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let Counters { modules, seen } = &mut *counters;
    let mut at = 0;
    let mut is_new = false;
    for &(start, stop) in modules.iter() {
        // SAFETY: the start-up code named this range as its module's counters, which live as long as
        // the program; only this thread runs the code that increments them.
        let counts = unsafe { std::slice::from_raw_parts_mut(start as *mut u8, stop - start) };
        for (count, seen) in counts.iter_mut().zip(&mut seen[at..]) {
            if *count != 0 {
                let bucket = 1 << count.ilog2();
                is_new |= *seen & bucket == 0;
                *seen |= bucket;
                *count = 0;
            }
        }
        at += stop - start;
    }
    is_new
}
