"""The choice of the library to load, and the text of an import error."""
import copy
import os
import pathlib
import pickle
import shutil
import subprocess
import sys
import tempfile
import unittest

import assay
from assay import _library
from assay.exchange import OwnedExchange
from assay.keyset import OwnedKeyset

PACKAGE = pathlib.Path(assay.__file__).parent


def real_library():
    """Return the path of the library that this process has loaded."""
    for line in pathlib.Path("/proc/self/maps").read_text().splitlines():
        if "libassay.so" in line:
            return line.split(None, 5)[5]
    raise AssertionError("libassay is not mapped")


class HandleTest(unittest.TestCase):
    def test_an_owner_of_memory_cannot_be_copied(self):
        """Check that a handle cannot be copied, because the copy would free it twice."""
        verifier = assay.Verifier({"apps": [{"bundleId": "com.example.app", "appAppleId": 1}]})
        owners = [verifier._handle, verifier.document._handle, OwnedKeyset(), OwnedExchange()]
        for owner in owners:
            for copied in (copy.copy, copy.deepcopy, pickle.dumps):
                with self.subTest(owner=type(owner).__name__, copied=copied.__name__), \
                        self.assertRaisesRegex(TypeError, "one owner"):
                    copied(owner)
        for shared in (copy.copy(verifier), copy.deepcopy(verifier)):
            self.assertIs(shared, verifier)


class LoadingTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.package = self.folder / "assay"
        ignored = shutil.ignore_patterns("__pycache__", "libassay*")
        shutil.copytree(PACKAGE, self.package, ignore=ignored)

    def run_python(self, code, **environment):
        inherited = {name: value for name, value in os.environ.items()
                     if name not in ("ASSAY_LIBRARY", "LD_LIBRARY_PATH")}
        return subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=60,
            cwd=self.folder, env={**inherited, "PYTHONPATH": str(self.folder), **environment},
        )

    def loaded(self, **environment):
        done = self.run_python("import assay; print(assay.library_path())", **environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

    def import_error(self, **environment):
        done = self.run_python("import assay", **environment)
        self.assertEqual(done.returncode, 1)
        self.assertIn("ImportError: assay", done.stderr)
        return done.stderr

    def test_inside_the_package_comes_first(self):
        inside = self.package / "libassay.so.0"
        shutil.copy(real_library(), inside)
        self.assertEqual(self.loaded(), str(inside))
        self.assertEqual(self.loaded(ASSAY_LIBRARY="/nowhere/libassay.so.0"), str(inside))

    def test_named_by_the_variable(self):
        self.assertEqual(self.loaded(ASSAY_LIBRARY=real_library()), real_library())

    def test_found_by_the_loader(self):
        shutil.copy(real_library(), self.folder / "libassay.so.0")
        self.assertEqual(self.loaded(LD_LIBRARY_PATH=str(self.folder)), "libassay.so.0")

    def test_a_named_library_is_never_passed_over(self):
        shutil.copy(real_library(), self.folder / "libassay.so.0")
        text = self.import_error(
            ASSAY_LIBRARY="/nowhere/libassay.so.0", LD_LIBRARY_PATH=str(self.folder)
        )
        self.assertIn("/nowhere/libassay.so.0, named by ASSAY_LIBRARY: no such file", text)

    def test_error_lists_everything_tried(self):
        text = self.import_error()
        self.assertIn(f"{self.package}/libassay.so.0, inside the package: no such file", text)
        self.assertIn("libassay.so.0, by the system's loader (ASSAY_LIBRARY is not set):", text)
        self.assertIn("cannot open shared object file", text)
        self.assertIn("set ASSAY_LIBRARY", text)

    def test_not_a_library(self):
        (self.package / "libassay.so.0").write_text("text")
        text = self.import_error()
        self.assertRegex(text, "inside the package: .*(too short|invalid ELF header)")

    def test_a_library_of_another_machine(self):
        """Check the error for a library of another machine, which the loader reports as missing."""
        octets = bytearray(pathlib.Path(real_library()).read_bytes())
        octets[18:20] = (0xF3).to_bytes(2, "little")
        (self.package / "libassay.so.0").write_bytes(octets)
        text = self.import_error()
        self.assertIn(f"built for another machine than {os.uname().machine}", text)

    def test_the_system_s_by_name(self):
        shutil.copy(real_library(), self.folder / "libassay.so.0")
        found = self.loaded(ASSAY_LIBRARY="system", LD_LIBRARY_PATH=str(self.folder))
        self.assertEqual(found, "libassay.so.0")
        self.assertIn("by the system's loader, as ASSAY_LIBRARY says:",
                      self.import_error(ASSAY_LIBRARY="system"))

    def test_another_library(self):
        text = self.import_error(ASSAY_LIBRARY="libc.so.6")
        self.assertIn("not libassay", text)
        self.assertIn("assay_version_number", text)

    def test_an_older_library(self):
        needed = _library.ASSAY_VERSION_NUMBER
        self.addCleanup(setattr, _library, "ASSAY_VERSION_NUMBER", needed)
        _library.ASSAY_VERSION_NUMBER = 10**8
        with self.assertRaisesRegex(OSError, "it is libassay .* is needed"):
            _library.open_library(real_library())

    def test_a_library_of_another_abi(self):
        self.addCleanup(setattr, _library, "ASSAY_ABI", _library.ASSAY_ABI)
        _library.ASSAY_ABI = 77
        said = f"it has ABI {assay.build_info()['abi']}, but ABI 77 is needed"
        with self.assertRaisesRegex(OSError, said):
            _library.open_library(real_library())
        for info, wanted in ((b'{"abi":3}', 3), (b'{"abi": 12 ,"a":1}', 12),
                             (b'{"a":1,"abi":0,"b":2}', 0), (b"{}", -1), (b"", -1)):
            self.assertEqual(_library.abi_number(info), wanted)

    def test_import_is_light(self):
        """Check that modules that cost more than the package itself are not imported."""
        done = self.run_python(
            "import sys; before = set(sys.modules); import assay;"
            "v = assay.Verifier({'apps': [{'bundleId': 'a', 'appAppleId': 1}]});"
            "v.verify('transaction', 'a.b.c'); print(*sorted(set(sys.modules) - before))",
            ASSAY_LIBRARY=real_library(),
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        loaded = set(done.stdout.split())
        self.assertIn("assay.facts", loaded)
        self.assertFalse(loaded & {"assay.attest", "assay.exchange", "assay.receipts"})
        self.assertFalse(loaded & {"json", "re", "typing", "collections", "datetime", "enum"})

    def test_version(self):
        self.assertEqual(assay.__version__, _library.ASSAY_VERSION)
        self.assertRegex(assay.library_version(), r"^\d+\.\d+\.\d+$")
        self.assertIsInstance(assay.build_info(), dict)


if __name__ == "__main__":
    unittest.main()
