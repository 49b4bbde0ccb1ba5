import Foundation
import StoreKit

#if canImport(Combine)
  import Combine
#endif

/// Sends what StoreKit has to the server, and finishes last.
@MainActor
final class Purchases: ObservableObject {
  /// A purchase that belongs to another account, for the customer to see.
  struct Elsewhere: Identifiable, Equatable, Sendable {
    let id: UInt64
    /// Whether `move` may bring it here.
    let canTransfer: Bool
  }

  private enum Outcome {
    case granted(plan: String), refused(canTransfer: Bool), keep, later(TimeInterval?)
  }

  private struct Retry {
    let at: Date
    let step: TimeInterval
  }

  /// What the server says; never what the device thinks.
  @Published private(set) var plan = "free"
  @Published private(set) var elsewhere: [Elsewhere] = []

  private let backEnd: BackEnd
  private let queue: ResendQueue
  /// Products, the strongest plan first; account and product that were synchronised last.
  private let ranked: [String]
  private var synchronised: [String]?
  private var listener: Task<Void, Never>?
  private var resending: Task<Void, Never>?
  private var pause: Task<Void, Never>?
  private var isAskedAgain = false
  private var retries: [UInt64: Retry] = [:]
  private var sending: Set<UInt64> = []
  private var confirmed: Set<UInt64> = []

  init(backEnd: BackEnd, queue: ResendQueue, ranked: [String]) {
    self.backEnd = backEnd
    self.queue = queue
    self.ranked = ranked
  }

  /// At launch, before any view: what was bought elsewhere arrives here.
  func start() {
    guard listener == nil else { return }
    listener = Task { [weak self] in
      for await result in Transaction.updates { await self?.take(result) }
    }
    resend()
  }

  func buy(_ product: Product) async throws {
    switch try await product.purchase() {
    case .success(let result): await take(result)
    case .pending, .userCancelled: break
    @unknown default: break
    }
  }

  /// At launch, on return to the foreground, when the shop opens: everything, now.
  func resend() {
    retries.removeAll()
    schedule()
    Task { [weak self] in await self?.takeUnfinished() }
  }

  /// The customer says that the purchase is theirs.
  func move(_ id: UInt64) {
    confirmed.insert(id)
    elsewhere.removeAll { $0.id == id }
    resend()
  }

  /// The customer leaves it where it is, or has read that it cannot move.
  func leave(_ id: UInt64) async {
    if isWaiting(id) {
      await finish(id)
      await queue.drop(id)
    }
    elsewhere.removeAll { $0.id == id }
  }

  /// Kept, sent, answered, finished, dropped: in this order. `jwsRepresentation` is there
  /// whether the device verified it or not: the server decides. What cannot be kept is sent all
  /// the same: StoreKit keeps what is not finished. False: it was neither kept nor answered.
  @discardableResult
  private func take(_ result: VerificationResult<Transaction>) async -> Bool {
    let transaction = result.unsafePayloadValue
    let jws = result.jwsRepresentation
    let isKept = (try? await queue.keep(jws, transactionId: transaction.id)) != nil
    let isAnswered = await deliver(transaction.id, jws) { await transaction.finish() }
    schedule()
    return isKept || isAnswered
  }

  /// One purchase to the server. True: the answer was definite, or waits for the customer.
  private func deliver(
    _ id: UInt64, _ jws: String, finish: () async -> Void
  ) async -> Bool {
    guard sending.insert(id).inserted else { return false }
    defer { sending.remove(id) }
    let outcome = await send(jws, confirm: confirmed.contains(id))
    if case .later(let seconds) = outcome {
      let step = min((retries[id]?.step ?? 2.5) * 2, 3600)
      retries[id] = Retry(at: Date(timeIntervalSinceNow: max(step, seconds ?? 0)), step: step)
      return false
    }
    confirmed.remove(id)
    retries[id] = nil
    switch outcome {
    case .granted(let plan):
      self.plan = plan
      elsewhere.removeAll { $0.id == id }
    case .refused(let canTransfer):
      elsewhere.removeAll { $0.id == id }
      elsewhere.append(Elsewhere(id: id, canTransfer: canTransfer))
      if canTransfer { return true }
    case .keep, .later:
      retries[id] = Retry(at: Date(timeIntervalSinceNow: 86_400), step: 2.5)
      return false
    }
    await finish()
    await queue.drop(id, sent: jws)
    return true
  }

  private func isWaiting(_ id: UInt64) -> Bool {
    elsewhere.contains { $0.id == id && $0.canTransfer }
  }

  /// Wakes the loop that sends what is due, or begins it.
  private func schedule() {
    isAskedAgain = true
    pause?.cancel()
    if resending == nil { resending = Task { [weak self] in await self?.rounds() } }
  }

  private func rounds() async {
    while true {
      isAskedAgain = false
      let next = await sendDue()
      if isAskedAgain { continue }
      guard let next else { break }
      let seconds = min(max(next.timeIntervalSinceNow, 0), 86_400)
      let nap = Task { _ = try? await Task.sleep(nanoseconds: UInt64(seconds * 1_000_000_000)) }
      pause = nap
      await nap.value
      pause = nil
    }
    resending = nil
  }

  /// When to come back; nil: nothing is left to try.
  private func sendDue() async -> Date? {
    guard let kept = try? await queue.kept() else { return Date(timeIntervalSinceNow: 60) }
    let ids = Set(kept.map(\.transactionId))
    retries = retries.filter { ids.contains($0.key) }
    for id in ids.sorted() {
      guard let jws = await queue.text(id), !isWaiting(id),
        (retries[id]?.at ?? .distantPast) <= Date()
      else { continue }
      _ = await deliver(id, jws) { await finish(id) }
    }
    return retries.values.map(\.at).min()
  }

  /// What StoreKit keeps and the queue could not.
  private func takeUnfinished() async {
    let ids = Set(((try? await queue.kept()) ?? []).map(\.transactionId))
    for await result in Transaction.unfinished {
      let id = result.unsafePayloadValue.id
      if !ids.contains(id), !isWaiting(id) { await take(result) }
    }
  }

  private func finish(_ id: UInt64) async {
    for await result in Transaction.unfinished where result.unsafePayloadValue.id == id {
      await result.unsafePayloadValue.finish()
    }
  }

  /// nil: the client has no purchase. Only the back end's own answers are definite.
  private func send(_ jws: String?, confirm: Bool = false) async -> Outcome {
    struct Given: Encodable { let signedTransactionData: String?; let confirm: Bool? }
    struct Said: Decodable { let plan: String }
    struct Refused: Decodable { let canTransfer: Bool? }
    let given = Given(signedTransactionData: jws, confirm: confirm ? true : nil)
    guard let body = try? JSONEncoder().encode(given),
      let answer = try? await backEnd.post("v1/update-subscription", body)
    else { return .later(nil) }
    switch answer.status {
    case 200:
      if let said = answer.read(Said.self) { return .granted(plan: said.plan) }
    case 403, 409:
      let canTransfer = answer.read(Refused.self)?.canTransfer
      if answer.retryAfter == nil, canTransfer != nil || answer.error != nil {
        return .refused(canTransfer: canTransfer ?? false)
      }
    case 400: return .keep
    default: break
    }
    return .later(answer.retryAfter)
  }

  /// When the plan seen, or the account, differs from the last one synchronised, after updates,
  /// on demand. Every entitlement is sent, the strongest first; none says "no purchase", unless
  /// something is still to be sent.
  func synchronise(force: Bool = false) async {
    var found: [(rank: Int, result: VerificationResult<Transaction>)] = []
    for await result in Transaction.currentEntitlements {
      let transaction = result.unsafePayloadValue
      guard transaction.revocationDate == nil else { continue }
      let rank = ranked.firstIndex(of: transaction.productID) ?? ranked.count
      found.append((rank, result))
    }
    found.sort { $0.rank < $1.rank }
    let product = found.first?.result.unsafePayloadValue.productID ?? "none"
    let seen = [await username(), product]
    guard force || synchronised != seen else { return }
    if found.isEmpty {
      guard let kept = try? await queue.kept(), kept.isEmpty,
        case .granted(let plan) = await send(nil)
      else { return }
      self.plan = plan
    }
    var isSafe = true
    for (_, result) in found {
      let isTaken = await take(result)
      isSafe = isSafe && isTaken
    }
    if isSafe { synchronised = [await username(), product] }
  }

  private func username() async -> String {
    (try? await backEnd.account.username()) ?? ""
  }
}
