/// A hint that is more specific than the hint of the status table, because the code has found the
/// cause. The type has one byte, as refusals are made in hundreds of places.
enum Explanation: UInt8, Sendable {
  // Probable causes of an App Attest refusal (DIA-1 … DIA-3).
  case dataIsHash, hashIsData, decodeBase64, encodeBase64, decodeHex, encodeHex, trim
  case doubleHash, otherChallenge, objectAltered, otherKey, configuredAppId
  // An expired or swapped certificate above an App Attest receipt (ATT-40).
  case otherDate, authorityEnded
  // Text instead of a signature, which no receipt of Apple's can have (RCP-18).
  case textSignature
  // Arguments that a caller mixed up, and a configuration's size (CNF-1, DOC-1).
  case configurationSize, configurationName, jwsKind, receiptKind
  // An access token passed with its HTTP scheme (TOK-5).
  case bearer
  // Apple's response 401: wrong signing key, or an app without a release (API-54).
  case signingKey, noRelease
  // Apple's response 404 without JSON from retention messaging (RTM-1).
  case messagingAccess
  // Apple's response 403 to a cancellation, revocation or refund of Advanced Commerce (ACA-10).
  case signedAddendum
  // A chain that ends at an authority of `assay mint` (JWS-20, PTH-2, PTH-5, ATT-30, FRC-4).
  case testAuthority
  // The environment of the evidence, if the verifier does not accept it (JWS-70, APR-16, RCP-28,
  // RCP-29).
  case ofProduction, ofSandbox, ofXcode
  // Evidence of a product that the catalogue lacks (DCD-5).
  case unknownProduct
  // A text that cannot be evidence: the name of a file, or white space around it (JWS-2, RCP-2).
  case fileName, whiteSpace

  var text: StaticString {
    switch self {
    case .dataIsHash:
      return "data-is-hash: what was passed as client data matches as it stands: pass it as a hash"
    case .hashIsData:
      return "hash-is-data: what was passed as a hash matches once hashed: pass it as client data"
    case .decodeBase64:
      return "decode-base64: the client data matches once its base64 is decoded"
    case .encodeBase64:
      return "encode-base64: the client data matches as base64: the app hashed the text, not bytes"
    case .decodeHex:
      return "decode-hex: the client data matches once its hex is decoded"
    case .encodeHex:
      return
        "encode-hex: the client data matches as lower-case hex: the app hashed the text, not bytes"
    case .trim:
      return "trim: the client data matches without the quotes around it or the LF or NUL after it"
    case .doubleHash:
      return "double-hash: the client data matches when it is hashed twice"
    case .otherChallenge:
      return
        "other-challenge: the object is intact, but was made for another challenge or client data"
    case .objectAltered:
      return
        "object-altered: the authenticator data or the certificate was swapped: treat it as forged"
    case .otherKey:
      return "other-key: the key id given belongs to a key other than the one attested here"
    case .configuredAppId:
      return
        "configured-app-id: compare the App ID in the message with attest.appIds, prefix included"
    case .otherDate:
      return
        "the receipt is from a time when the certificate was not valid: swapped, treat it as forged"
    case .authorityEnded:
      return
        "error.at names one of Apple's own certificates: update Assay, or check the clock"
    case .textSignature:
      return "the signature is text: the client's copy is not a receipt, and will never be one"
    case .configurationSize:
      return "a configuration has at most 1 MiB"
    case .configurationName:
      return "no JSON begins here: pass the text of the configuration, not the name of its file"
    case .jwsKind:
      return "programming error: pass one of the ASSAY_JWS constants"
    case .receiptKind:
      return "programming error: pass one of the ASSAY_RECEIPT constants"
    case .bearer:
      return "remove the word Bearer and its space: pass the token alone"
    case .signingKey:
      return
        "key: compare key id, issuer id, bundle id and the host's clock; is it an In-App Purchase key?"
    case .messagingAccess:
      return
        "this app has no access to retention messaging, which Apple lends on request, or the path is wrong"
    case .signedAddendum:
      return
        "exchange.api.errorName says why; without one, the app has not signed Apple's addendum for these calls"
    case .noRelease:
      return
        "no release in Production yet, or keys: ask Sandbox, or with \"environment\":\"auto\""
    case .testAuthority:
      return
        "signed by a test authority of `assay mint`: in a test use its config.json, in production never"
    case .ofProduction:
      return
        "evidence of Production at a verifier without it, such as a Sandbox-only one: see environments in the configuration"
    case .ofSandbox:
      return
        "evidence of Sandbox at a verifier without it, such as a Production-only one: see environments in the configuration"
    case .ofXcode:
      return
        "evidence of StoreKit testing in Xcode: a test verifier names its environment, Xcode or LocalTesting, in environments"
    case .unknownProduct:
      return
        "products lacks a product of the evidence, which decision.excluded names: add it if you sell it"
    case .fileName:
      return "no evidence begins here: pass what the file holds, not the name of the file"
    case .whiteSpace:
      return "white space stands before or after the text: pass the text without it"
    }
  }

  /// Returns the mistake that explains a text which is not evidence; `nil` if none does.
  static func mistake(_ text: [UInt8]) -> Explanation? {
    let inner = ASCII.trimmed(text[...])
    if isFileName(inner) { return .fileName }
    guard inner.count < text.count else { return nil }
    let (dots, stranger) = Base64.segments(Array(inner))
    return dots.count == 2 && stranger == nil ? .whiteSpace : nil
  }

  /// Whether the text is a name of at most 1,024 bytes with the ending of a file of evidence.
  private static func isFileName(_ text: ArraySlice<UInt8>) -> Bool {
    let endings: [StaticString] = [
      ".jws", ".jwt", ".txt", ".json", ".receipt", ".der", ".b64", ".bin", ".cbor",
    ]
    guard text.count <= 1024, ASCII.isPrintable(text) else { return false }
    return endings.contains { ending in
      let ending = Text(stringLiteral: ending).utf8
      return text.count > ending.count && text.suffix(ending.count).elementsEqual(ending)
    }
  }

  /// Returns `.testAuthority` if the certificate contains the name of a test authority, as issuer
  /// or subject; `nil` otherwise. Anyone can write that name: it selects a hint, and is never
  /// trusted.
  static func testAuthority(_ der: [UInt8]) -> Explanation? {
    let name = Array("Assay Test".utf8)
    var start = 0
    while start &+ name.count <= der.count {
      if der[start..<start &+ name.count].elementsEqual(name) { return .testAuthority }
      start &+= 1
    }
    return nil
  }
}
