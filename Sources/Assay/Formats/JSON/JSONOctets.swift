extension JSONWriter {
  /// Octets as lower-case hex.
  mutating func member(_ name: StaticString, hex: [UInt8]) {
    self.name(name)
    string(utf8: Hex.encode(hex))
  }

  /// The same under a name that came from evidence.
  @_disfavoredOverload
  mutating func member(_ name: Text, hex: [UInt8]) {
    self.name(name)
    string(utf8: Hex.encode(hex))
  }

  /// Octets as standard base64.
  mutating func member(_ name: StaticString, base64: [UInt8]) {
    self.name(name)
    string(utf8: Base64.encodeStandard(base64))
  }
}
