/// One entry of `tokens`: which tokens of which issuers are accepted
/// (docs/spec/access-tokens.md §1, docs/spec/apple-id.md §1).
struct TokenProfile: Sendable {
  /// Which claims are demanded.
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

  /// What an identity token must carry of the nonce that the host issued (AID-4).
  enum Nonce: Int, Sendable { case required, ifSupported, none }
  /// In which form the app passed it on.
  enum NonceForm: Int, Sendable { case any, plain, sha256 }

  /// A text that belongs to one issuer.
  final class OfIssuer: Sendable {
    let issuer: Text
    let text: Text

    init(issuer: Text, text: Text) {
      self.issuer = issuer
      self.text = text
    }
  }

  var kind = Kind.appleId
  /// Compared byte for byte (TOK-2); that of `apple-id` cannot be another one.
  var issuers: [Text] = ["https://appleid.apple.com"]
  /// Issuers that the keyset of another one serves (TOK-32).
  var sameKeysAs: [OfIssuer] = []
  var algorithm = TokenAlgorithm.rs256
  var clients: [Text] = []
  /// Empty under `cognito-access`: reported, not compared (TOK-31).
  var audiences: [Text] = []
  var nonce = Nonce.required
  var nonceForm = NonceForm.any
  var notificationMaxAgeMs: Int64 = 604_800_000
  /// All of them are demanded.
  var scopes: [Text] = []
  /// One of them is demanded; empty: none.
  var groups: [Text] = []
  /// Accepted values of `typ`, in lower case.
  var types: [Text] = ["jwt", "at+jwt"]
  /// nil: age is not judged.
  var maxAgeMs: Int64? = nil
  /// As configured.
  var jwksUris: [OfIssuer] = []
  var keysetMaxAgeMs: Int64 = 86_400_000
  var keysetHardMaxAgeMs: Int64 = 604_800_000
  var tokenBytes = 16_384

  /// A profile that what it verified keeps, without a copy of its lists.
  final class Shared: Sendable {
    let profile: TokenProfile

    init(_ profile: TokenProfile) { self.profile = profile }
  }

  /// Whose keyset serves tokens of this issuer (TOK-32).
  func keysIssuer(of issuer: Text) -> Text {
    sameKeysAs.first { $0.issuer == issuer }?.text ?? issuer
  }

  /// Where the keys of this issuer are; nil: it was not said.
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

  /// TOK-15: a value of `typ` in lower case, without `application/`.
  static func plainType(_ type: Text) -> Text {
    let prefix: Text = "application/"
    let lower = type.asciiLowercased
    guard lower.utf8.starts(with: prefix.utf8) else { return lower }
    return Text(Array(lower.utf8.dropFirst(prefix.count)))
  }
}

extension Configuration {
  /// The profile that has the issuer; there is at most one.
  func profile(of issuer: Text) -> TokenProfile.Shared? {
    tokens.first { $0.profile.issuers.contains(issuer) }
  }

  /// The profile `apple-id`; nil: Sign in with Apple is not configured.
  var appleProfile: TokenProfile.Shared? { tokens.first { $0.profile.kind == .appleId } }
}
