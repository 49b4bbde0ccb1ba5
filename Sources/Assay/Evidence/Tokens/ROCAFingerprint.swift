/// Detects RSA moduli whose private key can be computed (CVE-2017-15361): modulo each of these
/// primes they are powers of 65,537 (JWK-5). That is true of one sound modulus in 300 million.
enum ROCAFingerprint {
  private static let primes: [UInt32] = [
    11, 13, 17, 19, 37, 53, 61, 71, 73, 79, 97, 103, 107, 109, 127, 151, 157,
  ]

  /// Whether the modulus has this property.
  ///
  /// - Parameter modulus: big-endian.
  static func matches(_ modulus: [UInt8]) -> Bool {
    primes.allSatisfy { prime in
      let rest = modulus.reduce(UInt32(0)) { ($0 << 8 | UInt32($1)) % prime }
      return isPower(rest, prime)
    }
  }

  /// Whether the number is a power of 65,537 modulo the prime.
  private static func isPower(_ number: UInt32, _ prime: UInt32) -> Bool {
    var power: UInt32 = 1
    repeat {
      if power == number { return true }
      power = power &* 65_537 % prime
    } while power != 1
    return false
  }
}
