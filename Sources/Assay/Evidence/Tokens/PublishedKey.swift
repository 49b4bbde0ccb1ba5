/// One entry of a JSON Web Key Set, as the issuer wrote it.
struct PublishedKey {
  private let object: JSONValue
  private let index: Int

  private static let rsaBits = 2048...8192

  init(_ object: JSONValue, _ index: Int) {
    self.object = object
    self.index = index
  }

  /// The entry's location: "keys[1]".
  var place: String { "keys[" + String(index) + "]" }

  func text(_ name: StaticString) -> Text? { object.member(name)?.text }

  private func says(_ name: StaticString, _ literal: StaticString) -> Bool {
    object.member(name)?.isText(literal) == true
  }

  /// The key's own `alg`; `nil` if absent or unknown.
  var algorithm: TokenAlgorithm? { object.member("alg").flatMap(TokenAlgorithm.init) }

  /// Refuses an entry that is no object (JWK-1) or contains private or symmetric key material,
  /// which is compromised once it is published (JWK-4).
  func refuseSecrets() throws(Refusal) {
    try require(object.kind == .object, .malformedJwksForm, "JWK-1", at: place)
    var isSecret = says("kty", "oct")
    for name in ["d", "p", "q", "dp", "dq", "qi", "oth", "k"] as [StaticString] {
      isSecret = isSecret || object.member(name) != nil
    }
    try require(!isSecret, .rejectedJwksPrivateKey, "JWK-4", at: place)
  }

  /// The member because of which the key cannot verify tokens; `nil` if it can (JWK-2).
  var reasonToSkip: StaticString? {
    if !says("kty", "RSA") {
      guard says("kty", "EC") else { return "kty" }
      guard says("crv", "P-256") else { return "crv" }
    }
    if object.member("use") != nil, !says("use", "sig") { return "use" }
    if object.member("alg") != nil, algorithm == nil { return "alg" }
    guard let uses = object.member("key_ops") else { return nil }
    return uses.children.contains { $0.isText("verify") } ? nil : "key_ops"
  }

  /// Returns the RSA key (JWK-5) or the P-256 key (JWK-6).
  func key() throws(Refusal) -> PublicKey {
    guard says("kty", "RSA") else {
      guard let key = ellipticKey() else {
        throw Refusal(.rejectedJwksEc, "JWK-6", at: place)
      }
      return key
    }
    guard let modulus = number("n"), let exponent = number("e"),
      let key = PublishedKey.rsaKey(modulus, exponent)
    else { throw Refusal(.rejectedJwksRsa, "JWK-5", at: place) }
    try require(!ROCAFingerprint.matches(modulus), .rejectedJwksRoca, "JWK-5", at: place)
    return key
  }

  /// Returns the key if modulus and exponent are odd and the exponent is 3 to 2^32 − 1.
  private static func rsaKey(_ modulus: [UInt8], _ exponent: [UInt8]) -> PublicKey? {
    let power = exponent.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    guard let bits = RSAModulus.bits(modulus[...]), rsaBits.contains(bits),
      exponent.count <= 4, power >= 3, power & 1 == 1, let last = modulus.last, last & 1 == 1
    else { return nil }
    return PublicKey.make(modulus: modulus[...], exponent: power, bitCap: bits)
  }

  private func ellipticKey() -> PublicKey? {
    // The length of the whole point is checked when the key is made.
    guard let x = octets("x"), let y = octets("y"), x.count == Curve.p256.byteCount else {
      return nil
    }
    return PublicKey.make(.p256, point: ([0x04] + x + y)[...])
  }

  /// Returns a big-endian number without leading zeros; `nil` for anything else.
  private func number(_ name: StaticString) -> [UInt8]? {
    guard let bytes = octets(name), let first = bytes.first, first != 0 else { return nil }
    return bytes
  }

  @inline(never)
  private func octets(_ name: StaticString) -> [UInt8]? {
    text(name).flatMap { Base64.decodeURL($0.utf8[...]) }
  }
}
