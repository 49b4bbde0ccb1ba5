/// The result of an operation that signs (docs/spec/app-store-server-api.md §9).
struct SigningResult {
  enum Value {
    case signature(SecretBytes)
    case text(Text)
    case integer(Int64)
  }

  /// The members in the order in which they are written; the signature is the first.
  var members: [(name: StaticString, value: Value)]
  /// The member to name in `exchange.sensitivePaths`: a token, which must not be logged (EXC-22).
  var secret: StaticString? = nil
  var warnings: [Warning] = []

  /// The number of bytes of the signature. The document reserves them, because a buffer that
  /// grows leaves copies behind.
  var room: Int {
    guard case .signature(let text) = members.first?.value else { return 0 }
    return text.bytes.count
  }

  func write(_ writer: inout JSONWriter) {
    for (name, value) in members {
      writer.name(name)
      switch value {
      case .signature(let text): writer.string(utf8: text.bytes)
      case .text(let text): writer.string(text)
      case .integer(let number): writer.integer(number)
      }
    }
    guard let secret else { return }
    writer.name("sensitivePaths")
    writer.beginArray()
    writer.string(secret)
    writer.endArray()
  }
}
