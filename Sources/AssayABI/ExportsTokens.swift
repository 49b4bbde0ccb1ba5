import Assay
import CAssay
import CGate

// The C boundary of access tokens: see Exports.swift.

@implementation @_cdecl("assay_keyset_new")
public func assay_keyset_new(
  _ jwks: UnsafePointer<CChar>?, _ jwks_len: Int, _ out: UnsafeMutablePointer<OpaquePointer?>?,
  _ doc: UnsafeMutablePointer<OpaquePointer?>?
) -> assay_status {
  let call = assay_gate_enter()
  defer { assay_gate_leave(call) }
  unsafe out?.pointee = nil
  guard unsafe out != nil,
    let bytes = unsafe Input.bytes(jwks, jwks_len, cap: Keyset.byteCap)
  else { return unsafe Handle.answer(.misuse("keyset"), doc) }
  let (keyset, document) = Keyset.make(bytes)
  if let keyset { unsafe out?.pointee = unsafe Handle.retain(keyset) }
  return unsafe Handle.answer(document, doc)
}

@implementation @_cdecl("assay_keyset_free")
public func assay_keyset_free(_ keys: OpaquePointer?) {
  let call = assay_gate_enter()
  defer { assay_gate_leave(call) }
  unsafe Handle.release(keys, Keyset.self)
}

@implementation @_cdecl("assay_verify_token")
public func assay_verify_token(
  _ verifier: OpaquePointer?, _ keys: OpaquePointer?, _ token: UnsafePointer<CChar>?,
  _ token_len: Int, _ now_ms: Int64, _ doc: UnsafeMutablePointer<OpaquePointer?>?
) -> assay_status {
  let call = assay_gate_enter()
  defer { assay_gate_leave(call) }
  unsafe doc?.pointee = nil
  guard unsafe doc != nil, let verifier = unsafe Handle.verifier(verifier),
    let keyset = unsafe Handle.keyset(keys),
    let bytes = unsafe Input.bytes(token, token_len, cap: Verifier.tokenByteCap)
  else { return unsafe Handle.answer(.misuse("token"), doc) }
  return unsafe Handle.answer(verifier.verifyToken(bytes, keyset: keyset, nowMs: now_ms), doc)
}

extension Handle {
  static func keyset(_ handle: OpaquePointer?) -> Keyset? {
    guard let handle = unsafe handle else { return nil }
    return unsafe Unmanaged<Keyset>.fromOpaque(UnsafeRawPointer(handle)).takeUnretainedValue()
  }
}
