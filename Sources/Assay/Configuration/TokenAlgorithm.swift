/// The signature algorithm of a profile's tokens: exactly one, never a list (TOK-12).
enum TokenAlgorithm: Sendable {
  case rs256, es256

  var name: StaticString {
    switch self {
    case .rs256: return "RS256"
    case .es256: return "ES256"
    }
  }

  init?(_ name: JSONValue) {
    if name.isText(TokenAlgorithm.rs256.name) {
      self = .rs256
    } else if name.isText(TokenAlgorithm.es256.name) {
      self = .es256
    } else {
      return nil
    }
  }
}
