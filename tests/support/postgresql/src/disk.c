/* Loaded into a PostgreSQL server, this refuses what would make a file larger, as a disk without room does, while a file `full-NAME` lies in
 * the folder that GATEHOUSE_DISK names and the other file is below `data/NAME/` there. What lies on the disk already can be written again. */

#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static int has_room(int file, off_t end)
{
	const char *disk = getenv("GATEHOUSE_DISK");
	char entry[32], path[PATH_MAX], flag[2 * PATH_MAX];
	struct stat found;

	if (disk == NULL)
		return 1;
	snprintf(entry, sizeof entry, "/proc/self/fd/%d", file);
	ssize_t length = readlink(entry, path, sizeof path - 1);
	if (length < 0)
		return 1;
	path[length] = '\0';
	size_t before = strlen(disk);
	if (strncmp(path, disk, before) != 0 || strncmp(path + before, "/data/", 6) != 0)
		return 1;
	const char *name = path + before + 6;
	const char *after = strchr(name, '/');
	if (after == NULL)
		return 1;
	snprintf(flag, sizeof flag, "%s/full-%.*s", disk, (int) (after - name), name);
	return access(flag, F_OK) != 0 || fstat(file, &found) != 0 || end <= found.st_size;
}

static int refuse(void)
{
	errno = ENOSPC;
	return -1;
}

ssize_t pwrite(int file, const void *bytes, size_t length, off_t at)
{
	if (!has_room(file, at + (off_t) length))
		return refuse();
	return syscall(SYS_pwrite64, file, bytes, length, at);
}

ssize_t write(int file, const void *bytes, size_t length)
{
	off_t at = lseek(file, 0, SEEK_CUR);

	if (at >= 0 && !has_room(file, at + (off_t) length))
		return refuse();
	return syscall(SYS_write, file, bytes, length);
}

ssize_t pwritev(int file, const struct iovec *parts, int count, off_t at)
{
	off_t end = at;

	for (int part = 0; part < count; part++)
		end += (off_t) parts[part].iov_len;
	if (!has_room(file, end))
		return refuse();
	return syscall(SYS_pwritev, file, parts, count, at, 0L);
}

int posix_fallocate(int file, off_t at, off_t length)
{
	if (!has_room(file, at + length))
		return ENOSPC;
	return syscall(SYS_fallocate, file, 0, at, length) == 0 ? 0 : errno;
}

int ftruncate(int file, off_t length)
{
	if (!has_room(file, length))
		return refuse();
	return (int) syscall(SYS_ftruncate, file, length);
}

/* The names under which the C library has the same for programs that ask for large files. */
ssize_t pwrite64(int, const void *, size_t, off_t) __attribute__((alias("pwrite")));
ssize_t pwritev64(int, const struct iovec *, int, off_t) __attribute__((alias("pwritev")));
int posix_fallocate64(int, off_t, off_t) __attribute__((alias("posix_fallocate")));
int ftruncate64(int, off_t) __attribute__((alias("ftruncate")));
