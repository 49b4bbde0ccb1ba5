import AssayAuthority
import CAssay
import CReference

/// Targets for `assay_verify_jws`. The first byte of an input selects verifier and kind.
enum EvidenceTargets {
  private static let fixture = FuzzFixture.shared

  // MARK: any bytes

  /// The pieces of good evidence, and the only pairs of them that may be accepted.
  private static let pieces: (texts: [UInt8: [UInt8]], signed: Set<[UInt8]>) = {
    let purchase = Purchase(now: FuzzFixture.instant)
    var texts: [UInt8: [UInt8]] = [1: fixture.storeHeader, 0x0e: fixture.xcodeHeader]
    var signed: Set<[UInt8]> = []
    func add(_ payload: UInt8, _ signature: UInt8, _ jws: [UInt8]) {
      let segments = jws.split(separator: 0x2e)
      texts[payload] = Array(segments[1])
      texts[signature] = Array(segments[2])
      signed.insert(Array(segments[0] + [0x2e] + segments[1]))
    }
    let places: [(EvidenceKind, UInt8, UInt8)] = [
      (.transaction, 2, 3), (.renewalInfo, 4, 5), (.notification, 6, 7), (.appTransaction, 8, 11),
      (.realtimeRequest, 12, 15),
    ]
    for (kind, payload, signature) in places {
      guard let text = try? fixture.authority.payload(kind, purchase) else { fatalError("\(kind)") }
      add(payload, signature, fixture.signed(text.bytes))
    }
    let local = purchase.with { $0.environment = "Xcode" }
    add(16, 17, fixture.signed(local.transactionPayload.bytes, asXcode: true))
    return (texts, signed)
  }()

  /// Verifies any bytes as a JWS. Control characters are replaced by segments of good evidence, to
  /// try combinations; only what was signed may be accepted.
  static func verifyJWS(_ input: [UInt8]) {
    guard let selector = input.first else { return }
    let jws = expand(input.dropFirst(), pieces.texts)
    let (verifier, kind) = fixture.choice(selector)
    let answer = fixture.verify(fixture.verifiers[verifier].handle, kind, jws)
    if answer.isOK {
      let end = jws.lastIndex(of: 0x2e) ?? 0
      demand(pieces.signed.contains(Array(jws[..<end])), "accepted what was not signed")
    }
    answer.free()
  }

  // MARK: signed payloads

  /// Verifies a signed JWS over any payload: JSON, kind, dates and identity after a valid
  /// signature.
  static func signedPayload(_ input: [UInt8]) {
    guard let selector = input.first else { return }
    let (verifier, kind) = fixture.choice(selector)
    let name = fixture.verifiers[verifier].name
    let jws = fixture.signed(
      Array(input.dropFirst()), asXcode: name == "xcode" || name == "local-testing")
    let answer = fixture.verify(fixture.verifiers[verifier].handle, kind, jws)
    if answer.isOK {
      demand(reference(reads: input.dropFirst()), "cJSON does not read an accepted payload")
    }
    answer.free()
  }

  private static func reference(reads payload: ArraySlice<UInt8>) -> Bool {
    let json = Array(payload).asText { reference_json_read($0, $1) }
    defer { reference_json_free(json) }
    return json != nil
  }

  /// Verifies a notification whose nested JWS are signed too. NUL separates the payloads; in the
  /// first, bytes 1 … 3 are replaced by the JWS over the 1st … 3rd of the others.
  static func signedNotification(_ input: [UInt8]) {
    guard let selector = input.first else { return }
    let parts = input.dropFirst().split(
      separator: 0, maxSplits: 3, omittingEmptySubsequences: false)
    guard let outer = parts.first else { return }
    var texts: [UInt8: [UInt8]] = [:]
    for (index, part) in parts.dropFirst().enumerated() {
      texts[UInt8(index + 1)] = fixture.signed(Array(part))
    }
    let verifier = Int(selector) % fixture.verifiers.count
    let jws = fixture.signed(expand(outer, texts))
    let answer = fixture.verify(
      fixture.verifiers[verifier].handle, Int32(ASSAY_JWS_NOTIFICATION), jws)
    answer.free()
  }

  // MARK: headers

  private static let headerTexts: [UInt8: [UInt8]] = [
    1: Base64Text.encode(fixture.authority.chain.leaf),
    2: Base64Text.encode(fixture.authority.chain.intermediate),
    3: Base64Text.encode(fixture.authority.chain.root),
    4: Base64Text.encode(fixture.authority.xcodeCertificate),
  ]
  private static let goodPayload = Purchase(now: FuzzFixture.instant).transactionPayload.bytes
  private static let xcodePayload = Purchase(now: FuzzFixture.instant)
    .with { $0.environment = "Xcode" }.transactionPayload.bytes

  /// Verifies any bytes as the header of a signed JWS. Bytes 1 … 4 are replaced by leaf,
  /// intermediate, root and Xcode's certificate in base64.
  static func header(_ input: [UInt8]) {
    guard let selector = input.first else { return }
    let name = ["standard", "root-entry-ignored", "no-cache", "xcode"][Int(selector) % 4]
    let isXcode = name == "xcode"
    let header = expand(input.dropFirst(), headerTexts)
    let jws = fixture.signed(
      Base64Text.encodeURL(header), isXcode ? xcodePayload : goodPayload,
      isXcode ? fixture.authority.xcodeKey : fixture.authority.leafKey)
    let answer = fixture.verify(fixture.verifier(name), Int32(ASSAY_JWS_TRANSACTION), jws)
    if answer.isOK { checkAccepted(header, isXcode, ignoresRoot: name == "root-entry-ignored") }
    answer.free()
  }

  /// Checks an accepted header as cJSON reads it.
  private static func checkAccepted(_ header: [UInt8], _ isXcode: Bool, ignoresRoot: Bool) {
    let json = header.asText { reference_json_read($0, $1) }
    defer { reference_json_free(json) }
    demand(json != nil, "cJSON does not read an accepted header")
    var algorithm: String? = nil
    var entries: [String] = []
    var member = reference_json_child(json)
    while let current = member {
      let name = String(cString: reference_json_name(current))
      demand(
        !["crit", "b64", "zip", "enc", "jwk", "jku", "x5u"].contains(name),
        "accepted with \(name)")
      if name == "alg", Int(reference_json_kind(current)) == REFERENCE_STRING {
        algorithm = String(cString: reference_json_string(current))
      }
      if name == "x5c" {
        var entry = reference_json_child(current)
        while let text = entry {
          entries.append(reference_json_string(text).map { String(cString: $0) } ?? "")
          entry = reference_json_next(text)
        }
      }
      member = reference_json_next(current)
    }
    demand(algorithm == "ES256", "accepted with another algorithm")
    let wanted = (isXcode ? [4] : ignoresRoot ? [1, 2] : [1, 2, 3]).map {
      String(decoding: headerTexts[$0] ?? [], as: UTF8.self)
    }
    demand(
      Array(entries.prefix(wanted.count)) == wanted && entries.count == (isXcode ? 1 : 3),
      "accepted with other certificates")
  }
}
