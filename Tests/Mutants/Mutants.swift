#if canImport(Glibc)
  import Glibc
#endif

/// The switch that `tools/mutants.py` builds into its copy of the sources: the
/// one check that is removed from this process. Not part of the library.
public enum Mutants {
  /// The number of the removed check; 0 removes none. The unit tests get it from
  /// the environment, the harness sets it after a fork.
  nonisolated(unsafe) public static var removed: Int32 = fromEnvironment

  /// A byte for each number, 1 from the first time that its check was asked; nil
  /// where no one wants to know.
  nonisolated(unsafe) public static var reached: UnsafeMutablePointer<UInt8>? = fileFromEnvironment

  private static var fromEnvironment: Int32 {
    guard let text = unsafe getenv("ASSAY_MUTANT") else { return 0 }
    return unsafe atoi(text)
  }

  /// The file that the tool made, of one byte for each number and one for 0: what
  /// is written there outlives a process that ends badly.
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

  /// The status of a refusal, or another one.
  @inline(never)
  static func named(_ number: Int32, _ status: Status) -> Status {
    off(number) ? .internalAssayBug : status
  }

  /// A row of a table, nil where it is taken out.
  static func row<Row>(_ number: Int32, _ row: Row) -> Row? { off(number) ? nil : row }
}
