import AssayAuthority

extension CaseFixture {
  /// Adds JWS that were or were not made for a device (JWS-93).
  func addDeviceProofCases() throws {
    let device = Purchase.deviceId
    func ask(_ device: JSONText) -> JSONText { ["operation": "verify-device", "deviceId": device] }
    let app = EvidenceCase.Evidence(
      .appTransaction, try authority.mint(purchase.appTransactionPayload))
    for (name, evidence) in [
      ("an app transaction", app), ("a transaction", try deviceTransaction()),
      ("a renewal", try deviceRenewal()),
    ] {
      request(
        "JWS-93", "the device of \(name)", ask(.string(device)), evidence: [evidence],
        facts: [
          ("operation", "verify-device"), ("step", "done"), ("deviceVerified", true),
          ("revocation", .null),
        ])
    }
    request(
      "JWS-93", "the device in lower case", ask(.string(device.lowercased())),
      evidence: [app])
    request(
      "JWS-93", "a nonce in upper case", ask(.string(device)),
      evidence: [
        try deviceTransaction([
          ("deviceVerificationNonce", .string(Purchase.deviceNonce.uppercased()))
        ])
      ])
    let other = "D2A9E7F4-31B8-4D6A-9E05-7F1B2C3D4E5F"
    request(
      "JWS-93", "another device", ask(.string(other)), evidence: [app], "rejected.account.device",
      at: "deviceVerification", facts: [("step", "done")])
    for (name, member, value) in [
      ("a proof of another device", "deviceVerification", Purchase.deviceVerification(of: other)),
      ("a proof that is no base64", "deviceVerification", "***"),
      ("an empty proof", "deviceVerification", ""),
      ("another nonce", "deviceVerificationNonce", "5f0c6a1e-7a86-4d0c-b7f5-0c1d0f2a3b4d"),
      ("a nonce that is no UUID", "deviceVerificationNonce", "5f0c6a1e"),
    ] {
      request(
        "JWS-93", name, ask(.string(device)),
        evidence: [try deviceTransaction([(member, .string(value))])],
        "rejected.account.device", at: "deviceVerification")
    }
    for (name, value) in [
      ("a device without hyphens", .string(device.filter { $0 != "-" })), ("no device", ""),
      ("a device that is a number", 1),
    ] as [(String, JSONText)] {
      request(
        "JWS-93", name, ask(value), evidence: [app], "misuse.exchange.request", at: "deviceId")
    }
    request(
      "JWS-93", "without a device", ["operation": "verify-device"], evidence: [app],
      "misuse.exchange.request", at: "deviceId")
    let misuse = "misuse.exchange.evidence"
    let whole = purchase.transactionPayload.setting(Purchase.deviceMembers)
    for member in ["deviceVerification", "deviceVerificationNonce"] {
      request(
        "JWS-93", "no \(member)", ask(.string(device)),
        evidence: [.init(.transaction, try authority.mint(whole.removing(member)))], misuse,
        at: "evidence[0]")
    }
    request(
      "JWS-93", "a notification", ask(.string(device)),
      evidence: [
        .init(.notification, try authority.mint(authority.payload(.notification, purchase)))
      ], misuse, at: "evidence[0]")
    request("EXC-2", "no evidence for a device", ask(.string(device)), misuse, at: "evidence")
    request(
      "EXC-2", "two documents for a device", ask(.string(device)), evidence: [app, app], misuse,
      at: "evidence")
  }

  private func deviceTransaction(
    _ changes: [(String, JSONText)] = []
  ) throws -> EvidenceCase.Evidence {
    .init(
      .transaction,
      try authority.mint(
        purchase.transactionPayload.setting(Purchase.deviceMembers).setting(changes)))
  }

  private func deviceRenewal() throws -> EvidenceCase.Evidence {
    .init(
      .renewalInfo, try authority.mint(purchase.renewalPayload.setting(Purchase.deviceMembers)))
  }
}

extension Purchase {
  fileprivate static var deviceMembers: [(String, JSONText)] {
    [
      ("deviceVerification", .string(deviceVerification)),
      ("deviceVerificationNonce", .string(deviceNonce)),
    ]
  }
}
