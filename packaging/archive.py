"""Write archives whose bytes depend only on the packed files."""
import gzip
import io
import tarfile
import time
import zipfile


def plain(entry, epoch):
    """Return an entry without an owner, with the time that all entries have."""
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = "root"
    entry.mtime = epoch
    if not entry.issym():
        entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
    return entry


def compressed(data):
    """Compress with gzip, without a name or a time in the header."""
    out = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=out, compresslevel=6, mtime=0) as file:
        file.write(data)
    return out.getvalue()


def tarball(folder, name, epoch):
    """Return the bytes of NAME.tar.gz with everything below a folder, under NAME/."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in [folder, *sorted(folder.rglob("*"))]:
            below = path.relative_to(folder).as_posix()
            entry = archive.gettarinfo(str(path), f"{name}/{below}" if below != "." else name)
            entry = plain(entry, epoch)
            if entry.isreg():
                with path.open("rb") as file:
                    archive.addfile(entry, file)
            else:
                archive.addfile(entry)
    return compressed(out.getvalue())


def tarred(files, epoch):
    """Return the bytes of a tar.gz of {path: bytes}, sorted, with the time of `epoch`."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in sorted(files):
            entry = plain(tarfile.TarInfo(path), epoch)
            entry.size = len(files[path])
            archive.addfile(entry, io.BytesIO(files[path]))
    return compressed(out.getvalue())


def zipped(files, epoch):
    """Return the bytes of a zip file of {path: bytes}, sorted, with the time of `epoch`."""
    moment = max(time.gmtime(epoch)[:6], (1980, 1, 1, 0, 0, 0))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for path in sorted(files):
            entry = zipfile.ZipInfo(path, moment)
            entry.create_system = 3
            entry.external_attr = 0o100644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, files[path], compresslevel=6)
    return out.getvalue()
