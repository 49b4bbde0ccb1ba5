import CReference

@testable import Assay

/// Targets for the strict readers of App Attest: CBOR and authenticator data.
enum AttestReaderTargets {
  /// Reads any bytes as CBOR, which must be accepted if and only if the second reader accepts them,
  /// with the same items at the same offsets.
  static func cbor(_ input: [UInt8]) {
    let other = OtherCBOR(input)
    let mine: CBOR
    do throws(CBOR.Fault) {
      mine = try CBOR(input, 0..<input.count)
    } catch {
      demand(other == nil, "the other reader accepts the CBOR")
      demand(error.offset >= 0 && error.offset <= input.count, "refused at \(error.offset)")
      return
    }
    guard let other else { fatalError("the other reader refuses the CBOR") }
    demand(mine.items.count == other.items.count, "the count of items")
    for (place, (item, its)) in zip(mine.items, other.items).enumerated() {
      demand(Int32(item.kind.rawValue) == its.major, "item \(place): its kind")
      demand(item.argument == its.argument, "item \(place): its argument")
      demand(item.start == its.start, "item \(place): where it starts")
      let end = mine.encoding(item).endIndex
      demand(end == its.end, "item \(place): where it ends")
      demand(Array(mine.bytes(item)) == other.slice(its), "item \(place): its content")
      let inside = its.major == 4 ? other.children(place) : []
      demand(mine.elements(of: item).map(\.index) == inside, "item \(place): its elements")
      let pairs = its.major == 5 ? other.pairs(place) : []
      let mineToo = mine.pairs(of: item)
      demand(mineToo.map(\.key.index) == pairs.map(\.key), "item \(place): its keys")
      demand(mineToo.map(\.value.index) == pairs.map(\.value), "item \(place): its values")
    }
  }

  /// Reads any bytes as authenticator data: of an attestation if the first byte is even, otherwise
  /// of an assertion. They are inside an object, whose other bytes must not matter.
  static func authData(_ input: [UInt8]) {
    guard let first = input.first else { return }
    let isAttested = first & 1 == 0
    let data = Array(input.dropFirst())
    let count = isAttested ? 164 : 37
    let object = [UInt8](repeating: 0xa0, count: Int(first >> 4)) + data + [0xa0, 0x00]
    let start = Int(first >> 4)
    let mine = AuthenticatorData(object, start..<start + data.count)
    let forms = isAttested ? AttestForms.attestation : AttestForms.assertion
    let isLong = data.count >= count && data.count <= 1024
    let hasForm = isLong && (!isAttested || data[53..<55].elementsEqual([0, 32]))
    let extensions: AttestExtensions
    do throws(Refusal) {
      if isAttested { try mine.checkAttestedForm() } else { try mine.checkAssertedForm() }
      demand(hasForm, "accepted data of another form")
      extensions = try mine.extensions(after: count, forms)
    } catch {
      demand(
        !hasForm || OtherExtensions(data, after: count) == nil,
        "refused what the other reader accepts: \(error.status.name)")
      demand(error.status.family == .malformed, "refused as \(error.status.name)")
      return
    }
    guard let other = OtherExtensions(data, after: count) else {
      fatalError("accepted extensions that the other reader refuses")
    }
    demand(extensions.category == other.category, "the category differs")
    demand(extensions.bundleVersion?.utf8 == other.bundleVersion, "the version differs")
    demand(extensions.others.count == other.others, "other extensions")
    demand(Array(mine.rpIdHash) == Array(data[..<32]), "rpIdHash")
    demand(mine.flags == data[32], "flags")
    demand(mine.counter == data[33..<37].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }, "counter")
    guard isAttested else { return }
    demand(Array(mine.aaguid) == Array(data[37..<53]), "aaguid")
    demand(Array(mine.credentialId) == Array(data[55..<87]), "credential id")
    demand(Array(mine.coseKey) == Array(data[87..<164]), "COSE key")
  }
}
