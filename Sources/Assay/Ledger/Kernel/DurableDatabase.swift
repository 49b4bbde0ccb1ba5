/// The tables whose rows may not be lost: SQL engines and DynamoDB have them (STO-13).
protocol DurableDatabase: LedgerDatabase, PurchaseTable, SubscriptionTable, DeviceKeyTable,
  AccountTable, EvidenceTable, ReconcileTable, RefundTable, CustomerTable
{}
