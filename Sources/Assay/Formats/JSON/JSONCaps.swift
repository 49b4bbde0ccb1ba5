/// Limits of one JSON text, checked before memory is allocated.
struct JSONCaps: Sendable {
  var depth = 32
  var members = 256
  var elements = 1024
  var nameBytes = 256
  var numberBytes = 64
  /// Of the whole text, containers and members' values counted (JWS-104).
  var values = 16_384

  /// Headers and payloads of evidence (JWS-6).
  static let evidence = JSONCaps()
  /// The app's own request, whose size is limited already (ASR-10).
  static let clientData = JSONCaps(members: 1024, elements: 65_536, values: 131_072)
  /// A text that has not been read yet: whether it is JSON at all (RCP-3).
  static let transport = JSONCaps(members: 8192, elements: 8192, values: 1 << 18)
  /// A configuration: a catalogue may have 4,096 products, and one that has more
  /// is refused for that, not for its syntax.
  static let configuration = JSONCaps(members: 8192, elements: 8192, values: 1 << 18)
  /// An answer of verifyReceipt: as many entries as it may have (VRR-15).
  static let receiptAnswer = JSONCaps(elements: 16_384, values: 1 << 20)
}
