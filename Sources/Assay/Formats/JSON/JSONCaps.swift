/// Upper limits of one JSON text, checked before memory is allocated.
struct JSONCaps: Sendable {
  var depth = 32
  var members = 256
  var elements = 1024
  var nameBytes = 256
  var numberBytes = 64
  /// Values in the whole text: containers, members and elements (JWS-104).
  var values = 16_384

  /// Limits of the headers and payloads of evidence (JWS-6).
  static let evidence = JSONCaps()
  /// Limits of an app's own request, whose size in bytes is checked before (ASR-10).
  static let clientData = JSONCaps(members: 1024, elements: 65_536, values: 131_072)
  /// Limits of a text of unknown format, while triage finds out whether it is JSON (RCP-3).
  static let transport = JSONCaps(members: 8192, elements: 8192, values: 1 << 18)
  /// Limits of a configuration, above the 4,096 products of a catalogue, so that a larger
  /// catalogue is refused for its size and not for its syntax.
  static let configuration = JSONCaps(members: 8192, elements: 8192, values: 1 << 18)
  /// Limits of a verifyReceipt response, with the most entries that one may have (VRR-15).
  static let receiptAnswer = JSONCaps(elements: 16_384, values: 1 << 20)
}
