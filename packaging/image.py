"""Write a container image of a release: an OCI layout in one tar file, made without a daemon.

The image is FROM scratch: the library, the header, the files for pkg-config, and on x86_64 with
glibc the command line, for `COPY --from`. One name leads to the images of all processors. There is
one for glibc and one for musl, since a name cannot lead to both.
"""
import hashlib
import io
import json
import pathlib
import tarfile
import time

import archive
import release

INDEX = "application/vnd.oci.image.index.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"
NAME = "org.opencontainers.image.ref.name"
# What of the tree of `make install` goes into the image, and where.
PLACES = {"include": "usr/include", "lib": "usr/lib", "bin": "usr/bin", "LICENSE":
          "usr/share/doc/assay/LICENSE", "COPYRIGHT": "usr/share/doc/assay/COPYRIGHT"}


def sha256(octets):
    return hashlib.sha256(octets).hexdigest()


def encoded(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def tar_of(entries, epoch):
    """Return a tar file of [(name, octets, text of a link, mode)], with their folders."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as made:
        folders = {str(above) for name, *_ in entries
                   for above in pathlib.PurePosixPath(name).parents} - {"."}
        folders = [(folder, None, None, 0o755) for folder in folders]
        for name, octets, link, mode in sorted([*entries, *folders], key=lambda entry: entry[0]):
            entry = tarfile.TarInfo(name)
            entry.mode, entry.mtime, entry.uname, entry.gname = mode, epoch, "root", "root"
            if link is not None:
                entry.type, entry.linkname = tarfile.SYMTYPE, link
            elif octets is None:
                entry.type = tarfile.DIRTYPE
            else:
                entry.size = len(octets)
            made.addfile(entry, io.BytesIO(octets or b""))
    return out.getvalue()


def layer_of(tarball, epoch):
    """Return the tar file of a layer, from a tarball of `make dist`."""
    entries = []
    with tarfile.open(fileobj=io.BytesIO(tarball)) as given:
        for entry in given:
            _, _, below = entry.name.partition("/")
            top, _, rest = below.partition("/")
            if top not in PLACES or entry.isdir():
                continue
            name = PLACES[top] + (f"/{rest}" if rest else "")
            entries.append((name, None, entry.linkname, 0o777) if entry.issym() else
                           (name, given.extractfile(entry).read(), None, entry.mode))
    return tar_of(entries, epoch)


class Layout:
    """The blobs of an image layout."""

    def __init__(self, epoch):
        self.epoch, self.blobs = epoch, {}

    def add(self, kind, octets, **more):
        """Add a blob; return its descriptor."""
        self.blobs[sha256(octets)] = octets
        return {"mediaType": kind, "digest": f"sha256:{sha256(octets)}", "size": len(octets),
                **more}

    def image(self, machine, tarball, commit):
        """Add an image for one processor; return the descriptor of its manifest."""
        moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.epoch))
        tar = layer_of(tarball, self.epoch)
        layer = self.add(LAYER, archive.compressed(tar))
        config = self.add(CONFIG, encoded({
            "created": moment, "architecture": machine, "os": "linux",
            "config": {"Labels": {
                "org.opencontainers.image.title": "assay",
                "org.opencontainers.image.version": release.version(),
                "org.opencontainers.image.revision": commit,
                "org.opencontainers.image.licenses": "Apache-2.0",
                "org.opencontainers.image.url": f"https://{release.home()}"}},
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{sha256(tar)}"]},
            "history": [{"created": moment, "created_by": "make release"}]}))
        return self.add(MANIFEST, encoded({"schemaVersion": 2, "mediaType": MANIFEST,
                                           "config": config, "layers": [layer]}),
                        platform={"architecture": machine, "os": "linux"})

    def index(self, manifests, **more):
        return self.add(INDEX, encoded({"schemaVersion": 2, "mediaType": INDEX,
                                        "manifests": manifests}), **more)


def write(name, tarballs, commit, epoch):
    """Return the image as a tar file. `tarballs` is {processor: bytes of a tarball}."""
    layout = Layout(epoch)
    whole = layout.index([layout.image(machine, tarball, commit)
                          for machine, tarball in sorted(tarballs.items())],
                         annotations={NAME: name})
    files = [("oci-layout", encoded({"imageLayoutVersion": "1.0.0"}), None, 0o644),
             ("index.json", encoded({"schemaVersion": 2, "mediaType": INDEX,
                                     "manifests": [whole]}), None, 0o644),
             *((f"blobs/sha256/{digest}", octets, None, 0o644)
               for digest, octets in layout.blobs.items())]
    return tar_of(files, epoch)
