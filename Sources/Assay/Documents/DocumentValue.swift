#if !hasFeature(Embedded)
  /// One value of a document's own JSON, for the typed layer (Sources/AssaySwift) only: part of
  /// neither libassay.so nor any other interface.
  @_spi(AssaySwift) public struct DocumentValue: Sendable {
    private let value: JSONValue

    private init(_ value: JSONValue) { self.value = value }

    /// Reads a JSON text whose top is an object; `nil` for any other text.
    public init?(json: [UInt8]) {
      let caps = JSONCaps(
        depth: 64, members: 1 << 20, elements: 1 << 20, nameBytes: 1 << 20, values: .max)
      guard let read = try? JSONReader.readObject(json, caps: caps) else { return nil }
      value = read.root
    }

    public var isObject: Bool { value.kind == .object }

    /// Returns the member with this name; `nil` if it is absent or null.
    public func member(_ name: StaticString) -> DocumentValue? {
      value.present(name).map(DocumentValue.init)
    }

    /// The members of an object with their names, or the elements of an array without names;
    /// empty for other values.
    public var children: [(name: String, value: DocumentValue)] {
      value.children.map { ($0.name.string, DocumentValue($0)) }
    }

    public var isArray: Bool { value.kind == .array }

    public var text: String? { value.text?.string }

    public var boolean: Bool? { value.boolean }

    /// The integer, also if the library wrote it as text because it is beyond 2^53 (DOC-2).
    public var integer: Int64? {
      if let text = value.text { return JSONValue.integer(text.utf8[...]) }
      return value.integer
    }

    /// The integer of signed evidence, which is always a JSON number.
    public var signedInteger: Int64? { value.integer }

    /// The time of signed evidence, to which Xcode adds fractions of a millisecond (JWS-81).
    public var signedTime: Int64? { value.truncated }

    /// The bytes of a text in standard base64; `nil` for anything else.
    public var octets: [UInt8]? {
      guard let text = value.text else { return nil }
      return Base64.decodeStandard(text.utf8[...])
    }

    /// The value as it was written.
    public var json: String {
      let written = value.kind == .string ? value.quotedSource : value.source
      return String(decoding: written, as: UTF8.self)
    }
  }

  extension Document {
    /// The whole document as a value; `nil` if its JSON is no object.
    @_spi(AssaySwift) public var value: DocumentValue? { DocumentValue(json: json) }
  }
#endif
