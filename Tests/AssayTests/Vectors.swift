import Foundation
import Testing

@testable import Assay

/// Public test data beside the repository on development machines, `../shared/vectors`, which is no
/// part of it. Without the data, the suites report that they are skipped; a skip is never reported
/// as a pass.
enum Vectors {
  /// The folder of the package.
  static let package: String = {
    var parts = #filePath.split(separator: "/").dropLast(3).map { String($0) }
    parts.insert("", at: 0)
    return parts.joined(separator: "/")
  }()
  static let shared = package + "/../shared"
  /// Whether the vectors exist; the suites that need them are skipped otherwise.
  static let arePresent = FileManager.default.fileExists(atPath: shared + "/vectors")
  static let absent: Comment = "../shared/vectors is not there"

  /// Returns a file of the package itself.
  static func packageFile(_ path: String) -> [UInt8]? {
    FileManager.default.contents(atPath: package + "/" + path).map { Array($0) }
  }

  /// Returns a file of `../shared`; `nil` if it does not exist.
  static func file(_ path: String) -> [UInt8]? {
    FileManager.default.contents(atPath: shared + "/" + path).map { Array($0) }
  }

  /// Returns a file of the vectors that a suite needs; prints the skip if it does not exist.
  static func file(_ path: String, for suite: String) -> [UInt8]? {
    if let bytes = file("vectors/" + path) { return bytes }
    print("skipped: \(suite): ../shared/vectors/\(path) is not there")
    return nil
  }

  /// Returns a JSON file of the vectors, read without the limits of evidence.
  static func json(_ path: String, for suite: String) -> JSONValue? {
    file(path, for: suite).flatMap { try? JSONReader.readValue($0, caps: .files).root }
  }

  /// Returns the paths of all files below a folder of `../shared`, in a fixed order.
  static func paths(under folder: String) -> [String] {
    guard let files = FileManager.default.enumerator(atPath: shared + "/" + folder) else {
      return []
    }
    return files.compactMap { ($0 as? String).map { folder + "/" + $0 } }.sorted()
  }

  /// One genuine or invented JWS with its expected result.
  struct Entry {
    let value: JSONValue
    let jws: [UInt8]

    var name: String { value.string("name") }
    var isGenuine: Bool { value.member("genuine")?.boolean == true }
    var config: JSONValue { value.member("config") ?? value }
    var facts: JSONValue { value.member("facts") ?? value }
    var families: [String] { value.member("expect")?.texts("families") ?? [] }
    /// The kind; the vectors have `renewal` for renewal info.
    var kind: StoreKitKind? {
      let name = value.string("kind")
      if name == "renewal" { return .renewalInfo }
      return StoreKitKind.allCases.first { "\($0.name)" == name }
    }
  }

  /// Returns the entries of `jws/manifest.json`; none without the vectors.
  static func jws(for suite: String) -> [Entry] {
    guard let manifest = json("jws/manifest.json", for: suite) else { return [] }
    return manifest.children.compactMap { value in
      file("vectors/jws/" + value.string("file")).map { Entry(value: value, jws: $0) }
    }
  }

  /// Returns the certificates in the header of a compact JWS.
  static func certificates(of jws: [UInt8]) -> [[UInt8]] {
    guard let segment = jws.split(separator: 0x2e).first,
      let header = Base64.decodeURL(segment),
      let list = try? JSONReader.readObject(header).root.member("x5c")
    else { return [] }
    return list.children.compactMap { $0.text.flatMap { Base64.decodeStandard($0.utf8[...]) } }
  }
}

extension JSONCaps {
  /// Caps for files of tests, which are longer than any evidence.
  static let files = JSONCaps(
    depth: 64, members: 1 << 16, elements: 1 << 16, nameBytes: 1 << 12, numberBytes: 1 << 10,
    values: .max)
}

extension JSONValue {
  /// Returns the text of a member; empty if there is none.
  func string(_ name: StaticString) -> String { member(name)?.text?.string ?? "" }

  /// Returns the texts of a member that is an array.
  func texts(_ name: StaticString) -> [String] {
    (member(name)?.children).map { $0.compactMap { $0.text?.string } } ?? []
  }

  /// Returns the value at a dotted path, found by walking the tree.
  func at(_ path: String) -> JSONValue? {
    var value = self
    for step in path.split(separator: ".") {
      let next: JSONValue?
      if value.kind == .array {
        let all = Array(value.children)
        next = Int(step).flatMap { $0 < all.count ? all[$0] : nil }
      } else {
        next = value.children.first { $0.name == Text(String(step)) }
      }
      guard let next else { return nil }
      value = next
    }
    return value
  }
}

extension Document {
  /// The document's tree, read by the strict reader without its limits.
  var tree: JSONValue? { try? JSONReader.readObject(json, caps: .files).root }

  var name: String { "\(status.name)" }
}

/// Returns the bytes of a text.
func utf8(_ text: String) -> [UInt8] { Array(text.utf8) }
