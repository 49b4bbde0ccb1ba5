import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A step `http` of an exchange (docs/exchanges.md).
struct HTTPStep: Decodable {
  struct Body: Codable { let text: String }
  let id, timeoutMs, maxResponseBytes: Int
  let method: String
  var url: URL
  var headers: [[String]]
  let body: Body?
  let responseHeaders: [String]
}

/// The reply to a step `http`; `status` is 0 if no response came.
struct HTTPReply: Encodable {
  let id: Int
  var status = 0
  var headers: [[String]] = []
  var body = HTTPStep.Body(text: "")
  var truncated = false
}

/// Sends requests. Follows no redirect: a request has a token of the key.
final class Sender: NSObject, URLSessionTaskDelegate {
  private let session = URLSession(configuration: .ephemeral)

  @Sendable func send(_ step: HTTPStep) async -> HTTPReply {
    var request = URLRequest(url: step.url, timeoutInterval: Double(step.timeoutMs) / 1000)
    request.httpMethod = step.method
    request.httpBody = step.body.map { Data($0.text.utf8) }
    for pair in step.headers { request.setValue(pair[1], forHTTPHeaderField: pair[0]) }
    guard let (data, response) = try? await session.data(for: request, delegate: self),
      let response = response as? HTTPURLResponse
    else { return HTTPReply(id: step.id) }
    return HTTPReply(
      id: step.id, status: response.statusCode,
      headers: step.responseHeaders.compactMap { name in
        response.value(forHTTPHeaderField: name).map { [name, $0] }
      },
      body: .init(text: String(decoding: data.prefix(step.maxResponseBytes), as: UTF8.self)),
      truncated: data.count > step.maxResponseBytes)
  }

  func urlSession(
    _: URLSession, task _: URLSessionTask, willPerformHTTPRedirection _: HTTPURLResponse,
    newRequest _: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    completionHandler(nil)
  }
}
