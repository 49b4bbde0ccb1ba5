extension JSONWriter {
  /// Writes a member whose value is lower-case hex.
  mutating func member(_ name: StaticString, hex: [UInt8]) {
    self.name(name)
    string(utf8: Hex.encode(hex))
  }

  /// Writes a member whose value is lower-case hex and whose name comes from evidence.
  @_disfavoredOverload
  mutating func member(_ name: Text, hex: [UInt8]) {
    self.name(name)
    string(utf8: Hex.encode(hex))
  }

  /// Writes a member whose value is standard base64.
  mutating func member(_ name: StaticString, base64: [UInt8]) {
    self.name(name)
    string(utf8: Base64.encodeStandard(base64))
  }
}
