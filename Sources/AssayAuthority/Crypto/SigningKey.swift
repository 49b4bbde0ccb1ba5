import CLibCrypto

/// An error of the test authority, with its reason in words.
public struct AuthorityError: Error, CustomStringConvertible, Sendable {
  public let description: String
  public init(_ description: String) { self.description = description }
}

/// A private key of the test authority, generated at run time.
@safe
public final class SigningKey: @unchecked Sendable {
  public enum Kind: Sendable, Equatable {
    case p256
    case p384
    case p521
    case rsa(bits: Int)
  }

  public enum Digest: Sendable { case sha1, sha256, sha384, sha512 }

  private let key: OpaquePointer

  private init(owning key: OpaquePointer) { unsafe self.key = key }
  deinit { unsafe EVP_PKEY_free(key) }

  /// Generates a key.
  public static func generate(_ kind: Kind) throws -> SigningKey {
    let made: OpaquePointer? =
      switch kind {
      case .p256: unsafe assay_shim_generate_ec("P-256")
      case .p384: unsafe assay_shim_generate_ec("P-384")
      case .p521: unsafe assay_shim_generate_ec("P-521")
      case .rsa(let bits): unsafe assay_shim_generate_rsa(bits)
      }
    guard let made = unsafe made else { throw AuthorityError("no key could be generated") }
    return unsafe SigningKey(owning: made)
  }

  /// Reads a key from PEM text, as `pem` returns it.
  public static func read(pem: [UInt8]) throws -> SigningKey {
    let key: OpaquePointer? = unsafe pem.withUnsafeBytes { text in
      let source = unsafe BIO_new_mem_buf(text.baseAddress, Int32(text.count))
      defer { unsafe BIO_free(source) }
      return unsafe PEM_read_bio_PrivateKey(source, nil, nil, nil)
    }
    guard let key = unsafe key else { throw AuthorityError("no private key in the PEM text") }
    return unsafe SigningKey(owning: key)
  }

  /// Returns unencrypted PKCS#8 PEM.
  public func pem() throws -> [UInt8] {
    let sink = unsafe BIO_new(BIO_s_mem())
    defer { unsafe BIO_free(sink) }
    guard unsafe PEM_write_bio_PKCS8PrivateKey(sink, key, nil, nil, 0, nil, nil) == 1 else {
      throw AuthorityError("the key could not be written")
    }
    var text = [UInt8](repeating: 0, count: unsafe BIO_ctrl_pending(sink))
    let count = unsafe text.withUnsafeMutableBytes {
      unsafe BIO_read(sink, $0.baseAddress, Int32($0.count))
    }
    guard Int(count) == text.count else { throw AuthorityError("the key could not be written") }
    return text
  }

  /// Returns the SubjectPublicKeyInfo in DER, as libcrypto writes it.
  public func publicKeyInfo() throws -> [UInt8] {
    try unsafe written { unsafe i2d_PUBKEY(self.key, $0) }
  }

  /// Returns the public key: for EC the uncompressed point `04 ‖ x ‖ y`, for RSA the RSAPublicKey
  /// in DER.
  public func publicKey() throws -> [UInt8] {
    try unsafe written { unsafe i2d_PublicKey(self.key, $0) }
  }

  /// Signs `message`. Returns the signature as libcrypto writes it, for EC the ECDSA-Sig-Value in
  /// DER.
  public func sign(_ message: [UInt8], _ digest: Digest) throws -> [UInt8] {
    let context = unsafe EVP_MD_CTX_new()
    defer { unsafe EVP_MD_CTX_free(context) }
    let algorithm: OpaquePointer? =
      switch digest {
      case .sha1: unsafe EVP_sha1()
      case .sha256: unsafe EVP_sha256()
      case .sha384: unsafe EVP_sha384()
      case .sha512: unsafe EVP_sha512()
      }
    guard unsafe EVP_DigestSignInit(context, nil, algorithm, nil, key) == 1 else {
      throw AuthorityError("signing could not begin")
    }
    var signature = [UInt8](repeating: 0, count: 1024)
    var count = signature.count
    let done = unsafe signature.withUnsafeMutableBufferPointer { out in
      unsafe message.withUnsafeBufferPointer { text in
        unsafe EVP_DigestSign(context, out.baseAddress, &count, text.baseAddress, text.count)
      }
    }
    guard done == 1 else { throw AuthorityError("signing failed") }
    return Array(signature.prefix(count))
  }

  /// Signs `digest` without hashing it, as a signer does that hashes one time too few.
  public func signDigest(_ digest: [UInt8]) throws -> [UInt8] {
    let context = unsafe EVP_PKEY_CTX_new(key, nil)
    defer { unsafe EVP_PKEY_CTX_free(context) }
    guard unsafe EVP_PKEY_sign_init(context) == 1 else {
      throw AuthorityError("signing could not begin")
    }
    var signature = [UInt8](repeating: 0, count: 1024)
    var count = signature.count
    let done = unsafe signature.withUnsafeMutableBufferPointer { out in
      unsafe digest.withUnsafeBufferPointer { octets in
        unsafe EVP_PKEY_sign(context, out.baseAddress, &count, octets.baseAddress, octets.count)
      }
    }
    guard done == 1 else { throw AuthorityError("signing failed") }
    return Array(signature.prefix(count))
  }

  /// Signs with ES256. Returns the signature as in a JWS: r ‖ s, 32 bytes each.
  public func signES256(_ message: [UInt8]) throws -> [UInt8] {
    try ECDSASignature(der: sign(message, .sha256)).raw(width: 32)
  }

  private func written(
    _ write: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32
  ) throws -> [UInt8] {
    let count = Int(write(nil))
    guard count > 0 else { throw AuthorityError("the public key could not be written") }
    var bytes = [UInt8](repeating: 0, count: count)
    unsafe bytes.withUnsafeMutableBufferPointer { out in
      var place = out.baseAddress
      _ = unsafe write(&place)
    }
    return bytes
  }
}

/// The numbers r and s of an ECDSA signature, big-endian without leading zeros.
public struct ECDSASignature: Sendable {
  public var r: [UInt8]
  public var s: [UInt8]

  public init(r: [UInt8], s: [UInt8]) {
    self.r = r
    self.s = s
  }

  /// Reads an ECDSA-Sig-Value in DER that the authority made.
  public init(der: [UInt8]) throws {
    guard let outer = DER.head(der[...]), outer.total == der.count else {
      throw AuthorityError("no ECDSA-Sig-Value")
    }
    var rest = der[outer.header...]
    var numbers: [[UInt8]] = []
    while let head = DER.head(rest), numbers.count < 2, rest.count >= head.total {
      let content = rest.dropFirst(head.header).prefix(head.total - head.header)
      numbers.append(Array(content.drop { $0 == 0 }))
      rest = rest.dropFirst(head.total)
    }
    guard numbers.count == 2 else { throw AuthorityError("no ECDSA-Sig-Value") }
    self.init(r: numbers[0], s: numbers[1])
  }

  public var der: [UInt8] { DER.sequence(DER.unsigned(r), DER.unsigned(s)) }

  /// Returns r ‖ s, each padded to `width` bytes.
  public func raw(width: Int) -> [UInt8] {
    func padded(_ number: [UInt8]) -> [UInt8] {
      [UInt8](repeating: 0, count: max(0, width - number.count)) + number
    }
    return padded(r) + padded(s)
  }

  /// Returns the other valid signature of the same message, with n − s in place of s (P-256).
  public func mirroredP256() -> ECDSASignature {
    ECDSASignature(r: r, s: ECDSASignature.difference(P256.order, s))
  }

  /// Returns left − right of two unsigned big-endian numbers of at most 32 bytes.
  private static func difference(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] {
    let padded = [UInt8](repeating: 0, count: left.count - right.count) + right
    var out = left
    var borrow = 0
    for place in left.indices.reversed() {
      var digit = Int(left[place]) - Int(padded[place]) - borrow
      borrow = digit < 0 ? 1 : 0
      if digit < 0 { digit += 256 }
      out[place] = UInt8(digit)
    }
    return Array(out.drop { $0 == 0 })
  }
}

/// The parameters of the curve P-256 (FIPS 186-4, D.1.2.3).
public enum P256 {
  public static let order = bytes(
    "FFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551")
  static let prime = bytes("FFFFFFFF00000001000000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFF")
  static let a = bytes("FFFFFFFF00000001000000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFC")
  static let b = bytes("5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B")
  static let generator = bytes(
    "046B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296"
      + "4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5")

  package static func bytes(_ hex: String) -> [UInt8] {
    let digits = hex.utf8.map { $0 >= 0x41 ? $0 - 0x41 + 10 : $0 - 0x30 }
    return stride(from: 0, to: digits.count - 1, by: 2).map {
      digits[$0] << 4 | digits[$0 + 1]
    }
  }
}
