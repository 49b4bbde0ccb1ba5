import AssayAuthority
import CLibCrypto

/// The content of a certificate as libcrypto reads it. Nothing of it is trusted.
struct CertificateSummary {
  private let members: [(name: String, value: String)]

  init(_ der: [UInt8]) {
    guard let read = CertificateSummary.read(der) else {
      members = [("form", "no certificate (\(der.count) octets)")]
      return
    }
    members =
      read + [
        ("octets", "\(der.count)"), ("sha256", Authority.fingerprint(der)),
      ]
  }

  /// Returns the subject and the end of validity; everything if verbose.
  func lines(isVerbose: Bool) -> [String] {
    let short: Set<String> = ["form", "subject", "notAfter"]
    return members.filter { isVerbose || short.contains($0.name) }
      .map { "\($0.name)  \($0.value)" }
  }

  var json: JSONText {
    .object(members.map { JSONText.Member($0.name, .string($0.value)) })
  }

  private static func read(_ der: [UInt8]) -> [(name: String, value: String)]? {
    unsafe der.withUnsafeBufferPointer { bytes in
      var place = bytes.baseAddress
      guard let certificate = unsafe d2i_X509(nil, &place, bytes.count) else { return nil }
      defer { unsafe X509_free(certificate) }
      return [
        ("subject", unsafe name(X509_get_subject_name(certificate))),
        ("issuer", unsafe name(X509_get_issuer_name(certificate))),
        ("notBefore", unsafe time(X509_get0_notBefore(certificate))),
        ("notAfter", unsafe time(X509_get0_notAfter(certificate))),
        ("serial", unsafe serial(X509_get0_serialNumber(certificate))),
      ]
    }
  }

  /// Returns the bytes inside an extension; `nil` if the certificate has none with that identifier.
  static func extensionValue(_ identifier: String, of der: [UInt8]) -> [UInt8]? {
    unsafe der.withUnsafeBufferPointer { bytes in
      var place = bytes.baseAddress
      guard let certificate = unsafe d2i_X509(nil, &place, bytes.count) else { return nil }
      defer { unsafe X509_free(certificate) }
      guard let wanted = unsafe OBJ_txt2obj(identifier, 1) else { return nil }
      defer { unsafe ASN1_OBJECT_free(wanted) }
      let index = unsafe X509_get_ext_by_OBJ(certificate, wanted, -1)
      guard index >= 0, let entry = unsafe X509_get_ext(certificate, index),
        let data = unsafe X509_EXTENSION_get_data(entry)
      else { return nil }
      let octets = unsafe UnsafeBufferPointer(
        start: ASN1_STRING_get0_data(data), count: Int(ASN1_STRING_length(data)))
      return unsafe Array(octets)
    }
  }

  /// XN_FLAG_RFC2253, a macro that Swift cannot import.
  private static let rfc2253: UInt = 0x111_0317

  private static func name(_ name: OpaquePointer?) -> String {
    unsafe written {
      unsafe X509_NAME_print_ex($0, name, 0, rfc2253)
    }
  }

  private static func time(_ time: UnsafePointer<ASN1_TIME>?) -> String {
    unsafe written { unsafe ASN1_TIME_print($0, time) }
  }

  private static func serial(_ serial: UnsafePointer<ASN1_INTEGER>?) -> String {
    unsafe written { unsafe i2a_ASN1_INTEGER($0, serial) }
  }

  private static func written(_ write: (OpaquePointer?) -> Int32) -> String {
    let sink = unsafe BIO_new(BIO_s_mem())
    defer { unsafe BIO_free(sink) }
    _ = unsafe write(sink)
    var bytes = [UInt8](repeating: 0, count: unsafe BIO_ctrl_pending(sink))
    let count = unsafe bytes.withUnsafeMutableBytes {
      unsafe BIO_read(sink, $0.baseAddress, Int32($0.count))
    }
    return String(decoding: bytes.prefix(Int(max(0, count))), as: UTF8.self)
  }
}
