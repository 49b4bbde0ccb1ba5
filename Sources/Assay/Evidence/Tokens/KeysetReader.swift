/// The checks of a key set.
enum KeysetCheck: Int, CheckList {
  case size, form, keys

  static let ids: [StaticString] = ["keyset.size", "keyset.form", "keyset.keys"]
}

/// Reads a JSON Web Key Set (RFC 7517; docs/spec/access-tokens.md §5).
struct KeysetReader {
  static let byteCap = 262_144
  private static let keyCap = 64
  private static let kidBytes = 1...256
  private static let refusals = MemberRefusals(
    syntax: nil, unknown: .malformedJwksForm, type: .malformedJwksForm,
    range: .malformedJwksForm, missing: .malformedJwksForm, "JWK-1")

  private(set) var checks = Checks<KeysetCheck>()
  /// The keys as JSON; `nil` until the set has been read.
  private(set) var list: JSONValue? = nil
  /// Whether the text is an issuer's response, whose members beside the keys are ignored.
  private let isPublished: Bool
  private var keys: [KeysetKey] = []
  private var skipped: [Keyset.Skipped] = []

  init(published isPublished: Bool = false) { self.isPublished = isPublished }

  /// Reads every key; a set with a forbidden key is refused as a whole.
  mutating func run(_ text: [UInt8]) throws(Refusal) -> Keyset {
    checks.enter(.size)
    try require(text.count <= KeysetReader.byteCap, .tooLargeJwksSize, "JWK-1")
    checks.enter(.form)
    let root = try MemberNode.read(text, .evidence, KeysetReader.refusals)
    let list = try root.required("keys")
    try require(
      list.value.count <= KeysetReader.keyCap, .tooLargeJwksSize, "JWK-1", at: "keys")
    try require(list.value.kind == .array && list.value.count > 0, list)
    let issuer =
      isPublished
      ? nil : try root["issuer"]?.refusing(.malformedJwksForm, "JWK-9").text(1...1024)
    let age = isPublished ? nil : try KeysetReader.age(root)
    checks.enter(.keys)
    for (index, entry) in list.value.children.enumerated() {
      try PublishedKey(entry, index).refuseSecrets()
    }
    for (index, entry) in list.value.children.enumerated() {
      try take(PublishedKey(entry, index))
    }
    try require(!keys.isEmpty, .rejectedJwksEmpty, "JWK-2", at: "keys")
    self.list = list.value
    return Keyset(issuer: issuer, age: age, keys: keys, skipped: skipped)
  }

  /// Reads the state that the exchange wrote beside the keys (KST-13); `nil` if there is none.
  @inline(never)
  private static func age(_ root: MemberNode) throws(Refusal) -> Keyset.Age? {
    guard let fetched = try number(root, "fetchedAtMs") else { return nil }
    return Keyset.Age(
      fetchedAtMs: fetched, triedAtMs: try number(root, "triedAtMs") ?? fetched,
      failures: try number(root, "failures") ?? 0)
  }

  @inline(never)
  private static func number(_ root: MemberNode, _ name: StaticString) throws(Refusal) -> Int64? {
    guard let entry = root[name] else { return nil }
    return try entry.integer(0...MemberNode.exactInteger)
  }

  /// Adds a key. Two keys with one id are refused, because their order would decide which one
  /// verifies (JWK-3).
  @inline(never)
  private mutating func take(_ published: PublishedKey) throws(Refusal) {
    if let reason = published.reasonToSkip {
      skipped.append(Keyset.Skipped(published.place, published.text("kid"), reason))
      return
    }
    guard let kid = published.text("kid"), KeysetReader.kidBytes.contains(kid.count) else {
      throw Refusal(.malformedJwksForm, "JWK-3", at: published.place + ".kid")
    }
    try require(
      !keys.contains { $0.kid == kid }, .rejectedJwksDuplicateKid, "JWK-3",
      at: published.place + ".kid")
    keys.append(
      KeysetKey(
        kid: kid, key: try published.key(), algorithm: published.algorithm))
  }
}
