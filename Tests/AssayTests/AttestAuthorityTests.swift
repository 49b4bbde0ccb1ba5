import AssayAuthority
import Testing

/// Tests that minted evidence has the form of the specification, byte by byte and without the
/// library's readers.
@Suite("App Attest authority")
struct AttestAuthorityTests {
  private static let now: Int64 = 1_795_219_200_000
  private static let made = Result { () throws -> (AttestAuthority, AttestedDevice) in
    (
      try AttestAuthority(now: now),
      try AttestedDevice(key: .generate(.p256), appId: "ABCDE12345.com.example.app")
    )
  }

  private func hex(_ bytes: some Sequence<UInt8>) -> String { AttestDigest.hex(Array(bytes)) }

  @Test("CBOR heads are the shortest, or as wide as asked")
  func heads() {
    let shortest: [(UInt64, String)] = [
      (0, "00"), (23, "17"), (24, "1818"), (255, "18ff"), (256, "190100"), (65_535, "19ffff"),
      (65_536, "1a00010000"), (4_294_967_295, "1affffffff"), (4_294_967_296, "1b0000000100000000"),
    ]
    for (number, text) in shortest { checkEqual(hex(CBORText.unsigned(number).encoded), text) }
    checkEqual(hex(CBORText.head(.bytes, 5, .four)), "5a00000005")
    checkEqual(hex(CBORText.negative(6).encoded), "26")
    checkEqual(hex(CBORText.text("fmt").encoded), "63666d74")
    checkEqual(
      hex(CBORText.map([.init("a", .array([.bytes([1, 2])]))]).encoded), "a1616181420102")
  }

  @Test("ATT-13 authenticator data has its members at fixed places")
  func authenticatorData() throws {
    let (_, device) = try Self.made.get()
    let old = device.with { $0.system = .iOS18 }.attestationData.bytes
    checkEqual(old.count, 164)
    checkEqual(hex(old[32..<37]), "4000000000")
    checkEqual(hex(old[37..<53]), "61707061747465737400000000000000")
    checkEqual(hex(old[53..<55]), "0020")
    checkEqual(Array(old[55..<87]), device.keyId)
    checkEqual(hex(old[87..<97]), "a5010203262001215820")
    checkEqual(Array(old[97..<129]), Array(device.point[1...32]))
    checkEqual(hex(old[129..<132]), "225820")
    checkEqual(Array(old[132..<164]), Array(device.point[33...]))
    let new = device.attestationData.bytes
    checkEqual(new[32], 0xc0)
    checkEqual(
      hex(new[164...]),
      "a2776170706c655f62756e646c655f76657273696f6e5f30316431333134"
        + "781c6170706c655f76616c69646174696f6e5f63617465676f72795f30314404000000")
    checkEqual(device.with { $0.system = .iOS18 }.assertionData(counter: 258).bytes.count, 37)
    checkEqual(hex(device.assertionData(counter: 258).bytes[33..<37]), "00000102")
  }

  @Test("ATT-20, ATT-47, ATT-48 the extensions of a leaf")
  func leafExtensions() {
    let nonce = AttestLeafExtensions.nonce([UInt8](repeating: 7, count: 32)).value
    checkEqual(nonce.count, 38)
    checkEqual(hex(nonce.prefix(6)), "3024a1220420")
    checkEqual(AttestLeafExtensions.macAccessControl.count, 66)
    checkEqual(AttestLeafExtensions.phoneAccessControl.count, 69)
    let facts = AttestLeafExtensions.keyFacts(appId: "A").value
    check(hex(facts).contains("bf8934030401" + "41"))
    let system = AttestLeafExtensions.systemFacts(.iOS27).value
    check(hex(system).contains("bf8a78080406" + hex("27.0.1".utf8)))
    check(hex(system).contains("bf88020a0408" + hex("iphoneos".utf8)))
  }

  @Test("FRC-1 a receipt is BER with chunks of 1,000 octets, its signer in DER")
  func receipt() throws {
    let (authority, device) = try Self.made.get()
    let leaf = try authority.attestation(
      of: device, clientDataHash: AttestDigest.sha256([1]), madeMs: Self.now
    ).leafCertificate()
    let facts = AttestReceiptFacts(
      .attest, device, certificate: leaf, clientHash: AttestDigest.sha256([1]),
      created: Self.now + 153)
    let text = hex(try authority.receipt(facts))
    check(text.hasPrefix("308006092a864886f70d010702a0803080020101310f300d"))
    check(text.contains("06092a864886f70d010701a08024800482" + "03e8"))
    check(text.contains("a08030820"))
    check(text.contains("0000318"))
    check(text.hasSuffix("000000000000"))
    checkEqual(facts.fields.map(\.typeOctets), [[2], [3], [4], [5], [6], [7], [12], [21]])
    checkEqual(AttestReceiptFacts.time(1_776_795_192_153), "2026-04-21T18:13:12.153Z")
    checkEqual(AttestReceiptFacts.time(1_776_795_192_000), "2026-04-21T18:13:12.000Z")
  }

  @Test("an authority opened again has the same roots and signs again")
  func sharedRoots() throws {
    let (authority, device) = try Self.made.get()
    let again = try AttestAuthority(
      now: Self.now, keys: authority.keys,
      roots: .init(
        attestation: authority.rootCertificate, receipt: authority.receiptChain.root))
    checkEqual(again.rootCertificate, authority.rootCertificate)
    checkEqual(again.receiptChain.root, authority.receiptChain.root)
    check(again.intermediateCertificate != authority.intermediateCertificate)
    checkEqual(device.keyIdHex.count, 64)
  }
}
