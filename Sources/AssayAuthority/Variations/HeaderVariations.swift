extension Variation {
  /// Variations of the header's members (JWS-10 … JWS-12).
  static let header: [Variation] =
    ["none", "HS256", "ES384", "es256", "ES256 ", "RS256", "ES256K", ""].map { algorithm in
      Variation("JWS-10", "alg \"\(algorithm)\"", "rejected.jws.algorithm", check: "jws.header") {
        $0.header = $0.header.setting("alg", .string(algorithm))
      }
    } + [
      Variation(
        "JWS-10", "an unsecured JWS with an empty signature", "rejected.jws.algorithm",
        check: "jws.header"
      ) {
        $0.header = ["alg": "none"]
        $0.text = .unsecured
      },
      Variation("JWS-10", "alg absent", "malformed.jws.alg", check: "jws.header") {
        $0.header = $0.header.removing("alg")
      },
      Variation("JWS-10", "alg null", "malformed.jws.alg", check: "jws.header") {
        $0.header = $0.header.setting("alg", .null)
      },
      Variation("JWS-10", "alg a number", "malformed.jws.alg", check: "jws.header") {
        $0.header = $0.header.setting("alg", 256)
      },
      Variation("JWS-10", "alg an array", "malformed.jws.alg", check: "jws.header") {
        $0.header = $0.header.setting("alg", ["ES256"])
      },
    ]
    + forbidden.map { member in
      Variation(
        "JWS-11", "\(member.name) in the header", "rejected.jws.header-member", check: "jws.header"
      ) { $0.header = $0.header.appending(member.name, member.value) }
    } + [
      Variation(
        "JWS-11", "crit null in the header", "rejected.jws.header-member", check: "jws.header"
      ) { $0.header = $0.header.appending("crit", .null) },
      Variation("JWS-12", "other members in the header", "ok") {
        $0.header = $0.header.appending("kid", "none").appending("typ", "JWT").appending("cty", 7)
          .appending("x5t", .null).appending("new", [["a": [1]]])
      },
      Variation("JWS-12", "members in another order", "ok") {
        $0.header = .object($0.header.members.reversed())
      },
    ]

  private static let forbidden: [(name: String, value: JSONText)] = [
    ("crit", ["b64"]), ("b64", true), ("zip", "DEF"), ("enc", "A256GCM"),
    ("jwk", ["kty": "EC"]), ("jku", "https://keys.example/"), ("x5u", "https://keys.example/"),
  ]

  /// Variations of `x5c` (JWS-13, JWS-14, JWS-20).
  static let x5c: [Variation] = [
    list("absent") { $0.removing("x5c") },
    list("null") { $0.setting("x5c", .null) },
    list("one text") { $0.setting("x5c", "AAAA") },
    list("an object") { $0.setting("x5c", ["0": "AAAA"]) },
    Variation("JWS-13", "x5c with a number in it", "malformed.jws.x5c", check: "jws.header") {
      $0.replaceEntry(1, 1)
    },
    Variation("JWS-13", "x5c with null in it", "malformed.jws.x5c", check: "jws.header") {
      $0.replaceEntry(2, .null)
    },
    count("x5c of no entry") { _ in [] }, count("x5c of the leaf alone") { [$0.leaf] },
    count("x5c of two") { [$0.leaf, $0.intermediate] },
    count("x5c of four") { $0.certificates + [$0.root] },
    entry("in the URL alphabet", 0) { text in
      text.map { $0 == 0x2b ? 0x2d : $0 == 0x2f ? 0x5f : $0 } + Array("-_-_".utf8)
    },
    entry("without its padding", 2) { text in unpadded(text) },
    entry("with a line end", 0) { $0 + [0x0a] },
    entry("with white space inside", 1) { Array($0.prefix(64)) + [0x20] + $0.dropFirst(64) },
    entry("with padding too much", 1) { $0 + Array("====".utf8) },
    Variation(
      "JWS-14", "an x5c entry with unused bits", "malformed.chain.base64",
      check: "chain.root"
    ) { jws, base in
      let octets = Array(repeating: UInt8(0x30), count: 1)
      let text = Base64Text.withLooseBits(Base64Text.encode(octets)) ?? []
      jws.replaceEntry(0, .string(utf8: text))
    },
    Variation(
      "JWS-14", "an x5c entry of 8,196 characters", "too-large.chain.certificate",
      check: "chain.root"
    ) { $0.replaceEntry(0, .string(String(repeating: "A", count: 8196))) },
    root("own root with Apple's name") { jws, base in
      jws.use(try Authority(now: base.now, names: .apple).chain)
    },
    root("own root with the name and serial of the pinned one") { jws, base in
      let key = try SigningKey.generate(.p384)
      var root = base.authority.root
      root.publicKeyInfo = try key.publicKeyInfo()
      var chain = try base.authority.chain(intermediateSigner: key)
      chain.root = try root.signed(by: key)
      jws.use(chain)
    },
    root("the pinned root signed once more") { jws, base in
      var chain = base.authority.chain
      chain.root = try base.authority.root.signed(by: base.authority.rootKey)
      jws.use(chain)
    },
    root("a byte after the pinned root") { jws, base in
      var chain = base.authority.chain
      chain.root.append(0)
      jws.use(chain)
    },
    root("the intermediate in the place of the root") { jws, base in
      var chain = base.authority.chain
      chain.root = chain.intermediate
      jws.use(chain)
    },
    root("the chain upside down") { jws, base in
      jws.header = JWSTemplate.storeHeader(base.authority.chain.certificates.reversed())
    },
  ]

  /// Returns a variation with another root than the pinned one.
  private static func root(
    _ name: String, _ change: @escaping @Sendable (inout JWSTemplate, Base) throws -> Void
  ) -> Variation {
    Variation(
      "JWS-20", name, "rejected.chain.untrusted-root", check: "chain.root", at: "x5c[2]", change)
  }

  private static func list(_ name: String, _ change: @escaping @Sendable (JSONText) -> JSONText)
    -> Variation
  {
    Variation("JWS-13", "x5c \(name)", "malformed.jws.x5c", check: "jws.header") {
      $0.header = change($0.header)
    }
  }

  private static func count(
    _ name: String, _ certificates: @escaping @Sendable (CertificateChain) -> [[UInt8]]
  ) -> Variation {
    Variation("JWS-13", name, "rejected.chain.length", check: "chain.root") { jws, base in
      jws.header = JWSTemplate.storeHeader(certificates(base.authority.chain))
    }
  }

  private static func entry(
    _ name: String, _ place: Int, _ spell: @escaping @Sendable ([UInt8]) -> [UInt8]
  ) -> Variation {
    Variation(
      "JWS-14", "an x5c entry \(name)", "malformed.chain.base64", check: "chain.root",
      at: "x5c[\(place)]"
    ) { jws, base in
      let text = Base64Text.encode(base.authority.chain.certificates[place])
      jws.replaceEntry(place, .string(utf8: spell(text)))
    }
  }

  /// Removes padding, or a character if the text has no padding, so that the length is invalid.
  private static func unpadded(_ text: [UInt8]) -> [UInt8] {
    let bare = text.filter { $0 != 0x3d }
    return bare.count == text.count ? Array(bare.dropLast()) : bare
  }
}
