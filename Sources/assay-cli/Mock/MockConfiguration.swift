import AssayAuthority

/// The file `play-config.json`: the authority's own configuration with test keys for every block
/// that calls Apple (PLY-2).
struct MockConfiguration {
  let authority: MockAuthority
  /// The address of the mocked App Store Server API over TLS; `nil` without --tls.
  let apiBase: String?

  func json() throws -> JSONText {
    let file = authority.path + "/config.json"
    guard let own = JSONTree(try FileSystem.read(file)) else {
      throw Problem("\(file) is not JSON")
    }
    let attest = JSONTree(try FileSystem.read(authority.path + "/attest.json"))?.written ?? [:]
    let receipts = JSONTree(try FileSystem.read(authority.path + "/receipts.json"))?.written ?? [:]
    let team = JSONText.string(authority.app.teamId)
    return own.written.setting([
      ("environments", ["LocalTesting", "Sandbox"]),
      ("storekit.xcodeCertificates", [.string(authority.store.xcodeFingerprint)]),
      ("receipts", receipts.appending("sharedSecrets", ["*": .string(authority.sharedSecret)])),
      ("attest", attest.appending("environments", ["production", "development"])),
      (
        "deviceCheck",
        [
          "teamId": team, "keyId": .string(MockAuthority.deviceCheckKeyId),
          "privateKey": try MockConfiguration.pem(authority.deviceCheckKey),
          "bits": [
            "bit0": ["name": "promo-used", "resetAfterMonths": 12],
            "bit1": ["name": "abuse", "resetAfterMonths": 24],
          ],
        ]
      ),
      ("tokens", tokens),
      ("appStoreServerApi", try api()),
      (
        "appleId",
        [
          "teamId": team, "keyId": .string(MockAuthority.appleIdKeyId),
          "privateKey": try MockConfiguration.pem(authority.appleIdKey),
        ]
      ),
    ])
  }

  private func api() throws -> JSONText {
    var block: JSONText = [
      "issuerId": .string(MockAuthority.issuerId), "keyId": .string(MockAuthority.apiKeyId),
      "privateKey": try MockConfiguration.pem(authority.apiKey),
    ]
    if let apiBase { block = block.appending("apiBaseUrl", .string(apiBase)) }
    return block
  }

  /// The tokens of two test issuers and of Sign in with Apple.
  private var tokens: JSONText {
    let elliptic = TokenAuthority.ellipticIssuer
    return [
      [
        "profile": "cognito-access", "issuers": [.string(TokenAuthority.pool)],
        "clients": [.string(TokenAuthority.client)],
      ],
      [
        "profile": "jwt", "issuers": [.string(elliptic)], "algorithm": "ES256",
        "audiences": ["games"], "jwksUri": .string(elliptic + "/.well-known/jwks.json"),
      ],
      ["profile": "apple-id", "audiences": [.string(authority.app.bundleId)]],
    ]
  }

  private static func pem(_ key: SigningKey) throws -> JSONText {
    .string(utf8: try key.pem())
  }
}
