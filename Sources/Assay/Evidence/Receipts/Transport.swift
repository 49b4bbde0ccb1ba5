/// A client's blob with its transport encoding removed (RCP-1 … RCP-4). Nothing here is trusted:
/// a wrong guess about the encoding cannot admit anything, because the signature is verified
/// afterwards.
struct Transport: Sendable {
  /// The decoded bytes; the input itself if it was not encoded.
  let bytes: [UInt8]
  let form: BlobForm
  /// How often the input was encoded in base64: 0, 1 or 2.
  let levels: Int
  /// Whether a space in the text was read as `+` (RCP-3).
  let spaceAsPlus: Bool

  /// Decodes one input.
  ///
  /// - Parameter cap: the longest input that is read, in bytes.
  /// - Throws: `malformed.transport.empty`, `.base64`, `.levels`, `too-large.transport.input`.
  init(_ input: [UInt8], cap: Int) throws(Refusal) {
    guard let start = input.firstIndex(where: { !ASCII.isSpace($0) }) else {
      throw Refusal(.malformedTransportEmpty, "RCP-1")
    }
    try require(input.count <= cap, .tooLargeTransportInput, "RCP-1")
    if BlobForm.isContainer(input) || input[start] == 0x7b {
      self.init(Decoded(bytes: input, form: BlobForm.byFirstBytes(input), levels: 0))
      return
    }
    let begin = input.firstIndex(where: { !TolerantBase64.isBlank($0) }) ?? start
    let end = 1 &+ (input.lastIndex(where: { !TolerantBase64.isBlank($0) }) ?? start)
    let text = input[begin..<end]
    if let bytes = Base64.decodeStandard(text) {
      // Most inputs are one clean base64 text, without dots and spaces.
      self.init(try Transport.inner(bytes))
      return
    }
    if BlobForm.isThreeParts(text) {
      let bytes = Array(text)
      self.init(Decoded(bytes: bytes, form: BlobForm(bytes), levels: 0))
      return
    }
    let form = BlobForm.byFirstBytes(input)
    if form != .unknown {
      self.init(Decoded(bytes: input, form: form, levels: 0))
      return
    }
    let (decoded, spaceAsPlus) = try Transport.decode(tolerantly: input)
    self.init(decoded, spaceAsPlus: spaceAsPlus)
  }

  /// Decodes base64 as Apple's verifyReceipt endpoint does: one level, in canonical form, but the
  /// unused bits of the last character may be set (VRE-12). `nil` for any other text.
  init?(asApple text: [UInt8]) {
    guard let bytes = Base64.decodeStandard(Base64.withoutUnusedBits(text)[...]), !bytes.isEmpty
    else { return nil }
    self.init(Decoded(bytes: bytes, form: BlobForm(bytes), levels: 1))
  }

  private init(_ decoded: Decoded, spaceAsPlus: Bool = false) {
    bytes = decoded.bytes
    form = decoded.form
    levels = decoded.levels
    self.spaceAsPlus = spaceAsPlus
  }

  /// Refuses a blob of a known form that the call does not take (RCP-5).
  ///
  /// - Parameter other: forms that the caller's reader refuses with a better message.
  func demand(_ expected: BlobForm, orNameBetter other: [BlobForm] = []) throws(Refusal) {
    let isKnown = form != .unknown && !other.contains(form)
    try require(
      form == expected || !isKnown, .rejectedKindMismatch, "RCP-5",
      detail: "expected " + Text(stringLiteral: expected.name).string + ", looks like "
        + Text(stringLiteral: form.name).string)
  }

  /// Writes the member `transport`, name and value.
  func write(_ writer: inout JSONWriter) {
    writer.name("transport")
    writer.beginObject()
    writer.member("form", levels == 0 ? "raw" : levels == 1 ? "base64" : "base64-twice")
    writer.member("levels", integer: Int64(levels))
    writer.member("spaceAsPlus", boolean: spaceAsPlus)
    writer.endObject()
  }

  // MARK: readings

  /// One possible decoding of the input.
  private struct Decoded {
    var bytes: [UInt8]
    var form: BlobForm
    var levels: Int

    /// Whether the bytes have the form to their end, as far as a reader of only the form can
    /// determine.
    var isWhole: Bool {
      switch form {
      case .unknown: return false
      case .list:
        return (try? PropertyList(bytes, limits: .outer)) != nil
          || (try? JSONReader.readObject(bytes, caps: .transport)) != nil
      case .container: return containerFillsBytes
      default: return true
      }
    }

    /// Whether the container ends with the bytes: its definite length is theirs, or its
    /// indefinite length is closed exactly at their end. Bytes lost inside would not change the
    /// last ones, so all elements are walked.
    private var containerFillsBytes: Bool {
      guard let first = bytes.dropFirst().first else { return false }
      guard first != 0x80 else {
        let limits = BER.Limits(elements: AppReceiptVerification.elementCap, depth: 24)
        return (try? BER.measure(bytes, limits)) != nil
      }
      var length = 0
      for byte in bytes.dropFirst(2).prefix(Int(first & 0x7f)) { length = length << 8 | Int(byte) }
      return length &+ 2 &+ Int(first & 0x7f) == bytes.count
    }
  }

  /// Decodes text with spaces: first without the spaces (RCP-2), then, if the result is not
  /// whole, with `+` in their place (RCP-3).
  private static func decode(
    tolerantly input: [UInt8]
  ) throws(Refusal) -> (Decoded, spaceAsPlus: Bool) {
    let removed = TolerantBase64.decode(input[...])
    let restored = TolerantBase64.withPlusForSpaces(input)
    guard let restored else { return (try inner(demanded(removed, input)), false) }
    let first = try removed.map { bytes throws(Refusal) in try inner(bytes) }
    if let first, first.isWhole { return (first, false) }
    guard let bytes = TolerantBase64.decode(restored[...]) else {
      guard let first else { throw fault(input) }
      return (first, false)
    }
    let second = try inner(bytes)
    if let first, !second.isWhole { return (first, false) }
    return (second, true)
  }

  private static func demanded(_ bytes: [UInt8]?, _ input: [UInt8]) throws(Refusal) -> [UInt8] {
    guard let bytes else { throw fault(input) }
    return bytes
  }

  /// Returns the refusal of a text that is not base64 (RCP-2).
  private static func fault(_ input: [UInt8]) -> Refusal {
    Refusal(
      .malformedTransportBase64, "RCP-2",
      at: TolerantBase64.stranger(in: input[...]).map { "byte " + String($0) } ?? "",
      detail: TolerantBase64.hasPercentEscapes(input[...]) ? "form field not decoded" : "",
      hint: .mistake(input))
  }

  /// Decodes one more level if the bytes are again base64 of a known form, never a third (RCP-4).
  private static func inner(_ bytes: [UInt8]) throws(Refusal) -> Decoded {
    let form = BlobForm(bytes)
    guard form == .unknown, isEncoded(bytes), let again = TolerantBase64.decode(bytes[...]) else {
      return Decoded(bytes: bytes, form: form, levels: 1)
    }
    let inner = BlobForm(again)
    try require(
      inner != .unknown || !isEncoded(again), .malformedTransportLevels, "RCP-4")
    return Decoded(bytes: again, form: inner, levels: 2)
  }

  /// Whether the bytes begin as base64 of a known form does, or as base64 of such base64.
  private static func isEncoded(_ bytes: [UInt8]) -> Bool {
    guard let start = decodedStart(bytes) else { return false }
    if isStart(start) { return true }
    guard let further = decodedStart(start) else { return false }
    return isStart(further)
  }

  /// Whether the bytes begin as a known form, a JWS, or the text of a cracking tool does.
  private static func isStart(_ bytes: [UInt8]) -> Bool {
    BlobForm.byFirstBytes(bytes) != .unknown || bytes.starts(with: jwsStart)
      || bytes.starts(with: crackerStart)
  }

  private static let jwsStart = Text(stringLiteral: "eyJ").utf8
  private static let crackerStart = Text(stringLiteral: "com.urus.iap.").utf8

  /// Returns the bytes that the first 32 digits of a text encode; `nil` if they are not base64.
  private static func decodedStart(_ bytes: [UInt8]) -> [UInt8]? {
    var digits: [UInt8] = []
    digits.reserveCapacity(32)
    for byte in bytes.prefix(64) where !TolerantBase64.isBlank(byte) && byte != 0x3d {
      digits.append(byte)
      if digits.count == 32 { break }
    }
    digits.removeLast(digits.count % 4)
    return digits.isEmpty ? nil : TolerantBase64.decode(digits[...])
  }
}
