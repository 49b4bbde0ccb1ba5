extension Variation {
  /// Variations of encoding, version, serial number, algorithm, key and dates (JWS-21 … JWS-25,
  /// JWS-32).
  static let certificates: [Variation] =
    [0, 1].flatMap { place in
      [
        der("a byte after", place) { $0.form = .trailing([0]) },
        der("a second certificate after", place) { $0.form = .trailing([0x30, 0x00]) },
        der("a length that is not the shortest", place) { $0.form = .longLength },
        der("an indefinite length", place) { $0.form = .indefiniteLength },
        der("the last octet missing", place) { $0.form = .truncated(1) },
        der("half of it missing", place) { $0.form = .truncated(400) },
        der("a critical flag of 01", place) { $0.setCritical(OID.keyUsage, 0x01) },
        der("a critical flag written as FALSE", place) { $0.setCritical(OID.keyUsage, 0x00) },
        der("a serial number that is not minimal", place) { $0.serial = [0, 0, 1] },
        der("no serial octets", place) { $0.serial = [] },
        der("CA:FALSE written out", place) {
          $0 = $0.replacing(
            OID.basicConstraints,
            with: CertificateExtension(
              OID.basicConstraints, critical: true, DER.sequence(DER.boolean(0))))
        },
        der("an empty list of extensions", place) { $0.extensions = [] },
        time("without seconds", place) { $0.notAfter = .utcText("3001010000Z") },
        time("with an offset", place) { $0.notAfter = .utcText("300101000000+0000") },
        time("without Z", place) { $0.notAfter = .utcText("300101000000") },
        time("with a fraction", place) {
          $0.notAfter = .generalizedText("20300101000000.5Z")
        },
        time("of month 13", place) { $0.notAfter = .utcText("301301000000Z") },
        time("of day 0", place) { $0.notAfter = .utcText("300100000000Z") },
        time("of the 30th of February", place) { $0.notAfter = .utcText("300230000000Z") },
        time("of hour 24", place) { $0.notAfter = .utcText("300101240000Z") },
        time("of minute 60", place) { $0.notAfter = .utcText("300101006000Z") },
        time("of letters", place) { $0.notAfter = .utcText("3o0101000000Z") },
        time("before its begin", place) { swap(&$0.notBefore, &$0.notAfter) },
        one("JWS-22", "of version 1", "rejected.chain.version", place) {
          $0.version = []
          $0.extensions = nil
        },
        one("JWS-22", "of version 2", "rejected.chain.version", place) {
          $0.version = DER.explicit(0, DER.unsigned([1]))
        },
        one("JWS-22", "of version 4", "rejected.chain.version", place) {
          $0.version = DER.explicit(0, DER.unsigned([3]))
        },
        one("JWS-23", "with serial number 0", "rejected.chain.serial", place) {
          $0.serial = [0]
        },
        one("JWS-23", "with a negative serial number", "rejected.chain.serial", place) {
          $0.serial = [0x80, 1]
        },
        one("JWS-23", "with a serial number of 21 octets", "rejected.chain.serial", place) {
          $0.serial = Array(repeating: 0x11, count: 21)
        },
        good("JWS-23", "with a serial number of 20 octets", place) {
          $0.serial = Array(repeating: 0x7f, count: 20)
        },
        good("JWS-23", "with serial number 1", place) { $0.serial = [1] },
        one(
          "JWS-24", "whose two algorithms differ", "rejected.chain.signature-algorithm", place
        ) {
          $0.innerAlgorithm = CertificateTemplate.algorithm(OID.ecdsaWithSHA256)
          $0.outerAlgorithm = CertificateTemplate.algorithm(OID.ecdsaWithSHA384)
        },
        one(
          "JWS-24", "signed with ecdsa-with-SHA512", "rejected.chain.signature-algorithm",
          place
        ) { $0.use(OID.ecdsaWithSHA512, .sha512) },
        one(
          "JWS-24", "with NULL parameters beside its algorithm",
          "rejected.chain.signature-algorithm", place
        ) {
          $0.innerAlgorithm = CertificateTemplate.algorithm(
            OID.ecdsaWithSHA384, parameters: DER.null)
        },
        one(
          "JWS-24", "that names an RSA algorithm", "rejected.chain.signature-algorithm", place
        ) {
          $0.innerAlgorithm = CertificateTemplate.algorithm(OID.sha256WithRSA, parameters: DER.null)
        },
        good("JWS-24", "signed with ecdsa-with-SHA256", place) {
          $0.use(OID.ecdsaWithSHA256, .sha256)
        },
        good("JWS-32", "whose dates are GeneralizedTime", place) {
          if case .utc(let from) = $0.notBefore, case .utc(let to) = $0.notAfter {
            $0.notBefore = .generalized(from)
            $0.notAfter = .generalized(to)
          }
        },
        good("JWS-32", "valid since 1950", place) {
          $0.notBefore = .utcText("500101000000Z")
        },
        good("JWS-32", "valid until 2049", place) {
          $0.notAfter = .utcText("491231235959Z")
        },
        good("JWS-32", "valid until the year 9999", place) {
          $0.notAfter = .generalizedText("99991231235959Z")
        },
      ]
    } + keys

  private static let keys: [Variation] =
    [
      foreignKey("JWS-25", "a leaf with a P-384 key", .p384, leaf: true),
      foreignKey("JWS-25", "a leaf with a P-521 key", .p521, leaf: true),
      foreignKey("JWS-25", "a leaf with an RSA key", .rsa(bits: 2048), leaf: true),
      foreignKey("JWS-25", "an intermediate with a P-521 key", .p521, leaf: false),
      foreignKey(
        "JWS-25", "an intermediate with an RSA key", .rsa(bits: 2048), leaf: false),
      Variation("JWS-25", "an intermediate with a P-256 key", "ok") { jws, base in
        jws.use(try base.authority.chain(intermediateKey: try .generate(.p256)))
      },
    ]
    + points.map { point in
      Variation(
        "JWS-25", "a leaf with \(point.name)", "rejected.chain.key", check: "chain.shape",
        at: "x5c[0]"
      ) { jws, base in
        let key = try base.authority.leafKey.publicKey()
        jws.use(try base.authority.chain(leaf: { $0.publicKeyInfo = point.encode(key) }))
      }
    }

  private struct Point: Sendable {
    let name: String
    let encode: @Sendable ([UInt8]) -> [UInt8]
  }

  private static let points: [Point] = [
    Point(name: "a curve spelt out") { KeyEncoding.explicitP256($0) },
    Point(name: "a compressed point") {
      KeyEncoding.named(OID.p256, KeyEncoding.compressed($0))
    },
    Point(name: "a hybrid point") { KeyEncoding.named(OID.p256, KeyEncoding.hybrid($0)) },
    Point(name: "a point on no curve") {
      KeyEncoding.named(OID.p256, KeyEncoding.offCurve($0))
    },
    Point(name: "the point at infinity") { _ in KeyEncoding.named(OID.p256, [0]) },
    Point(name: "a point of the other curve's name") { KeyEncoding.named(OID.p384, $0) },
    Point(name: "half a point") { KeyEncoding.named(OID.p256, Array($0.prefix(33))) },
  ]

  // MARK: how a variation of one certificate is made

  typealias Change = @Sendable (inout CertificateTemplate) -> Void

  /// Returns a variation of one certificate: 0 is the leaf, 1 the intermediate.
  static func one(
    _ rule: String, _ name: String, _ status: String, _ place: Int,
    check: String = "chain.shape", _ change: @escaping Change
  ) -> Variation {
    Variation(
      rule, "\(place == 0 ? "a leaf" : "an intermediate") \(name)", status,
      check: status == "ok" ? nil : check, at: status == "ok" ? nil : "x5c[\(place)]"
    ) { jws, base in
      if place == 0 {
        jws.use(try base.authority.chain(leaf: { change(&$0) }))
      } else {
        jws.use(try base.authority.chain(intermediate: { change(&$0) }))
      }
    }
  }

  static func good(
    _ rule: String, _ name: String, _ place: Int, _ change: @escaping Change
  ) -> Variation {
    one(rule, name, "ok", place, change)
  }

  private static func der(_ name: String, _ place: Int, _ change: @escaping Change) -> Variation {
    one(
      "JWS-21", "with \(name)", "malformed.chain.der", place, check: "chain.certificates",
      change)
  }

  private static func time(_ name: String, _ place: Int, _ change: @escaping Change) -> Variation {
    one(
      "JWS-32", "with an end \(name)", "malformed.chain.der", place,
      check: "chain.certificates", change)
  }

  private static func foreignKey(
    _ rule: String, _ name: String, _ kind: SigningKey.Kind, leaf: Bool
  ) -> Variation {
    Variation(
      rule, name, "rejected.chain.key", check: "chain.shape", at: leaf ? "x5c[0]" : "x5c[1]"
    ) { jws, base in
      let key = try SigningKey.generate(kind)
      if leaf {
        jws.use(try base.authority.chain(leafKey: key))
        jws.key = base.authority.leafKey
      } else {
        jws.use(try base.authority.chain(intermediateKey: key))
      }
    }
  }
}

extension CertificateTemplate {
  package mutating func use(_ algorithm: String, _ digest: SigningKey.Digest) {
    innerAlgorithm = CertificateTemplate.algorithm(algorithm)
    self.digest = digest
  }

  /// Sets the content byte of the critical flag of one extension.
  package mutating func setCritical(_ oid: String, _ octet: UInt8?) {
    guard let place = (extensions?.firstIndex { $0.oid == oid }) else { return }
    extensions?[place].critical = octet
  }
}
