//! Servers from container images, run by the podman or docker of this machine.
//!
//! The tool supplies the files of the image, and shows the image's programs only some folders of the host. In
//! everything else, these servers are like other servers: Dyno's settings, data folder, socket, control groups and
//! signals.

mod begin;
mod control;
mod error;
mod image;
mod leftover;
mod name;
mod options;
mod survey;
mod tool;

pub(crate) use self::begin::{Waiting, status_inside};
pub(crate) use self::control::Leash;
pub use self::error::ImageError;
pub(crate) use self::image::Image;
pub(crate) use self::leftover::{forget, remove_leftover};
pub use self::name::ImageName;
pub use self::survey::{fetch_image, pull_image};
