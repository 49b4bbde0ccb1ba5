import CAssay

// Functions of include/assay.h that several targets call. Each document is checked; the caller
// frees it.

extension [UInt8] {
  /// Passes the bytes as a text of C: its address and its length.
  func asText<Result>(_ use: (UnsafePointer<CChar>?, Int) -> Result) -> Result {
    withUnsafeBytes { use($0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count) }
  }
}

extension Answer {
  /// Makes a call, and receives its document.
  init(_ call: (UnsafeMutablePointer<OpaquePointer?>) -> Int32) {
    var document: OpaquePointer? = nil
    let status = call(&document)
    self.init(status, document)
  }
}

enum Calls {
  static func verifier(_ config: [UInt8]) -> (verifier: OpaquePointer?, answer: Answer) {
    var made: OpaquePointer? = nil
    let answer = Answer { document in
      config.asText { assay_verifier_new($0, $1, &made, document) }
    }
    demand((made != nil) == answer.isOK, "verifier and status do not agree")
    return (made, answer)
  }

  static func keyset(_ text: [UInt8]) -> (keys: OpaquePointer?, answer: Answer) {
    var made: OpaquePointer? = nil
    let answer = Answer { document in
      text.asText { assay_keyset_new($0, $1, &made, document) }
    }
    demand((made != nil) == answer.isOK, "a key set without ASSAY_OK, or none with it")
    return (made, answer)
  }

  static func decide(
    _ verifier: OpaquePointer?, _ evidence: [OpaquePointer?], account: [UInt8] = []
  ) -> Answer {
    Answer { document in
      evidence.withUnsafeBufferPointer { list in
        account.asText {
          assay_decide(
            verifier, list.baseAddress, list.count, account.isEmpty ? nil : $0, $1,
            FuzzFixture.instant, document)
        }
      }
    }
  }

  static func call(
    _ verifier: OpaquePointer?, _ request: [UInt8], evidence: [OpaquePointer?]
  ) -> Answer {
    Answer { document in
      evidence.withUnsafeBufferPointer { list in
        request.asText {
          assay_call(
            verifier, $0, $1, list.baseAddress, list.count, FuzzFixture.instant, document)
        }
      }
    }
  }

  static func begin(
    _ verifier: OpaquePointer?, _ request: [UInt8], evidence: [OpaquePointer?],
    now: Int64 = FuzzFixture.instant
  ) -> (exchange: OpaquePointer?, answer: Answer) {
    var exchange: OpaquePointer? = nil
    let answer = Answer { document in
      evidence.withUnsafeBufferPointer { list in
        request.asText {
          assay_exchange_new(
            verifier, $0, $1, evidence.isEmpty ? nil : list.baseAddress, list.count,
            now, &exchange, document)
        }
      }
    }
    return (exchange, answer)
  }

  static func step(_ exchange: OpaquePointer?, _ text: [UInt8], now: Int64) -> Answer {
    AnswerCount.add()
    return Answer { document in
      text.asText { assay_exchange_step(exchange, $0, $1, now, document) }
    }
  }
}
