// The types of SwiftUI that the app uses; nothing is drawn.
@_exported import Combine
import Foundation

@MainActor @preconcurrency public protocol View {
  associatedtype Body: View
  @ViewBuilder var body: Body { get }
}

extension Never: View {
  public var body: Never { return fatalError("no view") }
}

public protocol Primitive: View where Body == Never {}
extension Primitive {
  public var body: Never { return fatalError("nothing is drawn") }
}

@resultBuilder public enum ViewBuilder {
  public static func buildBlock<each Part: View>(_ part: repeat each Part) -> Group {
    Group()
  }
  public static func buildEither<First: View>(first: First) -> Group { Group() }
  public static func buildEither<Second: View>(second: Second) -> Group { Group() }
  public static func buildOptional(_ part: Group?) -> Group { Group() }
}

public struct Group: Primitive {
  nonisolated init() {}
}

@MainActor @preconcurrency public protocol ViewModifier {
  associatedtype Body: View
  typealias Content = ModifiedContent
  @ViewBuilder func body(content: Content) -> Body
}

public struct ModifiedContent: Primitive {}

public struct VStack: Primitive {
  public init<Content: View>(@ViewBuilder content: () -> Content) {}
}

public struct ForEach: Primitive {
  public init<Data: RandomAccessCollection, Content: View>(
    _ data: Data, @ViewBuilder content: @escaping (Data.Element) -> Content
  ) where Data.Element: Identifiable {}
}

public struct LocalizedStringKey: ExpressibleByStringLiteral {
  public init(stringLiteral key: String) {}
}

public struct Text: Primitive {
  public init(
    _ key: LocalizedStringKey, tableName: String? = nil, bundle: Bundle? = nil,
    comment: StaticString? = nil
  ) {}
  public init(verbatim content: String) {}
}

public struct Button<Label: View>: Primitive {
  public init(action: @escaping @MainActor () -> Void, @ViewBuilder label: () -> Label) {}
}

extension View {
  public func onChange<Value: Equatable>(
    of value: Value, perform action: @escaping (_ now: Value) -> Void
  ) -> some View { Group() }
}

public enum ScenePhase: Sendable { case background, inactive, active }

public struct EnvironmentValues {
  public var scenePhase: ScenePhase { .active }
}

@MainActor @preconcurrency @propertyWrapper public struct ObservedObject<Value: ObservableObject> {
  public var wrappedValue: Value
  public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
}

@propertyWrapper public struct Environment<Value> {
  let path: KeyPath<EnvironmentValues, Value>
  public init(_ path: KeyPath<EnvironmentValues, Value>) { self.path = path }
  public var wrappedValue: Value { EnvironmentValues()[keyPath: path] }
}
