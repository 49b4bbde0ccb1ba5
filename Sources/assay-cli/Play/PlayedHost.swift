/// One of Apple's services: answers one request from the state.
protocol PlayedHost: SendableMetatype {
  init(request: HTTPRequest, signer: PlaySigner)
  func answer(_ state: inout PlayState) throws -> HTTPAnswer
}
