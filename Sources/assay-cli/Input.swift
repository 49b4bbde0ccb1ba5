import Assay
import Foundation

/// Files and times as they stand on a command line.
enum Input {
  /// A file's bytes, or standard input for "-". Nothing longer than 64 MiB.
  static func read(_ path: String) throws -> [UInt8] {
    if path == "-" { return Array(FileHandle.standardInput.readDataToEndOfFile()) }
    let url = URL(fileURLWithPath: path)
    var isDirectory: ObjCBool = false
    guard unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory)
    else {
      throw Problem("there is no file \(path)")
    }
    if isDirectory.boolValue { throw Problem("\(path) is a folder, not a file") }
    guard let data = try? Data(contentsOf: url) else {
      throw Problem("\(path) cannot be read")
    }
    if data.count > 64 << 20 { throw Problem("\(path) is longer than 64 MiB") }
    return Array(data)
  }

  /// Evidence: a line end that an editor put behind the text does not count. What
  /// begins as DER or CBOR is no text.
  static func readEvidence(_ path: String) throws -> [UInt8] {
    var bytes = try read(path)
    if let first = bytes.first, first == 0x30 || first >= 0x80 { return bytes }
    if bytes.last == 0x0a { bytes.removeLast() }
    if bytes.last == 0x0d { bytes.removeLast() }
    return bytes
  }

  /// Milliseconds since 1970, "now", or an ISO 8601 date.
  static func time(_ text: String?, option: String) throws -> Int64 {
    guard let text, text != "now" else { return Int64(Date().timeIntervalSince1970 * 1000) }
    if let number = Int64(text) { return number }
    let formatter = ISO8601DateFormatter()
    for options in [
      ISO8601DateFormatter.Options.withInternetDateTime, [.withFullDate],
    ] {
      formatter.formatOptions = options
      if let date = formatter.date(from: text) {
        return Int64(date.timeIntervalSince1970 * 1000)
      }
    }
    throw Problem(
      "\(option) \(text): give milliseconds since 1970, or a date like 2026-01-31T12:00:00Z")
  }

  /// A verifier from a configuration file; says where the file is wrong.
  static func verifier(_ path: String) throws -> Verifier {
    let (verifier, document) = Verifier.make(try read(path))
    guard let verifier else {
      let place = document.text("error.at").map { " at " + $0 } ?? ""
      let hint = document.text("error.hint").map { "\n  hint: " + $0 } ?? ""
      throw Problem(
        "\(path) is no usable configuration: \(document.status.name)\(place): "
          + (document.text("error.message") ?? "") + hint)
    }
    return verifier
  }

  /// Octets as hexadecimal digits, in either case; colons between them do not count.
  static func octets(_ text: String?, option: String) throws -> [UInt8]? {
    guard let text else { return nil }
    let digits = text.filter { $0 != ":" }.compactMap(\.hexDigitValue)
    guard digits.count == text.filter({ $0 != ":" }).count, digits.count % 2 == 0,
      !digits.isEmpty
    else { throw Problem("\(option) \(text): give hexadecimal digits, two an octet") }
    return stride(from: 0, to: digits.count, by: 2).map {
      UInt8(digits[$0] << 4 | digits[$0 + 1])
    }
  }
}
