/// The block `tokens` of a configuration: a list of profiles (docs/spec/configuration.md §7).
struct TokensBlock {
  private let block: MemberNode
  private var profile: TokenProfile

  private static let textBytes = 1...1024

  static func read(_ list: MemberNode, _ configuration: inout Configuration) throws(Refusal) {
    for entry in try list.elements(ConfigurationTable.tokens) {
      var reader = try TokensBlock(entry)
      try reader.read()
      for issuer in reader.profile.issuers {
        try require(
          configuration.profile(of: issuer) == nil, .configTokenIssuer, "TOK-2", at: entry.path,
          detail: "an earlier profile has the same issuer")
      }
      configuration.tokens.append(TokenProfile.Shared(reader.profile))
    }
  }

  private init(_ entry: MemberNode) throws(Refusal) {
    var profile = TokenProfile()
    block = try profile.readPlain(entry)
    let kind = try block.required("profile").choice(ConfigurationTable.tokensProfile)
    profile.kind = TokenProfile.Kind(rawValue: kind) ?? .jwt
    self.profile = profile
  }

  private mutating func read() throws(Refusal) {
    for name in strangers {
      if let member = block[name] { throw member.refusal(.unknown) }
    }
    if profile.kind != .appleId { try readIssuers() }
    try readAlgorithm()
    try readNames()
    try readNonce()
    try readUris()
    try readHardAge()
  }

  /// The members that only other profiles have.
  private var strangers: [StaticString] {
    switch profile.kind {
    case .cognitoAccess: return ["nonce", "nonceForm", "notificationMaxAgeMs"]
    case .jwt: return ["nonce", "nonceForm", "notificationMaxAgeMs", "clients", "tokenUse"]
    case .appleId:
      return [
        "issuers", "issuerAliases", "algorithm", "clients", "tokenUse", "scopes", "groups", "types",
      ]
    }
  }

  // MARK: issuers

  /// Reads the issuers (TOK-1), which are https URLs without query (TOK-2), and the issuers that
  /// share a key set (TOK-32).
  private mutating func readIssuers() throws(Refusal) {
    profile.issuers = try names(
      "issuers", ConfigurationTable.tokensIssuers, .configTokenIssuer, "TOK-1")
    for issuer in profile.issuers {
      try require(
        TokensBlock.isURL(issuer) && !issuer.utf8.contains(0x3f), .configTokenIssuer, "TOK-2",
        at: block.path + ".issuers", detail: "not an https URL without query, fragment and user")
    }
    guard let object = block["issuerAliases"]?.refusing(.configTokenIssuer, "TOK-32") else {
      return
    }
    profile.issuerAliases = try TokensBlock.byIssuer(object)
    for pair in profile.issuerAliases {
      try require(
        profile.issuers.contains(pair.issuer) && profile.issuers.contains(pair.text)
          && !profile.issuerAliases.contains { $0.issuer == pair.text },
        .configTokenIssuer, "TOK-32", at: object.path)
    }
  }

  private static func byIssuer(_ object: MemberNode) throws(Refusal) -> [TokenProfile.OfIssuer] {
    try require(object.value.kind == .object, object, .type)
    var pairs: [TokenProfile.OfIssuer] = []
    for entry in object.value.children {
      guard let text = entry.text else { throw object.refusal(.type) }
      pairs.append(.init(issuer: entry.name, text: text))
    }
    return pairs
  }

  /// Whether the text is an https URL with a host, without fragment and user part, in visible
  /// ASCII.
  static func isURL(_ url: Text) -> Bool {
    let scheme: StaticString = "https://"
    let bytes = url.utf8
    guard bytes.count <= textBytes.upperBound, bytes.prefix(8).elementsEqual(scheme),
      bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != 0x23 && $0 != 0x5c })
    else { return false }
    let host = bytes.dropFirst(8).prefix { $0 != 0x2f && $0 != 0x3f }
    return !host.isEmpty && !host.contains(0x40)
  }

  /// Reads the URLs of the key sets: one for all issuers, or one for each (TOK-2).
  private mutating func readUris() throws(Refusal) {
    guard let entry = block["jwksUri"]?.refusing(.configTokenIssuer, "TOK-2") else { return }
    if entry.value.kind == .object {
      profile.jwksUris = try TokensBlock.byIssuer(entry)
    } else {
      let url = try entry.text()
      profile.jwksUris = profile.issuers.map { .init(issuer: $0, text: url) }
    }
    for pair in profile.jwksUris {
      try require(profile.issuers.contains(pair.issuer) && TokensBlock.isURL(pair.text), entry)
    }
  }

  // MARK: requirements

  /// Reads the algorithm with which the issuer signs. The profile `jwt` has no default (TOK-12).
  private mutating func readAlgorithm() throws(Refusal) {
    guard let entry = block["algorithm"] else {
      try require(
        profile.kind != .jwt, .configTokenAlgorithm, "TOK-12", at: block.path + ".algorithm")
      return
    }
    guard let algorithm = TokenAlgorithm(entry.value) else {
      throw entry.refusing(.configTokenAlgorithm, "TOK-12").refusal(.range)
    }
    profile.algorithm = algorithm
  }

  /// Reads the clients and audiences (TOK-1, TOK-31), the scopes and groups (TOK-29), and the
  /// types (TOK-15).
  private mutating func readNames() throws(Refusal) {
    let isCognito = profile.kind == .cognitoAccess
    if isCognito {
      profile.clients = try names(
        "clients", ConfigurationTable.tokensClients, .configTokenClients, "TOK-1")
    }
    if !isCognito || block["audiences"] != nil {
      profile.audiences = try names(
        "audiences", ConfigurationTable.tokensAudiences, .configTokenAudiences, "TOK-1")
    }
    if let entry = block["tokenUse"] { _ = try entry.choice(ConfigurationTable.tokensTokenUse) }
    if let entry = block["scopes"] {
      profile.scopes = try TokensBlock.texts(entry, ConfigurationTable.tokensScopes)
    }
    if let entry = block["groups"] {
      profile.groups = try TokensBlock.texts(entry, ConfigurationTable.tokensGroups)
    }
    if block["types"] != nil {
      profile.types = try names(
        "types", ConfigurationTable.tokensTypes, .configTokenTypes, "TOK-15"
      ).map(TokenProfile.plainType)
    }
  }

  /// Reads a required list, every fault of which has the same status.
  @inline(never)
  private func names(
    _ name: StaticString, _ counts: ClosedRange<Int>, _ status: Status, _ rule: StaticString
  ) throws(Refusal) -> [Text] {
    let node = try block.refusing(MemberRefusals(status, rule)).required(name)
    return try TokensBlock.texts(node, counts)
  }

  /// Reads a list of distinct texts.
  @inline(never)
  private static func texts(
    _ entry: MemberNode, _ counts: ClosedRange<Int>
  ) throws(Refusal) -> [Text] {
    var texts: [Text] = []
    for element in try entry.elements(counts) {
      let text = try element.text(textBytes)
      try require(!texts.contains(text), element)
      texts.append(text)
    }
    return texts
  }

  /// Reads the members about the nonce (AID-4), and the greatest age of notifications.
  private mutating func readNonce() throws(Refusal) {
    let nonces = block.refusing(.configTokenNonce, "AID-4")
    if let entry = nonces["nonce"] {
      let place = try entry.choice(ConfigurationTable.tokensNonce)
      profile.nonce = TokenProfile.Nonce(rawValue: place) ?? .required
    }
    if let entry = nonces["nonceForm"] {
      let place = try entry.choice(ConfigurationTable.tokensNonceForm)
      profile.nonceForm = TokenProfile.NonceForm(rawValue: place) ?? .any
    }
    if let entry = block["notificationMaxAgeMs"] {
      profile.notificationMaxAgeMs = try entry.integer(
        ConfigurationTable.tokensNotificationMaxAgeMs)
    }
  }

  /// Reads the age at which a key set is refused, which must not be below the age at which it is
  /// refreshed (KST-5).
  private mutating func readHardAge() throws(Refusal) {
    guard let entry = block["keysetHardMaxAgeMs"] else {
      profile.keysetHardMaxAgeMs = Swift.max(profile.keysetHardMaxAgeMs, profile.keysetMaxAgeMs)
      return
    }
    profile.keysetHardMaxAgeMs = try entry.integer(ConfigurationTable.tokensKeysetHardMaxAgeMs)
    try require(
      profile.keysetHardMaxAgeMs >= profile.keysetMaxAgeMs, .configTokenKeysetAge, "KST-5",
      at: entry.path)
  }
}

extension TokenProfile {
  /// Writes one entry of `tokens` in the effective configuration, without the members that only
  /// other profiles have.
  func write(_ writer: inout JSONWriter) {
    write(&writer) { member, writer in
      if isOfOthers(member) { return }
      switch member {
      case .profile: writer.member("profile", kind.name)
      case .issuers: writer.texts("issuers", issuers)
      case .issuerAliases: TokenProfile.write("issuerAliases", issuerAliases, &writer)
      case .algorithm: writer.member("algorithm", algorithm.name)
      case .clients: writer.texts("clients", clients)
      case .audiences: writer.texts("audiences", audiences)
      case .tokenUse: writer.member("tokenUse", "access")
      case .scopes: writer.texts("scopes", scopes)
      case .groups: writer.texts("groups", groups)
      case .types: writer.texts("types", types)
      case .jwksUri: TokenProfile.write("jwksUri", issuers.compactMap(jwksUri(of:)), &writer)
      case .keysetHardMaxAgeMs:
        writer.member("keysetHardMaxAgeMs", integer: keysetHardMaxAgeMs)
      case .nonce: writer.member("nonce", ConfigurationTable.tokensNonce[nonce.rawValue])
      case .nonceForm:
        writer.member("nonceForm", ConfigurationTable.tokensNonceForm[nonceForm.rawValue])
      case .notificationMaxAgeMs:
        writer.member("notificationMaxAgeMs", integer: notificationMaxAgeMs)
      }
    }
  }

  private func isOfOthers(_ member: Other) -> Bool {
    switch member {
    case .nonce, .nonceForm, .notificationMaxAgeMs: return kind != .appleId
    case .clients, .tokenUse: return kind != .cognitoAccess
    case .issuers, .issuerAliases, .algorithm, .scopes, .groups, .types: return kind == .appleId
    case .profile, .audiences, .jwksUri, .keysetHardMaxAgeMs: return false
    }
  }

  private static func write(
    _ name: StaticString, _ entries: [OfIssuer], _ writer: inout JSONWriter
  ) {
    writer.name(name)
    writer.beginObject()
    for entry in entries {
      writer.name(entry.issuer)
      writer.string(entry.text)
    }
    writer.endObject()
  }
}
