import Foundation
import StoreKit

#if canImport(Combine)
  import Combine
#endif

/// Sends StoreKit's transactions to the server, and finishes each after it was granted.
@MainActor
public final class Purchases: ObservableObject {
  /// A purchase that belongs to another account, for the customer's decision.
  public struct Elsewhere: Identifiable, Equatable, Sendable {
    public let id: UInt64
    /// Whether `move` may transfer it to this account.
    public let canTransfer: Bool
  }

  private enum Outcome {
    case granted(plan: String), refused(canTransfer: Bool), keep, later(TimeInterval?)
  }

  private struct Retry {
    let at: Date
    let step: TimeInterval
  }

  /// The plan as the server decided it, never as the device assumes.
  @Published public private(set) var plan = "free"
  @Published public private(set) var elsewhere: [Elsewhere] = []
  /// The reason why purchases wait, if it is this device.
  @Published public private(set) var trouble: DeviceTrouble?

  private let backEnd: BackEnd
  private let queue: ResendQueue
  private let ranked: [String]
  private var synchronised: [String]?
  private var listener: Task<Void, Never>?
  private var resending: Task<Void, Never>?
  private var pause: Task<Void, Never>?
  private var isAskedAgain = false
  private var retries: [UInt64: Retry] = [:]
  private var sending: Set<UInt64> = []
  private var confirmed: Set<UInt64> = []

  /// Creates the purchases. `ranked` has the ids of the products, the strongest plan first.
  public init(backEnd: BackEnd, queue: ResendQueue, ranked: [String]) {
    self.backEnd = backEnd
    self.queue = queue
    self.ranked = ranked
  }

  /// Listens for transactions. Call it at launch, before any view, to receive purchases made
  /// elsewhere.
  public func start() {
    guard listener == nil else { return }
    listener = Task { [weak self] in
      for await result in Transaction.updates { await self?.take(result) }
    }
    resend()
  }

  public func buy(_ product: Product) async throws {
    switch try await product.purchase() {
    case .success(let result): await take(result)
    case .pending, .userCancelled: break
    @unknown default: break
    }
  }

  /// Sends every stored purchase now: at launch, on return to the foreground, when the shop opens.
  public func resend() {
    retries.removeAll()
    schedule()
    Task { [weak self] in await self?.takeUnfinished() }
  }

  /// Transfers a purchase that the customer claims.
  public func move(_ id: UInt64) {
    confirmed.insert(id)
    elsewhere.removeAll { $0.id == id }
    resend()
  }

  /// Drops a purchase that the customer leaves with the other account, or that cannot be
  /// transferred.
  public func leave(_ id: UInt64) async {
    if isWaiting(id) {
      await finish(id)
      await queue.drop(id)
    }
    elsewhere.removeAll { $0.id == id }
  }

  /// Stores, sends and finishes a transaction, in this order, and then drops it.
  /// `jwsRepresentation` exists whether or not the device verified it: the server decides. What
  /// cannot be stored is sent all the same, because StoreKit keeps what is not finished. Returns
  /// false if it was neither stored nor answered.
  @discardableResult
  private func take(_ result: VerificationResult<Transaction>) async -> Bool {
    let transaction = result.unsafePayloadValue
    let jws = result.jwsRepresentation
    let isKept = (try? await queue.keep(jws, transactionId: transaction.id)) != nil
    let isAnswered = await deliver(transaction.id, jws) { await transaction.finish() }
    schedule()
    return isKept || isAnswered
  }

  /// Sends one purchase. Returns whether the response was final, or waits for the customer.
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

  /// Wakes the loop that sends what is due, or starts it.
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

  /// Sends what is due, and returns the time of the next attempt; `nil` if nothing is left.
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

  /// Sends transactions that StoreKit keeps and the queue could not store.
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

  /// Sends a purchase; `nil` if the client has none. Only the back end's own responses are final.
  private func send(_ jws: String?, confirm: Bool = false) async -> Outcome {
    struct Given: Encodable { let signedTransactionData: String?; let confirm: Bool? }
    struct Said: Decodable { let plan: String }
    struct Refused: Decodable { let canTransfer: Bool? }
    let given = Given(signedTransactionData: jws, confirm: confirm ? true : nil)
    let answer: Answer
    do {
      answer = try await backEnd.post("v1/update-subscription", JSONEncoder().encode(given))
      trouble = nil
    } catch {
      trouble = DeviceTrouble(error)
      return .later(nil)
    }
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

  /// Synchronises if the plan or the account differs from the last time, after updates, or on
  /// demand. Sends every entitlement, the strongest first. Without any it sends "no purchase",
  /// unless a purchase is still to be sent.
  public func synchronise(force: Bool = false) async {
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
