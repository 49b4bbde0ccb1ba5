#if canImport(SwiftUI)
  import SwiftUI

  /// Resends purchases on each return to the foreground, and asks the customer about transfers.
  struct KeepsPurchases: ViewModifier {
    @ObservedObject var purchases: Purchases
    @Environment(\.scenePhase) private var phase

    func body(content: Content) -> some View {
      VStack {
        content
        ForEach(purchases.elsewhere) { found in
          Text("A purchase of yours is used by another account.")
          if found.canTransfer {
            Button("Use it here") { purchases.move(found.id) }
            Button("Leave it there") { Task { await purchases.leave(found.id) } }
          } else {
            Button("OK") { Task { await purchases.leave(found.id) } }
          }
        }
      }
      .onChange(of: phase) { now in
        guard now == .active else { return }
        purchases.resend()
        Task { await purchases.synchronise() }
      }
    }
  }
#endif
