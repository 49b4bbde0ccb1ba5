/// Answers requests from any number of connections at once.
protocol HTTPService: Sendable {
  /// Returns the response to a request, and the fault with which to deliver it.
  func answer(_ request: HTTPRequest) -> (HTTPResponse, MockFault)
}
