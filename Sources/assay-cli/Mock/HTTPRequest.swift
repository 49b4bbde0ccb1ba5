/// A request as it was read.
struct HTTPRequest: Sendable {
  let method: String
  /// The header `Host` in lower case, without a port.
  let host: String
  /// The path without the query, as it was sent.
  let path: String
  let query: [(name: String, value: String)]
  /// The headers, with names in lower case.
  let headers: [(name: String, value: String)]
  var body: [UInt8] = []

  func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }

  /// Returns the last value of that name in the query.
  func one(_ name: String) -> String? { query.last { $0.name == name }?.value }
  func all(_ name: String) -> [String] { query.filter { $0.name == name }.map(\.value) }

  /// The parts of the path between slashes, with escapes resolved.
  var parts: [String] { path.split(separator: "/").map { HTTPRequest.unescaped($0) } }

  /// The body as JSON; `nil` if it is not JSON.
  var json: JSONTree? { JSONTree(body) }

  /// The members of a body that is a form.
  var form: [(name: String, value: String)] {
    HTTPRequest.pairs(String(decoding: body, as: UTF8.self))
  }

  /// Returns the pairs of `a=b&c=d`.
  static func pairs(_ text: String) -> [(name: String, value: String)] {
    text.split(separator: "&").map { part in
      let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return (
        unescaped(sides[0], isForm: true),
        unescaped(sides.count > 1 ? sides[1] : "", isForm: true)
      )
    }
  }

  /// Resolves escapes such as `%41`; in a form `+` is a space.
  static func unescaped(_ text: Substring, isForm: Bool = false) -> String {
    var out: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      if byte == 0x25, rest.count >= 2,
        let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
      {
        out.append(value)
        rest = rest.dropFirst(2)
      } else {
        out.append(isForm && byte == 0x2b ? 0x20 : byte)
      }
    }
    return String(decoding: out, as: UTF8.self)
  }
}
