import CryptoKit
import DeviceCheck
import Foundation

/// The App Attest key of this installation. Its id is stored in the user defaults.
actor DeviceKey {
  static let shared = DeviceKey()
  private var failed: String?

  nonisolated var isSupported: Bool { DCAppAttestService.shared.isSupported }

  /// The id of the attested key; `nil` if there is none.
  var attested: String? { UserDefaults.standard.string(forKey: "boundKey") }

  /// Forgets a key that the server or the device does not know: the next proof is of a new key.
  func forget() { UserDefaults.standard.removeObject(forKey: "boundKey") }

  /// Attests a key that was never attested before. A device that cannot attest returns a proof that
  /// states so.
  func attestation(_ clientData: Data) async throws -> DeviceProof {
    do {
      return try await attest(clientData)
    } catch let error as DCError where error.code == .invalidKey {
      return try await attest(clientData)
    } catch let error as DCError where error.code == .featureUnsupported {
      return DeviceProof(unsupported: error.code.rawValue)
    }
  }

  /// Signs client data with the attested key.
  func assertion(_ clientData: Data, by key: String) async throws -> DeviceProof {
    do {
      let proof = try await DCAppAttestService.shared.generateAssertion(
        key, clientDataHash: Self.digest(clientData))
      failed = nil
      return DeviceProof(
        keyId: key, assertion: proof.base64EncodedString(),
        clientData: String(decoding: clientData, as: UTF8.self))
    } catch let error as DCError where error.code != .serverUnavailable {
      if failed == key || error.code == .invalidKey || error.code == .invalidInput { forget() }
      failed = key
      throw error
    }
  }

  /// Attests a new key. Its id is stored before, and it counts as attested before the server
  /// receives the proof, so that an app that is ended in between continues with the same key.
  private func attest(_ clientData: Data) async throws -> DeviceProof {
    guard isSupported else { throw DCError(.featureUnsupported) }
    let key = try await unattested()
    do {
      let proof = try await DCAppAttestService.shared.attestKey(
        key, clientDataHash: Self.digest(clientData))
      UserDefaults.standard.set(key, forKey: "boundKey")
      UserDefaults.standard.removeObject(forKey: "newKey")
      return DeviceProof(
        keyId: key, attestation: proof.base64EncodedString(),
        clientData: String(decoding: clientData, as: UTF8.self))
    } catch let error as DCError where error.code != .serverUnavailable {
      UserDefaults.standard.removeObject(forKey: "newKey")
      throw error
    }
  }

  private func unattested() async throws -> String {
    if let kept = UserDefaults.standard.string(forKey: "newKey") { return kept }
    let key = try await DCAppAttestService.shared.generateKey()
    UserDefaults.standard.set(key, forKey: "newKey")
    return key
  }

  private static func digest(_ data: Data) -> Data { Data(SHA256.hash(data: data)) }
}

/// The session token of a device, which proves its key once for many cheap calls.
actor DeviceSession {
  private struct Said: Decodable, Sendable { let session: String; let expiresAtMs: Double }
  private let backEnd: BackEnd
  private let key = DeviceKey.shared
  private var current: Said?
  /// An attestation to which the server has not responded.
  private var unanswered: DeviceProof?
  private var asking: Task<String?, Error>?
  private var isWanted = true

  init(backEnd: BackEnd) { self.backEnd = backEnd }

  /// Returns the session token for the header `X-Session`; `nil` if the device cannot attest, or
  /// the server needs none. Makes one proof at a time, because counters out of order are refused.
  func text() async throws -> String? {
    if let current, current.expiresAtMs / 1000 - Date().timeIntervalSince1970 > 30 {
      return current.session
    }
    guard isWanted, key.isSupported else { return nil }
    let task = asking ?? Task { try await ask() }
    asking = task
    return try await task.value
  }

  /// Discards a session token that the server refused.
  func drop(_ refused: String?) {
    if refused == nil || refused == current?.session { current = nil }
    isWanted = true
  }

  private func ask() async throws -> String? {
    defer { asking = nil }
    if let known = await key.attested, unanswered == nil {
      do {
        let proof = try await key.assertion(try await clientData("assert"), by: known)
        let answer = try await send(proof)
        guard answer.wantsAttestation else { return try taken(answer) }
        await key.forget()
      } catch let error as DCError {
        guard await key.attested == nil else { throw error }
      }
    } else if let sent = unanswered {
      let answer = try await send(sent)
      guard answer.wantsAttestation else { return try taken(answer) }
      await key.forget()
    }
    let proof = try await key.attestation(try await clientData("attest"))
    guard proof.attestation != nil else { return nil }
    let answer = try await send(proof)
    if answer.wantsAttestation { await key.forget() }
    return try taken(answer)
  }

  private func taken(_ answer: Answer) throws -> String? {
    if answer.status == 404 {
      isWanted = false
      return nil
    }
    guard answer.status == 200 else { throw AccountError.server(answer.status) }
    let said = try JSONDecoder().decode(Said.self, from: answer.data)
    current = said
    return said.session
  }

  private func send(_ proof: DeviceProof) async throws -> Answer {
    if proof.attestation != nil { unanswered = proof }
    let answer = try await backEnd.post("v1/session", JSONEncoder().encode(proof))
    let isLate = answer.status >= 500 || answer.status == 429
    if !isLate && (answer.status != 401 || answer.wantsAttestation) { unanswered = nil }
    return answer
  }

  /// Returns the bytes to sign, which are sent, too.
  private func clientData(_ purpose: String) async throws -> Data {
    struct Said: Decodable { let challenge: String }
    let answer = try await backEnd.post(
      "v1/challenge", JSONEncoder().encode(["purpose": purpose]))
    guard answer.status == 200 else { throw AccountError.server(answer.status) }
    let challenge = try JSONDecoder().decode(Said.self, from: answer.data).challenge
    return try JSONEncoder().encode(["challenge": challenge])
  }
}
