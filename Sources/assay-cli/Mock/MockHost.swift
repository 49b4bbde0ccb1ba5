/// One of Apple's services, which serves one request from the state.
protocol MockHost: SendableMetatype {
  init(request: HTTPRequest, signer: MockSigner)
  func answer(_ state: inout MockState) throws -> HTTPResponse
}
