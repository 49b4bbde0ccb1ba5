import Assay
import CAssay
import CGate

// The C boundary of requests: see Exports.swift.

@implementation @_cdecl("assay_call")
public func assay_call(
  _ verifier: OpaquePointer?, _ request: UnsafePointer<CChar>?, _ request_len: Int,
  _ evidence: UnsafePointer<OpaquePointer?>?, _ evidence_count: Int, _ now_ms: Int64,
  _ doc: UnsafeMutablePointer<OpaquePointer?>?
) -> assay_status {
  let call = assay_gate_enter()
  defer { assay_gate_leave(call) }
  // Documents are read before anything is written: `doc` may point into `evidence`.
  let documents = unsafe Input.documents(evidence, evidence_count)
  unsafe doc?.pointee = nil
  guard unsafe doc != nil, let verifier = unsafe Handle.verifier(verifier),
    var bytes = unsafe Input.bytes(request, request_len, cap: Verifier.requestByteCap),
    let documents
  else { return unsafe Handle.answer(.misuse("exchange"), doc) }
  // The request may contain tokens (EXC-22).
  defer { Secret.wipe(&bytes) }
  return unsafe Handle.answer(
    verifier.call(bytes, evidence: documents, nowMs: now_ms), doc)
}

@implementation @_cdecl("assay_exchange_new")
public func assay_exchange_new(
  _ verifier: OpaquePointer?, _ request: UnsafePointer<CChar>?, _ request_len: Int,
  _ evidence: UnsafePointer<OpaquePointer?>?, _ evidence_count: Int, _ now_ms: Int64,
  _ out: UnsafeMutablePointer<OpaquePointer?>?, _ doc: UnsafeMutablePointer<OpaquePointer?>?
) -> assay_status {
  let call = assay_gate_enter()
  defer { assay_gate_leave(call) }
  // Documents are read before anything is written: `out` and `doc` may point into `evidence`.
  let documents = unsafe Input.documents(evidence, evidence_count)
  unsafe out?.pointee = nil
  unsafe doc?.pointee = nil
  guard unsafe out != nil, unsafe doc != nil, let verifier = unsafe Handle.verifier(verifier),
    var bytes = unsafe Input.bytes(request, request_len, cap: Verifier.requestByteCap),
    let documents
  else { return unsafe Handle.answer(.misuse("exchange"), doc) }
  // The request may contain tokens (EXC-22).
  defer { Secret.wipe(&bytes) }
  let (exchange, document) = verifier.startExchange(bytes, evidence: documents, nowMs: now_ms)
  if let exchange { unsafe out?.pointee = unsafe Handle.retain(exchange) }
  return unsafe Handle.answer(document, doc)
}

@implementation @_cdecl("assay_exchange_step")
public func assay_exchange_step(
  _ exchange: OpaquePointer?, _ reply: UnsafePointer<CChar>?, _ reply_len: Int,
  _ now_ms: Int64, _ doc: UnsafeMutablePointer<OpaquePointer?>?
) -> assay_status {
  let call = assay_gate_enter()
  defer { assay_gate_leave(call) }
  unsafe doc?.pointee = nil
  guard unsafe doc != nil, let exchange = unsafe Handle.exchange(exchange),
    var bytes = unsafe Input.bytes(reply, reply_len, cap: Exchange.answerByteCap)
  else { return unsafe Handle.answer(.misuse("exchange"), doc) }
  defer { Secret.wipe(&bytes) }
  return unsafe Handle.answer(exchange.step(bytes, nowMs: now_ms), doc)
}

@implementation @_cdecl("assay_exchange_free")
public func assay_exchange_free(_ exchange: OpaquePointer?) {
  let call = assay_gate_enter()
  defer { assay_gate_leave(call) }
  unsafe Handle.release(exchange, Exchange.self)
}

extension Handle {
  static func exchange(_ handle: OpaquePointer?) -> Exchange? {
    guard let handle = unsafe handle else { return nil }
    return unsafe Unmanaged<Exchange>.fromOpaque(UnsafeRawPointer(handle)).takeUnretainedValue()
  }
}
