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

  private static let texts = ExplanationTable().classes

  /// The meaning in one line.
  var meaning: String { RequestClass.texts[name]?.meaning ?? "" }

  /// What the class is, in sentences for a reader who knows neither receipts nor signatures.
  var explanation: String { RequestClass.texts[name]?.explanation ?? "" }

  /// The work that a class needs.
  enum Work: Int, CaseIterable {
    /// None: the result is known without lookup, cryptography and traffic.
    case nothing
    /// One read of the ledger.
    case lookup
    /// Offline verification.
    case verification

    /// What the prices of the products that its requests name amount to.
    var worth: String {
      switch self {
      case .nothing: return "lost where nobody looks at what is sent"
      case .lookup: return "given out again where nothing is remembered"
      case .verification: return "revenue, as far as verification confirms it"
      }
    }
  }

  var work: Work {
    switch self {
    case .candidate, .jws, .unconfirmed: return .verification
    case .repeated: return .lookup
    case .foreign, .cracker, .malformed, .unsupported: return .nothing
    }
  }
}
