/// The members of a request, checked and in the form in which they are sent (API-21 … API-23).
struct AppStoreParameters: Sendable {
  /// The path from its first slash, without the query.
  let path: [UInt8]
  private let query: [(name: StaticString, value: Text)]
  /// JSON or a file; `nil` if the endpoint has no body.
  let body: [UInt8]?
  /// The file that is the body; `nil` if the body is JSON.
  let file: [UInt8]?
  /// The first value in the path, which for the rule `sameId` is the requested id.
  let id: Text?
  private let paging: StaticString?
  /// Values that are sent although Apple has not documented them, or has replaced them.
  let warnings: [Warning]

  /// - Throws: `misuse.app-store.parameter`.
  init(
    _ request: ExchangeRequest, _ endpoint: AppStoreEndpoint, isStrict: Bool
  ) throws(Refusal) {
    var warnings: [Warning] = []
    var file: [UInt8]? = nil
    var inPath: [Text] = []
    var query: [(name: StaticString, value: Text)] = []
    var writer = JSONWriter()
    var hasBody = false
    writer.beginObject()
    for member in endpoint.members {
      let values = try member.values(
        request[member.name], in: nil, isStrict: isStrict, &warnings)
      switch member.place {
      case .path: inPath += values.map { $0.text }
      case .query: query += values.map { (member.name, $0.text) }
      case .body:
        hasBody = true
        if case .file(let bytes)? = values.first { file = bytes }
        member.write(values, &writer)
      }
    }
    writer.endObject()
    path = AppStoreParameters.path(endpoint.path, inPath)
    self.query = query
    self.file = file
    body = file ?? (hasBody ? writer.bytes : nil)
    id = inPath.first
    paging = endpoint.paging
    self.warnings = warnings
  }

  /// Replaces each `{name}` of the template by the next value.
  private static func path(_ template: StaticString, _ values: [Text]) -> [UInt8] {
    var path: [UInt8] = []
    var left = values[...]
    var isName = false
    for byte in Text(stringLiteral: template).utf8 {
      switch byte {
      case 0x7b:
        isName = true
        append(left.popFirst(), to: &path)
      case 0x7d: isName = false
      default: if !isName { path.append(byte) }
      }
    }
    return path
  }

  /// The paging value of the request; `nil` for the first page.
  var cursor: Text? {
    guard let paging else { return nil }
    return query.first { Text(stringLiteral: $0.name) == Text(stringLiteral: paging) }?.value
  }

  /// Returns the URL of the page that `cursor` selects (API-22).
  func url(_ base: Text, cursor: Text?) -> Text {
    var url = base.utf8
    if url.last == 0x2f { url.removeLast() }
    url += path
    var separator: UInt8 = 0x3f
    func add(_ name: StaticString, _ value: Text) {
      url.append(separator)
      url += Text(stringLiteral: name).utf8
      url.append(0x3d)
      AppStoreParameters.append(value, to: &url)
      separator = 0x26
    }
    if let paging, let cursor { add(paging, cursor) }
    for member in query
    where paging.map({ Text(stringLiteral: $0) != Text(stringLiteral: member.name) }) ?? true {
      add(member.name, member.value)
    }
    return Text(url)
  }

  /// Returns the URL of the object below this endpoint's path.
  func url(_ base: Text, below id: Text) -> Text {
    var url = self.url(base, cursor: nil).utf8
    url.append(0x2f)
    AppStoreParameters.append(id, to: &url)
    return Text(url)
  }

  /// Percent-encodes all but unreserved characters, so that a client's value cannot become
  /// another part of the URL (API-21).
  private static func append(_ text: Text?, to url: inout [UInt8]) {
    for byte in text?.utf8 ?? [] {
      switch byte {
      case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x2e, 0x5f, 0x7e: url.append(byte)
      default:
        url.append(0x25)
        url += Hex.encode([byte], upper: true)
      }
    }
  }
}
