//! Dependencies that a change declares in manifests (exit 8).
