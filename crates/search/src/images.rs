//! Container images that a search compares.

use dyno_engine::{ImageName, Installation, pull_image};
use dyno_lab::{Source, System};

use crate::session::Lab;

/// Pulls the images that are not on this machine. This is necessary because a comparison identifies an image by its
/// content, not by its name. Returns whether any image was pulled. If so, the caller must read its plan again,
/// because the plan lacks facts about the image.
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

/// Returns the system's image if the image was not on this machine when the plan was read.
pub(crate) fn absent(system: &System) -> Option<&ImageName> {
    match &system.source {
        Source::Image { name, installation, .. } if installation.image().is_none() => Some(name),
        _ => None,
    }
}
