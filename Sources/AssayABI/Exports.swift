import Assay
import CAssay
import CGate

// The C boundary converts arguments, calls the library, and converts results. It contains no logic.
// `@implementation` checks every function against its declaration in include/assay.h. Every call
// that does more than return a constant passes the gate at which fork waits (JWS-105).

// MARK: library

@implementation @_cdecl("assay_version_number")
public func assay_version_number() -> UInt32 { UInt32(ASSAY_VERSION_NUMBER) }

@implementation @_cdecl("assay_version")
public func assay_version() -> UnsafePointer<CChar>? {
  let call = assay_gate_enter()
  defer { assay_gate_leave(call) }
  return unsafe BuildInfo.version.pointer
}

@implementation @_cdecl("assay_build_info")
public func assay_build_info() -> UnsafePointer<CChar>? {
  let call = assay_gate_enter()
  defer { assay_gate_leave(call) }
  return unsafe BuildInfo.json.pointer
}

@implementation @_cdecl("assay_status_name")
public func assay_status_name(_ status: assay_status) -> UnsafePointer<CChar>? {
  let call = assay_gate_enter()
  defer { assay_gate_leave(call) }
  return unsafe characters(Status(code: status).name)
}

@implementation @_cdecl("assay_status_text")
public func assay_status_text(_ status: assay_status, _ what: Int32) -> UnsafePointer<CChar>? {
  let call = assay_gate_enter()
  defer { assay_gate_leave(call) }
  let status = Status(code: status)
  switch Int(what) {
  case ASSAY_STATUS_NAME: return unsafe characters(status.name)
  case ASSAY_STATUS_MESSAGE: return unsafe characters(status.message)
  case ASSAY_STATUS_HINT: return unsafe characters(status.hint)
  case ASSAY_STATUS_RETRY: return unsafe characters(status.retryClass)
  default: return nil
  }
}

@implementation @_cdecl("assay_status_http")
public func assay_status_http(_ status: assay_status) -> Int32 {
  let call = assay_gate_enter()
  defer { assay_gate_leave(call) }
  return Int32(truncatingIfNeeded: Status(code: status).httpStatus)
}

@implementation @_cdecl("assay_status_next")
public func assay_status_next(_ status: assay_status) -> assay_status {
  let call = assay_gate_enter()
  defer { assay_gate_leave(call) }
  return Status(code: status).next.code
}

// MARK: documents

@implementation @_cdecl("assay_doc_status")
public func assay_doc_status(_ doc: OpaquePointer?) -> assay_status {
  let call = assay_gate_enter()
  defer { assay_gate_leave(call) }
  return unsafe Handle.document(doc)?.status.code ?? Status.misuseCallArgument.code
}

@implementation @_cdecl("assay_doc_json")
public func assay_doc_json(
  _ doc: OpaquePointer?, _ len: UnsafeMutablePointer<Int>?
) -> UnsafePointer<CChar>? {
  let call = assay_gate_enter()
  defer { assay_gate_leave(call) }
  guard let document = unsafe Handle.document(doc), let text = unsafe document.storedJSON else {
    unsafe len?.pointee = 0
    return nil
  }
  unsafe len?.pointee = text.count
  return unsafe characters(text)
}

@implementation @_cdecl("assay_doc_text")
public func assay_doc_text(
  _ doc: OpaquePointer?, _ path: UnsafePointer<CChar>?, _ path_len: Int,
  _ len: UnsafeMutablePointer<Int>?
) -> UnsafePointer<CChar>? {
  let call = assay_gate_enter()
  defer { assay_gate_leave(call) }
  guard let document = unsafe Handle.document(doc),
    let path = unsafe Input.short(path, path_len, cap: Document.pathByteCap),
    let text = unsafe document.storedText(path: path)
  else {
    unsafe len?.pointee = 0
    return nil
  }
  unsafe len?.pointee = text.count
  return unsafe characters(text)
}

@implementation @_cdecl("assay_doc_integer")
public func assay_doc_integer(
  _ doc: OpaquePointer?, _ path: UnsafePointer<CChar>?, _ path_len: Int, _ fallback: Int64
) -> Int64 {
  let call = assay_gate_enter()
  defer { assay_gate_leave(call) }
  guard let document = unsafe Handle.document(doc),
    let path = unsafe Input.short(path, path_len, cap: Document.pathByteCap)
  else { return fallback }
  return document.integer(path: path) ?? fallback
}

@implementation @_cdecl("assay_doc_free")
public func assay_doc_free(_ doc: OpaquePointer?) {
  let call = assay_gate_enter()
  defer { assay_gate_leave(call) }
  unsafe Handle.release(doc, Document.self)
}

// MARK: verifier

@implementation @_cdecl("assay_verifier_new")
public func assay_verifier_new(
  _ config: UnsafePointer<CChar>?, _ config_len: Int,
  _ out: UnsafeMutablePointer<OpaquePointer?>?, _ doc: UnsafeMutablePointer<OpaquePointer?>?
) -> assay_status {
  let call = assay_gate_enter()
  defer { assay_gate_leave(call) }
  unsafe out?.pointee = nil
  guard unsafe out != nil,
    var bytes = unsafe Input.bytes(config, config_len, cap: Verifier.configurationByteCap)
  else { return unsafe Handle.answer(.misuse("configuration"), doc) }
  // The configuration contains keys and secrets (EXC-10).
  defer { Secret.wipe(&bytes) }
  let (verifier, document) = Verifier.make(bytes)
  if let verifier { unsafe out?.pointee = unsafe Handle.retain(verifier) }
  return unsafe Handle.answer(document, doc)
}

@implementation @_cdecl("assay_verifier_free")
public func assay_verifier_free(_ verifier: OpaquePointer?) {
  let call = assay_gate_enter()
  defer { assay_gate_leave(call) }
  unsafe Handle.release(verifier, Verifier.self)
}

// MARK: evidence

@implementation @_cdecl("assay_verify_jws")
public func assay_verify_jws(
  _ verifier: OpaquePointer?, _ kind: Int32, _ jws: UnsafePointer<CChar>?, _ jws_len: Int,
  _ now_ms: Int64, _ doc: UnsafeMutablePointer<OpaquePointer?>?
) -> assay_status {
  let call = assay_gate_enter()
  defer { assay_gate_leave(call) }
  unsafe doc?.pointee = nil
  let known = StoreKitKind(rawValue: kind)
  guard unsafe doc != nil, let kind = known, let verifier = unsafe Handle.verifier(verifier),
    let bytes = unsafe Input.bytes(jws, jws_len, cap: verifier.jwsByteCap)
  else { return unsafe Handle.answer(.misuse(known), doc) }
  return unsafe Handle.answer(verifier.verifyJWS(bytes, kind: kind, nowMs: now_ms), doc)
}

@implementation @_cdecl("assay_verify_receipt")
public func assay_verify_receipt(
  _ verifier: OpaquePointer?, _ kind: Int32, _ receipt: UnsafeRawPointer?, _ receipt_len: Int,
  _ subject: UnsafeRawPointer?, _ subject_len: Int, _ now_ms: Int64,
  _ doc: UnsafeMutablePointer<OpaquePointer?>?
) -> assay_status {
  let call = assay_gate_enter()
  defer { assay_gate_leave(call) }
  unsafe doc?.pointee = nil
  let known = ReceiptKind(rawValue: kind)
  guard unsafe doc != nil, let kind = known, let verifier = unsafe Handle.verifier(verifier),
    let bytes = unsafe Input.bytes(receipt, receipt_len, cap: verifier.receiptByteCap(kind)),
    let owner = unsafe Input.bytes(subject, subject_len, cap: 128)
  else { return unsafe Handle.answer(.misuse(known), doc) }
  return unsafe Handle.answer(
    verifier.verifyReceipt(
      bytes, kind: kind, subject: unsafe subject == nil ? nil : owner, nowMs: now_ms), doc)
}

@implementation @_cdecl("assay_triage")
public func assay_triage(
  _ verifier: OpaquePointer?, _ blob: UnsafeRawPointer?, _ blob_len: Int, _ now_ms: Int64,
  _ doc: UnsafeMutablePointer<OpaquePointer?>?
) -> assay_status {
  let call = assay_gate_enter()
  defer { assay_gate_leave(call) }
  unsafe doc?.pointee = nil
  guard unsafe doc != nil, let verifier = unsafe Handle.verifier(verifier),
    let bytes = unsafe Input.bytes(blob, blob_len, cap: verifier.receiptByteCap)
  else { return unsafe Handle.answer(.misuse("triage"), doc) }
  return unsafe Handle.answer(verifier.triage(bytes, nowMs: now_ms), doc)
}

@implementation @_cdecl("assay_read_verify_receipt_response")
public func assay_read_verify_receipt_response(
  _ verifier: OpaquePointer?, _ body: UnsafePointer<CChar>?, _ body_len: Int, _ now_ms: Int64,
  _ doc: UnsafeMutablePointer<OpaquePointer?>?
) -> assay_status {
  let call = assay_gate_enter()
  defer { assay_gate_leave(call) }
  unsafe doc?.pointee = nil
  guard unsafe doc != nil, let verifier = unsafe Handle.verifier(verifier),
    let bytes = unsafe Input.bytes(body, body_len, cap: verifier.responseByteCap)
  else { return unsafe Handle.answer(.misusedVerifyReceipt, doc) }
  return unsafe Handle.answer(verifier.readVerifyReceiptResponse(bytes, nowMs: now_ms), doc)
}

// MARK: decision

@implementation @_cdecl("assay_decide")
public func assay_decide(
  _ verifier: OpaquePointer?, _ evidence: UnsafePointer<OpaquePointer?>?, _ evidence_count: Int,
  _ account: UnsafePointer<CChar>?, _ account_len: Int, _ now_ms: Int64,
  _ doc: UnsafeMutablePointer<OpaquePointer?>?
) -> assay_status {
  let call = assay_gate_enter()
  defer { assay_gate_leave(call) }
  // Documents are read before anything is written: `doc` may point into `evidence`.
  let documents = unsafe Input.documents(evidence, evidence_count)
  unsafe doc?.pointee = nil
  guard unsafe doc != nil, let verifier = unsafe Handle.verifier(verifier), let documents,
    let text = unsafe Input.short(account, account_len, cap: Verifier.accountByteCap)
  else { return unsafe Handle.answer(.misuse("decision"), doc) }
  let expected = unsafe account == nil ? nil : text
  return unsafe Handle.answer(
    verifier.decide(documents, account: expected, nowMs: now_ms), doc)
}

@implementation @_cdecl("assay_check_expiry")
public func assay_check_expiry(
  _ expires_ms: Int64, _ grace_ms: Int64, _ revoked_ms: Int64, _ now_ms: Int64
) -> assay_status {
  let call = assay_gate_enter()
  defer { assay_gate_leave(call) }
  return checkExpiry(
    expiresAtMs: expires_ms, gracePeriodMs: grace_ms, revokedAtMs: revoked_ms, nowMs: now_ms
  ).code
}
