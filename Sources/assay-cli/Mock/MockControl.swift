import AssayAuthority

/// The endpoints below `/play/`, by which a test changes the mock (PLY-5).
struct MockControl {
  let request: HTTPRequest
  let signer: MockSigner

  init(_ request: HTTPRequest, _ authority: MockAuthority) {
    self.request = request
    signer = MockSigner(authority: authority, fault: MockFault())
  }

  static func isMeant(_ request: HTTPRequest) -> Bool {
    let names: Set<String> = ["play", "localhost", "::1"]
    return request.path.hasPrefix("/play/")
      && (names.contains(request.host) || request.host.hasPrefix("127."))
  }

  func answer(_ state: inout MockState) -> HTTPResponse {
    do {
      switch (request.method, request.path) {
      case ("GET", "/play/log"):
        return .json(["log": .array(state.log.map(\.json))])
      case ("GET", "/play/state"):
        return .json(["purchases": .array(state.purchases.map(\.json))])
      case ("POST", _): return try change(&state)
      default: return .empty(404)
      }
    } catch {
      return .json(["error": .string("\(error)")], status: 400)
    }
  }

  private func change(_ state: inout MockState) throws -> HTTPResponse {
    guard let json = request.json else { throw Problem("the body is not JSON") }
    switch request.path {
    case "/play/refund": return try refund(json, &state)
    case "/play/renew": return try renew(json, &state)
    case "/play/expire": return try expire(json, &state)
    case "/play/grace": return try grace(json, &state)
    case "/play/purchase": return try purchase(json, &state)
    case "/play/clock": return try clock(json, &state)
    case "/play/script":
      state.script = try MockScript(json)
      return .json(["ok": true])
    case "/play/log":
      state.log = []
      return .json(["ok": true])
    case "/play/keys": return try keys(json, &state)
    case "/play/token": return try token(json, state)
    case "/play/sign-in": return try signIn(json, &state)
    case "/play/apple-event": return try appleEvent(json, &state)
    case "/play/risk":
      state.risk = Int(try value(json, "risk").integer(in: 0...999_999_999))
      return .json(["ok": true])
    default: return .empty(404)
    }
  }

  private func value(_ json: JSONTree, _ name: String) throws -> MockValue {
    guard let found = json[name] else { throw Problem("\(name) is missing") }
    return MockValue(found, name)
  }

  // MARK: purchases

  /// Returns the index of the transaction that the body names, or of the newest one of the
  /// subscription that it names.
  private func place(_ json: JSONTree, _ state: MockState) throws -> Int {
    if let id = json["transactionId"]?.text {
      guard let place = state.place(of: id) else { throw Problem("there is no transaction \(id)") }
      return place
    }
    let id = try value(json, "originalTransactionId").text()
    guard let place = state.newest(ofLine: id) else { throw Problem("there is no line \(id)") }
    return place
  }

  private func changed(_ place: Int, _ state: inout MockState) throws -> HTTPResponse {
    state.touch(place)
    try state.keep()
    return .json(["ok": true, "purchase": state.purchases[place].json])
  }

  private func refund(_ json: JSONTree, _ state: inout MockState) throws -> HTTPResponse {
    let place = try place(json, state)
    let reason = try json["reason"].map { try MockValue($0, "reason").integer(in: 0...1) } ?? 0
    state.purchases[place].revoke(at: state.clock.now, reason: reason)
    return try changed(place, &state)
  }

  /// Returns the index of the newest transaction of a subscription.
  private func line(_ json: JSONTree, _ state: MockState) throws -> Int {
    let place = try place(json, state)
    guard state.purchases[place].purchase.type == .autoRenewable else {
      throw Problem("\(state.purchases[place].purchase.transactionId) is no subscription")
    }
    return place
  }

  private func renew(_ json: JSONTree, _ state: inout MockState) throws -> HTTPResponse {
    let place = state.renew(try line(json, state))
    return try changed(place, &state)
  }

  private func expire(_ json: JSONTree, _ state: inout MockState) throws -> HTTPResponse {
    let place = try line(json, state)
    let intent = try json["intent"].map { try MockValue($0, "intent").integer(in: 1...5) } ?? 1
    state.end(place)
    state.purchases[place].purchase.autoRenewStatus = 0
    state.purchases[place].purchase.expirationIntent = intent
    state.purchases[place].purchase.isInBillingRetryPeriod = nil
    state.purchases[place].purchase.gracePeriodExpiresDate = nil
    return try changed(place, &state)
  }

  /// Lets the payment fail: starts a grace period, or billing retry if the grace period has no
  /// days.
  private func grace(_ json: JSONTree, _ state: inout MockState) throws -> HTTPResponse {
    let place = try line(json, state)
    let days = try json["days"].map { try MockValue($0, "days").integer(in: 0...60) } ?? 16
    state.end(place)
    state.purchases[place].purchase.isInBillingRetryPeriod = true
    state.purchases[place].purchase.expirationIntent = 2
    state.purchases[place].purchase.gracePeriodExpiresDate =
      days == 0 ? nil : state.clock.now + days * Purchase.day
    return try changed(place, &state)
  }

  private func purchase(_ json: JSONTree, _ state: inout MockState) throws -> HTTPResponse {
    let one = try MockPurchase(
      json, at: "purchase", app: state.authority.app, now: state.clock.now)
    guard state.place(of: one.purchase.transactionId) == nil else {
      throw Problem("transaction \(one.purchase.transactionId) is there already")
    }
    state.purchases.append(one)
    return try changed(state.purchases.count - 1, &state)
  }

  private func clock(_ json: JSONTree, _ state: inout MockState) throws -> HTTPResponse {
    if let by = json["advanceMs"] {
      let year = 365 * Purchase.day
      state.clock.advance(by: try MockValue(by, "advanceMs").integer(in: -year...year))
    } else if json["now"]?.text == "live" {
      state.clock.set(nil)
    } else {
      state.clock.set(try value(json, "now").date())
    }
    return .json(["ok": true, "now": .integer(state.clock.now)])
  }

  // MARK: tokens

  private func issuer(_ json: JSONTree, _ state: MockState) throws -> String {
    try value(json, "issuer").choice(MockState.issuers)
  }

  private func keys(_ json: JSONTree, _ state: inout MockState) throws -> HTTPResponse {
    let issuer = try issuer(json, state)
    let word = try value(json, "keys").choice(["rotate", "remove"])
    if let change = MockFault.KeyChange(rawValue: word) { state.rings[issuer]?.change(change) }
    return .json(["ok": true, "kid": .string(state.rings[issuer]?.keyId ?? "")])
  }

  /// Returns an access token, whose own claims `claims` replaces.
  private func token(_ json: JSONTree, _ state: MockState) throws -> HTTPResponse {
    let issuer = try issuer(json, state)
    let sample = TokenAuthority(
      rsaKey: state.authority.rsaKeys[0], ellipticKey: state.authority.ellipticKeys[0],
      now: state.clock.now)
    guard issuer != TokenAuthority.apple, let ring = state.rings[issuer] else {
      throw Problem("identity tokens come from /play/sign-in")
    }
    var claims = ring.isElliptic ? sample.jwtClaims(issuer: issuer) : sample.cognitoClaims
    for member in json["claims"]?.members ?? [] {
      claims = claims.setting(member.name, member.value.written)
    }
    let text = try ring.signed(claims, type: ring.isElliptic ? "at+jwt" : nil)
    return .json(["token": .string(text), "kid": .string(ring.keyId)])
  }

  /// Makes what Apple posts to a host when an account changes (AID-11).
  private func appleEvent(_ json: JSONTree, _ state: inout MockState) throws -> HTTPResponse {
    let type = try value(json, "type").text()
    let client = try json["clientId"].map { try MockValue($0, "clientId").text() }
    let fault = try json["fault"].map { try MockFault($0, at: "fault") } ?? MockFault()
    let event = MockAppleEvent(
      type: type, subject: try json["subject"].map { try MockValue($0, "subject").text() },
      clientId: client ?? state.authority.app.bundleId)
    return .json(["payload": .string(try event.text(&state, fault))])
  }

  /// Signs a customer in on a device, and returns what the app would pass to the host.
  private func signIn(_ json: JSONTree, _ state: inout MockState) throws -> HTTPResponse {
    let code = MockAppleCode(
      clientId: try json["clientId"].map { try MockValue($0, "clientId").text() }
        ?? state.authority.app.bundleId,
      subject: try json["subject"].map { try MockValue($0, "subject").text() }
        ?? "001234.0123456789abcdef0123456789abcdef.0123",
      nonce: try json["nonce"].map { try MockValue($0, "nonce").text() },
      madeMs: state.clock.now)
    let name = "c" + state.name("code")
    if state.codes.count > 10_000 { state.codes = [:] }
    state.codes[name] = code
    return .json([
      "code": .string(name), "subject": .string(code.subject),
      "identityToken": .string(try MockAppleID.identity(code, state, MockFault())),
    ])
  }
}
