import Assay
import CAssay
import CGate

// MARK: App Attest

@implementation @_cdecl("assay_verify_attestation")
public func assay_verify_attestation(
  _ verifier: OpaquePointer?, _ attestation: UnsafeRawPointer?, _ attestation_len: Int,
  _ key_id: UnsafeRawPointer?, _ key_id_len: Int, _ client_data_kind: Int32,
  _ client_data: UnsafeRawPointer?, _ client_data_len: Int, _ now_ms: Int64,
  _ doc: UnsafeMutablePointer<OpaquePointer?>?
) -> assay_status {
  let call = assay_gate_enter()
  defer { assay_gate_leave(call) }
  unsafe doc?.pointee = nil
  guard unsafe doc != nil, let verifier = unsafe Handle.verifier(verifier),
    let object = unsafe Input.bytes(
      attestation, attestation_len, cap: Verifier.attestationByteCap),
    let key = unsafe Input.bytes(key_id, key_id_len, cap: 128),
    let data = unsafe Input.bytes(
      client_data, client_data_len, cap: Verifier.clientDataByteCap)
  else { return unsafe Handle.answer(.misuse("attestation"), doc) }
  return unsafe Handle.answer(
    verifier.verifyAttestation(
      object, keyId: key, clientData: ClientDataInput(kind: client_data_kind, bytes: data),
      nowMs: now_ms), doc)
}

@implementation @_cdecl("assay_verify_assertion")
public func assay_verify_assertion(
  _ verifier: OpaquePointer?, _ assertion: UnsafeRawPointer?, _ assertion_len: Int,
  _ public_key: UnsafeRawPointer?, _ public_key_len: Int, _ counter: UInt32,
  _ client_data_kind: Int32, _ client_data: UnsafeRawPointer?, _ client_data_len: Int,
  _ now_ms: Int64, _ doc: UnsafeMutablePointer<OpaquePointer?>?
) -> assay_status {
  let call = assay_gate_enter()
  defer { assay_gate_leave(call) }
  unsafe doc?.pointee = nil
  guard unsafe doc != nil, let verifier = unsafe Handle.verifier(verifier),
    let object = unsafe Input.bytes(assertion, assertion_len, cap: Verifier.assertionByteCap),
    let key = unsafe Input.bytes(public_key, public_key_len, cap: 128),
    let data = unsafe Input.bytes(
      client_data, client_data_len, cap: Verifier.clientDataByteCap)
  else { return unsafe Handle.answer(.misuse("assertion"), doc) }
  return unsafe Handle.answer(
    verifier.verifyAssertion(
      object, publicKey: key, counter: counter,
      clientData: ClientDataInput(kind: client_data_kind, bytes: data), nowMs: now_ms), doc)
}
