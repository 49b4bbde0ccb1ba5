import AssayAuthority
import CLibCrypto

// The functions that libFuzzer calls. One program contains every target; the name under which it is
// started ("signed-payload") selects one.

/// The function that runs a target on one input.
typealias Target = ([UInt8]) -> Void

enum Targets {
  /// The targets: functions of include/assay.h first, then strict readers.
  static let all: [(name: String, run: Target)] = [
    ("verify-jws", EvidenceTargets.verifyJWS),
    ("signed-payload", EvidenceTargets.signedPayload),
    ("signed-notification", EvidenceTargets.signedNotification),
    ("header", EvidenceTargets.header),
    ("certificate", CertificateTargets.certificate),
    ("verifier-new", DecisionTargets.verifierNew),
    ("decide", DecisionTargets.decide),
    ("transaction-receipt", ReceiptTargets.transactionReceipt),
    ("app-receipt", ReceiptTargets.appReceipt),
    ("receipt-response", TriageTargets.receiptResponse),
    ("receipt-answer", ReceiptAnswerTargets.answer),
    ("triage", TriageTargets.triage),
    ("receipts-config", TriageTargets.receiptsConfig),
    ("attestation", AttestTargets.attestation),
    ("assertion", AttestTargets.assertion),
    ("attest-receipt", AttestReceiptTargets.attestReceipt),
    ("keyset-new", TokenTargets.keysetNew),
    ("verify-token", TokenTargets.verifyToken),
    ("exchange", ExchangeTargets.exchange),
    ("refund-answer", RefundTargets.answer),
    ("exchange-steps", StateMachineTargets.machine),
    ("ledger-operation", LedgerTargets.ledgerMachine),
    ("ocsp-response", RevocationTargets.ocspResponse),
    ("attest-config", ExchangeTargets.attestConfig),
    ("check-expiry", DecisionTargets.checkExpiry),
    ("document-path", DecisionTargets.documentPath),
    ("json", ReaderTargets.json),
    ("base64", ReaderTargets.base64),
    ("der", ReaderTargets.der),
    ("transport", ReceiptReaderTargets.transport),
    ("property-list", ReceiptReaderTargets.propertyList),
    ("purchase-info", ReceiptReaderTargets.purchaseInfo),
    ("signature-blob", ReceiptReaderTargets.signatureBlob),
    ("ber", ContainerTargets.ber),
    ("receipt-attributes", ContainerTargets.receiptAttributes),
    ("cbor", AttestReaderTargets.cbor),
    ("auth-data", AttestReaderTargets.authData),
  ]

  static var chosen: Target? = nil
}

@_cdecl("LLVMFuzzerInitialize")
public func initialize(
  _ count: UnsafeMutablePointer<Int32>?,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>?
) -> Int32 {
  let first = arguments?.pointee?.pointee.map { String(cString: $0) } ?? ""
  let name = first.split(separator: "/").last.map { String($0) } ?? ""
  if name == "replay" {
    Replay.run()
    exit(0)
  }
  Targets.chosen = Targets.all.first { $0.name == name }?.run
  demand(Targets.chosen != nil, "no target is called \(name)")
  FuzzFixture.shared.prepare()
  return 0
}

@_cdecl("LLVMFuzzerTestOneInput")
public func test(_ data: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  let bytes = [UInt8](UnsafeBufferPointer(start: data, count: count))
  Targets.chosen?(bytes)
  return 0
}

/// Ends the process, and with it the run, if a condition does not hold.
func demand(_ holds: Bool, _ what: @autoclosure () -> String) {
  if !holds { fatalError(what()) }
}

/// The number of replies to exchanges in this process, printed from time to time.
enum AnswerCount {
  private static var count = 0

  static func add() {
    count += 1
    if count % 10_000 == 0 { fputs("answers given: \(count)\n", stderr) }
  }
}
