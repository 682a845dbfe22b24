//! Why an image of a container cannot be used as a server.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::machine::path_error::PathError;

/// The folders that `survey.sh` searches, in words.
const PLACES: &str =
    "/usr/sbin, /usr/libexec, /usr/lib/postgresql/*/bin, /usr/pgsql-*/bin, /usr/local, /opt, /bin";

/// Why an image of a container cannot be used as a server.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ImageError {
    /// The text does not name an image.
    #[error(
        "'{0}' is not the name of an image; write NAME[:TAG] or NAME@sha256:DIGEST, such as docker.io/library/mysql:8.4"
    )]
    Name(String),
    /// This machine has no tool for containers.
    #[error(
        "servers in containers need podman or docker, and neither is on the PATH; install one (apt-get install podman), \
         or name one by DYNO_CONTAINER_TOOL"
    )]
    NoTool,
    /// The tool does not run.
    #[error("cannot run {}: {source}; DYNO_CONTAINER_TOOL names another podman or docker", tool.display())]
    Tool { tool: PathBuf, source: io::Error },
    /// The tool failed.
    #[error("{tool} cannot {action}: {complaint}")]
    Failed {
        tool: String,
        /// The task of the tool, such as `look at the image x`.
        action: String,
        /// The last line of the tool's messages.
        complaint: String,
    },
    /// The image is built for another architecture.
    #[error(
        "the image {image} is built for {architecture}, this machine is {here}; name one that is built for {here}"
    )]
    Architecture { image: String, architecture: String, here: String },
    /// There is no server in the image.
    #[error(
        "no server in the image {image}; looked for mysqld, mariadbd and postgres in {} and on its PATH",
        PLACES
    )]
    NoServer { image: String },
    /// The server's output is not a version.
    #[error("{server} --version in the image {image} says '{said}', in which dyno finds no version")]
    NoVersion {
        image: String,
        /// The server's path in the image.
        server: String,
        /// The first line that the server printed.
        said: String,
    },
    /// The image is not on this machine, and its name does not show the family of its server.
    #[error(
        "the image {image} is not here, and its name does not tell the server's family; add `family = \"mysql\"`, \
         \"mariadb\" or \"postgres\", or pull it first (dyno engine fetch oci:{image})"
    )]
    Family { image: String },
    /// The image is not on this machine, and its tag is not a version.
    #[error(
        "the image {image} is not here, and its tag is not a version, which settings depend on; pull it first \
         (dyno engine fetch oci:{image})"
    )]
    Version { image: String },
    /// The image contains another server than the expected one.
    #[error(
        "the image {image} holds {found}, and {expected} was expected by its name or its `family`; {advice}"
    )]
    Other {
        image: String,
        /// The server that was found, such as `mariadb 10.11.6`.
        found: String,
        expected: String,
        advice: &'static str,
    },
    /// A file cannot be made or read.
    #[error(transparent)]
    Path(#[from] PathError),
}
