"""The wheel: one file, the library inside, the same bytes every time. Tests/Gates/wheel.py checks
that it works where it is installed."""
import base64
import csv
import hashlib
import importlib
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

from test_loading import real_library

BINDING = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(BINDING))
build_wheel = importlib.import_module("build_wheel")

class WheelTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.wheel = cls.build("one")

    @classmethod
    def build(cls, name, *options, **environment):
        out = pathlib.Path(cls.folder.name) / name
        done = subprocess.run(
            [sys.executable, str(BINDING / "build_wheel.py"), "--library", real_library(),
             "--out", str(out), *options],
            check=True, capture_output=True, text=True, env={**os.environ, **environment},
        )
        return pathlib.Path(done.stdout.strip())

    def test_same_bytes_every_time(self):
        again = self.build("two", TZ="Asia/Tokyo")
        self.assertEqual(again.read_bytes(), self.wheel.read_bytes())

    def test_platform(self):
        other = self.build("three", "--platform", "manylinux_2_34_riscv64")
        self.assertTrue(other.name.endswith("-py3-none-manylinux_2_34_riscv64.whl"))
        with zipfile.ZipFile(other) as archive:
            name = next(entry for entry in archive.namelist() if entry.endswith("/WHEEL"))
            self.assertIn(b"Tag: py3-none-manylinux_2_34_riscv64\n", archive.read(name))

    def test_platform_of_the_library(self):
        """Check that the tag has the machine and the C library for which the library was built."""
        head = pathlib.Path(real_library()).read_bytes()[:18]
        needed = b"\0libm.so.6\0libc.so.6\0"
        for number, machine, names, floor in (
            (62, "x86_64", needed, "manylinux_2_34"), (183, "aarch64", needed, "manylinux_2_34"),
            (62, "x86_64", b"\0libc.so\0", "musllinux_1_2"),
        ):
            library = pathlib.Path(self.folder.name) / f"{machine}.so"
            library.write_bytes(head + number.to_bytes(2, "little") + names)
            self.assertEqual(build_wheel.platform_of(library), f"{floor}_{machine}")
            wheel = build_wheel.write_wheel(library, self.folder.name)
            self.assertTrue(wheel.name.endswith(f"-py3-none-{floor}_{machine}.whl"))
        for octets in (b"", b"text", head + bytes(2) + needed):
            library.write_bytes(octets)
            with self.assertRaisesRegex(SystemExit, "no library"):
                build_wheel.platform_of(library)
        for names in (b"", b"\0libc.so.6", needed + b"libc.so\0"):
            library.write_bytes(head + (62).to_bytes(2, "little") + names)
            with self.assertRaisesRegex(SystemExit, "glibc, musl"):
                build_wheel.platform_of(library)

    def test_without_a_library_it_is_for_every_platform(self):
        wheel = build_wheel.write_wheel(None, self.folder.name)
        self.assertTrue(wheel.name.endswith("-py3-none-any.whl"))
        with zipfile.ZipFile(wheel) as archive:
            self.assertFalse([name for name in archive.namelist() if ".so" in name])
            name = next(entry for entry in archive.namelist() if entry.endswith("/WHEEL"))
            self.assertIn(b"Root-Is-Purelib: true\n", archive.read(name))

    def test_record(self):
        with zipfile.ZipFile(self.wheel) as archive:
            self.assertIsNone(archive.testzip())
            names = archive.namelist()
            record = next(name for name in names if name.endswith("/RECORD"))
            rows = list(csv.reader(io.StringIO(archive.read(record).decode())))
            self.assertEqual(sorted(row[0] for row in rows), sorted(names))
            for name, digest, size in rows:
                if name == record:
                    self.assertEqual((digest, size), ("", ""))
                    continue
                content = archive.read(name)
                wanted = base64.urlsafe_b64encode(hashlib.sha256(content).digest())
                self.assertEqual(digest, "sha256=" + wanted.rstrip(b"=").decode())
                self.assertEqual(int(size), len(content))

    def test_contents(self):
        with zipfile.ZipFile(self.wheel) as archive:
            names = set(archive.namelist())
            self.assertEqual(
                archive.read("assay/libassay.so.0"), pathlib.Path(real_library()).read_bytes()
            )
        sources = {str(path.relative_to(BINDING)) for path in (BINDING / "assay").rglob("*.py")}
        self.assertLessEqual(sources, names)


if __name__ == "__main__":
    unittest.main()
