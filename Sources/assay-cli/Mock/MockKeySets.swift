import AssayAuthority

/// Mocks the key sets of the test issuers (docs/spec/access-tokens.md §5.1).
struct MockKeySets: MockHost {
  let request: HTTPRequest
  let signer: MockSigner

  /// Returns the issuer whose key set is requested; `nil` for another request.
  static func issuer(_ request: HTTPRequest) -> String? {
    let end = "/.well-known/jwks.json"
    guard request.path.hasSuffix(end) else { return nil }
    let issuer = "https://" + request.host + request.path.dropLast(end.count)
    return MockState.issuers.contains(issuer) ? issuer : nil
  }

  func answer(_ state: inout MockState) throws -> HTTPResponse {
    guard let issuer = MockKeySets.issuer(request) else { return .empty(404) }
    return try MockKeySets.answer(request, issuer, &state, signer.fault)
  }

  static func answer(
    _ request: HTTPRequest, _ issuer: String, _ state: inout MockState, _ fault: MockFault
  ) throws -> HTTPResponse {
    guard request.method == "GET" else { return .empty(405) }
    if let change = fault.keys { state.rings[issuer]?.change(change) }
    guard let ring = state.rings[issuer] else { return .empty(404) }
    if request.header("if-none-match") == ring.tag {
      return HTTPResponse(status: 304, headers: [("ETag", ring.tag)])
    }
    var answer = HTTPResponse.json(try ring.published())
    answer.headers = [("ETag", ring.tag), ("Cache-Control", "public, max-age=86400")]
    return answer
  }
}
