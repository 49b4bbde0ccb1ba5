#if canImport(Glibc)
  import Glibc
#endif

/// The switch that `tools/mutants.py` builds into its copy of the sources: the
/// one check that is taken out of this process. No part of the library.
public enum Mutants {
  /// The number of the removed check; 0 removes none. The unit tests get it from
  /// the environment, the harness sets it after a fork.
  nonisolated(unsafe) public static var removed: Int32 = fromEnvironment

  private static var fromEnvironment: Int32 {
    guard let text = unsafe getenv("ASSAY_MUTANT") else { return 0 }
    return unsafe atoi(text)
  }

  @inline(never)
  static func off(_ number: Int32) -> Bool { unsafe number == removed }
}
