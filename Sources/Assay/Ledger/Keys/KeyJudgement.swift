extension KeyRow {
  /// Returns why `account` may not use this key: another account owns it, or it is retired.
  /// Returns `nil` if the account may use it.
  func refusal(to account: Text) -> Refusal? {
    if owner != account { return KeyRow.foreign }
    return state == .retired ? KeyRow.retired : nil
  }

  static var foreign: Refusal {
    Refusal(.rejectedDeviceKeyOtherAccount, "STO-63", at: "account")
  }

  static var retired: Refusal { Refusal(.rejectedDeviceKeyRetired, "STO-63", at: "keyId") }

  static var unknown: Refusal { Refusal(.rejectedDeviceKeyUnknown, "STO-63", at: "keyId") }

  /// The key id in standard base64, as documents contain it (ATT-2).
  var documentId: Text { KeyRow.documentId(id) }

  static func documentId(_ id: Text) -> Text {
    Text(Base64.encodeStandard(Hex.decode(id.utf8) ?? []))
  }
}

extension LedgerSuspension {
  /// The refusal after another process changed the row between a change and the next read.
  static var keyMoved: LedgerSuspension {
    .refused(Refusal(.unavailableDatabaseContention, "STO-70", at: "keyId"))
  }
}

extension OperationParameters {
  /// Returns the member `keyId`, which may have any accepted form (ATT-2), in lower-case hex, as
  /// rows contain it.
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
