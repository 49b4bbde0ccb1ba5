import CLibCrypto

/// Computes SHA-256, the digest of App Attest.
public enum AttestDigest {
  public static func sha256(_ bytes: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    unsafe digest.withUnsafeMutableBufferPointer { out in
      unsafe bytes.withUnsafeBufferPointer { text in
        _ = unsafe EVP_Digest(
          text.baseAddress, text.count, out.baseAddress, nil, EVP_sha256(), nil)
      }
    }
    return digest
  }

  /// Returns lower-case hexadecimal digits.
  public static func hex(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(
      decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}
