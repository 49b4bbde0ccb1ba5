import AssayAuthority
import CLibCrypto
import Foundation
import Testing

@testable import Assay

/// Tests the caches of proven chains (JWS-60 … JWS-66).
@Suite("Chain cache")
struct ChainCacheTests {
  private static let leafChecks = [
    "jws.header", "chain.root", "chain.certificates", "chain.shape", "chain.signatures",
  ]

  private func jws(
    _ payload: JSONText = Minted.purchase.transactionPayload, chain: CertificateChain? = nil,
    _ change: (inout JWSTemplate) throws -> Void = { _ in }
  ) throws -> [UInt8] {
    var template = JWSTemplate(
      payload: payload.bytes, chain: try chain ?? Minted.authority().chain)
    try change(&template)
    return try template.signed()
  }

  private func header(_ jws: [UInt8]) -> ArraySlice<UInt8> { jws.prefix { $0 != 0x2e } }

  // MARK: hits

  @Test("JWS-60 a second call with the same header is reported as cached")
  func warmHit() throws {
    let verifier = try Minted.verifier()
    let text = try jws()
    func cached(_ text: [UInt8]) throws -> Bool? {
      let answer = verifier.verifyJWS(text, kind: .transaction, nowMs: Minted.now)
      checkEqual(answer.status, .ok)
      for check in try require(answer.tree?.member("checks")).children
      where Self.leafChecks.contains(check.string("id")) {
        checkEqual(check.member("ok")?.boolean, true)
      }
      return answer.tree?.at("transaction.chain.cached")?.boolean
    }
    try checkEqual(cached(text), false)
    try checkEqual(cached(text), true)
    // Another payload under the same header.
    let other = try jws(Minted.purchase.transactionPayload.setting("quantity", 2))
    checkEqual(header(other), header(text))
    try checkEqual(cached(other), true)
  }

  @Test("JWS-61 the same chain in a header spelt differently is found by its certificates")
  func spelledAnew() throws {
    let trust = try Minted.trust()
    let first = try jws()
    try check(!Minted.run(trust, first).chainIsCached)
    let again = try jws { $0.header = $0.header.appending("kid", "x1") }
    check(header(again) != header(first))
    check(trust.chains.cache.headers.find(header(again)) == nil)
    try check(Minted.run(trust, again).chainIsCached)
  }

  @Test(
    "JWS-62 a header enters level 1 once its leaf has signed it, however its chain was found"
  )
  func levelOneAfterLevelTwo() throws {
    let trust = try Minted.trust()
    // A junk signature under the authority's header: the chain is proven and enters level 2, but
    // the header text does not enter level 1.
    let junk = try jws { $0.signature = .by(try SigningKey.generate(.p256)) }
    #expect(throws: Refusal(.rejectedJwsSignature, "JWS-101")) { try Minted.run(trust, junk) }
    check(trust.chains.cache.headers.find(header(junk)) == nil)
    let good = try jws()
    checkEqual(header(good), header(junk))
    try check(Minted.run(trust, good).chainIsCached)
    check(trust.chains.cache.headers.find(header(good)) != nil)
  }

  @Test("JWS-61 JWS-35 a new leaf under a known intermediate is proven again")
  func knownIntermediate() throws {
    let trust = try Minted.trust()
    _ = try Minted.run(trust, jws())
    let second = try Minted.authority().chain(leafKey: .generate(.p256))
    let payload = try Minted.run(trust, jws(chain: second))
    check(!payload.chainIsCached)
    try check(Minted.run(trust, jws(chain: second)).chainIsCached)
    // Under the known intermediate the leaf's own signature is still checked.
    let forged = try Minted.authority().chain(
      leafKey: .generate(.p256), leafSigner: try SigningKey.generate(.p384))
    #expect(throws: Refusal(.rejectedChainSignatureLeaf, "JWS-31")) {
      try Minted.run(trust, jws(chain: forged))
    }
    // An intermediate of the same name and key, signed by another party, is a different one.
    let other = try Minted.authority().chain(intermediateSigner: try SigningKey.generate(.p384))
    #expect(throws: Refusal(.rejectedChainSignatureIntermediate, "JWS-31")) {
      try Minted.run(trust, jws(chain: other))
    }
  }

  // MARK: chains that are not stored

  @Test("JWS-62 forged chains enter nothing, and are refused again and again")
  func forgedChains() throws {
    let trust = try Minted.trust()
    let authority = try Minted.authority()
    let stranger = try SigningKey.generate(.p384)
    let forgeries: [(CertificateChain, Status)] = [
      (try authority.chain(leafSigner: stranger), .rejectedChainSignatureLeaf),
      (try authority.chain(intermediateSigner: stranger), .rejectedChainSignatureIntermediate),
      (
        try authority.chain(leaf: { $0 = $0.replacing(OID.leafMarker, with: nil) }),
        .rejectedChainLeafMarker
      ),
      (
        try authority.chain(intermediate: { $0 = $0.replacing(OID.intermediateMarker, with: nil) }),
        .rejectedChainIntermediateMarker
      ),
      (try Authority(now: Minted.now).chain, .rejectedChainUntrustedRoot),
    ]
    for _ in 0..<2 {
      for (chain, status) in forgeries {
        let text = try jws(chain: chain)
        #expect(throws: Refusal(status, "JWS-62")) { try Minted.run(trust, text) }
        check(trust.chains.cache.headers.find(header(text)) == nil)
      }
    }
    try check(!Minted.run(trust, jws()).chainIsCached)
    for (chain, status) in forgeries {
      #expect(throws: Refusal(status, "JWS-62")) { try Minted.run(trust, jws(chain: chain)) }
    }
  }

  @Test("JWS-61 bytes moved from one certificate to the next are another chain")
  func movedBytes() throws {
    let trust = try Minted.trust()
    _ = try Minted.run(trust, jws())
    let chain = try Minted.authority().chain
    for count in [1, 2, 100] {
      var moved = chain
      moved.leaf = chain.leaf + chain.intermediate.prefix(count)
      moved.intermediate = Array(chain.intermediate.dropFirst(count))
      #expect(throws: Refusal(.malformedChainDer, "JWS-21")) {
        try Minted.run(trust, jws(chain: moved))
      }
      moved.leaf = Array(chain.leaf.dropLast(count))
      moved.intermediate = chain.leaf.suffix(count) + chain.intermediate
      #expect(throws: Refusal(.malformedChainDer, "JWS-21")) {
        try Minted.run(trust, jws(chain: moved))
      }
    }
    #expect(throws: Refusal(.rejectedChainUntrustedRoot, "JWS-20")) {
      var moved = chain
      moved.intermediate = chain.intermediate + chain.root.prefix(1)
      moved.root = Array(chain.root.dropFirst())
      _ = try Minted.run(trust, jws(chain: moved))
    }
  }

  // MARK: repeated checks

  @Test("JWS-63 windows are held against every payload, hit or miss")
  func validity() throws {
    let trust = try Minted.trust()
    let windows = try Minted.authority().windows
    _ = try Minted.run(trust, jws())
    let later = Minted.now + 4000 * Purchase.day
    func signed(_ second: Int64) throws -> [UInt8] {
      try jws(
        Minted.purchase.transactionPayload.setting("signedDate", .integer(second * 1000 + 999)))
    }
    for (second, status) in [
      (windows.leaf.lowerBound - 1, .rejectedChainNotYetValid), (windows.leaf.lowerBound, nil),
      (windows.leaf.upperBound, nil), (windows.leaf.upperBound + 1, .rejectedChainExpired),
    ] as [(Int64, Status?)] {
      let text = try signed(second)
      if let status {
        let refusal = #expect(throws: Refusal.self) { try Minted.run(trust, text, now: later) }
        checkEqual(refusal?.status, status)
        checkEqual(refusal?.place, "x5c[0]")
      } else {
        try check(Minted.run(trust, text, now: later).chainIsCached)
      }
    }
  }

  @Test("JWS-63 signature, identity and kind are checked on a hit")
  func everythingElse() throws {
    let trust = try Minted.trust()
    let good = try jws()
    _ = try Minted.run(trust, good)
    var damaged = good
    damaged[damaged.count - 40] = damaged[damaged.count - 40] == 0x41 ? 0x42 : 0x41
    let payload = Minted.purchase.transactionPayload
    for (text, status) in [
      (damaged, .rejectedJwsSignature),
      (try jws(payload.setting("bundleId", "com.example.other")), .rejectedAppBundleId),
      (try jws(payload.setting("environment", "Xcode")), .rejectedEnvironmentNotAccepted),
      (try jws(Minted.purchase.renewalPayload), .rejectedKindMismatch),
      (try jws(payload.setting("quantity", 0)), .malformedPayloadType),
    ] as [([UInt8], Status)] {
      #expect(throws: Refusal(status, "JWS-63")) { try Minted.run(trust, text) }
    }
  }

  // MARK: bounds

  @Test("JWS-64 the least recently used chain goes, at capacity and no sooner")
  func leastRecentlyUsed() throws {
    let chain = try Minted.provenChain()
    let intermediate = try require(chain.intermediates.first)
    func header(_ number: Int) -> ArraySlice<UInt8> { utf8("header \(number)")[...] }
    func key(_ number: Int) -> [UInt8] { utf8("fingerprint \(number)") }
    let cache = ChainCache(capacity: 4)
    for number in 0..<4 {
      cache.headers.remember(header(number), chain)
      cache.chains.remember(key(number)[...], chain)
      cache.intermediates.remember(key(number)[...], intermediate)
    }
    // 0 is used again, so 1 is the oldest.
    check(cache.headers.find(header(0)) != nil)
    check(cache.chains.find(key(0)[...]) != nil)
    check(cache.intermediates.find(key(0)[...]) != nil)
    cache.headers.remember(header(4), chain)
    cache.chains.remember(key(4)[...], chain)
    cache.intermediates.remember(key(4)[...], intermediate)
    for number in 0...4 {
      checkEqual((cache.headers.find(header(number)) != nil), (number != 1))
      checkEqual((cache.chains.find(key(number)[...]) != nil), (number != 1))
      checkEqual((cache.intermediates.find(key(number)[...]) != nil), (number != 1))
    }
    // An entry that exists is renewed, not duplicated.
    for _ in 0..<10 { cache.headers.remember(header(4), chain) }
    check(cache.headers.find(header(0)) != nil)
    for number in 100..<1000 { cache.headers.remember(header(number), chain) }
    checkEqual(
      (100..<1000).filter { cache.headers.find(header($0)) != nil }, [996, 997, 998, 999])
  }

  @Test("JWS-64 a cache of capacity 0 holds nothing, and every call still succeeds")
  func switchedOff() throws {
    let cache = ChainCache(capacity: 0)
    let chain = try Minted.provenChain()
    cache.headers.remember(utf8("h")[...], chain)
    cache.chains.remember(utf8("f")[...], chain)
    cache.intermediates.remember(
      utf8("i")[...], try require(chain.intermediates.first))
    check(cache.headers.find(utf8("h")[...]) == nil)
    check(cache.chains.find(utf8("f")[...]) == nil)
    check(cache.intermediates.find(utf8("i")[...]) == nil)
    let trust = try Minted.trust([("storekit.cache", ["chains": 0])])
    for _ in 0..<3 { try check(!Minted.run(trust, jws()).chainIsCached) }
  }

  @Test("JWS-64 more chains than places: every call succeeds, the bound holds")
  func manyChains() throws {
    let trust = try Minted.trust([("storekit.cache", ["chains": 2])])
    let texts = try (0..<5).map { _ in
      try jws(chain: Minted.authority().chain(leafKey: .generate(.p256)))
    }
    for text in texts + texts { try check(!Minted.run(trust, text).chainIsCached) }
    try check(Minted.run(trust, texts[4]).chainIsCached)
    try check(Minted.run(trust, texts[3]).chainIsCached)
    try check(!Minted.run(trust, texts[0]).chainIsCached)
  }

  @Test("JWS-64 a header that would take more than its share stays out of level 1")
  func longHeaders() throws {
    let cache = ChainCache(capacity: 4)
    let chain = try Minted.provenChain()
    for (count, enters) in [(6144, true), (6145, false)] {
      let header = [UInt8](repeating: 0x41, count: count)
      cache.headers.remember(header[...], chain)
      checkEqual(cache.headers.find(header[...]) != nil, enters)
    }
  }

  @Test("JWS-60 the header's bytes are compared in full, wherever they differ")
  func fullComparison() throws {
    let cache = ChainCache(capacity: 4)
    let text = header(try jws())
    cache.headers.remember(text, try Minted.provenChain())
    check(cache.headers.find(text) != nil)
    check(cache.headers.find((utf8("xx") + text)[2...]) != nil)
    for place in text.indices {
      var other = Array(text)
      other[place] ^= 1
      if cache.headers.find(other[...]) != nil { Issue.record("byte \(place)") }
    }
    check(cache.headers.find(text.dropLast()) == nil)
    check(cache.headers.find((text + [0x41])[...]) == nil)
    check(cache.headers.find([]) == nil)
  }

  // MARK: threads and processes

  @Test("JWS-65 a lock that is held is busy, never waited for")
  func busyLock() {
    let lock = TryLock()
    checkEqual(lock.take(), .taken)
    checkEqual(lock.take(), .busy)
    lock.release()
    checkEqual(lock.take(), .taken)
    lock.release()
  }

  /// Swift hides `fork`; a child that only acquires a lock and exits is safe.
  @Test("JWS-65 a lock that was held at a fork is taken over by the child")
  func abandonedLock() throws {
    let found = unsafe dlsym(nil, "fork")
    guard let symbol = unsafe found else {
      Issue.record("fork is not to be found")
      return
    }
    let fork = unsafe unsafeBitCast(symbol, to: (@convention(c) () -> Int32).self)
    let lock = TryLock()
    checkEqual(lock.take(), .taken)
    let child = fork()
    if child == 0 {
      let first = lock.take()
      let second = lock.take()
      lock.release()
      let third = lock.take()
      _exit(first == .abandoned && second == .busy && third == .taken ? 7 : 1)
    }
    check(child > 0)
    var status: Int32 = 0
    checkEqual(unsafe waitpid(child, &status, 0), child)
    checkEqual(status, 7 << 8)
    // The parent's own lock is unchanged.
    checkEqual(lock.take(), .busy)
    lock.release()
    checkEqual(lock.take(), .taken)
  }

  @Test("JWS-65 many threads on one verifier: every answer is right")
  func threads() async throws {
    let verifier = try Minted.verifier([("storekit.cache", ["chains": 2])])
    let payload = Minted.purchase.transactionPayload
    let chains = try (0..<4).map { _ in
      try Minted.authority().chain(leafKey: .generate(.p256))
    }
    var texts: [(text: [UInt8], status: Status)] = []
    for chain in chains {
      texts.append((try jws(chain: chain), .ok))
      texts.append(
        (
          try jws(payload.setting("bundleId", "com.example.other"), chain: chain),
          .rejectedAppBundleId
        ))
      texts.append(
        (
          try jws(chain: chain) { $0.signature = .octets([UInt8](repeating: 1, count: 64)) },
          .rejectedJwsSignature
        ))
    }
    let work = texts
    let wrong = await withTaskGroup(of: Int.self) { group in
      for thread in 0..<8 {
        group.addTask {
          var wrong = 0
          for round in 0..<60 {
            let (text, status) = work[(round &* 7 &+ thread) % work.count]
            let answer = verifier.verifyJWS(text, kind: .transaction, nowMs: Minted.now)
            if answer.status != status { wrong += 1 }
          }
          return wrong
        }
      }
      return await group.reduce(0, +)
    }
    checkEqual(wrong, 0)
  }
}
