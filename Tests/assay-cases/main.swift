// The table of cases that the tests of every language run, as JSON on standard output.
// A separate program, so that the command line that people install does without it.
import AssayCases
import CSystem

/// Writes all of it, or exits.
func write(_ bytes: [UInt8], to descriptor: Int32) {
  var rest = bytes[...]
  while !rest.isEmpty {
    let count = unsafe rest.withUnsafeBytes {
      unsafe system_write(descriptor, $0.baseAddress, $0.count)
    }
    guard count > 0 else { exit(2) }
    rest = rest.dropFirst(count)
  }
}

var now = timespec()
unsafe clock_gettime(CLOCK_REALTIME, &now)
do {
  write(try CaseTable.make(now: Int64(now.tv_sec) * 1000).json + [0x0a], to: 1)
} catch {
  write(Array("assay-cases: \(error)\n".utf8), to: 2)
  exit(2)
}
