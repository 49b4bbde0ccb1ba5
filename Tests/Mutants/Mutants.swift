#if canImport(Glibc)
  import Glibc
#endif

/// The switch that `tools/mutants.py` builds into its copy of the sources: the one check that is
/// removed in this process. Not part of the library.
public enum Mutants {
  /// The number of the removed check; 0 removes none. The unit tests read it from the environment,
  /// the harness sets it after a fork.
  nonisolated(unsafe) public static var removed: Int32 = fromEnvironment

  /// A byte for each number, 1 after its check was reached; `nil` if that is not recorded.
  nonisolated(unsafe) public static var reached: UnsafeMutablePointer<UInt8>? = fileFromEnvironment

  private static var fromEnvironment: Int32 {
    guard let text = unsafe getenv("ASSAY_MUTANT") else { return 0 }
    return unsafe atoi(text)
  }

  /// The file that the tool made, with one byte for each number and one for 0: its content survives
  /// a process that ends abnormally.
  private static var fileFromEnvironment: UnsafeMutablePointer<UInt8>? {
    guard let path = unsafe getenv("ASSAY_MUTANTS_REACHED") else { return nil }
    let file = unsafe open(path, O_RDWR)
    let size = lseek(file, 0, SEEK_END)
    guard
      let bytes = unsafe mmap(nil, Int(size), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0),
      unsafe bytes != MAP_FAILED
    else { return nil }
    return unsafe bytes.assumingMemoryBound(to: UInt8.self)
  }

  @inline(never)
  static func off(_ number: Int32) -> Bool {
    unsafe reached?[Int(number)] = 1
    return unsafe number == removed
  }

  /// Returns the status of a refusal, or another one if this number is removed.
  @inline(never)
  static func named(_ number: Int32, _ status: Status) -> Status {
    off(number) ? .internalAssayBug : status
  }

  /// Returns a row of a table; `nil` if it is removed.
  static func row<Row>(_ number: Int32, _ row: Row) -> Row? { off(number) ? nil : row }
}
