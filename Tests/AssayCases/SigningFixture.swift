import AssayAuthority

extension CaseFixture {
  /// The secrets of session tokens; the first one signs.
  static let sessionSecrets: [(id: String, bytes: [UInt8])] = [
    ("s2", Array(1...32)), ("s1", Array(101...164)),
  ]

  private var sessionSecretList: [JSONText] {
    CaseFixture.sessionSecrets.map {
      ["id": .string($0.id), "secret": .string(utf8: Base64Text.encode($0.bytes))]
    }
  }

  var sessionBlock: JSONText { ["secrets": .array(sessionSecretList)] }

  private var key: JSONText { .string(utf8: (try? authority.leafKey.pem()) ?? []) }

  var appStoreServerApiBlock: JSONText {
    [
      "issuerId": "57246542-96fe-1a63-e053-0824d011072a", "keyId": "2X9R4HXF34",
      "privateKey": key,
    ]
  }

  var appleIdBlock: JSONText {
    [
      "teamId": "ABCDE12345", "keyId": "KEYID67890", "privateKey": key,
      "clientIds": ["com.example.app", "com.example.web"],
    ]
  }

  /// Adds `signing` with two apps and every key, `signing-one-app` with one of each, and
  /// `session-rotated` without the older secret.
  func addSigningVerifiers() {
    let whole = standardConfig.setting([
      ("deviceCheck", deviceCheckBlock), ("appStoreServerApi", appStoreServerApiBlock),
      ("appleId", appleIdBlock), ("session", sessionBlock),
    ])
    configure("signing", whole)
    configure(
      "signing-one-app",
      whole.setting([
        (
          "apps",
          [["bundleId": "com.example.app", "appAppleId": 1_234_567_890, "teamId": "ABCDE12345"]]
        )
      ]).removing(["appleId.teamId", "appleId.clientIds"]))
    configure(
      "session-rotated",
      whole.setting([("session.secrets", .array(Array(sessionSecretList.prefix(1))))]))
    configure(
      "device-check-development",
      standardConfig.setting("deviceCheck", deviceCheckBlock.setting("environment", "development")))
    configure(
      "device-check-without-key",
      standardConfig.setting("deviceCheck", deviceCheckBlock.removing(["privateKey", "keyId"])))
  }
}
