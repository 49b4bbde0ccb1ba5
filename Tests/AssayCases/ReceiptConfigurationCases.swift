import AssayAuthority

extension CaseFixture {
  /// Adds the block `receipts` (docs/spec/configuration.md §4, CER-2, CER-6).
  func addReceiptConfigurationCases() throws {
    addReceiptMembers()
    try addReceiptAnchors()
    try addIntermediates()
    addSharedSecrets()
    addReceiptCaps()
  }

  private func config(
    _ rule: String, _ name: String, _ block: JSONText, _ status: String = "ok",
    at: String? = nil
  ) {
    let whole: JSONText = [
      "apps": [["bundleId": "com.example.app", "appAppleId": 1_234_567_890]], "receipts": block,
    ]
    add(rule, "receipts: \(name)", .verifierNew(config: .bytes(whole.bytes)), .init(status, at: at))
  }

  private func addReceiptMembers() {
    config("CNF-1", "an empty block", [:])
    config("CNF-1", "a block that is no object", [], "config.document.type", at: "receipts")
    config(
      "CNF-1", "an unknown member", ["v3": "refuse"], "config.document.unknown-member",
      at: "receipts.v3")
    for (name, values) in [
      ("version2", ["accept", "refuse"]), ("signedAfterPurchase", ["accept", "refuse"]),
      ("unknownEnvironment", ["refuse", "allow"]), ("deviceIds", ["omit", "report"]),
    ] {
      for value in values {
        config("CNF-1", "\(name) \(value)", .object([.init(name, .string(value))]))
      }
      config(
        "CNF-1", "\(name) of another value", .object([.init(name, "never")]),
        "config.document.range", at: "receipts.\(name)")
      config(
        "CNF-1", "\(name) of another type", .object([.init(name, true)]), "config.document.type",
        at: "receipts.\(name)")
    }
    config("CNF-1", "an age", ["maxAgeMs": 1])
    config(
      "CNF-1", "an age of 0", ["maxAgeMs": 0], "config.document.range", at: "receipts.maxAgeMs")
    config(
      "CNF-1", "an age of text", ["maxAgeMs": "1"], "config.document.type",
      at: "receipts.maxAgeMs")
  }

  /// Adds own anchors (CFG-3, CER-2).
  private func addReceiptAnchors() throws {
    let root = try receipts.chain(.current).root
    func anchors(_ certificates: [[UInt8]]) -> JSONText {
      ["anchors": .array(certificates.map(JWSTemplate.entry))]
    }
    func changed(_ change: (inout CertificateTemplate) -> Void) throws -> [UInt8] {
      var template = receipts.root
      change(&template)
      return try template.signed(by: receipts.keys.root)
    }
    config("CFG-3", "an anchor", anchors([root]))
    for digest in [SigningKey.Digest.sha256, .sha384, .sha512] {
      config(
        "CER-11", "an anchor signed with \(digest)", anchors([try changed { $0.sign(digest) }]))
    }
    config("CFG-3", "no anchor", anchors([]), "config.certificates.root-set")
    config(
      "CFG-3", "sixteen anchors",
      anchors(try (0..<16).map { number in try changed { $0.serial = [UInt8(number + 1)] } }))
    config(
      "CFG-3", "seventeen anchors",
      anchors(try (0..<17).map { number in try changed { $0.serial = [UInt8(number + 1)] } }),
      "config.certificates.root-set")
    let refused: [(String, [UInt8])] = [
      ("of nothing", []), ("of junk", [1, 2, 3]), ("with an octet after it", root + [0]),
      ("cut off", Array(root.dropLast())),
      ("that is an intermediate", try receipts.chain(.current).intermediate),
      ("that is a leaf", try receipts.chain(.current).leaf),
      ("signed by another key", try receipts.root.signed(by: receipts.keys.leaf)),
      ("with a damaged signature", try changed { $0.signatureForm = .flipped }),
      (
        "that is no CA",
        try changed { $0 = $0.replacing(OID.basicConstraints, with: .basicConstraints(ca: false)) }
      ),
      (
        "whose issuer is another",
        try changed { $0.issuer = DistinguishedName.makePrintable(ReceiptNames.apple.root) }
      ),
      ("with an EC key", authority.chain.root),
    ]
    for (name, certificate) in refused {
      config(
        "CFG-3", "an anchor \(name)", anchors([certificate]), "config.certificates.root-set",
        at: "receipts.anchors[0]")
    }
    config(
      "CFG-3", "a bad anchor after a good one", anchors([root, []]),
      "config.certificates.root-set", at: "receipts.anchors[1]")
  }

  /// Adds own intermediates (CER-6).
  private func addIntermediates() throws {
    func block(_ certificates: [[UInt8]], own: Bool = true) -> JSONText {
      let list = JSONText.array(certificates.map(JWSTemplate.entry))
      return own
        ? ["anchors": [.string(receipts.anchor)], "intermediates": list]
        : ["intermediates": list]
    }
    let refused = "config.certificates.intermediate"
    let good = try receipts.chain(.current).intermediate
    config("CER-6", "no intermediate", block([]))
    for generation in ReceiptAuthority.Generation.allCases {
      config(
        "CER-6", "the intermediate of \(generation.rawValue)",
        block([try receipts.chain(generation).intermediate]))
    }
    config(
      "CER-6", "an intermediate under Apple's root", block([good], own: false), refused,
      at: "receipts.intermediates[0]")
    let other = try receipts.chain(.current, intermediateSigner: receipts.keys.leaf)
    let unmarked = try receipts.chain(
      .current, intermediate: { $0 = $0.replacing(OID.intermediateMarker, with: nil) })
    let damaged = try receipts.chain(.current, intermediate: { $0.signatureForm = .flipped })
    let modest = try receipts.chain(
      .current,
      intermediate: {
        $0 = $0.replacing(OID.basicConstraints, with: .basicConstraints(ca: false))
      })
    for (name, certificate) in [
      ("signed by another key", other.intermediate), ("without its marker", unmarked.intermediate),
      ("with a damaged signature", damaged.intermediate), ("that is no CA", modest.intermediate),
      ("that is a leaf", other.leaf), ("of junk", [1, 2, 3]),
      ("with an octet after it", good + [0]),
    ] {
      config(
        "CER-6", "an intermediate \(name)", block([certificate]), refused,
        at: "receipts.intermediates[0]")
    }
    let many = try (0..<17).map { number in
      try receipts.chain(.current, intermediate: { $0.serial = [UInt8(number + 1)] }).intermediate
    }
    config("CER-6", "sixteen intermediates", block(Array(many.prefix(16))))
    config("CER-6", "seventeen intermediates", block(many), refused)
  }

  /// Adds shared secrets (VRR-1).
  private func addSharedSecrets() {
    let secret = "0123456789abcdef0123456789ABCDEF"
    let refused = "config.receipts.shared-secret"
    for name in ["com.example.app", "*"] {
      config(
        "VRR-1", "a secret of \(name)",
        ["sharedSecrets": .object([.init(name, .string(secret))])])
    }
    for (name, value) in [
      ("of 31 digits", String(secret.dropLast())), ("of 33 digits", secret + "0"),
      ("with a letter past f", String(secret.dropLast()) + "g"), ("of nothing", ""),
    ] {
      config(
        "VRR-1", "a secret \(name)",
        ["sharedSecrets": .object([.init("*", .string(value))])], refused)
    }
    config(
      "VRR-1", "a secret of an unknown app",
      ["sharedSecrets": .object([.init("com.example.other", .string(secret))])], refused)
  }

  private func addReceiptCaps() {
    let caps: [(String, Int64)] = [
      ("inputBytes", 3_145_728), ("transactionReceiptBytes", 16_384),
      ("purchaseInfoBytes", 8192), ("appReceiptBytes", 1_048_576), ("purchases", 8192),
    ]
    for (name, standard) in caps {
      for value in [1, standard, standard * 4] {
        config(
          "CNF-3", "\(name) \(value)", ["caps": .object([.init(name, .integer(value))])])
      }
      for value in [0, -1, standard * 4 + 1] {
        config(
          "CNF-3", "\(name) \(value)", ["caps": .object([.init(name, .integer(value))])],
          "config.document.range", at: "receipts.caps.\(name)")
      }
    }
    config(
      "CNF-3", "an unknown cap", ["caps": ["jwsBytes": 1]], "config.document.unknown-member",
      at: "receipts.caps.jwsBytes")
  }
}
