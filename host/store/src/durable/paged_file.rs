//! The file as redb reads and writes it, which the operating system caches page by page.
//!
//! redb writes single pages all over the file. Linux keeps what it reads ahead in folios of up to 2 MiB, and for each page that is written, ext4 goes
//! through all blocks of its folio several times (docs/performance.md, *Organizations*). All of the file is read when it is
//! opened, so without a hint all of it would be in such folios.

use std::fs::File;
use std::io;
use std::num::NonZeroU64;
use std::ops::Bound;
use std::sync::atomic::{AtomicBool, Ordering};

use redb::backends::FileBackend;
use redb::{BackendError, DatabaseError, StorageBackend, StorageError};
use rustix::fs::{Advice, fadvise};

/// Bytes that are read ahead together.
const WINDOW: u64 = 1024 * 1024;

/// Bytes that the kernel reads ahead for one request, whatever the disk's own limits are.
const STEP: u64 = 128 * 1024;

/// A file without the kernel's own read-ahead, which makes large folios. Each window that the file had when it was opened is read ahead by requests,
/// which make folios of one page, at the first read in it.
#[derive(Debug)]
pub struct PagedFile {
    backend: FileBackend,
    /// The same open file.
    advised: File,
    /// For each window, true once it was requested.
    requested: Vec<AtomicBool>,
}

impl PagedFile {
    /// Has the operating system forget what it has cached of `file`, so that reads tell what the disk holds. No other process may have it open.
    pub fn new(file: File) -> Result<Self, DatabaseError> {
        let advised = file.try_clone().map_err(StorageError::from)?;
        let windows = uncached(&file).map_err(StorageError::from)?;
        Ok(Self {
            backend: FileBackend::new(file)?,
            advised,
            requested: (0..windows).map(|_| AtomicBool::new(false)).collect(),
        })
    }

    /// Requests the windows of these bytes that were not requested before.
    fn read_ahead(&self, offset: u64, length: usize) {
        let end = offset.saturating_add(length as u64).div_ceil(WINDOW);
        for window in offset / WINDOW..end {
            let place = usize::try_from(window).unwrap_or(usize::MAX);
            let Some(requested) = self.requested.get(place) else {
                return;
            };
            if requested.load(Ordering::Relaxed) || requested.swap(true, Ordering::Relaxed) {
                continue;
            }
            let start = window * WINDOW;
            for step in (start..start + WINDOW).step_by(STEP as usize) {
                // The read that follows reports what is wrong with the file.
                let _ = fadvise(&self.advised, step, NonZeroU64::new(STEP), Advice::WillNeed);
            }
        }
    }
}

/// Takes `file` out of the page cache, turns the kernel's read-ahead off, and returns how many windows the file has.
fn uncached(file: &File) -> io::Result<u64> {
    // A page that is yet to be written would stay, and with it its folio.
    file.sync_data()?;
    // After a failed sync the page cache may show what the disk does not hold.
    fadvise(file, 0, None, Advice::DontNeed)?;
    fadvise(file, 0, None, Advice::Random)?;
    Ok(file.metadata()?.len().div_ceil(WINDOW))
}

impl StorageBackend for PagedFile {
    fn len(&self) -> io::Result<u64> {
        self.backend.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.read_ahead(offset, out.len());
        self.backend.read(offset, out)
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.backend.set_len(length)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.backend.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.backend.write(offset, data)
    }

    fn close(&self) -> io::Result<()> {
        self.backend.close()
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.backend.try_lock_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.backend.unlock_range(start, end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_requests_the_windows_it_touches_and_no_other() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(3 * WINDOW + 5).unwrap();
        let file = PagedFile::new(file).unwrap();
        let requested = || -> Vec<bool> {
            let requested = file.requested.iter();
            requested.map(|it| it.load(Ordering::Relaxed)).collect()
        };
        assert_eq!(requested(), [false; 4]);
        file.write(2 * WINDOW - 2, b"abcd").unwrap();
        assert_eq!(requested(), [false; 4]);
        let mut bytes = [0; 4];
        file.read(2 * WINDOW - 2, &mut bytes).unwrap();
        assert_eq!(&bytes, b"abcd");
        assert_eq!(requested(), [false, true, true, false]);
        file.read(3 * WINDOW, &mut bytes).unwrap();
        assert_eq!(requested(), [false, true, true, true]);
    }

    #[test]
    fn what_a_file_has_gained_since_it_was_opened_is_read_as_well() {
        let file = PagedFile::new(tempfile::tempfile().unwrap()).unwrap();
        let mut byte = [0];
        assert!(file.read(0, &mut byte).is_err());
        file.set_len(WINDOW).unwrap();
        file.write(WINDOW - 1, b"x").unwrap();
        file.read(WINDOW - 1, &mut byte).unwrap();
        assert_eq!(&byte, b"x");
        file.close().unwrap();
    }
}
