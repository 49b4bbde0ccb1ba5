extension Variation {
  /// Variations of names and signatures in the chain (JWS-30, JWS-31) and of the JWS's signature
  /// (JWS-100, JWS-101).
  static let signatures: [Variation] =
    [
      names("a leaf that names another issuer") { base in
        try base.authority.chain(leaf: {
          $0.issuer = DistinguishedName.make([("CN", "Somebody else")])
        })
      },
      names("a leaf that names its issuer in other bytes") { base in
        try base.authority.chain(leaf: {
          $0.issuer = DistinguishedName.makePrintable(ChainNames.own.intermediate)
        })
      },
      names("an intermediate that names another issuer") { base in
        try base.authority.chain(intermediate: {
          $0.issuer = DistinguishedName.make(ChainNames.apple.root)
        })
      },
      names("an intermediate that names its issuer in other bytes") { base in
        try base.authority.chain(intermediate: {
          $0.issuer = DistinguishedName.makePrintable(ChainNames.own.root)
        })
      },
      names("an intermediate with another subject") { base in
        try base.authority.chain(intermediate: {
          $0.subject = DistinguishedName.make([("CN", "Somebody else")])
        })
      },
      names("an empty name between leaf and intermediate") { base in
        try base.authority.chain(
          intermediate: { $0.subject = DistinguishedName.empty },
          leaf: { $0.issuer = DistinguishedName.empty })
      },
      signature("an intermediate signed by another key", 1) { base in
        try base.authority.chain(intermediateSigner: try .generate(.p384))
      },
      signature("an intermediate signed by itself", 1) { base in
        try base.authority.chain(intermediateSigner: base.authority.intermediateKey)
      },
      signature("a leaf signed by another key", 0) { base in
        try base.authority.chain(leafSigner: try .generate(.p384))
      },
      signature("a leaf signed by the root", 0) { base in
        try base.authority.chain(leafSigner: base.authority.rootKey)
      },
    ]
    + [0, 1].flatMap { place in
      signatureForms.map { form in
        signature("\(place == 0 ? "a leaf" : "an intermediate") \(form.name)", place) { base in
          if place == 0 {
            return try base.authority.chain(leaf: { $0.signatureForm = form.form })
          }
          return try base.authority.chain(intermediate: { $0.signatureForm = form.form })
        }
      }
    } + [
      jws("JWS-100", "r of zero") { $0.signature = .octets(zero + Array(repeating: 7, count: 32)) },
      jws("JWS-100", "s of zero") { $0.signature = .octets(Array(repeating: 7, count: 32) + zero) },
      jws("JWS-100", "r and s of zero") { $0.signature = .octets(zero + zero) },
      jws("JWS-100", "r of the order") {
        $0.signature = .octets(P256.order + Array(repeating: 7, count: 32))
      },
      jws("JWS-100", "s of the order") {
        $0.signature = .octets(Array(repeating: 7, count: 32) + P256.order)
      },
      jws("JWS-100", "r and s of all ones") {
        $0.signature = .octets(Array(repeating: 0xff, count: 64))
      },
      Variation("JWS-100", "the other valid signature of the same text", "ok") {
        $0.signature = .mirrored
      },
      Variation("JWS-100", "s in its upper half", "ok") { $0.signature = .highS },
      Variation(
        "JWS-101", "a payload changed after signing", "rejected.jws.signature",
        check: "jws.signature"
      ) { jws, base in
        let other = base.payload.setting("productId", "com.example.app.premium.yearly")
        jws.text = .swapped(payload: Base64Text.encodeURL(other.bytes))
      },
      jws("JWS-101", "a header changed after signing") {
        let other = $0.header.appending("kid", "x")
        $0.text = .swapped(header: Base64Text.encodeURL(other.bytes))
      },
      jws("JWS-101", "the key of another leaf") { $0.signature = .by(try .generate(.p256)) },
      jws("JWS-101", "junk in the place of the signature") {
        $0.signature = .octets((0..<64).map { $0 * 3 + 1 })
      },
      jws("JWS-101", "r and s swapped") { jws in
        let input =
          Base64Text.encodeURL(jws.header.bytes) + [0x2e] + Base64Text.encodeURL(jws.payload)
        let octets = try jws.key.signES256(input)
        jws.signature = .octets(Array(octets.suffix(32) + octets.prefix(32)))
      },
    ]

  private static let zero = [UInt8](repeating: 0, count: 32)

  private static let signatureForms: [(name: String, form: CertificateTemplate.SignatureForm)] = [
    ("whose signature has one other bit", .damaged),
    ("whose signature pads an integer", .paddedInteger),
    ("whose signature has bytes after it", .trailing([0])),
    ("whose signature has r of zero", .numbers(ECDSASignature(r: [], s: [1]))),
    ("whose signature has s of zero", .numbers(ECDSASignature(r: [1], s: []))),
    (
      "whose signature has numbers above the order",
      .numbers(
        ECDSASignature(
          r: Array(repeating: 0xff, count: 48), s: Array(repeating: 0xff, count: 48)))
    ),
  ]

  private static func names(
    _ name: String, _ chain: @escaping @Sendable (Base) throws -> CertificateChain
  ) -> Variation {
    Variation("JWS-30", name, "rejected.chain.names", check: "chain.signatures") { jws, base in
      jws.use(try chain(base))
    }
  }

  private static func signature(
    _ name: String, _ place: Int, _ chain: @escaping @Sendable (Base) throws -> CertificateChain
  ) -> Variation {
    Variation(
      "JWS-31", name,
      place == 0 ? "rejected.chain.signature-leaf" : "rejected.chain.signature-intermediate",
      check: "chain.signatures", at: "x5c[\(place)]"
    ) { jws, base in jws.use(try chain(base)) }
  }

  private static func jws(
    _ rule: String, _ name: String, _ change: @escaping @Sendable (inout JWSTemplate) throws -> Void
  ) -> Variation { Variation(rule, name, "rejected.jws.signature", check: "jws.signature", change) }
}
