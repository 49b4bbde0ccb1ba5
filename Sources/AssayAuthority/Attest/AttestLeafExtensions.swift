/// The extensions of an attestation's leaf certificate.
public enum AttestLeafExtensions {
  public static let nonceOID = "1.2.840.113635.100.8.2"
  public static let keyFactsOID = "1.2.840.113635.100.8.5"
  public static let accessControlOID = "1.2.840.113635.100.8.6"
  public static let systemFactsOID = "1.2.840.113635.100.8.7"
  /// The private extended key usage of leaves since April 2026.
  public static let purpose = "1.2.840.113635.100.4.24"

  /// The access control bytes of a Mac with System Integrity Protection and Full Security.
  public static let macAccessControl = octets(
    "MEAMAjExMDowCQwCb2uhAwEB/zAJDAJvYaEDAQH/MAsMBG9kZWyhAwEB/zAVDARvc2duoAYMBHJzZWMwBaYDAgEB")
  /// The access control bytes of an iPhone since iOS 26.2.
  public static let phoneAccessControl = octets(
    "MEMMAjExMD0wCgwDb2tkoQMBAf8wCQwCb2GhAwEB/zALDARvc2duoQMBAf8wCwwEb2RlbKEDAQH/MAoMA29ja6EDAQH/")

  /// Returns extension 8.2: `30 24 A1 22 04 20` and the nonce.
  public static func nonce(_ digest: [UInt8]) -> CertificateExtension {
    CertificateExtension(
      nonceOID, DER.sequence(DER.explicit(1, DER.octetString(digest))))
  }

  /// Returns extension 8.6: the access control bytes.
  public static func accessControl(_ octets: [UInt8]) -> CertificateExtension {
    CertificateExtension(
      accessControlOID, DER.sequence(DER.explicit(3, DER.octetString(octets))))
  }

  /// Returns extension 8.5 about the key; field 1204 has the App ID in clear.
  public static func keyFacts(appId: String) -> CertificateExtension {
    func number(_ tag: UInt64, _ value: UInt8) -> [UInt8] { field(tag, DER.unsigned([value])) }
    let fields: [[UInt8]] = [
      number(4, 10), number(1200, 0), number(1201, 0), number(1202, 0), number(1203, 0),
      field(1204, DER.octetString(Array(appId.utf8))), number(1206, 4), number(1207, 0),
      number(1209, 0), number(1210, 0), number(1211, 0), number(10, 0),
    ]
    return CertificateExtension(keyFactsOID, DER.value(0x30, fields.flatMap { $0 }))
  }

  /// Returns extension 8.7 about the system; field 1400 has the version, 1403 the build, 1026 the
  /// platform.
  public static func systemFacts(_ system: AttestedDevice.System) -> CertificateExtension {
    func text(_ tag: UInt64, _ value: String) -> [UInt8] {
      field(tag, DER.octetString(Array(value.utf8)))
    }
    func number(_ tag: UInt64, _ value: UInt8) -> [UInt8] { field(tag, DER.unsigned([value])) }
    var fields: [[UInt8]] = [
      text(1400, system.version), number(1104, 2), text(1401, "1.0.248"),
      text(1403, system.build), text(1404, system.version), text(1405, system.version),
    ]
    for tag in UInt64(1406)...1411 { fields.append(number(tag, 0)) }
    fields += [number(1412, 1), number(1413, 0)]
    for tag in UInt64(1418)...1420 { fields.append(text(tag, "24.1.446.0.0,0")) }
    fields += [text(1026, system.platform), text(1029, "Internal")]
    return CertificateExtension(systemFactsOID, DER.value(0x30, fields.flatMap { $0 }))
  }

  /// Returns a context-tagged EXPLICIT value; tags above 30 are written in the long form.
  static func field(_ tag: UInt64, _ value: [UInt8]) -> [UInt8] {
    guard tag > 30 else { return DER.explicit(UInt8(tag), value) }
    var octets = [UInt8(tag & 0x7f)]
    var rest = tag >> 7
    while rest > 0 {
      octets.insert(UInt8(rest & 0x7f) | 0x80, at: 0)
      rest >>= 7
    }
    return [0xbf] + octets + DER.length(value.count) + value
  }

  private static func octets(_ base64: String) -> [UInt8] {
    Base64Text.decodeLeniently(Array(base64.utf8)) ?? []
  }
}
