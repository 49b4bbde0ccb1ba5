import AssayAuthority

/// Mocks DeviceCheck: two bits a device, with the response texts of Apple's server
/// (docs/spec/device-check.md §2). A test device token is the base64 of `DEVICE#anything`: the text
/// before `#` names the device. One of a development build begins with `development:`, and one that
/// begins with `bad` is refused.
struct MockDevices: MockHost {
  let request: HTTPRequest
  let signer: MockSigner

  private static let window: Int64 = Purchase.day

  func answer(_ state: inout MockState) throws -> HTTPResponse {
    let calls = [
      "/v1/query_two_bits": "query", "/v1/update_two_bits": "update",
      "/v1/validate_device_token": "validate",
    ]
    guard let call = calls[request.path] else { return .empty(404) }
    guard request.method == "POST" else { return .empty(405) }
    if let refusal = unauthorized(at: state.clock.now) { return refusal }
    guard let json = request.json, case .object = json else { return bad("Bad Payload") }
    let bits = call == "update" ? ["bit0", "bit1"] : []
    let names = Set(["device_token", "transaction_id", "timestamp"] + bits)
    if json.members.contains(where: { !names.contains($0.name) }) { return bad("Bad Payload") }
    guard let id = json["transaction_id"]?.text, !id.isEmpty else { return bad("Bad Payload") }
    guard let stamp = json["timestamp"]?.integer,
      (state.clock.now - Self.window...state.clock.now + Self.window).contains(stamp)
    else { return bad("Missing or incorrectly formatted time stamp") }
    guard let device = device(json["device_token"]?.text) else {
      return bad("Missing or incorrectly formatted device token payload")
    }
    switch call {
    case "query": return queried(state.devices[device])
    case "update": return update(device, json, &state)
    default: return .empty(200)
    }
  }

  private func bad(_ text: String) -> HTTPResponse { .text(text, status: 400) }

  private func unauthorized(at now: Int64) -> HTTPResponse? {
    guard let header = request.header("authorization"), header.hasPrefix("Bearer "),
      let token = WebToken(String(header.dropFirst(7)))
    else { return bad("Missing or badly formatted authorization token") }
    let authority = signer.authority
    guard
      token.isSigned(by: authority.deviceCheckKey, keyId: MockAuthority.deviceCheckKeyId),
      token.claims["iss"]?.text == authority.app.teamId
    else { return .text("Unable to verify authorization token", status: 401) }
    if !token.isCurrent(at: now, longest: 3600) {
      return .text("Authorization token expired", status: 401)
    }
    return nil
  }

  /// Returns the device that a token names; `nil` if Apple does not know it in this environment.
  private func device(_ token: String?) -> String? {
    guard let token, token.utf8.count % 4 == 0, !token.isEmpty,
      token.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x2d && $0 != 0x5f }),
      let octets = Base64Text.decodeLeniently(Array(token.utf8)), !octets.isEmpty
    else { return nil }
    let text = String(decoding: octets, as: UTF8.self)
    let isDevelopment = text.hasPrefix("development:")
    guard !text.hasPrefix("bad"),
      isDevelopment == (request.host == "api.development.devicecheck.apple.com")
    else { return nil }
    return String(text.prefix { $0 != "#" })
  }

  private func queried(_ device: MockDevice?) -> HTTPResponse {
    guard let device else { return .text("Failed to find bit state") }
    return .json([
      "bit0": .boolean(device.bit0), "bit1": .boolean(device.bit1),
      "last_update_time": .string(device.month),
    ])
  }

  private func update(
    _ name: String, _ json: JSONTree, _ state: inout MockState
  ) -> HTTPResponse {
    var device = state.devices[name] ?? MockDevice()
    for bit in ["bit0", "bit1"] where json[bit] != nil {
      guard let value = json[bit]?.boolean else {
        return bad("Missing or incorrectly formatted bits")
      }
      if bit == "bit0" { device.bit0 = value } else { device.bit1 = value }
    }
    device.month = String(WrittenDate.iso(state.clock.now).prefix(7))
    state.devices[name] = device
    return .empty(200)
  }
}
