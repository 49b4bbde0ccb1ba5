/// Which service answers: by the host's name, and by the path for key sets.
enum PlayRouter {
  private static let hosts: [String: any PlayedHost.Type] = [
    "buy.itunes.apple.com": PlayedReceipts.self,
    "sandbox.itunes.apple.com": PlayedReceipts.self,
    "api.devicecheck.apple.com": PlayedDevices.self,
    "api.development.devicecheck.apple.com": PlayedDevices.self,
    "data.appattest.apple.com": PlayedAttestReceipts.self,
    "data-development.appattest.apple.com": PlayedAttestReceipts.self,
    "ocsp.apple.com": PlayedRevocation.self,
    "appleid.apple.com": PlayedAppleID.self,
  ]

  /// Every name that is played; the certificate for TLS has them.
  static var names: [String] {
    let issuers = PlayState.issuers.map { issuer in
      String(issuer.dropFirst("https://".count).prefix { $0 != "/" })
    }
    return Set(Array(hosts.keys) + Array(PlayedStore.hosts.keys) + issuers).sorted()
  }

  static func isStore(_ request: HTTPRequest) -> Bool { PlayedStore.hosts[request.host] != nil }

  /// The answer, as it is without faults of the wire (PLY-6: an unknown path is 404 without
  /// a body).
  static func answer(
    _ request: HTTPRequest, _ state: inout PlayState, _ fault: PlayFault
  ) -> HTTPAnswer {
    let signer = PlaySigner(authority: state.authority, fault: fault)
    let host: any PlayedHost.Type =
      isStore(request) ? PlayedStore.self : hosts[request.host] ?? PlayedKeySets.self
    do {
      return try host.init(request: request, signer: signer).answer(&state)
    } catch {
      Terminal.complain("assay mock-apple: \(request.path): \(error)")
      return .text("\(error)\n", status: 500)
    }
  }
}
