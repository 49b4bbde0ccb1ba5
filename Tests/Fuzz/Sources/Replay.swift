import Glibc

/// Runs every corpus once, in one process, which makes the fixtures once.
enum Replay {
  /// The longest time of any input of a corpus, in milliseconds of a processor. Unoptimised, with
  /// AddressSanitizer, the slowest takes a tenth of it.
  private static let longest: Int64 = 10_000

  /// Reads "TARGET PATH" lines and prints when each begins and ends, so that the last line of a
  /// process that died names the input.
  static func run() {
    var warm: Set<String> = []
    while let line = readLine() {
      let parts = line.split(separator: " ", maxSplits: 1)
      guard let target = Targets.all.first(where: { $0.name == parts.first ?? "" }),
        let path = parts.last.map({ String($0) }), let bytes = octets(of: path)
      else { fatalError("no target or file: \(line)") }
      print("begin \(line)")
      fflush(stdout)
      // The first input of a target makes its fixtures, which belongs to no input.
      if warm.insert(target.name).inserted { target.run(bytes) }
      let begun = used()
      target.run(bytes)
      let taken = used() - begun
      demand(taken < longest, "\(line) took \(taken) ms")
      print("executed \(line) in \(taken) ms")
    }
    fflush(stdout)
  }

  private static func octets(of path: String) -> [UInt8]? {
    guard let file = fopen(path, "rb") else { return nil }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    let count = fread(&bytes, 1, bytes.count, file)
    return Array(bytes[..<count])
  }

  /// Returns what this process has used of processors, in milliseconds.
  private static func used() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }
}
