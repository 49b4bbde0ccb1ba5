import CLibCrypto

// Functions of openssl/x509v3.h, which the library itself does not use.
@_silgen_name("X509_get_extension_flags")
private func X509_get_extension_flags(_ certificate: OpaquePointer) -> UInt32
@_silgen_name("X509_get_key_usage")
private func X509_get_key_usage(_ certificate: OpaquePointer) -> UInt32
private let EXFLAG_CA: UInt32 = 0x10
private let EXFLAG_INVALID: UInt32 = 0x80

/// The fields of a certificate, from either reader.
struct CertificateFields: Equatable {
  var version: Int
  /// The content bytes as encoded.
  var serial: [UInt8]
  var issuer: [UInt8]
  var subject: [UInt8]
  var notBefore: Int64
  var notAfter: Int64
  var innerAlgorithm: [UInt8]
  var outerAlgorithm: [UInt8]
  var signature: [UInt8]
  var keyAlgorithm: [UInt8]
  var key: [UInt8]
  var extensions: [Entry]
  /// Whether basicConstraints mark an authority; `nil` without the extension.
  var isAuthority: Bool?
  /// The keyUsage: digitalSignature 0x80, keyCertSign 0x04; `nil` if absent.
  var keyUsage: UInt32?
  /// Whether the content of all extensions and of the key could be read.
  var extensionsAreSound = true

  /// Returns the names of the fields that two readers read differently. A version that does not
  /// exist, or that is encoded although it is the default, is 0.
  func differences(from other: CertificateFields) -> [String] {
    var names: [String] = []
    let version = other.version == 2 || other.version == 3 ? other.version : nil
    if self.version != version, version != nil || self.version > 1 { names.append("version") }
    for (name, mine, theirs) in [
      ("serial", serial, other.serial), ("issuer", issuer, other.issuer),
      ("subject", subject, other.subject),
      ("innerAlgorithm", innerAlgorithm, other.innerAlgorithm),
      ("outerAlgorithm", outerAlgorithm, other.outerAlgorithm),
      ("signature", signature, other.signature),
      ("keyAlgorithm", keyAlgorithm, other.keyAlgorithm), ("key", key, other.key),
    ] where mine != theirs {
      names.append(name)
    }
    if notBefore != other.notBefore { names.append("notBefore") }
    if notAfter != other.notAfter { names.append("notAfter") }
    if extensions != other.extensions { names.append("extensions") }
    // libcrypto reads all extensions or none; Assay reads only those that it checks.
    if other.extensionsAreSound {
      if isAuthority != other.isAuthority { names.append("isAuthority") }
      if keyUsage != other.keyUsage { names.append("keyUsage") }
    }
    return names
  }

  struct Entry: Equatable {
    var identifier: [UInt8]
    var isCritical: Bool
    var value: [UInt8]
  }
}

/// Reads a certificate with libcrypto, as the reference for Assay's own reader.
enum LibcryptoCertificate {
  /// The result of libcrypto's reading.
  enum Reading {
    /// d2i_X509 fails.
    case refused
    /// libcrypto reads a certificate, but not to the last byte, or would encode it differently.
    case lenient
    /// libcrypto cannot interpret a date or an extension.
    case senseless
    case whole(CertificateFields)
  }

  static func read(_ der: [UInt8]) -> Reading {
    unsafe der.withUnsafeBufferPointer { buffer -> Reading in
      var place = buffer.baseAddress
      guard let certificate = unsafe d2i_X509(nil, &place, buffer.count) else {
        ERR_clear_error()
        return .refused
      }
      defer {
        unsafe X509_free(certificate)
        ERR_clear_error()
      }
      let rest =
        unsafe buffer.count - (place.map { unsafe $0 - buffer.baseAddress.unsafelyUnwrapped } ?? 0)
      let again = unsafe bytes { unsafe i2d_X509(certificate, $0) }
      guard rest == 0, again == der else { return .lenient }
      guard let fields = unsafe CertificateFields(certificate) else { return .senseless }
      return .whole(fields)
    }
  }

  fileprivate static func content(_ string: UnsafePointer<ASN1_STRING>?) -> [UInt8] {
    unsafe Array(
      UnsafeBufferPointer(
        start: ASN1_STRING_get0_data(string), count: Int(ASN1_STRING_length(string))))
  }

  /// Returns seconds since 1970, by libcrypto's own difference of two times.
  fileprivate static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64? {
    guard let epoch = unsafe ASN1_TIME_set(nil, 0) else { return nil }
    defer { unsafe ASN1_STRING_free(epoch) }
    var days: Int32 = 0
    var seconds: Int32 = 0
    guard unsafe ASN1_TIME_diff(&days, &seconds, epoch, time) == 1 else { return nil }
    return Int64(days) * 86_400 + Int64(seconds)
  }

  fileprivate static func bytes(
    _ write: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32
  ) -> [UInt8] {
    let count = Int(write(nil))
    guard count > 0 else { return [] }
    var bytes = [UInt8](repeating: 0, count: count)
    unsafe bytes.withUnsafeMutableBufferPointer { out in
      var place = out.baseAddress
      _ = unsafe write(&place)
    }
    return bytes
  }
}

extension CertificateFields {
  fileprivate init?(_ certificate: OpaquePointer) {
    version = unsafe X509_get_version(certificate) + 1
    guard let number = unsafe X509_get0_serialNumber(certificate),
      let from = unsafe LibcryptoCertificate.seconds(X509_get0_notBefore(certificate)),
      let to = unsafe LibcryptoCertificate.seconds(X509_get0_notAfter(certificate))
    else { return nil }
    let whole = unsafe LibcryptoCertificate.bytes { unsafe i2d_ASN1_INTEGER(number, $0) }
    serial = Array(whole.dropFirst(2))
    notBefore = from
    notAfter = to
    issuer = unsafe LibcryptoCertificate.bytes {
      unsafe i2d_X509_NAME(X509_get_issuer_name(certificate), $0)
    }
    subject = unsafe LibcryptoCertificate.bytes {
      unsafe i2d_X509_NAME(X509_get_subject_name(certificate), $0)
    }
    var bits: UnsafePointer<ASN1_BIT_STRING>? = nil
    var outer: UnsafePointer<X509_ALGOR>? = nil
    unsafe X509_get0_signature(&bits, &outer, certificate)
    signature = unsafe LibcryptoCertificate.content(bits)
    outerAlgorithm = unsafe LibcryptoCertificate.bytes { unsafe i2d_X509_ALGOR(outer, $0) }
    innerAlgorithm = unsafe LibcryptoCertificate.bytes {
      unsafe i2d_X509_ALGOR(X509_get0_tbs_sigalg(certificate), $0)
    }
    var keyObject: OpaquePointer? = nil
    var keyBytes: UnsafePointer<UInt8>? = nil
    var keyCount: Int32 = 0
    var keyAlgorithmPointer: UnsafeMutablePointer<X509_ALGOR>? = nil
    guard
      unsafe X509_PUBKEY_get0_param(
        &keyObject, &keyBytes, &keyCount, &keyAlgorithmPointer,
        X509_get_X509_PUBKEY(certificate)) == 1
    else { return nil }
    key = unsafe Array(UnsafeBufferPointer(start: keyBytes, count: Int(keyCount)))
    keyAlgorithm = unsafe LibcryptoCertificate.bytes {
      unsafe i2d_X509_ALGOR(keyAlgorithmPointer, $0)
    }
    extensions = []
    for index in 0..<(unsafe X509_get_ext_count(certificate)) {
      let entry = unsafe X509_get_ext(certificate, index)
      let object = unsafe X509_EXTENSION_get_object(entry)
      extensions.append(
        Entry(
          identifier: unsafe Array(
            UnsafeBufferPointer(start: OBJ_get0_data(object), count: OBJ_length(object))),
          isCritical: unsafe X509_EXTENSION_get_critical(entry) == 1,
          value: unsafe LibcryptoCertificate.content(X509_EXTENSION_get_data(entry))))
    }
    let flags = unsafe X509_get_extension_flags(certificate)
    let hasConstraints = extensions.contains { $0.identifier == [0x55, 0x1d, 0x13] }
    isAuthority = hasConstraints ? flags & EXFLAG_CA != 0 : nil
    let usage = unsafe X509_get_key_usage(certificate)
    keyUsage = usage == UInt32.max ? nil : usage & 0xff
    extensionsAreSound = flags & EXFLAG_INVALID == 0
  }
}
