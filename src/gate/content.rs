//! Content that hides from review (exit 9).
