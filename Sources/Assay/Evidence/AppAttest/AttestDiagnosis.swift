/// Finds the common mistake that explains a refusal, for its hint (docs/spec/app-attest.md §10).
/// Used only after the chain has been verified; the refusal remains whatever is found.
enum AttestDiagnosis {
  /// The longest client data of which base64 and hex variants are tried, in bytes; more would
  /// cost too much.
  private static let byteCap = 65_536

  // MARK: client data (DIA-1)

  /// Returns the hint for the variant of the client data whose hash fits; `nil` if none fits.
  /// Costs at most 11 hashes, including one for the nonce of each variant (DIA-4).
  static func hint(_ data: ClientData, fits: ([UInt8]) -> Bool) -> Explanation? {
    /// Whether a variant of the given client data fits, hashed here unless the host passed a
    /// hash.
    func fitsText(_ text: [UInt8]?) -> Bool {
      guard let text, text != data.bytes else { return false }
      return fits(data.isHash ? text : Digest.sha256.of(text))
    }
    if data.isHash {
      if fits(Digest.sha256.of(data.hash)) { return .hashIsData }
    } else if fits(data.bytes) {
      return .dataIsHash
    }
    let isShort = data.bytes.count <= byteCap
    if isShort {
      if fitsText(TolerantBase64.decode(data.bytes[...])) { return .decodeBase64 }
      if fitsText(Hex.decode(data.bytes)) { return .decodeHex }
    }
    let line = withoutEnd(data.bytes[...])
    if fitsText(Array(line)) { return .trim }
    if let bare = withoutQuotes(line), fitsText(Array(bare)) { return .trim }
    if isShort {
      if fitsText(Base64.encodeStandard(data.bytes)) { return .encodeBase64 }
      if fitsText(Hex.encode(data.bytes)) { return .encodeHex }
    }
    let twice = Digest.sha256.of(data.hash)
    return fits(data.isHash ? Digest.sha256.of(twice) : twice) ? .doubleHash : nil
  }

  /// Returns the text without one LF or NUL at its end.
  private static func withoutEnd(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    text.last == 0x0a || text.last == 0x00 ? text.dropLast() : text
  }

  /// Returns the text between quotation marks; `nil` if the text is not quoted.
  private static func withoutQuotes(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    guard text.count >= 2, text.first == 0x22, text.last == 0x22 else { return nil }
    return text.dropFirst().dropLast()
  }

  // MARK: attestations (DIA-2, DIA-3)

  /// Returns why the certificate's nonce differs, according to the client data hash in the
  /// embedded receipt; `nil` without a readable ATTEST receipt, since Apple damages the hash when
  /// it refreshes a receipt.
  static func hint(
    _ receipt: ArraySlice<UInt8>, fits: ([UInt8]) -> Bool
  ) -> Explanation? {
    guard let found = AttestReceiptVerification.unverified(receipt), !found.isRefreshed else {
      return nil
    }
    return fits(Array(found.clientHash)) ? .otherChallenge : .objectAltered
  }

  /// Returns "made for '…', configured '…', '…'", with at most four configured App IDs.
  static func appIds(_ leaf: Text?, _ policy: AttestPolicy) -> String {
    var detail = leaf.map { "made for '" + $0.string + "', configured" } ?? "configured"
    for (index, id) in policy.appIds.prefix(4).enumerated() {
      detail += (index == 0 ? " '" : ", '") + printable(id.text) + "'"
    }
    return policy.appIds.count > 4 ? detail + ", …" : detail
  }

  private static func printable(_ text: Text) -> String {
    Text(text.utf8.map { $0 >= 0x20 && $0 < 0x7f ? $0 : 0x3f }).string
  }
}
