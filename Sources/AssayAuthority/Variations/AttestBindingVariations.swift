extension AttestVariation where Template == AttestationTemplate {
  /// Variations of the values that must match each other (ATT-20 … ATT-26, ATT-47, ATT-48), the
  /// embedded receipt included.
  static let binding: [AttestVariation] = nonce + key + identity + leafInformation + receipt

  private static let nonce: [AttestVariation] = [
    nonce("authenticator data changed after signing", hint: "object-altered") {
      var other = $0.authData
      other.flags ^= 1
      $0.sentAuthData = other.bytes
    },
    nonce("a nonce of zeros") {
      $0.nonce = { _ in [AttestLeafExtensions.nonce([UInt8](repeating: 0, count: 32))] }
    },
    nonce("a nonce with one bit changed") {
      $0.nonce = { [AttestLeafExtensions.nonce($0.dropLast() + [($0.last ?? 0) ^ 1])] }
    },
    nonce("the nonce in another extension") {
      $0.nonce = { digest in
        let wanted = AttestLeafExtensions.nonce(digest)
        return [
          CertificateExtension("1.2.840.113635.100.8.3", wanted.value),
          AttestLeafExtensions.nonce([UInt8](repeating: 1, count: 32)),
        ]
      }
    },
    one("ATT-20", "a critical nonce") {
      $0.nonce = { digest in
        var nonce = AttestLeafExtensions.nonce(digest)
        nonce.critical = 0xff
        return [nonce]
      }
    },
    nonceForm("a nonce of 31 octets") {
      DER.sequence(DER.explicit(1, DER.octetString(Array($0.dropLast()))))
    },
    nonceForm("a nonce of 33 octets") { DER.sequence(DER.explicit(1, DER.octetString($0 + [0]))) },
    nonceForm("a nonce under another tag") { DER.sequence(DER.explicit(2, DER.octetString($0))) },
    nonceForm("a nonce without a tag") { DER.sequence(DER.octetString($0)) },
    nonceForm("a nonce and a NULL") {
      DER.sequence(DER.explicit(1, DER.octetString($0)), DER.null)
    },
    nonceForm("a byte after the nonce") {
      DER.sequence(DER.explicit(1, DER.octetString($0))) + [0]
    },
    nonceForm("the nonce alone") { $0 }, nonceForm("an empty nonce") { _ in [] },
    nonceForm("a bit string as the nonce") {
      DER.sequence(DER.explicit(1, DER.bitString(Array($0.dropFirst()))))
    },
  ]

  private static func nonce(
    _ name: String, hint: String? = nil,
    _ change: @escaping @Sendable (inout AttestationTemplate) throws -> Void
  ) -> AttestVariation {
    one("ATT-20", name, "rejected.attest.nonce", check: "attest.nonce", hint: hint, change)
  }

  private static func nonceForm(_ name: String, _ value: @escaping @Sendable ([UInt8]) -> [UInt8])
    -> AttestVariation
  {
    one("ATT-20", name, "malformed.attest.nonce-extension", check: "attest.nonce") {
      $0.nonce = { [CertificateExtension(AttestLeafExtensions.nonceOID, value($0))] }
    }
  }

  private static let key: [AttestVariation] = [
    cose("the key of another device") { _ in
      AuthenticatorDataTemplate.coseKey(try SigningKey.generate(.p256).publicKey())
    },
    cose("a key with one bit of y changed") {
      AuthenticatorDataTemplate.coseKey(KeyEncoding.offCurve($0))
    },
    cose("a key whose coordinates are exchanged") {
      AuthenticatorDataTemplate.coseKey([4] + $0.suffix(32) + $0.dropFirst().prefix(32))
    },
    cose("a key of another algorithm") {
      var key = AuthenticatorDataTemplate.coseKey($0)
      key[4] = 0x27
      return key
    },
    cose("a key of another curve") {
      var key = AuthenticatorDataTemplate.coseKey($0)
      key[6] = 0x02
      return key
    },
    cose("a key of another type") {
      var key = AuthenticatorDataTemplate.coseKey($0)
      key[2] = 0x01
      return key
    },
    cose("a key of zeros") { _ in [UInt8](repeating: 0, count: 77) },
    one(
      "ATT-13", "another credential id", "rejected.attest.credential-id",
      check: "attest.credential-id"
    ) { $0.authData.credential?.id = AttestDigest.sha256([1]) },
    one(
      "ATT-13", "a credential id with one bit changed", "rejected.attest.credential-id",
      check: "attest.credential-id"
    ) {
      let id = $0.device.keyId
      $0.authData.credential?.id = id.dropLast() + [(id.last ?? 0) ^ 1]
    },
    one("ATT-22", "a leaf with another common name", facts: [("warnings.0.id", "leaf-common-name")])
    { $0.leaf.subject = DistinguishedName.make([("CN", "somebody else")]) },
    one(
      "ATT-22", "a leaf whose common name is in upper case",
      facts: [("warnings.0.id", "leaf-common-name")]
    ) { $0.leaf.subject = DistinguishedName.make([("CN", $0.device.keyIdHex.uppercased())]) },
  ]

  private static func cose(_ name: String, _ key: @escaping @Sendable ([UInt8]) throws -> [UInt8])
    -> AttestVariation
  {
    one("ATT-21", name, "rejected.attest.cose-key", check: "attest.cose-key") {
      $0.authData.credential?.coseKey = try key($0.device.point)
    }
  }

  private static let identity: [AttestVariation] = [
    appId("another app", "ABCDE12345.com.example.other"),
    appId("another team", "ABCDE12346.com.example.app"),
    appId("the bundle id alone", "com.example.app"),
    appId("the App ID in lower case", "abcde12345.com.example.app"), appId("nobody", ""),
    counter("1", 1), counter("2^31", 1 << 31), counter("2^24", 1 << 24), counter("2^32-1", .max),
    aaguid("an unknown aaguid", Array("appattesthardwar".utf8)),
    aaguid("an aaguid of zeros", [UInt8](repeating: 0, count: 16)),
    aaguid(
      "the production aaguid with a one at the end",
      Array("appattest".utf8) + [0, 0, 0, 0, 0, 0, 1]),
    aaguid(
      "the production aaguid in upper case",
      Array("APPATTEST".utf8) + [UInt8](repeating: 0, count: 7)),
    one("ATT-26", "the sandbox aaguid", facts: [("attestation.environment", "development")]) {
      $0.authData.credential?.aaguid = Array("appattestsandbox".utf8)
      $0.changeReceiptFacts = { $0.environment = .development }
    },
  ]

  private static func appId(_ name: String, _ id: String) -> AttestVariation {
    one(
      "ATT-23", "made for \(name)", "rejected.attest.app-id", check: "attest.app-id",
      hint: "configured-app-id"
    ) { $0.authData.rpIdHash = AttestDigest.sha256(Array(id.utf8)) }
  }

  private static func counter(_ name: String, _ counter: UInt32) -> AttestVariation {
    one("ATT-13", "a counter of \(name)", "rejected.attest.counter", check: "attest.counter") {
      $0.authData.counter = counter
    }
  }

  private static func aaguid(_ name: String, _ aaguid: [UInt8]) -> AttestVariation {
    one("ATT-26", name, "unsupported.attest.aaguid", check: "attest.environment") {
      $0.authData.credential?.aaguid = aaguid
    }
  }

  /// Variations of the leaf's facts about key and system, which never lead to a refusal (§4.5).
  private static let leafInformation: [AttestVariation] = [
    one("ATT-47", "without facts about the system", facts: [("attestation.os.version", .null)]) {
      $0.leaf = $0.leaf.replacing(AttestLeafExtensions.systemFactsOID, with: nil)
    },
    one("ATT-47", "without facts about the key") {
      $0.leaf = $0.leaf.replacing(AttestLeafExtensions.keyFactsOID, with: nil)
    },
    information("that are no SEQUENCE", [0x04, 0x00]),
    information("that are cut off", [0x30, 0x20, 0xbf]),
    information("with a tag of ten octets", [0x30, 0x0b, 0xbf] + zeros(0xff, 9) + [0x01]),
    information("of nothing", []),
    one("ATT-48", "the access control octets of a phone", facts: []) {
      $0.leaf = $0.leaf.replacing(
        AttestLeafExtensions.accessControlOID,
        with: AttestLeafExtensions.accessControl(AttestLeafExtensions.phoneAccessControl))
    },
    one("ATT-48", "without access control octets") {
      $0.leaf = $0.leaf.replacing(AttestLeafExtensions.accessControlOID, with: nil)
    },
    one("ATT-48", "other access control octets on a phone") {
      $0.leaf = $0.leaf.replacing(
        AttestLeafExtensions.accessControlOID, with: AttestLeafExtensions.accessControl([1, 2, 3]))
    },
  ]

  private static func zeros(_ byte: UInt8, _ count: Int) -> [UInt8] {
    [UInt8](repeating: byte, count: count)
  }

  private static func information(_ name: String, _ value: [UInt8]) -> AttestVariation {
    one(
      "ATT-47", "facts about the system \(name)",
      facts: [("attestation.os.version", .null), ("warnings.0.id", "leaf-info")]
    ) {
      $0.leaf = $0.leaf.replacing(
        AttestLeafExtensions.systemFactsOID,
        with: CertificateExtension(AttestLeafExtensions.systemFactsOID, value))
    }
  }

  private static func receipt(
    _ rule: String, _ name: String, _ status: String, at: String? = nil, _ change: @escaping Change
  ) -> AttestVariation { one(rule, name, status, check: "attest.receipt", at: at, change) }

  private static func receipt(
    _ rule: String, _ name: String, _ status: String,
    _ change: @escaping @Sendable (inout AttestationTemplate) throws -> Void
  ) -> AttestVariation { one(rule, name, status, check: "attest.receipt", change) }

  /// Variations of the embedded receipt, which the nonce does not cover, so that another one
  /// could be put in its place (FRC-8 … FRC-10, RFR).
  private static let receipt: [AttestVariation] = [
    receipt("FRC-9", "the receipt of another attestation", "rejected.attest-receipt.key") {
      template, authority in
      let other = try AttestedDevice(
        key: .generate(.p256), appId: template.device.appId,
        environment: template.device.environment)
      let leaf = try authority.attestation(
        of: other, clientDataHash: template.clientDataHash, madeMs: template.madeMs
      ).leafCertificate()
      template.changeReceiptFacts = { $0.certificate = leaf }
    },
    receipt("FRC-8", "the receipt of another app", "rejected.attest-receipt.app-id") {
      $0.changeReceiptFacts = { $0.appId = "ABCDE12345.com.example.other" }
    },
    receipt("FRC-8", "the receipt of the second app", "rejected.attest-receipt.app-id") {
      $0.changeReceiptFacts = { $0.appId = "ABCDE12345.com.example.second" }
    },
    receipt("FRC-8", "a receipt of the other environment", "rejected.attest-receipt.environment") {
      $0.changeReceiptFacts = {
        $0.environment = $0.environment == .production ? .development : .production
      }
    },
    receipt("FRC-10", "a refreshed receipt", "rejected.attest-receipt.kind") {
      $0.changeReceiptFacts = { $0.kind = .receipt }
    },
    receipt("FRC-3", "a receipt signed by another key", "rejected.attest-receipt.signature") {
      $0.changeReceipt = { $0.signature = .by(try .generate(.p256)) }
    },
    receipt("FRC-1", "a receipt that is none", "malformed.attest-receipt.ber") {
      $0.receipt = [0x30, 0x80, 0x00]
    },
    receipt("FRC-1", "a byte after the receipt", "malformed.attest-receipt.trailing") {
      $0.changeReceipt = { $0.finish = { $0 + [0] } }
    },
    receipt(
      "FRC-4", "a receipt whose signer lacks the marker", "rejected.chain.leaf-marker",
      at: "receipt/signer"
    ) { template, authority in
      template.receiptChain = try authority.receiptChain(leaf: {
        $0 = $0.replacing(OID.attestReceiptMarker, with: nil)
      })
    },
    receipt("FRC-11", "a receipt of six minutes ago", "rejected.freshness.stale") {
      $0.changeReceiptFacts = { $0.created -= 360_000 }
    },
    receipt("ATT-40", "a receipt of the future", "rejected.date.future") {
      $0.changeReceiptFacts = { $0.created += 300_000 }
    },
    receipt("ATT-41", "a receipt of the year 1999", "rejected.date.range") {
      $0.changeReceiptFacts = { $0.created = 930_000_000_000 }
    },
    receipt("ATT-41", "a receipt of the year 2101", "rejected.date.range") {
      $0.changeReceiptFacts = { $0.created = 4_140_000_000_000 }
    },
  ]
}
