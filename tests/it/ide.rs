//! Editor features on whole projects: they answer at every position, in every style of scalar, and in time.

mod actions;
mod robust;
mod speed;
mod styles;
