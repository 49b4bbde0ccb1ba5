extension KeyRow {
  /// Why an account may not use this key: it is another's, or retired.
  func refusal(to account: Text) -> Refusal? {
    if owner != account { return KeyRow.foreign }
    return state == .retired ? KeyRow.retired : nil
  }

  static var foreign: Refusal {
    Refusal(.rejectedAttestKeyForeign, "STO-63", at: "account")
  }

  static var retired: Refusal { Refusal(.rejectedAttestKeyRetired, "STO-63", at: "keyId") }

  static var unknown: Refusal { Refusal(.rejectedAttestKeyUnknown, "STO-63", at: "keyId") }

  /// ATT-2: standard base64, as documents have it.
  var documentId: Text { KeyRow.documentId(id) }

  static func documentId(_ id: Text) -> Text {
    Text(Base64.encodeStandard(Hex.decode(id.utf8) ?? []))
  }
}

extension StoreStop {
  /// A row that another changed between a change and the look at it.
  static var keyMoved: StoreStop {
    .refused(Refusal(.unavailableStoreContention, "STO-70", at: "keyId"))
  }
}

extension StoreParameters {
  /// ATT-2: of any form; lower-case hex, as rows have it.
  func keyId() throws(Refusal) -> Text {
    let node = try needed("keyId")
    let text = try node.text()
    do throws(Refusal) {
      let normal = try KeyIdentifier.normalForm(of: text.utf8)
      return AttestProof.keyId(Base64.decodeStandard(normal[...]) ?? [])
    } catch {
      throw node.refusal(.range)
    }
  }
}
