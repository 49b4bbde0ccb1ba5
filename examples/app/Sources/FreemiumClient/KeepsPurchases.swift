#if canImport(SwiftUI)
  import SwiftUI

  /// Resends purchases on each return to the foreground, asks the customer about transfers, and says
  /// what to do where the device is the reason that purchases wait.
  public struct KeepsPurchases: ViewModifier {
    @ObservedObject private var purchases: Purchases
    @Environment(\.scenePhase) private var phase

    public init(purchases: Purchases) { self.purchases = purchases }

    public func body(content: Content) -> some View {
      VStack {
        content
        if let trouble = purchases.trouble {
          Text(verbatim: trouble.errorDescription ?? "")
          Text(verbatim: trouble.recoverySuggestion ?? "")
        }
        ForEach(purchases.elsewhere) { found in
          text("purchase.elsewhere")
          if found.canTransfer {
            button("purchase.use") { purchases.move(found.id) }
            button("purchase.leave") { leave(found) }
          } else {
            button("purchase.ok") { leave(found) }
          }
        }
      }
      .onChange(of: phase) { now in
        guard now == .active else { return }
        purchases.resend()
        Task { await purchases.synchronise() }
      }
    }

    private func leave(_ found: Purchases.Elsewhere) {
      Task { await purchases.leave(found.id) }
    }

    private func text(_ key: LocalizedStringKey) -> Text { Text(key, bundle: .texts) }

    private func button(
      _ key: LocalizedStringKey, _ action: @escaping @MainActor () -> Void
    ) -> some View {
      Button(action: action) { text(key) }
    }
  }
#endif
