"""Count expectations and print the counts, for all checks."""
import sys


class Suite:
    """A named list of expectations; prints those that are not met."""

    def __init__(self, name):
        self.name, self.passed, self.failed, self.skipped = name, 0, 0, 0

    def expect(self, met, what, detail=""):
        """Count one expectation; print `detail` if it is not met."""
        if met:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAILED {self.name}: {what}" + (f": {detail}" if detail else ""))
        return bool(met)

    def skip(self, what, why):
        """Count something that could not be checked, and print why."""
        self.skipped += 1
        print(f"skipped {self.name}: {what}: {why}")

    def finish(self, may_be_empty=False):
        """Print the counts and end the process: exit code 1 if an expectation failed, or if none
        passed and `may_be_empty` is false."""
        print(f"suite {self.name}: {self.passed} passed, {self.failed} failed, "
              f"{self.skipped} skipped", flush=True)
        sys.exit(1 if self.failed or not (self.passed or may_be_empty) else 0)
