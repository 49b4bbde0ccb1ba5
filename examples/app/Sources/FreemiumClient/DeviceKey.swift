import CryptoKit
import DeviceCheck
import Foundation

/// The proof that a request comes from this app on a genuine device, as members of a body.
nonisolated struct DeviceProof: Encodable, Sendable {
  var keyId: String?
  var attestation: String?
  var assertion: String?
  var clientData: String?
  /// The code of DCError, from a device that cannot attest.
  var unsupported: Int?
}

/// What a device signs: the server issues it for one purpose, and it is used once.
nonisolated struct Challenge: Decodable, Sendable {
  let challenge: String
  let expiresAtMs: Double

  /// The bytes to sign, which are sent, too.
  var clientData: Data {
    get throws { try JSONEncoder().encode(["challenge": challenge]) }
  }
}

/// The App Attest key of this installation. Its id is stored in the user defaults.
public actor DeviceKey {
  /// An attestation that was begun, until the server's response to it is final. It is stored, so
  /// that a repetition has the same key and the same client data.
  private struct Attempt: Codable {
    let purpose: String
    let keyId: String
    let clientData: Data
    let expiresAtMs: Double
    var attestation: Data?

    /// Whether the challenge is good for another half a minute, by the clock of this device.
    var isFresh: Bool { expiresAtMs / 1000 - Date().timeIntervalSince1970 > 30 }
  }

  public static let shared = DeviceKey()
  private var failed: String?

  nonisolated var isSupported: Bool { DCAppAttestService.shared.isSupported }

  /// The id of the attested key; `nil` if there is none.
  var attested: String? { UserDefaults.standard.string(forKey: "boundKey") }

  private var attempt: Attempt? {
    UserDefaults.standard.data(forKey: "attempt").flatMap {
      try? JSONDecoder().decode(Attempt.self, from: $0)
    }
  }

  private func store(_ attempt: Attempt?) {
    UserDefaults.standard.set(try? attempt.map(JSONEncoder().encode), forKey: "attempt")
  }

  /// Forgets a key that the server or the device does not know: the next proof is of a new key.
  func forget() {
    UserDefaults.standard.removeObject(forKey: "boundKey")
    store(nil)
  }

  /// Whether an attestation for this purpose was made, and has no final response.
  func isUnanswered(_ purpose: String) -> Bool {
    attempt?.purpose == purpose && attempt?.attestation != nil
  }

  /// Attests a key, sends the proof, and returns the response. A proof without a final response is
  /// sent again as it was; when the server refuses the repetition, a new key is attested, once.
  func attest(
    _ purpose: String, challenge: @Sendable () async throws -> Challenge,
    send: @Sendable (DeviceProof) async throws -> Answer
  ) async throws -> Answer {
    let isRepetition = isUnanswered(purpose)
    let answer = try await send(try await proof(purpose, challenge))
    settle(answer)
    guard isRepetition, answer.wantsAttestation else { return answer }
    let second = try await send(try await proof(purpose, challenge))
    settle(second)
    return second
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

  /// Ends the attempt after a final response. 429, 5xx and a proxy's responses are none.
  private func settle(_ answer: Answer) {
    if answer.wantsAttestation { return forget() }
    if [200, 400, 404, 409].contains(answer.status) { store(nil) }
  }

  /// Returns the attestation of a key; of another one if Apple refuses the first. A device that
  /// cannot attest returns a proof that states so.
  private func proof(
    _ purpose: String, _ challenge: @Sendable () async throws -> Challenge
  ) async throws -> DeviceProof {
    do {
      return try await attested(for: purpose, challenge)
    } catch let error as DCError where error.code == .invalidKey {
      return try await attested(for: purpose, challenge)
    } catch let error as DCError where error.code == .featureUnsupported {
      return DeviceProof(unsupported: error.code.rawValue)
    }
  }

  /// Attests the key of the attempt. It counts as attested before the server receives the proof, so
  /// that an app that is ended in between continues with the same key.
  private func attested(
    for purpose: String, _ challenge: @Sendable () async throws -> Challenge
  ) async throws -> DeviceProof {
    guard isSupported else { throw DCError(.featureUnsupported) }
    var attempt = try await begun(purpose, challenge)
    if attempt.attestation == nil {
      do {
        attempt.attestation = try await DCAppAttestService.shared.attestKey(
          attempt.keyId, clientDataHash: Self.digest(attempt.clientData))
      } catch let error as DCError where error.code != .serverUnavailable {
        store(nil)
        throw error
      }
      store(attempt)
      UserDefaults.standard.set(attempt.keyId, forKey: "boundKey")
    }
    return DeviceProof(
      keyId: attempt.keyId, attestation: attempt.attestation?.base64EncodedString(),
      clientData: String(decoding: attempt.clientData, as: UTF8.self))
  }

  /// Returns the attempt that was begun, or begins one. Apple counts the keys of a device: a key
  /// that was not attested gets another challenge, not a successor.
  private func begun(
    _ purpose: String, _ challenge: @Sendable () async throws -> Challenge
  ) async throws -> Attempt {
    let last = attempt
    if let last, last.purpose == purpose, last.attestation != nil || last.isFresh { return last }
    let issued = try await challenge()
    let key: String
    if let last, last.attestation == nil {
      key = last.keyId
    } else {
      key = try await DCAppAttestService.shared.generateKey()
    }
    let begun = Attempt(
      purpose: purpose, keyId: key, clientData: try issued.clientData,
      expiresAtMs: issued.expiresAtMs)
    store(begun)
    return begun
  }

  private static func digest(_ data: Data) -> Data { Data(SHA256.hash(data: data)) }
}

/// The session token of a device, which proves its key once for many cheap calls.
public actor DeviceSession {
  private struct Said: Decodable, Sendable { let session: String; let expiresAtMs: Double }
  private let backEnd: BackEnd
  private let key = DeviceKey.shared
  private var current: Said?
  private var asking: Task<String?, Error>?
  private var isWanted = true

  public init(backEnd: BackEnd) { self.backEnd = backEnd }

  /// Returns the session token for the header `X-Session`; `nil` if the device cannot attest, or
  /// the server needs none. Makes one proof at a time, because counters out of order are refused.
  public func text() async throws -> String? {
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
    _ = try await backEnd.account.accessToken()  // Makes the account, and so its name.
    let purpose = "session of \(try await backEnd.account.username() ?? "")"
    if let known = await key.attested, await !key.isUnanswered(purpose) {
      do {
        let proof = try await key.assertion(
          try await challenge("assert").clientData, by: known)
        let answer = try await send(proof)
        guard answer.wantsAttestation else { return try taken(answer) }
        await key.forget()
      } catch let error as DCError {
        guard await key.attested == nil else { throw error }
      }
    }
    do {
      return try taken(
        try await key.attest(purpose, challenge: { try await self.challenge("attest") }) { proof in
          guard proof.attestation != nil else { throw DCError(.featureUnsupported) }
          return try await self.send(proof)
        })
    } catch let error as DCError where error.code == .featureUnsupported {
      return nil
    }
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
    try await backEnd.post("v1/session", JSONEncoder().encode(proof))
  }

  private func challenge(_ purpose: String) async throws -> Challenge {
    let answer = try await backEnd.post(
      "v1/challenge", JSONEncoder().encode(["purpose": purpose]))
    guard answer.status == 200 else { throw AccountError.server(answer.status) }
    return try JSONDecoder().decode(Challenge.self, from: answer.data)
  }
}
