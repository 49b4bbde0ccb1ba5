/// The outcome of a call: a family in the low 8 bits, a detail above them.
///
/// 0 means that everything was verified. Names, sentences, hints and HTTP
/// statuses are in one table (`statuses.tsv`), from which `StatusTable.swift`
/// is generated. Source: docs/spec/statuses.md, docs/spec/documents-and-exchanges.md §1.
public struct Status: Equatable, Sendable {
  /// Family | detail << 8, as in the C header.
  public let code: Int32

  /// The frozen families. Code that uses Assay branches on these alone.
  public enum Family: Int32, Sendable {
    case ok = 0
    case rejected = 1
    case malformed = 2
    case unsupported = 3
    case tooLarge = 4
    case misuse = 5
    case config = 6
    case unavailable = 7
    case `internal` = 8
    case pending = 9
  }

  /// A status by its code, as it came over the C boundary.
  public init(code: Int32) { self.code = code }

  /// Verified; every check passed.
  public static let ok = Status(code: 0)

  /// The family of this status; a family that does not exist is `internal`.
  public var family: Family { Family(rawValue: code & 0xff) ?? .internal }

  /// "rejected.chain.untrusted-root"; "unknown" for a code that is in no table.
  public var name: StaticString {
    if code == 0 { return "ok" }
    return StatusTable.entry(code)?.name ?? "unknown"
  }
}
