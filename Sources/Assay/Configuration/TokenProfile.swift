/// One entry of `tokens`: the issuers whose tokens are accepted, and the requirements for these
/// tokens (docs/spec/access-tokens.md §1, docs/spec/apple-id.md §1).
struct TokenProfile: Sendable {
  /// The kind of token, which decides the required token claims.
  enum Kind: Int, Sendable {
    case cognitoAccess, jwt, appleId

    var name: StaticString {
      switch self {
      case .cognitoAccess: return "cognito-access"
      case .jwt: return "jwt"
      case .appleId: return "apple-id"
      }
    }
  }

  /// The requirement that an identity token contains the nonce that the host issued (AID-4).
  enum Nonce: Int, Sendable { case required, ifSupported, none }
  /// The form in which the app passed the nonce to Apple.
  enum NonceForm: Int, Sendable { case any, plain, sha256 }

  /// A text that applies to one issuer.
  final class OfIssuer: Sendable {
    let issuer: Text
    let text: Text

    init(issuer: Text, text: Text) {
      self.issuer = issuer
      self.text = text
    }
  }

  var kind = Kind.appleId
  /// The accepted issuers, compared byte for byte (TOK-2); fixed for the profile `apple-id`.
  var issuers: [Text] = ["https://appleid.apple.com"]
  /// Issuers whose tokens are verified with the key set of another issuer (TOK-32).
  var issuerAliases: [OfIssuer] = []
  var algorithm = TokenAlgorithm.rs256
  var clients: [Text] = []
  /// The accepted audiences. If empty, which only `cognito-access` allows, `aud` is reported but
  /// not compared (TOK-31).
  var audiences: [Text] = []
  var nonce = Nonce.required
  var nonceForm = NonceForm.any
  var notificationMaxAgeMs: Int64 = 604_800_000
  /// Required scopes; a token must have all of them.
  var scopes: [Text] = []
  /// Accepted groups; a token must have one of them, unless the list is empty.
  var groups: [Text] = []
  /// The accepted values of `typ`, in lower case.
  var types: [Text] = ["jwt", "at+jwt"]
  /// The greatest age of a token in milliseconds; `nil` for any age.
  var maxAgeMs: Int64? = nil
  /// The configured URLs of key sets.
  var jwksUris: [OfIssuer] = []
  var keysetMaxAgeMs: Int64 = 86_400_000
  var keysetHardMaxAgeMs: Int64 = 604_800_000
  var tokenBytes = 16_384

  /// A reference to a profile, by which verified tokens share it without a copy of its lists.
  final class Shared: Sendable {
    let profile: TokenProfile

    init(_ profile: TokenProfile) { self.profile = profile }
  }

  /// Returns the issuer whose key set verifies tokens of `issuer` (TOK-32).
  func keysIssuer(of issuer: Text) -> Text {
    issuerAliases.first { $0.issuer == issuer }?.text ?? issuer
  }

  /// Returns the URL of the issuer's key set; `nil` if it is neither configured nor implied by
  /// the kind.
  func jwksUri(of issuer: Text) -> OfIssuer? {
    if let configured = jwksUris.first(where: { $0.issuer == issuer }) { return configured }
    let path: StaticString
    switch kind {
    case .cognitoAccess: path = "/.well-known/jwks.json"
    case .appleId: path = "/auth/keys"
    case .jwt: return nil
    }
    return OfIssuer(issuer: issuer, text: Text(issuer.utf8 + Text(stringLiteral: path).utf8))
  }

  /// Returns a value of `typ` in lower case and without `application/` (TOK-15).
  static func plainType(_ type: Text) -> Text {
    let prefix: Text = "application/"
    let lower = type.asciiLowercased
    guard lower.utf8.starts(with: prefix.utf8) else { return lower }
    return Text(Array(lower.utf8.dropFirst(prefix.count)))
  }
}

extension Configuration {
  /// Returns the profile with this issuer; there is at most one.
  func profile(of issuer: Text) -> TokenProfile.Shared? {
    tokens.first { $0.profile.issuers.contains(issuer) }
  }

  /// The profile `apple-id`; `nil` if Sign in with Apple is not configured.
  var appleProfile: TokenProfile.Shared? { tokens.first { $0.profile.kind == .appleId } }
}
