#if !hasFeature(Embedded)
  /// One value of a document's own JSON, for the typed layer (Sources/AssaySwift): not
  /// part of libassay.so, nor of any other interface.
  @_spi(AssaySwift) public struct DocumentValue: Sendable {
    private let value: JSONValue

    private init(_ value: JSONValue) { self.value = value }

    /// A JSON text whose top is an object; nil for any other text.
    public init?(json: [UInt8]) {
      let caps = JSONCaps(
        depth: 64, members: 1 << 20, elements: 1 << 20, nameBytes: 1 << 20, values: .max)
      guard let read = try? JSONReader.readObject(json, caps: caps) else { return nil }
      value = read.root
    }

    public var isObject: Bool { value.kind == .object }

    /// The member of that name; nil where it is absent or null.
    public func member(_ name: StaticString) -> DocumentValue? {
      value.present(name).map(DocumentValue.init)
    }

    /// Members of an object with their names, elements of an array without; empty for
    /// other values.
    public var children: [(name: String, value: DocumentValue)] {
      value.children.map { ($0.name.string, DocumentValue($0)) }
    }

    public var isArray: Bool { value.kind == .array }

    public var text: String? { value.text?.string }

    public var boolean: Bool? { value.boolean }

    /// An integer, past 2^53 also as the text that the library writes it as (DOC-2).
    public var integer: Int64? {
      if let text = value.text { return JSONValue.integer(text.utf8[...]) }
      return value.integer
    }

    /// A number as it was signed: an integer alone.
    public var signedInteger: Int64? { value.integer }

    /// A time as it was signed: Xcode writes fractions of a millisecond (JWS-81).
    public var signedTime: Int64? { value.truncated }

    /// What a text in standard base64 holds.
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
    /// The whole document; nil where no verifier wrote it.
    @_spi(AssaySwift) public var value: DocumentValue? { DocumentValue(json: json) }
  }
#endif
