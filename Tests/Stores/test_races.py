"""The runner, over a ledger that the model answers: sound ones pass, each fault is found."""

import pathlib
import tempfile
import unittest

import engines
import history
import races


class Runs(unittest.TestCase):
    """Processes that are really started and killed."""

    def race(self, engine, operations=1000):
        with tempfile.TemporaryDirectory() as kept, engines.scratch() as place:
            self.kept = pathlib.Path(kept)
            options = races.arguments([
                "--engine", engine, "--operations", str(operations), "--workers", "4", "--kills",
                "6", "--seed", "7", "--keep", kept])
            lines, good = races.run(place, options)
            again = [history.check(history.load(sorted(folder.glob("*.jsonl"))))
                     for folder in self.kept.iterdir()]
        return lines, good, again

    def test_sound(self):
        lines, good, kept = self.race("pretended")
        self.assertTrue(good, lines)
        self.assertIn("6 killed", lines[0])
        self.assertEqual(kept, [])

    def test_faults(self):
        for fault in ("lost-claim", "granted-twice", "beyond-limit", "plan-revived"):
            with self.subTest(fault=fault):
                lines, good, kept = self.race(f"pretended?{fault}", 2000)
                self.assertFalse(good, lines)
                self.assertIn("seed 7", lines[-1], lines)
                self.assertNotEqual(kept[0], [])

    def test_process_that_fails(self):
        lines, good, _ = self.race("pretended?no-such-fault", 50)
        self.assertFalse(good)
        self.assertIn("no-such-fault", lines[0])
        with tempfile.TemporaryDirectory() as folder:
            crew = races.Crew(pathlib.Path(folder), "pretended:/nowhere", 7, {})
            crew.hire()
            crew.running[0][0].wait(60)
            with self.assertRaisesRegex(races.RaceError, "FileNotFoundError"):
                crew.count()


if __name__ == "__main__":
    unittest.main()
