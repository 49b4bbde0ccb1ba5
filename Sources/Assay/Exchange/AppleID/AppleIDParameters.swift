/// The members of a request to Apple's token endpoints (AID-25).
struct AppleIDParameters {
  let policy: AppleIDPolicy
  let clientId: Text
  private let request: ExchangeRequest

  private static let secretLength = 1...2048
  private static let urlBytes = 1...1024

  /// - Throws: `config.exchange.block-missing`, `misuse.apple-id.parameter`.
  init(_ request: ExchangeRequest, _ configuration: Configuration) throws(Refusal) {
    guard let policy = configuration.appleID else {
      throw Refusal(.configExchangeBlockMissing, "EXC-8", at: "appleId")
    }
    self.policy = policy
    self.request = request
    clientId = try AppleIDSecret.clientId(request, policy.clientIds)
  }

  private func node(_ name: StaticString) -> MemberNode? {
    request[name]?.refusing(.misuseAppleIdParameter, "AID-25")
  }

  private func required(_ name: StaticString) throws(Refusal) -> MemberNode {
    guard let node = node(name) else {
      throw Refusal(.misuseAppleIdParameter, "AID-25", at: Text(stringLiteral: name).string)
    }
    return node
  }

  /// Returns a code or a token: 1 to 2,048 characters of visible ASCII.
  func secret(_ name: StaticString) throws(Refusal) -> SecretBytes {
    let node = try required(name)
    let text = try node.text(AppleIDParameters.secretLength)
    try require(text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }, node)
    return SecretBytes(text.utf8)
  }

  func choice(_ name: StaticString, _ choices: [StaticString]) throws(Refusal) -> StaticString {
    choices[try required(name).choice(choices)]
  }

  /// Returns the redirect URI of the web flow; `nil` for a sign-in in the app.
  func redirectURI() throws(Refusal) -> Text? {
    guard let node = node("redirectUri") else { return nil }
    let url = try node.text(AppleIDParameters.urlBytes)
    try require(TokensBlock.isURL(url), node)
    return url
  }
}
