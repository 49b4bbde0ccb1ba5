"""Test the runner over the model as a ledger: a correct one passes, and each fault is found."""

import contextlib
import io
import pathlib
import tempfile
import unittest

import engines
import history
import races
import scenes


class Runs(unittest.TestCase):
    """Runs with real processes that are killed."""

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
        # The fault granted-twice needs a claim that meets a running lease; only the scenes test it.
        # A lease lasts a quarter of a second here, and on a busy machine no claim comes in time.
        for fault in ("lost-claim", "beyond-limit", "plan-revived", "paid-in-vain", "left-behind"):
            with self.subTest(fault=fault):
                lines, good, kept = self.race(f"pretended?{fault}", 4000)
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


class Scenes(unittest.TestCase):
    """Tests of the named races."""

    def scene(self, engine, *numbers):
        suite = races.Suite("quiet")
        only = ["--only", *map(str, numbers)] if numbers else []
        with engines.scratch() as place, contextlib.redirect_stdout(io.StringIO()):
            scenes.run(suite, place, scenes.arguments(["--engine", engine, *only]))
        return suite.passed, suite.failed

    def test_sound(self):
        self.assertEqual(self.scene("pretended"), (len(scenes.SCENES) + 1, 0))

    def test_faults(self):
        for fault, number in [("beyond-limit", 1), ("beyond-limit", 2), ("lost-claim", 4),
                              ("granted-twice", 6), ("purchase-revived", 8),
                              ("granted-twice", 12), ("used-twice", 13),
                              ("counter-replayed", 14), ("key-stolen", 15), ("swept-twice", 19),
                              ("linked-both-ways", 20), ("told-twice", 27),
                              ("told-nobody", 28)]:
            with self.subTest(fault=fault, scene=number):
                self.assertEqual(self.scene(f"pretended?{fault}", number), (0, 2))


if __name__ == "__main__":
    unittest.main()
