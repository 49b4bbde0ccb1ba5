import Glibc
import AssayAuthority
import CReference

@testable import Assay

/// Targets for the strict readers only, each compared with another reader.
enum ReaderTargets {
  // MARK: JSON

  private static let caps: [JSONCaps] = [.evidence, .configuration, .clientData, .transport]

  /// Checks that cJSON reads what the strict reader accepts, with the same tree, and that the
  /// accepted text is read again equally. The comparisons of names must not exceed the number of
  /// bytes by more than a constant (JWS-104).
  static func json(_ input: [UInt8]) {
    guard let first = input.first else { return }
    let caps = caps[Int(first & 3)]
    let text = HostileNames.expand(input.dropFirst())
    var comparisons = 0
    let mine: JSON
    do throws(JSONFault) {
      defer { demand(comparisons <= 8 * text.count + 64, "\(comparisons) comparisons") }
      mine = try JSONReader.readValue(text, caps: caps, comparisons: &comparisons)
    } catch {
      if error.reason == .duplicateName { checkRepeat(text, caps, error.offset) }
      return
    }
    demand(hasNoRepeats(mine.root), "a name stands twice")
    let other = text.asText { reference_json_read($0, $1) }
    guard let other else { fatalError("cJSON does not read an accepted text") }
    defer { reference_json_free(other) }
    compare(mine.root, other)
    var writer = JSONWriter()
    write(mine.root, &writer)
    guard let again = try? JSONReader.readValue(writer.bytes, caps: caps) else {
      fatalError("a written text is not accepted")
    }
    var second = JSONWriter()
    write(again.root, &second)
    demand(second.bytes == writer.bytes, "a text changes when it is written twice")
  }

  /// Checks that a name is at the fault's offset, and that replacing it removes the fault or moves
  /// it later.
  private static func checkRepeat(_ text: [UInt8], _ caps: JSONCaps, _ offset: Int) {
    demand(text[offset] == 0x22, "no name there")
    var end = offset + 1
    while text[end] != 0x22 { end += text[end] == 0x5c ? 2 : 1 }
    let other = text[...offset] + "~another~".utf8 + text[end...]
    do throws(JSONFault) {
      _ = try JSONReader.readValue(Array(other), caps: caps)
    } catch {
      demand(error.offset > offset, "the fault is another one")
    }
  }

  private static func hasNoRepeats(_ value: JSONValue) -> Bool {
    value.children.allSatisfy { hasNoRepeats($0) }
      && (value.kind != .object || Set(value.children.map { $0.name.utf8 }).count == value.count)
  }

  private static func compare(_ mine: JSONValue, _ other: OpaquePointer) {
    let kinds: [Int: JSON.Kind] = [
      REFERENCE_NULL: .null, REFERENCE_BOOLEAN: .boolean, REFERENCE_NUMBER: .number,
      REFERENCE_STRING: .string, REFERENCE_ARRAY: .array, REFERENCE_OBJECT: .object,
    ]
    demand(kinds[Int(reference_json_kind(other))] == mine.kind, "a value of another kind")
    switch mine.kind {
    case .boolean:
      demand(mine.boolean == (reference_json_is_true(other) != 0), "a boolean differs")
    case .string:
      demand(same(mine.text?.utf8 ?? [], reference_json_string(other)), "a string differs")
    case .number: compareNumber(mine, reference_json_number(other))
    case .array, .object:
      var next = reference_json_child(other)
      var count = 0
      for child in mine.children {
        guard let current = next else { fatalError("cJSON has fewer children") }
        if mine.kind == .object {
          demand(same(child.name.utf8, reference_json_name(current)), "a name differs")
        }
        compare(child, current)
        next = reference_json_next(current)
        count += 1
      }
      demand(next == nil, "cJSON has more children")
      demand(count == mine.count, "the count of children differs")
    case .null: break
    }
  }

  private static func compareNumber(_ mine: JSONValue, _ other: Double) {
    let source = Array(mine.source)
    var fits: Int32 = 0
    let wanted = reference_truncated(source, source.count, &fits)
    let truncated = mine.truncated
    demand(truncated == (fits == 1 ? wanted : nil), "a number's whole part differs")
    let isPlain = source.allSatisfy { $0 >= 0x30 && $0 <= 0x39 || $0 == 0x2d }
    demand(mine.integer == (isPlain ? truncated : nil), "an integer differs")
    if let integer = mine.integer, integer.magnitude < 1 << 53 {
      demand(Double(integer) == other, "cJSON has another number")
    }
  }

  private static func same(_ mine: [UInt8], _ other: UnsafePointer<CChar>?) -> Bool {
    guard let other else { return false }
    return UnsafeRawBufferPointer(start: other, count: strlen(other)).elementsEqual(mine)
  }

  private static func write(_ value: JSONValue, _ writer: inout JSONWriter) {
    switch value.kind {
    case .null: writer.null()
    case .boolean: writer.boolean(value.boolean == true)
    case .number: writer.raw(value.source)
    case .string: writer.string(value.text ?? "")
    case .array:
      writer.beginArray()
      for child in value.children { write(child, &writer) }
      writer.endArray()
    case .object:
      writer.beginObject()
      for child in value.children {
        writer.name(child.name)
        write(child, &writer)
      }
      writer.endObject()
    }
  }

  // MARK: base64 and hex

  /// Checks that an accepted text is what an encoder writes, and that every encoder's text is
  /// accepted.
  static func base64(_ input: [UInt8]) {
    if let bytes = Base64.decodeStandard(input[...]) {
      demand(encoded(bytes) == input, "another spelling was accepted")
    }
    if let bytes = Base64.decodeURL(input[...]) {
      demand(urlForm(encoded(bytes)) == input, "another spelling was accepted")
    }
    let text = encoded(input)
    demand(Base64.encodeStandard(input) == text, "encoded in another way")
    demand(Base64.decodeStandard(text[...]) == input, "a good spelling was refused")
    demand(Base64.decodeURL(urlForm(text)[...]) == input, "a good spelling was refused")
    let (dots, stranger) = Base64.segments(input)
    if stranger == nil, dots.count < 3 {
      demand(dots == input.indices.filter { input[$0] == 0x2e }, "dots")
    }
    if let bytes = Hex.decode(input) {
      let lower = input.map { $0 >= 0x41 && $0 <= 0x46 ? $0 | 0x20 : $0 }
      demand(Hex.encode(bytes) == lower, "hex")
    }
    demand(UTF8Sequence.isValid(input) == isUTF8(input), "UTF-8")
  }

  private static func isUTF8(_ bytes: [UInt8]) -> Bool {
    String(validating: bytes, as: UTF8.self) != nil
  }

  private static func encoded(_ bytes: [UInt8]) -> [UInt8] {
    var out = [CChar](repeating: 0, count: 4 * (bytes.count / 3 + 1) + 1)
    let count = reference_base64(bytes, bytes.count, &out)
    return out[..<count].map { UInt8(bitPattern: $0) }
  }

  private static func urlForm(_ text: [UInt8]) -> [UInt8] {
    text.filter { $0 != 0x3d }.map { $0 == 0x2b ? 0x2d : $0 == 0x2f ? 0x5f : $0 }
  }

  // MARK: DER, dates, signatures

  /// Checks that libcrypto reads what counts as canonical, and reads dates and signatures equally.
  static func der(_ input: [UInt8]) {
    if DER.isCanonical(input) {
      demand(reference_der_is_whole(input, input.count, 0) == 1, "libcrypto reads no DER")
    }
    for curve in [Curve.p256, .p384] {
      if let signature = ECDSASignature(der: input[...], curve) {
        demand(signature.der == input, "a signature changes")
        demand(
          reference_signature_is_same(input, input.count) == 1,
          "libcrypto reads no signature")
      }
      if let signature = ECDSASignature(concatenated: input, curve) {
        let der = signature.der
        demand(ECDSASignature(der: der[...], curve) != nil, "an own signature is refused")
        demand(
          reference_signature_is_same(der, der.count) == 1, "libcrypto reads no signature")
      }
    }
    for (digits, isUTC) in [(2, 1), (4, 0)] {
      if let seconds = CivilDate.seconds(asn1: input[...], yearDigits: digits) {
        demand(
          reference_time(input, input.count, Int32(isUTC)) == seconds, "a date differs")
      }
    }
  }
}
