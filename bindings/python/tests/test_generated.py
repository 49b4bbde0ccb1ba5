"""What is generated from the header has all of it, from a strict reader. That no file has
drifted, tools/generate.py --check says."""
import pathlib
import re
import sys
import unittest

from assay import _prototypes
from case_table import ROOT

sys.path.insert(0, str(ROOT))
from tools.contract import header

HEADER = (ROOT / "include" / "assay.h").read_text()


class GeneratedTest(unittest.TestCase):
    def test_every_function_of_the_header_is_called(self):
        """assay_doc_status alone is not: the producing call gives the same."""
        package = pathlib.Path(_prototypes.__file__).parent
        text = "".join(path.read_text() for path in package.glob("*.py")
                       if path.name != "_prototypes.py")
        called = set(re.findall(r"functions\.(assay_\w+)", text))
        declared = {entry.name for entry in header.read(HEADER).functions}
        self.assertEqual(declared - called, {"assay_doc_status"})


class HeaderReaderTest(unittest.TestCase):
    def test_what_it_does_not_know_ends_the_run(self):
        for text in (
            "typedef union assay_x assay_x;",
            "struct assay_x { int a; };",
            "typedef void (*assay_callback)(int);",
            "int assay_undeclared(void);",
            "enum { ASSAY_A, ASSAY_B };",
            "#define ASSAY_A (1 << 3)\n",
            "ASSAY_API int assay_x(int);",
            "#if 1\n",
        ):
            with self.subTest(text=text), self.assertRaises(SystemExit):
                header.read(text)

    def test_what_it_knows(self):
        found = header.read(
            "#ifndef GUARD_H\n#define GUARD_H\n#define ASSAY_NULLABLE _Nullable\n"
            "#ifdef __cplusplus\nextern \"C\" {\n#endif\n"
            "/** A thing; with a semicolon. */\ntypedef struct assay_thing assay_thing;\n"
            "/** Make; one. */\nASSAY_API const char *\n  assay_make(const assay_thing *const *a,\n"
            "  size_t n, assay_thing ** ASSAY_NULLABLE out);\n#endif\n"
        )
        (function,) = found.functions
        self.assertEqual((function.name, function.result), ("assay_make", "const char*"))
        self.assertEqual(
            [(entry.type, entry.name) for entry in function.parameters],
            [("const assay_thing*const*", "a"), ("size_t", "n"), ("assay_thing**", "out")],
        )
        self.assertEqual(function.doc, "Make; one.")
        self.assertEqual(found.handles, ["assay_thing"])


if __name__ == "__main__":
    unittest.main()
