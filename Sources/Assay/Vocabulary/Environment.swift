/// Where a purchase was made. Compared byte for byte (storekit-jws.md §10).
public enum Environment: Sendable, Equatable, CaseIterable {
  case production
  case sandbox
  case xcode
  case localTesting

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
