/// The class of a request by its triage, in the order of the report and of the chart's stack:
/// requests that deserve work are at the bottom.
enum RequestClass: Int, CaseIterable {
  case candidate, jws, unconfirmed, repeated, foreign, cracker, malformed, unsupported

  static let count = allCases.count

  /// Returns the class of a `triage.category`.
  init(category: ArraySlice<UInt8>) {
    self = RequestClass.named.first { category.elementsEqual($0.name) }?.value ?? .unsupported
  }

  private static let named: [(name: [UInt8], value: RequestClass)] =
    allCases.filter { $0 != .unsupported }.map { (Array($0.name.utf8), $0) }

  var name: String {
    switch self {
    case .candidate: return "candidate"
    case .jws: return "jws"
    case .unconfirmed: return "unconfirmed"
    case .repeated: return "repeated"
    case .foreign: return "foreign"
    case .cracker: return "cracking-tool"
    case .malformed: return "malformed"
    case .unsupported: return "unsupported"
    }
  }

  /// The meaning in one line.
  var meaning: String {
    switch self {
    case .candidate: return "a receipt that may be ours"
    case .jws: return "a StoreKit 2 text that may be ours"
    case .unconfirmed: return "may be ours, but something is odd about it"
    case .repeated: return "names a purchase that this file named before"
    case .foreign: return "of another app, or a product not in the catalogue"
    case .cracker: return "made by a cracking tool: no receipt in it"
    case .malformed: return "damaged, empty or not an encoding of anything"
    case .unsupported: return "neither a receipt nor a StoreKit text"
    }
  }

  /// The work that a class needs.
  enum Work: Int, CaseIterable {
    /// None: the result is known without lookup, cryptography and traffic.
    case nothing
    /// One read of the ledger.
    case lookup
    /// Offline verification.
    case verification
  }

  var work: Work {
    switch self {
    case .candidate, .jws, .unconfirmed: return .verification
    case .repeated: return .lookup
    case .foreign, .cracker, .malformed, .unsupported: return .nothing
    }
  }
}
