//! Compiled code, kept on disk between two starts.
//!
//! A file's name is a digest of the component (or of a digest that the build took of it) and of the engine's settings, so that code for
//! other settings is never found. Its content ends with a digest of the rest, so that a damaged file is noticed, and is thrown away and
//! made anew. Code is mapped from its file, so that only those pages of a component take memory that are executed.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::hash::{Hash, Hasher};
use std::io::{self, Read, Seek, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use aws_lc_rs::digest::{Context as Digest, SHA256, SHA256_OUTPUT_LEN, digest};
use wasmtime::Engine;
use wasmtime::component::Component;

/// The age from which on a file is removed when another one is written. One that is in use stays mapped, and is made again at the next start.
const STALE_AFTER: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// A folder that only its owner can read or change.
#[derive(Debug, Clone)]
pub struct CodeCache {
    folder: PathBuf,
}

impl CodeCache {
    /// A cache in `folder`, which is made when missing.
    ///
    /// # Errors
    ///
    /// When the folder cannot be made, or belongs to or can be changed by another user.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self> {
        let folder = folder.into();
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&folder)
            .with_context(|| format!("cannot make the folder {}", folder.display()))?;
        ensure_private(&fs::metadata(&folder)?, &folder)?;
        Ok(Self { folder })
    }

    /// The component in `wasm`, compiled now or earlier.
    ///
    /// A file that cannot be used is no error: the component is compiled again. A file that cannot be written is none either; the
    /// next start then compiles again.
    ///
    /// # Errors
    ///
    /// When the bytes are no component that this engine can run.
    pub fn load(&self, engine: &Engine, wasm: &[u8]) -> Result<Component> {
        self.load_made(engine, wasm, || Ok(wasm))
    }

    /// As [`Self::load`], for a component that `make` makes only when there is no code of it. `source` is what the component is made of, or
    /// a digest of that.
    ///
    /// # Errors
    ///
    /// When `make` fails, or the bytes are no component that this engine can run.
    pub fn load_made<'a>(
        &self,
        engine: &Engine,
        source: &[u8],
        make: impl FnOnce() -> Result<&'a [u8]>,
    ) -> Result<Component> {
        let path = self.folder.join(file_name(engine, source));
        if let Some(component) = kept(engine, &path) {
            return Ok(component);
        }
        let component = Component::new(engine, make()?)?;
        match keep(engine, &component.serialize()?, &path) {
            Ok(mapped) => Ok(mapped),
            Err(error) => {
                tracing::warn!(%error, "compiled code could not be kept for the next start");
                Ok(component)
            }
        }
    }

    /// The component whose code was compiled ahead, from the file that keeps the code unpacked. `source` is the packed code, or a digest of
    /// it; `unpack` unpacks it where there is no such file.
    ///
    /// # Errors
    ///
    /// When `unpack` fails, the file cannot be written, or the engine cannot run the code.
    pub fn load_packed(
        &self,
        engine: &Engine,
        source: &[u8],
        unpack: impl FnOnce() -> Result<Vec<u8>>,
    ) -> Result<Component> {
        let path = self.folder.join(file_name(engine, source));
        match kept(engine, &path) {
            Some(component) => Ok(component),
            None => keep(engine, &unpack()?, &path),
        }
    }

    /// Tells whether there is a file for what is made of `source`. It may be damaged.
    #[must_use]
    pub fn has(&self, engine: &Engine, source: &[u8]) -> bool {
        self.folder.join(file_name(engine, source)).exists()
    }
}

/// The folder for compiled code where the settings name none: in the user's cache folder, else among temporary files.
#[must_use]
pub fn folder_of_user() -> PathBuf {
    let user = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")));
    match user {
        Some(folder) => folder.join("gatehouse"),
        None => {
            std::env::temp_dir().join(format!("gatehouse-{}", rustix::process::geteuid().as_raw()))
        }
    }
}

/// A name that is different for every component, engine version and engine setting that goes into code.
fn file_name(engine: &Engine, source: &[u8]) -> String {
    let mut settings = Sha256(Digest::new(&SHA256));
    engine.precompile_compatibility_hash().hash(&mut settings);
    settings.0.update(source);
    let digest = settings.0.finish();
    format!("{:x}.cwasm", base16ct::HexDisplay(digest.as_ref()))
}

/// A digest that takes both what is hashed and what is written. The 64-bit result of an ordinary hasher would be too short to name code by.
struct Sha256(Digest);

impl Write for Sha256 {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Hasher for Sha256 {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        0
    }
}

/// The component in the file, if that can be used.
fn kept(engine: &Engine, path: &Path) -> Option<Component> {
    match read(engine, path) {
        Ok(component) => Some(component),
        Err(error) => {
            if path.exists() {
                tracing::warn!(%error, file = %path.display(), "compiled code is unusable and made again");
            }
            None
        }
    }
}

/// Writes the code to its file, and loads it from there.
fn keep(engine: &Engine, code: &[u8], path: &Path) -> Result<Component> {
    write(code, path)?;
    read(engine, path)
}

fn read(engine: &Engine, path: &Path) -> Result<Component> {
    let mut file = File::open(path)?;
    let metadata = file.metadata()?;
    ensure_private(&metadata, path)?;
    let code_bytes = metadata.len().checked_sub(SHA256_OUTPUT_LEN as u64);
    let code_bytes = code_bytes.context("the file is cut off")?;
    let mut computed = Sha256(Digest::new(&SHA256));
    io::copy(&mut Read::by_ref(&mut file).take(code_bytes), &mut computed)?;
    let computed = computed.0.finish();
    let mut noted = Vec::with_capacity(SHA256_OUTPUT_LEN);
    file.read_to_end(&mut noted)?;
    ensure!(computed.as_ref() == noted, "the file is damaged");
    map(engine, &file).or_else(|error| {
        tracing::info!(%error, file = %path.display(), "compiled code cannot be executed where it lies, so it takes more memory");
        copy(engine, file, code_bytes, computed.as_ref())
    })
}

/// The component with its code in memory of this process, for a file system that is mounted so that nothing on it is executed.
#[allow(unsafe_code)]
fn copy(engine: &Engine, mut file: File, code_bytes: u64, expected: &[u8]) -> Result<Component> {
    file.rewind()?;
    let mut code = Vec::new();
    file.take(code_bytes).read_to_end(&mut code)?;
    ensure!(
        digest(&SHA256, &code).as_ref() == expected,
        "the file is damaged"
    );
    // SAFETY: as for the code that is mapped; and it is in memory of this process, where it does not change.
    Ok(unsafe { Component::deserialize(engine, &code) }?)
}

#[allow(unsafe_code)]
fn map(engine: &Engine, file: &File) -> Result<Component> {
    let opened = format!("/proc/self/fd/{}", file.as_raw_fd());
    // SAFETY: the code must come from `Component::serialize` of a compatible engine, and the file must not change while it is mapped.
    // It is a file that this module wrote: only this user can write to the folder and the file (checked when each was opened), and this
    // module replaces files and never writes into one. The name holds the digest of the component and of the engine's settings, and
    // the content matched its own digest a moment ago.
    Ok(unsafe { Component::deserialize_file(engine, opened) }?)
}

fn write(code: &[u8], path: &Path) -> Result<()> {
    let temporary = path.with_extension(format!("{}.tmp", std::process::id()));
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&temporary)?;
    file.write_all(code)?;
    file.write_all(digest(&SHA256, code).as_ref())?;
    // Not synced: should the machine fail, the digest shows what is missing.
    fs::rename(&temporary, path)?;
    if let Some(folder) = path.parent() {
        remove_stale(folder);
    }
    Ok(())
}

/// Removes what earlier versions have left in `folder`, and what was not written to its end. A file that cannot be removed is no failure.
fn remove_stale(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_old = || {
            let age = entry.metadata().ok()?.modified().ok()?.elapsed().ok()?;
            Some(age >= STALE_AFTER)
        };
        if is_code(&entry.file_name()) && is_old() == Some(true) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// True for a [`file_name`], with its own ending or that of a file that is being written.
fn is_code(name: &OsStr) -> bool {
    let name = name.to_str().and_then(|name| name.split_once('.'));
    name.is_some_and(|(digest, ending)| {
        digest.len() == 2 * SHA256_OUTPUT_LEN
            && digest.bytes().all(|byte| byte.is_ascii_hexdigit())
            && (ending == "cwasm" || ending.ends_with(".tmp"))
    })
}

fn ensure_private(metadata: &fs::Metadata, path: &Path) -> Result<()> {
    ensure!(
        metadata.uid() == rustix::process::geteuid().as_raw() && metadata.mode() & 0o022 == 0,
        "{} must belong to the user that runs this and be writable by no other user",
        path.display()
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;
    use gatehouse_engine::{EngineSettings, engine};

    // An empty component: magic, version, layer.
    const EMPTY: &[u8] = b"\0asm\x0d\0\x01\0";

    fn files(folder: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    }

    fn small_engine(memory_limit: usize) -> Engine {
        engine(EngineSettings {
            instances: 1,
            memory_limit,
        })
        .unwrap()
    }

    #[test]
    fn code_is_kept_privately_and_found_again() {
        let folder = tempfile::tempdir().unwrap();
        let cache = CodeCache::open(folder.path().join("code")).unwrap();
        let engine = small_engine(1 << 20);
        cache.load(&engine, EMPTY).unwrap();
        let kept = files(&folder.path().join("code"));
        assert_eq!(kept.len(), 1);
        assert_eq!(fs::metadata(&kept[0]).unwrap().mode() & 0o777, 0o600);
        read(&engine, &kept[0]).unwrap();
    }

    #[test]
    fn code_that_cannot_be_executed_where_it_lies_is_copied_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let engine = small_engine(1 << 20);
        let component = Component::new(&engine, EMPTY).unwrap();
        let code = component.serialize().unwrap();
        let path = folder.path().join("code");
        fs::write(&path, [&code[..], b"behind it"].concat()).unwrap();
        let open = || File::open(&path).unwrap();
        let (bytes, expected) = (code.len() as u64, digest(&SHA256, &code));
        copy(&engine, open(), bytes, expected.as_ref()).unwrap();
        let changed = copy(&engine, open(), bytes + 1, expected.as_ref()).err();
        assert_eq!(changed.unwrap().to_string(), "the file is damaged");
    }

    #[test]
    fn code_compiled_ahead_is_unpacked_once() {
        let folder = tempfile::tempdir().unwrap();
        let cache = CodeCache::open(folder.path().join("code")).unwrap();
        let engine = small_engine(1 << 20);
        let code = Component::new(&engine, EMPTY).unwrap().serialize().unwrap();
        let unpack = || Ok(code);
        cache.load_packed(&engine, b"packed", unpack).unwrap();
        assert_eq!(files(&folder.path().join("code")).len(), 1);
        let fail = || anyhow::bail!("unpacked again");
        cache.load_packed(&engine, b"packed", fail).unwrap();
        let other = cache.load_packed(&engine, b"other", fail).err();
        assert_eq!(other.unwrap().to_string(), "unpacked again");
        let foreign = || Ok(b"no code".to_vec());
        cache.load_packed(&engine, b"other", foreign).err().unwrap();
    }

    #[test]
    fn code_of_earlier_versions_is_removed_when_other_code_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let cache = CodeCache::open(folder.path().join("code")).unwrap();
        let name = |digit: &str, ending| format!("{}.{ending}", digit.repeat(64));
        for (name, age) in [
            (name("a", "cwasm"), STALE_AFTER),
            (name("b", "7.tmp"), STALE_AFTER),
            (name("c", "cwasm"), STALE_AFTER / 2),
            ("notes.tmp".to_owned(), STALE_AFTER),
        ] {
            let file = File::create(cache.folder.join(name)).unwrap();
            file.set_modified(SystemTime::now() - age).unwrap();
        }
        let engine = small_engine(1 << 20);
        cache.load(&engine, EMPTY).unwrap();
        let mut left = files(&cache.folder);
        left.sort();
        let mut expected = [
            file_name(&engine, EMPTY),
            name("c", "cwasm"),
            "notes.tmp".to_owned(),
        ]
        .map(|name| cache.folder.join(name));
        expected.sort();
        assert_eq!(left, expected);
    }

    #[test]
    fn w8_a_damaged_file_is_not_loaded_but_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let cache = CodeCache::open(folder.path().join("code")).unwrap();
        let engine = small_engine(1 << 20);
        cache.load(&engine, EMPTY).unwrap();
        let file = files(&folder.path().join("code")).remove(0);
        let good = fs::read(&file).unwrap();
        for position in [0, 40, good.len() - 1] {
            let mut bad = good.clone();
            bad[position] ^= 1;
            fs::write(&file, &bad).unwrap();
            assert!(read(&engine, &file).is_err());
            cache.load(&engine, EMPTY).unwrap();
            assert_eq!(fs::read(&file).unwrap(), good);
        }
    }

    #[test]
    fn w8_a_folder_that_others_can_write_to_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let error = CodeCache::open(folder.path()).unwrap_err().to_string();
        assert!(error.contains("writable by no other user"), "{error}");
    }
}
