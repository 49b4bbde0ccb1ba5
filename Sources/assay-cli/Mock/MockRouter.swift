/// Selects the service: by the host's name, and by the path for key sets.
enum MockRouter {
  private static let hosts: [String: any MockHost.Type] = [
    "buy.itunes.apple.com": MockReceipts.self,
    "sandbox.itunes.apple.com": MockReceipts.self,
    "api.devicecheck.apple.com": MockDevices.self,
    "api.development.devicecheck.apple.com": MockDevices.self,
    "data.appattest.apple.com": MockAttestReceipts.self,
    "data-development.appattest.apple.com": MockAttestReceipts.self,
    "ocsp.apple.com": MockRevocation.self,
    "appleid.apple.com": MockAppleID.self,
  ]

  /// The mocked hosts, which are the names in the certificate for TLS.
  static var names: [String] {
    let issuers = MockState.issuers.map { issuer in
      String(issuer.dropFirst("https://".count).prefix { $0 != "/" })
    }
    return Set(Array(hosts.keys) + Array(MockStore.hosts.keys) + issuers).sorted()
  }

  static func isStore(_ request: HTTPRequest) -> Bool { MockStore.hosts[request.host] != nil }

  /// Returns the response before faults of delivery. An unknown path is 404 without a body (PLY-6).
  static func answer(
    _ request: HTTPRequest, _ state: inout MockState, _ fault: MockFault
  ) -> HTTPResponse {
    let signer = MockSigner(authority: state.authority, fault: fault)
    let host: any MockHost.Type =
      isStore(request) ? MockStore.self : hosts[request.host] ?? MockKeySets.self
    do {
      return try host.init(request: request, signer: signer).answer(&state)
    } catch {
      Terminal.complain("assay mock-apple: \(request.path): \(error)")
      return .text("\(error)\n", status: 500)
    }
  }
}
