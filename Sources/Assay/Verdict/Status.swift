/// The outcome of a call: a family in the low 8 bits, a detail above them.
///
/// 0 means that everything was verified. Names, sentences, hints and HTTP
/// statuses are in one table (`statuses.tsv`), from which `StatusTable.swift`
/// is generated. Source: docs/spec/documents-and-exchanges.md §1.
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

  /// What happened; empty for `ok` and for a code that is in no table.
  public var message: StaticString { StatusTable.entry(code)?.message ?? "" }

  /// What the operator does, whatever the evidence; empty as `message` is.
  public var hint: StaticString { StatusTable.entry(code)?.hint ?? "" }

  /// "never", "later", "same-once", "other-environment" or "after-config" (DOC-4); empty as
  /// `message` is.
  public var retryClass: StaticString { StatusTable.entry(code)?.retryClass ?? "" }

  /// What a back end answers its own client: 200 for `ok`, 500 for a fault of its own, and by
  /// family for a code that is in no table.
  public var httpStatus: Int {
    if let entry = StatusTable.entry(code) { return Int(entry.http) }
    switch family {
    case .ok: return code == 0 ? 200 : 500
    case .rejected, .malformed, .unsupported: return 400
    case .tooLarge: return 413
    case .unavailable: return 503
    case .misuse, .config, .internal, .pending: return 500
    }
  }

  /// The status after this one, by family and detail; `ok` after the last, and after a code of no
  /// family.
  public var next: Status {
    var (family, detail) = (code & 0xff, code >> 8)
    while family <= 9 {
      while detail < StatusTable.details(family) {
        detail = max(detail, 0) &+ 1
        let next = family | detail << 8
        if StatusTable.entry(next) != nil { return Status(code: next) }
      }
      (family, detail) = (family &+ 1, 0)
    }
    return .ok
  }
}
