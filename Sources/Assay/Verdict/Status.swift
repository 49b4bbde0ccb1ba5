/// The outcome of a call: a family in the low 8 bits, a detail above them.
///
/// The code 0 means that everything was verified. `StatusTable.swift`, with names, messages,
/// hints and HTTP statuses, is generated from `statuses.tsv`
/// (docs/spec/documents-and-exchanges.md §1).
public struct Status: Equatable, Sendable {
  /// The family and the detail, as `family | detail << 8`; equal to the constant in the C header.
  public let code: Int32

  /// The families, which never change. Code that uses Assay branches on families only.
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

  /// Creates the status of a code that was received over the C interface.
  public init(code: Int32) { self.code = code }

  /// Verified; every check passed.
  public static let ok = Status(code: 0)

  /// The family of this status; `internal` for a family that does not exist.
  public var family: Family { Family(rawValue: code & 0xff) ?? .internal }

  /// The name, such as "rejected.chain.untrusted-root"; "unknown" for a code without a row in the
  /// status table.
  public var name: StaticString {
    if code == 0 { return "ok" }
    return StatusTable.entry(code)?.name ?? "unknown"
  }

  /// A sentence about what happened; empty for `ok` and for a code without a row in the table.
  public var message: StaticString { StatusTable.entry(code)?.message ?? "" }

  /// A sentence about what an operator should do; empty where `message` is.
  public var hint: StaticString { StatusTable.entry(code)?.hint ?? "" }

  /// The retry class: "never", "later", "same-once", "other-environment" or "after-config"
  /// (DOC-4); empty where `message` is.
  public var retryClass: StaticString { StatusTable.entry(code)?.retryClass ?? "" }

  /// The HTTP status that a back end should return to its own client: 200 for `ok`, 500 for a
  /// fault of the back end; derived from the family for a code without a row in the table.
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

  /// The status after this one in the order of family and detail; `ok` after the last one and
  /// after a code of an unknown family.
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
