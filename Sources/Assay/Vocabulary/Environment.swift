/// The environment in which a purchase was made. Names are compared byte for byte
/// (docs/spec/storekit-jws.md §10).
public enum Environment: Sendable, Equatable, CaseIterable {
  case production
  case sandbox
  case xcode
  case localTesting

  /// The hint for evidence of this environment if the verifier does not accept it.
  var refusal: Explanation {
    switch self {
    case .production: return .ofProduction
    case .sandbox: return .ofSandbox
    case .xcode, .localTesting: return .ofXcode
    }
  }

  var name: StaticString {
    switch self {
    case .production: return "Production"
    case .sandbox: return "Sandbox"
    case .xcode: return "Xcode"
    case .localTesting: return "LocalTesting"
    }
  }

  init?(_ text: Text) {
    for environment in Environment.allCases where text.utf8[...].elementsEqual(environment.name) {
      self = environment
      return
    }
    return nil
  }
}
