//! The confinement, attacked by agents of the real binary: as whoever tests and as an ordinary user, with
//! all layers and with some of them made unavailable.

mod apart;
mod attacks;
mod daemons;
mod inside;
mod layers;
mod scene;
