//! The only door to YAML: a strict reader that keeps positions.
