//! Systems whose server is in an image of a container: `engine = "oci:NAME:TAG"`.

use dyno_engine::{Family, ImageError, ImageName, Installation};
use serde::Deserialize;

use crate::plan::context::Builds;
use crate::plan::keys::systems::source::Source;

/// The families of servers that images may contain.
#[derive(Clone, Copy, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(in crate::plan) enum ImageFamily {
    Mysql,
    Mariadb,
    Postgres,
}

impl From<ImageFamily> for Family {
    fn from(family: ImageFamily) -> Self {
        match family {
            ImageFamily::Mysql => Self::Mysql,
            ImageFamily::Mariadb => Self::Mariadb,
            ImageFamily::Postgres => Self::Postgres,
        }
    }
}

/// Returns the source of a server in an image. An image on this machine is examined. Any other image is pulled only
/// when the run begins. Until then, its server is guessed from the image's name and the plan's `family`.
pub(in crate::plan) fn source(
    name: ImageName,
    family: Option<Family>,
    builds: Builds,
) -> Result<Source, ImageError> {
    let installation = match builds {
        Builds::Unasked => Installation::guessed_in_image(&name, family),
        Builds::Asked => match Installation::from_image(&name, family)? {
            Some(installation) => installation,
            None => Installation::expected_in_image(&name, family)?,
        },
    };
    Ok(Source::Image { name, installation: Box::new(installation), storage_engine: None })
}
