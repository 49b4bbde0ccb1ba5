/// The environment that a transaction id implies: id = pod × 10^13 + n (docs/spec/receipts.md
/// §2.8).
enum IdEnvironment: Sendable, Equatable {
  case sandbox
  case production
  case unknown

  /// Returns the environment of an id: pods 100 and 200 are the sandbox, 1 … 99 production; any
  /// other id, including those of 13 digits or fewer, implies none (RCP-27).
  static func of(_ id: ArraySlice<UInt8>) -> IdEnvironment {
    let pod = pod(of: id)
    guard pod.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), let first = pod.first else {
      return .unknown
    }
    switch pod.count {
    case 3: return pod.elementsEqual("100") || pod.elementsEqual("200") ? .sandbox : .unknown
    case 1, 2: return first == 0x30 ? .unknown : .production
    default: return .unknown
    }
  }

  /// Returns the id without its last 13 digits; empty if it has no more.
  static func pod(of id: ArraySlice<UInt8>) -> ArraySlice<UInt8> { id.dropLast(13) }

  /// Whether the text is 1 to 20 digits, as every id is (RCP-13, APR-25).
  static func isId(_ id: ArraySlice<UInt8>) -> Bool {
    guard !id.isEmpty, id.count <= 20 else { return false }
    for digit in id where digit < 0x30 || digit > 0x39 { return false }
    return true
  }

  /// Returns the id; `nil` if it has 13 digits or fewer and is therefore not unique (RPL-3,
  /// APR-23).
  static func unique(_ id: ArraySlice<UInt8>) -> Text? {
    id.count > 13 ? Text(Array(id)) : nil
  }

  var environment: Environment? {
    switch self {
    case .sandbox: return .sandbox
    case .production: return .production
    case .unknown: return nil
    }
  }
}
