//! A data set in a bucket of S3 or of a server that speaks its protocol.

use std::error::Error;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::PathBuf;
use std::time::Duration;

use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::path::Path;
use object_store::{ObjectStoreExt as _, RetryConfig, WriteMultipart};
use tempfile::{NamedTempFile, TempPath};
use tokio::runtime::{Builder, Runtime};

use super::place::Place;
use crate::error::ExportError;

/// Size of the parts of an upload, in bytes. S3 takes at most 10,000 parts of at least 5 MiB.
const PART_BYTES: usize = 16 << 20;

/// Parts that are in flight at a time.
const PARTS_IN_FLIGHT: usize = 4;

/// How long a request is tried. A short outage passes, and a server that is gone is told soon.
const RETRY: Duration = Duration::from_secs(30);

pub(super) struct Bucket {
    store: AmazonS3,
    runtime: Runtime,
    name: String,
    prefix: String,
}

impl Bucket {
    /// Opens a bucket with the settings of the environment: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_REGION`,
    /// `AWS_ENDPOINT_URL`, `AWS_ALLOW_HTTP`. Nothing is sent yet.
    pub(super) fn open(name: &str, prefix: &str) -> Result<Self, ExportError> {
        // The HTTP client leaves the choice of cryptography to the process. An earlier choice stays.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let url = PathBuf::from(format!("s3://{name}/{prefix}"));
        let retry = RetryConfig { retry_timeout: RETRY, ..RetryConfig::default() };
        let store = AmazonS3Builder::from_env()
            .with_bucket_name(name)
            .with_retry(retry)
            .build()
            .map_err(|error| refused(url.clone(), &error))?;
        let runtime =
            Builder::new_current_thread().enable_all().build().map_err(|error| refused(url, &error))?;
        Ok(Self { store, runtime, name: name.to_owned(), prefix: prefix.to_owned() })
    }

    /// The key of an object. Hive's escapes stay as they are.
    fn key(&self, name: &str) -> Result<Path, ExportError> {
        Path::parse(self.full_name(name)).map_err(|error| refused(self.path(name), &error))
    }

    fn full_name(&self, name: &str) -> String {
        if self.prefix.is_empty() { name.to_owned() } else { format!("{}/{name}", self.prefix) }
    }

    /// Uploads a file. The object appears when all of it is there.
    async fn upload(&self, key: &Path, file: &TempPath) -> Result<u64, object_store::Error> {
        let mut file = File::open(file).map_err(of_file)?;
        let bytes = file.metadata().map_err(of_file)?.len();
        if bytes > PART_BYTES as u64 {
            let mut upload =
                WriteMultipart::new_with_chunk_size(self.store.put_multipart(key).await?, PART_BYTES);
            if let Err(error) = send_parts(&mut upload, &mut file).await {
                // Parts of no object would be charged for. The first error is the one to tell.
                let _ = upload.abort().await;
                return Err(error);
            }
            upload.finish().await?;
        } else {
            let mut all = Vec::new();
            file.read_to_end(&mut all).map_err(of_file)?;
            self.store.put(key, all.into()).await?;
        }
        Ok(bytes)
    }
}

async fn send_parts(upload: &mut WriteMultipart, file: &mut File) -> Result<(), object_store::Error> {
    let mut part = vec![0; PART_BYTES];
    loop {
        let length = file.read(&mut part).map_err(of_file)?;
        if length == 0 {
            return Ok(());
        }
        upload.wait_for_capacity(PARTS_IN_FLIGHT).await?;
        upload.write(&part[..length]);
    }
}

fn refused(path: PathBuf, error: &dyn Error) -> ExportError {
    ExportError::Unwritable { path, reason: in_one_line(error) }
}

/// An error's text, without the line ends of a server's answer.
fn in_one_line(error: &dyn Error) -> String {
    error.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// An error of the file that is uploaded.
fn of_file(error: io::Error) -> object_store::Error {
    object_store::Error::Generic { store: "temporary file", source: Box::new(error) }
}

impl Place for Bucket {
    fn temporary(&self) -> Result<NamedTempFile, ExportError> {
        NamedTempFile::new().map_err(|error| refused(std::env::temp_dir(), &error))
    }

    fn open(&self, name: &str) -> Result<Option<File>, ExportError> {
        let key = self.key(name)?;
        let unreadable =
            |error: &dyn Error| ExportError::Unreadable { path: self.path(name), reason: in_one_line(error) };
        let read = async { self.store.get(&key).await?.bytes().await };
        let bytes = match self.runtime.block_on(read) {
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            read => read.map_err(|error| unreadable(&error))?,
        };
        let copy = || {
            let mut file = tempfile::tempfile()?;
            file.write_all(&bytes)?;
            file.rewind()?;
            Ok(Some(file))
        };
        copy().map_err(|error: io::Error| unreadable(&error))
    }

    fn settle(&self) -> Result<(), ExportError> {
        // An object is durable when it appears.
        Ok(())
    }

    fn put(&self, name: &str, file: TempPath) -> Result<u64, ExportError> {
        let key = self.key(name)?;
        self.runtime.block_on(self.upload(&key, &file)).map_err(|error| refused(self.path(name), &error))
    }

    fn remove(&self, name: &str) -> Result<(), ExportError> {
        let key = self.key(name)?;
        match self.runtime.block_on(self.store.delete(&key)) {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(refused(self.path(name), &error)),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        PathBuf::from(format!("s3://{}/{}", self.name, self.full_name(name)))
    }
}
