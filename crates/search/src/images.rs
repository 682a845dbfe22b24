//! Images of containers that a search compares.

use dyno_engine::{ImageName, Installation, pull_image};
use dyno_lab::{Source, System};

use crate::session::Lab;

/// Pulls images that are not on this machine, since comparisons are known by what is in an image, not by its name. Returns whether
/// any was pulled: a plan that was read before then knows less of it.
pub(crate) fn bring<'a>(
    images: impl IntoIterator<Item = &'a ImageName>,
    lab: &dyn Lab,
) -> anyhow::Result<bool> {
    let mut any = false;
    for name in images {
        if Installation::from_image(name, None)?.is_none() {
            lab.tell(&format!("pulling the image {name}"));
            pull_image(name)?;
            any = true;
        }
    }
    Ok(any)
}

/// The image of a system if it was not on this machine when the plan was read.
pub(crate) fn absent(system: &System) -> Option<&ImageName> {
    match &system.source {
        Source::Image { name, installation, .. } if installation.image().is_none() => Some(name),
        _ => None,
    }
}
